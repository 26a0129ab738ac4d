#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The keeper: points disarm themselves at MAXHITS and above --max-cpu, and
# nothing depends on it.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
cp "$TARGET" "$TMP/target"
make_tdf "$TMP/app.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=197
TRACE MINOR=1, TP=.work, DESC="work", REGS=($ARG1_32), MAXHITS=3
TRACE MINOR=2, TP=.many_0, DESC="many", REGS=($ARG1_32)
TSF
make_tdf "$TMP/hot.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=196
TRACE MINOR=1, TP=.work, DESC="work", REGS=($ARG1_32)
TRACE MINOR=2, TP=.many_1, DESC="never passed", REGS=($ARG1_32)
TSF
HOT=$TMP/hot.tdf

keeper_is_gone() {
	[ -z "$(keeper)" ]
}

point_is() {
	[ "$(figure state "$1")" = "\"$2\"" ]
}

# links POINT: of the TDF app
links() {
	for link in "$RASTRACE_RUN"/armed/app/"$1"_*; do
		[ -e "$link" ] && echo "$link"
	done
}

# --- MAXHITS
status 0 "on" trace on "$TDF"
ok "a keeper runs for MAXHITS" until_true 5 keeper_runs
"$TMP/target" 2
sleep 0.5
is "$(figure state 1)" '"on"' "below MAXHITS the point is on"
"$TMP/target" 1
ok "at MAXHITS it is off within a second or so" until_true 3 point_is 1 maxhits
is "$(links 0)" "" "  its links are gone"
ok "  the other point's is there" test -n "$(links 1)"
is "$(figure recorded 1)" 3 "  it has its records"
sleep 1	# the kernel removes the probes after the links
"$TMP/target" 5
is "$(figure hits 1) $(figure hits 2)" "3 8" "the other point goes on"
ok "the keeper looks after its file" keeper_runs
status 0 "off" trace off "$TDF"
ok "the keeper ends by itself" until_true 5 keeper_is_gone
is "$(pins | grep keep)" "" "  and leaves nothing"
trace clear

# --- killed
status 0 "on again" trace on "$TDF"
until_true 5 keeper_runs
kill -9 "$(keeper)"
ok "the killed keeper is gone" until_true 5 keeper_is_gone
"$TMP/target" 10
is "$(figure recorded 1) $(figure recorded 2)" "3 10" "tracing goes on"
is "$(figure state 1)" '"on"' "  the point still has its link"
like "$(trace query)" "keeper: isn't running" "query says that it isn't there"
trace suspend >/dev/null
ok "the next command starts another" until_true 5 point_is 1 maxhits
status 0 "off of what has disarmed itself" trace off "$TDF"
trace clear

# --- the most expensive point goes
status 0 "on --max-cpu" trace on --max-cpu 5 "$HOT"
ok "a keeper runs for it" until_true 5 keeper_runs
sleep 1
is "$(figure state 1) $(figure state 2)" '"on" "on"' \
	"without hits nothing is muted"
"$TMP/target" 2000000000 &
target=$!
ok "a hot point is muted" until_true 5 point_is 1 muted
kill $target
wait $target 2>/dev/null
hits=$(figure hits 1)
diag "$hits hits before"
is "$(figure state 2)" '"on"' "  the other one isn't"
like "$(trace explain-loss "$HOT(1)")" "too much time [(]--max-cpu[)]" \
	"  explain-loss has the reason"
like "$(tracefmt --tff "$TMP" --summary)" "ended: muted at" "  so has tracefmt"
"$TMP/target" 1000
is "$(figure hits 1)" "$hits" "  its hits cost nothing any more"
ok "the keeper goes on" keeper_runs
like "$(trace query)" "^cpu: programs take [0-9.]+ % of a CPU, above 5.00 %" \
	"what programs take is reported"
kill -9 "$(keeper)"
sleep 4
like "$(trace query)" "^cpu: programs take what isn't measured now" \
	"  but nothing old, when the keeper is gone"
trace off --all
ok "off --all ends it" keeper_is_gone

# --- one that makes no records costs as much
make_tdf "$TMP/sums.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=195
TRACE MINOR=1, TP=.work, COUNT
TSF
"$TMP/target" 2000000000 &
target=$!
status 0 "aggregates, --max-cpu" trace on --max-cpu 5 "$TMP/sums.tdf"
ok "  are muted, too" until_true 5 point_is 1 muted
kill $target
wait $target 2>/dev/null
trace off --all

# --- without the option: the same, unless it is off
"$TMP/target" 2000000000 &
target=$!
status 0 "on, with nothing else" trace on "$HOT"
is "$(trace query --json | grep -c '"max_cpu": 5000')" 1 \
	"  half a CPU is the limit"
trace off --all
status 0 "on --max-cpu=off" trace on --max-cpu=off "$HOT"
sleep 1.5
is "$(figure state 1)" '"on"' "  nothing is muted"
is "$(trace query --json | grep -c '"max_cpu": null')" 1 "  there is no limit"
trace off --all
kill $target
wait $target 2>/dev/null
status 0 "a run of a second and more" trace run -o "$TMP/hot.ras" "$HOT" -- \
	timeout 1.5 "$TMP/target" 2000000000
like "$(cat "$TMP/err")" "take [0-9.]+ % of a CPU in their first second" \
	"  reports what the tracepoints take"
is "$(pins)" "" "  and nothing is left"
tap_done
