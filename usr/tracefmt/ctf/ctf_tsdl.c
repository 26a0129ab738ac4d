// SPDX-License-Identifier: GPL-2.0
#include "ctf_tsdl.h"

#include "lib/text.h"

#define LITERAL_MOST	1024	/* bytes; more are left out */

void ctf_tsdl_literal(struct ctf_buffer *tsdl, const char *text, size_t n)
{
	char safe[4 * LITERAL_MOST], *end;

	n = n < LITERAL_MOST ? n : LITERAL_MOST;
	end = safe_text_put(safe, text, n, false);
	ctf_buffer_add(tsdl, "\"", 1);
	for (const char *p = safe; p < end; p++) {
		if (*p == '"' || *p == '\\')
			ctf_buffer_add(tsdl, "\\", 1);
		ctf_buffer_add(tsdl, p, 1);
	}
	ctf_buffer_add(tsdl, "\"", 1);
}

void ctf_tsdl_integer(struct ctf_buffer *tsdl, unsigned int bytes,
		      bool is_signed, unsigned int base)
{
	ctf_buffer_print(tsdl,
			 "integer { size = %u; align = 8; signed = %s; base = %u; }",
			 8 * bytes, is_signed ? "true" : "false", base);
}

void ctf_tsdl_bool(struct ctf_buffer *tsdl, unsigned int bytes)
{
	ctf_buffer_print(tsdl, "enum : ");
	ctf_tsdl_integer(tsdl, bytes, false, 10);
	ctf_buffer_print(tsdl, " { \"false\" = 0, \"true\" = 1 }");
}

void ctf_tsdl_float(struct ctf_buffer *tsdl, unsigned int bytes)
{
	ctf_buffer_print(tsdl,
			 "floating_point { exp_dig = %d; mant_dig = %d; align = 8; }",
			 bytes == 4 ? 8 : 11, bytes == 4 ? 24 : 53);
}
