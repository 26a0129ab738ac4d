// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a program or library that is traced: what root reads of it -
 * identity, segments, static probes, allocator, loader - and a reader of traces
 * for names.
 */
#include "lib/arm/static.c"
#include "lib/launch.c"
#include <sys/mman.h>
#include "lib/identity.h"
#include "lib/buffer/mappings.h"
#include "lib/debug/symbols/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void identity_check(int fd)
{
	struct identity id = { 0 };
	struct symbol_elf elf;
	struct error err = { 0 };
	char text[64];

	if (identity_read(fd, "fuzz", &id, &err) && !err.text[0])
		abort();
	identity_print(id.kind, id.id, id.length, text);
	identity_read_build_id(fd, &id);
	if (id.length > sizeof(id.id))
		abort();
	if (symbol_elf_read(fd, &elf) &&
	    (elf.id_length > sizeof(elf.id) ||
	     elf.segment_count > SYMBOL_SEGMENTS))
		abort();
}

static int note_see(const struct usdt_note *note, void *context)
{
	uint64_t sum = 0, offset;

	for (size_t i = 0; i < note->size; i++)
		sum += note->names[i];
	return usdt_offset_find(context, note->address + (sum & 1), 0, &offset);
}

static void notes_see(int fd)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf)
		usdt_notes_each(elf, note_see, elf);
	elf_end(elf);
}

/* As files_add() does it, of a file that has no path. */
static void probes_check(const char *path)
{
	struct static_file file = { .fd = -1 };
	struct error err = { 0 };

	strcpy(file.path, path);
	if (static_file_fill(&file, &err) ? !err.text[0] : !file.count)
		abort();
	static_file_close(&file);
}

static void symbols_check(int fd)
{
	struct loader_wanted wanted[] = { { "malloc", 0 }, { "_r_debug", 0 } };
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);

	loader_symbols_find(elf, SHT_DYNSYM, wanted, 2);
	loader_symbols_find(elf, SHT_SYMTAB, wanted, 2);
	elf_end(elf);
}

static void mappings_check(const char *path)
{
	struct mappings_cache cache = { 0 };
	struct mappings m = { 0 };

	mappings_add_module(&m, &cache, path, 0x7f0000000000);
	for (size_t i = 0; i < m.count; i++)
		if (!memchr(m.items[i].path, 0, sizeof(m.items[i].path)))
			abort();
	mappings_free(&m);
	mappings_cache_free(&cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	identity_check(fd);
	notes_see(fd);
	probes_check(path);
	mappings_check(path);
	symbols_check(fd);
	close(fd);
	return 0;
}
