// SPDX-License-Identifier: GPL-2.0
/*
 * The reader takes what is as it should be, also while it is being written, and
 * notices each thing that isn't: buffers and files with one thing broken, and
 * what it says of them.
 */
#include <pthread.h>
#include <stddef.h>
#include <zlib.h>
#include <rastrace/rasfile.h>
#include "image.h"

static char folder[64], said[65536];
static char reader[4096];

/* Its exit status; what it prints is in `said`. */
static int look(const char *options, const char *path)
{
	char command[8192];
	size_t used;
	FILE *pipe;

	snprintf(command, sizeof(command), "'%s' -d 191/1=4,p16 %s '%s' 2>&1",
		 reader, options, path);
	pipe = popen(command, "r");
	if (!pipe)
		tap_bail("cannot run '%s'", command);
	used = fread(said, 1, sizeof(said) - 1, pipe);
	said[used] = '\0';
	return pclose(pipe) >> 8;
}

static void expect_good(const char *options, const char *path, const char *name)
{
	int status = look(options, path);

	if (!tap_ok(status == 0, "good: %s", name))
		tap_diag("status %d: %.2000s", status, said);
}

static void expect_bad(const char *options, const char *path, const char *name,
		       const char *text)
{
	int status = look(options, path);

	if (!tap_ok(status == 1 && strstr(said, text), "noticed: %s", name))
		tap_diag("status %d, not '%s': %.2000s", status, text, said);
}

/* --- A buffer */

struct image_damage {
	const char *name;
	enum image_part part;
	size_t offset;
	uint64_t value;
	unsigned int bytes;
	const char *text;
};

#define CONTROL_AT(m)	CONTROL, offsetof(struct ras_control, m)
#define SLICE1(m)	BUFFER, IMAGE_STRIDE + offsetof(struct ras_slice, m)
#define RECORD(n, m)	BUFFER, IMAGE_STRIDE + RAS_SLICE_HEADER + \
			(n) * IMAGE_RECORD + offsetof(struct ras_record, m)
#define DATA(n, at)	BUFFER, IMAGE_STRIDE + RAS_SLICE_HEADER + \
			(n) * IMAGE_RECORD + RAS_RECORD_HEADER + (at)
/* the first record of slice 0.1, which has a context */
#define CONTEXT(at)	NEST, RAS_SLICE_HEADER + RAS_RECORD_HEADER + (at)
#define STATIC(m)	NEST, 4 * IMAGE_NEST + RAS_SLICE_HEADER + \
			offsetof(struct ras_record, m)
#define SESSION(m)	SESSIONS, offsetof(struct ras_session, m)
#define POINT(n, m)	SESSIONS, sizeof(struct ras_session) + \
			(n) * sizeof(struct ras_session_point) + \
			offsetof(struct ras_session_point, m)
#define STAMP(n)	((n) * IMAGE_RECORD ^ IMAGE_KEY)

