#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trace follow, and trace run on a terminal: a line for each call as it comes.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
need python3
make_app
export TERM=xterm
unset NO_COLOR TRACEFMT_PREFIX

# terminal OPTION...: on a terminal; without colours in $TMP/plain
terminal() {
	python3 "$TOP/selftests/tracefmt/terminal.py" "$@" >"$TMP/out" 2>&1
	tap_code=$?
	sed "s/$(printf '\033')\[[0-9;]*m//g" "$TMP/out" >"$TMP/plain"
	return $tap_code
}

status 1 "without a buffer" trace follow
like "$(cat "$TMP/err")" "there is no trace buffer" "is reported"
status 2 "an operand" trace follow x

trace on --buffer 256K "$TDF" || bail "nothing is armed"
"$TMP/target" 3
: >"$TMP/live"
trap : INT
trace follow --fields desc --no-summary >"$TMP/live" 2>"$TMP/err" &
follower=$!
trap - INT
tries=0
until [ "$(wc -l <"$TMP/live")" -ge 3 ] || [ $tries -ge 100 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
kill -INT $follower
code=0
wait $follower || code=$?
is "$code $(wc -l <"$TMP/live")" "0 3" "trace follow has what is there, until SIGINT"
ok "on a terminal" terminal -k "$(printf '\003')" trace follow --no-summary
is "$(grep -cE '^ +[+][0-9.]+ target:[0-9]+ +work: n = ' "$TMP/plain")" 3 "are lines"
trace off --all

ok "trace run" terminal trace run "$TDF" -- "$TMP/target" 2
is "$(grep -cE '[+][0-9.]+ target:[0-9]+ +work: n = ' "$TMP/plain")" 2 "has lines, too"
like "$(cat "$TMP/out")" "$(printf '\033')" "with colours"
ok "--format" terminal trace run --color=never --format=manual "$TDF" -- \
	"$TMP/target" 2
is "$(grep -c '^Event' "$TMP/out")" 2 "is stronger"
ok "RASTRACE_FORMAT" env RASTRACE_FORMAT=text \
	python3 "$TOP/selftests/tracefmt/terminal.py" \
	trace run --color=never "$TDF" -- "$TMP/target" 2
like "$(cat "$TMP/.tap")" '^Event' "is stronger, too"
status 0 "elsewhere" trace run "$TDF" -- "$TMP/target" 2
is "$(grep -c '^Event' "$TMP/out")" 2 "is the layout of the manual"
ok "calls" terminal trace run --slow=0 -e 'work' -- "$TMP/target" 2
is "$(grep -cE '[num]s  [(]target[)] work[(].*[)] = ' "$TMP/plain")" 2 "are lines with results"
ok "--context" terminal trace run --context cpu,ppid -e 'work' -- "$TMP/target" 2
is "$(grep -A 1 'work[(].*[)] = ' "$TMP/plain" | grep -c '^CPU \[')" 2 \
	"follows the line of a call"
ok "--calls" trace run --calls --no-summary -e 'work' -- "$TMP/target" 2
is "$(grep -c '^{"function":' "$TMP/.tap")" 2 "are objects"
tap_done
