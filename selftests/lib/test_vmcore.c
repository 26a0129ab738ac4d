// SPDX-License-Identifier: GPL-2.0
/*
 * A trace buffer is found in a memory dump, through any page tables and forms of
 * the file; what isn't one, is damaged or cut short, is reported.
 *
 *	test_vmcore FOLDER	writes some dumps there: the corpus of fuzz_vmcore
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/mman.h>
#include "core_builder.h"
#include "tap.h"
#include "lib/dump/vmcore_picture.h"

struct found {
	int code;
	struct error err;
	struct ras_file header;
	struct ras_panic panic;
	struct ras_count_total total;	/* of CORE_MAJOR */
	size_t log;			/* bytes */
	bool log_anchor;		/* in its third page */
	struct ras_mapping kernel;
	struct vmcore_losses losses;
	unsigned int records, nested, processes;
	char comm[16];			/* of pid 42 */
	bool ended;
};

static char path[64];

static void records_count(struct found *found, const uint8_t *p, size_t size)
{
	struct ras_slice_copy copy;
	uint64_t at;

	memcpy(&copy, p, sizeof(copy));
	p += sizeof(copy);
	for (at = copy.first; at < copy.head;) {
		struct ras_record record;

		memcpy(&record, p + (at - copy.first), sizeof(record));
		if (record.stamp != (at ^ CORE_KEY)) {
			at += 8;
			continue;
		}
		if (copy.level)
			found->nested += copy.level == 2 && !copy.cpu;
		else
			found->records++;
		at += (record.length + 7) & ~7u;
	}
}

static void processes_find(struct found *found, const uint8_t *p, size_t size)
{
	struct ras_process_entry entry;

	for (size_t at = 0; at < size; at += sizeof(entry)) {
		memcpy(&entry, p + at, sizeof(entry));
		found->processes++;
		if (entry.key.pid == 42)
			memcpy(found->comm, entry.process.comm, 16);
	}
}

static void log_look(struct found *found, const uint8_t *p, size_t size)
{
	const size_t at = 2 * CORE_PAGE + RAS_ANCHOR_ALIGN;

	found->log = size;
	found->log_anchor = size > at + sizeof(RAS_ANCHOR_MAGIC) &&
			    !memcmp(p + at, RAS_ANCHOR_MAGIC,
				    sizeof(RAS_ANCHOR_MAGIC));
}

static void chunks_read(struct found *found, const uint8_t *p, size_t size)
{
	struct ras_chunk chunk;

	memcpy(&found->header, p, sizeof(found->header));
	for (size_t at = sizeof(found->header); at < size;
	     at += sizeof(chunk) + ((chunk.length + 7) & ~7ULL)) {
		const uint8_t *payload = p + at + sizeof(chunk);

		memcpy(&chunk, p + at, sizeof(chunk));
		if (chunk.kind == RAS_CHUNK_SLICE)
			records_count(found, payload, chunk.length);
		else if (chunk.kind == RAS_CHUNK_PROCESSES)
			processes_find(found, payload, chunk.length);
		else if (chunk.kind == RAS_CHUNK_MAPS)
			memcpy(&found->kernel,
			       payload + sizeof(struct ras_maps),
			       sizeof(found->kernel));
		else if (chunk.kind == RAS_CHUNK_SESSIONS)
			log_look(found, payload, chunk.length);
		else if (chunk.kind == RAS_CHUNK_COUNTS)
			memcpy(&found->total,
			       payload + sizeof(struct ras_counts) +
			       CORE_MAJOR * sizeof(found->total),
			       sizeof(found->total));
		else if (chunk.kind == RAS_CHUNK_PANIC)
			memcpy(&found->panic, payload, sizeof(found->panic));
		else if (chunk.kind == RAS_CHUNK_END)
			found->ended = true;
	}
}

/* A file of these bytes and then zeros, up to a length. */
static struct found file_read_long(const void *bytes, size_t size, off_t length)
{
	struct chunk_memory memory = { 0 };
	struct found found = { 0 };
	int fd = memfd_create("core", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size ||
	    ftruncate(fd, length))
		tap_bail("no memory for a file");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	found.code = vmcore_picture_take(path, &memory, &found.losses,
					 &found.err);
	if (!found.code)
		chunks_read(&found, memory.data, memory.size);
	free(memory.data);
	close(fd);
	return found;
}

