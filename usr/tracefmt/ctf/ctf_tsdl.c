// SPDX-License-Identifier: GPL-2.0
#include "ctf_tsdl.h"

#include <endian.h>
#include <stdio.h>
#include "lib/text.h"

#define LITERAL_MOST	1024	/* bytes; more are left out */

void ctf_add_number(struct text *out, uint64_t value, unsigned int bytes)
{
	value = htole64(value);
	text_add(out, &value, bytes);
}

bool ctf_is_text(const void *bytes, size_t n)
{
	const uint8_t *s = bytes;
	size_t length;

	for (size_t i = 0; i < n; i += length) {
		length = s[i] < 0x80 ? s[i] != 0 :
				       safe_text_utf8(s + i, n - i);
		if (!length)
			return false;
	}
	return true;
}

void ctf_add_string(struct text *out, const void *bytes, size_t n)
{
	const uint8_t *s = bytes, *end = s + n;
	size_t length;
	char *p;

	if (text_reserve(out, 4 * n + 1))
		return;
	for (p = out->data + out->used; s < end; s += length) {
		length = *s < 0x80 ? *s != 0 : safe_text_utf8(s, end - s);
		if (length) {
			p = text_put(p, (const char *)s, length);
		} else {
			p += sprintf(p, "\\x%02X", *s);
			length = 1;
		}
	}
	*p++ = '\0';
	out->used = p - out->data;
}

void ctf_add_bytes(struct text *out, const uint8_t *data, size_t n)
{
	ctf_add_number(out, n, 2);
	text_add(out, data, n);
}

void ctf_tsdl_literal(struct text *tsdl, const char *text, size_t n)
{
	char safe[4 * LITERAL_MOST], *end;

	n = n < LITERAL_MOST ? n : LITERAL_MOST;
	end = safe_text_put(safe, text, n, false);
	text_add(tsdl, "\"", 1);
	for (const char *p = safe; p < end; p++) {
		if (*p == '"' || *p == '\\')
			text_add(tsdl, "\\", 1);
		text_add(tsdl, p, 1);
	}
	text_add(tsdl, "\"", 1);
}

void ctf_tsdl_integer(struct text *tsdl, unsigned int bytes,
		      bool is_signed, unsigned int base)
{
	text_print(tsdl,
		   "integer { size = %u; align = 8; signed = %s; base = %u; }",
		   8 * bytes, is_signed ? "true" : "false", base);
}

void ctf_tsdl_enum(struct text *tsdl, unsigned int bytes, bool is_signed)
{
	TEXT_ADD(tsdl, "enum : ");
	ctf_tsdl_integer(tsdl, bytes, is_signed, 10);
}

void ctf_tsdl_enumerator(struct text *tsdl, size_t i, const char *name,
			 uint64_t value, bool is_signed)
{
	text_add_string(tsdl, i ? ", " : " { ");
	ctf_tsdl_literal(tsdl, name, strlen(name));
	text_print(tsdl, is_signed ? " = %lld" : " = %llu",
		   (unsigned long long)value);
}

void ctf_tsdl_bool(struct text *tsdl, unsigned int bytes)
{
	ctf_tsdl_enum(tsdl, bytes, false);
	text_print(tsdl, " { \"false\" = 0, \"true\" = 1 }");
}

void ctf_tsdl_float(struct text *tsdl, unsigned int bytes)
{
	text_print(tsdl,
		   "floating_point { exp_dig = %d; mant_dig = %d; align = 8; }",
		   bytes == 4 ? 8 : 11, bytes == 4 ? 24 : 53);
}

/* What precedes a field that may be missing, and what follows then. */

