// SPDX-License-Identifier: GPL-2.0
/*
 * Frames by call frame information (DWARF 5 section 6.4): that of .eh_frame of
 * the module, or, where it has none, of .debug_frame.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include "lib/debug/arch/arch.h"
#include "dwarf_die.h"
#include "dwarf_expression.h"
#include "lib/formats/rpn_emit.h"

struct dwarf_frames {
	Dwarf_CFI *eh_frame;	/* ours */
	Dwarf_CFI *debug_frame;	/* libdw's */
};

void dwarf_frames_free(struct dwarf_file *dwarf)
{
	struct dwarf_frames *frames = dwarf->frames;

	if (frames && frames->eh_frame)
		dwarf_cfi_end(frames->eh_frame);
	free(frames);
	dwarf->frames = NULL;
}

/* The frame's state at the context's pc, to be freed */
static int frame_find(const struct dwarf_context *context, Dwarf_Frame **frame,
		      struct error *err)
{
	struct dwarf_file *dwarf = context->dwarf;
	struct dwarf_frames *frames = dwarf->frames;

	*frame = NULL;
	if (!frames) {
		frames = calloc(1, sizeof(*frames));
		if (!frames)
			return error_no_memory(err);
		frames->eh_frame = dwarf_getcfi_elf(dwarf->module->elf);
		if (dwarf->dwarf)
			frames->debug_frame = dwarf_getcfi(dwarf->dwarf);
		dwarf->frames = frames;
	}
	if ((frames->eh_frame && !dwarf_cfi_addrframe(frames->eh_frame,
						      context->pc, frame)) ||
	    (frames->debug_frame && !dwarf_cfi_addrframe(frames->debug_frame,
							 context->pc, frame)))
		return 0;
	return error_set(err, -ENODATA, "it is in the stack frame, of which "
			 "the module has no description");
}

int dwarf_frame_cfa_emit(const struct dwarf_context *context,
			 struct bytes *rpn, struct error *err)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t count;
	int code = frame_find(context, &frame, err);

	if (code)
		return code;
	if (dwarf_frame_cfa(frame, &ops, &count) || !count)
		code = error_set(err, -ENODATA, "it is in the stack frame, "
				 "which isn't known here");
	else
		code = dwarf_expression_emit(context, NULL, ops, count, rpn,
					     err);
	free(frame);
	return code;
}

int dwarf_frame_address_emit(struct dwarf_file *dwarf, struct module *module,
			     uint64_t pc, struct bytes *rpn, struct error *err)
{
	struct dwarf_file bare = { .module = module };
	struct dwarf_context context = {
		.dwarf = dwarf ? dwarf : &bare, .pc = pc,
	};
	int code = dwarf_frame_cfa_emit(&context, rpn, err);

	dwarf_frames_free(&bare);
	return code;
}

/* The operations of the frame base at the context's pc */
static bool dwarf_frame_base_find(const struct dwarf_context *context,
				  Dwarf_Attribute *attr, Dwarf_Op **ops,
				  size_t *count)
{
	Dwarf_Die function = context->function;

	return function.addr &&
	       dwarf_attr_integrate(&function, DW_AT_frame_base, attr) &&
	       dwarf_getlocation_addr(attr, context->pc, ops, count, 1) == 1 &&
	       *count;
}

/* The frame base may be named as a register, which means what it holds. */
int dwarf_frame_base_emit(const struct dwarf_context *context,
			  struct bytes *rpn, struct error *err)
{
	Dwarf_Attribute attr;
	unsigned int number;
	size_t count;
	Dwarf_Op *ops;

	if (!dwarf_frame_base_find(context, &attr, &ops, &count))
		return error_set(err, -ENODATA, "it is in the stack frame, "
				 "which isn't known here");
	if (count == 1 && dwarf_op_register(ops, &number))
		return dwarf_frame_own_emit(context, number, 0, rpn, err);
	return dwarf_expression_emit(context, &attr, ops, count, rpn, err);
}

bool dwarf_frame_base_register(const struct dwarf_context *context,
			       unsigned int *number)
{
	Dwarf_Attribute attr;
	size_t count;
	Dwarf_Op *ops;

	return dwarf_frame_base_find(context, &attr, &ops, &count) &&
	       count == 1 && dwarf_op_register(ops, number);
}

/* Where the frame's description has the register, as the caller sees it */
static int frame_rule_emit(const struct dwarf_context *context,
			   const Dwarf_Op *ops, size_t count,
			   struct bytes *rpn, struct error *err)
{
	bool wide = dwarf_is_wide(context->dwarf);
	unsigned int number;
	int code;

	if (count == 1 && dwarf_op_register(ops, &number))
		return dwarf_frame_own_emit(context, number, 0, rpn, err);
	if (ops[count - 1].atom == DW_OP_stack_value)
		return dwarf_expression_emit(context, NULL, ops, count - 1,
					     rpn, err);
	code = dwarf_expression_emit(context, NULL, ops, count, rpn, err);
	if (!code)
		rpn_emit_deref(rpn, wide ? 8 : 4);
	return code;
}

/* Without a rule the calling convention decides; libdw 0.188 takes rax for
 * rbx there. A register for the return address has it still, unless the rule is
 * that it is lost (then there are operations, none). */
int dwarf_frame_register_emit(const struct dwarf_context *context,
			      unsigned int number, struct bytes *rpn,
			      struct error *err)
{
	const struct arch *arch = context->dwarf->module->arch;
	Dwarf_Op memory[3], *ops;
	Dwarf_Frame *frame;
	size_t count;
	int code = frame_find(context, &frame, err);

	if (code)
		return code;
	if (dwarf_frame_register(frame, number, memory, &ops, &count))
		code = error_set(err, -ENODATA, "the description of its frame "
				 "is damaged");
	else if (count)
		code = frame_rule_emit(context, ops, count, rpn, err);
	else if (arch_register_is_kept(arch, number) ||
		 (!ops && (int)number == arch->link))
		code = dwarf_frame_own_emit(context, number, 0, rpn, err);
	else
		code = error_set(err, -ENODATA, "the caller's register isn't "
				 "kept");
	free(frame);
	return code;
}

int dwarf_frame_return_emit(const struct dwarf_context *context,
			    struct bytes *rpn, struct error *err)
{
	Dwarf_Frame *frame;
	int code = frame_find(context, &frame, err), number;

	if (code)
		return code;
	number = dwarf_frame_info(frame, NULL, NULL, NULL);
	free(frame);
	if (number < 0)
		return error_set(err, -ENODATA, "its caller isn't known here");
	return dwarf_frame_register_emit(context, number, rpn, err);
}

int dwarf_frame_own_emit(const struct dwarf_context *context,
			 unsigned int number, int64_t displacement,
			 struct bytes *rpn, struct error *err)
{
	const struct arch *arch = context->dwarf->module->arch;
	char name[16];
	int code;

	if (context->callee) {
		code = dwarf_frame_register_emit(context->callee, number, rpn,
						 err);
		if (!code)
			rpn_emit_add(rpn, displacement, true);
		return code;
	}
	if (!arch_register_print(arch, number, name, sizeof(name)))
		return error_set(err, -ENODATA, "held in %s, which a probe "
				 "can't read", name);
	rpn_emit_register(rpn, number, displacement);
	return 0;
}
