#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Whole calls: --calls in its forms, conditions and columns of calls, --tree of
# chosen calls, --folded, --diff, and what is in doubt.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/tracefmt/calls.sh"
golden=$TOP/selftests/tracefmt/golden

# events OPTION...: numbers of the entries of the calls that are given out
events() {
	show --format=json --fields event,latency "$@" calls.ras >out 2>err
	sed 's/{"event":\([0-9]*\).*/\1/' out | sort -n | tr '\n' ' '
}

example_calls

status 0 "calls" show --calls calls.ras
ok "are those of golden/calls.json" diff -u "$golden/calls.json" out
status 0 "both records of a call" show --calls --format=text calls.ras
ok "are those of golden/calls.txt" diff -u "$golden/calls.txt" out
status 0 "rows" show --calls --format=csv calls.ras
if command -v python3 >/dev/null; then
	cp out rows
	show --calls calls.ras >objects
	python3 - >found 2>&1 <<'END'
import csv, json

OBJECTS = "entry", "exit", "entry_notes", "exit_notes"

with open("rows", newline="") as file:
    rows = list(csv.DictReader(file))
with open("objects") as file:
    objects = [json.loads(line) for line in file]
assert len(rows) == len(objects) > 5
for row, call in zip(rows, objects):
    assert set(call) <= set(row), set(call) - set(row)
    for name, value in row.items():
        want = call.get(name)
        if name in ("host", "trace") and name not in call:
            assert value
        elif name in OBJECTS:
            assert (json.loads(value) if value else None) == want, (name, row)
        else:
            assert value == ("" if want is None else str(want)), (name, row)
END
	is "$(cat found)" "" "have what the objects have"
fi
is "$(show --calls --format=csv --fields function,result,entry.n,exit calls.ras |
	head -n 2 | tr -d '\r')" 'function,result,entry.n,exit,entry_notes,exit_notes
(app) work,1,3,"{""out"":""x"",""Return_Code"":1}",,' "--fields chooses columns"
is "$(show --format=csv --fields tid,latency,depth -e 'latency > 1us' calls.ras |
	tr -d '\r')" 'tid,latency,depth
70,1400,0' "columns of calls make calls"
status 0 "calls of a pipe" sh -c 'cat calls.ras |
	tracefmt --utc -q --tff . --calls - | sort >piped'
sort "$golden/calls.json" >sorted
ok "are the same" cmp sorted piped
if command -v python3 >/dev/null; then
	show --format=html -o calls.html calls.ras
	python3 "$TOP/selftests/tracefmt/page_rows.py" calls.html >rows
	python3 - >found 2>&1 <<'END'
import json

with open("rows") as file:
    rows = [json.loads(line) for line in file if line[0] == "{"]
with open("objects") as file:
    calls = {call["exit_event"]: call for call in map(json.loads, file)
             if call["latency"] is not None}
posts = {row["number"]: row for row in rows if row["role"] == 2}
print(len(posts))
for number, row in posts.items():
    own = calls[number]["self"]
    assert row["self"] == (-1 if own is None else own), row
END
	is "$(cat found)" 4 "a page has the same self times"
fi
status 0 "columns" show --fields \
	function,latency,self,result,doubt,parent,entry.n,exit.out,n calls.ras
is "$(sed -n '1p;5p;8p;9p' out)" \
	'function="work" latency=100ns self=100ns result=1 parent=3 entry.n=3 exit.out="x" n=3
function="open" latency=1.400us self=900ns result=3
function="open" latency=300ns self=? result=<tail call>
function="fall" latency=? self=? doubt=no_entry' "of calls"
status 0 "columns of JSON" show --format=json \
	--fields function,entry,exit.out,latency calls.ras
is "$(sed -n 4p out)" \
	'{"function":"(app) work","entry":{"n":5},"exit.out":"abc","latency":500}' \
	"have the names that were asked for"

# conditions
is "$(events)" "1 2 3 4 5 12 13 14 16 17 " "all calls"
is "$(events -e 'latency > 300ns')" "1 2 5 " "latency > 300ns"
is "$(events -e 'latency > 0.3us && latency < 1us')" "2 5 " "units"
is "$(events -e 'latency > 300ns && result == 0')" "2 5 " "and result"
is "$(events -e 'self <= 100')" "4 " "self"
is "$(events -e 'entry.n > 1')" "3 4 5 17 " "a field of the entry"
is "$(events -e 'exit.out ~ "^a"')" "5 " "of the exit"
is "$(events -e 'out == "x" && latency > 0')" "4 " "one of either"
is "$(events -e 'latency > 0 && function ~ "open"')" "1 12 " "function"
is "$(events -e 'latency > 0 && parent == 2')" "3 " "parent"
is "$(events -e 'doubt == "no_exit" || result == "none"')" "13 14 " "doubt"
is "$(events -e '!(latency > 0)')" "13 14 16 17 " \
	"what has no latency isn't longer"
is "$(events -e 'latency >= 0' --tid 70)" "1 5 " "--tid"
is "$(events --minor 0x8002)" "2 3 4 5 " "--minor of the POST"
is "$(events --until +0.0000001)" "1 2 3 4 5 " "--until: matching comes first"
is "$(events -e 'depth == 2' -e 'latency > 1us')" "1 4 14 " "either of two"
status 1 "a field that no call has" show -e 'entry.foo == 1' calls.ras
like "$(cat err)" "no call has the field 'entry.foo'" "is reported"
status 1 "and as a column" show --fields entry.foo calls.ras
like "$(cat err)" "no call has a field 'entry.foo'" "is reported, too"
status 0 "a condition on the latency" show -e 'latency > 1us' --format=text calls.ras
is "$(grep -c '^Event' out)" 2 "prints both records"
like "$(cat out)" 'Call of event \[1\]  Latency \[1.400 us\]  Self \[900 ns\]' \
	"and the figures"
