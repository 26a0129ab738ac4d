#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In a guest: trace hands its buffer over to the kernel module, loaded before or
# after arming, and majors are switched in kernel code as in user programs. The
# module's folder is $KMOD, that of one with another layout $OTHER, or none; a TDF,
# its program and the documented commands are in $APP. $CRASH_MEM, of 1 MiB, is left to
# the module.
. "$(dirname "$0")/../tap.sh"
export RASTRACE_RUN=/run/rastrace
export TRACE_PATH=$APP
sample=/sys/module/rastrace_sample/parameters
storm=/sys/module/rastrace_storm/parameters
caller=$TOP/build/selftests/static/caller
watch=$TOP/build/selftests/kmod/watch
short=$TOP/build/selftests/kmod/short
cd "$TMP" || exit 1

load() {
	insmod "$KMOD/rastrace.ko" && insmod "$KMOD/sample/rastrace_sample.ko" &&
		insmod "$KMOD/sample/rastrace_storm.ko"
}

unload() {
	unload_samples && rmmod rastrace
}

unload_samples() {
	rmmod rastrace_storm && rmmod rastrace_sample
}

# wrote [MAJOR [MINOR]]: what rastrace_write() of kernel code returns
wrote() {
	echo "${1:-200} ${2:-9} 8" >$storm/write
	cat $storm/write
}

# child_wrote: the same, not of the shell's own process
child_wrote() {
	sh -c "echo '200 9 8' >$storm/write; cat $storm/write"
}

# here_wrote [MAJOR]: the same, of the shell's own, into $result
here_wrote() {
	echo "${1:-200} 9 8" >$storm/write
	read -r result <$storm/write
}

# wrote_from CONTEXT: the same of the sample, major 200
wrote_from() {
	echo "$1" >$sample/context
	cat $sample/result
}

# figures MAJOR NAME...: of `trace query --json`
figures() {
	trace query --json >figures
	major=$1
	shift
	for name; do
		awk -v major="$major," -v name="\"$name\":" '
			/"tracepoints"/ { points = 1 }
			points && $1 == "\"major\":" { mine = $2 == major }
			mine && $1 == name { sub(/,/, "", $2); print $2 }
			' figures
	done | tr '\n' ' ' | sed 's/ $//'
}

# counted MAJOR HITS RECORDED FILTERED DROPPED NAME
counted() {
	is "$(figures "$1" hits recorded filtered dropped)" "$2 $3 $4 $5" "$6"
}

# module NAME...: of "kernel_module" in `trace query --json`
module() {
	trace query --json >figures
	for name; do
		sed -n '/"kernel_module"/,/}/s/^ *"'"$name"'": \([^,]*\),*$/\1/p' \
			figures
	done | tr '\n' ' ' | sed 's/ $//'
}

# stormed: what came of all the storm's records, in $hits, $written, $dropped and
# $off
stormed() {
	read -r _ hits _ written _ dropped _ _ _ _ _ off <$storm/results
}

# milliseconds COMMAND...: how long it takes
milliseconds() {
	read -r began _ </proc/uptime
	"$@"
	read -r ended _ </proc/uptime
	echo "$began $ended" | awk '{ print int(($2 - $1) * 1000) }'
}

# followed COUNT: wait until as many records are in the file `follow`
followed() {
	n=0
	while [ "$(grep -c '^Event' follow)" -lt "$1" ] && [ $n -lt 300 ]; do
		sleep 0.2
		n=$((n + 1))
	done
}

# member GROUP COMMAND: by a user without rights, in a shell
member() {
	"$TOP/build/selftests/kmod/as" 1234 "$1" sh -c "$2"
}

# kill_after MILLISECONDS COMMAND...: counted in $killed, if it isn't over then
kill_after() {
	delay=$1
	shift
	"$@" 2>/dev/null &
	usleep $((delay * 1000))
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
	[ $? -ne 137 ] || killed=$((killed + 1))
}

chmod 755 "$TMP"

