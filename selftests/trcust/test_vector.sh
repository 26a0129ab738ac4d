#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Variables in vector registers become the operation that rastrace.ko evaluates;
# a probe that reads one stays where it is.
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
	"here;length 8 value [vector 17+0];length 4 value [vector 18+0];" \
	"a double and a float: it stays"
is "$(values a,x plain+0)" \
	"here;length 8 value [breg5+0];length 8 value [vector 17+0];" \
	"both: it stays"
trcust --explain --site=fast vector.tsf >log 2>&1
like "$(cat log)" 'site plain\+0 ' "with --site=fast, too"
is "$(values t,p parts+0)" \
	"here;length 8 value [vector 17+0];length 8 value [vector 18+0];length 8 value [vector 19+0];length 8 value [vector 19+8];" \
	"a structure in two registers, and all of a register"
is "$(values t.y,t.z parts+0)" \
	"here;length 4 value [vector 17+0; constu 32; shr];length 8 value [vector 18+0];" \
	"members"
is "$(values 'p[1]' parts+0)" "here;length 8 value [vector 19+8];" \
	"an element"
is "$(values x many+0)" "here;length 8 value [vector 18+0];" \
	"beside a wider register"
is "$(values w many+0)" "" "a wider register"
like "$(cat log)" "'w' at many\+0: only the low 16 bytes" "why not"
is "$(values '(int)x' plain+0)" "" "it isn't computed with"
like "$(cat log)" "floating point can be logged" "as the message says"
tap_done
