#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# TP=.name stands behind the prologue only where every call comes, and once:
# the second statement of optimised code may lie in a loop or behind an exit.
. "$(dirname "$0")/../tap.sh"
need cc nm
cd "$TMP" || exit 1

# define NAME: with a first statement, the given code, a second statement
define() {
	name=$1
	shift
	printf 'asm(".globl %s\\n.type %s,@function\\n%s:\\n.loc 1 90\\n"\n' \
		"$name" "$name" "$name"
	for insn; do
		printf '"%s\\n"\n' "$insn"
	done
	printf '"ret\\n.size %s,.-%s\\n");\n' "$name" "$name"
}

{
	echo 'int main(void) { return 0; }'
	define straight 'push %rax' '.loc 1 91' 'pop %rax'
	define inside 'push %rax' 'test %al,%al' 'je 1f' 'nop' '1: nop' \
		'.loc 1 91' 'pop %rax'
	define loop 'push %rax' '1: nop' '.loc 1 91' 'dec %edi' 'jne 1b' \
		'pop %rax'
	define head 'push %rax' '.loc 1 91' '1: dec %edi' 'jne 1b' 'pop %rax'
	define early 'test %edi,%edi' 'je 1f' 'nop' '.loc 1 91' 'nop' '1: nop'
	define out 'test %edi,%edi' 'je main' '.loc 1 91' 'nop'
	define ended 'test %edi,%edi' 'ret' '.loc 1 91' 'nop'
	define table 'nop' 'jmp *%rdi' '.loc 1 91' 'nop'
} >code.c
if ! cc -g -O0 -o code code.c 2>log; then
	skip "prologues" "the compiler can't do it"
	tap_done
fi

# behind NAME: how far from the symbol TP=.NAME stands
behind() {
	printf 'MODNAME=%s\nTRACE TP=.%s\n' "$PWD/code" "$1" >one.tsf
	trcust --site=exact one.tsf && trcust --dump one.tdf |
		sed -nE 's/^  site "[^"]*"\+([0-9]+) .*/\1/p'
}

is "$(behind straight)" 1 "straight code"
is "$(behind inside)" 7 "a jump inside the prologue"
is "$(behind loop)" 0 "a loop around the second statement"
is "$(behind head)" 0 "a loop that begins there"
is "$(behind early)" 0 "an exit before it"
is "$(behind out)" 0 "a jump to another function before it"
is "$(behind ended)" 0 "a return before it"
is "$(behind table)" 0 "a computed jump before it"
tap_done