# --- without the module
status 1 "no module, no user program: nothing to switch" trace on 200
like "$(cat err)" "modprobe rastrace" "  the remedy is named"
status 1 "nothing of a panic" trace get --crash panic.ras
like "$(cat err)" "load it: modprobe rastrace" "  the remedy is named"
status 0 "a user program has the major" trace on --module "$caller" 100
"$caller" 100 1 text before
like "$(trace query)" "^static tracepoints: on" "  it is on"
unlike "$(trace query)" "kernel module" "  no module is mentioned"
like "$(trace query --json | tr -d '\n')" '"kernel_module": null' "  nor in JSON"
status 1 "another user prints nothing" member 777 "tracefmt"
like "$(cat err)" "run/rastrace.*Permission denied" "  and gets the reason"
like "$(cat err)" "run it as root" "  with the remedy"

# --- loaded after arming
load || bail "the module can't be loaded: $(dmesg | tail -n 5)"
is "$(wrote 100)" -2 "loaded: kernel code has no buffer yet"
like "$(trace query)" "^kernel module: loaded, gets the buffer" "  query says so"
is "$(module buffer)" null "  and JSON"
status 0 "the next command that changes something" trace clear
is "$(module buffer)" '"this"' "  hands the buffer over"
like "$(trace query)" "^kernel module: has the buffer, layout [0-9]+$" \
	"  query says so"
like "$(trace query --metrics)" "^rastrace_kernel_module_buffer 1" "  and metrics"
is "$(wrote 100 1)" 0 "  kernel code writes the major of the user program"
is "$(wrote 101)" -2 "  and no other"
for n in 2 4 6 8 10 12; do
	"$caller" 100 $n count 1
	wrote 100 $((n + 1)) >/dev/null
done
is "$(tracefmt -q 2>/dev/null | sed -n 's/^Event.*Minor \[\([0-9]*\).*/\1/p' |
	tr '\n' ' ')" "1 2 3 4 5 6 7 8 9 10 11 12 13 " \
	"user's and kernel's records in the order of time"
counted 100 14 14 0 0 "  counted together, with that before the clear"

# --- rmmod in use
status 1 "it is kept by who calls it" rmmod rastrace
unload_samples
exec 9</dev/rastrace
status 1 "  and by who has its device open" rmmod rastrace
exec 9<&-
ok "it can be unloaded in use" rmmod rastrace
"$caller" 100 2 count 1
is "$(figures 100 recorded)" 15 "  and the user program's records go on"
is "$(trace query --json | grep -c kernel_module)" 1 "  query goes on"
load
status 0 "loaded again, another major" trace on --module "$caller" 102
is "$(wrote 100) $(wrote 102)" "0 0" "  both are recorded"
status 0 "all off" trace off 100 102
is "$(wrote 100) $(wrote 102)" "-2 -2" "  in kernel code, too"
is "$(module buffer statics)" '"this" false' \
	"  it keeps the buffer, without static tracepoints"
status 0 "off --all" trace off --all
is "$(module buffer)" null "  gives the buffer back"
ok "unloaded with no buffer" unload

# --- the commands of docs/kernel-module.md
(cd "$TOP" && sh -e "$APP/readme" >"$TMP/printed" 2>&1)
like "$(cat printed)" "^number .*, softirq" "the documented commands print a record"
trace off --all
rmmod rastrace_sample && rmmod rastrace

# --- loaded before arming: by its own majors
echo "rastrace:x:777:" >>/etc/group
if [ -x /lib/systemd/systemd-udevd ]; then
	/lib/systemd/systemd-udevd --daemon 2>/dev/null
	load
	udevadm settle
	udevadm control --exit
	is "$(stat -c '%a %g' /dev/rastrace)" "640 777" \
		"by its rule the device is for the group"
else
	load
	skip "by its rule the device is for the group" "no udev"
	chgrp 777 /dev/rastrace
