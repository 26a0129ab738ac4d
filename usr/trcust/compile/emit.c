// SPDX-License-Identifier: GPL-2.0
#include "emit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/array.h"
#include "lib/formats/rpn.h"
#include "analysis.h"

struct tdf_stmt *emit_stmt(const struct compilation *c, struct compiled *out,
			   struct srcpos pos, const char *source)
{
	struct tdf_stmt *stmt;

	if (!array_grow(&out->stmts, out->stmt_count, &out->stmt_room,
			sizeof(*out->stmts)) ||
	    !array_grow(&out->sources, out->stmt_count, &out->source_room,
			sizeof(*out->sources))) {
		diag_no_memory(c->diag, pos);
		return NULL;
	}
	snprintf(out->sources[out->stmt_count], sizeof(*out->sources), "%s",
		 source);
	stmt = &out->stmts[out->stmt_count++];
	memset(stmt, 0, sizeof(*stmt));
	return stmt;
}

static uint32_t rpn_copy(struct bytes *all, const uint8_t *rpn, uint32_t length)
{
	uint32_t at = all->size;

	bytes_add(all, rpn, length);
	return at;
}

int emit_copy(const struct compilation *c, struct compiled *out,
	      struct srcpos pos, const struct tdf_stmt *stmt,
	      const uint8_t *table, const char *source)
{
	struct tdf_stmt *copy = emit_stmt(c, out, pos, source);

	if (!copy)
		return -1;
	*copy = *stmt;
	copy->rpn = rpn_copy(&out->rpn, table + stmt->rpn, stmt->rpn_length);
	copy->len_rpn = rpn_copy(&out->rpn, table + stmt->len_rpn,
				 stmt->len_rpn_length);
	return 0;
}

void emit_register(const struct compile_site *site, unsigned int number,
		   int64_t displacement, struct bytes *rpn)
{
	if (!site->result_rpn || number != site->result) {
		rpn_emit_register(rpn, number, displacement);
		return;
	}
	bytes_join(rpn, site->result_rpn);
	rpn_emit_add(rpn, displacement, true);
}

int emit_rpn(const struct site_stmt *s, struct srcpos pos,
	     const struct bytes *rpn, uint32_t *at, uint32_t *length)
{
	struct bytes *all = &s->out->rpn;
	char limit[32];

	*at = all->size;
	bytes_join(all, rpn);
	*length = all->size - *at;
	if (all->failed)
		return diag_no_memory(s->c->diag, pos);
	if (*length > TDF_RPN_MAX) {
		snprintf(limit, sizeof(limit), "%d bytes", TDF_RPN_MAX);
		diag_report(s->c->diag, pos, TRCERR_TPRTOOBIG, limit);
		diag_hint(s->c->diag, "it takes %u bytes", *length);
		return 1;
	}
	/* all that can be wrong with an expression that was put together here
	 * is its depth */
	if (!rpn_check(all->data + *at, *length, 1, NULL) ||
	    !rpn_check(all->data + *at, *length, 2, NULL))
		return 0;
	diag_report(s->c->diag, pos, TRCERR_RPN_OVER);
	return 1;
}

int emit_absent(const struct site_stmt *s, struct srcpos pos, const char *name,
		const char *why, bool raw)
{
	struct tdf_stmt *out;

	if (s->site->alone || raw)
		return message_absent(s->c, s->site, pos, name, why, NULL);
	out = emit_stmt(s->c, s->out, pos, why);
	if (!out)
		return -1;
	out->kind = TDF_STMT_ABSENT;
	return 0;
}

int emit_value(const struct site_stmt *s, struct srcpos pos, const char *where,
	       uint8_t kind, uint8_t flags, uint16_t length,
	       const struct bytes *rpn)
{
	struct tdf_stmt *out = emit_stmt(s->c, s->out, pos, where);

	if (!out)
		return -1;
	out->kind = kind;
	out->flags = flags;
	out->length = length;
	return emit_rpn(s, pos, rpn, &out->rpn, &out->rpn_length);
}

int emit_place(const struct site_stmt *s, struct srcpos pos, const char *name,
	       const struct place *place, uint64_t offset, uint16_t bytes,
	       bool raw)
{
	struct place part;
	const char *why;
	int code;

	if (!place_is_known(place, offset, bytes, &why))
		return emit_absent(s, pos, name, why, raw);
	code = place_slice(place, offset, bytes, &part);
	if (code == -ENOMEM)
		return diag_no_memory(s->c->diag, pos);
	if (code)
		return message_absent(s->c, s->site, pos, name,
				      "there are not so many bytes of it, "
				      "and it is not in memory", NULL);
	for (size_t i = 0; i < part.count && !code; i++)
		code = emit_value(s, pos, i ? "another piece" : part.where,
				  part.pieces[i].kind == PLACE_MEMORY ?
					  TDF_STMT_MEM : TDF_STMT_VALUE,
				  (raw ? TDF_STMT_RAW : 0) |
				  (i ? TDF_STMT_MORE : 0),
				  part.pieces[i].bytes, &part.pieces[i].rpn);
	place_free(&part);
	return code;
}
