// SPDX-License-Identifier: GPL-2.0
/*
 * Any format over any data: the first byte is the record's flags, then the
 * format up to a zero, then the data. Addresses in it have names.
 */
#include <stdlib.h>
#include <string.h>
#include "selftests/tracefmt/decoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A type of each kind, named by one letter: "%{S}" */
static const char strings[] = "\0I\0U\0B\0C\0F\0P\0E\0A\0S\0V\0X\0O\0W\0m";

static const struct tff_ctype ctypes[] = {
	{ .name = 1, .bytes = 4, .kind = TFF_CTYPE_INT },
	{ .name = 3, .bytes = 16, .kind = TFF_CTYPE_UINT },
	{ .name = 5, .bytes = 1, .kind = TFF_CTYPE_BOOL },
	{ .name = 7, .bytes = 1, .kind = TFF_CTYPE_CHAR },
	{ .name = 9, .bytes = 8, .kind = TFF_CTYPE_FLOAT },
	{ .name = 11, .bytes = 8, .kind = TFF_CTYPE_POINTER,
	  .target = TFF_CTYPE_NONE },
	{ .name = 13, .bytes = 4, .kind = TFF_CTYPE_ENUM, .is_signed = 1,
	  .members = 3 },
	{ .name = 15, .bytes = 64, .kind = TFF_CTYPE_ARRAY, .target = 0,
	  .count = 16 },
	{ .name = 17, .bytes = 70, .kind = TFF_CTYPE_STRUCT, .first_member = 3,
	  .members = 4 },
	{ .name = 19, .bytes = 70, .kind = TFF_CTYPE_UNION, .first_member = 7,
	  .members = 2 },
	{ .name = 21, .bytes = 3, .kind = TFF_CTYPE_BYTES },
	{ .name = 23, .kind = TFF_CTYPE_ARRAY, .target = 9 },
	{ .name = 25, .bytes = 8, .kind = TFF_CTYPE_ARRAY, .target = 3,
	  .count = 8 },
};

static const struct tff_member members[] = {
	{ .name = 27, .value = 1 }, { .name = 27, .value = 2 },
	{ .name = 27, .value = -1 },
	{ .name = 27, .ctype = 6 }, { .name = 27, .ctype = 7, .value = 32 },
	{ .name = 27, .ctype = 0, .value = 545, .bits = 7 },
	{ .name = 27, .ctype = 0, .value = 0xfffffffffffffff8, .bits = 64 },
	{ .name = 27, .ctype = 8 }, { .ctype = 4 },
};

#define CTYPES	(sizeof(ctypes) / sizeof(*ctypes))

static uint32_t by_name[CTYPES];

/* What addresses lie in: the longest name that there is, everywhere. */
static struct process_table processes;

static void book_make(void)
{
	static struct { struct ras_maps head; struct ras_mapping maps[2]; } m = {
		.head = { .pid = 1, .mappings = 2 },
		.maps = { { .end = 1ull << 63 },
			  { .start = 1ull << 63, .end = ~0ull } },
	};

	memset(m.maps[0].path, 1, sizeof(m.maps[0].path));
	memset(m.maps[1].path, 1, sizeof(m.maps[1].path));
	m.head.pid = 0;
	process_table_add_maps(&processes, (uint8_t *)&m, sizeof(m));
	m.head.pid = 1;
	process_table_add_maps(&processes, (uint8_t *)&m, sizeof(m));
}

static const struct value_types types = {
	.types = ctypes, .count = CTYPES, .members = members,
	.strings = strings, .by_name = by_name,
};

/* With and without telling what was taken the text is the same. */
static void render(const char *fmt, struct ras_record *record)
{
	struct decode_format format;
	struct render_input input = { &format, record, { &processes, 1 } };
	struct decode_result result;
	uint8_t *seen = calloc(1, record->length);
	char *text, *again;

	tff_ctypes_sort(by_name, ctypes, CTYPES, strings);
	if (!seen || decode_compile(&format, fmt, &types))
		abort();
	text = decoder_text(&input, seen, &result);
	again = decoder_text(&input, NULL, &result);
	if (strcmp(text, again))
		abort();
	free(text);
	free(again);
	free(seen);
	decode_free(&format);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = size > 1 ? memchr(data + 1, 0, size - 1) : NULL;
	struct ras_record *record;
	size_t n;

	if (!zero)
		return 0;
	if (!processes.processes.count)
		book_make();
	n = data + size - (zero + 1);
	if (n > RAS_RECORD_MAX - RAS_RECORD_HEADER)
		n = RAS_RECORD_MAX - RAS_RECORD_HEADER;
	record = calloc(1, sizeof(*record) + n);
	if (!record)
		abort();
	record->flags = data[0];
	record->length = RAS_RECORD_HEADER + n;
	memcpy(record + 1, zero + 1, n);
	render((const char *)data + 1, record);
	free(record);
	return 0;
}
