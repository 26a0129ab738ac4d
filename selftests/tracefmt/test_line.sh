#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# --format=line: an event or a call is a line, in order of time, with thread,
# depth, values, result, and latencies from --slow on; which format is the default.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/tracefmt/calls.sh"
need python3

golden=$TOP/selftests/tracefmt/golden
unset NO_COLOR
export TERM=xterm PAGER=
escape=$(printf '\033')

show() {
	tracefmt -q --tff . "$@"
}

# one of them takes longer than what --slow is at first
example_calls
sed -i 's/^1000001500 /1000021500 /' calls.txt
calls calls.ras <calls.txt

status 0 "lines" show --format=line calls.ras
ok "are those of golden/line.txt" diff -u "$golden/line.txt" out
status 0 "of a pipe" sh -c \
	'cat calls.ras | tracefmt -q --tff . --format=line --slow=1s -'
is "$(grep -vc '^ *+' out)" 2 "have the time, but for what has no POST"
status 0 "--slow=0" show --format=line --slow=0 calls.ras
is "$(grep -c ' [nu]s  ' out)" 6 "shows all latencies"
status 0 "chosen calls" show --format=line -e 'latency > 1us' calls.ras
is "$(cat out)" \
	'  +0.000000000 app:70              21.40 us  open(name = "/etc/passwd") = 3' \
	"are lines"
cp calls.ras again.ras
status 0 "several traces" show --format=line calls.ras again.ras
like "$(head -n 1 out)" ' target/app:71 ' "have the host"
status 0 "--utc" show --format=line --utc calls.ras
like "$(head -n 1 out)" '^[ 0-9:]+[.][0-9]{9} app:71 ' "is a time of day"

# functions NAME: their names, in order
functions() {
	sed -n 's/.* \(open\|work\|fall\)(.*/\1/p' "$1" | sort | tr '\n' ' '
}
show --format=line calls.ras >lines
show --tree calls.ras >tree
is "$(functions lines)" "$(functions tree)" "the calls are those of --tree"

# colours
status 0 "--color" show --format=line --color calls.ras
like "$(cat out)" "$escape\[1mopen$escape\[m" "names are bold"
is "$(sed "s/$escape\[[0-9;]*m//g" out)" "$(cat "$golden/line.txt")" \
	"and nothing else is different"

# which format is the default
terminal() {
	python3 "$TOP/selftests/tracefmt/terminal.py" "$@"
}
manual=$(show calls.ras)
status 0 "a terminal" terminal tracefmt -q --tff . --color=never calls.ras
is "$(cat out)" "$manual" "has the layout of the manual"
status 0 "--format=auto on one" terminal tracefmt -q --tff . --format=auto \
	--color=never calls.ras
ok "is lines" diff -u "$golden/line.txt" out
is "$(show --format=auto calls.ras)" "$manual" "elsewhere it isn't"
is "$(show --format=manual calls.ras)" "$manual" "--format=manual"
is "$(show --format=tree calls.ras)" "$(show --tree calls.ras)" "--format=tree"
is "$(show --format=pairs calls.ras)" "$(show --pair calls.ras)" \
	"--format=pairs"
is "$(RASTRACE_FORMAT=line show calls.ras)" "$(cat "$golden/line.txt")" \
	"RASTRACE_FORMAT"
is "$(RASTRACE_FORMAT=line show --format=text calls.ras)" "$manual" \
	"an option is stronger"
is "$(RASTRACE_FORMAT=line show --format=auto --prefix '%n ' calls.ras)" \
	"$(show --prefix '%n ' calls.ras)" "an option of text is text"
is "$(RASTRACE_FORMAT=json show -s calls.ras)" "$(show -s calls.ras)" \
	"figures are text"
RASTRACE_FORMAT=ctf status 2 "one that needs a file" show calls.ras
is "$(cat err)" \
	"tracefmt: RASTRACE_FORMAT 'ctf': one of text, manual, line, tree, json, csv is wanted" \
	"is refused"

# configure LINES: it has these
configure() {
	mkdir -p config/rastrace
	printf "$@" >config/rastrace/tracefmt.conf
}
configure '# mine\n\n  format =line\r\ncolor=never\nslow = 1s' ||
	bail "no file"
status 0 "a configuration file" show calls.ras
is "$(cat out)" "$(show --format=line --slow=1s calls.ras)" "is followed"
status 0 "and options" show --color --slow=10us calls.ras
like "$(cat out)" "$escape" "are stronger"
is "$(RASTRACE_FORMAT=text show calls.ras)" "$manual" \
	"so is the environment"
configure 'prefix = "%%n> "\n'
is "$(show --fields tid calls.ras | head -n 1)" "1> tid=70" "a template"
is "$(TRACEFMT_PREFIX='%n: ' show --fields tid calls.ras | head -n 1)" \
	"1: tid=70" "that of the environment is stronger"
configure 'symbols = none\n'
status 1 "a directory that is not there" show calls.ras
like "$(cat err)" "cannot read 'none'" "is reported"

# wrong MESSAGE LINES
wrong() {
	message=$1
	shift
	configure "$@"
	status 2 "$message" show calls.ras
	is "$(head -n 1 err)" \
		"tracefmt: '$TMP/config/rastrace/tracefmt.conf'$message" \
		"is what it says"
}
wrong ", line 2: 'red' has no value" 'color = auto\nred\n'
wrong ", line 1: color 'red': always, never or auto is wanted" 'color = red\n'
wrong ", line 1: format 'ctf': one of text, manual, line, tree, json, csv is wanted" \
	'format = ctf'
wrong ", line 3: slow '10': a time is wanted: 500ns, 20us, 1ms, 2s or 0" \
	'\n\nslow = 10'
wrong ", line 1: prefix '': a template is wanted" 'prefix ='
wrong ", line 1: 'tff' is no setting" 'tff = /'
wrong ", line 1: the byte 0x00 is no text" 'color = auto\000\n'
configure 'prefix = %%q'
status 2 "a template that is wrong" show calls.ras
is "$(head -n 1 err)" \
	"tracefmt: 'tracefmt.conf': prefix: there is no such control" \
	"is reported"
wrong " has more than 65536 bytes" '%070000d' 0
rm config/rastrace/tracefmt.conf
mkfifo config/rastrace/tracefmt.conf
status 2 "a fifo" show calls.ras
like "$(cat err)" "tracefmt.conf' is not a regular file" "is reported"
rm config/rastrace/tracefmt.conf
for value in 5 1m -1us 99999999999999999999s 20000000000s us; do
	status 2 "--slow=$value" show "--slow=$value" calls.ras
	is "$(cat err)" \
		"tracefmt: --slow '$value': a time is wanted: 500ns, 20us, 1ms, 2s or 0" \
		"is refused"
done
tap_done
