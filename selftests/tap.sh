# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# TAP 13 for shell tests (POSIX sh; busybox is enough).
#
#	. "$(dirname "$0")/../tap.sh"
#	need_root
#	ok "two is two" test 2 -eq 2
#	is "$(echo a)" a "echo repeats"
#	tap_done
#
# Sets TOP (the tree, or what is installed of it), BIN (the programs, also in
# front of PATH), TMP (fresh, removed at the end) and RASTRACE_RUN. tap_done
# prints the plan and exits. $LONG is set by make check-all: what has a longer form
# takes it then.
# Every test point returns its outcome: `ok ... || diag_file "$TMP/log"`.

# the tree, or where install.sh has put the tests
if [ -z "${TOP-}" ]; then
	TOP=$(cd "$(dirname "$0")/.." && pwd)
	[ -d "$TOP/build" ] || TOP=${TOP%/*}
fi
BIN=${BIN:-$TOP/build/bin}
# last the cross compilers that scripts/foreign has unpacked
PATH=$BIN:$PATH:${RASTRACE_CACHE:-${XDG_CACHE_HOME:-${HOME-}/.cache}/rastrace}/aarch64/bin
TMP=$(mktemp -d "${TMPDIR:-/tmp}/rastrace.XXXXXX") || exit 1
RASTRACE_RUN=$TMP/run
XDG_CONFIG_HOME=$TMP/config
export TOP BIN PATH TMP RASTRACE_RUN XDG_CONFIG_HOME
unset RASTRACE_FORMAT DEBUGINFOD_URLS
tap_count=0 tap_failures=0 tap_ended=

# Disarm what the test left armed, give up the bpffs, remove the files.
tap_cleanup() {
	tap_status=$?
	trap - EXIT INT TERM
	command -v cleanup >/dev/null && cleanup
	if grep -q " $RASTRACE_RUN " /proc/mounts 2>/dev/null; then
		"$BIN/trace" off --all >/dev/null 2>&1
		umount "$RASTRACE_RUN"
	fi
	cd / && rm -rf "$TMP"
	if [ -z "$tap_ended" ]; then
		echo "Bail out! the test ended early, status $tap_status," \
			"after point $tap_count"
		exit 1
	fi
	exit "$tap_status"
}
trap tap_cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo "TAP version 13"

diag() {
	printf '# %s\n' "$*"
}

diag_file() {
	sed 's/^/# /' "$@"
}

pass() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $*"
}

not_ok() {
	tap_count=$((tap_count + 1))
	tap_failures=$((tap_failures + 1))
	echo "not ok $tap_count - $*"
	return 1
}

# ok NAME COMMAND [ARGUMENT...]: the command succeeds; its output is shown
# when it doesn't
ok() {
	tap_name=$1
	shift
	if "$@" >"$TMP/.tap" 2>&1; then
		pass "$tap_name"
	else
		tap_status=$?
		not_ok "$tap_name"
		diag "status $tap_status: $*"
		diag_file "$TMP/.tap"
		return 1
	fi
}

# status EXPECTED NAME COMMAND [ARGUMENT...]: the command exits so; what it
# printed is in $TMP/out and $TMP/err
status() {
	tap_expected=$1 tap_name=$2 tap_status=0
	shift 2
	"$@" >"$TMP/out" 2>"$TMP/err" || tap_status=$?
	if [ ! "${DAMAGED-}" ] &&
	   grep -q 'reading it ended with signal' "$TMP/err"; then
		tap_status="$tap_status after a crash"
	fi
	if [ "$tap_status" = "$tap_expected" ]; then
		pass "$tap_name"
	else
		not_ok "$tap_name"
		diag "status $tap_status, expected $tap_expected: $*"
		diag_file "$TMP/out" "$TMP/err"
		return 1
	fi
}

# is GOT EXPECTED NAME: the strings are equal
is() {
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		not_ok "$3"
		diag "got:"
		printf '%s\n' "$1" | diag_file
		diag "expected:"
		printf '%s\n' "$2" | diag_file
		return 1
	fi
}

# like GOT REGEX NAME: a line matches the extended regular expression
like() {
	if printf '%s\n' "$1" | grep -Eq -- "$2"; then
		pass "$3"
	else
		not_ok "$3"
		diag "no line matches: $2"
		printf '%s\n' "$1" | diag_file
		return 1
	fi
}

# unlike GOT REGEX NAME: no line matches
unlike() {
	if printf '%s\n' "$1" | grep -Eq -- "$2"; then
		not_ok "$3"
		diag "a line matches: $2"
		printf '%s\n' "$1" | diag_file
		return 1
	fi
	pass "$3"
}

# skip NAME REASON: a test point that can't run here
skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# skip_all REASON: nothing of this test can run here
skip_all() {
	echo "1..0 # SKIP $*"
	tap_ended=1
	exit 4
}

bail() {
	echo "Bail out! $*"
	tap_ended=1
	exit 1
}

need_root() {
	[ "$(id -u)" -eq 0 ] || skip_all "needs root"
}

# need_tree: skips the test where there are only the installed tests
need_tree() {
	[ -e "$TOP/Makefile" ] || skip_all "needs the source tree"
}

# need PROGRAM...: skips the test when one is missing
need() {
	for tap_program; do
		command -v "$tap_program" >/dev/null ||
			skip_all "needs $tap_program"
	done
}

# TAP allows the plan at the end.
tap_done() {
	tap_ended=1
	echo "1..$tap_count"
	[ "$tap_failures" -eq 0 ] && [ "$tap_count" -gt 0 ]
	exit
}

# man_blocks PAGE: the literal ones under EXAMPLES, into block.1 and so on
man_blocks() {
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE ALSO/p' "$TOP/usr/man/$1" |
		awk '/^\.Bd -literal/ { n++; inside = 1; next }
		     /^\.Ed/ { inside = 0 }
		     inside { print > ("block." n) }'
}
