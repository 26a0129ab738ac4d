#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# --pair and --tree: calls that nest, recurse, never return (longjmp), are open
# at the end, call on (tail call); several threads, sessions and machines, static
# records, records that are missing, and more than memory has room for.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/tracefmt/calls.sh"
golden=$TOP/selftests/tracefmt/golden

example_calls
status 0 "the figures of functions" show --pair calls.ras
ok "are those of golden/pairs.txt" diff -u "$golden/pairs.txt" out
status 0 "the calls of threads" show --tree calls.ras
ok "are those of golden/tree.txt" diff -u "$golden/tree.txt" out
status 0 "from a pipe" sh -c 'tracefmt --utc -q --tff . --tree - <calls.ras'
ok "they come in the order of time: golden/tree-pipe.txt" \
	diff -u "$golden/tree-pipe.txt" out
status 0 "from one that has no end" \
	sh -c 'cat calls.ras | tracefmt --utc -q --tff . --tree -'
like "$(cat out)" '[|] } = 3  [(]app[)] open$' "the module remains"
status 0 "columns" show --fields desc calls.ras
like "$(cat out)" '^desc="?open Pre-Invocation' "are without it"
status 0 "JSON" show --format=json calls.ras
like "$(cat out)" '"desc":"[(]app[)] open' "is not"
status 0 "times since the first record" show --relative --tree calls.ras
like "$(cat out)" "^ +[+]0.000001400     1.400 us [|] } = 3  open\$" \
	"are in their column"
status 0 "a thread alone" show --tree --tid 71 calls.ras
is "$(grep -c '^PID\|^Process' out) $(grep -c ' | ' out)" "1 12" \
	"has its calls only"

# two sessions that see the same calls, another one, static records
calls twice.ras <<'EOF'
session 1 1 0 1 0x8001 2 0x8002
session 2 1 0 1 0x8001 2 0x8002
session 3 2 0 3 0x8003
1000000100 7 70 1 2 0 1
1000000101 7 70 2 2 0 1
1000000150 7 70 3 3 0
1000000170 7 70 3 0x8003 0
1000000200 7 70 1 0x8002 0 "a" 1
1000000201 7 70 2 0x8002 0 "a" 1
1000000300 7 70 0 0x21 0 1
1000000310 7 70 0 0x22 0
1000000350 7 70 0 0x8021 0
EOF
status 0 "a module armed twice" show --tree twice.ras
is "$(sed 1d out | cut -c 20-)" "             | work(n = 1) {
             |   work(n = 1) {
       20 ns |     fall()
      100 ns | } = 1, out = \"a\"  work
      100 ns |   } = 1, out = \"a\"  work
             | span(id = 1) {
             |   mark
       50 ns | }  span" "each session closes its own calls"

# one session after the other: what began in the first one has no POST
calls after.ras <<'EOF'
session 1 1 1000000150 2 0x8002
session 2 1 0 2 0x8002
1000000100 7 70 1 2 0 1
1000000200 7 70 2 0x8002 0 "a" 1
1000000300 7 70 2 2 0 1
1000000400 7 70 2 0x8002 0 "a" 1
EOF
status 0 "a module armed again" show --pair after.ras
is "$(awk 'NR == 2 { print $1, $2, $NF }' out)" "1 100 work" \
	"is one function"
like "$(cat out)" "^Calls without a POST up to the end: 1\$" \
	"the first session's call stays open"
like "$(cat out)" "^POSTs without a PRE: 1\$" "and its POST is alone"

# PRE without POST in the session
calls half.ras <<'EOF'
session 1 1 0 1 2
session 2 2 0 0x8002
1000000100 7 70 1 2 0 1
1000000200 7 70 2 0x8002 0 "a" 1
EOF
status 0 "where no POST is traced" show --pair half.ras
is "$(cat out)" \
	"no function has records of whole calls (CALL), or of PRE or POST where both are traced
