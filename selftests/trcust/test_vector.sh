#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Variables in vector registers become the operation that rastrace.ko evaluates;
# or what has the value beside it, at the same place or a little later.
. "$(dirname "$0")/../tap.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "vector registers are read on x86-64 only"
need gcc
cd "$TMP" || exit 1
cat >vector.c <<'END'
typedef double pair __attribute__((vector_size(16)));
typedef double wide __attribute__((vector_size(32)));
struct two { float x, y; double z; };

#define F(name, ...) __attribute__((noinline, noclone)) \
	double name(__VA_ARGS__)
/* something to move to */
#define NOP(x) asm volatile("lea 1(%%rdi), %%rax; nop" : "+x"(x) : : "rax")

F(plain, long a, double x, float y) { NOP(x); return x * a + y; }
F(late, double x) { x *= 2; NOP(x); return x; }
__attribute__((naked)) double spilled(long a, double x, float y)
{
	asm("movsd %xmm0, -16(%rsp); movd %xmm1, %eax; nop; addsd %xmm0, %xmm0\n\t"
	    "addss %xmm1, %xmm1; ret");
}
F(parts, struct two t, pair p) { return t.x + t.y + t.z + p[0] + p[1]; }
__attribute__((target("avx"))) F(many, wide w, double x)
{
	NOP(x);
	return w[0] + w[3] + x;
}
int main(void) { return 0; }
END
gcc -O2 -g -c vector.c -o vector.o && gcc vector.o -o vector || bail "vector.c"

# values VARS TP: what the TDF has
values() {
	printf 'MODNAME=%s\nMAJOR=7\nTRACE MINOR=1, TP=.%s, DESC="t", VARS=(%s)\n' \
		vector "$2" "$1" >vector.tsf
	trcust vector.tsf >log 2>&1 && trcust --dump vector.tdf |
		sed -nE 's/^  value (more )?(length .*)/\2/p
			 s/^  site .* address (0x[0-9a-f]+) nominal \1 .*/here/p
			 s/^  site .* nominal .*/moved/p' | tr '\n' ';'
}

is "$(values a plain+0)" "moved;length 8 value [breg5+0];" \
	"what is in a general register: the probe is moved"
is "$(values x,y plain+0)" \
	"moved;length 8 value [vector 17+0];length 4 value [vector 18+0];" \
	"a double and a float, which do not change: too"
is "$(values a,x plain+0)" \
	"moved;length 8 value [breg5+0];length 8 value [vector 17+0];" \
	"both"
is "$(values x late+0)" "here;length 8 value [vector 17+0];" \
	"one that changes: it stays"
is "$(values x,y spilled+0)" \
	"moved;length 8 value [breg7-16; deref];length 4 value [breg0+0];" \
	"what is stored or copied is read there"
trcust --explain --site=exact vector.tsf >log 2>&1
like "$(cat log)" 'site spilled\+0 ' "with --site=exact it stays"
is "$(values y,a spilled+0)" \
	"moved;length 4 value [breg0+0];length 8 value [breg5+0];" \
	"beside others"
is "$(values t,p parts+0)" \
	"here;length 8 value [vector 17+0];length 8 value [vector 18+0];length 8 value [vector 19+0];length 8 value [vector 19+8];" \
	"a structure in two registers, and all of a register"
is "$(values t.y,t.z parts+0)" \
	"here;length 4 value [vector 17+0; constu 32; shr];length 8 value [vector 18+0];" \
	"members"
is "$(values 'p[1]' parts+0)" "here;length 8 value [vector 19+8];" \
	"an element"
is "$(values x many+0)" "moved;length 8 value [vector 18+0];" \
	"beside a wider register"
is "$(values w many+0)" "" "a wider register"
like "$(cat log)" "'w' at many\+0: only the low 16 bytes" "why not"
is "$(values '(int)x' plain+0)" "" "it isn't computed with"
like "$(cat log)" "floating point can be logged" "as the message says"
tap_done
