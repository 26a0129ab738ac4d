#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What data statements become: addresses are those that nm prints, lengths those
# of the types, and the data hash is that of what is logged.
. "$(dirname "$0")/../tap.sh"
need cc nm objcopy
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# stmts MODULE POINT STATEMENT...: what is logged there, a line each
stmts() {
	module=$1 point=$2
	shift 2
	IFS=,
	printf 'MODNAME=%s\nTRACE MINOR=1, TP=%s, %s\n' "$module" "$point" "$*" \
		>one.tsf
	unset IFS
	# shellcheck disable=SC2086
	trcust one.tsf $options 2>messages || true
	trcust --dump one.tdf 2>>messages >dump
	sed -n 's/^  \([^s]\)/\1/p; /^  stack/s/^  //p' dump
	rm -f one.tdf TRC*.TFF
}
options=

# at SYMBOL [MORE]: its address in the module, in hex
at() {
	printf '0x%x' $((0x$(nm program | sed -n "s/ [A-Za-z] $1\$//p") + ${2:-0}))
}

# logs "STATEMENT" "DUMP" [NAME]: of one statement in main of program
logs() {
	is "$(stmts program .main "$1")" "$2" "${3:-$1}" || diag_file messages
}

# hints NAME MODULE POINT STATEMENT REGEX: it is refused, and a message says why
hints() {
	name=$1 regex=$5
	is "$(stmts "$2" "$3" "$4")" "" "$name: refused"
	like "$(cat messages)" "$regex" "$name: why"
}

cat >program.c <<'END'
#include <stdio.h>
struct rec { unsigned char kind; unsigned short len; int size; long long big;
	struct rec *next; char text[16]; union { int i; short s; } either; };
struct rec rec, *rec_ptr = &rec;
struct { struct rec inner[2]; int after; } outer;
char buffer[16];
short words[4];
enum color { RED, GREEN } color = GREEN;
__thread int each;
static int hidden = 1;
static long long quad;
extern int elsewhere;
int twice(int a);
int main(void)
{
	return hidden + quad + elsewhere + twice(1) + fprintf(stdout, "%d", 1);
}
END
cat >other.c <<'END'
static int hidden = 2;
int elsewhere = 3;
int twice(int a) { return 2 * a * hidden; }
END
echo 'int third(int a) { return a; }' >third.c
cc -g -O0 -no-pie -fno-pie -o program program.c other.c third.c 2>log ||
	bail "the program of the tests does not compile"

# symbols
logs 'MEM32=(.buffer,DIRECT,4)' "mem length 4 address [addr $(at buffer)]"
logs 'MEM32=(.buffer+0x10-4,DIRECT,4)' \
	"mem length 4 address [addr $(at buffer 12)]"
logs 'MEM32=(.elsewhere,DIRECT,4)' "mem length 4 address [addr $(at elsewhere)]"
logs 'MEM32=(.rec_ptr,INDIRECT*+4*-8,4)' \
	"mem length 4 address [addr $(at rec_ptr); deref; plus_uconst 4; deref; constu 8; minus]"
logs 'MEM32=(.stdout,DIRECT,8)' \
	"mem length 8 address [addr $(at 'stdout@[A-Z_0-9.]*')]" \
	"a copy of another module's variable"
one=$(stmts program .main 'MEM32=(.program.c:hidden,DIRECT,4)')
two=$(stmts program .main 'MEM32=(.other.c:hidden,DIRECT,4)')
is "$(printf '%s\n' "$one" "$two" | sed 's/.*addr \(.*\)]/\1/' | sort)" \
	"$(nm program | sed -n 's/^0*\([0-9a-f]*\) . hidden$/0x\1/p' | sort)" \
	"static variables by their files"
is "$(stmts program .main 'MEM32=(.hidden,DIRECT,4)')" "$one" \
	"the file's own one first"
is "$(stmts program .twice 'MEM32=(.hidden,DIRECT,4)')" "$two" "of each file"
is "$(cat messages)" "" "without a word"
stmts program .third 'MEM32=(.hidden,DIRECT,4)' >one
like "$(cat messages)" 'other.c:1 .*TRCERR_AMBIGNAME' "from a third file" ||
	diag_file one messages
like "$(cat messages)" "'FILE'::NAME" "the hint says how to name one"

