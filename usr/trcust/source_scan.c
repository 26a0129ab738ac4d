// SPDX-License-Identifier: GPL-2.0
/*
 * Just enough of the lexical rules of C and C++ (C11 section 6.4, C++17
 * [lex]): comments, literals, directives.
 */
#include "source_scan.h"

#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
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

/* To the end of the line, which a backslash continues. */
static void line_comment_scan(struct source_scanner *s)
{
	while (s->at < s->end && *s->at != '\n') {
		if (*s->at == '\\' && s->end - s->at > 1)
			scan_step(s);
		scan_step(s);
	}
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
			line_comment_scan(&s);
		} else if (!scan_text_is(&s, "/*")) {
			token_scan(&s);
		} else if (comment_scan(&s)) {
			return -1;
		}
	}
	return 0;
}
