/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a function's value is when it returns, by the calling convention of its
 * language: System V on x86-64 and i386, AAPCS64 on AArch64; in Rust by how
 * rustc lays types out. What does not follow from the type is refused.
 */
#ifndef TRCUST_DWARF_RESULT_H
#define TRCUST_DWARF_RESULT_H

#include "dwarf_file.h"
#include "lib/error.h"

#define DWARF_RESULT_PARTS	16

struct dwarf_result {
	/* in memory: the first register for results has its address */
	bool in_memory;
	/* else so many of its bytes, ascending; those between are padding */
	unsigned int count;
	struct dwarf_result_part {
		uint8_t offset, bytes;
		unsigned int reg;	/* DWARF number */
		uint8_t skip;		/* bytes of the register before it */
	} parts[DWARF_RESULT_PARTS];
};

/* The type is one of the function's unit, and complete. 0; -ENODATA: nothing
 * has it that can be read, err is why. */
int dwarf_result_find(const struct dwarf_file *dwarf, Dwarf_Die *function,
		      const Dwarf_Die *type, struct dwarf_result *result,
		      struct error *err);

/* LLVM knows all calls of a function that no other file sees. When none uses the
 * result, nothing is returned. Since version 18 at the latest this is marked with
 * DW_CC_nocall, which dwarf_result_find() refuses. */
bool dwarf_result_may_be_dropped(const struct dwarf_file *dwarf,
				 Dwarf_Die *function);

/* How C++ passes and returns a class (Itanium C++ ABI 3.1): if it has a copy
 * constructor, move constructor or destructor that does something, by address.
 * In ascending order: one part decides. */
enum dwarf_copy { DWARF_COPY_BYTES, DWARF_COPY_UNKNOWN, DWARF_COPY_CALLS };
enum dwarf_copy dwarf_result_copy(const Dwarf_Die *type);

#endif
