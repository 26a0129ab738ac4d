#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# HACKING's map of trcust has all of its files, and nothing that isn't there;
# files that its recipes name are there.
. "$(dirname "$0")/../tap.sh"
cd "$TOP" || exit 1

sed -n '/^trcust$/,/^Build and test$/p' HACKING |
	sed -nE 's/^    ([a-z][^ ].*)/\1/p' | sed 's/   .*//' |
	tr -s ', ' '\n' | grep . >"$TMP/map"
for file in usr/trcust/*.c usr/trcust/*/*.c; do
	basename "$file" .c
done >"$TMP/files"

# covered NAME
covered() {
	while read -r pattern; do
		# shellcheck disable=SC2254
		case $1 in $pattern) return 0 ;; esac
	done <"$TMP/map"
	return 1
}

while read -r name; do
	covered "$name" || echo "$name"
done <"$TMP/files" >"$TMP/missing"
is "$(cat "$TMP/missing")" "" "the map of trcust has every file"
while read -r pattern; do
	# shellcheck disable=SC2046,SC2086,SC2012
	set -- $(ls usr/trcust/$pattern.[ch] usr/trcust/*/$pattern.[ch] 2>/dev/null)
	[ "$1" ] || echo "$pattern"
done <"$TMP/map" >"$TMP/gone"
is "$(cat "$TMP/gone")" "" "and every file of the map is there"

sed -n '/^Recipes$/,$p' HACKING |
	grep -oE '(usr|bpf|include|selftests|scripts)/[A-Za-z0-9_./-]*\.(c|h|def|sh|[1-8])' |
	sort -u | grep -v NAME >"$TMP/named"
ok "the recipes name files" test -s "$TMP/named"
while read -r file; do
	[ -e "$file" ] || echo "$file"
done <"$TMP/named" >"$TMP/gone"
is "$(cat "$TMP/gone")" "" "that are there"
tap_done
