#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Memory that can't be read is told with its address, from NULL, an unmapped
# page, one without access and one that isn't resident; what follows is not
# traced.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
cp "$TOP/build/selftests/trace/memory" "$TMP/memory"
make_tdf "$TMP/memory.tsf" <<TSF
MODNAME=$TMP/memory
MAJOR=199
TRACE TP=.look, DESC="look", FMT="first %P%D", FMT="after %P%D",
	MEM32=(FRDI,DIRECT,4), MEM32=(FRSI,DIRECT,4)
TSF

status 0 "on" trace on "$TMP/memory.tdf"
ok "the program runs" sh -c "'$TMP/memory' '$TMP/memory.tsf' >'$TMP/pointers'"
status 0 "off" trace off "$TMP/memory.tdf"
status 0 "tracefmt" tracefmt --tff "$TMP"
n=0
for name in NULL "an unmapped page" "a page without access" \
	"a page that isn't resident"; do
	n=$((n + 1))
	pointer=$(sed -n ${n}p "$TMP/pointers")
	is "$(sed -n 's/^first //p' "$TMP/out" | sed -n ${n}p)" \
		"<not readable: $pointer>" "$name is told"
	like "$(sed -n 's/^after //p' "$TMP/out" | sed -n ${n}p)" \
		"^<not traced>" "  and what follows isn't traced"
done
like "$(sed -n 's/^first //p' "$TMP/out" | sed -n 5p)" "0000 002A" \
	"what can be read, is"
like "$(sed -n 's/^after //p' "$TMP/out" | sed -n 5p)" "0000 002A" \
	"  and what follows"
tap_done
