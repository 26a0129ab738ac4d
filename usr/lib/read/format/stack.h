/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An item RAS_ITEM_STACK as text, a line for each frame, innermost first; its
 * addresses are return addresses. Functions that were inlined there have lines of
 * their own, and the next one the line of the call:
 *
 *	                    square (inlined) app.c:12
 *	  00007F12AB34CD56  work+0x14 app.c:33 (app)
 *	  00007F12AB34CD56  libc.so.6+0x29D90
 *	  (stopped: no frame pointer)
 */
#ifndef LIB_READ_STACK_H
#define LIB_READ_STACK_H

#include <rastrace/buffer.h>
#include <stddef.h>
#include "lib/debug/symbols/symbols.h"
#include "lib/read/process_table.h"

/*
 * Names of addresses: process_table.h has what was mapped there,
 * lib/debug/symbols the symbol and source line. Without a symbol the name is
 * module and offset. Several threads may ask at once.
 *
 *	malloc+0x1A (libc.so.6)
 *	work+0x14 app.c:33 (app)
 *	libc.so.6+0x29D90
 */

#define SYMBOLS_NAME_MAX	512	/* characters of an address's name */

/* The place of an address of pid, or of the kernel (PROCESS_KERNEL); module is
 * NULL when nothing was mapped there. Strings are valid until
 * symbols_close(). */
struct symbols_place symbols_find(struct symbols *symbols,
				  const struct process_table *table,
				  uint32_t pid, uint64_t address);
/* The place of a return address: symbol and line are those of the call before
 * it, which may be the last instruction of its function. */
struct symbols_place symbols_find_caller(struct symbols *symbols,
					 const struct process_table *table,
					 uint32_t pid, uint64_t address);

/* Of a place with inlined functions: become that of the innermost one's call. */
void symbols_place_outwards(struct symbols_place *place);

#define STACK_LINE_MAX	(SYMBOLS_NAME_MAX + 32)
#define STACK_INLINED_LINES	16	/* that have room in any case */
/* Room for the text of so many bytes of addresses */
#define STACK_ROOM(n)	(((n) / 8 + 3 + STACK_INLINED_LINES) * STACK_LINE_MAX)

/* Whose addresses are named. */
struct stack_owner {
	const struct process_table *processes;	/* NULL: none is known */
	uint32_t pid;
	struct symbols *symbols;	/* NULL: by module and offset only */
};

/* The frames of n bytes at `data`, each line with a line end in front; at most
 * STACK_ROOM(n). */
char *stack_put(struct stack_owner owner, struct ras_stack stack,
		const uint8_t *data, size_t n, char *p);
/* The lines of one frame, each with `indent` in front, which begins with a line end;
 * at most STACK_ROOM(8). */
char *stack_put_frame(struct stack_owner owner, uint64_t address,
		      const char *indent, char *p);
/* Its name (above), or "0x7F12AB34CD56" when it lies nowhere. */
char *stack_put_address(struct stack_owner owner, uint64_t address, char *p);

/*
 * What --context put between a record's header and its data, as lines below
 * the header line:
 *
 *	Comm [bash]  UID [1000]  GID [1000]  Cgroup [4711]  CPU [3]  PPID [33/0x0021]
 *	Stack, innermost first:
 *	  00007F12AB34CD56  libc.so.6+0x29D90
 *	  (stopped: no frame pointer)
 */

struct context {
	size_t bytes;		/* of it, in front of the data */
	bool misfit;		/* the record is too short for it */
	uint32_t mask;		/* what was asked for: without RAS_CONTEXT_NAME */
	const char *name;	/* of the thread, not terminated when it has 16
				 * bytes; NULL: not there */
	const uint8_t *fixed;	/* of the mask, what isn't the stack */
	const uint8_t *stack;	/* the addresses; NULL: none */
	size_t stack_bytes;
	struct ras_stack stack_end;
	uint64_t began;		/* a whole call: CLOCK_BOOTTIME, ns; else 0 */
};

/* What the thread had published for OpenTelemetry; false: not asked for. */
bool context_otel(const struct context *c, struct ras_otel *otel);
/* Why there are no ids: "none", "being changed" ...; NULL: there are. */
const char *context_otel_lack(const struct ras_otel *otel);

/* context_of() of a mask that isn't 0, or a whole call. */
struct context context_find(const struct ras_record *record, uint32_t mask);

/* What the record has of the session's mask. */
static inline struct context context_of(const struct ras_record *record,
					uint32_t mask)
{
	return mask || record->flags & RAS_RECORD_WHOLE ?
		       context_find(record, mask) : (struct context){ 0 };
}

/* Room that context_put() takes. */
size_t context_room(const struct context *context);
char *context_put(const struct context *context, struct stack_owner owner,
		  char *p);

#endif
