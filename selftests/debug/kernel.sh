# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Sourced after tap.sh: the debug kernel's headers. Where it can't be had the test is
# skipped; where it can't be built, that is a failure.
# shellcheck disable=SC2034 # of the test
headers=$("$TOP/scripts/debug_kernel" 2>"$TMP/err") || {
	tap_status=$?
	[ "$tap_status" -ne 4 ] || skip_all "$(tail -n 1 "$TMP/err")"
	bail "$(tail -n 1 "$TMP/err")"
}
