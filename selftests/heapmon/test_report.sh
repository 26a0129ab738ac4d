#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# heapmon report: its tables, JSON and comparison say of a small trace what can
# be reckoned by hand.
. "$(dirname "$0")/../tap.sh"

cd "$TMP" || exit 1
cat >before.txt <<'END'
Thread   Time of event     Address  Size  Type     Stack crawl
0-0      old               0x7000   48    Old
10-11    1000000000000000  0x1000   100   novtbl   leak(int)|main
10-11    1000000000500000  0x2000   200   novtbl   leak(int)|main
10-12    1000000001000000  0x3000   30    novtbl   temp<char>(int)|work()|main
10-12    1000000001000001  0x3000   del   Shape    temp<char>(int)|work()|main
10-11    1000000001500000  0x4000   5000  novtbl   big()|main
10-12    1000000002000000  0x4000   del   novtbl   drop()|main
10-12    1000000002000100  0x4000   del   novtbl   again()|main
10-12    1000000002000200  0x1010   del   novtbl   inside()|main
10-12    1000000002000300  0x9999   del   novtbl   unknown()|main
10-11    1000000003000000  0x1000   8     novtbl   twice()|main
END
cat >after.txt <<'END'
Thread   Time of event     Address  Size  Type     Stack crawl
10-11    2000000000000000  0x5000   100   novtbl   leak(int)|main
10-11    2000000000500000  0x6000   200   novtbl   leak(int)|main
10-11    2000000000500000  0x7000   250   novtbl   leak(int)|main
10-11    2000000000600000  0x8000   77    novtbl   fresh()|main
END

# section NAME [OPTION...]: without the head
section() {
	heapmon report -s "$@" before.txt | sed 1,2d
}

is "$(heapmon report -s summary before.txt)" \
"heap of a program, 3.000 s, from 2001-09-09 01:46:40 UTC

summary
  allocated              5 blocks             5338 bytes
  freed                  3 blocks             5130 bytes
  not freed              2 blocks              208 bytes
  peak                   3 blocks             5300 bytes at 1.500 s
  temporary              2 blocks, 40.0 %
  old                    1 blocks               48 bytes, there at the begin: in no other figure
  unknown                1 releases of blocks that were never seen" "the summary"
is "$(section live)" \
"not freed, by stack
        blocks            bytes      %       youngest         oldest
             1              200   96.2        2.500 s        2.500 s
      leak(int)
      main
             1                8    3.8        0.000 s        0.000 s
      twice()
      main" "what isn't freed, with its age"
is "$(section live --min-age=1 -d 1)" \
"not freed, by stack
        blocks            bytes      %       youngest         oldest
             1              200   96.2        2.500 s        2.500 s
      leak(int)
      ... 1 more" "only what is older; frames are cut, and said to be"
is "$(section peak)" \
"at the peak, by stack
        blocks            bytes      %
             1             5000   94.3
      big()
      main
             2              300    5.7
      leak(int)
      main" "the peak"
is "$(section allocated -n 1)" \
"most allocations, by stack
        blocks            bytes      %      average       blocks/s          bytes/s
             2              300   40.0        150.0            0.7            100.0
      leak(int)
      main
  ... and 3 more stacks (--top=0 for all)" "the rate of allocations, rows are cut"
is "$(section temporary)" \
"temporary: freed before anything else was allocated, by stack
     temporary    allocated      %            bytes
             1            1  100.0               30
      temp<char>(int)
      work()
      main
             1            1  100.0             5000
      big()
      main" "temporary blocks"
is "$(section sizes | grep -v ' 0 *0 *0$')" \
"allocated, by size
         up to       blocks            bytes    not freed
             8            1                8            1 ########################################
            32            1               30            0 ########################################
           128            1              100            0 ########################################
           256            1              200            1 ########################################
          8192            1             5000            0 ########################################" "sizes"
is "$(section time | sed -n '3p;8p;14p;15p;19p;20p;$p')" \
"       0.000 s          7.8            781.2          0.0              100 #
       0.640 s          0.0              0.0          0.0              300 ##
       1.408 s          7.8          39062.5          0.0             5300 ########################################
       1.536 s          0.0              0.0          0.0             5300 ########################################
       2.048 s          0.0              0.0          0.0              300 ##
       2.176 s          0.0              0.0          0.0              300 ##
       2.944 s          7.8             62.5          7.8              300 ##" \
	"what was there in time"
is "$(section types)" \
"types, by the vtable when the block was freed, or found
         freed            bytes          old    mean life   type
             1             5000            0     0.500000 s  (first word 0)
             0                0            1     0.000000 s  Old
             1               30            0     0.000001 s  Shape" "types"
is "$(section threads)" \
"threads
       pid      tid    allocated            bytes        freed            bytes   of others'    temporary
        10       11            4             5308            1              100            0            0
        10       12            1               30            2             5030            1            2" "threads"
is "$(section wrong | grep -v '^ *main$')" \
"wrong
  double free, 1 time: of 0x4000 in thread 12 at 2.000100 s, from
      again()
    the block 0x4000 of 5000 bytes, from
      big()
  free inside of a block, 1 time: of 0x1010 in thread 12 at 2.000200 s, from
      inside()
    the block 0x1000 of 100 bytes, from
      leak(int)
  address given out twice, 1 time: of 0x1000 in thread 11 at 3.000000 s, from
      twice()
    the block 0x1000 of 100 bytes, from
      leak(int)" "what is wrong"
is "$(heapmon report before.txt | grep -c '^[a-z]')" 11 \
	"all tables without --section"
is "$(heapmon report - <before.txt | cksum)" \
	"$(heapmon report before.txt | cksum)" "from standard input, too"

