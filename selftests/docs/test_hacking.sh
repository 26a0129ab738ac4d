#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# HACKING names every folder, and only files that exist; its recipe for processors
# names every file that knows a machine. test_layers.sh checks its pictures.
. "$(dirname "$0")/../tap.sh"
need_tree
cd "$TOP" || exit 1

is "$(awk 'END { print (NR <= 520) }' HACKING)" 1 "HACKING has at most 520 lines"

for folder in */ usr/*/; do
	case $folder in build/ | usr/) continue ;; esac
	grep -qE "(^|[ (])${folder%/}([ /,.(]|$)" HACKING || echo "$folder"
done >"$TMP/missing"
is "$(cat "$TMP/missing")" "" "HACKING names every folder"

sed -n '/^Where to make a change$/,$p' HACKING |
	grep -oE '(usr|bpf|include|kmod|selftests|scripts)/[A-Za-z0-9_./-]*\.(c|h|def|sh|[1-8])\b' |
	sort -u | grep -v NAME >"$TMP/named"
ok "the recipes name files" test -s "$TMP/named"
while read -r file; do
	[ -e "$file" ] || echo "$file"
done <"$TMP/named" >"$TMP/gone"
is "$(cat "$TMP/gone")" "" "and these exist"

sed -n '/^Where to make a change$/,/^Build and test$/p' HACKING |
	sed -n 's/^    .* \([a-z]*\/[^ ]*\)$/\1/p' | grep -v NAME >"$TMP/places"
ok "the table of changes names files" test -s "$TMP/places"
while read -r file; do
	[ -e "${file%,}" ] || echo "$file"
done <"$TMP/places" >"$TMP/gone"
is "$(cat "$TMP/gone")" "" "that exist"

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
	grep -vxE 'usr/lib/(hash\.c|text\.h)' >"$TMP/missing"
is "$(cat "$TMP/missing")" "" "all that know a machine are in 'Add a processor'"
tap_done
