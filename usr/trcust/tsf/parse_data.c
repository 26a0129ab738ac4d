// SPDX-License-Identifier: GPL-2.0
/* Manual 1.3.5.8 to 1.3.5.15: what a tracepoint logs, and addresses in it. */
#include "parse_data.h"

#include <rastrace/buffer.h>
#include <string.h>
#include "lib/debug/arch/arch.h"
#include "parse_expr.h"

#define FLAT_BYTES	4	/* registers of flat addresses are wider */
#define SEGMENT_BYTES	2	/* those after a segment register as wide */

enum address_rule { ADDRESS_FLAT, ADDRESS_SEGMENTED, ADDRESS_LEN };

static const struct arch_register *
register_find(struct parser *p, const char *text, size_t length)
{
	char name[16];

	if (length >= sizeof(name))
		return NULL;
	memcpy(name, text, length);
	name[length] = 0;
	return parser_register_find(p, name);
}

/* The token is the letter (upper case) and something. */
static bool token_begins(const struct token *token, char letter)
{
	return token->kind == TOKEN_WORD && token->length > 1 &&
	       (token->text[0] & ~0x20) == letter;
}

static const struct arch_register *
register_after(struct parser *p, const struct token *token, char letter)
{
	return token_begins(token, letter) ?
		       register_find(p, token->text + 1, token->length - 1) :
		       NULL;
}

static bool register_is_flat(const struct arch_register *reg)
{
	return reg && reg->kind == ARCH_GPR && reg->bytes >= FLAT_BYTES;
}

static bool register_is_segment(const struct arch_register *reg)
{
	return reg && reg->kind == ARCH_SEG;
}

bool parse_symbol_name(struct parser *p, bool function, const char **name,
		       struct srcpos *pos)
{
	struct tsf_string string;

	*pos = p->token.pos;
	if (p->token.kind == TOKEN_STRING) {	/* ."any name at all" */
		if (!p->token.length)
			return parser_missing(p, "name");
		if (!parse_string(p, &string))
			return false;
		*name = string.text;
		return true;
	}
	if (function && (parser_at_name(p) || !p->last_names))
		parser_reread_function(p);
	else if (parser_at_name(p))
		parser_reread_symbol(p);
	if (p->token.kind != TOKEN_SYMBOL)
		return parser_missing(p, "name");
	*name = parser_text(p, &p->token);
	*pos = p->token.pos;
	parser_next(p);
	return true;
}

/* `skip` bytes of the token belong to the form, not to the register. */
static bool register_add(struct parser *p, struct tsf_address *address,
			 const struct arch_register *reg, bool minus,
			 size_t skip)
{
	struct tsf_register *r = parser_append(
		p, &address->registers, &address->register_count, sizeof(*r));

	if (!r)
		return false;
	r->name = reg->name;
	r->minus = minus;
	r->pos = p->token.pos;
	r->pos.column += skip;
	r->pos.length -= skip;
	parser_next(p);
	return true;
}

/* A base that is none: a register of another form, or a forgotten dot. */
static bool base_refuse(struct parser *p, enum address_rule rule)
{
	const struct token *token = &p->token;
	const char *text = parser_text(p, token);
	bool flat = rule == ADDRESS_FLAT, segments = false;
	bool bare =
		token->kind == TOKEN_WORD && arch_register_find(p->arch, text);
	char why[80];

	if (!token_begins(token, flat ? 'F' : 'R') &&
	    !register_after(p, token, 'F') &&
	    !register_is_segment(register_after(p, token, 'R')) && !bare)
		return parser_missing(p, ".");
	parser_report(p, token->pos,
		      flat ? TRCERR_INVALIDREG : TRCERR_NOTASEGREG, text);
	for (size_t i = 0; i < p->arch->register_count; i++)
		segments |= p->arch->registers[i].kind == ARCH_SEG;
	if (flat && register_is_flat(arch_register_find(p->arch, text)))
		diag_hint(p->diag, "an address in it is written 'F%s'", text);
	else if (flat && token_begins(token, 'F') && *text &&
		 arch_register_foreign(p->arch, text + 1, why, sizeof(why)))
		diag_hint(p->diag, "%s", why);
	else if (!flat && !segments)
		diag_hint(p->diag, "%s has no segments: MEM32 and ASCIIZ32 "
			  "take flat addresses", p->arch->name);
	else if (register_after(p, token, 'F') || register_after(p, token, 'R'))
		diag_hint(p->diag, "%s take the %s form of an address",
			  flat ? "MEM32 and ASCIIZ32" : "MEM and ASCIIZ",
			  flat ? "flat" : "segment");
	else if (!bare)
		diag_hint(p->diag, "a symbol is written '.%s'", text);
	return false;
}

