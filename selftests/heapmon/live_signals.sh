#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# heapmon record ends when it is asked to, at every stage: while it waits for the
# reader of a FIFO, while that reader doesn't read or has gone, and while the
# program runs. Nothing that it started is left over, and the status is that of
# the signal where nothing was recorded.
. "$(dirname "$0")/../tap.sh"
need_root
need mkfifo
cd "$TMP" || exit 1
mkfifo fifo
recorder=

cleanup() {
	[ -z "$recorder" ] || kill -KILL "$recorder" 2>/dev/null
}

# waits CONDITION...: within 20 seconds it holds
waits() {
	waits_left=200
	until "$@" 2>/dev/null; do
		waits_left=$((waits_left - 1))
		[ $waits_left -gt 0 ] || return 1
		sleep 0.1
	done
}

# ended: within 8 seconds; its status is in $ended
ended() {
	ended_left=80
	while kill -0 "$recorder" 2>/dev/null &&
	      ! grep -q '^State:	Z' "/proc/$recorder/status" 2>/dev/null; do
		ended_left=$((ended_left - 1))
		if [ $ended_left -eq 0 ]; then
			kill -KILL "$recorder"
			ended=late
			recorder=
			return
		fi
		sleep 0.1
	done
	ended=0
	wait "$recorder" || ended=$?
	recorder=
}

# The recorder has begun to arm.
started() {
	test -n "$(ls -A "$RASTRACE_RUN" 2>/dev/null)"
}

# sleeps SECONDS: a program that was started for that runs
sleeps() {
	grep -qa "^sleep.$1" /proc/[0-9]*/cmdline 2>/dev/null
}

gone() {
	! sleeps "$1"
}

for name in TERM:143 INT:130 HUP:129; do
	signal=${name%:*}
	heapmon record -o fifo -- sleep 987 >out 2>err &
	recorder=$!
	waits started
	sleep 1
	kill -"$signal" "$recorder"
	ended
	is "$ended" "${name#*:}" \
		"SIG$signal while a FIFO has no reader: it ends at once" ||
		diag_file err
	like "$(cat err)" "^heapmon: ended by signal" "  which it says"
	ok "  the program doesn't run" gone 987
done

# A reader that doesn't read: the pipe is full after 64 KiB.
cat >busy.sh <<'END'
i=0
while [ $i -lt 400 ]; do
	/bin/true
	i=$((i + 1))
done
sleep 988
END
sh -c 'exec 3<fifo; exec sleep 60' &
reader=$!
heapmon record -o fifo -- sh busy.sh >out 2>err &
recorder=$!
waits sleeps 988
sleep 2
kill -TERM "$recorder"
sleep 1
kill -TERM "$recorder" 2>/dev/null
ended
ok "a reader that doesn't read: two signals end it" test "$ended" != late
like "$(cat err)" "cannot write 'fifo'|allocation" "  and it says what became of it"
for pid in $(grep -la "^sleep.988" /proc/[0-9]*/cmdline); do
	pid=${pid#/proc/}
	kill "${pid%/cmdline}"
done 2>/dev/null
kill $reader 2>/dev/null

# A reader that goes away.
sh -c 'exec 3<fifo; exec sleep 1' &
heapmon record -o fifo -- sh -c 'sleep 2; ls / >/dev/null; sleep 1' >out 2>err &
recorder=$!
ended
is "$ended" 1 "a reader that goes away: a failure"
like "$(cat err)" "cannot write 'fifo': Broken pipe" "  and why"

# An early end, before the program runs.
heapmon record -o early.ras -- sleep 989 >out 2>err &
recorder=$!
waits started
kill -TERM "$recorder" 2>/dev/null
ended
ok "SIGTERM while it arms: it ends" test "$ended" != late
ok "  the program doesn't run" gone 989
if [ "$ended" = 143 ]; then
	ok "  and no file is left" test ! -e early.ras
fi

if [ -n "${RASTRACE_GUEST-}" ]; then
	skip "SIGTERM while the program runs" "busybox has no allocator"
	tap_done
fi
# While the program runs, the first signal is handed on to it.
heapmon record -o whole.ras -- sleep 990 >out 2>err &
recorder=$!
waits sleeps 990
waits test -s whole.ras
sleep 1
kill -TERM "$recorder"
ended
is "$ended" 0 "SIGTERM while the program runs: the recording is whole" ||
	diag_file err
like "$(cat err)" "'sleep' was ended by signal 15" "  the program got it"
ok "  it can be read" heapmon report -s summary whole.ras
tap_done
