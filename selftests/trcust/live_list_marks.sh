#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Lists and trees of the user: what is wrong with them is marked where it is, and
# nothing hangs: cycles, counts of 2^60, nodes that are not there, trees that are
# no trees; elements by index. In text and JSON.
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

typedef struct _GList { long *data; struct _GList *next, *prev; } GList;
typedef struct { long left, right; } Span;
typedef struct Node { struct Node *up, *less, *more; Span span; } Node;
typedef struct { GList *first; unsigned long count; } Chain;
typedef struct { Node *first; unsigned long count; } Tree;
typedef struct { int *ring; unsigned int at, count; } Ring;

__attribute__((noipa)) int work(GList *l, Chain *c, Tree *t, Ring *r)
{
	return (l != NULL) + c->count + t->count + r->count;
}

static Node nodes[2000];

/* A tree that is a list to the right, which no balanced one is */
static Node *degenerate(int n)
{
	for (int i = 0; i < n; i++)
		nodes[i] = (Node){ i ? &nodes[i - 1] : NULL, NULL,
				   i + 1 < n ? &nodes[i + 1] : NULL, { i, -i } };
	return nodes;
}

/* Its second node is n nodes to the left of what is to the right of the first */
static Node *far_away(int n)
{
	degenerate(2);
	for (int i = 2; i < n; i++) {
		nodes[i] = (Node){ &nodes[i - 1], NULL, NULL, { i, -i } };
		nodes[i - 1].less = &nodes[i];
	}
	return nodes;
}

int main(void)
{
	long a = 1;
	GList three = { &a, NULL, NULL }, two = { &a, &three, NULL };
	GList one = { &a, &two, NULL }, ring = { &a, &ring, NULL };
	GList lost = { &a, (GList *)16, NULL };
	Chain chain = { &one, 3 }, cycle = { &ring, 1UL << 60 };
	Chain wild = { &lost, 4 }, none = { NULL, 2 }, fewer = { &one, 9 };
	int numbers[] = { 10, 11, 12, 13 };
	Ring full = { numbers, 2, 4 }, empty = { NULL, 0, 0 };
	Ring huge = { numbers, 1, 0xffffffff }, gone = { (int *)64, 0, 2 };
	Tree list, far, loop, absent;
	Node self = { &self, &self, &self, { 1, 2 } };
	Node alone = { (Node *)24, NULL, NULL, { 3, 4 } };

	list = (Tree){ degenerate(5), 5 };
	work(&one, &chain, &list, &full);
	far = (Tree){ far_away(100), 100 };
	work(NULL, &cycle, &far, &empty);
	loop = (Tree){ &self, 7 };
	work(&ring, &wild, &loop, &huge);
	absent = (Tree){ &alone, 2 };
	work(&lost, &none, &absent, &gone);
	absent.first = NULL;
	work(&one, &fewer, &absent, &full);
	return 0;
}
C
cc -g -O1 -o app app.c 2>log || bail "the program can't be built"
cat >own.shapes <<'S'
type Chain
	list first
	next next
	value *data
	count count
type Tree
	tree first
	left less
	right more
	parent up
	value span
	count count
	entries
type Span
	tuple left, right
type Ring
	each ring[(at + index) % 4]
	count count
S
cat >app.tsf <<'T'
MODNAME="./app"
MAJOR=9
MAXDATALENGTH=4096
TRACE MINOR=1,TP=.work,DESC="w",FMT="l=%P%{auto}",FMT="c=%P%{auto}",
	FMT="t=%P%{auto}",FMT="r=%P%{auto}",VARS=(*l:4,*c:4,*t:8,*r:4)
T
status 0 "the shapes compile" trcust -W1 --shapes own.shapes \
	--shapes "$tree/demo" app.tsf
trace run -o t.ras app.tdf -- ./app >log 2>&1
tracefmt -q t.ras 2>log | grep -a '^[a-z]=' |
	sed 's/: 0000[0-9A-F]*>/: ADDRESS>/g; s/0x[0-9A-F]*/P/g' >text
is "$(sed -n 's/^l=//p' text)" "{P, P, P}
{}
{P, P, P, P, <cut: 4 of more>}
{P, <not readable: ADDRESS>, <not readable: ADDRESS>}
{P, P, P}" "lists without a count"
is "$(sed -n 's/^c=//p' text)" "{1, 1, 1}
{1, 1, 1, 1, <cut: 4 of 1152921504606846976>}
{1, <not readable: ADDRESS>, <not readable: ADDRESS>}
{<cut: 0 of 2>}
{1, 1, 1, <cut: 3 of 9>}" "lists with one"
is "$(sed -n 's/^t=//p' text)" "{0: 0, 1: -1, 2: -2, 3: -3, 4: -4}
{0: 0, <next node not found>}
{1: 2, <next node not found>}
{3: 4, <not readable: ADDRESS>}
{<cut: 0 of 2>}" "trees"
is "$(sed -n 's/^r=//p' text)" "{12, 13, 10, 11}
{}
{11, 12, 13, 10, <cut: 4 of 4294967295>}
{<not readable: ADDRESS>, <not readable: ADDRESS>}
{12, 13, 10, 11}" "elements by index"
like "$(tracefmt -q --format=json t.ras)" '\[\[0,0\],\[1,-1\],\[2,-2\],\[3,-3\],\[4,-4\]\]' \
	"in JSON entries are pairs"
like "$(tracefmt -q --format=json t.ras)" '"why":"next_node_not_found"' \
	"and what was not found is named"

# a wrong count of std::map and std::set: the node after the last one is none
cat >trees.cc <<'C'
#include <cstddef>
#include <cstdio>
#include <map>
#include <set>
__attribute__((noinline)) int use(const std::map<int, int> &m,
				  const std::set<int> &s)
{
	return printf("%zu %zu\n", m.size(), s.size());
}

// Where the library keeps the number of elements
template<class T> static void recount(T &object, std::size_t from, std::size_t to)
{
	std::size_t *word = reinterpret_cast<std::size_t *>(&object);

	for (std::size_t i = 0; i < sizeof(T) / sizeof(*word); i++)
		if (word[i] == from)
			word[i] = to;
}

int main()
{
	std::map<int, int> m{ { 1, 2 }, { 3, 4 }, { 5, 6 } };
	std::set<int> s{ 7, 8, 9 };

	recount(m, 3, 100);
	recount(s, 3, 5);
	use(m, s);
	recount(m, 100, 3);
	recount(s, 5, 3);
	return 0;
}
C
cat >trees.tsf <<'T'
MODNAME=./trees
MAJOR=2
TRACE MINOR=1, TP=use, VARS=(m, s)
T
for compiler in "g++" "clang++ -stdlib=libc++"; do
	# shellcheck disable=SC2086
	if $compiler -O1 -g -std=c++17 -o trees trees.cc 2>log; then
		trcust -W1 trees.tsf
		trace run -o t.ras trees.tdf -- ./trees >log 2>&1
		is "$(tracefmt -q t.ras | grep '^[ms] =')" \
			'm = {1: 2, 3: 4, 5: 6, <cut: 3 of 100>}
s = {7, 8, 9, <cut: 3 of 5>}' "$compiler: a count larger than the tree"
	else
		skip "$compiler: a wrong count" "it does not build"
	fi
done
tap_done
