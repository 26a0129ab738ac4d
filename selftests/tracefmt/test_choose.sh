#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Which events are chosen, and in which order they come: against a list of what
# the trace holds.
. "$(dirname "$0")/../tap.sh"

make_choices=${BUILT:-$TOP/build/selftests}/tracefmt/make_choices
[ -x "$make_choices" ] || skip_all "needs $make_choices"
unset TRACEFMT_PATH TRACEFMT_PREFIX
export TZ=UTC
cd "$TMP" || exit 1
"$make_choices" .
tab=$(printf '\t')

# numbers: of the printed events
numbers() {
	sed -n 's/^Event \[\([0-9]*\)\].*/\1/p' "$TMP/out"
}

# chosen NAME CONDITION OPTION...: the events are those that awk's condition
# holds for
chosen() {
	chosen_name=$1 chosen_if=$2
	shift 2
	awk -F "$tab" '{
		number = $1; minor = $2; pid = $3; tid = $4; comm = $5
		cpu = $6; ns = $7; fd = $8; len = $9; name = $10; age = $11
		mode = $12; color = $13; i = number - 1
	} '"$chosen_if"' { print number }' choices.txt >expected
	tracefmt -q "$@" choices.ras >"$TMP/out" 2>"$TMP/err"
	numbers >got
	ok "$chosen_name" cmp expected got || diff expected got |
		head -n 20 | diag_file
}

chosen "everything" 1
chosen "--major" 1 --major 0xc5
chosen "--minor" 'minor == 2' --minor 2
chosen "--minor with a list and a range" 'minor != 2' --minor 1,0x8000-0x8fff
chosen "--pid" 'pid == 101 || pid == 103' --pid 101,103
chosen "--pid twice" 'pid == 101 || pid == 103' -p 101 -p 103
chosen "--tid" 'tid >= 1006' --tid 1006-
chosen "--cpu" 'cpu == 2' --cpu 2
chosen "--event" 'number == 1 || (number > 9 && number < 21)' \
	--event 10-20,1,15
chosen "--group by name" 'minor == 2' --group MEM
chosen "--group by number and in the other case" 1 --group 2,file
chosen "--type" 'minor != 2' --type API
chosen "--type with several" 'minor != 0x8001 || 1' --type PRE,POST
chosen "--type by bit" 'minor == 32769' --type 0x2
chosen "--comm" 'comm == "app"' --comm app
chosen "--comm with a pattern" 'comm == "worker/0:1"' --comm 'w*/?:1'
chosen "--comm: brackets are none" 'comm == "db [main]"' --comm 'db [m*'
chosen "--comm with commas in it is one name" 0 --comm 'app,worker*'
chosen "options together" 'minor == 1 && pid == 101 && cpu == 1' \
	--minor 1 --pid 101 --cpu 1

# time: event 1 is at 2026-02-04 00:01:30 and boot+100, 50 events a second
chosen "--since a time of day" 'ns >= 5e9' --since 00:01:35
chosen "--until one with a fraction" 'ns <= 5.02e9' --until 00:01:35.02
chosen "both" 'ns >= 2.5e9 && ns <= 4e9' \
	--since 0:01:32.5 --until 00:01:34
chosen "a date" 'ns >= 5e9' --since '2026-02-04 00:01:35'
chosen "a date with T and Z" 'ns >= 5e9' \
	--since 2026-02-04T00:01:35.000000000Z
chosen "a date alone" 1 --since 2026-02-04 --until 2026-02-05
chosen "seconds since 1970" 'ns >= 5e9' --since @1770163295
chosen "+seconds" 'ns >= 1.5e9 && ns <= 2e9' --since +1.5 --until +2
chosen "boot+seconds" 'ns >= 1.5e9 && ns <= 2e9' \
	--since boot+101.5 --until boot+102s
chosen "-seconds" 'ns >= 17.98e9' --since -2
chosen "--until -seconds" 'ns <= 17.98e9' --until -2
chosen "both of them" 'ns >= 16.98e9 && ns <= 17.98e9 && pid == 101' \
	--since -3 --until -2 --pid 101
TZ=America/New_York chosen "local time" 'ns >= 5e9' --since 19:01:35
TZ=America/New_York chosen "--utc" 'ns >= 5e9' -u --since 00:01:35
TZ=America/New_York chosen "a local date" 'ns >= 5e9' \
	--since '2026-02-03 19:01:35'
