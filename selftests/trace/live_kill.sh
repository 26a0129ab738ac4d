#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trace is killed at any moment of on and off: then the TDF is armed or it
# isn't, and the next trace leaves nothing half done.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
make_many 100
# perf_event links take long to go, up to 0.1 s each
if trace on --attach multi "$TMP/many.tdf" 2>/dev/null; then
	trace off --all
else
	make_many 5
fi

# guests are slow
KILLS=${RASTRACE_KILLS:-${RASTRACE_GUEST:+8}}
KILLS=${KILLS:-60}

# leftovers: names in the run directory that only a killed trace leaves
leftovers() {
	ls "$RASTRACE_RUN/new" 2>/dev/null
	for past in "$RASTRACE_RUN"/past/*/*; do
		case $past in
		*/count | */why | *'/*') ;;
		*) echo "$past" ;;
		esac
	done
}

# kill_after MICROSECONDS COMMAND...
kill_after() {
	delay=$1
	shift
	"$@" >/dev/null 2>&1 &
	usleep "$delay"
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
}
command -v usleep >/dev/null || usleep() {
	sleep "$(printf '%d.%06d' $(($1 / 1000000)) $(($1 % 1000000)))"
}

# moments COUNT MOST SEED: so many microseconds, at random
moments() {
	awk -v n="$1" -v most="$2" -v seed="$3" 'BEGIN {
		srand(seed)
		while (n-- > 0)
			print int(rand() * most)
	}'
}

# links: how many are pinned
links() {
	set -- "$RASTRACE_RUN"/armed/many/*_*
	[ -e "$1" ] || set --
	echo $#
}

bad=0 armed=0 rounds=0
complain() {
	bad=$((bad + 1))
	diag "round $rounds, $what killed after $moment us: $*"
}

# check_round: what a killed trace left is whole, or gone
check_round() {
	trace clear || complain "clear fails"
	left=$(leftovers)
	[ -z "$left" ] || complain "leaves $left"
	if ! trace query | grep -q ', on, '; then
		[ "$(links)" = 0 ] || complain "leaves $(links) links"
		trace on "$TMP/many.tdf" || complain "on fails"
		[ "$(links)" = "$points" ] || complain "on makes $(links) links"
	else
		armed=$((armed + 1))
	fi
	on=$(trace query --json | sed '1,/"tracepoints"/d' |
		grep -c '"state": "on"')
	[ "$(links)" = "$on" ] || complain "$(links) links of $on points"
	"$TMP/target" 2 || complain "the program ends with status $?"
	[ "$(figure hits)" = 2 ] ||
		complain "$(figure hits) hits: $(trace query | head -n 12)"
}

trace on "$TMP/many.tdf"
points=$(links)
trace off "$TMP/many.tdf"
seed=${RASTRACE_SEED:-$(date +%s)}
diag "$KILLS moments, RASTRACE_SEED=$seed"
most=$(
	begin=$(clock_ms)
	for _ in 1 2 3 4; do
		trace on "$TMP/many.tdf"
		trace off "$TMP/many.tdf"
	done
	echo $((($(clock_ms) - begin) * 1000 / 6 + 5000))
)
for moment in $(moments "$KILLS" "$most" "$seed"); do
	case $((rounds % 5)) in
	0 | 3) what="on" ;;
	1 | 4) what="off" ;;
	2) what="off part" ;;
	esac
	rounds=$((rounds + 1))
	trace off "$TMP/many.tdf" 2>/dev/null
	[ "$what" = on ] || trace on "$TMP/many.tdf" || complain "on fails"
	case $what in
	"off part") kill_after "$moment" trace off "$TMP/many.tdf(2-50)" ;;
	*) kill_after "$moment" trace "$what" "$TMP/many.tdf" ;;
	esac
	check_round
done
# among the points that 'off' ends, where no system call is
if command -v gdb >/dev/null; then
	moment=0 what="off among the points"
	trace off "$TMP/many.tdf" 2>/dev/null
	trace on "$TMP/many.tdf"
	gdb -batch -nx -ex 'break sesslog_point_end' -ex run -ex 'continue 3' \
		-ex kill --args "$(command -v trace)" off "$TMP/many.tdf" \
		>"$TMP/gdb" 2>&1
	is "$(grep -c '^Breakpoint 1.*, sesslog_point_end' "$TMP/gdb")" 2 \
		"gdb stops it among the points"
	check_round
else
	skip "off killed among the points" "no gdb"
fi
trace off "$TMP/many.tdf" 2>/dev/null
ok "some kills left it armed, some didn't ($armed of $rounds)" \
	test $armed -gt 0 -a $armed -lt $rounds
is $bad 0 "$rounds times killed, never half armed ($armed times armed)"

# private_runs: the directories of `trace run`
private_runs() {
	pins | grep '^run_'
}
# the command outlives its killed trace
trace run "$TMP/many.tdf" -- sh -c 'echo $$ >"$0"; exec sleep 300' \
	"$TMP/command" >/dev/null 2>&1 &
run=$!
begin=$(clock_ms)
while ! [ -s "$TMP/command" ] && [ $(($(clock_ms) - begin)) -lt 60000 ]; do
	sleep 0.01
done
kill -9 $run
wait $run 2>/dev/null
kill "$(cat "$TMP/command")"
ok "a killed 'trace run' leaves its directory" test -n "$(private_runs)"
trace clear 2>/dev/null
is "$(private_runs)" "" "the next trace removes it"

# off --all, killed in front of each name that it takes away: a buffer that stays
# has the figures of its records, then.
hit() {
	"$TMP/target" 3
	"$TOP/build/selftests/static/caller_shared" 100 1 text 100 1 text
}

# sums: hits and records that are there, of all points
sums() {
	trace query --json | sed '1,/"tracepoints"/d' | awk '
		/"hits":/ { hits += $2 }
		/"present":/ { present += $2 }
		END { print hits + 0, present + 0 }'
}
case $(ldd "$BIN/trace" 2>&1) in
*libasan* | *libtsan* | *'not a dynamic'*)
	skip "off --all killed at each removal" "nothing can be preloaded"
	tap_done
	;;
esac
bad=0 kills=0 ended=137 fresh="4 4" twice="8 8"
while [ $ended = 137 ] && [ $kills -lt 1000 ]; do
	kills=$((kills + 1))
	trace on "$TMP/many.tdf" 100
	hit
	ended=0
	KILL_NTH=$kills LD_PRELOAD=$TOP/build/selftests/trace/kill_nth \
		trace off --all >/dev/null 2>&1 || ended=$?
	trace on "$TMP/many.tdf" 100 2>/dev/null
	hit
	after=$(sums)
	[ "$after" = "$fresh" ] || [ "$after" = "$twice" ] || {
		bad=$((bad + 1))
		diag "off --all, killed in front of its removal $kills:" \
			"$after hits and records"
	}
	trace off --all
done
ok "off --all killed at each of $((kills - 1)) removals" test $kills -gt 10
is "$ended $bad" "0 0" "  figures and records agree"
tap_done
