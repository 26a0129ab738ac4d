// SPDX-License-Identifier: GPL-2.0
#include "parser.h"

#include <stdarg.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/debug/arch/arch.h"
#include "lib/formats/format.h"

void parser_report(struct parser *p, struct srcpos pos, enum diag_id id, ...)
{
	enum diag_severity severity;
	va_list args;

	if (p->aborted)
		return;
	va_start(args, id);
	severity = diag_vreport(p->diag, pos, id, args);
	va_end(args);
	if (severity <= DIAG_ERROR)
		p->failed = true;
	if (severity == DIAG_ERROR && p->point)
		diag_hint_discarded(p->diag, id);
	if (severity > DIAG_SEVERE)
		return;
	p->aborted = true;
	p->lexer.failed = true;
	p->lexer.at = p->lexer.end;
	p->token.kind = TOKEN_END;
}

/* Report TRCERR_NO_MEM. */
static void parser_no_memory(struct parser *p)
{
	parser_report(p, (struct srcpos){ 0 }, TRCERR_NO_MEM);
}

void *parser_append(struct parser *p, void *array, size_t *count, size_t size)
{
	void *element = tsf_append(p->tsf, array, count, size);

	if (!element)
		parser_no_memory(p);
	return element;
}

/* The lexer reports its own diagnostics, all of which abort. */
static void token_set(struct parser *p, struct token token)
{
	p->token = token;
	if (p->lexer.failed) {
		p->aborted = p->failed = true;
		p->token.kind = TOKEN_END;
	}
}

void parser_next(struct parser *p)
{
	p->last = p->token.pos;
	p->last_names = parser_at_mark(p, '.') || parser_at_mark(p, '@');
	token_set(p, lexer_next(&p->lexer));
}

void parser_skip(struct parser *p)
{
	if (parser_at_mark(p, '\''))
		lexer_skip_character(&p->lexer, &p->token);
	parser_next(p);
}

bool parser_at(const struct parser *p, const char *word)
{
	return token_is_word(&p->token, word);
}

bool parser_at_mark(const struct parser *p, char mark)
{
	return token_is_mark(&p->token, mark);
}

bool parser_take_mark(struct parser *p, char mark)
{
	if (!parser_at_mark(p, mark))
		return false;
	parser_next(p);
	return true;
}

bool parser_at_name(const struct parser *p)
{
	return p->last_names && p->last.line == p->token.pos.line;
}

bool parser_at_trace(const struct parser *p)
{
	struct lexer ahead = p->lexer;

	ahead.quiet = true;
	return parser_at(p, "TRACE") && !parser_at_name(p) &&
	       lexer_next(&ahead).kind == TOKEN_WORD;
}

void parser_reread_symbol(struct parser *p)
{
	token_set(p, lexer_reread_symbol(&p->lexer, p->token));
}

void parser_reread_function(struct parser *p)
{
	token_set(p, lexer_reread_function(&p->lexer, p->token));
}

void parser_reread_path(struct parser *p)
{
	token_set(p, lexer_reread_path(&p->lexer, p->token));
}

const char *parser_text(struct parser *p, const struct token *token)
{
	char *text = tsf_alloc(p->tsf, token->length + 1);

	if (!text) {
		parser_no_memory(p);
		return "";
	}
	memcpy(text, token->text, token->length);
	return text;
}

const char *parser_format(struct parser *p, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = tsf_vformat(p->tsf, fmt, args);
	va_end(args);
	if (!text)
		parser_no_memory(p);
	return text ? text : "";
}

struct srcpos parser_span(const struct parser *p, struct srcpos first)
{
	if (p->last.line == first.line && p->last.column >= first.column)
		first.length = p->last.column + p->last.length - first.column;
	return first;
}

/* The end of the file where something must follow is severe everywhere. */
static bool report_end(struct parser *p, const char *what)
{
	if (p->token.kind != TOKEN_END)
		return false;
	if (p->aborted)
		return true;
	parser_report(p, p->token.pos, TRCERR_UNEXPECTEDEOF);
	diag_hint(p->diag, "'%s' is missing", what);
	return true;
}

bool parser_missing(struct parser *p, const char *what)
{
	if (!report_end(p, what))
		parser_report(p, p->token.pos,
			      p->point ? TRCERR_SYNTAX_SKIP :
					 TRCERR_SYNTAX_ABORT,
			      what, parser_text(p, &p->token));
	return false;
}

bool parser_expect(struct parser *p, char mark)
{
	return parser_take_mark(p, mark) ||
	       parser_missing(p, (char[]){ mark, 0 });
}

void parser_expect_comma(struct parser *p)
{
	if (parser_take_mark(p, ',') || report_end(p, ","))
		return;
	parser_report(p, p->token.pos, TRCERR_EXPECTED, ",",
		      parser_text(p, &p->token));
}

bool parser_list_continues(struct parser *p)
{
	if (parser_at_mark(p, ')') || parser_at_trace(p) ||
	    p->token.kind == TOKEN_END)
		return false;
	parser_expect_comma(p);
	return !parser_at_mark(p, ')') && !parser_at_trace(p);
}

