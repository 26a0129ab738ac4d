# SPDX-License-Identifier: GPL-2.0
# Functions that return. A label NAME_probe is where the kernel's return probe
# may serve RETEP, REGS=(EAX); without one each exit has a probe.
	.text

	.macro begin name
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	.endm
	.macro pushed register
	push %\register
	.cfi_adjust_cfa_offset 8
	.endm
	.macro popped register
	pop %\register
	.cfi_adjust_cfa_offset -8
	.endm
	.macro end name
	.cfi_endproc
	.size \name, . - \name
	int3
	.endm

begin at_entry
at_entry_probe:
	pushed rbx
	lea 1(%rdi), %eax
	popped rbx
	ret
end at_entry

begin behind_entry
	endbr64
	mov %edi, %eax
behind_entry_probe:
	pushed rbx
	popped rbx
	ret
end behind_entry

# not the nop of 5 bytes, of which kernels make a call
begin by_a_nop
	mov %edi, %eax
	.byte 0x0f, 0x1f, 0x44, 0, 0
by_a_nop_probe:
	nop
	ret
end by_a_nop

begin all_dear
	mov %edi, %eax
	ret
end all_dear

# the address to return to is no longer where the kernel looks for it
begin behind_the_frame
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	nop
	mov %edi, %eax
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
end behind_the_frame

# its exits are cheap themselves
begin cheap_exit
	nop
	mov %edi, %eax
	test %edi, %edi
	jz 1f
	nop
1:	jmp all_dear
end cheap_exit

# another value at each exit, set late
begin two_exits
	test %edi, %edi
two_exits_probe:
	jz 1f
	mov $1, %eax
	ret
1:	pushed rbx
	mov %edi, %edx
	popped rbx
	mov %edx, %eax
	ret
end two_exits

begin tail
	nop
	test %edi, %edi
	jz all_dear
	mov %edi, %eax
	ret
end tail

begin tail_always
	nop
	test %edi, %edi
	jz 1f
	mov %edi, %eax
	ret
1:	jmp all_dear
end tail_always

begin loops
	nop
	dec %edi
	jnz loops
	mov %edi, %eax
	ret
end loops

begin again
	pushed rbx
	call again
	popped rbx
	ret
end again

begin over_others
	pushed rbx
	call and_back
	popped rbx
	ret
end over_others

begin and_back
	pushed rbx
	call over_others
	popped rbx
	ret
end and_back

begin calls_known
calls_known_probe:
	pushed rbx
	call at_entry
	popped rbx
	ret
end calls_known

# PROGRAM: of a library it isn't known what else there is
begin calls_pointer
	.ifdef PROGRAM
calls_pointer_probe:
	.endif
	pushed rbx
	call *%rdi
	popped rbx
	ret
end calls_pointer

begin reads_return
	pushed rbx
	mov 8(%rsp), %rax
	popped rbx
	ret
end reads_return

begin reads_return_by_frame
	pushed rbp
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	mov 8(%rbp), %rax
	popped rbp
	.cfi_def_cfa rsp, 8
	ret
end reads_return_by_frame

begin entered_twice
	nop
	mov %edi, %eax
	.globl inside
	.type inside, @function
inside:
	inc %eax
	ret
	.size inside, . - inside
end entered_twice

begin by_switch
by_switch_probe:
	pushed rbx
	lea 9f(%rip), %rdx
	cmp $1, %edi
	ja 1f
	movslq (%rdx,%rdi,4), %rax
	add %rdx, %rax
	notrack jmp *%rax
1:	mov $1, %eax
2:	popped rbx
	ret
end by_switch
	.section .rodata
	.balign 4
9:	.long 1b - 9b, 2b - 9b
	.text

	.ifdef SWITCHES
begin changes_stacks
	mov %rsp, (%rdi)
	mov (%rsi), %rsp
	ret
end changes_stacks
	.endif

	.globl _start
_start:
	hlt
	.data
	.globl number
	.type number, @object
	.size number, 8
number:
	.quad 1
	.section .note.GNU-stack,"",@progbits
