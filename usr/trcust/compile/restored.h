/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers that a function gives back as it found them (callee-saved ones): it
 * saves them in its frame and loads them again before it returns. From that
 * load on they have the caller's values, whatever the debug information says:
 * gcc describes a `register` variable of -O0 by one location for the whole
 * function.
 */
#ifndef TRCUST_RESTORED_H
#define TRCUST_RESTORED_H

#include "compile.h"
#include "lib/debug/arch/arch.h"

/* The callee-saved registers that the instruction loads from the frame, a bit
 * for each DWARF number; and all registers that it writes. */
uint32_t restored_loads(const struct arch *arch,
			const struct arch_effect *effect);
uint32_t restored_writes(const struct arch_effect *effect);

/*
 * Why a value that is at `place` isn't there at the site: it is in a register
 * that the code before the nominal address has restored. 0; -ENODATA, with the
 * reason in err->text; -ENOMEM.
 */
int restored_check(const struct compilation *c, const struct compile_site *site,
		   const struct place *place, struct error *err);

#endif
