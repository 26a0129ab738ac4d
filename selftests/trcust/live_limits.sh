#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# How much of a std::string is recorded: three strings and a structure with the
# default of MAXDATALENGTH, and as many bytes as a limit says, up to that of
# MAXDATALENGTH. What the program has is compared, or marked with its length.
. "$(dirname "$0")/../tap.sh"
need_root
LC_ALL=C.UTF-8
export LC_ALL
cd "$TMP" || exit 1
cat >limits.cc <<'C'
#include <cstdio>
#include <cstdlib>
#include <string>

struct order { long id; double price; std::string note; int lines[20]; };

__attribute__((noinline)) size_t one(const std::string &who)
{
	__asm__ volatile("" : : "r"(&who) : "memory");
	return who.size();
}

__attribute__((noinline)) size_t all(const std::string &a, const std::string &b,
				     const std::string &c, const order &o)
{
	__asm__ volatile("" : : "r"(&a), "r"(&b), "r"(&c), "r"(&o) : "memory");
	return a.size() + b.size() + c.size() + o.note.size();
}

static std::string text(size_t n)
{
	std::string s;

	for (size_t i = 0; i < n; i++)
		s += 'a' + (i + n) % 26;
	return s;
}

static void show(const char *name, const std::string &s, size_t most)
{
	printf("%s=%s", name, s.substr(0, most).c_str());
	if (s.size() > most)
		printf("<cut: %zu of %zu bytes>", most, s.size());
	putchar('\n');
}

int main(int, char **argv)
{
	size_t most = atoi(argv[1]), sum = 0;
	order o = { 7, 1.5, text(60), { 1, 2, 3 } };

	for (size_t n : { (size_t)0, (size_t)15, (size_t)16, most - 1, most,
			  most + 1, (size_t)4095, (size_t)4096, (size_t)100000 }) {
		std::string who = text(n);

		show("who", who, most);
		sum += one(who);
	}
	std::string a = text(128), b = text(100), c = text(127);
	show("a", a, 128);
	show("b", b, 128);
	show("c", c, 128);
	sum += all(a, b, c, o);
	return !sum;
}
C

# trace_limits NAME LIMIT HEADER
trace_limits() {
	cat >limits.tsf <<T
MODNAME=./limits
MAJOR=1 $3
TRACE TP=.one,DESC="one",FMT="who=%P%{auto}",VARS=(who:$2)
TRACE TP=.all,DESC="all",FMT="a=%P%{auto}",FMT="b=%P%{auto}",
	FMT="c=%P%{auto}",FMT="o=%P%{auto}",VARS=(a,b,c,o)
T
	if ! trcust -W1 limits.tsf >log 2>&1; then
		not_ok "$1: compiles"
		diag_file log
		return
	fi
	unlike "$(cat log)" MAXLEN_EXCEED "$1: no warning"
	trace run -o t.ras limits.tdf -- ./limits "$2" >printed 2>log
	tracefmt -q t.ras >traced 2>log
	is "$(grep -a '^\(who\|a\|b\|c\)=' traced)" "$(cat printed)" \
		"$1: what the program has, $2 bytes of it"
	like "$(grep -a '^o=' traced)" \
		'^o=\{id = 7, price = 1.5, note = "[a-z]{60}", lines = \{1, 2, 3, 0 <repeats 17 times>\}\}$' \
		"$1: and a structure after three strings"
}

for compiler in g++ clang++; do
	# without it clang leaves out what the library's own file describes
	whole=
	[ "$compiler" = clang++ ] && whole=-fstandalone-debug
	for level in 0 2; do
		# shellcheck disable=SC2086
		if ! "$compiler" -O$level -g $whole -o limits limits.cc \
			2>log; then
			skip "$compiler -O$level" "cannot compile"
			continue
		fi
		trace_limits "$compiler -O$level" 1000 ""
		trace_limits "$compiler -O$level" 4080 "MAXDATALENGTH=4096"
	done
done
tap_done
