#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A server is recorded twice while it runs; its client gets every reply, and
# afterwards the server's code is as it was.
. "$(dirname "$0")/../tap.sh"
need_root

program=$TOP/build/selftests/heapmon/heap_server
[ -x "$program" ] || program=$(dirname "$0")/heap_server
heapmon=$BIN/heapmon

cleanup() {
	[ -n "$client" ] && kill "$client" && wait "$client"
} 2>/dev/null

line() {
	tail -n 2 "$TMP/client" | head -n 1
}

# wait_word WORD: a line with it that is written from now on
wait_word() {
	from=$(wc -l <"$TMP/client")
	tries=0
	until tail -n "+$((from + 2))" "$TMP/client" | grep -q "$1"; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || return 1
		sleep 0.1
	done
}

: >"$TMP/client"
"$program" >"$TMP/client" &
client=$!
until [ "$(wc -l <"$TMP/client")" -gt 2 ]; do
	sleep 0.05
done
server=$(head -n 1 "$TMP/client")

# allocations TURN: what has been written so far has some
allocations() {
	"$heapmon" report "$TMP/$1.ras" >"$TMP/report" 2>&1
	grep -Eq "^ *allocated +[1-9][0-9]+ blocks" "$TMP/report"
}

# wait_allocations TURN: arming goes on when the first probe is there
wait_allocations() {
	tries=0
	until allocations "$1"; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || return 1
		sleep 0.2
	done
}

for task in /proc/"$server"/task/*; do
	thread=${task##*/}
	[ "$thread" = "$server" ] || break
done
"$heapmon" record -p "$thread" -o "$TMP/thread.ras" 2>"$TMP/log"
is $? 1 "one thread of it isn't recorded"
like "$(cat "$TMP/log")" "$thread is a thread of process $server" "  that is reported"
like "$(cat "$TMP/log")" "--pid $server" "  and what to do"

for turn in first second; do
	"$heapmon" record -p "$server" -o "$TMP/$turn.ras" 2>"$TMP/log" &
	recorder=$!
	ok "$turn: the server is recorded" wait_word probed ||
		diag_file "$TMP/log"
	ok "$turn: allocations are there while it goes on" \
		wait_allocations $turn || diag_file "$TMP/report"
	kill "$recorder"
	wait "$recorder"
	is $? 0 "$turn: the recording ends" || diag_file "$TMP/log"
	ok "$turn: no probe is left" wait_word whole
	ok "$turn: it has allocations" allocations $turn ||
		diag_file "$TMP/report"
done
# at any moment
for delay in 0.03 0.06 0.1 0.15 0.2; do
	"$heapmon" record -p "$server" -o "$TMP/early.ras" 2>"$TMP/log" &
	recorder=$!
	sleep $delay
	kill "$recorder"
	wait "$recorder"
done 2>/dev/null
is "$(find "$RASTRACE_RUN" -name 'run_*')" "" \
	"one that is ended while it begins leaves nothing" ||
	diag_file "$TMP/log"
# shellcheck disable=SC2046 # three words
set -- $(line)
is "$2" 0 "no reply failed"
ok "... of $1" test "$1" -gt 1000
ok "the server lives" kill -0 "$server"
tap_done
