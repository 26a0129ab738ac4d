#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trace run --expr and trace on --expr: from one line to records.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
cp "$TARGET" "$TMP/target"
export TMPDIR="$TMP"

# rows EXPR...: what is printed of each event, without the header line
rows() {
	trace run --no-summary --fields desc,fields "$@" -- "$TMP/target" 3 \
		2>"$TMP/err" >"$TMP/out"
	grep -v '^target' "$TMP/out"
}

is "$(rows -e 'work(n)' | grep -c 'n = ')" 3 "values at the entry"
is "$(rows -e 'work -> result' | grep -c 'result = ')" 3 "results"
is "$(rows -e 'work(n) if n == 2' | grep -c 'n = 2')" 1 "a condition"
is "$(rows -e 'work(n) -> result if elapsed > 1ns && n == 2' |
	grep -c 'n = 2')" 1 "a condition on whole calls"
is "$(grep -c tracefmt "$TMP/err")" 0 "  which is evaluated where they end"
is "$(rows -e 'wor* if elapsed > 1ns' | grep -c 'desc=')" 3 \
	"  of a pattern, too: a record for each call"
is "$(rows --calls -e 'work(n) if latency > 1ns && entry.n == 2' |
	grep -c '"n":2')" 1 "  one that only tracefmt knows"
like "$(cat "$TMP/err")" "all calls are recorded, and tracefmt leaves out" \
	"  all calls are recorded then"
like "$(cat "$TMP/err")" "cannot be evaluated in the kernel: .*: entry" \
	"  and why"
is "$(rows -e 'work(n) if (long)result > 0 && *(int *)outer == 7 && n == 2' |
	grep -c 'n = 2')" 1 "  one with casts"
is "$(grep -c tracefmt "$TMP/err")" 0 "  is evaluated where calls end"
status 1 "  a name that is not there" trace run \
	-e 'work(n) if elapsed > 1ns && m > 2' -- "$TMP/target" 3
like "$(cat "$TMP/err")" "symbol not found: m " "    is reported by trcust"
unlike "$(cat "$TMP/err")" "exited with status" "    before the program runs"
status 1 "  one that tracefmt does not take, either" trace run \
	-e 'work(n) if result > 3 +' -- "$TMP/target" 3
like "$(cat "$TMP/err")" "syntax error" "    is reported by trcust"
unlike "$(cat "$TMP/err")" "exited with status" "    before the program runs"
status 0 "  into a file" trace run -o "$TMP/all.ras" \
	-e 'work(n) if latency > 1ns && entry.n == 2' -- "$TMP/target" 3
unlike "$(cat "$TMP/err")" "tracefmt leaves out" "    which has all calls"
sed -n 's/.* to leave out the others: //p' "$TMP/err" >"$TMP/command"
is "$(sh "$TMP/command" 2>/dev/null | grep -c '^n = ')" 1 \
	"    the message has the command to choose those"
is "$(rows -e 'work(n)' -e 'main()' | grep -c 'desc=')" 4 "two expressions"
is "$(rows -e 'work' | grep -c 'desc=')" 6 "a function alone"
is "$(rows -e 'many_1()' | grep -c 'desc=')" 0 "nothing is hit"
status 0 "as a tree" trace run --tree --no-summary -e 'work' -- "$TMP/target" 2
ok "  has calls" grep -q 'work(' "$TMP/out"
status 0 "into a file" trace run -o "$TMP/x.ras" -e 'work(n)' -- \
	"$TMP/target" 2
is "$(tracefmt -q "$TMP/x.ras" | grep -c '^n = ')" 2 \
	"  with records and how to print them"
is "$(rows -e 'work(n)' -e 'main()' --stop-on e2 | grep -c 'desc=')" 1 \
	"--stop-on an expression"
is "$(ls -d "$TMP"/rastrace-* 2>/dev/null)" "" "no directory is left"
is "$(ls -d "$RASTRACE_RUN"/run_* 2>/dev/null)" "" "nothing is armed"
status 1 "an unknown name" trace run -e 'work(missing)' -- "$TMP/target" 2
like "$(cat "$TMP/err")" "missing" "  is reported by trcust"
is "$(ls -d "$TMP"/rastrace-* 2>/dev/null)" "" "  no directory is left"

status 2 "--for is not for a program" trace run --for 1 -e 'work(n)' -- \
	"$TMP/target" 2
status 0 "--for ends what has no program" trace on --for 1s \
	-e "$TMP/target:work(n)"

# --- of a process that is there
while :; do
	"$TMP/target" 3
	sleep 0.1
done >/dev/null &
target=$!
# tables of stacks are made in a thread
for context in "" --context=stack; do
	: >"$TMP/live"
	# shellcheck disable=SC2086
	"$BIN/trace" on --follow -p $target $context \
		-e "$TMP/target:work(n)" >"$TMP/live" 2>"$TMP/live.err" &
	on=$!
	ok "records are printed while it runs${context:+, $context}" \
		until_true 30 test -s "$TMP/live"
	kill -INT $on
	wait $on
	is $? 0 "SIGINT ends it"
	like "$(cat "$TMP/live")" '^n = ' "  with values"
	is "$(ls -d "$RASTRACE_RUN"/run_* 2>/dev/null)" "" \
		"  nothing is armed"
done
kill $target
tap_done
