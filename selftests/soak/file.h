/* SPDX-License-Identifier: GPL-2.0 */
/* .ras files: of `trace get`, of `trace spool`, and of a panic. */
#ifndef SELFTESTS_SOAK_FILE_H
#define SELFTESTS_SOAK_FILE_H

#include <zlib.h>
#include <zstd.h>
#include "records.h"

#define SLICES_MAX	(4096 * (1 + RAS_NEST_LEVELS))
#define KIND_MAX	RAS_CHUNK_LAST

/* What is known of a slice from its chunks so far */
struct slice_state {
	bool seen;
	uint64_t head, records, dropped, time, present, first;
	uint32_t gaps;
};

static struct ras_file file_header;
static struct slice_state *slices;
static unsigned int seen[KIND_MAX + 1];	/* chunks of each kind */
static struct ras_pass last_pass, pass_before;
static unsigned int passes;
static bool goes_on;		/* from another file of its cycle */
static bool file_ended, file_panicked;
static uint64_t file_records;

static const uint32_t *crc_table(void)
{
	static uint32_t table[256];

	for (uint32_t i = 0; !table[1] && i < 256; i++) {
		uint32_t n = 255 - i;

		for (int bit = 0; bit < 8; bit++)
			n = n >> 1 ^ (n & 1 ? 0xedb88320 : 0);
		table[255 - i] = n;
	}
	return table;
}

/* Of more bytes; 0 to begin with */
static uint32_t crc_add(uint32_t crc, const void *bytes, uint64_t count)
{
	const uint32_t *table = crc_table();
	const uint8_t *p = bytes;

	for (crc = ~crc; count--; p++)
		crc = crc >> 8 ^ table[(crc ^ *p) & 0xff];
	return ~crc;
}

static bool header_check(const uint8_t *bytes, uint64_t length)
{
	struct ras_file *header = &file_header;
	uint32_t crc;

	part_is("header");
	if (!holds(length >= sizeof(*header), "a file of %llu bytes",
		   (unsigned long long)length))
		return false;
	memcpy(header, bytes, sizeof(*header));
	if (!holds(!memcmp(header->magic, RAS_FILE_MAGIC, 8), "magic") ||
	    !holds(header->order == RAS_FILE_ORDER, "byte order %#x",
		   header->order) ||
	    !holds(header->version == RAS_FILE_VERSION, "version %u",
		   header->version) ||
	    !holds(header->size == sizeof(*header), "of %u bytes",
		   header->size) ||
	    !holds(header->layout == RAS_LAYOUT, "layout %u", header->layout))
		return false;
	crc = header->crc;
	header->crc = 0;
	holds(crc_add(0, header, sizeof(*header)) == crc, "checksum");
	holds(!header->flags, "flags %#x", header->flags);
	holds(header->cpus && header->cpus <= 4096, "%u CPUs", header->cpus);
	holds(header->slice_bytes >= RAS_SLICE_MIN &&
	      header->slice_bytes <= RAS_SLICE_MAX &&
	      !(header->slice_bytes & (header->slice_bytes - 1)),
	      "slices of %llu bytes", (unsigned long long)header->slice_bytes);
	holds(memchr(header->kernel, 0, sizeof(header->kernel)) &&
	      memchr(header->host, 0, sizeof(header->host)),
	      "names without an end");
	return true;
}

/* --- Chunks, by kind */

static uint64_t slice_bytes(unsigned int level)
{
	return level ? RAS_NEST_BYTES : file_header.slice_bytes;
}

static void slice_goes_on(struct slice_state *slice,
			  const struct ras_slice_copy *copy)
{
	if (!slice->seen) {
		slice->seen = true;
		slice->first = slice->head = copy->first;
	}
	holds(copy->first >= slice->head, "from %#llx, and it was at %#llx",
	      (unsigned long long)copy->first,
	      (unsigned long long)slice->head);
	holds(copy->records >= slice->records &&
	      copy->dropped >= slice->dropped,
	      "%llu records, %llu dropped, after %llu and %llu",
	      (unsigned long long)copy->records,
	      (unsigned long long)copy->dropped,
	      (unsigned long long)slice->records,
	      (unsigned long long)slice->dropped);
	slice->gaps += copy->first != slice->head;
	slice->head = copy->head;
	slice->records = copy->records;
	slice->dropped = copy->dropped;
}

