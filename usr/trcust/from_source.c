// SPDX-License-Identifier: GPL-2.0
/*
 * Just enough of the lexical rules of C and C++ (C11 section 6.4, C++17
 * [lex]): comments, literals, directives.
 */
#include "from_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/path.h"
#include "lib/text.h"
#include "input.h"
#include "trcust/tsf/lexer.h"

#define MARK		"/***DT"
#define MARK_HEAD	"HEAD"
#define RAW_DELIMITER_MAX	16

struct source_scanner {
	struct diag *diag;
	struct source_comments *found;
	const char *at, *end, *line_start;
	uint32_t line;
	bool line_begun;	/* something but blanks is on it */
	bool directive;		/* in a line of the preprocessor */
	size_t without_code;	/* comments from here on wait for code */
};

static bool scan_text_is(const struct source_scanner *s, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(s->end - s->at) >= length &&
	       !memcmp(s->at, text, length);
}

static struct srcpos pos_here(const struct source_scanner *s, uint32_t length)
{
	return (struct srcpos){
		.line = s->line,
		.column = s->at - s->line_start + 1,
		.length = length,
	};
}

static void scan_step(struct source_scanner *s)
{
	if (*s->at++ != '\n')
		return;
	s->line++;
	s->line_start = s->at;
	s->line_begun = false;
}

static void skip_to(struct source_scanner *s, const char *at)
{
	while (s->at < at)
		scan_step(s);
}

/* After what ends with `text`, or the end. */
static const char *find_end(const char *at, const char *end, const char *text)
{
	const char *found = memmem(at, end - at, text, strlen(text));

	return found ? found + strlen(text) : end;
}

/* A comment for trcust begins with MARK, without more letters after it. */
static int comment_scan(struct source_scanner *s)
{
	const char *at = s->at + strlen(MARK);
	const char *end = find_end(s->at + 2, s->end, "*/");
	bool begun = s->line_begun, trace = scan_text_is(s, MARK);
	struct source_comments *found = s->found;
	struct source_comment *comment;

	if (trace && (size_t)(s->end - at) > strlen(MARK_HEAD) &&
	    !memcmp(at, MARK_HEAD, strlen(MARK_HEAD)))
		at += strlen(MARK_HEAD);
	trace &= at < s->end && !lexer_is_word(*at);
	if (trace && memcmp(end - 2, "*/", 2)) {
		diag_report(s->diag, pos_here(s, strlen(MARK)),
			    TRCERR_UNEXPECTEDEOF);
		diag_hint(s->diag, "this comment is not closed");
		return -1;
	}
	if (trace) {
		if (!array_grow(&found->comments, found->count, &found->room,
				sizeof(*comment)))
			return diag_no_memory(s->diag, pos_here(s, 1));
		comment = &found->comments[found->count++];
		*comment = (struct source_comment) {
			.pos = pos_here(s, strlen(MARK)),
			.head = at > s->at + strlen(MARK),
			.text = at, .end = end - 2,
		};
		s->at = at;
		comment->text_pos = pos_here(s, 1);
	}
	skip_to(s, end);
	s->line_begun = begun;	/* a directive may follow a comment */
	return 0;
}

/* To the quote that closes the one here, on the same line. */
static void literal_scan(struct source_scanner *s)
{
	char quote = *s->at;

	scan_step(s);
	while (s->at < s->end && *s->at != quote && *s->at != '\n') {
		if (*s->at == '\\' && s->end - s->at > 1)
			scan_step(s);
		scan_step(s);
	}
	if (s->at < s->end && *s->at == quote)
		scan_step(s);
}

/* R"delimiter( ... )delimiter" */
static void raw_literal_scan(struct source_scanner *s)
{
	size_t left = s->end - s->at - 1, length = 0;
	char closing[RAW_DELIMITER_MAX + 3] = ")";

	while (length < left && length <= RAW_DELIMITER_MAX &&
	       s->at[1 + length] != '(')
		length++;
	if (length == left || length > RAW_DELIMITER_MAX) {
		literal_scan(s);
		return;
	}
	memcpy(closing + 1, s->at + 1, length);
	closing[length + 1] = '"';
	skip_to(s, find_end(s->at, s->end, closing));
}

/* A word or number; in a number a quote between digits (C++14) belongs to
 * it. */
static void word_scan(struct source_scanner *s)
{
	bool number = lexer_is_digit(*s->at);

	while (s->at < s->end &&
	       (lexer_is_word(*s->at) ||
		(number && *s->at == '\'' && s->end - s->at > 1 &&
		 lexer_is_word(s->at[1]))))
		s->at++;
	if (!number && s->at[-1] == 'R' && scan_text_is(s, "\""))
		raw_literal_scan(s);
}

static void token_scan(struct source_scanner *s)
{
	if (*s->at == '#' && !s->line_begun)
		s->directive = true;
	s->line_begun = true;

	/* The comments before have found their code, which is not a brace that
	 * opens a block, nor an empty statement. */
	if (!s->directive && *s->at != '{' && *s->at != ';')
		while (s->without_code < s->found->count)
			s->found->comments[s->without_code++].code_line =
				s->line;
	if (*s->at == '"' || *s->at == '\'')
		literal_scan(s);
	else if (lexer_is_word(*s->at))
		word_scan(s);
	else
		scan_step(s);
}

