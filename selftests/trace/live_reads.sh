#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Memory is read directly or by helpers, as asked for and as the kernel allows;
# query says how and why, and the records are the same.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
make_app

# session NAME: a member of the first session
session() {
	trace query --json | sed -n '/"sessions"/,$s/^ *"'"$1"'": \(.*[^,]\),*$/\1/p' |
		sed -n 1p
}

# records HOW: what 100 calls leave in the buffer
records() {
	"$TMP/target" 100
	tracefmt -q --tff "$TMP" | grep -v '^Event' >"$TMP/$1"
	trace off --all
}

status 0 "by helper" trace on --reads=helper "$TDF"
is "$(session reads)" '"helper"' "  query says so"
is "$(session reads_reason)" '"--reads=helper"' "  and why"
trace query >"$TMP/query"
like "$(cat "$TMP/query")" ', memory is read by helper \(--reads=helper\)' \
	"  as text, too"
records helper
is "$(grep -c 'text some text' "$TMP/helper")" 100 "  a record of each call"

status 0 "as the kernel allows" trace on "$TDF"
reads=$(session reads) reason=$(session reads_reason)
trace query >"$TMP/query"
records auto
is "$(diff "$TMP/helper" "$TMP/auto")" "" "  the same records"
if [ "$reads" = '"direct"' ]; then
	is "$reason" null "directly: without a reason why not"
	like "$(cat "$TMP/query")" ', memory is read directly' "  as text, too"
	status 0 "  it can be asked for" trace on --reads=direct "$TDF"
	is "$(session reads)" '"direct"' "  and is done"
	records direct
	is "$(diff "$TMP/helper" "$TMP/direct")" "" "  the same records"
else
	is "$reads" '"helper"' "by helper, because of $reason"
	like "$(cat "$TMP/query")" ', memory is read by helper' "  as text, too"
	status 1 "  it can't be asked for" trace on --reads=direct "$TDF"
	why=${reason#\"}
	is "$(grep -cF "memory cannot be read directly: ${why%\"}" "$TMP/err")" 1 \
		"  it says why"
	is "$(session reads)" "" "  nothing is armed"
fi

# Nothing is read: neither way
make_many 1
status 0 "registers alone" trace on --reads=direct "$TMP/many.tdf"
is "$(session reads)" null "  no memory is read"
trace off --all
tap_done
