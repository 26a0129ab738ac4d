// SPDX-License-Identifier: GPL-2.0
/* Manual 1.3.5.2 and 1.3.5.3: where a tracepoint stands. */
#include "parser.h"

#include <string.h>
#include <strings.h>

#define OPCODE_MAX	0xff
#define LINE_MAX_NUMBER	INT32_MAX

/* Behind the dot: name[{+|-}offs] */
static bool parse_tp_symbol(struct parser *p, struct tsf_tp *tp)
{
	const char *digits;
	bool minus;

	if (!parse_symbol(p, &tp->name, &tp->pos))
		return false;
	tp->kind = TSF_TP_SYMBOL;
	tp->text = tp->name;
	minus = parser_at_mark(p, '-');
	if (!minus && !parser_at_mark(p, '+'))
		return true;
	parser_next(p);
	digits = parser_text(p, &p->token);
	if (!parser_index(p, UINT32_MAX, &tp->offset))
		return false;
	tp->text = parser_format(p, "%s%c%s", tp->name, minus ? '-' : '+',
				 digits);
	if (minus)
		tp->offset = -tp->offset;
	return true;
}

/* "file.c:12", as other tools write it */
static bool has_line_behind_colon(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
}

static bool report_line(struct parser *p, const struct tsf_tp *tp,
			struct srcpos pos, const char *text)
{
	parser_report(p, pos, TRCERR_INVALIDLINENUM, text);
	if (has_line_behind_colon(tp->name))
		diag_hint(p->diag, "a comma is before the line: @file,line");
	return false;
}

/* Behind @file: ,line */
static bool parse_tp_line(struct parser *p, struct tsf_tp *tp)
{
	uint64_t line;

	tp->kind = TSF_TP_LINE;
	if (!parser_at_mark(p, ',') && has_line_behind_colon(tp->name))
		return report_line(p, tp, tp->pos, tp->name);
	parser_expect_comma(p);
	if (p->token.kind == TOKEN_END)
		return parser_missing(p, "line number");
	if (!token_number(&p->token, &line) || !line ||
	    line > LINE_MAX_NUMBER)
		return report_line(p, tp, p->token.pos,
				   parser_text(p, &p->token));
	tp->line = line;
	tp->text = parser_format(p, "@%s,%u", tp->name, tp->line);
	parser_next(p);
	return true;
}

static bool parse_tp_static(struct parser *p, struct tsf_tp *tp)
{
	tp->kind = TSF_TP_STATIC;
	tp->text = "@STATIC";
	return true;
}

static bool parse_usdt_name(struct parser *p, const char *what,
			    const char **name)
{
	parser_expect_comma(p);
	if (!parser_at_trace(p))
		parser_reread_path(p);
	if (p->token.kind != TOKEN_PATH && p->token.kind != TOKEN_STRING)
		return parser_missing(p, what);
	*name = parser_text(p, &p->token);
	p->point->tp.pos = p->token.pos;
	parser_next(p);
	return true;
}

/* Behind @USDT: ,provider,name */
static bool parse_tp_usdt(struct parser *p, struct tsf_tp *tp)
{
	tp->kind = TSF_TP_USDT;
	if (!parse_usdt_name(p, "provider", &tp->provider) ||
	    !parse_usdt_name(p, "name", &tp->name))
		return false;
	tp->text = parser_format(p, "@USDT,%s,%s", tp->provider, tp->name);
	return true;
}

/* Behind @ADDR: ,address */
static bool parse_tp_address(struct parser *p, struct tsf_tp *tp)
{
	const char *digits;

	tp->kind = TSF_TP_ADDRESS;
	parser_expect_comma(p);
	digits = parser_text(p, &p->token);
	if (!parser_number(p, &tp->address, &tp->pos))
		return false;
	tp->text = parser_format(p, "@ADDR,%s", digits);
	return true;
}

static const struct {
	const char *word;
	bool (*parse)(struct parser *p, struct tsf_tp *tp);
} kinds[] = {
	{ "STATIC", parse_tp_static },
	{ "USDT", parse_tp_usdt },
	{ "ADDR", parse_tp_address },
};

