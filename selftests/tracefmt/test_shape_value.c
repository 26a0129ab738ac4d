// SPDX-License-Identifier: GPL-2.0
/*
 * Values that consist of several items of a record: what each kind is in text,
 * the note of a part that is missing or cut, and that no items, however
 * damaged, are read past their end.
 */
#include <ctype.h>
#include <tap.h>
#include "builder.h"
#include "decoder.h"

enum { INT, TEXT, TEXTS, ITEM, ITEMS, ONE, FLAG, NOTHING, MAYBE, ENUM, HIDDEN, TIME,
       AGE, NET, PATH, LIST, CHAIN, ENTRY, MAP, PLAIN, EACH,
       WHO };

static const struct {
	const char *name;
	struct tff_ctype type;
	struct {
		const char *name;
		struct tff_member member;
	} members[11];
} all[] = {
	[INT] = { "int", { .bytes = 4, .kind = TFF_CTYPE_INT } },
	[TEXT] = { "text", { .bytes = 16, .kind = TFF_CTYPE_TEXT } },
	[TEXTS] = { "texts", { .bytes = 16, .kind = TFF_CTYPE_SEQUENCE,
			       .target = TEXT, .count = 2 } },
	[ITEM] = { "item", { .bytes = 20, .kind = TFF_CTYPE_STRUCT },
		   { { "n", { .ctype = INT } },
		     { "t", { .ctype = TEXT, .value = 32 } } } },
	[ITEMS] = { "items", { .bytes = 16, .kind = TFF_CTYPE_SEQUENCE,
			       .target = ITEM, .count = 2 } },
	[ONE] = { "one", { .bytes = 8, .kind = TFF_CTYPE_ONE,
			   .target = ITEM } },
	[FLAG] = { "flag", { .bytes = 1, .kind = TFF_CTYPE_UINT } },
	[NOTHING] = { "nothing", { .kind = TFF_CTYPE_BYTES } },
	[MAYBE] = { "maybe", { .bytes = 17, .kind = TFF_CTYPE_VARIANT,
			       .is_signed = 1 },
		    { { "", { .ctype = FLAG } },
		      { "none", { .ctype = FLAG, .value = 0 } },
		      { "", { .ctype = NOTHING } },
		      { "", { .ctype = FLAG, .bits = 1 } },
		      { "", { .ctype = TEXT, .value = 8 } } } },
	[ENUM] = { "enum", { .bytes = 5, .kind = TFF_CTYPE_VARIANT },
		   { { "", { .ctype = FLAG } },
		     { "Empty", { .ctype = FLAG, .value = 1 } },
		     { "", { .ctype = NOTHING } },
		     { "Number", { .ctype = FLAG, .value = 2 } },
		     { "", { .ctype = INT, .value = 8 } },
		     { "Pair", { .ctype = FLAG, .value = 3 } },
		     { "", { .ctype = ITEM } } } },
	[HIDDEN] = { "hidden", { .bytes = 16, .kind = TFF_CTYPE_UNION },
		     { { "t", { .ctype = TEXT } } } },
	[TIME] = { "span", { .bytes = 8, .kind = TFF_CTYPE_TIME,
			     .is_signed = 1 } },
	[WHO] = { "who", { .bytes = 16, .kind = TFF_CTYPE_DYNAMIC },
		  { { "Int", { .ctype = NOTHING, .value = 0x10 } },
		    { "", { .ctype = INT } },
		    { "Text", { .ctype = NOTHING, .value = 0x20 } },
		    { "", { .ctype = TEXT } },
		    { "Name", { .ctype = NOTHING, .value = 0x30 } },
		    { "", { .ctype = NOTHING } },
		    { "Same", { .ctype = NOTHING, .value = 0x40 } },
		    { "", { .ctype = TEXT } },
		    { "Item", { .ctype = NOTHING, .value = 0x50 } },
		    { "", { .ctype = ITEM } } } },
	[NET] = { "net", { .bytes = 16, .kind = TFF_CTYPE_ADDRESS } },
	[PATH] = { "dir", { .bytes = 16, .kind = TFF_CTYPE_PATH, .target = TEXT,
			    .count = 2, .is_signed = 1 } },
	[AGE] = { "age", { .bytes = 12, .kind = TFF_CTYPE_TIME } },
	[LIST] = { "list", { .bytes = 16, .kind = TFF_CTYPE_LIST,
			     .target = INT, .count = 2 } },
	[CHAIN] = { "chain", { .bytes = 8, .kind = TFF_CTYPE_LIST,
			       .is_signed = 1, .target = TEXT, .count = 2 } },
	[ENTRY] = { "entry", { .bytes = 20, .kind = TFF_CTYPE_TUPLE },
		    { { "", { .ctype = TEXT } },
		      { "", { .ctype = INT, .value = 128 } } } },
	[MAP] = { "map", { .bytes = 24, .kind = TFF_CTYPE_MAP,
			   .target = ENTRY, .count = 2 } },
	[PLAIN] = { "plain", { .bytes = 8, .kind = TFF_CTYPE_TUPLE },
		    { { "", { .ctype = INT } },
		      { "", { .ctype = INT, .value = 32 } } } },
	[EACH] = { "each", { .bytes = 80, .kind = TFF_CTYPE_EACH,
			     .target = INT, .count = 2 } },
};

