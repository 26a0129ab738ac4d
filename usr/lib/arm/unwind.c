// SPDX-License-Identifier: GPL-2.0
/*
 * Which code lies where in the processes. What the kernel reads is never
 * changed: a process whose mappings did gets new segments, and then a new entry
 * in `spaces`. Where old segments were is written again as late as possible.
 */
#include "unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "lib/array.h"
#include "lib/hash.h"
#include "lib/key_map.h"
#include "lib/maps_line.h"
#include "lib/path.h"
#include "lib/sysbpf.h"
#include "filters.h"
#include "otel.h"
#include "lib/buffer/pin.h"
#include "lib/debug/cfi/cfi_module.h"

#define SEGMENTS_ALL	65536	/* entries of the map */
#define IMAGE_MAX	(1 << 20)	/* bytes of a vDSO */

/* The table of a file that is mapped somewhere */
struct module_table {
	uint64_t hash;			/* of what the file is */
	struct cfi_load loads[CFI_LOADS];
	unsigned int load_count;
	uint32_t first, rows;		/* rows is 0: it has none */
	struct otel_variable otel;
};

/* Segments that one process has, or several after a fork */
struct unwind_range {
	uint32_t first, count, generation;
	unsigned int users;		/* 0: it is free */
};

struct unwind_map {
	void *entries;
	size_t bytes;
	uint32_t count;
};

struct unwind_state {
	struct unwind_map row_map, segment_map;
	struct unwind_row *rows;
	uint32_t room, used;			/* of rows */
	struct module_table *tables;		/* each made once */
	size_t table_count, table_room;
	struct unwind_segment *segments;
	uint32_t next;				/* where to look for room */
	int spaces_fd;
	bool asked;				/* by programs, for processes */
	uint32_t generation;			/* of the last space */
	int inherit_fd;				/* -1: the BPF program's link */
	struct unwind_segment found[UNWIND_SEGMENTS];	/* of a process */
	uint32_t found_count;
	struct unwind_otel found_otel;
	struct unwind_range ranges[UNWIND_SPACES];
	struct key_map spaces;			/* ranges by process id */
	struct unwind_figures figures;
};

static int unwind_map_make(int *fd, enum bpf_map_type type, const char *name,
			   size_t value_size, uint32_t entries,
			   struct error *err)
{
	*fd = type == BPF_MAP_TYPE_ARRAY ?
		sysbpf_array_create(name, value_size, entries) :
		bpf_map_create(type, name, type == BPF_MAP_TYPE_RINGBUF ? 0 : 4,
			       value_size, entries, NULL);
	return *fd >= 0 ? 0 :
		error_set(err, *fd, "cannot create map '%s' (%u): %s", name,
			  entries, strerror(-*fd));
}

int unwind_maps_make(struct unwind_fds *fds, uint32_t rows, bool asks,
		     struct error *err)
{
	int ret;

	*fds = UNWIND_FDS_NONE;
	ret = unwind_map_make(&fds->rows, BPF_MAP_TYPE_ARRAY, "unwind_rows",
			      sizeof(struct unwind_row), rows, err);
	if (!ret)
		ret = unwind_map_make(&fds->segments, BPF_MAP_TYPE_ARRAY,
				      "unwind_segments",
				      sizeof(struct unwind_segment),
				      SEGMENTS_ALL, err);
	if (!ret)
		ret = unwind_map_make(&fds->spaces, BPF_MAP_TYPE_HASH,
				      "unwind_spaces",
				      sizeof(struct unwind_process),
				      UNWIND_SPACES, err);
	if (!ret)
		ret = unwind_map_make(&fds->cache, BPF_MAP_TYPE_PERCPU_ARRAY,
				      "unwind_cache",
				      sizeof(struct unwind_cached),
				      UNWIND_CACHE, err);
	if (!ret && asks)
		ret = unwind_map_make(&fds->asks, BPF_MAP_TYPE_RINGBUF,
				      "unwind_asks", 0, UNWIND_ASKS, err);
	if (ret)
		unwind_maps_close(fds);
	return ret;
}

