#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A recorded C++ program as heap monitoring text, whose types come from vtables,
# and as memory tracker stream, whose callers come from debug information.
. "$(dirname "$0")/../tap.sh"
need_root
need g++ python3
stream=$(cd "$(dirname "$0")" && pwd)/tracker_stream.py
cd "$TMP" || exit 1

cat >shapes.cc <<'END'
#include <cstdlib>
#include <thread>
struct Shape { virtual ~Shape(); int x[4]; };
Shape::~Shape() { x[0] = 1; }
template <typename A, typename B> struct Pair : Shape { A a; B b; ~Pair(); };
template <typename A, typename B> Pair<A, B>::~Pair() { this->x[1] = 2; }
struct Set { Shape *operator|(int); };
__attribute__((noinline)) Shape *Set::operator|(int)
{
	return new Pair<char, unsigned long>;
}
__attribute__((noinline)) void put(Shape *shape) { delete shape; }
static void work()
{
	for (int i = 0; i < 10; i++) {
		Set set;
		put(set | i);
	}
}
int main()
{
	std::thread(work).join();
	void *volatile zero = calloc(1, 1234);
	free(zero);
	return malloc(4321) == nullptr;		// line 25
}
END
ok "a program" g++ -g -O1 -pthread -o shapes shapes.cc || tap_done
ok "is recorded" heapmon record -o shapes.ras -- ./shapes || tap_done
ok "as heap monitoring text" heapmon convert --to monitor -o text shapes.ras
deleted=$(grep ' del  *Pair<char,unsigned_long> ' text)
is "$(printf '%s\n' "$deleted" | wc -l)" 10 "objects have their types"
like "$deleted" '(put\(Shape\*\)|~Pair\(\))\|(put\(Shape\*\)\|)?work\(\)\|' \
	"  and who deleted them"
is "$(grep -c ' novtbl  *Set::operator|(int)|work()|' text)" 10 \
	"an operator with a bar allocated them"
ids=$(awk '/work\(\)/ { print $1 }' text | sort -u)
main=$(awk '/ 4321 / { print $1 }' text)
is "${ids%-*}-${ids%-*}" "$main" "the thread's process is the program"
ok "  the thread is its own" test "$ids" != "$main"
like "$(cat text)" " 1234 +novtbl +main\\|" "a new block has no type"
address=$(awk '$4 == 1234 { print $3 }' text)
is "$(awk -v a="$address" '$3 == a && $4 == "del" { print $5; exit }' text)" \
	novtbl "nor has one of zeros"
ok "its times are in order" sh -c "awk 'NR > 1 { print \$2 }' text | sort -nc"
ok "  and of today" test "$(awk 'NR == 2 { print int($2 / 1000000) }' text)" \
	-gt "$(($(date +%s) - 60))"

ok "as memory tracker stream" heapmon convert --to tracker -o out shapes.ras
python3 "$stream" dump out 64 little >records
is "$(grep -c ^malloc records) $(grep -c ^free records)" \
	"$(awk 'NR > 1 && $4 != "del"' text | wc -l) $(grep -c ' del ' text)" \
	"  it has all of them"
like "$(cat records)" '^malloc 0x[0-9a-f]* 4321 malloc\|.*/shapes.cc\|25$' \
	"  the caller's line is there"
is "$(grep -c 'operator new(unsigned long)|.*/shapes.cc|10$' records)" 10 \
	"  and that of new"
tap_done
