// SPDX-License-Identifier: GPL-2.0
/*
 * A .ras file is read as far as it goes: cut at every byte, every bit
 * flipped; nothing is lost silently. Records come in the order of time.
 */
#include <zlib.h>
#include <tap.h>
#include "lib/read/merge.h"
#include "builder.h"

#define POINTS	3

static const struct ras_session_point points[POINTS] = {
	{ .hash = 1, .minor = 1 }, { .hash = 2, .minor = 2 },
	{ .hash = 3, .minor = 3 },
};

/* times of CPU 0, CPU 1 and a nesting slice of CPU 1; "minor" numbers the
 * records in the order in which they must come */
static const struct {
	uint32_t cpu, level;
	uint64_t time;
	uint16_t minor;
} records[] = {
	{ 0, 0, 10, 1 }, { 0, 0, 20, 3 }, { 0, 0, 20, 4 }, { 0, 0, 40, 7 },
	{ 1, 0, 15, 2 }, { 1, 0, 20, 5 }, { 1, 0, 50, 8 },
	{ 1, 1, 20, 6 }, { 1, 1, 60, 9 }, { 1, 1, UINT64_MAX, 10 },
	{ 1, 1, 70, 11 },
};

#define RECORDS	(sizeof(records) / sizeof(*records))

static void slices_make(struct bytes *ras)
{
	struct slice_builder slice = slice_begin(0, 1 << 20, 0);
	struct bytes data = { 0 };

	data_string(&data, "some data");
	for (size_t i = 0; i < RECORDS; i++) {
		if (i && (records[i].cpu != records[i - 1].cpu ||
			  records[i].level != records[i - 1].level)) {
			ras_slice_add(ras, &slice);
			slice = slice_begin(records[i].cpu, 0, 0);
			slice.copy.level = records[i].level;
		}
		slice_add(&slice, (struct ras_record){
			.session = 1, .major = 5, .minor = records[i].minor,
			.time = records[i].time }, i % 2 ? &data : NULL);
		if (i == 1)
			ras_slice_flush(ras, &slice);
	}
	ras_slice_add(ras, &slice);
	bytes_free(&data);
}

static struct bytes ras_make(void)
{
	static const struct ras_count_total totals[POINTS] = { { 1 } };
	static const struct ras_mapping mapping = { .start = 1, .end = 2 };
	struct bytes ras = { 0 }, log = { 0 };

	ras_begin(&ras, 1000, 0);
	session_add(&log, 1, 5, "/tmp/a.tdf", points, POINTS);
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	counts_add(&ras, 1, totals, POINTS);
	ras_chunk_add(&ras, 77, &log);
	ras_process_add(&ras, 100, 5, "app");
	ras_maps_add(&ras, 100, "app", &mapping, 1);
	ras_formats_add(&ras, "TRC0005.TFF", &log);
	slices_make(&ras);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	bytes_free(&log);
	return ras;
}

struct result {
	int code;
	size_t found, ordered, damages;
	char damage[160], error[160];
};

/* Reads a copy of exactly this size, so that tools see every overrun. */
static struct result ras_read(const uint8_t *data, size_t size)
{
	struct result result = { 0 };
	const struct merge_head *head;
	struct trace_file file;
	struct error err = { 0 };
	struct merge merge;
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	result.code = trace_file_open_memory(&file, copy, size, "x.ras", &err);
	snprintf(result.error, sizeof(result.error), "%.159s", err.text);
	if (result.code)
		return result;
	merge_open(&merge, &file);
	trace_file_more(&file);
	merge_more(&merge, file.header.key);
	while ((head = merge_next(&merge, UINT64_MAX)))
		result.ordered += head->record->minor == ++result.found;
	merge_close(&merge);
	trace_file_finish(&file);
	result.damages = file.damage.count;
	memcpy(result.damage, file.damage.lines[0], sizeof(result.damage));
	trace_file_free(&file);
	return result;
}

