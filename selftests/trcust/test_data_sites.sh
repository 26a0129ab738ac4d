#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A name means at each site what it means there: C++ scopes and references,
# copies of inlined code, the exits of a function. What a site lacks is absent
# there; what all lack is an error. Warnings are reported once.
. "$(dirname "$0")/../tap.sh"
need cc nm
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# compile MODULE POINT STATEMENTS: into one.tdf, messages
compile() {
	printf 'MODNAME=%s\nTRACE MINOR=1, TP=%s, %s\n' "$1" "$2" "$3" >one.tsf
	rm -f one.tdf
	trcust one.tsf 2>messages
}

# logs MODULE POINT STATEMENTS DUMP: at its only site
logs() {
	compile "$1" "$2" "$3" || :
	is "$(trcust --dump one.tdf 2>&1 | sed -n '/^  site/,$p' | sed 1d |
		sed 's/^  //')" "$4" "$2: $3" || diag_file messages
}

cat >sites.c <<'END'
extern int get(int), number;
extern void put(int, int *);
int exits(int a)
{
	if (a < 0)
		return number;
	int c = get(a);
	put(c, &number);
	asm volatile("" :: "r"(c));
	return c + 1;
}
static inline __attribute__((always_inline)) int copied(int x, int *p)
{
	*p = get(x);
	asm volatile("nop");
	return x;
}
int first(int a, int *only) { return copied(a, only) + 1; }
int second(int a, int *q) { return copied(3, &number) + get(a); }
END
cc -g -O2 -shared -fPIC -nostdlib -o sites.so sites.c 2>log ||
	bail "the module does not compile"

ok "a variable that one exit lacks" compile sites.so .exits,RETEP \
	'MEM32=(.c,DIRECT,4), REGS=(EAX)'
trcust --dump one.tdf >dump
ok "several exits" test "$(grep -c '^  site' dump)" -gt 1
like "$(cat dump)" '^  absent$' "absent at one"
like "$(cat dump)" '^  (mem|value) length 4 ' "there at another"
is "$(grep -c 'TRCERR_LOWHALF' messages)" 1 "a warning is reported once"
is "$(grep -c '^  reg 0 bytes 4' dump)" "$(grep -c '^  site' dump)" \
	"what follows is at all"
status 1 "in a register a variable can't be absent" \
	compile sites.so .exits,RETEP 'REGS=(.c)'
like "$(cat messages)" 'BADADDRESS' "which is reported"

ok "copies of inlined code" compile sites.so .copied 'MEM32=(.x,DIRECT,4)'
trcust --dump one.tdf >dump
is "$(grep -c '^  site' dump)" 2 "a site per copy"
like "$(cat dump)" 'value \[lit3\]' "a constant in one"
like "$(cat dump)" 'value \[breg5\+0\]' "a register in the other"
ok "a name of where it was copied to" \
	compile sites.so .copied 'MEM32=(.a,DIRECT,4)'
status 1 "a name that only one copy sees" \
	compile sites.so .copied 'MEM32=(.only,INDIRECT,4)'
like "$(cat messages)" 'in scope at second' "the other one is named"
status 1 "a variable before it has a value" \
	compile sites.so .exits+0 'MEM32=(.c,DIRECT,4)'

cat >scopes.cc <<'END'
namespace ns {
int var = 5;
static int inner = 6;
struct cls {
	static int shared;
	int own;
	int method(int &ref, cls &other, int &&moved);
};
int cls::shared = 7;
__attribute__((noinline)) int cls::method(int &ref, cls &other, int &&moved)
{
	int var = other.own;

	return ref + var + own + shared + ns::var + inner++ + moved;
}
}
namespace two { int var = 8; }
int main() { int a = 1; ns::cls c{2}; return c.method(a, c, 3) + two::var; }
END
if ! c++ -g -O2 -o scopes scopes.cc 2>log; then
	skip "C++" "there is no compiler for it"
	tap_done
fi

# global SYMBOL: the statement that reads it
global() {
	printf 'mem length 4 address [addr 0x%x]' \
		$((0x$(nm -C scopes | sed -n "s/ [A-Za-z] $1\$//p")))
}
method=.ns::cls::method+0
logs scopes $method 'MEM32=(.ns::var,D,4)' "$(global ns::var)"
logs scopes $method 'MEM32=(.two::var,D,4)' "$(global two::var)"
logs scopes $method 'MEM32=(.inner,D,4)' "$(global ns::inner)"
logs scopes $method 'MEM32=(.ns::cls::shared,D,4)' "$(global ns::cls::shared)"
logs scopes $method 'MEM32=(._ZN2ns3cls6sharedE,D,4)' \
	"$(global ns::cls::shared)"
logs scopes $method 'MEM32=(.this,INDIRECT,4)' 'mem length 4 address [breg5+0]'
logs scopes $method 'MEM32=(.ref,D,4)' 'mem length 4 address [breg4+0]'
logs scopes $method 'MEM32=(.other,D,4)' 'mem length 4 address [breg1+0]'
logs scopes $method 'MEM32=(.moved,D,4)' 'mem length 4 address [breg2+0]'
logs scopes $method 'REGS=(.ref,.this)' 'mem raw length 4 address [breg4+0]
value raw length 8 value [breg5+0]'
logs scopes $method 'LEN=(.ref,D), MEM32=(.this,I,LEN)' \
	'mem at most 1024 address [breg5+0] len bytes 4 at [breg4+0]'

# An inlined copy with the same names crossed, where the function begins
cat >crossed.c <<'END'
int get(int);
static inline __attribute__((always_inline)) int inner(int n, int m)
{
	return get(n * 3 + m);
}
int crossed(int m, int n) { return inner(m, n) + 1; }
END
for compiler in cc clang; do
	command -v $compiler >/dev/null || continue
	$compiler -g -O2 -shared -fPIC -nostdlib -o crossed.so crossed.c ||
		bail "the module does not compile"
	logs crossed.so .crossed 'MEM32=(.m,D,4), MEM32=(.n,D,4)' \
		'value length 4 value [breg5+0]
value length 4 value [breg4+0]'
	logs crossed.so .crossed 'VARS=(m, n)' \
		'value length 4 value [breg5+0]
value length 4 value [breg4+0]'
done
tap_done
