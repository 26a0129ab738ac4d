// SPDX-License-Identifier: GPL-2.0
/*
 * What a live buffer has, as chunks of a file: each is read back byte by byte,
 * and nothing else is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <rastrace/ring.h>
#include "tap.h"
#include "tracefmt/builder.h"
#include "lib/buffer/picture.h"
#include "lib/buffer/picture_records.h"

#define CPUS	3
#define KEY	0x0123456789abcdefULL

/* Chunks that were made */
static struct made {
	struct {
		uint32_t kind;
		size_t size;
		uint8_t *data;
	} chunks[64];
	size_t count;
} made;

static int take(void *context, const void *chunk, size_t size)
{
	const struct ras_chunk *head = chunk;
	size_t room = sizeof(made.chunks) / sizeof(*made.chunks);

	if (made.count == room || size < sizeof(*head) ||
	    size != ((sizeof(*head) + head->length + 7) & ~7ULL))
		tap_bail("chunk %zu of %zu bytes", made.count, size);
	made.chunks[made.count].kind = head->kind;
	made.chunks[made.count].size = head->length;
	made.chunks[made.count].data = malloc(head->length + 1);
	memcpy(made.chunks[made.count++].data, head + 1, head->length);
	return 0;
}

static struct chunk_out begin(void)
{
	while (made.count)
		free(made.chunks[--made.count].data);
	return (struct chunk_out){ .take = take };
}

/* Ends; were there so many, of these kinds? */
static bool finished(struct chunk_out *out, const uint32_t *kinds, size_t count)
{
	bool right = !out->error && made.count == count;

	for (size_t i = 0; right && i < count; i++)
		right = made.chunks[i].kind == kinds[i];
	chunk_out_free(out);
	return right;
}

#define FINISHED(out, ...) \
	finished(&(out), (uint32_t[]){ __VA_ARGS__ }, \
		 sizeof((uint32_t[]){ __VA_ARGS__ }) / 4)

/* ---- the file's header ---- */

static struct ras_file file_taken;

static int file_take(void *context, const void *data, size_t size)
{
	if (size != sizeof(file_taken))
		return -EINVAL;
	memcpy(&file_taken, data, size);
	return 0;
}

static void test_header(void)
{
	struct ras_control control = {
		.cpus = CPUS, .key = KEY, .slice_bytes = 12345,
		.nest_levels = RAS_NEST_LEVELS,
	};
	struct buffer buffer = { .control = &control };
	struct chunk_out out = { .take = file_take };
	uint64_t before = buffer_time();
	struct utsname uts;

	uname(&uts);
	picture_header(&out, &buffer);
	tap_ok(file_taken.cpus == CPUS && file_taken.key == KEY &&
	       file_taken.slice_bytes == 12345, "header: of the buffer");
	tap_str(file_taken.kernel, uts.release, "header: kernel");
	tap_str(file_taken.host, uts.nodename, "header: host");
	tap_ok(before <= file_taken.taken && file_taken.taken <= buffer_time(),
	       "header: time");
	for (uint32_t row = 0; row < CPUS * (1 + RAS_NEST_LEVELS); row++) {
		struct ras_slice_copy place = picture_slice_place(&buffer, row);
		uint32_t nest = row - CPUS;

		tap_ok(row < CPUS ? place.cpu == row && !place.level :
		       place.cpu == nest / RAS_NEST_LEVELS &&
		       place.level == nest % RAS_NEST_LEVELS + 1,
		       "row %u is CPU %u, level %u", row, place.cpu,
		       place.level);
	}
}

/* ---- records ---- */

#define FIRST	4096

/* `count` records of 64, 72, 80, 64 ... bytes */
static struct ring ring_make(struct bytes *bytes, int count)
{
	for (int i = 0; i < count; i++) {
		struct ras_record record = {
			.stamp = (FIRST + bytes->size) ^ KEY,
			.length = 57 + 8 * (i % 3), .seq = i,
		};
		uint8_t data[128] = { 0 };

		memcpy(data, &record, sizeof(record));
		bytes_add(bytes, data, (record.length + 7) & ~7u);
	}
	return (struct ring){
		.data = bytes->data, .first = FIRST,
		.head = FIRST + bytes->size, .records = 1000, .dropped = 7,
	};
}

