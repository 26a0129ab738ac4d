// SPDX-License-Identifier: GPL-2.0
#include "expression_parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An expression as parsed. */
#define EXPRESSION_NODES_MAX	1000	/* it is evaluated by recursion */

#define DEPTH_MAX	100	/* of parentheses and prefix operators */
#define SHOWN		60	/* characters on each side of a wrong place */

/* The first failure is kept; later ones are not reported. */
struct expression_parser {
	struct expression *e;
	const char *text, *p;	/* p: of the next token */
	unsigned int depth;
	int code;
	struct error *err;
};

static uint32_t expression_binary(struct expression_parser *parser, int level);

/* ---- what is wrong ---- */

static uint32_t expression_wrong(struct expression_parser *parser,
				 const char *at, const char *why)
{
	char shown[4 * SHOWN + 32];
	size_t before;
	size_t after;
	size_t column;
	char *p;

	if (parser->code)
		return 0;

	/* The expression, or what is around the place, with a caret below. */
	before = at - parser->text;
	after = strlen(at);
	p = shown;
	p += sprintf(p, "\n  ");
	if (before > SHOWN) {
		before = SHOWN;
		p += sprintf(p, "...");
	}
	column = p - shown - 1 + before;
	after = after > SHOWN ? SHOWN : after;
	for (const char *c = at - before; c < at + after; c++)
		*p++ = (unsigned char)*c < ' ' ? ' ' : *c;
	sprintf(p, "\n%*s^", (int)column, "");

	parser->code = error_set(parser->err, -EINVAL, "%s%s", why, shown);
	return 0;
}

static uint32_t no_memory(struct expression_parser *parser)
{
	if (!parser->code)
		parser->code = error_no_memory(parser->err);
	return 0;
}

/* ---- nodes ---- */

/* nodes has room for all of them, so that they stay. */
static uint32_t node_add(struct expression_parser *parser,
			 enum expression_op op, uint32_t a, uint32_t b)
{
	struct expression *e = parser->e;

	if (parser->code)
		return 0;
	if (e->count == EXPRESSION_NODES_MAX)
		return expression_wrong(parser, parser->p,
					"the expression is too long");
	e->nodes[e->count] = (struct expression_node){
		.op = op, .a = a, .b = b,
	};
	return e->count++;
}

static void expression_blanks(struct expression_parser *parser)
{
	while (*parser->p && strchr(" \t\r\n", *parser->p))
		parser->p++;
}

/* ---- numbers ---- */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool expression_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Of a 0x, 0b or 0o in front. */
static int expression_base(const char **p)
{
	static const struct { char letter; int base; } bases[] = {
		{ 'x', 16 }, { 'b', 2 }, { 'o', 8 },
	};

	for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++)
		if ((*p)[0] == '0' && ((*p)[1] | 0x20) == bases[i].letter &&
		    digit_of((*p)[2]) < bases[i].base) {
			*p += 2;
			return bases[i].base;
		}
	return 10;
}

