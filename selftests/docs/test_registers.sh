#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# tsf(5) has the registers of each processor, by their widths, that the tables
# have, and no others.
. "$(dirname "$0")/../tap.sh"
need_tree

# page HEADING: "BYTES NAME" of the list after that line, X0 to X30 in full
page() {
	sed -n "/^$1:\$/,/^\.El/p" "$TOP/usr/man/tsf.5" |
		sed -n 's/^\.It \([0-9]\) Ta /\1 /p' |
		awk '{
			gsub(/,|which is [A-Z0-9]*/, " ")
			for (i = 2; i <= NF; i++) {
				if ($i != "to") {
					print $1, $i
					continue
				}
				letter = substr($(i - 1), 1, 1)
				last = substr($(++i), 2) + 0
				for (n = substr($(i - 2), 2) + 1; n <= last; n++)
					print $1, letter n
			}
		}' | sort
}

# table FILE: the same, of what has a name in a TSF
table() {
	sed -n 's/^RAS_REG(\([A-Z0-9]*\), *\([0-9]*\),.* \([A-Z]*\))$/\2 \1 \3/p' \
		"$TOP/include/rastrace/$1" |
		awk '$3 != "BASE" { print $1, $2 }' | sort
}

for processor in "On x86:arch-x86.def" "On AArch64:arch-a64.def"; do
	file=${processor#*:}
	ok "$file has registers" test -n "$(table "$file")"
	is "$(page "${processor%%:*}")" "$(table "$file")" \
		"those of $file are in tsf(5)"
done
tap_done
