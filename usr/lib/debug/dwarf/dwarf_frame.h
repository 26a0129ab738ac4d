/* SPDX-License-Identifier: GPL-2.0 */
/* Frames of functions: their description, without computing with it. */
#ifndef TRCUST_DWARF_FRAME_H
#define TRCUST_DWARF_FRAME_H

#include "lib/error.h"
#include "dwarf_file.h"

/* The frame that an expression is evaluated in. */
struct dwarf_context {
	struct dwarf_file *dwarf;
	uint64_t pc;
	Dwarf_Die function;	/* the out-of-line one around pc; addr NULL:
				 * not known */
	/* NULL: the registers are those of the probe. Else this is the frame
	 * that called that one, pc is inside the call. */
	const struct dwarf_context *callee;
	unsigned int nesting;	/* of expressions */
	unsigned int calls;	/* from the probed function outwards */
	char *entry_name;	/* out, 16 bytes: the register whose value at
				 * entry is part of it */
};

/* The description of the frame at the context's pc, to be freed. 0, -ENODATA:
 * there is none, or -ENOMEM, with err set. */
int dwarf_frame_find(const struct dwarf_context *context, Dwarf_Frame **frame,
		     struct error *err);
void dwarf_frames_free(struct dwarf_file *dwarf);

/* The operations of the frame base (DW_AT_frame_base) at the context's pc. */
bool dwarf_frame_base_find(const struct dwarf_context *context,
			   Dwarf_Attribute *attr, Dwarf_Op **ops,
			   size_t *count);
/* The frame base is what that register holds once the prologue has run. */
bool dwarf_frame_base_register(const struct dwarf_context *context,
			       unsigned int *number);

#endif
