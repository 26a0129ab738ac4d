#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# CALL: of a program that keeps its own account of its calls, each record is right
# and each call is accounted for, though threads recurse, leave calls by longjmp(),
# by exceptions and by their end, and calls go on in other threads. Several CALLs of
# one function each have all calls; their histograms are those of the account.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
threads=16 calls=200 all=1M part=5000
# a million calls; so many in guests that these take a minute
[ "${LONG-}" ] && calls=25600 all=64M
[ "${LONG-}" ] && [ "${RASTRACE_GUEST-}" ] && calls=3200
[ "${RASTRACE_GUEST-}" ] && part=2000
cp "$TOP/build/selftests/trace/account" "$TMP/account"

# unlike_hist MINOR EXPRESSION VALUES: what differs between the histogram and the
# values, one in a line
unlike_hist() {
	trace query --json | tr -d ' ",' | awk -v minor="$1" -v what="$2" '
		/^minor:/ { point = $0 == "minor:" minor }
		/^expression:/ { on = point && $0 == "expression:" what }
		/^buckets:/ { buckets = on; n = 0 }
		/^}/ { buckets = 0 }
		buckets && /^[0-9]+$/ { line = line " " $0
			if (++n % 3 == 0) { print line; line = "" } }' |
		sort -n >"$TMP/buckets"
	sort -n "$3" | awk -v buckets="$TMP/buckets" '
		BEGIN { n = i = 0
			while ((getline line <buckets) > 0) {
				split(line, part, " ")
				low[n] = part[1]; high[n] = part[2]
				count[n++] = part[3] }
			if (!n) print "no histogram" }
		{ while (i < n && $1 > high[i] + 0) i++
		  if (i < n && $1 >= low[i] + 0) count[i]--
		  else print "no bucket of " $1 }
		END { for (i = 0; i < n; i++)
			if (count[i]) print count[i] " more from " low[i] }' |
		head -n 3
}

make_tdf "$TMP/app.tsf" <<TSF
MODNAME=$TMP/account
MAJOR=195
TRACE MINOR=1, CALL=.work, DESC="work", FMT="%{u64} %P%{u64} %P%{u64} %P%{u64}",
	VARS=(id), RESULT=(\$result, entry(id)),
	IF=(\$result % 64 == 0 && entry(id) * 3 == \$result && elapsed >= 1ns)
TRACE MINOR=2, CALL=.work, COUNT, BY=(entry(depth))
TRACE MINOR=3, CALL=.work, HIST=(\$result)
TSF
status 0 "arm" trace on --max-cpu=off --buffer 64K "$TMP/app.tdf"
status 0 "the program runs" sh -c "'$TMP/account' $threads $calls 1 >'$TMP/said'"
status 0 "get" trace get "$TMP/app.ras"
# shellcheck disable=SC2046 # words
set -- $(tail -n 1 "$TMP/said")
returned=$2 left=$4 depths="$6 $7 $8 $9"
awk 'NF == 4 && $2 % 64 == 0' "$TMP/said" >"$TMP/wanted"
# shellcheck disable=SC2046
set -- $(figures 1)
is "$1" "$(wc -l <"$TMP/wanted" | tr -d ' ')" \
	"as many records as calls that IF selects"
is "$(($1 + $2))" "$returned" "calls that returned are recorded or filtered"
is "$(($4 + $5))" "$left" "calls that were left are open or replaced"
is "$3 $6" "0 0" "none was dropped, no exit had no entry"
# shellcheck disable=SC2046
set -- $(figures 2)
is "$7 $(($4 + $5)) $3 $6" "$returned $left 0 0" \
	"another CALL of the function has all calls, too"
is "$(trace query | sed -n '/count by entry/,/^$/s/^ *\([0-9]*\)  \([0-3]\)$/\2 \1/p' |
	sort | cut -d ' ' -f 2 | xargs)" "$depths" "  counts by a value of the entry"