static struct tff *types_make(void)
{
	struct tff_builder builder = { .major = 5 };
	struct error err = { 0 };
	struct bytes out;
	struct tff *tff;

	tff_section_begin(&builder, "/bin/app", 1);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		tff_ctype_add(&builder, all[i].name, all[i].type);
		for (size_t m = 0; m < 11 && all[i].members[m].name; m++)
			tff_member_add(&builder, all[i].members[m].name,
				       all[i].members[m].member);
	}
	out = tff_finish(&builder);
	if (tff_parse(&tff, out.data, out.size, "test.tff", &err))
		tap_bail("%s", err.text);
	bytes_free(&out);
	return tff;
}

/* In memory of its own size. */
static char *render(const struct value_types *types, const char *fmt,
		    const struct bytes *data)
{
	struct ras_record *record = calloc(1, sizeof(*record) + data->size);
	struct decode_format format;
	struct decode_result result;
	char *text;

	record->length = RAS_RECORD_HEADER + data->size;
	if (data->size)
		memcpy(record + 1, data->data, data->size);
	if (decode_compile(&format, fmt, types))
		tap_bail("no memory");
	text = decoder_text(&(struct render_input){ &format, record }, NULL,
			    &result);
	decode_free(&format);
	free(record);
	return text;
}

/* Items: "n5" a number, "'abc'" bytes, "f" a fault, "a" absent, "c'ab'" bytes
 * that are cut, "h0a" bytes, "-" an empty one, "l" a node that isn't found,
 * "y" and "z" bytes 1 and 0 */
static void items_add(struct bytes *data, const char *items)
{
	uint8_t status = RAS_ITEM_VALUE;
	uint64_t number;
	char *end, hex[64];
	size_t n;

	for (; *items; items++) {
		const char *start = items + 1;

		switch (*items) {
		case 'n':
			number = strtoull(start, &end, 0);
			data_item(data, status, (char *)&number, 8);
			items = end - 1;
			break;
		case '\'':
			items = strchr(start, '\'');
			data_item(data, status, start, items - start);
			status = RAS_ITEM_VALUE;
			break;
		case 'h':
			for (n = 0; isxdigit(start[2 * n]); n++) {
				char one[] = { start[2 * n], start[2 * n + 1],
					       0 };

				hex[n] = strtoul(one, NULL, 16);
			}
			data_item(data, status, hex, n);
			status = RAS_ITEM_VALUE;
			items = start + 2 * n - 1;
			break;
		case 'c':
			status |= RAS_ITEM_CUT;
			break;
		case 'f':
			data_fault(data, 0x1234);
			break;
		case 'y':
		case 'z':
			data_item(data, status, *items == 'y' ? "\1" : "", 1);
			status = RAS_ITEM_VALUE;
			break;
		case 'l':
			data_item(data, RAS_ITEM_ARITHMETIC, "node at.", 8);
			break;
		case 'a':
			data_item(data, RAS_ITEM_ABSENT, "", 0);
			break;
		case '-':
			data_item(data, status, "", 0);
			status = RAS_ITEM_VALUE;
			break;
		}
	}
}

