// SPDX-License-Identifier: GPL-2.0
/* Manual 1.3.5.15: address specifications, and the flags of data statements. */
#include "parser.h"

#include <string.h>

#define FLAT_BYTES	4	/* registers of flat addresses are wider */
#define SEGMENT_BYTES	2	/* those behind a segment register as wide */

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
static bool begins(const struct token *token, char letter)
{
	return token->kind == TOKEN_WORD && token->length > 1 &&
	       (token->text[0] & ~0x20) == letter;
}

static const struct arch_register *
prefixed(struct parser *p, const struct token *token, char letter)
{
	return begins(token, letter)
		       ? register_find(p, token->text + 1, token->length - 1)
		       : NULL;
}

static bool is_flat(const struct arch_register *reg)
{
	return reg && reg->kind == ARCH_GPR && reg->bytes >= FLAT_BYTES;
}

static bool is_segment(const struct arch_register *reg)
{
	return reg && reg->kind == ARCH_SEG;
}

/* ."any name at all" */
static bool parse_quoted(struct parser *p, const char **name,
			 struct srcpos *pos)
{
	struct parse_string string;

	*pos = p->token.pos;
	if (!p->token.length)
		return parser_missing(p, "name");
	if (!parse_string(p, &string))
		return false;
	*name = string.text;
	return true;
}

