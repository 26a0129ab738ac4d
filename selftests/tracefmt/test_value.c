// SPDX-License-Identifier: GPL-2.0
/*
 * Values of C types, as a TFF describes them: each kind, composed ones, data
 * that ends early, and types made to exhaust who prints them.
 */
#include <time.h>
#include <tap.h>
#include "builder.h"
#include "decoder.h"

enum {
	INT, UCHAR, CHAR, CHAR16, BOOL, FLOAT, DOUBLE, LONG_DOUBLE, INT128,
	UINT128, POINTER, COLOR, FLAGS, LEVEL, BYTES3, NAME, INTS, PAIR, PAIRS,
	REQUEST, BITS, VARIANT, NUMBER, NODE, OPEN_ARRAY, EMPTY, EMPTIES,
	WIDE_NAME, CLASS, MATRIX, MARKED, BYTE, NOTHING, UNKNOWN,
};

static const struct {
	const char *name;
	struct tff_ctype type;
	struct {
		const char *name;
		struct tff_member member;
	} members[6];
} all[] = {
	[INT] = { "int", { .bytes = 4, .kind = TFF_CTYPE_INT } },
	[UCHAR] = { "uint8_t", { .bytes = 1, .kind = TFF_CTYPE_UINT } },
	[CHAR] = { "char", { .bytes = 1, .kind = TFF_CTYPE_CHAR } },
	[CHAR16] = { "char16_t", { .bytes = 2, .kind = TFF_CTYPE_CHAR } },
	[BOOL] = { "_Bool", { .bytes = 1, .kind = TFF_CTYPE_BOOL } },
	[FLOAT] = { "float", { .bytes = 4, .kind = TFF_CTYPE_FLOAT } },
	[DOUBLE] = { "double", { .bytes = 8, .kind = TFF_CTYPE_FLOAT } },
	[LONG_DOUBLE] = { "long double",
			  { .bytes = 16, .kind = TFF_CTYPE_FLOAT } },
	[INT128] = { "__int128", { .bytes = 16, .kind = TFF_CTYPE_INT } },
	[UINT128] = { "unsigned __int128",
		      { .bytes = 16, .kind = TFF_CTYPE_UINT } },
	[POINTER] = { "char *", { .bytes = 8, .kind = TFF_CTYPE_POINTER,
				  .target = NODE } },
	[COLOR] = { "enum color",
		    { .bytes = 4, .kind = TFF_CTYPE_ENUM, .is_signed = 1 },
		    { { "RED", { .value = 0 } }, { "GREEN", { .value = 1 } },
		      { "BLUE", { .value = 3 } }, { "NONE", { .value = -1 } } } },
	[FLAGS] = { "enum flags", { .bytes = 4, .kind = TFF_CTYPE_ENUM },
		    { { "NO", { .value = 0 } }, { "READ", { .value = 1 } },
		      { "WRITE", { .value = 2 } },
		      { "MODE", { .value = 0x30 } } } },
	[LEVEL] = { "enum level", { .bytes = 1, .kind = TFF_CTYPE_ENUM },
		    { { "L1", { .value = 1 } }, { "L2", { .value = 2 } },
		      { "L3", { .value = 3 } }, { "L4", { .value = 4 } } } },
	[BYTES3] = { "odd", { .bytes = 3, .kind = TFF_CTYPE_BYTES } },
	[NAME] = { "char[8]", { .bytes = 8, .kind = TFF_CTYPE_ARRAY,
				.target = CHAR, .count = 8 } },
	[INTS] = { "int[12]", { .bytes = 48, .kind = TFF_CTYPE_ARRAY,
				.target = INT, .count = 12 } },
	[PAIR] = { "struct pair", { .bytes = 8, .kind = TFF_CTYPE_STRUCT },
		   { { "a", { .ctype = INT } },
		     { "b", { .ctype = INT, .value = 32 } } } },
	[PAIRS] = { "struct pair[2]", { .bytes = 16, .kind = TFF_CTYPE_ARRAY,
					.target = PAIR, .count = 2 } },
	[REQUEST] = { "struct request",
		      { .bytes = 32, .kind = TFF_CTYPE_STRUCT },
		      { { "name", { .ctype = NAME } },
			{ "next", { .ctype = POINTER, .value = 64 } },
			{ "at", { .ctype = PAIR, .value = 128 } },
			{ "color", { .ctype = COLOR, .value = 192 } } } },
	[BITS] = { "struct bits", { .bytes = 16, .kind = TFF_CTYPE_STRUCT },
		   { { "a", { .ctype = INT, .value = 0, .bits = 3 } },
		     { "b", { .ctype = UCHAR, .value = 3, .bits = 5 } },
		     { "c", { .ctype = LEVEL, .value = 8, .bits = 2 } },
		     { "d", { .ctype = BOOL, .value = 10, .bits = 1 } },
		     { "e", { .ctype = INT, .value = 13, .bits = 64 } } } },
	[VARIANT] = { "union variant", { .bytes = 8, .kind = TFF_CTYPE_UNION },
		      { { "i", { .ctype = INT } },
			{ "d", { .ctype = DOUBLE } } } },
	[NUMBER] = { "struct number", { .bytes = 12,
					.kind = TFF_CTYPE_STRUCT },
		     { { "kind", { .ctype = INT } },
		       { "", { .ctype = VARIANT, .value = 32 } } } },
	[NODE] = { "struct node", { .bytes = 8, .kind = TFF_CTYPE_STRUCT },
		   { { "next", { .ctype = POINTER } } } },
	[OPEN_ARRAY] = { "int[]", { .kind = TFF_CTYPE_ARRAY, .target = INT } },
	[EMPTY] = { "struct empty", { .kind = TFF_CTYPE_STRUCT } },
	[EMPTIES] = { "struct empty[99]", { .kind = TFF_CTYPE_ARRAY,
					    .target = EMPTY,
					    .count = 0xffffffff } },
	[WIDE_NAME] = { "char16_t[4]", { .bytes = 8, .kind = TFF_CTYPE_ARRAY,
					 .target = CHAR16, .count = 4 } },
	[CLASS] = { "s", { .bytes = 4, .kind = TFF_CTYPE_STRUCT },
		    { { "x", { .ctype = INT } } } },
	[MATRIX] = { "uint8_t[2][3]", { .bytes = 6, .kind = TFF_CTYPE_ARRAY,
					.target = BYTES3, .count = 2 } },
	[MARKED] = { "struct marked", { .bytes = 8, .kind = TFF_CTYPE_STRUCT },
		     { { "a", { .ctype = INT } },
		       { "mark", { .ctype = OPEN_ARRAY, .value = 32 } },
		       { "b", { .ctype = INT, .value = 32 } },
		       { "more", { .ctype = OPEN_ARRAY, .value = 64 } } } },
	[BYTE] = { "fixed", { .bytes = 1, .kind = TFF_CTYPE_BYTES } },
	[NOTHING] = { "decltype(nullptr)", { .kind = TFF_CTYPE_BYTES } },
	[UNKNOWN] = { "struct unknown", { .bytes = 1, .kind = TFF_CTYPE_STRUCT },
		      { { "a", { .ctype = BYTE } },
			{ "b", { .ctype = NOTHING } } } },
};