fi
is "$(wrote)" -2 "before anything is armed nothing is recorded"
status 0 "majors, ranges" trace on 200 201-203,7
is "$(wrote 200) $(wrote 201) $(wrote 203) $(wrote 7)" "0 0 0 0" "  are on"
is "$(wrote 199) $(wrote 204) $(wrote 8)" "-2 -2 -2" "  and no others"
status 0 "off in part" trace off 201-202 7
is "$(wrote 200) $(wrote 201) $(wrote 202) $(wrote 203) $(wrote 7)" \
	"0 -2 -2 0 -2" "  these are off"
status 1 "one of them can't be suspended" trace suspend 200
like "$(cat err)" "their name is 'static'" "  but all together"
status 0 "suspend" trace suspend static
is "$(wrote 200) $(wrote 201)" "-11 -2" "  the writers get the reason"
status 0 "resume" trace resume static
is "$(wrote 200)" 0 "  recorded again"
counted 200 4 3 1 0 "each hit is counted once"

# --- from all contexts, formatted by the sample's TSF
trace clear
is "$(wrote_from process) $(wrote_from softirq) $(wrote_from hardirq) \
$(wrote_from nmi)" "0 0 0 0" "all contexts write"
tracefmt -q -t "$APP" >records 2>/dev/null
is "$(sed -n 's/^number .*, //p' records | tr '\n' ' ')" \
	"process softirq hardirq nmi " "  formatted by @STATIC, in order"
like "$(cat records)" "^Sample in an NMI" "  with their descriptions"

# --- processes
trace off 200 203
status 1 "a process that isn't there" trace on 200 --pid 99999
status 1 "by name" trace on 200 --comm sh
like "$(cat err)" "by --pid only" "  that can't be"
status 0 "of one process" trace on 200 --pid $$
here_wrote
is "$result" 0 "  its records"
is "$(child_wrote)" -3 \
	"  not those of another one"
is "$(figures 200 process)" 1 "  counted as filtered"
status 1 "all processes besides" trace on 201
like "$(cat err)" "some processes only" "  can't be"
sleep 10000 &
other=$!
status 0 "another one joins them" trace on 201 --pid $other
here_wrote
is "$result" 0 "  the first one stays"
here_wrote 201
is "$result" 0 "  for all majors"
kill $other
trace off 200-201
status 0 "with its children" trace on 200 --pid $$ --follow
is "$(child_wrote)" 0 "  a child's records"
trace off 200
status 0 "of all again" trace on 200
is "$(child_wrote)" 0 "  anybody's records"

# --- the trigger of a tracepoint stops kernel code
trace clear
# shellcheck disable=SC2046
set -- $(figures 200 hits recorded filtered)
status 0 "a tracepoint that stops the recording" \
	trace on --stop-on 'app(1):after 3' app
is "$(wrote)" 0 "  before it is hit"
"$APP/target" 1
is "$(wrote) $(wrote) $(wrote) $(wrote) $(wrote)" "0 0 0 -11 -11" \
	"  after it three more records, then none"
like "$(trace query)" "^trigger: .*frozen" "  frozen"
is "$(tracefmt -q -t "$APP" 2>/dev/null |
	sed -n 's/^Event.*Major \[\([0-9]*\).*/\1/p' | tr '\n' ' ')" \
	"200 197 200 200 200 " "  in the order of time"
status 0 "  resume" trace resume
is "$(wrote)" 0 "  recorded again"
counted 200 $(($1 + 7)) $(($2 + 5)) $(($3 + 2)) 0 \
	"  each hit is counted once"
trace off app

# --- everywhere at once
trace off --all
status 0 "a buffer of another size" \
	trace on --buffer 16M --module "$caller" 201
# (what takes the role of NMIs always nests, and all that nests is to be kept)
storm_records=2000
[ "$(uname -m)" = x86_64 ] || storm_records=1000
"$caller" 201 77 count 1000 &
echo $storm_records >$storm/run
wait $!
stormed
echo "# $(cat $storm/results)"
ok "all contexts on all CPUs at once" \
	test "$written" -gt $((2 * storm_records))