bool parser_number(struct parser *p, uint64_t *value, struct srcpos *pos)
{
	*pos = p->token.pos;
	if (!token_number(&p->token, value)) {
		if (!report_end(p, "number"))
			parser_report(p, *pos, TRCERR_NOTANUMBER,
				      parser_text(p, &p->token));
		return false;
	}
	parser_next(p);
	return true;
}

bool parser_index(struct parser *p, uint32_t max, int64_t *value)
{
	struct srcpos pos;
	uint64_t number;

	if (!parser_number(p, &number, &pos))
		return false;
	if (number > max)
		parser_report(p, pos, TRCERR_INDEXTRUNC);
	*value = number & max;
	return true;
}

bool parser_name(struct parser *p, char *name, struct srcpos *pos)
{
	struct token *token = &p->token;
	size_t length = token->length;

	if ((token->kind != TOKEN_WORD && token->kind != TOKEN_NUMBER) ||
	    parser_at_trace(p))
		return parser_missing(p, "name");
	*pos = token->pos;
	if (length > TDF_NAME_MAX) {
		parser_report(p, *pos, TRCERR_NAMETOOBIG,
			      parser_text(p, token));
		length = TDF_NAME_MAX;
	}
	memcpy(name, token->text, length);
	name[length] = 0;
	parser_next(p);
	return true;
}

const struct arch_register *parser_register_find(struct parser *p,
						 const char *name)
{
	const struct arch_register *reg = arch_register_find(p->arch, name);

	for (size_t i = 0; !reg && p->arch_unknown && arch_all[i]; i++) {
		reg = arch_register_find(arch_all[i], name);
		if (reg)
			p->arch = arch_all[i];
	}
	p->arch_unknown &= !reg;
	return reg;
}

/* At most `most` digits at p: how many there are. */
static size_t digits_read(const char *p, const char *end, int base,
			  size_t most, unsigned int *value)
{
	size_t n = 0;
	int digit;

	for (*value = 0; n < most && p + n < end; n++) {
		digit = lexer_digit_value(p[n]);
		if (digit < 0 || digit >= base)
			break;
		*value = *value * base + digit;
	}
	return n;
}

size_t parse_escape(const char *p, const char *end, char *c)
{
	static const char names[] = "abefnrtv\\\"'?";
	static const char values[] = "\a\b\033\f\n\r\t\v\\\"'?";
	const char *name = strchr(names, p[1]);
	unsigned int value;
	size_t n;

	if (p[1] && name) {
		*c = values[name - names];
		return 2;
	}
	if (p[1] == 'x') {
		n = digits_read(p + 2, end, 16, 2, &value);
		*c = value;
		return n ? n + 2 : 0;
	}
	n = digits_read(p + 1, end, 8, 3, &value);
	*c = value;
	return n && value <= 0xff ? n + 1 : 0;
}

/* A part of the literal, given by where it begins in the TSF. */
static struct srcpos part_pos(const struct tsf_string *string, const char *part,
			      size_t length)
{
	return (struct srcpos){
		.line = string->pos.line,
		.column = string->pos.column + 1 + (part - string->source),
		.length = length,
	};
}

bool parse_string(struct parser *p, struct tsf_string *string)
{
	const char *at = p->token.text, *end = at + p->token.length;

	if (p->token.kind != TOKEN_STRING)
		return parser_missing(p, "\"");
	*string = (struct tsf_string) {
		.pos = p->token.pos, .source = at,
		.source_length = p->token.length,
		.text = tsf_alloc(p->tsf, p->token.length + 1),
	};
	if (!string->text) {
		parser_no_memory(p);
		return false;
	}
	while (at < end && !p->aborted) {
		struct token escape = { .text = at, .length = 2 };
		char c = *at;
		size_t n = c == '\\' ? parse_escape(at, end, &c) : 1;

		if (!n) {
			parser_report(p, part_pos(string, at, 2),
				      TRCERR_BADESCAPE,
				      parser_text(p, &escape));
			c = at[1];
			n = 2;
		} else if (!c && *at) {
			parser_report(p, part_pos(string, at, n),
				      TRCERR_NULLINLITERAL);
		}
		at += n;
		string->text[string->length++] = c;
	}
	if (p->aborted)
		return false;
	parser_next(p);
	return true;
}

struct srcpos parse_string_place(const struct tsf_string *string, size_t index,
				 size_t length)
{
	const char *at = string->source, *end = at + string->source_length;
	size_t n;
	char c;

	while (index-- && at < end) {
		n = *at == '\\' ? parse_escape(at, end, &c) : 1;
		at += n ? n : 2;
	}
	return part_pos(string, at, length);
}

/* After the '%' of an unknown one the format goes on as if it began there. */
void parse_string_controls(struct parser *p, const struct tsf_string *string)
{
	struct token control = { 0 };
	size_t from = 0, unknown_at;

	do {
		struct format format;

		if (format_compile(&format, string->text + from, NULL)) {
			parser_no_memory(p);
			return;
		}
		unknown_at = format.unknown_at;
		format_free(&format);
		if (unknown_at == (size_t)-1)
			return;
		from += unknown_at;
		control.text = string->text + from;
		control.length = 1 + (control.text[1] != 0);
		parser_report(p, parse_string_place(string, from,
						    control.length),
			      TRCERR_BADCONTROL, parser_text(p, &control));
		from++;
	} while (!p->aborted);
}
