#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Options that are wrong are refused before anything is read or written, each
# with what is wrong; where the output goes, and that no trace is lost by it.
. "$(dirname "$0")/../tap.sh"

make_trace=${BUILT:-$TOP/build/selftests}/tracefmt/make_trace
[ -x "$make_trace" ] || skip_all "needs $make_trace"
unset TRACEFMT_PATH
cd "$TMP" || exit 1
mkdir tff
"$make_trace" tff && mv tff/*.ras .

# wrong MESSAGE OPTION...: tracefmt reports misuse
wrong() {
	message=$1
	shift
	status 2 "misuse: $*" tracefmt "$@" typed.ras
	like "$(cat err)" "^tracefmt: .*$message" "it is reported"
	is "$(cat out)" "" "nothing is printed"
}

wrong "unrecognized|unknown|invalid" --frobnicate
wrong "'--format' requires an argument|--format" --utc --format
wrong "--format 'xml': one of auto, text, manual, line, tree, pairs, folded, json, csv, ctf, perfetto, html, otlp is wanted" \
	--format xml
wrong "--color 'red': always, never or auto is wanted" --color=red
wrong "--colour 'red': always, never or auto is wanted" --colour=red
wrong "--last '0': a number from 1 on is wanted" --last 0
wrong "--last '-1': " --last -1
wrong "--last '3x': " --last 3x
wrong "--around '99999999999999999999': " --around 99999999999999999999
wrong "--summary 'day': one of pid, major, minor is wanted" --summary=day
wrong "--summary: the figures are text, not 'json'" --summary --format=json
wrong "--newest-first: 'html' needs the events in the order of time" \
	--newest-first --format=html
wrong "--format=ctf: a trace is a directory, .* -o DIR" --format=ctf
wrong "--follow: 'typed.ras' is a file, which has an end" --follow
wrong "--fields '': a name is missing" --fields ''
wrong "--fields 'n,,pid': a name is missing" --format=json --fields n,,pid
wrong "--fields: the figures have no fields" --summary --fields n
for format in pairs tree line perfetto ctf; do
	wrong "--fields: text, json and csv have columns, not '$format'" \
		--fields n "--format=$format" -o made.txt
done
wrong "'pairs' and 'json' are outputs of their own" --pair --format=json
wrong "'tree' and 'pairs' are outputs of their own" --tree --pair
wrong "" --field 'n ==' --output made.txt
ok "and no file is made" test ! -e made.txt

status 0 "a file" tracefmt -q --tff tff typed.ras
mv out plain
status 0 "--output" tracefmt -q --tff tff --output text typed.ras
ok "has the same text" cmp plain text
is "$(cat out)" "" "and there is nothing on standard output"
status 0 "--output of a longer file" tracefmt -q --tff tff -o text --last 1 typed.ras
is "$(grep -c ^Event text)" 1 "it is replaced"
status 0 "figures in a file" tracefmt --summary --tff tff -o text typed.ras
like "$(cat text)" "^Complete" "are there"
status 0 "two formats" tracefmt -q --format=csv --format=json --tff tff typed.ras
like "$(head -n 1 out)" '^\{"schema":1,"event":1,' "the last one holds"

cp typed.ras copy.ras
ln -s copy.ras link.ras
for name in copy.ras ./copy.ras link.ras; do
	status 1 "--output $name of itself" tracefmt -q -o "$name" copy.ras
	like "$(cat err)" "cannot write '$name': it is the trace itself" \
		"is refused"
done
status 1 "and of standard input" sh -c 'tracefmt -q -o copy.ras - <copy.ras'
ok "it is whole" cmp typed.ras copy.ras
status 1 "a folder that isn't there" tracefmt -q -o none/text typed.ras
like "$(cat err)" "cannot write 'none/text': No such file or directory" \
	"is reported"
status 1 "a folder" tracefmt -q -o tff typed.ras
status 1 "a full disk" tracefmt -q -o /dev/full typed.ras
like "$(cat err)" "No space left on device" "is reported"
status 1 "as standard output" sh -c 'tracefmt -q typed.ras >/dev/full'
status 1 "and for the figures" sh -c 'tracefmt --summary typed.ras >/dev/full'
status 1 "one of two files that isn't there" tracefmt -q --tff tff no.ras typed.ras
ok "the other one is printed" cmp plain out

# what can't be written whole isn't there at all
# small COMMAND...: files have 8 KiB at most
small() {
	sh -c 'trap "" XFSZ; ulimit -f 8 && exec "$@"' - "$@"
}
mkdir out.d
"$make_trace" tff 1000
for format in text json csv perfetto otlp pairs tree line; do
	rm -f new
	echo old >out.d/file
	case $format in
	pairs | tree | line) set -- --last 5 ;;
	*) set -- ;;
	esac
	status 0 "$format" tracefmt -q "--format=$format" --tff tff \
		-o out.d/file "$@" tff/bench.ras
	[ $# -eq 0 ] || continue
	echo old >out.d/file
	status 1 "of which there is no room" small tracefmt -q \
		"--format=$format" --tff tff -o out.d/file tff/bench.ras
	is "$(cat out.d/file) $(ls out.d)" "old file" "leaves what was there"
	like "$(cat err)" "^tracefmt: cannot write 'out.d/file': File too large" \
		"and is reported"
done
rm out.d/file
status 1 "a new file without room" small tracefmt -q --tff tff -o out.d/file \
	tff/bench.ras
is "$(ls out.d)" "" "is not made"
for trace in tff/bench.ras "tff/bench.ras sample.ras"; do
	# shellcheck disable=SC2086
	status 1 "ctf without room" small tracefmt -q --tff tff --format=ctf \
		-o out.d/ctf $trace
	is "$(ls out.d)" "" "is not made"
	like "$(cat err)" "^tracefmt: cannot write 'out.d/ctf': File too large" \
		"and is reported"
done
echo old >out.d/file
status 1 "a field that no event has" tracefmt -q --tff tff --format=csv \
	--fields none -o out.d/file typed.ras
is "$(cat out.d/file)" old "leaves what was there, too"
head -c $(($(wc -c <typed.ras) - 16)) typed.ras >cut.ras
status 1 "of a damaged trace" tracefmt -q --tff tff -o out.d/file cut.ras
ok "what can be read is there" cmp plain out.d/file
chmod 640 out.d/file
ln -s file out.d/link
status 0 "a link" tracefmt -q --tff tff -o out.d/link typed.ras
is "$(stat -c %F-%a out.d/link out.d/file | tr '\n' ' ')" \
	"symbolic link-777 regular file-640 " "stays one, and the mode, too"
status 0 "-o -" tracefmt -q --tff tff -o - typed.ras
ok "is standard output" cmp plain out
status 0 "-o /dev/stdout" sh -c \
	'{ echo first; tracefmt -q --tff tff -o /dev/stdout typed.ras; } | cat'
is "$(sed 1d out | cmp - plain && head -n 1 out)" first "too"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 711 "$TMP"
	mkdir -m 711 theirs
	echo old >theirs/file && chmod 666 theirs/file
	status 0 "a file in a folder of others" setpriv --reuid=65534 \
		--clear-groups "$BIN/tracefmt" -q --tff tff -o theirs/file \
		typed.ras
	ok "is written in its place" cmp plain theirs/file
else
	skip "a file in a folder of others" "needs root and setpriv"
fi
for closed in '>&-' '<&- >&- 2>&-'; do
	status 0 "$closed" sh -c "tracefmt -q --tff tff -o out.d/file typed.ras $closed"
	ok "has a file" cmp plain out.d/file
done
status 1 "without one" sh -c "tracefmt -q --tff tff typed.ras >&-"
like "$(cat err)" "cannot print: Bad file descriptor" "is reported"
status 0 "no standard error" sh -c "tracefmt --tff tff typed.ras 2>&-"
ok "loses nothing" cmp plain out
mkfifo fifo
cat fifo >taken &
status 0 "a fifo" tracefmt -q --tff tff -o fifo typed.ras
wait
ok "has it" cmp plain taken
status 1 "of a pipe what there is room for" small sh -c \
	'cat tff/bench.ras | tracefmt -q --tff tff -o out.d/pipe -'
ok "stays" test -s out.d/pipe

# the reader of a pipe has enough
"$make_trace" tff 100000
status 1 "no folder for events that wait" env TMPDIR=/nowhere \
	tracefmt -q --tff tff --newest-first tff/bench.ras
like "$(cat err)" "cannot keep events in a file of TMPDIR, '/nowhere': No such" \
	"is reported"
status 1 "no room for them" small tracefmt -q --tff tff --newest-first \
	tff/bench.ras
like "$(cat err)" "cannot keep events in a file of TMPDIR, '.*': File too large" \
	"is reported"
status 0 "a reader that goes away" sh -c \
	'{ tracefmt tff/bench.ras; echo $? >code; } | head -n 1'
is "$(cat code) $(cat err)" "0 " "is no error, and nothing is reported"
tap_done
