// SPDX-License-Identifier: GPL-2.0
#include "compile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/buffer.h>

/* Bytes of the registers and prefixes, which are in every record: beside them
 * there must be room for a failing pointer. */
#define FIXED_MAX	(RAS_RECORD_MAX - RAS_RECORD_HEADER - 16)

static struct tdf_stmt *compile_add_stmt(struct compilation *c)
{
	struct tdf_stmt *stmt;

	if (c->stmt_count == c->stmt_room) {
		size_t room = c->stmt_room ? c->stmt_room * 2 : 256;
		struct tdf_stmt *grown = realloc(c->stmts,
						 room * sizeof(*grown));

		if (!grown)
			return NULL;
		c->stmts = grown;
		c->stmt_room = room;
	}
	stmt = &c->stmts[c->stmt_count++];
	memset(stmt, 0, sizeof(*stmt));
	return stmt;
}

static int compile_register(struct compilation *c, const struct tsf_stmt *in,
			    struct tdf_stmt *out)
{
	int number;

	if (in->reg_is_variable) {
		diag_tell(c->diag, in->reg.pos, TRCERR_UNSUPPORTED,
			  "register variables");
		return 1;
	}
	number = address_register(c, &in->reg, &out->reg_bytes);
	if (number < 0)
		return 1;
	out->kind = TDF_STMT_REG;
	out->reg = number;
	return 0;
}

static int compile_memory(struct compilation *c, const struct tsf_stmt *in,
			  uint64_t pc, struct tdf_stmt *out)
{
	int code = 0;

	if (in->segmented) {
		diag_tell(c->diag, in->pos, TRCERR_UNSUPPORTED,
			  in->kind == TSF_MEM ? "MEM (segmented)" :
						"ASCIIZ (segmented)");
		diag_hint(c->diag, "flat addresses are logged with %s",
			  in->kind == TSF_MEM ? "MEM32" : "ASCIIZ32");
		return 1;
	}
	out->kind = in->kind == TSF_MEM ? TDF_STMT_MEM : TDF_STMT_ASCIIZ;
	out->length = in->has_len ? c->tsf->maxdata : in->length;
	if (in->has_len) {
		out->flags = TDF_STMT_LEN;
		out->len_bytes = in->len_bytes ? in->len_bytes : 2;
		code = address_compile(c, &in->len_address, &in->len_chain, pc,
				       &out->len_rpn, &out->len_rpn_length);
	}
	return code | address_compile(c, &in->address, &in->chain, pc,
				      &out->rpn, &out->rpn_length);
}

/* Which statement is one too many; NULL: none. */
static const struct tsf_stmt *find_too_many(const struct compilation *c,
					    const struct tsf_point *point,
					    size_t first_stmt)
{
	unsigned int fixed = 0;

	for (size_t i = 0; i < point->stmt_count; i++) {
		const struct tdf_stmt *stmt = &c->stmts[first_stmt + i];

		fixed += stmt->kind == TDF_STMT_REG ? stmt->reg_bytes :
						      RAS_ITEM_PREFIX;
		if (fixed > FIXED_MAX)
			return &point->stmts[i];
	}
	return NULL;
}

static int tell_too_many(struct compilation *c, const struct tsf_stmt *stmt)
{
	diag_tell(c->diag, stmt->kind == TSF_REGS ? stmt->reg.pos : stmt->pos,
		  TRCERR_TPRTOOBIG);
	diag_hint(c->diag, "at most %d registers and data statements, their "
			   "registers and prefixes at most %d bytes",
		  TDF_STMTS_MAX, FIXED_MAX);
	return 1;
}

/* All statements are looked at, so that all their errors are told. */
static int compile_stmts(struct compilation *c, const struct tsf_point *point,
			 uint64_t pc)
{
	const struct tsf_stmt *excess;
	size_t first = c->stmt_count;
	int code = 0;

	if (point->stmt_count > TDF_STMTS_MAX)
		return tell_too_many(c, &point->stmts[TDF_STMTS_MAX]);
	for (size_t i = 0; i < point->stmt_count; i++) {
		const struct tsf_stmt *in = &point->stmts[i];
		struct tdf_stmt *out = compile_add_stmt(c);

		if (!out) {
			diag_tell(c->diag, in->pos, TRCERR_NO_MEM);
			return -1;
		}
		code |= in->kind == TSF_REGS ? compile_register(c, in, out) :
					       compile_memory(c, in, pc, out);
	}
	excess = code ? NULL : find_too_many(c, point, first);
	return excess ? tell_too_many(c, excess) : code;
}

static int compile_dynamic(struct compilation *c, const struct tsf_point *in,
			   struct compile_point *out)
{
	size_t stmts = c->stmt_count, rpn = c->rpn.size;
	int code = site_resolve(c, in, &out->site);

	if (code >= 0) {
		int more = compile_stmts(c, in, out->site.nominal);

		code = more < 0 ? more : code | more;
	}
	if (!code && site_remember(c, in, &out->site)) {
		diag_tell(c->diag, in->pos, TRCERR_NO_MEM);
		code = -1;
	}
	if (code) {
		c->stmt_count = stmts;
		c->rpn.size = rpn;
		return code;
	}
	out->first_stmt = stmts;
	out->stmts = c->stmt_count - stmts;
	out->hash = data_hash(in);
	c->dynamic_count++;
	return 0;
}

static int compile_minor(struct compilation *c, const struct tsf_point *point)
{
	char text[16];

	if (!c->minor_lines[point->minor])
		return 0;
	snprintf(text, sizeof(text), "%u", point->minor);
	diag_tell(c->diag, point->minor_pos, TRCERR_DUP_MINOR, text);
	diag_hint(c->diag, "the tracepoint in line %u has it",
		  c->minor_lines[point->minor]);
	return 1;
}

static int compile_point(struct compilation *c, const struct tsf_point *in)
{
	struct compile_point *out = &c->points[c->point_count];
	int code = compile_minor(c, in);

	memset(out, 0, sizeof(*out));
	out->tsf = in;
	out->is_static = in->tp.kind == TSF_TP_STATIC;
	if (!code && !out->is_static)
		code = compile_dynamic(c, in, out);
	if (code)
		return code;
	c->minor_lines[in->minor] = in->pos.line;
	c->point_count++;
	return 0;
}

static int compile_compare(const void *a, const void *b)
{
	const struct compile_point *x = a, *y = b;

	return (int)x->tsf->minor - (int)y->tsf->minor;
}

int compile_points(struct compilation *c)
{
	int code = 0;

	c->points = calloc(c->tsf->point_count + 1, sizeof(*c->points));
	c->minor_lines = calloc(UINT16_MAX + 1, sizeof(*c->minor_lines));
	if (!c->points || !c->minor_lines) {
		diag_tell(c->diag, (struct srcpos){0}, TRCERR_NO_MEM);
		return -1;
	}
	for (size_t i = 0; i < c->tsf->point_count && code >= 0; i++)
		if (!c->tsf->points[i].discarded)
			code = compile_point(c, &c->tsf->points[i]);
	if (code < 0)
		return -1;
	qsort(c->points, c->point_count, sizeof(*c->points), compile_compare);
	return 0;
}

void compile_free(struct compilation *c)
{
	site_forget(c);
	free(c->minor_lines);
	free(c->points);
	free(c->stmts);
	bytes_free(&c->rpn);
}
