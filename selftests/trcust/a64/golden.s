// SPDX-License-Identifier: GPL-2.0
// Functions for --explain; its text has no debug information in it.
	.arch armv8.3-a
	.text

	.globl	signed
	.type	signed, %function
signed:
	.cfi_startproc
	paciasp
	.cfi_negate_ra_state
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov	x29, sp
	str	x19, [sp, #16]
	.cfi_offset 19, -16
	mov	x19, x1
	cbz	x0, 1f
	bl	leaf
1:	add	x0, x0, x19
	ldr	x19, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_restore 19
	.cfi_def_cfa_offset 0
	autiasp
	.cfi_negate_ra_state
	ret
	.cfi_endproc
	.size	signed, . - signed

	.globl	landing
	.type	landing, %function
landing:
	.cfi_startproc
	bti	c
	ldr	x2, [x0, #8]
	adrp	x3, table
	ldr	w0, [x2, #4]
	ret
	.cfi_endproc
	.size	landing, . - landing

	.globl	leaf
	.type	leaf, %function
leaf:
	.cfi_startproc
	add	x0, x0, #1
.Lprobe:
	tbnz	w0, #3, signed
	ret
	.cfi_endproc
	.size	leaf, . - leaf

	.globl	tail
	.type	tail, %function
tail:
	.cfi_startproc
	mov	w1, #7
	b	leaf
	.cfi_endproc
	.size	tail, . - tail

	.globl	exclusive
	.type	exclusive, %function
exclusive:
	.cfi_startproc
1:	ldxr	w1, [x0]
	add	w1, w1, #1
	stxr	w2, w1, [x0]
	cbnz	w2, 1b
	mov	w0, w1
	ret
	.cfi_endproc
	.size	exclusive, . - exclusive

	.globl	system
	.type	system, %function
system:
	.cfi_startproc
	mov	x8, #64
	svc	#0
	ret
	.cfi_endproc
	.size	system, . - system

	.data
	.globl	table
	.type	table, %object
table:
	.xword	1, 2, 3
	.size	table, . - table
	.section .note.stapsdt, "", %note
	.balign	4
	.4byte	2f - 1f, 4f - 3f, 3
1:	.asciz	"stapsdt"
2:	.balign	4
3:	.8byte	.Lprobe, 0, 0
	.asciz	"golden"
	.asciz	"hit"
	.asciz	"8@x0 -4@[sp, 12] 4@w1 8@5 -2@[x0, 16]"
4:	.balign	4
	.section .note.GNU-stack, "", %progbits
