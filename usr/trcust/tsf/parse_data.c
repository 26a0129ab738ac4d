// SPDX-License-Identifier: GPL-2.0
/* Manual 1.3.5.8 to 1.3.5.14: what a tracepoint logs. */
#include "parser.h"

#include <rastrace/buffer.h>

static struct tsf_stmt *stmt_add(struct parser *p, enum tsf_stmt_kind kind,
				 struct srcpos keyword)
{
	struct tsf_stmt *stmt = parser_append(p, &p->point->stmts,
					      &p->point->stmt_count,
					      sizeof(*stmt));

	if (stmt) {
		stmt->kind = kind;
		stmt->pos = keyword;
	}
	return stmt;
}

static void bytes_add(struct parser *p, struct srcpos pos, size_t bytes)
{
	p->now.data_bytes += bytes;
	if (p->now.data_bytes > p->tsf->maxdata && !p->now.exceeding.line)
		p->now.exceeding = pos;
}

static bool parse_register(struct parser *p, struct tsf_stmt *stmt)
{
	const struct arch_register *reg;
	const char *text;
	char why[80];

	stmt->reg.pos = p->token.pos;
	if (parser_take_mark(p, '.')) {
		stmt->reg_is_variable = true;
		return parse_symbol(p, &stmt->reg.name, &stmt->reg.pos);
	}
	text = parser_text(p, &p->token);
	reg = p->token.kind == TOKEN_WORD ? parser_register_find(p, text)
					  : NULL;
	if (!reg && p->token.kind == TOKEN_END)
		return parser_missing(p, "register");
	if (!reg) {
		parser_report(p, p->token.pos, TRCERR_NOTAREG, text);
		if (arch_register_foreign(p->arch, text, why, sizeof(why)))
			diag_hint(p->diag, "%s", why);
		return false;
	}
	stmt->reg.name = reg->name;
	bytes_add(p, p->token.pos, reg->bytes);
	parser_next(p);
	return true;
}

bool parse_regs(struct parser *p, struct srcpos keyword)
{
	struct tsf_stmt *stmt;

	if (!parser_expect(p, '=') || !parser_expect(p, '('))
		return false;
	do {
		stmt = stmt_add(p, TSF_REGS, keyword);
		if (!stmt || !parse_register(p, stmt))
			return false;
	} while (parser_list_continues(p));
	return parser_expect(p, ')');
}

/*
 * Address and flag. A displacement of the final address has no meaning with
 * DIRECT: an error that leaves the tracepoint as it is.
 */
static bool parse_place(struct parser *p, struct tsf_address *address,
			struct tsf_chain *chain, enum parse_address_rule rule)
{
	const char *text;

	if (!parser_expect(p, '=') || !parser_expect(p, '(') ||
	    !parse_address(p, address, rule))
		return false;
	parser_expect_comma(p);
	if (!parse_chain(p, chain, rule))
		return false;
	if (chain->flag != TSF_DIRECT || !address->final_pos.line)
		return true;
	text = parser_format(p, "(%lld)", (long long)address->final);
	diag_report(p->diag, address->final_pos, TRCERR_BADPARM, text);
	diag_hint(p->diag, "it is added behind a dereference; with DIRECT "
			   "there is none");
	address->final_pos.line = 0;
	address->final = 0;
	return true;
}

/* The word LEN in the place of the length. */
static void length_variable(struct parser *p, struct tsf_stmt *stmt)
{
	if (!p->now.len.line) {
		parser_report(p, p->token.pos, TRCERR_VAR_LEN);
		return;
	}
	stmt->has_len = true;
	stmt->len_address = p->now.len_stmt.len_address;
	stmt->len_chain = p->now.len_stmt.len_chain;
	stmt->len_bytes = p->now.len_stmt.len_bytes;
}

static bool parse_bytes(struct parser *p, struct tsf_stmt *stmt)
{
	uint64_t length;

	if (!parser_number(p, &length, &stmt->length_pos))
		return false;
	if (!length) {
		parser_report(p, stmt->length_pos, TRCERR_ZEROLENGTH);
	} else if (length > p->tsf->maxdata) {
		parser_report(p, stmt->length_pos, TRCERR_MAXLEN_EXCEED);
		diag_hint(p->diag, "MAXDATALENGTH is %u, which is taken",
			  p->tsf->maxdata);
		p->now.clamped = true;
		length = p->tsf->maxdata;
	}
	stmt->length = length;
	return true;
}

static bool length_fixed(struct parser *p, struct tsf_stmt *stmt)
{
	if (p->now.len.line) {
		parser_report(p, p->now.len, TRCERR_VAR_LEN);
		diag_hint(p->diag, "the statement behind it has a length of "
				   "its own");
	}
	return parse_bytes(p, stmt);
}

