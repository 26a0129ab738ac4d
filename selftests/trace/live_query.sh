#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What query shows: the screen, what is left out of it, figures that
# fit each other while tracing goes on.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
make_app
mkdir "$TMP/many"
make_many 60
mv "$TMP"/many.t* "$TMP/many"

# field NAME: value of the first such line of query --json
field() {
	trace query --json | sed -n 's/^ *"'"$1"'": \([^,]*\),*$/\1/p' |
		sed -n 1p
}

# The screen
is "$(trace query --json | grep -c '"buffer": null')" 1 "no buffer"
trace on "$TDF" "$TMP/many/many.tdf" || bail "cannot arm"
"$TMP/target" 3
trace query >"$TMP/query"
like "$(cat "$TMP/query")" "^buffer: [0-9]+ KiB for each of .* of memory" \
	"the buffer and what it takes"
like "$(cat "$TMP/query")" "^buffer: [0-9]+ records of [0-9]+ bytes" \
	"what is in it"
like "$(cat "$TMP/query")" "^$TDF: session 1, on, major 197 .*'$TMP/target'" \
	"what is armed"
like "$(cat "$TMP/query")" "^ +1 +on +3 +3 +0 +0 +0 +unknown +0 +work" \
	"a tracepoint with its figures"
like "$(cat "$TMP/query")" \
	" work: work\\+[0-9]+ \(0x[0-9a-f]+\)( for 0x[0-9a-f]+)?, [a-z]+.*, (nop5|emulated|stepped), [0-9.]+ [nu]s$" \
	"  where it is, on what, and what a hit costs"
like "$(cat "$TMP/query")" "^  armed [0-9-]+ [0-9:.]+ \(.* ago\)" "since when"
like "$(cat "$TMP/query")" "^  without a hit: 2-60$" "long lists are summed up"
memory=$(field memory)
ok "memory is reported" test "$memory" -gt 1000000
trace off "$TMP/many/many.tdf"
ok "and goes down" test "$(field memory)" -lt "$memory"

# Restricted
status 0 "one tracepoint" trace query "app(1)"
unlike "$(cat "$TMP/out")" "many.tdf" "and no other"
status 0 "some of what is over" trace query "many(2-3)"
is "$(grep -c '^ *[0-9]* *off' "$TMP/out")" 2 "two"
status 0 "as JSON" trace query --json many
is "$(grep -c '"cost"' "$TMP/out")" 60 "all of one file"
is "$(grep -Ec '"nominal": "0x[0-9a-f]+"' "$TMP/out")" 60 \
	"  with the addresses whose values are logged"
is "$(grep -Ec '"instruction": "[a-z]+ ?[^"]*"' "$TMP/out")" 60 \
	"  the instructions"
is "$(grep -Ec '"cost_ns": [1-9][0-9]+,$' "$TMP/out")" 60 \
	"  and what a hit is expected to cost"
status 1 "what isn't armed" trace query nothing
status 1 "a minor that isn't there" trace query "app(9)"
like "$(cat "$TMP/err")" "^trace: 'app\(9\)': there is no tracepoint 9$" \
	"  which operand it is"
status 1 "no end" trace query "app("
like "$(cat "$TMP/err")" "^trace: 'app\(': it doesn't end" "  the same"
status 1 "suspend one tracepoint" trace suspend "app(1)"
like "$(cat "$TMP/err")" "'app\(1\)': .*all tracepoints of a TDF" \
	"  isn't done, and says so"
is "$(figure state)" '"on"' "  it is still on"
status 2 "both forms" trace query --json --metrics
trace off --all

# Points that weren't selected
trace on "$TMP/many/many.tdf(2,5-7)"
is "$(trace query --json | grep -c '"cost"')" 4 "only what is selected"
trace off "$TMP/many/many.tdf(6)"
is "$(trace query --json many | sed -n '/"tracepoints"/,$p' |
	sed -n 's/^ *"state": "\(.*\)",/\1/p' | tr '\n' ' ')" "on on off on " "one of them is off"
trace off --all

# A static picture of figures by kind
trace on --max-rate 5 --context comm,cpu "$TDF"
"$TMP/target" 50
trace suspend
"$TMP/target" 10
trace query "app(1)" >"$TMP/query"
like "$(cat "$TMP/query")" "^ +filtered: 10 suspended, [0-9]+ rate$" \
	"filtered hits by kind"
like "$(cat "$TMP/query")" "context comm,cpu, at most 5 records/s" \
	"what else is asked for"
trace off --all

# A point that has its MAXHITS is taken away, and says so
make_tdf "$TMP/most.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=196
TRACE MINOR=1, TP=.work, DESC="most", REGS=($ARG1_32), MAXHITS=3
TSF
trace on "$TMP/most.tdf"
like "$(trace query)" "^keeper: .*MAXHITS" "the keeper and what it is for"
"$TMP/target" 5
tries=0
while [ "$(figure state)" != '"maxhits"' ] && [ $tries -lt 50 ]; do
	sleep 0.2
	tries=$((tries + 1))
