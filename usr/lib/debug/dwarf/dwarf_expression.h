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

#include "lib/error.h"
#include "lib/formats/bytes.h"
#include "dwarf_file.h"
#include "place.h"

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

/* dwarf_frame.c: the context's canonical frame address; its frame base
 * (DW_AT_frame_base); a register as its caller will find it; the address it
 * returns to. */
int dwarf_frame_cfa_emit(const struct dwarf_context *context,
			 struct bytes *rpn, struct error *err);
int dwarf_frame_base_emit(const struct dwarf_context *context,
			  struct bytes *rpn, struct error *err);
/* The frame base is what that register holds once the prologue has run. */
bool dwarf_frame_base_register(const struct dwarf_context *context,
			       unsigned int *number);
int dwarf_frame_register_emit(const struct dwarf_context *context,
			      unsigned int number, struct bytes *rpn,
			      struct error *err);
int dwarf_frame_return_emit(const struct dwarf_context *context,
			    struct bytes *rpn, struct error *err);
/* A register + displacement in the context itself. */
int dwarf_frame_own_emit(const struct dwarf_context *context,
			 unsigned int number, int64_t displacement,
			 struct bytes *rpn, struct error *err);
void dwarf_frames_free(struct dwarf_file *dwarf);
/* The canonical frame address at pc, computed from the registers there; `dwarf`
 * may be NULL: .eh_frame of the module will do. */
int dwarf_frame_address_emit(struct dwarf_file *dwarf, struct module *module,
			     uint64_t pc, struct bytes *rpn,
			     struct error *err);

/* dwarf_entry.c: an expression as it was when the context's function was
 * entered. */
int dwarf_entry_emit(const struct dwarf_context *context,
		     Dwarf_Attribute *attr, const Dwarf_Op *ops, size_t count,
		     struct bytes *rpn, struct error *err);
/* Of a parameter that every call has, but the function doesn't take
 * (DW_OP_GNU_parameter_ref). */
int dwarf_entry_parameter_emit(const struct dwarf_context *context,
			       Dwarf_Die *parameter, struct bytes *rpn,
			       struct error *err);

/* dwarf_symbol.c: where the module finds a symbol of its own or of another
 * module; `address` (or 0) is where its debug information has it. */
int dwarf_symbol_emit(struct dwarf_file *dwarf, const char *name,
		      uint64_t address, struct bytes *rpn, struct error *err);
/* From the operand of DW_OP_form_tls_address to the offset in the module's
 * block. */
int dwarf_thread_offset(struct dwarf_file *dwarf, uint64_t *offset,
			struct error *err);
/* A thread-local variable by its offset in the module's block. */
int dwarf_thread_emit(struct dwarf_file *dwarf, uint64_t offset,
		      struct bytes *rpn, struct error *err);

/*
 * dwarf_location.c: the place that the operations, read from attr, describe (DWARF
 * 5 section 2.6). -ENODATA: all of it is absent. place is to be freed in any case.
 */
int dwarf_location_place(const struct dwarf_context *context,
			 Dwarf_Attribute *attr, const Dwarf_Op *ops,
			 size_t count, struct place *place, struct error *err);
/* The place of a constant: DW_AT_const_value, in any form. */
int dwarf_constant_place(Dwarf_Attribute *attr, struct place *place,
			 struct error *err);

#endif