total=$((written + 1000))
counted 201 $((total + dropped)) "$total" 0 "$dropped" \
	"  with a program: all that they counted is counted"
is "$(figures 201 present)" "$total" "  all of them are there"
is "$(tracefmt -q 2>/dev/null | grep -c '^Event.*Major \[201')" "$total" \
	"  and printed"
trace off 201
trace clear
status 0 "a small buffer" trace on --buffer 64K 201
set -- "$hits" "$written" "$dropped" "$off"
while [ ! -e calm ]; do
	echo 500 >$storm/run
	usleep 10000
done &
for major in 202 203 204; do
	trace on $major
	trace off $major
done
touch calm
wait $!
stormed
echo "# $(cat $storm/results)"
now=$((written - $2))
is "$((off - $4))" 0 "  while majors are switched beside it none is missed"
ok "  of many" test $now -gt 4000
counted 201 $((hits - $1)) $now 0 $((dropped - $3)) "  each hit is counted once"
# shellcheck disable=SC2046
set -- $(figures 201 present overwritten)
is "$(($1 + $2))" "$now" "  recorded = present + overwritten"
ok "  many are" test "$2" -gt "$1"
unlike "$(trace query)" "damaged" "  and nothing is damaged"
status 0 "off --all" trace off --all

# --- another run directory
trace on 200
status 1 "the buffer of another run directory" trace --pin-dir "$TMP/run2" on 200
like "$(cat err)" "another run directory" "  isn't taken from it"
status 0 "  user programs are traced there" \
	trace --pin-dir "$TMP/run2" on --module "$caller" 200
like "$(cat err)" "another run directory" "  with a message"
is "$(wrote)" 0 "  the first one goes on"
trace off --all
status 0 "after its end" trace --pin-dir "$TMP/run2" suspend
status 0 "  the other one's turn" trace --pin-dir "$TMP/run2" resume
is "$(wrote)" 0 "  has come"
trace --pin-dir "$TMP/run2" off --all
is "$(wrote)" -2 "off --all there"
trace --pin-dir "$TMP/run2" on --max-cpu=off 200
umount "$TMP/run2"
is "$(wrote)" 0 "a buffer whose run directory is gone"
n=0
while [ "$(module buffer)" = '"other"' ] && [ $n -lt 50 ]; do
	sleep 0.1
	n=$((n + 1))
done
status 0 "  gives way" trace on 200
is "$(module buffer)" '"this"' "  to another one"
trace off --all

# --- a trace that is killed in the midst of it
on_takes=$(milliseconds trace on 200) off_takes=$(milliseconds trace off 200)
killed=0
for n in 1 2 3 4 5 6; do
	kill_after $((n * on_takes / 7)) trace on 200
	trace on 200
	kill_after $((n * off_takes / 7)) trace off 200
done
echo "# $killed of 12 were killed, within $on_takes and $off_takes ms"
ok "trace is killed again and again" test "$killed" -gt 1
status 0 "after that" trace on 200
is "$(wrote)" 0 "  it is recorded"
status 0 "  and off" trace off 200
is "$(wrote)" -2 "  it isn't"
trace off --all

# --- who may read
trace on 200 --buffer 64K
trace on app
wrote >/dev/null
wrote_from process >/dev/null
"$APP/target" 2
member 777 "tracefmt -t $APP" >printed 2>&1
is "$(grep -c '^Event' printed)" 4 "a member of it prints the records"
is "$(sed -n 's/^number.*, //p' printed)" process "  formatted"
unlike "$(cat printed)" "Process \[target\]" "  without names of processes"
like "$(cat printed)" "^ +197 +1( +-){2} +2( +-){5}  " \
	"  nor figures of armed files"
like "$(cat printed)" "^ +200 +-( +2){3}( +0){3} " "  with those of majors"
mkdir -m 777 member
status 0 "  gets them" member 777 "trace get member/trace.ras"
is "$(tracefmt -q -t "$APP" member/trace.ras 2>/dev/null | grep -c '^Event')" 4 \
	"  all of them"
