// SPDX-License-Identifier: GPL-2.0
/* Manual 1.3.2 to 1.3.5: what is before the first TRACE, and the tracepoints,
 * each a list of clauses. */
#include "parse_point.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <rastrace/tff.h>
#include "parse_aggregate.h"
#include "parse_data.h"
#include "parse_expr.h"

#define MAJOR_MAX	255
#define GROUP_ID_MAX	65535
#define TYPE_ID_MAX	0x8000
#define OPCODE_MAX	0xff
#define LINE_MAX_NUMBER	INT32_MAX

struct name_list {
	const char *title;
	struct tsf_name *names;
	size_t *count, max;
	enum diag_id multiple_id;
	bool ignored;		/* a redefinition: parsed, not stored */
	bool full;		/* with a message */
};

static bool keyword_expect(struct parser *p, const char *word)
{
	if (parser_at(p, word)) {
		parser_next(p);
		return parser_expect(p, '=');
	}
	if (p->token.kind == TOKEN_END)
		return parser_missing(p, word);
	parser_report(p, p->token.pos, TRCERR_KEYWORD, word,
		      parser_text(p, &p->token));
	return false;
}

static bool parse_modname(struct parser *p)
{
	if (p->tsf->modname) {
		parser_report(p, p->keyword, TRCERR_KEYWORD, "TRACE", "MODNAME");
		diag_hint(p->diag, "MODNAME is given in line %u already",
			  p->tsf->modname_pos.line);
		return false;
	}
	if (!parser_expect(p, '='))
		return false;
	parser_reread_path(p);
	if ((p->token.kind == TOKEN_PATH || p->token.kind == TOKEN_STRING) &&
	    p->token.length) {
		p->tsf->modname = parser_text(p, &p->token);
		p->tsf->modname_pos = p->token.pos;
		parser_next(p);
	}
	/* before a '=' that was no name but the next keyword */
	if (p->tsf->modname && !parser_at_mark(p, '='))
		return true;
	parser_report(p, p->keyword, TRCERR_NOMODNAME);
	diag_hint(p->diag, "MODNAME = path, of a program, say");
	return false;
}

static bool parse_major(struct parser *p)
{
	struct srcpos pos;
	uint64_t value;

	if (p->major_given)
		parser_report(p, p->keyword, TRCERR_MULTIPLEMAJOR);
	p->major_given = true;
	if (!parser_expect(p, '=') || !parser_number(p, &value, &pos))
		return false;
	if (!value || value > MAJOR_MAX) {
		parser_report(p, pos, TRCERR_INVALIDMAJOR);
		value = 1;
	}
	p->tsf->major = value;
	return true;
}

#define DATA_USED	512	/* as the message reports */

static bool parse_maxdata(struct parser *p)
{
	struct srcpos pos;
	uint64_t value;

	if (p->maxdata_given)
		parser_report(p, p->keyword, TRCERR_MULTIPLEMAXDL);
	p->maxdata_given = true;
	if (!parser_expect(p, '=') || !parser_number(p, &value, &pos))
		return false;
	if (value < TDF_DATA_MIN || value > TDF_DATA_MAX) {
		parser_report(p, pos, TRCERR_INVALIDLENGTH);
		diag_hint(p->diag, "it is from %d to %d", TDF_DATA_MIN,
			  TDF_DATA_MAX);
		value = DATA_USED;
	}
	p->tsf->maxdata = value;
	return true;
}

static bool name_known(const struct tsf_name *names, size_t count,
		       const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i].name, name))
			return true;
	return false;
}

/* A type's ID is a power of two, a group's any number. */
static void header_item_add(struct parser *p, struct name_list *list,
			    const struct tsf_name *item, struct srcpos pos,
			    uint64_t id, const struct token *id_token)
{
	const struct tsf *tsf = p->tsf;
	bool types = list->names == tsf->types, known = false;
	const char *text = parser_text(p, id_token);

	if (!id || id > (types ? TYPE_ID_MAX : GROUP_ID_MAX) ||
	    (types && id & (id - 1))) {
		parser_report(p, id_token->pos, TRCERR_BADID, text);
		diag_hint(p->diag, types ?
			  "the ID of a type is a power of two, 1 to %#x" :
			  "the ID of a group is 1 to %u",
			  types ? TYPE_ID_MAX : GROUP_ID_MAX);
		return;
	}
	if (list->ignored)
		return;
	for (size_t i = 0; i < *list->count; i++)
		known |= list->names[i].id == id;
	if (*list->count == list->max) {
		if (!list->full)
			parser_report(p, pos, TRCERR_TOOMANYNAMES, list->title);
		list->full = true;
	} else if (name_known(tsf->types, tsf->type_count, item->name) ||
		   name_known(tsf->groups, tsf->group_count, item->name)) {
		parser_report(p, pos, TRCERR_MULTIPLEVENTNM, item->name);
	} else if (known) {
		parser_report(p, id_token->pos, list->multiple_id, text);
	} else {
		list->names[*list->count] = *item;
		list->names[(*list->count)++].id = id;
	}
}

