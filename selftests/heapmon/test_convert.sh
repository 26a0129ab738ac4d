#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# heapmon convert: from and to which formats, what it says of what is lost on the
# way, what is left of a file that is damaged, and how it refuses.
. "$(dirname "$0")/../tap.sh"
programs=${BUILT:-$TOP/build/selftests}/heapmon
cd "$TMP" || exit 1

# says STATUS PATTERN NAME ARGUMENT...: convert ends so, with that on stderr
says() {
	expected=$1 pattern=$2 name=$3
	shift 3
	heapmon convert "$@" >out.said 2>err
	is $? "$expected" "$name" || diag_file err
	like "$(cat err)" "$pattern" "  it says so"
}

"$programs/test_ras" . || exit 1
for format in monitor mtrc tracker heaptrack massif mptl pprof collapsed; do
	ok "to $format" heapmon convert --to $format -o out.$format heap.ras
	heapmon convert --to $format heap.ras >piped.$format 2>/dev/null
	ok "  to standard output" cmp out.$format piped.$format
	heapmon convert --from ras --to $format - <heap.ras >in.$format 2>/dev/null
	ok "  from standard input" cmp out.$format in.$format
done

# what is read again is as it was
for format in monitor mtrc tracker mptl; do
	heapmon convert --to $format -o once out.$format 2>/dev/null
	heapmon convert --to $format -o again once 2>/dev/null
	ok "$format, read and written" cmp again once
done
for format in monitor mtrc tracker; do
	ok "  named" heapmon convert --from $format --to massif -o again \
		out.$format
done
says 0 'mtrc: times are left out' "what mtrc can't hold" --to mtrc -o again \
	heap.ras
like "$(cat err)" '8 events are missing' "  and what was lost before"
like "$(cat err)" 'blocks below 16 bytes are missing' "  and not recorded"
like "$(cat err)" 'a sample, one in each 4096 bytes' "  and not chosen"
like "$(heapmon convert --to monitor --pid 38 heap.ras 2>/dev/null)" \
	'^38-39 ' "--pid of a process that is there"
unlike "$(heapmon convert --to monitor --pid 39 heap.ras 2>/dev/null)" \
	'38-39' "--pid of another one"

# what can't be
says 2 "'ras' can be read, but not written" "to ras" --to ras heap.ras
says 2 'there are: ras mtrc' "to what isn't" --to nothing heap.ras
says 2 '--to is missing' "to nothing" heap.ras
says 2 'three ascending sizes' "bounds that don't ascend" --bounds 3,2,9 \
	--to mptl heap.ras
says 2 'a number up to' "too many bins" --bins 99999999999 --to mptl heap.ras
says 1 'has sums only' "events of sums" --to mtrc -o none out.mptl
ok "  there is no file" test ! -e none
head -c 17000 out.mptl >cut.mptl
says 1 'has sums only|cut|short|damaged' "of sums that were cut" --to mtrc \
	-o none cut.mptl
ok "  there is no file" test ! -e none
says 1 "cannot be read|can't be read|but not read" "from what can't be read" \
	--to mtrc --from massif out.massif
says 1 'No such file' "of no file" --to mtrc -o none nowhere
says 1 'directory' "of a directory" --to mtrc -o none .
echo "this is no heap" >text
says 1 'in no format that is known' "of text" --to mtrc -o none text
ok "  there is no file" test ! -e none
says 1 'cannot|No such' "into no directory" --to mtrc -o no/such/file heap.ras

# its own input is no output
cp heap.ras own.ras
ln own.ras hard.ras
ln -s own.ras soft.ras
for format in monitor mtrc tracker heaptrack massif mptl pprof collapsed; do
	says 1 "cannot write 'own.ras': it is the trace itself" \
		"$format into the recording itself" --to $format -o own.ras \
		own.ras
done
says 1 'it is the trace itself' "by a hard link" --to mtrc -o hard.ras own.ras
says 1 'it is the trace itself' "by a symbolic link" --to mtrc -o soft.ras \
	own.ras
says 1 'it is the trace itself' "from a symbolic link" --to mtrc -o own.ras \
	soft.ras
says 1 'it is the trace itself' "from standard input" --from ras --to mtrc \
	-o own.ras - <own.ras
cp out.mtrc own.mtrc
says 1 'it is the trace itself' "of another format" --to monitor -o own.mtrc \
	own.mtrc
ok "they are left alone" cmp own.ras heap.ras
ok "and so is that" cmp own.mtrc out.mtrc
status 1 "a report into its recording" heapmon report --json -o own.ras own.ras
like "$(cat "$TMP/err")" 'it is the trace itself' "  it says so"
status 1 "a difference into the second" heapmon report --diff -o own.ras \
	heap.ras own.ras
ok "  it is left alone, too" cmp own.ras heap.ras

if [ -c /dev/full ]; then
	heapmon convert --to monitor heap.ras >/dev/full 2>err
	is $? 1 "no room for the output"
	like "$(cat err)" 'No space' "  it says so"
fi

# damaged: what could be read is written
head -c 2200 heap.ras >cut.ras
says 1 'is damaged' "a recording that was cut" --to monitor -o cut cut.ras
ok "  what there is of it" grep -q 38-39 cut
head -c "$(($(wc -c <out.mtrc) - 6))" out.mtrc >cut.mtrc
heapmon convert --to monitor -o cut.again cut.mtrc 2>/dev/null
is $? 1 "an mtrc without its end"
ok "  what there is of it" test -s cut.again
# A conversion that fails leaves no file, and the one that was there as it was.
printf '\377\377\377\377\377\377\377\377' >garbage
printf 'MTRC\1\0\0\0\0\0\0\0\005\051\0\0\0\0\0\0' >headless
printf 'MPTL\1\0\0\0\0\0\0\0\005\051\0\0\0\0\0\0' >sumless
cat >events.txt <<'END'
Thread   Time of event     Address  Size  Type     Stack crawl
10-11    1000000000000000  0x1000   100   novtbl   leak(int)|main
END
heapmon convert --to mptl -o sums events.txt 2>err
while read -r to from input; do
	rm -f left
	status 1 "$input from $from to $to" \
		heapmon convert --from "$from" --to "$to" -o left "$input"
	ok "  leaves no file" test ! -e left
	echo before >left
	heapmon convert --from "$from" --to "$to" -o left "$input" 2>err
	is "$(cat left)" before "  and the one that is there alone"
done <<'END'
mtrc tracker garbage
monitor tracker garbage
pprof tracker garbage
mptl tracker garbage
tracker monitor garbage
collapsed mtrc headless
heaptrack mtrc headless
pprof mptl sumless
mtrc mptl sums
massif ras garbage
monitor mtrc missing
END
is "$(find . -name 'left?*' | wc -l)" 0 "no other file either"
tap_done
