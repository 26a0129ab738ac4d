#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What may go wrong when programs are preempted; commands and the programs that
# the kernel takes are the same.
export GUEST_TESTS="trace/live_load trace/live_drop trace/live_sites
trace/live_calls trace/live_memory.sh trace/live_spool.sh
static/live_static.sh heapmon/live_threads.sh
${LONG:+trace/live_many.sh trace/live_kill.sh bpf/test_uprobe}"
exec "$(dirname "$0")/guest.sh" 6.12 -a preempt=full
