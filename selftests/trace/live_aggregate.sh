#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What 100,000 hits of 4 threads add up to in the kernel: every count, sum, least
# and highest value and each bucket is exact, and what finds no room is counted.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
cp "$TOP/build/selftests/trace/aggregate" "$TMP/aggregate"

# tables: query's lines of aggregates, without leading and multiple blanks
tables() {
	trace query | sed -n '/^ *[0-9]*  take: /,$p' |
		sed 's/^ *//; s/  */ /g; /^$/d'
}

# expected: the same of the program's values, as awk adds them up
expected() {
	awk 'BEGIN {
		for (thread = 0; thread < 4; thread++)
			for (i = 0; i < 25000; i++) {
				v = i - 100 * thread
				sum += v
				if (v < least) least = v
				if (v > most) most = v
				o = -1
				p = 1
				if (v >= 0) for (o = 0; p <= v; o++) p += p
				octave[o]++
			}
		printf "1 take: count\nhits\n100000\n"
		printf "1 take: sum(value)\nsum hits\n%d 100000\n", sum
		printf "1 take: min(value)\nmin hits\n%d 100000\n", least
		printf "1 take: max(value)\nmax hits\n%d 100000\n", most
		printf "1 take: hist(value)\n"
		printf "less than 0 %d\n", octave[-1]
		printf "0 0 %d\n", octave[0]
		p = 1
		for (o = 1; o <= 15; o++) {
			printf "%d %d %d\n", p, 2 * p - 1, octave[o]
			p += p
		}
	}'
}

make_tdf "$TMP/all.tsf" <<TSF
MODNAME=$TMP/aggregate
TRACE TP=.take, COUNT, SUM=(value), MIN=(value), MAX=(value), HIST=(value)
TSF
trace on --max-cpu=off "$TMP/all.tdf" || bail "cannot arm"
"$TMP/aggregate"
is "$(tables | sed 's/ |#*$//; /values, sum/d')" "$(expected)" \
	"all are exact, without a key"
like "$(tables | grep values)" \
	"^100000 values, sum 1234950000, mean 12349.5, p50 12(2|3|4)[0-9]*, p90 22(1|2|3|4)[0-9]*, p99 24[67]" \
	"percentiles"
is "$(figure hits) $(figure recorded) $(figure aggregated)" "100000 0 100000" \
	"no record was made, all hits are counted"
sum=$(trace query --json | awk '/"buckets"/ { in_buckets = 1 }
	in_buckets && /^ *[0-9]+$/ { s += $1 } END { print s }')
is "$sum" 100000 "the buckets in JSON have all of them"
status 0 "records" tracefmt -q --tff "$TMP"
is "$(grep -c '^Event' "$TMP/out")" 0 "  there are none"

# In a file
trace get "$TMP/all.ras" 2>"$TMP/err"
lines() {
	sed 's/^ *//; s/  */ /g; /^$/d; /^session/d' | grep -v '^hits$'
}
is "$(tracefmt --aggregates "$TMP/all.ras" | lines)" "$(tables | lines)" \
	"a file has the same"
is "$(tracefmt --aggregates | lines)" "$(tables | lines)" "and the buffer"
tracefmt --aggregates --format=json "$TMP/all.ras" >"$TMP/all.json"
is "$(grep -c '"name": "take", "kind": ' "$TMP/all.json")" 5 "as JSON"
like "$(cat "$TMP/all.json")" \
	'"kind": "sum", "expression": "value", .*"sum": 1234950000' "  its values"
like "$(trace explain-loss all)" "100000 +aggregated " "loss is explained"
like "$(tracefmt -s "$TMP/all.ras")" "^ +1 +1 +100000 +0 " \
	"the figures have the hits"
tracefmt -q --tff "$TMP" --otlp="$TMP/all.otlp" "$TMP/all.ras"
like "$(cat "$TMP/all.otlp")" '"name":"rastrace.aggregate.sum",.*"asInt":"1234950000"' \
	"and as metrics"
# started FILE: since when its metrics are
started() {
	grep -o '"startTimeUnixNano":"[0-9]*"' "$1" | tr -cd '0-9\n' | sort -u
}
is "$(started "$TMP/all.otlp" | wc -l)" 1 "since it was armed"
status 2 "as CSV" tracefmt --aggregates --format=csv "$TMP/all.ras"
status 2 "of some events" tracefmt --aggregates --minor=1 "$TMP/all.ras"

# What follows takes a minute in a guest without KVM
[ -z "${RASTRACE_SHORT-}" ] || {
	trace off --all
	skip "clear, BY, top, absent pages, a full map" "RASTRACE_SHORT"
	tap_done
}

# Clearing, while it goes on
"$TMP/aggregate" &
trace clear
wait
trace clear
tracefmt -q --otlp="$TMP/clear.otlp" --tff "$TMP"
ok "metrics begin there" test "$(started "$TMP/clear.otlp")" -gt \
	"$(started "$TMP/all.otlp")"
is "$(tables | grep -c 'nothing was added')" 5 "clear empties them"
"$TMP/aggregate"
is "$(tables | sed 's/ |#*$//; /values, sum/d')" "$(expected)" \
	"they are exact from there on"
trace off "$TMP/all.tdf"
"$TMP/aggregate"
is "$(tables | sed 's/ |#*$//; /values, sum/d')" "$(expected)" \
	"they stay when the TDF is off"
trace clear
is "$(tables)" "" "until the next clear"

# By text and number, with records
make_tdf "$TMP/by.tsf" <<TSF
MODNAME=$TMP/aggregate
TRACE TP=.take, BY=(name:16, kind), COUNT, MAX=(value), VARS=(value),
	IF=(value < 30 && value >= 0)
TSF
trace on --max-cpu=off "$TMP/by.tdf" || bail "cannot arm"
"$TMP/aggregate"
is "$(tables)" "1 take: count by name, kind
hits name kind
40 a name that is l... 1
40 read -1
40 write 0
1 take: max(value) by name, kind
max hits name kind
29 40 a name that is l... 1
29 40 read -1
29 40 write 0" "by a text and a number"
is "$(figure hits) $(figure recorded) $(figure aggregated)" "100000 120 0" \
	"with data there are records, too"

# Screen after screen
status 0 "top" trace top -n 3 -i 0.1 -r 2 by
is "$(grep -c 'take: count by name, kind' "$TMP/out")" 3 "  so many screens"
is "$(grep -c '\.\.\. and 1 more' "$TMP/out")" 6 "  with so many rows"
is "$(grep -c '^ *0 hits/s$' "$TMP/out")" 4 "  and what came since"
status 1 "top of nothing" trace top -n 1 nothing
status 2 "no rounds" trace top -n 0
trace off --all

# Absent pages, a map that is full
trace on --max-cpu=off "$TMP/by.tdf" || bail "cannot arm"
"$TMP/aggregate" absent
is "$(tables | grep -c '^[0-9]* *-\{0,1\}[01]$')" 3 \
	"a text in an absent page is brought in"
is "$(figure faults)" 0 "that is no fault"
trace off --all
trace on --max-cpu=off --aggregates 4 "$TMP/by.tdf" || bail "cannot arm"
"$TMP/aggregate"
like "$(tables | tail -n 1)" "^aggregates: 80 additions found no room" \
	"what finds no room is counted"
trace off --all
status 2 "no room at all" trace on --aggregates 0 "$TMP/by.tdf"
tap_done
