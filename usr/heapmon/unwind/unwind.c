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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "lib/array.h"
#include "lib/hash.h"
#include "lib/key_map.h"
#include "lib/maps_line.h"
#include "lib/sysbpf.h"
#include "lib/arm/arm.h"
#include "lib/debug/cfi/cfi_module.h"

#define SEGMENTS_ALL	65536	/* entries of the map */
#define IMAGE_MAX	(1 << 20)	/* bytes of a vDSO */

/* The table of a file that is mapped somewhere */
struct module_table {
	uint64_t hash;			/* of what the file is */
	struct cfi_load loads[CFI_LOADS];
	unsigned int load_count;
	uint32_t first, rows;		/* rows is 0: it has none */
};

/* Segments that one process has, or several after a fork */
struct unwind_range {
	uint32_t first, count, generation;
	unsigned int users;		/* 0: it is free */
};

/* An array map that is mapped here, too */
struct unwind_map {
	int fd;
	void *entries;
	size_t bytes;
};

struct unwind_state {
	struct unwind_map row_map, segment_map;
	struct unwind_row *rows;
	uint32_t room, used;			/* of rows */
	struct module_table *tables;		/* each made once */
	size_t table_count, table_room;
	struct unwind_segment *segments;
	uint32_t next;				/* where to look for room */
	int spaces_fd, cache_fd;
	uint32_t generation;			/* of the last space */
	int inherit_fd;				/* -1: the BPF program's link */
	struct unwind_segment found[UNWIND_SEGMENTS];	/* of a process */
	uint32_t found_count;
	struct unwind_range ranges[UNWIND_SPACES];
	struct key_map spaces;			/* ranges by process id */
	struct unwind_figures figures;
};

static int unwind_map_open(struct unwind_map *map, const char *name,
			   size_t value_size, uint32_t entries,
			   struct error *err)
{
	size_t page = sysconf(_SC_PAGESIZE);

	map->bytes = (value_size * entries + page - 1) / page * page;
	map->fd = sysbpf_array_create(name, value_size, entries);
	if (map->fd < 0)
		return error_set(err, map->fd,
				 "cannot create map '%s' (%u): %s", name,
				 entries, strerror(-map->fd));
	map->entries = mmap(NULL, map->bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED, map->fd, 0);
	if (map->entries == MAP_FAILED)
		return error_set(err, -errno, "cannot map '%s': %s", name,
				 strerror(errno));
	return 0;
}

static void unwind_map_close(struct unwind_map *map)
{
	if (map->entries != MAP_FAILED)
		munmap(map->entries, map->bytes);
	if (map->fd >= 0)
		close(map->fd);
}

int unwind_open(struct unwind_state **unwind, uint32_t rows,
		struct unwind_fds *fds, struct error *err)
{
	struct unwind_state *u = calloc(1, sizeof(*u));
	int ret;

	if (!u)
		return error_no_memory(err);
	u->row_map = u->segment_map = (struct unwind_map){ -1, MAP_FAILED };
	u->spaces_fd = u->cache_fd = u->inherit_fd = -1;
	ret = unwind_map_open(&u->row_map, "unwind_rows",
			      sizeof(struct unwind_row), rows, err);
	if (!ret)
		ret = unwind_map_open(&u->segment_map, "unwind_segments",
				      sizeof(struct unwind_segment),
				      SEGMENTS_ALL, err);
	if (!ret) {
		u->spaces_fd = bpf_map_create(BPF_MAP_TYPE_HASH,
					      "unwind_spaces", 4,
					      sizeof(struct unwind_space),
					      UNWIND_SPACES, NULL);
		if (u->spaces_fd < 0)
			ret = error_set(err, u->spaces_fd,
					"cannot create map 'unwind_spaces': %s",
					strerror(-u->spaces_fd));
	}
	if (!ret) {
		u->cache_fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY,
					     "unwind_cache", 4,
					     sizeof(struct unwind_cached),
					     UNWIND_CACHE, NULL);
		if (u->cache_fd < 0)
			ret = error_set(err, u->cache_fd,
					"cannot create map 'unwind_cache': %s",
					strerror(-u->cache_fd));
	}
	if (ret) {
		unwind_close(u);
		return ret;
	}
	u->rows = u->row_map.entries;
	u->room = rows;
	u->segments = u->segment_map.entries;
	*fds = (struct unwind_fds) {
		.rows = u->row_map.fd, .segments = u->segment_map.fd,
		.spaces = u->spaces_fd, .cache = u->cache_fd,
	};
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
static const struct module_table *module_table_add(struct unwind_state *u,
						   uint64_t hash,
						   struct cfi_module *module,
						   int ret)
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
		if (!table)
			table = module_table_add(u, hash, &module,
						 cfi_module_read(&module, fd));
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

