#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A short run of scripts/soak, on one kernel, with a panic in the middle; `make
# soak` has the long ones. SOAK="-t 60 6.1" are other words for it.
. "$(dirname "$0")/../tap.sh"
need_tree
need qemu-system-x86_64 busybox cpio make
[ "$(uname -m)" = x86_64 ] || skip_all "scripts/soak is for x86-64"
# shellcheck disable=SC2086
"$TOP/scripts/soak" -o "$TMP/soak" ${SOAK:--t 30 -b 12 6.12} >"$TMP/out" 2>&1
status=$?
[ $status -ne 4 ] || skip_all "$(tail -n 1 "$TMP/out")"
is $status 0 "nothing is found" || {
	diag_file "$TMP/out"
	tail -n 60 "$TMP"/soak/*.log | diag_file
}
diag "$(tail -n 1 "$TMP/out")"
like "$(cat "$TMP/out")" ' [1-9][0-9]* steps, [1-9]' "there were steps and a panic"
tap_done
