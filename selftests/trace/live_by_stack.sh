#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# COUNT, BY=(STACK): the hits of each stack are those that records have it, and the
# stacks of many threads add up to all hits.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
programs=$TOP/build/selftests/trace

# rows: "hits address address ... (end)", sorted, of tables on stdin
rows() {
	awk '
		$1 ~ /^[0-9]+$/ && length($1) < 10 { hits = $1; next }
		/^ +[0-9A-F]+( |$)/ { sub(/^0+/, "", $1); line = line " " $1 }
		/^ +\(/ { sub(/^ +/, ""); print hits line, $0; line = "" }' |
		sort
}

# records: the same of the records
records() {
	tracefmt -q --no-symbols --tff "$TMP" | awk '
		/^  [0-9A-F]+( |$)/ { sub(/^0+/, "", $1); line = line " " $1 }
		/^  \(/ { sub(/^ +/, ""); count[line " " $0]++; line = "" }
		END { for (line in count) print count[line] line }' | sort
}

for how in auto frames; do
	make_tdf "$TMP/stack.tsf" <<TSF
MODNAME=$programs/stack
MAJOR=9
TRACE TP=.inner+0, DESC="inner", STACK, COUNT, BY=(STACK), ONFAULT=CONTINUE
TRACE TP=.three, DESC="three", VARS=(a), SUM=(a), BY=(a, STACK:3)
TRACE TP=.two, DESC="two", STACK=(2), COUNT, BY=(STACK:2)
TSF
	status 0 "$how: on" trace on --stacks=$how "$TMP/stack.tdf"
	for _ in 1 2 3; do "$programs/stack" >"$TMP/said"; done
	trace query >"$TMP/query"
	sed -n '/inner+0: count/,/three: sum/p' "$TMP/query" | rows >"$TMP/inner"
	sed -n '/two: count/,$p' "$TMP/query" | rows >"$TMP/two"
	# processes are apart in the tables only
	is "$(awk '{
			hits = $1
			$1 = ""
			count[$0] += hits
		}
		END { for (line in count) print count[line] line }' \
		"$TMP/inner" "$TMP/two" | sort)" "$(records)" \
		"$how: as the records have it"
	is "$(awk '{ n += $1 } END { print n }' "$TMP/two")" 6 "  all hits"
	like "$(cat "$TMP/query")" '^ +3 +1 +3$' "  beside another value"
	tracefmt --aggregates --no-symbols >"$TMP/tables"
	is "$(sed -n '/two: count/,$p' "$TMP/tables" | rows)" \
		"$(cat "$TMP/two")" "  tracefmt has the same"
	trace off --all
done

# Names, as files have them
make_tdf "$TMP/aggregate.tsf" <<TSF
MODNAME=$programs/aggregate
MAJOR=10
TRACE TP=.take, COUNT, BY=(STACK:2)
TSF
trace on --max-cpu=off "$TMP/aggregate.tdf" || bail "cannot arm"
"$programs/aggregate"
trace get "$TMP/a.ras" 2>"$TMP/err"
is "$(trace query | rows | awk '{ n += $1 } END { print n }')" 100000 \
	"many threads: all hits"
is "$(tracefmt --aggregates --folded --no-symbols "$TMP/a.ras" |
	awk '{ n += $NF } END { print n }')" 100000 "as folded stacks"
like "$(tracefmt --aggregates --folded --no-symbols "$TMP/a.ras")" \
	'^\.\.\.;.*;aggregate\+0x[0-9A-F]+ [0-9]+$' "  which say that they are cut"
like "$(tracefmt --aggregates --format=json "$TMP/a.ras" | tr -d '\n ')" \
	'"by":\[\{"pid":[0-9]+,"frames":\[\{"address":"0x[^]]*"module":"aggregate"[^]]*\],"end":"depth"\}\],"count":[0-9]+' \
	"as JSON"
like "$(trace query --metrics)" \
	'rastrace_aggregate_hits_total\{.*by1_STACK="\.\.\.;0x[0-9A-F]+;0x[0-9A-F]+"' \
	"as OpenMetrics"
like "$(trace top -n 1 aggregate)" 'take: count by STACK' "trace top"
trace off --all
trace on --max-cpu=off --aggregates 1 "$TMP/stack.tdf" || bail "cannot arm"
"$programs/stack" >"$TMP/said"
like "$(trace query)" "aggregates: [1-9][0-9]* additions found no room" \
	"what finds no room is counted"
trace off --all
tap_done
