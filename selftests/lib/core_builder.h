/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes memory dumps: physical memory with page tables, a trace buffer and the
 * module's anchor in it, as an ELF core. Aborts without memory.
 */
#ifndef SELFTESTS_CORE_BUILDER_H
#define SELFTESTS_CORE_BUILDER_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <rastrace/buffer.h>
#include <rastrace/crash.h>

#define CORE_PAGE	4096u
#define CORE_BASE	0x1000000ULL	/* physical, of all memory */
#define CORE_PAGES	14		/* a dump is smaller than fuzz inputs may be */
#define CORE_KEY	0x5a5a0123456789abULL
#define CORE_SLICE	32768u		/* data bytes of each slice */
#define CORE_STRIDE	(RAS_SLICE_HEADER + CORE_SLICE + RAS_RECORD_MAX)
#define CORE_RECORDS	20
#define CORE_RECORD	(RAS_RECORD_HEADER + 16u)
#define CORE_NESTED	5		/* records of level 2 */
#define CORE_MAJOR	210		/* that has figures */
#define CORE_PANICKED	900000000000ULL

/* virtual */
#define CORE_CONTROL	0xffffc90000000000ULL
#define CORE_BUFFER	0xffffc90000100000ULL
#define CORE_NEST	0xffffc90000180000ULL
#define CORE_COUNT	0xffffc900001b0000ULL
#define CORE_WHY	0xffffc900001c0000ULL
#define CORE_SESSIONS	0xffffc90000300000ULL
#define CORE_TASK	0xffffc90000080000ULL
#define CORE_MODULE	0xffffffffc0200000ULL
#define CORE_TEXT	(CORE_MODULE + 0x10000)	/* _stext: a page */
#define CORE_SWAPPER	0xffffffff82000000ULL	/* swapper_pg_dir */

struct core {
	uint8_t memory[CORE_PAGES * CORE_PAGE];
	unsigned int used;	/* pages */
	int levels;		/* of page tables */
	int large;		/* level whose entries map the module: 1, 2, 3 */
	uint64_t mask;		/* a bit in entries that is no address */
	bool a64;		/* of AArch64, not of x86-64 */
	bool more;		/* a nesting slice and figures, too */
	uint64_t crashed;	/* what kdump notes, in seconds */
	uint64_t root;		/* physical */
	struct ras_anchor *anchor;
	struct ras_control *control;
};

static inline uint64_t core_page(struct core *core)
{
	if (core->used == CORE_PAGES)
		abort();
	return CORE_BASE + CORE_PAGE * core->used++;
}

static inline void *core_at(struct core *core, uint64_t physical)
{
	return core->memory + (physical - CORE_BASE);
}

/* What entries have besides an address: of tables, the last level's, and larger
 * pages' */
static inline uint64_t core_table_bits(const struct core *core)
{
	return core->a64 ? 3 : core->mask | 0x63;
}

static inline uint64_t core_page_bits(const struct core *core)
{
	return core->a64 ? 1ULL << 54 | 0x703 : core->mask | 0x63;
}

static inline uint64_t core_large_bits(const struct core *core)
{
	return core->a64 ? 1ULL << 54 | 0x701 : core->mask | 0x10e3;
}

/* The entry of a level of an address; tables are made. */
static inline uint64_t *core_entry(struct core *core, uint64_t address,
				   int wanted)
{
	uint64_t table = core->root, *entry;

	/* the upper bits of 52 are in 16 entries */
	if (core->a64 && core->levels == 5)
		address &= (1ULL << 52) - 1;
	for (int level = core->levels;; level--) {
		entry = (uint64_t *)core_at(core, table) +
			(address >> (12 + 9 * (level - 1)) & 511);
		if (level == wanted)
			return entry;
		if (!*entry)
			*entry = core_page(core) | core_table_bits(core);
		table = *entry & 0xffffffffff000ULL & ~core->mask;
	}
}

static inline void core_map(struct core *core, uint64_t address,
			    uint64_t physical)
{
	*core_entry(core, address, 1) = physical | core_page_bits(core);
}

/* A new page at an address */
static inline void *core_put(struct core *core, uint64_t address)
{
	uint64_t page = core_page(core);

	core_map(core, address, page);
	return core_at(core, page);
}

