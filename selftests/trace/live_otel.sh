#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# --context=otel: records have the trace and the span that their threads publish, in
# a static program and by libraries that are loaded late, whichever way these find
# their thread-local variable; what is not known, or being changed, is marked.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
BUILT=$TOP/build/selftests/trace
unset TRACEFMT_PATH TRACEFMT_PREFIX
cd "$TMP" || exit 1

cleanup() {
	trace off --all
}

cat >check.awk <<'AWK'
# Lines of JSON: how many ids are right, are rightly not there, and are wrong; of the
# rest they are not known
function number(name) {
	match($0, "\"" name "\":[0-9]+")
	return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
}
function count(holds, what) {
	counts[holds ? what : "wrong"]++
}
{
	thread = number("thread")
	n = number("n")
	byte = sprintf("%02x", 16 * thread + n % 7)
	trace = span = ""
	for (i = 0; i < 16; i++)
		trace = trace byte
	for (i = 0; i < 8; i++)
		span = span byte
	if (/"otel":"not known yet"/)
		next
	mark = thread != 9 && n % 8 == 5 ? "being changed" : "none"
	if (thread != 9 && n % 8 != 3 && n % 8 != 5)
		count(index($0, "\"trace_id\":\"" trace "\"") &&
			index($0, "\"span_id\":\"" span "\""), "right")
	else
		count(index($0, "\"otel\":\"" mark "\""), "lacking")
}
END {
	print counts["right"] + 0, counts["lacking"] + 0, counts["wrong"] + 0
}
AWK

# spans NAME PROGRAM [LIBRARY]: what its records have
spans() {
	name=$1
	cp "$BUILT/$2" program
	[ -z "${3-}" ] || cp "$BUILT/$3" "./$3"
	cat >program.tsf <<TSF
MODNAME=$TMP/program
TRACE MINOR=1, TP=.work, DESC="work", VARS=(thread, n)
TSF
	trcust program.tsf >log 2>&1 || bail "trcust: $(cat log)"
	trace run --context=otel,cpu -o "$name.ras" program.tdf -- ./program \
		${3:+"./$3"} >log 2>&1 || bail "trace: $(cat log)"
	tracefmt -q --tff . --format=json "$name.ras" >"$name.json"
	is "$(wc -l <"$name.json")" 805 "$name: all records"
	counts=$(awk -f check.awk "$name.json")
	is "${counts##* }" 0 "no id is wrong ($counts)"
	[ "$name" = weak ] ||
		ok "and most are known" test "${counts%% *}" -ge 500
}

spans static otel_static
spans pair otel_threads otel_pair
spans descriptor otel_threads otel_descriptor
spans initial otel_threads otel_initial
spans first otel_threads otel_first
spans weak otel_threads otel_weak
like "$(tracefmt -q --tff . pair.ras)" \
	'Trace \[11111111111111111111111111111111\]  Span \[1111111111111111\]' \
	"as text"
like "$(tracefmt -q --tff . pair.ras)" 'Span \[<being changed>\]' "with marks"
tracefmt -q --tff . --format=otlp pair.ras >pair.otlp
like "$(cat pair.otlp)" \
	'"traceId":"11111111111111111111111111111111","spanId":"1111111111111111"' \
	"log records are of that span"
like "$(trace run --context=otel,what program.tdf -- ./program 2>&1)" \
	"context: comm, uid, cgroup, cpu, ppid, stack or otel" "a wrong name"
tap_done
