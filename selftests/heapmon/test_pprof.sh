#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What heapmon writes for pprof: its four sums per stack, read by a reader of the
# encoding, and by go tool pprof.
. "$(dirname "$0")/../tap.sh"

need python3
here=$TOP/selftests/heapmon
cd "$TMP" || exit 1
cat >some.txt <<'END'
Thread   Time of event     Address  Size  Type     Stack crawl
0-0      old               0x7000   48    Old
10-11    1000000000000000  0x1000   100   novtbl   leak(int)|main
10-11    1000000000500000  0x2000   200   novtbl   leak(int)|main
10-12    1000000001000000  0x3000   30    novtbl   temp(int)|work()|main
10-12    1000000001000001  0x3000   del   Shape    temp(int)|work()|main
10-11    1000000001500000  0x4000   5000  novtbl   big()|main
10-11    1000000001600000  0x5000   9     novtbl
10-12    1000000002000000  0x2000   del   novtbl   drop()|main
10-12    1000000002000100  0x9000   del   novtbl   again()|main
END

decode() {
	PYTHONDONTWRITEBYTECODE=1 python3 "$here/profile_proto.py" "$1"
}

ok "it is written" heapmon convert --to pprof -o some.pb.gz some.txt
is "$(cat .tap)" \
"heapmon: pprof: 1 blocks from before the recording left out
heapmon: pprof: 1 releases of blocks that were never seen left out" \
	"what it can't hold is reported"
is "$(decode some.pb.gz)" \
"types alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes
default inuse_space
period space bytes 1
time 1000000000000000000 2000100000
sample 2 300 1 100 leak(int)|main
sample 1 30 0 0 temp(int)|work()|main
sample 1 5000 1 5000 big()|main
sample 1 9 1 9 (unknown)" "its messages"
heapmon convert --to pprof - <some.txt >piped.pb.gz 2>/dev/null
ok "a pipe gives the same" cmp piped.pb.gz some.pb.gz

heapmon convert --from monitor --to mptl -o sums.mptl some.txt 2>/dev/null
heapmon convert --to pprof -o sums.pb.gz sums.mptl
is "$(decode sums.pb.gz | grep '^sample' | sort)" \
	"$(decode some.pb.gz | grep '^sample' | sort)" \
	"the same from a file of sums" || decode sums.pb.gz | diag_file
printf '' | heapmon convert --from monitor --to pprof -o none.pb.gz - 2>/dev/null
is "$(decode none.pb.gz | grep -c '^sample')" 0 "of nothing, no samples"

# top TYPE [OPTION]: function, flat, cumulated
top() {
	top_type=$1
	shift
	go tool pprof -top -nodecount=100 -nodefraction=0 \
		-sample_index="$top_type" "$@" some.pb.gz 2>/dev/null |
		awk 'body { print $6 $7, $1, $4 } /^ *flat/ { body = 1 }' | sort
}

if command -v go >/dev/null; then
	export PPROF_TMPDIR="$TMP" HOME="$TMP"
	is "$(top inuse_space -unit=bytes)" \
"(unknown) 9B 9B
big() 5000B 5000B
leak(int) 100B 100B
main 0 5100B" "go tool pprof: bytes in use"
	is "$(top alloc_objects | tr '\n' ' ')" \
"(unknown) 1 1 big() 1 1 leak(int) 2 2 main 0 4 temp(int) 1 1 work() 0 1 " \
	"blocks in all"
	like "$(go tool pprof -traces some.pb.gz 2>/dev/null)" \
		'^ +4\.88kB +big\(\)' "and the stacks"
else
	skip "go tool pprof" "needs go"
fi
tap_done
