#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Collapsed stacks and massif's file against the same sums, computed by another
# program, and against ms_print.
. "$(dirname "$0")/../tap.sh"
need python3
story=$(cd "$(dirname "$0")" && pwd)/heap_story.py
cd "$TMP" || exit 1

python3 "$story" events 5000 1000 >short
python3 "$story" events 5000 60000000 >long
python3 "$story" events 60 60000000 >small

for value in alloc_space alloc_objects inuse_space inuse_objects peak_space \
	peak_objects temporary; do
	status 0 "$value" heapmon convert --to collapsed --value $value \
		-o out short
	ok "  each stack has its sum" \
		python3 "$story" collapsed $value out 5000
done
heapmon convert --to collapsed short 2>err >out
ok "without one: inuse_space" python3 "$story" collapsed inuse_space out 5000
status 1 "a value that there isn't" heapmon convert --to collapsed \
	--value space -o none short
like "$(cat err)" "there is no value 'space'" "  is reported"
ok "  and nothing is written" test ! -e none

# massif FILE EVENTS SPAN NAME
massif() {
	status 0 "$4" heapmon convert --to massif -o massif.out "$1"
	ok "  peak, trees, snapshots" python3 "$story" massif massif.out "$2" "$3"
	if ! command -v ms_print >/dev/null; then
		skip "  ms_print" "needs valgrind"
		return
	fi
	status 0 "  ms_print takes it" ms_print massif.out
	peak=$(awk -F= '/^mem_heap_B/ { size = $2 }
			/^heap_tree=peak/ { print size }' massif.out)
	like "$(tr -d , <out)" "^100\.00% \(${peak}B\) \(heap allocation" \
		"  and prints the peak"
}
massif short 5000 1000 "massif of a short run: time in bytes"
massif long 5000 60000000 "of a long one: in milliseconds"
massif small 60 60000000 "of a few events"

# a block is resized to where another one lives, whose free was lost; and a size
# that a double can't hold
{
	printf 'MTRC\001\0\0\0\0\0\0\0\241\050\0\0\0\0\0\0'
	printf 'A\001\200\040\010A\002\200\100\020R\001\200\100\040MTRC'
} >lost
heapmon convert --to massif -o massif.out lost 2>/dev/null
is "$(sed -n 's/^mem_heap_B=//p' massif.out | tr '\n' ' ')" "0 8 24 32 " \
	"a block that another one displaces is gone"
echo '1-1 1 0x1000 9007199254740993 novtbl f' >large
heapmon convert --to massif -o massif.out large 2>/dev/null
ok "2^53 + 1 bytes" grep -qx mem_heap_B=9007199254740993 massif.out
echo '1-1 1 0x1000 18446744073709551615 novtbl f' >large
heapmon convert --to collapsed -o out large 2>/dev/null
is "$(cat out)" "f 9223372036854775807" "the largest number there is"
status 0 "of none" sh -c 'head -n 0 small |
	heapmon convert --from monitor --to massif -o massif.out -'
if command -v ms_print >/dev/null; then
	status 0 "  ms_print takes it" ms_print massif.out
fi
tap_done
