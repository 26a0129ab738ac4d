#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trcust where memory runs out: it says so, or nothing comes of it; and never is
# a file written that is another one for it.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/memory/fail_each.sh"
. "$TOP/selftests/registers.sh"
export MOST=60

cat >app.c <<'C'
struct inner { int a; char *name; };
struct outer { struct inner inner; int values[4]; };
static __attribute__((noinline)) int helper(int x)
{
	__asm__("");
	return x * 3;
}
__attribute__((noinline)) int work(struct outer *s, int n, const char *text)
{
	int local = n + s->values[1];

	for (int i = 0; i < n; i++)
		local += helper(i) ^ text[0];
	return local;
}
int main(int argc, char **argv)
{
	struct outer s = { { argc, argv[0] }, { 1, 2, 3, 4 } };

	return work(&s, argc, argv[0]) & 1;
}
C
cc -g -O1 -o app app.c || bail "app.c doesn't compile"
cat >app.tsf <<TSF
MODNAME=./app
MAJOR=5
TYPELIST NAME=PRE,ID=1, NAME=POST,ID=2
GROUPLIST NAME=ALL,ID=1
TRACE MINOR=1, TP=.work, TYPE=(PRE), GROUP=ALL, DESC="work", FMT="n=%D",
	FMT="inner %P%D", FMT="text %P%S %U", REGS=($ARG1_32),
	MEM32=(F$ARG1+8,INDIRECT,4), ASCIIZ32=(F$ARG3,DIRECT,20),
	LEN=(F$ARG1,DIRECT,4), MEM32=(F$ARG3,DIRECT,LEN), STACK=(4),
	VARS=(n, s->inner.a, s->values[1], text, *s)
TRACE MINOR=2, TP=.helper, VARS=(x, x * 2 + 1), IF=(x > 0)
TRACE MINOR=3, TP=@app.c,12, VARS=(n, text:5), PASSCOUNT=2, MAXHITS=10
TRACE MINOR=4, TP=.work,RETEP, REGS=($RESULT_32), TYPE=(POST)
TRACE MINOR=5, TP=.main,RETEP=EXIT, VARS=(s)
TRACE MINOR=6, TP=@STATIC, DESC="static", FMT="x=%W"
TSF
status 0 "without a failure" trcust -o . app.tsf
each "a TSF" trcust -o made app.tsf
each "--explain" trcust --explain app.tsf
each "--dump of files" trcust --dump app.tdf TRC0005.TFF
each "--dump of a TSF" trcust --dump app.tsf
each "--from-module" trcust --from-module --args -o made/app.tsf ./app
each "--list=functions" trcust --list=functions ./app
each "--list=functions as JSON" trcust --list=functions --json ./app
each "--list=variables" trcust --list=variables:work ./app
each "--list=variables at exits" trcust --list=variables:work,RETEP --json ./app
each "--from-source" trcust --from-source -o made/app.tsf app.c
cat >classes.cc <<'C'
#include <functional>
#include <string>
struct Shape { int id = 1; virtual ~Shape() {} };
struct Circle : Shape { std::string name = "c"; };
__attribute__((noinline)) int work(Shape *s, std::function<int()> &f)
{
	return s->id + f();
}
int main()
{
	std::function<int()> f = [] { return 1; };
	Circle c;

	return work(&c, f) & 1;
}
C
printf 'MODNAME=./classes\nMAJOR=6\nTRACE TP=.work, VARS=(*s, f)\n' >classes.tsf
if g++ -g -O0 -o classes classes.cc 2>log; then
	each "objects of derived classes" trcust -W1 -o made classes.tsf
	each "--list of C++" trcust --list=functions ./classes
else
	skip "objects of derived classes" "needs g++"
fi
tap_done