/* Pieces go on where the one before ended; the next record had no room. */
static bool pieces_right(const struct ring *ring, size_t piece)
{
	const struct ras_slice_copy *copy;
	uint64_t at = ring->first;
	bool right = true;

	for (size_t i = 0; i < made.count; i++) {
		const struct ras_record *next;
		size_t size;

		copy = (void *)made.chunks[i].data;
		size = copy->head - copy->first;
		right = right && made.chunks[i].kind == RAS_CHUNK_SLICE &&
			copy->cpu == 2 && copy->level == 1 &&
			copy->records == 1000 && copy->dropped == 7 &&
			copy->first == at && copy->head <= ring->head &&
			made.chunks[i].size == sizeof(*copy) + size &&
			!memcmp(copy + 1, ring->data + (at - ring->first),
				size);
		if (!right)
			return false;
		at = copy->head;
		next = (void *)(ring->data + (at - ring->first));
		if (at < ring->head && size + ras_record_space(next->length) <=
		    piece)
			return false;
		if (size > piece && size > 80)
			return false;
	}
	return at == ring->head;
}

static void test_records(void)
{
	static const size_t pieces[] = {
		1, 64, 71, 72, 135, 136, 137, 216, 500, 719, 720, 721, 10000,
	};
	const struct ras_slice_copy place = { .cpu = 2, .level = 1 };
	struct bytes bytes = { 0 };
	struct ring ring = ring_make(&bytes, 10);
	struct chunk_out out;

	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		out = begin();
		picture_records(&out, &place, &ring, KEY, pieces[i]);
		chunk_out_free(&out);
		tap_ok(!out.error && pieces_right(&ring, pieces[i]),
		       "%llu bytes of records in pieces of %zu: %zu",
		       (unsigned long long)(ring.head - ring.first), pieces[i],
		       made.count);
	}
	ring.head = ring.first;
	out = begin();
	picture_records(&out, &place, &ring, KEY, 100);
	tap_ok(FINISHED(out, RAS_CHUNK_SLICE) && pieces_right(&ring, 100),
	       "no records, their counts");
	bytes_free(&bytes);
}

/* ---- sessions ---- */

static struct ras_session_point points[4] = {
	{ .hash = 11, .minor = 1 }, { .hash = 12, .minor = 2 },
};
static struct ras_session entries[3] = {
	{ .index = 1, .major = 5, .points = 2, .module = "/proc/self/exe",
	  .tdf = "/no/such/place/a.tdf" },
	{ .index = 2, .major = 6, .points = 2, .module = "/proc/self/exe",
	  .tdf = "/no/such/place/b.tdf" },
};
static struct session sessions[3] = {
	{ .entry = &entries[0], .points = points },
	{ .entry = &entries[1], .points = points },
};
static uint8_t log_bytes[100] = "a log";
static struct session_list list = {
	.items = sessions, .count = 2, .log = log_bytes,
	.log_size = sizeof(log_bytes),
};

static void test_sessions(void)
{
	struct chunk_out out = begin();

	picture_sessions(&out, &list);
	picture_end(&out);
	tap_ok(FINISHED(out, RAS_CHUNK_SESSIONS, RAS_CHUNK_END) &&
	       made.chunks[0].size == sizeof(log_bytes) &&
	       !memcmp(made.chunks[0].data, log_bytes, sizeof(log_bytes)) &&
	       !made.chunks[1].size, "the session log, and the end");
}

/* ---- processes ---- */

#define GONE	0x7ffffff0u	/* no process has that number */

static const struct ras_process_entry traced[] = {
	{ { GONE, 1, 0 }, { 5, 0x1000, "gone" } },
	{ { GONE, 2, 0 }, { 5, 0x7000000, "gone" } },
	{ { GONE, 3, 0 }, { 5, 0x9000000, "gone" } },
	{ { GONE + 1, 1, 0 }, { 5, 0x2000, "too" } },
};

static bool entries_are(const struct ras_process_entry *expected, size_t count)
{
	return made.count && made.chunks[0].kind == RAS_CHUNK_PROCESSES &&
	       made.chunks[0].size == count * sizeof(*expected) &&
	       !memcmp(made.chunks[0].data, expected,
		       count * sizeof(*expected));
}

/* What was made of a process: its number of mappings. */
static uint32_t maps_count(size_t chunk, uint32_t pid, const char *comm)
{
	const struct ras_maps *maps = (void *)made.chunks[chunk].data;

	return maps->pid == pid && maps->taken && !strcmp(maps->comm, comm) &&
	       made.chunks[chunk].size == sizeof(*maps) + maps->mappings *
					  sizeof(struct ras_mapping) ?
	       maps->mappings : 0;
}