static void test_whole(const struct bytes *ras)
{
	struct result r = ras_read(ras->data, ras->size);

	tap_is(r.code, 0, "a whole file is read");
	tap_is(r.found, RECORDS, "it has all its records");
	tap_is(r.ordered, RECORDS, "in the order of time, slices kept in order");
	if (!tap_is(r.damages, 0, "nothing is lost"))
		tap_diag("%s", r.damage);
}

static void test_truncated(const struct bytes *ras)
{
	size_t silent = 0, before = 0, fewer = 0, unread = 0;

	for (size_t size = 0; size < ras->size; size++) {
		struct result r = ras_read(ras->data, size);

		silent += !r.code && !r.damages;
		fewer += r.found < before;
		unread += r.code && size >= sizeof(struct ras_file);
		before = r.found;
	}
	tap_is(silent, 0, "cut at any byte: reported");
	tap_is(fewer, 0, "cut later: no fewer records");
	tap_is(unread, 0, "cut after the header: read");
	tap_is(before, RECORDS, "cut in the end chunk: all records");
}

/* Bytes that nothing reads: the padding of chunks. */
static bool is_padding(const struct bytes *ras, size_t at)
{
	size_t p = sizeof(struct ras_file);

	while (p < ras->size) {
		const struct ras_chunk *chunk = (const void *)(ras->data + p);
		size_t end = p + sizeof(*chunk) + chunk->length;

		p = (end + 7) & ~(size_t)7;
		if (at >= end && at < p)
			return true;
	}
	return false;
}

static void test_flipped(const struct bytes *ras)
{
	size_t silent = 0, refused = 0;

	for (size_t bit = 0; bit < 8 * ras->size; bit++) {
		struct result r;

		if (is_padding(ras, bit / 8))
			continue;
		ras->data[bit / 8] ^= 1 << bit % 8;
		r = ras_read(ras->data, ras->size);
		ras->data[bit / 8] ^= 1 << bit % 8;
		if (!r.code && !r.damages && !silent++)
			tap_diag("bit %zu of byte %zu", bit % 8, bit / 8);
		refused += r.code && bit / 8 >= sizeof(struct ras_file);
	}
	tap_is(silent, 0, "any bit flipped: reported");
	tap_is(refused, 0, "a bit flipped after the header: read");
}

static void test_header_ruined(const struct bytes *ras)
{
	struct ras_file *h = (void *)ras->data;
	struct ras_file kept = *h;
	struct result r;

	h->key ^= 0x5555;
	r = ras_read(ras->data, ras->size);
	tap_is(r.found, RECORDS, "records are found without the key");
	tap_is(r.damages, 1, "and the header's damage is reported");
	*h = kept;
}

static void test_middle_ruined(const struct bytes *ras)
{
	const size_t second = sizeof(struct ras_chunk) +
			      sizeof(struct ras_slice_copy) +
			      sizeof(struct ras_record);
	uint8_t kept[8];
	size_t at = sizeof(struct ras_file);
	const struct ras_chunk *chunk = (const void *)(ras->data + at);
	struct result r;

	while (chunk->kind != RAS_CHUNK_SLICE) {
		at += sizeof(*chunk) + ((chunk->length + 7) & ~7ULL);
		chunk = (const void *)(ras->data + at);
	}
	memcpy(kept, ras->data + at + second, sizeof(kept));
	memset(ras->data + at + second, 0xff, sizeof(kept));
	r = ras_read(ras->data, ras->size);
	memcpy(ras->data + at + second, kept, sizeof(kept));
	tap_is(r.found, RECORDS - 1, "the record after a ruined one is found");
	tap_is(r.damages, 2, "checksum and place are reported");
}

static void header_refused(const struct bytes *ras, const char *name,
			   const char *expected)
{
	struct result r = ras_read(ras->data, ras->size);

	tap_ok(r.code < 0, "%s is refused", name);
	tap_ok(strstr(r.error, expected), "%s: %s", name, r.error);
}