void unwind_maps_close(struct unwind_fds *fds)
{
	const int all[] = {
		fds->rows, fds->segments, fds->spaces, fds->cache, fds->asks,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] >= 0)
			close(all[i]);
	*fds = UNWIND_FDS_NONE;
}

/* An array map, mapped here, too */
static int unwind_map_view(struct unwind_map *map, int fd, struct error *err)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return error_set(err, -errno, "cannot look at a map: %s",
				 strerror(errno));
	map->count = info.max_entries;
	map->bytes = ((size_t)info.value_size * info.max_entries + page - 1) /
		     page * page;
	map->entries = mmap(NULL, map->bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);
	return map->entries != MAP_FAILED ? 0 :
		error_set(err, -errno, "cannot map '%s': %s", info.name,
			  strerror(errno));
}

int unwind_open(struct unwind_state **unwind, const struct unwind_fds *fds,
		struct error *err)
{
	struct unwind_state *u = calloc(1, sizeof(*u));
	int ret;

	if (!u)
		return error_no_memory(err);
	u->row_map.entries = u->segment_map.entries = MAP_FAILED;
	u->spaces_fd = fds->spaces;
	u->asked = fds->asks >= 0;
	u->inherit_fd = -1;
	/* what a cache has may be of an earlier one, who filled these maps */
	u->generation = time(NULL) << 8;
	ret = unwind_map_view(&u->row_map, fds->rows, err);
	if (!ret)
		ret = unwind_map_view(&u->segment_map, fds->segments, err);
	if (ret) {
		unwind_close(u);
		return ret;
	}
	u->rows = u->row_map.entries;
	u->room = u->row_map.count;
	u->segments = u->segment_map.entries;
	*unwind = u;
	return 0;
}

/* ---- tables of files ---- */

static const struct module_table *
module_table_find(const struct unwind_state *u, uint64_t hash)
{
	for (size_t i = 0; i < u->table_count; i++)
		if (u->tables[i].hash == hash)
			return &u->tables[i];
	return NULL;
}

/* Into the map, when it has room. */
static void module_table_store(struct unwind_state *u,
			       struct module_table *table,
			       const struct cfi_module *module)
{
	uint32_t blocks = cfi_rows_blocks(module->bytes);
	struct unwind_row *rows = u->rows + u->used;
	size_t count = module->rows.count;

	if (count > u->room - u->used ||
	    blocks > u->room - u->used - count) {
		u->figures.left_out++;
		return;
	}
	memcpy(rows, module->rows.items, count * sizeof(*rows));
	cfi_rows_index(&module->rows, (struct unwind_blocks *)(rows + count),
		       blocks);
	table->first = u->used;
	table->rows = count;
	u->used += count + blocks;
	u->figures.rows += count;
}

/* ret: of reading the module, which is freed */
static struct module_table *module_table_add(struct unwind_state *u,
					     uint64_t hash,
					     struct cfi_module *module, int ret)
{
	struct module_table *table = NULL;

	if (array_grow(&u->tables, u->table_count, &u->table_room,
		       sizeof(*u->tables))) {
		table = &u->tables[u->table_count++];
		*table = (struct module_table) { .hash = hash };
		u->figures.modules++;
		u->figures.without += ret || !module->rows.count;
	}
	if (ret)
		return table;
	if (table) {
		memcpy(table->loads, module->loads, sizeof(table->loads));
		table->load_count = module->load_count;
		if (module->rows.count)
			module_table_store(u, table, module);
	}
	cfi_module_free(module);
	return table;
}

/* As the process sees it, whatever has become of its path */
static const struct module_table *file_table(struct unwind_state *u,
					     uint32_t pid,
					     const struct maps_line *mapping)
{
	const struct module_table *table = NULL;
	int fd = maps_line_open(mapping, pid);
	struct cfi_module module;
	struct module_table *made;
	struct stat st;
	uint64_t hash;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		hash = hash_fnv(HASH_FNV_START, &st.st_dev, sizeof(st.st_dev));
		hash = hash_fnv(hash, &st.st_ino, sizeof(st.st_ino));
		hash = hash_fnv(hash, &st.st_size, sizeof(st.st_size));
		hash = hash_fnv(hash, &st.st_ctim, sizeof(st.st_ctim));
		table = module_table_find(u, hash);
		if (!table) {
			made = module_table_add(u, hash, &module,
						cfi_module_read(&module, fd));
			if (made)
				otel_variable_read(&made->otel, fd);
			table = made;
		}
	}
	close(fd);
	return table;
}

