#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# No probe is put or moved into a critical section of rseq(2), wherever its
# descriptor is, nor on the signature before its abort handler: the kernel
# single-steps elsewhere, and would not have the section begin again.
. "$(dirname "$0")/../tap.sh"
need cc nm objcopy
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# SLOW is an instruction that a probe is moved away from.
cat >section.S <<'END'
	.text
	.globl work, start, middle, last, commit, handler
	.type work, %function
	.p2align 4
	.type sign, %function
sign:	.4byte SIGNATURE
	.size sign, . - sign
handler: NOP
	RETURN
	.p2align 4
work:	.cfi_startproc
	SLOW
start:	SLOW
middle:	NOP
last:	SLOW
commit:	NOP
	RETURN
	.cfi_endproc
	.size work, . - work
	.section SECTION, "aw", %progbits
	.balign 32
	.4byte 0, 0
	WORD(start)
	.8byte commit - start
	WORD(handler)
	.section .note.GNU-stack, "", %progbits
END
echo 'int main(void) { return 0; }' >main.c

# What trcust says of each label, by the names of those that are refused. They
# are no symbols any more, so that the code is one block.
refused() {
	names="work start middle last commit handler sign"
	{
		printf 'MODNAME=./section\nMAJOR=9\n'
		for name in $names; do
			echo "TRACE TP=@ADDR,0x$("$nm" section |
				awk -v name="$name" '$3 == name { print $1 }')"
		done
	} >t.tsf
	"${nm%nm}objcopy" -N start -N middle -N last -N commit section
	trcust --explain t.tsf >explained 2>err
	sed -n 's/^t.tsf:\([0-9]*\):.*: error: .*/\1/p' err |
		while read -r line; do
			echo "$names" | cut -d' ' -f$((line - 2))
		done | tr '\n' ' '
}

nm="nm"
x86="-DNOP=nop -DRETURN=ret -DSIGNATURE=0x53053053"
a64="-DNOP=nop -DRETURN=ret -DSIGNATURE=0xd428bc00"
word="-DWORD(a)=.8byte a"
section=__rseq_cs

# build TITLE COMPILER OPTIONS...
build() {
	title=$1
	shift
	"$@" -DSECTION=$section -o section section.S main.c 2>log || {
		skip "$title" "the compiler can't do it"
		return 1
	}
}
check() {
	build "$@" || return
	is "$(refused)" "start middle last sign " "$title: what is refused" || diag_file err
	like "$(cat err)" "is in an rseq critical section" "$title: the reason"
	like "$(cat err)" "is the signature|is a breakpoint" \
		"$title: of the signature"
	like "$(cat explained)" "^  site work[+]0 at 0x[0-9a-f]*" \
		"$title: none is moved there" || diag_file explained
}

case $(cc -dumpmachine) in
x86_64-*)
	sed 's/\tSLOW/\tleaq 1(%rax), %rax/' section.S >s64.S
	sed 's/\tSLOW/\tleal 1(%eax), %eax/' section.S >s32.S
	cp s64.S section.S
	# shellcheck disable=SC2086
	for row in "-no-pie" "-pie -fPIE" "-static" "-static-pie -fPIE" \
		"-pie -fPIE -fuse-ld=lld -Wl,--pack-dyn-relocs=relr"; do
		check "$row" cc $x86 "$word" $row
	done
	section=.data.rel.ro
	# shellcheck disable=SC2086
	check "a section of another name" cc $x86 "$word" -pie -fPIE
	section=.data
	# shellcheck disable=SC2086
	if build "without section headers" cc $x86 "$word" -pie; then
		nm section >section.map
		# e_shoff; e_shentsize, e_shnum, e_shstrndx
		{
			dd if=/dev/zero of=section bs=1 seek=40 count=8 \
				conv=notrunc
			dd if=/dev/zero of=section bs=1 seek=58 count=6 \
				conv=notrunc
		} 2>/dev/null
		printf 'MODNAME=./section\nTRACE TP=.middle\n' >t.tsf
		status 1 "$title" trcust -M section.map t.tsf
		like "$(cat err)" "is in an rseq critical section" "$title"
	fi
	section=__rseq_cs
	cp s32.S section.S
	# shellcheck disable=SC2086
	check "-m32" cc -m32 $x86 "-DWORD(a)=.4byte a, 0" -no-pie
	;;
esac
if command -v aarch64-linux-gnu-gcc >/dev/null; then
	sed 's/\tlea. .*/\tldr x9, [sp]/; s/\tSLOW/\tldr x9, [sp]/' section.S \
		>a64.S
	cp a64.S section.S
	nm=aarch64-linux-gnu-nm
	# shellcheck disable=SC2086
	check "AArch64" aarch64-linux-gnu-gcc $a64 "$word" -pie -fPIE
fi
tap_done
