// SPDX-License-Identifier: GPL-2.0
/*
 * Just enough of the lexical rules of C and C++ (C11 section 6.4, C++17
 * [lex]): comments, literals, directives.
 */
#include "source_scan.h"

#include <stdlib.h>
#include <string.h>
#include "trcust/tsf/lexer.h"

#define MARK		"/***DT"
#define MARK_HEAD	"HEAD"
#define RAW_DELIMITER_MAX	16

struct scanner {
	struct diag *diag;
	struct source_comments *found;
	const char *at, *end, *line_start;
	uint32_t line;
	bool line_begun;	/* something but blanks stands on it */
	bool directive;		/* in a line of the preprocessor */
	size_t without_code;	/* comments from here on wait for code */
};

static bool stands(const struct scanner *s, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(s->end - s->at) >= length &&
	       !memcmp(s->at, text, length);
}

static struct srcpos pos_here(const struct scanner *s, uint32_t length)
{
	return (struct srcpos){
		.line = s->line,
		.column = s->at - s->line_start + 1,
		.length = length,
	};
}

static void step(struct scanner *s)
{
	if (*s->at++ != '\n')
		return;
	s->line++;
	s->line_start = s->at;
	s->line_begun = false;
}

static void skip_to(struct scanner *s, const char *at)
{
	while (s->at < at)
		step(s);
}

/* Behind what ends with `text`, or the end. */
static const char *find_end(const char *at, const char *end, const char *text)
{
	const char *found = memmem(at, end - at, text, strlen(text));

	return found ? found + strlen(text) : end;
}

static struct source_comment *comment_add(struct scanner *s)
{
	struct source_comments *found = s->found;
	size_t count = found->count;
	struct source_comment *comments = found->comments;

	if (!(count & (count - 1)))
		comments = realloc(comments, (count ? count * 2 : 1) *
						     sizeof(*comments));
	if (!comments) {
		diag_no_memory(s->diag, pos_here(s, 1));
		return NULL;
	}
	found->comments = comments;
	memset(&comments[count], 0, sizeof(*comments));
	return &comments[found->count++];
}

/* The comment that begins here, and ends before `end`, is one for trcust. */
static int trace_comment(struct scanner *s, const char *end)
{
	struct source_comment *comment = comment_add(s);

	if (!comment)
		return -1;
	comment->pos = pos_here(s, strlen(MARK));
	s->at += strlen(MARK);
	comment->head = stands(s, MARK_HEAD);
	s->at += comment->head ? strlen(MARK_HEAD) : 0;
	comment->text_pos = pos_here(s, 1);
	comment->text = s->at;
	comment->end = end - 2;
	return 0;
}

/* Not MARK with more letters behind it. */
static bool at_trace_comment(const struct scanner *s)
{
	const char *at = s->at + strlen(MARK);

	if (!stands(s, MARK))
		return false;
	if ((size_t)(s->end - at) > strlen(MARK_HEAD) &&
	    !memcmp(at, MARK_HEAD, strlen(MARK_HEAD)))
		at += strlen(MARK_HEAD);
	return at < s->end && !lexer_is_word(*at);
}

static int comment_scan(struct scanner *s)
{
	bool begun = s->line_begun, trace = at_trace_comment(s);
	const char *end = find_end(s->at + 2, s->end, "*/");

	if (trace && memcmp(end - 2, "*/", 2)) {
		diag_report(s->diag, pos_here(s, strlen(MARK)),
			    TRCERR_UNEXPECTEDEOF);
		diag_hint(s->diag, "this comment is not closed");
		return -1;
	}
	if (trace && trace_comment(s, end))
		return -1;
	skip_to(s, end);
	s->line_begun = begun;	/* a directive may follow a comment */
	return 0;
}

/* To the end of the line, which a backslash carries on. */
static void line_comment_scan(struct scanner *s)
{
	while (s->at < s->end && *s->at != '\n') {
		if (*s->at == '\\' && s->end - s->at > 1)
			step(s);
		step(s);
	}
}

/* To the quote that closes the one here, on the same line. */
static void literal_scan(struct scanner *s)
{
	char quote = *s->at;

	step(s);
	while (s->at < s->end && *s->at != quote && *s->at != '\n') {
		if (*s->at == '\\' && s->end - s->at > 1)
			step(s);
		step(s);
	}
	if (s->at < s->end && *s->at == quote)
		step(s);
}

/* R"delimiter( ... )delimiter" */
static void raw_literal_scan(struct scanner *s)
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
static void word_scan(struct scanner *s)
{
	bool number = lexer_is_digit(*s->at);

	while (s->at < s->end &&
	       (lexer_is_word(*s->at) ||
		(number && *s->at == '\'' && s->end - s->at > 1 &&
		 lexer_is_word(s->at[1]))))
		s->at++;
	if (!number && s->at[-1] == 'R' && stands(s, "\""))
		raw_literal_scan(s);
}

/* The comments before have found their code. A brace that opens a block, or
 * an empty statement, is none. */
static void code_met(struct scanner *s)
{
	if (s->directive || *s->at == '{' || *s->at == ';')
		return;
	while (s->without_code < s->found->count)
		s->found->comments[s->without_code++].code_line = s->line;
}

/* A backslash before its end carries a directive on. */
static bool line_goes_on(const struct scanner *s)
{
	const char *at = s->at;

	if (at > s->line_start && at[-1] == '\r')
		at--;
	return at > s->line_start && at[-1] == '\\';
}

static void blank_scan(struct scanner *s)
{
	if (*s->at == '\n' && s->directive)
		s->directive = line_goes_on(s);
	step(s);
}

static void token_scan(struct scanner *s)
{
	if (*s->at == '#' && !s->line_begun)
		s->directive = true;
	s->line_begun = true;
	code_met(s);
	if (*s->at == '"' || *s->at == '\'')
		literal_scan(s);
	else if (lexer_is_word(*s->at))
		word_scan(s);
	else
		step(s);
}

int source_scan(struct diag *diag, struct source_comments *found)
{
	struct scanner s = { .diag = diag, .found = found, .line = 1 };
	size_t size;

	s.at = s.line_start = diag_text(diag, &size);
	s.end = s.at + size;
	while (s.at < s.end) {
		if (strchr(" \t\r\n\f\v", *s.at) || !*s.at)
			blank_scan(&s);
		else if (stands(&s, "//"))
			line_comment_scan(&s);
		else if (!stands(&s, "/*"))
			token_scan(&s);
		else if (comment_scan(&s))
			return -1;
	}
	return 0;
}
