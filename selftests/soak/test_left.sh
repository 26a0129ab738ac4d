#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a soak finds left when all is off (left.sh): the kernel is given time to
# free it, a probe after its link, and what stays is reported.
. "$(dirname "$0")/../tap.sh"
need_tree
# shellcheck disable=SC2034
S=$TMP SETTLE_TRIES=4
mkdir "$RASTRACE_RUN"
. "$TOP/selftests/soak/left.sh"

not_ok_said() {
	echo "$*" >>"$TMP/reported"
}

# Instead of the kernel: at each look the next lines of files, the last again
leftover() {
	sed -i '1{$!d}' "$TMP/objects"
	sed -n 1p "$TMP/objects"
}

kprobes() {
	sed -i '1{$!d}' "$TMP/list"
	sed -n 1p "$TMP/list"
}

sleep() {
	:
}

umount() {
	:
}

# reported NAME WHAT: what all_gone reports after 1 program, 2 maps, no link
reported() {
	: >"$TMP/reported"
	(
		not_ok() {
			not_ok_said "$@"
		}
		all_gone "1 2 0"
	)
	is "$(cat "$TMP/reported")" "$2" "$1"
}

# objects LINE..., probes LINE...: at looks one after the other
objects() {
	printf '%s\n' - "$@" >"$TMP/objects"
}

probes() {
	printf '%s\n' - "$@" >"$TMP/list"
}

objects '1 2 0 9'
probes ''
reported "nothing is left" ""
objects '4 6 3 9' '4 6 3 9' '1 2 0 9'
reported "what is freed in a while" ""
objects '1 2 0 9'
probes 'c4 r vfs_write+0x4' 'c4 r vfs_write+0x4' ''
reported "a probe that goes after its link" ""
probes 'c4 r vfs_write+0x4'
reported "a probe stays" "kprobes are left: c4 r vfs_write+0x4"
probes ''
objects '1 3 0 9'
reported "a map stays" "BPF programs, maps, links: 1 3 0, were 1 2 0"
objects '1 2 0 9'
probes ''
: >"$RASTRACE_RUN/map.debug"
reported "the kernel's own files don't count" ""
: >"$RASTRACE_RUN/control"
reported "a pin stays" "pins are left: $RASTRACE_RUN/control"
tap_done
