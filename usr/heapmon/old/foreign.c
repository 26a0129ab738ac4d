// SPDX-License-Identifier: GPL-2.0
#include "foreign.h"

#include <string.h>
#include <unistd.h>
#include "lib/elf_symbols.h"
#include "lib/maps_line.h"


/* Older ones of ld.so define a malloc until libc is there. */
static bool name_is_loader(const char *name)
{
	return !strncmp(name, "ld-", 3) || !strncmp(name, "ld.so", 5);
}

const struct old_region *old_foreign_find(const struct old_process *process)
{
	struct elf_symbols at;

	for (size_t i = 0; i < process->count; i++) {
		const struct old_region *region = &process->regions[i];
		const struct maps_line mapping = {
			.start = region->start, .end = region->end,
		};
		bool defines;
		int fd;

		if (!region->first ||
		    (!strncmp(region->name, "libc.so", 7) ||
		     !strncmp(region->name, "libc-2.", 7)) ||
		    name_is_loader(region->name))
			continue;
		fd = maps_line_open(&mapping, process->pid);
		if (fd < 0)
			continue;
		at = (struct elf_symbols){ .type = SHT_DYNSYM };
		defines = false;
		elf_version(EV_CURRENT);
		at.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
		while (at.elf && !defines && elf_symbols_next(&at))
			defines = !strcmp(at.name, "malloc");
		elf_end(at.elf);
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
