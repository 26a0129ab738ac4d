#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trace where memory runs out: it says so; nothing is left armed that it hasn't
# armed, off takes all away afterwards, and itself does so or says that it hasn't.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
. "$TOP/selftests/memory/fail_each.sh"
export MOST=4
# figures and times differ each time, and the keeper may be about to start
export FAIL_FILTER="sed -e '/^keeper:/d' -e '/^cpu:/d' \
	-e 's/\"keeper\": *{[^}]*}//' -e 's/\"used_cpu\": *[^,]*//' -e 's/[0-9A-F.]//g'"

make_app
cat >>app.tsf <<TSF
TRACE MINOR=2, TP=.many_0, IF=(\$$(echo "$ARG1" | tr '[:upper:]' '[:lower:]') != 3),
	STACK=(3)
TSF
trcust app.tsf >/dev/null 2>&1 || bail "app.tsf doesn't compile"

cat >left <<'SH'
find "$RASTRACE_RUN" -mindepth 1 ! -name '*.debug' 2>/dev/null | grep -q .
SH
# what goes in the background may take a while
cat >empty <<'SH'
for i in 1 2 3 4 5 6 7 8 9 10; do
	sh ./left || exit 0
	sleep 0.1
done
find "$RASTRACE_RUN"
exit 1
SH
cat >after <<'SH'
[ "$FAIL_STATUS" != 0 ] || [ -z "$OFF" ] || sh ./empty || {
	trace off --all
	exit 1
}
trace off --all >/dev/null && sh ./empty
SH
export FAIL_AFTER="sh ./after"

each "on" trace on app.tdf
each "on with options" trace on --attach perf --pid $$ --minor 1 \
	--context stack,comm --buffer 128K app.tdf
each "on --dry-run" trace on --dry-run app.tdf
each "run" trace run --stacks=frames app.tdf -- ./target 2
each "show" trace show app.tdf
each "show --stage" trace show --stage=placed app.tdf
export FAIL_BEFORE='trace on --stacks=frames app.tdf && ./target 3 >/dev/null'
each "query" trace query
each "query --json" trace query --json
each "query --metrics" trace query --metrics
each "get" trace get made/app.ras
each "suspend" trace suspend app.tdf
each "clear" trace clear
each "tracefmt" tracefmt -q
each "off" trace off app.tdf
export OFF=1
each "off --all" trace off --all
tap_done
