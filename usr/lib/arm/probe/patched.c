// SPDX-License-Identifier: GPL-2.0
#include "patched.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "lib/maps_line.h"
#include "lib/path.h"

/* Documentation/admin-guide/mm/pagemap.rst */
#define PAGE_PRESENT	(1ULL << 63)
#define PAGE_SWAPPED	(1ULL << 62)
#define PAGE_OF_FILE	(1ULL << 61)	/* or shared */

#define PASSES		100

struct patched_place {
	uint64_t offset;		/* in the file */
	const struct tdf_site *site;
	const struct tdf_point *point;
};

struct patched {
	const struct tdf *tdf;
	const struct target *target;
	bool aarch64;
	struct patched_place *places;		/* by offset */
	size_t count;
	uint64_t page;
};

/* Memory of a process, as far as it can be read. */
struct memory {
	uint32_t pid;
	int pagemap, bytes;		/* /proc/PID/pagemap, mem; or -1 */
	const struct target_file *file;	/* of the mapping */
};

static int patched_place_compare(const void *a, const void *b)
{
	const struct patched_place *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int places_make(struct patched *patched, uint32_t module,
		       const bool *picked)
{
	const struct tdf *tdf = patched->tdf;

	patched->places = calloc(tdf->header->sites.count + 1,
				 sizeof(*patched->places));
	if (!patched->places)
		return -ENOMEM;
	for (uint32_t i = 0; i < tdf->header->points.count; i++) {
		const struct tdf_point *point = &tdf->points[i];

		if (!picked[i] || point->module != module)
			continue;
		for (uint32_t k = 0; k < point->sites; k++) {
			const struct tdf_site *site =
				&tdf->sites[point->first_site + k];

			patched->places[patched->count++] =
				(struct patched_place){
					site->offset, site, point,
				};
		}
	}
	qsort(patched->places, patched->count, sizeof(*patched->places),
	      patched_place_compare);
	return 0;
}

/* A page that the process, or a probe in it, has written to. */
static bool page_is_private(const struct patched *patched,
			    const struct memory *memory, uint64_t address)
{
	uint64_t entry;

	if (pread(memory->pagemap, &entry, sizeof(entry),
		  address / patched->page * sizeof(entry)) != sizeof(entry))
		return true;
	return entry & (PAGE_PRESENT | PAGE_SWAPPED) && !(entry & PAGE_OF_FILE);
}

/* What the kernel's own calls lead to: uprobes of nops, since 6.18. */
static bool is_trampoline(uint32_t pid, uint64_t address)
{
	struct maps_lines lines;
	struct maps_line maps;
	bool found = false;

	if (maps_lines_open(&lines, pid))
		return false;
	while (!found && maps_lines_next(&lines, &maps))
		found = address >= maps.start && address < maps.end &&
			!strcmp(maps.path, "[uprobes-trampoline]");
	maps_lines_close(&lines);
	return found;
}

static bool is_breakpoint(const struct patched *patched,
			  const struct tdf_site *site, const uint8_t *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	if (patched->aarch64)	/* BRK #imm16 */
		return (word & 0xffe0001f) == 0xd4200000;
	return bytes[0] == 0xcc &&
		!memcmp(site->insn + 1, bytes + 1, site->insn_length - 1);
}

/* The kernel puts probes that are not of one process into every mapping that
 * could be run, and so into one of our own. */
static bool has_probe(const struct patched *patched,
		      const struct target_file *file,
		      const struct tdf_site *site)
{
	uint64_t in_page = site->offset % patched->page;
	uint8_t *page = mmap(NULL, patched->page, PROT_READ, MAP_PRIVATE,
			     file->fd, site->offset - in_page);
	bool has;

	if (page == MAP_FAILED)
		return true;
	has = page[in_page + (patched->aarch64 ? 3 : 0)] !=
		site->insn[patched->aarch64 ? 3 : 0];
	munmap(page, patched->page);
	return has;
}

/* heapmon is no debugger: it traces a process to stop it for a moment, and has
 * probes of that process only, which no mapping of our own shows. */
static bool is_debugged(uint32_t pid)
{
	unsigned int tracer = 0;
	char line[256], path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "TracerPid: %u", &tracer) != 1)
		;
	if (file)
		fclose(file);
	if (!tracer)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/comm", tracer);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	return strcmp(line, "heapmon\n");
}

