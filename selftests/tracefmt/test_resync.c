// SPDX-License-Identifier: GPL-2.0
/*
 * Chunks whose headers are ruined, and chunks larger than what is held of them:
 * every whole record comes out, in order, and all damage is reported.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tap.h>
#include "lib/read/merge.h"
#include "builder.h"

#define CHUNKS	6
#define EACH	20	/* records in a chunk */

struct places {
	size_t chunk[CHUNKS + 2];	/* offsets: sessions, slices, END */
};

static void chunk_make(struct bytes *ras, struct slice_builder *slice,
		       uint64_t *time, size_t records, size_t length)
{
	struct bytes data = { 0 };

	bytes_add(&data, NULL, length);
	for (size_t i = 0; i < records; i++) {
		/* what looks like headers of chunks */
		if (length >= sizeof(struct ras_chunk))
			*(struct ras_chunk *)data.data = (struct ras_chunk){
				RAS_CHUNK_SLICE, *time, 8 * i,
			};
		++*time;
		slice_add(slice, (struct ras_record){ .time = *time }, &data);
	}
	bytes_free(&data);
}

static struct bytes ras_make(struct places *places)
{
	static const struct ras_session_point point = { .hash = 1 };
	struct slice_builder slice = slice_begin(0, 0, 0);
	struct bytes ras = { 0 }, log = { 0 };
	uint64_t time = 0;
	size_t n = 0;

	ras_begin(&ras, 1000, 0);
	session_add(&log, 1, 5, "/tmp/a.tdf", &point, 1);
	places->chunk[n++] = ras.size;
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	for (size_t i = 0; i < CHUNKS; i++) {
		chunk_make(&ras, &slice, &time, EACH, 40);
		places->chunk[n++] = ras.size;
		ras_slice_flush(&ras, &slice);
	}
	places->chunk[n] = ras.size;
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	bytes_free(&log);
	bytes_free(&slice.records);
	return ras;
}

struct result {
	int code;
	size_t found, disordered, marked, damages, room, sessions;
	struct damage damage;
};

static void records_read(struct trace_file *file, struct result *result)
{
	const struct merge_head *head;
	struct merge merge;
	uint64_t last = 0;

	merge_open(&merge, file);
	trace_file_more(file);
	merge_more(&merge, file->header.key);
	while ((head = merge_next(&merge, UINT64_MAX))) {
		result->found++;
		result->disordered += head->record->time <= last;
		result->marked += head->slice->damaged;
		if (result->room < head->slice->window.room)
			result->room = head->slice->window.room;
		last = head->record->time;
	}
	merge_close(&merge);
	trace_file_finish(file);
	result->damages = file->damage.count;
	result->damage = file->damage;
	result->sessions = file->session_count;
}

static struct result file_read(const char *path)
{
	struct result result = { 0 };
	struct trace_file file;
	struct error err = { 0 };

	result.code = trace_file_open(&file, path, &err);
	if (!result.code) {
		records_read(&file, &result);
		trace_file_free(&file);
	}
	return result;
}

/* Of a file of its own, which is removed. */
static struct result ras_read(const struct bytes *ras)
{
	char path[] = "/tmp/test_resync-XXXXXX";
	int fd = mkstemp(path);
	struct result result = { .code = -1 };

	if (fd >= 0 && write(fd, ras->data, ras->size) == (ssize_t)ras->size)
		result = file_read(path);
	unlink(path);
	close(fd);
	return result;
}

/* The header's bytes from `at` on are others. */
static struct result ruined_read(struct bytes *ras, size_t chunk, size_t at,
				 size_t n)
{
	uint8_t kept[16];
	struct result r;

	memcpy(kept, ras->data + chunk, sizeof(kept));
	for (size_t i = at; i < at + n; i++)
		ras->data[chunk + i] ^= 0xa5 + i;
	r = ras_read(ras);
	memcpy(ras->data + chunk, kept, sizeof(kept));
	return r;
}

static void reported(const struct result *r, const char *text)
{
	bool there = false;

	for (size_t i = 0; i < r->damages && i < DAMAGE_LINES; i++)
		there |= !!strstr(r->damage.lines[i], text);
	tap_ok(there, "it is reported: %s", text);
}

static void test_headers(void)
{
	static const struct {
		size_t at, n, marked;
		const char *what;
	} ruins[] = {
		/* with the kind put right the checksum is right */
		{ 0, 4, 0, "kind" }, { 8, 8, EACH, "length" },
		{ 8, 1, EACH, "length's low byte" },
		{ 0, 16, EACH, "whole header" },
	};
	struct places places;
	struct bytes ras = ras_make(&places);

	for (size_t i = 0; i < sizeof(ruins) / sizeof(*ruins); i++)
		for (size_t c = 1; c <= CHUNKS; c++) {
			struct result r = ruined_read(&ras, places.chunk[c],
						      ruins[i].at, ruins[i].n);

			tap_is(r.found, CHUNKS * EACH,
			       "chunk %zu's %s ruined: all records are found",
			       c, ruins[i].what);
			tap_is(r.disordered, 0, "in order");
			tap_is(r.marked, ruins[i].marked,
			       "its own are marked");
			tap_ok(r.damages > 0, "and it is reported: %s",
			       r.damage.lines[0]);
		}
	bytes_free(&ras);
}