int source_scan(struct diag *diag, struct source_comments *found)
{
	struct source_scanner s = { .diag = diag, .found = found, .line = 1 };
	size_t size;

	s.at = s.line_start = diag_text(diag, &size);
	s.end = s.at + size;
	while (s.at < s.end) {
		if (strchr(" \t\r\n\f\v", *s.at) || !*s.at) {
			/* A backslash before the line's end continues a
			 * directive. */
			const char *at = s.at;

			at -= at > s.line_start && at[-1] == '\r';
			if (*s.at == '\n' && s.directive)
				s.directive = at > s.line_start &&
					      at[-1] == '\\';
			scan_step(&s);
		} else if (scan_text_is(&s, "//")) {
			/* To the end of the line; a backslash continues it. */
			while (s.at < s.end && *s.at != '\n') {
				if (*s.at == '\\' && s.end - s.at > 1)
					scan_step(&s);
				scan_step(&s);
			}
		} else if (!scan_text_is(&s, "/*")) {
			token_scan(&s);
		} else if (comment_scan(&s)) {
			return -1;
		}
	}
	return 0;
}

/*
 * A TSF from the trace comments of sources:
 *
 *	***DTHEAD MODNAME=./srv MAJOR=0x21 TYPELIST NAME=PRE,ID=1
 *	***DT TYPE=(PRE), DESC="a request", VARS=(r->len)
 *
 * each directly after the mark that begins a comment. A DT comment is a TRACE
 * statement. One without a TP is for the first line with code after it.
 * Where some have a MINOR, the others get free ones.
 */

struct comment_clause {			/* KEYWORD=value at the top level */
	const char *start, *end;	/* NULL: not there */
};

struct commented_source {
	const char *path;
	struct diag *diag;
	struct source_comments found;
};

/* What a comment has itself. */
struct comment_statement {
	struct comment_clause minor, tp;
	uint64_t number;	/* of the MINOR */
};

struct source_collection {
	const struct settings *s;
	struct commented_source *sources;
	size_t source_count, statement_count;
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
	return 1;
}

/* The next token, and in *depth how many parentheses it is in. */
static struct token token_take(struct lexer *lexer, int *depth)
{
	struct token token = lexer_next(lexer);

	*depth += token_is_mark(&token, '(') - token_is_mark(&token, ')');
	if (token_is_mark(&token, '\''))
		lexer_skip_character(lexer, &token);
	return token;
}

static struct comment_clause
source_clause_find(const struct commented_source *source,
		   const struct source_comment *comment, const char *word,
		   struct token *value)
{
	struct comment_clause clause = { 0 };
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
	return (struct comment_clause){ 0 };
}

