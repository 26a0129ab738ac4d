// SPDX-License-Identifier: GPL-2.0
/*
 * Which bytes each control takes and what is wrong with them: the pieces that
 * every output is made of. A piece is shown as its letter and bytes, with
 *
 *	:word	the note		@1234	its pointer
 *	+	not the first of %R	c	cut after it
 *	0	%R of nothing		k	the stack ends here
 *	=	text says the note once	i	in an item
 */
#include <tap.h>
#include "decoder.h"
#include "row.h"

struct row {
	const char *format;
	const char *data;
	const char *expected;
	int flags;		/* of the record */
};

static const struct row rows[] = {
	{ "a %W b %P%D", "0100P(01020304)", "W2 D4i" },
	{ "%X%Y%I2 %B", "010203", "X0 Y0 B1" },
	{ "%P%S|%P%{str4}|%S", "S('ab')P('a'000000)'xyz'00", "S2i S1i S3" },
	{ "%S", "'ab'", "S2:no_end" },
	{ "%R%W", "P(010002000300)", "W2i W2i+ W2i+" },
	{ "%R%W|%P%B", "P()P(01)", "W0i0 B1i" },
	{ "%R%W", "P(010002)", "W2i W1i+:short" },
	{ "%W%W", "0100", "W2 W0:short" },
	{ "%U", "010203", "U3" },
	/* what is cut, and what is cut away */
	{ "%P%W%W %W", "C(0100)", "W2ic:cut W0:cut= W0:cut=", RAS_RECORD_CUT },
	{ "%P%D", "C(0100)", "D2ic:short", RAS_RECORD_CUT },
	{ "%P%S", "T('ab')", "S2ic:cut", RAS_RECORD_CUT },
	{ "%R%W", "C()", "W0:cut", RAS_RECORD_CUT },
	{ "%W %W|%W", "0100", "W2 W0:cut W0:cut", RAS_RECORD_CUT },
	/* a fault is reported once for all fields */
	{ "%P%W%W|%P%S", "X", "W0:not_readable@1234 W0:not_traced= "
	  "S0:not_traced", RAS_RECORD_FAULT },
	{ "%P%W %P%W", "YP(0100)", "W0:bad_selector@B70001 W2i",
	  RAS_RECORD_FAULT },
	{ "%P%W %P%W %P%W", "LUZ", "W0:left_alone@1234 W0:not_tried@1234 "
	  "W0:division_by_zero", RAS_RECORD_FAULT },
	{ "%P%W %P%W", "QP(0100)", "W0:caller_unknown@1234 W2i",
	  RAS_RECORD_FAULT },
	{ "%P%{hex} %P%W", "NP(0100)", "H0:not_available_here W2i" },
	{ "%P%{hex} %P%W", "VP(0100)", "H0:needs_module W2i" },
	/* a format that doesn't fit */
	{ "%P%W %P%W", "07000100", "P3:no_prefix W0:not_formatted= "
	  "W0:not_formatted=" },
	/* stacks */
	{ "%P%{stack}", "K(01 00 0100000000000000)", "K8i" },
	{ "%R%{p64}", "K(01 00 0100000000000000 0200000000000000)",
	  "{8i {8i+k" },
	{ "%R%{p64}", "K(01 00)", "{0i0k" },
};

static char *piece_show(const struct decode_piece *piece, char *p)
{
	p += sprintf(p, "%c%u%s%s", piece->step->letter,
		     piece->bytes, piece->in_item ? "i" : "",
		     piece->again ? "+" : "");
	if (piece->nothing)
		p += sprintf(p, "0");
	if (piece->cut)
		p += sprintf(p, "c");
	if (piece->note)
		p += sprintf(p, ":%s", decode_note_words[piece->note]);
	if (piece->pointer)
		p += sprintf(p, "@%llX", (unsigned long long)piece->pointer);
	if (piece->shared)
		p += sprintf(p, "=");
	if (piece->stack_end)
		p += sprintf(p, "k");
	return p;
}

static void pieces_show(const struct decode_piece *pieces, size_t count,
			char *text)
{
	char *p = text;

	*p = '\0';
	for (size_t i = 0; i < count; i++) {
		if (pieces[i].step->letter == STEP_TEXT)
			continue;
		if (p > text)
			*p++ = ' ';
		p = piece_show(&pieces[i], p);
	}
}

static void row_run(const struct row *row)
{
	static const struct value_types types;
	struct ras_record *record = row_record(row->data, row->flags);
	struct decode_piece pieces[64];
	struct decode_result result;
	struct decode_format format;
	char text[512];

	if (decode_compile(&format, row->format, &types) ||
	    DECODE_PIECES(&format, record->length - RAS_RECORD_HEADER) > 64)
		tap_bail("no room");
	decode_record(&format, record, 0, pieces, NULL, &result);
	pieces_show(pieces, result.count, text);
	tap_str(text, row->expected, "'%s' of %s", row->format, row->data);
	decode_free(&format);
	free(record);
}

/* Flags of all items come together; what doesn't fit is reported. */
static void test_result(void)
{
	static const struct value_types types;
	struct ras_record *record = row_record("C(01)P(02)07", 0);
	struct decode_piece pieces[64];
	struct decode_result result;
	struct decode_format format;

	decode_compile(&format, "%P%B%P%B", &types);
	decode_record(&format, record, 0, pieces, NULL, &result);
	tap_is(result.status, RAS_ITEM_CUT, "an item is cut");
	tap_ok(!result.misfit, "and the format fits");
	decode_free(&format);
	decode_compile(&format, "%P%B%P%B%P%B", &types);
	decode_record(&format, record, 0, pieces, NULL, &result);
	tap_ok(result.misfit, "this one doesn't");
	decode_free(&format);
	free(record);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		row_run(&rows[i]);
	test_result();
	return tap_done();
}
