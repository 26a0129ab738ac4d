/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of symbols and of thread-local variables, as expressions of a TDF. */
#ifndef TRCUST_DWARF_SYMBOL_H
#define TRCUST_DWARF_SYMBOL_H

#include "lib/formats/bytes.h"
#include "dwarf_file.h"

/* Where the module finds a symbol of its own or of another module; `address` (or
 * 0) is where its debug information has it. */
int dwarf_symbol_emit(struct dwarf_file *dwarf, const char *name,
		      uint64_t address, struct bytes *rpn, struct error *err);
/* From the operand of DW_OP_form_tls_address to the offset in the module's
 * block. */
int dwarf_thread_offset(struct dwarf_file *dwarf, uint64_t *offset,
			struct error *err);
/* A thread-local variable by its offset in the module's block. */
int dwarf_thread_emit(struct dwarf_file *dwarf, uint64_t offset,
		      struct bytes *rpn, struct error *err);

#endif
