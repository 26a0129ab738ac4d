#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# With --site=fast RETEP has the kernel's return probe instead of a probe at each
# exit where that is cheaper, has the same values, and nothing in the module shows
# that it would harm the program; with the others it never has one.
. "$(dirname "$0")/../tap.sh"
need cc nm objcopy
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# build FILE OPTION...; FILE.names: its labels, which could be jumped to
build() {
	file=$1
	shift
	cc -nostdlib -o "$file" "$here/return/rules.s" "$@" 2>build.log ||
		return
	nm "$file" >"$file.names"
	objcopy --wildcard --strip-symbol '*_probe' "$file"
}

build rules.so -shared -Wl,-Bsymbolic || skip_all "the assembler can't do it"
build program -static -Wa,--defsym,PROGRAM=1
functions=$(sed -nE 's/.* T ([a-z_]*)/\1/p' rules.so.names |
	grep -vE '_probe$|^inside$|^_|^and_back$')

# returns FILE [OPTION...]: the functions that have a return probe, and where
returns() {
	file=$1
	shift
	rm -f ./*.TFF
	{
		echo "MODNAME=$PWD/$file"
		for name in $functions; do
			echo "TRACE TP=.$name,RETEP, REGS=(EAX)"
		done
	} >all.tsf
	trcust "$@" all.tsf all.tdf 2>err
	trcust --dump all.tdf | awk '
		/^point / { split($5, part, /[",]/); name = part[2] }
		/^  site .* return/ {
			for (i = 1; i < NF; i++)
				if ($i == "address")
					print name, substr($(i + 1), 3)
		}' | sort
}

# expected FILE: by the labels
expected() {
	sed -nE 's/^0*([0-9a-f]+) . (.*)_probe$/\2 \1/p' "$1.names" | sort
}

# why FILE CLAUSES [OPTION]: the reason that --explain has against it
why() {
	printf 'MODNAME=%s\nTRACE %s\n' "$PWD/$1" "$2" >one.tsf
	trcust "${3:---site=fast}" --explain one.tsf 2>err | sed -n 's/^  no return probe: //p'
}

is "$(returns rules.so --site=fast)" "$(expected rules.so)" \
	"a library, --site=fast"
is "$(returns program --site=fast)" "$(expected program)" \
	"a program, --site=fast"
for file in rules.so program; do
	is "$(returns $file)" "" "$file: never by itself"
	is "$(returns $file --site=exact)" "" "$file, --site=exact: never"
done
is "$(why rules.so "TP=.at_entry,RETEP, REGS=(EAX)" --site=safe)" \
	"--site=fast takes one, as RETEP=CALLER does: a hit is cheap, but a program that unwinds, walks or switches its stack may crash" \
	"it says who takes one, and at which risk"
is "$(why rules.so "TP=.loops,RETEP, REGS=(EAX)" --site=safe)" \
	"it jumps to where it is entered" "and why --site=fast doesn't"

# no FILE CLAUSES REASON
no() {
	is "$(why "$1" "$2")" "$3" "$2: $3"
}
no rules.so "TP=.at_entry,RETEP, REGS=(EAX)" ""
no rules.so "TP=.all_dear,RETEP, REGS=(EAX)" \
	"no instruction that it begins with is cheap"
no rules.so "TP=.behind_the_frame,RETEP, REGS=(EAX)" \
	"no instruction that it begins with is cheap"
no rules.so "TP=.tail,RETEP, REGS=(EAX)" "it ends with a jump to other code"
no rules.so "TP=.tail_always,RETEP, REGS=(EAX)" \
	"it ends with the call of another function"
no rules.so "TP=.loops,RETEP, REGS=(EAX)" "it jumps to where it is entered"
no rules.so "TP=.again,RETEP, REGS=(EAX)" \
	"it may be called again before it returns"
no rules.so "TP=.over_others,RETEP, REGS=(EAX)" \
	"it may be called again before it returns"
no rules.so "TP=.calls_pointer,RETEP, REGS=(EAX)" \
	"it calls other functions, in a library"
no rules.so "TP=.reads_return,RETEP, REGS=(EAX)" \
	"it reads the address that it returns to"
no rules.so "TP=.reads_return_by_frame,RETEP, REGS=(EAX)" \
	"it reads the address that it returns to"
no rules.so "TP=.entered_twice,RETEP, REGS=(EAX)" \
	"another function begins in it"

# what is logged
no rules.so "TP=.at_entry,RETEP, REGS=(RSP,RDI,RAX)" ""
no rules.so "TP=.at_entry,RETEP, MEM64=(FRAX+8,DIRECT,4)" ""
no rules.so "TP=.at_entry,RETEP, MEM64=(FRSP,DIRECT,8)" ""
no rules.so "TP=.calls_known,RETEP, MEM64=(FRSP-16,DIRECT,8)" \
	"the frame is gone after 'ret'"
no rules.so "TP=.at_entry,RETEP, MEM64=(.number,DIRECT,8)" ""
no rules.so "TP=.at_entry,RETEP, REGS=(RIP)" ""
no rules.so "TP=.at_entry,RETEP, STACK=(4)" \
	"STACK would come to the kernel's address"
no rules.so "TP=.at_entry,RETEP, REGS=(EAX) TRACE TP=.two_exits, STACK=(4)" \
	"the STACK of the tracepoint in line 2 would come to the kernel's address"
no rules.so "TP=.at_entry,RETEP, REGS=(EAX) TRACE TP=.gone, STACK=(4)" ""
no rules.so "TP=.two_exits,RETEP, REGS=(EDX)" \
	"a value is elsewhere at another exit"
no rules.so "TP=.two_exits,RETEP, MEM64=(FRAX+RDX,DIRECT,8)" \
	"a value is made of the result and others"

# The run time.
variant() {
	objcopy "$@" program variant
	chmod +x variant
}
echo >note
variant --add-section .note.go.buildid=note
no variant "TP=.at_entry,RETEP, REGS=(EAX)" \
	"Go looks through its stacks and moves them"
variant --add-section .note.GNU-split-stack=note
no variant "TP=.at_entry,RETEP, REGS=(EAX)" "the stack is split"
variant --redefine-sym and_back=sigaltstack
no variant "TP=.at_entry,RETEP, REGS=(EAX)" \
	"signals are handled on another stack"
variant --redefine-sym and_back=swapcontext
no variant "TP=.at_entry,RETEP, REGS=(EAX)" "the program changes stacks"
variant --redefine-sym and_back=_Unwind_Resume
no variant "TP=.at_entry,RETEP, REGS=(EAX)" \
	"exceptions or the end of a thread may leave it"
build variant -static -Wa,--defsym,PROGRAM=1 -Wa,--defsym,SWITCHES=1
no variant "TP=.at_entry,RETEP, REGS=(EAX)" ""
no variant "TP=.calls_pointer,RETEP, REGS=(EAX)" "the program changes stacks"

# By hand.
no rules.so "TP=.all_dear,RETEP=EXIT, REGS=(EAX)" ""
no rules.so "TP=.all_dear,RETEP=CALLER, REGS=(EAX)" ""

# At most 32 functions that call others are pending at once.
awk 'BEGIN {
	print ".text"
	for (i = 0; i < 40; i++) {
		printf "f%d:\n.globl f%d\n.type f%d, @function\n", i, i, i
		print ".cfi_startproc\npush %rbx\n.cfi_adjust_cfa_offset 8"
		print "call *%rdi\npop %rbx\n.cfi_adjust_cfa_offset -8"
		printf "ret\n.cfi_endproc\n.size f%d, . - f%d\n", i, i
	}
	print ".globl _start\n_start: hlt"
	print ".section .note.GNU-stack,\"\",@progbits"
}' >many.s
cc -nostdlib -static -o many many.s
{
	echo "MODNAME=$PWD/many"
	awk 'BEGIN { for (i = 0; i < 40; i++)
		print "TRACE TP=.f" i ",RETEP, REGS=(EAX)" }'
} >many.tsf
is "$(trcust /W0 --site=fast --explain many.tsf | grep -c 'when the function has returned')" \
	32 "not more than may be pending"

# Two tracepoints at one address are reported wherever their probes are.
printf 'MODNAME=%s\n%s\n%s\n' "$PWD/rules.so" \
	"TRACE TP=.at_entry,RETEP, REGS=(EAX)" \
	"TRACE TP=.at_entry,RETEP, REGS=(RAX)" >two.tsf
trcust two.tsf 2>err
like "$(cat err)" 'error: duplicate TP address' "the same function twice"
tap_done
