#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Values of variables whose types or places are unusual are those that the
# program itself prints, or nothing is.
. "$(dirname "$0")/../tap.sh"
need_root
need gcc
cd "$TMP" || exit 1

# build PROGRAM COMPILER OPTION...: false, skipped: the compiler can't do it
build() {
	program=$1
	shift
	rm -f "$program" ./*.dwo
	"$@" -o "$program" 2>log || {
		skip "$*" "the compiler can't do it"
		return 1
	}
}

# point TP EXPRESSION...: of ./$program, with one line for each expression
point() {
	printf 'MODNAME=%s\nMAJOR=9\nTRACE TP=%s,VARS=(%s' "$PWD/$program" \
		"$1" "$2" >point.tsf
	shift 2
	for expression; do
		printf ', %s' "$expression"
	done >>point.tsf
	echo ')' >>point.tsf
	trcust point.tsf 2>compiled
}

# printed: what is recorded of ./$program
printed() {
	trace run -o point.ras point.tdf -- "./$program" >said 2>&1 ||
		diag_file said
	tracefmt -q --tff . point.ras | tr -d "\0" | sed -n '/ = /p'
}

# compare NAME: ./$program prints the values of expressions at f
compare() {
	"./$program" >expected
	set -f
	oldifs=$IFS IFS='
'
	# shellcheck disable=SC2046
	point .f $(sed 's/ = .*//' expected) || diag_file compiled
	IFS=$oldifs
	set +f
	is "$(printed)" "$(cat expected)" "$1"
}

# ---- thread-local variables ----

cat >thread.c <<'END2'
#include <stdio.h>
#ifdef PAD
static _Thread_local char pad[PAD];
#else
static _Thread_local char pad[1];
#endif
static _Thread_local int tl = 5;
_Thread_local long ext = 7;
__attribute__((noinline)) void f(int i)
{
	static _Thread_local long inner = 3;

	tl += i;
	inner += tl;
	ext += i;
	pad[0] += i;
	__asm__ volatile("" ::: "memory");
	printf("tl = %d\next = %ld\ninner = %ld\n", tl, ext, inner);
}
int main(void) { f(2); f(3); return 0; }
END2
line=$(grep -n asm thread.c | cut -d: -f1)
for split in '' -gsplit-dwarf '-gsplit-dwarf -gdwarf-4'; do
	for cc in 'gcc -fuse-ld=bfd' 'gcc -fuse-ld=gold' 'gcc -fuse-ld=lld' \
		'gcc -fuse-ld=bfd -m32' 'gcc -fuse-ld=bfd -no-pie' \
		'gcc -fuse-ld=bfd -DPAD=70000' 'gcc -fuse-ld=lld -DPAD=70000' \
		'clang -fuse-ld=bfd' 'clang -fuse-ld=lld'; do
		# shellcheck disable=SC2086
		build thread $cc -g -O0 $split thread.c || continue
		point "@thread.c,$line" tl ext inner
		is "$(printed)" "$(grep '=' said)" "thread-local: $cc $split"
	done
done

# Without symbols an address that may be an offset as well is neither.
if build thread gcc -fuse-ld=bfd -g -gsplit-dwarf -DPAD=70000 thread.c; then
	strip -N tl -N inner.0 thread
	status 1 "no symbol decides" point "@thread.c,$line" tl
	like "$(cat compiled)" "no offset that is valid" "says so"
fi

# ---- characters ----

