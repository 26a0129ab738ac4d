#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# cputime of a CALL: of calls that compute, sleep, yield and are preempted it is what
# the program's own account says, inside and around the call; of a call that another
# thread ends it is not known, and a condition on it does not hold.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
cp "$TOP/build/selftests/trace/cputime" "$TMP/cputime"
calls=100 moved=10 near=20000
# an emulator is slow to switch
[ "${RASTRACE_GUEST-}" ] && calls=40 near=300000

make_tdf "$TMP/app.tsf" <<TSF
MODNAME=$TMP/cputime
MAJOR=195
TRACE MINOR=1, CALL=.work, DESC="work", FMT="%{u64} %P%{u64} %P%{d64} %P%{u64}",
	VARS=(id), RESULT=(cputime, \$result)
TRACE MINOR=2, CALL=.work, DESC="known", IF=(cputime >= 0)
TRACE MINOR=3, CALL=.work, DESC="waits", VARS=(id),
	IF=(cputime <= elapsed && elapsed - cputime > 2ms)
TRACE MINOR=4, CALL=.work, HIST=(cputime)
TSF
status 0 "arm" trace on --max-cpu=off --buffer 1M "$TMP/app.tdf"
status 0 "the program runs" sh -c "'$TMP/cputime' $calls >'$TMP/said'"
status 0 "get" trace get "$TMP/app.ras"
all=$((4 * calls))
tracefmt --tff "$TMP" "$TMP/app.ras" 2>/dev/null |
	sed -n 's/^\([0-9]*\) \([0-9]*\) /\2 \1 /p' >"$TMP/records"
# a switch that was missed takes the time from its calls
known=$(grep -vc '<not known>' "$TMP/records")
ok "calls have a time" test "$known" -ge $((all - all / 50))
# Where a host takes the processor at a switch, the kernel's account has that time in
# another thread: of few calls. sum_exec_runtime, as of the last tick, differs in most.
is "$(awk -v said="$TMP/said" -v some=$((all / 10)) -v near=$near '
	BEGIN { while ((getline line <said) > 0) {
			split(line, part, " ")
			inside[part[1]] = part[2]; around[part[1]] = part[3] } }
	$3 !~ /^[0-9]+$/ { next }
	{ off = inside[$1] - $3
	  if ($3 - around[$1] > off) off = $3 - around[$1]
	  if (off > near + $2 / 1000 && some-- <= 0 || $3 > $2)
		print $0, inside[$1], around[$1] }' "$TMP/records" | head -n 3)" "" \
	"  it is between the program's own inside and around"
is "$(grep -c '^10000.. .*<not known>' "$TMP/records")" $moved \
	"a call that another thread ends has none"
is "$(figures 2 | cut -d ' ' -f 1,2)" "$known $((all + moved - known))" \
	"  and a condition on it doesn't hold"
like "$(trace explain-loss "$TMP/app.tdf")" "or read what isn't there" \
	"  which is explained"
ok "calls that waited are selected" test "$(figures 3 | cut -d ' ' -f 1)" -gt 20
is "$(figures 4 | cut -d ' ' -f 7)" "$((all + moved))" "a histogram has hits"
status 0 "off" trace off --all
tap_done
