#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A TSF made from a module has a tracepoint at every function that can have
# one, compiles without a message, and records what the program did: programs
# with debug information of gcc and clang, with and without optimisation, of 32
# bits, of C++; Debian's own, stripped as they are; and what is refused.
. "$(dirname "$0")/../tap.sh"
need cc nm
here=$(cd "$(dirname "$0")" && pwd)/from_module
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# made NAME MODULE OPTION...: the TSF is NAME.tsf, compiled; no message is printed
made() {
	made=$1
	shift
	rm -f "$made.tsf" "$made.tdf"
	status 0 "$what: is made" trcust --from-module -o "$made.tsf" "$@"
	is "$(cat err)" "" "$what: and nothing is left out"
	status 0 "$what: compiles" trcust "$made.tsf"
	is "$(grep -v '^ ' err | grep -v 'SLOWSITE\|INLINEDTOO')" "" \
		"$what: without a message, but of slow probes and inlined calls"
}

# point NAME MINOR: the clauses of a tracepoint, on a line
point() {
	awk -v minor="TRACE MINOR=$2," '
		/^TRACE/ { found = $0 == minor; next }
		found { gsub(/^[\t ]+/, ""); printf "%s", $0 }
		/^$/ { found = 0 }' "$1.tsf"
}

# minor NAME TP: "0x0012" of the entry's point
minor() {
	grep -F -B 1 -- "TP=$2" "$1.tsf" |
		sed -n 's/^TRACE MINOR=\(0x0...\),$/\1/p'
}

# entry NAME TP; exit_of NAME TP
entry() {
	point "$1" "$(minor "$1" "$2")"
}
exit_of() {
	point "$1" "$(minor "$1" "$2" | sed 's/0x0/0x8/')"
}

# check_points NAME: of main.c
check_points() {
	is "$(entry "$1" .paint,)" \
		"TP=.paint,TYPE=(PUB,PRE),DESC=\"($1) paint Pre-Invocation\",VARS=(old, what)" \
		"$what: parameters"
	is "$(exit_of "$1" .paint,)" \
		"TP=.paint,RETEP,TYPE=(PUB,POST),DESC=\"($1) paint Post-Invocation\",FMT=\"returns %P%{auto}\",VARS=(\$result)" \
		"$what: the constants of an enumeration"
	is "$(exit_of "$1" .nothing,)" \
		"TP=.nothing,RETEP,TYPE=(PUB,POST),DESC=\"($1) nothing Post-Invocation\"" \
		"$what: void returns nothing"
	like "$(exit_of "$1" .both,)" 'FMT="returns %P%\{auto\}"' \
		"$what: bool"
	like "$(exit_of "$1" .real,)" "$real" "$what: floating point"
	like "$(entry "$1" .strings,)" 'VARS=\(a, b, c, d, e, f, g\)$' \
		"$what: as many strings as a record holds"
	is "$(exit_of "$1" .leave,)" "" \
		"$what: what doesn't return has no return point"
	is "$(grep -cE '^	TP=."(main|other)\.c:helper",$' "$1.tsf")" 2 \
		"$what: functions of the same name by their files"
	like "$(entry "$1" '."main.c:helper",')" '\(PRIV,PRE\)' \
		"$what: a static one is private"
	is "$(grep -cE '^	TP=.(alias_of_outer|outer)(\+0)?,$' "$1.tsf")" 1 \
		"$what: an alias is no second function"
	is "$(grep -cE '	TP=.*(by_processor|\.cold)' "$1.tsf")" 0 \
		"$what: no resolver and no cold part"
}

# What the program prints for what was recorded, in order
expected='n = 41
n = 42
n = 42
old = GREEN
what = door
a = -1234567890123
b = '"'\\xC8'"'
c = -7
d = true
n = 3
a = a
b = b
c = c
d = d
e = e
f = f
g = g
n = 24
status = 0'

check_records() {
	if [ "$(id -u)" -ne 0 ]; then
		skip "$what: records" "needs root"
		return
	fi
	status 0 "$what: is traced" trace run "$1.tdf" -- "./$1"
	is "$(sed -nE 's/^((n|old|what|[a-g]|status) = .*)/\1/p' out |
		grep -Ev '^n = (20|21)$')" \
		"$expected" "$what: records what the program had"
	# where an inlined copy has parameters of the same names, no wrong ones
	is "$(awk -v RS= '/\) (outer|crossed) Pre/' out |
		grep -E '^[mn] = ' | grep -Ev '^(m = 1[01]|n = 2[01])$')" "" \
		"$what: and no parameters of inlined copies"
	is "$(sed -nE 's/^returns ([^ ]*).*/\1/p' out | grep -v ^0x |
		tr '\n' ' ')" \
		"$returned" \
		"$what: and what it returned"
}