struct row {
	const char *control;
	const char *data;
	const char *expected;
};

static const struct row rows[] = {
	{ "%{int}", "FEFFFFFF", "-2" },
	{ "%{uint8_t}", "80", "128" },
	{ "%{char}", "41", "'A'" },
	{ "%{char}", "1B", "'\\x1B'" },
	{ "%{char16_t}", "AC20", "'\xe2\x82\xac'" },
	{ "%{char16_t}", "00D8", "'\\uD800'" },
	{ "%{char16_t}", "1B00", "'\\x1B'" },
	{ "%{_Bool} %{_Bool}", "0100", "true false" },
	{ "%{float} %{double}", "0000C03F 000000000000F03F", "1.5 1" },
	{ "%{long double}", "000102030405060708090A0B0C0D0E0F",
	  "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F" },
	{ "%{__int128}", "FEFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", "-2" },
	{ "%{unsigned __int128}", "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
	  "340282366920938463463374607431768211455" },
	{ "%{char *}", "00100000FF7F0000", "0x7FFF00001000" },
	{ "%{odd}", "0A0B0C", "0A 0B 0C" },
	{ "%{fixed}", "14", "0x14" },
	{ "%{struct unknown}", "14", "{a = 0x14, b = <not shown>}" },
	/* enumerators */
	{ "%{enum color}", "01000000", "GREEN" },
	{ "%{enum color}", "00000000", "RED" },
	{ "%{enum color}", "FFFFFFFF", "NONE" },
	{ "%{enum color}", "FEFFFFFF", "-2" },
	{ "%{enum color}", "02000000", "2" },
	{ "%{enum flags}", "00000000", "NO" },
	{ "%{enum flags}", "02000000", "WRITE" },
	{ "%{enum flags}", "03000000", "READ | WRITE" },
	{ "%{enum flags}", "31000000", "READ | MODE" },
	{ "%{enum flags}", "11000000", "17" },
	{ "%{enum flags}", "83000000", "131" },
	{ "%{enum level}", "03", "L3" },
	{ "%{enum level}", "05", "5" },	/* not L1 | L4: L3 is none of both */
	{ "%{enum level}", "FF", "255" },
	/* arrays */
	{ "%{char[8]}", "'abc'0000000000", "\"abc\"" },
	{ "%{char[8]}", "'abcdefgh'", "\"abcdefgh\"" },
	{ "%{char[8]}", "'a'1B0A'b'00'xyz'", "\"a\\x1B\\nb\"" },
	{ "%{char[8]}", "'abc'", "\"abc\"<3 of 8 bytes>" },
	{ "%{char16_t[4]}", "4100AC203DD80000",
	  "\"A\xe2\x82\xac\\uD83D\"" },
	{ "%{int[12]}", "010000000200000003000000040000000500000006000000"
			"0700000008000000090000000A0000000B0000000C000000",
	  "{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}" },
	{ "%{int[12]}", "010000000000000000000000000000000000000000000000"
			"000000000000000000000000000000000000000002000000",
	  "{1, 0 <repeats 10 times>, 2}" },
	{ "%{int[12]}", "000000000000000000000000000000000000000000000000"
			"000000000000000000000000010000000100000001000000",
	  "{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}" },
	{ "%{int[12]}", "01000000 0200", "{1, <6 of 48 bytes>}" },
	{ "%{int[]}", "0100000002000000", "{1, 2}" },
	{ "%{int[]}", "", "{}" },
	{ "%{struct pair[2]}", "01000000020000000300000004000000",
	  "{{a = 1, b = 2}, {a = 3, b = 4}}" },
	{ "%{struct empty}|", "", "{}|" },
	{ "%{struct empty[99]}", "", "{{} <repeats 4294967295 times>}" },
	{ "%{uint8_t[2][3]}", "010203040506", "{01 02 03, 04 05 06}" },
	/* structures */
	{ "%{struct request}",
	  "'x'00000000000000 0010000000000000 0100000002000000 01000000 00000000",
	  "{name = \"x\", next = 0x1000, at = {a = 1, b = 2}, color = GREEN}" },
	{ "%{struct request}", "'x'00000000000000 00100000",
	  "{name = \"x\", next = 00 10 00 00 <4 of 8 bytes>, "
	  "<12 of 32 bytes>}" },
	{ "%{struct request}",
	  "'x'00000000000000 0010000000000000 01000000",
	  "{name = \"x\", next = 0x1000, at = {a = 1, <4 of 8 bytes>}, "
	  "<20 of 32 bytes>}" },
	{ "%{struct number}", "01000000 000000000000F03F",
	  "{kind = 1, {i = 0, d = 1}}" },
	{ "%{struct number}", "01000000 02000000",
	  "{kind = 1, {i = 2, d = 02 00 00 00 <4 of 8 bytes>}}" },
	{ "%{struct bits}", "ED3E 0000 00000000 00000000 00000000",
	  "{a = -3, b = 29, c = L2, d = true, e = 1}" },
	{ "%{struct bits}", "0DE0 FFFFFFFFFFFFFF1F 000000000000",
	  "{a = -3, b = 1, c = 0, d = false, e = -1}" },
	{ "%{struct bits}", "0D E0", "{a = -3, b = 1, c = 0, d = false, "
				    "<2 of 16 bytes>}" },
	{ "%{struct node}", "0000000000000000", "{next = 0x0}" },
	{ "%{struct marked}", "0100000002000000",
	  "{a = 1, mark = {}, b = 2, more = {}}" },
	/* a class is named without struct, and a control has its name */
	{ "%{struct s} %{class s}", "0100000002000000", "{x = 1} {x = 2}" },
	{ "%{s}", "'a'00", "a" },
	{ "%{union s}|%{enum pair}", "", "%{union s}|%{enum pair}" },
	/* several types and a control in a row */
	{ "%{int} %{struct pair} %W", "01000000 0200000003000000 3412",
	  "1 {a = 2, b = 3} 1234" },
};

