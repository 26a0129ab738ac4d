// SPDX-License-Identifier: GPL-2.0
/*
 * A disk that is full while a spool ends, with room for none, some or all of
 * the end: the chunks are whole, an END is there always, and the last PASS is
 * of the last pass that has one in the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <rastrace/ring.h>
#include <sys/resource.h>
#include "self_picture.h"
#include "self_tdf.h"
#include "lib/buffer/spooler.h"

void hit(void);
__asm__(".text\n.globl hit\n.type hit, %function\n"
	"hit: " MACHINE_PUSH MACHINE_POP "ret\n");

#define ROOM		1200	/* bytes: more than any end here */
#define STEP		8
#define PASSES_MOST	16

static char file[128];

static void arm(void)
{
	static struct self_tdf tdf;
	char line[256];

	self_begin(&tdf);
	self_point(&tdf);
	self_site(&tdf, hit, MACHINE_PUSH_BYTES);
	self_write(&tdf);
	snprintf(line, sizeof(line), "on --max-cpu=off --buffer 64K %s",
		 self_path);
	if (self_trace(line))
		tap_bail("cannot arm");
}

/* Files may have so many bytes; without an argument, any number. */
static void disk_size(uint64_t bytes)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes ? bytes : limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* What the file says of its end */
struct ending {
	uint64_t times[PASSES_MOST];	/* of its passes */
	unsigned int passes, records;
	bool whole, ended, counts, sessions;
};

static unsigned int records_count(const struct ras_chunk *chunk)
{
	const uint8_t *data = (const void *)(chunk + 1);
	uint64_t at = sizeof(struct ras_slice_copy);
	unsigned int count = 0;

	for (; at < chunk->length; count++)
		at += ras_record_space(((const struct ras_record *)
					(data + at))->length);
	return count;
}

static struct ending ending_read(void)
{
	static uint8_t data[1 << 20];
	struct ending ending = { 0 };
	int fd = open(file, O_RDONLY);
	size_t size = fd < 0 ? 0 : read(fd, data, sizeof(data)), at;
	const struct ras_file *head = (const void *)data;

	close(fd);
	for (at = size ? head->size : 0; at < size;) {
		const struct ras_chunk *chunk = (const void *)(data + at);

		at += sizeof(*chunk) + ((chunk->length + 7) & ~7ULL);
		ending.ended |= chunk->kind == RAS_CHUNK_END;
		ending.counts |= chunk->kind == RAS_CHUNK_COUNTS;
		ending.sessions |= chunk->kind == RAS_CHUNK_SESSIONS;
		if (chunk->kind == RAS_CHUNK_SLICE)
			ending.records += records_count(chunk);
		if (chunk->kind == RAS_CHUNK_PASS &&
		    ending.passes < PASSES_MOST)
			ending.times[ending.passes++] =
				((struct ras_pass *)(chunk + 1))->time;
	}
	ending.whole = size && at == size;
	return ending;
}

static void spool_open(struct spooler *s)
{
	struct error err = { 0 };

	*s = (struct spooler){
		.run = self_run, .files = { .name = file, .fd = -1 },
	};
	if (spooler_open(s, 0, &err))
		tap_bail("cannot spool: %s", err.text);
}

static int spool_pass(struct spooler *s)
{
	struct error err = { 0 };

	hit();
	return spooler_pass(s, &err);
}

/* Room for `room` bytes after the passes. */
static struct ending end_in(unsigned int room)
{
	struct spooler s;

	spool_open(&s);
	if (spool_pass(&s) || spool_pass(&s))
		tap_bail("no passes");
	disk_size(s.files.size + room);
	spooler_finish(&s, -ENOSPC, NULL);
	disk_size(0);
	spooler_close(&s);
	return ending_read();
}

/* The first PASS is of the file's begin, then there are two, and one that
 * repeats the last of them where there was room. Where there was none, the END
 * replaces the last one. */
