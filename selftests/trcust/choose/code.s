# SPDX-License-Identifier: GPL-2.0
# Functions of two arguments, rdi and rsi; rbx may be overwritten.
	.text

	.globl landing
	.type landing, @function
landing:
	endbr64
	push %rbp
	pop %rbp
	ret
	.size landing, . - landing

	.globl nothing
	.type nothing, @function
nothing:
	mov %rdi, %rax
	ret
	.size nothing, . - nothing

	.globl cheap
	.type cheap, @function
cheap:
	push %rbp
	pop %rbp
	ret
	.size cheap, . - cheap

	.globl copied
	.type copied, @function
copied:
	mov %rdi, %rbx
	xor %edi, %edi
	push %rbp
	pop %rbp
	ret
	.size copied, . - copied

	.globl lost
	.type lost, @function
lost:
	mov %rsi, %rdi
	push %rbp
	pop %rbp
	ret
	.size lost, . - lost

	.globl halved
	.type halved, @function
halved:
	mov %edi, %ebx
	xor %edi, %edi
	push %rbp
	pop %rbp
	ret
	.size halved, . - halved

	.globl stack
	.type stack, @function
stack:
	sub $24, %rsp
	jmp 1f
1:
	add $24, %rsp
	ret
	.size stack, . - stack

	.globl flags
	.type flags, @function
flags:
	mov %rdi, %rax
	push %rbp
	test %eax, %eax
	je 1f
1:
	pop %rbp
	ret
	.size flags, . - flags

	.globl reads
	.type reads, @function
reads:
	mov 8(%rdi), %rax
	push %rbp
	pop %rbp
	ret
	.size reads, . - reads

	.globl writes
	.type writes, @function
writes:
	mov %rsi, 8(%rdi)
	push %rbp
	pop %rbp
	ret
	.size writes, . - writes

	.globl global
	.type global, @function
global:
	mov word(%rip), %rax
	push %rbp
	pop %rbp
	ret
	.size global, . - global

	.globl target
	.type target, @function
target:
	mov $3, %eax
1:
	push %rbp
	pop %rbp
	dec %rax
	jne 1b
	ret
	.size target, . - target

	.globl calls
	.type calls, @function
calls:
	mov %rdi, %rax
	call *%rsi
	push %rbp
	pop %rbp
	ret
	.size calls, . - calls

	.globl divides
	.type divides, @function
divides:
	mov %rdi, %rax
	div %rsi
	push %rbp
	pop %rbp
	ret
	.size divides, . - divides

	.globl frame
	.type frame, @function
frame:
	push %rbp
	mov %rsp, %rbp
	mov %edi, -4(%rbp)
	mov %rsi, -16(%rbp)
	mov -4(%rbp), %eax
	pop %rbp
	ret
	.size frame, . - frame

	.globl patch
	.type patch, @function
patch:
	mov %rdi, %rax
	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00
	push %rbp
	pop %rbp
	ret
	.size patch, . - patch

	.globl bare
	.type bare, @function
bare:
	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00
	mov %rdi, %rax
	ret
	.size bare, . - bare

	.globl shared
	.type shared, @function
shared:
	mov %rdi, %rax
	push %rbp
	mov %rsp, %rbp
	push %rbx
	pop %rbx
	pop %rbp
	ret
	.size shared, . - shared

	.section .note.GNU-stack, "", @progbits
