// SPDX-License-Identifier: GPL-2.0
/*
 * make_aggregates FOLDER: aggregates.ras, of a session that has added up one of each
 * kind, by a number and a text. It was armed at 1 s and read at 3 s, in the clock of
 * boot time, which began at START. old.ras, without these times, as older files are.
 */
#include "lib/hash.c"
#include "lib/bucket.h"
#include "builder.h"

#define START	1770163190LL	/* 2026-02-03 23:59:50 UTC */
#define SECOND	1000000000ULL
#define POINT	1
#define BY_BYTES	24
#define KEY_BYTES	(sizeof(struct ras_aggregate_key) + BY_BYTES)

static struct ras_aggregates head = {
	.session = 1, .points = 1, .key_bytes = KEY_BYTES, .since = SECOND,
	.taken = 3 * SECOND,
};
static struct bytes legends, entries;

static void legend_add(uint8_t kind, const char *text)
{
	struct ras_legend legend = {
		.point = POINT, .minor = 7, .statement = head.legends++,
		.kind = kind, .by_count = 2, .name = "t\xff",
	};

	legend.by[0].kind = TDF_BY_UNSIGNED;
	legend.by[0].bytes = 8;
	legend.by[1].kind = TDF_BY_TEXT;
	legend.by[1].bytes = 16;
	strcpy(legend.by[0].text, "key");
	strcpy(legend.by[1].text, "key");
	strcpy(legend.text, text);
	bytes_add(&legends, &legend, sizeof(legend));
}

static void entry_add(uint64_t number, const char *text, unsigned int bucket,
		      struct ras_aggregate sum)
{
	struct ras_aggregate_key key = {
		.point = POINT, .statement = head.legends - 1, .bucket = bucket,
	};
	char padded[16] = { 0 };

	strncpy(padded, text, 15);
	padded[15] = !strcmp(text, "cut");
	bytes_add(&entries, &key, sizeof(key));
	bytes_add(&entries, &number, sizeof(number));
	bytes_add(&entries, padded, sizeof(padded));
	bytes_add(&entries, &sum, sizeof(sum));
	head.entries++;
}

static void hist_add(uint64_t number, int64_t value, uint64_t count)
{
	entry_add(number, "", bucket_find(value), (struct ras_aggregate){
		.count = count, .sum = value * count,
	});
}

static int file_write(const char *folder, const char *name, size_t head_bytes)
{
	struct ras_session_point points[] = {
		{ .hash = 1, .minor = 1 }, { .hash = 2, .minor = 7 },
	};
	struct ras_aggregates_point point = { POINT, 7, { 100, 3 } };
	struct bytes ras = { 0 }, sessions = { 0 }, payload = { 0 };

	ras_begin(&ras, 4 * SECOND, START * SECOND);
	session_add(&sessions, 1, 0xc9, "/tmp/app.tdf", points, 2);
	session_last(&sessions, 2)->armed = SECOND;
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &sessions);
	bytes_add(&payload, &head, head_bytes);
	bytes_add(&payload, &point, sizeof(point));
	bytes_add(&payload, legends.data, legends.size);
	bytes_add(&payload, entries.data, entries.size);
	ras_chunk_add(&ras, RAS_CHUNK_AGGREGATES, &payload);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	return bytes_write(&ras, folder, name);
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : ".";

	legend_add(TDF_AGGREGATE_COUNT, "");
	entry_add(5, "five", 0, (struct ras_aggregate){ .count = 50 });
	entry_add(~0ULL, "cut", 0, (struct ras_aggregate){ .count = 2 });
	legend_add(TDF_AGGREGATE_SUM, "v");
	entry_add(5, "five", 0, (struct ras_aggregate){ 50, -4, 0, 0 });
	legend_add(TDF_AGGREGATE_MIN, "v");
	entry_add(5, "five", 0,
		  (struct ras_aggregate){ 50, 0, ~(-9ULL ^ 1ULL << 63), 0 });
	legend_add(TDF_AGGREGATE_MAX, "v");
	entry_add(5, "five", 0,
		  (struct ras_aggregate){ 50, 0, 0, INT64_MAX ^ 1ULL << 63 });
	legend_add(TDF_AGGREGATE_HIST, "v");
	hist_add(1, 0, 1);
	hist_add(1, 1, 2);
	hist_add(1, 128, 3);	/* of a bucket with 129 */
	hist_add(1, INT64_MAX / 2, 1);
	hist_add(2, -5, 4);
	hist_add(2, 3, 1);
	return file_write(folder, "aggregates.ras", sizeof(head)) |
	       file_write(folder, "old.ras",
			  offsetof(struct ras_aggregates, since));
}
