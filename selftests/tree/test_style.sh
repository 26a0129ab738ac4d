#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What holds for every file of the tree. find, not git: sudo's git refuses
# another user's clone.
. "$(dirname "$0")/../tap.sh"
cd "$TOP" || exit 1

find . \( -name .git -o -name build \) -prune -o -type f -print |
	sed 's,^\./,,' >"$TMP/files"

# none NAME: nothing was found
none() {
	ok "$1" test ! -s "$TMP/found" || diag_file "$TMP/found"
}

grep -E '\.([ch]|def|sh|mk)$|Makefile$|Kbuild$|^(scripts|demo|bench)/|^\.ci/' \
	"$TMP/files" | grep -vE '\.(tsf|md|txt)$' >"$TMP/code"
xargs awk 'FNR < 4 && /SPDX-License-Identifier: GPL-2\.0/ { print FILENAME }' \
	<"$TMP/code" | grep -vxF -f - "$TMP/code" >"$TMP/found"
none "source files name their licence on top"

xargs grep -nIE '\b(T[O]DO\b|FIX[M]E\b|X[X]X[: ])' <"$TMP/files" \
	>"$TMP/found"
none "no marks of unfinished work"
xargs grep -nIE '(^|[^A-Za-z0-9._-])/(w[o]rk|ro[o]t|ho[m]e/[a-z]+)/' \
	<"$TMP/files" >"$TMP/found"
none "no paths of one machine"
xargs grep -nIE '[ 	]+$' <"$TMP/code" >"$TMP/found"
none "no blanks at line ends"
grep '\.[ch]$' "$TMP/files" | xargs awk '
	length < 13 || /"/ { next }
	{
		line = $0
		while ((tab = index(line, "\t")))
			line = substr(line, 1, tab - 1) substr("        ", \
				(tab - 1) % 8 + 1) substr(line, tab + 1)
	}
	length(line) > 100 {
		print FILENAME ":" FNR ": " length(line) " columns"
	}' >"$TMP/found"
none "no line of C is longer than 100 columns, texts excepted"

for folder in selftests/*/; do
	[ -e "$folder/Makefile" ] || echo "$folder"
done >"$TMP/found"
none "every folder of selftests has a Makefile"
find selftests -name 'test_*.sh' ! -perm -100 -o \
	-name 'live_*.sh' ! -perm -100 >"$TMP/found"
none "shell tests are executable"

if command -v shellcheck >/dev/null; then
	xargs awk 'FNR == 1 && /^#!\/bin\/sh/ { print FILENAME }' \
		<"$TMP/code" >"$TMP/scripts"
	ok "shellcheck" xargs shellcheck -S warning -e SC1090,SC1091 \
		<"$TMP/scripts"
else
	skip "shellcheck" "not installed"
fi

if command -v codespell >/dev/null; then
	grep -vE '^COPYING$|/corpus/' "$TMP/files" >"$TMP/texts"
	ok "codespell" xargs codespell -q 3 -L creat,mis,fo,ba,te,nd,alls,ser,statics \
		<"$TMP/texts"
else
	skip "codespell" "not installed"
fi
tap_done
