/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Debug information may say that a parameter is still in the register that it
 * came in where the compiler has put something else there already.
 */
#ifndef TRCUST_OVERWRITTEN_H
#define TRCUST_OVERWRITTEN_H

#include "lib/debug/dwarf/dwarf.h"
#include "compile.h"

/*
 * The place of a variable at the site. At one that is no later than the first
 * statement of its function a parameter has the value that the caller gave: a
 * part whose register another value was put in becomes a register that has a
 * copy, or absent. At later ones a part of a structure is absent whose register
 * may have been written to. 0; -ENODATA with err set: all of it is absent;
 * -ENOMEM.
 */
int overwritten_settle(const struct compilation *c,
		       const struct compile_site *site,
		       const struct dwarf_variable *variable,
		       struct place *place, struct error *err);

#endif
