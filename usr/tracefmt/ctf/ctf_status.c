// SPDX-License-Identifier: GPL-2.0
#include "ctf_status.h"

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

void ctf_status_tsdl(struct ctf_buffer *tsdl)
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

	ctf_buffer_add(tsdl, text, sizeof(text) - 1);
	ctf_buffer_print(tsdl, "enum status : uint8_t {");
	for (int i = 0; i < CTF_STATUS_KINDS; i++)
		ctf_buffer_print(tsdl, "%s\n\t%s = %d", i ? "," : "",
				 ctf_statuses[i].name, i);
	ctf_buffer_print(tsdl, "\n};\n\n");
}
