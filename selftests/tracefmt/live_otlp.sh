#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# --otlp of a program that publishes the span that a thread is in: it is the parent
# of calls and of log records in it, until another span begins in a call.
. "$(dirname "$0")/../tap.sh"

need_root
OTEL=$TOP/build/selftests/tracefmt/otel
[ -x "$OTEL" ] || skip_all "needs $OTEL"
unset TRACEFMT_PATH TRACEFMT_PREFIX
cd "$TMP" || exit 1

cleanup() {
	trace off --all
}

cp "$OTEL" otel
context='otel_thread_ctx_v1->trace_id, otel_thread_ctx_v1->span_id,
	otel_thread_ctx_v1->valid'
cat >otel.tsf <<EOF
MODNAME=$TMP/otel
MAJOR=197
TRACE MINOR=1, TP=.outer, DESC="outer Pre-Invocation", ONFAULT=CONTINUE,
	VARS=(n, $context)
TRACE MINOR=0x8001, TP=.outer,RETEP=CALLER, DESC="outer Post-Invocation"
TRACE MINOR=2, TP=.inner, DESC="inner", ONFAULT=CONTINUE, VARS=(n, $context)
EOF
trcust otel.tsf >log 2>&1 || bail "trcust: $(cat log)"
trace run -o otel.ras otel.tdf -- ./otel >log 2>&1 || bail "trace: $(cat log)"
status 0 "the trace" tracefmt -q --tff . --format=otlp otel.ras

# member NAME: of the spans, then of the log records
member() {
	grep -o "\"$1\":\"[0-9a-f]*\"" out | cut -d '"' -f 4
}

is "$(member parentSpanId)" "cdcdcdcdcdcdcdcd
cdcdcdcdcdcdcdcd" "calls are in the span of the process, if there is one"
is "$(member traceId | grep -c '^abababababababababababababababab$')" 4 \
	"and so in its trace, with log records"
# shellcheck disable=SC2046
set -- $(member spanId)
is $# 6 "three calls, three log records"
is "$4 $5 $6" "$1 $2 eeeeeeeeeeeeeeee" \
	"a log record is in the call, or in a span that began in it"
tap_done
