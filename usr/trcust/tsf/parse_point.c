// SPDX-License-Identifier: GPL-2.0
/* Manual 1.3.5: the tracepoints. */
#include "parser.h"

#include <rastrace/tff.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>


/* A clause that may be given once has been given already. */
static bool spurious(struct parser *p, const struct srcpos *before,
		     struct srcpos keyword, const char *word)
{
	if (!before->line)
		return false;
	parser_report(p, keyword, TRCERR_SPURIOUS, word);
	diag_hint(p->diag, "it is given in line %u already", before->line);
	return true;
}

static bool parse_minor(struct parser *p, struct srcpos keyword)
{
	uint64_t value;

	if (p->now.minor.line) {
		parser_report(p, keyword, TRCERR_MULTIPLEMINOR);
		return false;
	}
	p->now.minor = keyword;
	if (!parser_expect(p, '=') ||
	    !parser_number(p, &value, &p->point->minor_pos))
		return false;
	if (!value || value > UINT16_MAX)
		parser_report(p, p->point->minor_pos, TRCERR_MINORRANGE);
	p->point->minor = value;
	return true;
}

static void names_hint(struct parser *p, const struct tsf_name *names,
		       size_t count)
{
	char known[TDF_GROUPS_MAX * (TDF_NAME_MAX + 2) + 1] = "";
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		used += sprintf(known + used, "%s%s", i ? ", " : "",
				names[i].name);
	if (used)
		diag_hint(p->diag, "defined are: %s", known);
	else
		diag_hint(p->diag, "%s defines them", names == p->tsf->types ?
						     "TYPELIST" : "GROUPLIST");
}

/* ID of a name; 0 after `unknown` was told. */
static uint16_t name_find(struct parser *p, const struct tsf_name *names,
			  size_t count, const char *name, struct srcpos pos,
			  enum diag_id unknown)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i].name, name))
			return names[i].id;
	parser_report(p, pos, unknown, name);
	names_hint(p, names, count);
	return 0;
}

static bool parse_type(struct parser *p, struct srcpos keyword)
{
	char name[TDF_NAME_MAX + 1];
	struct srcpos pos;

	if (spurious(p, &p->now.type, keyword, "TYPE"))
		return false;
	p->now.type = keyword;
	if (!parser_expect(p, '=') || !parser_expect(p, '('))
		return false;
	do {
		if (!parse_name(p, name, &pos))
			return false;
		p->point->type |= name_find(p, p->tsf->types,
					    p->tsf->type_count, name, pos,
					    TRCERR_NOTATYPE);
	} while (parser_list_continues(p));
	return parser_expect(p, ')');
}

static bool parse_group(struct parser *p, struct srcpos keyword)
{
	char name[TDF_NAME_MAX + 1];
	struct srcpos pos;

	if (spurious(p, &p->now.group, keyword, "GROUP"))
		return false;
	p->now.group = keyword;
	if (!parser_expect(p, '=') || !parse_name(p, name, &pos))
		return false;
	p->point->group = name_find(p, p->tsf->groups, p->tsf->group_count,
				    name, pos, TRCERR_NOTAGROUP);
	return true;
}

static bool parse_desc(struct parser *p, struct srcpos keyword)
{
	struct parse_string string;

	if (spurious(p, &p->now.desc, keyword, "DESC"))
		return false;
	p->now.desc = keyword;
	if (!parser_expect(p, '=') || !parse_string(p, &string))
		return false;
	p->point->desc = string.text;
	return true;
}

static bool parse_fmt(struct parser *p, struct srcpos keyword)
{
	struct parse_string string;
	struct tsf_fmt *fmt;
	size_t before = p->now.fmt_bytes;

	if (!parser_expect(p, '=') || !parse_string(p, &string))
		return false;
	parse_string_controls(p, &string);
	fmt = parser_append(p, &p->point->fmts, &p->point->fmt_count,
			    sizeof(*fmt));
	if (!fmt)
		return false;
	fmt->pos = string.token.pos;
	fmt->text = string.text;
	fmt->length = string.length;
	fmt->source = string.token.text;
	fmt->source_length = string.token.length;
	p->now.fmt_bytes += string.length + 1;	/* and the line end */
	if (p->now.fmt_bytes > TFF_FMT_MAX && before <= TFF_FMT_MAX)
		parser_report(p, fmt->pos, TRCERR_FMT_LONG);
	return true;
}

static bool parse_if(struct parser *p, struct srcpos keyword)
{
	struct tsf_point *point = p->point;

	if (spurious(p, &point->condition_pos, keyword, "IF"))
		return false;
	point->condition_pos = keyword;
	return parser_expect(p, '=') && parser_expect(p, '(') &&
	       parse_expr(p, &point->condition, &point->condition_text) &&
	       parser_expect(p, ')');
}