const struct ctf_status_entry ctf_statuses[CTF_STATUS_KINDS] = {
	[CTF_STATUS_VALUE] = { "value", CTF_CONTENT_VALUE },
	[CTF_STATUS_EMPTY] = { "empty", CTF_CONTENT_NOTHING },
	[CTF_STATUS_CUT] = { "cut", CTF_CONTENT_VALUE },
	[CTF_STATUS_NO_END] = { "no_end", CTF_CONTENT_VALUE },
	[CTF_STATUS_TOO_SHORT] = { "too_short", CTF_CONTENT_VALUE },
	[CTF_STATUS_NOT_READABLE] = { "not_readable", CTF_CONTENT_POINTER },
	[CTF_STATUS_BAD_SELECTOR] = { "bad_selector", CTF_CONTENT_POINTER },
	[CTF_STATUS_LEFT_ALONE] = { "left_alone", CTF_CONTENT_POINTER },
	[CTF_STATUS_NOT_TRIED] = { "not_tried", CTF_CONTENT_POINTER },
	[CTF_STATUS_CALLER] = { "caller_unknown", CTF_CONTENT_POINTER },
	[CTF_STATUS_DIVISION] = { "division_by_zero", CTF_CONTENT_NOTHING },
	[CTF_STATUS_ABSENT] = { "not_available_here", CTF_CONTENT_NOTHING },
	[CTF_STATUS_NOT_TRACED] = { "not_traced", CTF_CONTENT_NOTHING },
	[CTF_STATUS_NOT_FORMATTED] = { "not_formatted", CTF_CONTENT_NOTHING },
	[CTF_STATUS_CUT_BEFORE] = { "cut_before", CTF_CONTENT_NOTHING },
	[CTF_STATUS_INCOMPLETE] = { "incomplete", CTF_CONTENT_BYTES },
	[CTF_STATUS_NO_PREFIX] = { "no_prefix", CTF_CONTENT_BYTES },
	[CTF_STATUS_OTHER_ITEM] = { "other_item", CTF_CONTENT_BYTES },
	[CTF_STATUS_NOT_TEXT] = { "not_text", CTF_CONTENT_NOT_TEXT },
	[CTF_STATUS_AS_TEXT] = { "as_text", CTF_CONTENT_TEXT },
};

const char *const ctf_content_types[] = {
	[CTF_CONTENT_POINTER] = "struct at_pointer",
	[CTF_CONTENT_NOTHING] = "struct nothing",
	[CTF_CONTENT_BYTES] = "struct bytes",
	[CTF_CONTENT_NOT_TEXT] = "struct not_text",
	[CTF_CONTENT_TEXT] = "string",
};

void ctf_status_tsdl(struct text *tsdl)
{
	static const char text[] =
		"struct bytes {\n"
		"\tuint16_t length;\n"
		"\thex8_t bytes[length];\n"
		"};\n\n"
		"struct flags {\n"
		"\thex64_t value;\n"
		"\tstring names;\n"
		"};\n\n"
		"struct address {\n"
		"\thex64_t address;\n"
		"\tstring name;\n"
		"};\n\n"
		"enum stack_end : uint8_t {\n"
		"\tdepth = 0, outermost, unreadable, no_frame_pointer,\n"
		"\tunwinder, no_table, unknown = 6 ... 255\n"
		"};\n\n"
		"struct stack {\n"
		"\tenum stack_end end;\n"
		"\tuint16_t length;\n"
		"\tstruct address frames[length];\n"
		"};\n\n"
		"struct at_pointer {\n"
		"\thex64_t pointer;\n"
		"};\n\n"
		"struct not_text {\n"
		"\tstring text;\n"
		"\tstruct bytes data;\n"
		"};\n\n"
		"struct nothing {\n"
		"};\n\n";

	text_add(tsdl, text, sizeof(text) - 1);
	text_print(tsdl, "enum status : uint8_t {");
	for (int i = 0; i < CTF_STATUS_KINDS; i++)
		text_print(tsdl, "%s\n\t%s = %d", i ? "," : "",
			   ctf_statuses[i].name, i);
	text_print(tsdl, "\n};\n\n");
}