# lengths of lengths
len() {
	logs "LEN=($1),MEM32=(.buffer,DIRECT,LEN)" \
		"mem at most 1024 address [addr $(at buffer)] len bytes $2 at [$3]"
}
len .buffer,DIRECT 2 "addr $(at buffer)"
len words+2,DIRECT 2 "addr $(at words 2)"
len elsewhere,DIRECT 4 "addr $(at elsewhere)"
len .elsewhere,DIRECT,1 1 "addr $(at elsewhere)"
len .color,DIRECT 4 "addr $(at color)"
len .quad,DIRECT 8 "addr $(at quad)"
len .rec,DIRECT 1 "addr $(at rec)"
len .rec+1,DIRECT 2 "addr $(at rec 1)"
len .rec+2,DIRECT 2 "addr $(at rec 2)"
len .rec+4,DIRECT 4 "addr $(at rec 4)"
len .rec+8,DIRECT 8 "addr $(at rec 8)"
len .rec+16,DIRECT 2 "addr $(at rec 16)"
len .rec+24,DIRECT 2 "addr $(at rec 24)"
len .rec+40,DIRECT 2 "addr $(at rec 40)"
len .outer+52,DIRECT 4 "addr $(at outer 52)"
len 'rec_ptr,INDIRECT*+4' 4 "addr $(at rec_ptr); deref; plus_uconst 4"
len 'rec_ptr,INDIRECT*+16*+8' 8 \
	"addr $(at rec_ptr); deref; plus_uconst 16; deref; plus_uconst 8"
len 'rec_ptr+(4),INDIRECT' 4 "addr $(at rec_ptr); deref; plus_uconst 4"
len 'rec_ptr,INDIRECT*-4' 2 "addr $(at rec_ptr); deref; constu 4; minus"
len 'rec_ptr,INDIRECT*+400' 2 "addr $(at rec_ptr); deref; plus_uconst 400"

# registers; those that no probe saves, and stacks
logs 'REGS=(AX,EAX,RAX,FLAGS,CS,SS)' 'reg 0 bytes 2
reg 0 bytes 4
reg 0 bytes 8
reg 49 bytes 2
reg 51 bytes 2
reg 52 bytes 2'
logs 'REGS=(ES,DS,FS,GS)' 'value raw length 2 value [bregx 50+0]
value raw length 2 value [bregx 53+0]
value raw length 2 value [bregx 54+0]
value raw length 2 value [bregx 55+0]'
logs 'MEM=(RDS+DI-0x10,DIRECT,4)' \
	'mem length 4 far address [bregx 53+0; breg5+0; plus_uconst 65520; constu 65535; and]'
logs 'STACK=(4)' 'stack frames 4 frame [breg6+16]' "STACK after the prologue"
is "$(stmts program .main+0 'STACK=(4)')" 'stack frames 4 frame [breg7+8]' \
	"STACK where the function begins"
cc -O0 -fno-asynchronous-unwind-tables -no-pie -o bare program.c other.c 2>log ||
	bail "the program without frames does not compile"
is "$(stmts bare .main+0 'STACK=(4)')" 'stack frames 4 frame [breg7+8]' \
	"without a description of frames: there, too"
is "$(stmts bare .main+1 'STACK=(4)')" 'stack frames 4' "and not after it"
logs 'REGS=(.elsewhere,.color,.quad)' \
	"mem raw length 4 address [addr $(at elsewhere)]
mem raw length 4 address [addr $(at color)]
mem raw length 8 address [addr $(at quad)]" "variables in memory"
logs 'REGS=(.GREEN)' 'value raw length 4 value [lit1]' "a constant"

# where the function has returned
is "$(stmts program .twice,RETEP=CALLER 'MEM32=(.each,DIRECT,4)')" \
	'mem length 4 address [bregx 58-4]' "a thread-local variable is there"
is "$(stmts program .twice,RETEP=CALLER 'MEM32=(.hidden,DIRECT,4)')" "$two" \
	"a static one, too"
hints "a parameter" program .twice,RETEP=CALLER 'MEM32=(.a,DIRECT,4)' \
	'the function has returned'

# without debug information, and without symbols
nm program >program.map
objcopy --strip-debug program bare
is "$(stmts bare .main 'MEM32=(.buffer+1,DIRECT,4)')" \
	"mem length 4 address [addr $(at buffer 1)]" "by the symbol table"
is "$(stmts bare .main 'LEN=(elsewhere,DIRECT)' 'MEM32=(.buffer,D,LEN)')" \
	"mem at most 1024 address [addr $(at buffer)] len bytes 2 at [addr $(at elsewhere)]" \
	"a length is a word where no type is known"
hints "a name that is nearly right" bare .main \
	'MEM32=(.hidde,DIRECT,4)' 'near names: hidden'
stmts bare .main 'MEM32=(.hidden,DIRECT,4)' >one
like "$(cat messages)" 'TRCERR_AMBIGUOUS' "static variables of two files"
hints "a local without debug information" bare .twice \
	'MEM32=(.a,DIRECT,4)' 'no debug information for twice'
