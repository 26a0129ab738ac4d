#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Large units, functions with very many copies in them and misspelled names
# take no longer than they must: nothing is gone through again for each
# tracepoint.
. "$(dirname "$0")/../tap.sh"
need gcc as
cd "$TMP" || exit 1

# Seconds are those of this process, not of a busy machine.
soon() {
	# shellcheck disable=SC3045
	ulimit -t "$1"
	shift
	trcust "$@" >out 2>err
}

awk 'BEGIN {
	print "int g1, g2; struct box { int a; struct box *next; };"
	for (i = 0; i < 1500; i++) {
		printf "enum e%d { ", i
		for (j = 0; j < 8; j++)
			printf "E%d_%d, ", i, j
		printf "} v%d; struct s%d { int i; } w%d;\n", i, i, i
	}
	for (i = 0; i < 8000; i++)
		printf "int fn%d(int a, struct box *b) { return a + b->a; }\n",
		       i
	print "int main(void) { return 0; }"
}' >unit.c
gcc -g -o unit unit.c || bail "no program"
awk 'BEGIN {
	print "MODNAME=unit"
	for (i = 0; i < 3000; i++)
		printf "TRACE TP=.fn%d, VARS=(a, g1, g2, E%d_3, " \
		       "((struct box *)b)->a, (enum e%d)a)\n", i, i % 1500,
		       i % 1500
}' >unit.tsf
(soon 4 unit.tsf)
is "$?" 0 "globals, constants and types at 3000 points of a unit"

awk 'BEGIN {
	print "volatile int v;"
	print "static inline __attribute__((always_inline)) int copy(int a)"
	print "{ int t = a * 3; v = t; return t + v; }"
	print "int work(int a) {"
	for (i = 0; i < 2000; i++)
		printf "a += copy(a + %d);\n", i
	print "return a; }\nint main(void) { return work(1); }"
}' >copies.c
gcc -g -O1 -fno-var-tracking -o copies copies.c || bail "no program"
printf 'MODNAME=copies\nTRACE TP=.copy, VARS=(v)\n' >copies.tsf
(soon 1 copies.tsf)
is "$?" 0 "a variable at 2000 copies in one function"
printf 'MODNAME=copies\nTRACE TP=.copy, VARS=(a, v)\n' >copies.tsf
(soon 1 copies.tsf)
is "$?" 1 "one that none of them has"
like "$(cat err)" "'a' at none of 2000 sites: it is optimized out everywhere" \
	"is reported once"

awk 'BEGIN {
	for (i = 0; i < 200000; i++)
		printf ".globl number_%d\n.type number_%d,@function\n" \
		       "number_%d: ret\n.size number_%d,1\n", i, i, i, i
}' >symbols.s
gcc -shared -nostdlib -o symbols.so symbols.s || bail "no module"
awk 'BEGIN {
	print "MODNAME=symbols.so"
	for (i = 0; i < 200; i++)
		printf "TRACE TP=.nomber_%d00\n", i
}' >symbols.tsf
(soon 4 symbols.tsf)
is "$?" 1 "200 names that 200,000 symbols are near to"
like "$(cat err)" "near names: number_" "the first have hints"
tap_done