static const struct image_damage image_damages[] = {
	{ "the magic", CONTROL_AT(magic), 1, 4, "magic" },
	{ "another layout", CONTROL_AT(layout), 99, 4, "layout 99" },
	{ "slices of no power of two", CONTROL_AT(slice_bytes), 65544, 8,
	  "slices of 65544 bytes" },
	{ "slices larger than the map", CONTROL_AT(slice_bytes), 131072, 8,
	  "buffer: " },
	{ "other nesting slices", CONTROL_AT(nest_levels), 2, 4,
	  "2 nesting slices" },
	{ "no CPU", CONTROL_AT(cpus), 0, 4, "no CPU" },
	{ "more CPUs than slices", CONTROL_AT(cpus), 3, 4, "control: " },
	{ "its reserved bytes", CONTROL_AT(reserved), 1, 8, "reserved" },
	{ "a session to come that was there", CONTROL_AT(next_session), 2, 4,
	  "the next one is 2" },
	{ "a log that ends in an entry", CONTROL_AT(sessions_used), 800, 4,
	  "entry of" },
	{ "a log longer than its entries", CONTROL_AT(sessions_used),
	  3 * IMAGE_ENTRY, 4, "the entries are" },
	{ "cleared after the head", CONTROL_AT(tail[1]), 1 << 20, 8,
	  "cleared to" },
	{ "a trigger of no state", TRIGGER, 0, 4, 8, "trigger: state 4" },
	{ "reserved bytes of the trigger",
	  TRIGGER, offsetof(struct ras_trigger, reserved), 1, 8, "reserved" },

	{ "a lock that isn't 0 or 1", SLICE1(lock), 2, 8, "lock 0x2" },
	{ "a lock without an owner", SLICE1(lock), 1, 8, "it is locked" },
	{ "a head that isn't a multiple of 8", SLICE1(head), 7201, 8,
	  "head 0x1c21" },
	{ "a head after the records", SLICE1(head), 7208, 8,
	  "no record at 0x1c20" },
	{ "a head in front of the last record", SLICE1(head), 7192, 8,
	  "no record at" },
	{ "more records than bytes", SLICE1(records), 1000, 8,
	  "1000 records in 7200 bytes" },
	{ "more bytes than records", SLICE1(records), 1, 8,
	  "1 records, and 100 are there" },
	{ "a record too many", SLICE1(records), 101, 8,
	  "101 records, and 100 are there" },
	{ "reserved bytes of a slice", SLICE1(reserved), 1, 8, "reserved" },
	{ "drops that no point has", SLICE1(dropped), 5, 8,
	  "5 dropped, and 0 are counted" },
	{ "drops of a nesting slice",
	  NEST, offsetof(struct ras_slice, dropped), 1, 8,
	  "a nesting slice that dropped" },

	{ "a stamp", RECORD(7, stamp), 1, 8, "no record at 0x1f8" },
	{ "a stamp of another position", RECORD(7, stamp), STAMP(8), 8,
	  "no record at 0x1f8" },
	{ "a stamp in a slice that was written over", BUFFER,
	  RAS_SLICE_HEADER + 30000 / 8 * 8, 0x7777777777777777, 8, "slice 0" },
	{ "a length less than a header", RECORD(7, length), 47, 4,
	  "no record at 0x1f8" },
	{ "a length after the head", RECORD(99, length), 80, 4,
	  "no record at" },
	{ "a length that is larger than a record", RECORD(7, length),
	  RAS_RECORD_MAX + 1, 4, "no record at 0x1f8" },
	{ "a length past the next record", RECORD(7, length), 80, 4,
	  "no record at 0x248" },
	{ "flags", RECORD(7, flags), 0x80, 2, "flags 0x80" },
	{ "number of a stack in a record", RECORD(7, stack), 1, 2,
	  "no number of a stack at 1" },
	{ "a major", RECORD(7, major), 5, 2, "major 5" },
	{ "a minor", RECORD(7, minor), 2, 2, "minor 2" },
	{ "a point", RECORD(7, point), 9, 2, "point 9" },
	{ "a session", RECORD(7, session), 9, 2, "session 9 isn't" },
	{ "a time that goes back", RECORD(7, time), 1, 8, "time 1 after" },
	{ "a time to come", RECORD(7, time), ~0ULL >> 1, 8, "which is to come" },
	{ "a number that is missing", RECORD(7, seq), 8, 4,
	  "record 8 follows 6" },
	{ "a number again", RECORD(7, seq), 6, 4, "record 6 follows 6" },
	{ "a muted record with data", RECORD(7, flags), RAS_RECORD_MUTED, 2,
	  "muted, with" },

	{ "an item's kind", DATA(7, 4), 11, 1, "status 0xb" },
	{ "an item's flags", DATA(7, 4), 0x80, 1, "status 0x80" },
	{ "an item that is longer than its record", DATA(7, 5), 200, 2,
	  "longer than its record" },
	{ "an item that is shorter", DATA(7, 5), 15, 2, "not cut" },
	{ "a fault of another length", DATA(7, 4), RAS_ITEM_FAULT, 1,
	  "a fault of 16 bytes" },
	{ "a fault that the record doesn't have", DATA(7, 4),
	  8 << 8 | RAS_ITEM_FAULT, 3, "a fault that its flags" },
	{ "an absent item with bytes", DATA(7, 4), RAS_ITEM_ABSENT, 1,
	  "absent variable of 16" },
	{ "memory brought in that the record doesn't have", DATA(7, 4),
	  RAS_ITEM_PAGED_IN, 1, "brought in" },
	{ "bytes of another record", DATA(7, 15), 0xaa, 1, "byte 8 of an item" },
	{ "a context without its stack", CONTEXT(8), RAS_ITEM_VALUE, 1,
	  "no stack in its context" },
	{ "a stack of no whole address", CONTEXT(9), 17, 2,
	  "a stack of 17 bytes" },
	{ "a stack that ends by nothing", CONTEXT(11), 6, 1, "a stack ends by 6" },
	{ "a stack's flags", CONTEXT(12), 4, 1, "a stack's flags" },
	{ "a static record of a point", STATIC(point), 3, 2, "static: major 200" },
	{ "data after a static fault", STATIC(flags), RAS_RECORD_FAULT, 2,
	  "static: data after a fault" },
	{ "a short static record that was cut", STATIC(flags), RAS_RECORD_CUT,
	  2, "static: cut at 23" },

	{ "recorded too few", COUNT, (0 * IMAGE_SLICES + 1) *
	  sizeof(struct ras_count), 99, 8, "99 recorded" },
	{ "recorded too many", COUNT, (0 * IMAGE_SLICES + 1) *
	  sizeof(struct ras_count), 101, 8, "101 recorded" },
	{ "recorded without a writer", COUNT, (1 * IMAGE_SLICES + 1) *
	  sizeof(struct ras_count), 3, 8, "100 records, and 103 are counted" },
	{ "recorded too many in the past", PAST_COUNT,
	  (1 * IMAGE_SLICES + IMAGE_CPUS) * sizeof(struct ras_count), 11, 8,
	  "session 2, point 1: slice 2: 11 recorded" },
	{ "recorded too few of a major", STATIC_COUNT,
	  (200 * IMAGE_SLICES + 6) * sizeof(struct ras_count), 9, 8,
	  "session 0, point 200: slice 6: 9 recorded" },
	{ "dropped records that the slice doesn't count", COUNT,
	  offsetof(struct ras_count, dropped), 2, 8,
	  "0 dropped, and 2 are counted" },
	{ "dropped in a nesting slice", COUNT, IMAGE_CPUS *
	  sizeof(struct ras_count) + offsetof(struct ras_count, dropped), 2, 8,
	  "slice 2 dropped" },
	{ "a state", STATE, 0, 3, 4, "state 3" },
	{ "figures of no session", STATE, offsetof(struct ras_state, session),
	  5, 4, "no entry in the log" },

	{ "an entry's size", SESSION(size), 648, 4, "entry of 648 bytes" },
	{ "an entry's points", SESSION(points), 3, 4, "with 3 points" },
	{ "an index after itself", SESSION(index), 2, 2, "after session 2" },
	{ "a major above 255", SESSION(major), 256, 2, "major 256" },
	{ "flags of a session", SESSION(flags), 0x20, 4, "flags 0x20" },
	{ "never armed", SESSION(armed), 0, 8, "armed at 0" },
	{ "armed after its records", SESSION(armed), ~0ULL >> 1, 8,
	  "was armed later" },
	{ "disarmed before", SESSION(disarmed), 1, 8, "disarmed before" },
	{ "disarmed and armed", SESSION(disarmed), ~0ULL >> 1, 8,
	  "its figures are armed" },
	{ "a kind of identity", SESSION(id_kind), 3, 1, "kind of identity" },
	{ "an identity that is too long", SESSION(id_length), 31, 1,
	  "identity of 31" },
	{ "another context", SESSION(context), 0x100, 4, "context 0x100" },
	{ "a context that records don't have", SESSION(context),
	  RAS_CONTEXT_COMM | RAS_CONTEXT_UID, 4, "its context is cut" },
	{ "changed before it was armed", SESSION(changed), 1, 8, "changed at" },
	{ "no path", SESSION(tdf), 0, 8, "path of the TDF" },
	{ "a point without a minor", POINT(0, minor), 0, 2, "minor 0" },
	{ "a point's state", POINT(0, state), 5, 2, "state 5" },
	{ "a point that was off all the time", POINT(0, state),
	  RAS_POINT_UNSELECTED, 2, "never armed" },
	{ "a point that is off and didn't end", POINT(0, state),
	  RAS_POINT_OFF, 2, "has not ended" },
};