bool parse_symbol(struct parser *p, const char **name, struct srcpos *pos)
{
	if (p->token.kind == TOKEN_STRING)
		return parse_quoted(p, name, pos);
	if (parser_at_name(p))
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
	struct tsf_register *r = parser_append(p, &address->registers,
					       &address->register_count,
					       sizeof(*r));

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

static bool has_segments(const struct arch *arch)
{
	for (size_t i = 0; i < arch->register_count; i++)
		if (arch->registers[i].kind == ARCH_SEG)
			return true;
	return false;
}

/* A base that is none: a register of another form, or a forgotten dot. */
static bool base_refuse(struct parser *p, enum parse_address_rule rule)
{
	const struct token *token = &p->token;
	const char *text = parser_text(p, token);
	bool flat = rule == ADDRESS_FLAT;
	bool bare =
		token->kind == TOKEN_WORD && arch_register_find(p->arch, text);
	char why[80];

	if (!begins(token, flat ? 'F' : 'R') && !prefixed(p, token, 'F') &&
	    !is_segment(prefixed(p, token, 'R')) && !bare)
		return parser_missing(p, ".");
	parser_report(p, token->pos,
		      flat ? TRCERR_INVALIDREG : TRCERR_NOTASEGREG, text);
	if (flat && is_flat(arch_register_find(p->arch, text)))
		diag_hint(p->diag, "an address in it is written 'F%s'", text);
	else if (flat && begins(token, 'F') && *text &&
		 arch_register_foreign(p->arch, text + 1, why, sizeof(why)))
		diag_hint(p->diag, "%s", why);
	else if (!flat && !has_segments(p->arch))
		diag_hint(p->diag, "%s has no segments: MEM32 and ASCIIZ32 "
			  "take flat addresses", p->arch->name);
	else if (prefixed(p, token, 'F') || prefixed(p, token, 'R'))
		diag_hint(p->diag, "%s take the %s form of an address",
			  flat ? "MEM32 and ASCIIZ32" : "MEM and ASCIIZ",
			  flat ? "flat" : "segment");
	else if (!bare)
		diag_hint(p->diag, "a symbol is written '.%s'", text);
	return false;
}

static bool parse_base(struct parser *p, struct tsf_address *address,
		       enum parse_address_rule rule)
{
	const struct arch_register *flat = prefixed(p, &p->token, 'F');
	const struct arch_register *segment = prefixed(p, &p->token, 'R');

	address->pos = p->token.pos;
	if (rule != ADDRESS_SEGMENTED && is_flat(flat)) {
		address->form = TSF_ADDRESS_FLAT;
		return register_add(p, address, flat, false, 1);
	}
	if (rule != ADDRESS_FLAT && is_segment(segment)) {
		address->form = TSF_ADDRESS_SEGMENT;
		return register_add(p, address, segment, false, 1);
	}
	address->form = TSF_ADDRESS_SYMBOL;
	if (parser_take_mark(p, '.'))
		return parse_symbol(p, &address->name, &address->pos);
	if (rule != ADDRESS_LEN || p->token.kind != TOKEN_WORD ||
	    parser_at_trace(p))
		return base_refuse(p, rule);
	parser_reread_symbol(p);
	address->name = parser_text(p, &p->token);
	address->pos = p->token.pos;
	parser_next(p);
	return true;
}

/* A register behind the base; the token is a word. */
static bool parse_index(struct parser *p, struct tsf_address *address,
			bool minus)
{
	const struct token *token = &p->token;
	const struct arch_register *reg =
		register_find(p, token->text, token->length);
	bool flat = address->form == TSF_ADDRESS_FLAT;
	char why[80];

	if (flat && is_flat(reg) && arch_register_is_index(p->arch, reg))
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

/* What stands behind a sign. */
static bool parse_term(struct parser *p, struct tsf_address *address,
		       bool minus)
{
	struct srcpos sign = p->last;
	bool segment = address->form == TSF_ADDRESS_SEGMENT;
	bool final = parser_take_mark(p, '(');
	int64_t value;

	if (!final && p->token.kind == TOKEN_WORD &&
	    address->form != TSF_ADDRESS_SYMBOL)
		return parse_index(p, address, minus);
	if (!parser_index(p, segment ? UINT16_MAX : UINT32_MAX, &value))
		return false;
	if (minus)
		value = -value;
	if (!final) {
		address->displacement += value;
		return true;
	}
	if (!parser_expect(p, ')'))
		return false;
	address->final = value;
	address->final_pos = parser_span(p, sign);
	return true;
}

bool parse_address(struct parser *p, struct tsf_address *address,
		   enum parse_address_rule rule)
{
	bool minus;

	if (!parse_base(p, address, rule))
		return false;
	while (!address->final_pos.line &&
	       (parser_at_mark(p, '+') || parser_at_mark(p, '-'))) {
		minus = parser_at_mark(p, '-');
		parser_next(p);
		if (!parse_term(p, address, minus))
			return false;
	}
	return true;
}

static const struct {
	const char *word;
	enum tsf_flag flag;
} flags[] = {
	{ "D", TSF_DIRECT },
	{ "DIRECT", TSF_DIRECT },
	{ "I", TSF_INDIRECT },
	{ "INDIRECT", TSF_INDIRECT },
	{ "IS", TSF_IS },
	{ "IF", TSF_IF },
};

static bool parse_flag(struct parser *p, enum tsf_flag *flag,
		       enum parse_address_rule rule)
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

/* One asterisk was taken: the number behind it. */
static bool parse_link(struct parser *p, struct tsf_chain *chain)
{
	int64_t *add = parser_append(p, &chain->add, &chain->count,
				     sizeof(*add));
	bool minus = parser_at_mark(p, '-');

	if (!add)
		return false;
	if (p->token.kind == TOKEN_NUMBER)
		return parser_missing(p, "+");
	if (!minus && !parser_at_mark(p, '+'))
		return true;
	parser_next(p);
	if (!parser_index(p, UINT32_MAX, add))
		return false;
	if (minus)
		*add = -*add;
	return true;
}

bool parse_chain(struct parser *p, struct tsf_chain *chain,
		 enum parse_address_rule rule)
{
	struct srcpos first = p->token.pos;

	if (!parse_flag(p, &chain->flag, rule))
		return false;
	while (chain->flag != TSF_DIRECT && parser_take_mark(p, '*'))
		if (!parse_link(p, chain))
			return false;
	chain->pos = parser_span(p, first);
	if (chain->flag == TSF_DIRECT || chain->count)
		return true;
	return parser_append(p, &chain->add, &chain->count,
			     sizeof(*chain->add));
}
