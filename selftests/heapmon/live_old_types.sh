#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The types of the objects that are on the heap when the recording begins, by the
# first word that they have then: in programs of several compilers, in a shared
# library, without symbols, with large blocks, and with --no-types. The program
# prints the type of each block.
. "$(dirname "$0")/../tap.sh"
need_root
need_tree
need "${CXX:-g++}"
cd "$TMP" || exit 1
target=

cleanup() {
	[ -z "$target" ] || kill "$target" 2>/dev/null
}

cat >shape.h <<'END'
struct Shape {
	virtual ~Shape();
	virtual int area();
	int sides;
};
Shape *shape_make();
END
cat >shape.cc <<'END'
#include "shape.h"
namespace { struct Square : Shape { int area(); }; }
Shape::~Shape() {}
int Shape::area() { return 0; }
int Square::area() { return 4; }
Shape *shape_make() { return new Square; }
END
cat >main.cc <<'END'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include "shape.h"

namespace app {
struct Node { virtual ~Node() {} virtual int run() { return 1; } int x; };
struct Leaf : Node { int run() { return 2; } char room[100]; };
struct Other { virtual ~Other() {} };
struct Both : Node, Other { int run() { return 3; } };
struct Deep : virtual Node { int run() { return 4; } };
template <class T> struct Box : Node { T item; int run() { return 5; } };
struct Large : Node { char room[300000]; };
struct Plain { long first; char room[40]; };
struct Text { char text[32]; };
}

static void say(const void *block, const char *type)
{
	std::printf("%p %s\n", block, type);
}

int main()
{
	using namespace app;
	Plain *plain = new Plain(), *zero = new Plain();
	Text *text = new Text();
	Node *both = new Both();

	plain->first = 0x1234;
	std::strcpy(text->text, "some text");
	say(new Node(), "app::Node");
	say(new Leaf(), "app::Leaf");
	say(both, "app::Both");
	say(new Deep(), "app::Deep");
	say(new Box<int>(), "app::Box<int>");
	say(new Large(), "app::Large");
	say(new Shape(), "Shape");
	say(shape_make(), "(anonymous_namespace)::Square");
	say(plain, "notype");
	say(text, "notype");
	say(zero, "novtbl");
	say(std::calloc(1, 200000), "novtbl");
	std::printf("ready\n");
	std::fflush(stdout);
	pause();
}
END

# check NAME OPTION...: what the program says is what the recording has of it;
# in $expected, when it is set
check() {
	check_name=$1
	shift
	./target >said &
	target=$!
	check_left=100
	until grep -q ready said || [ $check_left -eq 0 ]; do
		check_left=$((check_left - 1))
		sleep 0.1
	done
	ok "$check_name: recorded" heapmon record "$@" -p $target -t 1 -o out.ras
	heapmon convert --to monitor out.ras 2>err >lines
	kill $target
	wait $target 2>/dev/null
	target=
	sed '/ready/d' said | sort >want
	awk 'NR == FNR { asked[$1] = 1; next }
	     $2 == "old" && $3 in asked { print $3, $5 }' want lines |
		sort >got
}

compile() {
	"$@" -shared -fPIC -o libshape.so shape.cc 2>err &&
		"$@" -o target main.cc -L. -lshape -Wl,-rpath,"$TMP" 2>>err
}

while read -r name command; do
	# shellcheck disable=SC2086
	if ! command -v ${command%% *} >/dev/null || ! compile $command; then
		skip "$name" "it can't be compiled"
		continue
	fi
	check "$name"
	ok "  every type is right" cmp got want || diag_file got want
done <<END
g++-O0 ${CXX:-g++} -O0
g++-O2 ${CXX:-g++} -O2
g++-no-pie ${CXX:-g++} -O1 -no-pie -fno-pie
g++-m32 ${CXX:-g++} -m32 -O1
clang++ clang++ -O2
END

compile "${CXX:-g++}" -O2
if command -v strip >/dev/null && strip target; then
	check "without symbols"
	# the library's are in .dynsym; an unnamed namespace's aren't
	sed 's/ app::.*/ notype/' want >known
	ok "  those of the program are unknown, none is wrong" \
		cmp got known || diag_file got known
	strip libshape.so
	check "a library without symbols, too"
	sed 's/ app::.*/ notype/; s/ (anon.*/ notype/' want >known
	ok "  what it exports is known" cmp got known || diag_file got known
fi

compile "${CXX:-g++}" -O2
check "--no-types" --no-types
sed 's/ .*/ notype/' want >known
ok "  there are none" cmp got known || diag_file got
check "with what the report says of it"
like "$(heapmon report -s types out.ras)" ' 1 .* app::Leaf$' \
	"  old blocks are in the table of types"
is "$(heapmon report --json out.ras | tr -d '\n' |
	grep -o '"type": "app::Leaf"[^}]*}, "old": {"count": 1' | wc -l)" 1 \
	"  and in JSON"
tap_done
