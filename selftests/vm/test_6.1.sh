#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel that arms by perf events and has no kfuncs: the tests of what depends on
# that, and of what needs kprobes. With $LONG all live tests and those of bpf/.
[ "${LONG-}" ] || {
	export GUEST_SHORT=1
	export GUEST_TESTS='bpf/test_context bpf/test_process bpf/test_uprobe
	heapmon/live_calls.sh heapmon/live_tracker heapmon/live_unwind
	static/live_static.sh trace/live_calls trace/live_get.sh
	trace/live_kernel.sh trace/live_kprobe.sh trace/live_modules.sh
	trace/live_segments.sh tracefmt/live_calls.sh'
}
exec "$(dirname "$0")/guest.sh" 6.1 "$@"
