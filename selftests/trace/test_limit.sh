#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Records that MAXDATALENGTH nearly fills: the values that fit are the program's.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
need cc

cat >"$TMP/limit.c" <<'C'
#include <stdio.h>

struct inner { long unused[2], first, second; };
struct outer { struct inner *inner; long number, more; };

static long sink;

__attribute__((noinline, noclone))
long take(long a, long b, struct outer *p, struct outer *q, struct outer *r)
{
	__asm__ volatile("" : : : "memory");
	return sink += a + b + p->number + q->number + r->number;
}

int main(void)
{
	static struct inner one = { { 1, 2 }, 0x1111, 0x2222 };
	static struct inner two = { { 3, 4 }, 0x3333, 0x4444 };
	static struct outer p = { &one, 0x55, 0x66 }, q = { &one, 0x77, 0x88 };
	/* what is followed in the place of p->inner can be read */
	static struct outer r = { &two, (long)&two, 0xaa };

	for (int i = 0; i < 3; i++)
		take(7, i, &p, &q, &r);
	printf("%ld\n", 0x1111L ^ 7);
	printf("%ld\n", 0x77L + 7);
	return 0;
}
C
cc -O2 -g -o "$TMP/limit" "$TMP/limit.c" || bail "cannot compile"
"$TMP/limit" >"$TMP/said"

# What is read at once is read in front of all that is after a STACK, which takes
# nearly all the room.
for limit in 120 140 160 200 300; do
	make_tdf "$TMP/limit.tsf" <<TSF
MODNAME = $TMP/limit
MAJOR = 0x32
MAXDATALENGTH = $limit
TRACE MINOR=1, TP=.take, STACK=(32),
	VARS=((long)p->inner ^ a, q->number ^ a),
	MEM64=(F$ARG3,INDIRECT*+16,16),
	VARS=(r->number ^ a, r->number + a, p->inner->first ^ a, q->number + a)
TSF
	status 0 "MAXDATALENGTH=$limit" trace run -o "$TMP/limit.ras" \
		"$TMP/limit.tdf" -- "$TMP/limit"
	tracefmt -q --tff "$TMP" "$TMP/limit.ras" >"$TMP/trace"
	is "$(sed -n 's/^p->inner->first ^ a = //p' "$TMP/trace" | sort -u |
		grep -v '<')" "$(sed -n 1p "$TMP/said")" \
		"  over two pointers"
	is "$(sed -n 's/^q->number + a = //p' "$TMP/trace" | sort -u |
		grep -v '<')" "$(sed -n 2p "$TMP/said")" "  over one"
done
tap_done