heapmon report -n 1 --diff before.txt after.txt >difference
is "$(sed '/^$/,$d' difference)" \
"difference              blocks            bytes       before            bytes        after            bytes
  allocated             -1            -4711            5             5338            4              627
  freed                 -3            -5130            3             5130            0                0
  not freed             +2             +419            2              208            4              627
  peak                  +1            -4673            3             5300            4              627" \
	"two files compared"
is "$(sed -n '/^not freed/,/^$/p' difference)" \
"not freed, by stack
        blocks            bytes       before            bytes        after            bytes
            +2             +350            1              200            3              550
      leak(int)
      main
  ... and 2 more stacks (--top=0 for all)" "stacks by the most change"
heapmon report --diff before.txt before.txt >difference
unlike "$(cat difference)" 'by stack' "nothing has changed in the same file"

{ cat after.txt; echo '*** 12 events lost'; } >lost.txt
is "$(heapmon report --diff after.txt lost.txt | grep ^note: | cut -c -38)" \
	"note: after: 12 events are missing: bl" "what is missing of one of them"
is "$(heapmon report --diff lost.txt after.txt | grep ^note: | cut -c -39)" \
	"note: before: 12 events are missing: bl" "and of which"

cat >check.py <<'END'
import json
import sys

report = json.load(sys.stdin)
totals = report["totals"]
print(totals["allocated"], totals["freed"], totals["kept"], totals["peak"])
print(report["lost"], report["begin"], report["end"], totals["peak_time"])
for site in report["sites"]:
    print([report["frames"][i]["name"] for i in site["stack"]],
          site["kept"]["bytes"], site["peak"]["bytes"], site["temporary"])
print([(wrong["what"], wrong["count"]) for wrong in report["wrong"]])
print(sum(size["allocated"]["bytes"] for size in report["sizes"]),
      sum(span["allocated"]["bytes"] for span in report["spans"]),
      sum(thread["allocated"]["bytes"] for thread in report["threads"]))
print([(kind["kind"], kind.get("type")) for kind in report["types"]])
END
if command -v python3 >/dev/null; then
	is "$(heapmon report --json before.txt | python3 check.py)" \
"{'count': 5, 'bytes': 5338} {'count': 3, 'bytes': 5130} {'count': 2, 'bytes': 208} {'count': 3, 'bytes': 5300}
0 1000000000000000000 1000000003000000000 1000000001500000000
['leak(int)', 'main'] 200 300 0
['temp<char>(int)', 'work()', 'main'] 0 0 1
['big()', 'main'] 0 5000 1
['twice()', 'main'] 8 0 0
[('double free', 1), ('free inside of a block', 1), ('address given out twice', 1)]
5338 5338 5338
[('named', 'Old'), ('named', 'Shape'), ('novtbl', None)]" "JSON has it all"
	printf '%s\n' '10-11 1 0x1000 9 novtbl "\x</script><b>|main' |
		heapmon report --json --from monitor - >odd.json
	is "$(python3 -c 'import json; print(json.load(open("odd.json"))["frames"][1]["name"])')" \
		'"\x</script><b>' "names are quoted"
	unlike "$(cat odd.json)" '<' "and have no <"
else
	skip "JSON has it all" "needs python3"
fi
printf '10-11 1 0x1000 9 novtbl \033[31mred|main\n' |
	heapmon report --from monitor - >odd.txt
unlike "$(cat odd.txt)" "$(printf '\033')" "names don't reach the terminal"

heapmon convert --to mtrc -o whole.mtrc before.txt 2>/dev/null
head -c 90 whole.mtrc >cut.mtrc
status 1 "a file that is cut is an error" heapmon report -o cut.txt cut.mtrc
like "$(cat cut.txt)" '^  allocated +[1-5] blocks' \
	"but what can be read is reported"
heapmon convert --to mptl -o sums.mptl before.txt 2>/dev/null
status 0 "a file of sums" heapmon report sums.mptl
like "$(cat "$TMP/out")" '^note: a file of sums' "is reported to be one"
like "$(cat "$TMP/out")" '^  allocated +5 blocks +5338 bytes' "and reported"
unlike "$(cat "$TMP/out")" '^(  peak|at the peak|over time|threads)' \
	"without what it doesn't have"
like "$(cat "$TMP/out")" '^ +8192 +1 +5000 +0 ' \
	"larger blocks by their average size"

status 0 "a process that isn't in the file" heapmon report -p 11 before.txt
is "$(cat err)" "heapmon: 'before.txt': nothing in it is of that process" \
	"is reported"
status 0 "one that is" heapmon report -p 10 before.txt
is "$(cat err)" "" "has no message"
status 1 "no such file" heapmon report missing
is "$(cat err)" "heapmon: cannot read 'missing': No such file or directory" \
	"is reported"
status 1 "no such folder" heapmon report -o no/such before.txt
like "$(cat err)" "^heapmon: .*'no/such'" "is reported"
echo kept >kept
status 1 "an error leaves the output alone" heapmon report -o kept missing
is "$(cat kept)" kept "as it was"
status 2 "two files without --diff" heapmon report before.txt after.txt
status 2 "--diff of one file" heapmon report --diff before.txt
status 2 "two forms at once" heapmon report --html --json before.txt
status 2 "an unknown section" heapmon report -s all before.txt
status 2 "an unknown style" heapmon report --style=mleak before.txt
status 2 "a number that is none" heapmon report -n x before.txt
status 2 "an age that is none" heapmon report --min-age=-1 before.txt
status 1 "mptrace's tables of sums" heapmon report --style=mptrace sums.mptl
tap_done
