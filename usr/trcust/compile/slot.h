/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Debug information names a variable's slot in the frame for code in front of
 * the instruction that stores it there, too.
 */
#ifndef TRCUST_SLOT_H
#define TRCUST_SLOT_H

#include "lib/debug/dwarf/dwarf.h"
#include "compile.h"

/*
 * The place of a variable at the site. What is a slot that nothing has stored
 * on any way from the function's entry becomes the register that the next
 * store puts there, or absent. 0; -ENODATA with err set: all of it is absent;
 * -ENOMEM.
 */
int slot_settle(const struct compilation *c, const struct compile_site *site,
		const struct dwarf_variable *variable, struct place *place,
		struct error *err);

#endif
