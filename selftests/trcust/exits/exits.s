# SPDX-License-Identifier: GPL-2.0
# Ways out of functions. The labels NAME_exit... are where sites must be,
# NAME_tail... where sites without a return value must be.
	.text

	.macro function name
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	.endm
	.macro end name
	.cfi_endproc
	.size \name, . - \name
	int3
	.endm

function callee
callee_exit:
	ret
end callee

# over the whole epilogue
function popping
	push %rbx
	.cfi_adjust_cfa_offset 8
	push %r12
	.cfi_adjust_cfa_offset 8
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	call callee
popping_exit:
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	pop %r12
	.cfi_adjust_cfa_offset -8
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
end popping

# calls itself at its end: its frame is made anew, as for any other call
function again
	push %rbx
	.cfi_adjust_cfa_offset 8
	mov %edi, %ebx
	call callee
	lea -1(%rbx), %edi
	test %ebx, %ebx
	jne again_tail
	.cfi_remember_state
again_exit:
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
again_tail:
	.cfi_restore_state
	pop %rbx
	.cfi_adjust_cfa_offset -8
	jmp again
end again

# a loop: there is no frame that is given back
function round
	test %edi, %edi
	je round_exit
	dec %edi
	jmp round
round_exit:
	ret
end round

function leaving
	push %rbp
	mov %rsp, %rbp
	call callee
leaving_exit:
	leave
	ret
end leaving

function leaving_by_hand
	push %rbp
	mov %rsp, %rbp
	push %rbx
	call callee
leaving_by_hand_exit:
	lea -8(%rbp), %rsp
	pop %rbx
	mov %rbp, %rsp
	pop %rbp
	ret
end leaving_by_hand

# callee-saved registers loaded from where they were saved
function loading
	push %rbp
	.cfi_adjust_cfa_offset 8
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	push %rbx
	push %r12
	call callee
	mov %ebx, %eax
loading_exit:
	mov -16(%rbp), %r12
	mov -8(%rbp), %rbx
	leave
	ret
end loading

function loading_by_stack
	sub $40, %rsp
	mov %rbx, 16(%rsp)
	mov %r15, 24(%rsp)
	call callee
loading_by_stack_exit:
	mov 16(%rsp), %rbx
	xor %eax, %eax
	mov 24(%rsp), %r15
	add $40, %rsp
	ret
end loading_by_stack

# ... a variable, whose register is restored after that; no such register; less
# than one
function loading_others
	push %rbx
	sub $16, %rsp
	test %edi, %edi
	je 1f
	js 2f
	mov 8(%rsp), %rbx
loading_others_exit1:
	add $16, %rsp
	pop %rbx
	ret
1:	mov 8(%rsp), %rcx
loading_others_exit2:
	add $16, %rsp
	pop %rbx
	ret
2:	mov 16(%rsp), %ebx
loading_others_exit3:
	add $24, %rsp
	ret
end loading_others

# ... and what leads to the caller's frame
function realigned
	lea 8(%rsp), %rcx
	and $-32, %rsp
	push -8(%rcx)
	push %rbp
	mov %rsp, %rbp
	push %rbx
	push %rcx
	call callee
realigned_exit:
	mov -16(%rbp), %rcx
	mov -8(%rbp), %rbx
	leave
	lea -8(%rcx), %rsp
	ret
end realigned

# other forms of the instruction
function forms
	test %edi, %edi
	je 1f
	js 2f
	jp 3f
	nop
forms_exit1:
	ret $16
1:	nop
forms_exit2:
	rep ret
2:	nop
forms_exit3:
	bnd ret
3:	nop
forms_exit4:
	lretl
end forms

# the return value is set on the way, from what is known before
function value_between
	push %rbx
	sub $16, %rsp
	call callee
value_between_exit:
	add $16, %rsp
	mov %ebx, %eax
	pop %rbx
	ret
end value_between

function value_of_frame
	push %rbx
	sub $16, %rsp
	call callee
value_of_frame_exit:
	add $8, %rsp
	mov (%rsp), %rax
	lea 1(%rax), %eax
	add $8, %rsp
	pop %rbx
	ret
end value_of_frame

# ... and from what isn't
function value_of_memory
	push %rbx
	sub $16, %rsp
	call callee
	add $16, %rsp
	mov (%rbx), %rax
value_of_memory_exit:
	pop %rbx
	ret
end value_of_memory

function value_of_flags
	sub $16, %rsp
	call callee
	test %ebx, %ebx
	lea 16(%rsp), %rsp
	sete %al
value_of_flags_exit:
	ret
end value_of_flags

# the other register of a result has to be set
function value_wide
	push %rbx
	sub $16, %rsp
	call callee
	add $16, %rsp
	mov %ebx, %edx
value_wide_exit:
	pop %rbx
	ret
end value_wide

# jumps into the middle, from where the frame is in part given back
function joined
	push %rbx
	test %edi, %edi
	je 2f
	push %r12
	call callee
joined_exit1:
	pop %r12
1:	pop %rbx
	ret
2:	call callee
joined_exit2:
	jmp 1b
end joined

# ... of which one comes after an epilogue of its own
function joined_twice
	push %rbx
	push %r12
	push %r13
	test %edi, %edi
	jne 2f
	js 3f
joined_twice_exit1:
	pop %r13
1:	pop %r12
	mov $1, %eax
	pop %rbx
	ret
2:	call callee
joined_twice_exit2:
	pop %r13
	jmp 1b
3:	call callee
joined_twice_exit3:
	add $8, %rsp
	jmp 1b
end joined_twice

# ... or that may be passed
function joined_by_branch
	push %rbx
	test %edi, %edi
	je 2f
	push %r12
	call callee
	pop %r12