static bool ending_right(const struct ending *e, unsigned int room)
{
	if (!e->whole || !e->ended)
		return false;
	if (room < sizeof(struct ras_chunk))
		return e->passes == 2;
	return e->passes == 3 ||
	       (e->passes == 4 && e->times[3] == e->times[2]);
}

static void test_ends(void)
{
	unsigned int room, counts = 0, bare = 0;
	struct ending ending = { 0 };

	for (room = 0; room <= ROOM; room += STEP) {
		ending = end_in(room);
		if (!ending_right(&ending, room))
			break;
		counts += ending.counts;
		bare += ending.ended && ending.passes == 3;
	}
	if (!tap_ok(room > ROOM, "the end of a file with room for 0 to %u bytes",
		    ROOM))
		tap_diag("%u bytes: whole %d, END %d, %u passes", room,
			 ending.whole, ending.ended, ending.passes);
	tap_ok(ending.passes == 4 && counts && counts < ROOM / STEP && bare,
	       "with counts %u times, with nothing but an END %u times", counts,
	       bare);
}

/* The disk is full in the middle of a pass, and has room again for the end.
 * true: the last PASS repeats one that is in the file, and what is reported of the
 * records holds. */
static bool fails_in(unsigned int room, bool *failed)
{
	struct ending ending;
	struct spooler s;

	spool_open(&s);
	if (spool_pass(&s))
		tap_bail("no pass");
	disk_size(s.files.size + room);
	*failed = spool_pass(&s);
	disk_size(0);
	spooler_finish(&s, *failed ? -ENOSPC : 0, NULL);
	spooler_close(&s);
	ending = ending_read();
	return ending.whole && ending.ended && ending.counts &&
	       ending.records == s.total && ending.passes == (*failed ? 3 : 4) &&
	       ending.times[ending.passes - 1] ==
	       ending.times[ending.passes - 2];
}

static void test_passes(void)
{
	unsigned int room, failures = 0, last = 0;
	bool right = true, failed;

	for (room = 0; right && room <= ROOM; room += STEP) {
		right = fails_in(room, &failed);
		failures += failed;
		if (failed)
			last = room;
	}
	if (!tap_ok(right, "a pass with room for 0 to %u bytes", ROOM))
		tap_diag("%u bytes", room - STEP);
	tap_ok(failures && last < ROOM, "the largest that fails has %u", last);
}

/* There is no room for all that a file begins with: it is none, or one that ends
 * and has no counts of what it doesn't report. */
static bool begins_in(unsigned int room, bool *failed)
{
	struct spooler s = {
		.run = self_run, .files = { .name = file, .fd = -1 },
	};
	struct error err = { 0 };
	struct ending ending;
	int code;

	disk_size(room);
	code = spooler_open(&s, 0, &err);
	spooler_finish(&s, code, NULL);
	disk_size(0);
	spooler_close(&s);
	*failed = code;
	if (room < sizeof(struct ras_file))
		return access(file, F_OK);
	ending = ending_read();
	return ending.whole && (!ending.counts || ending.sessions) &&
	       (ending.ended || room < sizeof(struct ras_file) +
				       sizeof(struct ras_chunk));
}

static void test_begins(void)
{
	unsigned int room, failures = 0;
	bool right = true, failed;

	for (room = STEP; right && room <= 4 * ROOM; room += 3 * STEP) {
		right = begins_in(room, &failed);
		failures += failed;
	}
	if (!tap_ok(right, "a file that begins with room for 8 to %u bytes",
		    4 * ROOM))
		tap_diag("%u bytes", room - 3 * STEP);
	tap_ok(failures && failures < 4 * ROOM / STEP / 3, "%u of them fail",
	       failures);
}

int main(void)
{
	self_open();
	signal(SIGXFSZ, SIG_IGN);
	snprintf(file, sizeof(file), "%s.full.ras", self_path);
	arm();
	test_ends();
	test_passes();
	test_begins();
	unlink(file);
	self_close();
	return tap_done();
}
