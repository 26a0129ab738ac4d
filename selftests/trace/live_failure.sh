#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What goes wrong around an armed TDF: the program ends, changes or unmaps its
# code; a CPU goes; the pins' file system goes; there is no memory, no room in
# the session log, or a buffer of another version.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
BUILT=$TOP/build/selftests/trace
cp "$BUILT/life" "$TMP/life"
make_tdf "$TMP/life.tsf" <<TSF
MODNAME=$TMP/life
MAJOR=195
TRACE MINOR=1, TP=.work, DESC="work", REGS=($ARG1_32)
TSF
LIFE=$TMP/life.tdf
status 0 "on" trace on "$LIFE"

# counted EXPECTED NAME COMMAND...: the hits of COMMAND
counted() {
	expected=$1 name=$2
	shift 2
	before=$(figure hits)
	ok "$name" "$@"
	is $(($(figure hits) - before)) "$expected" "  $expected hits"
}

# --- the program
counted 20 "a program that forks" "$TMP/life" fork 10
counted 20 "that execs itself" "$TMP/life" exec 10
counted 100 "that maps and unmaps its code" "$TMP/life" unmap 10
# guests are slow
times=${RASTRACE_GUEST:+5}
times=${times:-20}
counted $((times * 10)) "  while another thread does so, too" \
	"$TMP/life" race $((times * 10))
i=0
while [ $i -lt $times ]; do
	"$TMP/life" forever &
	life=$!
	[ $((i % 2)) = 0 ] || sleep 0.02
	kill -9 $life
	wait $life 2>/dev/null
	i=$((i + 1))
done
is "$(figure state)" '"on"' "it was killed $times times"
counted 1000 "the next one is traced" "$TMP/life" once 1000
is "$(figure dropped)" 0 "  and found no slice taken"
rm "$TMP/life"
cp "$BUILT/life" "$TMP/life"
before=$(figure hits)
"$TMP/life" once 10
is "$(figure hits)" "$before" "a file of the same name isn't the one that is armed"
status 0 "off" trace off "$LIFE"
status 0 "on of the new one" trace on "$LIFE"
trace off --all

# --- a CPU: in a guest only, since this one may be somebody's
cpu=/sys/devices/system/cpu/cpu1/online
if [ -w $cpu ] && [ -n "$RASTRACE_GUEST" ]; then
	status 0 "on, with all CPUs" trace on "$LIFE"
	counted 10 "before" "$TMP/life" once 10
	ok "a CPU goes offline" sh -c "echo 0 >$cpu"
	counted 10 "with one less" "$TMP/life" once 10
	is "$(figure present)" 20 "  all records are there"
	ok "it comes back" sh -c "echo 1 >$cpu"
	counted 20 "on both" "$TMP/life" fork 10
	is "$(figure present)" 40 "  all records are there"
	status 0 "armed with a CPU offline:" trace off --all
	echo 0 >$cpu
	status 0 "  on" trace on "$LIFE"
	echo 1 >$cpu
	counted 20 "  then it comes" "$TMP/life" fork 10
	is "$(figure present)" 20 "  all records are there"
	trace off --all
else
	skip "a CPU goes offline" "in guests only"
fi

# --- the file system of the pins
status 0 "on again" trace on "$LIFE"
"$TMP/life" once 5
ok "the bpffs is unmounted" umount -l "$RASTRACE_RUN"
status 0 "query" trace query
is "$(cat "$TMP/out")" "nothing is armed" "  says that nothing is armed"
status 1 "get" trace get "$TMP/none.ras"
like "$(cat "$TMP/err")" "no bpffs" "  says why"
status 1 "off" trace off "$LIFE"
status 0 "on mounts it again" trace on "$LIFE"
counted 5 "and records" "$TMP/life" once 5
is "$(figure hits)" 5 "  nothing of the old buffer is left"
status 0 "off --all" trace off --all

# --- no memory: less than the buffer wants in a control group of ours
group=
for root in /sys/fs/cgroup/memory $(sed -n \
	's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts); do
	mkdir "$root/rastrace.$$" 2>/dev/null || continue
	for limit in memory.limit_in_bytes memory.max; do
		[ -z "$group" ] && [ -e "$root/rastrace.$$/$limit" ] &&
			echo 24M >"$root/rastrace.$$/$limit" &&
			group=$root/rastrace.$$
	done
	[ "$group" ] || rmdir "$root/rastrace.$$"
done
if [ "$group" ]; then
	# shellcheck disable=SC2016
	status 1 "no memory for the buffer" sh -c \
		'echo $$ >"$0/cgroup.procs" && exec trace on --buffer 64M "$1"' \
		"$group" "$LIFE"
	like "$(cat "$TMP/err")" "cannot make the map 'buffer'.*memory" \
		"  message"
	like "$(cat "$TMP/err")" "smaller buffer" "  hint"
	is "$(pins)" "" "  nothing is left"
	status 0 "a smaller one" trace on --buffer 64K "$LIFE"
	trace off --all
	rmdir "$group"
else
	skip "no memory for the buffer" "no control group limits memory here"
fi

# --- the session log, which is no business of the kernel's
fill_log() {
	cp "$TARGET" "$TMP/target"
	make_many 2000
	sessions=0
	while trace on --minor 1 "$TMP/many.tdf" 2>"$TMP/err" &&
		[ $sessions -lt 100 ]; do
		sessions=$((sessions + 1))
		trace off "$TMP/many.tdf"
	done
	diag "$sessions sessions of 2000 tracepoints"
	like "$(cat "$TMP/err")" "session log is full" "a full session log is reported"
	like "$(cat "$TMP/err")" "trace get|trace clear" "  and what to do"
	unlike "$(trace query)" "session [0-9]*, on, " "  nothing is armed"
	status 0 "clear" trace clear
	status 0 "  makes room" trace on "$TMP/many.tdf"
	trace off --all
}
if [ -n "$RASTRACE_GUEST" ]; then
	skip "a full session log" "not in guests"
else
	fill_log
fi

# --- two at once
status 0 "on" trace on "$LIFE"
for i in 1 2 3 4 5 6; do
	trace suspend 2>"$TMP/two.$i" &
	trace resume 2>"$TMP/two.1$i" &
done
wait
cat "$TMP"/two.* >"$TMP/two.err"
is "$(grep -vc 'another trace\|wait for it\|^$' "$TMP/two.err")" 0 \
	"twelve at once: nothing but the lock is in the way" ||
	diag_file "$TMP/two.err"
trace resume
is "$(figure state)" '"on"' "  and nothing is broken"

# --- another version
ok "a buffer of layout 2" "$BUILT/layout" "$RASTRACE_RUN/control" 2
for command in query "get $TMP/none.ras" "on $LIFE" "off $LIFE" suspend clear; do
	# shellcheck disable=SC2086
	status 1 "$command" trace $command
	like "$(cat "$TMP/err")" "another version.* layout 2" "  says so"
done
like "$(cat "$TMP/err")" "trace off --all" "  and what to do"
status 1 "tracefmt" tracefmt
like "$(cat "$TMP/err")" "another version" "  says so, too"
status 0 "off --all" trace off --all
# what goes in the background may take a while
is "$(pins | grep -v '^gone$')" "" "  removes it all"
status 0 "on" trace on "$LIFE"
tap_done