chosen "an end before the first event is that of the next day" \
	'ns >= 5e9' --since 00:01:35 --until 00:01:20

# expressions
chosen "--field" 'len != "-" && len > 64' -e 'len > 64'
chosen "&& and ~" 'len != "-" && len > 64 && name ~ /conf/' \
	-e 'len > 64 && name ~ "conf"'
chosen "what a record doesn't have is false" 0 -e 'name != "" && color == 1'
chosen "!~" 'name != "-" && name !~ /^\/etc/' -e 'name !~ "^/etc/"'
chosen "== of strings" 'name == "/tmp/x"' -e 'name == "/tmp/x"'
chosen "a string with a quote" 'name ~ /say/' -e 'name == "conf.d/say \"hi\""'
chosen "and with an escape" 'name ~ /red/' -e 'name == "\e[31mred"'
chosen "! of a comparison" 'len == "-" || len <= 64' -e '!(len > 64)'
chosen "signed numbers" 'fd == -1' -e 'fd == -1'
chosen "they are below unsigned ones" 'fd != "-" && fd < len + 0' -e 'fd < len'
chosen "arithmetic" 'len != "-" && (len * 2 + 1) % 3 == fd' \
	-e '(len * 2 + 1) % 3 == fd'
chosen "division by zero is false" 'len != "-" && fd != 0 && int(len / fd) > 40' \
	-e 'len / fd > 40'
two_63=9223372036854775808
chosen "a product beyond 64 bits" 1 \
	-e "$two_63 * $two_63 / $two_63 == $two_63 && 3 * ($two_63 * 2) / 6 == $two_63"
chosen "with a sign" 1 \
	-e "-$two_63 * $two_63 / $two_63 == -$two_63 && -3 * -5 == 15"
# either would be true of a number
chosen "one beyond 127 is missing" 0 \
	-e "$two_63 * $two_63 * 2 >= 0 || $two_63 * $two_63 * 2 < 0"
chosen "one beyond 128, too" 0 \
	-e "$two_63 * $two_63 * $two_63 >= 0 || $two_63 * $two_63 * $two_63 < 0"
chosen "also of two factors beyond 64" 0 \
	-e "($two_63 * $two_63) * ($two_63 * 8) >= 0"
chosen "bits" 'mode != "-" && mode % 2' -e 'mode & 1'
chosen "bits bind looser than ==" 'mode != "-" && int(mode / 2) % 2' \
	-e '(mode & 2) == 2'
chosen "shifts, |, ^, ~" 'fd != "-" && fd >= 0' -e '(~fd ^ ~0 | 0) >> 3 << 1 == 0'
chosen "other bases" 'len == 26' -e 'len == 0x1a && len == 0b11010 && len == 0o32'
chosen "units" 'ns >= 0' -e '1K == 1024 && 2us == 2000 && 1s == 1000ms'
chosen "flags by name" 'mode == 3' -e 'mode == "READ | WRITE"'
chosen "and with ~" 'mode == 2 || mode == 3' -e 'mode ~ "WRITE"'
chosen "floating point" 'minor == 32769 && i / 8 > 12.5' -e 'load > 12.5'
chosen "with integers" 'minor == 32769 && i % 6 && i >= 800' \
	-e 'load * 8 == rc && load >= 100'
chosen "a member" 'age != "-" && age > 900' -e 'req.age > 900'
chosen "of an enum by name" 'color == "GREEN"' -e 'req.color == "GREEN"'
chosen "and by number" 'color == "RED"' -e 'req.color == 0'
chosen "a string in a structure" 'minor == 2' -e 'req.tag == "tag"'
chosen "an element's bit-field" 'age != "-" && int((i + 1) / 8) % 32 == 3' \
	-e 'req.parts[1].high == 3'
chosen "a label" 'age != "-" && age > 990' -e 'r->next->age < -990'
chosen "its name" 'age != "-" && age > 990' -e 'r_next_age < -990'
chosen "an array of %R" 'minor == 2 && i % 4 > 1 && i > 899' \
	-e 'list[1] > 900'
chosen "an element that isn't there" 0 -e 'list[3] >= 0'
chosen "a byte of a string" 'name ~ /^conf/' -e 'name[0] == 0x63'
chosen "a structure's text" 'age == 13' -e 'req ~ "^.age = 13, "'
chosen "builtins" 'pid == 101 && cpu == 1 && comm ~ /worker/ && number < 500' \
	-e 'pid == 101 && cpu == 1 && comm ~ "work" && event < 500 && major == 0xc5'
