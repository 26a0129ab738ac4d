#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Variables that were converted and are spilled: clang's debug information computes
# with the address of the spill slot. What is logged is what the program prints, or
# nothing.
. "$(dirname "$0")/../tap.sh"
need_root
need clang nm objdump
cd "$TMP" || exit 1
cat >program.c <<'C'
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

volatile long sink;

__attribute__((noinline)) long work(bool flag, char c, short s, unsigned int u)
{
	long a, b, d, e, f, g, h;
	long sum = flag + c + s + u;

	printf("flag = %s\ns = %d\nu = %u\n", flag ? "true" : "false", s, u);
	a = rand(); b = rand(); d = rand(); e = rand(); f = rand(); g = rand();
	h = rand();
	sink = a ^ b ^ d ^ e ^ f ^ g ^ h;
	printf("sum = %ld\n", sum);
	sink = a ^ b ^ d ^ e ^ f ^ g ^ h ^ flag ^ c ^ s ^ u;
	return sum;
}

__attribute__((noinline)) long numbers(long a, long b)
{
	long k = a * 3 + 1, m = a + 5, n = b ^ 0x55, h = m * 4;
	long x1, x2, x3, x4, x5, x6, x7;

	sink = k;
	x1 = rand(); x2 = rand(); x3 = rand(); x4 = rand(); x5 = rand();
	x6 = rand(); x7 = rand();
	sink = x1 ^ x2 ^ x3 ^ x4 ^ x5 ^ x6 ^ x7;
	printf("%ld %ld %ld %ld\nx1 = %ld\n", m, n, h, k, x1);
	sink = x1 ^ x2 ^ x3 ^ x4 ^ x5 ^ x6 ^ x7;
	printf("x2 = %ld\nx3 = %ld\nx4 = %ld\nx5 = %ld\n", x2, x3, x4, x5);
	return a + b;
}

int main(void)
{
	return work(true, 7, -300, 4000000000u) & work(false, -7, 300, 9) &
	       numbers(1, 2) & numbers(100, 200) & 0;
}
C

# Where numbers() asks for the last of its own
last() {
	start=$(nm program | sed -n 's/ T numbers$//p')
	end=$(objdump -d --no-show-raw-insn program |
		sed -n '/<numbers>:/,/^$/p' |
		sed -n 's/^ *\([0-9a-f]*\):.*call.*<rand@plt>$/\1/p' | tail -n 1)
	echo ".numbers+$((0x$end - 0x$start))"
}

# point TP NAME: its values are added to `logged`
point() {
	rm -f program.tdf
	printf 'MODNAME=./program\nMAJOR=79\nTRACE TP=%s, VARS=(%s)\n' \
		"$1" "$2" >program.tsf
	trcust -W1 program.tsf 2>trcust.out
	[ -e program.tdf ] || return
	trace run -o program.ras program.tdf -- ./program >printed 2>run.out
	tracefmt -q --tff . program.ras | grep ' = ' >>logged
}

for level in 1 2 3; do
	status 0 "clang -O$level" clang "-O$level" -g -w program.c -o program
	: >logged
	for name in flag s u sum; do
		point .work,RETEP $name
	done
	for name in x1 x2 x3 x4 x5; do
		point "$(last)" $name
	done
	sort -u logged >values
	sort -u printed >expected
	is "$(comm -23 values expected)" "" "what is logged is what is printed"
	ok "much of it is" test "$(wc -l <values)" -ge 8
done
tap_done