static struct found file_read(const void *bytes, size_t size)
{
	return file_read_long(bytes, size, size);
}

static struct core_file file;

/* A core as `like` says, after `change` has been there. */
static struct found core_read(struct core like, bool info,
			      unsigned int segments,
			      void (*change)(struct core *core))
{
	static struct core core;

	core = like;
	core_make(&core);
	if (change)
		change(&core);
	core_file_make(&file, &core, info, segments);
	return file_read(file.bytes, file.size);
}

static const struct {
	const char *name;
	int levels, large;
	uint64_t mask;
	bool info;
	unsigned int segments;
	bool a64;
} shapes[] = {
	{ "four levels, by VMCOREINFO", 4, 1, 0, true, 2 },
	{ "five levels, by VMCOREINFO", 5, 1, 0, true, 2 },
	{ "four levels, by CR3 of a process", 4, 1, 0, false, 2 },
	{ "five levels, by CR3 of a process", 5, 1, 0, false, 2 },
	{ "the module in a page of 2 MiB", 4, 2, 0, true, 2 },
	{ "the module in a page of 1 GiB", 5, 3, 0, true, 2 },
	{ "encrypted memory", 4, 1, 1ULL << 47, true, 2 },
	{ "segments that overlap", 4, 1, 0, true, 5 },
	{ "AArch64, 48 bits", 4, 1, 0, true, 2, true },
	{ "AArch64, 52 bits", 5, 1, 0, true, 2, true },
	{ "AArch64, the module in a block of 2 MiB", 4, 2, 0, true, 2, true },
	{ "AArch64, the module in a block of 1 GiB", 4, 3, 0, true, 2, true },
};

static void file_write(const char *folder, const char *name)
{
	char where[4096];
	FILE *out;

	snprintf(where, sizeof(where), "%s/%s", folder, name);
	out = fopen(where, "w");
	if (!out || fwrite(file.bytes, 1, file.size, out) != file.size ||
	    fclose(out))
		tap_bail("%s: %s", where, strerror(errno));
}

static void check_shapes(const char *folder)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct core like = {
			.levels = shapes[i].levels, .large = shapes[i].large,
			.mask = shapes[i].mask, .a64 = shapes[i].a64,
		};
		struct found found = core_read(like, shapes[i].info,
					       shapes[i].segments, NULL);
		char name[32];

		tap_is(found.records, CORE_RECORDS, "%s: the records",
		       shapes[i].name);
		tap_is(found.header.machine,
		       shapes[i].a64 ? EM_AARCH64 : EM_X86_64, "  the machine");
		if (!folder || i % 2)
			continue;
		snprintf(name, sizeof(name), "core%zu", i);
		file_write(folder, name);
	}
}

static const struct core plain = { .levels = 4, .large = 1 };

static void check_rest(void)
{
	struct found found = core_read(plain, true, 2, NULL);

	tap_is(found.code, 0, "a dump");
	tap_ok(!strcmp(found.header.kernel, "6.0.test"), "its kernel");
	tap_is(found.header.taken, CORE_PANICKED, "when it was taken");
	tap_ok(!strcmp(found.panic.reason, "of a test"), "why it panicked");
	tap_is(found.processes, 2, "its processes");
	tap_ok(!strcmp(found.comm, "victim"), "the name of one");
	tap_ok(found.kernel.start == CORE_TEXT &&
	       found.kernel.end == CORE_TEXT + CORE_PAGE,
	       "where the kernel's text is");
	tap_ok(found.kernel.id_length == 3 &&
	       !memcmp(found.kernel.id, "\0\xff\x7f", 3), "its build-id");
	tap_ok(found.ended, "it ends in order");
	tap_is(found.losses.cut + found.losses.damaged + found.losses.slices, 0,
	       "nothing is missing");
}

static void tail_set(struct core *core)
{
	core->control->tail[0] = 15 * CORE_RECORD + 3;
	core->control->tail[2] = 2 * CORE_RECORD;
}