cat >char.c <<'END2'
#include <stdio.h>
__attribute__((noinline)) void f(int n)
{
	printf("n < '\\xff' = %d\n'\\x80' / 2 = %d\n", n < '\xff', '\x80' / 2);
	printf("'\\377' = %d\n'a' + '\\xff' = %d\n", '\377', 'a' + '\xff');
	printf("(char)200 + n = %d\n", (char)200 + n);
	printf("sizeof('a') = %zu\n", sizeof('a'));
}
char plain;
int main(void) { f(5); return 0; }
END2
for cc in 'gcc' 'gcc -m32' 'gcc -funsigned-char' 'clang' 'g++' \
	'g++ -funsigned-char'; do
	# shellcheck disable=SC2086
	build char $cc -g -O0 char.c || continue
	point .f "n < '\\xff'" "'\\x80' / 2" "'\\377' + 0" "'a' + '\\xff'" \
		'(char)200 + n' "sizeof('a')"
	is "$(printed | sed 's/ + 0 =/ =/')" "$(grep '=' said)" "characters: $cc"
done
if build char g++ -g -O0 char.c; then
	point .f "'\\xe9'" "'a'"
	is "$(printed | sed -n "s/^'a' = //p")" "'a'" "g++: a constant is a char"
fi
for constant in "'ab'" "L'a'" "u'a'" "u8'a'" "'\\x'" "'\\400'" "''"; do
	row=$((${row:-0} + 1))
	status 1 "no character: row $row" point .f "$constant"
done

# ---- the highest byte first (gcc's scalar_storage_order) ----

cat >order.c <<'END2'
#include <stdio.h>
#define BIG __attribute__((scalar_storage_order("big-endian")))
enum en { EA = 1, EB = 77 };
struct BIG inner { short s; enum en e; unsigned char lo : 3, hi : 5; };
struct BIG all {
	char c; _Bool b; short s; unsigned w; long long l;
	int arr[3]; short m[2][2]; enum en e; enum en ea[2];
	struct inner in, ins[2]; char str[6]; void *p;
	unsigned x : 5, y : 11; signed z : 9; _Bool bb : 1; enum en eb : 9;
	unsigned long long wide : 40; int t : 3; long long ww : 61;
};
union BIG u { int i; unsigned bits : 7; };
#define P(x) printf(#x " = %lld\n", (long long)(x));
#define NUMBERS(P) P(p->s) P(p->w) P(p->l) P(p->arr[1]) P(p->m[1][0]) \
	P(p->in.s) P(p->ins[1].s) P(p->x) P(p->y) P(p->z) P(p->wide) P(p->t) \
	P(p->ww) P(q->i) P(q->bits) P(p->arr[p->in.s]) P(*(p->arr + 2)) \
	P(p->e + 0) P(p->ea[1] + 0) P(p->eb + 0) P(p->ins[1].e + 0) \
	P(p->w + 1) P(-p->y) P(p->e == EB) P(p->ww < 0) P(p->w / p->arr[2]) \
	P(p->in.hi + 0) P(p->bb + 0)
__attribute__((noinline)) void f(struct all *p, union u *q)
{
	NUMBERS(P)
}
int main(void)
{
	struct all a = { .c = 'c', .b = 1, .s = -300, .w = 0x01020304, .l = -5,
		.arr = { 1, -2, 3 }, .m = { { 1, 2 }, { -3, 4 } }, .e = EB,
		.ea = { EA, EB }, .in = { 1, EB, 5, 17 },
		.ins = { { 8, EA, 1, 2 }, { 9, EB, 3, 4 } }, .str = "hello",
		.x = 17, .y = 1027, .z = -100, .bb = 1, .eb = EB,
		.wide = 0x123456789a, .t = -2, .ww = -7777777777 };
	union u b = { .i = -16777216 };

	f(&a, &b);
	return 0;
}
END2
for options in '-g -O0' '-g -O2' '-gdwarf-4' '-gdwarf-2' '-g -m32'; do
	# shellcheck disable=SC2086
	build order gcc $options order.c || continue
	compare "the highest byte first: gcc $options"
	case $options in *-m32) continue ;; esac
	point .f 'p->e' 'p->ea[0]' 'p->b' 'p->str' '*p'
	is "$(printed)" "p->e = EB
