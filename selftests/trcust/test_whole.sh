#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# CALL: what the entry and the exits log, where names mean something else at each
# exit; entry() and elapsed where they are none.
. "$(dirname "$0")/../tap.sh"
need cc
case $(uname -m) in
x86_64)	;;
*)	skip_all "its program has instructions of x86-64" ;;
esac
cd "$TMP" || exit 1

# An exit where v is a variable, and one where it is a type
cat >app.c <<'C'
typedef int v;
struct list { int *numbers; long count; };
struct pair { int m; };

__attribute__((noipa)) int fn(v n, int k, struct pair *s)
{
	if (k > 2) {
		int v = k * 2;

		if (v > 8)
			asm volatile("mov %0, %%eax\n\tleave\n\tret"
				     :: "r" (v) : "eax");
		s->m += v;
	}
	s->m++;
	return n + k;
}

__attribute__((noipa)) struct list *numbers(struct list *list)
{
	return list;
}

int main(void)
{
	struct pair s = { 0 };

	return fn(1, 2, &s) + !numbers(0);
}
C
cc -O0 -g -o app app.c || bail "the program can't be built"

cat >app.tsf <<'TSF'
MODNAME=./app
MAJOR=1
TRACE MINOR=1, CALL=.fn, VARS=(k), RESULT=(s->m, entry(k)),
	IF=((v)-entry(n) > 0)
TRACE MINOR=2, CALL=.main, COUNT, SUM=($result), BY=(entry(1) + 1)
TSF
status 0 "exits where a name is another" trcust -W1 app.tsf
status 0 "--explain" trcust -W1 --explain app.tsf
sed -n '/^minor/s/, line.*: / /p; s/^    \([a-z][^ ]*\)  *\([0-9]* bytes*\|[$a-z].*\)  .*/\1 \2/p
	s/^    \(count\|sum\|by\) .*/\1/p' out |
	grep -v '^because\|^cost\|^instruction\|^only' >shown
is "$(cat shown)" "minor 1 (0x0001), fn 3 sites, records of 48 to 77 bytes
k 4 bytes
s->m 4 bytes
entry(k) 4 bytes
s->m 4 bytes
entry(k) 4 bytes
minor 2 (0x0002), main 2 sites, no records
count
sum
by" "  has what each site logs"

cat >bad.tsf <<'TSF'
MODNAME=./app
MAJOR=1
TRACE MINOR=1, TP=.fn, VARS=(entry(k))
TSF
status 1 "entry() of a tracepoint" trcust bad.tsf
like "$(cat err)" "entry[(][)] here" "  is refused"
cat >list.shapes <<'SHAPES'
type list
	sequence numbers
	count entry(1)
SHAPES
cat >bad.tsf <<'TSF'
MODNAME=./app
MAJOR=1
TRACE MINOR=1, CALL=.numbers, RESULT=(*$result)
TSF
status 1 "entry() in a shape" trcust --shapes list.shapes bad.tsf
like "$(cat err)" "entry[(][)] here" "  is refused, too"
# A cheaper instruction in front of the return, where it is evaluated, too
cat >near.c <<'C'
__attribute__((noipa)) int near(int n)
{
	int sum = n + 1;

	asm volatile("xchg %%ax, %%ax" : "+r" (sum));
	return sum;
}

int main(void)
{
	return near(1) != 2;
}
C
cc -O2 -g -o near near.c || bail "the program can't be built"
cat >near.tsf <<'TSF'
MODNAME=./near
MAJOR=1
TRACE MINOR=1, CALL=.near, RESULT=($result, entry(n)),
	IF=(elapsed > 1ms && entry(n) < 3)
TSF
status 0 "elapsed and entry() where a cheap one is near" trcust -W1 --explain near.tsf
like "$(cat out)" "only if +elapsed > 1ms && entry" "  has the condition"
tap_done
