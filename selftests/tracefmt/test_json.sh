#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# --format=json and --format=csv: valid whatever the trace has, of typed values,
# saying of what is missing why; --fields.
. "$(dirname "$0")/../tap.sh"

built=${BUILT:-$TOP/build/selftests}/tracefmt
check=$TOP/selftests/tracefmt/json_lines.py
[ -x "$built/make_odd" ] || skip_all "needs $built/make_odd"
need python3
unset TRACEFMT_PATH TRACEFMT_PREFIX
cd "$TMP" || exit 1
"$built/make_trace" . || bail "make_trace"
"$built/make_calls" calls.ras other <<'SCRIPT' || bail "make_calls"
session 1 1 0 1
1000000100 7 70 1 1 0 "=1+cmd()"
1000000200 7 70 1 1 0 "a,b"
SCRIPT

# json [ARGUMENT...]: of sample.ras
json() {
	tracefmt -q --tff . --format=json "$@" 2>err
}

# csv [ARGUMENT...]: the same, line ends without \r
csv() {
	tracefmt -q --tff . --format=csv "$@" 2>err | tr -d '\r'
}

is "$(json --event 1 sample.ras)" '{"schema":1,"event":1,"time":"2026-02-03T23:59:51.052123456Z","time_ns":1770163191052123456,"boot_ns":1052123456,"host":"target","trace":"sample.ras","major":197,"minor":25,"desc":"(OS) xxalloc Pre-Invocation","pid":38,"tid":70000,"cpu":0,"length":21,"fields":{"AX":4660,"upper_BX":120,"lower_BX":86,"param":"c:\\os2\\os2.ini"}}' \
	"an event"
is "$(json --event 2 sample.ras | sed 's/.*"flags"/"flags"/')" \
	'"flags":["fault"],"fields":{"First":19244,"Second":null,"Third":null},"notes":{"Second":{"why":"not_readable","pointer":"0x7FFF0000BEEF"},"Third":{"why":"not_traced"}}}' \
	"what couldn't be read is null, and the note says why"
like "$(json --event 3 sample.ras)" '"Second":"\\u001B\[2Jname\\n"' \
	"controls are escaped"
like "$(json --event 4 sample.ras)" \
	'"minor":179,"unformatted":"no TFF entry: data hash differs .*"data":"0011003031' \
	"without a TFF entry the bytes, and why"
like "$(json --event 1 typed.ras)" \
	'"r":\{"id":7,"tag":"abc","how":\{"value":3,"name":"READ \| WRITE"\}\},"flags":\{"value":5,"name":null\}' \
	"structures are objects, enumerations have number and name"
like "$(json --event 1 --hex sample.ras)" '"data":"34127856010e00633a5c' \
	"--hex: the bytes too"
like "$(json --event 2 --relative sample.ras)" '"relative_ns":0' \
	"--relative: since the first event that is printed"
status 0 "several traces" sh -c \
	'tracefmt -q --tff . --format=json sample.ras calls.ras >both 2>err'
is "$(sed 's/.*\("host".*.ras"\).*/\1/' both | sort | uniq -c | tr -s ' ')" \
' 2 "host":"other","trace":"calls.ras"
 9 "host":"target","trace":"sample.ras"' "each event says which it is of"

for seed in 1 2 3 4; do
	"$built/make_odd" . $seed 1500 || bail "make_odd"
	json odd.ras >events
	tracefmt -q --tff . --format=csv odd.ras >table 2>err
	ok "odd trace $seed: JSON by the rules, and the table agrees" \
		python3 "$check" events table
	is "$(wc -l <events)" 1500 "odd trace $seed: all events"
done
tracefmt -q --tff . --format=csv --fields event,time_ns,trace,context odd.ras \
	2>err >columns
ok "time_ns, the trace and the context are those of JSON in a table, too" \
	python3 - events columns <<'END'
import csv, json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
rows = list(csv.DictReader(open(sys.argv[2], newline="")))
assert len(events) == len(rows) and any(row["context"] for row in rows)
for event, row in zip(events, rows):
    context = json.loads(row["context"]) if row["context"] else None
    assert (str(event["event"]), str(event["time_ns"]), "odd.ras",
            event.get("context")) == (row["event"], row["time_ns"],
                                      row["trace"], context), row
END
ok "one thread, the same text" sh -c \
	'taskset 1 tracefmt -q --tff . --format=json odd.ras 2>err | cmp - events'

