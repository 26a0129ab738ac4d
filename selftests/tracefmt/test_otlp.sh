#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# OTLP: calls are spans, other events log records and aggregates metrics, in JSON and
# in protobuf that is sent; decoded by the official definitions. A server that is busy, refuses,
# hangs or is not there.
. "$(dirname "$0")/../tap.sh"
need_tree

built=${BUILT:-$TOP/build/selftests}/tracefmt
here=$(dirname "$0")
[ -x "$built/make_calls" ] || skip_all "needs $built/make_calls"
NODE_PATH=$("$TOP/scripts/node_package" otlp 2>"$TMP/why") ||
	skip_all "$(tail -n 1 "$TMP/why")"
export NODE_PATH
here=$(cd "$here" && pwd)
unset TRACEFMT_PATH http_proxy HTTP_PROXY OTEL_EXPORTER_OTLP_HEADERS
server=''
cd "$TMP" || exit 1

cleanup() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
}

# serve ANSWER...: a server in $TMP/served; its address is $url
serve() {
	cleanup
	rm -rf served && mkdir served
	node "$here/otlp_server.js" served "$@" 2>served/log &
	server=$!
	i=0
	while [ ! -f served/port ] && [ $i -lt 200 ]; do
		sleep 0.05
		i=$((i + 1))
	done
	[ -f served/port ] || bail "no server: $(cat served/log)"
	url=http://127.0.0.1:$(cat served/port)
}

# send [ARGUMENT...]: with a short timeout
send() {
	OTEL_EXPORTER_OTLP_TIMEOUT=${timeout:-10000} \
		tracefmt -q --tff . --otlp="$url" "$@"
}

# same FILE: was received
same() {
	node "$here/otlp_server.js" --same "$1" served/received
}

statuses() {
	awk '{ printf "%s%s %s", between, $2, $3; between = ", " }' served/tries
}

"$built/make_trace" . || bail "make_trace"
"$built/make_calls" calls.ras 'a"host' <<'SCRIPT' || bail "make_calls"
session 1 1 0 1 2 3 5 32769 32770 32771
cpu 0
1000000000 7 70 1 1 0 "a,b"
1000000100 7 70 1 2 0 5
1000000150 7 70 1 5 0 4294967295
1000000200 7 70 1 32770 0 "abc" 3
1000000250 7 70 1 3 0
1000000300 7 70 1 32769 0 4294967295
1000000350 8 80 1 5 0 1
1000000400 7 70 1 2 0
1000000500 7 71 1 32770 0 "abc" 8
SCRIPT
mkdir hostile
"$built/make_odd" . 3 1500 || bail "make_odd"

# ---- JSON ----

cat >show.js <<'END'
// "name parent/root start+duration attributes" of each span, "body in ..." of each
// log record
const show = (value) => Object.values(value)[0];
const names = {}, rows = [];
for (const line of require('fs').readFileSync(process.argv[2], 'utf8')
	.split('\n').filter((line) => line)) {
	const { resourceSpans = [], resourceLogs = [] } = JSON.parse(line);
	for (const { resource, scopeSpans = [], scopeLogs = [] } of
			[...resourceSpans, ...resourceLogs]) {
		const process = resource.attributes.map(({ key, value }) =>
			key + '=' + show(value)).join(' ');
		for (const { spans = [], logRecords = [] } of
				[...scopeSpans, ...scopeLogs])
			for (const item of [...spans, ...logRecords]) {
				names[item.name ? item.spanId : ''] = item.name;
				rows.push([process, item]);
			}
	}
}
for (const [process, item] of rows) {
	const keys = item.attributes.filter(({ key }) =>
		/args|result|fields|notes|unmatched/.test(key)).map(
		({ key, value }) => key.replace('rastrace.', '') + '=' +
			show(value)).join(' ');
	if (item.name)
		console.log('span', item.name, 'in',
			item.parentSpanId ? names[item.parentSpanId] : '-',
			'took', '' + (BigInt(item.endTimeUnixNano) -
				BigInt(item.startTimeUnixNano)),
			keys);
	else
		console.log('log', item.body.stringValue, 'in',
			item.spanId ? names[item.spanId] : '-', keys);
	if (!names[process])
		console.log('process', process);
	names[process] = true;
}
END
status 0 "lines of JSON" tracefmt -q --tff . --format=otlp calls.ras
cp "$TMP/out" calls.json
ok "are valid by the definitions" node "$here/otlp_server.js" --check calls.json
is "$(node show.js calls.json)" 'span work in open took 100 args.n=5 result.out=abc result.Return_Code=3
process service.name=app host.name=a"host os.type=linux os.version=6.1.0-test process.pid=7
span fall in open took 50 unmatched=no POST
span open in - took 300 args.name=a,b result.returns=-1
log step in work fields.step=-1
log work Post-Invocation in - fields.out=abc fields.Return_Code=8 unmatched=no PRE
log step in - fields.step=1
process service.name=unknown_service host.name=a"host os.type=linux os.version=6.1.0-test process.pid=8
span work in - took 100 args_notes.n={"why":"short","bytes":0,"of":4} unmatched=open at the end' \
	"calls are spans, in each other; others are log records of them"