static bool parse_count(struct parser *p, uint64_t least, uint32_t *count)
{
	struct srcpos pos;
	const char *text;
	uint64_t value;

	if (!parser_expect(p, '='))
		return false;
	text = parser_text(p, &p->token);
	if (!parser_number(p, &value, &pos))
		return false;
	if (value < least || value > UINT32_MAX) {
		parser_report(p, pos, TRCERR_BADPARM, text);
		diag_hint(p->diag, "%u to %u", (unsigned int)least,
			  UINT32_MAX);
	}
	*count = value;
	return true;
}

static bool parse_maxhits(struct parser *p, struct srcpos keyword)
{
	if (spurious(p, &p->now.maxhits, keyword, "MAXHITS"))
		return false;
	p->now.maxhits = keyword;
	return parse_count(p, 1, &p->point->maxhits);
}

static bool parse_passcount(struct parser *p, struct srcpos keyword)
{
	if (spurious(p, &p->now.passcount, keyword, "PASSCOUNT"))
		return false;
	p->now.passcount = keyword;
	return parse_count(p, 0, &p->point->passcount);
}

static bool parse_onfault(struct parser *p, struct srcpos keyword)
{
	if (spurious(p, &p->now.onfault, keyword, "ONFAULT"))
		return false;
	p->now.onfault = keyword;
	if (!parser_expect(p, '='))
		return false;
	p->point->continue_on_fault = parser_at(p, "CONTINUE");
	if (p->token.kind == TOKEN_END)
		return parser_missing(p, "CONTINUE");
	if (!p->point->continue_on_fault && !parser_at(p, "STOP")) {
		parser_report(p, p->token.pos, TRCERR_BADPARM,
			      parser_text(p, &p->token));
		diag_hint(p->diag, "CONTINUE or STOP");
		return false;
	}
	parser_next(p);
	return true;
}

static const struct clause {
	const char *word;
	bool (*parse)(struct parser *p, struct srcpos keyword);
	bool dynamic;		/* ignored in a static tracepoint */
	bool takes_len;		/* may stand behind LEN */
} clauses[] = {
	{ "MINOR", parse_minor },
	{ "TP", parse_tp },
	{ "RETEP", parse_retep },
	{ "OPCODE", parse_opcode, true },
	{ "TYPE", parse_type, true },
	{ "GROUP", parse_group, true },
	{ "DESC", parse_desc },
	{ "FMT", parse_fmt },
	{ "REGS", parse_regs, true },
	{ "LEN", parse_len, true },
	{ "MEM", parse_mem_segmented, true, true },
	{ "MEM32", parse_mem, true, true },
	{ "MEM64", parse_mem, true, true },
	{ "ASCIIZ", parse_asciiz_segmented, true },
	{ "ASCIIZ32", parse_asciiz, true },
	{ "ASCIIZ64", parse_asciiz, true },
	{ "VARS", parse_vars, true },
	{ "STACK", parse_stack, true },
	{ "IF", parse_if, true },
	{ "MAXHITS", parse_maxhits, true },
	{ "PASSCOUNT", parse_passcount, true },
	{ "ONFAULT", parse_onfault, true },
};

static void hint_clauses(struct parser *p)
{
	char words[16 * sizeof(clauses) / sizeof(clauses[0])];
	size_t used = 0;

	for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++)
		used += snprintf(words + used, sizeof(words) - used, "%s%s",
				 i ? ", " : "", clauses[i].word);
	diag_hint(p->diag, "there are: %s", words);
}

static const struct clause *clause_find(const struct parser *p)
{
	for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++)
		if (parser_at(p, clauses[i].word))
			return &clauses[i];
	return NULL;
}

static void len_unused(struct parser *p)
{
	if (!p->now.len.line)
		return;
	parser_report(p, p->now.len, TRCERR_VAR_LEN);
	diag_hint(p->diag, "MEM, MEM32 or MEM64 must follow it");
	p->now.len.line = 0;
}

/* Behind the keyword of a clause that is ignored: its value, whatever that
 * is. */
static void skip_value(struct parser *p)
{
	int depth = 0;

	if (!parser_take_mark(p, '='))
		return;
	do {
		depth += parser_at_mark(p, '(') - parser_at_mark(p, ')');
		parser_skip(p);
	} while (depth > 0 && p->token.kind != TOKEN_END &&
		 !parser_at_trace(p));
}

