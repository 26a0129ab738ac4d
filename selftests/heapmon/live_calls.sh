#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Each call of the allocator is recorded once, and of calls inside each other the
# outer one: as many as the program itself counts. It needs no compiler, so the
# guests have it, too (live_record.sh has more).
. "$(dirname "$0")/../tap.sh"
need_root
program=$TOP/build/selftests/heapmon/heap_calls

record() {
	"$BIN/heapmon" record -o "$TMP/file.ras" "$@" >"$TMP/said" 2>"$TMP/log"
}

# figures: "ALLOCATIONS RESIZES RELEASES" of the last recording
figures() {
	sed -n 's/.*: \([0-9]*\) allocations*, \([0-9]*\) resizes*, \([0-9]*\) releases*$/\1 \2 \3/p' \
		"$TMP/log"
}

# exact WHAT ARGUMENT...: it does as much more as it says
exact() {
	what=$1
	shift
	record -- "$program" "$@"
	is "$(echo "$(figures) $before" |
		awk '{ print $1 - $4, $2 - $5, $3 - $6 }')" \
		"$(awk '{ a += $1; b += $2; c += $3 } END { print a, b, c }' \
		"$TMP/said")" "$what" || diag_file "$TMP/log"
	unlike "$(cat "$TMP/log")" "overwritten|dropped|missed" \
		"$what: none is lost"
}

record -- "$program" 0
before=$(figures)
ok "something is recorded" test -n "$before" || diag_file "$TMP/log"
exact "all calls" 3
exact "a child that is forked" fork 2
exact "... that is executed" exec "$program" 2
before=$(echo "$before" | awk '{ print $1 * 3, $2 * 3, $3 * 3 }')
exact "children in its memory" vfork 4
"$BIN/heapmon" report -s summary -s wrong "$TMP/file.ras" >"$TMP/report" 2>&1
is "$(sed -n 's/^  not freed  *\([0-9]*\) .*/\1/p' "$TMP/report")" \
	"$(echo "$before" | awk '{ print $1 - $3 }')" \
	"... of theirs nothing is left" || diag_file "$TMP/report"
unlike "$(cat "$TMP/report")" "never seen|twice|wrong" "... nor wrong"
record -- "$program" brief 1500
"$BIN/heapmon" report -s allocated -n 0 "$TMP/file.ras" >"$TMP/report" 2>&1
like "$(cat "$TMP/report")" " main\+" "children that end at once: names"
unlike "$(cat "$TMP/report")" " heap_calls\+| 0x" "... of all, whose mappings go"
record --min-size 1 -- "$program" vfork 4
"$BIN/heapmon" report -s summary -s wrong "$TMP/file.ras" >"$TMP/report" 2>&1
like "$(cat "$TMP/report")" "^  not freed  *0 " \
	"of a choice of blocks, too, nothing is left" || diag_file "$TMP/report"
unlike "$(cat "$TMP/report")" "never seen|twice|wrong" "... nor wrong"
tap_done
