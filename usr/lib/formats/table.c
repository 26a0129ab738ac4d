// SPDX-License-Identifier: GPL-2.0
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/hash.h"

#define FILE_MAX	(1u << 30)

/* The fields that struct tdf_header and struct tff_header begin with. */
struct table_header {
	char magic[8];
	uint16_t version, header_size;
	uint32_t file_size, crc, flags;
};

/* Up to the end of the file, which may have become shorter. */
static int table_file_fill(int fd, uint8_t *data, size_t room, size_t *size)
{
	ssize_t n;

	*size = 0;
	while (*size < room) {
		n = read(fd, data + *size, room - *size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		*size += n;
	}
	return 0;
}

int table_file_read(const char *path, void **data, size_t *size,
		    struct error *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), code = 0;
	struct stat st;

	*data = NULL;
	if (fd < 0)
		return error_set(err, -errno, "cannot open '%s': %s", path,
				 strerror(errno));
	if (fstat(fd, &st))
		code = -errno;
	else if (S_ISDIR(st.st_mode))
		code = -EISDIR;
	else if (!S_ISREG(st.st_mode))
		code = -ENOTSUP;
	else if (st.st_size > FILE_MAX)
		code = -EFBIG;
	else if (!(*data = malloc(st.st_size + 1)))
		code = -ENOMEM;
	else
		code = table_file_fill(fd, *data, st.st_size, size);
	close(fd);
	if (!code)
		return 0;
	free(*data);
	*data = NULL;
	if (code == -ENOTSUP)
		return error_set(err, -EINVAL, "'%s' is no regular file", path);
	return error_set(err, code, "cannot read '%s': %s", path,
			 strerror(-code));
}

int table_damaged(const struct table_file *file, const char *fmt, ...)
{
	char what[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	error_set(file->err, -EINVAL, "%s '%s' is damaged: %s", file->kind,
		  file->path, what);
	error_hint(file->err, "make it anew with trcust");
	return -EINVAL;
}

static uint32_t table_file_crc(const struct table_file *file)
{
	size_t at = offsetof(struct table_header, crc);
	uint32_t zero = 0, crc = hash_crc32(0, file->data, at);

	crc = hash_crc32(crc, &zero, sizeof(zero));
	at += sizeof(zero);
	return hash_crc32(crc, file->data + at, file->size - at);
}

int table_file_check(const struct table_file *file, const char magic[8],
		     unsigned int version, size_t header_size)
{
	struct table_header h;

	if (file->size >= 8 && memcmp(file->data, magic, 8))
		return error_set(file->err, -EINVAL, "'%s' is not a %s",
				 file->path, file->kind);
	if (file->size < sizeof(h))
		return table_damaged(file, "cut short: %zu bytes", file->size);
	memcpy(&h, file->data, sizeof(h));
	if (h.version != version) {
		error_set(file->err, -EINVAL,
			  "%s '%s' has version %u, this program reads version %u",
			  file->kind, file->path, h.version, version);
		error_hint(file->err, "compile it with a trcust of the same release");
		return -EINVAL;
	}
	if (h.header_size != header_size || file->size < header_size)
		return table_damaged(file, "header of %u bytes", h.header_size);
	if (h.file_size != file->size)
		return table_damaged(file, "%zu bytes instead of %u",
				     file->size, h.file_size);
	if (h.crc != table_file_crc(file))
		return table_damaged(file, "wrong checksum");
	if (h.flags)
		return table_damaged(file, "unknown flags %#x", h.flags);
	return 0;
}

const void *table_entries(const struct table_file *file, const char *name,
			  struct tdf_table table, size_t entry_size)
{
	uint64_t size = (uint64_t)table.count * entry_size;
	struct table_header h;

	if (!table.count)
		return file->data;
	memcpy(&h, file->data, sizeof(h));
	if (table.offset < h.header_size || table.offset % 8 ||
	    table.offset + size > file->size) {
		table_damaged(file, "table '%s' lies outside the file", name);
		return NULL;
	}
	return file->data + table.offset;
}

const char *table_strings(const struct table_file *file,
			  struct tdf_table table)
{
	const char *strings = table_entries(file, "strings", table, 1);

	if (!strings)
		return NULL;
	if (!table.count || strings[0] || strings[table.count - 1]) {
		table_damaged(file, "strings are not terminated");
		return NULL;
	}
	return strings;
}