static bool parse_length(struct parser *p, struct tsf_stmt *stmt)
{
	bool read = true;

	stmt->length_pos = p->token.pos;
	if (parser_at(p, "LEN")) {
		length_variable(p, stmt);
		parser_next(p);
	} else {
		read = length_fixed(p, stmt);
	}
	p->now.len.line = 0;
	bytes_add(p, stmt->pos, RAS_ITEM_PREFIX + stmt->length);
	return read;
}

static bool parse_memory(struct parser *p, struct srcpos keyword,
			 enum tsf_stmt_kind kind, bool segmented)
{
	struct tsf_stmt *stmt = stmt_add(p, kind, keyword);

	if (!stmt)
		return false;
	stmt->segmented = segmented;
	if (!parse_place(p, &stmt->address, &stmt->chain,
			 segmented ? ADDRESS_SEGMENTED : ADDRESS_FLAT))
		return false;
	parser_expect_comma(p);
	if (!parse_length(p, stmt))
		return false;
	parser_take_mark(p, ',');
	return parser_expect(p, ')');
}

bool parse_mem(struct parser *p, struct srcpos keyword)
{
	return parse_memory(p, keyword, TSF_MEM, false);
}

bool parse_mem_segmented(struct parser *p, struct srcpos keyword)
{
	return parse_memory(p, keyword, TSF_MEM, true);
}

bool parse_asciiz(struct parser *p, struct srcpos keyword)
{
	return parse_memory(p, keyword, TSF_ASCIIZ, false);
}

bool parse_asciiz_segmented(struct parser *p, struct srcpos keyword)
{
	return parse_memory(p, keyword, TSF_ASCIIZ, true);
}

/* LEN=(address,flag[,size]) */
bool parse_len(struct parser *p, struct srcpos keyword)
{
	struct tsf_stmt *len = &p->now.len_stmt;
	const struct token *token = &p->token;
	struct srcpos pos;
	const char *text;
	uint64_t size;

	*len = (struct tsf_stmt){ .len_bytes = 2 };
	p->now.len = keyword;
	if (!parse_place(p, &len->len_address, &len->len_chain, ADDRESS_LEN))
		return false;
	if (len->len_address.form == TSF_ADDRESS_SYMBOL)
		len->len_bytes = 0;
	if (!parser_take_mark(p, ',') || parser_at_mark(p, ')'))
		return parser_expect(p, ')');
	text = parser_text(p, token);
	if (!parser_number(p, &size, &pos))
		return false;
	if (size != 1 && size != 2 && size != 4 && size != 8) {
		parser_report(p, pos, TRCERR_BADPARM, text);
		diag_hint(p->diag, "a length has 1, 2, 4 or 8 bytes");
	}
	len->len_bytes = size;
	parser_take_mark(p, ',');
	return parser_expect(p, ')');
}

/* expression[:n]; what it takes is known when its type is. */
static bool parse_var(struct parser *p, struct srcpos keyword)
{
	struct tsf_stmt *stmt = stmt_add(p, TSF_VAR, keyword);

	if (!stmt)
		return false;
	stmt->pos = p->token.pos;
	if (!parse_expr(p, &stmt->expr, &stmt->expr_text))
		return false;
	stmt->pos = parser_span(p, stmt->pos);
	return !parser_take_mark(p, ':') || parse_bytes(p, stmt);
}

bool parse_vars(struct parser *p, struct srcpos keyword)
{
	if (!parser_expect(p, '=') || !parser_expect(p, '('))
		return false;
	do {
		if (!parse_var(p, keyword))
			return false;
	} while (parser_list_continues(p));
	return parser_expect(p, ')');
}

bool parse_stack(struct parser *p, struct srcpos keyword)
{
	struct tsf_stmt *stmt = stmt_add(p, TSF_STACK, keyword);
	const char *text;
	uint64_t depth;

	if (!stmt || !parser_expect(p, '=') || !parser_expect(p, '('))
		return false;
	text = parser_text(p, &p->token);
	if (!parser_number(p, &depth, &stmt->length_pos))
		return false;
	if (!depth || depth > TDF_STACK_MAX) {
		parser_report(p, stmt->length_pos, TRCERR_BADPARM, text);
		diag_hint(p->diag, "1 to %d frames", TDF_STACK_MAX);
		depth = 1;
	}
	stmt->length = depth;
	bytes_add(p, keyword, RAS_ITEM_PREFIX + depth * TSF_FRAME_BYTES);
	return parser_expect(p, ')');
}