static struct tff *tff_make(void)
{
	struct tff_builder builder = { .major = 5 };
	struct error err = { 0 };
	struct bytes out;
	struct tff *tff;

	tff_section_begin(&builder, "/bin/app", 1);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		tff_ctype_add(&builder, all[i].name, all[i].type);
		for (size_t k = 0; k < 6 && all[i].members[k].name; k++)
			tff_member_add(&builder, all[i].members[k].name,
				       all[i].members[k].member);
	}
	out = tff_finish(&builder);
	if (tff_parse(&tff, out.data, out.size, "test.tff", &err))
		tap_bail("%s", err.text);
	bytes_free(&out);
	return tff;
}

static void data_add(struct bytes *data, const char *text)
{
	unsigned int byte;

	while (*text) {
		if (*text == '\'') {
			while (*++text != '\'')
				bytes_add(data, text, 1);
			text++;
		} else if (*text == ' ') {
			text++;
		} else {
			uint8_t c;

			sscanf(text, "%2x", &byte);
			c = byte;
			bytes_add(data, &c, 1);
			text += 2;
		}
	}
}

/* A record with the data; in memory of its own size. */
static struct ras_record *record_make(const struct bytes *data)
{
	struct ras_record *record = calloc(1, sizeof(*record) + data->size);