/* The module's page: of a large one, only this part is in the dump. */
static inline void core_put_anchor(struct core *core)
{
	uint64_t size = 1ULL << (12 + 9 * (core->large - 1));
	uint64_t address = CORE_MODULE, page = core_page(core);

	if (core->large > 1) {
		/* the page lies there in the large one, too */
		address = (CORE_MODULE & -size) + (page & (size - 1));
		*core_entry(core, address, core->large) =
			(page & -size) | core_large_bits(core);
	} else {
		core_map(core, address, page);
		core_map(core, CORE_TEXT, page);
	}
	core->anchor = (void *)((uint8_t *)core_at(core, page) +
				RAS_ANCHOR_ALIGN);
	core->anchor->self = address + RAS_ANCHOR_ALIGN;
}

static inline void core_put_record(uint8_t *to, uint64_t position,
				   uint32_t number)
{
	struct ras_record record = {
		.stamp = position ^ CORE_KEY, .length = CORE_RECORD,
		.major = 7, .minor = 1, .point = 7, .time = 1000 + number,
		.tid = 42, .pid = 42, .seq = number,
	};

	memcpy(to, &record, sizeof(record));
	memset(to + sizeof(record), 'a' + number % 26, 16);
}

static inline void core_put_slice(struct core *core)
{
	uint8_t *page = core_put(core, CORE_BUFFER);
	struct ras_slice *slice = (void *)page;

	core_put(core, CORE_BUFFER + CORE_PAGE);
	for (uint32_t i = 0; i < CORE_RECORDS; i++)
		core_put_record(slice->data + i * CORE_RECORD, i * CORE_RECORD,
				i);
	slice->head = CORE_RECORDS * CORE_RECORD;
	slice->records = CORE_RECORDS;
	slice->dropped = 3;
}

static inline void core_set_part(struct core *core, int part, uint64_t base,
				 uint64_t stride, uint64_t entries)
{
	core->anchor->parts[part] = (struct ras_anchor_part){
		base, stride, entries,
	};
}

/* Level 2 has a page of the parts of nesting slices, and the figures of two
 * majors' rows lie in one. */
static inline void core_put_more(struct core *core)
{
	uint64_t nest = CORE_NEST + CORE_STRIDE;
	uint64_t rows = 1 + RAS_NEST_LEVELS, page = core_page(core);
	uint64_t count = CORE_MAJOR * rows * sizeof(struct ras_count);
	uint64_t why = CORE_MAJOR * sizeof(struct ras_why);
	struct ras_slice *slice = (void *)((uint8_t *)core_put(core, nest) +
					   nest % CORE_PAGE);
	struct ras_count *counts;
	struct ras_why *whys;

	for (uint32_t i = 0; i < CORE_NESTED; i++)
		core_put_record(slice->data + i * CORE_RECORD, i * CORE_RECORD,
				i);
	slice->head = CORE_NESTED * CORE_RECORD;
	slice->records = CORE_NESTED;
	core_map(core, CORE_COUNT + count, page);
	core_map(core, CORE_WHY + why, page);
	counts = (void *)((uint8_t *)core_at(core, page) + count % CORE_PAGE);
	whys = (void *)((uint8_t *)core_at(core, page) + why % CORE_PAGE);
	counts[0] = (struct ras_count){ 3, 1 };
	counts[rows - 1] = (struct ras_count){ 4, 2 };
	whys->filtered[RAS_FILTERED_MAXHITS] = 6;
	core_set_part(core, RASTRACE_COUNT, CORE_COUNT,
		      sizeof(struct ras_count), RAS_STATIC_MAJORS * rows);
	core_set_part(core, RASTRACE_WHY, CORE_WHY, sizeof(struct ras_why),
		      RAS_STATIC_MAJORS);
}

static inline void core_put_control(struct core *core)
{
	core->control = core_put(core, CORE_CONTROL);
	*core->control = (struct ras_control){
		.magic = RAS_CONTROL_MAGIC, .layout = RAS_LAYOUT,
		.key = CORE_KEY, .slice_bytes = CORE_SLICE,
		.nest_bytes = CORE_SLICE, .cpus = 1,
		.nest_levels = RAS_NEST_LEVELS, .wall_offset = 5000,
	};
}

/* Two tasks in a ring: 0 "swapper", 42 "victim" */
static inline void core_put_tasks(struct core *core)
{
	uint8_t *page = core_put(core, CORE_TASK);
	static const struct { uint32_t pid; const char *comm; } tasks[] = {
		{ 0, "swapper" }, { 42, "victim" },
	};

	core->anchor->tasks = (struct ras_anchor_tasks){
		.first = CORE_TASK, .next = 8, .pid = 24, .comm = 32,
		.started = 48,
	};
	for (int i = 0; i < 2; i++) {
		uint8_t *task = page + 256 * i;
		uint64_t next = CORE_TASK + 256 * !i + 8;

		memcpy(task + 8, &next, sizeof(next));
		memcpy(task + 24, &tasks[i].pid, sizeof(tasks[i].pid));
		strcpy((char *)task + 32, tasks[i].comm);
	}
}

