// SPDX-License-Identifier: GPL-2.0
/*
 * Two TDFs of one TSF were armed at once, their records are in one file: each
 * hit of a tracepoint is a pair of records with the same data, and of the same
 * nominal address.
 *
 *	pairs FILE.ras EXACT.tdf MOVED.tdf
 *
 * Within a thread the records of a tracepoint follow each other: two of the
 * same TDF, and the first had no partner. Prints figures, and each difference.
 * Whether memory was absent isn't one: the first of the two brings it in.
 */
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rastrace/buffer.h>
#include <rastrace/rasfile.h>
#include <rastrace/tdf.h>

#define CPUS_MAX	1024
#define MINORS		65536
#define SHOWN		20	/* of each kind of complaint */

struct file {
	const uint8_t *data;
	size_t size;
};

struct tdf {
	struct file file;
	const struct tdf_header *header;
	const struct tdf_site *sites;
	uint32_t *limits;	/* MAXHITS by minor */
	uint32_t *records;	/* by minor */
};

struct entry {
	const struct ras_record *record;
	size_t order;		/* in the file: of a slice ascending */
};

struct figures {
	size_t pairs;
	size_t moved;		/* of these: not at the nominal address */
	size_t cheaper;		/* of these: where a hit costs less */
	size_t absent;		/* memory was absent, for one of them only */
	size_t different;
	size_t limited;		/* without partner: of threads that had the
				 * last of MAXHITS at the same time */
	size_t alone;		/* without partner otherwise */
	size_t lost;		/* overwritten or dropped, at least */
};

static struct tdf tdfs[2];
static struct entry *entries;
static size_t count, room;
static struct figures sum;

static struct file file_map(const char *path)
{
	struct file file;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", path);
	file.size = st.st_size;
	file.data = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file.data == MAP_FAILED)
		err(1, "%s", path);
	close(fd);
	return file;
}

static void tdf_open(struct tdf *tdf, const char *path)
{
	const struct tdf_point *points;

	tdf->file = file_map(path);
	tdf->header = (const void *)tdf->file.data;
	if (tdf->file.size < sizeof(*tdf->header) ||
	    memcmp(tdf->header->magic, TDF_MAGIC, 8) ||
	    tdf->header->version != TDF_VERSION)
		errx(1, "%s: no TDF of this version", path);
	tdf->sites = (const void *)(tdf->file.data +
				    tdf->header->sites.offset);
	points = (const void *)(tdf->file.data + tdf->header->points.offset);
	tdf->limits = calloc(2 * MINORS, sizeof(*tdf->limits));
	if (!tdf->limits)
		err(1, "calloc");
	tdf->records = tdf->limits + MINORS;
	for (uint32_t i = 0; i < tdf->header->points.count; i++)
		tdf->limits[points[i].minor] = points[i].maxhits;
}

static const struct tdf *tdf_of(const struct ras_record *record)
{
	return &tdfs[record->major == tdfs[1].header->major];
}

static const struct tdf_site *site_of(const struct ras_record *record)
{
	const struct tdf *tdf = tdf_of(record);

	if (record->site >= tdf->header->sites.count)
		errx(1, "a record's site is in no TDF");
	return &tdf->sites[record->site];
}

static void entry_add(const struct ras_record *record)
{
	if (record->major != tdfs[0].header->major &&
	    record->major != tdfs[1].header->major)
		return;
	if (count == room) {
		room = room ? 2 * room : 1 << 16;
		entries = realloc(entries, room * sizeof(*entries));
		if (!entries)
			err(1, "realloc");
	}
	entries[count] = (struct entry){ record, count };
	count++;
	tdf_of(record)->records[record->minor]++;
}

/* A slice is in the file in pieces that go on where the one before ended. */
static bool is_gap(const struct ras_slice_copy *copy)
{
	static uint64_t heads[CPUS_MAX][1 + RAS_NEST_LEVELS];
	uint64_t *head, before;

	if (copy->cpu >= CPUS_MAX || copy->level > RAS_NEST_LEVELS)
		errx(1, "more than %d processors", CPUS_MAX);
	head = &heads[copy->cpu][copy->level];
	before = *head;
	*head = copy->head;
	return copy->first != before;
}

