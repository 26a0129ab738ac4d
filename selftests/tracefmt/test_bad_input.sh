#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Damaged, foreign and missing traces: a clear message, exit 1, and all that
# can be read is printed.
. "$(dirname "$0")/../tap.sh"

make_trace=${BUILT:-$TOP/build/selftests}/tracefmt/make_trace
[ -x "$make_trace" ] || skip_all "needs $make_trace"
unset TRACEFMT_PATH
cd "$TMP" || exit 1
mkdir tff
"$make_trace" tff && mv tff/sample.ras .
size=$(wc -c <sample.ras)

# patch FILE OFFSET BYTES: bytes as for printf
patch() {
	# shellcheck disable=SC2059
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

status 1 "no such file" tracefmt no.ras
like "$(cat "$TMP/err")" "^tracefmt: cannot read 'no.ras': No such file" \
	"it is reported"
status 1 "a directory" tracefmt tff
status 1 "an empty file" tracefmt /dev/null
like "$(cat "$TMP/err")" "cannot read '/dev/null': it is empty" "it is reported"
status 1 "another file" tracefmt tff/trc00c5.tff
like "$(cat "$TMP/err")" "cannot read 'tff/trc00c5.tff': not a .ras file" \
	"it is reported"
status 1 "no live buffer" env RASTRACE_RUN="$TMP/nowhere" tracefmt
ok "a message is on stderr" test -s "$TMP/err"
if [ "$(id -u)" -eq 0 ] && unshare -m true; then
	RASTRACE_RUN='' status 1 "an empty run directory's name" \
		unshare -m sh -c 'umount -l /run/rastrace 2>/dev/null; tracefmt'
	like "$(cat "$TMP/err")" "'/run/rastrace" "means the default"
else
	skip "an empty run directory's name" "no mount namespace"
fi
status 0 "one file twice" tracefmt --tff tff sample.ras sample.ras
is "$(grep -c ^Event "$TMP/out")" 9 "its records are printed once"

cp sample.ras foreign.ras
patch foreign.ras 8 '\001\002\003\004'
status 1 "another byte order" tracefmt foreign.ras
like "$(cat "$TMP/err")" "'foreign.ras': written by a machine of the other byte order" \
	"refused"

head -c $((size - 16)) sample.ras >cut.ras
status 1 "no end chunk" tracefmt --tff tff cut.ras
like "$(cat "$TMP/err")" "file was cut short at $((size - 16)) bytes" \
	"the cut is reported"
is "$(grep -c ^Event "$TMP/out")" 9 "all records are printed"
head -c $((size - 150)) sample.ras >cut.ras
status 1 "cut in the last record" tracefmt --tff tff cut.ras
is "$(grep -c ^Event "$TMP/out")" 7 "the records before are printed"
like "$(cat "$TMP/err")" "bytes at the end of CPU 1's slice" \
	"the cut record is reported"
like "$(cat "$TMP/err")" "^Not complete: the file is damaged" \
	"it isn't called complete"
is "$(awk 'n && !NF { exit } n { print $6 } /^Major/ { n = 1 }' "$TMP/err" | grep -c '^[0-9]')" 0 \
	"what it lacks isn't called overwritten"

cp sample.ras flipped.ras
patch flipped.ras $((size - 220)) '\377\377\377\377\377\377\377\377'
status 1 "a ruined place in a slice" tracefmt --tff tff flipped.ras
like "$(cat "$TMP/err")" "checksum of the chunk at offset" \
	"the damaged chunk is reported"
like "$(cat "$TMP/out")" "Flags \[.*from a damaged slice\]" \
	"its records are marked"
cp sample.ras header.ras
patch header.ras 100 'X'
status 1 "a ruined header" tracefmt --tff tff header.ras
is "$(grep -c ^Event "$TMP/out")" 9 "all records are printed"
like "$(cat "$TMP/err")" "checksum of the header differs" \
	"the damaged header is reported"

status 1 "the output's disk is full" \
	sh -c 'tracefmt --tff tff sample.ras >/dev/full'
like "$(cat "$TMP/err")" "No space left" "it is reported"
unlike "$(cat "$TMP/err")" "Recorded" "no figures of a part of the records"
status 1 "the same for --help" sh -c 'tracefmt --help >/dev/full'
like "$(cat "$TMP/err")" "No space left" "it is reported"
status 1 "the same for the figures" \
	sh -c 'tracefmt --summary --tff tff sample.ras >/dev/full'
tap_done
