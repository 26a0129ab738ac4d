#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A trace of two CPUs as text: layout, order, times, options, figures.
. "$(dirname "$0")/../tap.sh"

make_trace=${BUILT:-$TOP/build/selftests}/tracefmt/make_trace
golden=$TOP/selftests/tracefmt/golden
[ -x "$make_trace" ] || skip_all "needs $make_trace"
unset TRACEFMT_PATH
cd "$TMP" || exit 1
mkdir tff none
"$make_trace" tff && mv tff/sample.ras .

# same FILE NAME: what was printed is the golden file
same() {
	ok "$2" diff -u "$golden/$1" "$TMP/out"
}

# events: numbers, minors and times, one event a line
events() {
	sed -nE 's/^Event \[([0-9]+)\].*Minor \[([0-9]+).*Time \[([^]]*)\].*/\1 \2 \3/p' \
		"$TMP/out"
}

status 0 "a trace is printed" tracefmt --utc --tff tff sample.ras
same sample.txt "the text is that of golden/sample.txt"
ok "figures are on stderr" grep -q "^Complete from" "$TMP/err"
status 0 "standard input" sh -c 'tracefmt --utc --tff tff - <sample.ras'
same sample.txt "and the text is the same"
status 0 "a pipe" sh -c 'cat sample.ras | tracefmt --utc --tff tff -'
same sample.txt "and the text is the same again"

status 0 "--summary" tracefmt --utc --summary --tff tff sample.ras
same summary.txt "the figures are those of golden/summary.txt"
status 0 "--no-summary" tracefmt -q --tff tff sample.ras
unlike "$(cat "$TMP/err")" "Complete|Major" "leaves the figures out"

status 0 "records with C types" tracefmt --utc -q --tff tff tff/typed.ras
same typed.txt "the text is that of golden/typed.txt"

# colours: the text is the same without them
esc=$(printf '\033')
status 0 "--colour" tracefmt --utc --colour=always -q --tff tff sample.ras
like "$(cat "$TMP/out")" "^$esc\\[1m\\(OS\\) xxalloc Pre-Invocation$esc\\[0m\$" \
	"titles are bold"
like "$(cat "$TMP/out")" "^$esc\\[31m<no TFF entry: .*>$esc\\[0m\$" \
	"red without a format"
like "$(cat "$TMP/out")" "  Flags \\[$esc\\[33mfault$esc\\[0m\\]\$" \
	"flags are yellow"
sed "s/$esc\\[[0-9]*m//g" "$TMP/out" >plain && mv plain "$TMP/out"
same sample.txt "and nothing else differs"

# figures: hits, recorded, present and overwritten of the first point
figures() {
	awk 'n { print $3, $4, $5, $6; exit } /^Major/ { n = 1 }' "$TMP/out"
}
status 0 "records ahead of the counters" tracefmt --summary tff/ahead.ras
is "$(figures)" "30 30 10 20" "recorded = present + overwritten"
status 1 "a record that is missing" tracefmt --summary tff/hole.ras
like "$(cat "$TMP/err")" \
	"minor 25 in CPU 1's slice: number 13 follows where 12 should" \
	"is reported"
is "$(figures)" "30 30 8 unknown" "and isn't called overwritten"

# times
TZ=EET-2 status 0 "local time" tracefmt --tff tff sample.ras
is "$(events | sed -n 1p)" "1 25 01:59:51.052123456" "is used by default"
like "$(cat "$TMP/out")" '^Date \[2026-02-04\]$' "with its own date"
status 0 "--relative" tracefmt --relative --tff tff sample.ras
is "$(events | sed -n '1p;2p;8p')" "1 25 +0.000000000
2 177 +0.947876544
8 181 +9.947876545" "counts from the first record"
unlike "$(cat "$TMP/out")" '^Date' "and has no dates"

# hex and what is left over
status 0 "--hex" tracefmt --utc --hex --tff tff sample.ras
is "$(grep -c '^Data' "$TMP/out")" 15 "shows every record's data"
status 0 "--verbose" tracefmt -v --tff tff sample.ras
is "$(grep -c 'not formatted' "$TMP/out")" 0 "nothing is left over here"