static void test_processes(void)
{
	struct processes all = { (void *)traced, 4 }, none = { 0 };
	struct processes known = { (void *)traced, 3 };
	struct mappings_cache cache = { 0 };
	const struct ras_mapping *mapping;
	struct chunk_out out = begin();
	uint32_t one;

	picture_processes(&out, &all, &none, &list, NULL, NULL);
	tap_ok(FINISHED(out, RAS_CHUNK_PROCESSES) && entries_are(traced, 4),
	       "all processes, and not what they had mapped");
	out = begin();
	picture_processes(&out, &all, &known, &list, NULL, NULL);
	tap_ok(FINISHED(out, RAS_CHUNK_PROCESSES) && entries_are(traced + 3, 1),
	       "the one that isn't known");
	out = begin();
	picture_processes(&out, &all, &all, &list, &cache, NULL);
	tap_ok(!made.count && !out.error, "nothing when all are");
	chunk_out_free(&out);

	/* those that are gone had the modules of two sessions, and of one */
	known = (struct processes){ (void *)traced, 1 };
	out = begin();
	picture_processes(&out, &all, &known, &list, &cache, NULL);
	mappings_cache_free(&cache);
	if (!tap_ok(FINISHED(out, RAS_CHUNK_PROCESSES, RAS_CHUNK_MAPS,
			     RAS_CHUNK_MAPS),
		    "processes that are gone: their modules, once"))
		return;
	one = maps_count(2, GONE + 1, "too");
	tap_ok(one, "those of the one");
	tap_is(maps_count(1, GONE, "gone"), 2 * one, "and of the other");
	mapping = (void *)(made.chunks[1].data + sizeof(struct ras_maps));
	tap_ok(mapping->start >= 0x1000 && mapping->start < 0x7000000 &&
	       mapping->end > mapping->start && mapping->id_length &&
	       !strcmp(mapping->path, "/proc/self/exe"),
	       "where one was, also when that is known");
	tap_ok(mapping[one].start == mapping->start + 0x7000000 - 0x1000,
	       "where the other was");
}

/* Of one that runs, more than its modules */
static void test_running(void)
{
	struct ras_process_entry entry = {
		{ getpid(), 1, 0 }, { buffer_time(), 0, "other" },
	};
	struct processes all = { &entry, 1 }, none = { 0 };
	struct mappings_cache cache = { 0 };
	struct chunk_out out = begin();
	const struct ras_mapping *mapping;
	const struct ras_maps *maps;
	bool found = false;

	picture_processes(&out, &all, &none, &list, &cache, NULL);
	tap_ok(FINISHED(out, RAS_CHUNK_PROCESSES, RAS_CHUNK_MAPS),
	       "a process that runs");
	maps = (void *)made.chunks[1].data;
	mapping = (void *)(maps + 1);
	for (uint32_t i = 0; i < maps->mappings; i++)
		found |= mapping[i].start <= (uintptr_t)test_running &&
			 mapping[i].end > (uintptr_t)test_running;
	tap_ok(found && !strncmp(maps->comm, "test_picture", 12),
	       "what it has mapped, and its name now");
	mappings_cache_free(&cache);
}

static void test_kernel(void)
{
	struct chunk_out out = begin();
	struct mappings m;

	picture_kernel(&out, &list);
	tap_ok(!made.count && !out.error, "no kernel unless asked for");
	chunk_out_free(&out);
	entries[1].flags = RAS_SESSION_KERNEL;
	out = begin();
	picture_kernel(&out, &list);
	if (mappings_read_kernel(&m))
		tap_ok(FINISHED(out, RAS_CHUNK_MAPS) &&
		       !((struct ras_maps *)made.chunks[0].data)->pid,
		       "the kernel, of the second session");
	else
		tap_ok(!made.count && !out.error, "the kernel hides addresses");
	chunk_out_free(&out);
	mappings_free(&m);
	entries[1].flags = 0;
}

/* ---- formats ---- */

static char folder[] = "/tmp/rastrace.XXXXXX";