/* NAME=name,ID=number, any number of them */
static bool parse_list(struct parser *p, struct name_list *list)
{
	struct srcpos pos, id_pos;
	struct token token;
	uint64_t id;

	do {
		struct tsf_name item = { 0 };

		if (!keyword_expect(p, "NAME") ||
		    !parser_name(p, item.name, &pos))
			return false;
		parser_expect_comma(p);
		if (!keyword_expect(p, "ID"))
			return false;
		token = p->token;
		if (parser_number(p, &id, &id_pos))
			header_item_add(p, list, &item, pos, id, &token);
		else if (token.kind == TOKEN_WORD ||
			 token.kind == TOKEN_NUMBER ||
			 token.kind == TOKEN_STRING)
			parser_next(p);
		if (p->aborted)
			return false;
		if (!parser_take_mark(p, ',') && parser_at(p, "NAME"))
			parser_expect_comma(p);
	} while (parser_at(p, "NAME"));
	return true;
}

static bool parse_typelist(struct parser *p)
{
	struct name_list list = {
		"types", p->tsf->types, &p->tsf->type_count, TDF_TYPES_MAX,
		TRCERR_MULTIPLETYPEID, .ignored = p->types_given,
	};

	if (p->types_given)
		parser_report(p, p->keyword, TRCERR_MULTIPLETYPL);
	p->types_given = true;
	return parse_list(p, &list);
}

static bool parse_grouplist(struct parser *p)
{
	struct name_list list = {
		"groups", p->tsf->groups, &p->tsf->group_count, TDF_GROUPS_MAX,
		TRCERR_MULTIPLEGRPID, .ignored = p->groups_given,
	};

	if (p->groups_given)
		parser_report(p, p->keyword, TRCERR_MULTIPLEGROUPL);
	p->groups_given = true;
	return parse_list(p, &list);
}

static const struct {
	const char *word;
	bool (*parse)(struct parser *p);
} header_clauses[] = {
	{ "MODNAME", parse_modname },
	{ "MAJOR", parse_major },
	{ "MAXDATALENGTH", parse_maxdata },
	{ "MAXDATALEN", parse_maxdata },
	{ "TYPELIST", parse_typelist },
	{ "GROUPLIST", parse_grouplist },
};