static const struct module_table *image_table(struct unwind_state *u,
					      uint32_t pid,
					      const struct maps_line *mapping)
{
	uint64_t size = mapping->end - mapping->start, hash;
	const struct module_table *table = NULL;
	struct cfi_module module;
	void *image;
	char path[32];
	int fd;

	if (size > IMAGE_MAX)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	image = malloc(size);
	if (image && pread(fd, image, size, mapping->start) == (ssize_t)size) {
		hash = hash_fnv(HASH_FNV_START, image, size);
		table = module_table_find(u, hash);
		if (!table)
			table = module_table_add(
				u, hash, &module,
				cfi_module_read_image(&module, image, size));
	}
	free(image);
	close(fd);
	return table;
}

/* ---- segments of a process ---- */

static void segment_add(struct unwind_state *u, const struct maps_line *mapping,
			const struct module_table *table)
{
	const struct cfi_load *load = table->loads;
	uint64_t bytes = mapping->end - mapping->start;
	unsigned int i;

	for (i = 0; i < table->load_count; i++, load++)
		if (mapping->offset >= load->offset &&
		    mapping->offset - load->offset < load->bytes)
			break;
	if (i == table->load_count || !table->rows)
		return;
	if (u->found_count == UNWIND_SEGMENTS) {
		u->figures.left_out++;
		return;
	}
	if (bytes > load->bytes - (mapping->offset - load->offset))
		bytes = load->bytes - (mapping->offset - load->offset);
	u->found[u->found_count++] = (struct unwind_segment) {
		.start = mapping->start, .end = mapping->start + bytes,
		.base = mapping->start - load->pc -
			(mapping->offset - load->offset),
		.first = table->first, .rows = table->rows,
	};
}

/* Its threads' tables of blocks are as otel.h has them. */
static bool is_glibc(const char *path)
{
	const char *name = path_base(path);

	return !strcmp(name, "libc.so.6") || !strncmp(name, "ld-linux", 8) ||
	       !strncmp(name, "libc-2.", 7) || !strncmp(name, "ld-2.", 5);
}

/* The first place that is known; else what isn't known in one module isn't. */
static void place_found(struct unwind_otel *found, const struct unwind_otel *place)
{
	if (found->kind == UNWIND_OTEL_NONE ||
	    (found->kind == UNWIND_OTEL_UNKNOWN &&
	     place->kind != UNWIND_OTEL_NONE))
		*found = *place;
}

/* 0, or -ESRCH: nothing is mapped there (any more). */
static int unwind_segments_read(struct unwind_state *u, uint32_t pid)
{
	const struct module_table *table;
	struct unwind_otel place;
	struct maps_lines lines;
	bool any = false, glibc = false;
	struct maps_line mapping;

	u->found_count = 0;
	u->found_otel = (struct unwind_otel){ .kind = UNWIND_OTEL_NONE };
	if (maps_lines_open(&lines, pid))
		return -ESRCH;
	while (maps_lines_next(&lines, &mapping)) {
		any = true;
		table = NULL;
		if (mapping.mode[2] != 'x')
			continue;
		if (mapping.path[0] == '/')
			table = file_table(u, pid, &mapping);
		else if (!strcmp(mapping.path, "[vdso]"))
			table = image_table(u, pid, &mapping);
		place = (struct unwind_otel){
			.kind = mapping.path[0] == '/' ? UNWIND_OTEL_UNKNOWN :
							 UNWIND_OTEL_NONE,
		};
		if (table) {
			segment_add(u, &mapping, table);
			glibc |= is_glibc(mapping.path);
			otel_place_find(&table->otel, pid, mapping.start,
					mapping.offset, &place);
		}
		place_found(&u->found_otel, &place);
	}
	maps_lines_close(&lines);
	if (u->found_otel.kind == UNWIND_OTEL_TABLE && !glibc)
		u->found_otel = (struct unwind_otel){ 0 };
	return any ? 0 : -ESRCH;
}