static void test_image(void)
{
	const struct image_damage *damage = image_damages;
	const size_t count = sizeof(image_damages) / sizeof(*damage);
	uint8_t was[8];

	image_make(folder);
	expect_good("-q", folder, "a buffer");
	for (size_t i = 0; i < count; i++, damage++) {
		uint8_t *at = image[damage->part] + damage->offset;

		memcpy(was, at, damage->bytes);
		memcpy(at, &damage->value, damage->bytes);
		expect_bad("-q", folder, damage->name, damage->text);
		memcpy(at, was, damage->bytes);
	}
	expect_good("-q", folder, "all of that corrected");
}

/* What may only grow */
static void test_state(void)
{
	struct ras_slice *slice = image_slice(1);
	struct ras_count *count = image_count(1, 1, 3);
	char state[128], options[160];

	snprintf(state, sizeof(state), "%s/looked", folder);
	snprintf(options, sizeof(options), "-s %s", state);
	slice->dropped = 3;
	count->recorded = 8;
	expect_good(options, folder, "the first look");
	image_write(1, 1, 0);
	expect_good(options, folder, "more records");
	slice->dropped = 2;
	expect_bad(options, folder, "a slice that went back",
		   "slice 1: went back");
	count->recorded = 7;
	expect_bad(options, folder, "a point that went back",
		   "session 1, point 1: went back");
	slice->dropped = count->recorded = 0;
	((struct ras_control *)image[CONTROL])->key = ~IMAGE_KEY;
	look(options, folder);
	tap_ok(!strstr(said, "went back"), "another buffer begins anew");
	unlink(state);
	image_make(folder);
}