/* What it is multiplied with; 0: no such unit. */
static uint64_t expression_unit(const char *word, size_t length)
{
	static const struct { const char *name; uint64_t factor; } units[] = {
		{ "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 },
		{ "G", 1 << 30 }, { "ns", 1 }, { "us", 1000 },
		{ "ms", 1000000 }, { "s", 1000000000 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strlen(units[i].name) == length &&
		    !memcmp(units[i].name, word, length))
			return units[i].factor;
	return 0;
}

static uint64_t unit_take(struct expression_parser *parser, const char *p)
{
	const char *word = p;
	uint64_t factor;

	while (expression_is_word(*p))
		p++;
	factor = expression_unit(word, p - word);
	if (!factor)
		expression_wrong(parser, word, "a number ends before this");
	parser->p = p;
	return factor;
}

static uint32_t float_parse(struct expression_parser *parser)
{
	char *end;
	double value = strtod(parser->p, &end);
	uint64_t factor = unit_take(parser, end);
	uint32_t node = node_add(parser, OP_FLOAT, 0, 0);

	if (!parser->code)
		parser->e->nodes[node].real = value * factor;
	return node;
}

static bool is_float(const char *p)
{
	while (isdigit((unsigned char)*p))
		p++;
	return (*p == '.' && isdigit((unsigned char)p[1])) ||
	       ((*p | 0x20) == 'e' && (isdigit((unsigned char)p[1]) ||
		((p[1] == '-' || p[1] == '+') &&
		 isdigit((unsigned char)p[2]))));
}

static uint32_t expression_number(struct expression_parser *parser)
{
	const char *start = parser->p, *p = start;
	int base = expression_base(&p);
	__int128 value = 0;
	uint64_t factor;
	__int128 number;
	uint32_t node;

	if (base == 10 && is_float(p))
		return float_parse(parser);
	for (; digit_of(*p) < base; p++) {
		value = value * base + digit_of(*p);
		if (value > UINT64_MAX)
			return expression_wrong(parser, start,
						"a number has at most 64 bits");
	}
	factor = unit_take(parser, p);
	number = value * factor;
	node = node_add(parser, OP_NUMBER, 0, 0);
	if (!parser->code)
		parser->e->nodes[node].number = number;
	return node;
}

/* ---- strings ---- */

/* The escape after a backslash, at p; the end, NULL: there is none. */
static const char *expression_escape(const char *p, char *value)
{
	static const char letters[] = "n\nt\tr\re\033" "0\0a\ab\bf\fv\v";

	if (*p == 'x' && digit_of(p[1]) < 16) {
		*value = digit_of(p[1]);
		if (digit_of(p[2]) == 16)
			return p + 2;
		*value = *value << 4 | digit_of(p[2]);
		return p + 3;
	}
	for (size_t i = 0; i + 1 < sizeof(letters); i += 2)
		if (letters[i] == *p) {
			*value = letters[i + 1];
			return p + 1;
		}
	if (!*p || isalnum((unsigned char)*p))
		return NULL;
	*value = *p;
	return p + 1;
}

/* What is between the quotes; `regex`: escapes but that of the quote are
 * left to it. To be freed; NULL: wrong. */
static char *quoted_take(struct expression_parser *parser, bool regex,
			 size_t *length)
{
	const char *start = parser->p, *p = start + 1, *next;
	char *text = malloc(strlen(start)), *to = text;

	if (!text) {
		no_memory(parser);
		return NULL;
	}
	while (*p && *p != *start) {
		next = p + 1;
		*to = *p;
		if (*p == '\\' && regex && p[1] && p[1] != *start) {
			*to++ = *p;
			*to = p[1];
			next = p + 2;
		} else if (*p == '\\') {
			next = expression_escape(p + 1, to);
		}
		if (!next) {
			expression_wrong(parser, p, "there is no such escape");
			break;
		}
		to++;
		p = next;
	}
	if (!*p)
		expression_wrong(parser, start, "the string has no end");
	*to = '\0';
	*length = to - text;
	parser->p = p + 1;
	if (!parser->code)
		return text;
	free(text);
	return NULL;
}

static regex_t *expression_regex_make(struct expression_parser *parser,
				      const char *at, const char *text)
{
	regex_t *regex = malloc(sizeof(*regex));
	char why[128];
	int code;

	if (!regex) {
		no_memory(parser);
		return NULL;
	}
	code = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
	if (!code)
		return regex;
	regerror(code, regex, why, sizeof(why));
	expression_wrong(parser, at, why);
	free(regex);
	return NULL;
}

static uint32_t regex_parse(struct expression_parser *parser)
{
	const char *start;
	uint32_t node = node_add(parser, OP_REGEX, 0, 0);
	regex_t *regex;
	size_t length;
	char *text;

	expression_blanks(parser);
	start = parser->p;
	if (*start != '"' && *start != '\'')
		return expression_wrong(
			parser, start,
			"a regular expression in quotes is wanted here");
	text = quoted_take(parser, true, &length);
	if (parser->code)
		return 0;
	regex = expression_regex_make(parser, start, text);
	free(text);
	if (regex)
		parser->e->nodes[node].regex = regex;
	return node;
}

/* ---- names ---- */

static const char *word_end(const char *p)
{
	while (expression_is_word(*p))
		p++;
	return p;
}

/* ".b", "->b" or "[1]" at p, of a name that begins at start; the end, NULL:
 * there is none */
static const char *part_take(struct expression_parser *parser,
			     const char *start, const char *p,
			     struct expression_part *part)
{
	int base;

	if (*p == '[') {
		/* "[12]" at p; the end, NULL: wrong */
		start = ++p;
		base = expression_base(&p);
		*part = (struct expression_part){ 0 };
		for (start = p; digit_of(*p) < base && part->index < UINT32_MAX;
		     p++)
			part->index = part->index * base + digit_of(*p);
		if (p > start && *p == ']')
			return p + 1;
		expression_wrong(
			parser, p,
			"the number of an element and ']' are wanted here");
		return NULL;
	}
	if (p[0] == '-' && p[1] == '>')
		p++;
	else if (*p != '.')
		return NULL;
	part->at = ++p - start;
	part->length = word_end(p) - p;
	if (part->length)
		return p + part->length;
	expression_wrong(parser, p, "a member's name is wanted here");
	return NULL;
}

/* What the name is, if it isn't a field's. */
static void builtin_find(struct expression_name *name)
{
	static const enum column builtins[] = {
		COLUMN_EVENT, COLUMN_TIME, COLUMN_MAJOR, COLUMN_MINOR,
		COLUMN_PID, COLUMN_TID, COLUMN_COMM, COLUMN_CPU, COLUMN_LENGTH,
		COLUMN_DESC, COLUMN_FUNCTION, COLUMN_LATENCY, COLUMN_SELF,
		COLUMN_PARENT, COLUMN_DEPTH, COLUMN_DOUBT, COLUMN_RESULT,
		COLUMN_ENTRY, COLUMN_EXIT,
	};
	size_t first = name->parts[0].length;

	for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++) {
		const char *word = column_words[builtins[i]];
		bool member = name->count > 1 && name->parts[1].length;

		if (strncmp(word, name->text, first) || word[first] ||
		    (name->count > 1 && builtins[i] != COLUMN_RESULT &&
		     builtins[i] < COLUMN_ENTRY) ||
		    (builtins[i] >= COLUMN_ENTRY && !member))
			continue;
		name->builtin = builtins[i];
		name->skip = builtins[i] == COLUMN_RESULT ||
			     builtins[i] >= COLUMN_ENTRY;
	}
}

static uint32_t name_parse(struct expression_parser *parser)
{
	struct expression_name name = {
		.count = 1, .builtin = COLUMN_FIELD,
	};
	bool dotted = *parser->p == '.';
	const char *start = parser->p + dotted, *p = word_end(start), *next;
	struct expression *e;
	struct expression_name *names;
	uint32_t node;

	name.parts[0].length = name.parts[0].end = p - start;
	while (name.count < EXPRESSION_PARTS_MAX &&
	       (next = part_take(parser, start, p, &name.parts[name.count]))) {
		name.parts[name.count++].end = next - start;
		p = next;
	}
	if (!parser->code && name.count == EXPRESSION_PARTS_MAX)
		expression_wrong(parser, p, "the name has too many parts");
	if (parser->code)
		return 0;
	name.text = strndup(start, p - start);
	if (!name.text)
		return no_memory(parser);
	if (!dotted)
		builtin_find(&name);
	parser->p = p;
	e = parser->e;
	names = reallocarray(e->names, e->name_count + 1, sizeof(*names));
	if (names)
		e->names = names;
	node = node_add(parser, OP_NAME, 0, 0);
	if (!names || parser->code) {
		free(name.text);
		return names ? 0 : no_memory(parser);
	}
	e->nodes[node].name = e->name_count;
	names[e->name_count++] = name;
	return node;
}

/* ---- operators ---- */

static uint32_t expression_unary(struct expression_parser *parser,
				 enum expression_op op)
{
	uint32_t operand;

	parser->p++;
	operand = expression_binary(parser, -1);
	return node_add(parser, op, operand, 0);
}

static uint32_t expression_primary(struct expression_parser *parser)
{
	const char *p = parser->p;
	const char *start;
	uint32_t node;
	size_t length;
	char *text;

	if (isdigit((unsigned char)*p))
		return expression_number(parser);
	if (*p == '"' || *p == '\'') {
		text = quoted_take(parser, false, &length);
		node = node_add(parser, OP_STRING, 0, 0);
		if (parser->code) {
			free(text);
			return 0;
		}
		parser->e->nodes[node].text = text;
		parser->e->nodes[node].length = length;
		return node;
	}
	if (expression_is_word(*p) || (*p == '.' && expression_is_word(p[1])))
		return name_parse(parser);
	switch (*p) {
	case '(':
		start = parser->p++;
		node = expression_binary(parser, 0);
		expression_blanks(parser);
		if (parser->code)
			return 0;
		if (*parser->p != ')')
			return expression_wrong(
				parser, *parser->p ? parser->p : start,
				*parser->p ?
					"an operator or ')' is wanted here" :
					"the '(' has no ')'");
		parser->p++;
		return node;
	case '!':
		return expression_unary(parser, OP_NOT);
	case '-':
		return expression_unary(parser, OP_MINUS);
	case '~':
		return expression_unary(parser, OP_INVERT);
	}
	return expression_wrong(parser, p, *p ? "a value is wanted here" :
				"a value is missing at the end");
}

static const struct {
	const char *text;	/* longer ones before their beginnings */
	enum expression_op op;
	int level;		/* the higher, the closer it binds */
} operators[] = {
	{ "||", OP_OR, 0 }, { "&&", OP_AND, 1 },
	{ "<<", OP_LEFT, 7 }, { ">>", OP_RIGHT, 7 },
	{ "==", OP_EQUAL, 5 }, { "!=", OP_UNEQUAL, 5 },
	{ "<=", OP_LESS_EQUAL, 6 }, { ">=", OP_GREATER_EQUAL, 6 },
	{ "<", OP_LESS, 6 }, { ">", OP_GREATER, 6 },
	{ "~", OP_MATCH, 6 }, { "!~", OP_MATCH_NOT, 6 },
	{ "|", OP_BIT_OR, 2 }, { "^", OP_BIT_XOR, 3 }, { "&", OP_BIT_AND, 4 },
	{ "+", OP_PLUS, 8 }, { "-", OP_SUBTRACT, 8 },
	{ "*", OP_TIMES, 9 }, { "/", OP_DIVIDE, 9 }, { "%", OP_MODULO, 9 },
};

#define OPERATORS	(sizeof(operators) / sizeof(*operators))

/* Index of the operator at p, OPERATORS: there is none. */
static size_t operator_find(const char *p)
{
	size_t i = 0;

	while (i < OPERATORS && strncmp(operators[i].text, p,
					strlen(operators[i].text)))
		i++;
	return i;
}

/* An operand, and the operators of this level and above after it; -1: none. */
static uint32_t expression_binary(struct expression_parser *parser, int level)
{
	uint32_t left, right;
	size_t i;

	expression_blanks(parser);
	if (++parser->depth > DEPTH_MAX)
		expression_wrong(parser, parser->p, "too much is nested here");
	left = parser->code ? 0 : expression_primary(parser);
	while (level >= 0 && !parser->code) {
		expression_blanks(parser);
		i = operator_find(parser->p);
		if (i == OPERATORS || operators[i].level < level)
			break;
		parser->p += strlen(operators[i].text);
		right = operators[i].op == OP_MATCH ||
			operators[i].op == OP_MATCH_NOT ?
			regex_parse(parser) :
			expression_binary(parser, operators[i].level + 1);
		left = node_add(parser, operators[i].op, left, right);
	}
	parser->depth--;
	return left;
}

int expression_parse(struct expression **expression, const char *text,
		     struct error *err)
{
	struct expression_parser parser = { .text = text,
					    .p = text,
					    .err = err };
	struct expression *e = calloc(1, sizeof(*e));

	parser.e = e;
	if (e)
		e->nodes = calloc(EXPRESSION_NODES_MAX, sizeof(*e->nodes));
	if (!e || !e->nodes || text_open(&e->texts[0], -1) ||
	    text_open(&e->texts[1], -1)) {
		expression_free(e);
		return error_no_memory(err);
	}
	e->root = expression_binary(&parser, 0);
	if (!parser.code && *parser.p)
		expression_wrong(&parser, parser.p,
				 *parser.p == '=' ?
					 "to compare is ==" :
					 "an operator is wanted here");
	if (parser.code) {
		expression_free(e);
		return parser.code;
	}
	*expression = e;
	return 0;
}

void expression_free(struct expression *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->count; i++) {
		free(e->nodes[i].text);
		if (e->nodes[i].regex)
			regfree(e->nodes[i].regex);
		free(e->nodes[i].regex);
	}
	for (size_t i = 0; i < e->name_count; i++)
		free(e->names[i].text);
	free(e->names);
	free(e->nodes);
	free(e->texts[0].data);
	free(e->texts[1].data);
	free(e);
}
