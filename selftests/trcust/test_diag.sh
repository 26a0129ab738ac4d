#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every message of trcust is where it should be, and costs what it should.
#
# diag/NAME.tsf (or NAME.VARIANT.tsf, or a .sh that prints one) must raise
# TRCERR_NAME. ^{NAME} in the input marks the place of a message, ^{:NAME} a
# message without a place; the markers are taken out, then trcust is run with
# input.tsf. It must raise exactly what is marked. Tracepoints described as
# "kept ..." must be in the format file, those described as "gone ..." must
# not. The module is module.so, with the functions and data of module.c.
#
# A .sh may make what it needs, and two files: `run`, a script that runs trcust
# in another way, and `status`, the exit status that is expected then (without
# one as for any TSF).
. "$(dirname "$0")/../tap.sh"
need cc
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
cc -O2 -g -shared -fPIC -nostdlib -o module.so "$here/diag/module.c" ||
	bail "the module of the tests does not compile"

# shellcheck disable=SC2016
unmark='{
	line = ""
	rest = $0
	while (match(rest, /\^\{:?[A-Z0-9_]+\}/)) {
		name = substr(rest, RSTART + 2, RLENGTH - 3)
		line = line substr(rest, 1, RSTART - 1)
		rest = substr(rest, RSTART + RLENGTH)
		place = name ~ /^:/ ? ":" name : \
			NR ":" length(line) + 1 ":" name
		print place >expected
	}
	printf "%s%s", (NR > 1 ? "\n" : ""), line rest
}'

# Lines "line:column:NAME"; "::NAME" without a place
# shellcheck disable=SC2016
raised='/^[^ ].* \[TRCERR_[A-Z0-9_]+\]$/ {
	name = $NF
	gsub(/^\[TRCERR_|\]$/, "", name)
	n = split($1, place, ":")
	print (n == 4 ? place[2] ":" place[3] : ":") ":" name
}'

# The caret is below the column that the message names.
# shellcheck disable=SC2016
misplaced='/^[^ ].*:[0-9]+:[0-9]+: .* \[TRCERR_[A-Z0-9_]+\]$/ {
	split($1, place, ":")
	message = $0
	getline source
	getline caret
	column = index(caret, "^") - 8
	if (source !~ /^ *[0-9]+ \| / || caret !~ /^      \| /)
		print "no source line: " message
	else if (source !~ /[^ -~\t]|\| \.\.\.|\.\.\.$/ && column != place[3])
		print "caret in column " column ": " message
}'

# "ignored" means the tracepoint where that is written, else what is named.
# shellcheck disable=SC2016
misjudged='function judge() {
	if (said && point[line] && (said == "point") != (fate[point[line]] == "gone"))
		print "line " line " is " fate[point[line]] ": " message
	said = ""
}
FNR == NR {
	if (/^[ \t]*TRACE/)
		points++
	if (match($0, /DESC="(kept|gone)/))
		fate[points] = substr($0, RSTART + 6, 4)
	point[NR] = points
	next
}
/^[^ ].* \[TRCERR_[A-Z0-9_]+\]$/ {
	judge()
	split($1, place, ":")
	line = place[2]
	message = $0
	said = / error: .*tracepoint ignored \[/ ? "point" : \
		/ error: .*ignored \[/ ? "item" : ""
}
/^      \| the whole tracepoint is ignored$/ { said = said ? "point" : "?" }
END { judge() }'

outcome() {
	if grep -Eq ': (fatal|severe): ' err; then
		echo aborted
	elif grep -q ': error: ' err; then
		echo errors
	else
		echo warnings
	fi
}

# What was written, by the descriptions in it. Nothing is, after a fatal or
# severe message and where no description says "kept".
written_as_said() {
	if [ -f status ]; then
		test "$1" -eq "$(cat status)"
		return
	fi
	grep -Eo 'DESC="kept[^"]*' input.tsf | cut -c 7- >kept
	if [ "$(outcome)" = aborted ] || [ ! -s kept ]; then
		test "$1" -eq 1 && test -z "$(ls ./*.TFF ./*.tdf 2>/dev/null)"
		return
	fi
	test "$1" -eq "$([ "$(outcome)" = errors ]; echo $((! $?)))" || return 1
	while read -r desc; do
		grep -Fq "$desc" ./*.TFF || return 1
	done <kept
	! grep -aq gone ./*.TFF
}

run_case() {
	case=$(basename "$1")
	name=${case%%.*}
	rm -rf ./*.TFF ./*.tdf input.tsf expected run status d
	mkdir d
	: >expected
	case $1 in
	*.sh) sh "$1" ;;
	*) cat "$1" ;;
	esac | awk -v expected=expected "$unmark" >input.tsf
	status=0
	if [ -f run ]; then
		sh ./run >out 2>err || status=$?
	else
		"$BIN/trcust" input.tsf >out 2>err || status=$?
	fi
	awk "$raised" err | sort >got
	# elsewhere it is the compiler's choice
	[ "$name" = SLOWSITE ] || sed -i '/:SLOWSITE$/d' got
	sort -o expected expected
	is "$(cat got)" "$(cat expected)" "$case: what is marked is raised" ||
		diag_file err
	ok "$case: the file is named by a message in it" \
		grep -q ":$name\$" expected
	is "$(awk "$misplaced" err)" "" "$case: carets"
	is "$(awk "$misjudged" input.tsf err)" "" "$case: what is ignored"
	ok "$case: exit status $status and files" written_as_said $status ||
		diag_file err
}

for file in "$here"/diag/*.tsf "$here"/diag/*.sh; do
	case ${SANITIZED-}$file in
	1*/NO_MEM.sh)
		skip NO_MEM.sh "sanitizers take more memory than that" ;;
	*)	run_case "$file" ;;
	esac
done

# Every message of the table has a file.
sed -nE 's/^DIAG\([A-Z]+, ([A-Z0-9_]+),$/\1/p' \
	"$TOP/include/rastrace/diag.def" | sort >table
(cd "$here/diag" && ls ./*.tsf ./*.sh) |
	sed -E 's,^\./([A-Z0-9_]+)\..*,\1,' | sort -u >covered
is "$(comm -3 covered table)" "" \
	"$(($(comm -13 covered table | wc -l))) messages without a test"
tap_done