/* A slice has one writer at a time, whom no other one interrupts. */
static bool writers_end;

static void *writer(void *slice)
{
	while (!__atomic_load_n(&writers_end, __ATOMIC_RELAXED))
		image_write((uintptr_t)slice, 1, 0);
	return NULL;
}

static void test_writers(void)
{
	pthread_t threads[IMAGE_CPUS];
	int bad = 0;

	for (uintptr_t i = 0; i < IMAGE_CPUS; i++)
		pthread_create(&threads[i], NULL, writer, (void *)i);
	for (int i = 0; i < 30; i++)
		bad += look("", folder) != 0;
	__atomic_store_n(&writers_end, true, __ATOMIC_RELAXED);
	for (int i = 0; i < IMAGE_CPUS; i++)
		pthread_join(threads[i], NULL);
	if (!tap_is(bad, 0, "good: 30 looks while it is written"))
		tap_diag("%.2000s", said);
	expect_good("-q", folder, "and after that");
}

/* --- Files */

struct chunk {
	uint32_t kind;
	uint8_t *payload;
	uint64_t length;
};

static struct chunk chunks[16];
static unsigned int chunk_count;

static uint8_t *chunk_add(uint32_t kind, const void *payload, uint64_t length)
{
	struct chunk *chunk = &chunks[chunk_count++];

	*chunk = (struct chunk) { kind, calloc(1, length + 8), length };
	if (length)
		memcpy(chunk->payload, payload, length);
	return chunk->payload;
}