static void slice_read(const uint8_t *payload, uint64_t length, uint64_t key)
{
	const struct ras_slice_copy *copy = (const void *)payload;
	uint64_t at = sizeof(*copy);
	const struct ras_record *record;

	sum.lost += copy->dropped + is_gap(copy);
	for (; at < length; at += (record->length + 7) & ~7ULL) {
		record = (const void *)(payload + at);
		if (length - at < sizeof(*record) ||
		    record->length < sizeof(*record) ||
		    record->length > length - at ||
		    record->stamp != (key ^ (copy->first + at - sizeof(*copy))))
			errx(1, "a slice is damaged");
		entry_add(record);
	}
}

static void records_read(const char *path)
{
	struct file file = file_map(path);
	const struct ras_file *header = (const void *)file.data;
	const struct ras_chunk *chunk;
	size_t at = header->size;

	if (memcmp(header->magic, RAS_FILE_MAGIC, 8) ||
	    header->layout != RAS_LAYOUT)
		errx(1, "%s: no .ras file of this layout", path);
	for (; at + sizeof(*chunk) <= file.size;
	     at += sizeof(*chunk) + ((chunk->length + 7) & ~7ULL)) {
		chunk = (const void *)(file.data + at);
		if (chunk->length > file.size - at - sizeof(*chunk))
			errx(1, "%s: cut short", path);
		if (chunk->kind == RAS_CHUNK_SLICE)
			slice_read((const void *)(chunk + 1), chunk->length,
				   header->key);
	}
}

/* By thread, tracepoint and time. */
static int entry_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	const struct ras_record *r = x->record, *s = y->record;

	if (r->tid != s->tid)
		return r->tid < s->tid ? -1 : 1;
	if (r->minor != s->minor)
		return r->minor < s->minor ? -1 : 1;
	if (r->time != s->time)
		return r->time < s->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void record_print(const char *what, const struct ras_record *record)
{
	const struct tdf_site *site = site_of(record);
	const uint8_t *data = (const void *)record;

	printf("  %s site %#llx nominal %#llx flags %#x data", what,
	       site->address, site->nominal, record->flags);
	for (size_t i = RAS_RECORD_HEADER; i < record->length; i++)
		printf(" %02x", data[i]);
	putchar('\n');
}

static bool is_moved(const struct tdf_site *site)
{
	return site->address != site->nominal ||
	       site->flags & TDF_SITE_RETURN;
}

static bool is_unreadable(uint8_t status)
{
	return status == RAS_ITEM_FAULT || status == RAS_ITEM_LEFT ||
	       status == RAS_ITEM_NOT_TRIED;
}

/* Of two bytes that differ: statuses that show what was done about memory that
 * was absent, in records that can have these. */
static bool is_absence(const struct ras_record *a, uint8_t x,
		       const struct ras_record *b, uint8_t y)
{
	if ((x ^ y) == RAS_ITEM_PAGED_IN)
		return (a->flags ^ b->flags) & RAS_RECORD_PAGED_IN;
	return a->flags & b->flags & RAS_RECORD_FAULT && is_unreadable(x) &&
	       is_unreadable(y);
}

/* In one of the records an item that wasn't waited for ends the data. */
static bool is_cut_short(const struct ras_record *record, uint8_t status)
{
	return record->flags & RAS_RECORD_FAULT &&
	       (status == RAS_ITEM_LEFT || status == RAS_ITEM_NOT_TRIED);
}

/* Goes over an item that is a mark in one record, because it is in a vector
 * register, and a value in the other one, which has it elsewhere. */
static bool is_marked(const uint8_t *mark, size_t *at, const uint8_t *value,
		      size_t *to)
{
	if (mark[*at] != (RAS_ITEM_ABSENT | RAS_ITEM_MODULE) ||
	    value[*to] != RAS_ITEM_VALUE)
		return false;
	*at += RAS_ITEM_PREFIX;
	*to += RAS_ITEM_PREFIX + value[*to + 1] + (value[*to + 2] << 8);
	return true;
}

