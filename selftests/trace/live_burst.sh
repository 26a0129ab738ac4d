#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Two programs at a time make many times more records than the buffer holds: of
# each tracepoint the figures add up to the calls, and what tracefmt prints of
# the buffer, and of a file of it, is what the figures call present.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
CALLS=20000
cp "$TARGET" "$TMP/target"
make_tdf "$TMP/burst.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=198
TRACE MINOR=1, TP=.work, DESC="all", REGS=($ARG1_32),
	ASCIIZ32=(F$ARG3,DIRECT,20)
TRACE MINOR=2, TP=.many_0, DESC="later", PASSCOUNT=3000
TSF
make_tdf "$TMP/odd.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=199
TRACE MINOR=3, TP=.work, DESC="odd", IF=(\$$ARG1 & 1), REGS=($ARG1_32)
TSF

# figure_of MINOR NAME: in what query has printed
figure_of() {
	awk -v minor="$1" -v name="\"$2\":" '
		/"tracepoints"/ { inside = 1 }
		{ sub(/,$/, "") }
		$1 == "\"minor\":" { here = inside && $2 == minor }
		here && $1 == name { print $2; exit }' "$TMP/query"
}

# printed MINOR FILE: records of it
printed() {
	grep -c "\"minor\":$1," "$2"
}

# adds_up MINOR FILTERED: and so many are filtered
adds_up() {
	present=$(figure_of "$1" present)
	recorded=$(figure_of "$1" recorded)
	filtered=$(figure_of "$1" filtered)
	is "$((recorded + filtered + $(figure_of "$1" dropped)))" \
		$((2 * CALLS)) "$1: calls = recorded + filtered + dropped"
	is "$filtered" "$2" "$1: of these, $2 filtered"
	is $((present + $(figure_of "$1" overwritten))) "$recorded" \
		"$1: recorded = present + overwritten"
	is "$(printed "$1" "$TMP/live")" "$present" \
		"$1: what is present is printed"
	is "$(printed "$1" "$TMP/file")" "$present" "$1: and of a file"
}

trace on --max-cpu=off --buffer 64K "$TMP/burst.tdf" "$TMP/odd.tdf" || bail "cannot arm"
"$TMP/target" $CALLS &
"$TMP/target" $CALLS
wait $!
trace query --json >"$TMP/query"
tracefmt -q --format=json >"$TMP/live"
trace get "$TMP/burst.ras" && tracefmt -q --format=json "$TMP/burst.ras" \
	>"$TMP/file"
adds_up 1 0
adds_up 2 3000
adds_up 3 $CALLS
ok "the buffer has wrapped" test "$(figure_of 1 overwritten)" -gt \
	$((10 * $(figure_of 1 present)))
tap_done
