// SPDX-License-Identifier: GPL-2.0
#include "lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LEXER_GROUPS_MAX	64	/* brackets within brackets */

static bool lexer_is_blank(char c)
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
	return !lexer_is_blank(c) && (c & 0xe0) && !strchr(",;\"=\x7f", c);
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

static void lexer_line_begin(struct lexer *lexer)
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
	lexer_line_begin(lexer);
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

/* Take a character; the lexer must not be at the end. */
static void lexer_step(struct lexer *lexer)
{
	if (*lexer->at++ == '\n')
		lexer_line_begin(lexer);
}

static bool text_starts(const char *at, const char *end, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(end - at) >= length && !memcmp(at, text, length);
}

static void comment_skip(struct lexer *lexer)
{
	struct srcpos begin = pos_from(lexer, lexer->at, 2);
	size_t depth = 0;

	do {
		if (text_starts(lexer->at, lexer->end, "/*"))
			depth++;
		else if (text_starts(lexer->at, lexer->end, "*/"))
			depth--;
		else {
			lexer_step(lexer);
			continue;
		}
		lexer->at += 2;
	} while (depth && lexer->at < lexer->end);
	if (!depth || lexer->failed)
		return;
	lexer_fail(lexer, begin, TRCERR_UNEXPECTEDEOF);
	lexer_hint(lexer, "this comment is not closed");
}

static void lexer_blanks_skip(struct lexer *lexer)
{
	const char *end;

	while (lexer->at < lexer->end) {
		if (lexer_is_blank(*lexer->at)) {
			lexer_step(lexer);
		} else if (*lexer->at == ';') {
			end = memchr(lexer->at, '\n', lexer->end - lexer->at);
			lexer->at = end ? end : lexer->end;
		} else if (text_starts(lexer->at, lexer->end, "/*")) {
			comment_skip(lexer);
		} else {
			return;
		}
	}
}

/* The token from start to where the lexer is. */
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

/* What ends a literal too early; the lexer is there. */
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

static struct token lexer_string_read(struct lexer *lexer)
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

	lexer_blanks_skip(lexer);
	start = lexer->at;
	if (start == lexer->end)
		return (struct token){ .pos = pos_from(lexer, start, 1),
				       .text = start };
	if (*start == '"')
		return lexer_string_read(lexer);
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

/*
 * Names of symbols: those of C and assembler, and those of C++ as demanglers
 * write them: ns::cls<int>::fn(char const*) const, ~cls, operator+. A name is
 * on one line. What is valid by the manual keeps its meaning: ".operator+4" is
 * a symbol and a displacement.
 */
static bool is_symbol(char c)
{
	return lexer_is_word(c) || (c && strchr("@?.:", c));
}

static const char *lexer_skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static const char *skip_word(const char *at, const char *end)
{
	while (at < end && lexer_is_word(*at))
		at++;
	return at;
}

/* The end of the bracket that closes the one at `at`; NULL: it isn't closed. */
static const char *group_end(const char *at, const char *end)
{
	static const char openers[] = "([{", matching[] = ")]}";
	char closers[LEXER_GROUPS_MAX + 1] = "", closer;
	size_t depth = 0;
	const char *opener;

	for (; at < end && *at != '\n' && !text_starts(at, end, "/*"); at++) {
		opener = *at ? strchr(openers, *at) : NULL;
		closer = opener ? matching[opener - openers] : 0;
		if (*at == '<' && (!depth || closers[depth] == '>'))
			closer = '>';
		if (closer) {
			if (depth == LEXER_GROUPS_MAX)
				return NULL;
			closers[++depth] = closer;
		} else if (*at == closers[depth] &&
			   (*at != '>' || at[-1] != '-')) {
			if (!--depth)
				return at + 1;
		} else if (*at == ')' || *at == ']' || *at == '}') {
			return NULL;
		}
	}
	return NULL;
}

/* A plus or minus at `at` begins a displacement. */
static bool at_displacement(const char *at, const char *end)
{
	at = lexer_skip_blanks(at + 1, end);
	if (at < end && *at == '(')
		at = lexer_skip_blanks(at + 1, end);
	return at < end && lexer_is_digit(*at);
}

/* The end of what follows "operator": new, delete, or the type of a conversion;
 * NULL: none. */
static const char *operator_word_end(const char *at, const char *end)
{
	const char *start = lexer_skip_blanks(at, end);

	at = skip_word(start, end);
	if (at == start)
		return NULL;
	if ((at - start == 3 && text_starts(start, end, "new")) ||
	    (at - start == 6 && text_starts(start, end, "delete")))
		return text_starts(at, end, "[]") ? at + 2 : at;
	while (at < end && (lexer_is_word(*at) || strchr(" :<>*&", *at)))
		at++;
	return at < end && *at == '(' ? at : NULL;
}

