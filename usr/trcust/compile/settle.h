/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The place of a variable at a site: what debug information says, which doesn't
 * see all that the code does. 0; -ENODATA with err set: all of it is absent;
 * -ENOMEM.
 */
#ifndef TRCUST_SETTLE_H
#define TRCUST_SETTLE_H

#include "compile.h"
#include "lib/debug/arch/arch.h"
#include "lib/debug/dwarf/dwarf.h"

/* The callee-saved registers that the instruction loads from the frame, a bit
 * for each DWARF number; and all registers that it writes. */
uint32_t restored_loads(const struct arch *arch,
			const struct arch_effect *effect);
uint32_t restored_writes(const struct arch_effect *effect);

/* Why a value that is at `place` isn't there: it is in a register that the code
 * before the nominal address has restored. */
int restored_check(const struct compilation *c, const struct compile_site *site,
		   const struct place *place, struct error *err);

/*
 * A parameter may be described as still in the register that it came in where
 * the compiler has put something else there already. At a site that is no later
 * than the first statement of its function it has the value that the caller
 * gave: a part whose register another value was put in becomes a register that
 * has a copy, or absent. At later ones a part of a structure is absent whose
 * register may have been written to.
 */
int overwritten_settle(const struct compilation *c,
		       const struct compile_site *site,
		       const struct dwarf_variable *variable,
		       struct place *place, struct error *err);

/*
 * A variable's slot in the frame is described for code in front of the
 * instruction that stores it there, too. A slot that nothing has stored on any
 * way from the function's entry becomes the register that the next store puts
 * there, or absent.
 */
int slot_settle(const struct compilation *c, const struct compile_site *site,
		const struct dwarf_variable *variable, struct place *place,
		struct error *err);

#endif