#define FAULT	"<not readable: 0000000000001234>"
#define ZEROS	"0000000000000000"	/* bytes of a text in something else */

static const struct {
	const char *fmt, *items, *text;
} rows[] = {
	{ "%P%{text}|", "n4 'carl'", "carl|" },
	{ "%P%{text}|%P%{int}", "n0 - '0000'", "|808464432" },
	{ "%P%{text}|", "n300 c'carl'", "carl<cut: 4 of 300 bytes>|" },
	{ "%P%{text}|%P%{int}", "n1152921504606846976 f '0000'",
	  FAULT "|808464432" },
	{ "%P%{text}|", "f f", FAULT "|" },
	{ "%P%{text}|", "a a", "<not available here>|" },
	{ "%P%{text}|", "n4", "<cut>|" },
	{ "%P%{text}|", "", "<not traced>|" },
	{ "%{text}|", "n4 'carl'", "carl|" },
	{ "%P%{texts}|%P%{int}", "n1 - n1 'a' n0 - '0000'",
	  "{\"a\"}|808464432" },
	{ "%P%{texts}|", "n0 - n0 - n0 -", "{}|" },
	{ "%P%{texts}|", "n5 - n1 'a' n2 c'b'",
	  "{\"a\", \"b\" <cut: 1 of 2 bytes>, <cut: 2 of 5>}|" },
	{ "%P%{texts}|", "n2 - f f n1 'b'", "{" FAULT ", \"b\"}|" },
	{ "%P%{texts}|", "n2 - n1 'a'", "{\"a\", <not traced>}|" },
	{ "%P%{item}|", "'0000" ZEROS "' n1 'x'",
	  "{n = 808464432, t = \"x\"}|" },
	{ "%P%{item}|", "f n1 'x'", FAULT "|" },
	{ "%P%{items}|", "n1 '0000" ZEROS "' n1 'x' n0 -",
	  "{{n = 808464432, t = \"x\"}}|" },
	{ "%P%{one}|", "n0 - n0 -", "NULL|" },
	{ "%P%{one}|", "n5 '0000" ZEROS "' n1 'x'",
	  "{n = 808464432, t = \"x\"}|" },
	{ "%P%{one}|", "n5 f f f", FAULT "|" },
	{ "%P%{maybe}|", "'\1" ZEROS "' n2 'ab'", "\"ab\"|" },
	{ "%P%{enum}|", "'\2" "0000' n0 -", "Number(808464432)|" },
	{ "%P%{enum}|", "'\1" "0000' n0 -", "Empty|" },
	{ "%P%{enum}|", "'\7" "0000' n0 -", "<no alternative: 7>|" },
	{ "%P%{net}|", "n4 h0a000001", "10.0.0.1|" },
	{ "%P%{net}|", "n16 h00000000000000000000000000000001", "::1|" },
	{ "%P%{net}|", "n8 h020000507f000001", "127.0.0.1:80|" },
	{ "%P%{net}|", "n28 h0a00010200000000fe80000000000000000000000000000502"
	  "000000", "[fe80::5%2]:258|" },
	{ "%P%{net}|", "n9 h01002f72756e2f7800", "/run/x|" },
	{ "%P%{net}|", "n6 h01002f72756e", "/run|" },
	{ "%P%{net}|", "n6 h010000616263", "@abc|" },
	{ "%P%{net}|", "n2 h1000", "family 16|" },
	{ "%P%{net}|", "n2 h0000", "unspecified|" },
	{ "%P%{net}|", "n2 h0200", " <cut: 2 of 2 bytes>|" },
	{ "%P%{net}|", "n28 h0a000102", " <cut: 4 of 28 bytes>|" },
	{ "%P%{net}|", "n1 h02", " <cut: 1 of 1 bytes>|" },
	{ "%P%{net}|", "n0 -", "|" },
	{ "%P%{net}|", "n28 f", FAULT "|" },
	{ "%P%{dir}|", "y n3 'etc' y n1 '/' z", "/etc|" },
	{ "%P%{dir}|", "y n1 'b' y n1 'a' y", "<cut>/a/b|" },
	{ "%P%{dir}|", "y n1 'b' y n1 'a' z", "a/b|" },
	{ "%P%{dir}|", "y n1 '/' z n0 - z", "/|" },
	{ "%P%{dir}|", "z n0 - z n0 - z", "NULL|" },
	{ "%P%{dir}|", "y n300 c'abc' z n0 - z", "abc<cut>|" },
	{ "%P%{dir}|", "y n1 'b' f", FAULT "|" },
	{ "%P%{dir}|", "y f", FAULT "|" },
	{ "%P%{span}|", "n1 n500000000", "1.5s|" },
	{ "%P%{span}|", "n0 n0", "0s|" },
	{ "%P%{span}|", "n0 n-7", "-7ns|" },
	{ "%P%{span}|", "n-90 n-1", "-90.000000001s|" },
	{ "%P%{span}|", "n0 n1000", "1us|" },
	{ "%P%{span}|", "n0 n999999", "999.999us|" },
	{ "%P%{span}|", "n0 n20500000", "20.5ms|" },
	{ "%P%{span}|", "n1 n-1", "<no time: 1 s, -1 ns>|" },
	{ "%P%{span}|", "n0 n1000000000", "<no time: 0 s, 1000000000 ns>|" },
	{ "%P%{span}|", "n-9223372036854775808 n0",
	  "-9223372036854775808s|" },
	{ "%P%{age}|", "n-1 n1", "18446744073709551615.000000001s|" },
	{ "%P%{age}|", "n0 n-1", "<no time: 0 s, -1 ns>|" },
	{ "%P%{span}|", "n1 f", FAULT "|" },
	{ "%P%{span}|%P%{int}", "f f '0000'", FAULT "|808464432" },
	{ "%P%{list}|", "n2 y '0000' y '1111'", "{808464432, 825307441}|" },
	{ "%P%{list}|%P%{int}", "n1 y '0000' z - '1111'",
	  "{808464432}|825307441" },
	{ "%P%{list}|", "n0 z - z -", "{}|" },
	{ "%P%{list}|", "n5 y '0000' y '1111'",
	  "{808464432, 825307441, <cut: 2 of 5>}|" },
	{ "%P%{list}|", "n5 y '0000' z -", "{808464432, <cut: 1 of 5>}|" },
	{ "%P%{list}|", "n5 y f y '1111'",
	  "{" FAULT ", 825307441, <cut: 2 of 5>}|" },
	{ "%P%{list}|%P%{int}", "n5 y '0000' f - '1111'",
	  "{808464432, " FAULT "}|825307441" },
	{ "%P%{list}|", "n5 y '0000' l -",
	  "{808464432, <next node not found>}|" },
	{ "%P%{list}|", "n5 y '0000' c- c-", "{808464432, <cut: 1 of 5>}|" },
	{ "%P%{list}|", "n5", "{<cut: 0 of 5>}|" },
	{ "%P%{list}|%P%{int}", "f z - z - '0000'", FAULT "|808464432" },
	{ "%P%{chain}|", "y n1 'a' y n1 'b' z", "{\"a\", \"b\"}|" },
	{ "%P%{chain}|", "y n1 'a' y n1 'b' y",
	  "{\"a\", \"b\", <cut: 2 of more>}|" },
	{ "%P%{chain}|", "y n1 'a' z n0 - z", "{\"a\"}|" },
	{ "%P%{chain}|", "y n1 'a' c- n0 - z",
	  "{\"a\", <cut: 1 of more>}|" },
	{ "%P%{chain}|", "z n0 - z n0 - z", "{}|" },
	{ "%P%{map}|", "n2 y '" ZEROS "0000' n1 'a' y '" ZEROS
	  "1111' n1 'b'", "{\"a\": 808464432, \"b\": 825307441}|" },
	{ "%P%{map}|", "n1 y c'" ZEROS "' n1 'a' z - z -",
	  "{\"a\": <16 of 20 bytes>}|" },
	{ "%P%{map}|", "n1 y '" ZEROS "0000' f f z - z -",
	  "{" FAULT ": 808464432}|" },
	{ "%P%{plain}|", "'00001111'", "{808464432, 825307441}|" },
	{ "%P%{plain}|", "c'000011'", "{808464432, 31 31 <2 of 4 bytes>}<cut>|" },
	{ "%P%{each}|", "n2 '0000' '1111'", "{808464432, 825307441}|" },
	{ "%P%{each}|", "n1 '0000' -", "{808464432}|" },
	{ "%P%{each}|", "n3 '0000' f",
	  "{808464432, " FAULT ", <cut: 2 of 3>}|" },
	{ "%P%{who}|", "n0 n0 - n0 - n0 -", "NULL|" },
	{ "%P%{who}|%P%{int}", "n0x10 n1 '0000' n0 - n0 - '0000'",
	  "Int(808464432)|808464432" },
	{ "%P%{who}|", "n0x20 n1 - n2 'ab' n0 -", "Text(\"ab\")|" },
	{ "%P%{who}|", "n0x40 n1 - n2 'ab' n0 -", "Same(\"ab\")|" },
	{ "%P%{who}|", "n0x30 n1 - n0 - n0 -", "Name|" },
	{ "%P%{who}|%P%{int}", "n0x50 n1 '0000" ZEROS "' n0 - n1 'x' '0000'",
	  "Item {n = 808464432, t = \"x\"}|808464432" },
	{ "%P%{who}|", "n0x50 n0 - n0 - n0 -", "Item NULL|" },
	{ "%P%{who}|", "n0x10 n1 f n0 - n0 -", "Int(" FAULT ")|" },
	{ "%P%{who}|", "n0x20 n1 - n2 f n0 -", "Text(" FAULT ")|" },
	{ "%P%{who}|%P%{int}", "n0x60 n1 - n0 - n0 - '0000'",
	  "<type at 0x60: not known>|808464432" },
	{ "%P%{who}|%P%{int}", "f f f f f f f '0000'", FAULT "|808464432" },
	{ "%P%{who}|", "n0x10 f f n0 - n0 -", "Int(" FAULT ")|" },
	{ "%P%{hidden}|", "'" ZEROS "'", "{t = <not traced>}|" },
};

