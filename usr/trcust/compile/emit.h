/* SPDX-License-Identifier: GPL-2.0 */
/* Appends statements and their expressions to what was compiled. */
#ifndef TRCUST_EMIT_H
#define TRCUST_EMIT_H

#include "compile.h"

/* A statement of the TSF while it is compiled for a site. */
struct site_stmt {
	const struct compilation *c;
	struct compiled *out;
	const struct compile_site *site;
	const struct tsf_stmt *in;
	struct compile_item *item;	/* what it logs */
};

/* `source`: where its data comes from. NULL after a message at pos: no
 * memory. */
struct tdf_stmt *emit_stmt(const struct compilation *c, struct compiled *out,
			   struct srcpos pos, const char *source);
/* A copy of the statement, whose expressions are in `table`. -1 after a
 * message at pos: no memory. */
int emit_copy(const struct compilation *c, struct compiled *out,
	      struct srcpos pos, const struct tdf_stmt *stmt,
	      const uint8_t *table, const char *source);
/* Appends the register's value + displacement; at a return point the result
 * that it will have. */
void emit_register(const struct compile_site *site, unsigned int number,
		   int64_t displacement, struct bytes *rpn);
/* The expression of a statement, whose length and depth are checked: 0, 1,
 * -1. */
int emit_rpn(const struct site_stmt *s, struct srcpos pos,
	     const struct bytes *rpn, uint32_t *at, uint32_t *length);
/* An item that this site doesn't have. An error when it is the only site, or
 * `raw`. */
int emit_absent(const struct site_stmt *s, struct srcpos pos, const char *name,
		const char *why, bool raw);
/* A statement with one expression. */
int emit_value(const struct site_stmt *s, struct srcpos pos, const char *where,
	       uint8_t kind, uint8_t flags, uint16_t length,
	       const struct bytes *rpn);
/* Statements that log `bytes` of the place from `offset` on as one item; where
 * a part is absent as emit_absent(). */
int emit_place(const struct site_stmt *s, struct srcpos pos, const char *name,
	       const struct place *place, uint64_t offset, uint16_t bytes,
	       bool raw);

#endif
