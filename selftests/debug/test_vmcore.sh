#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The trace in memory dumps: without VMCOREINFO by the processor's registers, with
# other page tables, and in all that makedumpfile makes of one.
. "$(dirname "$0")/../kmod/vmcore.sh"
dying_build 6.1 && {
	dump "as makedumpfile takes it" 6.1 forms "records=$N" -m qemu_fw_cfg &&
		forms
	rm -f "${core:?}"
	dump "more than fits" 6.1 wrapped records=20000 \
		-a 'no5lvl nokaslr' && {
		reason "sysrq triggered crash"
		like "$(cat "$TMP/said")" 'four levels' "  page tables"
		newest "6.1: more than fits: the newest" "$TMP/text" \
			"counted in a process" 19999
		like "$(cat "$TMP/figures")" '^ *210 .* 80000 +80000 ' \
			"6.1: more than fits: the figures"
	}
	rm -f "${core:?}"
}
dying_build 6.12 && {
	dump "with writers under way" 6.12 running "records=$N running=1" \
		-a 'no5lvl mitigations=auto pti=on' && {
		like "$(cat "$TMP/said")" 'isolated' "  page tables"
		newest "6.12: with writers under way: theirs" "$TMP/text" \
			"running" -
	}
	rm -f "${core:?}"
}
tap_done
