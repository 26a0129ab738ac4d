#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Several traces in one: of two machines by wall clock, of a spool's cycle and of
# snapshots of one buffer each record once; and large ones in little memory.
. "$(dirname "$0")/../tap.sh"

make_many=${BUILT:-$TOP/build/selftests}/tracefmt/make_many
make_spool=${BUILT:-$TOP/build/selftests}/tracefmt/make_spool
[ -x "$make_many" ] || skip_all "needs $make_many"
unset TRACEFMT_PATH
TMPDIR=$TMP
export TMPDIR
cd "$TMP" || exit 1
"$make_many" .
# KiB; sanitizers take more
limit=${SANITIZED:+1000000}
limit=${limit:-40960}
export limit

# seconds of the records' times
seconds() {
	sed -n 's/.*Time \[12:00:\([0-9.]*\)\].*/\1/p' out | tr '\n' ' '
}

status 0 "two machines" tracefmt --utc -q --tff . east.ras west.ras
is "$(seconds | sed 's/\.000000000//g')" "00 01 02 03 04 05 06 07 " \
	"come in the order of the wall clock"
cp out first
status 0 "the other way round" tracefmt --utc -q --tff . west.ras east.ras
ok "it is the same" diff first out

# one buffer: records 2-5 and 4-8
status 0 "two snapshots" tracefmt --utc --tff . late.ras early.ras
is "$(sed -n 's/^number //p' out | tr '\n' ' ')" "2 3 4 5 6 7 8 " \
	"each record comes once"
is "$(seconds | sed 's/\.000000000//g')" "02 03 04 05 06 07 08 " \
	"one clock holds for all"
is "$(awk '$1 == 199 { print $4, $5, $6 }' err)" "3 3 0
6 4 2" "what the later one has is counted from where the earlier one ends"
like "$(cat err)" "^Complete from .*, where the file before it ended$" \
	"and it says so"
status 0 "one of them" tracefmt --utc --tff . late.ras
is "$(awk '$1 == 199 { print $4, $5, $6 }' err)" "9 5 4" \
	"has all that it has when it is alone"

if [ -x "$make_spool" ]; then
	mkdir cycle
	"$make_spool" cycle
	status 0 "a cycle, the newer file first" \
		tracefmt --utc --tff cycle cycle/spool.ras cycle/spool.ras.1
	is "$(grep -c '^Event' out)" 10 "all records, each once"
	ok "they come in order" sh -c \
		"sed -n 's/.*Time \[\([^]]*\)\].*/\1/p' out |
		sed 's/^0/24:0/' | LC_ALL=C sort -c"
	is "$(grep -c 'overwritten before they were spooled' err)" 1 \
		"its losses are reported once"
	cp out whole
	status 0 "with one of them twice" tracefmt --utc -q --tff cycle \
		cycle/spool.ras.1 cycle/spool.ras cycle/spool.ras.1
	ok "there is nothing twice" diff whole out
else
	skip "a cycle" "needs $make_spool"
fi

# The most memory in KiB, and the events
memory() {
	"$make_many" memory tracefmt -q --tff . "$@" 2>most >/dev/null
	[ "$(cat most)" -le "$limit" ]
}
counted() {
	tracefmt --summary --tff . "$@" 2>err | awk '$1 == 199 { print $5 }'
}

"$make_many" . 1500000 2 0
is "$(counted large.ras)" 1500000 "two chunks of 42 MB"
ok "need less than 40 MB" memory large.ras
ok "in a pipe, too" sh -c 'cat large.ras |
	"$1" memory tracefmt -q --tff . - 2>most >/dev/null
	[ "$(cat most)" -le $limit ]' - "$make_many"
# mappings of a process: 128 MB
{
	head -c 208 large.ras
	printf '\005\0\0\0\0\0\0\0\0\0\0\010\0\0\0\0'
	head -c 134217728 /dev/zero
	tail -c +209 large.ras
} >long.ras
ok "nor does a chunk of a pipe that isn't records" sh -c 'cat long.ras |
	"$1" memory tracefmt --tff . - 2>err >/dev/null
	[ "$(grep "^[0-9]*$" err)" -le $limit ]' - "$make_many"
like "$(cat err)" "kind 5.: 134217728 bytes are too many" "which is reported"
is "$(counted - <long.ras)" 1500000 "and what follows it is read"
rm long.ras
ok "the newest first" memory --newest-first large.ras
"$make_many" . 1000000 64 0
is "$(counted large.ras)" 1000000 "64 CPUs"
ok "need less than 40 MB" memory large.ras
"$make_many" . 1000000 4 10
is "$(counted large.ras)" 1000000 "100000 chunks"
ok "need less than 40 MB" memory large.ras
"$make_many" . 1000000 8 4000 zlib
is "$(counted large.ras)" 1000000 "packed chunks"
ok "need less than 40 MB" memory large.ras
tap_done
