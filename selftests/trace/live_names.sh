#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Names of the functions in stacks travel with a trace: it names them where the
# program is not, and names no others.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
unset TRACEFMT_PATH TRACEFMT_PREFIX
cd "$TMP" || exit 1

cleanup() {
	trace off --all
}

cp "$TOP/build/selftests/trace/otel_static" program
cat >program.tsf <<TSF
MODNAME=$TMP/program
TRACE MINOR=1, TP=.work, DESC="work", VARS=(n), STACK=(4)
TRACE MINOR=2, TP=.otel_publish, DESC="publish"
TSF
trcust program.tsf >log 2>&1 || bail "trcust: $(cat log)"

# frames FILE.ras: functions of the second event of a thread, from the context
frames() {
	tracefmt -q --tff . --format=json --minor=1 "$1" | sed -n '20s/"inlined":true//g
		20s/.*"stack":{"frames":\[//; 20s/\],"end".*//p' | tr ',' '\n' |
		sed -n 's/^{*"symbol":"\(.*\)"$/\1/p'
}

trace run --context=stack:4 -o app.ras program.tdf -- ./program >log 2>&1 ||
	bail "trace: $(cat log)"
is "$(frames app.ras | head -n 2)" "thread_run
start_thread" "the program is there"
mv program away
is "$(frames app.ras | head -n 2)" "thread_run
start_thread" "and where it is not"
like "$(tracefmt -q --minor=1 --last 1 app.ras)" \
	' thread_run\+0x[0-9A-F]+ \(program\)' "as text"
is "$(grep -c thread_run app.ras)" 1 "of functions in stacks"
is "$(grep -c pthread_key_create app.ras)" 0 "no others"

mv away program
trace on --context=stack program.tdf || bail "cannot arm"
./program
trace get --no-bundle bare.ras 2>log || bail "trace get: $(cat log)"
trace get full.ras 2>log || bail "trace get: $(cat log)"
mv program away
is "$(frames bare.ras)" "" "--no-bundle has none"
is "$(frames full.ras | head -n 1)" thread_run "trace get has them"
trace off --all

mv away program
cat >sums.tsf <<TSF
MODNAME=$TMP/program
TRACE MINOR=1, TP=.work, COUNT, BY=(STACK:3)
TSF
trcust sums.tsf >log 2>&1 || bail "trcust: $(cat log)"
trace on sums.tdf || bail "cannot arm"
./program
trace get sums.ras 2>log || bail "trace get: $(cat log)"
mv program away
like "$(tracefmt -q --aggregates --folded sums.ras)" ';start_thread;thread_run 800$' \
	"and those of stacks that were counted"
tap_done
