#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs the selftests and counts their TAP points. POSIX sh and busybox, as it
# runs in the guests of scripts/vm, too.
# A folder's `settings` may say timeout=SECONDS for each of its tests (60) and
# jobs=N, how many run at a time, with those of other folders that say so (1).

usage() {
	cat <<'HELP'
usage: run.sh [-t] [-l FACTOR] [-o SECONDS] [-x PATTERN]... [PATTERN...]

Runs the tests (selftests/SUBJECT/{test,live,fuzz}_*) whose SUBJECT/NAME
matches a shell pattern, all without one, and ends with the line
"N passed, N failed, N skipped". Exit status: 0 none failed, 1 some did.

  -t          print all test points as one TAP 13 stream, and nothing else
  -l FACTOR   multiply the time limits, for a slow machine
  -o SECONDS  the time limit, whatever the settings say
  -x PATTERN  leave these tests out
HELP
}

# In the tree, or where install.sh has put it
tests=$(cd "$(dirname "$0")" && pwd)
if [ -d "$tests/build" ]; then
	TOP=$tests
else
	TOP=${TOP:-${tests%/*}}
fi
export TOP
built=${BUILT:-$TOP/build/selftests}
tap=
factor=1
limit_all=
skip_patterns=
while getopts hl:o:tx: option; do
	case $option in
	l)	factor=$OPTARG ;;
	o)	limit_all=$OPTARG ;;
	t)	tap=1 ;;
	x)	skip_patterns="$skip_patterns $OPTARG" ;;
	h)	usage; exit ;;
	*)	usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- '*'

# matches NAME PATTERN...
matches() {
	name=$1
	shift
	for pattern; do
		# shellcheck disable=SC2254
		case $name in $pattern) return 0 ;; esac
	done
	return 1
}

# Lines "SUBJECT/NAME COMMAND"
list_tests() {
	cd "$tests" || exit 1
	for file in */test_*.c */fuzz_*.c */live_*.c */live_*.sh */test_*.sh; do
		[ -e "$file" ] || continue
		case $file in
		*.sh)	command=$tests/$file name=$file ;;
		*)	name=${file%.c} command=$built/$name ;;
		esac
		matches "$name" "$@" || continue
		set -f
		# shellcheck disable=SC2086
		matches "$name" $skip_patterns || echo "$name $command"
		set +f
	done
}

# setting NAME WHICH DEFAULT
setting() {
	sed -n "s/^$2=//p" "$tests/${1%%/*}/settings" 2>/dev/null | grep . ||
		echo "$3"
}

# The kernel's complaints behind the line that was its log's last
log_splats() {
	dmesg 2>/dev/null | last=$1 awk '
		{ line[NR] = $0 }
		$0 == ENVIRON["last"] { begin = NR }
		END { for (i = begin + 1; i <= NR; i++) print line[i] }' |
		grep -E -A 20 -f "$tests/splats"
}

run_command() {
	[ -x "$2" ] || {
		echo "Bail out! $2 is not there or not executable"
		return 1
	}
	cd "$(dirname "$2")" || return 1
	timeout -k 5 "$3" "$2" </dev/null
}

