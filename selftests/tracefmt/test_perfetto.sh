#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# --format=perfetto: JSON by the rules of the Trace Event format, with the slices
# that a viewer shows, and every event, field and time of --format=json.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/tracefmt/calls.sh"

make_trace=${BUILT:-$TOP/build/selftests}/tracefmt/make_trace
rules=$TOP/selftests/tracefmt/perfetto.py
need python3

# view [EVENTS]
view() {
	"$rules" trace.json "$@" >shown
}

# check STATUS NAME FILE...: what the viewer shows is in out
check() {
	expected=$1 name=$2
	shift 2
	status "$expected" "$name" tracefmt -q --tff . --format=perfetto \
		-o trace.json "$@"
	tracefmt -q --tff . --format=json "$@" >events 2>err
	ok "$name: as the format's document says, and as in --format=json" view events
}

calls calls.ras <<'EOF'
session 1 1 0 1 0x8001 2 0x8002 3 0x8003 5
1000000100 7 70 1 1 0 "/etc/passwd"
1000000200 7 70 1 2 0 5
1000000250 7 70 1 5 0 42
1000000700 7 70 1 0x8002 0 "abc" 0
1000001500 7 70 1 0x8001 0 3
cpu 1
1000000150 7 71 1 2 0 1
1000000160 7 71 1 2 0 2
1000000270 7 71 1 0x8002 0 "x" 1
1000000470 7 71 1 0x8002 0 "z" 0
1000002000 7 71 1 1 0 "a"
1000002100 7 71 1 3 0
1000002200 7 71 1 3 0
1000002300 7 71 1 0x8001 4 3
1000002400 7 71 1 0x8003 0
1000002500 7 71 1 2 0 9
EOF
check 0 calls calls.ras
is "$(cat shown)" "name 7 70 process_name app
instant 7 70 150 0 (app) step
slice 7 71 60 110   (app) work
slice 7 71 50 320 (app) work
slice 7 70 100 500   (app) work
slice 7 70 0 1400 (app) open
slice 7 71 2100 100 unmatched     (app) fall
slice 7 71 2000 200 unmatched   (app) fall
slice 7 71 1900 300 (app) open
instant 7 71 2300 0 (app) fall Post-Invocation
slice 7 71 2400 open (app) work" "calls are slices, other events instants"

calls twice.ras <<'EOF'
session 1 1 0 2 0x8002
session 2 1 0 2 0x8002
1000000100 7 70 1 2 0 1
1000000101 7 70 2 2 0 1
1000000120 7 70 0 0x21 0 1
1000000130 7 70 0 0x8021 0
1000000200 7 70 1 0x8002 0 "a" 1
1000000201 7 70 2 0x8002 0 "a" 1
1000000300 7 70 2 2 0 1
EOF
check 0 "a module armed twice" twice.ras
is "$(sed 1d shown)" "slice 7 70 20 10   (app) span
slice 7 70 0 100 (app) work
async 7 70 1 100 (app) work
async 7 70 200 open (app) work" "calls that don't nest are asynchronous"

cat >call.txt <<'EOF'
session 1 1 0 2 0x8002
1000000100 7 7 1 2 0 1
1000000200 7 7 1 0x8002 0 "a" 1
EOF
calls here.ras <call.txt
calls there.ras 'there"</script>' <call.txt
check 0 "two machines" here.ras there.ras
is "$(cat shown)" 'name 7 7 process_name app
name 10000007 10000007 process_name there"</script>: app
slice 7 7 0 100 (app) work
slice 10000007 10000007 0 100 (app) work' "their processes are apart"

calls evil.ras <<EOF
session 1 1 0 1 0x8001 2 0x8002
1000000100 7 70 1 1 0 "$(printf 'a\033[2J\\\377</script>')"
1000000200 7 70 1 2 0
1000000300 7 70 1 0x8002 2 "c"
EOF
check 0 "strings that are no UTF-8, values that aren't there" evil.ras
is "$(tr -cd '\001-\011\013-\037\177' <trace.json | wc -c)" 0 \
	"there are no control characters"
like "$(cat trace.json)" '"post flags":\["cut"' "flags of a POST are its own"
like "$(cat trace.json)" '"fields notes":\{"n":\{"why":"short"' \
	"the notes say why a value is missing"

# a record whose time is older than that of the one before it in its thread
calls late.ras <<'EOF'
session 1 1 0 1 0x8001 2 0x8002
1000000100 7 70 1 1 0 "x"
1000000200 7 70 1 2 0 1
1000000500 7 70 1 0x8002 0 "a" 1
1000000400 7 70 1 0x8001 0 3
EOF
status 0 "a late record" tracefmt -q --tff . --format=perfetto -o trace.json \
	late.ras
ok "doesn't change the order of the slices" view
is "$(sed 1d shown)" "slice 7 70 100 300   (app) work
slice 7 70 0 400 (app) open" "is in its thread"
like "$(cat trace.json)" '"post earlier by ns":100' "and says so"

# whole calls: in a pair that ends first, around one of the same function
calls whole.ras <<'EOF'
session 1 1 0 2 0x8002 3 7
1000000100 7 70 1 2 0 1
1000000200 7 70 1 0x8002 0 "a" 1
1000000210 7 70 1 3 128 1000000110 0 100 0
1000000310 7 71 1 2 0 2
1000000400 7 71 1 7 128 1000000300 0 100 0
1000000410 7 71 1 0x8002 0 "b" 2
EOF
status 0 "whole calls" tracefmt -q --tff . --format=perfetto -o trace.json \
	whole.ras
ok "of any order" view
is "$(sed 1d shown)" "slice 7 70 0 100 (app) work
async 7 70 10 100 (app) fall
slice 7 71 200 100 (app) work
async 7 71 210 100 (app) work" "are beside what they don't nest in"
calls long.ras <<'EOF'
session 1 1 0 3 5
1000000200 7 70 1 3 128 1000000100 0 100 0
2500000000 7 70 1 5 0 1
4000000200 7 70 1 3 128 1000000050 0 3000000150 0
EOF
status 0 "one that is late" sh -c \
	'cat long.ras | tracefmt -q --tff . --format=perfetto -o trace.json -'
unlike "$(cat trace.json)" 'earlier by ns' "has its own time"

calls none.ras <<'EOF'
session 1 1 0 1
EOF
check 0 "no records" none.ras
is "$(cat shown)" "" "make an empty trace"

if [ -x "$make_trace" ]; then
	"$make_trace" .
	check 0 "other records" sample.ras
	check 0 "C types" typed.ras
else
	skip "other records" "no make_trace"
fi
status 2 "in another order" tracefmt --format=perfetto --newest-first calls.ras
tap_done