# columns
is "$(json --event 1,8 --fields pid,param,time,NAME sample.ras)" \
	'{"time":"2026-02-03T23:59:51.052123456Z","pid":38,"fields":{"param":"c:\\os2\\os2.ini"}}
{"time":"2026-02-04T00:00:01.000000001Z","pid":38,"fields":{"NAME":"static"}}' \
	"--fields chooses"
like "$(json --event 2 --fields Second sample.ras)" \
	'^\{"flags":\["fault"\],"fields":\{"Second":null\},"notes":\{"Second":\{"why":"not_readable"' \
	"and notes and flags stay"
is "$(json --event 6 --fields Second,AX sample.ras)" '{}' \
	"an event may have none of them"
like "$(cat err)" "^tracefmt: no event has a field 'Second'" \
	"a field that no event has is reported"
status 1 "and is a failure" tracefmt -q --tff . --format=csv --fields None \
	sample.ras
for format in text json csv; do
	status 0 "a field named twice, $format" tracefmt -q --tff . \
		"--format=$format" --fields param,pid,param --event 1 sample.ras
done
status 2 "an empty name" tracefmt -q --tff . --format=json --fields pid,,tid \
	sample.ras
like "$(cat "$TMP/err")" "^tracefmt: --fields 'pid,,tid': a name is missing$" \
	"is reported"

# the table
is "$(csv --event 1-3 sample.ras)" 'schema,event,time,time_ns,boot_ns,host,trace,major,minor,desc,group,types,pid,tid,comm,cpu,length,flags,context,fields,notes,data
1,1,2026-02-03T23:59:51.052123456Z,1770163191052123456,1052123456,target,sample.ras,197,25,(OS) xxalloc Pre-Invocation,,,38,70000,,0,21,,,"{""AX"":4660,""upper_BX"":120,""lower_BX"":86,""param"":""c:\\os2\\os2.ini""}",,
1,2,2026-02-03T23:59:52.000000000Z,1770163192000000000,2000000000,target,sample.ras,197,177,(OS) Goo Pre-Invocation,,,38,70000,,1,18,fault,,"{""First"":19244,""Second"":null,""Third"":null}","{""Second"":{""why"":""not_readable"",""pointer"":""0x7FFF0000BEEF""},""Third"":{""why"":""not_traced""}}",
1,3,2026-02-03T23:59:53.000000000Z,1770163193000000000,3000000000,target,sample.ras,197,177,(OS) Goo Pre-Invocation,,,38,70000,,0,24,paged_in,,"{""First"":19244,""Second"":""\u001B[2Jname\n"",""Third"":1}",,' \
	"rows without --fields"
is "$(csv --event 1-3 --fields event,AX,Second,minor sample.ras)" \
	'event,AX,Second,minor,flags,notes
1,4660,,25,,
2,,,177,fault,"{""Second"":{""why"":""not_readable"",""pointer"":""0x7FFF0000BEEF""}}"
3,,\x1B[2Jname\n,177,paged_in,' \
	"columns of the fields named, and what says whether they are right"
is "$(csv --event 2 --fields notes,Second,flags,fields sample.ras)" \
	'notes,Second,flags,fields
"{""Second"":{""why"":""not_readable"",""pointer"":""0x7FFF0000BEEF""},""Third"":{""why"":""not_traced""}}",,fault,"{""First"":19244,""Second"":null,""Third"":null}"' \
	"in any order"
is "$(csv --event 1 --fields r,EAX,.flags,name typed.ras)" \
	'r,EAX,.flags,name,flags,notes
"{""id"":7,""tag"":""abc"",""how"":{""value"":3,""name"":""READ | WRITE""}}",4660,5,idle,,' \
	"structures in a column"
is "$(csv --relative --event 1,2 --fields time sample.ras)" 'time
+0.000000000
+0.947876544' "--relative"
is "$(tracefmt -q --tff . --format=csv --fields pid sample.ras | od -c |
	sed -n '1s/ *$//p')" "0000000   p   i   d  \\r  \\n   3   8  \\r  \\n   3   8  \\r  \\n   3   8  \\r" \
	"rows end as RFC 4180 wants"
name=$(json calls.ras | sed -n '1s/.*"fields":{"\([^"]*\)".*/\1/p')
is "$(csv calls.ras --fields "$name" | sed 1d)" "'=1+cmd(),,
\"a,b\",," "what looks like a formula is text"
tap_done
