// SPDX-License-Identifier: GPL-2.0
#include "dump.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "dump_elf.h"
#include "dump_flat.h"
#include "dump_kdump.h"

#define FLAT_MAGIC	"makedumpfile"
#define MAGIC_BYTES	16

/* ---- opening ---- */

static int magic_read(struct dump *dump, char *magic, const char *path,
		      struct error *err)
{
	off_t size = lseek(dump->fd, 0, SEEK_END);

	memset(magic, 0, MAGIC_BYTES);
	if (size < 0 || pread(dump->fd, magic, MAGIC_BYTES, 0) < 0)
		return error_set(err, -errno, "cannot read '%s': %s", path,
				 strerror(errno));
	dump->size = size;
	return 0;
}

static int dump_file_open(struct dump *dump, const char *path,
			  struct error *err)
{
	char magic[MAGIC_BYTES];
	int code = magic_read(dump, magic, path, err);

	if (!code && !memcmp(magic, FLAT_MAGIC, strlen(FLAT_MAGIC))) {
		code = dump_flat_open(dump, path, err);
		if (!code)
			code = magic_read(dump, magic, path, err);
	}
	if (code)
		return code;
	return memcmp(magic, ELFMAG, SELFMAG) ?
	       dump_kdump_open(dump, path, err) :
	       dump_elf_open(dump, path, err);
}

int dump_open(struct dump *dump, const char *path, struct error *err)
{
	int code;

	*dump = (struct dump){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	code = dump->fd < 0 ?
	       error_set(err, -errno, "cannot read '%s': %s", path,
			 strerror(errno)) :
	       dump_file_open(dump, path, err);
	if (code)
		dump_close(dump);
	return code;
}

void dump_close(struct dump *dump)
{
	if (dump->kdump)
		dump_kdump_close(dump);
	if (dump->fd >= 0)
		close(dump->fd);
	free(dump->segments);
	free(dump->info.data);
	free(dump->cpu.data);
	*dump = (struct dump){ .fd = -1 };
}

size_t dump_read(struct dump *dump, uint64_t physical, void *to, size_t size)
{
	return dump->kdump ? dump_kdump_read(dump, physical, to, size) :
			     dump_elf_read(dump, physical, to, size);
}

void dump_info_text(const struct dump *dump, const char *name, char *value,
		    size_t size)
{
	const char *line = dump->info.data, *end = line + dump->info.size;
	size_t length = strlen(name), n;

	*value = '\0';
	while (line && line < end) {
		const char *next = memchr(line, '\n', end - line);

		next = next ? next : end;
		n = next - line;
		if (n > length && line[length] == '=' &&
		    !memcmp(line, name, length)) {
			n -= length + 1;
			n = n < size ? n : size - 1;
			memcpy(value, line + length + 1, n);
			value[n] = '\0';
			return;
		}
		line = next + 1;
	}
}

int dump_info_number(const struct dump *dump, const char *name, int base,
		     uint64_t *value)
{
	char text[32], *end;
	uint64_t number;

	dump_info_text(dump, name, text, sizeof(text));
	number = strtoull(text, &end, base);
	if (!*text || *end)
		return 0;
	*value = number;
	return 1;
}
