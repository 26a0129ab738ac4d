// SPDX-License-Identifier: GPL-2.0
/* Manual 1.3.2 to 1.3.4: what is before the first TRACE. */
#include "parse_header.h"

#include <rastrace/tff.h>
#include <string.h>

#define MAJOR_MAX	255
#define GROUP_ID_MAX	65535
#define TYPE_ID_MAX	0x8000

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
		value = TDF_DATA_MAX;
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
} clauses[] = {
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
		 (!memcmp(text, "\xff\xfe", 2) ||
		  !memcmp(text, "\xfe\xff", 2)))
		hint = "this is UTF-16: a TSF is ASCII or UTF-8";
	if (hint)
		diag_hint(p->diag, "%s", hint);
}

static bool header_clause(struct parser *p)
{
	for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++)
		if (parser_at(p, clauses[i].word)) {
			parser_next(p);
			p->keyword = p->last;
			return clauses[i].parse(p);
		}
	report_no_keyword(p);
	return false;
}

/* Manual 1.2.1: an error in the header definition aborts. */
bool parse_header(struct parser *p)
{
	p->tsf->major = 1;
	p->tsf->maxdata = TDF_DATA_MAX;
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
