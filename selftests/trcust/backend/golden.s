# SPDX-License-Identifier: GPL-2.0
# A module whose addresses are known; assembled for 64 and 32 bits.
	.text
	.globl entry, second, third
	.type entry, @function
entry:
	push %AX
	nop
	mov $1, %eax
	pop %AX
	ret
	.size entry, . - entry
	.p2align 4
	.type second, @function
second:
	.byte 0x0f, 0x1f, 0x44, 0, 0
	ret
	.size second, . - second
	.p2align 4
	.type third, @function
third:
	call second
	lock incl (%AX)
	ret
	.size third, . - third

	.data
	.globl number, text, pointer
number:	.long 1
text:	.asciz "text"
	.balign 16
pointer:
	.quad text
	.globl fixed
	.set fixed, 0x1234
