/* SPDX-License-Identifier: GPL-2.0 */
/* Where the value of a variable is (DWARF 5 sections 2.5, 2.6). */
#ifndef TRCUST_DWARF_LOCATION_H
#define TRCUST_DWARF_LOCATION_H

#include "dwarf_scope.h"
#include "place.h"

/*
 * Where the variable is at pc. 0; -ENODATA with err->text: not there ("it is
 * optimized out here", "held in xmm0, which a probe can't read"); -ENOMEM;
 * -EINVAL: damaged. A place whose pieces are partly absent is a 0.
 */
int dwarf_variable_place(struct dwarf_file *dwarf,
			 const struct dwarf_variable *variable, uint64_t pc,
			 struct place *place, struct error *err);
/* The end of the range, of its location list, that has the pc, and its start; 0:
 * it has one location everywhere. */
uint64_t dwarf_variable_end(const struct dwarf_variable *variable, uint64_t pc,
			    uint64_t *start);

/* Of a variable that isn't there, the nearest lines of the
 * function where it is, as err->hint. 0 or -ENOMEM. */
int dwarf_variable_hint(struct dwarf_file *dwarf,
			const struct dwarf_variable *variable, uint64_t pc,
			struct error *err);

#endif
