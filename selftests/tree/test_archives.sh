#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A program may be linked with the parts of others: no two of them have a function
# of the same name, of which the linker would take whichever comes first.
. "$(dirname "$0")/../tap.sh"
need_tree
need nm

for name in lib trcust trace tracefmt heapmon; do
	archive=$TOP/build/$name.a
	nm -g --defined-only "$archive" 2>/dev/null |
		awk -v name="${archive##*/}" 'NF == 3 { print $3, name }'
done | sort >"$TMP/symbols"
ok "archives have symbols" test -s "$TMP/symbols"
is "$(awk '$1 == last { print $1, where, $2 } { last = $1; where = $2 }' \
	"$TMP/symbols")" "" "none twice"
tap_done
