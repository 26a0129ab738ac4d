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

struct btf {
	struct btf_file file;
	const uint8_t *types;
	const char *strings;
	uint32_t types_length, strings_length;
};

static int btf_open(struct btf *btf, const char *path)
{
	const struct btf_header *h;
	int code;

	*btf = (struct btf){ 0 };
	code = file_open(&btf->file, path);
	if (code)
		return code;
	h = (const void *)btf->file.data;
	if (btf->file.size < sizeof(*h) || h->magic != BTF_MAGIC ||
	    h->type_off & 3 || h->hdr_len & 3 ||
	    !section_valid(&btf->file, h->hdr_len, h->type_off, h->type_len) ||
	    !section_valid(&btf->file, h->hdr_len, h->str_off, h->str_len)) {
		file_close(&btf->file);
		return -EINVAL;
	}
	btf->types = btf->file.data + h->hdr_len + h->type_off;
	btf->types_length = h->type_len;
	btf->strings = (const char *)btf->file.data + h->hdr_len + h->str_off;
	btf->strings_length = h->str_len;
	return 0;
}

struct cursor {
	uint32_t id;		/* of the type that cursor_next() returned */
	uint32_t at;
};

/* NULL: no more, or one that isn't known, behind which nothing is found. */
static const struct btf_type *cursor_next(struct cursor *cursor,
					  const struct btf *btf)
{
	const struct btf_type *type = (const void *)(btf->types + cursor->at);
	uint32_t rest = btf->types_length - cursor->at;
	long extra;

	if (rest < sizeof(*type))
		return NULL;
	extra = type_extra(type);
	if (extra < 0 || extra > rest - (long)sizeof(*type))
		return NULL;
	cursor->at += sizeof(*type) + extra;
	cursor->id++;
	return type;
}

/* Offset of a string in the string section; 0 (the empty one) when absent. */
static uint32_t string_find(const struct btf *btf, const char *name)
{
	size_t size = strlen(name) + 1;
	const char *p = btf->strings, *end = p + btf->strings_length;

	while ((p = memmem(p, end - p, name, size))) {
		if (p > btf->strings && !p[-1])
			return p - btf->strings;
		p++;
	}
	return 0;
}

/* false: one of the names is nowhere in the file. */
static bool strings_find(const struct btf *btf, const char *const *names,
			 size_t count, uint32_t *name_offs)
{
	for (size_t i = 0; i < count; i++) {
		name_offs[i] = string_find(btf, names[i]);
		if (!name_offs[i])
			return false;
	}
	return true;
}

int btf_functions_find(const char *path, const char *const *names,
		       size_t count, uint32_t *ids)
{
	uint32_t name_offs[NAMES_MAX];
	struct cursor cursor = { 0 };
	const struct btf_type *type;
	struct btf btf;
	int code = count > NAMES_MAX ? -EINVAL : btf_open(&btf, path);

	if (code)
		return code;
	if (strings_find(&btf, names, count, name_offs))
		while ((type = cursor_next(&cursor, &btf)))
			for (size_t i = 0; i < count; i++)
				if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC &&
				    name_offs[i] == type->name_off)
					ids[i] = cursor.id;
	file_close(&btf.file);
	return 0;
}

static bool is_structure(const struct btf_type *type)
{
	return BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT;
}

/* By its name, or where that is 0, by its id. */
static const struct btf_type *structure_find(const struct btf *btf,
					     uint32_t name_off, uint32_t id)
{
	struct cursor cursor = { 0 };
	const struct btf_type *type;

	while ((type = cursor_next(&cursor, btf)))
		if (is_structure(type) &&
		    (name_off ? type->name_off == name_off : cursor.id == id))
			return type;
	return NULL;
}

static const struct btf_member *member_find(const struct btf_type *type,
					    uint32_t name_off)
{
	const struct btf_member *members = (const void *)(type + 1);

	for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info); i++)
		if (members[i].name_off == name_off)
			return &members[i];
	return NULL;
}

/* Adds to *offset; false: no such member, or not at a whole byte. */
static bool members_follow(const struct btf *btf, const uint32_t *name_offs,
			   size_t count, uint32_t *offset)
{
	const struct btf_type *type = structure_find(btf, name_offs[0], 0);
	const struct btf_member *member;
	uint32_t bits;

	for (size_t i = 1; i < count; i++) {
		member = type ? member_find(type, name_offs[i]) : NULL;
		if (!member)
			return false;
		bits = BTF_INFO_KFLAG(type->info) ?
			BTF_MEMBER_BIT_OFFSET(member->offset) : member->offset;
		if (bits % 8)
			return false;
		*offset += bits / 8;
		if (i + 1 < count)
			type = structure_find(btf, 0, member->type);
	}
	return true;
}

int btf_member_find(const char *path, const char *const *names, size_t count,
		    uint32_t *offset)
{
	uint32_t name_offs[NAMES_MAX];
	struct btf btf;
	int code = count > NAMES_MAX ? -EINVAL : btf_open(&btf, path);

	if (code)
		return code;
	*offset = 0;
	if (!strings_find(&btf, names, count, name_offs) ||
	    !members_follow(&btf, name_offs, count, offset))
		code = -ENOENT;
	file_close(&btf.file);
	return code;
}
