// SPDX-License-Identifier: GPL-2.0
/*
 * Frames by call frame information (DWARF 5 section 6.4): that of .eh_frame of
 * the module, or, where it has none, of .debug_frame.
 */
#include "dwarf_frame.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include "dwarf_die.h"

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

int dwarf_frame_find(const struct dwarf_context *context, Dwarf_Frame **frame,
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

bool dwarf_frame_base_find(const struct dwarf_context *context,
			   Dwarf_Attribute *attr, Dwarf_Op **ops,
			   size_t *count)
{
	Dwarf_Die function = context->function;

	return function.addr &&
	       dwarf_attr_integrate(&function, DW_AT_frame_base, attr) &&
	       dwarf_getlocation_addr(attr, context->pc, ops, count, 1) == 1 &&
	       *count;
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
