// SPDX-License-Identifier: GPL-2.0
#include "lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' ||
	       c == '\n';
}

static bool ends_line(char c)
{
	return !c || c == '\n' || c == '\r';
}

bool lexer_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool lexer_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       lexer_is_digit(c) || c == '_' || c == '$' || (c & 0x80);
}

static bool is_path(char c)
{
	return !is_blank(c) && (c & 0xe0) && !strchr(",;\"=\x7f", c);
}

static struct srcpos pos_from(const struct lexer *lexer, const char *start,
			      size_t length)
{
	return (struct srcpos){
		.line = lexer->line,
		.column = start - lexer->line_start + 1,
		.length = length ? length : 1,
	};
}

static void lexer_fail(struct lexer *lexer, struct srcpos pos,
		       enum diag_id id, ...)
{
	va_list args;

	va_start(args, id);
	if (!lexer->quiet)
		diag_vreport(lexer->diag, pos, id, args);
	va_end(args);
	lexer->failed = true;
	lexer->at = lexer->end;
}

static void lexer_hint(struct lexer *lexer, const char *hint)
{
	if (!lexer->quiet)
		diag_hint(lexer->diag, "%s", hint);
}

static void line_begin(struct lexer *lexer)
{
	size_t left = lexer->end - lexer->at;
	size_t most = left < LEXER_LINE_MAX + 1 ? left : LEXER_LINE_MAX + 1;

	lexer->line_start = lexer->at;
	lexer->line++;
	if (most <= LEXER_LINE_MAX || memchr(lexer->at, '\n', most))
		return;
	lexer_fail(lexer,
		   pos_from(lexer, lexer->line_start + LEXER_LINE_MAX, 1),
		   TRCERR_LINE_SIZE, diag_path(lexer->diag));
}

void lexer_init(struct lexer *lexer, struct diag *diag)
{
	size_t size;
	const char *text = diag_text(diag, &size);

	*lexer = (struct lexer){ .diag = diag, .at = text, .end = text + size };
	if (size && lexer->end[-1] == 0x1a)	/* the end of file of DOS */
		lexer->end--;
	line_begin(lexer);
	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) && !lexer->failed)
		lexer->at += 3;
}

void lexer_init_part(struct lexer *lexer, struct diag *diag, const char *at,
		     const char *end, struct srcpos pos)
{
	*lexer = (struct lexer){
		.diag = diag,
		.at = at,
		.end = end,
		.line_start = at - (pos.column - 1),
		.line = pos.line,
	};
}

/* Take a character; the lexer must not stand at the end. */
static void step(struct lexer *lexer)
{
	if (*lexer->at++ == '\n')
		line_begin(lexer);
}

static bool stands(const struct lexer *lexer, const char *pair)
{
	return lexer->end - lexer->at >= 2 && !memcmp(lexer->at, pair, 2);
}

static void comment_skip(struct lexer *lexer)
{
	struct srcpos begin = pos_from(lexer, lexer->at, 2);
	size_t depth = 0;

	do {
		if (stands(lexer, "/*"))
			depth++;
		else if (stands(lexer, "*/"))
			depth--;
		else {
			step(lexer);
			continue;
		}
		lexer->at += 2;
	} while (depth && lexer->at < lexer->end);
	if (!depth || lexer->failed)
		return;
	lexer_fail(lexer, begin, TRCERR_UNEXPECTEDEOF);
	lexer_hint(lexer, "this comment is not closed");
}

static void blanks_skip(struct lexer *lexer)
{
	const char *end;

	while (lexer->at < lexer->end) {
		if (is_blank(*lexer->at)) {
			step(lexer);
		} else if (*lexer->at == ';') {
			end = memchr(lexer->at, '\n', lexer->end - lexer->at);
			lexer->at = end ? end : lexer->end;
		} else if (stands(lexer, "/*")) {
			comment_skip(lexer);
		} else {
			return;
		}
	}
}

/* The token from start to where the lexer stands. */
static struct token token_make(struct lexer *lexer, enum token_kind kind,
			       const char *start)
{
	size_t length = lexer->at - start;
	struct token token = {
		.kind = kind,
		.pos = pos_from(lexer, start, length),
		.text = start,
		.length = length,
	};
	char limit[16];

	if (length <= LEXER_TOKEN_MAX)
		return token;
	snprintf(limit, sizeof(limit), "%d", LEXER_TOKEN_MAX);
	lexer_fail(lexer, token.pos, TRCERR_TOKENLENGTH, limit);
	return (struct token){ .pos = token.pos, .text = start };
}

