#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# TP=.name is after the prologue only where every call comes, and once:
# the second statement of optimised code may be in a loop or after an exit.
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

# after NAME: how far from the symbol TP=.NAME is
after() {
	printf 'MODNAME=%s\nTRACE TP=.%s\n' "$PWD/code" "$1" >one.tsf
	trcust --site=exact one.tsf && trcust --dump one.tdf |
		sed -nE 's/^  site "[^"]*"\+([0-9]+) .*/\1/p'
}

is "$(after straight)" 1 "straight code"
is "$(after inside)" 7 "a jump inside the prologue"
is "$(after loop)" 0 "a loop around the second statement"
is "$(after head)" 0 "a loop that begins there"
is "$(after early)" 0 "an exit before it"
is "$(after out)" 0 "a jump to another function before it"
is "$(after ended)" 0 "a return before it"
is "$(after table)" 0 "a computed jump before it"

# A row at the address where the code before ends is of no code: line 99 of `first`,
# which `second` follows.
cat >rows.c <<'END'
int first(int x) { return x; }
int second(int x)
{
	int y = x * 3;
	return y;
}
int main(void) { return first(1) - second(2); }
END
cc -g -O0 -ffunction-sections -S rows.c &&
	sed 's/^\t\.size\tfirst,/\t.loc 1 99 1 view .LV9\n&/' rows.s >code.s &&
	cc -g -O0 -o code code.s || bail "cc"
first=0x$(nm code | sed -n 's/ T first$//p')
second=0x$(nm code | sed -n 's/ T second$//p')
ok "a function after a row of no code" test \
	$((second - first)) -gt "$(after first)" -a "$(after second)" -gt 0
rows_at_99() {
	printf 'MODNAME=%s\nTRACE TP=@rows.c,99\n' "$PWD/code" >one.tsf
	trcust --site=exact one.tsf
}
status 1 "a line that has only such a row" rows_at_99
like "$(cat "$TMP/err")" "last line with code is 7" "it has no code"

# ... also where rows are read without being kept
for i in 1 2 3 4 5; do
	mkdir "$i" && echo "int more$i;" >"$i/rows.c" &&
		echo "int f$i(void) { return 0; }" >>"$i/rows.c" || exit 1
done
# shellcheck disable=SC2046
cc -g -O0 -o code code.s $(ls ./*/rows.c) || bail "cc"
status 1 "of one of many files of that name" rows_at_99
like "$(cat "$TMP/err")" "last line with code is" "it has no code"
tap_done
