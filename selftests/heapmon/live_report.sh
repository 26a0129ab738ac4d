#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A recording from end to end: what the report, heaptrack and pprof say of a
# program that knows what it does; and a sample of it, which says that it is one.
. "$(dirname "$0")/../tap.sh"

need_root
need g++ python3 objcopy
here=$TOP/selftests/heapmon
cd "$TMP" || exit 1
cat >app.cc <<'END'
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

struct Shape {
	virtual ~Shape() {}
	int x[4];
};

Shape *shapes[50];
void *kept[3];

__attribute__((noinline)) void leak()
{
	for (void *&block : kept)
		block = malloc(1000);
}

__attribute__((noinline)) void churn()
{
	for (int i = 0; i < 2000; i++) {
		void *block = malloc(100 + i);

		*static_cast<volatile char *>(block) = 1;
		free(block);
	}
}

__attribute__((noinline)) void mismatch()
{
	int *block = new int[10];

	*static_cast<volatile int *>(block) = 1;
	free(block);
}

int main()
{
	for (Shape *&shape : shapes)
		shape = new Shape;
	for (Shape *shape : shapes)
		delete shape;
	leak();
	churn();
	mismatch();
	if (!fork()) {
		free(kept[0]);
		_exit(0);
	}
	wait(nullptr);
}
END
ok "the program" g++ -g -O1 -fno-builtin -Wno-mismatched-new-delete -o app app.cc
status 0 "it is recorded" heapmon record -o app.ras -- ./app || diag_file err

heapmon report -d 2 app.ras >report
is "$(sed -n '/^wrong/,/^$/p' report | grep -c 'times\{0,1\}: ')" 1 \
	"one thing is wrong" || diag_file report
like "$(cat report)" '^  freed by another kind than allocated, 1 time: .* by free, from$' \
	"new[] and free"
like "$(cat report)" '^ +mismatch\(\)\+' "where that is"
like "$(sed -n '/^types/,/^$/p' report)" '^ +50 +1200 +0 .* Shape$' \
	"the class of what was deleted"
is "$(sed -n '/^not freed/,/^$/p' report | grep -B1 'leak()' | awk 'NR == 1 { print $1, $2 }')" \
	"3 3000" "what leaks, though a child frees its own"
is "$(sed -n '/^temporary: /,/^$/p' report | awk 'NR == 3 { print $1, $2 }')" \
	"2000 2000" "what is temporary"
like "$(sed -n '/^temporary: /,/^$/p' report | sed -n 4p)" '^ +churn\(\)\+' \
	"and where"

# total NAME COLUMN: of the summary
total() {
	sed -n '/^summary/,/^$/p' report |
		awk -v name="$1" -v column="$2" '$1 == name { print $column }'
}

PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
heapmon convert --to pprof -o app.pb.gz app.ras 2>/dev/null
is "$(python3 "$here/profile_proto.py" app.pb.gz | awk '/^sample/ {
	n += $2; bytes += $3; live += $5 } END { print n, bytes, live }')" \
	"$(total allocated 2) $(total allocated 4) $(total not 5)" \
	"pprof has the same sums"
if command -v heaptrack_print >/dev/null; then
	heapmon convert --to heaptrack -o app.data app.ras 2>/dev/null
	heaptrack_print -f app.data >printed 2>&1
	is "$(sed -n 's/^calls to allocation functions: \([0-9]*\).*/\1/p' \
		printed)" "$(total allocated 2)" "and so has heaptrack"
else
	skip "and so has heaptrack" "needs heaptrack_print"
fi

# glibc sees neither: its mark in the freed block is written over, and what is
# freed inside of a block looks like one.
cat >wrong.c <<'END'
#include <stdlib.h>
#include <unistd.h>

long *volatile block;

__attribute__((noinline)) static void twice(void)
{
	block = malloc(100);
	free(block);
	block[1] = 0;
	free(block);
}

__attribute__((noinline)) static void inside(void)
{
	block = calloc(1, 4000);
	block[9] = 0x51;
	free(block + 10);
}

int main(void)
{
	twice();
	inside();
	_exit(0);
}
END
ok "a program that goes wrong" cc -g -O1 -w -fno-builtin -o wrong wrong.c
status 0 "is recorded" heapmon record -o wrong.ras -- ./wrong || diag_file err
heapmon report -s wrong -d 1 wrong.ras >wrong.txt
like "$(grep -A1 '^  double free, 1 time: .* by free' wrong.txt)" \
	'^ +twice\+' "a double free"
like "$(grep -A1 '^  free inside of a block, 1 time: ' wrong.txt)" \
	'^ +inside\+' "a free inside of a block"

count=$(total allocated 2)
status 0 "a sample of it" heapmon record --sample 500 -o sample.ras -- ./app
heapmon report sample.ras >report
like "$(sed -n 2p report)" '^note: a sample of the blocks, one in each 500 bytes' \
	"is called a sample at the top"
estimate=$(total allocated 2)
ok "its estimate of the blocks: $estimate of $count" test \
	"$((estimate * 100))" -gt "$((count * 85))" -a \
	"$((estimate * 100))" -lt "$((count * 115))"
status 0 "mpatrol's tables of it" heapmon report --style=mprof sample.ras
like "$(cat err)" 'tables are without weights' "are reported to have no weights"

# names of a stripped program: by its debug link, and where that leads nowhere
mkdir empty
objcopy --only-keep-debug app app.debug
objcopy --strip-all --add-gnu-debuglink=app.debug app stripped
mv stripped app
heapmon report sample.ras >report
like "$(cat report)" 'leak.*app\.cc' "a debug link leads to the names"
mv app.debug elsewhere.debug
status 0 "--symbols of nothing" heapmon report --symbols empty sample.ras
is "$(cat err)" \
	"heapmon: 'sample.ras': --symbols 'empty' has no file of a build-id that is in it" \
	"  is reported"
status 0 "--symbols of a file" heapmon report --symbols elsewhere.debug sample.ras
like "$(cat out)" 'leak.*app\.cc' "has the names"
tap_done
