/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DWARF expressions (DWARF 5 section 2.5) as expressions of a TDF: what only
 * the compiler's output knows (frame base, CFA, indices into other sections,
 * types of operands) is resolved, the rest is computed at the probe.
 *
 * All functions here append what pushes one value to rpn, and return 0;
 * -ENODATA with the reason in err->text when a probe can't compute it;
 * -EINVAL: damaged, with err->text as well; -ENOMEM. After a failure rpn has
 * garbage after what it had.
 */
#ifndef TRCUST_DWARF_EXPRESSION_H
#define TRCUST_DWARF_EXPRESSION_H

#include "lib/formats/bytes.h"
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

/* attr: what the operations were read from; NULL: call frame information. */
int dwarf_expression_emit(const struct dwarf_context *context,
			  Dwarf_Attribute *attr, const Dwarf_Op *ops,
			  size_t count, struct bytes *rpn, struct error *err);

/* A register + displacement in the context itself. */
int dwarf_frame_own_emit(const struct dwarf_context *context,
			 unsigned int number, int64_t displacement,
			 struct bytes *rpn, struct error *err);
/* The canonical frame address at pc, computed from the registers there; `dwarf`
 * may be NULL: .eh_frame of the module will do. */
int dwarf_frame_address_emit(struct dwarf_file *dwarf, struct module *module,
			     uint64_t pc, struct bytes *rpn, struct error *err);

/* The operations of the frame base (DW_AT_frame_base) at the context's pc. */
bool dwarf_frame_base_find(const struct dwarf_context *context,
			   Dwarf_Attribute *attr, Dwarf_Op **ops,
			   size_t *count);
/* The frame base is what that register holds once the prologue has run. */
bool dwarf_frame_base_register(const struct dwarf_context *context,
			       unsigned int *number);

#endif
