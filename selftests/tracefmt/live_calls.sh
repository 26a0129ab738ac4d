#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# --pair and --tree of a program that recurses and longjmps in several threads:
# every call, its return value and its place are known.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/registers.sh"

need_root
CALL=$TOP/build/selftests/tracefmt/call
[ -x "$CALL" ] || skip_all "needs $CALL"
unset TRACEFMT_PATH TRACEFMT_PREFIX
cd "$TMP" || exit 1

cleanup() {
	trace off --all
}

cp "$CALL" call
cat >call.tsf <<EOF
MODNAME=$TMP/call
MAJOR=197
TRACE MINOR=1, TP=.fib, DESC="(call) fib Pre-Invocation", FMT="n = %{d32}",
	REGS=($ARG1_32)
TRACE MINOR=0x8001, TP=.fib,RETEP=CALLER, DESC="(call) fib Post-Invocation",
	FMT="returns %{d32}", REGS=($RESULT_32)
TRACE MINOR=2, TP=.leap, DESC="(call) leap Pre-Invocation", FMT="n = %{d32}",
	REGS=($ARG1_32)
TRACE MINOR=0x8002, TP=.leap,RETEP=CALLER, DESC="(call) leap Post-Invocation",
	FMT="returns %{d32}", REGS=($RESULT_32)
TRACE MINOR=3, TP=.work, DESC="(call) work Pre-Invocation", FMT="n = %{d32}",
	REGS=($ARG1_32)
TRACE MINOR=0x8003, TP=.work,RETEP=CALLER, DESC="(call) work Post-Invocation",
	FMT="returns %{d32}", REGS=($RESULT_32)
EOF
trcust call.tsf >log 2>&1 || bail "trcust: $(cat log)"
trace on call.tdf >log 2>&1 || bail "trace on: $(cat log)"
status 0 "three threads call" ./call 3
trace get call.ras >log 2>&1 || bail "trace get: $(cat log)"
trace off --all >log 2>&1

status 0 "the figures" tracefmt -q --pair call.ras
# figures NAME: its figures
figures() {
	awk -v name="$1" '/  Major \[/ { on = $1 == name } /^$/ { on = 0 } on' out
}
is "$(awk '$NF == "fib" { print $1; exit }' out)" 45 "45 calls of fib()"
is "$(figures fib | awk '/returns/ { on = 1; next } on { print $1, $2 }' | sort -k 2)" \
	"9 0
24 1
6 2
3 3
3 5" "return what they do"
is "$(awk '$NF == "work" { print $1; exit }' out)" 3 "3 calls of work()"
is "$(awk '$NF == "leap" { print $1; exit }' out)" 0 "leap() never returns"
is "$(figures leap | sed -n 's/.*ithout a POST: //p')" 12 \
	"the figures report 12 such calls"

status 0 "the calls" tracefmt -q --tree call.ras
is "$(grep -c TID out)" 3 "of three threads"
sed -n '/ | /s/.* | //p' out >tree

# fib INDENT N: what it returns is in $value
fib() {
	if [ "$2" -lt 2 ]; then
		echo "$1fib(n = $2) = $2"
		value=$2
		return
	fi
	echo "$1fib(n = $2) {"
	fib "$1  " $(($2 - 1))
	set -- "$1" "$2" "$value"
	fib "$1  " $(($2 - 2))
	value=$((value + $3))
	echo "$1} = $value  fib"
}
for _ in 1 2 3; do
	echo "work(n = 5) {"
	fib "  " 5
	cat <<'EOF'
  leap(n = 3) {
    leap(n = 2) {
      leap(n = 1) {
        leap(n = 0) <no POST>
      } <no POST>  leap
    } <no POST>  leap
  } <no POST>  leap
} = 5  work
EOF
done >expected
ok "each has its calls, as deep as they were" diff -u expected tree
tap_done