# of which a record is missing, and a recursion that an exception may have left
"$built/make_calls" doubt.ras <<'SCRIPT' || bail "make_calls"
session 1 1 0 1 2 5 32769 32770
cpu 0
1000000000 7 70 1 1 0 "one"
1000000100 7 70 1 2 0 5
gap 4096
1000000200 7 70 1 32770 0 "late" 3
1000000300 7 70 1 32769 0 1
1000000400 7 71 1 1 0 "two"
1000000500 7 71 1 1 0 "three"
1000000600 7 71 1 32769 0 2
1000000700 7 72 1 32769 0 4
SCRIPT
status 0 "calls in doubt" tracefmt -q --tff . --format=otlp doubt.ras
cp "$TMP/out" doubt.json
ok "are valid, too" node "$here/otlp_server.js" --check doubt.json
is "$(node show.js doubt.json | grep -c '^span')" 4 "each PRE is a span"
is "$(grep -oE 'result.(Return_Code|returns)' doubt.json | wc -l)" 3 \
	"which has what its POST has, perhaps marked"
is "$(grep -o 'uncertain POST' doubt.json | wc -l)" 3 "as uncertain"
# whole calls: coroutines, those that may go on in another thread, a late one
"$built/make_calls" whole.ras <<'SCRIPT' || bail "make_calls"
session 1 1 0 3 5 6
cpu 0
1000000040 7 70 1 5 0 1
1000000050 7 70 1 3 128 1000000010 0 40 0
1000000090 7 70 1 3 128 1000000030 0 60 0
1000000140 7 71 1 5 0 2
1000000150 7 71 1 6 128 1000000130 0 20 0
1000000190 7 71 1 6 128 1000000110 0 80 0
1000000200 7 72 1 3 128 1000000100 0 100 0
2500000000 7 72 1 5 0 3
4000000200 7 72 1 3 128 1000000050 0 3000000150 0
SCRIPT
status 0 "whole calls" sh -c 'cat whole.ras | tracefmt -q --tff . --format=otlp -'
cp "$TMP/out" whole.json
is "$(node show.js whole.json | sed '/^process/d; s/ *$//; s/(app) //g')" 'span fall in - took 40
span fall in - took 60
span move in - took 20
span move in - took 80
span fall in - took 100
log step in fall fields.step=1
log step in - fields.step=2
log step in - fields.step=3
span fall in - took 3000000150' "are in each other where they nest, at their times"
tracefmt -q --tff . --format=otlp calls.ras >again.json 2>err
ok "ids are the same each time" cmp calls.json again.json
for trace in sample typed odd; do
	tracefmt -q --tff . --otlp=$trace.json $trace.ras 2>err
	ok "$trace.ras is valid by the definitions" \
		node "$here/otlp_server.js" --check $trace.json
done
is "$(grep -o '"timeUnixNano"' odd.json | wc -l)" 1500 "and all of it is there"

# ---- aggregates ----

cat >points.js <<'END'
// "name type +start+time attributes value" of each data point
const show = (value) => Object.values(value)[0];
const seconds = (time) => Number(BigInt(time) / 1000000000n - 1770163190n);
for (const line of require('fs').readFileSync(process.argv[2], 'utf8')
	.split('\n').filter((line) => line))
	for (const { resource, scopeMetrics } of
			JSON.parse(line).resourceMetrics || []) {
		console.log(resource.attributes.map(({ key, value }) =>
			key + '=' + show(value)).join(' '));
		for (const metric of scopeMetrics[0].metrics) {
			const type = Object.keys(metric).find((key) =>
				metric[key].dataPoints);
			const data = metric[type];
			for (const point of data.dataPoints)
				console.log(metric.name, type,
					data.isMonotonic ? 'monotonic' : '',
					data.aggregationTemporality || '',
					seconds(point.startTimeUnixNano),
					seconds(point.timeUnixNano),
					point.attributes.map(({ key, value }) =>
						key.replace('rastrace.', '') +
						'=' + show(value)).join(' '),
					point.asInt || [point.count, point.sum,
						point.bucketCounts.join(),
						point.explicitBounds.join()
					].join(' '));
		}
	}
END
"$built/make_aggregates" . || bail "make_aggregates"
status 0 "aggregates" tracefmt -q --tff . --otlp=aggregates.json aggregates.ras
ok "are valid by the definitions" \
	node "$here/otlp_server.js" --check aggregates.json
