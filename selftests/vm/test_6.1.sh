#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel that arms by perf events and has no kfuncs. Left out is what
# test_6.12.sh or test_6.12_preempt.sh shows as well, whatever the kernel, and what
# operands mean; of who may do what, there are the kernel's settings. All of it when
# $LONG is set.
[ "${LONG-}" ] || {
	export GUEST_WITHOUT='heapmon/live_server.sh heapmon/live_threads.sh
	soak/live_reader.sh trace/live_burst.sh trace/live_commands.sh
	trace/live_explain_loss.sh trace/live_keep.sh trace/live_kill.sh
	trace/live_select.sh trace/live_spool.sh'
	set -- -e RIGHTS=settings
}
exec "$(dirname "$0")/guest.sh" 6.1 "$@"