/* Of slice 1, which begins at position 0: records `from` to `to` */
static void chunk_add_slice(unsigned int from, unsigned int to)
{
	const struct ras_slice *slice = image_slice(1);
	struct ras_slice_copy copy = {
		.cpu = 1, .first = from * IMAGE_RECORD,
		.head = to * IMAGE_RECORD, .records = to,
	};
	uint8_t bytes[sizeof(copy) + 100 * IMAGE_RECORD];

	memcpy(bytes, &copy, sizeof(copy));
	memcpy(bytes + sizeof(copy), slice->data + copy.first,
	       copy.head - copy.first);
	chunk_add(RAS_CHUNK_SLICE, bytes, sizeof(copy) + copy.head - copy.first);
}

static void chunk_add_counts(unsigned int recorded)
{
	uint8_t bytes[sizeof(struct ras_counts) +
		      IMAGE_POINTS * sizeof(struct ras_count_total)] = {};
	struct ras_counts *counts = (void *)bytes;

	*counts = (struct ras_counts) { .session = 1, .points = IMAGE_POINTS };
	((struct ras_count_total *)(counts + 1))->recorded = recorded;
	chunk_add(RAS_CHUNK_COUNTS, bytes, sizeof(bytes));
}

/* What is in front of the chunk's payload that is packed */
static void chunk_add_packed(void)
{
	struct chunk *chunk = &chunks[--chunk_count];
	struct ras_packed packed = {
		.kind = chunk->kind, .method = RAS_PACKED_ZLIB,
		.length = chunk->length, .plain = sizeof(struct ras_slice_copy),
	};
	uint8_t bytes[16384];
	uLongf room = sizeof(bytes) - sizeof(packed) - packed.plain;
	uint8_t *payload = chunk->payload;

	memcpy(bytes, &packed, sizeof(packed));
	memcpy(bytes + sizeof(packed), payload, packed.plain);
	if (compress(bytes + sizeof(packed) + packed.plain, &room,
		     payload + packed.plain, packed.length - packed.plain))
		tap_bail("compress()");
	chunk_add(RAS_CHUNK_PACKED, bytes, sizeof(packed) + packed.plain + room);
	free(payload);
}

/* As `trace get` writes it: 40 records and 60, of 100 */
static void make_get(void)
{
	struct ras_process_entry process = {
		.key = { .pid = 7, .session = 1 }, .process = { .seen = 1 },
	};
	struct {
		struct ras_maps maps;
		struct ras_mapping mapping;
	} maps = { { .pid = 7, .mappings = 1 }, { .start = 1, .end = 2 } };
	struct ras_formats formats = { .name = "TRC00BF.TFF" };
	struct ras_slice_copy nest = { .level = 1 };

	chunk_add(RAS_CHUNK_SESSIONS, image[SESSIONS], IMAGE_ENTRY);
	chunk_add_slice(0, 40);
	chunk_add_slice(40, 100);
	chunk_add_packed();
	chunk_add_counts(100);
	chunk_add(RAS_CHUNK_PROCESSES, &process, sizeof(process));
	chunk_add(RAS_CHUNK_MAPS, &maps, sizeof(maps));
	chunk_add(RAS_CHUNK_FORMATS, &formats, sizeof(formats));
	chunk_add(RAS_CHUNK_SLICE, &nest, sizeof(nest));
}