1:
joined_by_branch_exit:
	pop %rbx
	ret
2:	call callee
	test %eax, %eax
	jne 1b
	jmp 1b
end joined_by_branch

function value_popped
	push %rax
	call callee
	pop %rax
value_popped_exit:
	ret
end value_popped

function upper
	vxorps %ymm0, %ymm0, %ymm0
	vzeroupper
upper_exit:
	ret
end upper

# allocating isn't giving back
function growing
	lea -32(%rsp), %rsp
	sub $8, %rsp
	add $-8, %rsp
growing_exit:
	sub $-128, %rsp
	ret
end growing

# two ways meet inside the epilogue
function meeting
	push %rbx
	test %edi, %edi
	je 1f
	push %r12
	call callee
	pop %r12
1:
meeting_exit:
	pop %rbx
	ret
end meeting

function meeting_at_ret
	test %edi, %edi
	je 1f
	push %rbx
	call callee
	pop %rbx
1:
meeting_at_ret_exit:
	ret
end meeting_at_ret

# a call that leads into the epilogue (32-bit code finds its address so)
function called_inside
	push %rbx
	call 1f
	pop %rbx
1:
called_inside_exit:
	pop %rcx
	ret
end called_inside

# tail calls
function tail_direct
	test %edi, %edi
	je 1f
	nop
tail_direct_exit:
	ret
1:	mov $1, %edi
tail_direct_tail:
	jmp callee
end tail_direct

function tail_popping
	push %rbx
	.cfi_adjust_cfa_offset 8
	call callee
	mov %ebx, %edi
tail_popping_tail:
	pop %rbx
	.cfi_adjust_cfa_offset -8
	jmp callee
end tail_popping

function tail_pointer
	mov %rdi, %rax
tail_pointer_tail:
	jmp *%rax
end tail_pointer

function tail_virtual
	mov (%rdi), %rax
tail_virtual_tail:
	jmp *24(%rax)
end tail_virtual

function tail_plt
	nop
tail_plt_tail:
	jmp *outside@GOTPCREL(%rip)
end tail_plt

function tail_table
	lea pointers(%rip), %rdx
	mov %edi, %edi
tail_table_tail:
	jmp *(%rdx,%rdi,8)
end tail_table

# tables that stay inside
function by_distance
	cmp $1, %edi
	ja 1f
	lea distances(%rip), %rdx
	movslq (%rdx,%rdi,4), %rax
	add %rdx, %rax
	jmp *%rax
2:	mov $7, %eax
by_distance_exit1:
	ret
3:	mov $8, %eax
by_distance_exit2:
	ret
1:	xor %eax, %eax
by_distance_exit3:
	ret
end by_distance

function by_distance_marked
	mov distances(%rip), %rax
	notrack jmp *%rax
	mov $7, %eax
by_distance_marked_exit:
	ret
end by_distance_marked

function by_label
	lea labels(%rip), %rcx
	jmp 2f
1:	movzbl (%rdi), %edx
	mov (%rcx,%rdx,8), %rdx
	inc %rdi
2:	jmp *%rdx
	nop
by_label_exit:
	ret
end by_label

# with a frame nothing is a tail call
function by_frame
	push %rbx
	.cfi_adjust_cfa_offset 8
	mov %rdi, %rax
	jmp *%rax
	mov $1, %ebx
by_frame_exit1:
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_adjust_cfa_offset 8
	mov $2, %ebx
by_frame_exit2:
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
end by_frame

# a switch without a frame may lead to where the frame is gone
function by_frameless
	mov $1, %ecx
	notrack jmp *%rax
	push %rbx
	.cfi_adjust_cfa_offset 8
	call callee
	pop %rbx
	.cfi_adjust_cfa_offset -8
by_frameless_exit:
	ret
end by_frameless

# cold code, before the function in the file and after it
	.section .text.unlikely,"ax",@progbits
	.type split.cold, @function
split.cold:
	.cfi_startproc
	test %esi, %esi
	je split_back
	nop
split_exit1:
	ret
	.cfi_endproc
	.size split.cold, . - split.cold
	int3
	.text
function split
	test %edi, %edi
	jne split.cold
split_back:
	nop
split_exit2:
	ret
end split

# a call that doesn't return, padding, a trap
function stopping
	test %edi, %edi
	jne 1f
	nop
stopping_exit:
	ret
1:	call callee
	nop
	nop
end stopping

function trapping
	test %edi, %edi
	jne 1f
	nop
trapping_exit:
	ret
1:	ud2
end trapping

# a jump over a prefix
function over_prefix
	test %edi, %edi
	je 1f
	.byte 0xf0
1:	incl (%rsi)
over_prefix_exit:
	ret
end over_prefix

# into the next function
function falling
	test %edi, %edi
	je callee
falling_tail:
	inc %edi
	.cfi_endproc
	.size falling, . - falling
function fallen
	nop
fallen_exit:
	ret
end fallen

# data that look like code, after a jump
function data_inside
	jmp 1f
	pop %rbx
	ret
	.byte 0xc3, 0x06, 0x48
1:	nop
data_inside_exit:
	ret
end data_inside

# its first instruction leaves
function at_once
at_once_tail:
	jmp callee
end at_once

# goes round
function rounds
	nop
	dec %edi
	jne rounds
rounds_exit:
	ret
end rounds

	.section .data.rel.ro,"aw",@progbits
pointers:
	.quad callee, callee
labels:
	.quad by_label_exit, by_label_exit
	.section .rodata,"a",@progbits
distances:
	.long 2b - distances, 3b - distances
	.section .note.GNU-stack,"",@progbits
