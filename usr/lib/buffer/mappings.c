// SPDX-License-Identifier: GPL-2.0
#include "mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/sysbpf.h"
#include "lib/identity.h"
#include "lib/kernel_image.h"
#include "lib/maps_line.h"

static uint64_t key_order(const struct ras_process_key *key)
{
	return (uint64_t)key->pid << 32 | (uint64_t)key->session << 16 |
	       key->module;
}

static int entry_compare(const void *a, const void *b)
{
	const struct ras_process_entry *x = a, *y = b;
	uint64_t first = key_order(&x->key), second = key_order(&y->key);

	return first < second ? -1 : first > second;
}

int processes_read(struct processes *processes, const struct buffer *buffer)
{
	struct ras_process *values = calloc(RAS_PROCESSES_MAX, sizeof(*values));
	struct ras_process_key *keys = calloc(RAS_PROCESSES_MAX, sizeof(*keys));
	int n = 0;

	*processes = (struct processes){ 0 };
	if (keys && values) {
		n = sysbpf_hash_read(buffer->processes_fd, keys, sizeof(*keys),
				     values, sizeof(*values),
				     RAS_PROCESSES_MAX);
		n = n < 0 ? 0 : n;
		processes->items = calloc(n + 1, sizeof(*processes->items));
	}
	if (processes->items) {
		for (int i = 0; i < n; i++)
			processes->items[i] = (struct ras_process_entry){
				keys[i], values[i],
			};
		processes->count = n;
		qsort(processes->items, n, sizeof(*processes->items),
		      entry_compare);
	}
	free(keys);
	free(values);
	return processes->items ? 0 : -ENOMEM;
}

void processes_forget(const struct buffer *buffer)
{
	struct processes processes;

	if (processes_read(&processes, buffer))
		return;
	for (size_t i = 0; i < processes.count; i++) {
		const struct ras_process_key *key = &processes.items[i].key;

		if (key->session != RAS_STATIC_SESSION)
			bpf_map_delete_elem(buffer->processes_fd, key);
	}
	processes_free(&processes);
}

bool processes_have(const struct processes *processes,
		    const struct ras_process_entry *entry)
{
	const struct ras_process_entry *found = NULL;

	if (processes->count)
		found = bsearch(entry, processes->items, processes->count,
				sizeof(*entry), entry_compare);
	return found && found->process.seen == entry->process.seen &&
	       found->process.bias == entry->process.bias;
}

static int entry_compare_pid(const void *pid, const void *entry)
{
	const struct ras_process_entry *e = entry;

	return array_order(*(const uint32_t *)pid, e->key.pid);
}

bool processes_have_pid(const struct processes *processes, uint32_t pid)
{
	return processes->count &&
	       bsearch(&pid, processes->items, processes->count,
		       sizeof(*processes->items), entry_compare_pid);
}

void processes_free(struct processes *processes)
{
	free(processes->items);
	*processes = (struct processes){ 0 };
}

#define CACHE_MOST	4096	/* files */
#define MAPPINGS_MOST	65536	/* of a process */

struct mappings_known {
	dev_t device;
	ino_t inode;
	struct timespec changed;
	struct identity id;
};

static struct ras_mapping *mapping_add(struct mappings *m, uint64_t start,
				       uint64_t end, uint64_t offset)
{
	struct ras_mapping *items = m->items;

	if (m->count == MAPPINGS_MOST)
		return NULL;
	if (!(m->count & (m->count - 1)))
		items = reallocarray(items, m->count ? 2 * m->count : 1,
				     sizeof(*items));
	m->exhausted |= !items;
	if (!items)
		return NULL;
	m->items = items;
	items[m->count] = (struct ras_mapping){
		.start = start, .end = end, .offset = offset,
	};
	return &items[m->count++];
}

/* A path that is too long loses its beginning. */
static void mapping_name(struct ras_mapping *mapping, const char *path)
{
	size_t length = strlen(path), most = sizeof(mapping->path) - 1;

	if (length > most)
		path += length - most;
	strcpy(mapping->path, path);
}

static void mapping_identify(struct ras_mapping *mapping,
			     const struct identity *id)
{
	mapping->id_kind = id->kind;
	mapping->id_length = id->length;
	memcpy(mapping->id, id->id, sizeof(mapping->id));
}

/* ---- identities ---- */

static const struct identity *cache_find(const struct mappings_cache *cache,
					 const struct stat *st)
{
	for (size_t i = 0; i < cache->count; i++) {
		const struct mappings_known *known = &cache->items[i];

		if (known->device == st->st_dev && known->inode == st->st_ino &&
		    known->changed.tv_sec == st->st_ctim.tv_sec &&
		    known->changed.tv_nsec == st->st_ctim.tv_nsec)
			return &known->id;
	}
	return NULL;
}

static void cache_add(struct mappings_cache *cache, const struct stat *st,
		      const struct identity *id)
{
	void *items;

	if (cache->count == CACHE_MOST)
		return;
	items = reallocarray(cache->items, cache->count + 1,
			     sizeof(*cache->items));
	if (!items)
		return;
	cache->items = items;
	cache->items[cache->count++] = (struct mappings_known){
		st->st_dev, st->st_ino, st->st_ctim, *id,
	};
}

/* Of a file that the process chose: not waited for, whatever it is. 0, or a
 * negative errno: it can't be opened. */
