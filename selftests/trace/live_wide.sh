#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Records of as many bytes as MAXDATALENGTH may be: each has the text that the
# program had, or as much of it as there is room for, and then says so; also where
# the text is in pages that are brought in, and where records are overwritten.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
cp "$TOP/build/selftests/trace/wide" "$TMP/wide"

# compile MAXDATALENGTH: a register of 4 bytes and what a text can have beside it
compile() {
	make_tdf "$TMP/wide.tsf" <<TSF
MODNAME=$TMP/wide
MAJOR=196
MAXDATALENGTH=$1
TRACE MINOR=1, TP=.wide, DESC="wide", FMT="n=%{d32}", FMT="text=%P%S",
	REGS=($ARG1_32), ASCIIZ64=(F$ARG2,DIRECT,$1)
TSF
}

# wrong MOST PRINTED TRACED: calls whose record has another text; MOST bytes of a
# text are recorded
wrong() {
	awk -v most="$1" '
	FNR == NR { length_of[$1] = $2; letter[$1] = $3; next }
	/^n=/ { n = substr($0, 3); next }
	/^text=/ {
		text = substr($0, 6)
		cut = sub(/<cut[^>]*>$/, "", text)
		want = length_of[n] < most ? length_of[n] : most
		bytes = length(text)
		if (!(n in letter) || cut != (length_of[n] > most) ||
		    bytes != want || gsub(letter[n], "", text) != bytes)
			print n ": " bytes " of " length_of[n] " " cut
		seen++
	}
	END { if (!seen) print "no record" }' "$2" "$3"
}

for limit in 4096 4095 513 512; do
	compile $limit
	most=$((limit - 4 - 3))
	status 0 "MAXDATALENGTH=$limit" trace run -o "$TMP/wide.ras" \
		"$TMP/wide.tdf" -- "$TMP/wide" "$TMP/file" 2 0 1 $((most - 1)) \
		$most $((most + 1)) 4095 4096 4097 8192
	cp "$TMP/out" "$TMP/printed"
	tracefmt -q --tff "$TMP" "$TMP/wide.ras" >"$TMP/traced"
	is "$(grep -c '^n=' "$TMP/traced")" 36 "  a record of each call"
	is "$(wrong $most "$TMP/printed" "$TMP/traced")" "" \
		"  which has what fits of the text"
done

# 300 records of 4 KiB do not fit into 64 KiB, nor into a nesting slice
compile 4096
trace on --buffer 64K "$TMP/wide.tdf" || bail "cannot arm"
"$TMP/wide" "$TMP/file" 50 4089 4088 4090 >"$TMP/printed"
recorded=$(figure recorded) overwritten=$(figure overwritten)
tracefmt -q --tff "$TMP" >"$TMP/traced"
trace get "$TMP/get.ras"
tracefmt -q --tff "$TMP" "$TMP/get.ras" >"$TMP/got"
trace off --all
is "$recorded" 300 "more than the buffer holds: all are recorded"
is "$(grep -c '^n=' "$TMP/traced")" $((recorded - overwritten)) \
	"  those that are not overwritten are there"
ok "  more than 8 of them" [ "$(grep -c '^n=' "$TMP/traced")" -gt 8 ]
is "$(wrong 4089 "$TMP/printed" "$TMP/traced")" "" "  with their texts"
is "$(cat "$TMP/got")" "$(cat "$TMP/traced")" "  and so they are in a file"
is "$(sed -n 's/^n=//p' "$TMP/traced" | tail -n 1)" 299 "  the last one is"
tap_done
