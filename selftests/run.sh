#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs the selftests and counts their TAP points. It also runs in the guests of
# scripts/vm: POSIX sh and busybox are enough.
# A folder's `settings` has lines:
#	timeout=SECONDS	the time limit of each test (300)
#	jobs=N		run up to N tests per processor at a time, together with
#			tests of other folders that have this line; without it
#			each test runs alone
#	background=1	run these tests one after another beside all others, and
#			one per processor when the others have ended. They start
#			guests: the log of this machine's kernel is not theirs,
#			and scripts/vm checks that of the guest.

usage() {
	cat <<'HELP'
usage: run.sh [-t] [-l FACTOR] [-o SECONDS] [-x PATTERN]... [PATTERN...]

Runs the tests (selftests/SUBJECT/{test,live,fuzz}_*) whose SUBJECT/NAME
matches a shell pattern, or all tests, and ends with the line
"N passed, N failed, N skipped". Each test is reported when it ends, with its
duration and its processor time. Exit status: 0 no test failed, 1 one did.

  -t          print all test points as one TAP 13 stream, and nothing else
  -l FACTOR   multiply the time limits, for a slow machine
  -o SECONDS  set the time limit and ignore the settings
  -x PATTERN  leave out these tests
HELP
}

# In the tree, or where install.sh has copied it
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

# Warnings of the kernel about itself that tests meet but do not cause. 6.18
# warns when the first uprobe is placed in a page of ext4 that is not cached.
known_warnings='ext4_check_map_extents_env'

