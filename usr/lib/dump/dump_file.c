// SPDX-License-Identifier: GPL-2.0
#include "dump_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/temp_file.h"

#define INFO_NAME	"VMCOREINFO"
#define CPU_NAME	"QEMU"

int dump_damaged(const char *path, const char *what, struct error *err)
{
	return error_set(err, -EINVAL, "'%s' is damaged: %s", path, what);
}

bool dump_fetch(const struct dump *dump, uint64_t at, void *to, size_t size)
{
	return at <= INT64_MAX - size &&
	       !temp_file_read(dump->fd, to, size, at);
}

/* A copy with a zero at its end. */
void dump_text_set(struct dump_text *text, const void *data, size_t size)
{
	if (text->data)
		return;
	text->data = malloc(size + 1);
	if (!text->data)
		return;
	memcpy(text->data, data, size);
	text->data[size] = '\0';
	text->size = size;
}

void dump_notes_take(struct dump *dump, const uint8_t *notes, size_t size)
{
	Elf64_Nhdr note;
	size_t at = 0;

	while (size - at >= sizeof(note)) {
		uint64_t name, data;

		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		name = ((uint64_t)note.n_namesz + 3) & ~3ULL;
		data = ((uint64_t)note.n_descsz + 3) & ~3ULL;
		if (name > size - at || data > size - at - name)
			return;
		if (note.n_namesz == sizeof(INFO_NAME) &&
		    !memcmp(notes + at, INFO_NAME, sizeof(INFO_NAME)))
			dump_text_set(&dump->info, notes + at + name,
				      note.n_descsz);
		if (note.n_namesz == sizeof(CPU_NAME) &&
		    !memcmp(notes + at, CPU_NAME, sizeof(CPU_NAME)))
			dump_text_set(&dump->cpu, notes + at + name,
				      note.n_descsz);
		at += name + data;
	}
}
