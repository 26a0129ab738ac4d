#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Where functions return values of random types is where the calling convention
# of their compilers has them: the functions are called. $result, and what is
# refused.
. "$(dirname "$0")/../tap.sh"
need gcc
RESULT_CALLS=${BUILT:-$TOP/build/selftests}/trcust/result_calls
COUNT=${COUNT:-300}
cd "$TMP" || exit 1

# A library of functions that return structures, unions and scalars
cat >make.awk <<'END'
function pick(n) { return int(rand() * n) }
# mark PATH: the member's bits in the mask
function mark(path) {
	marks = marks " __builtin_memset(&v" path ", 255, sizeof(v" path "));"
}
function member(name, path, depth,	k, n, i, text) {
	k = pick(depth > 2 ? 10 : 14)
	if (k == 9) {
		marks = marks " v" path "." name " = -1;"
		return "unsigned " name ":" 1 + pick(20) ";"
	}
	if (k < 9) {
		mark(path "." name)
		return scalars[pick(SCALARS)] " " name \
			(k < 7 ? ";" : "[" 1 + pick(3) "];")
	}
	n = 1 + pick(3)
	text = k < 12 ? "struct {" : "union {"
	for (i = 0; i < n; i++)
		text = text " " member(name "_" i, path "." name, depth + 1)
	return text " } " name ";"
}
BEGIN {
	srand(seed)
	SCALARS = split("char short int long float double float double " \
		"short void* enum+e unsigned+char __int128 long+long " \
		"_Complex+float", list)
	for (i = 1; i <= SCALARS; i++) {
		gsub(/\+/, " ", list[i])
		scalars[i - 1] = list[i]
	}
	print "#include <string.h>\nenum e { A, B = 70000 };"
	for (i = 0; i < number; i++) {
		kind = pick(10)
		marks = text = ""
		n = 1 + pick(4)
		for (j = 0; j < n && kind < 8; j++)
			text = text " " member("m" j, "", 0)
		if (kind < 8) {
			print "typedef " (kind < 7 ? "struct " : "union ") \
				(pick(12) ? "" : "__attribute__((packed)) ") \
				"{" text " } T" i ";"
		} else {
			print "typedef " scalars[pick(SCALARS)] " T" i ";"
			mark("")
		}
		print "unsigned char p_" i "[sizeof(T" i ")], m_" i \
			"[sizeof(T" i ")];"
		print "static void fill_" i "(void) { T" i " v;" \
			" memset(&v, 0, sizeof(v));" marks \
			" memcpy(m_" i ", &v, sizeof(v));" \
			" for (unsigned i = 0; i < sizeof(v); i++) p_" i \
			"[i] = " i " * 17 + i * 37 + 1; }"
		print "EXTERN T" i " f_" i "(void) { T" i " v;" \
			" memcpy(&v, p_" i ", sizeof(v)); return v; }"
	}
	print "__attribute__((constructor)) static void fill(void) {"
	for (i = 0; i < number; i++)
		print "	fill_" i "();"
	print "}"
}
END

