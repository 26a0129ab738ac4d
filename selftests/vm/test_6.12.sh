#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel that arms by links of many sites. Left out is what test_6.1.sh or
# test_6.12_preempt.sh shows as well, whatever the kernel. All of it when $LONG is
# set.
[ "${LONG-}" ] || export GUEST_WITHOUT='heapmon/live_calls.sh
heapmon/live_stacks.sh heapmon/live_threads.sh trace/live_failure.sh
static/live_static.sh trace/live_filters.sh trace/live_get.sh
trace/live_memory.sh trace/live_query.sh trace/live_rights.sh
trace/live_select.sh trace/live_spool.sh tracefmt/live_*'
exec "$(dirname "$0")/guest.sh" 6.12