/* What is set in advance: levels, large, mask, a64, more, crashed; the rest is
 * zero. */
static inline void core_make(struct core *core)
{
	const uint64_t control = sizeof(struct ras_control) +
				 8 * (1 + RAS_NEST_LEVELS);

	core->root = core_page(core);
	core_put_anchor(core);
	memcpy(core->anchor->magic, RAS_ANCHOR_MAGIC, sizeof(RAS_ANCHOR_MAGIC));
	core->anchor->size = sizeof(*core->anchor);
	core->anchor->layout = RAS_LAYOUT;
	core->anchor->panicked = CORE_PANICKED;
	core->anchor->wall_offset = 7000;
	strcpy(core->anchor->reason, "of a test");
	core_set_part(core, RASTRACE_CONTROL, CORE_CONTROL, control, 1);
	core_set_part(core, RASTRACE_BUFFER, CORE_BUFFER, CORE_STRIDE, 1);
	core_set_part(core, RASTRACE_NEST, CORE_NEST, CORE_STRIDE,
		      RAS_NEST_LEVELS);
	core_set_part(core, RASTRACE_SESSIONS, CORE_SESSIONS,
		      RAS_SESSIONS_BYTES, 1);
	core_put_control(core);
	core_put_slice(core);
	core_put_tasks(core);
	if (core->more)
		core_put_more(core);
}

/* ---- the file ---- */

struct core_file {
	uint8_t bytes[(CORE_PAGES + 6) * CORE_PAGE];
	size_t size;
};

static inline void *core_add(struct core_file *file, const void *data,
			     size_t size)
{
	void *at = file->bytes + file->size;

	if (size > sizeof(file->bytes) - file->size)
		abort();
	memcpy(at, data, size);
	file->size += size;
	return at;
}

static inline void core_add_note(struct core_file *file, const char *name,
				 const void *data, size_t size)
{
	char padded[12] = { 0 };
	Elf64_Nhdr note = { strlen(name) + 1, size, 0 };

	strcpy(padded, name);
	core_add(file, &note, sizeof(note));
	core_add(file, padded, (note.n_namesz + 3) & ~3u);
	core_add(file, data, size);
	file->size = (file->size + 3) & ~(size_t)3;
}

/* What only one machine's kernels report */
static inline size_t core_info_tables(const struct core *core, char *text,
				      size_t size)
{
	if (core->a64)
		return snprintf(text, size,
				"NUMBER(TCR_EL1_T1SZ)=0x%x\n"
				"NUMBER(kimage_voffset)=0x%llx\n",
				core->levels == 5 ? 12 : 16,
				(unsigned long long)(CORE_SWAPPER -
						     core->root));
	return snprintf(text, size,
			"NUMBER(phys_base)=%lld\n"
			"NUMBER(pgtable_l5_enabled)=%d\n"
			"NUMBER(sme_mask)=%llu\n",
			(long long)(core->root - (CORE_SWAPPER -
						  0xffffffff80000000ULL)),
			core->levels == 5, (unsigned long long)core->mask);
}

static inline size_t core_info(const struct core *core, char *text, size_t size)
{
	size_t n = core_info_tables(core, text, size);

	return n + snprintf(text + n, size - n,
			"OSRELEASE=6.0.test\n"
			"BUILD-IDS=7f\n"
			"BUILD-ID=%s\n"
			"SYMBOL(_stext)=%llx\n"
			"SYMBOL(swapper_pg_dir)=%llx\n"
			"%s=%llu\n",
			core->more ? "00ff7f00112233445566778899aabbccddeeff001"
				     "12233445566778899aabbccddeeff00112233" :
				     "00ff7f",
			(unsigned long long)CORE_TEXT,
			(unsigned long long)CORE_SWAPPER,
			core->crashed ? "CRASHTIME" : "NONE",
			(unsigned long long)core->crashed);
}

