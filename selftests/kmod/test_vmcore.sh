#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# After a panic the trace is in the memory dump: each record that was committed
# is found. selftests/debug/test_vmcore.sh has more kinds of page tables and
# forms of the file.
. "$(dirname "$0")/../kmod/vmcore.sh"
dying_build 6.1 && {
	dump "BUG in an interrupt" 6.1 bug "records=$N end=bug" \
		-m qemu_fw_cfg && {
		reason "Fatal exception in interrupt"
		like "$(cat "$TMP/said")" 'five levels' "  page tables"
		all_counted "6.1: BUG in an interrupt"
		like "$(cat "$TMP/text")" 'Process \[kworker/1' "  a process's name"
		cut_short
	}
	rm -f "${core:?}"
}
dying_build 6.12 &&
	dump "a hard lockup" 6.12 lockup.kdump "records=$N end=lockup" \
		-m qemu_fw_cfg -N 'CPU 0 is stuck' && {
	reason "NMI"
	all_counted "6.12: a hard lockup"
}
tap_done
