#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What may go wrong when programs are preempted; commands and the programs that
# the kernel takes are the same.
export GUEST_TESTS='trace/live_load trace/live_drop trace/live_sites
trace/live_many.sh trace/live_memory.sh trace/live_kill.sh trace/live_spool.sh
static/live_static.sh bpf/test_uprobe'
exec "$(dirname "$0")/../vm/guest.sh" 6.1 -a preempt=full