/* Main slices come first. */
static void chunk_slice(const uint8_t *payload, uint64_t length)
{
	const struct ras_slice_copy *copy = (const void *)payload;
	struct slice_state *slice;
	struct run run;
	uint32_t number;

	if (!holds(length >= sizeof(*copy), "a SLICE of %llu bytes",
		   (unsigned long long)length) ||
	    !holds(copy->cpu < file_header.cpus &&
		   copy->level <= RAS_NEST_LEVELS, "CPU %u, level %u",
		   copy->cpu, copy->level))
		return;
	part_is("slice %u.%u at %#llx", copy->cpu, copy->level,
		(unsigned long long)copy->first);
	if (!holds(copy->first <= copy->head && copy->first % 8 == 0 &&
		   length - sizeof(*copy) == copy->head - copy->first,
		   "up to %#llx, in %llu bytes", (unsigned long long)copy->head,
		   (unsigned long long)length))
		return;
	holds(length - sizeof(*copy) <= slice_bytes(copy->level),
	      "longer than its slice");
	holds(!copy->level || !copy->dropped, "dropped %llu",
	      (unsigned long long)copy->dropped);
	number = copy->level ? file_header.cpus + copy->cpu * RAS_NEST_LEVELS +
			       copy->level - 1 : copy->cpu;
	slice = &slices[number];
	slice_goes_on(slice, copy);
	run = (struct run) {
		.data = payload + sizeof(*copy), .origin = copy->first,
		.mask = ~0ULL, .from = copy->first, .to = copy->head,
		.key = file_header.key, .slice = number, .latest = ~0ULL,
		.begins = true, .gaps = slice->gaps, .holes = file_panicked,
		.time = slice->time,
	};
	run_check(&run);
	slice->gaps = run.gaps;
	slice->time = run.time;
	slice->present += run.count;
	file_records += run.count;
	holds(slice->present <= slice->records, "%llu records, of %llu",
	      (unsigned long long)slice->present,
	      (unsigned long long)slice->records);
}

static void count_add(struct session *session, unsigned int point,
		      const struct ras_count_total *total)
{
	uint64_t filtered = 0;

	for (int i = 0; i < RAS_FILTERED_KINDS; i++)
		filtered += total->why.filtered[i];
	holds(total->recorded >= session->recorded[point] &&
	      total->dropped >= session->dropped[point] &&
	      filtered >= session->filtered[point],
	      "point %u: its figures went back", point);
	session->recorded[point] = total->recorded;
	session->dropped[point] = total->dropped;
	session->filtered[point] = filtered;
}

static void chunk_counts(const uint8_t *payload, uint64_t length)
{
	const struct ras_counts *counts = (const void *)payload;
	const struct ras_count_total *totals = (const void *)(counts + 1);
	struct session *session;

	if (!holds(length >= sizeof(*counts) &&
		   length == sizeof(*counts) +
			     (uint64_t)counts->points * sizeof(*totals),
		   "COUNTS of %llu bytes", (unsigned long long)length))
		return;
	part_is("counts of session %u", counts->session);
	if (counts->session == RAS_STATIC_SESSION) {
		holds(counts->points == RAS_STATIC_MAJORS, "%u majors",
		      counts->points);
		return;
	}
	goes_on |= !passes;
	session = session_find(counts->session);
	if (!holds(session, "no such session") ||
	    !holds(session->entry->points == counts->points,
		   "%u points, and it has %u", counts->points,
		   session->entry->points))
		return;
	for (unsigned int i = 0; i < counts->points; i++)
		count_add(session, i, &totals[i]);
}

static void chunk_processes(const uint8_t *payload, uint64_t length)
{
	const struct ras_process_entry *entries = (const void *)payload;

	if (!holds(length % sizeof(*entries) == 0, "PROCESSES of %llu bytes",
		   (unsigned long long)length))
		return;
	for (uint64_t i = 0; i < length / sizeof(*entries); i++) {
		holds(entries[i].key.pid && entries[i].process.seen,
		      "process %u, seen at %llu", entries[i].key.pid,
		      (unsigned long long)entries[i].process.seen);
		holds(!entries[i].key.session ||
		      session_find(entries[i].key.session),
		      "process %u: session %u isn't in the log",
		      entries[i].key.pid, entries[i].key.session);
	}
}