/* ---- room for them ---- */

static const struct unwind_range *range_over(const struct unwind_state *u,
					     uint32_t first, uint32_t count)
{
	for (size_t i = 0; i < UNWIND_SPACES; i++) {
		const struct unwind_range *range = &u->ranges[i];

		if (range->users && first < range->first + range->count &&
		    range->first < first + count)
			return range;
	}
	return NULL;
}

/* Look once around, from the end of the last one */
static bool range_place(struct unwind_state *u, struct unwind_range *range)
{
	uint32_t at = u->next, most = SEGMENTS_ALL - range->count;
	const struct unwind_range *over;
	bool around = false;

	for (;;) {
		if (at > most) {
			if (around)
				return false;
			around = true;
			at = 0;
		}
		over = range_over(u, at, range->count);
		if (!over)
			break;
		at = over->first + over->count;
	}
	range->first = at;
	u->next = at + range->count;
	return true;
}

/* Of what was found */
static struct unwind_range *range_make(struct unwind_state *u)
{
	struct unwind_range *range = u->ranges;

	while (range->users)
		if (++range == u->ranges + UNWIND_SPACES)
			return NULL;
	range->count = u->found_count;
	if (!range_place(u, range))
		return NULL;
	memcpy(u->segments + range->first, u->found,
	       range->count * sizeof(*u->found));
	range->generation = ++u->generation;
	return range;
}

/* ---- processes ---- */

/* The process has these segments from now on, instead of others. */
static int space_set(struct unwind_state *u, uint32_t pid,
		     struct unwind_range *range, struct unwind_process *process)
{
	struct unwind_range *before = key_map_find(&u->spaces, pid);
	int ret;

	process->space = (struct unwind_space){
		range->first, range->count, range->generation,
	};
	if (!before && (u->spaces.count == UNWIND_SPACES ||
			key_map_reserve(&u->spaces))) {
		/* the inherited one */
		bpf_map_delete_elem(u->spaces_fd, &pid);
		return -ENOSPC;
	}
	range->users++;
	ret = bpf_map_update_elem(u->spaces_fd, &pid, process, BPF_ANY);
	if (before) {
		key_map_remove(&u->spaces, pid, before);
		before->users--;
	}
	key_map_add(&u->spaces, pid, range);
	if (ret)
		unwind_drop_process(u, pid);
	return ret;
}

/* What changes when it executes another program, or maps other code: read before
 * the mappings, so that a change while these are read is one. */
static void process_identify(struct unwind_process *process, uint32_t pid)
{
	struct process_stat stat = { 0 };
	uint64_t exe = 0, lib = 0;
	char path[32], line[256];
	FILE *file;

	*process = (struct unwind_process){ 0 };
	if (!process_stat_read(pid, &stat))
		process->stack = stat.stack;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "VmExe: %" SCNu64, &exe);
		sscanf(line, "VmLib: %" SCNu64, &lib);
	}
	fclose(file);
	process->code = process->asked = (exe + lib) * 1024 /
					 sysconf(_SC_PAGESIZE);
}

int unwind_add_process(struct unwind_state *u, uint32_t pid, struct error *err)
{
	struct unwind_range *range = key_map_find(&u->spaces, pid);
	struct unwind_process process;

	process_identify(&process, pid);
	if (unwind_segments_read(u, pid))
		return error_set(err, -ESRCH, "process %u is gone", pid);
	process.otel = u->found_otel;
	if (!range || range->count != u->found_count ||
	    memcmp(u->segments + range->first, u->found,
		   range->count * sizeof(*u->found)))
		range = range_make(u);
	if (!range || space_set(u, pid, range, &process)) {
		u->figures.left_out++;
		unwind_drop_process(u, pid);
		/* known, but without tables: it doesn't ask again */
		process.space = (struct unwind_space){ 0 };
		if (u->asked)
			bpf_map_update_elem(u->spaces_fd, &pid, &process,
					    BPF_ANY);
	}
	return 0;
}

