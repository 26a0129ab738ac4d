#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Operands of on and off: minors, groups, types, names of modules, one after the
# other; what is wrong hurts nothing else.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
cp "$TARGET" "$TMP/target"
make_tdf "$TMP/app.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=197
TYPELIST NAME=PRE,ID=1, NAME=POST,ID=2, NAME=API,ID=4
GROUPLIST NAME=MEM,ID=7, NAME=QUE,ID=9
TRACE MINOR=1, TP=.many_0, TYPE=(PRE,API), GROUP=MEM, DESC="1", REGS=($ARG1_32)
TRACE MINOR=2, TP=.many_2, TYPE=(POST), GROUP=MEM, DESC="2", REGS=($ARG1_32)
TRACE MINOR=3, TP=.many_3, TYPE=(PRE), GROUP=QUE, DESC="3", REGS=($ARG1_32)
TRACE MINOR=5, TP=.work, DESC="5", REGS=($ARG1_32)
TRACE MINOR=16, TP=.many_6, TYPE=(API), DESC="16", REGS=($ARG1_32)
TSF
cd "$TMP" || exit 1

# points: minor, state and hits of each tracepoint of each session
points() {
	trace query --json | awk '
		/"tracepoints":/ { inside = 1 }
		inside && /"minor": [0-9]/ { minor = $2 }
		inside && /"state":/ { state = $2 }
		inside && /"hits":/ { print minor, state, $2 }' |
		tr -d '",' | sort -n
}

# total: hits of all of them
total() {
	points | awk '{ n += $3 } END { print n }'
}

# armed: minors that are, one after the other
armed() {
	points | awk '$2 == "on" { printf "%s ", $1 }'
}

# on MINORS OPERAND...: that arms these
on() {
	minors=$1
	shift
	status 0 "on $*" trace on "$@"
	is "$(armed)" "${minors:+$minors }" "arms $minors"
	trace off --all
}

on "1 2 3 5 16" app.tdf
on "1 2 3 5 16" ./app
on "1 2 3 5 16" "$TMP/app.tdf"
on "1 5" 'app(0x1,5-9)'
on "1 2" 'app(MEM)'
on "2" 'app(MEM,POST)'
on "1 16" 'app(API)'
on "1 2 5 16" 'app(1)' 'app(5)' 'app.tdf(16,2)'
on "1 2" --group MEM app
on "1 3 5" --minor 5 --type PRE app.tdf
on "2 5" --minor 5 --group MEM --type POST app.tdf
on "1 2 3 5 16" app app

# Where a TDF is looked for
mkdir path etc bin
mv app.tdf path/other.tdf
export TRACE_PATH="$TMP/none:$TMP/path"
on "5" 'other(5)'
mv path/other.tdf bin/app.tdf
cp target bin/app
PATH=$TMP/bin:$PATH on "5" 'app(5)'
on "5" "$TMP/bin/app(5)"
mv bin/app.tdf path/libx.tdf
on "5" 'libx.so.1(5)'
on "5" -m "$TMP/target" 'libx.so(5)'
mv path/libx.tdf app.tdf
cp app.tdf path/old.tdf
status 1 "another ending" trace on old.bak
like "$(cat "$TMP/err")" "there is no TDF 'old.bak'" "is no name of a module's"
rm path/old.tdf
status 1 "on of what isn't there" trace on nothing
like "$(cat err)" "there is no TDF 'nothing'" "says so"
like "$(cat err)" "nothing.tdf beside the module, in TRACE_PATH, /etc/rastrace" \
	"and where it was looked for"

# More of an armed TDF is another session
status 0 "a part is armed" trace on 'app(1)'
status 0 "another part" trace on 'app(1-3)'
like "$(cat err)" "1 tracepoint is armed already; the other 2 are now" \
	"what is armed already is reported"
is "$(armed)" "1 2 3 " "and left out"
status 1 "what is armed already" trace on 'app(1,2)'
like "$(cat err)" "armed already" "is refused"
status 0 "the rest" trace on app
"$TMP/target" 3
is "$(total)" 6 "each is hit once"
is "$(tracefmt 2>/dev/null | grep -c '^Event')" 6 "and recorded once"