static bool data_same(const struct ras_record *a, const struct ras_record *b)
{
	size_t i = RAS_RECORD_HEADER, j = i;
	const uint8_t *x = (const void *)a, *y = (const void *)b;
	uint16_t ignored = RAS_RECORD_PAGED_IN | RAS_RECORD_FAULT;
	bool absent = false;

	if ((a->flags | ignored) != (b->flags | ignored))
		return false;
	while (i < a->length && j < b->length) {
		if (x[i] == y[j]) {
			i++;
			j++;
			continue;
		}
		if (is_marked(x, &i, y, &j) || is_marked(y, &j, x, &i))
			continue;
		if ((a->flags ^ b->flags) & RAS_RECORD_FAULT) {
			absent = is_cut_short(a, x[i]) || is_cut_short(b, y[j]);
			sum.absent += absent;
			return absent;
		}
		if (!is_absence(a, x[i], b, y[j]))
			return false;
		absent = true;
		i++;
		j++;
	}
	sum.absent += absent;
	return i == a->length && j == b->length &&
	       !((a->flags ^ b->flags) & RAS_RECORD_FAULT);
}

static void pair_check(const struct ras_record *a, const struct ras_record *b)
{
	const struct tdf_site *exact, *moved;

	if (tdf_of(a) != &tdfs[0]) {
		const struct ras_record *other = a;

		a = b;
		b = other;
	}
	exact = site_of(a);
	moved = site_of(b);
	sum.pairs++;
	if (is_moved(moved)) {
		sum.moved++;
		sum.cheaper += moved->cost < exact->cost;
	}
	if (data_same(a, b) && (exact->nominal == moved->nominal ||
				moved->flags & TDF_SITE_RETURN))
		return;
	if (sum.different++ < SHOWN) {
		printf("DIFFERENT minor %#x\n", a->minor);
		record_print("exact", a);
		record_print("moved", b);
	}
}

/* Both TDFs have all the records that they may. */
static bool is_limited(uint16_t minor)
{
	return tdfs[0].limits[minor] &&
	       tdfs[0].records[minor] == tdfs[0].limits[minor] &&
	       tdfs[1].records[minor] == tdfs[0].limits[minor];
}

static void alone_add(const struct ras_record *record)
{
	if (is_limited(record->minor)) {
		sum.limited++;
		return;
	}
	if (sum.alone++ < SHOWN) {
		printf("ALONE minor %#x tid %u\n", record->minor, record->tid);
		record_print(tdf_of(record) == tdfs ? "exact" : "moved",
			     record);
	}
}

static bool is_same_point(const struct ras_record *a,
			  const struct ras_record *b)
{
	return a->tid == b->tid && a->minor == b->minor;
}

static void pairs_find(void)
{
	const struct ras_record *waits = NULL, *record;

	for (size_t i = 0; i < count; i++) {
		record = entries[i].record;
		if (waits && is_same_point(waits, record) &&
		    tdf_of(waits) != tdf_of(record)) {
			pair_check(waits, record);
			waits = NULL;
			continue;
		}
		if (waits)
			alone_add(waits);
		waits = record;
	}
	if (waits)
		alone_add(waits);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		errx(2, "usage: pairs FILE.ras EXACT.tdf MOVED.tdf");
	tdf_open(&tdfs[0], argv[2]);
	tdf_open(&tdfs[1], argv[3]);
	if (tdfs[0].header->major == tdfs[1].header->major)
		errx(2, "the TDFs have the same MAJOR");
	records_read(argv[1]);
	qsort(entries, count, sizeof(*entries), entry_compare);
	pairs_find();
	printf("pairs %zu moved %zu cheaper %zu absent %zu different %zu "
	       "limited %zu alone %zu lost %zu\n", sum.pairs, sum.moved,
	       sum.cheaper, sum.absent, sum.different, sum.limited, sum.alone,
	       sum.lost);
	return sum.different || sum.alone || sum.lost;
}