for row in "gcc -O2 -g" "clang -O2 -g" "gcc -O0 -g" "clang -O0 -g" \
	   "gcc -O2 -g -m32" "gcc -O2 -gdwarf-4 -fno-pie -no-pie"; do
	# shellcheck disable=SC2086
	set -- $row
	what=$*
	# a double in a vector register needs the module, unless a general one
	# has it, too; one of the x87 is not read
	real='RETEP.*VARS=\(\$result\)$' mark="<not "
	case $row in
	"gcc -O0"*)
		mark="1.5 " ;;
	*-m32*)
		real='Post-Invocation"$' mark='' ;;
	esac
	returned="42 84 85 BLUE -1234567890124 true ${mark}f 14 24 24 5 "
	name=$(echo "$row" | tr -d ' -')
	"$@" -o "$name" "$here/main.c" "$here/other.c" 2>log || {
		skip "$what" "$1 is missing or has no such target"
		continue
	}
	"./$name" >printed || diag_file printed
	made "$name" "$name" --retep --args
	check_points "$name"
	case $row in
	"clang -O2 -g")
		like "$(entry "$name" .outer,)" 'VARS=\(m, n\)$' \
			"$what: an inlined copy's, when they are the same"
		like "$(entry "$name" .crossed)" '^TP=.crossed(\+0)?,.*VARS=\(m, n\)$' \
			"$what: at the label, when they are there only" ;;
	"gcc -O2 -g")
		ok "$what: a part was split off" \
			sh -c "nm $name | grep -q ' t .*\.cold'" ;;
	esac
	check_records "$name"
done

what="a clone of gcc's"
cat >clone.c <<'C'
#include <stdio.h>
static __attribute__((noinline)) int work(int a)
{
	return printf("%d\n", a) + a;
}
int main(int argc, char **argv) { (void)argv; work(argc); return 0; }
C
if gcc -O2 -g -o clone clone.c && nm clone | grep -q ' t work\.isra'; then
	trcust --from-module --include work clone >clone.tsf
	like "$(cat clone.tsf)" 'TP=\.work\.isra\.' "$what: has the function's name"
else
	skip "$what" "the compiler makes none"
fi

what="a reference to a type that is declared only"
cat >later.cc <<'C'
struct later;
__attribute__((noipa)) int use(const later &where, int n)
{
	return n + (reinterpret_cast<const char *>(&where)[0] != 0);
}
int main(int argc, char **argv)
{
	return use(*reinterpret_cast<later *>(argv[0]), argc) - 2;
}
C
if g++ -g -o later later.cc 2>log; then
	trcust --from-module --args --include use later >later.tsf
	like "$(cat later.tsf)" 'VARS=\(n\)' "$what: other parameters are logged"
	like "$(cat later.tsf)" '^; .* logged here: where$' "$what: it is named"
else
	skip "$what" "no C++ compiler"
fi

what="debug information without variables"
echo 'int work(int a) { return a * 2; } int main(void) { return work(1); }' \
	>lines.c
cc -g1 -o lines lines.c
made lines lines --args
like "$(cat lines.tsf)" '^; no parameters are known: .*unit has no variables' \
	"$what: is reported"
if cc -g -gsplit-dwarf -c lines.c -o parted.o 2>log &&
	cc parted.o -o parted && [ -e parted.dwo ]; then
	made parted parted --args
	unlike "$(cat parted.tsf)" 'no parameters' "$what: a .dwo has them"
	rm parted.dwo
	made parted parted --args
	like "$(cat parted.tsf)" \
		"^; no parameters are known: .*in 'parted.dwo', which wasn't" \
		"$what: the .dwo that isn't there"
	made parted parted
	unlike "$(cat parted.tsf)" '^;' "$what: not without --args"
fi

what="parameters that can't be logged"
case $(uname -m) in
x86_64)	set -- -mavx -Db_type=wide -Dc_type=wide ;;
*)	set -- -Db_type=double -Dc_type=float ;;
esac
cc "$@" -O2 -g -shared -fPIC -nostdlib -o float.so -x c - <<'C' || bail "float.c"
typedef double wide __attribute__((vector_size(32)));
void begin(int a, char *t);
__attribute__((noinline)) b_type work(int a, b_type b, char *t, c_type c)
{
	begin(a, t);
	return b * c;
}
__attribute__((noinline)) double numbers(int a, double b, char *t, float c)
{
	begin(a, t);
	return b * c;
}
C
trcust --from-module --args --include 'w*' float.so >out
is "$(grep -A 1 '^;' out | tr '\n' ' ')" \
	"; can't be logged here: b, c TRACE MINOR=0x0001, " "$what: are named"
