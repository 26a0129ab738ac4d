// SPDX-License-Identifier: GPL-2.0
#include "expr.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS	" \t\n"
#define NAME_CHARACTERS	"abcdefghijklmnopqrstuvwxyz" \
			"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static int expr_refused(const struct probe_expr *expr, const char *at,
			const char *what, struct error *err)
{
	return error_set(err, -EINVAL, "'%s', column %zu: %s", expr->text,
			 (size_t)(at - expr->text) + 1, what);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* The quote at p, to after its end; NULL: it doesn't end. */
static const char *quote_skip(const char *p)
{
	char quote = *p++;

	while (*p && *p != quote)
		p += *p == '\\' && p[1] ? 2 : 1;
	return *p ? p + 1 : NULL;
}

/*
 * The end of what begins at p: outside of parentheses and quotes, a character of
 * `ends`, an arrow between blanks or the word "if". NULL: a parenthesis or quote
 * doesn't end; *bad is it then.
 */
static const char *values_end(const char *p, const char *ends,
			      const char **bad)
{
	const char *open[64];
	size_t depth = 0;

	for (const char *begin = p; *p; p++) {
		if (*p == '"' || *p == '\'') {
			*bad = p;
			p = quote_skip(p);
			if (!p)
				return NULL;
			p--;
		} else if (strchr("([{", *p)) {
			if (depth == 64)
				break;
			open[depth++] = p;
		} else if (strchr(")]}", *p)) {
			if (!depth && strchr(ends, *p))
				return p;
			*bad = depth ? open[depth - 1] : p;
			if (!depth || (**bad == '(' ? 1 : 2) != *p - **bad)
				return NULL;
			depth--;
		} else if (!depth && (p == begin || strchr(BLANKS, p[-1]))) {
			if (!strncmp(p, "->", 2) && strchr(BLANKS, p[2]))
				return p;
			if (!strncmp(p, "if", 2) && !is_word(p[2]))
				return p;
		}
	}
	if (!depth)
		return p;
	*bad = open[depth - 1];
	return NULL;
}

/* At the word "operator": how long it is with what it names, such as "operator<<",
 * "operator()", "operator new[]" and "operator bool"; 0: it isn't that word. */
static size_t operator_length(const char *name, const char *p)
{
	const char *end = p + 8;

	if (strncmp(p, "operator", 8) || is_word(*end) ||
	    (p > name && is_word(p[-1])))
		return 0;
	if (!strncmp(end, "()", 2))
		return 10;
	if (*end == ' ' && is_word(end[1]) &&
	    (strncmp(end, " if", 3) || is_word(end[3])))
		end += 1 + strspn(end + 1, NAME_CHARACTERS ":");
	return end + strspn(end, "<>=!+-*/%&|^~[],") - p;
}

/*
 * The end of a name: of C++ and Rust with template arguments, quoted parts and
 * operators, of Go with a receiver, "pkg.(*Type).Fn". NULL: a quote or a receiver
 * doesn't end.
 */
static const char *expr_name_end(const char *begin)
{
	const char *p = begin;
	int angles = 0;

	while (*p) {
		size_t operator = operator_length(begin, p);

		if (operator) {
			p += operator;
		} else if (*p == '"') {
			p = quote_skip(p);
			if (!p)
				return NULL;
		} else if (*p == '(' && p > begin && p[-1] == '.') {
			p = strchr(p, ')');
			if (!p)
				return NULL;
		} else if (!angles && (strchr(BLANKS "(", *p) ||
				       !strncmp(p, "->", 2))) {
			return p;
		} else {
			angles += *p == '<' ? 1 : *p == '>' && angles ? -1 : 0;
			p++;
		}
	}
	return p;
}

/* The colon after the module: no "::", and before anything else. */
static const char *module_end(const char *p)
{
	if (!strncmp(p, "usdt:", 5) || *p == '@' || *p == '"')
		return NULL;
	p += strcspn(p, BLANKS "(<:");
	return *p == ':' && p[1] != ':' ? p : NULL;
}

static char *text_copy(const char *from, const char *to)
{
	while (from < to && strchr(BLANKS, *from))
		from++;
	while (to > from && strchr(BLANKS, to[-1]))
		to--;
	return strndup(from, to - from);
}

/* *, ? outside of template arguments, receivers and quotes */
static bool name_is_pattern(const char *name)
{
	int nested = 0;

	for (const char *p = name; *p; p++) {
		if (operator_length(name, p) || *p == '"')
			return false;
		if (strchr("<(", *p))
			nested++;
		else if (strchr(">)", *p))
			nested--;
		else if (!nested && strchr("*?", *p))
			return true;
	}
	return false;
}

/* Where values may begin */
static int expr_parse_place(struct probe_expr *expr, const char **at,
			    struct error *err)
{
	const char *p = *at, *end;

	if (*p == '@') {
		expr->kind = EXPR_LINE;
		end = p + strcspn(p, BLANKS);
		while (end > p && isdigit((unsigned char)end[-1]))
			end--;
		if (end <= p + 2 || (end[-1] != ':' && end[-1] != ',') ||
		    !isdigit((unsigned char)*end))
			return expr_refused(expr, p, "a line is written @FILE:LINE",
					    err);
		expr->place = text_copy(p + 1, end - 1);
		*at = end + strspn(end, "0123456789");
		expr->name = text_copy(end, *at);
	} else if (!strncmp(p, "usdt:", 5)) {
		expr->kind = EXPR_USDT;
		end = p + 5 + strcspn(p + 5, BLANKS ":(");
		*at = *end == ':' ? end + 1 + strcspn(end + 1, BLANKS ":(") :
		      end;
		if (end == p + 5 || *at <= end + 1)
			return expr_refused(expr, p, "a USDT probe is written usdt:PROVIDER:NAME",
					    err);
		expr->place = text_copy(p + 5, end);
		expr->name = text_copy(end + 1, *at);
	} else {
		end = expr_name_end(p);
		if (!end)
			return expr_refused(expr, p, "the name does not end",
					    err);
		if (end == p)
			return expr_refused(expr, p, "the name of a function is missing",
					    err);
		expr->place = text_copy(p, end);
		if (expr->place && name_is_pattern(expr->place))
			expr->kind = EXPR_FUNCTIONS;
		*at = end;
	}
	return expr->place ? 0 : error_no_memory(err);
}

/* Values as far as `ends`; nothing at all is no error where they are optional. */
static int expr_parse_values(struct probe_expr *expr, const char **at,
			     const char *ends, char **values, struct error *err)
{
	const char *bad = *at, *end = values_end(*at, ends, &bad);

	if (!end)
		return expr_refused(expr, bad, "it does not end", err);
	if (*ends && *end != *ends)
		return expr_refused(expr, *at - 1, "it does not end", err);
	*values = text_copy(*at, end);
	*at = end + (*ends != 0);
	return *values ? 0 : error_no_memory(err);
}

/* Words that are about a whole call; what TSFs call it, and tracefmt (NULL: it does
 * not know that) */
static const struct timed_word {
	const char *name, *tsf, *field;
} timed_words[] = {
	{ "elapsed", "elapsed", "latency" },
	{ "latency", "elapsed", "latency" },
	{ "cputime", "cputime", NULL },
};

static size_t timed_word(const char *text, const char *p,
			 const struct timed_word **word)
{
	if (p > text && (is_word(p[-1]) || p[-1] == '.' || p[-1] == '>'))
		return 0;
	for (size_t i = 0; i < sizeof(timed_words) / sizeof(*timed_words); i++) {
		size_t n = strlen(timed_words[i].name);

		if (strncmp(p, timed_words[i].name, n) || is_word(p[n]))
			continue;
		if (word)
			*word = &timed_words[i];
		return n;
	}
	return 0;
}

static bool has_timed_word(const char *text)
{
	for (const char *p = text; p && *p; p++)
		if (timed_word(text, p, NULL))
			return true;
	return false;
}

static bool condition_is_of_exits(const struct probe_expr *expr)
{
	const char *p = expr->condition;

	while (p && (p = strstr(p, "result"))) {
		if ((p == expr->condition || p[-1] == '$' || !is_word(p[-1])) &&
		    !is_word(p[6]))
			return true;
		p += 6;
	}
	return false;
}

static int expr_check(struct probe_expr *expr, const char *values, struct error *err)
{
	bool function = expr->kind <= EXPR_FUNCTIONS;

	expr->whole = has_timed_word(expr->condition) ||
		      has_timed_word(expr->results);
	/* the entry doesn't know the result */
	expr->whole |= (expr->values || !expr->results) &&
		       condition_is_of_exits(expr);
	if (expr->kind == EXPR_FUNCTIONS && expr->values)
		return expr_refused(expr, values, "a pattern logs the parameters of each function: leave the values out",
				    err);
	if (expr->kind == EXPR_FUNCTIONS && expr->condition && !expr->whole)
		return expr_refused(expr, values, "the condition of a pattern can only be about 'elapsed'",
				    err);
	if (!function && expr->results)
		return expr_refused(expr, values, "only functions have results",
				    err);
	if (!function && expr->whole)
		return expr_refused(expr, values, "only calls of functions have a result and an elapsed time",
				    err);
	return 0;
}

int expr_parse(struct probe_expr *expr, const char *text, struct error *err)
{
	const char *p = text + strspn(text, BLANKS), *values;
	const char *colon = module_end(p);
	int code;

	*expr = (struct probe_expr){ .text = text };
	if (colon) {
		expr->module = text_copy(p, colon);
		if (!expr->module)
			return error_no_memory(err);
		if (!expr->module[0])
			return expr_refused(expr, p, "the name of a module is missing",
					    err);
		p = colon + 1;
	}
	code = expr_parse_place(expr, &p, err);
	values = p;
	p += strspn(p, BLANKS);
	if (!code && *p == '(' && p++)
		code = expr_parse_values(expr, &p, ")", &expr->values, err);
	else if (!code && *p && strncmp(p, "->", 2) &&
		 (strncmp(p, "if", 2) || is_word(p[2])))
		code = expr_parse_values(expr, &p, "", &expr->values, err);
	p += code ? 0 : strspn(p, BLANKS);
	if (!code && !strncmp(p, "->", 2)) {
		p += 2;
		code = expr_parse_values(expr, &p, "", &expr->results, err);
		if (!code && !expr->results[0])
			code = expr_refused(expr, p, "values are missing, such as 'result'",
					    err);
	}
	if (!code && !strncmp(p, "if", 2) && !is_word(p[2])) {
		p += 2;
		code = expr_parse_values(expr, &p, "", &expr->condition, err);
		if (!code && !expr->condition[0])
			code = expr_refused(expr, p, "a condition is missing",
					    err);
	}
	if (!code && *p)
		code = expr_refused(expr, p, "'->' or 'if' is expected", err);
	return code ? code : expr_check(expr, values, err);
}

void expr_free(struct probe_expr *expr)
{
	free(expr->module);
	free(expr->place);
	free(expr->name);
	free(expr->values);
	free(expr->results);
	free(expr->condition);
	*expr = (struct probe_expr){ 0 };
}

bool expr_is_pattern(const struct probe_expr *expr)
{
	return expr->kind == EXPR_FUNCTIONS ||
	       (expr->kind == EXPR_FUNCTION && !expr->values &&
		!expr->results && (!expr->condition || expr->whole));
}

/* A string of a TSF; `end` needs no escapes. */
static void expr_string_write(const char *text, const char *end, FILE *out)
{
	putc('"', out);
	for (; *text; text++) {
		if (strchr("\"\\", *text))
			putc('\\', out);
		putc(*text, out);
	}
	fprintf(out, "%s\"", end);
}

/* `result` is what TSFs call $result, but as a member it is what it is. */
static void results_write(const char *text, const char *end, FILE *out)
{
	for (const char *p = text; p < end; p++) {
		bool begins = p == text || (!is_word(p[-1]) && p[-1] != '.' &&
					    (p[-1] != '>' || p == text + 1 ||
					     p[-2] != '-'));

		const struct timed_word *word;
		size_t n = timed_word(text, p, &word);

		if (begins && !strncmp(p, "result", 6) && !is_word(p[6]))
			putc('$', out);
		if (n) {
			fputs(word->tsf, out);
			p += n - 1;
		} else {
			putc(*p, out);
		}
	}
}

static void place_write(const struct probe_expr *expr, FILE *out)
{
	switch (expr->kind) {
	case EXPR_LINE:
		fputs("@", out);
		expr_string_write(expr->place, "", out);
		fprintf(out, ",%s", expr->name);
		break;
	case EXPR_USDT:
		fprintf(out, "@USDT,%s,%s", expr->place, expr->name);
		break;
	default:
		putc('.', out);
		/* what is quoted is one function, without (*) for all of the name */
		if (strchr(expr->place, '"'))
			fputs(expr->place, out);
		else
			expr_string_write(expr->place, "(*)", out);
	}
}

static void description_write(const struct probe_expr *expr, const char *when,
			      FILE *out)
{
	char text[256];

	if (expr->kind == EXPR_FUNCTION)
		snprintf(text, sizeof(text), "%s%s", expr->place, when);
	else
		snprintf(text, sizeof(text), "%s:%s%s", expr->place,
			 expr->name, when);
	fputs(",\n\tDESC=", out);
	expr_string_write(text, "", out);
}

static void condition_write(const struct probe_expr *expr, FILE *out)
{
	if (!expr->condition || expr->whole)
		return;
	fputs(",\n\tIF=(", out);
	results_write(expr->condition,
		      expr->condition + strlen(expr->condition), out);
	putc(')', out);
}

#define MINOR_ENTRY	1
#define MINOR_EXIT	0x8001		/* the POST of that PRE: tracefmt(1) */

/* ---- conditions on whole calls ---- */

static bool is_name_begin(const char *text, const char *p)
{
	return (isalpha((unsigned char)*p) || *p == '_' || *p == '$') &&
	       (p == text || !is_word(p[-1]));
}

/* The text has a name; exits: one of what only exits know. */
static bool condition_has(const char *text, const char *end, bool exits)
{
	for (const char *p = text; p < end; p++) {
		if (*p == '"' || *p == '\'') {
			p = quote_skip(p) - 1;
		} else if (is_name_begin(text, p)) {
			size_t n = strspn(p + 1, NAME_CHARACTERS) + 1;
			bool member = p > text && (p[-1] == '.' ||
				(p[-1] == '>' && p - 1 > text && p[-2] == '-'));

			if (!exits || (!member && (timed_word(text, p, NULL) ||
			    (n == 6 && !strncmp(p, "result", n)) ||
			    (n == 7 && !strncmp(p, "$result", n)) ||
			    !strncmp(p, "entry(", 6))))
				return true;
			p += n - 1;
		}
	}
	return false;
}

/* The first of these operators outside of parentheses, or NULL */
static const char *operator_first(const char *text, const char *end,
				 const char *const *operators, size_t *length)
{
	int depth = 0;

	for (const char *p = text; p < end; p++) {
		if (*p == '"' || *p == '\'')
			p = quote_skip(p) - 1;
		else if (strchr("([", *p))
			depth++;
		else if (strchr(")]", *p))
			depth--;
		else if (!strncmp(p, "->", 2) || !strncmp(p, "<<", 2) ||
			 !strncmp(p, ">>", 2))
			p++;
		else for (size_t i = 0; !depth && operators[i]; i++) {
			*length = strlen(operators[i]);
			if (!strncmp(p, operators[i], *length))
				return p;
		}
	}
	return NULL;
}

/* The operator that binds least, between conditions or values that may each be
 * evaluated as a whole. NULL: there is none, or others bind less. */
static const char *condition_operator(const char *text, const char *end,
				      size_t *length)
{
	static const char *const choice[] = { "?", NULL }, *const or[] = { "||", NULL },
		*const and[] = { "&&", NULL }, *const bits[] = { "|", "^", "&", NULL },
		*const comparisons[] = { "==", "!=", "<=", ">=", "<", ">", NULL };
	const char *operator;
	size_t other;

	if (operator_first(text, end, choice, length))
		return NULL;
	operator = operator_first(text, end, or, length);
	if (!operator)
		operator = operator_first(text, end, and, length);
	if (operator || operator_first(text, end, bits, &other))
		return operator;
	operator = operator_first(text, end, comparisons, length);
	if (operator && operator_first(operator + *length, end, comparisons, &other))
		return NULL;
	return operator;
}

/* The end of a name and what it is followed by: ->m, .m, [i], (x) */
static const char *operand_end(const char *p, const char *end)
{
	int depth = 0;

	for (; p < end; p++) {
		if (*p == '"' || *p == '\'')
			p = quote_skip(p) - 1;
		else if (strchr("([", *p))
			depth++;
		else if (strchr(")]", *p) && depth)
			depth--;
		else if (!depth && !strncmp(p, "->", 2))
			p++;
		else if (!depth && !is_word(*p) && *p != '.' &&
			 strncmp(p, "::", 2) && strncmp(p - 1, "::", 2))
			break;
	}
	return p;
}

static bool operand_is_here(const char *p)
{
	return is_word(*p) || (*p && strchr("(\"'", *p));
}

/* Where an operand begins, after its unary operators and casts: a cast is what has
 * an operand right after it. */
static const char *operand_begin(const char *p, const char *end)
{
	const char *close, *next, *bad;

	for (;; p = next) {
		p += strspn(p, BLANKS "*&!~-+");
		if (p >= end || *p != '(')
			return p < end ? p : end;
		close = values_end(p + 1, ")", &bad);
		if (!close || *close != ')')
			return p;
		next = close + 1 + strspn(close + 1, BLANKS);
		if (next >= end || !operand_is_here(next))
			return p;
	}
}

/* The end of a binary operator and the blanks before it */
static const char *binary_end(const char *p, const char *end)
{
	p += strspn(p, BLANKS);
	if (p >= end)
		return end;
	if (operand_is_here(p))
		return p;
	return p + (p + 1 < end && (p[1] == '=' ||
				    (p[1] == *p && strchr("<>&|", *p))) ? 2 : 1);
}

static void condition_translate(const char *text, const char *end, FILE *out);

/* An operand, whose unary operators and casts are written, with something that only
 * exits know */
static void operand_translate(const char *p, const char *end, FILE *out)
{
	const struct timed_word *word;
	const char *close, *bad;
	size_t length = timed_word(p, p, &word);

	if (length) {
		fprintf(out, "%s%.*s", word->tsf, (int)(end - p - length), p + length);
	} else if (*p == '(') {
		close = values_end(p + 1, ")", &bad);
		if (!close || close > end)
			close = end;
		putc('(', out);
		condition_translate(p + 1, close, out);
		fprintf(out, "%.*s", (int)(end - close), close);
	} else if (!strncmp(p, "entry(", 6)) {
		fprintf(out, "%.*s", (int)(end - p), p);
	} else {
		results_write(p, end, out);
	}
}

/* What the entry knows is entry(...), as a whole where that is possible. */
static void condition_translate(const char *text, const char *end, FILE *out)
{
	const char *operator, *p, *begin;
	size_t length;

	while (text < end && strchr(BLANKS, *text))
		text++;
	while (end > text && strchr(BLANKS, end[-1]))
		end--;
	if (!condition_has(text, end, false)) {
		fprintf(out, "%.*s", (int)(end - text), text);
		return;
	}
	if (!condition_has(text, end, true)) {
		fprintf(out, "entry(%.*s)", (int)(end - text), text);
		return;
	}
	operator = condition_operator(text, end, &length);
	if (operator) {
		condition_translate(text, operator, out);
		fprintf(out, " %.*s ", (int)length, operator);
		condition_translate(operator + length, end, out);
		return;
	}
	for (p = text; p < end; p = operator) {
		length = strspn(p, BLANKS);
		fprintf(out, "%.*s", (int)length, p);
		p += length;
		begin = operand_begin(p, end);
		operator = begin < end && operand_is_here(begin) ?
			   operand_end(begin, end) : begin;
		if (condition_has(p, operator, true)) {
			fprintf(out, "%.*s", (int)(begin - p), p);
			operand_translate(begin, operator, out);
		} else {
			condition_translate(p, operator, out);
		}
		p = operator;
		operator = binary_end(p, end);
		fprintf(out, "%.*s", (int)(operator - p), p);
	}
}

char *expr_if(const struct probe_expr *expr)
{
	const char *text = expr->condition ? expr->condition : "";
	char *made = NULL;
	size_t size;
	FILE *out = open_memstream(&made, &size);

	if (!out)
		return NULL;
	condition_translate(text, text + strlen(text), out);
	if (!fclose(out))
		return made;
	free(made);
	return NULL;
}

/* ---- the TSF ---- */

static void call_write(const struct probe_expr *expr, FILE *out)
{
	char *condition = expr->condition ? expr_if(expr) : NULL;

	fprintf(out, "\nTRACE MINOR=%d,\n\tCALL=", MINOR_ENTRY);
	place_write(expr, out);
	description_write(expr, "", out);
	if (expr->values && expr->values[0])
		fprintf(out, ",\n\tVARS=(%s)", expr->values);
	if (expr->results) {
		fputs(",\n\tRESULT=(", out);
		results_write(expr->results,
			      expr->results + strlen(expr->results), out);
		putc(')', out);
	}
	if (expr->condition)
		fprintf(out, ",\n\tIF=(%s)", condition ? condition : "");
	putc('\n', out);
	free(condition);
}

void expr_write_tsf(const struct probe_expr *expr, const char *module,
		    unsigned int major, bool calls, FILE *out)
{
	bool exits = expr->results || expr->whole;
	bool entry = !exits || expr->values || expr->whole;

	fputs("MODNAME=", out);
	expr_string_write(module, "", out);
	fprintf(out, "\nMAJOR=%u\n", major);
	if (calls && expr->whole) {
		call_write(expr, out);
		return;
	}
	if (entry && exits)
		fputs("TYPELIST NAME=PRE,ID=4, NAME=POST,ID=8\n", out);
	if (entry) {
		fprintf(out, "\nTRACE MINOR=%d,\n\tTP=", MINOR_ENTRY);
		place_write(expr, out);
		if (exits)
			fputs(",\n\tTYPE=(PRE)", out);
		description_write(expr, exits ? " Pre-Invocation" : "", out);
		condition_write(expr, out);
		if (expr->values && expr->values[0])
			fprintf(out, ",\n\tVARS=(%s)", expr->values);
		putc('\n', out);
	}
	if (exits) {
		fprintf(out, "\nTRACE MINOR=%#x,\n\tTP=", MINOR_EXIT);
		place_write(expr, out);
		fprintf(out, ",RETEP%s", entry ? ",\n\tTYPE=(POST)" : "");
		description_write(expr, entry ? " Post-Invocation" : "", out);
		if (!entry)
			condition_write(expr, out);
		if (expr->results) {
			fputs(",\n\tVARS=(", out);
			results_write(expr->results,
				      expr->results + strlen(expr->results),
				      out);
			putc(')', out);
		}
		putc('\n', out);
	}
}

bool expr_is_for_tracefmt(const struct probe_expr *expr)
{
	const struct timed_word *word;

	/* values of a pattern are the parameters */
	if (expr->kind == EXPR_FUNCTION && has_timed_word(expr->results))
		return false;
	for (const char *p = expr->condition; p && *p; p++)
		if (timed_word(expr->condition, p, &word) && !word->field)
			return false;
	return expr->condition;
}

char *expr_call_condition(const struct probe_expr *expr)
{
	const struct timed_word *word;
	const char *p = expr->condition;
	char *text = NULL;
	size_t size, n;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	while (*p) {
		n = timed_word(expr->condition, p, &word);
		if (n)
			fputs(word->field, out);
		else
			putc(*p, out);
		p += n ? n : 1;
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