static void chunk_maps(const uint8_t *payload, uint64_t length)
{
	const struct ras_maps *maps = (const void *)payload;
	const struct ras_mapping *mappings = (const void *)(maps + 1);

	if (!holds(length >= sizeof(*maps) &&
		   length == sizeof(*maps) + (uint64_t)maps->mappings *
			     sizeof(*mappings), "MAPS of %llu bytes",
		   (unsigned long long)length))
		return;
	for (unsigned int i = 0; i < maps->mappings; i++)
		holds(mappings[i].start < mappings[i].end &&
		      mappings[i].id_kind <= SESSION_ID_MAX &&
		      mappings[i].id_length <= sizeof(mappings[i].id) &&
		      memchr(mappings[i].path, 0, sizeof(mappings[i].path)),
		      "process %u: mapping %u", maps->pid, i);
}

static void chunk_pass(const uint8_t *payload, uint64_t length)
{
	const struct ras_pass *pass = (const void *)payload;

	if (!holds(length == sizeof(*pass), "a PASS of %llu bytes",
		   (unsigned long long)length))
		return;
	/* the first one: when the file begins, maybe in the middle of one */
	holds((passes++ == 1 || pass->time >= last_pass.time) &&
	      pass->lost >= last_pass.lost,
	      "at %llu, lost %llu, after one at %llu, lost %llu",
	      (unsigned long long)pass->time, (unsigned long long)pass->lost,
	      (unsigned long long)last_pass.time,
	      (unsigned long long)last_pass.lost);
	pass_before = last_pass;
	last_pass = *pass;
}

/* The last one has the time of the last pass that was complete: in this file, or
 * the one before. */
static void last_pass_check(void)
{
	part_is("passes");
	if (passes > 2)
		holds(last_pass.time == pass_before.time,
		      "the last one is of %llu, and not of %llu",
		      (unsigned long long)last_pass.time,
		      (unsigned long long)pass_before.time);
	else if (passes == 2)
		holds(last_pass.time < pass_before.time + !goes_on,
		      "it ends at %llu, with none that is complete",
		      (unsigned long long)last_pass.time);
}

static void chunk_panic(const uint8_t *payload, uint64_t length)
{
	const struct ras_panic *panic = (const void *)payload;

	holds(length == sizeof(*panic) && panic->time &&
	      memchr(panic->reason, 0, sizeof(panic->reason)),
	      "a PANIC of %llu bytes", (unsigned long long)length);
}

static void chunk_formats(const uint8_t *payload, uint64_t length)
{
	const struct ras_formats *formats = (const void *)payload;

	holds(length >= sizeof(*formats) && formats->name[0] &&
	      memchr(formats->name, 0, sizeof(formats->name)) &&
	      !strchr(formats->name, '/'), "FORMATS of %llu bytes",
	      (unsigned long long)length);
}

static void chunk_names(const uint8_t *payload, uint64_t length)
{
	const struct ras_names *head = (const void *)payload;
	const struct ras_name *name = (const void *)(head + 1);
	uint64_t end = 0;
	const char *texts;

	if (!holds(length >= sizeof(*head) && head->count && head->bytes &&
		   length == sizeof(*head) + head->bytes +
			     (uint64_t)head->count * sizeof(*name),
		   "NAMES of %llu bytes", (unsigned long long)length))
		return;
	texts = (const char *)(name + head->count);
	holds(!texts[head->bytes - 1], "NAMES that do not end");
	for (uint32_t i = 0; i < head->count; i++, name++) {
		holds(name->offset >= end, "a name at %#llx; the one before comes after it",
		      (unsigned long long)name->offset);
		holds(name->text < head->bytes && texts[name->text],
		      "no text at %u", name->text);
		end = name->offset;
	}
}

static void chunk_stacks(const uint8_t *payload, uint64_t length)
{
	const struct ras_stacks *head = (const void *)payload;
	uint64_t at = sizeof(*head);

	holds(length >= at && !head->reserved, "STACKS of %llu bytes",
	      (unsigned long long)length);
	while (length - at >= sizeof(struct ras_stack_copy) && length > at) {
		const struct ras_stack_copy *copy =
			(const void *)(payload + at);

		holds(copy->count && copy->count <= STACK_MAX &&
		      copy->stack.end <= RAS_STACK_NO_TABLE,
		      "stack %u has %u addresses and ends by %u", copy->id,
		      copy->count, copy->stack.end);
		at += sizeof(*copy) + 8 * (uint64_t)copy->count;
	}
	holds(at == length, "STACKS that end at %llu of %llu bytes",
	      (unsigned long long)at, (unsigned long long)length);
}

