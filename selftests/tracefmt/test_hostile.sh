#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Outputs that programs read: formulas, names that a language knows, the ends of
# the range of numbers, and times before 1970 and far ahead.
. "$(dirname "$0")/../tap.sh"

here=$TOP/selftests/tracefmt
make_hostile=${BUILT:-$TOP/build/selftests}/tracefmt/make_hostile
[ -x "$make_hostile" ] || skip_all "needs $make_hostile"
need python3
unset TRACEFMT_PATH TRACEFMT_PREFIX
cd "$TMP" || exit 1

# show FORMAT [ARGUMENT...]
show() {
	format=$1
	shift
	tracefmt -q --utc --tff . "--format=$format" "$@" hostile.ras
}

# 1969-12-20, 1677 (the first ones there can be), 2100, 2262 (the last ones)
for start in 1770163190000000000 -1000000000000000 -9223372036854775807 \
	4102444800000000000 9223372036854700000; do
	"$make_hostile" . $start || bail "make_hostile"
	show json >events 2>err
	show csv >table 2>>err
	ok "from $start on: JSON by the rules, and the table agrees" \
		python3 "$here/json_lines.py" events table
	show perfetto >trace.json 2>>err
	ok "from $start on: a trace for viewers" \
		"$here/perfetto.py" trace.json events
	is "$(cat err)" "" "nothing else is reported"
done

"$make_hostile" . 1770163190000000000
show json >events
cat >check_numbers.py <<'EOF'
import json, math, sys
events = [json.loads(line)["fields"] for line in open("events")]
wide = [e["wide"] for e in events if "wide" in e]
assert math.copysign(1, wide[0]) < 0 and wide[0] == 0, wide[0]
assert wide[1:] == ["NaN", "Infinity", "-Infinity", 1e300, -5e-324, 0.1], wide
big = [[e[n] for n in ("u", "d", "__proto")] for e in events if "u" in e]
assert big == [[2**53 + 1] * 3, [2**64 - 1, -1, 2**64 - 1],
               [2**63, -2**63, 2**63], [0, 0, 0]], big
EOF
ok "numbers are those of the trace" python3 check_numbers.py

cat >check_formulas.py <<'EOF'
import csv, sys
rows = list(csv.DictReader(open("table", newline=""), strict=True))
for row in rows:
    for name, cell in row.items():
        if cell[:1] in ("=", "+", "-", "@") and name != "time":
            float(cell)
for name in sys.argv[1:]:
    print([row[name] for row in rows if row[name]])
EOF
show csv --fields desc,comm,chars,how,s,d --event 1-6 >table 2>err
is "$(python3 check_formulas.py chars how)" \
	"[\"'=1+1\", 'a\"\\\\\\\\b\\\\n', \"'-1+x\", \"'@\", '�']
[\"'=1+1\", \"'-1+cmd()\", \"'@x\", \"'+y\", 'plain', '-7']" \
	"what looks like a formula is text in any column"
show csv --fields desc,comm,wide,d,s >table 2>err
is "$(python3 check_formulas.py d)" "['9007199254740993', '-1', '-9223372036854775808', '0']" \
	"and negative numbers are numbers"

for python in python3 /usr/bin/python3 ''; do
	[ -n "$python" ] && "$python" -c 'import bt2' 2>/dev/null && break
done
if [ -n "$python" ] && command -v babeltrace2 >/dev/null; then
	show json --hex >events
	show ctf -o ctf
	"$python" "$here/check_ctf.py" ctf events >differences 2>&1
	like "$(tail -n 1 differences)" "^28 events, [0-9]* values agree$" \
		"CTF: event by event" || diag_file differences
else
	skip "CTF: event by event" "needs babeltrace2 and python3-bt2"
fi
tap_done
