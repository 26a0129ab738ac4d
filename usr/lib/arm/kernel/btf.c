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

struct btf_file {
	const uint8_t *data;
	size_t size;
	bool mapped;
};

static int btf_file_read(struct btf_file *file, int fd)
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
static int btf_file_open(struct btf_file *file, const char *path)
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
		code = btf_file_read(file, fd);
	close(fd);
	return code;
}

static void btf_file_close(struct btf_file *file)
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

/* Bytes after the common part of a type; -1: unknown kind. */
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
	code = btf_file_open(&btf->file, path);
	if (code)
		return code;
	h = (const void *)btf->file.data;
	if (btf->file.size < sizeof(*h) || h->magic != BTF_MAGIC ||
	    h->type_off & 3 || h->hdr_len & 3 ||
	    !section_valid(&btf->file, h->hdr_len, h->type_off, h->type_len) ||
	    !section_valid(&btf->file, h->hdr_len, h->str_off, h->str_len)) {
		btf_file_close(&btf->file);
		return -EINVAL;
	}
	btf->types = btf->file.data + h->hdr_len + h->type_off;
	btf->types_length = h->type_len;
	btf->strings = (const char *)btf->file.data + h->hdr_len + h->str_off;
	btf->strings_length = h->str_len;
	return 0;
}

struct btf_cursor {
	uint32_t id;		/* of the type that was returned last */
	uint32_t at;
};

