// SPDX-License-Identifier: GPL-2.0
#include "debugdata.h"

#include <errno.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "lib/library.h"

#define MEMORY_MOST	(128u << 20)	/* of the decoder */
#define SIZE_MOST	(64u << 20)
#define RATIO_FIRST	8		/* unpacked, of packed */
#define BUFFER_FULL	10		/* LZMA_BUF_ERROR */

typedef int unpack_function(uint64_t *memory, uint32_t flags,
			    const void *allocator, const uint8_t *in,
			    size_t *in_at, size_t in_size, uint8_t *out,
			    size_t *out_at, size_t out_size);

static Elf_Data *debugdata_section_find(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    header.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && !strcmp(name, wanted))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

int debugdata_read(Elf *elf, void **data, size_t *size)
{
	Elf_Data *packed = debugdata_section_find(elf, ".gnu_debugdata");
	unpack_function *unpack = packed && packed->d_size ?
		library_symbol("liblzma.so.5", "lzma_stream_buffer_decode") :
		NULL;
	int code = unpack ? BUFFER_FULL : 0;
	uint8_t *out = NULL;

	if (!unpack)
		return -ENOENT;
	for (size_t room = packed->d_size * RATIO_FIRST;
	     code == BUFFER_FULL && room <= SIZE_MOST; room *= 2) {
		uint64_t memory = MEMORY_MOST;
		size_t in_at = 0;

		free(out);
		out = malloc(room);
		if (!out)
			return -ENOMEM;
		*size = 0;
		code = unpack(&memory, 0, NULL, packed->d_buf, &in_at,
			      packed->d_size, out, size, room);
	}
	if (code || !out) {
		free(out);
		return -EBADMSG;
	}
	*data = out;
	return 0;
}