static void stopped(struct core *core)
{
	core->anchor->panicked = 0;
}

/* Nesting slices, figures, cleared records, times without a panic's */
static void check_more(void)
{
	struct core more = plain;
	struct found found;

	more.more = true;
	found = core_read(more, true, 2, NULL);
	tap_is(found.records, CORE_RECORDS, "a nesting slice: the others");
	tap_is(found.nested, CORE_NESTED, "a nesting slice: its records");
	tap_is(found.total.recorded, 7, "figures: recorded");
	tap_is(found.total.dropped, 3, "figures: dropped");
	tap_is(found.total.why.filtered[RAS_FILTERED_MAXHITS], 6,
	       "figures: why not");
	tap_is(found.header.wall_offset, 7000, "wall clock of the panic");
	tap_is(found.kernel.id_length, sizeof(found.kernel.id),
	       "a build-id that is too long");
	found = core_read(more, true, 2, tail_set);
	tap_is(found.records, CORE_RECORDS - 15, "cleared records: not these");
	tap_is(found.nested, CORE_NESTED - 2, "cleared records: nested");
	found = core_read(more, true, 2, stopped);
	tap_ok(!found.panic.reason[0], "stopped only: no panic");
	tap_is(found.header.wall_offset, 5000, "stopped only: wall clock");
	tap_is(found.header.taken, 1000 + CORE_RECORDS - 1,
	       "stopped only: time of the newest record");
	more.crashed = 3;
	found = core_read(more, true, 2, stopped);
	tap_is(found.header.taken, 3000000000LL - 5000, "kdump's time");
}

/* ---- what isn't right ---- */

static void head_ruin(struct core *core)
{
	for (size_t i = 0; i + 8 <= sizeof(core->memory); i += 8) {
		struct ras_slice *slice = (void *)(core->memory + i);

		if (slice->head == CORE_RECORDS * CORE_RECORD)
			slice->head++;
	}
}

static void head_wrap(struct core *core)
{
	struct ras_slice *slice = (void *)(core->memory);

	while (slice->head != CORE_RECORDS * CORE_RECORD)
		slice = (void *)((uint8_t *)slice + 8);
	/* as if it had been filled many times: no record has its stamp */
	slice->head += 1000 * CORE_SLICE;
}

static void layout_change(struct core *core)
{
	core->anchor->layout++;
}

static void anchor_shrink(struct core *core)
{
	core->anchor->size--;
}

/* Memory that was the module's, or a copy of it */
static void anchor_copy(struct core *core)
{
	uint8_t *page = core_put(core, CORE_MODULE - CORE_PAGE);

	memcpy(page, core->anchor, sizeof(*core->anchor));
	((struct ras_anchor *)page)->layout++;
}

static void anchor_remove(struct core *core)
{
	core->anchor->magic[0] = '\0';
}

static void control_magic(struct core *core)
{
	core->control->magic = 0;
}

static void control_large(struct core *core)
{
	core->control->slice_bytes = 1ULL << 40;
}

static void control_odd(struct core *core)
{
	core->control->slice_bytes++;
}

static void control_cpus(struct core *core)
{
	core->control->cpus = 1u << 31;
}

static void control_gone(struct core *core)
{
	core->anchor->parts[RASTRACE_CONTROL].base += 1ULL << 30;
}

static void stride_change(struct core *core)
{
	core->anchor->parts[RASTRACE_NEST].stride += 8;
}

static void tasks_loop(struct core *core)
{
	const uint64_t again = CORE_TASK + 256 + 8;
	uint8_t *comm = memmem(core->memory, sizeof(core->memory), "victim", 6);

	/* the second one's next is itself: never back to the first */
	memcpy(comm - 24, &again, sizeof(again));
}

