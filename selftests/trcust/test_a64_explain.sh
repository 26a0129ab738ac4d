#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# --explain of a program for AArch64: where tracepoints are, on what
# instruction, and where data comes from; registers have the names of the
# module's processor, those of another one are refused.
. "$(dirname "$0")/../tap.sh"
need aarch64-linux-gnu-gcc gcc
here=$(cd "$(dirname "$0")" && pwd)/a64
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

aarch64-linux-gnu-gcc -static -nostdlib -Wl,-e,signed -Wl,-Ttext=0x401000 \
	-Wl,-Tdata=0x420000 -Wl,--build-id=none -o golden "$here/golden.s" \
	2>log || {
	diag_file log
	bail "the module can't be built"
}
cp "$here/golden.tsf" .
status 0 "a module of which each byte is known" trcust --explain golden.tsf
ok "is explained so" diff "$here/golden.txt" out
gcc -static -nostdlib -Wl,-e,golden -Wl,--build-id=none -x assembler -o x86 - \
	<<'END' 2>log || bail "the x86 module can't be built"
.globl golden
.type golden, @function
golden:
	push %rbx
	ret
.size golden, . - golden
.section .note.GNU-stack, "", @progbits
END

# refused MODULE CLAUSES MESSAGE HINT
refused() {
	case $1 in
	x86)	function=golden ;;
	*)	function=landing ;;
	esac
	printf 'MODNAME=%s\nMAJOR=9\nTRACE TP=.%s+0, %s\n' "$1" $function \
		"$2" >r.tsf
	status 1 "$1: $2" trcust r.tsf
	like "$(cat err)" "$3" "$1: $2: said"
	[ -z "$4" ] || like "$(cat err)" "$4" "$1: $2: why"
}

# taken MODULE CLAUSES
taken() {
	printf 'MODNAME=%s\nMAJOR=9\nTRACE TP=.landing+0, %s\n' "$1" "$2" >r.tsf
	status 0 "$1: $2" trcust r.tsf
	unlike "$(cat err)" LOWHALF "$1: $2: a name that has its width"
}

a64='a register of AArch64, the module is for x86-64'
x86='a register of x86-64, the module is for AArch64'
refused golden 'REGS=(EAX)' "register expected, 'EAX'" "$x86"
refused golden 'REGS=(R8)' "register expected, 'R8'" "$x86"
refused golden 'REGS=(CS)' "register expected, 'CS'" "$x86"
refused golden 'REGS=(X31)' "register expected, 'X31'" ""
refused golden 'REGS=(TPIDR)' "register expected, 'TPIDR'" ""
# shellcheck disable=SC2016
refused golden 'VARS=($rdi)' "register expected, 'rdi'" "$x86"
refused golden 'MEM32=(FEBP+8,D,4)' TRCERR_INVALIDREG "$x86"
refused golden 'MEM32=(FX1+EBX,D,4)' TRCERR_NOTAREG "$x86"
refused golden 'MEM32=(FX1+SP,D,4)' 'TRCERR_INVALIDREG' ""
refused golden 'MEM=(FX0,D,8)' TRCERR_NOTASEGREG 'AArch64 has no segments'
refused x86 'REGS=(X0)' "register expected, 'X0'" "$a64"
refused x86 'REGS=(PSTATE)' "register expected, 'PSTATE'" "$a64"
# shellcheck disable=SC2016
refused x86 'VARS=($w3)' "register expected, 'w3'" "$a64"
refused x86 'MEM32=(FX0+8,D,4)' TRCERR_INVALIDREG "$a64"
taken golden 'REGS=(x0,w30,LR,FP,SP,WSP,PC,PSTATE)'
taken golden 'MEM32=(FX19+X30-8,D,4), ASCIIZ32=(FFP+8,I,20)'
taken golden 'MEM32=(FW1+W2,D,4), MEM32=(FSP,D,8), MEM32=(FLR,D,4)'
# shellcheck disable=SC2016
taken golden 'VARS=($x0 + $w1, *(long *)$sp, $pc, $pstate & 0xf0000000)'

# where no probe may be
for at in exclusive+0:exclusive exclusive+4:'follows an exclusive load' \
	exclusive+8:exclusive system+4:'kernel'; do
	printf 'MODNAME=golden\nMAJOR=9\nTRACE TP=.%s\n' "${at%%:*}" >r.tsf
	status 1 "${at%%:*}" trcust r.tsf
	like "$(cat err)" "${at#*:}" "${at%%:*}: why"
done
printf 'MODNAME=golden\nMAJOR=9\nTRACE TP=.leaf+2\n' >r.tsf
status 1 "the middle of a word" trcust r.tsf
like "$(cat err)" 'leaf\+0x2 is inside an instruction' "the middle of a word: said"
printf 'MODNAME=golden\nMAJOR=9\nTRACE TP=.exclusive+0x10\n' >r.tsf
status 0 "after the loop of an exclusive load" trcust r.tsf

# No name of the processor where it isn't said
printf 'MODNAME=vmlinux\nMAJOR=9\nTRACE TP=.do_exit, REGS=(X0)\n' >r.tsf
status 0 "a kernel that has no file here" trcust --arch aarch64 r.tsf
status 0 "by another name" trcust --arch ARM64 r.tsf
status 1 "the same of x86-64" trcust --arch x86-64 r.tsf
printf 'MODNAME=vmlinux\nMAJOR=9\nTRACE TP=.do_exit+2\n' >r.tsf
status 1 "the middle of a word there" trcust --arch aarch64 r.tsf
like "$(cat err)" 'do_exit\+2 is inside an instruction' "the middle of a word there: said"
status 0 "x86-64 has no words" trcust --arch x86-64 r.tsf
tap_done