awk 'NF == 4 { print $2 }' "$TMP/said" >"$TMP/results"
is "$(unlike_hist 3 "\$result" "$TMP/results")" "" \
	"  the histogram of results, bucket by bucket"

tracefmt --tff "$TMP" "$TMP/app.ras" 2>/dev/null |
	awk 'NF == 4 && /^[0-9 ]+$/ { print $2, $3, $1, $4 }' >"$TMP/records"
ok "there are records" test -s "$TMP/records"
# the smallest buffer may have lost the first ones
is "$(awk -v wanted="$TMP/wanted" '
	BEGIN { while ((getline line <wanted) > 0) {
			split(line, part, " "); result[part[1]] = part[2]
			around[part[1]] = part[3]; inside[part[1]] = part[4] } }
	!($1 in result) || result[$1] != $2 || $4 != $1 || around[$1] < $3 ||
	$3 < inside[$1] || seen[$1]++' "$TMP/records" | head -n 3)" "" \
	"each is of one call, its time between the program's own around and inside"

status 0 "off" trace off "$TMP/app.tdf"
# shellcheck disable=SC2046
set -- $(figures 1)
is "$(($4 + $5))" "$left" "open calls are counted when it is disarmed"
like "$(trace explain-loss "$TMP/app.tdf")" \
	"calls never returned" "explain-loss names them"
status 0 "clear" trace clear
trace off --all

# Records of all calls, with their histograms
make_tdf "$TMP/all.tsf" <<TSF
MODNAME=$TMP/account
MAJOR=195
TRACE MINOR=5, CALL=.work, DESC="work", FMT="%{u64} %P%{u64}", VARS=(id),
	HIST=(elapsed), HIST=(entry(id))
TSF
status 0 "arm" trace on --max-cpu=off --buffer $all "$TMP/all.tdf"
"$TMP/account" $threads $((calls / 2)) 1 >"$TMP/said"
trace get "$TMP/all.ras"
tracefmt --tff "$TMP" "$TMP/all.ras" 2>/dev/null |
	awk 'NF == 2 && /^[0-9 ]+$/ { print $1 >"/dev/stderr"; print $2 }' \
	2>"$TMP/times" >"$TMP/ids"
awk 'NF == 4 { print $1 }' "$TMP/said" | sort >"$TMP/sorted"
ok "a record of each call" sh -c "sort '$TMP/ids' | cmp - '$TMP/sorted'"
is "$(unlike_hist 5 elapsed "$TMP/times")" "" \
	"the histogram of their times, bucket by bucket"
is "$(unlike_hist 5 "entry(id)" "$TMP/ids")" "" "  of values of their entries"
trace off --all

# Exits that read memory that is absent, and wait for it: what their entries kept is
# there afterwards
make_tdf "$TMP/absent.tsf" <<TSF
MODNAME=$TMP/account
MAJOR=195
TRACE MINOR=10, CALL=.paged_record, DESC="record", FMT="%{u64} %P%{u64} %P%{u64}",
	VARS=(id), RESULT=(*\$result), IF=(*\$result % 2 == 0)
TRACE MINOR=11, CALL=.paged_hist, HIST=(*\$result), HIST=(entry(id)),
	IF=(*\$result > 6)
TRACE MINOR=12, CALL=.paged_count, COUNT, BY=(*\$result % 4, entry(id) % 4)
TSF
status 0 "arm" trace on --max-cpu=off "$TMP/absent.tdf"
status 0 "pages are absent where calls return" "$TMP/account" absent 200
is "$(figures 10)" "100 100 0 0 0 0 0" "an IF of them: records"
is "$(figures 11)" "0 3 0 0 0 0 197" "  histograms"
is "$(figures 12)" "0 0 0 0 0 0 200" "  keys of counts"
trace get "$TMP/absent.ras"
tracefmt --tff "$TMP" "$TMP/absent.ras" 2>/dev/null |
	awk 'NF == 3 && /^[0-9 ]+$/ { print $2, $3 }' >"$TMP/records"
