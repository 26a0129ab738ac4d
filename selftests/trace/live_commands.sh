#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The commands of trace, one after the other, with both kinds of links.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
make_app

# What is armed is reported, and only that
status 0 "query without a buffer" trace query
is "$(cat "$TMP/out")" "nothing is armed" "nothing is armed"
status 1 "get without a buffer" trace get "$TMP/none.ras"
ok "leaves no file" test ! -e "$TMP/none.ras"
status 1 "off without a buffer" trace off "$TDF"
status 0 "off --all without a buffer" trace off --all

commands() {
	status 0 "on ($1)" trace on --attach "$1" "$TDF"
	is "$(figure state)" '"on"' "state is on ($1)"
	status 1 "on again is refused" trace on --attach "$1" "$TDF"
	like "$(cat "$TMP/err")" "armed already" "and says why"
	"$TMP/target" 10
	is "$(figure hits) $(figure recorded) $(figure present)" "10 10 10" \
		"10 hits are recorded"
	status 0 "suspend" trace suspend "$TDF"
	is "$(figure state)" '"suspended"' "state is suspended"
	tracefmt -q >"$TMP/once"
	ok "a record's time is the same whenever it is read" sh -c \
		"for i in 1 2 3 4 5; do tracefmt -q | cmp - '$TMP/once' || exit; done"
	"$TMP/target" 5
	is "$(figure hits) $(figure recorded) $(figure filtered)" "15 10 5" \
		"suspended hits are filtered"
	status 0 "resume by name" trace resume app
	"$TMP/target" 1
	is "$(figure hits) $(figure recorded)" "16 11" "resumed"
	status 0 "get" trace get "$TMP/app.ras"
	status 0 "tracefmt reads the file" tracefmt "$TMP/app.ras"
	is "$(grep -c '^Event' "$TMP/out")" 11 "it has 11 events"
	like "$(cat "$TMP/out")" "^text some text" "the string is in them"
	like "$(cat "$TMP/out")" "^inner 0000 002A" \
		"what a pointer points to is in them"
	status 0 "clear" trace clear
	"$TMP/target" 2
	is "$(figure recorded) $(figure present) $(figure overwritten)" \
		"13 2 11" "cleared records count as overwritten"
	status 0 "off" trace off "$TDF"
	"$TMP/target" 3
	is "$(figure hits) $(figure recorded) $(figure present)" \
		"18 13 2" "what is off keeps its figures"
	is "$(figure state)" '"off"' "state is off"
	status 1 "off again" trace off "$TDF"
	like "$(cat "$TMP/err")" "'$TDF' is not armed" "is reported"
	status 0 "get after off" trace get "$TMP/late.ras"
	is "$(tracefmt "$TMP/late.ras" 2>/dev/null | grep -c '^Event')" 2 \
		"the records are there after off"
	status 0 "clear with nothing armed" trace clear
	is "$(figure state)" "" "forgets what is off"
}

commands perf
if trace on --attach multi "$TDF" 2>/dev/null; then
	trace off --all
	commands multi
else
	skip "uprobe_multi links" "this kernel has none"
fi

# Two TDFs of one name
mkdir "$TMP/other"
cp "$TDF" "$TMP/other/app.tdf"
status 0 "two TDFs of one name are armed" trace on "$TDF" "$TMP/other/app.tdf"
status 0 "the second is disarmed by its path" trace off "$TMP/other/app.tdf"
is "$(figure state 1) $(figure state 2)" '"on" "off"' "and only that one"
rm "$TMP/other/app.tdf"
status 1 "a TDF that isn't there, isn't armed" trace off "$TMP/other/app.tdf"
mv "$TDF" "$TMP/moved.tdf"
status 0 "what is armed can be disarmed without its TDF" trace off "$TDF"
mv "$TMP/moved.tdf" "$TDF"

# One TDF named twice; one of two that can't be armed
status 0 "off --all" trace off --all
status 0 "a TDF named twice is armed" trace on "$TDF" "$TDF"
is "$(figure state 1) $(figure state 2)" '"on" ' "once"
trace off --all
cp "$TDF" "$TMP/other/app.tdf"
trace on "$TMP/other/app.tdf"
status 1 "the second of two is armed already" \
	trace on "$TDF" "$TMP/other/app.tdf"
like "$(cat "$TMP/err")" "'$TMP/other/app.tdf': it is armed already" \
	"that is reported of it"
is "$(figure state 1) $(figure state 2)" '"on" "on"' "the first is armed"
status 0 "suspend by a name that both have" trace suspend "$TDF"
is "$(figure state 1) $(figure state 2)" '"on" "suspended"' \
	"suspends what the path says"
status 0 "off of one named twice" \
	trace off "$TMP/other/app.tdf" app "$TMP/other/app.tdf"
trace off --all

# Buffer size
status 0 "on" trace on "$TDF"
status 1 "another size is refused while something is armed" \
	trace on --buffer 128K "$TMP/app.tdf"
like "$(cat "$TMP/err")" "size can't change" "and says why"
"$TMP/target" 1
trace off "$TDF"
status 1 "another size is refused while there are records" \
	trace on --buffer 128K "$TDF"
trace clear
status 0 "after clear it is made anew" trace on --buffer 100K "$TDF"
like "$(cat "$TMP/err")" "rounded up to 128 KiB" "rounding is reported"
like "$(trace query)" "^buffer: 128 KiB" "query names the size"
status 0 "off --all" trace off --all
is "$(pins)" "" "removes every pin"

# run
status 0 "run" trace run "$TDF" -- "$TMP/target" 4 3
is "$(grep -c '^Event' "$TMP/out")" 4 "prints the records"
like "$(cat "$TMP/err")" "exited with status 3" "reports the exit status"
status 0 "run --output" trace run -o "$TMP/run.ras" "$TDF" -- "$TMP/target" 4
is "$(tracefmt "$TMP/run.ras" 2>/dev/null | grep -c '^Event')" 4 \
	"writes the records"
status 1 "run of a program that isn't there" \
	trace run "$TDF" -- "$TMP/no-such-program"
like "$(cat "$TMP/err")" "cannot run .*no-such-program" "says so"
# shellcheck disable=SC2016
status 0 "run of a program that is killed" \
	trace run "$TDF" -- sh -c 'kill -9 $$'
like "$(cat "$TMP/err")" "ended by signal 9" "reports the signal"
is "$(pins)" "" "run leaves nothing armed"
status 1 "off where only programs were run" trace off "$TDF"
is "$(cat "$TMP/err")" "trace: '$TDF' is not armed: there is no trace buffer" \
	"says that it isn't armed"

# show
status 0 "show" trace show "$TDF"
like "$(cat "$TMP/out")" "app.tsf:3: TRACE MINOR=1" "the line of the TSF"
like "$(cat "$TMP/out")" "^ +deref +\| +[0-9]+: r[0-9] " \
	"expression and eBPF side by side"
like "$(cat "$TMP/out")" "\| +[0-9]+: exit$" "to the end"
rm "$TMP/app.tsf"
status 0 "show without the TSF" trace show "$TDF"
tap_done
