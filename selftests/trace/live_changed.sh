#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# An armed file is written to: it is disarmed before, so that the new program
# runs as it is; where that can't be, records of later hits are marked.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
make_app
OTHER=$TOP/build/selftests/trace/patcher
cp "$TMP/target" "$TMP/first"

# file: what query says of the module
file() {
	trace query --json | sed -n 's/^ *"file": "\([a-z]*\)".*/\1/p'
}

# keeper_kill: it can't look after the file
keeper_kill() {
	kill -9 "$(trace query --json |
		sed -n '/"keeper"/,/}/s/^ *"pid": \([0-9]*\),*$/\1/p')"
	sleep 0.2
}

# marked: is each record, the oldest first?
marked() {
	tracefmt -q "$@" 2>/dev/null | grep '^Event ' |
		sed 's/.*Flags \[file was written to\]$/1/; s/^Event.*/0/' |
		tr '\n' ' ' | sed 's/ $//'
}

# anew: the file, as it was, and armed
anew() {
	trace off --all
	rm -f "$TMP/target"
	cp "$TMP/first" "$TMP/target"
	trace on "$TDF"
}

# --- disarmed before it is written to
status 0 "on" trace on "$TDF"
"$TMP/target" 2
is "$(file)" same "as it was armed"
cp "$OTHER" "$TMP/target"
is "$(echo | "$TMP/target" -)" "ready
1 1" "another program written over it runs as it is"
is "$(file)" changed "query reports that it was written to"
is "$(figure state 1)" '"off"' "  and that it is off"
unlike "$(tracefmt -q 2>/dev/null)" "written to" "records from before are not marked"

# --- open for writing while it is armed
trace off --all
rm -f "$TMP/target"
cp "$TMP/first" "$TMP/target"
exec 3>>"$TMP/target"
status 0 "a file that is open for writing" trace on "$TDF"
exec 3>&-
sleep 2.5
cp "$OTHER" "$TMP/target"
is "$(file) $(figure state 1)" 'changed "off"' \
	"  when it is closed, the next writer waits for the keeper"

# --- without a keeper
anew
"$TMP/target" 1
keeper_kill
cp "$TMP/first" "$TMP/target"
is "$(file)" changed "without a keeper it is reported, too"
is "$(figure state 1)" '"on"' "  but not disarmed"
"$TMP/target" 1
is "$(marked)" "0 1" "later records are marked"
trace get "$TMP/live.ras"
is "$(marked "$TMP/live.ras")" "0 1" "  in a file, too"
trace off "$TDF" 2>"$TMP/err"
like "$(cat "$TMP/err")" "target' was written to while it was armed" "  off names it"
rm "$TMP/target"
trace get "$TMP/off.ras"
is "$(marked "$TMP/off.ras")" "0 1" "  when it is off and gone"
like "$(tracefmt --format=json "$TMP/off.ras" 2>/dev/null | tail -n 1)" '"changed"' \
	"  in JSON"
tracefmt "$TMP/off.ras" >/dev/null 2>"$TMP/err"
like "$(cat "$TMP/err")" "^tracefmt: '$TMP/target' was written to" "  in a message"

# --- the time of the last modification is set back
anew
keeper_kill
touch -r "$TMP/target" "$TMP/time"
dd if="$OTHER" of="$TMP/target" bs=4096 count=1 conv=notrunc 2>/dev/null
touch -r "$TMP/time" "$TMP/target"
is "$(file)" changed "another build is seen by its build-id"

# --- what isn't a change of its contents
anew
chmod 711 "$TMP/target"
ln "$TMP/target" "$TMP/link"
is "$(file) $(figure state 1)" 'same "on"' "mode and names may change"
cp "$OTHER" "$TMP/new"
mv "$TMP/new" "$TMP/target"
is "$(file) $(figure state 1)" 'replaced "on"' "another file takes its name"
"$TMP/link" 1
is "$(marked)" 0 "  the armed one is traced, without a mark"
tap_done