p->ea[0] = EA
p->b = true
p->str = hello
*p = {c = 'c', b = true, s = FE D4, w = 01 02 03 04, l = FF FF FF FF FF FF FF FB, arr = {00 00 00 01, FF FF FF FE, 00 00 00 03}, m = {{00 01, 00 02}, {FF FD, 00 04}}, e = 00 00 00 4D, ea = 00 00 00 01 00 00 00 4D, in = {s = 00 01, e = 00 00 00 4D, lo = 5, hi = 17}, ins = {{s = 00 08, e = 00 00 00 01, lo = 1, hi = 2}, {s = 00 09, e = 00 00 00 4D, lo = 3, hi = 4}}, str = \"hello\", p = 0x0, x = 17, y = 8C 03, z = CE 40, bb = true, eb = 26 80, wide = 12 34 56 78 9A, t = -2, ww = FF FF FF F1 83 44 3C 78}" "in a struct as bytes, enumerations by name"
done
status 1 "an address leads nowhere" point .f '*&p->e'
like "$(cat compiled)" 'storage order' "says so"

# ---- bit-precise integers ----

# clang 14 has no width in the debug information, later ones have it in the name;
# bits above it are what was there before
cat >precise.c <<'END2'
#include <stdio.h>
#include <string.h>
struct s { char before; _BitInt(17) a; unsigned _BitInt(37) b; };
__attribute__((noinline)) void f(struct s *s)
{
	_BitInt(17) a = s->a;
	unsigned _BitInt(37) b = s->b;

	printf("s->a = %d\ns->b = %lld\ns->a + 1 = %d\ns->b >> 4 = %lld\n"
	       "s->a < 0 = %d\ns->b == 137438953471 = %d\n"
	       "*s = {before = 'x', a = %d, b = %lld}\n",
	       (int)a, (long long)b, (int)a + 1, (long long)b >> 4, (int)a < 0,
	       (long long)b == 137438953471LL, (int)a, (long long)b);
}
int main(void)
{
	struct s s = { 'x' };
	unsigned int a = 0x7ff50000;
	unsigned long long b = 0xff123fffffffffULL;

	memcpy(&s.a, &a, sizeof(a));
	memcpy(&s.b, &b, sizeof(b));
	f(&s);
	return 0;
}
END2
if build precise clang -g -O0 precise.c; then
	point .f 's->a' 's->b' '*s'
	is "$(printed)" "s->a = bytes 00 00 F5 7F
s->b = bytes FF FF FF FF 3F 12 FF 00
*s = {before = 'x', a = 00 00 F5 7F, b = FF FF FF FF 3F 12 FF 00}" \
		"without a width: bytes"
	for expression in 's->a + 1' '-s->b' 's->a ? 1 : 2' '(int)s->a'; do
		status 1 "can't be computed with: $expression" \
			point .f "$expression"
		like "$(cat compiled)" 'width' "says why"
	done
	clang -S -g -O0 precise.c 2>log
	sed -i 's/"_BitInt"/"_BitInt(17)"/
		s/"unsigned _BitInt"/"unsigned _BitInt(37)"/' precise.s
	build precise clang precise.s && compare "a width in the type's name"
fi

# ---- Rust ----

cat >shape.rs <<'END2'
pub enum Shape { Circle(u32), Rect { w: u32, h: u32 } }
pub struct S { id: u64, x: f64, n: i16, c: char, o: Option<u32>, sh: Shape }
#[inline(never)]
#[no_mangle]
pub fn f(s: &S, n: u64, m: i32, x: f64, o: Option<u32>) -> u64 {
	std::hint::black_box((s, n, m, x, o));
	match s.sh { Shape::Rect { w, h } => (w * h) as u64, Shape::Circle(r) => r as u64 }
}
fn main() {
	let s = S { id: 9, x: 1.5, n: -4, c: 'A', o: Some(4),
		    sh: Shape::Rect { w: 3, h: 4 } };
	std::hint::black_box((&s.id, &s.x, &s.n, &s.c, &s.o));
	std::hint::black_box(f(std::hint::black_box(&s), 42, -7, 2.5, None));
	std::hint::black_box(f(&S { sh: Shape::Circle(1), ..s }, 42, -7, 2.5, None));
}
END2
if build shape rustc -g shape.rs; then
	line=$(grep -n match shape.rs | cut -d: -f1)
	point "@shape.rs,$line" n m x 's->id' 's->x' 's->n' 's->o'
	is "$(printed | sed 7q)" "n = 42
m = -7
x = 2.5
s->id = 9
s->x = 1.5
s->n = -4
s->o = Some(4)" "rustc -g"
fi

# ---- Fortran and Ada: arrays begin with 1 ----

cat >grid.f90 <<'END2'
program grid
  integer :: m(2,3)
  integer(1) :: from(0:2)
  m = reshape((/1,2,3,4,5,6/), (/2,3/))
  from = (/7,8,9/)
  call f(m, from)
contains
  subroutine f(m, from)
    integer :: m(2,3)
    integer(1) :: from(0:2)
    print *, m(1,2), from(0)
  end subroutine
end program
END2
if build grid gfortran -g -O0 grid.f90; then
	point "@grid.f90,$(grep -n print grid.f90 | cut -d: -f1)" m from
	is "$(printed)" "m = {{1, 2}, {3, 4}, {5, 6}}
from = {7, 8, 9}" "gfortran: columns"
fi

cat >parts.adb <<'END2'
procedure Parts is
   type Small is range 1 .. 10;
   type Fix is delta 0.125 range -10.0 .. 10.0;
   type Col is (Red, Green); for Col use (Red => 1, Green => 5);
   type Rec (D : Boolean := True) is record
      case D is when True => X : Integer; when False => Y : Integer; end case;
   end record;
   type Arr is array (1 .. 3) of Small;
   type Bias is range 100 .. 107; for Bias'Size use 3;
   type Two is record Q : Bias; W : Bias; end record; pragma Pack (Two);
   procedure F (S : Small; X : Fix; C : Col; R : Rec; A : Arr; T : Two) is
   begin
      null;
   end F;
begin
   F (7, 2.5, Green, (True, 42), (1, 2, 3), (102, 107));
end Parts;
END2
if command -v gnatmake >/dev/null && build parts gnatmake -q -g parts.adb; then
	point "@parts.adb,$(grep -n 'null;' parts.adb | cut -d: -f1)" \
		s x c r a t
	is "$(printed)" "s = 7
x = bytes 0x14
c = green
r = {d = true, <variant, not decoded> = 01 00 00 00 2A 00 00 00}
a = {1, 2, 3}
t = {q = 0x3A, w = 0x3A}" "gnat: parts of types"
fi

# ---- bytes that are not text ----

cat >bytes.c <<'END2'
#include <stdlib.h>
struct s { char text[8]; };
__attribute__((noinline)) void f(const char *s, struct s *t, char c)
{
	__asm__ volatile("" :: "r"(s), "r"(t), "r"(c) : "memory");
}
int main(void)
{
	static struct s t[] = { { "\x80" }, { "\x81" }, { "\\x80" }, { "\\\\x80" },
		{ "\n" }, { "\\n" }, { "\xef\xbf\xbd" }, { "'=" }, { "=" },
		{ "\xc3\xb6" } };

	for (unsigned int i = 0; i < sizeof(t) / sizeof(*t); i++)
		f(t[i].text, &t[i], t[i].text[0]);
	return 0;
}
END2
if build bytes gcc -g -O0 bytes.c; then
	point .f s '*t' 't->text'
	trace run -o bytes.ras point.tdf -- ./bytes >said 2>&1
	for column in s t t_text fields; do
		tracefmt -q --tff . --format=csv --fields "$column" bytes.ras |
			sed 1d >table
		is "$(sort -u table | wc -l)" 10 \
			"a table has each differently: $column" ||
			diag_file table
	done
fi

tap_done
