#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What heapmon writes for heaptrack, heaptrack_print reads, and finds in it what
# heapmon's own report says.
. "$(dirname "$0")/../tap.sh"

need heaptrack_print
cd "$TMP" || exit 1
cat >some.txt <<'END'
Thread   Time of event     Address  Size  Type     Stack crawl
0-0      old               0x7000   48    Old
10-11    1000000000000000  0x1000   100   novtbl   leak(int)|main
10-11    1000000000500000  0x2000   200   novtbl   leak(int)|main
10-12    1000000001000000  0x3000   30    novtbl   temp(int)|work()|main
10-12    1000000001000001  0x3000   del   Shape    temp(int)|work()|main
10-11    1000000001500000  0x4000   5000  novtbl   big()|main
10-11    1000000001600000  0x5000   9     novtbl
10-12    1000000002000000  0x4000   del   novtbl   drop()|main
10-12    1000000002000000  0x1000   del   novtbl   drop()|main
10-12    1000000002000100  0x4000   del   novtbl   again()|main
10-11    1000000003000000  0x7000   del   Old      drop()|main
END

ok "it is written" heapmon convert --to heaptrack -o some.data some.txt
is "$(sort .tap)" \
"heapmon: heaptrack: blocks from before the recording left out
heapmon: heaptrack: releases of blocks from before left out
heapmon: heaptrack: releases of unknown blocks left out" \
	"what it can't hold is reported"
ok "heaptrack_print reads it" heaptrack_print -l1 -f some.data
unlike "$(cat .tap)" 'failed to parse|out of bounds|[Dd]amaged' \
	"without a complaint"
heaptrack_print -l1 -f some.data >printed
is "$(sed -n '/^total runtime/,$p' printed)" \
"total runtime: 3.00s.
calls to allocation functions: 5 (1/s)
temporary memory allocations: 1 (0/s)
peak heap memory consumption: 5.31K
peak RSS (including heaptrack overhead): 0B
total memory leaked: 209B" "the totals"
is "$(sed -n '/^MEMORY LEAKS/,/^MOST TEMP/p' printed | grep -A1 'leaked over')" \
"200B leaked over 2 calls from
leak(int)
--
200B leaked over 2 calls from:
    main
--
9B leaked over 1 calls from
0x0" "leaks by stack" || diag_file printed
is "$(sed -n '/^PEAK/,/^MEMORY/p' printed | grep -A1 'peak memory consumed')" \
"5.00K peak memory consumed over 1 calls from
big()
--
300B peak memory consumed over 2 calls from
leak(int)
--
9B peak memory consumed over 1 calls from
0x0" "the peak by stack" || diag_file printed
is "$(sed -n '/^MOST TEMP/,/^total/p' printed | grep -A1 '^1 temporary.*from$')" \
"1 temporary allocations of 1 allocations in total (100.00%) from
temp(int)" "temporary ones" || diag_file printed
heapmon convert --to heaptrack - <some.txt >piped.data 2>/dev/null
ok "a pipe gives the same" cmp piped.data some.data

# a resize; sources; names with odd bytes
{
	printf '%s\n' '10-11 1000 0x1000 16 novtbl a\tb|main'
	printf '%s\n' '10-11 2000 0x1000 del novtbl a\tb|main'
} | heapmon convert --from monitor --to heaptrack - >odd.data 2>/dev/null
ok "odd names" heaptrack_print -f odd.data
unlike "$(cat .tap)" 'failed to parse' "stay on their line"

# a block is resized to where another one lives, whose free was lost
{
	printf 'MTRC\001\0\0\0\0\0\0\0\241\050\0\0\0\0\0\0'
	printf 'A\001\200\040\010A\002\200\100\020R\001\200\100\040MTRC'
} >lost
heapmon convert --to heaptrack -o lost.data lost 2>/dev/null
is "$(heaptrack_print -f lost.data 2>/dev/null |
	sed -n 's/^total memory leaked: //p')" 32B \
	"a block that another one displaces is gone"

# much: each stack and each size once
awk 'BEGIN {
	for (i = 0; i < 30000; i++) {
		printf "1-1 %d 0x%x %d novtbl f%d()|g%d()|main\n", i, 4096 * (i + 1), i % 977 + 1, i % 113, i % 7
		if (i % 3)
			printf "1-1 %d 0x%x del novtbl f()|main\n", i, 4096 * (i + 1)
	}
}' >many.txt
heapmon convert --from monitor --to heaptrack -o many.data many.txt
heaptrack_print -f many.data >printed 2>&1
report=$(heapmon report --from monitor -s summary many.txt)
is "$(sed -n 's/^calls to allocation functions: \([0-9]*\).*/\1/p' printed)" \
	"$(echo "$report" | awk '$1 == "allocated" { print $2 }')" \
	"30000 blocks: as many as in the report"
is "$(sed -n 's/^temporary memory allocations: \([0-9]*\).*/\1/p' printed)" \
	"$(echo "$report" | awk '$1 == "temporary" { print $2 }')" \
	"and as many temporary"
is "$(sed -n 's/^total memory leaked: //p' printed)" \
	"$(echo "$report" | awk '$1 == "not" { printf "%.2fM", $5 / 1e6 }')" \
	"and leaked"
is "$(sed -n 's/^peak heap memory consumption: //p' printed)" \
	"$(echo "$report" | awk '$1 == "peak" { printf "%.2fM", $4 / 1e6 }')" \
	"and at the peak"
is "$(grep -c '^t ' many.data)" "$((113 * 7 + 7 + 1))" "a stack is written once"
is "$(grep '^c ' many.data | sort | uniq -d | wc -l)" 0 "a time, too"
is "$(grep '^a ' many.data | sort | uniq -d | wc -l)" 0 \
	"a size at a stack, too"
tap_done