/* Where a keyword is expected there is something else. */
static void report_no_keyword(struct parser *p)
{
	const struct tsf *tsf = p->tsf;
	size_t size;
	const char *text = diag_text(p->diag, &size), *hint = NULL;

	parser_report(p, p->token.pos, TRCERR_KEYWORD,
		      tsf->modname ? "TRACE" : "MODNAME",
		      parser_text(p, &p->token));
	if (p->token.length && strchr("#/", *p->token.text))
		hint = "a comment begins with ';', or is between '/*' and '*/'";
	else if (tsf->modname && p->token.pos.line == tsf->modname_pos.line &&
		 p->last.line == tsf->modname_pos.line &&
		 p->last.column == tsf->modname_pos.column)
		hint = "a name with blanks is quoted: MODNAME=\"my module\"";
	else if (!tsf->modname && size >= 4 &&
		 !memcmp(text, "\x7f" "ELF", 4))
		hint = "this is a module: --from-module makes a TSF of it";
	else if (!tsf->modname && size >= 8 &&
		 (!memcmp(text, TDF_MAGIC, 8) || !memcmp(text, TFF_MAGIC, 8)))
		hint = "this was compiled: --dump prints it";
	else if (!tsf->modname && size >= 2 &&
		 (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
		hint = "this is UTF-16: a TSF is ASCII or UTF-8";
	if (hint)
		diag_hint(p->diag, "%s", hint);
}

static bool header_clause(struct parser *p)
{
	for (size_t i = 0;
	     i < sizeof(header_clauses) / sizeof(*header_clauses); i++)
		if (parser_at(p, header_clauses[i].word)) {
			parser_next(p);
			p->keyword = p->last;
			return header_clauses[i].parse(p);
		}
	report_no_keyword(p);
	return false;
}

/* Manual 1.2.1: an error in the header definition aborts. */
static bool parse_header(struct parser *p)
{
	p->tsf->major = 1;
	p->tsf->maxdata = TDF_DATA_DEFAULT;
	while (!parser_at(p, "TRACE") && p->token.kind != TOKEN_END) {
		if (!header_clause(p))
			p->aborted = true;
		if (p->aborted)
			return false;
		parser_take_mark(p, ',');
	}
	if (!p->tsf->modname) {
		parser_report(p, p->token.pos, TRCERR_NOMODNAME);
		diag_hint(p->diag, "the file begins with MODNAME = path");
	} else if (p->token.kind == TOKEN_END) {
		parser_missing(p, "TRACE");
	}
	return !p->aborted;
}

static bool parse_minor(struct parser *p)
{
	uint64_t value;

	if (!parser_number(p, &value, &p->point->minor_pos))
		return false;
	if (!value || value > UINT16_MAX)
		parser_report(p, p->point->minor_pos, TRCERR_MINORRANGE);
	p->point->minor = value;
	return true;
}

/* After the dot: name[{+|-}offs] */
static bool parse_tp_symbol(struct parser *p, struct tsf_tp *tp)
{
	const char *digits;
	bool minus;

	if (!parse_symbol_name(p, true, &tp->name, &tp->pos))
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

/* After @file: ,line */
static bool parse_tp_line(struct parser *p, struct tsf_tp *tp)
{
	const char *colon = strrchr(tp->name, ':'), *text = tp->name;
	struct srcpos pos = tp->pos;
	uint64_t line = 0;
	/* "file.c:12", as other tools write it */
	bool joined = colon && colon[1] &&
		      !colon[1 + strspn(colon + 1, "0123456789")];

	tp->kind = TSF_TP_LINE;
	if (parser_at_mark(p, ',') || !joined) {
		parser_expect_comma(p);
		if (p->token.kind == TOKEN_END)
			return parser_missing(p, "line number");
		pos = p->token.pos;
		text = parser_text(p, &p->token);
		if (!token_number(&p->token, &line))
			line = 0;
	}
	if (!line || line > LINE_MAX_NUMBER) {
		parser_report(p, pos, TRCERR_INVALIDLINENUM, text);
		if (joined)
			diag_hint(p->diag,
				  "a comma is before the line: @file,line");
		return false;
	}
	tp->line = line;
	tp->text = parser_format(p, "@%s,%u", tp->name, tp->line);
	parser_next(p);
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

/* After the @: STATIC, USDT,provider,name, ADDR,address, or file,line; a file
 * with such a name is quoted. */
static bool parse_tp_at(struct parser *p, struct tsf_tp *tp)
{
	const char *digits;
	bool quoted;

	if (parser_at_name(p))
		parser_reread_path(p);
	quoted = p->token.kind == TOKEN_STRING;
	if (p->token.kind != TOKEN_PATH && !quoted)
		return parser_missing(p, "STATIC");
	tp->name = parser_text(p, &p->token);
	tp->pos = p->token.pos;
	parser_next(p);
	if (quoted)
		return parse_tp_line(p, tp);
	if (!strcasecmp(tp->name, "STATIC")) {
		tp->kind = TSF_TP_STATIC;
		tp->text = "@STATIC";
		return true;
	}
	if (!strcasecmp(tp->name, "USDT")) {
		tp->kind = TSF_TP_USDT;
		if (!parse_usdt_name(p, "provider", &tp->provider) ||
		    !parse_usdt_name(p, "name", &tp->name))
			return false;
		tp->text = parser_format(p, "@USDT,%s,%s", tp->provider,
					 tp->name);
		return true;
	}
	if (!strcasecmp(tp->name, "ADDR")) {
		tp->kind = TSF_TP_ADDRESS;
		parser_expect_comma(p);
		digits = parser_text(p, &p->token);
		if (!parser_number(p, &tp->address, &tp->pos))
			return false;
		tp->text = parser_format(p, "@ADDR,%s", digits);
		return true;
	}
	return parse_tp_line(p, tp);
}

/* A name without the dot: one that can't be taken for something else. */
static bool at_bare_name(const struct parser *p)
{
	const struct token *token = &p->token;

	return token->kind == TOKEN_STRING ||
	       (token->kind == TOKEN_WORD && !parser_at_trace(p)) ||
	       (token->kind == TOKEN_MARK && strchr("<~(", *token->text) &&
		*token->text);
}

static bool parse_tp(struct parser *p)
{
	if (parser_take_mark(p, '@'))
		return parse_tp_at(p, &p->point->tp);
	if (parser_take_mark(p, '.') || at_bare_name(p))
		return parse_tp_symbol(p, &p->point->tp);
	parser_missing(p, ".");
	if (!p->aborted)
		diag_hint(p->diag, "a symbol is written 'name' or '.name', a "
			   "source line '@file,line'");
	return false;
}

/* CALL=.name: TP and RETEP as one tracepoint */
static bool parse_call(struct parser *p)
{
	struct tsf_tp *tp = &p->point->tp;

	tp->whole = true;
	tp->retep = TSF_RETEP_ANY;
	if (!parser_take_mark(p, '.') && !at_bare_name(p)) {
		parser_missing(p, ".");
		if (!p->aborted)
			diag_hint(p->diag, "a function is written 'name' or "
				  "'.name'");
		return false;
	}
	if (!parse_tp_symbol(p, tp))
		return false;
	if (tp->text == tp->name)
		return true;
	parser_report(p, tp->pos, TRCERR_RETEPOFFS, tp->text +
		      strlen(tp->name));
	diag_hint(p->diag, "the tracepoint is all of '%s'", tp->name);
	tp->offset = 0;
	return true;
}

/* RETEP[={EXIT|CALLER}] is a part of TP or CALL, which must be the clause before. */
static bool parse_retep(struct parser *p)
{
	struct tsf_tp *tp = &p->point->tp;
	const char *text = "RETEP";

	if (!p->now.after_tp || tp->kind != TSF_TP_SYMBOL) {
		parser_report(p, p->keyword, TRCERR_SPURIOUS, "RETEP");
		diag_hint(p->diag, tp->retep && !tp->whole ?
			  "it is given already" :
			  "it is written after the name: TP=.name,RETEP");
	} else if (tp->text != tp->name) {
		parser_report(p, p->keyword, TRCERR_RETEPOFFS,
			      tp->text + strlen(tp->name));
		diag_hint(p->diag, "the tracepoint is where '%s' returns",
			  tp->name);
		tp->offset = 0;
	}
	tp->retep = TSF_RETEP_ANY;
	if (parser_take_mark(p, '=')) {
		if (p->token.kind == TOKEN_END)
			return parser_missing(p, "EXIT");
		if (parser_at(p, "CALLER")) {
			tp->retep = TSF_RETEP_CALLER;
			text = "RETEP=CALLER";
		} else if (parser_at(p, "EXIT")) {
			tp->retep = TSF_RETEP_EXIT;
			text = "RETEP=EXIT";
		} else {
			parser_report(p, p->token.pos, TRCERR_BADPARM,
				      parser_text(p, &p->token));
			diag_hint(p->diag, "EXIT or CALLER");
			return false;
		}
		parser_next(p);
	}
	if (tp->text)
		tp->text = parser_format(p, "%s,%s", tp->text, text);
	return true;
}

static bool parse_opcode(struct parser *p)
{
	struct tsf_point *point = p->point;
	const char *text = parser_text(p, &p->token);
	uint64_t value;

	if (!parser_number(p, &value, &point->opcode_pos))
		return false;
	if (value > OPCODE_MAX)
		parser_report(p, point->opcode_pos, TRCERR_OPCODETOOBIG, text);
	point->opcode = value & OPCODE_MAX;
	return true;
}

/* The ID of the name that is next, of a type or a group; 0 after a message. */
static bool point_name(struct parser *p, bool group, uint16_t *id)
{
	char known[TDF_GROUPS_MAX * (TDF_NAME_MAX + 2) + 1] = "";
	const struct tsf_name *names = group ? p->tsf->groups : p->tsf->types;
	size_t count = group ? p->tsf->group_count : p->tsf->type_count;
	char name[TDF_NAME_MAX + 1];
	struct srcpos pos;
	size_t used = 0;

	*id = 0;
	if (!parser_name(p, name, &pos))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(names[i].name, name)) {
			*id = names[i].id;
			return true;
		}
		used += snprintf(known + used, sizeof(known) - used, "%s%s",
				 i ? ", " : "", names[i].name);
	}
	parser_report(p, pos, group ? TRCERR_NOTAGROUP : TRCERR_NOTATYPE, name);
	if (used)
		diag_hint(p->diag, "defined are: %s", known);
	else
		diag_hint(p->diag, "%s defines them",
			  group ? "GROUPLIST" : "TYPELIST");
	return true;
}

static bool parse_type(struct parser *p)
{
	uint16_t id;

	if (!parser_expect(p, '('))
		return false;
	do {
		if (!point_name(p, false, &id))
			return false;
		p->point->type |= id;
	} while (parser_list_continues(p));
	return parser_expect(p, ')');
}

static bool parse_group(struct parser *p)
{
	return point_name(p, true, &p->point->group);
}

static bool parse_desc(struct parser *p)
{
	struct tsf_string string;

	if (!parse_string(p, &string))
		return false;
	p->point->desc = string.text;
	return true;
}

static bool parse_fmt(struct parser *p)
{
	struct tsf_string string, *fmt;
	size_t before = p->now.fmt_bytes;

	if (!parse_string(p, &string))
		return false;
	parse_string_controls(p, &string);
	fmt = parser_append(p, &p->point->fmts, &p->point->fmt_count,
			    sizeof(*fmt));
	if (!fmt)
		return false;
	*fmt = string;
	p->now.fmt_bytes += string.length + 1;	/* and the line end */
	if (p->now.fmt_bytes > TFF_FMT_MAX && before <= TFF_FMT_MAX)
		parser_report(p, fmt->pos, TRCERR_FMT_LONG);
	return true;
}

static bool parse_if(struct parser *p)
{
	struct tsf_point *point = p->point;

	return parser_expect(p, '(') &&
	       parse_expr(p, &point->condition, &point->condition_text) &&
	       parser_expect(p, ')');
}

static bool parse_count(struct parser *p)
{
	const struct clause *clause = p->clause;
	const char *text = parser_text(p, &p->token);
	struct srcpos pos;
	uint64_t value;

	if (!parser_number(p, &value, &pos))
		return false;
	if (value < clause->least || value > UINT32_MAX) {
		parser_report(p, pos, TRCERR_BADPARM, text);
		diag_hint(p->diag, "%u to %u", clause->least, UINT32_MAX);
	}
	*(uint32_t *)((char *)p->point + clause->count) = value;
	return true;
}

static bool parse_onfault(struct parser *p)
{
	p->point->continue_on_fault = parser_at(p, "CONTINUE");
	p->point->onfault = true;
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

static const struct clause clauses[] = {
#define COUNT(field)	.count = offsetof(struct tsf_point, field)
#define ONCE(field)	.once = offsetof(struct parser, now.field)
	{ "MINOR", parse_minor, ONCE(minor), TRCERR_MULTIPLEMINOR },
	{ "TP", parse_tp, ONCE(tp), TRCERR_MULTIPLETP },
	{ "CALL", parse_call, ONCE(tp), TRCERR_MULTIPLETP },
	{ "RETEP", parse_retep },
	{ "OPCODE", parse_opcode, true, ONCE(opcode), TRCERR_MULTIPLEOPCD },
	{ "TYPE", parse_type, true, ONCE(type) },
	{ "GROUP", parse_group, true, ONCE(group) },
	{ "DESC", parse_desc, ONCE(desc) },
	{ "FMT", parse_fmt },
	{ "REGS", parse_regs, true },
	{ "LEN", parse_len, true },
	{ "MEM", parse_memory, true, true, .kind = TSF_MEM, .segmented = true },
	{ "MEM32", parse_memory, true, true, .kind = TSF_MEM },
	{ "MEM64", parse_memory, true, true, .kind = TSF_MEM },
	{ "ASCIIZ", parse_memory, true, .kind = TSF_ASCIIZ, .segmented = true },
	{ "ASCIIZ32", parse_memory, true, .kind = TSF_ASCIIZ },
	{ "ASCIIZ64", parse_memory, true, .kind = TSF_ASCIIZ },
	{ "VARS", parse_vars, true },
	{ "RESULT", parse_vars, true, .at_exit = true },
	{ "STACK", parse_stack, true },
	{ "COUNT", parse_hits, true },
	{ "SUM", parse_aggregate, true, .aggregate = TDF_AGGREGATE_SUM },
	{ "MIN", parse_aggregate, true, .aggregate = TDF_AGGREGATE_MIN },
	{ "MAX", parse_aggregate, true, .aggregate = TDF_AGGREGATE_MAX },
	{ "HIST", parse_aggregate, true, .aggregate = TDF_AGGREGATE_HIST },
	{ "BY", parse_by, true },
	{ "IF", parse_if, true, ONCE(condition) },
	{ "MAXHITS", parse_count, true, ONCE(maxhits), COUNT(maxhits), 1 },
	{ "PASSCOUNT", parse_count, true, ONCE(passcount), COUNT(passcount) },
	{ "ONFAULT", parse_onfault, true, ONCE(onfault) },
#undef ONCE
#undef COUNT
};

static const struct clause *point_clause_find(const struct parser *p)
{
	for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++)
		if (parser_at(p, clauses[i].word))
			return &clauses[i];
	return NULL;
}

static bool refuse_clause(struct parser *p)
{
	char words[16 * sizeof(clauses) / sizeof(clauses[0])];
	bool word = p->token.kind == TOKEN_WORD;
	size_t used = 0;

	parser_report(p, p->token.pos, word ? TRCERR_BADPARM : TRCERR_SPURIOUS,
		      parser_text(p, &p->token));
	for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++)
		used += snprintf(words + used, sizeof(words) - used, "%s%s",
				 i ? ", " : "", clauses[i].word);
	if (word)
		diag_hint(p->diag, "there are: %s", words);
	return false;
}

static void len_unused(struct parser *p)
{
	if (!p->now.len.line)
		return;
	parser_report(p, p->now.len, TRCERR_VAR_LEN);
	diag_hint(p->diag, "MEM, MEM32 or MEM64 must follow it");
	p->now.len.line = 0;
}

/* The value of a clause that is ignored, whatever that is */
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

static bool point_clause(struct parser *p)
{
	const struct clause *clause = point_clause_find(p);
	struct srcpos *before;
	bool parsed;

	if (!clause)
		return refuse_clause(p);
	if (!clause->takes_len)
		len_unused(p);
	parser_next(p);
	p->keyword = p->last;
	p->clause = clause;
	if (clause->dynamic && p->now.is_static) {
		skip_value(p);
		p->now.after_tp = false;
		return true;
	}
	before = clause->once ? (void *)((char *)p + clause->once) : NULL;
	if (before && before->line) {
		parser_report(p, p->keyword, clause->multiple ?
					     clause->multiple : TRCERR_SPURIOUS,
			      clause->word);
		if (!clause->multiple)
			diag_hint(p->diag, "it is given in line %u already",
				  before->line);
		return false;
	}
	if (before)
		*before = p->keyword;
	parsed = (clause->parse == parse_retep || clause->parse == parse_hits ||
		  clause->parse == parse_stack || parser_expect(p, '=')) &&
		 clause->parse(p);
	p->now.after_tp = clause->parse == parse_tp ||
			  clause->parse == parse_call;
	return parsed;
}

/* The tracepoint that begins with this TRACE has TP=@STATIC somewhere. */
static bool is_static_ahead(const struct parser *p)
{
	const struct token *token;
	struct parser ahead = *p;

	ahead.lexer.quiet = true;
	token = &ahead.token;
	parser_next(&ahead);
	while (token->kind != TOKEN_END && !parser_at_trace(&ahead)) {
		if (!parser_at(&ahead, "TP")) {
			parser_skip(&ahead);
			continue;
		}
		parser_next(&ahead);
		if (!parser_take_mark(&ahead, '=') ||
		    !parser_take_mark(&ahead, '@'))
			continue;
		parser_reread_path(&ahead);
		if (token->kind == TOKEN_PATH && token->length == 6 &&
		    !strncasecmp(token->text, "STATIC", 6))
			return true;
	}
	return false;
}

/* The record of a CALL begins with the time that it took; what is of the exit
 * comes last. */
static void parse_call_end(struct parser *p)
{
	struct tsf_point *point = p->point;
	struct tsf_stmt *stmts = tsf_alloc(p->tsf, (point->stmt_count + 1) *
						   sizeof(*stmts));
	size_t count = 1;

	if (!stmts) {
		parser_report(p, point->pos, TRCERR_NO_MEM);
		return;
	}
	stmts->kind = TSF_ELAPSED;
	stmts->pos = point->pos;
	for (int at_exit = 0; at_exit < 2; at_exit++)
		for (size_t i = 0; i < point->stmt_count; i++)
			if (point->stmts[i].at_exit == at_exit)
				stmts[count++] = point->stmts[i];
	point->stmts = stmts;
	point->stmt_count = count;
}

static void parse_result_check(struct parser *p)
{
	for (size_t i = 0; i < p->point->stmt_count; i++)
		if (p->point->stmts[i].at_exit) {
			parser_report(p, p->point->stmts[i].pos,
				      TRCERR_SPURIOUS, "RESULT");
			diag_hint(p->diag, "it belongs to CALL; VARS=($result) "
				  "of TP=.name,RETEP has the value");
			return;
		}
}

static void parse_point(struct parser *p)
{
	struct tsf_point *point = parser_append(p, &p->tsf->points,
						&p->tsf->point_count,
						sizeof(*point));
	bool whole = true, given;

	p->point = point;
	if (!point)
		return;
	point->pos = p->token.pos;
	point->opcode = -1;
	p->failed = false;
	memset(&p->now, 0, sizeof(p->now));
	p->now.is_static = is_static_ahead(p);
	parser_next(p);

	/* clauses up to the next TRACE */
	while (whole && p->token.kind != TOKEN_END && !parser_at(p, "TRACE")) {
		whole = point_clause(p);
		if (whole && !parser_take_mark(p, ',') && point_clause_find(p))
			parser_expect_comma(p);
	}
	whole &= !p->aborted;

	/* where the place is lost, the next TRACE is looked for */
	while (!whole && p->token.kind != TOKEN_END && !parser_at_trace(p)) {
		if (parser_at(p, "MINOR") && !parser_at_name(p))
			p->now.minor_skipped = true;
		parser_skip(p);
	}

	/* Manual 1.3.5.1: all or none; the first tracepoint decides. */
	given = p->now.minor.line || p->now.minor_skipped;
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

	if (whole) {
		len_unused(p);
		if (point->tp.whole)
			parse_call_end(p);
		else
			parse_result_check(p);
		if (point->tp.kind == TSF_TP_NONE)
			parser_report(p, point->pos, TRCERR_INCOMPLETE, "TP");
		if (point->fmt_count && !point->desc)
			parser_report(p, point->fmts[0].pos, TRCERR_INCOMPLETE,
				      "DESC");
		if (p->now.exceeding.line && !p->now.clamped) {
			parser_report(p, p->now.exceeding,
				      TRCERR_MAXLEN_EXCEED);
			diag_hint(p->diag, "up to %zu bytes, of which %u are recorded",
				  p->now.data_bytes, p->tsf->maxdata);
		}
	}
	point->discarded = p->failed;
}

int tsf_parse(struct tsf **tsf, struct diag *diag, tsf_arch_find *find,
	      void *context)
{
	struct parser p = { .diag = diag, .arch = &arch_x86_64 };
	const struct arch *arch = NULL;

	*tsf = NULL;
	p.tsf = tsf_make();
	if (!p.tsf)
		return diag_no_memory(diag, (struct srcpos){ 0 });
	lexer_init(&p.lexer, diag);
	parser_next(&p);
	if (parse_header(&p)) {
		if (find && p.tsf->modname) {
			arch = find(context, p.tsf->modname);
			p.arch_unknown = !arch;
		}
		p.arch = arch ? arch : p.arch;
		while (parser_at(&p, "TRACE")) {
			if (p.tsf->point_count == TDF_POINTS_MAX) {
				parser_report(&p, p.token.pos,
					      TRCERR_TOOMANYRECS);
				break;
			}
			parse_point(&p);
		}
	}
	if (p.aborted) {
		tsf_free(p.tsf);
		return -1;
	}
	*tsf = p.tsf;
	return 0;
}