# without TFFs
status 0 "without TFFs" tracefmt --utc sample.ras
is "$(grep -c '^<no TFF entry: TRC00[CF][51].TFF not found>' "$TMP/out")" 9 \
	"every record says so"
like "$(cat "$TMP/out")" \
	'^Data \[\+0000  34 12 78 56 01 0E 00 63 3A 5C 6F 73 32 5C 6F 73  4.xV...c:\\os2\\os\]$' \
	"and shows its bytes"
like "$(cat "$TMP/err")" '^tracefmt: 9 records without a matching TFF' \
	"the last message has their number"
is "$(grep "name the dir" "$TMP/err")" \
	"tracefmt: name the directory of their TFF with --tff DIR; looked for in ." \
	"and where they were looked for"
status 0 "a TFF of another compilation" \
	tracefmt -q --minor 179 --tff tff sample.ras
is "$(sed -n '2,3p' "$TMP/err")" \
	"tracefmt: 'tff/trc00c5.tff' was made anew since, of 'app.tsf' as it is now
tracefmt: compile the TSF of '/nowhere/app.tdf' as it was into a directory of its own (trcust -o) and name it with --tff DIR" \
	"is reported as that"
status 1 "--strict makes it an error" tracefmt --strict --tff tff sample.ras
status 0 "not of records that weren't chosen" \
	tracefmt --strict --minor 25 --tff tff sample.ras
unlike "$(cat "$TMP/err")" "without a matching" "nor are they reported"
status 1 "but of those that can't be chosen" \
	tracefmt --strict --field 'x > 1' --tff tff sample.ras
like "$(cat "$TMP/err")" \
	'^tracefmt: 3 records without a matching TFF entry are left out' \
	"which are reported"
status 0 "the last record without a TFF" tracefmt --last 1 sample.ras
like "$(cat "$TMP/err")" '^tracefmt: 1 records without' \
	"only what is printed counts"
rm -f "$TMP/err"
cp tff/trc00c5.tff tff/TRC00F1.TFF
status 0 "another major's TFF" tracefmt --tff tff sample.ras
like "$(cat "$TMP/out")" "TRC00F1.TFF' is for major 197>" "is not used"
rm tff/TRC00F1.TFF

# --force
status 0 "--force" tracefmt --force --utc --tff tff sample.ras
like "$(cat "$TMP/out")" '^ Last = 3130$' "uses the entry of another hash"
like "$(cat "$TMP/out")" 'Minor \[179/0x00B3\].*Flags \[forced format\]$' \
	"and marks the record"

# where TFFs are looked for
mv tff/trc00c5.tff .
status 0 "the current directory" tracefmt --utc sample.ras
like "$(cat "$TMP/out")" "^.OS. Goo" "is searched"
mv trc00c5.tff none
status 0 "TRACEFMT_PATH" env TRACEFMT_PATH="/nonexistent::$TMP/none" \
	tracefmt sample.ras
like "$(cat "$TMP/out")" "^.OS. Goo" "is searched"
status 0 "a TFF named itself" tracefmt --tff none/trc00c5.tff sample.ras
like "$(cat "$TMP/out")" "^.OS. Goo" "is used"
status 1 "a --tff that isn't there" tracefmt --tff nowhere sample.ras
like "$(cat "$TMP/err")" "'nowhere': No such file" "is reported"
printf 'RASTFF\r\nrubbish' >none/TRC00C5.TFF
status 0 "a damaged TFF beside a good one" tracefmt --tff none sample.ras
like "$(cat "$TMP/out")" "^.OS. Goo" "is passed over"
rm none/trc00c5.tff
status 0 "a damaged TFF alone" tracefmt --tff none sample.ras
like "$(cat "$TMP/out")" "TFF 'none/TRC00C5.TFF' is damaged" \
	"is reported"

"${make_trace%trace}aggregates" . || bail "make_aggregates"
status 0 "aggregates" tracefmt --aggregates aggregates.ras
mv out new
status 0 "of an older file" tracefmt --aggregates old.ras
ok "are the same" cmp out new
like "$(cat new)" "sum\(v\)" "and there"
tap_done