/* --- Packed chunks */

/* The payload of what is packed, to be freed; NULL: it can't be had. */
static uint8_t *unpack(const struct ras_packed *packed, uint64_t length)
{
	const uint8_t *plain = (const void *)(packed + 1);
	const uint8_t *from = plain + packed->plain;
	uint64_t left = length - sizeof(*packed) - packed->plain;
	uLongf wanted = packed->length - packed->plain;
	uint8_t *payload = allocate(1, packed->length);
	uLongf got = wanted;
	bool good = false;

	memcpy(payload, plain, packed->plain);
	if (packed->method == RAS_PACKED_ZLIB)
		good = uncompress(payload + packed->plain, &got, from, left) ==
		       Z_OK;
	else if (packed->method == RAS_PACKED_ZSTD)
		good = !ZSTD_isError(got = ZSTD_decompress(payload +
					packed->plain, wanted, from, left));
	if (holds(good && got == wanted, "method %u: it can't be unpacked",
		  packed->method))
		return payload;
	free(payload);
	return NULL;
}

/* --- All chunks. Sessions may come after records of theirs, and a panic
 * after all: what these say is collected first. */

static void chunk_read(unsigned int kind, const uint8_t *payload,
		       uint64_t length, bool collect)
{
	if (collect) {
		seen[kind]++;
		if (kind == RAS_CHUNK_SESSIONS)
			log_check(payload, length, false);
		if (kind == RAS_CHUNK_PANIC)
			file_panicked = true;
		return;
	}
	switch (kind) {
	case RAS_CHUNK_END:
		holds(!length, "an END of %llu bytes",
		      (unsigned long long)length);
		break;
	case RAS_CHUNK_COUNTS:
		chunk_counts(payload, length);
		break;
	case RAS_CHUNK_SLICE:
		chunk_slice(payload, length);
		break;
	case RAS_CHUNK_PROCESSES:
		chunk_processes(payload, length);
		break;
	case RAS_CHUNK_MAPS:
		chunk_maps(payload, length);
		break;
	case RAS_CHUNK_FORMATS:
		chunk_formats(payload, length);
		break;
	case RAS_CHUNK_PASS:
		chunk_pass(payload, length);
		break;
	case RAS_CHUNK_PANIC:
		chunk_panic(payload, length);
		break;
	case RAS_CHUNK_STACKS:
		chunk_stacks(payload, length);
		break;
	case RAS_CHUNK_NAMES:
		chunk_names(payload, length);
		break;
	case RAS_CHUNK_HEAP:
		holds(length % 32 == 0, "a HEAP of %llu bytes",
		      (unsigned long long)length);
	}
}

static void chunk_unpack(const uint8_t *bytes, uint64_t length, bool collect)
{
	const struct ras_packed *packed = (const void *)bytes;
	uint8_t *payload;

	if (!holds(length >= sizeof(*packed), "a PACKED of %llu bytes",
		   (unsigned long long)length) ||
	    !holds(packed->kind <= KIND_MAX &&
		   packed->kind != RAS_CHUNK_PACKED &&
		   packed->kind != RAS_CHUNK_END &&
		   packed->length <= RAS_PACKED_MAX &&
		   packed->plain <= packed->length &&
		   packed->plain <= length - sizeof(*packed),
		   "kind %u, %llu bytes, %llu of them plain", packed->kind,
		   (unsigned long long)packed->length,
		   (unsigned long long)packed->plain))
		return;
	payload = unpack(packed, length);
	if (!payload)
		return;
	chunk_read(packed->kind, payload, packed->length, collect);
	free(payload);
}

