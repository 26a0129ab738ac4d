/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rastrace_write(major, minor, data, length): nothing but a place for a probe,
 * with the arguments where the C calling convention has them, and the USDT
 * note by which `trace` finds it in whatever binary it is linked into.
 *
 * On x86 the nop has one byte: one of 5, which Linux turns into a call from 6.18
 * on, leads a child that is forked afterwards to a page that it hasn't got.
 */
#if defined(__x86_64__)
# define LANDING	endbr64
# define NOP		nop
# define RETURN		ret
# define ARGUMENTS	"4@%edi 4@%esi 8@%rdx 8@%rcx"
# define WORD		.8byte
#elif defined(__i386__)
# define LANDING	endbr32
# define NOP		nop
# define RETURN		ret
# define ARGUMENTS	"4@4(%esp) 4@8(%esp) 4@12(%esp) 4@16(%esp)"
# define WORD		.4byte
#elif defined(__aarch64__)
# define LANDING	hint #34	/* bti c */
# define NOP		nop
# define RETURN		ret
# define ARGUMENTS	"4@x0 4@x1 8@x2 8@x3"
# define WORD		.8byte
#else
# error "rastrace_write() is not known for this machine"
#endif

	.text
	.p2align 4
	.globl	rastrace_write
	.type	rastrace_write, %function
rastrace_write:
	.cfi_startproc
	LANDING
.Lprobe:
	NOP
	RETURN
	.cfi_endproc
	.size	rastrace_write, . - rastrace_write

	/* as <sys/sdt.h> of SystemTap writes it */
	.section .stapsdt.base, "aG", %progbits, .stapsdt.base, comdat
	.weak	_.stapsdt.base
	.hidden	_.stapsdt.base
_.stapsdt.base:
	.space	1
	.size	_.stapsdt.base, 1

	.section .note.stapsdt, "", %note
	.balign	4
	.4byte	8, .Lend - .Ldescription, 3
	.asciz	"stapsdt"
.Ldescription:
	WORD	.Lprobe
	WORD	_.stapsdt.base
	WORD	0
	.asciz	"rastrace"
	.asciz	"write"
	.asciz	ARGUMENTS
.Lend:
	.balign	4

#if defined(__x86_64__) || defined(__i386__)
	/* with endbr: fits a binary built with -fcf-protection */
	.section .note.gnu.property, "a", %note
	.balign	__SIZEOF_POINTER__
	.4byte	4, 8 + __SIZEOF_POINTER__, 5
	.asciz	"GNU"
	.4byte	0xc0000002, 4, 3	/* X86_FEATURE_1_AND: IBT, SHSTK */
	.balign	__SIZEOF_POINTER__
#elif defined(__aarch64__)
	.section .note.gnu.property, "a", %note
	.balign	8
	.4byte	4, 16, 5
	.asciz	"GNU"
	.4byte	0xc0000000, 4, 1, 0	/* AARCH64_FEATURE_1_AND: BTI */
#endif
	.section .note.GNU-stack, "", %progbits
