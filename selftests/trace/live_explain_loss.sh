#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every hit that isn't in the trace has its reason: each is brought about, and
# what is reported adds up to what the program has passed.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
need taskset
make_app
mkdir "$TMP/cond" "$TMP/limits"
make_tdf "$TMP/cond/cond.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=198
TRACE MINOR=1, TP=.work, DESC="few", REGS=($ARG1_32), IF=(\$$ARG1 < 5)
TSF
make_tdf "$TMP/limits/limits.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=199
TRACE MINOR=1, TP=.work, DESC="first", REGS=($ARG1_32), PASSCOUNT=2, MAXHITS=3
TSF
COND=$TMP/cond/cond.tdf LIMITS=$TMP/limits/limits.tdf

# explain OPERAND: what explain-loss says is in $TMP/loss, and adds up
explain() {
	status 0 "explain-loss $1" trace explain-loss "$1"
	cp "$TMP/out" "$TMP/loss"
	is "$(awk '/^ +[0-9]+ hits, of which$/ { hits = $1; rows = 1; next }
		/^and / { rows = 0 }
		rows && $1 ~ /^[0-9]+$/ { sum += $1 }
		END { print hits - sum }' "$TMP/loss")" 0 "  adds up"
}

# row REASON: how many hits it has
row() {
	awk -v reason="$1" '$1 ~ /^[0-9]+$/ && $2 == reason { print $1; found = 1; exit }
		END { if (!found) print 0 }' "$TMP/loss"
}

hits() {
	sed -n 's/^ *\([0-9]*\) hits, of which$/\1/p' "$TMP/loss"
}

reported() {
	like "$(cat "$TMP/loss")" "$1" "  $2"
}

# rows HITS PRESENT REASON...: 'REASON=NUMBER' of each that there is
rows() {
	rows_got="$(hits) $(row present)"
	rows_expected="$1 $2"
	shift 2
	for rows_row; do
		rows_got="$rows_got ${rows_row%=*}=$(row "${rows_row%=*}")"
		rows_expected="$rows_expected $rows_row"
	done
	is "$rows_got" "$rows_expected" "  hits, present: $rows_expected"
}

# started PID: wait until it runs the target, and is no shell any more
started() {
	while [ "$(cat "/proc/$1/comm")" != target ]; do :; done
}

status 1 "nothing is armed" trace explain-loss "app(1)"
status 2 "an operand is missing" trace explain-loss

# Each filter
trace on "$COND" || bail "cannot arm"
"$TMP/target" 20
explain "cond(1)"
rows 20 5 condition=15
reported "condition .*IF" "names the clause"
trace off --all

trace on "$LIMITS"
"$TMP/target" 10
explain "limits(1)"
rows 10 3 passcount=2 maxhits=5
reported "passcount .*PASSCOUNT=2" "names PASSCOUNT"
reported "maxhits .*MAXHITS=3 .*anew" "names MAXHITS and what to do"
trace off --all

trace on --comm another "$TDF"
"$TMP/target" 7
explain "app(1)"
rows 7 0 process=7
reported "process .*--comm" "names the options"
trace off --all
trace on --pid $$ "$TDF"
"$TMP/target" 7
explain "app(1)"
is "$(row present)" 0 "  nothing is recorded of another process"
is "$(($(hits) - $(row process)))" 0 "  whatever leaves it out"
if [ "$(hits)" -eq 0 ]; then
	reported "^and .*other processes.*--pid" "that the kernel does is reported"
fi
trace off --all

trace on "$TDF"
trace suspend
"$TMP/target" 6
explain "app(1)"
rows 6 0 suspended=6
reported "suspended .*'trace resume'" "says what to do"
trace resume app
"$TMP/target" 2
explain "app(1)"
rows 8 2 suspended=6
reported "suspended .*resumed since" "says that it is over"
trace off --all

trace on --max-rate 5 "$TDF"
"$TMP/target" 100
explain "app(1)"
is "$(($(row present) + $(row rate))) $(hits)" "100 100" \
	"  what is above the rate is muted"
ok "  some were" test "$(row rate)" -gt 50
reported "rate .*more than 5 .*--max-rate" "names the option"
trace off --all