/* Any items are printed, within the record. */
static void test_random(const struct value_types *types)
{
	static const char *const fmts[] = {
		"%P%{text}", "%P%{texts} %P%{item}", "%P%{items}", "%P%{one}",
		"%P%{maybe}%P%{who}%P%{enum}", "%{one}%{texts}", "%P%W%{span}",
		"%P%{list}%P%{chain}", "%P%{map}", "%P%{each}%P%{plain}",
	};
	unsigned int printed = 0;

	srand(1);
	for (unsigned int round = 0; round < 20000; round++) {
		struct bytes data = { 0 };
		size_t size = rand() % 120;
		char *text;

		for (size_t i = 0; i < size; i++) {
			uint8_t c = rand() % 4 ? rand() % 12 : rand();

			bytes_add(&data, &c, 1);
		}
		text = render(types, fmts[round % 10], &data);
		printed += strlen(text) < 100000;
		free(text);
		bytes_free(&data);
	}
	tap_ok(printed == 20000, "any bytes are printed");
}

int main(void)
{
	struct tff *tff = types_make();
	struct value_types types = value_types_of(tff, tff->sections);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bytes data = { 0 };
		char *text;

		items_add(&data, rows[i].items);
		text = render(&types, rows[i].fmt, &data);
		tap_str(text, rows[i].text, "%s of %s", rows[i].fmt,
			rows[i].items);
		free(text);
		bytes_free(&data);
	}
	test_random(&types);
	tff_close(tff);
	return tap_done();
}