chosen "desc, length, tid" 'minor == 2 && tid == 1001' \
	-e 'desc ~ "Request" && length > 20 && tid == 1001'
chosen "time" 'ns >= 5e9' -e 'time >= 1770163295s'
chosen "a field called like a builtin" 'minor == 32769 && i < 100' \
	-e '.pid < 100'
chosen "several expressions: one of them" 'fd == 5 || age == 16' \
	-e 'fd == 5' -e 'req.age == 16'

# text
chosen "--text" 'name == "/etc/app.conf"' -g app.conf
chosen "a regular expression" 'name == "/etc/passwd" || name == "/tmp/x"' \
	-g '/passwd$|^ name = .tmp/'
chosen "in either case" 'name == "/etc/passwd"' -g '/PassWd/i'
chosen "the DESC" 'minor == 2' -g '(APP) Request'
chosen "not the header line" 0 -g 'TID ['
chosen "a path is no regular expression" 'name == "/etc/passwd"' \
	-g /etc/passwd
chosen "escapes as printed" 'name ~ /red$/' -g '\x1B[31mred'

# ordered NAME EXPECTED OPTION...: these numbers in this order
ordered() {
	ordered_name=$1 ordered_expected=$2
	shift 2
	tracefmt -q "$@" >"$TMP/out" 2>"$TMP/err"
	is "$(numbers | tr '\n' ' ')" "$ordered_expected " "$ordered_name"
}

ordered "--last" "998 999 1000" --last 3 choices.ras
ordered "--last of those chosen" "993 996 999" --last 3 --minor 0x8001 \
	choices.ras
ordered "--last of more than there are" "3 6 9" --last 50 \
	--event 3,6,9 choices.ras
ordered "--newest-first" "9 6 3" -n --event 3,6,9 choices.ras
ordered "and --last" "1000 999" -n --last 2 choices.ras
ordered "--around" "3 4 5 6 7 8 9 998 999 1000" --around 2 \
	--event 5,7,1000 choices.ras
ordered "and --last" "5 6 7 8 9" --around 2 --last 1 --event 3,7 choices.ras
ordered "those around that are chosen, too" "3 4 5 6 7 8 9" \
	--around 2 --last 2 --event 3,5,7 choices.ras
ordered "and --newest-first" "9 8 7 6 5" -n --around 2 --last 1 \
	--event 3,7 choices.ras
ordered "and --since of the end" "948 949 950 951 952" --around 2 \
	--event 800,950 --since -1.5 choices.ras
ordered "and --until of it" "799 800 801" --around 1 --event 800,950 \
	--until -3 choices.ras
ordered "--last of standard input" "999 1000" --last 2 - <choices.ras
is "$(cat choices.ras | tracefmt -q --last 2 --prefix '%n\n' --fields pid - |
	tr '\n' ' ')" "999 pid=102 1000 pid=103 " "and of a pipe"

"$make_choices" . 300000
tracefmt -q -n choices.ras >"$TMP/out" 2>"$TMP/err"
ok "300000 events, newest first" sh -c '
	sed -n "s/^Event \[\([0-9]*\)\].*/\1/p" "$1/out" |
	awk "{ if (\$1 != 300001 - NR) exit 1 } END { exit NR != 300000 }"' \
	sh "$TMP"
kibibytes=45056
[ -z "${SANITIZED-}" ] || kibibytes=unlimited
ok "with little memory" sh -c \
	'ulimit -d $1 && tracefmt -q -n "$2" | cmp - "$3"' sh \
	"$kibibytes" choices.ras "$TMP/out"
tracefmt -q --last 250000 choices.ras >"$TMP/out" 2>"$TMP/err"
ok "the last 250000 of them" sh -c '
	sed -n "s/^Event \[\([0-9]*\)\].*/\1/p" "$1/out" |
	awk "{ if (\$1 != 50000 + NR) exit 1 } END { exit NR != 250000 }"' \
	sh "$TMP"
status 1 "no room for what waits" env TMPDIR=/nonexistent \
	tracefmt -q -n choices.ras
like "$(cat "$TMP/err")" "No such file or directory" "it is reported"

tap_done
