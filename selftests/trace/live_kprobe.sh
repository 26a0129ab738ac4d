#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A kernel symbol is traced through a kprobe, and reads the kernel's memory as well
# as that of the process, by the address; a kernel without kprobes is reported in one
# line.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
make_tdf "$TMP/kernel.tsf" <<TSF
MODNAME=vmlinux
MAJOR=7
TRACE MINOR=5, TP=.do_sys_openat2, DESC="open", FMT="fd %D", REGS=($ARG1_32)
TSF

if [ ! -e /sys/bus/event_source/devices/kprobe ]; then
	status 1 "on" trace on "$TMP/kernel.tdf"
	is "$(wc -l <"$TMP/err")" 1 "one line"
	like "$(cat "$TMP/err")" "no kprobes" "says that there are no kprobes"
	like "$(trace query)" "nothing is armed" "nothing is left armed"
	make_app
	status 1 "on, after another TDF" trace on "$TDF" "$TMP/kernel.tdf"
	like "$(cat "$TMP/err")" "no kprobes" "says so, too"
	like "$(trace query)" ", on, " "and the other is armed"
	status 0 "which can be disarmed" trace off "$TDF"
	tap_done
fi
status 0 "on" trace on "$TMP/kernel.tdf"
for file in /proc/uptime /proc/stat /proc/mounts /proc/self/stat /dev/null; do
	cat $file >/dev/null
done
diag "missed: $(figure missed)"
status 0 "off" trace off "$TMP/kernel.tdf"
hits=$(figure hits)
ok "hits ($hits)" test "${hits:-0}" -ge 5
is "$(figure recorded)" "$(($(figure present) + $(figure overwritten)))" \
	"recorded = present + overwritten"
status 0 "tracefmt" tracefmt
like "$(cat "$TMP/out")" "^open" "prints the records"

# the name is the process's, how it is opened the kernel's
make_tdf "$TMP/names.tsf" <<TSF
MODNAME=vmlinux
MAJOR=8
TRACE MINOR=1, TP=.do_sys_openat2, DESC="open",
	FMT="name %P%S", FMT="flags %P%{x64}", FMT="first %P%{d32}",
	IF=(*(char *)\$$ARG2 == '/' && *(unsigned long *)\$$ARG3 & 1),
	ASCIIZ32=(F$ARG2,DIRECT,200), MEM32=(F$ARG3,DIRECT,8),
	VARS=(*(char *)\$$ARG2 - '/')
TSF
status 0 "on, with memory of processes" trace on "$TMP/names.tdf"
cat >"$TMP/written"
: >>"$TMP/another"
: >>"$TMP/written"
status 0 "off" trace off "$TMP/names.tdf"
status 0 "tracefmt" tracefmt -q --tff "$TMP"
is "$(grep -c "^ *name $TMP/written$" "$TMP/out")" 2 "the file's name"
is "$(grep -c "^ *name $TMP/another$" "$TMP/out")" 1 "another"
is "$(grep -c 'not readable' "$TMP/out")" 0 "all are readable"

# in an interrupt the current process is any, here the shell
read -r from _ </proc/$$/maps
from=0x${from%%-*}
make_tdf "$TMP/tick.tsf" <<TSF
MODNAME=vmlinux
MAJOR=9
TRACE MINOR=1, TP=.update_process_times, DESC="tick", FMT="head %P%{x32}",
	VARS=(*(unsigned int *)$from)
TRACE MINOR=2, TP=.do_sys_openat2, DESC="open", FMT="head %P%{x32}",
	VARS=(*(unsigned int *)$from)
TSF
status 0 "on, -p" trace on -p $$ "$TMP/tick.tdf"
i=0
while [ $i -lt 100000 ]; do
	i=$((i + 1))
done
: </dev/null
status 0 "off" trace off "$TMP/tick.tdf"
status 0 "tracefmt" tracefmt -q --tff "$TMP" --fields minor,head
diag "$(sort "$TMP/out" | uniq -c)"
ok "ticks" grep -q 'minor=1' "$TMP/out"
is "$(grep -ci 'minor=1.*464c457f' "$TMP/out")" 0 \
	"an interrupt reads nothing of the process that it interrupts"
ok "a system call of the process does" grep -qi 'minor=2.*464c457f' "$TMP/out"
tap_done