/* 0, or -ESRCH: nothing is mapped there (any more). */
static int unwind_segments_read(struct unwind_state *u, uint32_t pid)
{
	const struct module_table *table;
	struct maps_lines lines;
	struct maps_line mapping;
	bool any = false;

	u->found_count = 0;
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
		if (table)
			segment_add(u, &mapping, table);
	}
	maps_lines_close(&lines);
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
		     struct unwind_range *range)
{
	struct unwind_space value = {
		range->first, range->count, range->generation,
	};
	struct unwind_range *before = key_map_find(&u->spaces, pid);
	int ret;

	if (!before && (u->spaces.count == UNWIND_SPACES ||
			key_map_reserve(&u->spaces))) {
		/* the inherited one */
		bpf_map_delete_elem(u->spaces_fd, &pid);
		return -ENOSPC;
	}
	range->users++;
	ret = bpf_map_update_elem(u->spaces_fd, &pid, &value, BPF_ANY);
	if (before) {
		key_map_remove(&u->spaces, pid, before);
		before->users--;
	}
	key_map_add(&u->spaces, pid, range);
	if (ret)
		unwind_drop_process(u, pid);
	return ret;
}

int unwind_add_process(struct unwind_state *u, uint32_t pid, struct error *err)
{
	struct unwind_range *range = key_map_find(&u->spaces, pid);

	if (unwind_segments_read(u, pid))
		return error_set(err, -ESRCH, "process %u is gone", pid);
	if (range && range->count == u->found_count &&
	    !memcmp(u->segments + range->first, u->found,
		    range->count * sizeof(*u->found)))
		return 0;
	range = range_make(u);
	if (!range || space_set(u, pid, range)) {
		u->figures.left_out++;
		unwind_drop_process(u, pid);
	}
	return 0;
}

int unwind_copy_process(struct unwind_state *u, uint32_t parent, uint32_t child)
{
	struct unwind_range *range = key_map_find(&u->spaces, parent);
	int ret = range ? space_set(u, child, range) : -ENOENT;

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

/* Frame of the BPF program, offsets from r10 */
#define FRAME_PARENT	(-4)	/* process id */
#define FRAME_CHILD	(-8)	/* process id */
#define FRAME_SPACE	(-16)	/* struct unwind_space */

/* A BPF program does it: the stacks of a process that lives shortly are needed
 * before anything here reads that it is there. */
int unwind_follow(struct unwind_state *u, struct error *err)
{
	struct emit e = { 0 };
	uint32_t tgid;
	const struct btf_want want = { "task_struct.tgid", &tgid };
	int code = raw_tracepoint_offsets(&want, 1, err);
	emit_label end;

	_Static_assert(sizeof(struct unwind_space) == 8, "it is copied as a word");
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
	emit_load(&e, 8, BPF_REG_1, BPF_REG_0, 0);
	emit_store(&e, 8, BPF_REG_10, FRAME_SPACE, BPF_REG_1);
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
	unwind_map_close(&u->row_map);
	unwind_map_close(&u->segment_map);
	if (u->spaces_fd >= 0)
		close(u->spaces_fd);
	if (u->cache_fd >= 0)
		close(u->cache_fd);
	if (u->inherit_fd >= 0)
		close(u->inherit_fd);
	free(u->tables);
	free(u);
}