seq 0 2 198 | awk '{ print $1, 3 * $1 }' >"$TMP/wanted"
ok "each record is of its call" cmp "$TMP/records" "$TMP/wanted"
seq 3 199 >"$TMP/ids"
awk '{ print 3 * $1 }' "$TMP/ids" >"$TMP/results"
is "$(unlike_hist 11 "*\$result" "$TMP/results")" "" \
	"the histogram of what was absent, bucket by bucket"
is "$(unlike_hist 11 "entry(id)" "$TMP/ids")" "" "  of values of their entries"
is "$(trace query | sed -n '/count by/,/^$/s/^ *\([0-9]*\)  \([0-3]\)  *\([0-3]\)$/\2 \3 \1/p' |
	sort | xargs)" "0 0 50 1 3 50 2 2 50 3 1 50" "counts by both"
trace off --all

# A tracepoint that is disarmed alone: with perf events its links go one by one, and
# no exit is left without its entry. The other one goes on.
make_tdf "$TMP/part.tsf" <<TSF
MODNAME=$TMP/account
MAJOR=195
TRACE MINOR=7, CALL=.work, DESC="work", FMT="%{u64} %P%{u64} %P%{u64}",
	VARS=(id), RESULT=(\$result)
TRACE MINOR=8, CALL=.work, COUNT
TSF
status 0 "arm" trace on --max-cpu=off --attach perf --buffer 64K "$TMP/part.tdf"
"$TMP/account" 2 $part 1 >"$TMP/said" &
while [ "$(figures 7 | cut -d ' ' -f 1)" -lt 100 ]; do sleep 0.05; done
status 0 "off while calls are made" trace off "$TMP/part.tdf(7)"
set -- "$(figures 7)"
wait
is "$(figures 7)" "$*" "nothing of it is counted any more"
is "$(figures 8 | cut -d ' ' -f 7,6)" \
	"0 $(tail -n 1 "$TMP/said" | cut -d ' ' -f 2)" "the other one has all calls"
trace get "$TMP/part.ras"
is "$(tracefmt --tff "$TMP" "$TMP/part.ras" 2>/dev/null |
	awk 'NF == 3 && /^[0-9 ]+$/ && $2 * 3 != $3' | head -n 3)" "" \
	"no exit had the entry of another call"
trace off --all

# Calls of processes that have ended
cat >"$TMP/end.tsf" <<TSF
MODNAME=$TMP/account
MAJOR=195
TRACE MINOR=9, CALL=.ending, COUNT
TSF
status 0 "trcust" trcust "$TMP/end.tsf"
status 0 "arm" trace on "$TMP/end.tdf"
"$TMP/account" end
"$TMP/account" exec
if [ "${LONG-}" ]; then
	sleep 11	# the keeper does it, too
	is "$(figures 9)" "0 0 0 2 0 0 0" \
		"calls that cannot return any more are found"
fi
"$TMP/account" leader &
sleep 0.4
status 0 "off" trace off "$TMP/end.tdf"
kill $!
wait
is "$(figures 9)" "0 0 0 2 1 0 0" \
	"  and counted; one is open in a process whose first thread has ended"
trace off --all

# While it is suspended nothing is kept, nor of calls that are left
make_tdf "$TMP/sleep.tsf" <<TSF
MODNAME=$TMP/account
MAJOR=195
TRACE MINOR=6, CALL=.work, DESC="none", IF=(elapsed > 10s)
TSF
status 0 "arm" trace on "$TMP/sleep.tdf"
trace suspend "$TMP/sleep.tdf"
"$TMP/account" 1 8 64 >/dev/null
trace resume "$TMP/sleep.tdf"
# shellcheck disable=SC2046
set -- $(figures 6)
is "$1 $3 $4 $5" "0 0 0 0" "nothing is kept while it is suspended"
status 0 "off" trace off "$TMP/sleep.tdf"
trace off --all
tap_done