/* A geometry that fits its parts */
static void geometry_set(struct core *core, uint64_t slice, uint64_t nest,
			 uint32_t cpus)
{
	struct ras_anchor_part *parts = core->anchor->parts;
	const uint64_t around = RAS_SLICE_HEADER + RAS_RECORD_MAX;

	core->control->slice_bytes = slice;
	core->control->nest_bytes = nest;
	core->control->cpus = cpus;
	parts[RASTRACE_CONTROL].stride = sizeof(*core->control) +
					 8 * (1 + RAS_NEST_LEVELS) * cpus;
	parts[RASTRACE_BUFFER].stride = slice + around;
	parts[RASTRACE_BUFFER].entries = cpus;
	parts[RASTRACE_NEST].stride = nest + around;
	parts[RASTRACE_NEST].entries = RAS_NEST_LEVELS * cpus;
}

static void geometry_odd(struct core *core)
{
	geometry_set(core, CORE_SLICE + 8, CORE_SLICE, 1);
}

static void geometry_nest_small(struct core *core)
{
	geometry_set(core, CORE_SLICE, CORE_SLICE / 2, 1);
}

static void geometry_nest_large(struct core *core)
{
	geometry_set(core, CORE_SLICE, 2 * CORE_SLICE, 1);
}

static void geometry_large(struct core *core)
{
	geometry_set(core, 2 * RAS_SLICE_MAX, CORE_SLICE, 1);
}

static void geometry_many(struct core *core)
{
	geometry_set(core, CORE_SLICE, CORE_SLICE, 65537);
}

static void control_layout(struct core *core)
{
	core->control->layout++;
}

static void log_giant(struct core *core)
{
	core->control->sessions_used = 1u << 28;
}

/* In memory that no machine has */
static void log_far(struct core *core)
{
	core->control->sessions_used = 8;
	core_map(core, CORE_SESSIONS, 1ULL << 45);
}

/* The log begins in what the dump hasn't of a large page. */
static void log_large(struct core *core)
{
	core->anchor->parts[RASTRACE_SESSIONS].base =
		core->anchor->self - RAS_ANCHOR_ALIGN - 2 * CORE_PAGE;
	core->control->sessions_used = 3 * CORE_PAGE;
}

/* One slice serves as two, of more together than there is */
static void slice_twice(struct core *core)
{
	head_wrap(core);
	geometry_set(core, 32 * CORE_PAGE, 32 * CORE_PAGE, 1);
	core->anchor->parts[RASTRACE_NEST].base = CORE_BUFFER;
}

static void task_gone(struct core *core)
{
	core->anchor->tasks.comm += CORE_PAGE;
}

/* Larger than all that is in the dump */
static void slice_giant(struct core *core)
{
	struct ras_anchor_part *part = &core->anchor->parts[RASTRACE_BUFFER];

	head_wrap(core);
	part->stride += RAS_SLICE_MAX - core->control->slice_bytes;
	core->control->slice_bytes = RAS_SLICE_MAX;
	for (size_t i = 0; i + 8 <= sizeof(core->memory); i += 8) {
		struct ras_slice *slice = (void *)(core->memory + i);

		if (slice->head == CORE_RECORDS * CORE_RECORD +
				   1000 * CORE_SLICE)
			slice->head = 2ULL * RAS_SLICE_MAX;
	}
}

static const struct {
	const char *name;
	void (*change)(struct core *core);
	int code;
	const char *text;
} damages[] = {
	{ "another layout", layout_change, -EPROTO, "of another version" },
	{ "a smaller anchor", anchor_shrink, -EPROTO, "of another version" },
	{ "no buffer", anchor_remove, -ENOENT, "no trace buffer" },
	{ "no magic", control_magic, -EINVAL, "control block" },
	{ "a giant slice", control_large, -EINVAL, "control block" },
	{ "an odd slice", control_odd, -EINVAL, "control block" },
	{ "billions of CPUs", control_cpus, -EINVAL, "control block" },
	{ "no control block", control_gone, -ENODATA, "control block" },
	{ "slices that don't fit", stride_change, -EINVAL, "control block" },
	{ "a control block of another layout", control_layout, -EINVAL,
	  "control block" },
	{ "odd slices that fit", geometry_odd, -EINVAL, "control block" },
	{ "small nesting slices", geometry_nest_small, -EINVAL,
	  "control block" },
	{ "large nesting slices", geometry_nest_large, -EINVAL,
	  "control block" },
	{ "giant slices that fit", geometry_large, -EINVAL, "control block" },
	{ "65537 CPUs that fit", geometry_many, -EINVAL, "control block" },
};