# Of the lines on stdin, leave out warnings that are known, and those of a process
# that is alive and belongs to another session than these tests.
# shellcheck disable=SC2016
own_warnings='
function session_of(pid,  file, line, field) {
	file = "/proc/" pid "/stat"
	if ((getline line <file) <= 0)
		return 0
	close(file)
	sub(/^.*\) /, "", line)
	split(line, field, " ")
	return field[4]
}
function is_own(text,  pid, session) {
	if (text ~ known)
		return 0
	if (!match(text, /PID: [0-9]+ Comm/) &&
	    !match(text, /CPU#[0-9]+: [^\n]*\/[0-9]+/))
		return 1
	pid = substr(text, RSTART, RLENGTH)
	sub(/^PID: | Comm$/, "", pid)
	sub(/ Comm$|^.*\//, "", pid)
	session = session_of(pid)
	return !session || session == ours
}
BEGIN { ours = session_of(shell) }
/\[ cut here \]/ { printf "%s", held; held = ""; inside = 1 }
!inside { print; next }
{ held = held $0 "\n" }
/\[ end trace / {
	if (is_own(held))
		printf "%s", held
	held = ""
	inside = 0
}
END { printf "%s", held }'

# log_splats LAST: the complaints in the kernel log after the line LAST
log_splats() {
	dmesg 2>/dev/null | last=$1 awk '
		{ line[NR] = $0 }
		$0 == ENVIRON["last"] { begin = NR }
		END { for (i = begin + 1; i <= NR; i++) print line[i] }' |
		awk -v shell=$$ -v known="$known_warnings" "$own_warnings" |
		grep -E -A 20 -f "$tests/splats"
}

run_command() {
	[ -x "$2" ] || {
		echo "Bail out! $2 is missing or not executable"
		return 1
	}
	cd "$(dirname "$2")" || return 1
	timeout -k 5 "$3" "$2" </dev/null
}

# Reads a test's output; prints its points, numbered from `first` on and with
# the test's name, and at the end "= PASSED FAILED SKIPPED". A missing plan, a test
# without points and an unexpected exit status each make a failed point.
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

# execute NAME COMMAND: run a test; its results are in $work/SUBJECT/NAME.*
execute() {
	result=$work/$1
	mkdir -p "${result%/*}"
	limit=${limit_all:-$(($(setting "$1" timeout 300) * factor))}
	last=$(dmesg 2>/dev/null | tail -n 1)
	start=$(date +%s)
	(
		run_command "$1" "$2" "$limit"
		status=$?
		times >"$result.times"
		exit $status
	) >"$result.output" 2>&1
	echo "$? $limit $(($(date +%s) - start)) $(processor_time "$result.times")" \
		>"$result.status"
	[ "$(setting "$1" background 0)" = 1 ] ||
		log_splats "$last" >"$result.splats"
	: >"$result.ended"
}

# processor_time FILE: whole seconds that a shell's children took, from times(1)
processor_time() {
	awk 'NR == 2 {
		for (i = 1; i <= 2; i++) {
			split($i, part, "m")
			total += 60 * part[1] + part[2]
		}
	}
	END { printf "%d\n", total + 0.5 }' "$1"
}

# account NAME: count the points of a test that has ended, and print them
account() {
	result=$work/$1
	points=$result.points
	status=1 limit=0 took=0 busy=0
	read -r status limit took busy <"$result.status"
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
		[ "$took" -le 1 ] || echo "# $1: $took s, processor $busy s"
		return
	fi
	summarize "$@"
}

# summarize NAME PASSED FAILED SKIPPED: one line for a test, then why points were
# skipped. When points failed, all other output of the test is printed, too.
summarize() {
	printf '%-36s %4d passed' "$1" "$2"
	[ "$4" -gt 0 ] && printf ', %d skipped' "$4"
	[ "$took" -gt 1 ] && printf ', %d s (processor %d s)' "$took" "$busy"
	if grep -q '^not ok' "$points"; then
		printf ', FAILED\n'
		grep -v '^ok' "$points" | sed 's/^/    /'
	else
		printf '\n'
	fi
	sed -n 's/^ok.* - \(.*# *SKIP.*\)/    \1/p' "$points"
	# the tests in a guest that took ten seconds and more
	sed -nE 's/^# ([^ ]+: [0-9]{2,} s, processor [0-9]+ s)$/    \1/p' "$points"
}

# account_ended NAME...: account for those that have ended; sets $left to the others
account_ended() {
	left=''
	for test; do
		if [ -e "$work/$test.ended" ]; then
			account "$test"
		else
			left="$left $test"
		fi
	done
}

# leave N: wait until at most N tests run beside those in the background
leave() {
	while :; do
		# shellcheck disable=SC2086
		account_ended $background
		background=$left
		# shellcheck disable=SC2086
		account_ended $running
		running=$left
		# shellcheck disable=SC2086
		set -- "$1" $running
		[ $(($# - 1)) -gt "$1" ] || return
		sleep 0.2
	done
}

# start NAME COMMAND: run a test when its settings allow it
start() {
	jobs=$(($(setting "$1" jobs 0) * processors))
	leave $((jobs ? jobs - 1 : 0))
	execute "$1" "$2" &
	running="$running $1"
	[ "$jobs" -gt 0 ] || leave 0
}

# start_background: run the tests of $work/background that have not started, one
# after another
start_background() {
	[ -s "$work/background" ] || return 0
	while read -r name command; do
		mkdir -p "$work/${name%/*}"
		mkdir "$work/$name.started" 2>/dev/null &&
			execute "$name" "$command"
	done <"$work/background" &
	lanes="$lanes $!"
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
lanes=''
# shellcheck disable=SC2086,SC2154
trap 'for lane in $lanes; do kill $lane 2>/dev/null; done; rm -rf "$work"' EXIT
# Some tests run the programs as another user, who cannot enter a tree in /root.
if [ -z "${BIN-}" ] && [ -d "$TOP/build/bin" ] && [ "$(id -u)" -eq 0 ] &&
	! reachable "$TOP/build/bin"; then
	# beside the results, which have a folder "lib", too
	chmod 711 "$work" && mkdir "$work/.programs" &&
		cp -R "$TOP/build/bin" "$work/.programs" || exit 1
	chmod -R a+rX "$work/.programs"
	# trace looks for librastrace in ../lib, and traced programs load that file
	ln -s "$TOP/build/lib" "$work/.programs/lib"
	BIN=$work/.programs/bin
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
processors=$(nproc)
passed=0 failed=0 skipped=0
[ -n "$tap" ] && echo "TAP version 13"
list_tests "$@" >"$work/list"
running='' background=''
: >"$work/background"
: >"$work/foreground"
while read -r name command; do
	case $(setting "$name" background 0) in
	0)	echo "$name $command" >>"$work/foreground" ;;
	*)	echo "$name $command" >>"$work/background" ;;
	esac
done <"$work/list"
# those of vm take longest
sort -r -o "$work/background" "$work/background"
background=$(sed 's/ .*//' "$work/background" | tr '\n' ' ')
start_background
while read -r name command; do
	start "$name" "$command"
done <"$work/foreground"
leave 0
# now there is room for one on each other processor
while [ "$processors" -gt 1 ]; do
	processors=$((processors - 1))
	start_background
done
while [ -n "$background" ]; do
	sleep 1
	leave 0
done
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
