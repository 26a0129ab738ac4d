#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# `trace query --metrics` is OpenMetrics 1.0 text, by a strict reader, and its
# values are those of `trace query --json`.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
need python3
# a name that must be escaped
mkdir "$TMP/a\"b\\c
d"
cd "$TMP/a\"b\\c
d" || bail "cannot change the directory"
make_app
cp "$TDF" app.tdf
cat >"$TMP/openmetrics.py" <<'PYTHON'
# https://github.com/OpenObservability/OpenMetrics, 1.0: ABNF and its rules
import re, sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r"[a-zA-Z_][a-zA-Z0-9_]*"
VALUE = r'(?:[^"\\\n]|\\["\\n])*'
META = re.compile(rf"# (TYPE|UNIT|HELP) ({NAME}) (.*)")
LABELS = re.compile(rf'({LABEL})="({VALUE})"')
SAMPLE = re.compile(rf'({NAME})(?:\{{((?:{LABEL}="{VALUE}",)*{LABEL}="{VALUE}"|)\}})?'
                    r" (-?[0-9]+(?:\.[0-9]+)?)")
SUFFIXES = {"counter": ["_total"], "gauge": [""], "stateset": [""],
            "histogram": ["_bucket", "_count", "_sum"]}


def fail(number, text):
    sys.exit(f"line {number}: {text}")


def unescape(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)


def read(data):
    if not data.endswith(b"# EOF\n"):
        fail(0, "the end is missing")
    lines = data.decode("utf-8").split("\n")[:-2]
    families, family, seen, values = {}, None, set(), {}
    for number, line in enumerate(lines, 1):
        meta = META.fullmatch(line)
        if meta:
            kind, name, text = meta.groups()
            if family is None or name != family["name"]:
                if name in families:
                    fail(number, f"'{name}' is interleaved")
                family = families[name] = {"name": name, "samples": 0}
            if kind in family or family["samples"]:
                fail(number, f"{kind} of '{name}' comes twice or late")
            if kind == "TYPE" and text not in SUFFIXES:
                fail(number, f"type '{text}'")
            if kind == "UNIT" and not name.endswith("_" + text):
                fail(number, f"'{name}' doesn't end with its unit")
            family[kind] = text
            continue
        sample = SAMPLE.fullmatch(line)
        if not sample:
            fail(number, f"neither sample nor metadata: {line!r}")
        name, labels, value = sample.groups()
        if family is None or "TYPE" not in family or "HELP" not in family:
            fail(number, "a sample without TYPE and HELP")
        if name not in [family["name"] + s for s in SUFFIXES[family["TYPE"]]]:
            fail(number, f"'{name}' isn't of '{family['name']}'")
        pairs = LABELS.findall(labels or "")
        if len(dict(pairs)) != len(pairs):
            fail(number, "a label comes twice")
        key = name, tuple(sorted(pairs))
        if key in seen:
            fail(number, "a sample comes twice")
        seen.add(key)
        if family["TYPE"] == "stateset":
            if family["name"] not in dict(pairs) or value not in ("0", "1"):
                fail(number, "no state of a set")
        if family["TYPE"] == "counter" and float(value) < 0:
            fail(number, "a counter below zero")
        family["samples"] += 1
        values[name, tuple((k, unescape(v)) for k, v in pairs)] = float(value)
    return families, values
PYTHON
cat >"$TMP/check.py" <<'PYTHON'
import json, sys
sys.path.insert(0, sys.argv[1])
import openmetrics

families, values = openmetrics.read(open(sys.argv[2], "rb").read())
reported = json.load(open(sys.argv[3], "rb"))
checked = 0
modules = {s["session"]: s["module"] for s in reported["sessions"]}


def check(name, point, expected, *more):
    global checked
    labels = (("tdf", point["tdf"]), ("module", modules[point["session"]]),
              ("session", str(point["session"])),
              ("minor", str(point["minor"])), ("name", point["name"])) + more
    got = values.get(("rastrace_" + name, labels))
    if got != expected:
        sys.exit(f"{name} {labels}: {got}, expected {expected}")
    checked += 1


for point in reported["tracepoints"]:
    for name in ("hits", "recorded", "overwritten", "dropped", "paged_in",
                 "aggregated", "aggregations_lost", "never_returned",
                 "no_entry"):
        check(name + "_total", point, point[name])
    for name in "present", "open":
        check(name, point, point[name])
    for kind in "filtered", "faults":
        for reason, number in point[kind + "_by"].items():
            check(kind + "_total", point, number, ("reason", reason))
    if point["missed"] is not None:
        check("missed_total", point, point["missed"])
print("families", len(families), "points", len(reported["tracepoints"]),
      "checked", checked > 0)
PYTHON

