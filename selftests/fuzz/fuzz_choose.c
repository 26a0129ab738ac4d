// SPDX-License-Identifier: GPL-2.0
/*
 * Any expression of --field over any record: the expression up to a zero, then
 * the record's data, which a format with fields of all kinds reads.
 */
#include <stdlib.h>
#include <string.h>
#include "tracefmt/filter/expression.h"
#include "tracefmt/filter/expression_parse.h"

#define EXPRESSION_MAX	400	/* glibc's regular expressions recurse */
#define REPEATS_MAX	12

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char strings[] = "\0int\0char\0tag[]\0enum e\0struct s\0"
			      "A\0B\0a\0t\0e\0f\0in[2]\0desc";

static const struct tff_ctype ctypes[] = {
	{ .name = 1, .bytes = 4, .kind = TFF_CTYPE_INT },
	{ .name = 5, .bytes = 1, .kind = TFF_CTYPE_CHAR },
	{ .name = 10, .bytes = 4, .kind = TFF_CTYPE_ARRAY, .target = 1,
	  .count = 4 },
	{ .name = 16, .bytes = 4, .kind = TFF_CTYPE_ENUM, .is_signed = 1,
	  .members = 2 },
	{ .name = 42, .bytes = 8, .kind = TFF_CTYPE_ARRAY, .target = 0,
	  .count = 2 },
	{ .name = 23, .bytes = 32, .kind = TFF_CTYPE_STRUCT, .first_member = 2,
	  .members = 6 },
};

static const struct tff_member members[] = {
	{ .name = 32, .value = 0 }, { .name = 34, .value = -1 },
	{ .name = 36 }, { .name = 38, .ctype = 2, .value = 32 },
	{ .name = 40, .ctype = 3, .value = 64 },
	{ .name = 42, .ctype = 0, .value = 99, .bits = 7 },
	{ .name = 44, .ctype = 4, .value = 128 },
	{ .name = 0, .ctype = 4, .value = 192 },
};

#define CTYPES	(sizeof(ctypes) / sizeof(*ctypes))

static uint32_t by_name[CTYPES];

static struct tff tff = { .strings = strings };
static struct tff_entry entry = { .desc = sizeof(strings) - 5 };
static struct trace trace;
static struct match_point point = {
	.formatted = true, .tff = &tff, .entry = &entry,
};

static void point_make(void)
{
	static const char fmt[] =
		"a = %P%{d32} u->b = %P%{u16be} s = %P%S x = %P%L t = %P%{struct s}\n"
		"e = %P%{enum e} f = %P%{f64} w = %P%{flags8:A=1,B=2} n = %P%{sym}\n"
		"i = %P%{ip4} d = %P%{time_ns} h = %P%{hex} k = %P%{stack}\n"
		"l = %R%W\n";
	static const struct value_types types = {
		.types = ctypes, .count = CTYPES, .members = members,
		.strings = strings, .by_name = by_name,
	};

	tff_ctypes_sort(by_name, ctypes, CTYPES, strings);
	if (decode_compile(&point.format, fmt, &types) ||
	    field_set_make(&point.fields, &point.format))
		abort();
}

static void evaluate(struct expression *expression,
		     const struct ras_record *record)
{
	struct event event = {
		.record = record, .point = &point, .trace = &trace, .number = 7,
		.time = 1770163290000000000,
	};
	struct expression_bound *bound = expression_bind(expression, &point);
	struct scratch *scratch = calloc(1, sizeof(*scratch));

	if (!bound || !scratch || output_decode(&event, scratch, NULL))
		abort();
	if (expression_holds(bound, &event, scratch, NULL) !=
	    expression_holds(bound, &event, scratch, NULL))
		abort();
	expression_unbind(bound);
	free(scratch->pieces);
	free(scratch);
}

static void run(const char *text, const uint8_t *data, size_t n)
{
	struct ras_record *record = calloc(1, sizeof(*record) + n);
	struct expression *expression;
	struct error err = { 0 };

	if (!record)
		abort();
	record->length = RAS_RECORD_HEADER + n;
	memcpy(record + 1, data, n);
	if (!expression_parse(&expression, text, &err)) {
		evaluate(expression, record);
		for (size_t i = 0; expression_report(expression, i, &err) >= 0;)
			i++;
		expression_free(expression);
	} else if (!err.text[0]) {
		abort();
	}
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
	size_t n, length = zero ? zero - data : 0, repeats = 0;
	char text[EXPRESSION_MAX + 1];

	if (!zero || length > EXPRESSION_MAX)
		return 0;
	if (!point.format.steps)
		point_make();
	/* a{9999}{9999} and a++++++++++++++ take glibc's time and memory, not
	 * ours */
	for (size_t i = 0; i <= length; i++)
		text[i] = data[i] == '{' ? '(' :
			  strchr("+*?", data[i]) && ++repeats > REPEATS_MAX ?
			  '.' : data[i];
	n = size - length - 1;
	if (n > RAS_RECORD_MAX - RAS_RECORD_HEADER)
		n = RAS_RECORD_MAX - RAS_RECORD_HEADER;
	run(text, zero + 1, n);
	return 0;
}
