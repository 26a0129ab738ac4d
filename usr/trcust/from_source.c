// SPDX-License-Identifier: GPL-2.0
/*
 * A TSF from the trace comments of sources:
 *
 *	***DTHEAD MODNAME=./srv MAJOR=0x21 TYPELIST NAME=PRE,ID=1
 *	***DT TYPE=(PRE), DESC="a request", VARS=(r->len)
 *
 * each directly behind the mark that begins a comment. A DT comment is a TRACE
 * statement. One without a TP stands at the first line with code behind it.
 * Where some have a MINOR, the others get free ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/error.h"
#include "lib/path.h"
#include "lib/safe_text.h"
#include "trcust/tsf/lexer.h"
#include "run.h"
#include "source_scan.h"


struct clause {			/* KEYWORD=value at the top level */
	const char *start, *end;	/* NULL: not there */
};

struct source {
	const char *path;
	struct diag *diag;
	struct source_comments found;
};

/* What a comment says itself. */
struct statement {
	struct clause minor, tp;
	uint64_t number;	/* of the MINOR */
};

struct collection {
	const struct settings *s;
	struct source *sources;
	size_t source_count;
	bool some_minors;
	bool modname_given, failed;
	uint8_t used[UINT16_MAX + 1];
	unsigned int next_minor;
	FILE *out;
};

static int report_memory(void)
{
	struct error err = { 0 };

	error_no_memory(&err);
	error_print("trcust", &err);
	return -1;
}

/* The next token, at what depth of parentheses it stands in *depth. */
static struct token token_take(struct lexer *lexer, int *depth)
{
	struct token token = lexer_next(lexer);

	*depth += token_is_mark(&token, '(') - token_is_mark(&token, ')');
	if (token_is_mark(&token, '\''))
		lexer_skip_character(lexer, &token);
	return token;
}

static struct clause clause_find(const struct source *source,
				 const struct source_comment *comment,
				 const char *word, struct token *value)
{
	struct clause clause = { 0 };
	struct lexer lexer;
	struct token token;
	int depth = 0;

	lexer_init_part(&lexer, source->diag, comment->text, comment->end,
			comment->text_pos);
	lexer.quiet = true;
	while ((token = token_take(&lexer, &depth)).kind != TOKEN_END) {
		if (depth || !token_is_word(&token, word))
			continue;
		clause.start = token.text;
		token = token_take(&lexer, &depth);
		if (!token_is_mark(&token, '='))
			continue;
		*value = lexer_reread_path(&lexer, lexer_next(&lexer));
		clause.end = value->text + value->length +
			     (value->kind == TOKEN_STRING);
		return clause;
	}
	return (struct clause){ 0 };
}

/* A comment, or a literal, that isn't closed would swallow what follows. */
static bool comment_is_whole(const struct source *source,
			     const struct source_comment *comment)
{
	struct lexer lexer;
	int depth = 0;

	lexer_init_part(&lexer, source->diag, comment->text, comment->end,
			comment->text_pos);
	while (token_take(&lexer, &depth).kind != TOKEN_END)
		;
	return !lexer.failed;
}

static struct statement statement_read(const struct source *source,
				       const struct source_comment *comment)
{
	struct statement statement = { 0 };
	struct token value;

	statement.tp = clause_find(source, comment, "TP", &value);
	statement.minor = clause_find(source, comment, "MINOR", &value);
	if (statement.minor.start) {
		value.kind = TOKEN_NUMBER;
		if (!token_number(&value, &statement.number))
			statement.number = 0;
	}
	return statement;
}

/* `text` without the blanks around it, and without the star that begins the
 * lines of some comments. */
static void line_print(FILE *out, const char *text, const char *end,
		       bool first)
{
	while (text < end && strchr(" \t\r\f\v", *text))
		text++;
	if (!first && text < end && *text == '*' &&
	    (text + 1 == end || strchr(" \t\r", text[1])))
		for (text++; text < end && strchr(" \t", *text);)
			text++;
	while (text < end && strchr(" \t\r\f\v", end[-1]))
		end--;
	if (text < end)
		fprintf(out, "      %.*s\n", (int)(end - text), text);
}

static void text_print(FILE *out, const char *text, const char *end, bool first)
{
	const char *stop;

	for (; text < end; text = stop + 1) {
		stop = memchr(text, '\n', end - text);
		stop = stop ? stop : end;
		line_print(out, text, stop, first);
		first = false;
	}
}

/*
 * The name of the source as a debugger may find it: its last parts. What is
 * above the current directory says nothing about the compiler's.
 */
static const char *source_name(const char *path)
{
	while (!strncmp(path, "./", 2))
		path += 2;
	if (*path != '/' && !strstr(path, ".."))
		return path;
	return path_base(path);
}

static bool statement_is_possible(const struct source *source,
				  const struct source_comment *comment,
				  const struct statement *statement)
{
	const char *name = source_name(source->path);

	if (statement->tp.start)
		return true;
	if (!comment->code_line) {
		diag_report(source->diag, comment->pos, TRCERR_INCOMPLETE,
			    "TP");
		diag_hint(source->diag, "no code follows the comment");
		return false;
	}
	if (!name[strcspn(name, "\"\n")])
		return true;
	diag_report(source->diag, comment->pos, TRCERR_BADPARM, source->path);
	diag_hint(source->diag, "a TSF can't name a file like this one");
	return false;
}

