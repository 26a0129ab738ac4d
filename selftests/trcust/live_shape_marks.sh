#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What is wrong with a value of a shape is marked at the part that has it, in each
# output: lengths of 2^60, memory that is not there, null pointers, limits. Shapes
# of the user, for strings of GLib and redis.
. "$(dirname "$0")/../tap.sh"
need_root
need cc
tree=$(cd "$(dirname "$0")/../.." && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

cat >app.c <<'C'
#include <stdlib.h>
#include <string.h>

typedef struct { char *str; unsigned long len, room; } GString;
typedef struct { GString *items; unsigned long count; } List;
typedef struct { GString first; int n; List list; } Both;
typedef struct { int has; GString text; } Maybe;
typedef struct { Both *to; } One;
typedef char *sds;

__attribute__((noipa)) int work(GString *t, List *l, Both *b, Maybe *m, One *o,
				sds s)
{
	return t->len + l->count + b->n + m->has + (o->to != NULL) + (s != NULL);
}

static sds sds8(const char *text)
{
	unsigned char *p = malloc(300);

	p[0] = strlen(text);
	p[1] = 255;
	p[2] = 1;
	strcpy((char *)p + 3, text);
	return (char *)p + 3;
}

static sds sds5(const char *text)
{
	unsigned char *p = malloc(40);

	p[0] = strlen(text) << 3;
	strcpy((char *)p + 1, text);
	return (char *)p + 1;
}

int main(void)
{
	GString good = { "good", 4, 5 }, none = { NULL, 0, 0 };
	GString wild = { (char *)16, 5, 5 }, huge = { "huge", 1UL << 60, 0 };
	GString long_one = { NULL, 300, 0 };
	GString many[40] = { good, wild, none, good };
	List list = { many, 4 }, far = { many, 1UL << 60 }, lost = { (void *)8, 3 };
	List minus = { many, -1UL };
	Both both = { good, 7, list }, bad = { wild, 8, lost };
	Maybe yes = { 1, good }, no = { 0, wild }, maybe = { 1, wild };
	One null = { NULL }, one = { &both }, broken = { (Both *)4096 };

	long_one.str = memset(malloc(400), 'x', 400);
	for (int i = 4; i < 40; i++)
		many[i] = good;
	work(&good, &list, &both, &yes, &one, sds8("redis"));
	work(&none, &far, &bad, &no, &null, sds5("five"));
	work(&wild, &lost, &both, &maybe, &broken, sds5(""));
	work(&long_one, &minus, &both, &yes, &null, (char *)4096);
	work(&huge, &list, &both, &yes, &null, sds5(""));
	return 0;
}
C
cc -g -O1 -o app app.c 2>log || bail "the program can't be built"
cat >own.shapes <<'S'
type List
	sequence items
	count count
type Maybe
	optional has
	value text
type One
	one to
S
cat >app.tsf <<'T'
MODNAME="./app"
MAJOR=9
TRACE MINOR=1,TP=.work,DESC="w",FMT="t=%P%{auto}",FMT="s=%P%{auto}",
	FMT="m=%P%{auto}",VARS=(*t,s,*m)
TRACE MINOR=2,TP=.work,DESC="w",FMT="l=%P%{auto}",VARS=(*l:6)
TRACE MINOR=3,TP=.work,DESC="w",FMT="b=%P%{auto}",FMT="o=%P%{auto}",
	VARS=(*b,*o)
T
for minor in 1 2 3; do
	awk -v m="MINOR=$minor," '/^TRACE/ { on = index($0, m) }
		!/^TRACE/ && !/^\t/ || on' app.tsf >$minor.tsf
	status 0 "minor $minor compiles" trcust -W1 --shapes own.shapes \
		--shapes "$tree/demo" $minor.tsf
	trace run -o $minor.ras $minor.tdf -- ./app >log 2>&1
	tracefmt -q $minor.ras 2>log | grep -a '^[a-z]=' >$minor.txt
	cp TRC0009.TFF $minor.tff
done

at() { # pointers are not the same in each run
	sed 's/: 0000[0-9A-F]*>/: ADDRESS>/g' "$1"
}
x=$(printf '%0128d' 0 | tr 0 x)
is "$(at 1.txt | head -12)" "t=good
s=redis
m=\"good\"
t=
s=five
m=nullopt
t=<not readable: ADDRESS>
s=
m=<not readable: ADDRESS>
t=$x<cut: 128 of 300 bytes>
s=<not readable: ADDRESS>
m=\"good\"" "texts"
like "$(sed -n 13p 1.txt)" "^t=huge.*<cut: 128 of 1152921504606846976 bytes>\$|^t=<not readable: " \
	"a length of 2^60 is cut"
list='{"good", <not readable: ADDRESS>, "", "good"'
is "$(at 2.txt | head -4)" "l=$list}
l=$list, \"good\", \"good\", <cut: 6 of 1152921504606846976>}
l={<not readable: ADDRESS>, <not readable: ADDRESS>, <not readable: ADDRESS>}
l=$list, \"good\", \"good\", <cut: 6 of 18446744073709551615>}" "sequences"
both="{first = \"good\", n = 7, list = $list}}"
is "$(at 3.txt | head -6)" "b=$both
o=$both
b={first = <not readable: ADDRESS>, n = 8, list = {<not readable: ADDRESS>, <not readable: ADDRESS>, <not readable: ADDRESS>}}
o=NULL
b=$both
o=<not readable: ADDRESS>" "structures, and what pointers point to"

# ---- expressions ----

# hits CONDITION COUNT
hits() {
	printf 'MODNAME="./app"\nMAJOR=9\nTRACE TP=.work,DESC="w",IF=(%s),VARS=(%s)\n' \
		"$1" 'len(*t),(*l)[1],(*l)[0].len,(*l)[:2],l->items[3].len' \
		>if.tsf
	trcust -W1 --shapes own.shapes --shapes "$tree/demo" if.tsf 2>log ||
		diag_file log
	trace run -o if.ras if.tdf -- ./app >log 2>&1
	is "$(tracefmt -q if.ras 2>log | grep -c '^len(')" "$2" "IF=($1)"
}
hits '*t == "good"' 1
hits '*t != "good"' 4
hits '*t == "goof"' 0
hits '*t == ""' 1
hits 'startswith(*t, "xxxxxxxxxxxxxxxxxx")' 1
hits 'startswith(*t, "go") || startswith(s, "fiv")' 2
hits 's == "redis" && len(s) == 5 && len(*l) == 4' 1
hits 'len(*l) > 1000000' 2
hits '(*l)[1].len == 5 && *t == "good"' 1
hits '(*l)[3] == "good" && !(*t == "good")' 3
is "$(tracefmt -q if.ras 2>log | grep -a ' = ' | head -5 | at /dev/stdin)" \
	"len(*t) = 0
(*l)[1] = <not readable: ADDRESS>
(*l)[0].len = 4
(*l) = {\"good\", <not readable: ADDRESS>, <cut: 2 of 1152921504606846976>}
l->items[3].len = 4" "values inside a shape"
for bad in '*l == "x"' 'n == "x"' '*t == "a\\n"' 'len(m->has)' '*t == 3'; do
	printf 'MODNAME="./app"\nMAJOR=9\nTRACE TP=.work,DESC="w",IF=(%s),VARS=(1)\n' \
		"$bad" >bad.tsf
	status 1 "refused: $bad" trcust --shapes own.shapes \
		--shapes "$tree/demo" bad.tsf
done

# ---- the other outputs ----

json() {
	tracefmt -q --format=json --tff "$1.tff" "$1.ras"
}
status 0 "JSON" json 2
like "$(sed -n 1p out)" '"l":\["good",null,"","good"\]' "a part that is missing is null"
like "$(sed -n 1p out)" '"notes":\{"l":\{"why":"incomplete","parts":\[\{"why":"<not readable: 0000000000000010>"\}\]\}\}' \
	"with the reason"
like "$(sed -n 2p out)" '\{"why":"cut","recorded":6,"of":1152921504606846976\}' \
	"and what is cut"
json 1 >out
like "$(sed -n 2p out)" '"m":null' "an optional value that isn't there is null"
like "$(sed -n 4p out)" '"t":\{"why":"cut","recorded":128,"of":300\}' \
	"a text that is cut"
json 3 >out
like "$(sed -n 2p out)" '"o":null' "a null pointer is null"
like "$(sed -n 1p out)" '"b":\{"first":"good","n":7,"list":\["good",null,"","good"\]\}' \
	"a structure has its parts"
if command -v python3 >/dev/null; then
	for minor in 1 2 3; do
		json $minor | python3 -c 'import json, sys
for line in sys.stdin: json.loads(line)' 2>log
		ok "minor $minor is JSON" test ! -s log
	done
fi
is "$(tracefmt -q --tff 1.tff --format=csv --fields t,s 1.ras | tr -d '\r' |
	sed -n '2,3p')" 'good,redis,paged_in,
"",five,,' "columns of CSV"
is "$(tracefmt -q --tff 1.tff --field 's=="five"' 1.ras | grep -c '^s=')" 1 \
	"--field compares a text"
tracefmt -q --format=ctf -o ctf --tff 3.tff 3.ras 2>log
ok "CTF is written" test -s ctf/metadata
if command -v babeltrace2 >/dev/null; then
	like "$(babeltrace2 ctf 2>&1)" 'first = \\"good\\", n = 7|first = "good", n = 7' \
		"a structure is a string there"
fi
tap_done