done
like "$(trace query)" "^ +1 +maxhits +5 +3 " "a point that has its MAXHITS"
like "$(trace explain-loss most)" "2 maxhits .*reached before [0-9-]+" \
	"and when"
trace off --all

# A probe that is beside the address whose values it logs
make_tdf "$TMP/beside.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=195
TRACE MINOR=1, TP=.many_3+$MANY_SECOND, REGS=($ARG1)
TRACE MINOR=2, TP=.many_4,RETEP=CALLER, REGS=($RESULT_32)
TSF
trace on "$TMP/beside.tdf"
trace query beside >"$TMP/query"
like "$(cat "$TMP/query")" \
	" many_3\+$MANY_SECOND: many_3\+0 \(0x[0-9a-f]+\) for 0x[0-9a-f]+, $MANY, emulated, [0-9.]+ [nu]s$" \
	"both addresses"
like "$(cat "$TMP/query")" \
	" many_4\+0 \(0x[0-9a-f]+\) at the return, $MANY, emulated, about 300 ns$" \
	"a return probe"
is "$(trace query --json beside | grep -c '"at_return": true')" 1 \
	"  and in JSON"
trace query --json "beside(1)" >"$TMP/query"
# member NAME: of the site
member() {
	sed -n 's/^ *"'"$1"'": "0x\([0-9a-f]*\)",$/\1/p' "$TMP/query"
}
is "$(member nominal)" "$(printf %x $((0x$(member address) + MANY_SECOND)))" \
	"  and in JSON"
like "$(trace show "$TMP/beside.tdf")" \
	", address 0x$(member address), values as at 0x$(member nominal), .* [0-9a-f ]+ \($MANY\), emulated, about 200 ns$" \
	"  and of a file"
trace off --all
like "$(trace on -n "$TMP/beside.tdf")" \
	" many_3\+0 \(0x$(member address)\) with the values of 0x$(member nominal), $MANY, " \
	"  and before it is armed"

# Several sites
if command -v cc >/dev/null; then
	echo 'int main(void) { return 0; } __asm__(".globl two;"
		".type two,@function; two: test %edi, %edi; je 1f; ret;"
		"1: inc %eax; ret; .size two, . - two");' >"$TMP/two.c"
	cc -o "$TMP/two" "$TMP/two.c"
	make_tdf "$TMP/two.tsf" <<-TSF
	MODNAME=$TMP/two
	MAJOR=195
	TRACE MINOR=1, TP=.two,RETEP=EXIT, REGS=($ARG1)
	TSF
	trace on "$TMP/two.tdf"
	like "$(trace query)" " two,RETEP=EXIT: two\+.*, and 1 more$" \
		"of several sites the first"
	like "$(trace query "two(1)")" \
		"^ +also at two\+[0-9]+ \(0x[0-9a-f]+\).*, [a-z]+, [0-9.]+ [nu]s" \
		"and all of a tracepoint that is named"
	trace off --all
else
	skip "several sites" "no compiler"
fi

# Static tracepoints
caller=$TOP/build/selftests/static/caller
if [ -x "$caller" ]; then
	trace on --module "$caller" 7,100
	"$caller" 7 1 text hello
	trace off 7
	like "$(trace query)" "^static tracepoints: on" "static tracepoints"
	like "$(trace query)" "^ +7 +off +1 +1 " "a major that was on"
	like "$(trace query "static(100)")" "^ +100 +on +0 " "one by its major"
	trace off --all
else
	skip "static tracepoints" "there is no program that has them"
fi

# While tracing goes on, no picture contradicts itself or the one before
trace on --max-cpu=off --buffer 64K "$TDF"
"$TMP/target" 100000000 &
busy=$!
rounds=0
: >"$TMP/figures"
while [ $rounds -lt 15 ]; do
	trace query --json app | sed -n '/"tracepoints"/,$p' |
		awk -F'[:,]' '/"(hits|recorded|present|overwritten|filtered|dropped)":/ {
			gsub(/[ "]/, "", $1); v[$1] = $2 + 0 }
			END { print v["hits"], v["recorded"], v["present"],
				v["overwritten"], v["filtered"], v["dropped"] }' \
		>>"$TMP/figures"
	rounds=$((rounds + 1))
done
kill $busy
wait $busy 2>/dev/null
is "$(awk '$2 != $3 + $4 || $1 != $2 + $5 + $6 { print "wrong sum:", $0 }
	$1 < hits || $2 < recorded || $4 < overwritten { print "less:", $0 }
	{ hits = $1; recorded = $2; overwritten = $4 }' "$TMP/figures")" "" \
	"the figures fit each other all the while"
ok "and they grow" test "$(sed -n '15s/ .*//p' "$TMP/figures")" -gt \
	"$(sed -n '1s/ .*//p' "$TMP/figures")"
is "$(field damaged)" 0 "nothing is damaged"
like "$(trace query)" "^buffer: complete since [0-9-]+ " "since when it is complete"
tap_done
