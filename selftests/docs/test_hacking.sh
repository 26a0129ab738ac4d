#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# HACKING's map of the tree has all folders, and of two of them all files; those
# of lib, bpf and the programs have all of their files, and nothing that isn't
# there; no stage includes headers of a later one (portable/ and static/ have what
# takes another file's place); files that its recipes name are there; and its
# recipe for processors has all that know one.
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

# later FOLDERS...: lines that include what stands behind them; the files beside
# the folders are the last stage, or the first where the map begins with them
later() {
	while [ $# -gt 1 ]; do
		folder=$1
		shift
		for behind; do
			grep -n "include \"\.\./$behind/" \
				"$dir/$folder"/*.[ch]
		done
	done
	if [ "$(grep -m 1 -xE '[a-z]+/|[a-z/]+ itself' "$TMP/section")" = \
		"$dir itself" ]; then
		grep -nH 'include "[^./]*/' "$dir"/*.[ch]
	else
		grep -nH 'include "\.\./[^/]*"' "$dir"/*/*.[ch] 2>/dev/null |
			grep -vE '/(portable|static)/'
	fi
}

# map PROGRAM NEXT: its section, which the section NEXT follows
map() {
	program=$1 dir=usr/$1
	[ -d "$dir" ] || dir=$1
	sed -n "/^$1\$/,/^$2\$/p" HACKING >"$TMP/section"
	sed -nE 's/^    ([a-z][^ ].*)/\1/p' "$TMP/section" |
		sed 's/   .*//' | tr -s ', ' '\n' | grep . >"$TMP/map"
	for file in "$dir"/*.c "$dir"/*/*.c; do
		[ -e "$file" ] || continue
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
		[ -d "$stage" ] || continue
		stage=$(basename "$stage")
		echo "$stages" | grep -qx "$stage" || echo "$stage"
	done | grep -vxE 'portable|static' >"$TMP/missing"
	is "$(cat "$TMP/missing")" "" "and every folder: $program"
	# shellcheck disable=SC2086
	is "$(later $stages)" "" "no stage includes a later one: $program"
}

# tree FOLDER: its entry in the map of the tree
tree() {
	sed -n '/^The tree$/,/^The way of the data/p' HACKING |
		awk -v folder="$1/" '/^    [a-z.]/ { mine = $1 == folder } mine' |
		grep -oE '[a-z0-9_*-]+\.(c|h|def)\b' >"$TMP/map"
	for file in "$1"/*.c "$1"/*.h "$1"/*.def; do
		case $file in
		*'*'* | usr/*.h | kmod/*.h) continue ;;
		esac
		covered "${file##*/}" || echo "$file"
	done >"$TMP/missing"
	is "$(cat "$TMP/missing")" "" "the map of the tree has every file of $1"
	while read -r pattern; do
		# shellcheck disable=SC2086
		ls "$1"/$pattern >/dev/null 2>&1 || echo "$pattern"
	done <"$TMP/map" >"$TMP/gone"
	is "$(cat "$TMP/gone")" "" "and every file there is one of $1"
}

for folder in include/rastrace kmod; do
	tree $folder
done
for folder in */ usr/*/; do
	case $folder in build/ | include/ | usr/) continue ;; esac
	grep -q "^    $folder" HACKING || echo "$folder"
done >"$TMP/missing"
is "$(cat "$TMP/missing")" "" "the map of the tree has every folder"

map lib trcust
map trcust bpf
map bpf trace
map trace tracefmt
map tracefmt heapmon
map heapmon "Build and test"

sed -n '/^Recipes$/,$p' HACKING |
	grep -oE '(usr|bpf|include|kmod|selftests|scripts)/[A-Za-z0-9_./-]*\.(c|h|def|sh|[1-8])' |
	sort -u | grep -v NAME >"$TMP/named"
ok "the recipes name files" test -s "$TMP/named"
while read -r file; do
	[ -e "$file" ] || echo "$file"
done <"$TMP/named" >"$TMP/gone"
is "$(cat "$TMP/gone")" "" "that are there"

# What differs by machine is where the recipe says; what the compiler's vectors
# only make faster is left out.
machines='\<(EM_(X86_64|386|AARCH64)|CONFIG_(X86_[A-Z0-9_]*|ARM64)|'
machines="$machines"'__(x86_64|i386|aarch64)__)\>'
grep -rlE --include='*.[chS]' "$machines" usr bpf kmod include >"$TMP/known"
ok "files that name machines" test -s "$TMP/known"
sed -n '/^Add a processor$/,/^Add an RPN/p' HACKING |
	grep -oE '(usr|bpf|kmod)/[A-Za-z0-9_./]*\.[chS]' |
	sort -u >"$TMP/recipe"
grep -vxFf "$TMP/recipe" "$TMP/known" |
	grep -vE '(arch|entry|vmcore)_(x86|a64)[a-z_]*\.[ch]$' |
	grep -vxE 'usr/(lib/hash\.c|tracefmt/format/text\.h)' >"$TMP/missing"
is "$(cat "$TMP/missing")" "" "no others know one than 'Add a processor' has"
tap_done
