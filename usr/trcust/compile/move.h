/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The values that statements log at one address of a block, had at another
 * one: registers are where the instructions between have put them, or changed
 * by what these add; memory that these write is taken from what is written, or
 * not at all. What can't be shown to be the same isn't moved.
 */
#ifndef TRCUST_MOVE_H
#define TRCUST_MOVE_H

#include <rastrace/tdf.h>
#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"
#include "lib/formats/bytes.h"

enum move_mode {
	MOVE_NEVER,		/* --site=exact */
	MOVE_SAFE,		/* over nothing that may fault: no record more,
				 * none less */
	MOVE_FAST,		/* over reads and writes of memory, too, that
				 * end the program when they fault */
};

struct move;

/*
 * Statements have the values before the instruction `nominal` of the block, and
 * are moved to before the instruction `site`; a `site` of block->count, after a
 * return, is what the kernel's return probe finds. NULL: not possible, why in
 * *why ("mov %rax, (%rdi) may fault", cut to MOVE_WHY), or *why empty: no
 * memory.
 */
#define MOVE_WHY	160
struct move *move_begin(const struct block *block, struct module *module,
			struct dwarf_file *dwarf, enum move_mode mode,
			size_t nominal, size_t site, char *why);
void move_end(struct move *move);

/*
 * One statement: *out has the same value at the site; its expressions are
 * appended to *rpn. `table`: that of the statement's own expressions, not the
 * bytes of *rpn. 0; 1: not possible, why as above; -ENOMEM.
 */
int move_stmt(struct move *move, const struct tdf_stmt *in,
	      const uint8_t *table, struct tdf_stmt *out, struct bytes *rpn,
	      char *why);

/* Appends what the register has at the nominal address, computed at the site.
 * 0, 1, -ENOMEM as above. */
int move_register(struct move *move, unsigned int number, struct bytes *rpn,
		  char *why);

#endif
