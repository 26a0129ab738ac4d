#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# HACKING's pictures hold: a folder includes only folders of lower layers, a stage
# only earlier stages, in bpf the one before; files do not call each other in
# circles, a header declares functions of its own .c file only, and names are unique.
. "$(dirname "$0")/../tap.sh"
need_tree
cd "$TOP" || exit 1
need awk tsort nm

# The layers, "ROW FOLDER", from the highest row to the lowest
sed -n '/^The layers$/,/^Where to make/p' HACKING >"$TMP/section"
awk '/^    programs / { shown = 1 } !NF { shown = 0 }
	shown { row++; for (i = 2; i <= NF; i++) print row, $i }' \
	"$TMP/section" >"$TMP/layers"
ok "HACKING has a picture of the layers" test -s "$TMP/layers"
# The stages, "FOLDER NUMBER STAGE"; stages with a comma have the same number
awk '/^Subfolders are/, /^The way/ {
	if (/^    [^ ].* -> /) { folder = $1; n = 1; first = 2 }
	else if (/^                    [^ ]/ && folder) first = 1
	else { folder = ""; next }
	for (i = first; i <= NF; i++)
		if ($i == "->") n++
		else { stage = $i; sub(/,$/, "", stage); print folder, n, stage }
	}' "$TMP/section" >"$TMP/stages"
ok "and the stages of folders" test -s "$TMP/stages"

# "FILE INCLUDED" for each of our headers that a file includes
find usr bpf -name '*.[ch]' | sort | xargs awk '
	function normal(path,   n, i, part, out, k) {
		n = split(path, part, "/")
		for (i = 1; i <= n; i++)
			if (part[i] == "..") k--
			else out[++k] = part[i]
		path = out[1]
		for (i = 2; i <= k; i++) path = path "/" out[i]
		return path
	}
	/^ *# *include "/ {
		split($0, quoted, "\"")
		folder = FILENAME
		sub(/\/[^\/]*$/, "", folder)
		print FILENAME, normal(folder "/" quoted[2])
		print FILENAME, "usr/" quoted[2]
		print FILENAME, quoted[2]
	}' >"$TMP/candidates"
find usr bpf include -name '*.h' >"$TMP/headers"
awk 'NR == FNR { header[$1]; next } $2 in header' "$TMP/headers" \
	"$TMP/candidates" | sort -u >"$TMP/includes"
ok "files include headers" test -s "$TMP/includes"

