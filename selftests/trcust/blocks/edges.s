# SPDX-License-Identifier: GPL-2.0
# Where straight lines of code begin and end.
	.text

	.globl edges
	.type edges, @function
edges:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	mov %edi, %ebx
	test %edi, %edi
	je 2f
	nop
1:	add $1, %ebx
	call edges
	mov %eax, %ecx
	cmp $3, %edi
	ja 2f
	lea table(%rip), %rdx
	movslq (%rdx,%rdi,4), %rax
	add %rdx, %rax
	jmp *%rax
3:	nop
4:	nop
	jmp 1b
2:	ud2
5:	mov %ebx, %eax
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size edges, . - edges
	int3

	.globl unknown
	.type unknown, @function
unknown:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	mov (%rdi), %rax
	jmp *%rax
	nop
	pop %rbx
	.cfi_adjust_cfa_offset -8
	nop
	ret
	.cfi_endproc
	.size unknown, . - unknown

	# labels are put into memory, as an interpreter does with its program
	.globl threaded
	.type threaded, @function
threaded:
	.cfi_startproc
	test %rsi, %rsi
	jne 9f
	lea 10f(%rip), %rax
	mov %rax, (%rdi)
	ret
9:	mov (%rdi), %rax
	jmp *%rax
	nop
10:	mov %rsi, %rax
	ret
	.cfi_endproc
	.size threaded, . - threaded

	# the unwinder enters in the middle
	.globl landing
	.type landing, @function
landing:
	.cfi_startproc
	.cfi_lsda 0x1b, pads
	push %rbx
	.cfi_adjust_cfa_offset 8
	call edges
	nop
	mov %eax, %ebx
6:	mov %ebx, %eax
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size landing, . - landing

	.section .gcc_except_table, "a"
pads:	.byte 0xff, 0xff, 1
	.uleb128 8f - 7f
7:	.uleb128 0
	.uleb128 6
	.uleb128 6b - landing
	.uleb128 0
8:
	.section .rodata
	.balign 4
table:
	.long 3b - table, 4b - table, 5b - table, 3b - table, 0