/* A comment, or a literal, that isn't closed would swallow what follows. */
static bool comment_is_whole(const struct commented_source *source,
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

static struct comment_statement
statement_read(const struct commented_source *source,
	       const struct source_comment *comment)
{
	struct comment_statement statement = { 0 };
	struct token value;

	statement.tp = source_clause_find(source, comment, "TP", &value);
	statement.minor = source_clause_find(source, comment, "MINOR", &value);
	if (statement.minor.start) {
		value.kind = TOKEN_NUMBER;
		if (!token_number(&value, &statement.number))
			statement.number = 0;
	}
	return statement;
}

/* Without the blanks around the lines, and without the star that begins the
 * lines of some comments. */
static void source_text_print(FILE *out, const char *text, const char *end,
			      bool first)
{
	const char *stop, *last;

	for (; text < end; text = stop + 1) {
		stop = memchr(text, '\n', end - text);
		stop = last = stop ? stop : end;
		while (text < last && strchr(" \t\r\f\v", *text))
			text++;
		if (!first && text < last && *text == '*' &&
		    (text + 1 == last || strchr(" \t\r", text[1])))
			for (text++; text < last && strchr(" \t", *text);)
				text++;
		while (text < last && strchr(" \t\r\f\v", last[-1]))
			last--;
		if (text < last)
			fprintf(out, "      %.*s\n", (int)(last - text), text);
		first = false;
	}
}

/*
 * The name of the source as a debugger may find it: its last parts. What is
 * above the current directory is not what the compiler's was.
 */
static const char *source_name(const char *path)
{
	while (!strncmp(path, "./", 2))
		path += 2;
	if (*path != '/' && !strstr(path, ".."))
		return path;
	return path_base(path);
}

static void statement_print(struct source_collection *c,
			    const struct commented_source *source,
			    const struct source_comment *comment)
{
	struct comment_statement statement = statement_read(source, comment);
	const char *name = source_name(source->path);
	unsigned int minor = 0;
	bool plain;

	if (!statement.tp.start && !comment->code_line) {
		diag_report(source->diag, comment->pos, TRCERR_INCOMPLETE,
			    "TP");
		diag_hint(source->diag, "no code follows the comment");
		c->failed = true;
		return;
	}
	if (!statement.tp.start && name[strcspn(name, "\"\n")]) {
		diag_report(source->diag, comment->pos, TRCERR_BADPARM,
			    source->path);
		diag_hint(source->diag, "a TSF can't name a file like this one");
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
		plain = !name[strcspn(name, " \t,;=")];
		fprintf(c->out, " TP=@%s%s%s,%u,", plain ? "" : "\"", name,
			plain ? "" : "\"", comment->code_line);
	}
	fputc('\n', c->out);
	source_text_print(c->out, comment->text, comment->end, true);
}

/* The command line has the last word on MODNAME and MAJOR. */
static void source_head_print(struct source_collection *c,
			      const struct commented_source *source,
			      const struct source_comment *comment)
{
	struct comment_clause cut[2] = { 0 };
	const char *at = comment->text;
	struct token value;

	if (c->s->modname)
		cut[0] = source_clause_find(source, comment, "MODNAME", &value);
	if (c->s->major)
		cut[1] = source_clause_find(source, comment, "MAJOR", &value);
	if (cut[0].start && cut[1].start && cut[1].start < cut[0].start) {
		struct comment_clause first = cut[1];

		cut[1] = cut[0];
		cut[0] = first;
	}
	for (size_t i = 0; i < 2; i++) {
		if (!cut[i].start)
			continue;
		source_text_print(c->out, at, cut[i].start,
				  at == comment->text);
		at = cut[i].end;
		while (at < comment->end && strchr(" \t,", *at))
			at++;
	}
	source_text_print(c->out, at, comment->end, at == comment->text);
}

/* What the comments of a source have: MODNAME, MINOR. */
static void source_look(struct source_collection *c,
			const struct commented_source *source)
{
	struct comment_statement statement;
	struct token value;

	for (size_t i = 0; i < source->found.count; i++) {
		const struct source_comment *comment =
			&source->found.comments[i];

		c->failed |= !comment_is_whole(source, comment);
		c->statement_count += !comment->head;
		if (comment->head) {
			c->modname_given |= source_clause_find(source, comment,
				"MODNAME", &value).start != NULL;
			continue;
		}
		statement = statement_read(source, comment);
		c->some_minors |= statement.minor.start != NULL;
		if (statement.number <= UINT16_MAX)
			c->used[statement.number] = 1;
	}
}

static void comments_print(struct source_collection *c, bool heads)
{
	for (size_t i = 0; i < c->source_count; i++) {
		const struct commented_source *source = &c->sources[i];

		for (size_t k = 0; k < source->found.count; k++) {
			const struct source_comment *comment =
				&source->found.comments[k];

			if (comment->head && heads)
				source_head_print(c, source, comment);
			else if (!comment->head && !heads)
				statement_print(c, source, comment);
		}
	}
}

static int tsf_print(struct source_collection *c)
{
	size_t size;
	char *text = NULL;
	int code;

	c->out = open_memstream(&text, &size);
	if (!c->out)
		return report_memory();
	if (c->s->modname)
		fprintf(c->out, "MODNAME=\"%s\"\n", c->s->modname);
	if (c->s->major)
		fprintf(c->out, "MAJOR=%u\n", c->s->major);
	comments_print(c, true);
	comments_print(c, false);
	if (fclose(c->out)) {
		free(text);
		return report_memory();
	}
	code = output_print(c->s, text, size);
	return c->failed ? 1 : code;
}

int run_from_source(const struct settings *s, int count, char **paths)
{
	struct source_collection *c = calloc(1, sizeof(*c));
	struct srcpos nowhere = { 0 };
	int code = 1;

	if (!c)
		return report_memory();
	c->s = s;
	c->next_minor = 1;
	c->sources = calloc(count, sizeof(*c->sources));
	if (!c->sources) {
		report_memory();
		goto out;
	}
	for (int i = 0; i < count; i++) {
		struct commented_source *source = &c->sources[i];

		source->path = paths[i];
		if (diag_open(&source->diag, paths[i], s->level))
			goto out;
		c->source_count++;
		if (source_scan(source->diag, &source->found))
			goto out;
	}
	for (size_t i = 0; i < c->source_count; i++)
		source_look(c, &c->sources[i]);
	if (!c->statement_count) {
		diag_report(c->sources[0].diag, nowhere, TRCERR_UNEXPECTEDEOF);
		diag_hint(c->sources[0].diag, "no comment begins with '/***DT'");
	} else if (!c->modname_given && !s->modname) {
		diag_report(c->sources[0].diag, nowhere, TRCERR_NOMODNAME);
		diag_hint(c->sources[0].diag, "give it with --modname, or in a comment that begins with '/***DTHEAD'");
	} else if (!c->failed) {
		code = tsf_print(c);
	}
out:
	for (size_t i = 0; i < c->source_count; i++) {
		free(c->sources[i].found.comments);
		diag_close(c->sources[i].diag);
	}
	free(c->sources);
	free(c);
	return code;
}
