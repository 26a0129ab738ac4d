// SPDX-License-Identifier: GPL-2.0
#include "lsp_cursor.h"

#include <ctype.h>
#include <string.h>
#include "trcust/tsf/lexer.h"

struct cursor_scan {
	struct lsp_cursor *cursor;
	const char *text;
	size_t size, offset;
	struct lexer lexer;
	struct token token, last;	/* last: END before the first one */
	size_t last_end;
};

/* Where a token is; a string has its quotes. */
static size_t token_start(const struct cursor_scan *s, const struct token *t)
{
	return t->text - s->text - (t->kind == TOKEN_STRING);
}

static size_t token_end(const struct cursor_scan *s, const struct token *t)
{
	return t->text - s->text + t->length + (t->kind == TOKEN_STRING);
}

static struct token scan_ahead(const struct cursor_scan *s)
{
	struct lexer ahead = s->lexer;

	return lexer_next(&ahead);
}

static bool scan_next(struct cursor_scan *s)
{
	s->last = s->token;
	if (s->token.text)
		s->last_end = token_end(s, &s->token);
	s->token = lexer_next(&s->lexer);
	return s->token.kind != TOKEN_END;
}

/* The token is a word that '=' follows, and not "==", and is no name. */
static bool scan_at_clause(const struct cursor_scan *s)
{
	struct token next = scan_ahead(s);
	size_t after = next.text ? token_end(s, &next) : s->size;

	return s->token.kind == TOKEN_WORD && token_is_mark(&next, '=') &&
	       !(after < s->size && s->text[after] == '=') &&
	       !token_is_mark(&s->last, '.') && !token_is_mark(&s->last, '@') &&
	       !token_is_word(&s->token, "operator");
}

/* As parser_at_trace(); at the cursor nothing follows yet. */
static bool scan_at_trace(const struct cursor_scan *s)
{
	struct token next = scan_ahead(s);
	bool name = (token_is_mark(&s->last, '.') ||
		     token_is_mark(&s->last, '@')) &&
		    s->last.pos.line == s->token.pos.line;

	return token_is_word(&s->token, "TRACE") && !name &&
	       (next.kind == TOKEN_WORD || next.kind == TOKEN_END ||
		token_start(s, &next) >= s->offset);
}

/* TP and what belongs to it, from TRACE on. */
static void cursor_find_tp(struct cursor_scan *s)
{
	struct lsp_cursor *cursor = s->cursor;
	unsigned int depth = 0;
	bool inside = false;

	while (scan_next(s) && !scan_at_trace(s)) {
		if (token_is_mark(&s->token, '('))
			depth++;
		else if (token_is_mark(&s->token, ')'))
			depth -= depth > 0;
		if (!depth && scan_at_clause(s) &&
		    !token_is_word(&s->token, "RETEP")) {
			if (inside)
				break;
			inside = token_is_word(&s->token, "TP") ||
				 token_is_word(&s->token, "CALL");
			if (!inside)
				continue;
			scan_next(s);
			cursor->tp = cursor->tp_end =
				token_end(s, &s->token);
		} else if (inside && !token_is_mark(&s->token, ',')) {
			cursor->tp_end = token_end(s, &s->token);
		}
	}
}

static bool is_word_at(const struct cursor_scan *s, size_t at)
{
	return at < s->size && lexer_is_word(s->text[at]);
}

/* Before `at`: the bracket that the one there closes; `at`: there is none. */
static size_t group_start(const struct cursor_scan *s, size_t at, size_t least)
{
	size_t depth = 0, p = at;

	while (p > least) {
		char c = s->text[--p];

		if (c == ')' || c == ']')
			depth++;
		else if ((c == '(' || c == '[') && !--depth)
			return p;
		if (c == '\n' || !depth)
			break;
	}
	return at;
}

/* Back over what the member operator before the word has on its left. */
static void cursor_find_chain(struct cursor_scan *s)
{
	struct lsp_cursor *cursor = s->cursor;
	size_t least = cursor->value, p = cursor->word, before, object;

	cursor->chain = p;
	cursor->object_end = 0;
	for (;;) {
		if (p >= least + 2 && !memcmp(s->text + p - 2, "->", 2))
			object = p - 2;
		else if (p >= least + 2 && !memcmp(s->text + p - 2, "::", 2))
			object = 0;
		else if (p > least + 1 && s->text[p - 1] == '.')
			object = p - 1;
		else
			return;
		before = p = object ? object : p - 2;
		while (p > least && (s->text[p - 1] == ')' ||
				     s->text[p - 1] == ']')) {
			size_t start = group_start(s, p, least);

			if (start == p)
				return;
			p = start;
		}
		while (p > least && lexer_is_word(s->text[p - 1]))
			p--;
		if (object && p == before)
			return;		/* ".name" of MEM32 */
		if (object && !cursor->object_end)
			cursor->object_end = object;
		cursor->chain = p;
	}
}

