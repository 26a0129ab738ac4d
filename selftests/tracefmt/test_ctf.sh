#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# --format=ctf: babeltrace2 reads what --format=json says of the same events.
. "$(dirname "$0")/../tap.sh"

here=$TOP/selftests/tracefmt
built=${BUILT:-$TOP/build/selftests}/tracefmt
[ -x "$built/make_odd" ] || skip_all "needs $built/make_odd"
[ -x "$built/make_trace" ] || skip_all "needs $built/make_trace"
unset TRACEFMT_PATH
export TZ=UTC
cd "$TMP" || exit 1

# refused NAME TEXT ARGUMENT...: tracefmt fails and prints the text
refused() {
	name=$1 text=$2
	shift 2
	status 1 "$name" tracefmt -q --format=ctf "$@"
	like "$(cat "$TMP/err")" "$text" "and it is reported"
}

mkdir none traces odd
"$built/make_trace" traces
echo >file
refused "a file of that name" "cannot write 'file': File exists" \
	-o file traces/sample.ras
refused "a directory of that name" "cannot write 'none': File exists" \
	-o none traces/sample.ras
is "$(ls none)" "" "which is left alone"
refused "no directory to put it into" "cannot write 'no/such'" \
	-o no/such traces/sample.ras

status 0 "a trace is written" \
	tracefmt -q --format=ctf --tff traces -o sample traces/sample.ras
is "$(ls sample)" "cpu0
cpu1
metadata" "a stream for each CPU"
is "$(head -c 11 sample/metadata)" "/* CTF 1.8 " "and metadata in text"

command -v babeltrace2 >/dev/null || {
	skip "reading it" "needs babeltrace2"
	tap_done
}
for python in python3 /usr/bin/python3 ''; do
	[ -n "$python" ] && "$python" -c 'import bt2' 2>/dev/null && break
done
[ -n "$python" ] || {
	skip "reading it" "needs python3-bt2"
	tap_done
}

# agrees NAME FILE.ras: both outputs of the file say the same
agrees() {
	rm -rf ctf
	tracefmt -q --utc --format=json --hex --tff "${2%/*}" "$2" \
		>json 2>/dev/null
	tracefmt -q --format=ctf --tff "${2%/*}" -o ctf "$2" 2>err ||
		diag_file err
	ok "$1: babeltrace2 reads it" sh -c 'babeltrace2 ctf >bt 2>err &&
		! grep -v "^WARNING: Tracer" err'
	is "$(wc -l <bt)" "$(wc -l <json)" "$1: all events"
	"$python" "$here/check_ctf.py" ctf json >differences 2>&1
	like "$(tail -n 1 differences)" "^[1-9][0-9]* events, [1-9][0-9]* values agree$" \
		"$1: event by event" || diag_file differences
}

agrees "sample.ras" traces/sample.ras
agrees "typed.ras" traces/typed.ras
for seed in 1 2 3 4 5; do
	"$built/make_odd" odd $seed 600
	agrees "odd trace $seed" odd/odd.ras
done

# streams and packets
late=$(find ctf -name 'cpu*_late*' | sed 's/.*_//' | sort -u)
like "$late" '^late1$' "events out of order have streams of their own"
unlike "$late" '^late([09]|..)' "eight at most"
"$built/make_trace" traces 40000
agrees "a trace of many packets" traces/bench.ras
packets=$(LC_ALL=C grep -aoc "$(printf '\301\037\374\301')" ctf/cpu0)
ok "cpu0 has several packets" test "$packets" -gt 1

# losses
agrees "a trace with losses" traces/ahead.ras
is "$(grep -c '^WARNING: Tracer discarded 10 events' err)" 2 \
	"discarded events are reported on both CPUs"
like "$(cat differences)" '^20 discarded$' "all of them"

# where and when
env=$(sed -n '/^env {/,/^}/p' ctf/metadata)
like "$env" 'hostname = "target";' "the host"
like "$env" 'kernel_release = "6.1.0-test";' "its kernel"
like "$(cat ctf/metadata)" 'offset_s = 1770163190;' "and the wall clock"

# several traces
"$built/make_odd" odd 9 50
status 0 "two traces" tracefmt -q --format=ctf --tff traces --tff odd \
	-o both odd/odd.ras traces/sample.ras
is "$(ls both)" "trace1
trace2" "have a directory each"
is "$(babeltrace2 both 2>/dev/null | wc -l)" 59 "and babeltrace2 merges them"
status 0 "nothing chosen" tracefmt -q --format=ctf --pid 4000000000 \
	-o empty traces/typed.ras
is "$(ls empty)" metadata "is a trace without streams"
status 0 "--hex" tracefmt -q --format=ctf --hex --tff traces -o hex \
	traces/typed.ras
is "$(babeltrace2 hex | grep -c 'data_ = { length = ')" 4 \
	"adds the bytes of each record"
tap_done
