# SPDX-License-Identifier: GPL-2.0
# Functions of which each byte is known; linked at fixed addresses.
	.text
	.globl work, fast, slow, _ZN2ns3fooEi
	.type work,@function
work:
	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00
	testq %rdi, %rdi
	je 1f
	ret
1:	jmp slow
	.size work, . - work
	.type slow,@function
slow:	movl table(%rip), %eax
	ret
	.size slow, . - slow
	.type fast,@function
fast:	pushq %rbx
	popq %rbx
	ret
	.size fast, . - fast
	.type _ZN2ns3fooEi,@function
_ZN2ns3fooEi:
	leaq 4(%rdi), %rax
	ret
	.size _ZN2ns3fooEi, . - _ZN2ns3fooEi
	.data
	.globl table
	.type table,@object
table:	.quad 1, 2
	.size table, 16
