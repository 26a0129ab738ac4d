// SPDX-License-Identifier: GPL-2.0
#include "loader.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "lib/elf_symbols.h"
#include "lib/maps_line.h"

#define STATE_32	12	/* offset of r_debug.r_state in a 32-bit one */

static int auxv_value(const uint8_t *auxv, size_t size, bool wide,
		      uint64_t type, uint64_t *value)
{
	size_t word = wide ? 8 : 4;

	for (size_t at = 0; at + 2 * word <= size; at += 2 * word) {
		uint64_t key = 0;

		memcpy(&key, auxv + at, word);
		if (key != type)
			continue;
		*value = 0;
		memcpy(value, auxv + at + word, word);
		return 0;
	}
	return -ENOENT;
}

static int proc_open(pid_t pid, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static ssize_t proc_read(pid_t pid, const char *name, void *data, size_t size)
{
	int fd = proc_open(pid, name);
	ssize_t n = fd < 0 ? -1 : read(fd, data, size);

	if (fd >= 0)
		close(fd);
	return n;
}

/* The file that is mapped from this address on */
static int loader_mapped_open(pid_t pid, uint64_t base)
{
	struct maps_lines lines;
	struct maps_line maps;
	int fd = -1;

	if (maps_lines_open(&lines, pid))
		return -1;
	while (fd < 0 && maps_lines_next(&lines, &maps))
		if (maps.start == base)
			fd = maps_line_open(&maps, pid);
	maps_lines_close(&lines);
	return fd;
}

struct loader_wanted {
	const char *name;
	uint64_t value;		/* 0: not found */
};

static void loader_symbols_find(Elf *elf, uint32_t type,
				struct loader_wanted *wanted, size_t count)
{
	struct elf_symbols at = { .elf = elf, .type = type };

	while (elf_symbols_next(&at))
		for (size_t k = 0; k < count; k++)
			if (!wanted[k].value &&
			    !strcmp(wanted[k].name, at.name))
				wanted[k].value = at.symbol.st_value;
}

int loader_read(struct loader *loader, pid_t pid)
{
	struct loader_wanted wanted[] = {
		{ "_dl_debug_state", 0 }, { "_r_debug", 0 },
	};
	uint8_t ident[EI_NIDENT] = { 0 }, auxv[1024];
	ssize_t size = proc_read(pid, "auxv", auxv, sizeof(auxv));
	uint64_t base = 0;
	bool wide;
	Elf *elf;
	int fd;

	*loader = (struct loader){ 0 };
	if (size < 0 || proc_read(pid, "exe", ident, sizeof(ident)) < 0)
		return -errno;
	wide = ident[EI_CLASS] == ELFCLASS64;
	if (auxv_value(auxv, size, wide, AT_ENTRY, &loader->stop))
		return -ENOENT;
	if (auxv_value(auxv, size, wide, AT_BASE, &base) || !base)
		return 0;
	fd = loader_mapped_open(pid, base);
	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf) {
		loader_symbols_find(elf, SHT_DYNSYM, wanted, 2);
		loader_symbols_find(elf, SHT_SYMTAB, wanted, 2);
	}
	elf_end(elf);
	close(fd);
	if (wanted[0].value)
		loader->stop = base + wanted[0].value;
	if (wanted[0].value && wanted[1].value)
		loader->state = base + wanted[1].value +
				(wide ? offsetof(struct r_debug, r_state) :
					STATE_32);
	return 0;
}

bool loader_is_done(const struct loader *loader, pid_t pid)
{
	uint32_t state = RT_CONSISTENT;
	int fd = loader->state ? proc_open(pid, "mem") : -1;

	if (fd < 0)
		return true;
	if (pread(fd, &state, sizeof(state), loader->state) != sizeof(state))
		state = RT_CONSISTENT;
	close(fd);
	return state == RT_CONSISTENT;
}