a POST has the minor of its PRE with 0x8000 added" \
	"nothing is a call"
status 0 "its tree" show --tree half.ras
is "$(sed 1d out | cut -c 33-)" "| work Pre-Invocation: n = 1
| work Post-Invocation: out = \"a\", Return Code = 1" \
	"has the records as they are"

# a spool's files are one buffer, other machines are not
calls first.ras <<'EOF'
session 1 1 0 1 0x8001 2 0x8002
1000000100 7 70 1 2 0 1
1000000500 7 70 1 1 0 "x"
EOF
cat >second.txt <<'EOF'
session 1 1 0 1 0x8001 2 0x8002
gap 1000000
1000000600 7 70 1 0x8001 0 3
1000000900 7 70 1 0x8002 0 "a" 1
EOF
calls second.ras <second.txt
calls other.ras other <second.txt
status 0 "two files of one buffer" show --tree first.ras second.ras
is "$(grep -c '^Host \[target\].*TID \[70/' out) $(grep -c 'no POST\|no PRE' out)" \
	"1 0" "go on with each other's calls"
status 0 "a file of another machine" show --tree first.ras other.ras
is "$(grep -c '^Host' out) $(grep -c 'no POST\|no PRE' out)" "2 4" \
	"is another thread"

# what is missing
calls holes.ras <<'EOF'
session 1 1 0 2 0x8002
1000000100 7 70 1 2 0 1
gap 800
1000000900 7 70 1 0x8002 0 "a" 1
1000001000 7 70 1 2 16
EOF
status 0 "a trace with holes" show --pair holes.ras
like "$(cat out)" "^Records are missing [(]1 holes, 0 hits dropped, 1 times muted[)]" \
	"says that calls may have no latency"

# text from the trace
calls evil.ras <<EOF
session 1 1 0 1 0x8001 2 0x8002
1000000100 7 70 1 1 0 "$(printf 'a\033[2Jb')"
1000000200 7 70 1 2 0 1
1000000300 7 70 1 0x8002 0 "c" 1
1000000400 7 70 1 0x8001 0
EOF
status 0 "an escape sequence in a string" show --tree evil.ras
like "$(cat out)" 'name = "a.x1B\[2Jb"' "does nothing"
like "$(cat out)" "} = <0 of 4 bytes>  open" \
	"a return value that isn't there is reported"

# memory, of which sanitizers take more
memory='ulimit -v'
[ -z "${SANITIZED-}" ] || memory=:
export memory
calls long.ras <<'EOF'
session 1 1 0 2 0x8002
repeat 300000 1000000000 500 7 70 1 2 0x8002
cpu 1
repeat 300000 1000000100 500 7 71 1 2 0x8002
EOF
status 0 "600000 records" sh -c '$memory 65536
	tracefmt -q --tff . --tree long.ras | tail -n 150001 | head -n 1 |
	cut -c 1-13 >head; [ -s head ]'
like "$(cat head)" "^Process \[app" "a thread's calls are together"
calls deep.ras <<'EOF'
session 1 1 0 2 0x8002
repeat 600000 1000000000 500 7 70 1 2 2
EOF
status 0 "600000 calls without an end" sh -c '$memory 131072
	tracefmt -q --tff . --pair deep.ras >out.deep'
is "$(awk '/^Calls / { n += $NF } END { print n }' out.deep)" 600000 \
	"are counted"

# what can't be
# a whole call, of which nothing is seen among the first events
calls whole.ras <<'EOF'
session 1 1 0 5 7
cpu 0
repeat 70000 1000000100 1 7 70 1 5
1000080000 7 70 1 7 128 1000000000 0 80000 0
EOF
status 0 "the first whole call" show --tree whole.ras
is "$(sed -n 's/.* | //p' out | sed -n '1p;$p')" "work() {
}  work" "is around the events before it"

status 2 "calls in another order" show --tree --newest-first calls.ras
like "$(cat err)" "newest-first" "are refused"
tap_done