for row in "gcc -O0" "gcc -O2" "clang -O0" "clang -O2" "g++ -O1" "clang++ -O1"; do
	cc=${row% *}
	command -v "$cc" >/dev/null || {
		skip "$row" "$cc is missing"
		continue
	}
	case $cc in
	*++) extern='extern "C"' x=c++ ;;
	*) extern='' x=c ;;
	esac
	awk -v seed=7 -v number="$COUNT" -f make.awk >types.c
	# shellcheck disable=SC2086
	$cc ${row#* } -w -g -fPIC -shared -x $x "-DEXTERN=$extern" \
		types.c -o types.so 2>log ||
		bail "types.c: $(head -n 3 log)"
	"$RESULT_CALLS" ./types.so >out
	is "$(grep -c ^wrong out)" 0 "$row: none of $COUNT types is wrong"
	grep ^wrong out | head -n 5 | sed 's/^/# /'
	ok "$row: few are refused" \
		test "$(grep -c ^refused out)" -lt $((COUNT / 20))
done

# C++: how a class is copied decides
cat >copies.cc <<'END'
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
struct plain { int a; int get() { return a; } };
struct copied { int a; copied(const copied &); };
struct moved { int a; moved(moved &&) = default; };
struct deleted { int a; deleted(const deleted &) = delete; };
struct ended { int a; ~ended(); };
struct defaulted { int a; ~defaulted() = default; defaulted(const defaulted &) = default; };
struct outside { int a; ~outside(); };
inline outside::~outside() = default;
struct dynamic { virtual void f(); };
struct base : virtual plain { };
struct inner { ended e; };
struct array { ended e[2]; };
struct from { from(int); from(plain &); int a; };
struct empty { };
struct derived : empty { double d; };
extern "C" {
#define F(type, name) type f_##name() { throw 1; }
F(plain, plain) F(copied, copied) F(moved, moved) F(deleted, deleted)
F(ended, ended) F(defaulted, defaulted) F(outside, outside)
F(dynamic, dynamic) F(base, base) F(inner, inner) F(array, array)
F(from, from) F(empty, empty) F(derived, derived)
F(std::string, string) F(std::string_view, view)
F(std::unique_ptr<int>, unique) F(std::shared_ptr<int>, shared)
F(std::optional<int>, optional) F(std::optional<std::string>, texts)
using ints = std::pair<int, int>;
F(ints, pair)
F(int &, reference) F(int plain::*, member) F(long double, x87)
F(__int128, wide) F(_Complex double, complex)
typedef float four __attribute__((vector_size(16)));
typedef float eight __attribute__((vector_size(32)));
struct eights { eight e; };
F(four, four) F(eight, eight) F(eights, eights)
}
END
always=-femit-class-debug-always
for row in "g++ $always -gdwarf-5" "g++ $always -gdwarf-4" \
	   "clang++ -gdwarf-5"; do
	# shellcheck disable=SC2086
	$row -std=c++17 -w -mavx -fPIC -fstandalone-debug -c copies.cc -o copies.o \
		2>/dev/null || $row -std=c++17 -w -mavx -fPIC -c copies.cc \
		-o copies.o 2>/dev/null || {
		skip "$row" "it does not build"
		continue
	}
	${row%% *} -shared -o copies.so copies.o 2>log || bail "copies.cc"
	"$RESULT_CALLS" copies.so -p | sort >out
	# clang knows it
	deleted="f_deleted memory"
	[ "${row%% *}" = clang++ ] || deleted="refused f_deleted: whether it is returned in memory is not known"
	grep -v deleted out >rest
	is "$(cat rest)" "$(cat <<END
f_array memory
f_base memory
f_complex xmm0+0=0:8 xmm1+0=8:8
f_copied memory
f_defaulted rax+0=0:4
f_derived xmm0+0=0:8
f_dynamic memory
f_empty
f_ended memory
f_four xmm0+0=0:8 xmm0+8=8:8
f_from rax+0=0:4
f_inner memory
f_member rax+0=0:8
f_moved rax+0=0:4
f_optional rax+0=0:8
f_outside memory
f_pair rax+0=0:8
f_plain rax+0=0:4
f_reference rax+0=0:8
f_shared memory
f_string memory
f_texts memory
f_unique memory
f_view rax+0=0:8 rdx+0=8:8
f_wide rax+0=0:8 rdx+0=8:8
refused f_eight: it is returned in a vector register that cannot be read
refused f_eights: it is returned in a vector register that cannot be read
refused f_x87: it is returned in a register of the x87
END
)" "$row: classes by how they are copied"
	is "$(grep deleted out)" "$deleted" "$row: one that cannot be copied"
done

cat >small.c <<'END'
struct one { int a; }; struct big { long long a[3]; };
struct floats { float a, b; }; struct mixed { float a; int b; };
#define F(type, name) type f_##name(void) { static type r; return r; }
F(int, number) F(long long, wide) F(void *, pointer) F(double, real)
F(struct one, one) F(struct big, big) F(struct floats, floats)
F(struct mixed, mixed) F(char, byte)
END
# places COMPILER...: where the compiler's functions return values
places() {
	"$@" -g -fPIC -shared -nostdlib -o small.so small.c 2>log &&
		"$RESULT_CALLS" small.so -p | sort
}
if gcc -m32 -shared -nostdlib -o small.so small.c 2>log; then
	is "$(places gcc -m32)" "f_big memory
