#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Where a probe stays on a slow instruction, trcust says why, and what it says
# would make it cheap does.
. "$(dirname "$0")/../tap.sh"
need cc
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# tsf MODULE LINE...: app.tsf
tsf() {
	echo "MODNAME=$1"
	shift
	printf '%s\n' MAJOR=9 "$@"
}

# compile NAME MODULE LINE...: trcust takes it; messages are in err
compile() {
	what=$1
	shift
	tsf "$@" >app.tsf
	status 0 "$what" trcust app.tsf
}

# reports REGEX NAME, silent NAME: of what was just compiled
reports() {
	like "$(cat err)" "$1" "$what: $2"
}
silent() {
	is "$(grep -v '^trcust: ' err)" "" "$what: $1"
}

# cost MODULE TP: class of the instruction that its probe is on
cost() {
	tsf "$1" "TRACE TP=$2" >cost.tsf
	trcust -W1 cost.tsf
	rm -f TRC0009.TFF
	trcust --dump cost.tdf | sed -n 's/^  site .* cost \([a-z0-9]*\) .*/\1/p'
}

# define NAME CODE: in plain.c
define() {
	echo "asm(\".globl $1; .type $1,@function; $1: $2; .size $1, . - $1\");"
} >>plain.c
define reads "mov (%rdi), %eax; push %rbx; pop %rbx; ret"
define flags "cmp %edi, %esi; add \$1, %eax; push %rbx; pop %rbx; ret"
define leaves "test %edi, %edi; je 1f; mov \$1, %eax; ret; 1: mov \$2, %eax; ret"
define returns "nop; test %edi, %edi; je 1f; neg %edi; 1: mov %edi, %eax; ret"
define "done" "ret"
define nop5 ".byte 0x0f, 0x1f, 0x44, 0, 0; mov %rdi, %rax; ret"
cc -shared -nostdlib -o plain.so plain.c || bail "plain.c doesn't compile"

slow='^app.tsf:3:[0-9]+: warning: slow probe: '
compile "over a read" plain.so "TRACE TP=.reads, REGS=(RDI)"
reports "${slow}mov .*\(%rdi\), %eax at reads.* single-stepped .TRCERR_SLOWSITE.$" \
	"instruction and place"
reports '^      \| not at reads\+0x2: .*mov .*may fault' "why"
reports '^      \| cheap by --site=fast: at reads\+0x2, ' "what is possible"
like "$(cat err)" 'compiled with -fpatchable-function-entry=1$' \
	"$what: and what would be"
status 0 "as it was advised" trcust --site=fast app.tsf
silent "no warning"
like "$(trcust --dump app.tdf)" 'site "reads"\+2 .* cost emulated ' \
	"$what: it is cheap"
status 0 "as it was asked for" trcust --site=exact app.tsf
silent "no warning"
like "$(trcust --dump app.tdf)" 'site "reads"\+0 .* cost stepped ' \
	"$what: it is slow"

compile "over what is logged" plain.so "TRACE TP=.flags, REGS=(RFLAGS)"
reports "${slow}cmp " "the instruction"
reports '^      \| cheap, with the values as they are there: \.flags\+0x5$' "a place"
unlike "$(cat err)" 'site=fast' "$what: not another way to it"
compile "as it was advised" plain.so "TRACE TP=.flags+0x5, REGS=(RFLAGS)"
silent "no warning"
compile "after what changes it" plain.so "TRACE TP=.flags+0x2, REGS=(RFLAGS)"
reports "${slow}add " "a warning"
unlike "$(cat err)" 'patchable' "$what: not at the entry"
compile "what moves" plain.so "TRACE TP=.flags, REGS=(RDI)"
silent "no warning"

compile "exits" plain.so "TRACE TP=.leaves,RETEP=EXIT, REGS=(RDI)"
reports "${slow}.* at leaves\+" "a warning"
reports '^      \| so is 1 more of its 2 sites$' "for both"
unlike "$(cat err)" 'return probe' "$what: they are asked for"
unlike "$(cat err)" 'there: \.|patchable' "$what: no other place"
is "$(grep -c SLOWSITE err)" 1 "$what: once"
compile "exits, or another way" plain.so "TRACE TP=.returns,RETEP, REGS=(RAX)"
reports "${slow}.* at returns\+" "a warning"
reports '^      \| no return probe: --site=fast takes one, as RETEP=CALLER does: .* may crash$' \
	"what is cheap, and its risk"
