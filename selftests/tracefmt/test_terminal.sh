#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# On a terminal: a pager, colours, and how far it is; elsewhere none of these.
. "$(dirname "$0")/../tap.sh"
need python3

make_trace=${BUILT:-$TOP/build/selftests}/tracefmt/make_trace
[ -x "$make_trace" ] || skip_all "needs $make_trace"
unset TRACEFMT_PATH PAGER LESS NO_COLOR
export TERM=xterm TZ=UTC
cd "$TMP" || exit 1
mkdir tff few
"$make_trace" tff && mv tff/*.ras .
escape=$(printf '\033')

# terminal OPTION...: terminal.py on tracefmt
terminal() {
	python3 "$TOP/selftests/tracefmt/terminal.py" "$@"
}
print="tracefmt -q --tff tff"
text=$($print typed.ras 2>/dev/null)

# a pager
PAGER='sed s/^/page:/' status 0 "a pager" terminal $print --colour=never typed.ras
is "$(sed 's/^page://' out)" "$text" "has all of the text"
unlike "$(cat out)" "^([^p]|$)" "and nothing goes past it"
PAGER='sed s/^/page:/' status 0 "figures" terminal tracefmt --tff tff typed.ras
like "$(cat out)" "^page:Complete from" "are in the pager, too"
PAGER='echo "LESS=$LESS"' status 0 "a pager that reads nothing" \
	terminal $print typed.ras
is "$(cat out)" "LESS=FRX" "and what less gets"
for off in --no-pager "-o file" --follow; do
	case $off in
	--follow)	command="cat typed.ras | $print --colour=never --follow -" ;;
	*)		command="$print --colour=never $off typed.ras" ;;
	esac
	PAGER='sed s/^/page:/' status 0 "$off" terminal sh -c "$command"
	unlike "$(cat out)" "^page:" "$off: no pager"
done
for pager in "" cat; do
	PAGER=$pager status 0 "PAGER='$pager'" \
		terminal $print --colour=never typed.ras
	is "$(cat out)" "$text" "is none"
done
PAGER='sed s/^/page:/' TERM=dumb status 0 "a dumb terminal" \
	terminal $print typed.ras
is "$(cat out)" "$text" "has none, nor colours"
status 0 "without less" terminal env PATH="$TMP" \
	"$BIN/tracefmt" -q --colour=never --tff tff typed.ras
is "$(cat out)" "$text" "the text comes anyhow"
PAGER='exit 3' status 0 "a pager that ends" terminal $print typed.ras
if command -v less >/dev/null; then
	status 0 "less" terminal -k q $print --colour=never typed.ras
	like "$(cat out)" "srv_tick" "shows the beginning, and ends on 'q'"
	"$make_trace" few 200000
	status 0 "less, and much more text" \
		terminal -k q $print few/bench.ras
	is "$(tail -c 300 out | grep -c 'cannot print')" 0 \
		"ends quietly in the middle of it"
else
	skip "less" "not installed"
fi
PAGER="" status 1 "a damaged trace" terminal tracefmt -q --tff tff hole.ras

# colours
export PAGER=
coloured="${escape}\\["
status 0 "on a terminal" terminal $print typed.ras
like "$(cat out)" "$coloured" "are colours"
is "$(sed "s/$escape\[[0-9;]*m//g" out)" "$text" "and nothing else is different"
NO_COLOR=1 status 0 "NO_COLOR" terminal $print typed.ras
unlike "$(cat out)" "$coloured" "turns them off"
NO_COLOR="" status 0 "NO_COLOR without a value" terminal $print typed.ras
like "$(cat out)" "$coloured" "doesn't"
status 0 "--colour=never" terminal $print --colour=never typed.ras
unlike "$(cat out)" "$coloured" "turns them off"
status 0 "a file" terminal -o text $print typed.ras
unlike "$(cat text)" "$coloured" "has none"
NO_COLOR=1 status 0 "--colour" $print --colour typed.ras
like "$(cat out)" "$coloured" "means always"
status 0 "--colour=auto" $print --colour=auto typed.ras
unlike "$(cat out)" "$coloured" "knows what is no terminal"
status 0 "JSON" terminal $print --format=json typed.ras
unlike "$(cat out)" "$coloured" "has no colours"

# how far it is, when the output is slow
[ -s few/bench.ras ] || "$make_trace" few 200000
mkfifo slow
(sleep 1.5 && cat >/dev/null) <slow &
status 0 "what takes long" terminal -o slow $print few/bench.ras
like "$(tr '\r' '\n' <out)" "^$escape\[K[0-9]+ %, [0-9]+ events" \
	"shows how far it is"
is "$(tr '\r' '\n' <out | tail -n 1)" "${escape}[K" "and nothing at its end"
status 0 "a short one" terminal -o /dev/null $print typed.ras
is "$(cat out)" "" "doesn't"
tap_done
