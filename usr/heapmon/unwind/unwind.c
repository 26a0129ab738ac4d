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
#include "lib/key_map.h"
#include "lib/maps_line.h"
#include "lib/sysbpf.h"
#include "inherit.h"
#include "module_tables.h"

#define SEGMENTS_ALL	65536	/* entries of the map */
#define IMAGE_MAX	(1 << 20)	/* bytes of a vDSO */

/* Segments that one process has, or several after a fork */
struct unwind_range {
	uint32_t first, count;
	unsigned int users;
};

struct unwind_state {
	struct module_tables tables;
	int segments_fd, spaces_fd;
	int inherit_fd;				/* -1: of inherit_start() */
	struct unwind_segment *segments;	/* mapped */
	uint32_t next;				/* where to look for room */
	struct unwind_range *ranges[UNWIND_SPACES];
	size_t range_count;
	struct key_map spaces;			/* ranges by process id */
	uint64_t left_out;
};

struct segments {
	struct unwind_segment items[UNWIND_SEGMENTS];
	uint32_t count;
};

static size_t segments_bytes(void)
{
	return SEGMENTS_ALL * sizeof(struct unwind_segment);
}

static int unwind_maps_open(struct unwind_state *u, struct error *err)
{
	u->segments_fd = sysbpf_array_create("unwind_segments",
					     sizeof(struct unwind_segment),
					     SEGMENTS_ALL);
	if (u->segments_fd < 0)
		return error_set(err, u->segments_fd,
				 "cannot create map 'unwind_segments': %s",
				 strerror(-u->segments_fd));
	u->segments = mmap(NULL, segments_bytes(), PROT_READ | PROT_WRITE,
			   MAP_SHARED, u->segments_fd, 0);
	if (u->segments == MAP_FAILED)
		return error_set(err, -errno,
				 "cannot map 'unwind_segments': %s",
				 strerror(errno));
	u->spaces_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "unwind_spaces", 4,
				      sizeof(struct unwind_space),
				      UNWIND_SPACES, NULL);
	if (u->spaces_fd < 0)
		return error_set(err, u->spaces_fd,
				 "cannot create map 'unwind_spaces': %s",
				 strerror(-u->spaces_fd));
	return 0;
}

int unwind_open(struct unwind_state **unwind, uint32_t rows,
		struct unwind_fds *fds, struct error *err)
{
	struct unwind_state *u = calloc(1, sizeof(*u));
	int ret;

	if (!u)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	u->segments_fd = u->spaces_fd = u->inherit_fd = -1;
	u->segments = MAP_FAILED;
	ret = module_tables_open(&u->tables, rows, err);
	if (!ret)
		ret = unwind_maps_open(u, err);
	if (ret) {
		unwind_close(u);
		return ret;
	}
	*fds = (struct unwind_fds) {
		.rows = u->tables.fd, .segments = u->segments_fd,
		.spaces = u->spaces_fd,
	};
	*unwind = u;
	return 0;
}

int unwind_follow(struct unwind_state *u, struct error *err)
{
	u->inherit_fd = inherit_start(u->spaces_fd, err);
	return u->inherit_fd < 0 ? u->inherit_fd : 0;
}

/* ---- segments of a process ---- */

static void segment_add(struct unwind_state *u, struct segments *segments,
			const struct maps_line *mapping,
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
	if (segments->count == UNWIND_SEGMENTS) {
		u->left_out++;
		return;
	}
	if (bytes > load->bytes - (mapping->offset - load->offset))
		bytes = load->bytes - (mapping->offset - load->offset);
	segments->items[segments->count++] = (struct unwind_segment) {
		.start = mapping->start, .end = mapping->start + bytes,
		.base = mapping->start - load->pc -
			(mapping->offset - load->offset),
		.first = table->first, .rows = table->rows,
	};
}

/* As the process sees it, whatever has become of its path */
static const struct module_table *file_table(struct unwind_state *u,
					     uint32_t pid,
					     const struct maps_line *mapping)
{
	const struct module_table *table;
	int fd = maps_line_open(mapping, pid);

	if (fd < 0)
		return NULL;
	table = module_tables_file(&u->tables, fd);
	close(fd);
	return table;
}

static const struct module_table *image_table(struct unwind_state *u,
					      uint32_t pid,
					      const struct maps_line *mapping)
{
	uint64_t size = mapping->end - mapping->start;
	const struct module_table *table = NULL;
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
	if (image && pread(fd, image, size, mapping->start) == (ssize_t)size)
		table = module_tables_image(&u->tables, image, size);
	free(image);
	close(fd);
	return table;
}