status 1 "  arms nothing" member 777 "trace on 201"
status 1 "  switches nothing off" member 777 "trace off --all"
status 1 "another user prints nothing" member 1234 "tracefmt"
like "$(cat err)" "/dev/rastrace.*Permission denied" "  and gets the reason"
like "$(cat err)" "members of its group" "  with the remedy"
is "$(wrote)" 0 "nothing of that disturbs the recording"
member 777 "trace spool --duration 2s --output member/spool.ras" 2>err &
sleep 1
wrote >/dev/null
wait $!
is "$(tracefmt -q member/spool.ras 2>/dev/null | grep -c '^Event')" 6 \
	"a member spools what is there and what comes"
member 777 "while [ ! -e $TMP/stop ]; do
	trace get member/again.ras 2>>member/failed
done" &
reader=$!
$watch >watched &
watcher=$!
trace off 200
switchers=
for major in 201 202; do
	for _ in 1 2 3; do
		trace on $major
		trace off $major
	done 2>>switched &
	switchers="$switchers $!"
done
# shellcheck disable=SC2086
wait $switchers
touch stop
kill $watcher
wait $reader $watcher
is "$(cat switched)" "" "two switch at a time"
is "$(wrote 201) $(wrote 202)" "-2 -2" "  to what both say"
like "$(cat watched)" "^0 of [1-9]" "  there is a buffer all the time"
is "$(cat member/failed)" "" "  and it can be read"
is "$(member 777 "tracefmt -q 2>&1" | grep -c '^Event')" 6 \
	"with all majors off the records are still to be had"
trace on 200
: >follow
member 777 "tracefmt -q --follow" >follow 2>&1 &
followed 6
wrote >/dev/null
followed 7
trace off --all
wait $!
is "$(grep -c '^Event' follow)" 7 "  and follows it"
like "$(cat follow)" "the buffer has been removed" "  to its end"
status 1 "without a buffer" member 777 "tracefmt"
like "$(cat err)" "no trace buffer" "  it says so"
ok "somebody's, whose control block is too short" $short
status 1 "  isn't read" member 777 "tracefmt"
like "$(cat err)" "control block .* is damaged" "  with a message"
unload

# --- memory that outlives a panic
ok "loaded with memory for a panic" \
	insmod "$KMOD/rastrace.ko" crash_mem="$CRASH_MEM"
like "$(trace query)" "^kernel module: loaded, .*, 1 MiB outlive a panic$" \
	"  query reports it"
is "$(module crash_bytes)" 1048576 "  and JSON"
like "$(trace query --metrics)" "^rastrace_kernel_module_crash_bytes 1048576" \
	"  and metrics"
status 1 "  nothing is in it" trace get --crash panic.ras
like "$(cat err)" "no panic has left a trace" "  with a message"
rmmod rastrace

# --- another layout
[ "$OTHER" ] || tap_done
insmod "$OTHER/rastrace.ko" || bail "the other module can't be loaded"
status 1 "a module of another layout" trace on 200
is "$(grep -c "layout 250, this version's is" err)" 1 "  is refused, once"
like "$(cat err)" "rmmod rastrace; modprobe rastrace" "  the remedy is named"
chgrp 777 /dev/rastrace
status 1 "  a member prints nothing" member 777 "tracefmt"
like "$(cat err)" "another version" "  and gets the reason"
status 0 "tracing without it goes on" trace on --module "$caller" 100
is "$(grep -c 'another version' err)" 1 "  with a message"
"$caller" 100 1 text layout
is "$(figures 100 recorded)" 1 "  it is recorded"
like "$(trace query)" "^kernel module: of another version, isn't used, layout 250$" \
	"  query reports it"
is "$(module layout layout_fits)" "250 false" "  and JSON"
trace off --all
ok "unloaded" rmmod rastrace
tap_done