/* Behind the @: one of these words, or file,line; a file with such a name is
 * quoted. */
static bool parse_tp_at(struct parser *p, struct tsf_tp *tp)
{
	bool quoted;

	if (parser_at_name(p))
		parser_reread_path(p);
	quoted = p->token.kind == TOKEN_STRING;
	if (p->token.kind != TOKEN_PATH && !quoted)
		return parser_missing(p, "STATIC");
	tp->name = parser_text(p, &p->token);
	tp->pos = p->token.pos;
	parser_next(p);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!quoted && !strcasecmp(tp->name, kinds[i].word))
			return kinds[i].parse(p, tp);
	return parse_tp_line(p, tp);
}

bool parse_tp(struct parser *p, struct srcpos keyword)
{
	if (p->now.tp.line) {
		parser_report(p, keyword, TRCERR_MULTIPLETP);
		return false;
	}
	p->now.tp = keyword;
	if (!parser_expect(p, '='))
		return false;
	if (parser_take_mark(p, '@'))
		return parse_tp_at(p, &p->point->tp);
	if (parser_take_mark(p, '.'))
		return parse_tp_symbol(p, &p->point->tp);
	parser_missing(p, ".");
	if (!p->aborted)
		diag_hint(p->diag, "a symbol is written '.name', a source line "
			   "'@file,line'");
	return false;
}

/* Behind RETEP: [={EXIT|CALLER}] */
static bool parse_retep_kind(struct parser *p, enum tsf_retep *retep,
			     const char **text)
{
	*retep = TSF_RETEP_ANY;
	*text = "RETEP";
	if (!parser_take_mark(p, '='))
		return true;
	if (p->token.kind == TOKEN_END)
		return parser_missing(p, "EXIT");
	if (parser_at(p, "CALLER")) {
		*retep = TSF_RETEP_CALLER;
		*text = "RETEP=CALLER";
	} else if (parser_at(p, "EXIT")) {
		*retep = TSF_RETEP_EXIT;
		*text = "RETEP=EXIT";
	} else {
		parser_report(p, p->token.pos, TRCERR_BADPARM,
			      parser_text(p, &p->token));
		diag_hint(p->diag, "EXIT or CALLER");
		return false;
	}
	parser_next(p);
	return true;
}

/* Part of TP, which must be the clause before. */
bool parse_retep(struct parser *p, struct srcpos keyword)
{
	struct tsf_tp *tp = &p->point->tp;
	const char *text;

	if (!p->now.behind_tp || tp->kind != TSF_TP_SYMBOL) {
		parser_report(p, keyword, TRCERR_SPURIOUS, "RETEP");
		diag_hint(p->diag, tp->retep ? "it is given already" :
			  "it is written behind the name: TP=.name,RETEP");
	} else if (tp->text != tp->name) {
		parser_report(p, keyword, TRCERR_RETEPOFFS,
			      tp->text + strlen(tp->name));
		diag_hint(p->diag, "the tracepoint is where '%s' returns",
			  tp->name);
		tp->offset = 0;
	}
	if (!parse_retep_kind(p, &tp->retep, &text))
		return false;
	if (tp->text)
		tp->text = parser_format(p, "%s,%s", tp->text, text);
	return true;
}

bool parse_opcode(struct parser *p, struct srcpos keyword)
{
	struct tsf_point *point = p->point;
	const char *text;
	uint64_t value;

	if (point->opcode_pos.line) {
		parser_report(p, keyword, TRCERR_MULTIPLEOPCD);
		return false;
	}
	point->opcode_pos = keyword;
	if (!parser_expect(p, '='))
		return false;
	text = parser_text(p, &p->token);
	if (!parser_number(p, &value, &point->opcode_pos))
		return false;
	if (value > OPCODE_MAX)
		parser_report(p, point->opcode_pos, TRCERR_OPCODETOOBIG, text);
	point->opcode = value & OPCODE_MAX;
	return true;
}