# shellcheck disable=SC2016
crossed='
function last_of(path) { sub(/.*\//, "", path); return path }
function folder_of(path) { sub(/\/[^\/]*$/, "", path); return path }
# the longest folder of the picture that has the path in it
function layer_of(path,   folder) {
	for (folder = folder_of(path); folder != ""; ) {
		if (folder in row) return folder
		if (!sub(/\/[^\/]*$/, "", folder)) break
	}
	return ""
}
function stage_of(path, layer,   rest) {
	rest = substr(folder_of(path), length(layer) + 2)
	return rest == "" ? "files" : rest
}
FILENAME == ARGV[1] { row[$2] = $1; next }
FILENAME == ARGV[2] { stage[$1, $3] = $2; staged[$1]; next }
/portable|lib\/static|librastrace/ { next }
# the public header of a folder
$1 == folder_of($1) "/" last_of(folder_of($1)) ".h" { next }
{
	from = layer_of($1); to = layer_of($2)
	if (from == "" || to == "")
		print $1 ": not in the picture"
	else if (from != to) {
		if (row[from] >= row[to]) print $1 ": includes " $2
	} else if (from in staged && folder_of($1) != folder_of($2)) {
		a = stage_of($1, from); b = stage_of($2, from)
		if (!((from, a) in stage)) print $1 ": no such stage: " a
		else if (!((from, b) in stage)) print $2 ": no such stage: " b
		else if (stage[from, a] <= stage[from, b] || (from == "bpf" &&
			 a != "files" && stage[from, a] > stage[from, b] + 1))
			print $1 ": includes " $2
	} else if (folder_of($1) != folder_of($2) && from != "usr/lib")
		print $1 ": stages of " from " are not in HACKING"
}'
is "$(awk "$crossed" "$TMP/layers" "$TMP/stages" "$TMP/includes")" "" \
	"files include only lower layers and earlier stages"
while read -r _ folder; do
	[ -d "$folder" ] || echo "$folder"
done <"$TMP/layers" >"$TMP/gone"
while read -r folder _ stage; do
	[ "$stage" = files ] || [ -d "$folder/$stage" ] || echo "$folder/$stage"
done <"$TMP/stages" >>"$TMP/gone"
is "$(cat "$TMP/gone")" "" "the folders of the pictures exist"

# Circles: by the symbols of the object files, calls and data alike
find build/obj -name '*.o' 2>/dev/null | sort >"$TMP/objects"
if [ -s "$TMP/objects" ]; then
	xargs nm -A -P <"$TMP/objects" | awk '
		{
			object = $1
			sub(/^build\/obj\//, "", object)
			sub(/\.o:?$/, "", object)
			if ($3 == "U") used[object, $2]
			else if ($3 ~ /^[TDRBVWC]$/) owner[$2] = object
		}
		END {
			for (key in used) {
				split(key, part, SUBSEP)
				to = owner[part[2]]
				if (to == "" || to == part[1]) continue
				print part[1], to
			}
		}' | sort -u >"$TMP/calls"
	ok "files call each other" test -s "$TMP/calls"
	tsort "$TMP/calls" 2>"$TMP/circles" >/dev/null
	is "$(sed 's/^tsort: //' "$TMP/circles")" "" "but not in circles"
else
	skip "files do not call each other in circles" "nothing is built"
fi

# Functions: "NAME FILE LINE"
find include usr bpf kmod -name '*.[ch]' | sort | xargs awk '
	FNR == 1 { head = "" }
	/^[a-zA-Z_].*\(/ && !/;[ \t]*$/ && !/^(else|for|if|while)/ { head = $0 }
	/^{/ && head != "" {
		name = head
		sub(/\(.*/, "", name)
		sub(/.*[ \t*]/, "", name)
		print name, FILENAME
		head = ""
	}
	/[;}][ \t]*$/ && /^[^ \t]/ { head = "" }' | grep -v '^main ' |
	sort -u >"$TMP/functions"
ok "the tree has functions" test -s "$TMP/functions"
twins() {
	grep -vE ' usr/(tracefmt/portable|lib/static)/' "$1" |
		awk '{ files[$1] = files[$1] " " $2; n[$1]++ }
		END { for (name in n) if (n[name] > 1) print name ":" files[name] }' |
		sort
}
is "$(twins "$TMP/functions")" "" "a function's name is used once"
find include usr bpf kmod -name '*.[ch]' | sort | xargs awk '
	/^(struct|union|enum) [a-z0-9_]+ \{/ { print $1 "-" $2, FILENAME }' |
	sort -u >"$TMP/tags"
is "$(twins "$TMP/tags")" "" "and so is the tag of a structure"

# What a header declares, its own .c file defines. These folders have headers for
# several files.
several='usr/heapmon/|bpf/place/pass'
find usr bpf -name '*.h' | grep -vE "^($several)" | sort | while read -r header; do
	[ -e "${header%.h}.c" ] || continue
	awk -v header="$header" '
		NR == FNR {
			file = $2
			sub(/[ch]$/, "h", file)
			if (file == header) mine[$1]; else other[$1] = $2
			next
		}
		/^[a-zA-Z].*\(/ && !/^(static|typedef|struct [a-z_]+ \{|__)/ {
			name = $0
			sub(/\(.*/, "", name)
			sub(/.*[ \t*]/, "", name)
			if (!(name in mine) && name in other)
				print FILENAME ": " name "() is in " other[name]
		}' "$TMP/functions" "$header"
done >"$TMP/foreign"
is "$(cat "$TMP/foreign")" "" "a header declares what its own file defines"
tap_done