static bool parse_clause(struct parser *p)
{
	const struct clause *clause = clause_find(p);
	bool parsed = true;

	if (!clause) {
		parser_report(p, p->token.pos,
			      p->token.kind == TOKEN_WORD ? TRCERR_BADPARM :
							    TRCERR_SPURIOUS,
			      parser_text(p, &p->token));
		if (p->token.kind == TOKEN_WORD)
			hint_clauses(p);
		return false;
	}
	if (!clause->takes_len)
		len_unused(p);
	parser_next(p);
	if (clause->dynamic && p->now.is_static)
		skip_value(p);
	else
		parsed = clause->parse(p, p->last);
	p->now.behind_tp = clause->parse == parse_tp;
	return parsed;
}

static bool is_at_static(struct parser *p)
{
	const struct token *token = &p->token;

	if (!parser_take_mark(p, '=') || !parser_take_mark(p, '@'))
		return false;
	parser_reread_path(p);
	return token->kind == TOKEN_PATH && token->length == 6 &&
	       !strncasecmp(token->text, "STATIC", 6);
}

/* The tracepoint that begins with this TRACE has TP=@STATIC somewhere. */
static bool is_static_ahead(const struct parser *p)
{
	struct parser ahead = *p;
	bool is_static = false;

	ahead.lexer.quiet = true;
	parser_next(&ahead);
	while (!is_static && ahead.token.kind != TOKEN_END &&
	       !parser_at_trace(&ahead)) {
		if (!parser_at(&ahead, "TP")) {
			parser_skip(&ahead);
			continue;
		}
		parser_next(&ahead);
		is_static = is_at_static(&ahead);
	}
	return is_static;
}

static bool at_point_end(const struct parser *p)
{
	return p->token.kind == TOKEN_END || parser_at(p, "TRACE");
}

/* Clauses up to the next TRACE; false: lost the place. */
static bool parse_clauses(struct parser *p)
{
	while (!at_point_end(p)) {
		if (!parse_clause(p))
			return false;
		if (!parser_take_mark(p, ',') && clause_find(p))
			parser_expect_comma(p);
	}
	return !p->aborted;
}

static void skip_to_trace(struct parser *p)
{
	while (p->token.kind != TOKEN_END && !parser_at_trace(p)) {
		if (parser_at(p, "MINOR") && !parser_at_name(p))
			p->now.minor_skipped = true;
		parser_skip(p);
	}
}

/* Manual 1.3.5.1: all or none; the first tracepoint decides. */
static void minor_settle(struct parser *p, bool whole)
{
	bool given = p->now.minor.line || p->now.minor_skipped;

	if (p->minors == MINORS_UNKNOWN)
		p->minors = given ? MINORS_GIVEN : MINORS_COUNTED;
	if (p->minors == MINORS_COUNTED) {
		p->point->minor = p->tsf->point_count;
		p->point->minor_pos.line = 0;
		if (p->now.minor.line) {
			parser_report(p, p->now.minor, TRCERR_SPURIOUS,
				      "MINOR");
			diag_hint(p->diag, "either all tracepoints have one or none, and "
					   "the first has none");
		}
	} else if (!given && whole) {
		parser_report(p, p->point->pos, TRCERR_NOMINOR);
	}
}

static void point_complete(struct parser *p)
{
	struct tsf_point *point = p->point;

	len_unused(p);
	if (point->tp.kind == TSF_TP_NONE)
		parser_report(p, point->pos, TRCERR_INCOMPLETE, "TP");
	if (point->fmt_count && !point->desc)
		parser_report(p, point->fmts[0].pos, TRCERR_INCOMPLETE, "DESC");
	if (p->now.exceeding.line && !p->now.clamped) {
		parser_report(p, p->now.exceeding, TRCERR_MAXLEN_EXCEED);
		diag_hint(p->diag, "up to %zu bytes, of which %u are recorded",
			  p->now.data_bytes, p->tsf->maxdata);
	}
}

static void parse_point(struct parser *p)
{
	bool whole;

	p->point = parser_append(p, &p->tsf->points, &p->tsf->point_count,
				 sizeof(*p->point));
	if (!p->point)
		return;
	p->point->pos = p->token.pos;
	p->point->opcode = -1;
	p->failed = false;
	memset(&p->now, 0, sizeof(p->now));
	p->now.is_static = is_static_ahead(p);
	parser_next(p);
	whole = parse_clauses(p);
	if (!whole)
		skip_to_trace(p);
	minor_settle(p, whole);
	if (whole)
		point_complete(p);
	p->point->discarded = p->failed;
}

void parse_points(struct parser *p)
{
	while (parser_at(p, "TRACE")) {
		if (p->tsf->point_count == TDF_POINTS_MAX) {
			parser_report(p, p->token.pos, TRCERR_TOOMANYRECS);
			return;
		}
		parse_point(p);
	}
}
