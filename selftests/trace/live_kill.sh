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

# leftovers: names in the run directory that only a killed trace leaves
leftovers() {
	ls "$RASTRACE_RUN/new" 2>/dev/null
	for past in "$RASTRACE_RUN"/past/*/*; do
		case $past in
		*/count | *'/*') ;;
		*) echo "$past" ;;
		esac
	done
}

# kill_after MICROSECONDS COMMAND...: leaves its status
kill_after() {
	delay=$1
	shift
	"$@" >/dev/null 2>&1 &
	usleep "$delay"
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
}
command -v usleep >/dev/null || usleep() {
	sleep "0.$(printf %06d "$1")"
}

bad=0 armed=0 rounds=0
trace on "$TMP/many.tdf" && trace off "$TMP/many.tdf"
for delay in 1000 4000 7000 9000 11000 13000 15000 17000 20000 25000 30000; do
	for what in on off; do
		[ $what = off ] && trace on "$TMP/many.tdf" 2>/dev/null
		kill_after $delay trace $what "$TMP/many.tdf"
		rounds=$((rounds + 1))
		trace clear || bad=$((bad + 1))
		[ "$(leftovers)" ] && bad=$((bad + 1)) && leftovers | diag_file
		if trace query | grep -q ', on, '; then
			armed=$((armed + 1))
			"$TMP/target" 2
			[ "$(trace query --json | sed -n '/"state": "on"/,$p' |
				sed -n 's/.*"hits": \(.*\),/\1/p' |
				head -n 1)" = 2 ] || bad=$((bad + 1))
			trace off "$TMP/many.tdf" || bad=$((bad + 1))
		else
			trace on "$TMP/many.tdf" || bad=$((bad + 1))
			trace off "$TMP/many.tdf" || bad=$((bad + 1))
		fi
	done
done
ok "some kills left it armed, some didn't ($armed of $rounds)" \
	test $armed -gt 0 -a $armed -lt $rounds
is $bad 0 "$rounds times killed, never half armed ($armed times armed)"

# private_runs: the directories of `trace run`
private_runs() {
	pins | grep '^run_'
}
trace run "$TMP/many.tdf" -- sleep 1 >/dev/null 2>&1 &
i=0
while [ -z "$(private_runs)" ] && [ $i -lt 1000 ]; do
	i=$((i + 1))
done
kill -9 $!
wait $! 2>/dev/null
ok "a killed 'trace run' leaves its directory" test -n "$(private_runs)"
trace clear 2>/dev/null
is "$(private_runs)" "" "the next trace removes it"
tap_done