static void statement_print(struct collection *c, const struct source *source,
			    const struct source_comment *comment)
{
	struct statement statement = statement_read(source, comment);
	unsigned int minor = 0;
	const char *name;
	bool plain;

	if (!statement_is_possible(source, comment, &statement)) {
		c->failed = true;
		return;
	}
	if (c->some_minors && !statement.minor.start) {
		while (c->next_minor <= UINT16_MAX && c->used[c->next_minor])
			c->next_minor++;
		minor = c->next_minor++;
	}
	if (minor > UINT16_MAX) {
		diag_report(source->diag, comment->pos, TRCERR_MINORRANGE);
		c->failed = true;
		return;
	}
	fputs("\n; ", c->out);
	safe_text_print(c->out, source->path, false);
	fprintf(c->out, ":%u\nTRACE", comment->pos.line);
	if (minor)
		fprintf(c->out, " MINOR=%u,", minor);
	if (!statement.tp.start) {
		name = source_name(source->path);
		plain = !name[strcspn(name, " \t,;=")];
		fprintf(c->out, " TP=@%s%s%s,%u,", plain ? "" : "\"", name,
			plain ? "" : "\"", comment->code_line);
	}
	fputc('\n', c->out);
	text_print(c->out, comment->text, comment->end, true);
}

/* The command line has the last word on MODNAME and MAJOR. */
static void head_print(struct collection *c, const struct source *source,
		       const struct source_comment *comment)
{
	struct clause cut[2] = { 0 };
	const char *at = comment->text;
	struct token value;

	if (c->s->modname)
		cut[0] = clause_find(source, comment, "MODNAME", &value);
	if (c->s->major)
		cut[1] = clause_find(source, comment, "MAJOR", &value);
	if (cut[0].start && cut[1].start && cut[1].start < cut[0].start) {
		struct clause first = cut[1];

		cut[1] = cut[0];
		cut[0] = first;
	}
	for (size_t i = 0; i < 2; i++) {
		if (!cut[i].start)
			continue;
		text_print(c->out, at, cut[i].start, at == comment->text);
		at = cut[i].end;
		while (at < comment->end && strchr(" \t,", *at))
			at++;
	}
	text_print(c->out, at, comment->end, at == comment->text);
}

typedef void (*comment_visit)(struct collection *c, const struct source *source,
			      const struct source_comment *comment);

static void comments_visit(struct collection *c, bool heads,
			   comment_visit visit)
{
	for (size_t i = 0; i < c->source_count; i++) {
		const struct source *source = &c->sources[i];

		for (size_t k = 0; k < source->found.count; k++)
			if (source->found.comments[k].head == heads)
				visit(c, source, &source->found.comments[k]);
	}
}

static void head_look(struct collection *c, const struct source *source,
		      const struct source_comment *comment)
{
	struct token value;

	c->failed |= !comment_is_whole(source, comment);
	if (clause_find(source, comment, "MODNAME", &value).start)
		c->modname_given = true;
}

static void statement_look(struct collection *c, const struct source *source,
			   const struct source_comment *comment)
{
	struct statement statement = statement_read(source, comment);

	c->failed |= !comment_is_whole(source, comment);
	c->some_minors |= statement.minor.start != NULL;
	if (statement.number <= UINT16_MAX)
		c->used[statement.number] = 1;
}

static int sources_open(struct collection *c, int count, char **paths)
{
	c->sources = calloc(count, sizeof(*c->sources));
	if (!c->sources)
		return report_memory();
	for (int i = 0; i < count; i++) {
		struct source *source = &c->sources[c->source_count];

		source->path = paths[i];
		if (diag_open(&source->diag, paths[i], c->s->level))
			return -1;
		c->source_count++;
		if (source_scan(source->diag, &source->found))
			return -1;
	}
	return 0;
}

/* Something was found to make a TSF of. */
static bool check_found(struct collection *c)
{
	struct diag *diag = c->sources[0].diag;
	struct srcpos nowhere = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < c->source_count; i++)
		for (size_t k = 0; k < c->sources[i].found.count; k++)
			count += !c->sources[i].found.comments[k].head;
	if (!count) {
		diag_report(diag, nowhere, TRCERR_UNEXPECTEDEOF);
		diag_hint(diag, "no comment begins with '/***DT'");
	} else if (!c->modname_given && !c->s->modname) {
		diag_report(diag, nowhere, TRCERR_NOMODNAME);
		diag_hint(diag, "give it with --modname, or in a comment that begins with '/***DTHEAD'");
	} else {
		return !c->failed;
	}
	return false;
}

static int tsf_print(struct collection *c)
{
	size_t size;
	char *text = NULL;
	int code;

	c->out = open_memstream(&text, &size);
	if (!c->out) {
		report_memory();
		return 1;
	}
	if (c->s->modname)
		fprintf(c->out, "MODNAME=\"%s\"\n", c->s->modname);
	if (c->s->major)
		fprintf(c->out, "MAJOR=%u\n", c->s->major);
	comments_visit(c, true, head_print);
	comments_visit(c, false, statement_print);
	if (fclose(c->out)) {
		report_memory();
		free(text);
		return 1;
	}
	code = run_print(c->s, text, size);
	return c->failed ? 1 : code;
}

int run_from_source(const struct settings *s, int count, char **paths)
{
	struct collection *c = calloc(1, sizeof(*c));
	int code = 1;

	if (!c) {
		report_memory();
		return 1;
	}
	c->s = s;
	c->next_minor = 1;
	if (!sources_open(c, count, paths)) {
		comments_visit(c, true, head_look);
		comments_visit(c, false, statement_look);
		if (check_found(c))
			code = tsf_print(c);
	}
	for (size_t i = 0; i < c->source_count; i++) {
		free(c->sources[i].found.comments);
		diag_close(c->sources[i].diag);
	}
	free(c->sources);
	free(c);
	return code;
}