# check NAME POINTS: what is reported now
check() {
	trace query --metrics >"$TMP/metrics"
	trace query --json >"$TMP/json"
	ok "$1" python3 -B "$TMP/check.py" "$TMP" "$TMP/metrics" "$TMP/json"
	like "$(cat "$TMP/.tap")" "points $2 checked True" "  $2 tracepoints"
}

trace query --metrics >"$TMP/metrics"
ok "without a buffer" python3 -B -c "import sys
sys.path.insert(0, sys.argv[1])
import openmetrics
openmetrics.read(open(sys.argv[2], 'rb').read())" "$TMP" "$TMP/metrics"
trace on app.tdf "$TDF"
"$TMP/target" 10
trace suspend "$TDF"
"$TMP/target" 5
check "two files, one with a name to be escaped" 2
trace off "$TDF"
check "one of them is off" 2
make_many 100
trace on "$TMP/many.tdf"
"$TMP/target" 4
check "many tracepoints" 102
like "$(cat "$TMP/metrics")" \
	'^rastrace_filtered_total\{.*,reason="suspended"\} 5$' \
	"a reason has its number"
like "$(cat "$TMP/metrics")" '^# UNIT rastrace_buffer_memory_bytes bytes$' \
	"units are named"
# what is added up in the kernel
cp "$TOP/build/selftests/trace/aggregate" "$TMP/aggregate"
make_tdf "$TMP/sums.tsf" <<TSF
MODNAME=$TMP/aggregate
TRACE TP=.take, COUNT, MIN=(value), HIST=(value > 0 ? value : 0, kind),
	BY=(name:9, kind + 1)
TSF
trace on --max-cpu=off "$TMP/sums.tdf"
"$TMP/aggregate"
check "aggregates" 103
cat >"$TMP/sums.py" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import openmetrics

families, values = openmetrics.read(open(sys.argv[2], "rb").read())
sums = {}
buckets = {}
for (name, labels), value in values.items():
    labels = dict(labels)
    key = labels.get("by1_name"), labels.get("by2_kind___1")
    if not name.startswith("rastrace_aggregate_"):
        continue
    if "le" in labels:
        key += labels["expression"],
        buckets.setdefault(key, []).append((float(labels["le"]), value))
    else:
        sums[(name[19:], labels.get("expression")) + key] = value
for i, by in enumerate([("read", "0"), ("write", "1"), ("a name th...", "2")]):
    calls = [v - 100 * t for t in range(4) for v in range(i, 25000, 3)]
    clear = [v if v > 0 else 0 for v in calls]
    expected = {
        ("hits_total", None): len(calls),
        ("min", "value"): min(calls),
        ("histogram_count", "value > 0 ? value : 0"): len(calls),
        ("histogram_sum", "value > 0 ? value : 0"): sum(clear),
    }
    for key, value in expected.items():
        if sums.get(key + by) != value:
            sys.exit(f"{key + by}: {sums.get(key + by)}, expected {value}")
    rows = buckets[by + ("value > 0 ? value : 0",)]
    for bound, value in rows:
        if value != sum(v <= bound for v in clear):
            sys.exit(f"{by} {bound}: {value}")
    if rows[-1][0] != float("inf") or rows != sorted(rows):
        sys.exit(f"{by}: {rows}")
if ("histogram_sum", "kind", "read", "0") in sums:
    sys.exit("a sum with negative values")
PYTHON
ok "each bucket and sum is right" python3 -B "$TMP/sums.py" "$TMP" \
	"$TMP/metrics"
# Debian's Prometheus reads them with the time that samples of a file must have.
if command -v promtool >/dev/null; then
	sed '/^#/!s/$/ 1700000000/' "$TMP/metrics" >"$TMP/timed"
	samples=$(grep -vc '^#' "$TMP/timed")
	status 0 "Prometheus reads them" promtool tsdb \
		create-blocks-from openmetrics "$TMP/timed" "$TMP/tsdb"
	like "$(cat "$TMP/out")" " $samples +$samples +$samples +[0-9]+\$" \
		"all samples, each a series of its own"
	sed '0,/_bucket/s/le="0.0"/le="x"x/' "$TMP/timed" >"$TMP/wrong"
	status 1 "and refuses what is wrong" promtool tsdb \
		create-blocks-from openmetrics "$TMP/wrong" "$TMP/tsdb"
else
	skip "Prometheus reads them" "needs promtool"
fi
trace off "$TMP/sums.tdf"
# the reader is strict
sed 's/^# TYPE rastrace_present gauge/# TYPE rastrace_present counter/' \
	"$TMP/metrics" >"$TMP/wrong"
status 1 "a wrong suffix is found" python3 -B "$TMP/check.py" "$TMP" \
	"$TMP/wrong" "$TMP/json"
sed '$d' "$TMP/metrics" >"$TMP/wrong"
status 1 "a missing end is found" python3 -B "$TMP/check.py" "$TMP" \
	"$TMP/wrong" "$TMP/json"
tap_done