static void check_damages(void)
{
	const struct core large = { .levels = 4, .large = 3 };
	struct found found;

	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		found = core_read(plain, true, 2, damages[i].change);
		tap_is(found.code, damages[i].code, "%s: refused",
		       damages[i].name);
		tap_ok(strstr(found.err.text, damages[i].text), "%s: said",
		       damages[i].name);
	}
	found = core_read(plain, true, 2, anchor_copy);
	tap_is(found.records, CORE_RECORDS, "a copy of the anchor: passed over");
	found = core_read(plain, true, 2, head_ruin);
	tap_is(found.losses.slices, 1, "a ruined head: reported");
	found = core_read(plain, true, 2, head_wrap);
	tap_is(found.code, 0, "a false head: read");
	tap_is(found.records, 0, "a false head: no record");
	found = core_read(plain, true, 2, slice_giant);
	tap_is(found.losses.slices, 1, "too large a slice: reported");
	found = core_read(plain, true, 2, slice_twice);
	tap_is(found.losses.slices, 1, "too large slices: reported");
	found = core_read(large, true, 2, log_large);
	tap_ok(found.log_anchor, "a part of a large page: the rest of it");
	found = core_read(plain, true, 40, tasks_loop);
	tap_is(found.records, CORE_RECORDS, "tasks without an end: read");
	tap_ok(found.processes > 2 && found.processes <= CORE_PAGES,
	       "tasks without an end: %u of them", found.processes);
	found = core_read(plain, true, 2, log_giant);
	tap_is(found.log, RAS_SESSIONS_BYTES, "a giant log: what is there");
	found = core_read(plain, true, 2, task_gone);
	tap_is(found.processes, 0, "a task that isn't there: left out");
}

/* Whatever its length: an error or records, never more than there are. */
static void check_cut(void)
{
	unsigned int wrong = 0, cut = 0, whole = 0;

	core_read(plain, true, 2, NULL);
	for (size_t size = 0; size < file.size; size += 127) {
		struct found found = file_read(file.bytes, size);

		if (found.code ? !found.err.text[0] :
				 !found.ended || !found.losses.cut ||
				 found.records > CORE_RECORDS)
			wrong++;
		cut += !!found.code;
		whole += !found.code && found.records == CORE_RECORDS;
	}
	tap_is(wrong, 0, "cut short: an error, or what is there");
	tap_ok(cut && whole, "cut short: %u of one kind, %u of the other", cut,
	       whole);
}

static void check_others(void)
{
	static const struct {
		const char *name;
		size_t at;
		const char *bytes;
		size_t size;
		const char *text;
	} changes[] = {
		{ "text", 0, "some text", 9, "no memory dump" },
		{ "32 bits", EI_CLASS, "\1", 1, "64-bit" },
		{ "big-endian", EI_DATA, "\2", 1, "64-bit" },
		{ "a program", 16, "\2", 1, "no memory dump" },
		{ "another machine", 18, "\363", 1, "ELF machine 243" },
		{ "another machine's", 18, "\267", 1, "page tables" },
		{ "other headers", 54, "\1", 1, "program headers" },
		{ "headers far away", 39, "\77", 1, "program headers" },
		{ "too many segments", 56, "\377\377", 2, "count of segments" },
		{ "no notes", 64, "\6", 1, "page tables" },
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		struct found found;

		core_read(plain, true, 2, NULL);
		memcpy(file.bytes + changes[i].at, changes[i].bytes,
		       changes[i].size);
		found = file_read(file.bytes, file.size);
		tap_ok(found.code && strstr(found.err.text, changes[i].text),
		       "%s: %s", changes[i].name, found.err.text);
	}
}

/* ---- other forms ---- */

static void piece_add(uint8_t *to, size_t *size, uint64_t at, uint64_t length)
{
	uint64_t head[2] = { htobe64(at), htobe64(length) };

	memcpy(to + *size, head, sizeof(head));
	*size += sizeof(head);
	if (length == UINT64_MAX)
		return;
	memcpy(to + *size, file.bytes + at, length);
	*size += length;
}

