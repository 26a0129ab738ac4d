// SPDX-License-Identifier: GPL-2.0
/* Names of types in casts and sizeof (C11 section 6.7.7): no arrays, no
 * functions. */
#include "parse_expr.h"

#include <string.h>

struct words {			/* of a type of C's own, counted */
	unsigned int is_signed, is_unsigned, is_short, is_long, is_int;
	unsigned int other;
	enum expr_base base;	/* of `other` */
};

/* Keywords are C's here: in lower case only. */
static bool at_word(const struct expr_parser *e, const char *word)
{
	const struct token *token = &e->p->token;

	return token->kind == TOKEN_WORD && token->length == strlen(word) &&
	       !memcmp(token->text, word, token->length);
}

static bool take_word(struct expr_parser *e, const char *word)
{
	if (!at_word(e, word))
		return false;
	expr_take(e);
	return true;
}

static void qualifiers_skip(struct expr_parser *e)
{
	while (take_word(e, "const") || take_word(e, "volatile") ||
	       take_word(e, "restrict"))
		;
}

static bool words_take(struct expr_parser *e, struct words *words)
{
	static const struct {
		const char *word;
		enum expr_base base;
	} others[] = {
		{ "void", EXPR_BASE_VOID }, { "bool", EXPR_BASE_BOOL },
		{ "_Bool", EXPR_BASE_BOOL }, { "char", EXPR_BASE_CHAR },
		{ "float", EXPR_BASE_FLOAT }, { "double", EXPR_BASE_DOUBLE },
	};
	unsigned int *const counts[] = {
		&words->is_signed, &words->is_unsigned, &words->is_short,
		&words->is_long, &words->is_int,
	};
	static const char *const counted[] = {
		"signed", "unsigned", "short", "long", "int",
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (take_word(e, counted[i]))
			return ++*counts[i];
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (!take_word(e, others[i].word))
			continue;
		words->base = others[i].base;
		return ++words->other;
	}
	return false;
}

/* C11 section 6.7.2: which of the words stand together */
static bool words_fit(const struct words *w)
{
	bool sign = w->is_signed || w->is_unsigned;

	if (w->is_signed + w->is_unsigned > 1 || w->is_int > 1 ||
	    w->is_short > 1 || w->is_long > 2 || w->other > 1 ||
	    (w->is_short && w->is_long))
		return false;
	if (!w->other)
		return true;
	if (w->is_int || w->is_short || (sign && w->base != EXPR_BASE_CHAR))
		return false;
	return !w->is_long || (w->base == EXPR_BASE_DOUBLE && w->is_long == 1);
}

static enum expr_base words_base(const struct words *w)
{
	if (w->other)
		return w->is_long ? EXPR_BASE_LONG_DOUBLE : w->base;
	if (w->is_short)
		return EXPR_BASE_SHORT;
	return w->is_long == 2 ? EXPR_BASE_LONG_LONG :
	       w->is_long ? EXPR_BASE_LONG : EXPR_BASE_INT;
}

static bool base_parse(struct expr_parser *e, struct expr_type *type)
{
	struct words words = { 0 };

	while (words_take(e, &words))
		qualifiers_skip(e);
	type->base = words_base(&words);
	type->is_signed = words.is_signed;
	type->is_unsigned = words.is_unsigned;
	return words_fit(&words);
}

static const char *const base_words[] = {
	"void", "bool", "_Bool", "char", "short", "int", "long", "signed",
	"unsigned", "float", "double", NULL
};
static const char *const tags[] = { "struct", "class", "union", "enum", NULL };

static const char *at_one_of(const struct expr_parser *e,
			     const char *const *words)
{
	for (; *words; words++)
		if (at_word(e, *words))
			return *words;
	return NULL;
}

bool expr_at_type(const struct expr_parser *e)
{
	return at_one_of(e, base_words) || at_one_of(e, tags);
}

static bool tagged_parse(struct expr_parser *e, struct expr_type *type)
{
	type->tag = at_one_of(e, tags);
	if (type->tag)
		expr_take(e);
	if (e->p->token.kind != TOKEN_WORD && !expr_at(e, "::"))
		return false;
	return *e->p->token.text != '$' && expr_qualified(e, &type->name);
}

static bool pointers_parse(struct expr_parser *e, struct expr_type *type)
{
	while (expr_take_marks(e, "*")) {
		if (++type->pointers > EXPR_NESTING_MAX)
			return false;
		qualifiers_skip(e);
	}
	return true;
}

bool expr_type_parse(struct expr_parser *e, struct expr_type **result,
		     bool *sure)
{
	struct expr_type *type = tsf_alloc(e->p->tsf, sizeof(*type));
	struct token first = e->p->token;

	if (!type)
		return false;
	qualifiers_skip(e);
	*sure = expr_at_type(e) || e->p->token.text != first.text;
	if (!(at_one_of(e, base_words) ? base_parse(e, type) :
					 tagged_parse(e, type)))
		return false;
	qualifiers_skip(e);
	if (!pointers_parse(e, type))
		return false;
	type->pos = parser_span(e->p, first.pos);
	*sure |= type->pointers && parser_at_mark(e->p, ')');
	*result = type;
	return true;
}