/* TRC00xx.TFF whose second entry is the one, and its bytes */
static struct bytes format_write(unsigned int major, uint16_t minor,
				 uint64_t hash, int flags)
{
	struct tff_builder tff = { .major = major };
	struct bytes bytes;
	char name[32];

	tff_section_begin(&tff, "app", 1);
	tff_entry_add(&tff, 1, 1, 0, "another", "%D");
	tff_entry_add(&tff, minor, hash, flags, "it", "%D");
	bytes = tff_finish(&tff);
	snprintf(name, sizeof(name), "TRC00%02X.TFF", major);
	if (bytes_write(&bytes, folder, name))
		tap_bail("cannot write '%s'", name);
	return bytes;
}

/* Is chunk i the TFF of a major? */
static bool format_is(size_t i, unsigned int major, const struct bytes *bytes)
{
	const struct ras_formats *head = (void *)made.chunks[i].data;
	char name[32];

	snprintf(name, sizeof(name), "TRC00%02X.TFF", major);
	return !strcmp(head->name, name) &&
	       made.chunks[i].size == sizeof(*head) + bytes->size &&
	       !memcmp(head + 1, bytes->data, bytes->size);
}

static void formats_check(size_t count, const char *name)
{
	struct chunk_out out = begin();

	picture_formats(&out, &list);
	if (!tap_ok(!out.error && made.count == count, "%s", name))
		tap_diag("%zu chunks, %d", made.count, out.error);
	chunk_out_free(&out);
}

static void test_formats(void)
{
	struct ras_session statics = {
		.index = RAS_STATIC_SESSION, .points = 4,
	};
	struct ras_session_point kept[2] = { points[0], points[1] };
	struct ras_session kept_entries[2] = { entries[0], entries[1] };
	struct bytes five, other, three;

	if (setenv("TRACEFMT_PATH", folder, 1))
		tap_bail("no environment");
	five = format_write(5, 2, 12, 0);
	other = format_write(6, 2, 99, 0);
	formats_check(1, "the TFF of a tracepoint, and no other hash's");
	tap_ok(made.count && format_is(0, 5, &five), "all of it");
	entries[1].major = 5;
	formats_check(1, "once, when two sessions have it");
	points[1].minor = 3;
	formats_check(0, "no other minor code's");
	points[1].minor = 2;
	entries[0].points = entries[1].points = 1;
	formats_check(0, "none of a tracepoint that the session hasn't");
	entries[0].points = entries[1].points = 2;
	unsetenv("TRACEFMT_PATH");
	snprintf(entries[1].tdf, sizeof(entries[1].tdf), "%s/b.tdf", folder);
	formats_check(1, "one that lies beside the second TDF");
	entries[0].points = entries[1].points = 0;

	/* majors 0 to 3, of which 3 is on */
	three = format_write(3, 7, 77, TFF_STATIC);
	bytes_free(&five);
	five = format_write(2, 7, 77, TFF_STATIC);
	for (int i = 0; i < 3; i++)
		points[i].state = RAS_POINT_UNSELECTED;
	sessions[2] = (struct session){ .entry = &statics, .points = points };
	list.count = 3;
	formats_check(1, "that of a major that is on");
	tap_ok(made.count && format_is(0, 3, &three), "which is it");
	bytes_free(&three);
	three = format_write(3, 7, 77, 0);
	formats_check(0, "not of a tracepoint that isn't static");
	bytes_free(&five);
	bytes_free(&other);
	bytes_free(&three);
	list.count = 2;
	memset(points, 0, sizeof(points));
	memcpy(points, kept, sizeof(kept));
	memcpy(entries, kept_entries, sizeof(kept_entries));
}

static void folder_remove(void)
{
	char path[64];

	for (int i = 2; i < 7; i++) {
		snprintf(path, sizeof(path), "%s/TRC00%02X.TFF", folder, i);
		unlink(path);
	}
	rmdir(folder);
}

static void tests(void)
{
	test_header();
	test_records();
	test_sessions();
	test_processes();
	test_running();
	test_kernel();
	test_formats();
	begin();
}

int main(int argc, char **argv)
{
	size_t used;

	/* mallinfo2() takes what is in there for used */
	if (!setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 0) &&
	    argc < 2)
		execl(argv[0], argv[0], "again", NULL);
	if (!mkdtemp(folder))
		tap_bail("no scratch directory");
	tests();
	used = mallinfo2().uordblks;
	tests();
	tap_is(mallinfo2().uordblks, used, "all memory is given back");
	folder_remove();
	return tap_done();
}