hints "a variable of another function" program .twice \
	'MEM32=(.b,DIRECT,4)' 'in scope at twice.*: a$'
strip -o stripped program
hints "no symbol" stripped .main 'MEM32=(.buffer,DIRECT,4)' TRCERR_BADSYMBOL
options=/M=program.map
is "$(stmts stripped .main 'MEM32=(.buffer+1,DIRECT,4)')" \
	"mem length 4 address [addr $(at buffer 1)]" "by the map"
options=

# a kernel's variables with a copy on every processor
cat >vmlinux.c <<'END'
#define PER_CPU __attribute__((section("per_cpu")))
int PER_CPU external = 1;
static volatile int PER_CPU internal = 1;
int global = 1;
int _start(void) { return global + internal++ + external; }
END
mkdir kernel
cc -g -O1 -nostdlib -no-pie -static -Wl,--build-id \
	-Wl,--defsym=__per_cpu_start=__start_per_cpu \
	-Wl,--defsym=__per_cpu_end=__stop_per_cpu -o kernel/vmlinux vmlinux.c ||
	bail "the kernel of the tests does not compile"
for name in external internal; do
	like "$(stmts "$PWD/kernel/vmlinux" ._start "MEM32=(.$name,DIRECT,4)")" \
		'^mem length 4 address \[addr 0x[0-9a-f]*\]$' \
		"a per-CPU variable, $name"
	is "$(grep section dump)" \
		"per-cpu section from \"__per_cpu_start\" address 0x$(nm \
		kernel/vmlinux | sed -n 's/^0*\([0-9a-f]*\) .* __per_cpu_start$/\1/p') size 0x8 module 0" \
		"and what it is in"
done
like "$(stmts "$PWD/kernel/vmlinux" ._start 'MEM32=(.global,DIRECT,4)')" \
	'^mem length 4 address \[addr 0x[0-9a-f]*\]$' "another one"
is "$(grep section dump)" "" "which moves with the code"
like "$(stmts "$PWD/kernel/vmlinux" ._start 'MEM32=(.global-1000,DIRECT,4)')" \
	'^mem length 4 address \[addr 0x[0-9a-f]*; constu 1000; minus\]$' \
	"a displacement doesn't carry it elsewhere"

# a kernel of which there is no file, and no BTF
options='--btf none'
hints "a kernel's variable" vmlinux .do_exit 'MEM32=(.jiffies,DIRECT,8)' \
	'give it with --module'
hints "a kernel's register variable" vmlinux .do_exit 'REGS=(.code)' \
	'TRCERR_NO_CV'
printf '%s\n' 'ffffffff82a07980 D jiffies' 'ffffffff82a07988 d twice' \
	'ffffffff82a07990 d twice' >System.map
options=/M=System.map
is "$(stmts vmlinux .do_exit 'MEM32=(.jiffies,DIRECT,8)')" \
	'mem length 8 address [addr 0xffffffff82a07980]' "in the System.map"
like "$(stmts vmlinux .do_exit 'MEM32=(.twice,DIRECT,8)')" \
	'addr 0xffffffff82a079' "one of two there"
like "$(cat messages)" 'TRCERR_AMBIGUOUS' "which is reported"
options=

# 32 bits
if cc -m32 -g -O0 -nostdlib -static -no-pie -fno-pie -o program -x c - \
	2>log <<'END'
struct rec { int a; struct rec *next; } rec, *rec_ptr = &rec;
int function(int a) { return a; }
void _start(void) { function(1); }
END
then
	is "$(stmts program .function 'MEM32=(.rec_ptr,INDIRECT*+4*-8,4)')" \
		"mem length 4 address [addr $(at rec_ptr); deref_size 4; plus_uconst 4; const4u 4294967295; and; deref_size 4; constu 8; minus; const4u 4294967295; and]" \
		"pointers of 32 bits"
	is "$(stmts program .function 'MEM32=(.rec-0xffffffff,DIRECT,1)')" \
		"mem length 1 address [addr $(at rec 1)]" \
		"a sum is cut to 32 bits"
	is "$(stmts program .function 'REGS=(ES,DS,FS,GS,CS)')" \
		'value raw length 2 value [bregx 40+0]
value raw length 2 value [bregx 43+0]
value raw length 2 value [bregx 44+0]
value raw length 2 value [bregx 45+0]
reg 41 bytes 2' "segment registers of 32 bits"
	hints "a register of 64 bits" program .function 'REGS=(RAX)' \
		'the module is a 32-bit one'
else
	skip "32 bits" "the compiler makes no 32-bit programs"
fi
tap_done
