// SPDX-License-Identifier: GPL-2.0
/* Manual 1.3.2 to 1.3.4: what stands before the first TRACE. */
#include "parser.h"

#include <rastrace/tff.h>
#include <string.h>

#define MAJOR_MAX	255
#define GROUP_ID_MAX	65535
#define TYPE_ID_MAX	0x8000

struct list {
	const char *title;
	struct tsf_name *names;
	size_t *count, max;
	enum diag_id multiple_id;
	bool ignored;		/* a redefinition: parsed, not stored */
	bool full;		/* that was told */
};

bool parse_name(struct parser *p, char *name, struct srcpos *pos)
{
	struct token *token = &p->token;
	size_t length = token->length;

	if ((token->kind != TOKEN_WORD && token->kind != TOKEN_NUMBER) ||
	    parser_at_trace(p))
		return parser_missing(p, "name");
	*pos = token->pos;
	if (length > TDF_NAME_MAX) {
		parser_report(p, *pos, TRCERR_NAMETOOBIG,
			      parser_text(p, token));
		length = TDF_NAME_MAX;
	}
	memcpy(name, token->text, length);
	name[length] = 0;
	parser_next(p);
	return true;
}

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

static bool parse_modname(struct parser *p, struct srcpos keyword)
{
	if (p->tsf->modname) {
		parser_report(p, keyword, TRCERR_KEYWORD, "TRACE", "MODNAME");
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
	/* in front of a '=' that was no name but the next keyword */
	if (p->tsf->modname && !parser_at_mark(p, '='))
		return true;
	parser_report(p, keyword, TRCERR_NOMODNAME);
	diag_hint(p->diag, "MODNAME = path, of a program, say");
	return false;
}

static bool parse_major(struct parser *p, struct srcpos keyword)
{
	struct srcpos pos;
	uint64_t value;

	if (p->major_given)
		parser_report(p, keyword, TRCERR_MULTIPLEMAJOR);
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

static bool parse_maxdata(struct parser *p, struct srcpos keyword)
{
	struct srcpos pos;
	uint64_t value;

	if (p->maxdata_given)
		parser_report(p, keyword, TRCERR_MULTIPLEMAXDL);
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

static bool id_known(const struct list *list, uint32_t id)
{
	for (size_t i = 0; i < *list->count; i++)
		if (list->names[i].id == id)
			return true;
	return false;
}

static bool id_valid(const struct parser *p, const struct list *list,
		     uint64_t id)
{
	if (list->names == p->tsf->types)
		return id && id <= TYPE_ID_MAX && !(id & (id - 1));
	return id && id <= GROUP_ID_MAX;
}

static void report_id(struct parser *p, const struct list *list,
		      struct srcpos pos, const char *text)
{
	parser_report(p, pos, TRCERR_BADID, text);
	diag_hint(p->diag, list->names == p->tsf->types ?
		  "the ID of a type is a power of two, 1 to %#x" :
		  "the ID of a group is 1 to %u",
		  list->names == p->tsf->types ? TYPE_ID_MAX : GROUP_ID_MAX);
}

static void item_add(struct parser *p, struct list *list,
		     const struct tsf_name *item, struct srcpos pos,
		     const struct token *id)
{
	const struct tsf *tsf = p->tsf;

	if (list->ignored)
		return;
	if (*list->count == list->max) {
		if (!list->full)
			parser_report(p, pos, TRCERR_TOOMANYNAMES, list->title);
		list->full = true;
	} else if (name_known(tsf->types, tsf->type_count, item->name) ||
		   name_known(tsf->groups, tsf->group_count, item->name)) {
		parser_report(p, pos, TRCERR_MULTIPLEVENTNM, item->name);
	} else if (id_known(list, item->id)) {
		parser_report(p, id->pos, list->multiple_id,
			      parser_text(p, id));
	} else {
		list->names[(*list->count)++] = *item;
	}
}

/* NAME=name,ID=number */
static bool parse_item(struct parser *p, struct list *list)
{
	struct tsf_name item = { 0 };
	struct srcpos pos, id_pos;
	struct token token;
	uint64_t id;

	if (!keyword_expect(p, "NAME") || !parse_name(p, item.name, &pos))
		return false;
	parser_expect_comma(p);
	if (!keyword_expect(p, "ID"))
		return false;
	token = p->token;
	if (!parser_number(p, &id, &id_pos)) {
		if (token.kind == TOKEN_WORD || token.kind == TOKEN_NUMBER ||
		    token.kind == TOKEN_STRING)
			parser_next(p);
		return !p->aborted;
	}
	item.id = id;
	if (id_valid(p, list, id))
		item_add(p, list, &item, pos, &token);
	else
		report_id(p, list, id_pos, parser_text(p, &token));
	return true;
}

static bool parse_list(struct parser *p, struct list *list)
{
	bool comma;

	do {
		if (!parse_item(p, list))
			return false;
		comma = parser_take_mark(p, ',');
		if (!comma && parser_at(p, "NAME"))
			parser_expect_comma(p);
	} while (parser_at(p, "NAME"));
	return true;
}

static bool parse_typelist(struct parser *p, struct srcpos keyword)
{
	struct list list = {
		.title = "types",
		.names = p->tsf->types,
		.count = &p->tsf->type_count,
		.max = TDF_TYPES_MAX,
		.multiple_id = TRCERR_MULTIPLETYPEID,
		.ignored = p->types_given,
	};

	if (p->types_given)
		parser_report(p, keyword, TRCERR_MULTIPLETYPL);
	p->types_given = true;
	return parse_list(p, &list);
}

static bool parse_grouplist(struct parser *p, struct srcpos keyword)
{
	struct list list = {
		.title = "groups",
		.names = p->tsf->groups,
		.count = &p->tsf->group_count,
		.max = TDF_GROUPS_MAX,
		.multiple_id = TRCERR_MULTIPLEGRPID,
		.ignored = p->groups_given,
	};

	if (p->groups_given)
		parser_report(p, keyword, TRCERR_MULTIPLEGROUPL);
	p->groups_given = true;
	return parse_list(p, &list);
}

static const struct {
	const char *word;
	bool (*parse)(struct parser *p, struct srcpos keyword);
} clauses[] = {
	{ "MODNAME", parse_modname },
	{ "MAJOR", parse_major },
	{ "MAXDATALENGTH", parse_maxdata },
	{ "MAXDATALEN", parse_maxdata },
	{ "TYPELIST", parse_typelist },
	{ "GROUPLIST", parse_grouplist },
};

/* The text is no TSF at all. */
static void hint_other_file(struct parser *p)
{
	size_t size;
	const char *text = diag_text(p->diag, &size);

	if (size >= 4 && !memcmp(text, "\x7f" "ELF", 4))
		diag_hint(p->diag, "this is a module: --from-module makes a "
				   "TSF of it");
	else if (size >= 8 && (!memcmp(text, TDF_MAGIC, 8) ||
			       !memcmp(text, TFF_MAGIC, 8)))
		diag_hint(p->diag, "this was compiled: --dump prints it");
	else if (size >= 2 && (!memcmp(text, "\xff\xfe", 2) ||
			       !memcmp(text, "\xfe\xff", 2)))
		diag_hint(p->diag, "this is UTF-16: a TSF is ASCII or UTF-8");
}

/* Where a keyword is expected. */
static void report_no_keyword(struct parser *p)
{
	const struct tsf *tsf = p->tsf;

	parser_report(p, p->token.pos, TRCERR_KEYWORD,
		      tsf->modname ? "TRACE" : "MODNAME",
		      parser_text(p, &p->token));
	if (p->token.length && strchr("#/", *p->token.text))
		diag_hint(p->diag, "a comment begins with ';', or stands "
				   "between '/*' and '*/'");
	else if (!tsf->modname)
		hint_other_file(p);
	else if (p->token.pos.line == tsf->modname_pos.line &&
		 p->last.line == tsf->modname_pos.line &&
		 p->last.column == tsf->modname_pos.column)
		diag_hint(p->diag, "a name with blanks is quoted: "
				   "MODNAME=\"my module\"");
}

static bool parse_clause(struct parser *p)
{
	for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++)
		if (parser_at(p, clauses[i].word)) {
			parser_next(p);
			return clauses[i].parse(p, p->last);
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
		if (!parse_clause(p))
			p->aborted = true;
		if (p->aborted)
			return false;
		parser_take_mark(p, ',');
	}
	if (!p->tsf->modname) {
		parser_report(p, p->token.pos, TRCERR_NOMODNAME);
		diag_hint(p->diag, "the file begins with MODNAME = path");
	} else if (p->token.kind == TOKEN_END)
		parser_missing(p, "TRACE");
	return !p->aborted;
}