	record->length = RAS_RECORD_HEADER + data->size;
	if (data->size)
		memcpy(record + 1, data->data, data->size);
	return record;
}

/* What the format makes of the data; to be freed. */
static char *render(const struct value_types *types, const char *fmt,
		    const struct bytes *data)
{
	struct ras_record *record = record_make(data);
	struct decode_format format;
	struct decode_result result;
	char *text;

	if (decode_compile(&format, fmt, types))
		tap_bail("no memory");
	text = decoder_text(&(struct render_input){ &format, record }, NULL,
			    &result);
	decode_free(&format);
	free(record);
	return text;
}

static void row_run(const struct value_types *types, const struct row *row)
{
	struct bytes data = { 0 };
	char *text;

	data_add(&data, row->data);
	text = render(types, row->control, &data);
	tap_str(text, row->expected, "%s of %s", row->control, row->data);
	free(text);
	bytes_free(&data);
}

/* Types in an item, and what follows it. */
static void test_items(const struct value_types *types)
{
	struct bytes data = { 0 };
	char *text;

	data_item(&data, RAS_ITEM_VALUE, "\1\0\0\0\2\0\0\0", 8);
	data_item(&data, RAS_ITEM_VALUE | RAS_ITEM_CUT, "\3\0\0\0\4\0", 6);
	data_item(&data, RAS_ITEM_ABSENT, "", 0);
	data_fault(&data, 0x1234);
	data_item(&data, RAS_ITEM_VALUE,
		  "\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0", 16);
	data_item(&data, RAS_ITEM_VALUE, "\1\0\0\0\2\0\0\0\3\0\0\0", 12);
	text = render(types, "%P%{struct pair}|%P%{struct pair}|"
			     "%P%{struct pair}|%P%{struct pair}|"
			     "%R%{struct pair}|%P%{int[]}", &data);
	tap_str(text, "{a = 1, b = 2}|"
		      "{a = 3, b = 04 00 <2 of 4 bytes>}<cut>|"
		      "<not available here>|<not readable: 0000000000001234>|"
		      "{a = 1, b = 2} {a = 3, b = 4}|{1, 2, 3}",
		"types in items");
	free(text);
	bytes_free(&data);
}