of='tdf=app.tdf session=1'
at="1 3 $of major=201 minor=7"
is "$(node points.js aggregates.json | tr -s ' ')" "$(tr -s '\n ' <<END
service.name=app host.name=target os.type=linux os.version=6.1.0-test
rastrace.aggregate.hits sum monotonic 2 $at statement=0 name=t� by.key=5 by.key#2=five 50
rastrace.aggregate.hits sum monotonic 2 $at statement=0 name=t� by.key=18446744073709551615 by.key#2=cut... 2
rastrace.aggregate.sum sum 2 $at statement=1 name=t� expression=v by.key=5 by.key#2=five -4
rastrace.aggregate.min gauge $at statement=2 name=t� expression=v by.key=5 by.key#2=five -9
rastrace.aggregate.max gauge $at statement=3 name=t� expression=v by.key=5 by.key#2=five 9223372036854775807
rastrace.aggregate.histogram histogram 2 $at statement=4 name=t� expression=v by.key=1 by.key#2= 7 4611686018427388000 0,1,2,0,3,0,1,0 -1,0,1,127,129,4575657221408424000,4611686018427388000
rastrace.aggregate.histogram histogram 2 $at statement=4 name=t� expression=v by.key=2 by.key#2= 5 4,0,1,0 -1,2,3
rastrace.aggregate.lost sum monotonic 2 1 3 $of 3
END
)" "are metrics since the session was armed"

# 1969-12-20, 1677 (the first time there can be), 2262 (the last one)
for start in -1000000000000000 -9223372036854775807 9223372036854700000; do
	"$built/make_hostile" hostile $start || bail "make_hostile"
	tracefmt -q --tff hostile --otlp=hostile.json hostile/hostile.ras 2>err
	ok "hostile text from $start on is valid by the definitions" \
		node "$here/otlp_server.js" --check hostile.json
done
is "$(LC_ALL=C tr -d '\n -~\200-\377' <hostile.json | wc -c)" 0 \
	"and has no control characters"

# ---- HTTP ----

serve 200
status 0 "a server takes it" send calls.ras
ok "the same as JSON, decoded" same calls.json
like "$(sed -n 1p served/tries)" ' /v1/traces 200 application/x-protobuf -$' \
	"spans go to v1/traces"
rm served/received
OTEL_EXPORTER_OTLP_HEADERS='authorization=Bearer x,b=c' \
	status 0 "odd events" send odd.ras
ok "are the same, too" same odd.json
like "$(tail -n 1 served/tries)" ' Bearer x$' "with headers of the environment"
url=$url/
rm served/received
status 0 "of a pipe" sh -c 'cat calls.ras | "$@"' - \
	tracefmt -q --tff . --otlp="$url" -
is "$(grep -o '"startTimeUnixNano"' served/received | wc -l) $(
	grep -o '"timeUnixNano"' served/received | wc -l)" "4 3" \
	"as much, and a slash at the end of the URL"

rm served/received
status 0 "metrics" send aggregates.ras
ok "are the same, too" same aggregates.json
is "$(tail -n 1 served/tries | cut -d ' ' -f 2)" /v1/metrics "at v1/metrics"

serve 503 429:1 200
status 0 "a busy server" send calls.ras
is "$(statuses)" "/v1/traces 503, /v1/traces 429, /v1/traces 200, /v1/logs 200, /v1/traces 200" \
	"gets it again"
ok "when it says" awk 'NR == 2 { since = $1 } NR == 3 {
	exit $1 - since < 1000 }' served/tries
ok "once" same calls.json

serve hang
timeout=300
since=$(date +%s)
status 1 "a server that hangs" send calls.ras
ok "does not hang tracefmt" test $(($(date +%s) - since)) -le 6
like "$(cat "$TMP/err")" \
	"^tracefmt: '$url': 4 of 4 spans and 3 of 3 log records were not accepted: Timeout was reached" \
	"and what is lost is counted"
timeout=

serve partial:2:"too old"
status 1 "a server that takes a part" send calls.ras
like "$(cat "$TMP/err")" \
	"^tracefmt: '.*': 3 of 4 spans and 2 of 3 log records were not accepted: too old" \
	"is counted with its reason"
serve "400:what is this"
status 1 "a server that does not want it" send calls.ras
like "$(cat "$TMP/err")" \
	": 4 of 4 spans and 3 of 3 log records were not accepted: status 400: what is this$" \
	"says why"
is "$(statuses)" "/v1/traces 400" "and is not asked again"
serve partial:3:late
status 1 "some data points" send aggregates.ras
like "$(cat "$TMP/err")" \
	"^tracefmt: '[^']*': 3 of 8 data points were not" \
	"are counted, too"
serve "400:no" 200
status 1 "the output of a pipe goes on" sh -c 'cat calls.ras | "$@"' - \
	tracefmt -q --tff . --otlp="$url" -
like "$(cat "$TMP/err")" ": 3 of 4 spans and 0 of 3 log records were not" \
	"after what was not accepted"
serve bad huge
status 0 "answers that are none" send calls.ras
ok "do not matter" same calls.json
cleanup
server=''
status 1 "no server" env OTEL_EXPORTER_OTLP_TIMEOUT=100 \
	tracefmt -q --tff . --otlp="$url" calls.ras
like "$(cat "$TMP/err")" "were not accepted: .*connect" "is reported"

status 2 "another protocol" tracefmt --otlp=ftp://host calls.ras
like "$(cat "$TMP/err")" "--otlp 'ftp://host': a file, http://HOST:PORT or https://HOST is wanted" \
	"is refused"
status 2 "a server and a file" tracefmt --otlp="$url" -o file calls.ras
status 2 "a server and text" tracefmt --otlp="$url" --format=csv calls.ras
tap_done