static bool parse_base(struct parser *p, struct tsf_address *address,
		       enum address_rule rule)
{
	const struct arch_register *flat = register_after(p, &p->token, 'F');
	const struct arch_register *segment = register_after(p, &p->token, 'R');

	address->pos = p->token.pos;
	if (rule != ADDRESS_SEGMENTED && register_is_flat(flat)) {
		address->form = TSF_ADDRESS_FLAT;
		return register_add(p, address, flat, false, 1);
	}
	if (rule != ADDRESS_FLAT && register_is_segment(segment)) {
		address->form = TSF_ADDRESS_SEGMENT;
		return register_add(p, address, segment, false, 1);
	}
	address->form = TSF_ADDRESS_SYMBOL;
	if (parser_take_mark(p, '.'))
		return parse_symbol_name(p, false, &address->name, &address->pos);
	if (rule != ADDRESS_LEN || p->token.kind != TOKEN_WORD ||
	    parser_at_trace(p))
		return base_refuse(p, rule);
	parser_reread_symbol(p);
	address->name = parser_text(p, &p->token);
	address->pos = p->token.pos;
	parser_next(p);
	return true;
}

/* A register after the base; the token is a word. */
static bool parse_index(struct parser *p, struct tsf_address *address,
			bool minus)
{
	const struct token *token = &p->token;
	const struct arch_register *reg =
		register_find(p, token->text, token->length);
	bool flat = address->form == TSF_ADDRESS_FLAT;
	char why[80];

	if (flat && register_is_flat(reg) &&
	    arch_register_is_index(p->arch, reg))
		return register_add(p, address, reg, minus, 0);
	if (!flat && reg && reg->kind == ARCH_GPR &&
	    reg->bytes == SEGMENT_BYTES)
		return register_add(p, address, reg, minus, 0);
	parser_report(p, token->pos,
		      flat && reg ? TRCERR_INVALIDREG : TRCERR_NOTAREG,
		      parser_text(p, token));
	if (arch_register_foreign(p->arch, parser_text(p, token), why,
				  sizeof(why)))
		diag_hint(p->diag, "%s", why);
	return false;
}

static bool parse_address(struct parser *p, struct tsf_address *address,
			  enum address_rule rule)
{
	if (!parse_base(p, address, rule))
		return false;
	while (!address->final_pos.line &&
	       (parser_at_mark(p, '+') || parser_at_mark(p, '-'))) {
		bool minus = parser_at_mark(p, '-'), final;
		struct srcpos sign = p->token.pos;
		int64_t value;

		parser_next(p);
		final = parser_take_mark(p, '(');
		if (!final && p->token.kind == TOKEN_WORD &&
		    address->form != TSF_ADDRESS_SYMBOL) {
			if (!parse_index(p, address, minus))
				return false;
			continue;
		}
		if (!parser_index(p, address->form == TSF_ADDRESS_SEGMENT ?
					     UINT16_MAX : UINT32_MAX, &value))
			return false;
		if (minus)
			value = -value;
		if (!final) {
			address->displacement += value;
			continue;
		}
		if (!parser_expect(p, ')'))
			return false;
		address->final = value;
		address->final_pos = parser_span(p, sign);
	}
	return true;
}

static const struct {
	const char *word;
	enum tsf_flag flag;
} flags[] = {
	{ "D", TSF_DIRECT }, { "DIRECT", TSF_DIRECT },
	{ "I", TSF_INDIRECT }, { "INDIRECT", TSF_INDIRECT },
	{ "IS", TSF_IS }, { "IF", TSF_IF },
};

static bool parse_flag(struct parser *p, enum tsf_flag *flag,
		       enum address_rule rule)
{
	size_t i, count = sizeof(flags) / sizeof(flags[0]);

