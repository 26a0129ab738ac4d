#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# HACKING's maps of trcust and tracefmt have all of their files, and nothing that
# isn't there; no stage includes headers of a later one; files that its recipes
# name are there.
. "$(dirname "$0")/../tap.sh"
cd "$TOP" || exit 1

# covered NAME
covered() {
	while read -r pattern; do
		# shellcheck disable=SC2254
		case $1 in $pattern) return 0 ;; esac
	done <"$TMP/map"
	return 1
}

# later FOLDERS...: lines that include what stands behind them
later() {
	while [ $# -gt 1 ]; do
		folder=$1
		shift
		for behind; do
			grep -n "include \"\.\./$behind/" \
				"$dir/$folder"/*.[ch]
		done
	done
	grep -n 'include "\.\./[^/]*"' "$dir"/*/*.[ch] | grep -v /portable/
}

# map PROGRAM NEXT: its section, which the section NEXT follows
map() {
	program=$1 dir=usr/$1
	sed -n "/^$1\$/,/^$2\$/p" HACKING >"$TMP/section"
	sed -nE 's/^    ([a-z][^ ].*)/\1/p' "$TMP/section" |
		sed 's/   .*//' | tr -s ', ' '\n' | grep . >"$TMP/map"
	for file in "$dir"/*.c "$dir"/*/*.c; do
		name=$(basename "$file" .c)
		covered "$name" || echo "$file"
	done >"$TMP/missing"
	is "$(cat "$TMP/missing")" "" "the map of $program has every file"
	while read -r pattern; do
		# shellcheck disable=SC2046,SC2086,SC2012
		set -- $(ls $dir/$pattern.[ch] $dir/*/$pattern.[ch] 2>/dev/null)
		[ "$1" ] || echo "$pattern"
	done <"$TMP/map" >"$TMP/gone"
	is "$(cat "$TMP/gone")" "" "and every file of the map is there: $program"
	stages=$(sed -n 's,^\([a-z]*\)/$,\1,p' "$TMP/section")
	for stage in "$dir"/*/; do
		stage=$(basename "$stage")
		echo "$stages" | grep -qx "$stage" || echo "$stage"
	done | grep -vx portable >"$TMP/missing"
	is "$(cat "$TMP/missing")" "" "and every folder: $program"
	# shellcheck disable=SC2086
	is "$(later $stages)" "" "no stage includes a later one: $program"
}

map trcust tracefmt
map tracefmt "Build and test"

sed -n '/^Recipes$/,$p' HACKING |
	grep -oE '(usr|bpf|include|selftests|scripts)/[A-Za-z0-9_./-]*\.(c|h|def|sh|[1-8])' |
	sort -u | grep -v NAME >"$TMP/named"
ok "the recipes name files" test -s "$TMP/named"
while read -r file; do
	[ -e "$file" ] || echo "$file"
done <"$TMP/named" >"$TMP/gone"
is "$(cat "$TMP/gone")" "" "that are there"
tap_done