static const char *operator_mark_end(const char *at, const char *end)
{
	static const char *const marks[] = {
		"->*", "<<=", ">>=", "<=>", "()", "[]", "->", "<<", ">>", "<=",
		">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=",
		"/=", "%=", "^=", "&=", "|=", "+", "-", "*", "/", "%", "^",
		"&", "|", "~", "!", "=", "<", ">",
	};

	if ((*at == '+' || *at == '-') && at_displacement(at, end))
		return NULL;
	if (text_starts(at, end, ",("))
		return at + 1;
	if (text_starts(at, end, "\"\""))
		return skip_word(lexer_skip_blanks(at + 2, end), end);
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (text_starts(at, end, marks[i]) && !text_starts(at, end, "/*"))
			return at + strlen(marks[i]);
	return NULL;
}

/* `at` is the end of a run of letters from `start` on. When its last word is
 * "operator": the end of what it names. */
static const char *lexer_operator_end(const char *start, const char *at,
				      const char *end)
{
	static const char operator[] = "operator";
	const char *word, *found;

	if (at - start < (ptrdiff_t)strlen(operator) || at == end)
		return at;
	word = at - strlen(operator);
	if (!text_starts(word, end, operator) ||
	    (word > start && lexer_is_word(word[-1])))
		return at;
	found = operator_mark_end(at, end);
	if (!found && (*at == ' ' || *at == '\t'))
		found = operator_word_end(at, end);
	return found ? found : at;
}

/* The end of what may follow the parameters: " const", " &", " [clone .cold]" */
static const char *qualifiers_end(const char *at, const char *end)
{
	static const char *const words[] = {
		" const", " volatile", " &&", " &",
	};
	const char *next, *start;

	do {
		start = at;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			next = at + strlen(words[i]);
			if (text_starts(at, end, words[i]) &&
			    (next == end || !lexer_is_word(*next)))
				at = next;
		}
		next = text_starts(at, end, " [clone ") ? group_end(at + 1, end) :
						     NULL;
		at = next ? next : at;
	} while (at != start);
	return at;
}

/* In names of functions of Go and Rust: what begins a part of one ("<"), or is
 * in the middle of it: "/pkg", "-pkg", "%2e". NULL: nothing. */
static const char *function_mark_end(const char *start, const char *at,
				     const char *end)
{
	const char *group;

	if (*at == '<') {
		group = group_end(at, end);
		return group && text_starts(group, end, "::") ? group : NULL;
	}
	if (at == start || !strchr("/-%", *at) || at + 1 == end ||
	    !lexer_is_word(at[1]) || (*at == '-' && lexer_is_digit(at[1])))
		return NULL;
	return at + 1;
}

static size_t symbol_length(const char *at, const char *end, bool function)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *start = at, *part, *group;

	do {
		part = at;

		/* what begins a part of the name and is no word */
		if (text_starts(at, end, "~") && at + 1 < end &&
		    lexer_is_word(at[1])) {
			at++;
		} else if (text_starts(at, end, anonymous)) {
			at += strlen(anonymous);
		} else if (text_starts(at, end, "{")) {
			group = group_end(at, end);
			at = group ? group : at;
		} else if (function && at < end && *at) {
			group = function_mark_end(start, at, end);
			at = group ? group : at;
		}
		while (at < end && is_symbol(*at))
			at++;
		at = lexer_operator_end(part, at, end);
		if (at == start)
			return 0;

		/* template arguments, an ABI tag, parameters */
		group = NULL;
		if (at < end &&
		    (*at == '<' || *at == '(' ||
		     text_starts(at, end, function ? "[" : "[abi:")))
			group = group_end(at, end);
		if (group && *at == '(')
			group = qualifiers_end(group, end);
		at = group ? group : at;
	} while (at != part);
	return at - start;
}

size_t lexer_symbol_length(const char *at, const char *end)
{
	return symbol_length(at, end, false);
}

size_t lexer_function_length(const char *at, const char *end)
{
	return symbol_length(at, end, true);
}

/* The token that was read last may be the beginning of another one. */
static bool can_reread(const struct token *token)
{
	return token->kind != TOKEN_END && token->kind != TOKEN_STRING;
}

static struct token reread(struct lexer *lexer, struct token token,
			   size_t (*length_of)(const char *at, const char *end))
{
	size_t length = can_reread(&token) ?
				length_of(token.text, lexer->end) : 0;

	if (!length)
		return token;
	lexer->at = token.text + length;
	return token_make(lexer, TOKEN_SYMBOL, token.text);
}

struct token lexer_reread_symbol(struct lexer *lexer, struct token token)
{
	return reread(lexer, token, lexer_symbol_length);
}

struct token lexer_reread_function(struct lexer *lexer, struct token token)
{
	return reread(lexer, token, lexer_function_length);
}

struct token lexer_reread_path(struct lexer *lexer, struct token token)
{
	if (!can_reread(&token) || !is_path(*token.text))
		return token;
	lexer->at = token.text;
	while (lexer->at < lexer->end && is_path(*lexer->at) &&
	       !text_starts(lexer->at, lexer->end, "/*"))
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
