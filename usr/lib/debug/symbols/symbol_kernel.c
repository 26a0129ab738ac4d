// SPDX-License-Identifier: GPL-2.0
#include "symbol_kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <rastrace/tdf.h>
#include "lib/array.h"
#include "lib/kernel_image.h"
#include "symbol_elf.h"

#define NOTES_MAX	4096	/* bytes of a module's notes */

struct kernel_symbol {
	uint64_t address;
	size_t name;		/* offset in names */
};

struct symbol_kernel {
	struct kernel_symbol *symbols;	/* ascending */
	size_t count, room;
	char *names;
	size_t name_bytes, name_room;
	uint64_t text;			/* where the image begins */
};

/* "ffffffff81000000 T _text", with "\t[xfs]" after a module's. Code only. */
static bool line_add(struct symbol_kernel *kernel, char *line)
{
	uint64_t address;
	char type, name[512];
	size_t n;

	if (sscanf(line, "%" SCNx64 " %c %511s", &address, &type, name) != 3 ||
	    !address || !strchr("tTwW", type) ||
	    *name == '$')	/* begins code, or data in it: aaelf64, 5.5.4 */
		return true;
	kernel->text = kernel_image_start(kernel->text, name, address);
	n = strlen(name) + 1;
	if (kernel->name_room - kernel->name_bytes < n) {
		size_t room = 2 * kernel->name_room + (64 << 10);
		char *names = realloc(kernel->names, room);

		if (!names)
			return false;
		kernel->names = names;
		kernel->name_room = room;
	}
	if (!array_grow(&kernel->symbols, kernel->count, &kernel->room,
			sizeof(*kernel->symbols)))
		return false;
	kernel->symbols[kernel->count++] =
		(struct kernel_symbol){ address, kernel->name_bytes };
	memcpy(kernel->names + kernel->name_bytes, name, n);
	kernel->name_bytes += n;
	return true;
}

struct symbol_kernel *symbol_kernel_open(void)
{
	struct symbol_kernel *kernel = calloc(1, sizeof(*kernel));
	FILE *file = fopen("/proc/kallsyms", "re");
	bool good = kernel && file;
	char line[1024];

	while (good && fgets(line, sizeof(line), file))
		good = line_add(kernel, line);
	if (file)
		fclose(file);
	if (!good || !kernel->count) {
		symbol_kernel_close(kernel);
		return NULL;
	}
	qsort(kernel->symbols, kernel->count, sizeof(*kernel->symbols),
	      array_compare);
	return kernel;
}

void symbol_kernel_close(struct symbol_kernel *kernel)
{
	if (!kernel)
		return;
	free(kernel->symbols);
	free(kernel->names);
	free(kernel);
}

static bool notes_match(const char *path, const struct ras_mapping *mapping)
{
	uint8_t notes[NOTES_MAX], id[30];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, notes, sizeof(notes));
	uint8_t length = n > 0 ? symbol_elf_note(notes, n, id) : 0;

	if (fd >= 0)
		close(fd);
	return length && mapping->id_kind == TDF_ID_BUILD &&
	       length == mapping->id_length &&
	       !memcmp(id, mapping->id, length);
}

/* Names of modules have no slash; one that has isn't looked for. */
uint64_t symbol_kernel_base(const struct symbol_kernel *kernel,
			    const struct ras_mapping *mapping)
{
	char wanted[64], name[64], path[128], line[4096];
	uint64_t address, found = 0;
	FILE *file;

	if (strnlen(mapping->path, sizeof(wanted)) >= sizeof(wanted))
		return 0;
	strcpy(wanted, mapping->path);
	if (!strcmp(wanted, "vmlinux"))
		return notes_match("/sys/kernel/notes", mapping) ?
		       kernel->text : 0;
	if (!*wanted || strchr(wanted, '/') || *wanted == '.')
		return 0;
	snprintf(path, sizeof(path),
		 "/sys/module/%s/notes/.note.gnu.build-id", wanted);
	if (!notes_match(path, mapping))
		return 0;
	/* "xfs 1234567 1 - Live 0xffffffffc0000000" */
	file = fopen("/proc/modules", "re");
	while (file && !found && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %*s %*s %*s %*s 0x%" SCNx64, name,
			   &address) == 2 && !strcmp(name, wanted))
			found = address;
	if (file)
		fclose(file);
	return found;
}

void symbol_kernel_find(const struct symbol_kernel *kernel, uint64_t address,
			struct symbols_place *place)
{
	size_t n = array_count_upto(kernel->symbols, kernel->count,
				    sizeof(*kernel->symbols), address);

	if (!n)
		return;
	place->symbol = kernel->names + kernel->symbols[n - 1].name;
	place->offset = address - kernel->symbols[n - 1].address;
}
