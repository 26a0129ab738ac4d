#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Static tracepoints are switched by major, in whatever a program has
# rastrace_write() from; records are printed by the @STATIC formats; memory that
# can't be read and data that is too long are reported.
. "$(dirname "$0")/../tap.sh"
need_root
CALLERS=$TOP/build/selftests/static
caller=$CALLERS/caller_shared
cd "$TMP" || exit 1

cat >static.tsf <<'TSF'
MODNAME=caller
MAJOR=90
TRACE MINOR=1, TP=@STATIC, DESC="a text", FMT="text %S"
TRACE MINOR=2, TP=@STATIC, DESC="a number", FMT="number %D"
TRACE MINOR=3, TP=@STATIC, DESC="bytes", FMT="bytes %{hex}"
TSF
trcust static.tsf >out 2>&1 || bail "trcust: $(cat out)"
# the same formats for other majors
for major in 7 12 13 18; do
	sed "s/MAJOR=90/MAJOR=$major/" static.tsf >"static$major.tsf"
	trcust "static$major.tsf" >out 2>&1 || bail "trcust: $(cat out)"
done

# printed PATTERN: how many lines of the records match
printed() {
	tracefmt -q -t . 2>&1 | grep -c -- "$1"
}

# refused TEXT NAME OPERAND...: trace on refuses, and says why
refused() {
	text=$1 name=$2
	shift 2
	status 1 "$name" trace on "$@"
	like "$(cat err)" "$text" "  and says why"
}

# Nothing is on, nothing is there
"$caller" 90 1 text early
status 0 "on" trace on 90 7,12-13
like "$(trace query)" "no hit yet: .*librastrace.a .*--module FILE" \
	"a program with the archive in itself would have to be named"
"$caller" 90 1 text hello
"$caller" 7 1 text seven
"$caller" 12 1 text twelve
"$caller" 13 1 text thirteen
"$caller" 14 1 text fourteen
"$caller" 6 1 text six
is "$(tracefmt -q -t . | sed -n 's/^text //p' | tr '\n' ' ')" \
	"hello seven twelve thirteen " "majors that are on are recorded, others not"
unlike "$(trace query)" "no hit yet" "  and no program is looked for"
status 0 "another one" trace on 0x12
"$caller" 18 1 text eighteen
"$caller" 90 1 text again
is "$(printed '^text eighteen')" 1 "  it is recorded"
is "$(printed '^text again')" 1 "  as the others are"
status 0 "off in part" trace off 7,12-18
for major in 7 12 13 18; do "$caller" $major 1 text late; done
"$caller" 90 1 text still
is "$(printed '^text late')" 0 "  these are off"
is "$(printed '^text still')" 1 "  the other isn't"
is "$(printed '^text')" 7 "nothing is recorded twice"

# What a record has
"$caller" 90 2 count 3
is "$(tracefmt -q -t . | sed -n 's/^number //p' | tr '\n' ' ')" \
	"0000 0001 0000 0002 0000 0003 " "numbers"
trace clear
ok "a child that was forked after the first ones lives" "$caller" 90 2 fork 3
is "$(printed '^number ')" 6 "  its numbers are there as well"
"$caller" 90 3 bytes 5
is "$(printed '^bytes 00 01 02 03 04$')" 1 "bytes"
"$caller" 90 3 bytes 512
"$caller" 90 3 bytes 513
"$caller" 90 3 bytes 4096
trace clear
"$caller" 90 3 bytes 0
is "$(printed 'Length \[0\]')" 1 "an empty record"
trace clear
"$caller" 90 3 bytes 512
is "$(printed 'Length \[512\]')" 1 "512 bytes"
unlike "$(tracefmt -q -t .)" "cut" "  are whole"
trace clear
"$caller" 90 3 bytes 4000
is "$(printed 'Length \[512\]')" 1 "of more than that, the first 512"
like "$(tracefmt -q -t .)" "cut" "  and the record says so"
trace clear
"$caller" 90 1 bad
"$caller" 90 1 half
"$caller" 90 1 text after
is "$(printed 'Length \[0\]')" 2 "what can't be read isn't there"
is "$(printed 'Flags \[fault\]')" 2 "  and the record says so"
is "$(printed '^text after')" 1 "what comes after it is recorded"
like "$(trace query --json | tr -d ' \n')" '"unreadable":2' \
	"  and these are counted"
trace clear
"$caller" 90 1 absent
is "$(printed '^text absent$')" 1 "what isn't in memory is brought in"
trace clear
"$caller" 90 65535 text minor
is "$(printed 'Minor \[65535/0xFFFF\]')" 1 "the largest minor"
"$caller" 90 65536 text minor
"$caller" 256 1 text major
"$caller" 346 1 text major	# 256 + 90
"$caller" 0 1 text major
"$caller" 4294967295 1 text major
is "$(printed '^Event')" 1 "numbers that there aren't are ignored"

# Two processes at a time, each with its own
trace clear
"$caller" 90 2 count 1000 &
first=$!
"$caller" 90 2 count 1000 &
second=$!
wait
for pid in $first $second; do
	tracefmt -q -t . | awk -v pid="PID [$pid/" '
		/^Event/ { mine = index($0, pid) }
		/^number/ && mine { print $2 $3 }' >numbers
	is "$(sort -u numbers | wc -l)" 1000 "a process has its 1000 records"
	ok "  in order" sort -c numbers
