#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# heapmon top shows, while a process runs, what it has on its heap and where from.
. "$(dirname "$0")/../tap.sh"
need_root

program=$TOP/build/selftests/heapmon/heap_server
[ -x "$program" ] || program=$(dirname "$0")/heap_server

cleanup() {
	[ -n "$client" ] && kill "$client" && wait "$client"
} 2>/dev/null

: >"$TMP/client"
"$program" >"$TMP/client" &
client=$!
until [ "$(wc -l <"$TMP/client")" -gt 2 ]; do
	sleep 0.05
done
server=$(head -n 1 "$TMP/client")

heapmon top -p "$server" --batch -n 3 -i 0.5 -o calls >"$TMP/out" 2>"$TMP/log"
is $? 0 "three screens" || diag_file "$TMP/log"
is "$(grep -c '^heapmon top: heap_server, ' "$TMP/out")" 3 "... are printed" ||
	diag_file "$TMP/out"
ok "the function that allocates is in a row" grep -Eq \
	'^ +[0-9.]+[BKM] +[0-9]+ +[0-9]{2,}k? .* sum_of' "$TMP/out" ||
	diag_file "$TMP/out"
is "$(tail -n 2 "$TMP/client" | head -n 1 | cut -d' ' -f2)" 0 \
	"the process isn't disturbed"

# Keys that come early wait; one that is none shows nothing.
if command -v script >/dev/null; then
	printf 'xnq' | script -qec "heapmon top -p $server -i 60; stty -a" \
		"$TMP/typed" >/dev/null
	is "$(grep -c 'heapmon top: ' "$TMP/typed")" 1 \
		"a key shows the screen at once" || diag_file "$TMP/typed"
	like "$(cat "$TMP/typed")" 'sorted by blocks' "... in its order"
	like "$(cat "$TMP/typed")" '[ ;]icanon' "... the terminal is as it was"
	unlike "$(cat "$TMP/typed")" 'per second: [0-9]+[kMG] ' \
		"... and rates are those since it began"
else
	skip "a key shows the screen at once" "needs script(1)"
fi

heapmon top -p "$server" --batch -i 0.3 >"$TMP/until" 2>"$TMP/log" &
top=$!
tries=0
until grep -q LIVE "$TMP/until" || [ $tries -gt 600 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
kill "$server"
wait $top
is $? 0 "it ends with the process" || diag_file "$TMP/log"
ok "... and says so" grep -q ', ended$' "$TMP/until" || diag_file "$TMP/until"

heapmon top -p 4194303 --batch >"$TMP/out" 2>"$TMP/log"
is $? 1 "a process that isn't there"
ok "  is reported" grep -q '4194303' "$TMP/log" || diag_file "$TMP/log"
heapmon top --sort=odd >/dev/null 2>&1
is $? 2 "an unknown order is misuse"
status 2 "no process at all" heapmon top --batch
like "$(cat "$TMP/err")" '^heapmon: top: of which process' "  is reported"
status 2 "a process id that is none" heapmon top -p 12x --batch
tap_done