/* As `trace spool`: records 20 to 39 were lost. */
static void make_spool(void)
{
	struct ras_pass pass = { .time = 2 };

	chunk_add(RAS_CHUNK_SESSIONS, image[SESSIONS], IMAGE_ENTRY);
	chunk_add(RAS_CHUNK_PASS, &pass, sizeof(pass));
	chunk_add_slice(0, 20);
	pass.time = 1;
	chunk_add(RAS_CHUNK_PASS, &pass, sizeof(pass));
	chunk_add_slice(40, 100);
	pass = (struct ras_pass) { .time = 2, .lost = 20 };
	chunk_add(RAS_CHUNK_PASS, &pass, sizeof(pass));
	chunk_add_counts(100);
	chunk_add(RAS_CHUNK_PASS, &pass, sizeof(pass));
}

/* One of a cycle that is full before the pass is complete */
static void make_cycle(void)
{
	struct ras_pass pass = { .time = 2 };

	chunk_add(RAS_CHUNK_SESSIONS, image[SESSIONS], IMAGE_ENTRY);
	chunk_add_counts(40);
	chunk_add_slice(40, 40);
	chunk_add(RAS_CHUNK_PASS, &pass, sizeof(pass));
	chunk_add_slice(40, 100);
	chunk_add_counts(100);
	pass.time = 1;
	chunk_add(RAS_CHUNK_PASS, &pass, sizeof(pass));
}

static void make_panic(void)
{
	struct ras_panic panic = { .time = 1, .reason = "sysrq" };

	chunk_add(RAS_CHUNK_SESSIONS, image[SESSIONS], IMAGE_ENTRY);
	chunk_add_slice(0, 100);
	chunk_add(RAS_CHUNK_PANIC, &panic, sizeof(panic));
}

static uint32_t crc_of(const void *head, size_t bytes, const struct chunk *chunk)
{
	uint32_t crc = crc32(0, head, bytes);

	return chunk ? crc32(crc, chunk->payload, chunk->length) : crc;
}

static void file_write(const char *path, struct ras_file header)
{
	static const uint8_t zeros[8];
	FILE *file = fopen(path, "w");

	header.crc = 0;
	header.crc = crc_of(&header, sizeof(header), NULL);
	fwrite(&header, sizeof(header), 1, file);
	for (unsigned int i = 0; i < chunk_count; i++) {
		struct chunk *chunk = &chunks[i];
		struct ras_chunk head = {
			.kind = chunk->kind, .length = chunk->length,
		};

		head.crc = crc_of(&head, sizeof(head), chunk);
		fwrite(&head, sizeof(head), 1, file);
		fwrite(chunk->payload, chunk->length, 1, file);
		fwrite(zeros, -chunk->length & 7, 1, file);
	}
	if (fclose(file))
		tap_bail("cannot write '%s'", path);
}

static struct ras_file file_header(void)
{
	struct ras_file header = {
		.order = RAS_FILE_ORDER, .version = RAS_FILE_VERSION,
		.size = sizeof(header), .layout = RAS_LAYOUT,
		.cpus = IMAGE_CPUS, .key = IMAGE_KEY,
		.slice_bytes = RAS_SLICE_MIN, .kernel = "6.1", .host = "host",
	};

	memcpy(header.magic, RAS_FILE_MAGIC, 8);
	return header;
}

/* `chunk` is its index; HEADER the file's header; FILE_BYTE a byte of the file
 * as it was written, from its end */
#define HEADER		-1
#define FILE_BYTE	-2

struct file_damage {
	const char *name;
	void (*make)(void);
	int chunk;
	size_t offset;
	uint64_t value;
	unsigned int bytes;
	const char *text;
};

#define IN_HEADER(m)	HEADER, offsetof(struct ras_file, m)
#define COPY(n, m)	n, offsetof(struct ras_slice_copy, m)
#define FILE_RECORD(n, m) \
	1, sizeof(struct ras_slice_copy) + (n) * IMAGE_RECORD + \
	offsetof(struct ras_record, m)
#define IN_PACKED(m)	2, offsetof(struct ras_packed, m)

