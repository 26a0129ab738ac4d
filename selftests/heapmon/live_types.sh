#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The types of objects that are freed, by the vtable that their first word leads
# to: of a program, of one without its symbols, and with --no-types.
. "$(dirname "$0")/../tap.sh"
need_root
programs=${BUILT:-$TOP/build/selftests}/heapmon

# types_of FILE OPTION...: a word for each block that is freed, of those that
# the program made
types_of() {
	heapmon convert --to monitor "$@" 2>"$TMP/err" |
		sed -n 's/^.*  del  *\([^ ]*\) .*main.*$/\1/p' | tr '\n' ' '
}

# check PROGRAM EXPECTED NAME
check() {
	ok "$3: recorded" heapmon record -o "$TMP/out.ras" -- "$1"
	is "$(types_of "$TMP/out.ras")" "$2" "  the types of what it frees" ||
		diag_file "$TMP/err"
}

all="ns::Plain ns::Based notype notype notype novtbl "
check "$programs/types_target" "$all" "a program"
is "$(types_of --no-symbols "$TMP/out.ras")" "" \
	"--no-symbols: no stack names main"
if [ -x "$programs/types_target32" ]; then
	check "$programs/types_target32" "$all" "32 bits"
else
	skip "32 bits" "no program of 32 bits"
fi
if command -v strip >/dev/null && cp "$programs/types_target" "$TMP/stripped" &&
	strip "$TMP/stripped"; then
	check "$TMP/stripped" "$all" "only dynamic symbols"
else
	skip "only dynamic symbols" "needs strip"
fi
ok "recorded without types" heapmon record --no-types -o "$TMP/out.ras" -- \
	"$programs/types_target"
is "$(types_of "$TMP/out.ras")" \
	"notype notype notype notype notype notype " "  there are none"
tap_done