/* VMCOREINFO, or QEMU's note of a processor in the user's half of its tables */
static inline void core_add_notes(struct core_file *file,
				  const struct core *core, bool info)
{
	uint64_t cpu[55] = { 0 };	/* struct QEMUCPUState */
	char text[512];
	size_t n = core_info(core, text, sizeof(text));

	if (info) {
		core_add_note(file, "VMCOREINFO", text, n);
		return;
	}
	cpu[52] = core->root | 0x1000 | 5;
	cpu[53] = core->levels == 5 ? 0x1000 : 0;
	core_add_note(file, "QEMU", cpu, sizeof(cpu));
}

static inline Elf64_Phdr *core_add_header(struct core_file *file,
					  uint32_t type)
{
	Elf64_Phdr header = { .p_type = type };

	return core_add(file, &header, sizeof(header));
}

/* Segments may be as many as one likes: the last two have all of the memory,
 * the others lie in front of it and inside of it. */
static inline void core_file_make(struct core_file *file,
				  const struct core *core, bool info,
				  unsigned int segments)
{
	Elf64_Ehdr ehdr = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		.e_type = ET_CORE, .e_version = 1,
		.e_machine = core->a64 ? EM_AARCH64 : EM_X86_64,
		.e_phoff = sizeof(ehdr), .e_ehsize = sizeof(ehdr),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1 + segments,
	};
	size_t half = CORE_PAGES / 2 * CORE_PAGE;
	Elf64_Phdr *note, *load;

	file->size = 0;
	core_add(file, &ehdr, sizeof(ehdr));
	note = core_add_header(file, PT_NOTE);
	load = (Elf64_Phdr *)(file->bytes + file->size);
	for (unsigned int i = 0; i < segments; i++)
		core_add_header(file, PT_LOAD);
	note->p_offset = file->size;
	core_add_notes(file, core, info);
	note->p_filesz = file->size - note->p_offset;
	for (unsigned int i = 0; i < segments; i++) {
		unsigned int back = segments - 1 - i;
		size_t begin = back == 1 ? half : 0;

		if (back > 1)
			begin = i % 2 * 3 * CORE_PAGE;
		load[i].p_offset = file->size + begin;
		load[i].p_paddr = CORE_BASE + begin;
		load[i].p_filesz = back < 2 ? half : CORE_PAGE;
		load[i].p_memsz = load[i].p_filesz;
	}
	core_add(file, core->memory, sizeof(core->memory));
}

/*
 * The same as makedumpfile compresses it; half of the pages are packed. A page of
 * the first megabyte, which nothing needs, is in front.
 * diskdump_mod.h: a header and a second one, a block each, two bitmaps,
 * descriptors of 24 bytes, pages.
 */
static inline void core_kdump_make(struct core_file *file,
				   const struct core *core)
{
	static uint8_t bitmap[CORE_PAGE];
	uint64_t first = CORE_BASE / CORE_PAGE, *descriptors;
	uint32_t *header = (uint32_t *)file->bytes;
	uint64_t *sub = (uint64_t *)(file->bytes + CORE_PAGE);

	memset(file->bytes, 0, sizeof(file->bytes));
	memcpy(file->bytes, "KDUMP   ", 8);
	header[2] = 6;
	strcpy((char *)file->bytes + 12 + 4 * 65,
	       core->a64 ? "aarch64" : "x86_64");
	header[107] = CORE_PAGE;
	header[108] = 1;	/* blocks of the second header */
	header[109] = 2;	/* of the bitmaps */
	for (uint64_t i = first; i < first + CORE_PAGES; i++)
		bitmap[i / 8] |= 1 << i % 8;
	bitmap[0] |= 2;
	sub[4] = CORE_PAGE + 512;
	sub[5] = core_info(core, (char *)file->bytes + sub[4], 512);
	file->size = 2 * CORE_PAGE;
	core_add(file, bitmap, sizeof(bitmap));
	core_add(file, bitmap, sizeof(bitmap));
	descriptors = (uint64_t *)(file->bytes + file->size);
	file->size += 24 * (1 + CORE_PAGES);
	descriptors[1] = CORE_PAGE;
	descriptors += 3;
	for (unsigned int i = 0; i < CORE_PAGES; i++, descriptors += 3) {
		uint64_t size = sizeof(file->bytes) - file->size;
		const uint8_t *page = core->memory + i * CORE_PAGE;

		descriptors[0] = file->size;
		if (i % 2 == 0)
			compress(file->bytes + file->size, &size, page,
				 CORE_PAGE);
		else
			memcpy(file->bytes + file->size, page,
			       size = CORE_PAGE);
		descriptors[1] = size | (uint64_t)(i % 2 == 0) << 32;
		file->size += size;
	}
}

#endif