static void test_refused(const struct bytes *ras)
{
	struct ras_file *h = (void *)ras->data;
	struct ras_file kept = *h;

	h->order = __builtin_bswap32(h->order);
	header_refused(ras, "another byte order", "byte order");
	*h = kept;
	h->version = 1;
	ras_header_seal((struct bytes *)ras);
	header_refused(ras, "another version",
		       "version is 1, this program reads 2");
	*h = kept;
	h->layout = 2;		/* records had no context there */
	ras_header_seal((struct bytes *)ras);
	header_refused(ras, "an older layout",
		       "layout is 2, this program reads 5");
	*h = kept;
	h->layout = RAS_LAYOUT + 1;
	ras_header_seal((struct bytes *)ras);
	header_refused(ras, "a newer layout",
		       "layout is 6, this program reads 5");
	*h = kept;
	h->layout = RAS_LAYOUT_FULL;
	ras_header_seal((struct bytes *)ras);
	tap_is(ras_read(ras->data, ras->size).found, RECORDS,
	       "one without stacks by number is read");
	*h = kept;
	h->layout = RAS_LAYOUT_SHORT;
	ras_header_seal((struct bytes *)ras);
	tap_is(ras_read(ras->data, ras->size).found, RECORDS,
	       "one with shorter records is read");
	*h = kept;
	h->flags = 1;
	ras_header_seal((struct bytes *)ras);
	header_refused(ras, "an unknown flag", "flags");
	*h = kept;
	h->magic[0] = 'X';
	header_refused(ras, "another magic", "not a .ras file");
	*h = kept;
}

static void test_zeros(const struct bytes *ras)
{
	struct bytes copy = { 0 };
	struct result r;

	bytes_add(&copy, ras->data, ras->size);
	memset(copy.data + sizeof(struct ras_file), 0, 1024);
	r = ras_read(copy.data, copy.size);
	tap_ok(r.damages > 0, "a hole of zeros is not taken for the end");
	bytes_free(&copy);
}

/* Payload of a packed chunk: its head, and zeros in the place of the rest. */
static void packed_add(struct bytes *ras, struct ras_packed head, size_t rest)
{
	struct bytes payload = { 0 };

	bytes_add(&payload, &head, sizeof(head));
	bytes_add(&payload, NULL, rest);
	ras_chunk_add(ras, RAS_CHUNK_PACKED, &payload);
	bytes_free(&payload);
}

