# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# What the tests of calls share: traces that make_calls makes of a script.
make_calls=${BUILT:-$TOP/build/selftests}/tracefmt/make_calls
[ -x "$make_calls" ] || skip_all "needs $make_calls"
unset TRACEFMT_PATH TRACEFMT_PREFIX
cd "$TMP" || exit 1

show() {
	tracefmt --utc -q --tff . "$@"
}

# calls NAME [HOST]: the script comes from stdin
calls() {
	"$make_calls" "$@" || bail "make_calls $*"
}

# calls.ras and its script calls.txt, of golden/calls.json, pairs.txt and tree.txt
example_calls() {
	cat >calls.txt <<'END'
session 1 1 0 1 0x8001 2 0x8002 3 0x8003 5
1000000100 7 70 1 1 0 "/etc/passwd"
1000000200 7 70 1 2 0 5
1000000250 7 70 1 5 0 42
1000000700 7 70 1 0x8002 0 "abc" 0
1000001500 7 70 1 0x8001 0 3
cpu 1
1000000150 7 71 1 2 0 1
1000000160 7 71 1 2 0 2
1000000170 7 71 1 2 0 3
1000000270 7 71 1 0x8002 0 "x" 1
1000000370 7 71 1 0x8002 0 "y" 1
1000000470 7 71 1 0x8002 0 "z" 0
1000002000 7 71 1 1 0 "a"
1000002100 7 71 1 3 0
1000002200 7 71 1 3 0
1000002300 7 71 1 0x8001 4 3
1000002400 7 71 1 0x8003 0
1000002500 7 71 1 2 0 9
END
	calls calls.ras <calls.txt
}
