#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel that arms by links of many sites, with preempt=full: what may go wrong
# when programs are preempted, and what needs a kernel with kprobes.
# tree/test_kselftest.sh runs static/live_static.sh there. test_6.12.sh has the rest,
# which is the same with and without preemption. Page tables have four levels here,
# so memory is read directly, and five there; races need more time than the short
# form has in an emulator.
export GUEST_TESTS="bpf/test_direct bpf/test_uprobe heapmon/live_threads.sh
trace/live_calls trace/live_drop trace/live_kernel.sh trace/live_kprobe.sh
trace/live_load trace/live_memory.sh trace/live_reads.sh trace/live_spool.sh
${LONG:+bpf/test_direct_race static/live_static.sh trace/live_kill.sh trace/live_many.sh trace/live_sites}"
[ "${LONG-}" ] || export GUEST_SHORT=1
exec "$(dirname "$0")/guest.sh" 6.12 -a "preempt=full no5lvl"
