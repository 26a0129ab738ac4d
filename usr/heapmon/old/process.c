// SPDX-License-Identifier: GPL-2.0
#include "process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/elf_symbols.h"
#include "lib/maps_line.h"

int old_process_open(struct old_process *process, uint32_t pid,
		     struct error *err)
{
	unsigned char head[EI_NIDENT + 4];
	uint16_t machine;
	char path[32];
	int fd, got = 0;

	memset(process, 0, offsetof(struct old_process, window));
	process->pid = pid;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		got = read(fd, head, sizeof(head));
	if (got != sizeof(head)) {
		int code = fd < 0 ? -errno : -EIO;

		if (fd >= 0)
			close(fd);
		return error_set(err, code, "cannot read '%s': %s", path,
				 strerror(-code));
	}
	close(fd);
	memcpy(&machine, head + EI_NIDENT + 2, sizeof(machine));
	process->word = head[EI_CLASS] == ELFCLASS32 ? 4 : 8;
	process->i386 = machine == EM_386;
	return 0;
}

void old_process_close(struct old_process *process)
{
	free(process->regions);
	process->regions = NULL;
}

int old_process_map(struct old_process *process, struct error *err)
{
	struct maps_lines lines;
	struct maps_line maps;
	int code = maps_lines_open(&lines, process->pid);
	struct old_region *region;
	const char *slash;

	process->count = 0;
	process->window_size = 0;
	if (code)
		return error_set(err, code, "cannot read '/proc/%" PRIu32
				 "/maps': %s", process->pid, strerror(-code));
	while (!code && maps_lines_next(&lines, &maps)) {
		if (!array_grow(&process->regions, process->count,
				&process->room, sizeof(*process->regions)))
			code = error_no_memory(err);
		else {
			/* There is room for one more. brk's memory may be in
			 * parts, by madvise(2). */
			region = &process->regions[process->count];
			slash = strrchr(maps.path, '/');
			*region = (struct old_region){
				.start = maps.start,
				.end = maps.end,
				.writable = maps.mode[0] == 'r' &&
					    maps.mode[1] == 'w' &&
					    maps.mode[3] == 'p',
				.file = maps.inode != 0,
				.heap = !strncmp(maps.path, "[heap]", 6),
				.anonymous = !maps.inode &&
					     (!maps.path[0] ||
					      !strncmp(maps.path, "[anon:", 6)),
				.first = maps.inode && !maps.offset,
			};
			snprintf(region->name, sizeof(region->name), "%s",
				 slash ? slash + 1 : "");
			if (process->count && region->heap && region[-1].heap &&
			    region[-1].end == region->start)
				region[-1].end = region->end;
			else
				process->count++;
		}
	}
	maps_lines_close(&lines);
	return code;
}

const struct old_region *old_process_region(const struct old_process *process,
					    uint64_t address)
{
	size_t n = array_count_upto(process->regions, process->count,
				    sizeof(*process->regions), address);

	if (!n || process->regions[n - 1].end <= address)
		return NULL;
	return &process->regions[n - 1];
}

const struct old_region *old_process_heap(const struct old_process *process)
{
	for (size_t i = 0; i < process->count; i++)
		if (process->regions[i].heap)
			return &process->regions[i];
	return NULL;
}

/* libc, or ld.so: older ones define a malloc until libc is there. */
static bool region_is_glibc(const struct old_region *region)
{
	static const char *const begins[] = {
		"libc.so", "libc-2.", "ld-", "ld.so",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(region->name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static bool file_defines_malloc(int fd)
{
	struct elf_symbols at = { .type = SHT_DYNSYM };
	bool defines = false;

	elf_version(EV_CURRENT);
	at.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	while (at.elf && !defines && elf_symbols_next(&at))
		defines = !strcmp(at.name, "malloc");
	elf_end(at.elf);
	return defines;
}

const struct old_region *old_process_allocator(const struct old_process *process)
{
	for (size_t i = 0; i < process->count; i++) {
		const struct old_region *region = &process->regions[i];
		const struct maps_line mapping = {
			.start = region->start, .end = region->end,
		};
		bool defines;
		int fd;

		if (!region->first || region_is_glibc(region))
			continue;
		fd = maps_line_open(&mapping, process->pid);
		if (fd < 0)
			continue;
		defines = file_defines_malloc(fd);
		close(fd);
		if (defines)
			return region;
	}
	return NULL;
}

bool old_process_has_glibc(const struct old_process *process)
{
	for (size_t i = 0; i < process->count; i++)
		if (!strcmp(process->regions[i].name, "libc.so.6") ||
		    !strncmp(process->regions[i].name, "libc-2.", 7))
			return true;
	return false;
}

/* ---- reading ---- */

/* How many of the bytes are there. */
static size_t process_read_some(const struct old_process *process,
				uint64_t address, void *data, size_t size)
{
	struct iovec here = { data, size };
	struct iovec there = { (void *)(uintptr_t)address, size };
	ssize_t got = process_vm_readv(process->pid, &here, 1, &there, 1, 0);

	return got < 0 ? 0 : got;
}

bool old_process_read(const struct old_process *process, uint64_t address,
		      void *data, size_t size)
{
	return process_read_some(process, address, data, size) == size;
}

uint64_t old_word(const struct old_process *process, const void *data)
{
	uint64_t value = 0;

	memcpy(&value, data, process->word);
	return value;
}

bool old_process_word(const struct old_process *process, uint64_t address,
		      uint64_t *value)
{
	uint8_t data[8];

	if (!old_process_read(process, address, data, process->word))
		return false;
	*value = old_word(process, data);
	return true;
}

/* More when what was read is used up, less when most of it is skipped. */
static void window_move(struct old_process *process, uint64_t address,
			uint64_t advance)
{
	size_t size = process->window_next;

	size = advance <= process->window_size + 64 ? size * 2 : size / 2;
	if (size < OLD_WINDOW_LEAST)
		size = OLD_WINDOW_LEAST;
	if (size > OLD_WINDOW_MOST)
		size = OLD_WINDOW_MOST;
	process->window_next = size;
	process->window_at = address;
	process->window_size = process_read_some(process, address,
						 process->window, size);
}

bool old_process_next_word(struct old_process *process, uint64_t address,
			   uint64_t *value)
{
	uint64_t at = address - process->window_at;

	if (at >= process->window_size ||
	    process->window_size - at < process->word) {
		window_move(process, address, at);
		at = 0;
		if (process->window_size < process->word)
			return false;
	}
	*value = old_word(process, process->window + at);
	return true;
}
