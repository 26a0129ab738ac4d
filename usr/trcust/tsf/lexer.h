/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TSF as tokens. Line ends, blanks and comments separate them. What a
 * word is depends on the place: a keyword or number by lexer_next(); where a
 * symbol or a file name is expected the parser has the token read again by
 * lexer_reread_symbol() or lexer_reread_path().
 *
 * A diagnostic of the lexer ends the text: from then on all is TOKEN_END and
 * `failed` is set.
 */
#ifndef TRCUST_LEXER_H
#define TRCUST_LEXER_H

#include "diag.h"

#define LEXER_LINE_MAX	65535	/* bytes, without the line end */
#define LEXER_TOKEN_MAX	4096	/* bytes */

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,		/* letters, digits, _ and $ */
	TOKEN_NUMBER,		/* a word that begins with a digit */
	TOKEN_STRING,		/* between the quotes, escapes unresolved */
	TOKEN_MARK,		/* any other character */
	TOKEN_SYMBOL,		/* read again: name of a symbol */
	TOKEN_PATH,		/* read again: name of a file */
};

struct token {
	enum token_kind kind;
	struct srcpos pos;	/* of a string: with its quotes */
	const char *text;	/* in the TSF, not terminated */
	size_t length;
};

struct lexer {
	struct diag *diag;
	const char *at, *end;
	const char *line_start;
	uint32_t line;
	bool failed;
	bool quiet;		/* a copy that looks ahead: reports nothing */
};

void lexer_init(struct lexer *lexer, struct diag *diag);
/* Only of [at, end), which begins at pos. */
void lexer_init_part(struct lexer *lexer, struct diag *diag, const char *at,
		     const char *end, struct srcpos pos);
struct token lexer_next(struct lexer *lexer);

/*
 * Read the last token again, as the name of a symbol, of a function or of a
 * file (up to a blank, comma, semicolon, quote or '='). A token that can't
 * begin one comes back as it is.
 */
struct token lexer_reread_symbol(struct lexer *lexer, struct token token);
struct token lexer_reread_function(struct lexer *lexer, struct token token);
struct token lexer_reread_path(struct lexer *lexer, struct token token);

/* The last token is a mark, the quote of a character constant like '"': go
 * past it. */
void lexer_skip_character(struct lexer *lexer, const struct token *quote);

/* How many bytes at `at` are the name of a symbol. */
size_t lexer_symbol_length(const char *at, const char *end);
/* The same of a function, which may also be of Go or Rust:
 * "example.com/x.(*T[int]).F", "<T as X>::f". */
size_t lexer_function_length(const char *at, const char *end);

bool lexer_is_word(char c);		/* may be part of a word */
bool lexer_is_digit(char c);

bool token_is_mark(const struct token *token, char mark);
/* In either case. */
bool token_is_word(const struct token *token, const char *word);
/* False: no number. More than 64 bits are UINT64_MAX. */
bool token_number(const struct token *token, uint64_t *value);
/* Value of a hexadecimal digit, -1: none. */
int lexer_digit_value(char c);

#endif