is "$(grep -c 'VARS=(a, t)$' out)" 1 "$what: the others are logged"
if [ "$(uname -m)" = x86_64 ]; then
	trcust --from-module --args --include 'n*' float.so >out
	is "$(grep -c 'VARS=(a, b, t, c)$' out)" 1 \
		"floating point in vector registers is logged"
fi

what="globs"
cp gcc*O2g app 2>/dev/null || bail "no program"
status 0 "$what: are taken" trcust --from-module -o app.tsf \
	--include 'p*' --include 'main.c:*' --include 'o[tu]*' \
	--exclude '*ther' app
is "$(grep -o 'TP=.*' app.tsf | tr '\n' ' ')" "TP=.paint, TP=.outer, " \
	"$what: choose"
is "$(grep -E '^(MODNAME|MAJOR)' app.tsf | tr '\n' ' ')" \
	'MODNAME = "app" MAJOR = 1 ' "the header"
trcust --from-module --modname=/opt/app --major 0x21 --include main app >out
is "$(grep -E '^(MODNAME|MAJOR)' out | tr '\n' ' ')" \
	'MODNAME = "/opt/app" MAJOR = 33 ' "--modname and --major"
status 1 "no function is left" trcust --from-module --include nix app
is "$(cat err)" "trcust: no function of 'app' matches --include 'nix'" "and it is reported"
is "$(cat out)" "" "and nothing is printed"
strip -o stripped app
status 1 "nor of a stripped program" \
	trcust --from-module --include main stripped
like "$(cat err)" "^trcust: it has no names of functions: a debug file" \
	"and it says where names are"

for row in "g++ -O2 -g" "clang++ -O1 -g"; do
	# shellcheck disable=SC2086
	set -- $row
	what="C++, $*"
	"$@" -o shapes "$here/shapes.cc" 2>log || {
		skip "$what" "$1 is missing"
		continue
	}
	made shapes shapes --retep --args --include 'draw::*' \
		--include '*hidden*' --exclude '*~Shape*'
	like "$(entry shapes 'draw::add(int, int),')" \
		'DESC="\(shapes\) draw::add\(int, int\) Pre-Invocation",VARS=\(a, b\)' \
		"$what: an overloaded function by its parameters"
	like "$(entry shapes draw::Shape::area,)" \
		'VARS=\(this, scale\)' "$what: a method"
	like "$(exit_of shapes draw::Shape::area,)" 'VARS=\(\$result\)' \
		"$what: what it returns"
	like "$(cat shapes.tsf)" 'PRIV,PRE' "$what: one without a name outside"
	like "$(cat shapes.tsf)" 'DESC=.*draw::twice<long> Pre' \
		"$what: an instance of a template"
	unlike "$(cat shapes.tsf)" '~Shape|TP=\.main' "$what: no other"
	unlike "$(cat shapes.tsf)" 'no debug information|;	,REGS' \
		"$what: no comment about debug information"
	trcust --from-module --include 'Shape::area' shapes >whole.tsf
	is "$(sed -n 's/^	TP=\(.*\),$/\1/p' whole.tsf)" \
		draw::Shape::area "$what: a name as TP has it"
	like "$(cat whole.tsf)" 'DESC="\(shapes\) draw::Shape::area Pre' \
		"$what: short in DESC"
	trcust --from-module --include 'add(int,int)' shapes >whole.tsf
	is "$(sed -n 's/^	TP=\(.*\),$/\1/p' whole.tsf)" \
		"draw::add(int, int)" "$what: one of two overloads"
	trcust --from-module --include 'deep::*' shapes >whole.tsf
	is "$(sed -n 's/^	DESC="(shapes) deep::\(.*\) Pre-.*/\1/p' whole.tsf |
		sed 's/<.*>::/<>::/' | sort | tr '\n' ' ')" \
		"a_pair_of_two_different_types<>::operator< a_pair_of_two_different_types<>::sum " \
		"$what: long names end as they are"
	like "$(cat whole.tsf)" '_length<deep::a_pair_of_two_different_types<\.\.\.>>, ' \
		"$what: without the innermost arguments of templates"
	strip -g -o bare shapes
	trcust --from-module --include 'draw::*' bare >bare.tsf
	like "$(head -n 1 bare.tsf)" '^; There is no debug information' \
		"$what: stripped: it begins with a comment"
	case $(uname -m) in
	x86_64) registers=RDI,RSI,RDX,RCX,R8,R9 ;;
	*) registers=X0,X1,X2,X3,X4,X5 ;;
	esac
	is "$(grep -c "^;	,REGS=($registers)$" bare.tsf)" \
		"$(grep -c ^TRACE bare.tsf)" "$what: and offers registers"
	sed 's/^;	,/	,/' bare.tsf >offered.tsf
	status 0 "$what: which compile" trcust offered.tsf
	unlike "$(cat err)" 'error|COMMA' "$what: without an error"
	trcust --from-module --include 'long draw::twice*' shapes >whole.tsf
	is "$(sed -n 's/^	TP=\(.*\),$/\1/p' whole.tsf)" "draw::twice<long>" \
		"$what: a template by its return type, too"
	trcust --from-module --include 'long*' shapes >whole.tsf 2>err
	unlike "$(cat whole.tsf)" 'twice' \
		"$what: but not by a pattern of names"
	if [ "$(id -u)" -ne 0 ]; then
		skip "$what: records" "needs root"
		continue
	fi
	status 0 "$what: is traced" trace run shapes.tdf -- ./shapes
	is "$(sed -nE 's/^ *((n|a|b|c|scale) = .*)/\1/p' out | grep -v 0x |
		head -n 4 | sort | tr '\n' ' ')" \
		"a = 21 b = 2 n = 2 scale = 7 " "$what: the arguments"
