#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# CALL of kernel functions: of a program that keeps its own account of how long it
# sleeps, each slow call is a record, each other one is counted; calls that never
# return, of the idle task and in interrupts; functions of a module.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
[ -e /sys/bus/event_source/devices/kprobe ] || skip_all "no kprobes"
[ -r /sys/kernel/btf/vmlinux ] || skip_all "the kernel has no BTF"
mkdir "$TMP/tracing"
mount -t tracefs tracefs "$TMP/tracing" 2>"$TMP/err" || skip_all "no tracefs"
umount "$TMP/tracing"

# return_events COUNT NAME: so many are in tracefs, or soon
return_events() {
	mount -t tracefs tracefs "$TMP/tracing"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		have=$(grep -c :rastrace_calls/ "$TMP/tracing/kprobe_events")
		[ "$have" = "$1" ] && break
		sleep 0.3
	done
	umount "$TMP/tracing"
	is "$have" "$@"
}

threads=16 calls=64
cp "$TOP/build/selftests/trace/sleeps" "$TMP/sleeps"

# The requested time is 50 ms for the slow ones, and says which call it is
make_tdf "$TMP/sleep.tsf" <<'TSF'
MODNAME=vmlinux
MAJOR=196
TRACE MINOR=1, CALL=.hrtimer_nanosleep, DESC="sleep",
	FMT="%{u64} %P%{u64} %P%{u64} %P%{d64} %P%{u64}",
	VARS=((unsigned long)rqtp),
	RESULT=(entry((unsigned long)rqtp), $result, cputime),
	IF=(elapsed >= 50ms && $result == 0)
TRACE MINOR=2, CALL=.hrtimer_nanosleep, COUNT, BY=(entry(rqtp) >= 50ms)
TRACE MINOR=3, CALL=.hrtimer_nanosleep, HIST=(elapsed)
TSF
status 0 "arm" trace on --comm sleeps --max-cpu=off "$TMP/sleep.tdf"
"$TMP/sleeps" $threads $calls 50000000 >"$TMP/said"
trace get "$TMP/sleep.ras"
return_events 3 "each has an event for its returns"
all=$((threads * calls))
# shellcheck disable=SC2046 # words
set -- $(figures 2)
is "$7 $4 $5 $6" "$all 0 0 0" "each call has been counted, none is open"
# shellcheck disable=SC2046
set -- $(figures 1)
recorded=$1
is "$3 $4 $5 $6" "0 0 0 0" "none was dropped"
is "$(($(figure condition) + recorded))" "$all" "they are fast, or recorded"
is "$(figures 3 | cut -d ' ' -f 3-)" "0 0 0 0 $all" "another CALL has all, too"
like "$(trace query)" "^ *$((all - all / 16)) +0$" "fast ones by a value of the entry"
tracefmt --tff "$TMP" "$TMP/sleep.ras" 2>/dev/null |
	awk 'NF == 5 && /^[0-9 ]+$/' >"$TMP/records"
is "$(wc -l <"$TMP/records" | tr -d ' ')" "$recorded" "the records are there"
is "$(awk -v said="$TMP/said" '
	BEGIN { while ((getline line <said) > 0) {
			split(line, part, " "); around[part[1]] = part[2] } }
	!($2 in around) || $2 != $3 || $4 || $1 < $2 || $1 > around[$2] ||
	$5 > $1 - $2 / 2 ||
	seen[$2]++' "$TMP/records" | head -n 3)" "" \
	"each is of one call, its time between what was asked for and that around"
diag "$(head -n 2 "$TMP/records")"
is "$(awk -v records="$TMP/records" '
	BEGIN { while ((getline line <records) > 0) {
			split(line, part, " "); has[part[2]] = 1 } }
	$1 >= 50000000 && !($1 in has)' "$TMP/said" | head -n 3)" "" \
	"each slow call is there"
status 0 "off of one" trace off 'sleep(3)'
return_events 2 "  its event is gone"
status 0 "off" trace off "$TMP/sleep.tdf"
return_events 0 "  those of the others are, too"
trace clear
trace off --all

# In any context
make_tdf "$TMP/any.tsf" <<'TSF'
MODNAME=vmlinux
MAJOR=195
TRACE MINOR=1, CALL=.tick_nohz_idle_enter, HIST=(elapsed)
TRACE MINOR=2, CALL=.update_process_times, COUNT
TRACE MINOR=3, CALL=.do_exit, COUNT
TSF
status 0 "arm" trace on "$TMP/any.tdf"
trace on "$TMP/sleep.tdf"
return_events 6 "two sessions"
trace off "$TMP/sleep.tdf"
return_events 3 "  one is off"
for _ in 1 2 3 4 5; do sh -c 'exit 3'; sleep 0.1; done
status 0 "off" trace off "$TMP/any.tdf"
# shellcheck disable=SC2046
set -- $(figures 3)
diag "do_exit: $*"
ok "do_exit() has been called" test $(($4 + $5)) -ge 5
is "$7 $6" "0 0" "  and never returns"
for minor in 1 2; do
	# shellcheck disable=SC2046
	set -- $(figures $minor)
	diag "minor $minor: $*"
	ok "calls of interrupts or the idle task return" test "$7" -gt 0
	# those under way when it was armed and disarmed
	ok "  with their entry" test $(($4 + $5 + $6)) -le 8
done
trace off --all

# What began by one line
status 0 "trace run" trace run --no-summary --calls -e \
	'kernel:hrtimer_nanosleep(rqtp) -> result if elapsed >= 50ms' -- \
	"$TMP/sleeps" 1 16 50000000
is "$(grep -c '"rqtp":0.050000015' "$TMP/out")" 1 "  records the slow call"
is "$(grep -c tracefmt "$TMP/err")" 0 "  chosen where it ends"
status 1 "a function that kprobes refuse" trace run --no-summary \
	-e 'kernel:do_int3() -> result if elapsed > 1us' -- true
is "$(grep -c 'no probes in' "$TMP/err")" 1 "  in one line"

return_events 0 "no event is left in tracefs"

set -- /modules/*zram.ko
[ -e "$1" ] && [ -e /sys/block/zram0/mm_stat ] || {
	skip "exits of a module's function" "no module"
	tap_done
}
cp "$1" "$TMP/zram.ko"
make_tdf "$TMP/zram.tsf" <<TSF
MODNAME=$TMP/zram.ko
MAJOR=194
TRACE MINOR=1, CALL=.mm_stat_show, DESC="shown", FMT="%{u64}", IF=(elapsed > 1ns)
TRACE MINOR=2, CALL=.mm_stat_show,RETEP=CALLER, COUNT, BY=(elapsed > 100s)
TSF
status 0 "arm a module's function" trace on "$TMP/zram.tdf"
for _ in 1 2 3 4 5; do
	cat /sys/block/zram0/mm_stat >/dev/null
done
is "$(figures 1)" "5 0 0 0 0 0 0" "each call is a record"
is "$(figures 2)" "0 0 0 0 0 0 5" "  also by a return probe"
trace off --all
tap_done
