#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# When a tracepoint is hit, the keeper writes files and runs commands, no more
# often than it may, and recording goes on; sessions end by time and by records.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
cp "$TARGET" "$TMP/target"
make_tdf "$TMP/app.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=197
TRACE MINOR=1, TP=.work, DESC="work", REGS=($ARG1_32)
TRACE MINOR=2, TP=.many_0, DESC="many", REGS=($ARG1_32)
TRACE MINOR=3, TP=.many_1, DESC="counted", COUNT
TRACE MINOR=4, CALL=.main, DESC="counted calls", COUNT
TSF

session_is_off() {
	[ "$(figure state 1)" = '"off"' ]
}

# records FILE
records() {
	tracefmt --no-summary --format=json "$1" | grep -c '"minor"'
}

# --- what is refused
status 2 "a point without a file" trace on --snapshot-on 'app(1)' "$TDF"
status 2 "a command without a point" trace on --run-command true "$TDF"
status 2 "a rate without either" trace on --at-most 1/s "$TDF"
for rate in 0/s 101/s 1 /s 1/ 1/0 1/1d -1/s; do
	status 2 "  the rate '$rate'" trace on --at-most "$rate" \
		--run-on 'app(1)' --run-command true "$TDF"
done
status 1 "a directory that isn't there" trace on --snapshot-on 'app(1)' \
	--snapshot-file "$TMP/none/a.ras" "$TDF"
like "$(cat "$TMP/err")" "--snapshot-file '.*': No such file" "  is named"
status 1 "a point of another file" trace on --run-on 'other(1)' \
	--run-command true "$TDF"
status 1 "a point that isn't there" trace on --run-on 'app(9)' \
	--run-command true "$TDF"
for minor in 3 4; do
	status 1 "a point without records, $minor" trace on \
		--run-on "app($minor)" --run-command true "$TDF"
	like "$(cat "$TMP/err")" "makes no record" "  is refused"
done
is "$(pins)" "" "nothing of it is armed"

# --- a file, and on it goes
cd "$TMP" || exit 1
status 0 "on" trace on --snapshot-on 'app(1)' --snapshot-file shot.ras \
	--at-most 2/h "$TDF(1,2)"
cd / || exit 1
status 3 "wait, before there is a hit" trace wait -t 1
"$TMP/target" 1
status 0 "wait" trace wait -t 10s app
is "$(cat "$TMP/out")" "snapshot: $TMP/shot.1.ras" "  has the file's name"
is "$(records "$TMP/shot.1.ras")" 2 "the file has the hit and what came with it"
"$TMP/target" 1
ok "a second one" trace wait -t 10 --count 2
is "$(records "$TMP/shot.2.ras")" 4 "  has more"
"$TMP/target" 3
sleep 0.5
ok "two in an hour are enough" test ! -e "$TMP/shot.3.ras"
is "$(figure recorded 1) $(figure filtered 1)" "5 0" "recording went on"
like "$(trace query)" \
	"snapshot: on 1: 2 files, 0 failed, 3 hits passed over, the last .*shot.2.ras" \
	"query reports it"
like "$(trace query --json | tr -d '\n')" \
	'"snapshot": {[^}]*"points": \[ *1 *\][^}]*"done": 2,[^}]*"passed": 3' \
	"  and JSON"
trace off "$TDF"
status 1 "wait for what isn't armed" trace wait
trace clear

# --- what can't be written is reported
mkdir "$TMP/gone"
trace on --snapshot-on 'app(1)' --snapshot-file "$TMP/gone/a.ras" "$TDF"
rmdir "$TMP/gone"
"$TMP/target" 1
status 1 "wait, for what fails" trace wait -t 10
like "$(cat "$TMP/out")" "^snapshot: .*gone/a.1.ras.*No such file" "  why"
trace off "$TDF"
trace clear

# --- the kernel's own trigger, which needs no keeper
trace on --stop-on 'app(1):after 2' "$TDF"
status 3 "wait, before a recording stops" trace wait -t 1
"$TMP/target" 5
status 0 "wait, for --stop-on" trace wait -t 10
is "$(cat "$TMP/out")" "stop: app.tdf(1)" "  names the tracepoint"
trace off "$TDF"
trace resume
trace clear

# --- without the keeper nothing happens, until it is there again
trace on --snapshot-on 'app(1)' --snapshot-file "$TMP/late.ras" "$TDF"
until_true 5 keeper_runs || bail "there is no keeper"
kill -9 "$(keeper)"
status 1 "wait, without the keeper" trace wait -t 100
like "$(cat "$TMP/err")" "keeper isn't running" "  which is reported"
"$TMP/target" 1
trace resume
status 0 "  the next one does what is left" trace wait -t 10
ok "  the file is there" test -s "$TMP/late.1.ras"
trace off "$TDF"
trace clear

# --- a command, as the user that sudo came from; the point is armed with it
cat >"$TMP/command" <<'SH'
#!/bin/sh
env >"$1/env.new"
{ id -u; id -g; pwd; } >"$1/id"
mv "$1/env.new" "$1/env"
SH
chmod 755 "$TMP" "$TMP/command"
mkdir -m 777 "$TMP/shared"
cd "$TMP/shared" || exit 1
status 0 "on --run-on" env SECRET=1 SUDO_UID=65534 SUDO_GID=65534 trace on \
	--run-on 'app(2)' --run-command "'$TMP/command' '$TMP/shared'" "$TDF(1)"
cd / || exit 1
"$TMP/target" 3
status 0 "wait for the command" trace wait -t 10
is "$(cat "$TMP/out")" "run: exit status 0" "  and its status"
is "$(tr '\n' ' ' <"$TMP/shared/id")" "65534 65534 $TMP/shared " \
	"it runs as that user, where the point was armed"
like "$(cat "$TMP/shared/env")" "^RASTRACE_TDF=$TMP/app.tdf\$" "it learns the file"
like "$(cat "$TMP/shared/env")" "^RASTRACE_MINOR=2\$" "  the tracepoint"
like "$(cat "$TMP/shared/env")" "^RASTRACE_HITS=[123]\$" "  how many hits"
unlike "$(cat "$TMP/shared/env")" "SECRET" "  and no other environment"
trace off "$TDF"
trace clear

# --- a command that doesn't end holds nothing up; guests are slow
time=1s
[ -z "${RASTRACE_GUEST-}" ] || time=15s
trace on --run-on 'app(1)' --run-command "echo \$\$ >$TMP/pid; exec sleep 100" --at-most 100/s \
	--for $time "$TDF"
"$TMP/target" 1
until_true 5 test -s "$TMP/pid"
"$TMP/target" 1
ok "a session ends after its time" until_true 30 session_is_off
is "$(figure recorded 1)" 2 "  its records stay"
ok "  the command is left alone" kill "$(cat "$TMP/pid")"
trace clear

# --- so many records
status 0 "on --max-hits" trace on --max-hits 4 "$TDF"
"$TMP/target" 6
is "$(figure recorded 1) $(figure filtered 1)" "4 2" "they are exact"
ok "the point is taken away" until_true 3 \
	sh -c 'trace query --json | grep -q "\"state\": \"maxhits\""'
like "$(trace explain-loss "$TDF(1)")" "2 maxhits .*--max-hits" "explain-loss"
trace off --all
is "$(pins | grep -vx gone)" "" "nothing is left"
tap_done
