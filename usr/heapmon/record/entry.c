// SPDX-License-Identifier: GPL-2.0
#include "entry.h"

#include <elf.h>
#include <unistd.h>

bool allocator_entry_read(const struct allocator_file *file,
			  struct allocator_place *place, bool release)
{
	uint8_t code[ENTRY_CODE] = { 0 };

	if (pread(file->fd, code, sizeof(code), place->offset) <= 0)
		return false;
	switch (file->machine) {
	case EM_X86_64:
	case EM_386:
		return entry_read_x86(place, code,
				      file->elf_class == ELFCLASS64, release);
	case EM_AARCH64:
		return entry_read_a64(place, code);
	default:
		return false;
	}
}