/* What ends a literal too early; the lexer stands there. */
static struct token string_broken(struct lexer *lexer, const char *start)
{
	struct srcpos pos = pos_from(lexer, start, lexer->at - start);

	if (lexer->at == lexer->end) {
		lexer_fail(lexer, pos, TRCERR_UNEXPECTEDEOF);
		lexer_hint(lexer, "the ending quote is missing");
	} else if (!*lexer->at) {
		lexer_fail(lexer, pos_from(lexer, lexer->at, 1),
			   TRCERR_NULLINLITERAL);
	} else {
		lexer_fail(lexer, pos, TRCERR_NLINLITERAL);
		lexer_hint(lexer, "the ending quote is missing");
	}
	return (struct token){ .pos = pos, .text = start };
}

static struct token string_read(struct lexer *lexer)
{
	const char *start = lexer->at++;
	struct token token;

	while (lexer->at < lexer->end && *lexer->at != '"') {
		if (*lexer->at == '\\' && lexer->end - lexer->at >= 2)
			lexer->at++;
		if (ends_line(*lexer->at))
			return string_broken(lexer, start);
		lexer->at++;
	}
	if (lexer->at >= lexer->end)
		return string_broken(lexer, start);
	lexer->at++;
	token = token_make(lexer, TOKEN_STRING, start);
	if (token.kind == TOKEN_STRING) {
		token.text++;
		token.length -= 2;
	}
	return token;
}

struct token lexer_next(struct lexer *lexer)
{
	const char *start;

	blanks_skip(lexer);
	start = lexer->at;
	if (start == lexer->end)
		return (struct token){ .pos = pos_from(lexer, start, 1),
				       .text = start };
	if (*start == '"')
		return string_read(lexer);
	if (!lexer_is_word(*start)) {
		lexer->at++;
		return token_make(lexer, TOKEN_MARK, start);
	}
	while (lexer->at < lexer->end && lexer_is_word(*lexer->at))
		lexer->at++;
	return token_make(lexer, lexer_is_digit(*start) ? TOKEN_NUMBER :
							  TOKEN_WORD, start);
}

void lexer_skip_character(struct lexer *lexer, const struct token *quote)
{
	const char *at = quote->text + 1;

	if (lexer->end - at >= 2 && *at == '\\')
		at++;
	if (lexer->end - at >= 2 && !ends_line(*at) && at[1] == '\'')
		lexer->at = at + 2;
}

/* The token that was read last may be the beginning of another one. */
static bool can_reread(const struct token *token)
{
	return token->kind != TOKEN_END && token->kind != TOKEN_STRING;
}

struct token lexer_reread_symbol(struct lexer *lexer, struct token token)
{
	size_t length = can_reread(&token) ?
				lexer_symbol_length(token.text, lexer->end) : 0;

	if (!length)
		return token;
	lexer->at = token.text + length;
	return token_make(lexer, TOKEN_SYMBOL, token.text);
}

struct token lexer_reread_path(struct lexer *lexer, struct token token)
{
	if (!can_reread(&token) || !is_path(*token.text))
		return token;
	lexer->at = token.text;
	while (lexer->at < lexer->end && is_path(*lexer->at) &&
	       !stands(lexer, "/*"))
		lexer->at++;
	return token_make(lexer, TOKEN_PATH, token.text);
}

bool token_is_mark(const struct token *token, char mark)
{
	return token->kind == TOKEN_MARK && *token->text == mark;
}

bool token_is_word(const struct token *token, const char *word)
{
	return token->kind == TOKEN_WORD && token->length == strlen(word) &&
	       !strncasecmp(token->text, word, token->length);
}

int lexer_digit_value(char c)
{
	if (lexer_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool token_number(const struct token *token, uint64_t *value)
{
	const char *p = token->text, *end = p + token->length;
	int base = 10, digit;

	if (token->kind != TOKEN_NUMBER)
		return false;
	if (token->length > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	}
	for (*value = 0; p < end; p++) {
		digit = lexer_digit_value(*p);
		if (digit < 0 || digit >= base)
			return false;
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, digit, value))
			*value = UINT64_MAX;
	}
	return true;
}
