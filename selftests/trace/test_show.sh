#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trace show lists a body's instructions, or a stage before them.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
make_app

status 0 "show" trace show "$TDF"
like "$(cat "$TMP/out")" "^  [1-9][0-9]* instructions" "has instructions"

status 0 "--stage=plan" trace show --stage=plan "$TDF"
like "$(cat "$TMP/out")" "^record, machine [0-9]+" "is a record's"
like "$(cat "$TMP/out")" "item 1: memory, 4 bytes, statements 1 to 1, may fault" \
	"names the items"
like "$(cat "$TMP/out")" "item 2: string, 20 bytes" "with their sizes"

status 0 "--stage=code" trace show --stage code "$TDF"
like "$(cat "$TMP/out")" "t[0-9]+ = .*\(u64 \*\)\(r6 \+[0-9]+\)" "has temps"
like "$(cat "$TMP/out")" "r[0-9] = slot[0-9]+ \+0" "slots"
like "$(cat "$TMP/out")" "goto L[0-9]+" "labels"
like "$(cat "$TMP/out")" "^rare [0-9]+, in 0:" "and rare paths"

status 0 "--stage=placed" trace show --stage=placed "$TDF"
like "$(cat "$TMP/out")" "^function 0, frame [0-9]+:" "has frames"
like "$(cat "$TMP/out")" "r[0-9] = r10 -[0-9]+" "places in them"
is "$(grep -cE 'slot|t[0-9]+ =|goto L|^rare' "$TMP/out")" 0 \
	"and nothing that is not placed"

status 2 "a stage that there isn't" trace show --stage=ir "$TDF"
like "$(cat "$TMP/err")" "'ir'.*plan, code or placed" "is misuse"
tap_done
