// SPDX-License-Identifier: GPL-2.0
/*
 * Names of symbols as they stand in a TSF: those of C and assembler, and those
 * of C++ as demanglers write them: ns::cls<int>::fn(char const*) const, ~cls,
 * operator+. A name stands on one line. What is valid by the manual keeps its
 * meaning: ".operator+4" is a symbol and a displacement.
 */
#include <string.h>
#include "lexer.h"

#define GROUPS_MAX	64	/* brackets within brackets */

static bool is_symbol(char c)
{
	return lexer_is_word(c) || (c && strchr("@?.:", c));
}

static bool starts(const char *at, const char *end, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(end - at) >= length && !memcmp(at, text, length);
}

static const char *skip_blanks(const char *at, const char *end)
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

/* What closes the bracket at `at`, in brackets that `inner` closes. */
static char bracket_closer(const char *at, char inner)
{
	static const char openers[] = "([{", closers[] = ")]}";
	const char *found = *at ? strchr(openers, *at) : NULL;

	if (*at == '<' && (!inner || inner == '>'))
		return '>';
	return found ? closers[found - openers] : 0;
}

/* Behind the bracket that closes the one at `at`; NULL: it isn't closed. */
static const char *group_end(const char *at, const char *end)
{
	char closers[GROUPS_MAX + 1] = "", closer;
	size_t depth = 0;

	for (; at < end && *at != '\n' && !starts(at, end, "/*"); at++) {
		closer = bracket_closer(at, closers[depth]);
		if (closer) {
			if (depth == GROUPS_MAX)
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
	at = skip_blanks(at + 1, end);
	if (at < end && *at == '(')
		at = skip_blanks(at + 1, end);
	return at < end && lexer_is_digit(*at);
}

/* Behind "operator": new, delete, or the type of a conversion; NULL: none. */
static const char *operator_word_end(const char *at, const char *end)
{
	const char *start = skip_blanks(at, end);

	at = skip_word(start, end);
	if (at == start)
		return NULL;
	if ((at - start == 3 && starts(start, end, "new")) ||
	    (at - start == 6 && starts(start, end, "delete")))
		return starts(at, end, "[]") ? at + 2 : at;
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
	if (starts(at, end, ",("))
		return at + 1;
	if (starts(at, end, "\"\""))
		return skip_word(skip_blanks(at + 2, end), end);
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (starts(at, end, marks[i]) && !starts(at, end, "/*"))
			return at + strlen(marks[i]);
	return NULL;
}

/* `at` is behind a run of letters from `start` on. When its last word is
 * "operator": behind what it names. */
static const char *operator_end(const char *start, const char *at,
				const char *end)
{
	static const char operator[] = "operator";
	const char *word, *found;

	if (at - start < (ptrdiff_t)strlen(operator) || at == end)
		return at;
	word = at - strlen(operator);
	if (!starts(word, end, operator) ||
	    (word > start && lexer_is_word(word[-1])))
		return at;
	found = operator_mark_end(at, end);
	if (!found && (*at == ' ' || *at == '\t'))
		found = operator_word_end(at, end);
	return found ? found : at;
}

/* Behind what may follow the parameters: " const", " &", " [clone .cold]" */
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
			if (starts(at, end, words[i]) &&
			    (next == end || !lexer_is_word(*next)))
				at = next;
		}
		next = starts(at, end, " [clone ") ? group_end(at + 1, end) :
						     NULL;
		at = next ? next : at;
	} while (at != start);
	return at;
}

/* Behind what begins a part of the name and is no word; `at`: nothing does. */
static const char *part_begin_end(const char *at, const char *end)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *found = NULL;

	if (starts(at, end, "~") && at + 1 < end && lexer_is_word(at[1]))
		return at + 1;
	if (starts(at, end, anonymous))
		return at + strlen(anonymous);
	if (starts(at, end, "{"))
		found = group_end(at, end);
	return found ? found : at;
}

/* Behind template arguments, an ABI tag, parameters; NULL: there are none. */
static const char *part_group_end(const char *at, const char *end)
{
	const char *found;

	if (at == end || (*at != '<' && *at != '(' &&
			  !starts(at, end, "[abi:")))
		return NULL;
	found = group_end(at, end);
	return found && *at == '(' ? qualifiers_end(found, end) : found;
}

size_t lexer_symbol_length(const char *at, const char *end)
{
	const char *start = at, *part, *group;

	do {
		part = at;
		at = part_begin_end(at, end);
		while (at < end && is_symbol(*at))
			at++;
		at = operator_end(part, at, end);
		if (at == start)
			return 0;
		group = part_group_end(at, end);
		at = group ? group : at;
	} while (at != part);
	return at - start;
}
