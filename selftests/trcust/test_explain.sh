#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# --explain prints where tracepoints are, what a hit costs there and where
# each datum comes from; it writes no file.
. "$(dirname "$0")/../tap.sh"
need cc
here=$(cd "$(dirname "$0")" && pwd)/explain
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# Of instructions the bytes are compared; how they are written is Zydis's.
cc -nostdlib -static -Wl,-e,work -Wl,-Ttext=0x401000 -Wl,-Tdata=0x402000 \
	-Wl,--build-id=none -o golden "$here/golden.s" 2>log || {
	diag_file log
	bail "the module can't be built"
}
cp "$here/golden.tsf" .
status 0 "a module of which each byte is known" trcust --explain golden.tsf
sed 's/instruction  .*  (/instruction  (/' out >got
ok "is explained so" diff "$here/golden.txt" got
like "$(cat out)" ' instruction  push %rbx  \(53\)$' "with the instruction"
like "$(cat out)" ' instruction  jmp 0x40100d  ' "and where it jumps"
is "$(echo ./*.tdf ./*.TFF)" "./*.tdf ./*.TFF" "no file is written"

cat >app.c <<'C'
struct node { int value; struct node *next; char name[12]; };
int counter;
static __thread int own;

#ifdef __clang__
__attribute__((noinline, optnone))
#else
__attribute__((noipa))
#endif
int leaf(struct node *n, int a, const char *text, long seven, long eight,
	 long nine, long ten)
{
	int local = a * 2;

	own += a;
	counter += local + text[0] + seven + eight;
	return n->next ? n->next->value + local : nine + ten;
}

int main(int argc, char **argv)
{
	struct node n = { 1, 0, "x" };

	return leaf(&n, argc, argv[0], 7, 8, 9, 10);
}
C
cat >app.tsf <<'T'
MODNAME = app
MAJOR = 1
TRACE MINOR=1, TP=.leaf, IF=(a > 0 && n), VARS=(n->next->value, a, text:9),
	VARS=(ten, counter, own, 7)
TRACE MINOR=2, TP=.leaf,RETEP, VARS=(local)
T

# explained REGEX NAME: such a line is there
explained() {
	like "$(cat out)" "$1" "$what: $2"
}

for row in "gcc -O2 -g" "gcc -O0 -g" "clang -O0 -g"; do
	what=$row
	# shellcheck disable=SC2086
	set -- $row
	command -v "$1" >/dev/null || {
		skip "$what" "$1 is missing"
		continue
	}
	"$@" -o app app.c || bail "app.c doesn't compile"
	status 0 "$what" trcust --explain app.tsf
	case $row in
	*-O0*)	a='frame slot' ;;
	*)	a='register rsi$' ;;
	esac
	explained '^  site leaf.* at 0x[0-9a-f]+, app\.c:[0-9]+$' "source line"
	explained '^    only if +a > 0 && n$' "condition"
	explained "^    a +4 bytes +int, $a" "parameter"
	explained '^    n->next->value +4 bytes +int, through' "two pointers"
	explained '^    text +up to 9 bytes +' "string"
	explained '^    ten +8 bytes +long.*, frame slot' "argument on the stack"
	explained "^    counter +4 bytes +int, global at 0x$(nm app |
		sed -n 's/^0*\(.*\) . counter$/\1/p')\$" "global variable"
	explained '^    own .*thread-local' "thread-local variable"
	explained '^    7 +4 bytes +int, constant' "constant"
	explained '^minor 2 \(0x0002\), leaf,RETEP, line 5: ' "return point"
	explained '^2 tracepoints, ' "sum"
done
is "$(echo ./*.tdf ./*.TFF)" "./*.tdf ./*.TFF" "no file is written"

# A function that was compiled for itself and inlined as well has sites of its
# own only: calls without one are reported.
cat >inlined.c <<'C'
int counter;

__attribute__((always_inline)) inline int both(int n)
{
	return counter += n;
}
int (*volatile itself)(int) = both;
extern int both(int n);

int main(int argc, char **argv)
{
	both(argc);
	both(2);
	return itself(both(argc)) + (argc > 9);
}
C
cc -O2 -g -o inlined inlined.c || bail "inlined.c doesn't compile"
cat >inlined.tsf <<'T'
MODNAME = inlined
MAJOR = 1
TRACE MINOR=1, TP=.both
TRACE MINOR=2, TP=.inlined.c:both,RETEP
TRACE MINOR=3, TP=.main
T
what="inlined calls"
status 0 "$what" trcust --explain inlined.tsf
for minor in 1 2; do
	sed -n "/^minor $minor /,/^\$/p" out >point
	like "$(cat point)" '^  not seen: [23] calls of it that were inlined$' \
		"$what: minor $minor has no site there"
	like "$(cat point)" '^    at main\+.*, inlined\.c:[0-9]+$' "$what: where"
done
is "$(sed -n '/^minor 3 /,$p' out | grep -c 'not seen')" 0 "$what: not of main"
sed -i '/MINOR=[23]/d; s/TP=.both/TP=@inlined.c,5/' inlined.tsf
status 0 "$what" trcust --explain inlined.tsf
like "$(cat out)" '^minor 1 .*: [34] sites, ' "$what: a line has a site at each"
is "$(grep -c 'not seen' out)" 0 "$what: none is left out"

cat >other.c <<'C'
extern int counter;

static __attribute__((noinline)) int same(int n)
{
	__asm__ volatile("" : : : "memory");
	return counter -= n;
}
int other(int n)
{
	return same(n);
}
C
sed -e 's/both/same/g; s/inline int/static inline int/; /itself/d' \
	-e '/extern int/d; /^int main/,$d' inlined.c >same.c
cat >>same.c <<'C'
int other(int n);
int main(int argc, char **argv)
{
	return same(argc) + same(2) + other(argc);
}
C
cc -O2 -g -o inlined same.c other.c || bail "same.c doesn't compile"
sed -i 's/TP=@inlined.c,5/TP=.same/' inlined.tsf
status 0 "$what" trcust --explain inlined.tsf
like "$(cat out)" '^  site same.*, other\.c:[0-9]' "$what: two of a name"
is "$(grep -c 'not seen' out)" 0 "$what: those of the other one aren't reported"

echo 'TRACE MINOR=9, TP=.nothing' >>app.tsf
status 1 "an error is one" trcust --explain app.tsf
like "$(cat err)" 'TRCERR_BADSYMBOL' "and reported"
like "$(cat out)" '^minor 1 ' "and the others are explained"
tap_done
