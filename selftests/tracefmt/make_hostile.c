// SPDX-License-Identifier: GPL-2.0
/*
 * make_hostile FOLDER START: writes hostile.ras and its TFF: names and strings
 * that mean something to the readers of an output, the ends of the range of
 * numbers, and times after START, the wall clock's ns at boot.
 */
#define BUILD_KEY	0x6057ed0c0de00007ULL
#include <math.h>
#include "lib/hash.c"
#include "builder.h"

#define MAJOR	0xca

enum { FORMULAS, FLOATS, BIG, KEYWORDS, STRING, POINTS };

static const struct {
	const char *desc, *fmt;
} formats[POINTS] = {
	[FORMULAS] = { "=cmd|' /C calc'!A0",
		       "chars=%P%{char[8]} how=%P%{enum evil}\n" },
	[FLOATS] = { "floats", "wide=%{f64} narrow=%{f32}\n" },
	[BIG] = { "big", "u=%{u64} d=%{d64} __proto__=%{x64}\n" },
	[KEYWORDS] = { "keywords", "integer=%W struct=%W event=%W _Bool=%W"
		       " two words=%W two words=%W two_words_2=%W 3d=%W"
		       " \xc3\xa4=%W __=%W\n" },
	[STRING] = { "a string", "s=%P%S\n" },
};

static struct ras_session_point points[POINTS];
static struct slice_builder slice;
static uint64_t now;

static void types_add(struct tff_builder *tff)
{
	static const char *const names[] = {
		"=1+1", "-1+cmd()", "@x", "+y", "plain",
	};

	tff_ctype_add(tff, "char", (struct tff_ctype){
			      .bytes = 1, .kind = TFF_CTYPE_CHAR });
	tff_ctype_add(tff, "char[8]", (struct tff_ctype){
			      .bytes = 8, .kind = TFF_CTYPE_ARRAY,
			      .target = 0, .count = 8 });
	tff_ctype_add(tff, "enum evil", (struct tff_ctype){
			      .bytes = 4, .kind = TFF_CTYPE_ENUM,
			      .is_signed = 1 });
	for (int i = 0; i < 5; i++)
		tff_member_add(tff, names[i],
			       (struct tff_member){ .value = i });
}

static void make_tff(const char *folder)
{
	struct tff_builder tff = { .major = MAJOR };
	struct bytes out;

	tff_section_begin(&tff, "/usr/bin/app", 0xefbeadde);
	for (int i = 0; i < POINTS; i++) {
		points[i].hash = points[i].minor = i + 1;
		tff_entry_add(&tff, i + 1, i + 1, 0, formats[i].desc,
			      formats[i].fmt);
	}
	types_add(&tff);
	out = tff_finish(&tff);
	bytes_write(&out, folder, "TRC00CA.TFF");
	bytes_free(&out);
}

static void add(unsigned int point, struct bytes *data)
{
	static uint32_t seq[POINTS];
	struct ras_record record = {
		.session = 1, .major = MAJOR, .point = point,
		.minor = point + 1, .time = now += 1000,
		.pid = 38, .tid = 70, .seq = seq[point]++,
	};

	slice_add(&slice, record, data);
	bytes_free(data);
}

static void formulas_add(void)
{
	static const char chars[][8] = {
		"=1+1", "a\"\\b\n", "-1+x", "@", "\xff", "",
	};
	struct bytes data = { 0 };

	for (int32_t i = 0; i < 6; i++) {
		int32_t how = i < 5 ? i : -7;

		data_item(&data, RAS_ITEM_STRING, chars[i], 8);
		data_item(&data, RAS_ITEM_STRING, &how, sizeof(how));
		add(FORMULAS, &data);
	}
}

static void numbers_add(void)
{
	static const double wide[] = {
		-0.0, NAN, INFINITY, -INFINITY, 1e300, -5e-324, 0.1,
	};
	static const uint64_t big[] = {
		(1ULL << 53) + 1, UINT64_MAX, 1ULL << 63, 0,
	};
	struct bytes data = { 0 };

	for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++) {
		float narrow = wide[i];

		bytes_add(&data, &wide[i], sizeof(wide[i]));
		bytes_add(&data, &narrow, sizeof(narrow));
		add(FLOATS, &data);
	}
	for (size_t i = 0; i < sizeof(big) / sizeof(*big); i++) {
		for (int n = 0; n < 3; n++)
			data_quad(&data, big[i]);
		add(BIG, &data);
	}
}

static void strings_add(void)
{
	static const char *const strings[] = {
		"</script>", "=1+1", "-5", "\t=1", "\xff\xfe", "\xc2\x85",
		"\xe2\x80\xa8", "\xed\xa0\x80", "\xf0\x9f\x98\x80", "",
	};
	struct bytes data = { 0 };

	for (uint16_t i = 0; i < 10; i++)
		data_word(&data, i);
	add(KEYWORDS, &data);
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		data_string(&data, strings[i]);
		add(STRING, &data);
	}
}

int main(int argc, char **argv)
{
	struct bytes ras = { 0 }, log = { 0 };

	if (argc != 3) {
		fprintf(stderr, "make_hostile: usage: make_hostile FOLDER START\n");
		return 2;
	}
	make_tff(argv[1]);
	slice = slice_begin(0, 0, 0);
	formulas_add();
	numbers_add();
	strings_add();
	ras_begin(&ras, now, strtoll(argv[2], NULL, 10));
	strcpy(((struct ras_file *)ras.data)->host, "=h</script>\"\\");
	ras_header_seal(&ras);
	session_add(&log, 1, MAJOR, "/nowhere/=x.tdf", points, POINTS);
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	ras_process_add(&ras, 38, 0, "=c\xff</\x1b[2J");
	ras_slice_add(&ras, &slice);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	bytes_free(&log);
	if (bytes_write(&ras, argv[1], "hostile.ras"))
		return 1;
	bytes_free(&ras);
	return 0;
}