/* makedumpfile's flattened form, the end first */
static void check_flat(void)
{
	static uint8_t flat[sizeof(file.bytes) + 2 * CORE_PAGE];
	size_t size = CORE_PAGE, half;
	struct found found;

	core_read(plain, true, 2, NULL);
	strcpy((char *)flat, "makedumpfile");
	half = file.size / 2;
	piece_add(flat, &size, half, file.size - half);
	piece_add(flat, &size, 0, half);
	piece_add(flat, &size, UINT64_MAX, UINT64_MAX);
	found = file_read(flat, size);
	tap_is(found.records, CORE_RECORDS, "flattened: the records");
	found = file_read(flat, size - 16);
	tap_is(found.records, CORE_RECORDS, "flattened, without its end");
	tap_ok(found.losses.cut, "  which is reported");
	found = file_read(flat, size - 16 - half);
	tap_ok(found.code, "flattened, cut short: %s", found.err.text);
}

static struct found kdump_read_like(const struct core *like)
{
	static struct core core;

	core = *like;
	core_make(&core);
	core_kdump_make(&file, &core);
	return file_read(file.bytes, file.size);
}

static struct found kdump_read(void)
{
	return kdump_read_like(&plain);
}

/* A byte of it is another: the dump is refused, for that reason. */
static void kdump_refused(size_t at, uint8_t value, const char *text)
{
	struct found found;

	kdump_read();
	file.bytes[at] = value;
	found = file_read(file.bytes, file.size);
	tap_ok(found.code && strstr(found.err.text, text), "compressed: %s",
	       found.err.text);
}

static uint8_t *kdump_descriptor(unsigned int page)
{
	return file.bytes + 4 * CORE_PAGE + 24 * (1 + page);
}

/* Of the page with the first records: `size` bytes, packed or not */
static struct found kdump_read_page(uint32_t size, uint8_t flags)
{
	static struct core core;
	uint8_t *descriptor;
	unsigned int page = 0;

	core = plain;
	core_make(&core);
	while (((struct ras_slice *)(core.memory + page * CORE_PAGE))->head !=
	       CORE_RECORDS * CORE_RECORD)
		page++;
	core_kdump_make(&file, &core);
	descriptor = kdump_descriptor(page);
	memcpy(descriptor + 8, &size, sizeof(size));
	descriptor[12] = flags;
	return file_read(file.bytes, file.size);
}

/* One page after the other can't be unpacked. */
static void check_unpacking(void)
{
	unsigned int wrong = 0, reported = 0;

	for (unsigned int i = 0; i < CORE_PAGES; i++) {
		uint8_t *descriptor = kdump_descriptor(i);
		struct found found = kdump_read();
		uint64_t at;

		memcpy(&at, descriptor, sizeof(at));
		memset(file.bytes + at, 0xff, 10);
		descriptor[12] = 1;	/* by zlib */
		found = file_read(file.bytes, file.size);
		wrong += found.losses.cut ||
			 (!found.code && !found.losses.damaged &&
			  found.records != CORE_RECORDS);
		reported += !found.code && found.losses.damaged;
	}
	tap_ok(!wrong && reported,
	       "compressed: pages that can't be unpacked: reported");
}

/* QEMU has none, or a word of its own: what VMCOREINFO has decides. */
static void check_kdump_name(const char *name)
{
	const struct core cores[] = {
		plain, { .levels = 4, .large = 1, .a64 = true },
	};

	for (unsigned int i = 0; i < 2; i++) {
		struct found found = kdump_read_like(&cores[i]);

		if (name) {
			strncpy((char *)file.bytes + 12 + 4 * 65, name, 65);
			found = file_read(file.bytes, file.size);
		}
		tap_is(found.records, CORE_RECORDS,
		       "compressed, %s, machine '%s': the records",
		       cores[i].a64 ? "AArch64" : "x86-64",
		       name ? name : "by its name");
	}
}

