#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A wrong value of an option is misuse; the message names the values that are
# possible. A valid value that cannot be used is an error, not misuse.
. "$(dirname "$0")/../tap.sh"
cd "$TMP" || exit 1

# refused TEXT COMMAND OPTION...
refused() {
	refused_text=$1
	shift
	status 2 "$*" heapmon "$@"
	like "$(cat err)" "^heapmon: $refused_text" "  is reported"
}

for command in record 'top --pid 1'; do
	# shellcheck disable=SC2086
	while read -r option text; do
		refused "$text" $command "$option"
	done <<'END'
--depth=33 --depth '33': a number of frames from 0 to 32
--depth=x --depth 'x': a number of frames
--min-size=x --min-size 'x': bytes are expected: 64, 4K, 1M
--sample=0 --sample '0': bytes are expected, below 4G
--sample=4G --sample '4G': bytes are expected, below 4G
--allocator=nope --allocator 'nope': .*glibc.* is expected
--comm= --comm '': a name is expected
--pid=x --pid
END
done
refused "--duration '0': a time is expected" record --duration 0
refused "--duration '1d': a time is expected" record --duration 1d
refused "'nope' is no kind of link" record --attach nope
refused "buffer size '3' is out of range" record --buffer 3
refused "'lzo' is no compression" record --compress=lzo
refused "--interval 'x': 0.1 to 3600 seconds" top --interval x
refused "--sort 'x': live, blocks" top --sort x
refused "--rows 'x': 1 to" top --rows x
refused "--iterations '0': 1 to" top --iterations 0
refused "top: of which process\\?" top
for command in report convert; do
	refused "--pid 'x': a process id is a decimal number" $command --pid x a
	refused "--bits '16': 32 or 64" $command --bits 16 a
	refused "--endian 'middle': 'little' or 'big'" $command --endian middle a
	refused "--from 'x': there is no such format" $command --from x a
done
refused "--section 'x': there is no such section" report --section x a
refused "report: --diff takes two files" report --diff --html a
refused "report: --diff is of the tables, and of --html" report --diff --json a b
refused "only one of --html, --json and --style can be" report --html --json a
refused "--to 'x': there is no such format" convert --to x a

# The last one is refused, those before it were taken.
taken="--allocator glibc --object /x --object /y --prefix je_ --no-old --follow
	--comm x --min-size 1 --sample 2K --depth 0"
# shellcheck disable=SC2086
refused "--depth '33'" record $taken --mmap --no-new --no-types --buffer 64K \
	--attach perf --duration 5m --depth 33
is "$(grep -c . err)" 1 "the others are taken"
# shellcheck disable=SC2086
refused "--depth '33'" top $taken --rows 3 --batch --iterations 1 --depth 33
is "$(grep -c . err)" 1 "those of top, too"
# no room, nowhere
cat >heap.txt <<'END'
Thread   Time of event     Address  Size  Type     Stack crawl
10-11    1000000000000000  0x1000   100   novtbl   leak(int)|main
END
for option in --verbose --html --json; do
	status 1 "report $option to a folder that isn't there" \
		heapmon report $option -o gone/file heap.txt
	is "$(cat err)" "heapmon: cannot write 'gone/file': No such file or directory" \
		"  is reported"
	[ -c /dev/full ] || continue
	status 1 "  to a full disk" heapmon report $option -o /dev/full heap.txt
	is "$(cat err)" "heapmon: cannot write '/dev/full': No space left on device" \
		"  is reported"
done
status 0 "sums of that" heapmon convert --to mptl -o heap.mptl heap.txt
printf '\001\000' | dd of=heap.mptl bs=1 seek=12 conv=notrunc 2>/dev/null
status 1 "of a version that is too old" heapmon report heap.mptl
like "$(cat err)" "'heap.mptl' is of version .*too old to be read: [0-9]+ is" \
	"  is reported"
status 1 "--symbols, twice" heapmon report --symbols /x --symbols /y gone.ras
like "$(cat err)" "^heapmon: cannot read 'gone.ras'" "it is the file that is missing"
tap_done