/* 0, or -ESRCH: nothing is mapped there (any more). */
static int unwind_segments_read(struct unwind_state *u, uint32_t pid,
				struct segments *segments)
{
	const struct module_table *table;
	struct maps_lines lines;
	struct maps_line mapping;
	bool any = false;

	segments->count = 0;
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
			segment_add(u, segments, &mapping, table);
	}
	maps_lines_close(&lines);
	return any ? 0 : -ESRCH;
}

/* ---- room for them ---- */

static const struct unwind_range *range_over(const struct unwind_state *u,
					     uint32_t first, uint32_t count)
{
	for (size_t i = 0; i < u->range_count; i++) {
		const struct unwind_range *range = u->ranges[i];

		if (first < range->first + range->count &&
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

static struct unwind_range *range_make(struct unwind_state *u,
				       const struct segments *segments)
{
	struct unwind_range *range;

	if (u->range_count == UNWIND_SPACES)
		return NULL;
	range = calloc(1, sizeof(*range));
	if (!range)
		return NULL;
	range->count = segments->count;
	if (!range_place(u, range)) {
		free(range);
		return NULL;
	}
	memcpy(u->segments + range->first, segments->items,
	       range->count * sizeof(*u->segments));
	u->ranges[u->range_count++] = range;
	return range;
}

static void range_put(struct unwind_state *u, struct unwind_range *range)
{
	if (--range->users)
		return;
	for (size_t i = 0; i < u->range_count; i++) {
		if (u->ranges[i] != range)
			continue;
		u->ranges[i] = u->ranges[--u->range_count];
		break;
	}
	free(range);
}

/* ---- processes ---- */

/* The process has these segments from now on, instead of others. */
static int space_set(struct unwind_state *u, uint32_t pid,
		     struct unwind_range *range)
{
	struct unwind_space value = { range->first, range->count };
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
		range_put(u, before);
	}
	key_map_add(&u->spaces, pid, range);
	if (ret)
		unwind_drop_process(u, pid);
	return ret;
}

int unwind_add_process(struct unwind_state *u, uint32_t pid, struct error *err)
{
	struct segments *segments = malloc(sizeof(*segments));
	struct unwind_range *range = key_map_find(&u->spaces, pid);
	int ret;

	if (!segments)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	ret = unwind_segments_read(u, pid, segments);
	if (ret)
		error_set(err, ret, "process %u is gone", pid);
	if (ret || (range && range->count == segments->count &&
		    !memcmp(u->segments + range->first, segments->items,
			    range->count * sizeof(*segments->items)))) {
		free(segments);
		return ret;
	}
	range = range_make(u, segments);
	free(segments);
	if (range) {
		range->users++;
		ret = space_set(u, pid, range);
		range_put(u, range);
	}
	if (!range || ret) {
		u->left_out++;
		unwind_drop_process(u, pid);
	}
	return 0;
}

int unwind_copy_process(struct unwind_state *u, uint32_t parent, uint32_t child)
{
	struct unwind_range *range = key_map_find(&u->spaces, parent);
	int ret = range ? space_set(u, child, range) : -ENOENT;

	u->left_out += ret == -ENOSPC;
	return ret;
}

void unwind_drop_process(struct unwind_state *u, uint32_t pid)
{
	struct unwind_range *range = key_map_find(&u->spaces, pid);

	bpf_map_delete_elem(u->spaces_fd, &pid);
	if (!range)
		return;
	key_map_remove(&u->spaces, pid, range);
	range_put(u, range);
}

void unwind_figures(const struct unwind_state *u,
		    struct unwind_figures *figures)
{
	*figures = (struct unwind_figures) {
		.rows = u->tables.rows, .modules = u->tables.modules,
		.without = u->tables.without,
		.left_out = u->tables.left_out + u->left_out,
	};
}

void unwind_close(struct unwind_state *u)
{
	struct unwind_range *range;
	size_t at = 0;

	while ((range = key_map_next(&u->spaces, &at)))
		range_put(u, range);
	key_map_free(&u->spaces);
	if (u->segments != MAP_FAILED)
		munmap(u->segments, segments_bytes());
	if (u->segments_fd >= 0)
		close(u->segments_fd);
	if (u->spaces_fd >= 0)
		close(u->spaces_fd);
	if (u->inherit_fd >= 0)
		close(u->inherit_fd);
	module_tables_close(&u->tables);
	free(u);
}
