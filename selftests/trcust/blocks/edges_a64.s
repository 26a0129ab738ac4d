// SPDX-License-Identifier: GPL-2.0
// Where straight lines of code begin and end, on AArch64.
	.text

	.globl edges
	.type edges, %function
edges:
	.cfi_startproc
	hint #34
	stp x29, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	cbz w0, 2f
	nop
1:	add w1, w1, #1
	bl edges
	mov w2, w0
	cmp w0, #2
	b.hi 2f
	adrp x1, bytes
	add x1, x1, :lo12:bytes
	ldrb w1, [x1, w0, uxtw]
	adr x2, 3f
	add x1, x2, w1, sxtb #2
	br x1
3:	nop
4:	nop
	b 1b
2:	udf #0
5:	mov w0, w1
	ldp x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	ret
	.cfi_endproc
	.size edges, . - edges

	// the index is bounded after a jump, by its other register; the two
	// instructions that make an address are apart
	.globl apart
	.type apart, %function
apart:
	.cfi_startproc
	adrp x8, halfwords
	and w3, w0, #1
	mov w4, w3
	cbnz w1, 7f
	ret
6:	nop
	ret
7:	add x8, x8, :lo12:halfwords
	ldrh w5, [x8, w4, uxtw #1]
	adr x6, 6b
	add x5, x6, x5, lsl #2
	br x5
8:	nop
	ret
9:	nop
	nop
	ret
	.cfi_endproc
	.size apart, . - apart

	.globl unknown
	.type unknown, %function
unknown:
	.cfi_startproc
	sub sp, sp, #16
	.cfi_adjust_cfa_offset 16
	ldr x1, [x0]
	add x1, x1, x2
	br x1
	nop
	add sp, sp, #16
	.cfi_adjust_cfa_offset -16
	nop
	ret
	.cfi_endproc
	.size unknown, . - unknown

	// labels are put into memory, as an interpreter does with its program
	.globl threaded
	.type threaded, %function
threaded:
	.cfi_startproc
	cbnz x1, 10f
	adr x2, 11f
	str x2, [x0]
	ret
10:	ldr x2, [x0], #8
	br x2
	nop
11:	mov x0, x1
	ret
	.cfi_endproc
	.size threaded, . - threaded

	.section .rodata
bytes:	.byte (3b - 3b) / 4, (4b - 3b) / 4, (5b - 3b) / 4
	.byte 1, 2, 4, 5, 6, 7, 8
	.balign 2
halfwords:
	.hword (8b - 6b) / 4, (9b - 6b) / 4
	.hword 1, 2, 4, 5
