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

/* The callee-saved registers that the instruction loads from the frame, a bit
 * for each DWARF number; and all registers that it writes. */
uint32_t restored_loads(const struct arch *arch,
			const struct arch_effect *effect);
uint32_t restored_writes(const struct arch_effect *effect);

/* Why a value that is at `place` isn't there: it is in a register that the code
 * before the nominal address has restored. */
int restored_check(const struct compilation *c, const struct compile_site *site,
		   const struct place *place, struct error *err);

/* What is wrong for parameters and for slots in the frame is put right. */
int settle_place(const struct compilation *c, const struct compile_site *site,
		 const struct dwarf_variable *variable, struct place *place,
		 struct error *err);

#endif