done

# A Go program has its arguments in other registers
cat >plain.go <<'END'
package main

//go:noinline
func twice(n int) int { return n + n }
func main() { println(twice(2)) }
END
if go build -ldflags=-w -o plain plain.go 2>log; then
	trcust --from-module --include 'main.twice' plain >plain.tsf
	case $(uname -m) in
	x86_64) registers=RAX,RBX,RCX,RDI,RSI,R8 ;;
	*) registers=X0,X1,X2,X3,X4,X5 ;;
	esac
	is "$(grep '^;	' plain.tsf)" ";	,REGS=($registers)" "Go's registers"
else
	skip "Go's registers" "no go"
fi

# bash for the whole way, the libraries for their number of functions
what="bash"
status 0 "$what: is made" trcust --from-module --retep --args -o bash.tsf \
	/bin/bash
status 0 "$what: compiles" trcust bash.tsf
unlike "$(cat err)" 'error' "$what: without an error"
ok "$what: has a point at all functions" \
	test "$(grep -c '	TP=.*,RETEP,' bash.tsf)" -gt 1000
if [ "$(id -u)" -eq 0 ]; then
	trcust --from-module --retep --args --include '*_history' \
		--include 'execute_command*' -o few.tsf /bin/bash
	trcust few.tsf
	status 0 "$what: is traced" trace run few.tdf -- \
		bash -c 'set -o history; history -s "echo hello"; :'
	like "$(cat out)" '^\(bash\) add_history Pre-Invocation' \
		"$what: has records"
	like "$(cat out)" '^RAX = [0-9a-f]{16}' "$what: and return values"
fi

libraries=/usr/lib/$(cc -dumpmachine 2>/dev/null | sed 's/-pc-/-/')
for library in "$libraries"/libc.so.6 "$libraries"/libstdc++.so.6 \
	       "$libraries"/libcrypto.so.3; do
	what=${library##*/}
	[ -e "$library" ] || {
		skip "$what" "isn't installed"
		continue
	}
	status 0 "$what: is made in time" timeout 60 trcust --from-module \
		--retep --args -o lib.tsf "$library"
	status 0 "$what: compiles in time" timeout 60 trcust lib.tsf
	unlike "$(cat err)" ': error: |AMBIGUOUS|MAXLEN' "$what: without an error"
	ok "$what: has its functions" \
		test "$(grep -c '(PUB,PRE)' lib.tsf)" -gt 1000
	is "$(grep -o '^TRACE.*' lib.tsf | sort | uniq -d)" "" \
		"$what: each minor once"
done

what="too many"
awk 'BEGIN {
	print ".text"
	for (i = 0; i < 32768; i++)
		printf ".globl f%d\n.type f%d,@function\nf%d: ret\n.size f%d,1\n",
			i, i, i, i
}' >many.s
if cc -shared -nostdlib -o many.so many.s 2>log; then
	status 1 "$what: are refused" trcust --from-module many.so
	is "$(cat err)" "trcust: 32768 functions are more than the 32767 that minors can number
trcust: --include and --exclude choose" "$what: with a hint"
	status 0 "$what: less are taken" timeout 60 trcust --from-module \
		--exclude f0 -o many.tsf many.so
	is "$(grep -c ^TRACE many.tsf)" 32767 "$what: all of them"
	status 0 "$what: they compile" timeout 60 trcust many.tsf
fi
tap_done