	for (i = 0; i < count; i++)
		if (parser_at(p, flags[i].word))
			break;
	if (i == count && (p->token.kind != TOKEN_WORD || parser_at_trace(p)))
		return parser_missing(p, "DIRECT");
	if (i == count || (flags[i].flag == TSF_IS && rule != ADDRESS_FLAT) ||
	    (flags[i].flag == TSF_IF && rule != ADDRESS_SEGMENTED)) {
		parser_report(p, p->token.pos, TRCERR_BADPARM,
			      parser_text(p, &p->token));
		diag_hint(p->diag, "DIRECT or INDIRECT%s",
			  rule == ADDRESS_FLAT ? " or IS" :
			  rule == ADDRESS_SEGMENTED ? " or IF" : "");
		return false;
	}
	*flag = flags[i].flag;
	parser_next(p);
	return true;
}

/* The flag, and the numbers after its asterisks */
static bool parse_chain(struct parser *p, struct tsf_address *address,
			enum address_rule rule)
{
	struct srcpos first = p->token.pos;

	if (!parse_flag(p, &address->flag, rule))
		return false;
	while (address->flag != TSF_DIRECT && parser_take_mark(p, '*')) {
		int64_t *add = parser_append(p, &address->add,
					     &address->add_count, sizeof(*add));
		bool minus = parser_at_mark(p, '-');

		if (!add)
			return false;
		if (p->token.kind == TOKEN_NUMBER)
			return parser_missing(p, "+");
		if (!minus && !parser_at_mark(p, '+'))
			continue;
		parser_next(p);
		if (!parser_index(p, UINT32_MAX, add))
			return false;
		if (minus)
			*add = -*add;
	}
	address->flag_pos = parser_span(p, first);
	return address->flag == TSF_DIRECT || address->add_count ||
	       parser_append(p, &address->add, &address->add_count,
			     sizeof(*address->add));
}

/*
 * Address and flag. A displacement of the final address has no meaning with
 * DIRECT: an error that leaves the tracepoint as it is.
 */
static bool parse_place(struct parser *p, struct tsf_address *address,
			enum address_rule rule)
{
	const char *text;

	if (!parser_expect(p, '(') || !parse_address(p, address, rule))
		return false;
	parser_expect_comma(p);
	if (!parse_chain(p, address, rule))
		return false;
	if (address->add_count)
		address->add[address->add_count - 1] += address->final;
	if (address->flag != TSF_DIRECT || !address->final_pos.line)
		return true;
	text = parser_format(p, "(%lld)", (long long)address->final);
	diag_report(p->diag, address->final_pos, TRCERR_BADPARM, text);
	diag_hint(p->diag, "it is added after a dereference; with DIRECT "
			   "there is none");
	address->final_pos.line = 0;
	address->final = 0;
	return true;
}

static struct tsf_stmt *stmt_add(struct parser *p, enum tsf_stmt_kind kind)
{
	struct tsf_stmt *stmt = parser_append(
		p, &p->point->stmts, &p->point->stmt_count, sizeof(*stmt));

	if (stmt) {
		stmt->kind = kind;
		stmt->pos = p->keyword;
	}
	return stmt;
}

static void tsf_data_add(struct parser *p, struct srcpos pos, size_t bytes)
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
		return parse_symbol_name(p, false, &stmt->reg.name,
					 &stmt->reg.pos);
	}
	text = parser_text(p, &p->token);
	reg = p->token.kind == TOKEN_WORD ? parser_register_find(p, text) :
					    NULL;
	if (!reg && p->token.kind == TOKEN_END)
		return parser_missing(p, "register");
	if (!reg) {
		parser_report(p, p->token.pos, TRCERR_NOTAREG, text);
		if (arch_register_foreign(p->arch, text, why, sizeof(why)))
			diag_hint(p->diag, "%s", why);
		return false;
	}
	stmt->reg.name = reg->name;
	tsf_data_add(p, p->token.pos, reg->bytes);
	parser_next(p);
	return true;
}

