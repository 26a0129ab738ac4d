// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as what the kernel prints in /proc and /sys, with names in it that
 * somebody else chose: lines of maps, kallsyms, stat; notes of modules.
 */
#include "lib/buffer/mappings.c"
#include "heapmon/old/process.c"
#include "lib/maps_line.h"
#include "lib/arm/kernel/kernel.c"
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void region_take(struct old_process *process, const char *line)
{
	struct maps_line maps;
	char *copy = strdup(line);

	if (!copy || !array_grow(&process->regions, process->count,
				 &process->room, sizeof(*process->regions)))
		abort();
	if (maps_line_parse(copy, &maps)) {
		region_add(process, &maps);
		if (!memchr(process->regions[process->count - 1].name, 0,
			    sizeof(process->regions->name)))
			abort();
	}
	free(copy);
}

static void maps_take(struct mappings *m, struct mappings_cache *cache,
		      const char *line)
{
	size_t before = m->count;
	char *copy = strdup(line);

	if (!copy)
		abort();
	mapping_take(m, cache, 0, copy);
	if (m->count > before &&
	    !memchr(m->items[before].path, 0, sizeof(m->items[before].path)))
		abort();
	free(copy);
}

/* As by fgets(), of 1024 bytes at most */
static void kallsyms_take(struct kallsyms *kallsyms, const char *line)
{
	char copy[LINE_MAX_BYTES];

	snprintf(copy, sizeof(copy), "%s", line);
	line_take(kallsyms, copy);
}

static void notes_take(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct identity id;
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	identity_read_notes(path, &id);
	if (id.length > sizeof(id.id))
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kallsyms kallsyms = { .module = "loop" };
	struct mappings_cache cache = { 0 };
	struct old_process *process = calloc(1, sizeof(*process));
	struct mappings m = { 0 };
	struct process_stat stat;
	FILE *file = fmemopen((void *)data, size, "r");
	char *line = NULL;
	size_t room = 0;

	if (!process)
		abort();
	kallsyms_add(&kallsyms, "loop_exit");
	while (file && getline(&line, &room, file) > 0) {
		region_take(process, line);
		maps_take(&m, &cache, line);
		kallsyms_take(&kallsyms, line);
		process_stat_parse(line, &stat);
	}
	if (file)
		fclose(file);
	free(line);
	notes_take(data, size);
	kallsyms_free(&kallsyms);
	mappings_free(&m);
	mappings_cache_free(&cache);
	old_process_close(process);
	free(process);
	return 0;
}
