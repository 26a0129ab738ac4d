#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Under a message is what to do about it.
. "$(dirname "$0")/../tap.sh"
need cc strip
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
cat >program.c <<'END'
int number;
char spread[40];
static int twice(int a) { return 2 * a; }
__attribute__((target_clones("avx2", "default"))) int chosen(int a)
{
	return a * 3;
}
int main(int argc, char **argv) { return twice(argc) + chosen(number); }
END
cc -O0 -g -rdynamic -o program program.c || bail "no program to trace"
strip -o bare program

# hint TEXT-OF-TSF HINT [EXIT-STATUS]
hint() {
	printf 'MODNAME=%s\nMAJOR=5\n%b\n' "${module-program}" "$1" >app.tsf
	status "${3-1}" "$1" trcust app.tsf
	like "$(grep '^      | ' err)" "$2" "  $2"
}

ignored='the whole tracepoint is ignored'
hint 'TYPELIST NAME=B,ID=1 TRACE TP=.main, TYPE=(A)' "$ignored"
hint 'GROUPLIST NAME=B,ID=1 TRACE TP=.main, GROUP=A' "$ignored"
hint 'TRACE RETEP, TP=.main' "$ignored"
hint 'TRACE TP=.main, NOTHING=1' "$ignored"
hint 'TRACE MINOR=1,TP=.main TRACE MINOR=1,TP=.twice' "$ignored"
hint 'TRACE TP=.main TRACE TP=.main' "$ignored"
hint 'TRACE TP=.main, VARS=(argc+1:2)' "$ignored"
hint 'TRACE TP=.twice,RETEP=CALLER, VARS=(a)' 'RETEP=EXIT is hit before its end'
hint 'TRACE CALL=.twice,RETEP=CALLER, RESULT=(a)' \
	'entry\(\.\.\.\) has what it was at the entry'

# limit COUNT BEFORE WORD AFTER LIMIT: how much of a record is too much
limit() {
	{
		printf 'MODNAME=program\nMAJOR=5\nTRACE TP=.main, %s\n' "$2"
		yes "$3" | head -n "$1" | tr -d '\n'
		echo "$4"
	} | fold -w 2000 >app.tsf
	trcust app.tsf 2>err
	like "$(cat err)" "exceeds $5 .TRCERR_TPRTOOBIG" "exceeds $5"
}
limit 4095 'MEM32=(FRDI,INDIRECT' '*' ',4)' '4095 bytes'
limit 256 'REGS=(AX' ',AX' ')' '256 registers and data statements'
limit 200 'REGS=(.spread' ',.spread' ')' '4096 bytes of registers and prefixes'

# other TEXT-OF-FILE HINT
other() {
	printf '%b' "$1" >app.tsf
	status 1 "'$1' for a TSF" trcust app.tsf
	like "$(cat err)" "$2" "  $2"
}

hint '' "'TRACE' is missing"
hint 'TRACE TP=' "'\.' is missing"
hint 'TRACE TP=@program.c' "',' is missing"
hint 'TRACE TP=.main, VARS=(argc' "')' is missing"
hint 'TRACE TP=.main, MINOR=' "'number' is missing"
hint 'TRACE TP=*main' "written 'name' or '\.name', a source line '@file,line'"
hint 'TRACE TP=@program.c:7' 'a comma is before the line'
hint 'TRACE TP=@program.c:7, DESC="d"' 'a comma is before the line'
hint 'TRACE TP=.main,RETEP,RETEP' 'it is given already'
hint 'TRACE RETEP, TP=.main' 'TP=\.name,RETEP'
hint 'TRACE TP=.number,RETEP' 'is not in an executable section'
hint 'TRACE TP=.main@@V1' "no part of the name: '\.main'"
hint 'TRACE TP=.main, VARS=($arg0)' 'arg1, arg2'
hint 'TRACE TP=.main, VAR=(argc)' 'there are: .*VARS'
hint 'TRACE TP=.main, TYPE=(PRE)' 'TYPELIST defines'
hint 'TRACE TP=.main, GROUP=A' 'GROUPLIST defines'
hint 'GROUPLIST NAME=B,ID=1 TRACE TP=.main, GROUP=A' 'defined are: B'
hint 'TRACE TP=.main, MEM32=(.number,DIRECT,4096)' \
	'MAXDATALENGTH is 1024' 0
hint 'TRACE TP=.main, MEM32=(.number,DIRECT,900),MEM32=(.number,DIRECT,900)' \
	'up to 1806 bytes, of which 1024' 0
hint 'MAXDATALENGTH=4097 TRACE TP=.main' 'it is from 20 to 4096' 0
hint 'TRACE TP=.main, LEN=(number,DIRECT,3), MEM32=(.number,DIRECT,LEN)' \
	'1, 2, 4 or 8 bytes'
