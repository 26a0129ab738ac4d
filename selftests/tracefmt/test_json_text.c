// SPDX-License-Identifier: GPL-2.0
/*
 * JSON of C types; and the short way of plain records makes the text
 * of the long one, whatever the data is.
 */
#include <tap.h>
#include "tracefmt/json/json_field.h"
#include "tracefmt/json/json_plain.h"

/* ---- C types ---- */

static const char strings[] = "\0i\0c\0e\0RED\0s\0inner\0b\0p\0f\0std::string\0vec";
enum { INT, CHARS, ENUM, POINTER, FLOAT, INNER, STRUCT, CHAR, INTS, SHAPED, ROW };

static const struct tff_member members[] = {
	{ 7, 0, 1 },				/* RED = 1 */
	{ 11, INT, 0 }, { 1, INT, 32 },		/* inner: s, i */
	{ 1, INT, 0 }, { 3, CHARS, 32 }, { 5, ENUM, 64 },
	{ 0, INNER, 96 }, { 13, INNER, 160 }, { 19, INT, 224, 3 },
	{ 19, INT, 227, 5 }, { 21, POINTER, 256 }, { 23, FLOAT, 320 },
};

static const struct tff_ctype types[] = {
	[INT] = { 0, 4, .kind = TFF_CTYPE_INT },
	[CHARS] = { 0, 4, .target = CHAR, .count = 4, .kind = TFF_CTYPE_ARRAY },
	[ENUM] = { 0, 4, .members = 1, .kind = TFF_CTYPE_ENUM },
	[POINTER] = { 0, 8, .kind = TFF_CTYPE_POINTER },
	[FLOAT] = { 0, 4, .kind = TFF_CTYPE_FLOAT },
	[INNER] = { 0, 8, .first_member = 1, .members = 2,
		    .kind = TFF_CTYPE_STRUCT },
	[STRUCT] = { 0, 44, .first_member = 3, .members = 9,
		     .kind = TFF_CTYPE_STRUCT },
	[CHAR] = { 0, 1, .kind = TFF_CTYPE_CHAR },
	[INTS] = { 0, 12, .target = INT, .count = 3, .kind = TFF_CTYPE_ARRAY },
	[SHAPED] = { 25, 16, .kind = TFF_CTYPE_TEXT },
	[ROW] = { 37, 16, .target = INT, .count = 3,
		  .kind = TFF_CTYPE_SEQUENCE },
};

static const uint16_t parts[sizeof(types) / sizeof(*types)] = {
	[SHAPED] = 2, [ROW] = 2,
};

static uint32_t by_name[sizeof(types) / sizeof(*types)];

static const uint8_t value[44] =
	"\xff\xff\xff\xff" "ab\0d" "\1\0\0\0" "\2\0\0\0\3\0\0\0"
	"\4\0\0\0\5\0\0\0" "\x2b\0\0\0" "\x10\x20\0\0\0\0\0\0" "\0\0\xc0\x3f";

static const struct value_types value_types = {
	types, sizeof(types) / sizeof(*types), members, strings, by_name,
	parts,
};

static void test_types(void)
{
	static const struct {
		uint32_t type;
		size_t have;
		const char *json;
	} rows[] = {
		{ INT, 4, "-1" }, { INT, 3, "null" },
		{ INTS, 12, "[-1,1677746785,1]" }, { INTS, 6, "[-1]" },
		{ STRUCT, 44, "{\"i\":-1,\"c\":\"ab\","
		  "\"e\":{\"value\":1,\"name\":\"RED\"},\"s\":2,\"i\":3,"
		  "\"inner\":{\"s\":4,\"i\":5},\"b\":3,\"b\":5,"
		  "\"p\":\"0x2010\",\"f\":1.5}" },
		{ STRUCT, 10, "{\"i\":-1,\"c\":\"ab\",\"e\":null}" },
	};
	char text[4096 + JSON_VALUE_SLACK];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct value_budget budget = { 4096, 1000 };
		bool incomplete;
		enum json_bytes invalid = JSON_BYTES_NONE;

		*json_put_value(&value_types, rows[i].type, value, rows[i].have,
				text, &budget, &invalid, &incomplete) = '\0';
		tap_str(text, rows[i].json, "type %zu", i);
		tap_ok(budget.text && !invalid, "has room, and is text");
	}
}

/* Brackets in brackets: each is closed however little room there is. */
static bool balanced(const char *p)
{
	int depth = 0;

	for (; *p; p++)
		depth += (*p == '{') - (*p == '}');
	return !depth;
}

static void test_budget(void)
{
	char text[512 + JSON_VALUE_SLACK];
	bool good = true, cut = false;

	for (uint32_t most = 0; most < 300; most++) {
		struct value_budget budget = { most, 1000 };
		bool incomplete;
		enum json_bytes invalid = JSON_BYTES_NONE;
		char *end = json_put_value(&value_types, STRUCT, value, 44,
					   text, &budget, &invalid, &incomplete);

		good &= end - text <= most + JSON_VALUE_SLACK;
		*end = '\0';
		good &= balanced(text);
		cut |= !budget.text;
	}
	tap_ok(good, "any budget makes an object that is closed");
	tap_ok(cut, "small budgets are reported");
}

/* ---- plain records ---- */

static uint32_t any(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 16;
}

struct made {
	struct ras_record record;
	uint8_t data[256];
};

