/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An item RAS_ITEM_STACK as text, a line for each frame, innermost first; its
 * addresses are return addresses:
 *
 *	  00007F12AB34CD56  work+0x14 app.c:33 (app)
 *	  00007F12AB34CD56  libc.so.6+0x29D90
 *	  (stopped: no frame pointer)
 */
#ifndef LIB_READ_STACK_H
#define LIB_READ_STACK_H

#include <rastrace/buffer.h>
#include "address_name.h"

#define STACK_LINE_MAX	(SYMBOLS_NAME_MAX + 32)

/* Whose addresses are named. */
struct stack_owner {
	const struct process_table *processes;	/* NULL: none is known */
	uint32_t pid;
	struct symbols *symbols;	/* NULL: by module and offset only */
};

/* "(stopped: no frame pointer)", at most 64 characters. */
const char *stack_end_text(uint8_t end);
/* The frames of n bytes at `data`, each line with a line end in front; at most
 * STACK_LINE_MAX for each 8 bytes and one more. */
char *stack_put(struct stack_owner owner, struct ras_stack stack,
		const uint8_t *data, size_t n, char *p);
/* Its name (address_name.h), or "0x7F12AB34CD56" when it lies nowhere. */
char *stack_put_address(struct stack_owner owner, uint64_t address, char *p);

#endif