hint 'TRACE TP=.main, DESC="d", FMT="n=%d", VARS=(argc)' \
	'a decimal number of 4 bytes is %P%[{]d32[}]; without a FMT' 0
hint '# no comment' "a comment begins with ';'"
hint '// no comment\nTRACE TP=.main' "a comment begins with ';'"
hint 'TYPELIST NAME=A,ID=3 TRACE TP=.main' 'a power of two, 1 to 0x8000'
hint 'TRACE TP=@program.c,70' 'the last line with code is [0-9]+$'
hint 'TRACE TP=.main, VARS=(twice(1))' 'calls no function'
hint 'TRACE TP=.main, VARS=(argv == "x")' "why\[0\] == 's'"
[ "$(uname -m)" = x86_64 ] && {
	hint 'TRACE TP=.main, REGS=(REX)' 'near names: RAX'
	hint 'TRACE TP=.main, REGS=(RDX9)' 'near names: RDX$'
	hint 'TRACE TP=.main, MEM32=(FRDX9,DIRECT,4)' 'near names: RDX$'
	hint 'TRACE TP=.main, REGS=(%RDI)' "written without '%'"
	hint 'TRACE TP=.main, REGS=(XMM0)' "vector registers can't be logged"
	hint 'TRACE TP=.main, REGS=(ESI)' 'RSI logs its 8 bytes' 0
}
hint 'TRACE TP=.main, VARS=(nothing)' 'in scope at main.*: argc, argv'

printf 'MODNAME=my program\nMAJOR=5\nTRACE TP=.main\n' >app.tsf
status 1 "a blank in MODNAME" trcust app.tsf
like "$(cat err)" 'a name with blanks is quoted' "  is reported"
other '\177ELF\1' 'from-module'
other 'RASTDF\r\n\1' '--dump prints it'
other '\377\376M\0O\0' 'UTF-16'

cc -O0 -rdynamic -o plain program.c
module=plain
hint 'TRACE TP=.main, VARS=(number)' "'number:n' logs n bytes"
like "$(cat err)" 'size of number is not known' "  and what has none"
module=bare
hint 'TRACE TP=.twice' 'stripped'
like "$(cat err)" '--debug FILE' "  and the debug information"
hint 'TRACE TP=@program.c,7' '--debug FILE'
module=program
if nm program | grep -q ' i chosen'; then
	hint 'TRACE TP=.chosen' 'comes* to what it chose: .*\.chosen\.avx2' 0
	unlike "$(cat err)" resolver$ "  without the resolver itself"
else
	skip "an indirect function" "the compiler can't make one"
fi

# Debug information that knows no variables
if cc -g -gsplit-dwarf -O2 -c program.c -o parted.o 2>log &&
	cc parted.o -o parted && [ -e parted.dwo ]; then
	module=parted
	hint 'TRACE TP=.main, VARS=(nothing)' 'in scope at main.*: argc, argv'
	mv parted.dwo away.dwo
	hint 'TRACE TP=.main, VARS=(argc)' \
		"of this unit is in 'parted.dwo', which wasn't found"
	hint 'TRACE TP=.main, VARS=((struct known *)16)' \
		"of this unit is in 'parted.dwo', which wasn't found"
	mv away.dwo parted.dwo
else
	skip "split debug information" "the compiler can't make it"
fi
cc -g1 -O2 program.c -o lines
module=lines
hint 'TRACE TP=.main, VARS=(argc)' 'of this unit has no variables.* -g1'
hint 'TRACE TP=.main, VARS=((struct known *)16)' 'no types, as -g1'
echo 'void f(void) {} int main(void) { f(); return 0; }' >few.c
cc -g few.c -o few
printf 'MODNAME=few\nMAJOR=5\nTRACE TP=.f, VARS=(argc)\n' >app.tsf
status 1 "no variables in a function" trcust app.tsf
unlike "$(cat err)" 'no variables' "  all of it has no such hint"

# What other modules define
echo 'int puts(const char *); int put(void) { return puts("text"); }' >import.c
cc -O0 -fPIC -shared -o libimport.so import.c -lc
module=libimport.so
hint 'TRACE TP=.puts' 'only uses it.*this one loads libc\.so\.6$'
cc -O0 -fPIC -shared -nostdlib -o libimport.so import.c
hint 'TRACE TP=.puts' 'only uses it, it is defined in another one$'
module=program

# Names of C++ as they are written
if command -v c++ >/dev/null; then
	echo 'namespace n { int f(int a) { return a; } } int main() { return n::f(1); }' |
		c++ -g -O0 -x c++ -o program -
	hint 'TRACE TP=.n::f, VARS=(b)' 'in scope at n::f+.*: a'
else
	skip "names of C++" "no compiler"
fi
tap_done