static int file_identify(struct mappings_cache *cache, const char *path,
			 struct ras_mapping *mapping)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	const struct identity *known;
	struct identity id = { 0 };
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		known = cache_find(cache, &st);
		if (known) {
			id = *known;
		} else {
			identity_read_build_id(fd, &id);
			cache_add(cache, &st, &id);
		}
		mapping_identify(mapping, &id);
	}
	close(fd);
	return 0;
}

/* ---- processes ---- */

bool mappings_process_start(uint32_t pid, uint64_t *started)
{
	struct process_stat stat;

	if (process_stat_read(pid, &stat))
		return false;
	*started = stat.start * (1000000000ULL / sysconf(_SC_CLK_TCK));
	return true;
}

static void process_name(struct mappings *m, uint32_t pid)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(m->comm, sizeof(m->comm), file))
		m->comm[strcspn(m->comm, "\n")] = '\0';
	fclose(file);
}

static void mapping_take(struct mappings *m, struct mappings_cache *cache,
			 uint32_t pid, char *line)
{
	struct ras_mapping *mapping;
	struct maps_line maps;
	char path[96];
	int code;

	if (!maps_line_parse(line, &maps) || maps.mode[2] != 'x' ||
	    !maps.path[0])
		return;
	mapping = mapping_add(m, maps.start, maps.end, maps.offset);
	if (!mapping)
		return;
	mapping_name(mapping, maps.path);
	if (maps.path[0] != '/')
		return;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64
		 "-%" PRIx64, pid, maps.start, maps.end);
	code = file_identify(cache, path, mapping);
	m->torn |= code == -ENOENT || code == -ESRCH;
}

bool mappings_read_process(struct mappings *m, struct mappings_cache *cache,
			   uint32_t pid, uint64_t seen)
{
	uint64_t tick = 1000000000ULL / sysconf(_SC_CLK_TCK), started;
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	*m = (struct mappings){ 0 };
	if (!mappings_process_start(pid, &started) || started > seen + tick)
		return false;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (getline(&line, &room, file) > 0)
		mapping_take(m, cache, pid, line);
	m->torn |= ferror(file);
	free(line);
	fclose(file);
	process_name(m, pid);
	return m->count;
}

/* ---- a module by its file ---- */

static void module_segments(struct mappings *m, int fd, uint64_t bias)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	size_t count = 0;
	GElf_Phdr ph;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && elf_getphdrnum(elf, &count))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t before;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X))
			continue;
		before = ph.p_vaddr & (page - 1);
		mapping_add(m, bias + ph.p_vaddr - before,
			    bias + ph.p_vaddr + ph.p_memsz,
			    ph.p_offset - before);
	}
	elf_end(elf);
}

void mappings_add_module(struct mappings *m, struct mappings_cache *cache,
			 const char *path, uint64_t bias)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	size_t i = m->count;
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		module_segments(m, fd, bias);
	close(fd);
	for (; i < m->count; i++) {
		mapping_name(&m->items[i], path);
		file_identify(cache, path, &m->items[i]);
	}
}

/* ---- the kernel ---- */

/* From its begin to _etext, where the kernel shows its addresses. */
static void kernel_text(struct mappings *m)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	uint64_t address, start = 0, end = 0;
	struct ras_mapping *mapping;
	char line[1024], name[16];
	struct identity id;

	while (file && (!start || !end) && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 " %*c %15s", &address, name) != 2)
			continue;
		start = kernel_image_start(start, name, address);
		if (!strcmp(name, "_etext"))
			end = address;
	}
	if (file)
		fclose(file);
	mapping = start && start < end ? mapping_add(m, start, end, 0) : NULL;
	if (!mapping)
		return;
	strcpy(mapping->path, "vmlinux");
	identity_read_notes("/sys/kernel/notes", &id);
	mapping_identify(mapping, &id);
}

static int mappings_compare(const void *a, const void *b)
{
	const struct ras_mapping *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

bool mappings_read_kernel(struct mappings *m)
{
	FILE *file;
	char line[4096];
	char name[64];
	char path[128];
	uint64_t size;
	uint64_t address;
	struct identity id;

	*m = (struct mappings){ .comm = "kernel" };
	kernel_text(m);

	/* "xfs 1234567 1 - Live 0xffffffffc0000000" */
	file = fopen("/proc/modules", "re");
	while (file && fgets(line, sizeof(line), file)) {
		struct ras_mapping *mapping;

		if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s 0x%" SCNx64,
			   name, &size, &address) != 3 || !address)
			continue;
		mapping = mapping_add(m, address, address + size, 0);
		if (!mapping)
			break;
		mapping_name(mapping, name);
		snprintf(path, sizeof(path),
			 "/sys/module/%s/notes/.note.gnu.build-id", name);
		identity_read_notes(path, &id);
		mapping_identify(mapping, &id);
	}
	if (file)
		fclose(file);

	if (m->count)
		qsort(m->items, m->count, sizeof(*m->items), mappings_compare);
	return m->count;
}

void mappings_free(struct mappings *m)
{
	free(m->items);
	*m = (struct mappings){ 0 };
}

void mappings_cache_free(struct mappings_cache *cache)
{
	free(cache->items);
	*cache = (struct mappings_cache){ 0 };
}