/* One at `at`; returns where the next one is, 0: nowhere. */
static uint64_t chunk_check(const uint8_t *bytes, uint64_t at, uint64_t length,
			    bool collect)
{
	struct ras_chunk chunk;
	const uint8_t *payload = bytes + at + sizeof(chunk);
	uint32_t crc;

	part_is("chunk at %#llx", (unsigned long long)at);
	memcpy(&chunk, bytes + at, sizeof(chunk));
	if (chunk.length > length - at - sizeof(chunk))
		return 0;
	crc = chunk.crc;
	chunk.crc = 0;
	crc ^= crc_add(crc_add(0, &chunk, sizeof(chunk)), payload,
		       chunk.length);
	if (!holds(!crc, "kind %u: checksum", chunk.kind))
		return 0;
	if (chunk.kind == RAS_CHUNK_PACKED)
		chunk_unpack(payload, chunk.length, collect);
	else if (holds(chunk.kind <= KIND_MAX, "kind %u", chunk.kind))
		chunk_read(chunk.kind, payload, chunk.length, collect);
	at += sizeof(chunk) + round8(chunk.length);
	if (chunk.kind != RAS_CHUNK_END)
		return at;
	part_is("end");
	file_ended = true;
	holds(at == length, "%lld bytes after it", (long long)(length - at));
	return 0;
}

/* Returns where it ends. */
static uint64_t chunks_check(const uint8_t *bytes, uint64_t length,
			     bool collect)
{
	uint64_t at = sizeof(struct ras_file), next;

	while (at + sizeof(struct ras_chunk) <= length) {
		next = chunk_check(bytes, at, length, collect);
		if (!next)
			break;
		at = next;
	}
	return at;
}

/* --- What adds up */

/* recorded = present + overwritten, summed over the slices; of slices without a
 * record of the point nothing is known but that there is one or more. */
static void point_check(const struct session *session, unsigned int point,
			bool quiet, bool whole)
{
	uint64_t sum = 0;
	unsigned int count = file_header.cpus * (1 + RAS_NEST_LEVELS);
	const struct tally *tally;

	for (unsigned int slice = 0; slice < count; slice++) {
		tally = tally_find(session->entry->index, point, slice);
		if (tally)
			sum += (uint64_t)tally->last + 1;
	}
	part_is("session %u, point %u", session->entry->index, point);
	if (quiet)
		holds(whole ? sum == session->recorded[point] :
			      sum <= session->recorded[point],
		      "%llu recorded, but present + overwritten are %llu",
		      (unsigned long long)session->recorded[point],
		      (unsigned long long)sum);
}

/* Were all records of all slices written there? */
static bool file_whole(void)
{
	unsigned int count = file_header.cpus * (1 + RAS_NEST_LEVELS);

	for (unsigned int i = 0; i < count; i++)
		if (slices[i].first || slices[i].present != slices[i].records)
			return false;
	return true;
}

static void loss_check(void)
{
	uint64_t missing = 0;

	part_is("passes");
	for (size_t i = 0; i < tally_space; i++)
		if (tallies[i].used)
			missing += tallies[i].missing;
	if (seen[RAS_CHUNK_PASS])
		holds(last_pass.lost >= missing,
		      "%llu lost, and %llu records are missing",
		      (unsigned long long)last_pass.lost,
		      (unsigned long long)missing);
	else
		holds(!missing || file_panicked,
		      "%llu records are missing between others",
		      (unsigned long long)missing);
}

static void sums_check(bool quiet)
{
	bool whole = file_whole();

	for (unsigned int i = 0; i < session_count; i++)
		for (unsigned int n = 0; seen[RAS_CHUNK_COUNTS] &&
		     n < sessions[i].entry->points; n++)
			point_check(&sessions[i], n, quiet, whole);
	loss_check();
}

static void file_forget(void)
{
	memset(seen, 0, sizeof(seen));
	last_pass = (struct ras_pass) {};
	passes = 0;
	goes_on = false;
	file_ended = file_panicked = false;
	file_records = 0;
}

/* `cut`: it may end anywhere, which has to be reported, and with an END only. */
static void file_check(const uint8_t *bytes, uint64_t length, bool quiet,
		       bool cut)
{
	uint64_t end;

	file_forget();
	if (!header_check(bytes, length))
		return;
	slices = allocate(SLICES_MAX, sizeof(*slices));
	end = chunks_check(bytes, length, true);
	part_is("end");
	holds(file_ended || cut, "no END: cut short at %#llx of %#llx",
	      (unsigned long long)end, (unsigned long long)length);
	if (!complaints) {
		chunks_check(bytes, length, false);
		if (file_ended && !cut)
			last_pass_check();
		sums_check(quiet && file_ended);
	}
	free(slices);
}

#endif
