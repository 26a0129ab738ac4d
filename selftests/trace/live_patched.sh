#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A process that has patched its own code is found, and runs on as it did: no
# tracepoint is armed over instructions that the file hasn't.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
cp "$TOP/build/selftests/trace/patcher" "$TMP/patcher"
for major in 197 198; do
	make_tdf "$TMP/app$major.tsf" <<TSF
MODNAME=$TMP/patcher
MAJOR=$major
TRACE MINOR=1, TP=.work+0, DESC="work", REGS=($ARG1_32)
TSF
done
TDF=$TMP/app197.tdf
mkfifo "$TMP/go"

# start WHICH: patched and waiting
start() {
	: >"$TMP/said"
	"$TMP/patcher" "$1" <"$TMP/go" >"$TMP/said" &
	patcher=$!
	exec 8>"$TMP/go"
	tries=0
	until grep -q ready "$TMP/said" || [ $tries -gt 100 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done
}

# finish RESULTS NAME
finish() {
	echo >&8
	exec 8>&-
	wait "$patcher"
	is "$? $(tail -n 1 "$TMP/said")" "0 $1" "$2"
}

start work
status 1 "a patched process" trace on -p "$patcher" "$TDF"
like "$(cat "$TMP/err")" \
	"tracepoint 1 .*: process $patcher has other instruction bytes at 0x" \
	"  is refused"
status 1 "without -p" trace on "$TDF"
like "$(cat "$TMP/err")" "process $patcher has other" "  it is found"
status 1 "by a dry run" trace on -n "$TDF"
finish "7 1" "  it runs as it did"
status 0 "when it has ended" trace on "$TDF"
trace off --all

start other
status 0 "a process that has patched something else" trace on "$TDF"
status 0 "its code with a probe in it" trace on "$TMP/app198.tdf"
finish "1 7" "  runs as it did"
is "$(figure hits 1) $(figure hits 2)" "1 1" "  and is recorded"
trace off --all

# the line of a mapping and the bytes there are read one after the other
"$TMP/patcher" move >"$TMP/said" &
patcher=$!
sleep 0.1
failed=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	trace on -n "$TDF" >/dev/null 2>"$TMP/err" || failed="$failed $i"
done
ok "a process that maps other pages of the file in turns is alive" \
	kill -9 "$patcher"
wait "$patcher" 2>/dev/null
is "$failed" "" "  it isn't taken for patched" || diag_file "$TMP/err"

# a debugger would miss the stops at its breakpoint, and lose it by `off`; another
# file, as probes go a little later than `off` ends
cp "$TMP/patcher" "$TMP/new"
mv "$TMP/new" "$TMP/patcher"
start break
status 1 "a breakpoint of a debugger" trace on "$TDF"
like "$(cat "$TMP/err")" "process [0-9]* has a breakpoint at 0x" "  is refused"
finish "1 stops" "  and works"
start heapmon
status 0 "an int3 in a process that heapmon has stopped is a probe" \
	trace on -n "$TDF"
finish "1 stops" "  and works"

status 0 "another probe there" trace on "$TMP/app198.tdf"
start break
status 0 "  isn't taken for one" trace on "$TDF"
exec 8>&-
wait "$patcher"
trace off --all

# where links are of one process
if trace on -n -p $$ "$TDF" 2>/dev/null | grep -q uprobe_multi; then
	start work
	status 0 "links of another process" trace on -p $$ "$TDF"
	trace off --all
	finish "7 1" "  leave it alone"
else
	skip "links of another process" "the kernel has none"
fi
tap_done
