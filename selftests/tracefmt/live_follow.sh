#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# tracefmt --follow: what is in the live buffer and what comes, as it comes, in
# order, with whatever is chosen, until it is stopped; the same of a pipe.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
make_app

# follow OPTION...: in the background
follow() {
	: >"$TMP/follow.out"
	tracefmt --follow "$@" >"$TMP/follow.out" 2>"$TMP/follow.err" &
	follower=$!
}

# arrive COUNT PATTERN: wait for so many lines
arrive() {
	tries=0
	while [ "$(grep -c "$2" "$TMP/follow.out")" -lt "$1" ] &&
		[ $tries -lt 100 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	grep -c "$2" "$TMP/follow.out"
}

# end SIGNAL: its exit status is in $ended
end() {
	kill "-$1" $follower
	ended=0
	wait $follower || ended=$?
}

status 1 "without a buffer" tracefmt --follow
like "$(cat "$TMP/err")" "there is no trace buffer" "is reported"

trace on --max-cpu=off --buffer 256K "$TDF" || bail "nothing is armed"
"$TMP/target" 10
# a background job of a shell ignores SIGINT, unless a trap is set
for signal in INT TERM; do
	trace clear
	"$TMP/target" 10
	trap : INT
	follow
	trap - INT
	is "$(arrive 10 '^Event')" 10 "what is there comes at once"
	"$TMP/target" 5
	is "$(arrive 15 '^Event')" 15 "and what is recorded then"
	ok "it goes on" kill -0 $follower
	end $signal
	is "$ended" 0 "SIG$signal ends it in order"
	is "$(sed -n 's/^Event \[\([0-9]*\)\].*/\1/p' "$TMP/follow.out" |
		tr '\n' ' ')" "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 " \
		"each event once"
	like "$(cat "$TMP/follow.err")" "^15 records" "with the figures"
	unlike "$(cat "$TMP/follow.err")" "damaged" "and nothing is missing"
done

# In order; the buffer has room for all of it
trace off --all
trace on --max-cpu=off --buffer 4M "$TDF"
follow -q
i=0
while [ $i -lt 20 ]; do
	"$TMP/target" 300 &
	i=$((i + 1))
done
is "$(arrive 6000 '^Event')" 6000 "several processes at once"
end TERM
sed -n 's/.*Time \[\([0-9:.]*\)\].*/\1/p' "$TMP/follow.out" >"$TMP/times"
ok "all come in the order of time" sort -c "$TMP/times"

# Chosen, and other outputs
trace clear
follow -q --field 'n == 3' --format=json
"$TMP/target" 7
is "$(arrive 1 '"n":3')" 1 "one event is chosen"
"$TMP/target" 7
is "$(arrive 2 '"n":3')" 2 "and another one"
end TERM
is "$ended $(wc -l <"$TMP/follow.out")" "0 2" "and no others"
trace clear
follow -q --last 3 --output "$TMP/last.txt"
"$TMP/target" 20
sleep 0.7
end TERM
is "$ended $(sed -n 's/^Event \[\([0-9]*\)\].*/\1/p' "$TMP/last.txt" |
	tr '\n' ' ')" "0 18 19 20 " "the last of them, when it ends"

# Lost records are reported
trace off --all
trace on --max-cpu=off --buffer 64K "$TDF"
follow --summary
sleep 0.5
kill -STOP $follower
"$TMP/target" 20000
kill -CONT $follower
sleep 1
end TERM
is "$ended" 0 "what came too fast"
lost=$(sed -n 's/^\([0-9]*\) records overwritten before they were spooled.*/\1/p' \
	"$TMP/follow.out")
kept=$(sed -n 's/^\([0-9]*\) records, .*/\1/p' "$TMP/follow.out")
is $((lost + kept)) 20000 "is counted"

# The reader has gone away
trace clear
"$TMP/target" 3
(
	tracefmt --follow -q
	echo "status $?" >"$TMP/status"
) | head -n 1 >"$TMP/first" &
sleep 1
"$TMP/target" 500
tries=0
while [ ! -e "$TMP/status" ] && [ $tries -lt 50 ]; do
	"$TMP/target" 500
	tries=$((tries + 1))
	sleep 0.1
done
is "$(cat "$TMP/status")" "status 0" "it ends when its reader does"

# The buffer goes away
follow -q
sleep 0.3
trace off --all
ended=0
wait $follower || ended=$?
is "$ended" 0 "it ends when the buffer is removed"
like "$(cat "$TMP/follow.err")" "the buffer has been removed" "and says so"

# A pipe
trace on --max-cpu=off --buffer 256K "$TDF"
mkfifo "$TMP/pipe"
trace spool --follow >"$TMP/pipe" 2>/dev/null &
spool=$!
# a background job opens its files when it likes
: >"$TMP/follow.out"
tracefmt --follow -q - <"$TMP/pipe" >"$TMP/follow.out" 2>&1 &
follower=$!
"$TMP/target" 12
is "$(arrive 12 '^Event')" 12 "a pipe is followed"
kill -TERM $spool
ended=0
wait $follower || ended=$?
is "$ended" 0 "to its end"
trace get "$TMP/a.ras"
status 2 "a file" tracefmt --follow "$TMP/a.ras"
like "$(cat "$TMP/err")" "'.*a.ras' is a file" "has an end"
tap_done
