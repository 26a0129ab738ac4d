#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Stacks that come again are numbers in the records: sixteen threads with 64 stacks,
# which are those that the program says it had, in the buffer, in files and spools,
# and when the table has no room.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
programs=$TOP/build/selftests/trace

make_tdf "$TMP/ids.tsf" <<TSF
MODNAME=$programs/stack_ids
MAJOR=9
TRACE MINOR=1, TP=.leaf, DESC="leaf", VARS=(way), STACK=(16)
TSF

# run OPTION...: armed so, the program has run; what it says of each way
run() {
	status 0 "on $*" trace on --max-cpu=off "$@" "$TMP/ids.tdf"
	status 0 "  runs" sh -c "'$programs/stack_ids' 300 >'$TMP/said'"
}

# stacks TRACE...: "way address address ..." of each record but the first call's
stacks() {
	tracefmt -q --no-symbols --tff "$TMP" "$@" | awk '
		/^way = / { way = $3 }
		/^ +[0-9A-F]+( |$)/ { sub(/^0+/, "", $1); line = line " " $1 }
		/^ +\(/ {
			if (way != 64)
				print way line
			line = ""
		}'
}

# wrong TRACE...: records with another stack than the program says; "none" are there
wrong() {
	stacks "$@" >"$TMP/stacks"
	[ -s "$TMP/stacks" ] || echo none
	sort -u "$TMP/said" >"$TMP/right"
	sort -u "$TMP/stacks" | comm -23 - "$TMP/right" | head -3
}

# Bytes of a record
bytes() {
	trace query | awk '/^buffer: [0-9]+ records/ { print int($5 / $2) }'
}

run --buffer 64K --stack-ids 0
is "$(wrong)" "" "in full: as the program says"
unlike "$(trace query)" '^  stacks: ' "  no table"
full=$(bytes)
trace off --all

run --buffer 64K
is "$(wrong)" "" "by number: as the program says"
is "$(sort -u "$TMP/stacks" | wc -l)" 64 "  all 64"
like "$(trace query)" '^  stacks: [0-9]+ of 8192 that records name by number$' \
	"  with room for all"
ids=$(bytes)
ok "  records are much shorter: $ids bytes, not $full" \
	test $((3 * ids)) -lt $((2 * full))
status 0 "  get" trace get "$TMP/ids.ras"
tracefmt -q --no-symbols --tff "$TMP" >"$TMP/live"
trace off --all
is "$(wrong "$TMP/ids.ras")" "" "  the file has them"
tracefmt -q --no-symbols --tff "$TMP" "$TMP/ids.ras" >"$TMP/file"
ok "  as the buffer" cmp -s "$TMP/live" "$TMP/file"
sed -n 's/^  0*\([0-9A-F][0-9A-F]*\)\( .*\)*$/\1/p' "$TMP/file" >"$TMP/frames"
for format in json csv perfetto otlp; do
	tracefmt -q --no-symbols --format=$format --tff "$TMP" \
		"$TMP/ids.ras" >"$TMP/$format"
	grep -o 'address[\"]*:[\"]*0x[0-9A-F]*' "$TMP/$format" |
		sed 's/.*0x//' >"$TMP/found"
	ok "  $format: the frames of the text" cmp "$TMP/frames" "$TMP/found"
done
ok "  which are many" test "$(wc -l <"$TMP/frames")" -gt 1000

# A spool whose files begin anew all the time: each has what its records need.
rm -f "$TMP"/spool.ras*
status 0 "spooled: on" trace on --max-cpu=off --buffer 4M "$TMP/ids.tdf"
trace spool -o "$TMP/spool.ras" --size 128K --files 40 \
	2>"$TMP/spool.err" &
spool=$!
tries=0
while [ ! -s "$TMP/spool.ras" ] && [ $tries -lt 200 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
"$programs/stack_ids" 300 >"$TMP/said"
kill -TERM $spool
wait $spool
trace off --all
files=$(ls "$TMP"/spool.ras*)
ok "  several files" test "$(echo "$files" | wc -l)" -gt 3
for file in $files; do wrong "$file"; done >"$TMP/wrong"
is "$(sort -u "$TMP/wrong" | grep -v none)" "" "  each has all of its stacks"
# shellcheck disable=SC2086
is "$(stacks $files | wc -l)" 4864 "  and they have all records"

# A table for eight stacks
run --stack-ids 1
is "$(wrong)" "" "room for eight: as the program says"
is "$(sort -u "$TMP/stacks" | wc -l)" 64 "  all 64"
like "$(trace query)" '^  stacks: 8 of 8 .*; [1-9][0-9]* records found no room' \
	"  the others are counted"
trace query --json >"$TMP/json"
like "$(tr -d '\n ' <"$TMP/json")" \
	'"stacks":\{"used":8,"room":8,"unplaced":[1-9][0-9]*\}' "  in JSON"
trace off "$TMP/ids.tdf"
is "$(wrong)" "" "  also when it is off"
trace off --all
status 2 "more than there may be" trace on --stack-ids 1048577 "$TMP/ids.tdf"

# Of whole calls it is the entry's; beside one in the context, that is in full.
make_tdf "$TMP/ids.tsf" <<TSF
MODNAME=$programs/stack_ids
MAJOR=9
TRACE CALL=.leaf, DESC="leaf", VARS=(way), STACK=(16)
TSF
run
is "$(wrong)" "" "whole calls: as the program says"
like "$(trace query)" '^  stacks: [1-9]' "  by number"
trace off --all
run --context=comm,stack
is "$(tracefmt -q --no-symbols --tff "$TMP" | awk '
	/^ +[0-9A-F]+( |$)/ { line = line " " $1 }
	/^way = / { way = $3 }
	/^ +\(/ {
		stack[++n % 2] = line
		line = ""
		if (n % 2 == 0 && way != 64 && stack[0] != stack[1])
			other++
	}
	END { print (n > 100), other + 0 }')" "1 0" "  and their context's"
trace off --all
tap_done