static void check_kdump(const char *folder)
{
	struct found found = kdump_read();
	unsigned int wrong = 0;
	static struct core core;

	if (folder)
		file_write(folder, "kdump");
	tap_is(found.records, CORE_RECORDS, "compressed: the records");
	tap_ok(!found.losses.cut, "compressed: nothing is missing");
	for (unsigned int i = 0; i < 3; i++)
		check_kdump_name(i ? i > 1 ? "Unknown" : "" : NULL);
	kdump_refused(12 + 4 * 65, 'X', "isn't known, 'X86_64'");
	kdump_refused(428, 1, "pages have 4097 bytes");
	kdump_refused(4096 + 12, 1, "one of several parts");
	kdump_refused(436 + 3, 0xff, "bitmap of pages");
	kdump_refused(436, 0, "bitmap of pages");
	kdump_refused(4096 + 40, 0, "page tables");
	check_unpacking();
	found = kdump_read_page(100, 0);
	tap_ok(found.losses.damaged && !found.records,
	       "compressed: a page of 100 bytes: reported");
	found = kdump_read_page(1 << 15, 1);
	tap_ok(found.losses.damaged && !found.records,
	       "compressed: a page of 32 KiB: reported");
	kdump_read();
	file.bytes[424] = 8;
	found = file_read(file.bytes, file.size);
	tap_ok(found.losses.cut && found.records == CORE_RECORDS,
	       "compressed: makedumpfile had no room: reported");
	core = plain;
	core_make(&core);
	log_far(&core);
	core_kdump_make(&file, &core);
	found = file_read(file.bytes, file.size);
	tap_is(found.records, CORE_RECORDS, "compressed: memory far away");
	kdump_read();
	for (size_t size = 0; size < file.size; size += 127) {
		found = file_read(file.bytes, size);
		if (found.code ? !found.err.text[0] :
				 !found.losses.cut &&
				 found.records != CORE_RECORDS)
			wrong++;
	}
	tap_is(wrong, 0, "compressed, cut short: an error, or reported");
}

/* Sizes that the file has, as it is full of holes. */
static void check_giant(void)
{
	const uint32_t blocks = 2 * ((1u << 30) / CORE_PAGE + 1);
	struct found found;
	Elf64_Phdr *headers;

	kdump_read();
	memcpy(file.bytes + 436, &blocks, sizeof(blocks));
	found = file_read_long(file.bytes, file.size, 1LL << 33);
	tap_ok(found.code && strstr(found.err.text, "bitmap of pages"),
	       "compressed: a giant bitmap: %s", found.err.text);
	core_read(plain, true, 3, NULL);
	headers = (Elf64_Phdr *)(file.bytes + sizeof(Elf64_Ehdr));
	headers[1] = headers[0];
	headers[0].p_offset = file.size;
	headers[0].p_filesz = 15 << 20;
	found = file_read_long(file.bytes, file.size, 1 << 26);
	tap_is(found.records, CORE_RECORDS, "15 MiB of notes");
	headers[0].p_filesz = 17 << 20;
	found = file_read_long(file.bytes, file.size, 1 << 26);
	tap_ok(found.code && strstr(found.err.text, "page tables"),
	       "17 MiB of notes: %s", found.err.text);
}

static void check_many(void)
{
	Elf64_Shdr section = { .sh_info = 3 };
	Elf64_Ehdr ehdr;
	struct found found;

	core_read(plain, true, 2, NULL);
	memcpy(&ehdr, file.bytes, sizeof(ehdr));
	ehdr.e_phnum = PN_XNUM;
	ehdr.e_shoff = file.size;
	memcpy(file.bytes, &ehdr, sizeof(ehdr));
	core_add(&file, &section, sizeof(section));
	found = file_read(file.bytes, file.size);
	tap_is(found.records, CORE_RECORDS, "more than 65534 segments");
}

int main(int argc, char **argv)
{
	check_shapes(argc > 1 ? argv[1] : NULL);
	check_rest();
	check_more();
	check_damages();
	check_cut();
	check_others();
	check_flat();
	check_kdump(argc > 1 ? argv[1] : NULL);
	check_giant();
	check_many();
	return tap_done();
}