# Reads a test's output; prints its points, numbered from `first` on and with
# the test's name, and at the end "= PASSED FAILED SKIPPED". What can't be
# trusted (no plan, no points, another exit status) is a failed point.
# shellcheck disable=SC2016
read_tap='
function point(passed, text) {
	printf "%sok %d - %s: %s\n", passed ? "" : "not ", first++, name, text
	if (!passed)
		failed++
	else if (text ~ /# *[Ss][Kk][Ii][Pp]/)
		skipped++
	else
		passes++
}
/^(not )?ok([ \t]|$)/ {
	points++
	text = $0
	sub(/^(not )?ok[ \t]*[0-9]*[ \t]*(- )?/, "", text)
	point($1 == "ok", text)
	next
}
/^1\.\.0/ {
	text = $0
	sub(/^1\.\.0[ \t]*#?[ \t]*(SKIP)?[ \t]*/, "", text)
	whole = text == "" ? "no reason given" : text
	next
}
/^1\.\.[0-9]+/ { plan = substr($1, 4); next }
/^Bail out!/ { point(0, $0); bailed = 1; next }
/^TAP version/ { next }
{ print /^#/ ? $0 : "# " $0 }
END {
	if (status == 124 || status == 137 || status == 143)
		point(0, "timed out after " limit " s")
	else if (whole != "" && status == 4)
		point(1, "all # SKIP " whole)
	else if (bailed)
		;
	else if (plan == "")
		point(0, "ended without a plan, status " status)
	else if (plan != points || !points)
		point(0, "planned " plan " points, ran " points + 0)
	else if (status && !failed)
		point(0, "exit status " status)
	print "= " passes + 0, failed + 0, skipped + 0
}'

# execute NAME COMMAND: what comes of it is $work/SUBJECT/NAME.*
execute() {
	result=$work/$1
	mkdir -p "${result%/*}"
	limit=${limit_all:-$(($(setting "$1" timeout 60) * factor))}
	last=$(dmesg 2>/dev/null | tail -n 1)
	start=$(date +%s)
	(run_command "$1" "$2" "$limit") >"$result.output" 2>&1
	echo "$? $limit $(($(date +%s) - start))" >"$result.status"
	log_splats "$last" >"$result.splats"
	: >"$result.ended"
}

# account NAME: count the points of a test that was executed, and show them
account() {
	result=$work/$1
	points=$result.points
	read -r status limit took <"$result.status"
	awk -v name="$1" -v first=$((passed + failed + skipped + 1)) \
		-v status="$status" -v limit="$limit" "$read_tap" \
		"$result.output" >"$points"
	# shellcheck disable=SC2046
	set -- "$1" $(sed -n 's/^= //p' "$points")
	passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
	sed -i '/^= /d' "$points"
	[ -s "$result.splats" ] && {
		failed=$((failed + 1))
		echo "not ok $((passed + failed + skipped)) - $1: kernel log"
		sed 's/^/# /' "$result.splats"
	} >>"$points"
	if [ -n "$tap" ]; then
		cat "$points"
		[ "$took" -le 1 ] || echo "# $1: $took s"
		return
	fi
	summarize "$@"
}

# One line for a test, the reasons of what it skipped, and all that it printed
# but the passed points when some failed
summarize() {
	printf '%-36s %4d passed' "$1" "$2"
	[ "$4" -gt 0 ] && printf ', %d skipped' "$4"
	[ "$took" -gt 1 ] && printf ', %d s' "$took"
	if grep -q '^not ok' "$points"; then
		printf ', FAILED\n'
		grep -v '^ok' "$points" | sed 's/^/    /'
	else
		printf '\n'
	fi
	sed -n 's/^ok.* - \(.*# *SKIP.*\)/    \1/p' "$points"
	# of guests: what took its time in there
	sed -nE 's/^# ([^ ]+: [0-9]{2,} s)$/    \1/p' "$points"
}

# How many of those that were started have not ended
busy() {
	count=0
	for test in $running; do
		[ -e "$work/$test.ended" ] || count=$((count + 1))
	done
	echo $count
}

# has_ended NAME N: also one that has left nothing, when all are waited for
has_ended() {
	[ "$2" -eq 0 ] || [ -e "$work/$1.ended" ]
}

# leave N: wait until no more than so many run; account for those that have ended,
# in the order in which they were started
leave() {
	if [ "$1" -eq 0 ]; then
		wait
	else
		while [ "$(busy)" -gt "$1" ]; do sleep 0.2; done
	fi
	still=''
	for test in $running; do
		if [ -z "$still" ] && has_ended "$test" "$1"; then
			account "$test"
		else
			still="$still $test"
		fi
	done
	running=$still
}

# add NAME COMMAND JOBS: run beside others, JOBS at most
add() {
	leave $(($3 - 1))
	execute "$1" "$2" &
	running="$running $1"
}

# reachable FOLDER: every user may enter it
reachable() {
	folder=$1
	while [ "$folder" != / ]; do
		case $(stat -c %A "$folder" 2>/dev/null) in
		?????????[xt])	folder=$(dirname "$folder") ;;
		*)	return 1 ;;
		esac
	done
}

work=$(mktemp -d "${TMPDIR:-/tmp}/selftests.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
# Some tests run the programs as another user, who cannot enter a tree in /root.
if [ -z "${BIN-}" ] && [ -d "$TOP/build/bin" ] && [ "$(id -u)" -eq 0 ] &&
	! reachable "$TOP/build/bin"; then
	chmod 711 "$work" && cp -R "$TOP/build/bin" "$work" || exit 1
	chmod -R a+rX "$work/bin"
	# trace looks for librastrace in ../lib, and traced programs load that file
	ln -s "$TOP/build/lib" "$work/lib"
	BIN=$work/bin
	export BIN
fi
trap 'exit 130' INT
trap 'exit 143' TERM
narrow=$("$tests/narrow.sh" "$work/no-32bit")
[ -z "$narrow" ] || {
	RASTRACE_NO_32BIT=1 PATH=$narrow:$PATH
	export RASTRACE_NO_32BIT PATH
	echo "# 32-bit programs don't run here: what needs them is skipped"
}
passed=0 failed=0 skipped=0
[ -n "$tap" ] && echo "TAP version 13"
list_tests "$@" >"$work/list"
running=''
while read -r name command; do
	jobs=$(setting "$name" jobs 1)
	if [ "$jobs" -gt 1 ]; then
		add "$name" "$command" "$jobs"
	else
		leave 0
		execute "$name" "$command"
		account "$name"
	fi
done <"$work/list"
leave 0
if [ ! -s "$work/list" ]; then
	echo "run.sh: no test matches" >&2
	exit 2
fi
if [ -n "$tap" ]; then
	echo "1..$((passed + failed + skipped))"
else
	echo "$passed passed, $failed failed, $skipped skipped"
fi
[ "$failed" -eq 0 ]
