#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A char * and a char array compared with a string, as the program compares them:
# with null pointers, without a zero at the end, and at the end of what is mapped.
. "$(dirname "$0")/../tap.sh"
need_root
need cc
cd "$TMP" || exit 1
cat >strings.c <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct record { const char *name; char tag[4]; char buf[16]; };

#define LONG "0123456789012345678901234567890123456789012345678901234567890123"

static char *at_end;

#define IS(a, b)	((a) && !strncmp(a, b, sizeof(a) == 4 ? 4 : 100))
#define STARTS(a, b)	((a) && !strncmp(a, b, strlen(b)))

/* What TEST comes to here is printed. */
__attribute__((noinline, noipa)) int work(struct record *r, const char *s, int i)
{
	int is = TEST;

	printf(is ? "%d\n" : "", i);
	return is;
}

int main(void)
{
	long page = sysconf(_SC_PAGESIZE);
	struct record records[] = {
		{ "carl", "ABCD", "hello" }, { "carlo", "ABC", "hell" },
		{ NULL, "ABCE", "helloworld12345" }, { "car", "", "" },
		{ LONG, "xxxx", "hello" }, { "", "A", "x" }, { NULL, "", "" },
	};
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(map + page, page);
	at_end = map + page - 4;
	memcpy(at_end, "car", 4);
	records[6].name = at_end;
	for (int i = 0; i < 7; i++)
		work(&records[i], records[i].name, i);
	return 0;
}
C
# compare EXPRESSION C: hits where the program finds it true
compare() {
	cc -O1 -g "-DTEST=$2" -o strings strings.c 2>log ||
		bail "strings.c: $(head -n 5 log)"
	printf 'MODNAME=./strings\nMAJOR=1\nTRACE TP=.work,IF=(%s),VARS=(i)\n' \
		"$1" >strings.tsf
	trcust -W1 strings.tsf >log 2>&1 || diag_file log
	trace run -o t.ras strings.tdf -- ./strings >printed 2>log
	is "$(tracefmt -q t.ras 2>log | sed -n 's/^ *i = //p')" \
		"$(cat printed)" "$1"
	unlike "$(cat log)" "fault" "  without a fault"
}
for name in car carl carlo LONG; do
	text=$name
	[ "$name" != LONG ] || text=$(sed -n 's/^#define LONG "\(.*\)"/\1/p' strings.c)
	compare "s == \"$text\"" "IS(s,\"$text\")"
	compare "r->name != \"$text\"" "!IS(r->name,\"$text\")"
	compare "startswith(s, \"$text\")" "STARTS(s,\"$text\")"
done
compare 's == ""' 'IS(s,"")'
compare 'startswith(s, "")' 'STARTS(s,"")'
compare 'r->tag == "ABCD"' 'IS(r->tag,"ABCD")'
compare 'r->tag == "ABC"' 'IS(r->tag,"ABC")'
compare 'r->tag == "ABCDE"' '0'
compare 'startswith(r->tag, "ABCDE")' '0'
compare 'startswith(r->buf, "hello")' 'STARTS(r->buf,"hello")'
compare 'r->buf == "hello" && i > 0' 'i>0&&IS(r->buf,"hello")'
tap_done
