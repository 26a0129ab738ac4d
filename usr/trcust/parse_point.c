// SPDX-License-Identifier: GPL-2.0
/* Manual 1.3.5: the tracepoints. */
#include "parser.h"

#include <rastrace/tff.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define OPCODE_MAX	0xff
#define MINOR_MAX	65535
#define LINE_MAX_NUMBER	INT32_MAX

/* A clause that may be given once has been given already. */
static bool spurious(struct parser *p, const struct srcpos *before,
		     struct srcpos keyword, const char *word)
{
	if (!before->line)
		return false;
	parser_tell(p, keyword, TRCERR_SPURIOUS, word);
	diag_hint(p->diag, "it is given in line %u already", before->line);
	return true;
}

static bool parse_minor(struct parser *p, struct srcpos keyword)
{
	uint64_t value;

	if (p->now.minor.line) {
		parser_tell(p, keyword, TRCERR_MULTIPLEMINOR);
		return false;
	}
	p->now.minor = keyword;
	if (!parser_expect(p, '=') ||
	    !parser_number(p, &value, &p->point->minor_pos))
		return false;
	if (!value || value > MINOR_MAX)
		parser_tell(p, p->point->minor_pos, TRCERR_MINORRANGE);
	p->point->minor = value;
	return true;
}

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

static bool parse_tp_line(struct parser *p, struct tsf_tp *tp)
{
	uint64_t line;

	tp->kind = TSF_TP_LINE;
	parser_expect_comma(p);
	if (p->token.kind == TOKEN_END)
		return parser_missing(p, "line number");
	if (!token_number(&p->token, &line) || !line ||
	    line > LINE_MAX_NUMBER) {
		parser_tell(p, p->token.pos, TRCERR_INVALIDLINENUM,
			    parser_text(p, &p->token));
		return false;
	}
	tp->line = line;
	tp->text = parser_format(p, "@%s,%u", tp->name, tp->line);
	parser_next(p);
	return true;
}

/* Behind the @: STATIC, or file,line */
static bool parse_tp_at(struct parser *p, struct tsf_tp *tp)
{
	if (parser_at_name(p))
		parser_reread_path(p);
	if (p->token.kind != TOKEN_PATH && p->token.kind != TOKEN_STRING)
		return parser_missing(p, "STATIC");
	tp->name = parser_text(p, &p->token);
	tp->pos = p->token.pos;
	parser_next(p);
	if (strcasecmp(tp->name, "STATIC"))
		return parse_tp_line(p, tp);
	tp->kind = TSF_TP_STATIC;
	tp->text = "@STATIC";
	return true;
}

static bool parse_tp(struct parser *p, struct srcpos keyword)
{
	if (p->now.tp.line) {
		parser_tell(p, keyword, TRCERR_MULTIPLETP);
		return false;
	}
	p->now.tp = keyword;
	if (!parser_expect(p, '='))
		return false;
	if (parser_take_mark(p, '@'))
		return parse_tp_at(p, &p->point->tp);
	return parser_expect(p, '.') && parse_tp_symbol(p, &p->point->tp);
}

/* Part of TP, which must be the clause before. */
static bool parse_retep(struct parser *p, struct srcpos keyword)
{
	struct tsf_tp *tp = &p->point->tp;

	if (!p->now.behind_tp || tp->kind != TSF_TP_SYMBOL) {
		parser_tell(p, keyword, TRCERR_SPURIOUS, "RETEP");
		diag_hint(p->diag, "it is written behind the name: TP=.name,RETEP");
	} else if (tp->text != tp->name) {
		parser_tell(p, keyword, TRCERR_BADPARM, "RETEP");
		diag_hint(p->diag, "a return point takes no offset");
	}
	if (tp->text)
		tp->text = parser_format(p, "%s,RETEP", tp->text);
	tp->retep = true;
	return true;
}