/* The tokens before the cursor. */
static void cursor_scan_before(struct cursor_scan *s, size_t *trace)
{
	struct lsp_cursor *cursor = s->cursor;
	bool more;

	while ((more = scan_next(s)) && token_start(s, &s->token) < s->offset) {
		size_t end = token_end(s, &s->token);
		bool typed = end == s->offset && s->token.kind == TOKEN_WORD;

		if (s->token.kind == TOKEN_STRING && s->offset < end) {
			cursor->in_text = true;
		} else if (end > s->offset || typed) {
			break;
		} else if (scan_at_trace(s)) {
			if (!cursor->in_trace)
				cursor->header_end = token_start(s, &s->token);
			cursor->in_trace = true;
			cursor->clause[0] = '\0';
			cursor->depth = 0;
			*trace = token_start(s, &s->token);
		} else if (!cursor->depth && scan_at_clause(s)) {
			size_t n = s->token.length;

			n = n < sizeof(cursor->clause) ? n :
				sizeof(cursor->clause) - 1;
			for (size_t i = 0; i < n; i++)
				cursor->clause[i] =
					toupper((unsigned char)s->token.text[i]);
			cursor->clause[n] = '\0';
			cursor->value = end;
		} else if (token_is_mark(&s->token, '=') && !cursor->depth &&
			   cursor->value == s->last_end) {
			cursor->value = end;
		} else if (token_is_mark(&s->token, '(')) {
			cursor->depth++;
		} else if (token_is_mark(&s->token, ')')) {
			cursor->depth -= cursor->depth > 0;
		}
	}
	/* a token around the cursor is not the last one */
	if (!more && !s->lexer.failed)
		return;
	/* a string or comment that does not end */
	if (s->lexer.failed && token_start(s, &s->token) < s->offset)
		cursor->in_text = true;
}

bool lsp_cursor_find(struct lsp_cursor *cursor, const char *text, size_t size,
		     size_t offset)
{
	struct cursor_scan s = { .cursor = cursor, .offset = offset };
	const struct token *last = &s.last;
	size_t trace = 0, line;
	struct diag *diag;

	*cursor = (struct lsp_cursor) { .header_end = size };
	if (diag_open_text(&diag, NULL, text, size, 0, NULL))
		return false;
	s.text = diag_text(diag, &s.size);
	lexer_init(&s.lexer, diag);
	s.lexer.quiet = true;
	cursor_scan_before(&s, &trace);

	/* in the blanks before a token may be a comment */
	for (line = offset; line > s.last_end && s.text[line - 1] != '\n'; line--)
		;
	if (memchr(s.text + line, ';', offset - line) ||
	    (offset > s.last_end && s.token.text &&
	     token_start(&s, &s.token) >= offset &&
	     memmem(s.text + s.last_end, offset - s.last_end, "/*", 2) &&
	     !memmem(s.text + s.last_end, offset - s.last_end, "*/", 2)))
		cursor->in_text = true;

	cursor->word = cursor->word_end = offset;
	while (cursor->word && is_word_at(&s, cursor->word - 1))
		cursor->word--;
	while (is_word_at(&s, cursor->word_end))
		cursor->word_end++;
	cursor_find_chain(&s);
	cursor->keyword = !cursor->depth &&
		(last->kind == TOKEN_END || token_is_mark(last, ',') ||
		 (s.last_end < cursor->word && !token_is_mark(last, '=') &&
		  !token_is_mark(last, '.') && !token_is_mark(last, '@')));

	if (cursor->in_trace) {
		lexer_init(&s.lexer, diag);
		s.lexer.quiet = true;
		s.offset = s.size;
		while (scan_next(&s) && token_start(&s, &s.token) < trace)
			;
		cursor_find_tp(&s);
	} else {
		/* the header ends where the first TRACE is, after the cursor */
		lexer_init(&s.lexer, diag);
		s.lexer.quiet = true;
		s.offset = s.size;
		while (scan_next(&s) && !scan_at_trace(&s))
			;
		cursor->header_end = s.token.kind == TOKEN_END ? size :
				     token_start(&s, &s.token);
	}
	diag_close(diag);
	return true;
}

bool lsp_cursor_in_expression(const struct lsp_cursor *cursor)
{
	static const char *const clauses[] = {
		"VARS", "RESULT", "IF", "SUM", "MIN", "MAX", "HIST", "BY",
	};
	bool any = false;

	for (size_t i = 0; i < sizeof(clauses) / sizeof(*clauses); i++)
		any |= !strcmp(cursor->clause, clauses[i]);
	return cursor->depth && any;
}
