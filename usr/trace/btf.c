// SPDX-License-Identifier: GPL-2.0
/*
 * A BTF file is a header, then types that follow each other (their id is
 * their number, from 1), then strings. Documentation/bpf/btf.rst.
 */
#include "btf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/btf.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define NAMES_MAX	8

struct btf_file {
	const uint8_t *data;
	size_t size;
	bool mapped;
};

static int file_read(struct btf_file *file, int fd)
{
	uint8_t *data = malloc(file->size);
	size_t at = 0;
	ssize_t n = 1;

	if (!data)
		return -ENOMEM;
	while (at < file->size && n > 0) {
		n = read(fd, data + at, file->size - at);
		at += n > 0 ? n : 0;
	}
	file->data = data;
	file->size = at;
	return 0;
}

/* sysfs lets it be mapped since 6.16. */
static int file_open(struct btf_file *file, const char *path)
{
	int code = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_size <= 0) {
		close(fd);
		return -EINVAL;
	}
	file->size = st.st_size;
	data = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
	file->mapped = data != MAP_FAILED;
	if (file->mapped)
		file->data = data;
	else
		code = file_read(file, fd);
	close(fd);
	return code;
}

static void file_close(struct btf_file *file)
{
	if (file->mapped)
		munmap((void *)file->data, file->size);
	else
		free((void *)file->data);
}

static bool section_valid(const struct btf_file *file, uint32_t header,
			  uint32_t offset, uint32_t length)
{
	return header <= file->size && offset <= file->size - header &&
	       length <= file->size - header - offset;
}

/* Bytes behind the common part of a type; -1: unknown kind. */
static long type_extra(const struct btf_type *type)
{
	uint32_t n = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR: case BTF_KIND_FWD: case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE: case BTF_KIND_CONST: case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC: case BTF_KIND_FLOAT: case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT: case BTF_KIND_VAR: case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT: case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	default:
		return -1;
	}
}

static void types_walk(const uint8_t *types, uint32_t length,
		       const uint32_t *name_offs, size_t count, uint32_t *ids)
{
	uint32_t id = 1, at = 0;

	while (length - at >= sizeof(struct btf_type)) {
		const struct btf_type *type = (const void *)(types + at);
		long extra = type_extra(type);

		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC)
			for (size_t i = 0; i < count; i++)
				if (name_offs[i] == type->name_off)
					ids[i] = id;
		at += sizeof(*type);
		if (extra < 0 || extra > length - at)
			return;
		at += extra;
		id++;
	}
}

/* Offset of a string in the string section; 0 (the empty one) when absent. */
static uint32_t string_find(const char *strings, uint32_t length,
			    const char *name)
{
	size_t size = strlen(name) + 1;
	const char *p = strings, *end = strings + length;

	while ((p = memmem(p, end - p, name, size))) {
		if (p > strings && !p[-1])
			return p - strings;
		p++;
	}
	return 0;
}

int btf_functions_find(const char *path, const char *const *names,
		       size_t count, uint32_t *ids)
{
	uint32_t name_offs[NAMES_MAX];
	struct btf_file file = { 0 };
	const struct btf_header *h;
	bool all = count <= NAMES_MAX;
	int code = file_open(&file, path);

	if (code)
		return code;
	h = (const void *)file.data;
	if (file.size < sizeof(*h) || h->magic != BTF_MAGIC ||
	    h->type_off & 3 || h->hdr_len & 3 ||
	    !section_valid(&file, h->hdr_len, h->type_off, h->type_len) ||
	    !section_valid(&file, h->hdr_len, h->str_off, h->str_len)) {
		file_close(&file);
		return -EINVAL;
	}
	for (size_t i = 0; all && i < count; i++) {
		name_offs[i] = string_find((const char *)file.data +
					   h->hdr_len + h->str_off,
					   h->str_len, names[i]);
		all = name_offs[i];
	}
	if (all)
		types_walk(file.data + h->hdr_len + h->type_off, h->type_len,
			   name_offs, count, ids);
	file_close(&file);
	return 0;
}
