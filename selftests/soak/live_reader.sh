#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What trace makes is as ras(5) says, to a reader that shares no code with it:
# the live buffer while it is written, after it, suspended, over, and cleared;
# files of get and spool, of each compression; and both have the same figures.
. "$(dirname "$0")/../tap.sh"
reader=$TOP/build/selftests/soak/reader
caller=$TOP/build/selftests/static/caller
need_root
[ -r "$TOP/selftests/trace/target.sh" ] && [ -x "$caller" ] ||
	skip_all "needs what the tests of trace and static have"
. "$TOP/selftests/trace/target.sh"
layout=197/1=4,m4,s20

# good NAME [OPTION...] PATH: also beside what was there before
good() {
	name=$1
	shift
	ok "$name" "$reader" -s "$TMP/state" -d "$layout" "$@"
}

# read_as MAJOR: what the reader says of the last session of a major: hits,
# recorded, filtered, dropped, present
read_as() {
	"$reader" -p "$RASTRACE_RUN" | awk -v major="$1" '
		$1 == "point" && $3 == major {
			figures = $5 " " $6 " " $7 " " $8 " " $9
		}
		END { print figures }'
}

status 3 "no buffer" "$reader" "$RASTRACE_RUN"
make_app
ok "armed" trace on --max-cpu=off --buffer 64K \
	--context=comm,uid,cgroup,cpu,ppid,stack "$TDF"
good "an empty buffer" -q "$RASTRACE_RUN"
"$TMP/target" 10
good "ten records" -q "$RASTRACE_RUN"
is "$(read_as 197)" "10 10 0 0 10" "  which it counts"
"$TMP/target" 2000
good "written over and over" -q "$RASTRACE_RUN"
while [ ! -e "$TMP/enough" ]; do "$TMP/target" 500; done &
target=$!
for n in 1 2 3 4 5; do good "look $n while it is written" "$RASTRACE_RUN"; done
ok "a file meanwhile" trace get "$TMP/live.ras"
good "  is good" "$TMP/live.ras"
touch "$TMP/enough"
wait $target
good "and after that" -q "$RASTRACE_RUN"
is "$(read_as 197)" "$(for name in hits recorded filtered dropped present; do
	figure $name; done | tr '\n' ' ' | sed 's/ $//')" \
	"trace query has the same figures"

for how in --compress=zlib --compress=zstd --no-bundle; do
	trace get $how "$TMP/a.ras" 2>"$TMP/err" || {
		skip "get $how" "$(cat "$TMP/err")"
		continue
	}
	good "get $how" -q "$TMP/a.ras"
done
trace spool --duration 2s -o "$TMP/spool.ras" 2>"$TMP/err" &
spool=$!
"$TMP/target" 2000
wait $spool
good "a spool" -q "$TMP/spool.ras"
trace spool --duration 2s -o "$TMP/cycle.ras" --size 64K --files 50 \
	2>"$TMP/err" &
spool=$!
sleep 0.3
"$TMP/target" 1500
# more than a file has room for, in one pass
kill -STOP $spool
"$TMP/target" 600 &
"$TMP/target" 600
sleep 0.5
kill -CONT $spool
wait $spool
ok "a cycle of several files" test -s "$TMP/cycle.ras.1"
good "  each is good" "$TMP"/cycle.ras*
ok "a run of its own" trace run -o "$TMP/run.ras" "$TDF" -- "$TMP/target" 30
good "  a file" -q "$TMP/run.ras"

ok "suspended" trace suspend
"$TMP/target" 5
is "$(read_as 197 | cut -d ' ' -f 3)" 5 "  hits are filtered"
ok "resumed" trace resume
ok "a static tracepoint" trace on --module "$caller" 100
"$caller" 100 1 count 50
"$caller" 100 2 bytes 600
"$caller" 100 2 half
good "  recorded" -q "$RASTRACE_RUN"
trace off 100 "$TDF"
good "all off" -q "$RASTRACE_RUN"
trace get "$TMP/a.ras"
good "  a file" -q "$TMP/a.ras"
trace clear
good "cleared" -q "$RASTRACE_RUN"
trace on "$TDF"
"$TMP/target" 5
good "again" -q "$RASTRACE_RUN"
is "$(read_as 197)" "5 5 0 0 5" "  five records"
trace get "$TMP/a.ras"
good "  a file has no processes of what was cleared" -q "$TMP/a.ras"
tap_done
