#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Threads that allocate at the same time: nothing is called wrong, neither what one
# gets while another's realloc is under way, nor a cache that is emptied when its
# thread ends.
. "$(dirname "$0")/../tap.sh"
need_root
programs=${BUILT:-$TOP/build/selftests}/heapmon

# report_check [OPTION]
report_check()
{
	heapmon report "$@" "$TMP/out.ras" >"$TMP/report" 2>"$TMP/err"
	is $? 0 "report $*" || diag_file "$TMP/err"
	like "$(cat "$TMP/report")" '^  allocated +[0-9]{4}' "  there is much"
	unlike "$(cat "$TMP/report")" '^wrong' "  nothing is wrong"
	unlike "$(cat "$TMP/report")" 'never seen' "  nothing is unknown"
	unlike "$(cat "$TMP/report")" 'missing' "  nothing is missing"
}

sums()
{
	grep -E '^  (allocated|freed) +[0-9]+ blocks'
}

ok "recorded" heapmon record -o "$TMP/out.ras" -- "$programs/threads_target"
report_check
report_check --no-symbols

# one arena for all: a block that moves is another thread's at once
export MALLOC_ARENA_MAX=1
turns="first second"
[ -z "${RASTRACE_GUEST-}" ] || turns=only
for target in threads_target threads_target32; do
	[ -e "$programs/$target" ] || continue
	for turn in $turns; do
		ok "$target, one arena, $turn" heapmon record -o "$TMP/out.ras" -- \
			"$programs/$target" resize
		report_check
		heapmon report --json "$TMP/out.ras" >"$TMP/json"
		like "$(tr -d ' \n' <"$TMP/json")" '"wrong":\[\]' \
			"  nor in its JSON"
		heapmon convert --to mtrc "$TMP/out.ras" -o "$TMP/mtrc" \
			2>"$TMP/err"
		is "$(heapmon report "$TMP/mtrc" | sums)" \
		   "$(sums <"$TMP/report")" \
			"  nor do sums differ in another format"
	done
done
tap_done