# The trigger's record and four more, then all is frozen
status 0 "on --stop-on" trace on --stop-on "$TDF(1):after 4" "$TDF"
"$TMP/target" 20
explain "app(1)"
rows 20 5 frozen=15
reported "frozen .*--stop-on.*'trace resume'" "says what to do"
like "$(trace query)" "^trigger: app.tdf\(1\) at .*frozen" "query reports it"
status 0 "clear" trace clear
like "$(cat "$TMP/err")" "'trace resume'" "leaves it frozen, and says so"
like "$(trace query)" "^trigger: .*frozen" "frozen it is"
status 0 "resume" trace resume
like "$(cat "$TMP/err")" "trigger had stopped" "says that it ends that"
unlike "$(trace query)" "^trigger:" "it is over"
"$TMP/target" 5
explain "app(1)"
rows 25 5 frozen=15 cleared=5
like "$(trace query)" "^trigger: .*frozen" "the next hit triggers again"
trace off "$TDF"
status 1 "resume of what is off" trace resume app
like "$(trace query)" "^trigger: .*frozen" "leaves it frozen"
status 0 "resume while nothing is armed" trace resume
unlike "$(trace query)" "^trigger:" "what is armed next is recorded"
status 1 "resume once more" trace resume
like "$(cat "$TMP/err")" "nothing is armed" "there is nothing to resume"
trace off --all

# Of many tracepoints, those without a hit are listed, and the processes are
# looked for once
make_many 60
trace on "$TMP/many.tdf" "$TDF"
"$TMP/target" 2
status 0 "explain-loss of a file" trace explain-loss many
is "$(grep -c 'hits, of which' "$TMP/out")" 1 "those with hits have rows"
like "$(cat "$TMP/out")" "^$TMP/many.tdf\(1\) many_0: " "each with its head"
like "$(cat "$TMP/out")" "^  without a hit: 2-60$" "the others are listed"
unlike "$(cat "$TMP/out")" "app.tdf" "of that file only"
status 0 "explain-loss of one without a hit" trace explain-loss "many(7)"
like "$(cat "$TMP/out")" "^ +0 hits, of which" "has its rows"
trace off --all

# Overwritten: with the size that is reported, it would all have been there. A buffer is
# as large on every CPU, so that is for what runs where it did.
trace on --buffer 64K "$TDF"
taskset 1 "$TMP/target" 5000
explain "app(1)"
is "$(hits)" 5000 "  5000 hits"
ok "  most are overwritten" test "$(row overwritten)" -gt 2000
reported "overwritten .*since [0-9]+-[0-9]+-" "since when it is complete"
size=$(sed -n 's/.*--buffer \([0-9]*K\) would.*/\1/p' "$TMP/loss")
trace off --all
status 0 "another buffer, of the size that is reported" \
	trace on --buffer "${size:-none}" "$TDF"
taskset 1 "$TMP/target" 5000
explain "app(1)"
rows 5000 5000 overwritten=0
trace clear
"$TMP/target" 1
explain "app(1)"
rows 5001 1 cleared=5000 overwritten=0
trace off "$TDF"
"$TMP/target" 4
explain "app"
rows 5001 1 cleared=5000
reported "^disarmed .*isn't counted" "what is off is reported"
trace off --all

# Not armed in time
"$TMP/target" 1000000000 &
early=$!
started $early
kill -STOP $early
trace on "$TDF"
explain "app(1)"
reported "armed .*isn't counted" "when it was armed"
reported "1 process that has it was started earlier" "who was there before"

# The module is replaced: by a copy, then by another program
cp "$TMP/target" "$TMP/target.new" && mv "$TMP/target.new" "$TMP/target"
"$TMP/target" 1000000000 &
copy=$!
started $copy
kill -STOP $copy
cp "$TOP/build/selftests/trace/idle" "$TMP/target.new" &&
	mv "$TMP/target.new" "$TMP/target"
"$TMP/target" &
other=$!
started $other
explain "app(1)"
reported "replaced on disk" "the file was replaced"
reported "process $copy \(target\) has a copy of the same build [0-9a-f]+" \
	"who runs a copy of it"
reported "process $other \(target\) has another build [0-9a-f]+" \
	"who runs another build"
unlike "$(cat "$TMP/loss")" "process $early " "not who runs what is armed"
like "$(trace query)" "replaced on disk" "query says that it was replaced"
kill -9 $early $copy $other
wait 2>/dev/null
trace off --all

status 1 "a tracepoint that isn't there" trace explain-loss "app(9)"
tap_done
