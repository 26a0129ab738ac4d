#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Threads that allocate at the same time: nothing is called wrong, neither what one
# gets while another's realloc is under way, nor a cache that is emptied when its
# thread ends.
. "$(dirname "$0")/../tap.sh"
need_root
programs=${BUILT:-$TOP/build/selftests}/heapmon

ok "recorded" heapmon record -o "$TMP/out.ras" -- "$programs/threads_target"
for option in "" --no-symbols; do
	# shellcheck disable=SC2086
	heapmon report $option "$TMP/out.ras" >"$TMP/report" 2>"$TMP/err"
	is $? 0 "report $option" || diag_file "$TMP/err"
	like "$(cat "$TMP/report")" '^  allocated +[0-9]{4}' "  there is much"
	unlike "$(cat "$TMP/report")" '^wrong' "  nothing is wrong"
	unlike "$(cat "$TMP/report")" 'never seen' "  nothing is unknown"
	unlike "$(cat "$TMP/report")" 'missing' "  nothing is missing"
done
tap_done
