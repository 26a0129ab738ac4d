/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Go's calling convention (cmd/compile/abi-internal, since Go 1.17): results,
 * of which a function may have several, and which debug information has as
 * parameters without a place.
 */
#ifndef TRCUST_DWARF_GO_H
#define TRCUST_DWARF_GO_H

#include "dwarf_result.h"

/* The function is of Go's compiler, with arguments in registers; and it is not
 * generic: that has a parameter that is not in the debug information. */
bool dwarf_go_in_registers(Dwarf_Die *function);
bool dwarf_go_is_function(Dwarf_Die *function);
/* Where the runtime's g has the end of the goroutine's stack. False: the debug
 * information does not say. */
bool dwarf_go_stack_end(struct dwarf_file *dwarf,
			const struct dwarf_from *from, uint64_t *offset);
/* The entry of the result with that number, from 0 on; false: it has not so
 * many. */
bool dwarf_go_result_entry(Dwarf_Die *function, unsigned int number,
			   Dwarf_Die *result);
/* Where it is when the function returns. 0; -ENODATA, err is why. */
int dwarf_go_result_find(const struct dwarf_file *dwarf, Dwarf_Die *function,
			 unsigned int number, struct dwarf_result *result,
			 struct error *err);

#endif