int unwind_copy_process(struct unwind_state *u, uint32_t parent, uint32_t child)
{
	struct unwind_range *range = key_map_find(&u->spaces, parent);
	struct unwind_process process;
	int ret = -ENOENT;

	if (range && !bpf_map_lookup_elem(u->spaces_fd, &parent, &process))
		ret = space_set(u, child, range, &process);
	u->figures.left_out += ret == -ENOSPC;
	return ret;
}

void unwind_drop_process(struct unwind_state *u, uint32_t pid)
{
	struct unwind_range *range = key_map_find(&u->spaces, pid);

	bpf_map_delete_elem(u->spaces_fd, &pid);
	if (!range)
		return;
	key_map_remove(&u->spaces, pid, range);
	range->users--;
}

void unwind_drop_ended(struct unwind_state *u)
{
	uint32_t pids[UNWIND_SPACES], count = 0;

	while (count < UNWIND_SPACES &&
	       !bpf_map_get_next_key(u->spaces_fd,
				     count ? &pids[count - 1] : NULL,
				     &pids[count]))
		count++;
	while (count--)
		if (kill(pids[count], 0) && errno == ESRCH)
			unwind_drop_process(u, pids[count]);
}

/* Frame of the BPF program, offsets from r10 */
#define FRAME_PARENT	(-4)	/* process id */
#define FRAME_CHILD	(-8)	/* process id */
#define FRAME_SPACE	(-8 - WORDS * 8)	/* struct unwind_process */
#define WORDS		((int)sizeof(struct unwind_process) / 8)

/* A BPF program does it: the stacks of a process that lives shortly are needed
 * before anything here reads that it is there. */
int unwind_follow(struct unwind_state *u, struct error *err)
{
	struct emit e = { 0 };
	uint32_t tgid;
	const struct btf_want want = { "task_struct.tgid", &tgid };
	int code = raw_tracepoint_offsets(&want, 1, err);
	emit_label end;

	if (code)
		return code;

	/* sched_process_fork(parent, child): in the parent, before the child
	 * runs */
	end = emit_label_new(&e);
	raw_tracepoint_member(&e, BPF_REG_1, 1, tgid, FRAME_CHILD, 4);
	raw_tracepoint_current(&e, FRAME_PARENT);
	emit_load(&e, 4, BPF_REG_1, BPF_REG_10, FRAME_CHILD);
	emit_jump_if(&e, BPF_JEQ, BPF_REG_1, BPF_REG_0, end);	/* a thread */
	emit_lookup(&e, u->spaces_fd, FRAME_PARENT, end);
	for (int at = 0; at < WORDS * 8; at += 8) {
		emit_load(&e, 8, BPF_REG_1, BPF_REG_0, at);
		emit_store(&e, 8, BPF_REG_10, FRAME_SPACE + at, BPF_REG_1);
	}
	emit_map(&e, BPF_REG_1, u->spaces_fd);
	raw_tracepoint_frame(&e, BPF_REG_2, FRAME_CHILD);
	raw_tracepoint_frame(&e, BPF_REG_3, FRAME_SPACE);
	emit_alu_imm(&e, BPF_MOV, BPF_REG_4, BPF_ANY);
	emit_call(&e, BPF_FUNC_map_update_elem);
	raw_tracepoint_end(&e, end);
	u->inherit_fd = raw_tracepoint_attach(&e, "sched_process_fork", err);
	return u->inherit_fd < 0 ? u->inherit_fd : 0;
}

const struct unwind_figures *unwind_figures(const struct unwind_state *u)
{
	return &u->figures;
}

void unwind_close(struct unwind_state *u)
{
	key_map_free(&u->spaces);
	if (u->row_map.entries != MAP_FAILED)
		munmap(u->row_map.entries, u->row_map.bytes);
	if (u->segment_map.entries != MAP_FAILED)
		munmap(u->segment_map.entries, u->segment_map.bytes);
	if (u->inherit_fd >= 0)
		close(u->inherit_fd);
	free(u->tables);
	free(u);
}
