#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Text in a form that the user chooses (--prefix, --fields), the figures of the
# chosen events (--summary), and the messages about what isn't there.
. "$(dirname "$0")/../tap.sh"

make_choices=${BUILT:-$TOP/build/selftests}/tracefmt/make_choices
[ -x "$make_choices" ] || skip_all "needs $make_choices"
unset TRACEFMT_PATH TRACEFMT_PREFIX
export TZ=UTC
cd "$TMP" || exit 1
"$make_choices" .

# printed NAME EXPECTED OPTION...: that is printed of events 2 and 4
printed() {
	printed_name=$1 printed_expected=$2
	shift 2
	is "$(tracefmt -q --event 2,4 "$@" choices.ras 2>&1)" \
		"$printed_expected" "$printed_name"
}

printed "--prefix is in front of each line" \
"00:01:30.020000000 worker/0:1| req = {age = 1, tag = \"tag\", color = GREEN, parts = {{low = 1, high = 0}, {low = 2, high = 0}}}
00:01:30.020000000 worker/0:1| r->next->age = -1
00:01:30.020000000 worker/0:1| list = 0001.
00:01:30.060000000 | fd = 2, len = 39
00:01:30.060000000 | name = conf.d/say \"hi\"
00:01:30.060000000 | mode = READ | WRITE" --prefix '%t %c|'
printed "a prefix that ends with a line end is above the lines" \
"2 (APP) Request
 req = {age = 1, tag = \"tag\", color = GREEN, parts = {{low = 1, high = 0}, {low = 2, high = 0}}}
 r->next->age = -1
 list = 0001.
4 (APP) Open Pre
 fd = 2, len = 39
 name = conf.d/say \"hi\"
 mode = READ | WRITE" --prefix '%n %e\n'
for format in 'text minor=2 group=MEM types=PRE|minor=1 group=FILE types=PRE,API|' \
	'csv minor,group,types|2,MEM,PRE|1,FILE,PRE API|' \
	'json {"minor":2,"group":"MEM","types":["PRE"]}|{"minor":1,"group":"FILE","types":["PRE","API"]}|'; do
	is "$(tracefmt -q --event 2,4 "--format=${format%% *}" \
		--fields minor,group,types choices.ras | tr -d '\r' | tr '\n' '|')" \
		"${format#* }" "group and types in ${format%% *}"
done
printed "--fields" \
'event=2 pid=101 comm=worker/0:1
event=4 pid=103 len=39 name="conf.d/say "hi"" mode=READ | WRITE' \
	--fields event,pid,comm --fields len,name,mode
printed "members of a line" \
'2: req = {age = 1, tag = "tag", color = GREEN, parts = {{low = 1, high = 0}, {low = 2, high = 0}}}, r->next->age = -1, list = 0001
4: fd = 2, len = 39, name = "conf.d/say "hi"", mode = READ | WRITE' \
	--prefix '%n: ' --fields fields
printed "all controls" \
'2|00:01:30.020000000|2026-02-04|1770163290.020000000|0.000000000|0.000000000|100.020000000|target|101|1001|worker/0:1|0|197|2|(APP) Request|35||%|:event=2
4|00:01:30.060000000|2026-02-04|1770163290.060000000|0.040000000|0.040000000|100.060000000|target|103|1003||0|197|1|(APP) Open Pre|37||%|39:event=4' \
	--prefix '%n|%t|%D|%s|%r|%d|%b|%h|%p|%i|%c|%C|%M|%m|%e|%l|%f|%%|%{len}:' \
	--fields event
printed "widths and hexadecimal" \
'  101|1001  |0x00C5|0x0002|worker/0:1|event=2
  103|1003  |0x00C5|0x0001|          |event=4' \
	--prefix '%5p|%-6i|%#M|%#m|%10c|' --fields event
printed "groups, types, times" \
'group=MEM types=PRE time_ns=1770163290020000000 boot_ns=100020000000 minor=2
group=FILE types=PRE,API time_ns=1770163290060000000 boot_ns=100060000000 minor=1' \
	--fields group,types,time_ns,boot_ns,minor
is "$(tracefmt -q --fields data --event 3 choices.ras)" \
	"data=00 08 00 02 00 00 00 00 00 00 00 00 08 00 00 00 00 00 00 00 D0 3F 00 04 00 02 00 00 00" \
	"the bytes"
is "$(TRACEFMT_PREFIX='%n>' tracefmt -q --event 3 choices.ras)" \
	"3> rc = 2 load = 0.25 pid = 2" "TRACEFMT_PREFIX"
is "$(TRACEFMT_PREFIX='%n>' tracefmt -q --prefix '%p:' --event 3 choices.ras)" \
	"102: rc = 2 load = 0.25 pid = 2" "--prefix goes before it"
like "$(TRACEFMT_PREFIX='%n>' tracefmt -q --format=json --event 3 choices.ras)" \
	'"event":3' "other forms have none"
is "$(tracefmt -q --prefix '%f ' --fields name --event 1 choices.ras)" \
	"fault name=<not readable: 00000000DEAD0000>" \
	"a field that could not be read"
like "$(tracefmt -q --tff none --prefix '%e: ' --event 1 choices.ras 2>&1)" \
	'^\(APP\) Open Pre: ' "the trace's own directory has the TFF"
is "$(tracefmt -q --prefix '%n ' choices.ras | cut -d ' ' -f 1 | uniq | wc -l)" \
	1000 "all events, from several threads, in order"

# figures
tracefmt --summary=minor --pid 101 choices.ras >out
like "$(cat out)" '^Chosen: 250 of 1000 events, 12\.6 a second, from 00:01:30\.02.* to 00:01:49\.94' \
	"--summary: of those chosen"
is "$(awk '/^ *197 / { print $2, $3 }' out | sort | tr '\n' ' ')" \
	"1 83 2 84 32769 83 " "by minor"
tracefmt --summary=pid choices.ras >out
is "$(awk '/^ +10[0-3] / { print $1, $2 }' out | tr '\n' ';')" \
	"100 app;101 worker/0:1;102 db;103 250;" "by process"
like "$(cat out)" '^ +101  worker/0:1 +250 +12\.5 +13  00:01:30\.020000000  00:01:49\.940000000  target$' \
	"with rates and times"
tracefmt --summary=major --event 1-100 choices.ras >out
like "$(cat out)" '^  197 +100 +50\.[0-9] +50 ' "by major"
like "$(cat out)" '^Complete from its start' \
	"the trace is read to its end for the figures"
tracefmt -s --event 1-100 - <choices.ras >out
ok "so is standard input that is a file" grep -q "^Complete" out
sh -c 'cat choices.ras | tracefmt -s --event 1-100 -' >out
like "$(cat out)" "^Not read to the end" "a pipe isn't"
like "$(cat out)" "^Chosen: 100 of 100 events read, " \
	"and the figures say how much was read"
tracefmt -s -e 'len > 1000' choices.ras >out
is "$(grep Chosen out)" "Chosen: 0 of 1000 events" "nothing was chosen"
unlike "$(cat out)" "Major" "and there's no table"
like "$(tracefmt -s choices.ras)" '^Major  Minor +Hits' \
	"without a choice the counters are there"
like "$(tracefmt --event 1 choices.ras 2>&1 >/dev/null)" '^Chosen: 1 of 1000' \
	"the figures are after the records, too"

# misuse: refused OPTION VALUE TEXT
refused() {
	status 2 "$1 '$2'" tracefmt "$1" "$2" choices.ras
	like "$(cat "$TMP/err")" "$3" "it is reported: $3"
}

refused --pid 5,x "'x' is no number"
refused --minor 70000 "'70000' is too large"
refused --cpu 9-3 "'9-3' ends before it begins"
refused --event "" "is no number"
refused --group A,,B "a name is missing at character 3"
refused --comm "" "a name is missing"
refused --since 25:00 "'25:00' is no time"
refused --until 2026-02-30 "'2026-02-30' is no time"
refused --since -0 "is no time"
refused --text "" "a text is missing"
refused --text '/(/' "Unmatched"
refused --prefix %Q "there is no such control"
refused --prefix 'a %{pid' "there is no such control"
refused --prefix %9999p "the width is too large"
refused --last 0 "a number from 1 on"
status 2 "--summary=tid" tracefmt --summary=tid choices.ras
like "$(cat "$TMP/err")" "one of pid, major, minor is wanted" \
	"it is reported"
status 2 "--since twice" tracefmt --since +1 --since +2 choices.ras
like "$(cat "$TMP/err")" "given before" "it is reported"
status 2 "--prefix with json" tracefmt --prefix x --format=json choices.ras
status 2 "a wrong TRACEFMT_PREFIX" env TRACEFMT_PREFIX=%Q tracefmt choices.ras
like "$(cat "$TMP/err")" "^tracefmt: TRACEFMT_PREFIX: " "it is reported"

# caret EXPRESSION TEXT: the error at the place that ^ marks in the expression
caret() {
	caret_at=$(printf %s "${1%%^*}" | wc -m)
	caret_plain=${1%%^*}${1#*^}
	tracefmt -e "$caret_plain" choices.ras >/dev/null 2>"$TMP/err"
	is "$(cat "$TMP/err")" "tracefmt: --field: $2
  $caret_plain
$(printf "%$((caret_at + 2))s^" "")" "-e '$1'"
}

caret "len > ^> 5" "a value is wanted here"
caret "len >^" "a value is missing at the end"
caret "^(len && name" "the '(' has no ')'"
caret "(len ^5)" "an operator or ')' is wanted here"
caret "len ^= 5" "to compare is =="
caret "len ^name" "an operator is wanted here"
caret "name ~ ^conf" "a regular expression in quotes is wanted here"
caret 'name ~ ^"(x"' "Unmatched ( or \\("
caret "5^x == 3" "a number ends before this"
caret "^99999999999999999999" "a number has at most 64 bits"
caret 'name == ^"abc' "the string has no end"
caret 'name == "^\q"' "there is no such escape"
caret "a[^x]" "the number of an element and ']' are wanted here"
caret "a.^ == 1" "a member's name is wanted here"
status 2 "deep parentheses" tracefmt -e "$(printf '(%.0s' $(seq 200))" choices.ras
status 2 "a long expression" \
	tracefmt -e "1$(printf '+1%.0s' $(seq 1000))" choices.ras
like "$(cat "$TMP/err")" "the expression is too long" "it is reported"

status 1 "a field that no event has" tracefmt -q -e 'lenn > 5' choices.ras
like "$(cat "$TMP/err")" "no event has the field 'lenn'" "is reported"
status 1 "a group that there is not" tracefmt -q --group mem,NONE choices.ras
is "$(cat "$TMP/err")" \
	"tracefmt: no format file of the events has a group 'NONE'" \
	"is reported"
status 1 "a type that there is not" tracefmt -q --type 1,NONE choices.ras
like "$(cat "$TMP/err")" "has a type 'NONE'" "is reported"
status 0 "a field called like a builtin" tracefmt -q -e 'pid < 5' choices.ras
like "$(cat "$TMP/err")" "the field is '\.pid'" "is reported"
for format in text json csv; do
	status 1 "--fields of one that no event has, $format" \
		tracefmt -q "--format=$format" --fields len,lenn choices.ras
	like "$(cat "$TMP/err")" "no event has a field 'lenn'" "is reported"
	is "$(cat "$TMP/out")" "" "before anything is printed"
done
status 1 "--prefix with one" \
	tracefmt -q --prefix '%{lenn}' choices.ras
like "$(cat "$TMP/err")" "no event has a field 'lenn'" "is reported"

tap_done