/* Bytes that often are what prefixes look like */
static void record_make(struct made *made)
{
	size_t n = any() % 40, at = 0;

	*made = (struct made){ .record.length = RAS_RECORD_HEADER + n };
	while (at < n) {
		uint32_t kind = any();

		if (kind % 4 == 0 && n - at >= 3) {
			made->data[at] = kind >> 8 & 1;
			made->data[at + 1] = (kind >> 16) % 9;
			at += 3;
		} else {
			made->data[at++] = kind % 3 ? 'a' + kind % 26 : kind;
		}
	}
}

static char *long_way(const struct match_point *point,
		      const struct made *made, bool *plain)
{
	struct decode_piece pieces[1024];
	struct value_budget budget = VALUE_BUDGET;
	struct decode_result result;
	struct text text;
	const char *between = ",\"fields\":{";

	text_open(&text, -1);
	decode_record(&point->format, &made->record, 0, pieces, NULL, &result);
	*plain = !result.status && !result.misfit;
	for (size_t i = 0; i < result.count; i++) {
		struct json_field of = {
			.format = &point->format, .piece = &pieces[i],
			.end = &pieces[i] + 1, .budget = &budget,
		};
		uint8_t note;

		if (pieces[i].step->field == DECODE_NO_FIELD)
			continue;
		of.field = &point->fields.fields[pieces[i].step->field];
		text.used += sprintf(text.data + text.used, "%s\"%s\":",
				     between, of.field->name);
		json_add_field(&of, &text, &note);
		*plain &= !note;
		between = ",";
	}
	text.used += sprintf(text.data + text.used, "}");
	return text.data;
}

/* The value of a member, with its quotes doubled, in quotes. */
static char *cell_of(char *member)
{
	char *cell = malloc(2 * strlen(member) + 3), *p = cell;

	*p++ = '"';
	for (char *c = strchr(member, ':') + 1; *c; c++) {
		*p++ = *c;
		if (*c == '"')
			*p++ = *c;
	}
	*p++ = '"';
	*p = '\0';
	free(member);
	return cell;
}

static void test_plain(const char *fmt, enum json_plain_form form)
{
	struct match_point point = { .formatted = true };
	struct json_key keys[16];
	bool good = true;
	struct json_plain *plain = NULL;
	unsigned int short_ways = 0, missed = 0;

	for (size_t i = 0; i < 16; i++)
		keys[i] = (struct json_key){ .wanted = true };
	decode_compile(&point.format, fmt, &value_types);
	field_set_make(&point.fields, &point.format);
	tap_ok(!json_plain_make(&plain, &point, keys, form) && plain,
	       "'%s' has plain records%s", fmt,
	       form == JSON_PLAIN_CELL ? ", cells of CSV" : "");
	for (size_t i = 0; plain && i < 100000; i++) {
		struct made made;
		char *slow, *fast, *end;
		bool is_plain;

		record_make(&made);
		slow = long_way(&point, &made, &is_plain);
		if (form == JSON_PLAIN_CELL)
			slow = cell_of(slow);
		fast = malloc(json_plain_room(plain, made.record.length -
						     RAS_RECORD_HEADER) + 1);
		end = json_plain_put(plain, &made.record, 0, fast);
		if (end)
			*end = '\0';
		short_ways += !!end;
		missed += is_plain && !end;
		good &= !end || (is_plain && !strcmp(fast, slow));
		if (!good) {
			tap_diag("%s\n# %s", slow, end ? fast : "");
			i = 100000;
		}
		free(slow);
		free(fast);
	}
	tap_ok(good, "their text is that of the long way");
	tap_ok(short_ways > 50, "%u are plain, %u by the long way only",
	       short_ways, missed);
	free(plain);
	field_set_free(&point.fields);
	decode_free(&point.format);
}

static void test_not_plain(void)
{
	static const char *const fmts[] = {
		"%{bool}", "%R%W", "%{u5}", "%{be32}", "%U", "none\n", "%P",
		/* whose first item is a number */
		"%P%{std::string}", "i=%P%W t=%P%{std::string} u=%P%W",
		"%P%{vec}",
	};

	for (size_t i = 0; i < sizeof(fmts) / sizeof(*fmts); i++) {
		struct match_point point = { .formatted = true };
		struct json_plain *plain = NULL;
		struct json_key keys[4] = { [0 ... 3].wanted = true };

		decode_compile(&point.format, fmts[i], &value_types);
		field_set_make(&point.fields, &point.format);
		tap_ok(!json_plain_make(&plain, &point, keys,
					JSON_PLAIN_MEMBER) && !plain,
		       "'%s' takes the long way", fmts[i]);
		free(plain);
		field_set_free(&point.fields);
		decode_free(&point.format);
	}
}

int main(void)
{
	static const char *const fmts[] = {
		"%W b=%B c=%F", "a=%P%W b=%P%S c=%B",
		"d=%{d16} s=%S e=%P%I2 %{u8}",
		"first=%P%D second=%P%S third=%P%W",
		"h=%{hex3} m=%P%{hex} t=%P%S",
	};

	tff_ctypes_sort(by_name, types, sizeof(types) / sizeof(*types),
			strings);
	test_types();
	test_budget();
	for (size_t i = 0; i < sizeof(fmts) / sizeof(*fmts); i++) {
		test_plain(fmts[i], JSON_PLAIN_MEMBER);
		test_plain(fmts[i], JSON_PLAIN_CELL);
	}
	test_not_plain();
	return tap_done();
}