bool parse_regs(struct parser *p)
{
	struct tsf_stmt *stmt;

	if (!parser_expect(p, '('))
		return false;
	do {
		stmt = stmt_add(p, TSF_REGS);
		if (!stmt || !parse_register(p, stmt))
			return false;
	} while (parser_list_continues(p));
	return parser_expect(p, ')');
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

bool parse_memory(struct parser *p)
{
	struct tsf_stmt *stmt = stmt_add(p, p->clause->kind);
	bool segmented = p->clause->segmented, read = true;

	if (!stmt)
		return false;
	stmt->segmented = segmented;
	if (!parse_place(p, &stmt->address,
			 segmented ? ADDRESS_SEGMENTED : ADDRESS_FLAT))
		return false;
	parser_expect_comma(p);

	/* the length, for which the word LEN means the LEN clause */
	stmt->length_pos = p->token.pos;
	if (!parser_at(p, "LEN")) {
		if (p->now.len.line) {
			parser_report(p, p->now.len, TRCERR_VAR_LEN);
			diag_hint(p->diag, "the statement after it has a "
					   "length of its own");
		}
		read = parse_bytes(p, stmt);
	} else {
		if (!p->now.len.line) {
			parser_report(p, p->token.pos, TRCERR_VAR_LEN);
		} else {
			stmt->has_len = true;
			stmt->len_address = p->now.len_stmt.len_address;
			stmt->len_bytes = p->now.len_stmt.len_bytes;
		}
		parser_next(p);
	}
	p->now.len.line = 0;
	tsf_data_add(p, stmt->pos, RAS_ITEM_PREFIX + stmt->length);
	if (!read)
		return false;
	parser_take_mark(p, ',');
	return parser_expect(p, ')');
}

/* LEN=(address,flag[,size]) */
bool parse_len(struct parser *p)
{
	struct tsf_stmt *len = &p->now.len_stmt;
	struct srcpos pos;
	const char *text;
	uint64_t size;

	*len = (struct tsf_stmt){ .len_bytes = 2 };
	p->now.len = p->keyword;
	if (!parse_place(p, &len->len_address, ADDRESS_LEN))
		return false;
	if (len->len_address.form == TSF_ADDRESS_SYMBOL)
		len->len_bytes = 0;
	if (!parser_take_mark(p, ',') || parser_at_mark(p, ')'))
		return parser_expect(p, ')');
	text = parser_text(p, &p->token);
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

/* The name in "name=(expression)". NULL: no name is next. */
static const char *parse_var_name(struct parser *p)
{
	struct lexer ahead = p->lexer;
	struct token equals, opening;
	const char *name;

	ahead.quiet = true;
	equals = lexer_next(&ahead);
	opening = lexer_next(&ahead);
	if (p->token.kind != TOKEN_WORD || !token_is_mark(&equals, '=') ||
	    !token_is_mark(&opening, '('))
		return NULL;
	name = parser_text(p, &p->token);
	parser_next(p);
	parser_next(p);
	return name;
}

/* After "[:", as far as the bracket: a number, or an expression, after which the
 * most that is logged may be. */
static bool parse_slice(struct parser *p, struct tsf_stmt *stmt)
{
	struct lexer ahead = p->lexer;
	struct token end;

	ahead.quiet = true;
	end = lexer_next(&ahead);
	if (p->token.kind == TOKEN_NUMBER && token_is_mark(&end, ']'))
		return parse_bytes(p, stmt);
	return parse_expr(p, &stmt->count, &stmt->count_text) &&
	       (!parser_take_mark(p, ',') || parse_bytes(p, stmt));
}

/* Items are expression[:n], expression[:count, n]; how much they take is known when
 * their types are. */
bool parse_vars(struct parser *p)
{
	struct tsf_stmt *stmt;

	if (!parser_expect(p, '('))
		return false;
	do {
		stmt = stmt_add(p, TSF_VAR);
		if (!stmt)
			return false;
		stmt->at_exit = p->clause->at_exit;
		stmt->expr_name = parse_var_name(p);
		stmt->pos = p->token.pos;
		if (!parse_expr(p, &stmt->expr, &stmt->expr_text))
			return false;
		stmt->pos = parser_span(p, stmt->pos);
		if (parser_take_mark(p, '[')) {
			if (!parser_expect(p, ':') || !parse_slice(p, stmt) ||
			    !parser_expect(p, ']'))
				return false;
		} else if (parser_take_mark(p, ':') && !parse_bytes(p, stmt)) {
			return false;
		}
	} while (parser_list_continues(p));
	return parser_expect(p, ')');
}

bool parse_stack(struct parser *p)
{
	struct tsf_stmt *stmt = stmt_add(p, TSF_STACK);
	uint64_t depth = TDF_STACK_MAX;
	const char *text;

	if (!stmt)
		return false;
	stmt->length = depth;
	if (!parser_take_mark(p, '=')) {
		tsf_data_add(p, stmt->pos,
			     RAS_ITEM_PREFIX + depth * TSF_FRAME_BYTES);
		return true;
	}
	if (!parser_expect(p, '('))
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
	tsf_data_add(p, stmt->pos, RAS_ITEM_PREFIX + depth * TSF_FRAME_BYTES);
	return parser_expect(p, ')');
}
