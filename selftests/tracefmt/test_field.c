// SPDX-License-Identifier: GPL-2.0
/* Names, kinds and values of the fields of a FMT. */
#include <tap.h>
#include "lib/read/format/field.h"
#include "lib/number.h"

static const struct value_types no_types;

/* "name:kind name[]:kind" of all fields */
static char *set_text(const char *fmt)
{
	static char text[8192];
	struct decode_format format;
	struct field_set set;
	char *p = text;

	*p = '\0';
	if (decode_compile(&format, fmt, &no_types) ||
	    field_set_make(&set, &format))
		return "no memory";
	for (size_t i = 0; i < set.count; i++)
		p += sprintf(p, "%s%s%s:%d", i ? " " : "", set.fields[i].name,
			     set.fields[i].array ? "[]" : "",
			     set.fields[i].kind);
	field_set_free(&set);
	decode_free(&format);
	return text;
}

static void test_names(void)
{
	static const struct {
		const char *fmt, *names;	/* without kinds */
	} rows[] = {
		{ "", "" },
		{ "text only %X %Y %%\n", "" },
		{ "Return EIP=%F  CS=%W\n", "Return_EIP CS" },
		{ " Timeout Interval = %D\n", "Timeout_Interval" },
		{ "Status_Rec.next->age = %P%W\n", "Status_Rec_next_age" },
		{ "%W%W", "arg1 arg2" },
		{ "%W a=%W%W", "arg1 a arg3" },
		{ "first\n%W second\n", "arg1" },
		{ "head: [%W] tail (%B)", "head tail" },
		{ "'x' = \"%S\"", "x" },
		{ "a=%W a=%W a=%W", "a a_2 a_3" },
		{ "a_2=%W a=%W a=%W", "a_2 a a_3" },
		{ "9lives=%W", "_9lives" },
		{ "\xc3\xbc=%W", "arg1" },
		{ "gr\xc3\xb6\xc3\x9f" "e=%W", "gr_e" },
		{ "skip=%I4 %W", "skip" },
		{ "words=%R%W", "words[]" },
		{ "arg2=%W%W", "arg2 arg2_2" },
		{ "b[1].c=%W", "b_1_c" },
		{ "v[2] = %W", "v_2" },
		{ "f(x)=%W g()=%W", "f_x g" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char got[512], *p = got;

		for (const char *s = set_text(rows[i].fmt); *s; s++) {
			if (*s == ':')
				s += strcspn(s, " ") - 1;
			else
				*p++ = *s;
		}
		*p = '\0';
		tap_str(got, rows[i].names, "names of '%s'", rows[i].fmt);
	}
}

/* Brackets that belong to a label stay in it. */
static void test_labels(void)
{
	static const struct {
		const char *fmt, *label;
	} rows[] = {
		{ "v[2] = %W", "v[2]" },
		{ "v[2][3]: %W", "v[2][3]" },
		{ "p->v[2]=%W", "p->v[2]" },
		{ "(*p)[1]=%W", "(*p)[1]" },
		{ "f(x)=%W", "f(x)" },
		{ "g() = %W", "g()" },
		{ "box<long, 3> %W", "box<long, 3>" },
		{ "[%W]", "" },
		{ "size (%W)", "size" },
		{ "(size) %W", "size" },
		{ "[(size)] %W", "size" },
		{ "({[<%W>]})", "" },
		{ "] size] %W", "size" },
		{ "v[2 %W", "v[2" },
		{ "\"v[2]\": %W", "v[2]" },
		{ "a[i] b[j] %W", "a[i] b[j]" },
		{ "{a}{b} %W", "{a}{b}" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct decode_format format;
		struct field_set set;

		tap_ok(!decode_compile(&format, rows[i].fmt, &no_types) &&
		       !field_set_make(&set, &format) && set.count == 1,
		       "'%s' has a field", rows[i].fmt);
		tap_str(set.fields[0].label, rows[i].label, "its label");
		field_set_free(&set);
		decode_free(&format);
	}
}

/* A format of 4096 bytes with one label for all. */
static void test_many(void)
{
	struct decode_format format;
	struct field_set set;
	char fmt[4097];

	for (size_t i = 0; i < 4096; i += 4)
		memcpy(fmt + i, "a=%B", 4);
	fmt[4096] = '\0';
	tap_ok(!decode_compile(&format, fmt, &no_types) &&
	   !field_set_make(&set, &format), "1024 equal labels");
	tap_is(set.count, 1024, "make as many fields");
	tap_str(set.fields[1023].name, "a_1024", "with numbers");
	tap_ok(field_find(&set, "a_77", 4) == &set.fields[76], "found by name");
	tap_ok(!field_find(&set, "a_7777", 6) && !field_find(&set, "", 0),
	   "and only those there are");
	field_set_free(&set);
	decode_free(&format);
}

/* A record with these bytes as data, of one control */
struct probe {
	struct decode_format format;
	struct field_set set;
	struct decode_piece pieces[64];
	struct decode_result result;
	struct {
		struct ras_record record;
		uint8_t data[64];
	} bytes;
	struct field_value value;
};

static struct probe *probe(const char *fmt, const void *data, size_t n)
{
	static struct probe p;
	const struct decode_piece *piece;

	memset(&p, 0, sizeof(p));
	p.bytes.record.length = RAS_RECORD_HEADER + n;
	memcpy(p.bytes.data, data, n);
	if (decode_compile(&p.format, fmt, &no_types) ||
	    field_set_make(&p.set, &p.format) || !p.set.count)
		return NULL;
	decode_record(&p.format, &p.bytes.record, 0, p.pieces, NULL,
		      &p.result);
	piece = field_piece(&p.set.fields[0], p.pieces, p.result.count);
	if (piece)
		p.value = field_value(&p.set.fields[0], piece);
	return &p;
}

static void probe_free(struct probe *p)
{
	field_set_free(&p->set);
	decode_free(&p->format);
}

#define ALL	"\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7"

static void test_numbers(void)
{
	static const struct {
		const char *fmt, *data;
		size_t n;
		enum field_kind kind;
		uint64_t value;
	} rows[] = {
		{ "%B", ALL, 1, FIELD_UNSIGNED, 0xf0 },
		{ "%W", ALL, 2, FIELD_UNSIGNED, 0xf1f0 },
		{ "%D", ALL, 4, FIELD_UNSIGNED, 0xf3f2f1f0 },
		{ "%F", ALL, 4, FIELD_UNSIGNED, 0xf3f2f1f0 },
		{ "%Q", ALL, 8, FIELD_UNSIGNED, 0xf7f6f5f4f3f2f1f0 },
		{ "%L", ALL, 8, FIELD_UNSIGNED, 0xf7f6f5f4f3f2f1f0 },
		{ "%{d8}", ALL, 1, FIELD_SIGNED, -0x10 },
		{ "%{d24}", ALL, 3, FIELD_SIGNED, -0xd0e10 },
		{ "%{d24be}", ALL, 3, FIELD_SIGNED, -0xf0e0e },
		{ "%{u24be}", ALL, 3, FIELD_UNSIGNED, 0xf0f1f2 },
		{ "%{u5}", ALL, 1, FIELD_UNSIGNED, 0x10 },
		{ "%{d5}", ALL, 1, FIELD_SIGNED, -16 },
		{ "%{x64}", ALL, 8, FIELD_UNSIGNED, 0xf7f6f5f4f3f2f1f0 },
		{ "%{be32}", ALL, 4, FIELD_UNSIGNED, 0xf0f1f2f3 },
		{ "%{bool}", "\1", 1, FIELD_BOOL, 1 },
		{ "%{p32}", ALL, 4, FIELD_POINTER, 0xf3f2f1f0 },
		{ "%{sym}", ALL, 8, FIELD_ADDRESS, 0xf7f6f5f4f3f2f1f0 },
		{ "%{ns}", "\1\0\0\0\0\0\0", 8, FIELD_DURATION, 1 },
		{ "%{ms}", "\2\0\0\0\0\0\0", 8, FIELD_DURATION, 2000000 },
		{ "%{ms}", ALL, 8, FIELD_TEXT, 0 },
		{ "%{time32}", "\1\0\0", 4, FIELD_TIME, 1000000000 },
		{ "%{time32}", "\xff\xff\xff\xff", 4, FIELD_TIME, -1000000000 },
		{ "%{time64}", ALL, 8, FIELD_TEXT, 0 },
		{ "%{timespec}", "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0", 16,
		  FIELD_TIME, 1000000002 },
		{ "%{timeval}", "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0", 16,
		  FIELD_TIME, 1000002000 },
		{ "%{enum8:A=1,B=240}", ALL, 1, FIELD_ENUM, 240 },
		{ "%{flags8:A=1,B=16}", "\x11", 1, FIELD_FLAGS, 17 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct probe *p = probe(rows[i].fmt, rows[i].data, rows[i].n);

		tap_ok(p && p->value.there && !p->value.note, "%s has a value",
		   rows[i].fmt);
		tap_is(p->value.kind, rows[i].kind, "%s: its kind",
		       rows[i].fmt);
		if (rows[i].kind != FIELD_TEXT)
			tap_is(p->value.u, rows[i].value, "%s: its value",
			       rows[i].fmt);
		probe_free(p);
	}
}

static void test_names_of_values(void)
{
	struct probe *p = probe("%{enum8:A=1,B=240}", "\xf0", 1);
	const char *name = field_enum_name(&p->format, &p->set.fields[0], 240);

	tap_str(name ? name : "none", "B", "name of an enumeration's value");
	tap_ok(!field_enum_name(&p->format, &p->set.fields[0], 2),
	   "none of another");
	probe_free(p);
	p = probe("%{flags8:A=1,B=16}", "\x11", 1);
	tap_is(p->set.fields[0].name_count, 2, "flags have names");
	tap_str(p->set.fields[0].names[1], "B", "as in the FMT");
	probe_free(p);
}

static void test_texts(void)
{
	static const struct {
		const char *fmt, *data;
		size_t n;
		const char *text;
	} rows[] = {
		{ "%A", "\1\2\3\4", 4, "0201:0403" },
		{ "%P%A", "\0\4\0\1\2\3\4", 7, "0403:0201" },
		{ "%{ip4}", "\177\0\0\1", 4, "127.0.0.1" },
		{ "%{mac}", "\1\2\3\4\5\6", 6, "01:02:03:04:05:06" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct probe *p = probe(rows[i].fmt, rows[i].data, rows[i].n);
		const struct decode_piece *piece =
			field_piece(&p->set.fields[0], p->pieces,
				    p->result.count);
		char text[NUMBER_MAX + 1];

		tap_is(p->value.kind, FIELD_TEXT, "%s is text", rows[i].fmt);
		*field_text_put(&p->set.fields[0], piece, text) = '\0';
		tap_str(text, rows[i].text, "%s: its text", rows[i].fmt);
		probe_free(p);
	}
}

/* What isn't there has no value, whatever the bytes are. */
static void test_missing(void)
{
	static const struct {
		const char *fmt, *data;
		size_t n;
		bool there;
		uint8_t note;
	} rows[] = {
		{ "%W", "\1", 1, false, NOTE_SHORT },
		{ "%W", "", 0, false, NOTE_SHORT },
		{ "%P%F", "\0\2\0\1\2", 5, false, NOTE_SHORT },
		{ "%P%F", "\2\10\0\1\2\3\4\5\6\7\10", 11, false,
		  NOTE_UNREADABLE },
		{ "%P%F", "\4\0\0", 3, false, NOTE_ABSENT },
		{ "%P%S", "\1\0\0", 3, true, NOTE_NONE },
		{ "%P%S", "\x11\3\0abc", 6, true, NOTE_CUT },
		{ "%P%F", "\x10\4\0\1\2\3\4", 7, true, NOTE_CUT },
		{ "%P%F", "\x10\0\0", 3, false, NOTE_CUT_BEFORE },
		{ "%P%{hex5}", "\0\3\0abc", 6, true, NOTE_SHORT },
		{ "%S", "abc", 3, true, NOTE_NO_END },
		{ "%P%F", "\x7b\0\0\0", 4, false, NOTE_NOT_FORMATTED },
		{ "%R%F", "\0\0\0", 3, false, NOTE_NONE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct probe *p = probe(rows[i].fmt, rows[i].data, rows[i].n);

		tap_is(p->value.there, rows[i].there,
		       "row %zu, %s: a value or none", i, rows[i].fmt);
		tap_is(p->value.note, rows[i].note, "and its note");
		probe_free(p);
	}
}

int main(void)
{
	test_names();
	test_labels();
	test_many();
	test_numbers();
	test_names_of_values();
	test_texts();
	test_missing();
	return tap_done();
}