# Off by parts
status 0 "off by minor" trace off 'app(2)'
is "$(armed)" "1 3 5 16 " "disarms it"
"$TMP/target" 1
status 1 "off of what isn't armed" trace off 'app(2)'
like "$(cat err)" "there is no tracepoint 2" "says so"
like "$(cat err)" "there are 1, 3, 5, 16" "and what there is"
status 0 "off by group and type" trace off 'app(QUE,PRE)'
is "$(armed)" "1 5 16 " "disarms it"
mv app.tdf away.tdf
status 1 "off by name without the TDF" trace off 'app(MEM)'
like "$(cat err)" "give the minors" "asks for minors"
status 0 "by minor it is fine" trace off 'app(5)'
is "$(armed)" "1 16 " "disarms it"
mv away.tdf app.tdf
status 0 "what is off is armed again" trace on 'app(2)'
is "$(armed)" "1 2 16 " "beside the others"
status 0 "off of all sessions" trace off app
is "$(armed)" "" "disarms the rest"
is "$(total)" 8 "the figures stay"
is "$(ls "$RASTRACE_RUN/armed")" "" "no session is left"
trace off --all

# What is wrong: nothing of that operand, all of the others
status 1 "one operand is wrong" trace on 'app(1,99)' 'app(2)' 'nothing(1)'
like "$(cat err)" "cannot arm 'app\(1,99\)': there is no tracepoint 99" \
	"the part is named"
like "$(cat err)" "there are 1-3, 5, 16" "and what there is"
like "$(cat err)" "cannot arm 'nothing\(1\)': there is no TDF" "each is reported"
is "$(armed)" "2 " "the other is armed"
trace off --all
status 1 "a name that isn't there" trace on 'app(MOU)'
like "$(cat err)" "groups: MEM, QUE; types: PRE, POST, API" "names those that are"
cp target good
sed "s,$TMP/target,$TMP/good," app.tsf | make_tdf good.tsf
printf 'x' >>good
objcopy --only-keep-debug target target 2>/dev/null || : >target
status 1 "the module of one has changed" trace on app good
like "$(cat err)" "cannot arm 'app'" "that is reported"
is "$(trace query | grep -c '^/.*good.tdf')" 1 "the other is armed"
cp "$TARGET" target
trace off --all

# A trigger
status 0 "--stop-on" trace on 'app(1)' --stop-on 'app(5):after 3'
is "$(armed)" "1 5 " "its tracepoint is armed as well"
"$TMP/target" 10
is "$(tracefmt 2>/dev/null | grep -c '^Event')" 4 \
	"the trigger and three more are recorded"
status 1 "--stop-on of what is armed already" trace on 'app(2)' --stop-on 'app(5)'
like "$(cat err)" "doesn't stop the recording" "is reported"
trace off --all
status 1 "--stop-on of another TDF" trace on app --stop-on 'nothing(1)'
like "$(cat err)" "^trace: --stop-on 'nothing\(1\)': there is no TDF" "is reported"
status 1 "--stop-on without a number" trace on app --stop-on 'app(1):after x'
like "$(cat err)" "'x' is no number of records" "is reported"
status 1 "--stop-on twice, after other numbers" \
	trace on app --stop-on 'app(1):after 3' --stop-on 'app(5):after 4'
like "$(cat err)" "all need the same 'after'" "is reported"
status 1 "--stop-on of a TDF that isn't armed" trace on app --stop-on 'good(1)'
like "$(cat err)" "'good' is not among what is to be armed" "is reported"
is "$(armed)" "" "nothing is armed"

# OS/2's form
status 0 "ON with /B:" trace ON app.tdf /B:512 /Q
like "$(cat out)" "^buffer: 512 KiB" "sets the buffer, /Q shows it"
status 0 "/S" trace /S
is "$(figure state)" '"suspended"' "suspends"
status 0 "/R /C" trace /R /C
status 0 "OFF" trace OFF app.tdf
is "$(armed)" "" "disarms"
status 0 "/D:" trace on 'app(5)' /D:PROCNAME,TID
"$TMP/target" 1
trace off --all
tap_done
