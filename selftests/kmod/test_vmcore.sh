#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# After a panic the trace is in the memory dump: each record that was committed
# is found. selftests/debug/test_vmcore.sh has more kinds of page tables and
# forms of the file. Without $LONG it is one panic, on 6.1.
. "$(dirname "$0")/../kmod/vmcore.sh"
dying_build 6.1 && {
	dump "BUG in an interrupt" 6.1 bug "records=$N end=bug" \
		-m qemu_fw_cfg && {
		reason "${bug_reason:?}"
		[ "${arch:?}" != x86_64 ] ||
			like "$(cat "$TMP/said")" 'five levels' "  page tables"
		all_counted "6.1: BUG in an interrupt"
		like "$(cat "$TMP/text")" 'Process \[kworker/1' "  a process's name"
		cut_short
	}
	rm -f "${core:?}"
}
[ -n "${LONG-}" ] || tap_done
if can_nmi; then
	name="a hard lockup" parameters=end=lockup words=NMI form=lockup.kdump
	set -- -N 'CPU 0 is stuck'
else
	name="the sysrq key" parameters='' words=sysrq form=sysrq.kdump
	set --
fi
dying_build 6.12 &&
	dump "$name" 6.12 "$form" "records=$N $parameters" \
		-m qemu_fw_cfg "$@" && {
	reason "$words"
	all_counted "6.12: $name"
}
tap_done