static void test_sessions(void)
{
	struct places places;
	struct bytes ras = ras_make(&places);
	struct result r = ruined_read(&ras, places.chunk[0], 8, 8);

	tap_is(r.found, CHUNKS * EACH,
	       "records after ruined sessions are read");
	tap_is(r.sessions, 1, "and the session is there");
	r = ruined_read(&ras, places.chunk[CHUNKS + 1], 8, 8);
	tap_is(r.found, CHUNKS * EACH, "with a ruined end there are all records");
	tap_is(r.damages, 1, "and it is reported: %s", r.damage.lines[0]);
	bytes_free(&ras);
}

/* A header that says to be the end, and a chunk that is missing. */
static void test_holes(void)
{
	struct places places;
	struct bytes ras = ras_make(&places), less = { 0 };
	struct result r;

	memset(ras.data + places.chunk[2], 0,
	       places.chunk[3] - places.chunk[2] + 16);
	r = ras_read(&ras);
	tap_is(r.found, (CHUNKS - 1) * EACH,
	       "zeros to the end of the next header cost one chunk");
	reported(&r, "header, which leads nowhere");
	bytes_free(&ras);
	ras = ras_make(&places);
	bytes_add(&less, ras.data, places.chunk[2] + 104);
	bytes_add(&less, ras.data + places.chunk[4],
		  ras.size - places.chunk[4]);
	r = ras_read(&less);
	tap_ok(r.found >= (CHUNKS - 2) * EACH, "a piece cut out: %zu records",
	       r.found);
	reported(&r, "header, which leads nowhere");
	bytes_free(&less);
	bytes_free(&ras);
}

/* ---- more than is held ---- */

#define LONG_RECORDS	40000

static struct bytes long_make(uint32_t slices)
{
	struct slice_builder slice;
	struct bytes ras = { 0 };
	uint64_t time = 0;

	ras_begin(&ras, 1000, 0);
	for (uint32_t cpu = 0; cpu < slices; cpu++) {
		slice = slice_begin(cpu, 0, 0);
		chunk_make(&ras, &slice, &time, LONG_RECORDS / slices, 100);
		ras_slice_add(&ras, &slice);
	}
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	return ras;
}

static void test_long(uint32_t slices)
{
	struct bytes ras = long_make(slices);
	struct result r = ras_read(&ras);
	size_t at = ras.size / 16 * 5 / 8 * 8;

	tap_is(r.found, LONG_RECORDS, "%u long chunks: all records", slices);
	tap_is(r.disordered + r.damages, 0, "in order, nothing is reported");
	tap_ok(r.room < WINDOW_ONCE + 3 * 4096, "%zu bytes are held at a time",
	       r.room);
	memset(ras.data + at, 0x5a, 8 * 20);
	r = ras_read(&ras);
	tap_ok(r.found >= LONG_RECORDS - 3 && r.found < LONG_RECORDS,
	       "ruined in the middle: %zu records", r.found);
	tap_ok(r.marked && r.marked <= LONG_RECORDS / slices,
	       "its %zu records are marked", r.marked);
	ras.size = at;
	r = ras_read(&ras);
	tap_ok(r.found >= LONG_RECORDS / 16 * 5 - 3, "cut in the middle: %zu records",
	       r.found);
	reported(&r, "cut short");
	bytes_free(&ras);
}

/* Many candidates for a header must not make it slow. */
static void test_candidates(void)
{
	struct places places;
	struct bytes ras = ras_make(&places);
	struct ras_chunk chunk = { .kind = RAS_CHUNK_SESSIONS };
	struct result r;

	ras.size = places.chunk[CHUNKS + 1];
	for (size_t i = 0; i < 200000; i++) {
		chunk.length = (199999 - i) * sizeof(chunk);
		bytes_add(&ras, &chunk, sizeof(chunk));
	}
	ras.data[places.chunk[CHUNKS]] ^= 0xff;
	r = ras_read(&ras);
	tap_is(r.found, CHUNKS * EACH,
	       "in front of 200000 wrong headers are all records");
	tap_ok(r.damages > 0, "which are reported");
	bytes_free(&ras);
}

/* A pipe that gives its records at its end only keeps them in a file. */
static void test_pipe(void)
{
	struct result whole, piped = { .code = -1 };
	struct bytes ras = { 0 };
	uint64_t time = 0;
	char path[32];
	int ends[2];

	ras_begin(&ras, 1000, 0);
	for (uint32_t cpu = 0; cpu < 3; cpu++) {
		struct slice_builder slice = slice_begin(cpu, 0, 0);

		chunk_make(&ras, &slice, &time, 25000, 200);
		ras_slice_add(&ras, &slice);
	}
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	whole = ras_read(&ras);
	if (!pipe(ends) && !fork()) {
		close(ends[0]);
		for (size_t at = 0; at < ras.size;) {
			ssize_t put = write(ends[1], ras.data + at,
					    ras.size - at);

			if (put <= 0)
				_exit(1);
			at += put;
		}
		_exit(0);
	}
	close(ends[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	piped = file_read(path);
	close(ends[0]);
	tap_is(piped.code, 0, "a pipe of %zu bytes is read", ras.size);
	tap_is(piped.found, whole.found, "it has all records");
	tap_is(piped.disordered + piped.damages, 0,
	       "in order, nothing is reported");
	bytes_free(&ras);
}

int main(void)
{
	test_headers();
	test_sessions();
	test_holes();
	test_long(1);
	test_long(4);
	test_candidates();
	test_pipe();
	return tap_done();
}
