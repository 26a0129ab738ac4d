#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# CALL: of a program that keeps its own account of its calls, each record is right
# and each call is accounted for, though threads recurse, leave calls by longjmp()
# and by their end, and calls go on in other threads.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
threads=16
calls=${LONG:+6400}
: "${calls:=200}"
cp "$TOP/build/selftests/trace/whole" "$TMP/whole"

# what the rows say: "recorded filtered dropped never_returned open no_entry"
account() {
	trace query --json | tr ',{' '\n\n' | awk -F: '
		/"minor"/ { on = 1 }
		on { gsub(/[" ]/, ""); value[$1] = $2 }
		END { print value["recorded"], value["filtered"],
		      value["dropped"], value["never_returned"], value["open"],
		      value["no_entry"] }'
}

make_tdf "$TMP/app.tsf" <<TSF
MODNAME=$TMP/whole
MAJOR=195
TRACE MINOR=1, CALL=.work, DESC="work", FMT="%{u64} %P%{u64} %P%{u64} %P%{u64}",
	VARS=(id), RESULT=(\$result, entry(id)),
	IF=(\$result % 64 == 0 && entry(id) * 3 == \$result && elapsed >= 1ns)
TSF
status 0 "arm" trace on --buffer 64K "$TMP/app.tdf"
status 0 "the program runs" sh -c "'$TMP/whole' $threads $calls >'$TMP/said'"
status 0 "get" trace get "$TMP/app.ras"
# shellcheck disable=SC2046 # words
set -- $(account)
# shellcheck disable=SC2046
said=$(tail -n 1 "$TMP/said")
returned=$(echo "$said" | cut -d ' ' -f 2)
left=$(echo "$said" | cut -d ' ' -f 4)
kept=$(($(wc -l <"$TMP/said") - 1))
is "$1" "$kept" "as many records as calls that IF selects"
is "$(($1 + $2))" "$returned" "calls that returned are recorded or filtered"
is "$(($4 + $5))" "$left" "calls that were left are open or replaced"
is "$3 $6" "0 0" "none was dropped, no exit had no entry"

tracefmt --tff "$TMP" "$TMP/app.ras" 2>/dev/null |
	awk 'NF == 4 && /^[0-9 ]+$/ { print $2, $3, $1, $4 }' |
	sort >"$TMP/records"
sort "$TMP/said" | grep -v returned >"$TMP/sorted"
cut -d ' ' -f 1,2 "$TMP/sorted" >"$TMP/wanted"
cut -d ' ' -f 1,2 "$TMP/records" >"$TMP/got"
# the smallest buffer may have lost the first ones
lost=$(grep -vxFf "$TMP/wanted" "$TMP/got" | head -n 1)
is "$lost" "" "each record is that of a call"
ok "there are records" test -s "$TMP/got"
wrong=$(join "$TMP/sorted" "$TMP/records" |
	awk '$3 < $6 || $6 < $4 || $7 != $1 { print; exit }')
is "$wrong" "" "each time is between the program's own around and inside"

status 0 "off" trace off "$TMP/app.tdf"
# shellcheck disable=SC2046
set -- $(account)
is "$(($4 + $5))" "$left" "open calls are counted when it is disarmed"
like "$(trace explain-loss "$TMP/app.tdf")" \
	"had not returned when it was disarmed" "explain-loss names them"
status 0 "clear" trace clear

# While it is suspended nothing is kept, nor of calls that are left
make_tdf "$TMP/sleep.tsf" <<TSF
MODNAME=$TMP/whole
MAJOR=195
TRACE MINOR=2, CALL=.work, DESC="none", IF=(elapsed > 10s)
TSF
status 0 "arm" trace on "$TMP/sleep.tdf"
trace suspend "$TMP/sleep.tdf"
"$TMP/whole" 1 8 >/dev/null
trace resume "$TMP/sleep.tdf"
# shellcheck disable=SC2046
set -- $(account)
is "$1 $3 $4 $5" "0 0 0 0" "nothing is kept while it is suspended"
status 0 "off" trace off "$TMP/sleep.tdf"

# Aggregates are evaluated at the exit
make_tdf "$TMP/sums.tsf" <<TSF
MODNAME=$TMP/whole
MAJOR=195
TRACE MINOR=3, CALL=.work, COUNT, HIST=(elapsed), BY=(entry(depth))
TSF
status 0 "aggregates of calls" trace on "$TMP/sums.tdf"
"$TMP/whole" 1 8 >/dev/null
is "$(trace query |
	sed -n '/count by entry/,/^$/s/^ *\([0-9]*\)  \([0-3]\)$/\1 \2/p')" \
	"71 0
5 1
3 2
1 3" "  are of those that have returned, by values of the entry"
trace off --all
tap_done