/* But for the instructions that probes write. */
static bool site_is_same(const struct patched *patched,
			 const struct memory *memory, uint64_t address,
			 const struct tdf_site *site, const uint8_t *bytes)
{
	static const uint8_t nop5[] = { 0x0f, 0x1f, 0x44, 0x00 };
	uint8_t length = site->insn_length;
	int32_t to;

	if (!memcmp(site->insn, bytes, length))
		return true;
	if (is_breakpoint(patched, site, bytes))
		return has_probe(patched, memory->file, site) ||
			!is_debugged(memory->pid);
	if (patched->aarch64 || length != 5 || memcmp(site->insn, nop5, sizeof(nop5)) ||
	    (bytes[0] != 0xcc && bytes[0] != 0xe8))
		return false;
	memcpy(&to, bytes + 1, sizeof(to));
	return is_trampoline(memory->pid, address + 5 + to);
}

static int place_refuse(const struct patched *patched,
			const struct patched_place *place, uint32_t pid,
			uint64_t address, const uint8_t *bytes,
			struct error *err)
{
	char expected[64], found[64];

	if (is_breakpoint(patched, place->site, bytes)) {
		error_set(err, -ESTALE,
			  "tracepoint %u ('%s'): process %" PRIu32 " has a breakpoint at %#" PRIx64
			  " of its memory", place->point->minor,
			  tdf_string(patched->tdf, place->point->name), pid,
			  address);
		error_hint(err, "a debugger would miss its stops; delete the breakpoint, or end the debugger");
		return -ESTALE;
	}
	target_print_bytes(place->site->insn, place->site->insn_length, expected);
	target_print_bytes(bytes, place->site->insn_length, found);
	error_set(err, -ESTALE,
		  "tracepoint %u ('%s'): process %" PRIu32 " has other instruction bytes at %#" PRIx64
		  " of its memory (TDF %s, process %s)", place->point->minor,
		  tdf_string(patched->tdf, place->point->name), pid, address,
		  expected, found);
	error_hint(err, "its code was patched while it runs; choose other tracepoints, or end it");
	return -ESTALE;
}

#define LOOKS	4

/* Whether the bytes that differ are of that mapping: it may have gone since its
 * line was read, and another one come in its place, as when the process executes
 * a program or another tracer looks for probes in has_probe(). One that maps two in
 * turns shows the line of one and the bytes of the other now and then, not always. */
static bool mapping_stays(const struct memory *memory,
			  const struct maps_line *maps, uint64_t address,
			  const uint8_t *bytes, size_t length)
{
	uint8_t again[TDF_INSN_MAX];
	struct maps_lines lines;
	struct maps_line now;
	bool stays = true;

	for (int look = 0; look < LOOKS && stays; look++) {
		if (maps_lines_open(&lines, memory->pid))
			return false;
		stays = false;
		while (!stays && maps_lines_next(&lines, &now))
			stays = now.start == maps->start &&
				now.end == maps->end &&
				now.offset == maps->offset &&
				now.inode == maps->inode;
		maps_lines_close(&lines);
		stays = stays && pread(memory->bytes, again, length,
				       address) == (ssize_t)length &&
			!memcmp(again, bytes, length);
	}
	return stays;
}

/* One mapping of the file. -EAGAIN: it has changed meanwhile. */
static int mapping_check(const struct patched *patched,
			 const struct memory *memory,
			 const struct maps_line *maps, struct error *err)
{
	uint64_t size = maps->end - maps->start, page = UINT64_MAX;
	bool private = false;

	for (size_t i = 0; i < patched->count; i++) {
		const struct patched_place *place = &patched->places[i];
		uint64_t address = maps->start + place->offset - maps->offset;
		uint64_t last = address + place->site->insn_length - 1;
		uint8_t bytes[TDF_INSN_MAX + 1] = { 0 };

		if (place->offset - maps->offset >= size)
			continue;
		if (last / patched->page != page)
			private = page_is_private(patched, memory, address) ||
				  page_is_private(patched, memory, last);
		page = address / patched->page == last / patched->page ?
			last / patched->page : UINT64_MAX;
		if (!private)
			continue;
		if (pread(memory->bytes, bytes, place->site->insn_length,
			  address) != place->site->insn_length ||
		    site_is_same(patched, memory, address, place->site, bytes))
			continue;
		if (!mapping_stays(memory, maps, address, bytes,
				   place->site->insn_length))
			return -EAGAIN;
		return place_refuse(patched, place, memory->pid, address, bytes,
				    err);
	}
	return 0;
}