/* What says to be long, or is nothing that can be unpacked. */
static void test_packed(void)
{
	static const struct ras_packed bad[] = {
		{ RAS_CHUNK_SLICE, RAS_PACKED_ZLIB, ~0ULL, 40 },
		{ RAS_CHUNK_SLICE, RAS_PACKED_ZLIB, 1000, 40 },
		{ RAS_CHUNK_SLICE, RAS_PACKED_ZLIB, 1000, ~0ULL },
		{ RAS_CHUNK_SLICE, RAS_PACKED_ZLIB, 20, 40 },
		{ RAS_CHUNK_SESSIONS, RAS_PACKED_ZLIB, RAS_PACKED_MAX + 1, 0 },
		{ RAS_CHUNK_SESSIONS, RAS_PACKED_ZLIB, 100, 200 },
		{ RAS_CHUNK_SESSIONS, 99, 100, 0 },
		{ RAS_CHUNK_PACKED, RAS_PACKED_ZLIB, 100, 0 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct bytes ras = { 0 };
		struct result r;

		ras_begin(&ras, 1000, 0);
		packed_add(&ras, bad[i], 64);
		ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
		r = ras_read(ras.data, ras.size);
		tap_is(r.code, 0, "bad packed chunk %zu is passed over", i);
		tap_is(r.damages, 1, "and reported: %s", r.damage);
		bytes_free(&ras);
	}
}

/* Memory is what a chunk unpacks to, however few records it says to have. */
static void test_packed_counted(void)
{
	static const size_t size = 1 << 20;
	struct ras_slice_copy copy = { .head = 8 };
	struct ras_packed head = {
		RAS_CHUNK_SLICE, RAS_PACKED_ZLIB, size + sizeof(copy),
		sizeof(copy),
	};
	struct bytes ras = { 0 }, payload = { 0 };
	uint8_t *zeros = calloc(1, size), *packed = malloc(size);
	uLongf room = size;
	struct trace_file file;

	tap_is(compress(packed, &room, zeros, size), Z_OK, "zeros are packed");
	bytes_add(&payload, &head, sizeof(head));
	bytes_add(&payload, &copy, sizeof(copy));
	bytes_add(&payload, packed, room);
	ras_begin(&ras, 1000, 0);
	ras_chunk_add(&ras, RAS_CHUNK_PACKED, &payload);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	trace_file_open_memory(&file, ras.data, ras.size, "x.ras", NULL);
	trace_file_more(&file);
	slices_recover_key(&file.slices, &file.header.key);
	tap_ok(file.slices.fetched >= size, "%llu of %zu bytes are counted",
	       (unsigned long long)file.slices.fetched, size);
	slices_next(&file.slices, file.slices.items[0], BUILD_KEY);
	tap_is(file.slices.fetched, 0, "and given back");
	trace_file_free(&file);
	bytes_free(&payload);
	free(zeros);
	free(packed);
}

/* Of a pipe that never pauses a chunk is always left. */
static void test_endless(void)
{
	struct trace_source source = { .fd = -1, .pipe = true };
	struct damage damage = { 0 };
	struct slices slices = { .source = &source, .damage = &damage };
	struct slice_builder slice = slice_begin(0, 0, 0);
	size_t in_order = 0;

	for (uint16_t i = 0; i < 1000; i++) {
		const struct ras_record *record;
		struct bytes chunk = { 0 };
		struct source_bytes bytes;

		slice_add(&slice, (struct ras_record){ .minor = i }, NULL);
		ras_slice_flush(&chunk, &slice);
		bytes = (struct source_bytes){
			chunk.data, chunk.size, chunk.data,
		};
		slices_add(&slices, 0, chunk.size - sizeof(struct ras_chunk),
			   &bytes);
		if (i < 3)
			continue;
		record = slices_next(&slices, slices.items[0], BUILD_KEY);
		in_order += record && record->minor == i - 3;
	}
	tap_is(in_order, 997, "a pipe without end is read");
	tap_ok(slices.items[0]->chunk_room <= 16,
	       "it needs no more room: %zu chunks",
	       slices.items[0]->chunk_room);
	slices_free(&slices);
}

/* Positions of a slice must not go back. */
static void test_backwards(void)
{
	struct slice_builder slice = slice_begin(0, 4096, 0);
	struct bytes ras = { 0 };
	struct result r;

	ras_begin(&ras, 1000, 0);
	slice_add(&slice, (struct ras_record){ .minor = 1 }, NULL);
	ras_slice_flush(&ras, &slice);
	slice = slice_begin(0, 0, 0);
	slice_add(&slice, (struct ras_record){ .minor = 2 }, NULL);
	ras_slice_add(&ras, &slice);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	r = ras_read(ras.data, ras.size);
	tap_is(r.found, 2, "a slice that goes back is read");
	tap_ok(strstr(r.damage, "goes back"), "and it is reported: %s",
	       r.damage);
	bytes_free(&ras);
}

int main(void)
{
	struct bytes ras = ras_make();

	test_whole(&ras);
	test_truncated(&ras);
	test_flipped(&ras);
	test_header_ruined(&ras);
	test_middle_ruined(&ras);
	test_refused(&ras);
	test_zeros(&ras);
	test_packed();
	test_packed_counted();
	test_endless();
	test_backwards();
	bytes_free(&ras);
	return tap_done();
}