done

# Programs that have it in themselves
trace clear
"$CALLERS/caller" 90 1 text inside
is "$(printed '^text')" 0 "a program with the archive isn't known yet"
status 0 "it is named" trace on --module "$CALLERS/caller" 90
"$CALLERS/caller" 90 1 text inside
is "$(printed '^text inside')" 1 "  and recorded"
status 0 "again, and one in C++" trace on --module "$CALLERS/caller" \
	--module "$CALLERS/caller_cxx" 90
"$CALLERS/caller" 90 1 text once
"$CALLERS/caller_cxx" 90 1 text once
"$caller" 90 1 text once
is "$(printed '^text once')" 3 "  each is recorded once"
if [ -x "$CALLERS/caller32" ]; then
	status 0 "a 32-bit program" trace on -m "$CALLERS/caller32" 90
	trace clear
	"$CALLERS/caller32" 90 1 text narrow
	"$CALLERS/caller32" 90 1 absent
	"$CALLERS/caller32" 90 1 bad
	"$CALLERS/caller32" 90 3 bytes 600
	is "$(printed '^text narrow')" 1 "  is recorded"
	is "$(printed '^text absent')" 1 "  with what isn't in memory"
	is "$(printed 'Flags \[fault\]')" 1 "  with what it can't read"
	is "$(printed 'Length \[512\]')" 1 "  and cut"
else
	skip "a 32-bit program" "not built: needs gcc -m32"
fi

# Suspended and resumed; the last one off
trace clear
status 0 "suspend" trace suspend
"$caller" 90 1 text suspended
status 0 "resume" trace resume
"$caller" 90 1 text resumed
is "$(tracefmt -q -t . | sed -n 's/^text //p')" resumed \
	"nothing is recorded meanwhile"
status 0 "off" trace off 90
"$caller" 90 1 text off
is "$(printed '^text off')" 0 "nothing is recorded any more"
is "$(printed '^text resumed')" 1 "what was, stays"
ok "and nothing is attached" test ! -e "$RASTRACE_RUN/static"
hits=$(trace query --json | sed -n 's/^ *"hits": \([0-9]*\),*$/\1/p' |
	sort -n | tail -n 1)
ok "the figures stay" test "$hits" -gt 2000
status 0 "on again" trace on 90
"$caller" 90 1 text anew
is "$(printed '^text anew')" 1 "  it is recorded"
unlike "$(tracefmt -s 2>&1)" "damaged|overwritten" "  beside the old ones"
status 0 "with perf_event links" sh -c "trace off 90 &&
	trace on --attach perf 90"
"$caller" 90 1 text perf
is "$(printed '^text perf')" 1 "  it is recorded"

# Some processes only
trace off 90
trace clear
sleep 10000 &
other=$!
status 0 "of a process that writes nothing" trace on 90 --pid $other
"$caller" 90 1 text filtered
is "$(printed '^text')" 0 "  others' aren't recorded"
like "$(trace query)" "filtered: .*1 process" "  and counted"
like "$(trace query)" "some processes only" "  query says so"
refused "some processes only" "all processes for another major" 101
refused "some processes only" "  or children" 101 --pid $other --follow
status 0 "this process joins it" trace on 90 --pid $$
"$caller" 90 1 text child
is "$(printed '^text')" 0 "  without its children"
trace off 90
status 0 "and with them" trace on 90 --pid $$ --follow
"$caller" 90 1 text child
is "$(printed '^text child')" 1 "  theirs are recorded"
trace off 90
kill $other
status 0 "of all" trace on 90
"$caller" 90 1 text all
is "$(printed '^text all')" 1 "  all are recorded"
refused "for all processes" "one process besides" 90 --pid $$
refused "by --pid only" "by the name of a thread" 90 --comm sh
refused "there is no process" "a process that isn't there" 90 --pid 4194303
status 0 "with perf_event links" sh -c "trace off 90 &&
	trace on --attach perf 90"

# Misuse
refused "majors are 1 to 255" "major 0" 0
refused "majors are 1 to 255" "major 256" 5,256
refused "no list of majors" "a range that goes down" 9-5
refused "no list of majors" "an empty part" 5,,6
refused "has no rastrace_write" "a program without it" -m "$BIN/trace" 5
refused "not an ELF file" "a text" -m "$TMP/static.tsf" 5
refused "cannot open" "nothing" -m "$TMP/none" 5
status 1 "one major is not suspended by itself" trace suspend 90
like "$(cat err)" "suspended and resumed all together" "  and it says so"
like "$(cat err)" "trace off 90" "  and what can be done"
status 1 "off, what isn't on" trace off 5
like "$(cat err)" "is on" "  and it says so"
status 0 "off --all" trace off --all
"$caller" 90 1 text gone
ok "  takes everything away" test ! -e "$RASTRACE_RUN/static"

# Off, a call costs as much as one of an empty function: the least of some
least() {
	for _ in 1 2 3 4 5 6 7; do "$caller" 250 1 cost 1000000; done |
		sort -n | head -n 1
}
cost=$(least)
ok "off, it costs next to nothing ($cost ns)" test "${cost%.*}" -lt 20
tap_done