/* NULL: no more, or one of an unknown kind, after which nothing is found. */
static const struct btf_type *btf_cursor_next(struct btf_cursor *cursor,
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

/* Ids become places by `at`, filled as far as the types are gone through. */
struct btf_index {
	uint32_t *at;
	uint32_t count, room;
	uint32_t left;		/* anonymous members to look into: a structure
				 * that is hostile has itself in it */
};

#define MODIFIERS_MAX	8	/* of one type; more are none of the kernel's */

/* The structure or union that a type is, by whatever names; or NULL. */
static const struct btf_type *structure_by_id(const struct btf *btf,
					      const struct btf_index *index,
					      uint32_t id)
{
	for (int i = 0; i < MODIFIERS_MAX && id && id <= index->count; i++) {
		const struct btf_type *type =
			(const void *)(btf->types + index->at[id - 1]);

		switch (BTF_INFO_KIND(type->info)) {
		case BTF_KIND_STRUCT: case BTF_KIND_UNION:
			return type;
		case BTF_KIND_TYPEDEF: case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE: case BTF_KIND_TYPE_TAG:
			id = type->type;
			break;
		default:
			return NULL;
		}
	}
	return NULL;
}

/* Is the string at `offset` the `length` bytes of `name`? */
static bool btf_name_is(const struct btf *btf, uint32_t offset,
			const char *name, size_t length)
{
	const char *string = btf->strings + offset;

	return offset < btf->strings_length &&
	       length < btf->strings_length - offset &&
	       !memcmp(string, name, length) && !string[length];
}

#define ANONYMOUS_DEPTH	4	/* structures in each other, at most */
#define ANONYMOUS_MOST	1024	/* of a name that is looked for */

/* The anonymous structure or union that a member is; or NULL. */
static const struct btf_type *member_inner(const struct btf *btf,
					   struct btf_index *index,
					   const struct btf_member *member,
					   int depth)
{
	if (member->name_off || depth >= ANONYMOUS_DEPTH || !index->left)
		return NULL;
	index->left--;
	return structure_by_id(btf, index, member->type);
}

/* A member of the structure, or of an anonymous one in it; *bits is increased
 * by where it is. NULL: there is none. */
static const struct btf_member *btf_member_find(const struct btf *btf,
						struct btf_index *index,
						const struct btf_type *type,
						const char *name, size_t length,
						uint32_t *bits, int depth)
{
	const struct btf_member *found, *member = (const void *)(type + 1);
	uint32_t count = BTF_INFO_VLEN(type->info);
	const struct btf_type *inner;

	for (uint32_t i = 0; i < count; i++, member++) {
		uint32_t at =
			*bits + (BTF_INFO_KFLAG(type->info)
					 ? BTF_MEMBER_BIT_OFFSET(member->offset)
					 : member->offset);

		found = NULL;
		inner = member_inner(btf, index, member, depth);
		if (btf_name_is(btf, member->name_off, name, length))
			found = member;
		else if (inner)
			found = btf_member_find(btf, index, inner, name, length,
						&at, depth + 1);
		if (found) {
			*bits = at;
			return found;
		}
	}
	return NULL;
}

/* `name` is what follows the structure's own name, ".thread.ds". */
static void member_follow(const struct btf *btf, struct btf_index *index,
			  const struct btf_type *type, const char *name,
			  uint32_t *value)
{
	const struct btf_member *member;
	uint32_t bits = 0;

	index->left = ANONYMOUS_MOST;
	while (*name == '.') {
		size_t length = strcspn(++name, ".");

		member = type ? btf_member_find(btf, index, type, name, length,
						&bits, 0) : NULL;
		if (!member)
			return;
		type = structure_by_id(btf, index, member->type);
		name += length;
	}
	if (!(bits % 8))
		*value = bits / 8;
}

/* A want with its first part taken off, and the type that has that name. */
struct btf_search {
	const struct btf_want *want;
	size_t length;
	uint32_t kind;
	uint32_t id;		/* 0: not found yet */
};

static void btf_search_begin(struct btf_search *search,
			     const struct btf_want *want)
{
	size_t length = strcspn(want->name, ".(:");

	*search = (struct btf_search){
		.want = want, .length = length,
		.kind = want->name[length] == '(' ? BTF_KIND_FUNC :
			want->name[length] == ':' ? BTF_KIND_VAR :
						    BTF_KIND_STRUCT,
	};
}

static void type_match(struct btf_search *searches, size_t count,
		       const struct btf *btf, const struct btf_type *type,
		       uint32_t id)
{
	uint32_t kind = BTF_INFO_KIND(type->info);

	if (kind != BTF_KIND_STRUCT && kind != BTF_KIND_FUNC &&
	    kind != BTF_KIND_VAR)
		return;
	for (size_t i = 0; i < count; i++) {
		struct btf_search *search = &searches[i];

		if (!search->id && search->kind == kind &&
		    btf_name_is(btf, type->name_off, search->want->name,
				search->length))
			search->id = id;
	}
}

static bool types_search(const struct btf *btf, struct btf_index *index,
			 struct btf_search *searches, size_t count)
{
	const struct btf_type *type;
	struct btf_cursor cursor = { 0 };
	uint32_t at = 0;
	uint32_t *grown;

	while ((type = btf_cursor_next(&cursor, btf))) {
		if (index->count == index->room) {
			index->room = index->room ? index->room * 2 : 1 << 16;
			grown = realloc(index->at,
					index->room * sizeof(*grown));
			if (!grown)
				return false;
			index->at = grown;
		}
		index->at[index->count++] = at;
		at = cursor.at;
		type_match(searches, count, btf, type, cursor.id);
	}
	return true;
}

int btf_find(const char *path, const struct btf_want *wants, size_t count)
{
	struct btf_search searches[BTF_WANTS_MAX];
	struct btf_index index = { 0 };
	struct btf btf;
	int code = count > BTF_WANTS_MAX ? -EINVAL : btf_open(&btf, path);

	if (code)
		return code;
	for (size_t i = 0; i < count; i++)
		btf_search_begin(&searches[i], &wants[i]);
	if (!types_search(&btf, &index, searches, count))
		code = -ENOMEM;
	for (size_t i = 0; i < count && !code; i++) {
		const struct btf_search *search = &searches[i];
		const char *rest = search->want->name + search->length;

		if (search->id && *rest != '.')
			*search->want->value = search->id;
		else if (search->id)
			member_follow(&btf, &index,
				      structure_by_id(&btf, &index, search->id),
				      rest, search->want->value);
	}
	free(index.at);
	btf_file_close(&btf.file);
	return code;
}

uint32_t btf_find_split(const char *path, const char *base, const char *name)
{
	struct btf_cursor types = { 0 }, cursor = { 0 };
	const struct btf_type *type;
	struct btf whole, split;
	uint32_t strings, id = 0;

	if (btf_open(&split, path))
		return 0;
	if (btf_open(&whole, base)) {
		btf_file_close(&split.file);
		return 0;
	}
	while (btf_cursor_next(&types, &whole))
		;
	strings = whole.strings_length;
	while (!id && (type = btf_cursor_next(&cursor, &split)))
		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC &&
		    type->name_off >= strings &&
		    btf_name_is(&split, type->name_off - strings, name,
				strlen(name)))
			id = types.id + cursor.id;
	btf_file_close(&whole.file);
	btf_file_close(&split.file);
	return id;
}