status 2 "calls of CTF" show -e 'latency > 1' --format=ctf calls.ras
like "$(cat err)" "'ctf' does not give out calls" "are refused"
status 2 "calls and the figures" show --calls -s calls.ras
status 2 "the last calls" show -e 'latency > 1' --last 3 calls.ras
like "$(cat err)" "without --last" "are refused"
status 2 "calls in another order" show --calls -n calls.ras
status 2 "calls and a tree of JSON" show --folded --format=json calls.ras

# a tree of chosen calls
status 0 "a tree of chosen calls" show --tree -e 'entry.n == 3' calls.ras
is "$(sed 1d out | cut -c 20-)" "             | work(n = 1) {
             |   work(n = 2) {
      100 ns |     work(n = 3) = 1, out = \"x\"
      210 ns |   } = 1, out = \"y\"  work
      320 ns | } = 0, out = \"z\"  work" "has those around them"
status 0 "one of its outermost calls" show --tree -e 'latency == 320' calls.ras
is "$(sed 1d out | cut -c 20-)" "      320 ns | work(n = 1) = 0, out = \"z\"" \
	"has no others"
status 0 "calls that were left" show --tree -e 'doubt == "no_exit" || latency < 0' \
	calls.ras
is "$(sed 1d out | cut -c 20-)" "             | open(name = \"a\") {
             |   fall() {
             |     fall() <no POST>
             |   } <no POST>  fall
      300 ns | } = <tail call>  open" "can be chosen"

# stacks
status 0 "stacks" show --folded calls.ras
is "$(sort out)" "open 900
open;work 500
work 110
work;work 110
work;work;work 100" "have the time of the innermost function"

# two traces
sed 's/"abc" 0/"abc" 7/; s/^1000000470/1000000970/' calls.txt | calls new.ras
status 0 "a difference" show --diff calls.ras new.ras
ok "is that of golden/diff.txt" diff -u "$golden/diff.txt" out
status 0 "of the same" show --diff calls.ras calls.ras
is "$(sed -n '/^Sequences/,$p' out)" "Sequences
  thread 2 of app: the same 8 calls
  thread 1 of app: the same 2 calls" "there is none"
status 2 "one file" show --diff calls.ras
like "$(cat err)" "two files are wanted" "isn't enough"
calls holes.ras <<'END'
session 1 1 0 2 0x8002
1000000100 7 70 1 2 0 1
gap 800
1000000900 7 70 1 0x8002 0 "a" 1
1000001000 7 70 1 2 0 1
1000001100 7 70 1 0x8002 0 "a" 1
END
status 1 "a trace with a hole" show --diff calls.ras holes.ras
like "$(cat err)" "cannot compare 'holes.ras': records are missing" "is refused"
status 0 "unless forced" show --force --diff calls.ras holes.ras

# doubt
status 0 "a hole" show --fields function,latency,doubt holes.ras
is "$(cat out)" 'function="work" latency=? doubt=lost
function="work" latency=100ns' "is between the records of one call only"
like "$(cat err)" "1 calls have no latency.*; 1 near missing records" \
	"which a message counts"
status 0 "its tree" show --tree holes.ras
is "$(sed 1d out | cut -c 20-)" "           ? | work(n = 1) = 1, out = \"a\"
      100 ns | work(n = 1) = 1, out = \"a\"" "has a mark"

# work 2 is left by an exception that work 1 catches: its POST is the only one
calls left.ras <<'END'
session 1 1 0 1 0x8001 2 0x8002
1000000100 7 70 1 1 0 "x"
1000000200 7 70 1 2 0 1
1000000300 7 70 1 2 0 2
1000000400 7 70 1 0x8002 0 "a" 1
1000000500 7 70 1 0x8001 0 3
1000000600 7 70 1 1 0 "x"
1000000700 7 70 1 2 0 1
1000000800 7 70 1 2 0 2
1000000900 7 70 1 0x8002 0 "a" 1
1000001000 7 70 1 0x8002 0 "a" 1
1000001100 7 70 1 0x8001 0 3
END
status 0 "an exception in a recursion" \
	show --fields event,latency,self,doubt left.ras
is "$(cat out)" "event=2 latency=? self=? doubt=no_exit
event=3 latency=? self=? doubt=recursion
event=1 latency=400ns self=?
event=8 latency=100ns self=100ns
event=7 latency=300ns self=200ns
event=6 latency=500ns self=200ns" "leaves two that may have returned"
status 0 "its slices" show --format=perfetto left.ras
is "$(grep -c '"uncertain call"' out)" 1 "have a mark"

# much
calls deep.ras <<'END'
session 1 1 0 2 0x8002
repeat 300000 1000000000 500 7 70 1 2 2
repeat 300000 1200000000 500 7 70 1 0x8002 0x8002
repeat 300000 1400000000 500 7 70 1 0x8002 0x8002
END
for option in --calls --folded --pair --tree; do
	status 0 "300000 calls in each other, and as many POSTs: $option" \
		sh -c "timeout 60 tracefmt -q --tff . $option deep.ras >deep.out"
done
tap_done
