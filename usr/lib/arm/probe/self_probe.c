// SPDX-License-Identifier: GPL-2.0
#include "self_probe.h"

#include <errno.h>
#include <link.h>
#include <stddef.h>
#include "attach.h"

struct place {
	uintptr_t address;
	uint64_t offset;	/* in its file */
};

static int place_find(struct dl_phdr_info *info, size_t size, void *context)
{
	struct place *place = context;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && place->address >= start &&
		    place->address - start < ph->p_filesz) {
			place->offset = place->address - start + ph->p_offset;
			return 1;
		}
	}
	return 0;
}

int self_probe_link(int program, const void *function, bool returns,
		    uint32_t pid, const struct features *features)
{
	struct place place = { .address = (uintptr_t)function };

	if (!dl_iterate_phdr(place_find, &place))
		return -ENOENT;
	return attach_probe(program, "/proc/self/exe", place.offset, returns,
			    pid, features);
}
