// SPDX-License-Identifier: GPL-2.0
#include "foreign.h"

#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool symbol_is_malloc(Elf *elf, const GElf_Shdr *header, Elf_Data *data,
			     int i)
{
	GElf_Sym symbol;
	const char *name;

	if (!gelf_getsym(data, i, &symbol) || symbol.st_shndx == SHN_UNDEF)
		return false;
	name = elf_strptr(elf, header->sh_link, symbol.st_name);
	return name && !strcmp(name, "malloc");
}

static bool section_defines(Elf *elf, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;

	if (!data || !gelf_getshdr(section, &header) || !header.sh_entsize)
		return false;
	for (uint64_t i = 1; i < header.sh_size / header.sh_entsize; i++)
		if (symbol_is_malloc(elf, &header, data, i))
			return true;
	return false;
}

static bool file_defines(int fd)
{
	Elf *elf;
	Elf_Scn *section = NULL;
	bool defines = false;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	while (!defines && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) &&
		    header.sh_type == SHT_DYNSYM)
			defines = section_defines(elf, section);
	}
	elf_end(elf);
	return defines;
}

static bool name_is_libc(const char *name)
{
	return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-2.", 7);
}

/* Older ones of ld.so define a malloc until libc is there. */
static bool name_is_loader(const char *name)
{
	return !strncmp(name, "ld-", 3) || !strncmp(name, "ld.so", 5);
}

const struct old_region *old_foreign_find(const struct old_process *process)
{
	for (size_t i = 0; i < process->count; i++) {
		const struct old_region *region = &process->regions[i];
		char path[96];
		bool defines;
		int fd;

		if (!region->first || name_is_libc(region->name) ||
		    name_is_loader(region->name))
			continue;
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%"
			 PRIx64 "-%" PRIx64, process->pid, region->start,
			 region->end);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		defines = file_defines(fd);
		close(fd);
		if (defines)
			return region;
	}
	return NULL;
}

bool old_foreign_has_glibc(const struct old_process *process)
{
	for (size_t i = 0; i < process->count; i++)
		if (!strcmp(process->regions[i].name, "libc.so.6") ||
		    !strncmp(process->regions[i].name, "libc-2.", 7))
			return true;
	return false;
}