status 0 "as it was advised" trcust --site=fast app.tsf
silent "no warning"
like "$(trcust --dump app.tdf)" 'site "returns".* return$' \
	"$what: it is a return probe"
status 0 "as it was advised" trcust app.tsf
unlike "$(trcust --dump app.tdf)" 'site "returns".* return$' \
	"$what: never by itself"

compile "nothing beside it" plain.so "TRACE TP=.done"
reports "^      \| no cheap instruction beside it: " "why"
unlike "$(cat err)" 'there: \.' "$what: no other place"

compile "a nop of 5 bytes" plain.so "TRACE TP=.nop5, REGS=(RDI)"
reports "${slow}mov %rdi, %rax at nop5\+0x5 " "what replaces it"
reports '^      \| a nop of 5 bytes is worse: ' "why"

# The line after it is another straight line of code.
cat >lines.c <<'C'
void lines(void)
{
	asm volatile("movl $2, %%ecx" ::: "ecx");
	asm volatile("1: push %%rbx; pop %%rbx; dec %%ecx; jnz 1b" ::: "ecx");
}
C
cc -O2 -g -mno-red-zone -fcf-protection=none -shared -fPIC -nostdlib \
	-o lines.so lines.c || bail "lines.c doesn't compile"
compile "a line" lines.so "TRACE TP=@lines.c,3"
reports "${slow}mov " "a warning"
reports '^      \| cheap, another line: @lines\.c,4$' "the next one"
compile "as it was advised" lines.so "TRACE TP=@lines.c,4"
silent "no warning"

# A function's first line is a place after its prologue.
cat >first.c <<'C'
int first(void)
{
	volatile int a[40];

	a[0] = 1;
	asm volatile("1: dec %%ecx; jnz 1b" ::: "ecx");
	asm volatile("movl $3, %%ecx" ::: "ecx");
	return a[0];
}
C
cc -O0 -g -mno-red-zone -fcf-protection=none -fno-stack-protector -shared \
	-fPIC -nostdlib -o first.so first.c || bail "first.c doesn't compile"
compile "a last line" first.so "TRACE TP=@first.c,7, REGS=(RFLAGS)"
reports "${slow}mov " "a warning"
unlike "$(cat err)" 'another line' "$what: not the first line"

# Function entries made for that.
cat >entry.c <<'C'
int entry(int *a)
{
	return *a;
}
C
for compiler in gcc clang; do
	command -v "$compiler" >/dev/null || {
		skip "-fpatchable-function-entry" "$compiler is missing"
		continue
	}
	"$compiler" -O2 -fcf-protection -shared -fPIC -nostdlib -o bare.so \
		entry.c || bail "entry.c doesn't compile"
	"$compiler" -O2 -fcf-protection -fpatchable-function-entry=1 -shared \
		-fPIC -nostdlib -o nops.so entry.c
	compile "$compiler" bare.so "TRACE TP=.entry, REGS=(RDI)"
	reports 'compiled with -fpatchable-function-entry=1$' "an option"
	compile "$compiler, with it" nops.so "TRACE TP=.entry, REGS=(RDI)"
	silent "no warning"
	is "$(cost nops.so .entry)" emulated "$what: it is cheap"
done

# Many
awk 'BEGIN {
	for (i = 0; i < 40; i++)
		printf "asm(\".globl f%d; .type f%d,@function;" \
			"f%d: ret; .size f%d,1\");\n", i, i, i, i
}' >many.c
cc -shared -nostdlib -o many.so many.c || bail "many.c doesn't compile"
compile "many" many.so "$(awk 'BEGIN {
	for (i = 0; i < 40; i++)
		print "TRACE TP=.f" i
}')"
is "$(grep -c SLOWSITE err)" 9 "not a warning for each"
like "$(cat err)" '^app.tsf: warning: slow probe: at 32 more tracepoints, too ' \
	"but how many there are"
status 0 "--explain" trcust --explain app.tsf
is "$(grep -c '^    because  *no cheap instruction beside it' out)" 40 \
	"lists each"
tap_done