/* 40 structures, each of which is twice the one before it: 2^40 values in one
 * byte. */
static void test_explosion(void)
{
	struct tff_builder builder = { .major = 5 };
	struct bytes out, data = { 0 };
	struct error err = { 0 };
	struct value_types types;
	struct tff *tff;
	char *text;

	tff_section_begin(&builder, "/bin/app", 1);
	tff_ctype_add(&builder, "t0", all[UCHAR].type);
	for (uint32_t i = 1; i <= 40; i++) {
		char name[16];

		snprintf(name, sizeof(name), "t%u", i);
		tff_ctype_add(&builder, name,
			      (struct tff_ctype){ .bytes = 1,
						  .kind = TFF_CTYPE_UNION });
		for (uint32_t k = 0; k < 2; k++)
			tff_member_add(&builder, "m", (struct tff_member){
					       .ctype = i - 1 });
	}
	out = tff_finish(&builder);
	if (tff_parse(&tff, out.data, out.size, "test.tff", &err))
		tap_bail("%s", err.text);
	types = value_types_of(tff, tff->sections);
	bytes_add(&data, "\7", 1);
	text = render(&types, "%{t3}|%{t2}", &data);
	tap_str(text, "{m = {m = {m = 7, m = 7}, m = {m = 7, m = 7}}, "
		      "m = {m = {m = 7, m = 7}, m = {m = 7, m = 7}}}|"
		      "{<0 of 1 bytes>}", "eight values");
	free(text);
	text = render(&types, "%{t20}", &data);
	tap_ok(strlen(text) > VALUE_TEXT_MAX / 2 &&
		       strlen(text) <= VALUE_TEXT_MAX + 8 &&
		       !strcmp(text + strlen(text) - 3, "..."),
	       "a million values: %zu bytes are printed", strlen(text));
	free(text);
	bytes_add(&data, "\7\7", 2);
	text = render(&types, "%{t40}|%{t40}|%{t20}", &data);
	tap_ok(strlen(text) <= VALUE_TEXT_MAX + 16 && strstr(text, "{...}") &&
		       !strcmp(text + strlen(text) - 8, "|...|..."),
	       "more values: %zu bytes", strlen(text));
	free(text);
	bytes_free(&data);
	bytes_free(&out);
	tff_close(tff);
}

#define MANY	20000

/* Every tracepoint looks its types up: that takes no longer with many. */
static void test_many(void)
{
	struct tff_builder builder = { .major = 5 };
	struct value_types types;
	struct error err = { 0 };
	struct bytes out;
	struct tff *tff;
	char name[32];
	uint32_t wrong = 0;
	clock_t start;

	tff_section_begin(&builder, "/bin/app", 1);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "struct some_name%u", i);
		tff_ctype_add(&builder, name, all[CLASS].type);
	}
	out = tff_finish(&builder);
	if (tff_parse(&tff, out.data, out.size, "test.tff", &err))
		tap_bail("%s", err.text);
	types = value_types_of(tff, tff->sections);
	start = clock();
	for (uint32_t i = 0; i < MANY; i++) {
		int n = snprintf(name, sizeof(name), "struct some_name%u", i);

		wrong += value_type_find(&types, name, n) != i;
		name[n - 1] = 'x';
		wrong += value_type_find(&types, name, n) != TFF_CTYPE_NONE;
	}
	tap_is(wrong, 0, "%u types are found", MANY);
	tap_ok(clock() - start < CLOCKS_PER_SEC, "in %ld ms",
	       (long)((clock() - start) / (CLOCKS_PER_SEC / 1000)));
	tff_close(tff);
	bytes_free(&out);
}

int main(void)
{
	struct tff *tff = tff_make();
	struct value_types types = value_types_of(tff, tff->sections);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		row_run(&types, &rows[i]);
	test_items(&types);
	test_explosion();
	test_many();
	tff_close(tff);
	return tap_done();
}
