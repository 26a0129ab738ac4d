// SPDX-License-Identifier: GPL-2.0
#include "parse_string.h"

#include <string.h>
#include "lib/formats/format.h"

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
static struct srcpos part_pos(const struct token *token, const char *part,
			      size_t length)
{
	return (struct srcpos){
		.line = token->pos.line,
		.column = token->pos.column + 1 + (part - token->text),
		.length = length,
	};
}

bool parse_string(struct parser *p, struct parse_string *string)
{
	const char *at = p->token.text, *end = at + p->token.length;
	const struct token *token = &string->token;

	if (p->token.kind != TOKEN_STRING)
		return parser_missing(p, "\"");
	string->token = p->token;
	string->length = 0;
	string->text = tsf_alloc(p->tsf, p->token.length + 1);
	if (!string->text) {
		parser_no_memory(p);
		return false;
	}
	while (at < end && !p->aborted) {
		struct token escape = { .text = at, .length = 2 };
		char c = *at;
		size_t n = c == '\\' ? parse_escape(at, end, &c) : 1;

		if (!n) {
			parser_report(p, part_pos(token, at, 2),
				      TRCERR_BADESCAPE, parser_text(p, &escape));
			c = at[1];
			n = 2;
		} else if (!c && *at) {
			parser_report(p, part_pos(token, at, n),
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

/* Where in the TSF the byte `index` of the resolved string comes from. */
static const char *string_origin(const char *at, const char *end, size_t index)
{
	size_t n;
	char c;

	while (index-- && at < end) {
		n = *at == '\\' ? parse_escape(at, end, &c) : 1;
		at += n ? n : 2;
	}
	return at;
}

struct srcpos parse_string_place(const struct tsf_fmt *fmt, size_t index,
				 size_t length)
{
	const char *at = string_origin(fmt->source,
				       fmt->source + fmt->source_length, index);

	return (struct srcpos){
		.line = fmt->pos.line,
		.column = fmt->pos.column + 1 + (at - fmt->source),
		.length = length,
	};
}

/* After the '%' of an unknown one the format goes on as if it began there. */
void parse_string_controls(struct parser *p, const struct parse_string *string)
{
	const struct token *source = &string->token;
	struct token control = { 0 };
	size_t from = 0, unknown_at;
	const char *origin;

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
		origin = string_origin(source->text,
				       source->text + source->length, from);
		parser_report(p, part_pos(source, origin, control.length),
			      TRCERR_BADCONTROL, parser_text(p, &control));
		from++;
	} while (!p->aborted);
}
