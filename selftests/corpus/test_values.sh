#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# At thousands of addresses of optimized programs, the values that trcust's
# expressions yield are those that gdb prints at the same stop; and how many of
# those that gdb has trcust has, too. PERF=1: beside perf probe's share.
# SHOW=gdb-only (or another class of compare.py) prints the pairs. Some of the
# programs: CORPUS='*gcc -O2 -g'; fewer addresses in each: POINTS=200. More of both
# when $LONG is set.
. "$(dirname "$0")/../tap.sh"
need gdb objdump gcc clang g++ clang++
here=$TOP/selftests/corpus
builds=$TOP/build/selftests/corpus
sources=$("$TOP/scripts/corpus" --sources lua minigzip xmltest \
	2>"$TMP/err") || {
	diag_file "$TMP/err"
	skip_all "needs the sources of lua, zlib and tinyxml2 from Debian"
}
cp -r "$sources/tinyxml2/resources" "$TMP" || bail "no resources"
cd "$TMP" || exit 1

# corpus POINTS PROGRAM COMPILER FLAGS...: fills $TMP/report
corpus() {
	points=$1
	shift
	rm -f "$TMP/report"
	program=$("$TOP/scripts/corpus" "$1" "$builds" "$2" "$3" "$4" \
		${5:+"$5"} 2>"$TMP/err") || return
	case $1 in
	lua)		arguments=$here/workload.lua ;;
	minigzip)	arguments="-c $sources/lua5.4/src/lvm.c" ;;
	*)		arguments= ;;
	esac
	TRCUST=$BIN/trcust SCRATCH=$TMP ARGUMENTS=$arguments POINTS=$points \
		REPORT=$TMP/report \
		gdb -nx -batch -x "$here/compare.py" "$program" \
		>"$TMP/out" 2>"$TMP/err" && [ -s "$TMP/report" ]
}

# number CLASS WHERE
number() {
	awk -v key="$1 $2" '$1 " " $2 == key { n = $3 } END { print n + 0 }' \
		"$TMP/report"
}

# share WHERE LEAST: per cent of the values that gdb has, with all figures
share() {
	equal=$(number equal "$1") theirs=$(number gdb-only "$1")
	[ $((equal + theirs)) -gt 0 ] || {
		not_ok "$what, $1: there are values"
		return
	}
	percent=$((1000 * equal / (equal + theirs)))
	figures="equal $equal, gdb-only $theirs, ours-only $(number \
		ours-only "$1"), neither $(number neither "$1"), early $(number early "$1")"
	[ "${PERF-}" = 1 ] && figures="$figures, perf probe $((1000 * \
		$(number perf "$1") / (equal + theirs)))/1000"
	diag "$what, $1: $percent/1000 of gdb's: $figures"
	ok "$what, $1: at least $2/1000 of what gdb has" \
		test "$percent" -ge "$2"
}

# compare POINTS ENTRY INSIDE PROGRAM COMPILER FLAGS...: the least shares
compare() {
	points=${POINTS:-$1} entry=$2 inside=$3
	shift 3
	what=$*
	# shellcheck disable=SC2254
	case $what in
	${CORPUS:-*})	;;
	*)	return ;;
	esac
	corpus "$points" "$@" || {
		not_ok "$what: was compared"
		diag_file "$TMP/err" "$TMP/out"
		return
	}
	is "$(grep ^UNEQUAL "$TMP/out")" "" "$what: no value is another one"
	ok "$what: enough values were compared" \
		test $(($(number equal entry) + $(number equal inside))) \
		-ge "$points"
	share entry "$entry"
	share inside "$inside"
	sed -n '/^why/s/^why/# /p' "$TMP/report" | head -n 4
	[ -n "${SHOW-}" ] && grep "^$SHOW" "$TMP/out" | diag_file
}

many=${LONG:+1500}
compare "${many:-600}" 950 970 lua gcc -O2 -g
[ -z "$many" ] || compare "$many" 950 970 lua clang -O2 -g
[ -z "$many" ] || compare 600 950 970 lua gcc -O2 -gdwarf-4
compare 600 990 990 minigzip clang -O0 -g
[ -z "$many" ] || compare 600 950 970 minigzip gcc -O2 -g -flto
compare 600 930 970 xmltest gcc -O2 -g
[ -z "$many" ] || compare 600 930 970 xmltest clang -O2 -g

# a comparison that can't fail would prove nothing
what="corrupted values"
CORRUPT=1
export CORRUPT
ok "$what: were compared" corpus 100 lua gcc -O2 -g
is "$(number equal inside)" 0 "$what: none is equal"
ok "$what: are found" test "$(number unequal inside)" -gt 50
tap_done