/* The file of the target that it is of, or NULL. The device number of a mapping
 * isn't always that of the file (btrfs, overlayfs). */
static const struct target_file *mapping_file(const struct target *target,
					      uint32_t pid,
					      const struct maps_line *maps)
{
	struct stat st = { .st_dev = maps->device, .st_ino = maps->inode };
	char link[80];

	if (maps->path[0] != '/' || maps->mode[3] != 'p')
		return NULL;
	snprintf(link, sizeof(link), "/proc/%" PRIu32 "/map_files/%" PRIx64
		 "-%" PRIx64, pid, maps->start, maps->end);
	stat(link, &st);
	for (uint32_t i = 0; i < target->file_count; i++)
		if (target->files[i].device == st.st_dev &&
		    target->files[i].inode == st.st_ino)
			return &target->files[i];
	return NULL;
}

/* Reading the line as a whole takes longer than the kernel to write it. */
static bool line_may_be_of(const struct target *target, const char *line)
{
	for (uint32_t i = 0; i < target->file_count; i++) {
		char inode[32];

		snprintf(inode, sizeof(inode), " %" PRIu64 " ",
			 target->files[i].inode);
		if (strstr(line, inode) ||
		    strstr(line, path_base(target->files[i].path)))
			return true;
	}
	return false;
}

static int memory_open(uint32_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* The kernel writes a page of mappings at a time; stdio asks for a quarter. */
#define MAPS_READ	4096

/* -EAGAIN: its mappings changed meanwhile. */
static int process_mappings_check(const struct patched *patched, uint32_t pid,
				  struct error *err)
{
	struct memory memory = { .pid = pid, .pagemap = -1, .bytes = -1 };
	int fd = memory_open(pid, "maps"), code = 0;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char line[PATH_MAX + 128], room[MAPS_READ];
	struct maps_line maps;

	if (file)
		setvbuf(file, room, _IOFBF, sizeof(room));
	while (file && !code && fgets(line, sizeof(line), file)) {
		if (!line_may_be_of(patched->target, line) ||
		    !maps_line_parse(line, &maps) ||
		    !(memory.file = mapping_file(patched->target, pid, &maps)))
			continue;
		if (memory.bytes < 0) {
			memory.bytes = memory_open(pid, "mem");
			memory.pagemap = memory_open(pid, "pagemap");
		}
		code = mapping_check(patched, &memory, &maps, err);
	}
	if (file)
		fclose(file);
	if (memory.pagemap >= 0)
		close(memory.pagemap);
	if (memory.bytes >= 0)
		close(memory.bytes);
	return code;
}

/* A process whose mappings change at each pass has code that is not patched: what
 * a patch changes remains. */
static int process_check(const struct patched *patched, uint32_t pid,
			 struct error *err)
{
	for (int pass = 0; pass < PASSES; pass++) {
		int code = process_mappings_check(patched, pid, err);

		if (code != -EAGAIN)
			return code;
	}
	return 0;
}

static int patched_processes_check(const struct patched *patched,
				   struct error *err)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int code = 0;

	while (dir && !code && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			code = process_check(patched, atoi(entry->d_name), err);
	if (dir)
		closedir(dir);
	return code;
}

int patched_check(const struct tdf *tdf, uint32_t module,
		  const struct target *target, const bool *picked, uint32_t pid,
		  struct error *err)
{
	struct patched patched = {
		.tdf = tdf, .target = target, .page = sysconf(_SC_PAGESIZE),
		.aarch64 = tdf->modules[module].machine == EM_AARCH64,
	};
	int code = places_make(&patched, module, picked);

	if (code)
		error_no_memory(err);
	else if (patched.count && target->file_count)
		code = pid ? process_check(&patched, pid, err) :
			     patched_processes_check(&patched, err);
	free(patched.places);
	return code;
}
