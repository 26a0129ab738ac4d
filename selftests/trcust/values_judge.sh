# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# For live_shapes.sh and its like: lines "NAME=VALUE" of the file `traced` against
# those of `printed`. They are the same; or one is marked, and the same up to the
# mark; else it is wrong.

# compare_values: sets $same, $marked and $wrong; the file `wrong` has examples
compare_values() {
	paste printed traced | awk -F '\t' '
		BEGIN { mark = "<(cut|not |[0-9]+ of )" }
		$1 == $2 { same++; next }
		match($2, mark) {
			before = substr($2, 1, RSTART - 1)
			sub(/[" ,]+$/, "", before)
			if (substr($1, 1, length(before)) == before) {
				marked++
				next
			}
		}
		{ wrong++; if (wrong < 9) print "is " $2 ", not " $1 }
		END { print same + 0, marked + 0, wrong + 0 >"score" }' >wrong
	read -r same marked wrong <score
}

# judge_values WHAT TIMES: for each marked one, more than so many are the same
judge_values() {
	compare_values
	is "$(wc -l <traced)" "$(wc -l <printed)" "$1: every value is traced"
	is "$wrong" 0 "$1: none is wrong and not marked"
	diag_file wrong
	ok "$1: $same are the same, $marked marked" \
		[ "$same" -gt $(($2 * marked)) ]
}