static const struct file_damage file_damages[] = {
	{ "the magic", make_get, IN_HEADER(magic), 0, 8, "magic" },
	{ "another byte order", make_get, IN_HEADER(order), 0x04030201, 4,
	  "byte order" },
	{ "another version", make_get, IN_HEADER(version), 9, 2, "version 9" },
	{ "another layout", make_get, IN_HEADER(layout), 9, 2, "layout 9" },
	{ "its size", make_get, IN_HEADER(size), 200, 2, "of 200 bytes" },
	{ "flags", make_get, IN_HEADER(flags), 1, 4, "flags 0x1" },
	{ "no CPUs", make_get, IN_HEADER(cpus), 0, 4, "0 CPUs" },
	{ "another key", make_get, IN_HEADER(key), 1, 8, "no record at 0" },
	{ "slices of no size", make_get, IN_HEADER(slice_bytes), 1, 8,
	  "slices of 1 bytes" },

	{ "a chunk's checksum", make_get, FILE_BYTE, 30, 1, 1, "checksum" },
	{ "a slice of no CPU", make_get, COPY(1, cpu), 2, 4, "CPU 2" },
	{ "a slice of no level", make_get, COPY(1, level), 4, 4, "level 4" },
	{ "a slice longer than its records", make_get, COPY(1, head), 41 *
	  IMAGE_RECORD, 8, "slice 1.0 at 0: up to" },
	{ "a slice that goes back", make_get, COPY(1, records), 101, 8,
	  "100 records, 0 dropped, after 101" },
	{ "less records than there are", make_get, COPY(1, records), 39, 8,
	  "40 records, of 39" },
	{ "drops of a nesting slice", make_get, COPY(7, dropped), 1, 8,
	  "slice 0.1 at 0: dropped 1" },
	{ "a stamp", make_get, FILE_RECORD(7, stamp), 1, 8,
	  "no record at 0x1f8" },
	{ "a record's length", make_get, FILE_RECORD(7, length),
	  RAS_RECORD_MAX + 1, 4, "no record at 0x1f8" },
	{ "a record's number", make_get, FILE_RECORD(7, seq), 9, 4,
	  "record 9 follows 6" },
	{ "a record's time", make_get, FILE_RECORD(7, time), 1, 8,
	  "time 1 after" },
	{ "a record's session", make_get, FILE_RECORD(7, session), 3, 2,
	  "session 3 isn't" },
	{ "a packed chunk's kind", make_get, IN_PACKED(kind),
	  RAS_CHUNK_PACKED, 4, "kind 7" },
	{ "a packed chunk's method", make_get, IN_PACKED(method), 9, 4,
	  "method 9" },
	{ "a packed chunk's length", make_get, IN_PACKED(length), 5000, 8,
	  "can't be unpacked" },
	{ "a packed chunk that is too long", make_get, IN_PACKED(length),
	  RAS_PACKED_MAX + 1, 8, "bytes" },
	{ "plain bytes that there aren't", make_get, IN_PACKED(plain), 9999, 8,
	  "9999 of them plain" },
	{ "packed bytes", make_get, 2, sizeof(struct ras_packed) +
	  sizeof(struct ras_slice_copy) + 50, 0, 8, "can't be unpacked" },
	{ "counts of no session", make_get, 3, 0, 5, 4, "no such session" },
	{ "counts of more points", make_get, 3, 4, 3, 4, "COUNTS of" },
	{ "recorded more than there are", make_get, 3, 8, 101, 8,
	  "101 recorded" },
	{ "recorded less", make_get, 3, 8, 99, 8, "99 recorded" },
	{ "a process of no session", make_get, 4, 4, 5, 2,
	  "session 5 isn't in the log" },
	{ "a process of no number", make_get, 4, 0, 0, 4, "process 0" },
	{ "more mappings than there are", make_get, 5, 4, 2, 4, "MAPS of" },
	{ "a mapping without an end", make_get, 5, sizeof(struct ras_maps) + 8,
	  0, 8, "mapping 0" },
	{ "formats with a path", make_get, 6, 3, '/', 1, "FORMATS of" },
	{ "a session's entry", make_get, 0, 0, 640, 4, "entry of 640" },

	{ "passes that go back", make_spool, 5, 0, 0, 8, "after one at" },
	{ "a last pass that wasn't", make_spool, 7, 0, 3, 8,
	  "the last one is of 3" },
	{ "a pass that isn't complete", make_cycle, 6, 0, 2, 8,
	  "none that is complete" },
	{ "losses that go back", make_spool, 3, 8, 21, 8, "lost 21" },
	{ "less lost than is missing", make_spool, 7, 8, 19, 8,
	  "19 lost, and 20 records are missing" },
	{ "a slice from after itself", make_spool, COPY(4, first),
	  19 * IMAGE_RECORD, 8, "slice 1.0" },
	{ "a panic without words' end", make_panic, 2, 0, 0, 8, "PANIC" },
};