static bool parse_opcode(struct parser *p, struct srcpos keyword)
{
	struct tsf_point *point = p->point;
	const char *text;
	uint64_t value;

	if (point->opcode_pos.line) {
		parser_tell(p, keyword, TRCERR_MULTIPLEOPCD);
		return false;
	}
	point->opcode_pos = keyword;
	if (!parser_expect(p, '='))
		return false;
	text = parser_text(p, &p->token);
	if (!parser_number(p, &value, &point->opcode_pos))
		return false;
	if (value > OPCODE_MAX)
		parser_tell(p, point->opcode_pos, TRCERR_OPCODETOOBIG, text);
	point->opcode = value & OPCODE_MAX;
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
}

/* ID of a name; 0 after `unknown` was told. */
static uint16_t name_find(struct parser *p, const struct tsf_name *names,
			  size_t count, const char *name, struct srcpos pos,
			  enum diag_id unknown)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i].name, name))
			return names[i].id;
	parser_tell(p, pos, unknown, name);
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
		if (!parser_at_mark(p, ')'))
			parser_expect_comma(p);
	} while (!parser_at_mark(p, ')'));
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
	p->now.fmt_bytes += string.length + 1;	/* and the line end */
	if (p->now.fmt_bytes > TFF_FMT_MAX && before <= TFF_FMT_MAX)
		parser_tell(p, fmt->pos, TRCERR_FMT_LONG);
	return true;
}

static const struct clause {
	const char *word;
	bool (*parse)(struct parser *p, struct srcpos keyword);
	bool dynamic;		/* ignored where TP=@STATIC */
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
};

static const struct clause *clause_find(const struct parser *p)
{
	for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++)
		if (parser_at(p, clauses[i].word))
			return &clauses[i];
	return NULL;
}

/* What was told since concerns a clause that only a dynamic tracepoint uses;
 * TP may stand behind it. */
static void failed_if_dynamic(struct parser *p, bool failed_before)
{
	if (p->aborted)
		return;
	p->now.failed_dynamic |= p->failed;
	p->failed = failed_before;
}

static void len_unused(struct parser *p)
{
	bool failed = p->failed;

	if (!p->now.len.line)
		return;
	parser_tell(p, p->now.len, TRCERR_VAR_LEN);
	diag_hint(p->diag, "MEM, MEM32 or MEM64 must follow it");
	failed_if_dynamic(p, failed);
	p->now.len.line = 0;
}

static bool parse_clause(struct parser *p)
{
	const struct clause *clause = clause_find(p);
	bool parsed, failed;

	if (!clause) {
		parser_tell(p, p->token.pos,
			    p->token.kind == TOKEN_WORD ? TRCERR_BADPARM :
							  TRCERR_SPURIOUS,
			    parser_text(p, &p->token));
		return false;
	}
	if (!clause->takes_len)
		len_unused(p);
	failed = p->failed;
	parser_next(p);
	parsed = clause->parse(p, p->last);
	if (parsed && clause->dynamic)
		failed_if_dynamic(p, failed);
	p->now.behind_tp = clause->parse == parse_tp;
	return parsed;
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
		parser_next(p);
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
			parser_tell(p, p->now.minor, TRCERR_SPURIOUS, "MINOR");
			diag_hint(p->diag, "the first tracepoint has none");
		}
	} else if (!given && whole) {
		parser_tell(p, p->point->pos, TRCERR_NOMINOR);
	}
}

/* Only MINOR, DESC and FMT of a static tracepoint are used. */
static void static_settle(struct tsf_point *point)
{
	point->type = point->group = 0;
	point->opcode = -1;
	point->stmt_count = 0;
}

static void point_complete(struct parser *p)
{
	struct tsf_point *point = p->point;

	len_unused(p);
	if (point->tp.kind == TSF_TP_NONE)
		parser_tell(p, point->pos, TRCERR_INCOMPLETE, "TP");
	if (point->fmt_count && !point->desc)
		parser_tell(p, point->fmts[0].pos, TRCERR_INCOMPLETE, "DESC");
	if (point->tp.kind == TSF_TP_STATIC) {
		static_settle(point);
		return;
	}
	p->failed |= p->now.failed_dynamic;
	if (p->now.exceeding.line && !p->now.clamped)
		parser_tell(p, p->now.exceeding, TRCERR_MAXLEN_EXCEED);
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
			parser_tell(p, p->token.pos, TRCERR_TOOMANYRECS);
			return;
		}
		parse_point(p);
	}
}
