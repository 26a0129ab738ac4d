#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The instructions of each kind of body are those of body_golden.txt: their
# number and checksum. What differs is found by `body_dump NAME`, of the tree
# before the change and of this one. After a change that is meant:
# UPDATE=1 test_body_golden.sh
. "$(dirname "$0")/../tap.sh"
here=$(cd "$(dirname "$0")" && pwd)
dump=$TOP/build/selftests/bpf/body_dump
"$dump" >"$TMP/all" || bail "body_dump: status $?"
sed -n 's/^\([a-z_]*\): \([0-9]* instructions.*\)/\1 \2/p' "$TMP/all" >"$TMP/heads"
while read -r name head; do
	"$dump" "$name" >"$TMP/body"
	echo "$name: $head, checksum $(cksum <"$TMP/body" | cut -d ' ' -f 1)"
done <"$TMP/heads" >"$TMP/got"
[ -z "${UPDATE:-}" ] || cp "$TMP/got" "$here/body_golden.txt"
while read -r line; do
	name=${line%%:*}
	is "$(grep "^$name: " "$TMP/got")" "$line" "$name"
done <"$here/body_golden.txt"
is "$(wc -l <"$TMP/got")" "$(wc -l <"$here/body_golden.txt")" "there are no others"
unlike "$(cat "$TMP/all")" 'map\[fd:(0|-1)\]' "each map is one of the target's"
tap_done