static const struct file_damage file_cut = {
	"a cut end", make_get, FILE_BYTE, 0, 0, 0, "no END"
};

static void file_make(const char *path, void (*make)(void))
{
	while (chunk_count)
		free(chunks[--chunk_count].payload);
	make();
	chunk_add(RAS_CHUNK_END, NULL, 0);
	file_write(path, file_header());
}

static void file_damage_byte(const char *path, const struct file_damage *damage)
{
	struct stat st;
	int fd = open(path, O_RDWR);

	if (fd < 0 || fstat(fd, &st))
		tap_bail("cannot open '%s'", path);
	if (damage->bytes ?
	    pwrite(fd, &damage->value, 1, st.st_size - damage->offset) != 1 :
	    ftruncate(fd, st.st_size - 16))
		tap_bail("cannot damage '%s'", path);
	close(fd);
}

static void file_damage(const char *path, const struct file_damage *damage)
{
	struct ras_file header = file_header();

	file_make(path, damage->make);
	if (damage->chunk == FILE_BYTE) {
		file_damage_byte(path, damage);
		return;
	}
	memcpy((damage->chunk == HEADER ? (uint8_t *)&header :
		chunks[damage->chunk].payload) + damage->offset,
	       &damage->value, damage->bytes);
	file_write(path, header);
}

static void test_files(void)
{
	const struct file_damage *damage = file_damages;
	const size_t count = sizeof(file_damages) / sizeof(*damage);
	char path[128];

	snprintf(path, sizeof(path), "%s/a.ras", folder);
	file_make(path, make_get);
	expect_good("-q", path, "a file");
	file_make(path, make_spool);
	expect_good("-q", path, "a spool's file");
	file_make(path, make_cycle);
	expect_good("-q", path, "a cycle's file");
	file_make(path, make_panic);
	memset(chunks[1].payload + sizeof(struct ras_slice_copy) +
	       7 * IMAGE_RECORD, 0, 3 * IMAGE_RECORD);
	file_write(path, file_header());
	expect_good("-q", path, "that of a panic, with zeros for records");
	for (size_t i = 0; i < count; i++, damage++) {
		file_damage(path, damage);
		expect_bad("-q", path, damage->name, damage->text);
	}
	file_damage(path, &file_cut);
	expect_bad("-q", path, file_cut.name, file_cut.text);
	expect_good("-c", path, "a cut end that is allowed");
	unlink(path);
}

static void remove_all(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command))
		tap_diag("cannot remove '%s'", folder);
}

int main(int argc, char **argv)
{
	snprintf(reader, sizeof(reader), "%.*s/reader",
		 (int)(strrchr(argv[0], '/') - argv[0]), argv[0]);
	snprintf(folder, sizeof(folder), "%.30s/reader.XXXXXX",
		 getenv("TMPDIR") ?: "/tmp");
	if (!mkdtemp(folder))
		tap_bail("no folder for files");
	test_image();
	test_state();
	test_files();
	test_writers();
	tap_is(look("", "/nowhere"), 3, "no buffer");
	remove_all();
	return tap_done();
}