f_byte eax+0=0:1
f_floats memory
f_mixed memory
f_number eax+0=0:4
f_one memory
f_pointer eax+0=0:4
f_wide eax+0=0:4 edx+0=4:4
refused f_real: it is returned in a register of the x87" "i386"
else
	skip "i386" "gcc makes no 32-bit code"
fi
cross=${RASTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rastrace}/aarch64/bin
if PATH=$PATH:$cross command -v aarch64-linux-gnu-gcc >log; then
	is "$(PATH=$PATH:$cross places aarch64-linux-gnu-gcc)" "f_byte x0+0=0:1
f_mixed x0+0=0:8
f_number x0+0=0:4
f_one x0+0=0:4
f_pointer x0+0=0:8
f_wide x0+0=0:8
refused f_big: it is returned in memory, whose address no register has
refused f_floats: it is returned in a vector register that cannot be read
refused f_real: it is returned in a vector register that cannot be read" "AArch64"
else
	skip "AArch64" "the compiler is missing"
fi

cat >use.c <<'END'
struct two { long a, b; };
long double wide(int n) { return n; }
void nothing(int n) { asm volatile("" : : "r"(n)); }
struct two two(int n) { return (struct two){ n, 2 }; }
__attribute__((noinline)) int other(int n) { return n + 3; }
int calls(int n) { return other(n * 5); }
int either(int n) { if (n > 3) return other(n); asm volatile(""); return 7; }
int main(void) { return 0; }
END
gcc -O2 -g -o use use.c 2>log || bail "use.c"
# wrong TP VARS MESSAGE
wrong() {
	printf 'MODNAME=use\nMAJOR=1\nTRACE TP=%s,VARS=(%s)\n' "$1" "$2" \
		>use.tsf
	status 1 "refused: $3" trcust use.tsf
	like "$(cat err)" "$3" "  with a message"
}
wrong .two '$result' 'the tracepoint is no return'
wrong .wide,RETEP '$result' "register of the x87"
wrong .nothing,RETEP '$result' "the function returns nothing"
wrong .calls,RETEP '$result' "ends with a tail call"
wrong .two,RETEP '$result.c' "no member c"
wrong .two,RETEP '$resulted' "register expected"
printf 'MODNAME=use\nMAJOR=1\nTRACE TP=.two,RETEP,IF=($result.a > 3),%s\n' \
	'VARS=($result.b,sizeof($result))' >use.tsf
status 0 "its members can be used" trcust -W1 use.tsf
like "$(trcust --dump use.tdf)" 'value \[breg1\+0\]' "  from the registers"
printf 'MODNAME=use\nMAJOR=1\nTRACE TP=.either,RETEP,VARS=($result)\n' >use.tsf
status 0 "one of two exits is a tail call" trcust -W1 use.tsf
like "$(trcust --dump use.tdf)" '^  absent' "  which has no value"
cp use bare && strip -g bare
printf 'MODNAME=bare\nMAJOR=1\nTRACE TP=.two,RETEP,VARS=($result)\n' >use.tsf
status 1 "without debug information it is refused" trcust use.tsf
like "$(cat err)" "no debug information" "  with a message"

# what is between the site and the exit does not set a vector register
cat >exit.c <<'END'
__attribute__((naked)) double late(double x)
{
	asm("sub $24, %rsp; mov %rbx, 8(%rsp); movsd %xmm0, (%rsp)\n\t"
	    "xor %ebx, %ebx; mov 8(%rsp), %rbx; movsd (%rsp), %xmm0\n\t"
	    "add $24, %rsp; ret");
}
int main(void) { return 0; }
END
gcc -O2 -g -o exit exit.c 2>log || bail "exit.c"
printf 'MODNAME=exit\nMAJOR=1\nTRACE TP=.late,RETEP,VARS=($result)\n' >exit.tsf
trcust -W1 exit.tsf >log 2>&1
at=$(trcust --dump exit.tdf | sed -n 's/^  site .* nominal 0x\([0-9a-f]*\).*/\1/p')
is "$(objdump -d --no-show-raw-insn --disassemble=late exit |
	sed -n "/ $at:/s/.*:[[:space:]]*//p" | tr -s ' ')" 'add $0x18,%rsp' \
	"the site of a floating-point result is after what sets it"
tap_done
