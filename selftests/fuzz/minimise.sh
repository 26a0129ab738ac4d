#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# minimise.sh FOLDER NAME...: takes of what search.sh found into the corpus what
# leads to code that nothing in there leads to, most code per byte first, 4 KiB
# for each target at most; and of those taken before, which have no name of their
# own, throws away what has become superfluous.

folder=$1
shift
corpus=$(dirname "$0")/corpus
most=4096
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# What libFuzzer's merge notes: files in the order they were looked at, seeds
# first, and for each what it was the first to reach.
new_code() {
	awk '
	/^STARTED/	{ size[$2] = $3 }
	/^COV/		{ code[$2] = NF - 2 }
	/^[0-9]+$/ && NR == 1	{ count = $1 }
	/^[0-9]+$/ && NR == 2	{ seeds = $1 }
	NR > 2 && NR <= 2 + count	{ path[NR - 3] = $0 }
	END {
		for (i = seeds; i < count; i++)
			if (code[i])
				printf "%f %d %s\n", code[i] / (size[i] + 1),
					size[i], path[i]
	}' "$work/control" | sort -rn
}

take() {
	target=$1 total=0
	new_code | while read -r _ size path; do
		[ $((total + size)) -le $most ] || continue
		total=$((total + size))
		name=$(sha1sum <"$path" | cut -c 1-8)
		cp "$path" "$corpus/$target/reach-$name"
	done
}

for name; do
	mkdir -p "$work/named" "$work/found"
	for file in "$corpus/$name"/*; do
		case $file in
		*/reach-*) mv "$file" "$work/found" ;;
		*) cp "$file" "$work/named" ;;
		esac
	done
	cp "$folder/found/$name"/* "$work/found" 2>/dev/null
	rm -f "$work/control"
	"$folder/fuzz_$name" -merge=1 -merge_control_file="$work/control" \
		"$work/named" "$work/found" >"$work/log" 2>&1 || {
		cat "$work/log"
		exit 1
	}
	take "$name"
	printf '%-12s %s\n' "$name" "$(du -bs "$corpus/$name" | cut -f 1)"
	rm -rf "$work/named" "$work/found"
done
