// SPDX-License-Identifier: GPL-2.0
#include "tff.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "table.h"

static bool tff_has_string(const struct tff *tff, __u32 offset)
{
	return offset < tff->header->strings.count;
}

static int tff_check_names(const struct table_file *file, const struct tff *tff,
			   const struct tdf_name *names, __u32 count)
{
	for (__u32 i = 0; i < count; i++)
		TABLE_CHECK(tff_has_string(tff, names[i].name) &&
				    strnlen(tff_string(tff, names[i].name),
					    TDF_NAME_MAX + 1) <= TDF_NAME_MAX,
			    "name %u of a type or group", i);
	return 0;
}

static int tff_check_entry(const struct table_file *file, const struct tff *tff,
			   const struct tff_entry *entry)
{
	uint16_t known = TFF_STATIC | TFF_MIGRATES | TFF_WHOLE;

	if (entry->flags & TFF_WHOLE)
		known |= TFF_ENTRY_FIELDS_MAX << 8;
	TABLE_CHECK(entry->minor && !(entry->flags & ~known),
		    "entry with minor %u, flags %#x", entry->minor,
		    entry->flags);
	TABLE_CHECK(tff_has_string(tff, entry->desc) &&
			    tff_has_string(tff, entry->fmt),
		    "text of minor %u", entry->minor);
	TABLE_CHECK(strnlen(tff_string(tff, entry->fmt), TFF_FMT_MAX + 1) <=
			    TFF_FMT_MAX,
		    "format of minor %u is too long", entry->minor);
	return 0;
}

/* Members of the ctype with index i; enumerators have no type. */
static int tff_check_members(const struct table_file *file,
			     const struct tff *tff, const struct tff_section *s,
			     uint32_t i)
{
	const struct tff_ctype *type = &tff->ctypes[s->first_ctype + i];
	const struct tff_member *m = &tff->members[s->first_member] +
				     type->first_member;
	bool is_variant = type->kind == TFF_CTYPE_VARIANT;
	bool is_dynamic = type->kind == TFF_CTYPE_DYNAMIC;

	TABLE_CHECK(!type->members || is_variant || is_dynamic ||
			    type->kind == TFF_CTYPE_ENUM ||
			    type->kind == TFF_CTYPE_STRUCT ||
			    type->kind == TFF_CTYPE_TUPLE ||
			    type->kind == TFF_CTYPE_UNION,
		    "C type of kind %u with members", type->kind);
	TABLE_CHECK((!is_variant || type->members & 1) &&
			    (!is_dynamic || !(type->members & 1)),
		    "alternatives of C type %u", i);
	for (uint32_t k = 0; k < type->members; k++) {
		bool number = tff_member_is_number(type->kind, k);

		TABLE_CHECK(tff_has_string(tff, m[k].name) &&
				    (number || (m[k].ctype < i &&
						m[k].bits <= 64)),
			    "member %u of C type %u", k, i);
	}
	return 0;
}

unsigned int tff_ctype_parts(const struct tff_ctype *type,
			     const struct tff_ctype *types,
			     const struct tff_member *members,
			     const uint16_t *parts)
{
	uint32_t last = TFF_CTYPE_NONE;
	uint64_t sum = 0;

	switch (type->kind) {
	case TFF_CTYPE_TEXT:
	case TFF_CTYPE_TIME:
	case TFF_CTYPE_ADDRESS:
		return 2;
	case TFF_CTYPE_ONE:
		sum = 2 + parts[type->target];
		break;
	case TFF_CTYPE_SEQUENCE:
		sum = 2 + (uint64_t)type->count * parts[type->target];
		break;
	case TFF_CTYPE_LIST:
	case TFF_CTYPE_MAP:
	case TFF_CTYPE_PATH:
	case TFF_CTYPE_EACH:
		sum = 1 + type->count *
		      tff_element_parts(type->kind,
					tff_ctype_is_apart(&types[type->target]),
					parts[type->target]);
		break;
	case TFF_CTYPE_ARRAY:
		sum = (uint64_t)type->count * parts[type->target];
		break;
	case TFF_CTYPE_DYNAMIC:
		sum = 3;
		for (uint32_t k = 1; k < type->members; k += 2) {
			if (!parts[members[k].ctype] || members[k].ctype == last)
				continue;
			last = members[k].ctype;
			sum += parts[last];
		}
		break;
	case TFF_CTYPE_TUPLE:
	case TFF_CTYPE_STRUCT:
	case TFF_CTYPE_VARIANT:
		for (uint32_t k = 0; k < type->members; k++)
			if (!members[k].bits &&
			    !tff_member_is_number(type->kind, k))
				sum += parts[members[k].ctype];
		break;
	}
	return sum <= TFF_PARTS_MAX ? sum : TFF_PARTS_MAX + 1;
}

static bool tff_is_entry(const struct tff_ctype *type)
{
	return type->kind == TFF_CTYPE_TUPLE && type->members == 2;
}

/* What a type consists of comes before it, so none contains itself. */
static int tff_check_ctypes(const struct table_file *file,
			    const struct tff *tff, const struct tff_section *s)
{
	const struct tff_ctype *types = tff->ctypes + s->first_ctype;
	uint16_t *parts = tff->parts + s->first_ctype;
	uint32_t next = 0;

	for (uint32_t i = 0; i < s->ctypes; i++) {
		const struct tff_ctype *type = &types[i];

		TABLE_CHECK(type->kind <= TFF_CTYPE_LAST &&
				    tff_has_string(tff, type->name),
			    "C type %u of kind %u", i, type->kind);
		TABLE_CHECK(!tff_kind_has_elements(type->kind) ||
				    type->target < i,
			    "elements of C type %u", i);
		TABLE_CHECK(type->kind != TFF_CTYPE_PATH ||
				    (types[type->target].kind ==
					     TFF_CTYPE_TEXT && type->is_signed),
			    "names of C type %u", i);
		TABLE_CHECK(type->kind != TFF_CTYPE_MAP ||
				    tff_is_entry(&types[type->target]),
			    "entries of C type %u", i);
		TABLE_CHECK(type->kind != TFF_CTYPE_POINTER ||
				    type->target < s->ctypes ||
				    type->target == TFF_CTYPE_NONE,
			    "target of C type %u", i);
		TABLE_CHECK(type->first_member >= next &&
				    table_range_valid(type->first_member,
						      type->members,
						      s->members),
			    "members of C type %u", i);
		next = type->first_member + type->members;
		if (tff_check_members(file, tff, s, i))
			return -EINVAL;
		parts[i] = tff_ctype_parts(type, types, tff->members +
					   s->first_member +
					   type->first_member, parts);
		TABLE_CHECK(parts[i] <= TFF_PARTS_MAX,
			    "parts of C type %u", i);
	}
	return 0;
}

/* Sections follow each other in all tables, so no entry is checked twice.
 * `next` is what the sections before have used up. */
static int tff_check_ranges(const struct table_file *file,
			    const struct tff_header *h,
			    const struct tff_section *s,
			    const struct tff_section *next)
{
	TABLE_CHECK(s->first_entry >= next->first_entry &&
			    table_range_valid(s->first_entry, s->entries,
					      h->entries.count) &&
			    s->first_type >= next->first_type &&
			    table_range_valid(s->first_type, s->types,
					      h->types.count) &&
			    s->types <= TDF_TYPES_MAX &&
			    s->first_group >= next->first_group &&
			    table_range_valid(s->first_group, s->groups,
					      h->groups.count) &&
			    s->groups <= TDF_GROUPS_MAX &&
			    s->first_ctype >= next->first_ctype &&
			    table_range_valid(s->first_ctype, s->ctypes,
					      h->ctypes.count) &&
			    s->first_member >= next->first_member &&
			    table_range_valid(s->first_member, s->members,
					      h->members.count),
		    "section outside its tables");
	return 0;
}

static int tff_check_section(const struct table_file *file,
			     const struct tff *tff, const struct tff_section *s,
			     const struct tff_section *next)
{
	TABLE_CHECK(tff_has_string(tff, s->name) &&
			    tff_has_string(tff, s->path) &&
			    tff_has_string(tff, s->tsf),
		    "section without a name");
	TABLE_CHECK(s->id_kind <= TDF_ID_CONTENT &&
			    s->id_length <= sizeof(s->id),
		    "module identity of kind %u", s->id_kind);
	if (tff_check_ranges(file, tff->header, s, next))
		return -EINVAL;
	for (__u32 i = 0; i < s->entries; i++) {
		const struct tff_entry *e = &tff->entries[s->first_entry + i];

		TABLE_CHECK(!i || e[-1].minor < e->minor,
			    "minor codes don't ascend");
		if (tff_check_entry(file, tff, e))
			return -EINVAL;
	}
	if (tff_check_names(file, tff, tff->types + s->first_type, s->types) ||
	    tff_check_names(file, tff, tff->groups + s->first_group,
			    s->groups))
		return -EINVAL;
	return tff_check_ctypes(file, tff, s);
}

struct tff_order {
	const struct tff_ctype *ctypes;
	const char *strings;
};

/* A name that is longer than a FMT is in none. */
static int tff_ctype_compare(const void *x, const void *y, void *context)
{
	const struct tff_order *order = context;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct tff_ctype *a = &order->ctypes[i], *b = &order->ctypes[k];
	int names = a->name == b->name ? 0 :
		strncmp(order->strings + a->name, order->strings + b->name,
			TFF_FMT_MAX);

	if (names)
		return names;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return i < k ? -1 : i > k;
}

void tff_ctypes_sort(uint32_t *by_name, const struct tff_ctype *ctypes,
		     uint32_t count, const char *strings)
{
	struct tff_order order = { ctypes, strings };

	for (uint32_t i = 0; i < count; i++)
		by_name[i] = i;
	qsort_r(by_name, count, sizeof(*by_name), tff_ctype_compare, &order);
}

static int tff_check(const struct table_file *file, struct tff *tff)
{
	const struct tff_header *h = tff->header;
	struct tff_section next = {0};

	if (table_file_check(file, TFF_MAGIC, TFF_VERSION, sizeof(*h)))
		return -EINVAL;

	/* The tables are inside the file. */
#define TABLE(name) \
	(tff->name = table_entries(file, #name, h->name, sizeof(*tff->name)))
	if (!TABLE(sections) || !TABLE(entries) || !TABLE(types) ||
	    !TABLE(groups) || !TABLE(ctypes) || !TABLE(members))
		return -EINVAL;
#undef TABLE
	tff->strings = table_strings(file, h->strings);
	if (!tff->strings)
		return -EINVAL;

	tff->parts = calloc((size_t)h->ctypes.count + 1, sizeof(*tff->parts));
	if (!tff->parts)
		return error_no_memory(file->err);

	/* Their contents */
	TABLE_CHECK(h->major >= 1 && h->major <= 255, "major code %u",
		    h->major);
	for (__u32 i = 0; i < h->sections.count; i++) {
		const struct tff_section *s = &tff->sections[i];

		if (tff_check_section(file, tff, s, &next))
			return -EINVAL;
		next.first_entry = s->first_entry + s->entries;
		next.first_type = s->first_type + s->types;
		next.first_group = s->first_group + s->groups;
		next.first_ctype = s->first_ctype + s->ctypes;
		next.first_member = s->first_member + s->members;
	}

	/* C types by name, for each section */
	tff->by_name = calloc((size_t)h->ctypes.count + 1,
			      sizeof(*tff->by_name));
	if (!tff->by_name)
		return error_no_memory(file->err);
	for (__u32 i = 0; i < h->sections.count; i++) {
		const struct tff_section *s = &tff->sections[i];

		tff_ctypes_sort(tff->by_name + s->first_ctype,
				tff->ctypes + s->first_ctype, s->ctypes,
				tff->strings);
	}
	return 0;
}

/* Takes over `data`. */
static int tff_adopt(struct tff **result, void *data, size_t size,
		     const char *path, struct error *err)
{
	struct table_file file = {"TFF", path, data, size, err};
	struct tff *tff = calloc(1, sizeof(*tff));
	int code;

	*result = NULL;
	if (!tff || !(tff->path = strdup(path))) {
		free(tff);
		free(data);
		return error_no_memory(err);
	}
	tff->data = data;
	tff->header = data;
	code = tff_check(&file, tff);
	if (code) {
		tff_close(tff);
		return code;
	}
	*result = tff;
	return 0;
}

int tff_open(struct tff **tff, const char *path, struct error *err)
{
	void *data;
	size_t size;
	int code = table_file_read(path, &data, &size, err);

	*tff = NULL;
	return code ? code : tff_adopt(tff, data, size, path, err);
}

int tff_parse(struct tff **tff, const void *data, size_t size, const char *path,
	      struct error *err)
{
	void *copy = malloc(size + 1);

	*tff = NULL;
	if (!copy)
		return error_no_memory(err);
	memcpy(copy, data, size);
	return tff_adopt(tff, copy, size, path, err);
}

void tff_close(struct tff *tff)
{
	if (!tff)
		return;
	free((void *)tff->data);
	free(tff->by_name);
	free(tff->parts);
	free(tff->path);
	free(tff);
}

void tff_file_name(char *name, unsigned int major)
{
	snprintf(name, 16, "TRC%04X.TFF", major & 0xffff);
}

#define SEARCH_NAME_LENGTH	11	/* TRC00C5.TFF */
#define SEARCH_SYSTEM		"/usr/lib/rastrace"

/* The major of a name TRCxxxx.TFF; -1: it is no such name. */
static int name_major(const char *name)
{
	unsigned int major;
	char own[16];

	if (strlen(name) != SEARCH_NAME_LENGTH ||
	    sscanf(name + 3, "%4x", &major) != 1)
		return -1;
	tff_file_name(own, major);
	return strcasecmp(own, name) ? -1 : (int)major;
}

static bool search_file_known(const struct search *search,
			      const struct stat *st)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->files[i]->device == st->st_dev &&
		    search->files[i]->inode == st->st_ino)
			return true;
	return false;
}

/* Takes over path. In front of what came with a trace. */
static int search_file_add(struct search *search, char *path,
			   const struct stat *st, unsigned int major)
{
	struct search_file **place;
	struct search_file *file = path ? calloc(1, sizeof(*file)) : NULL;
	void *array = file ? reallocarray(search->files, search->count + 1,
					  sizeof(*search->files)) : NULL;

	if (!array) {
		free(file);
		free(path);
		return -ENOMEM;
	}
	search->files = array;
	file->path = path;
	file->device = st->st_dev;
	file->inode = st->st_ino;
	file->major = major;
	place = &search->files[search->count - search->bundled];
	memmove(place + 1, place, search->bundled * sizeof(*place));
	*place = file;
	search->count++;
	return 0;
}

static struct search_file *file_added(const struct search *search)
{
	return search->files[search->count - search->bundled - 1];
}

static int file_compare(const void *a, const void *b)
{
	const struct search_file *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

static int directory_add(struct search *search, const char *path, DIR *dir)
{
	size_t first = search->count - search->bundled, added;
	struct dirent *entry;
	int code = 0;

	while (!code && (entry = readdir(dir))) {
		int major = name_major(entry->d_name);
		struct stat st;
		char *name;

		if (major < 0 ||
		    fstatat(dirfd(dir), entry->d_name, &st, 0) ||
		    !S_ISREG(st.st_mode) || search_file_known(search, &st))
			continue;
		if (asprintf(&name, "%s/%s", path, entry->d_name) < 0)
			name = NULL;
		code = search_file_add(search, name, &st, major);
	}
	added = search->count - search->bundled - first;
	if (added)
		qsort(search->files + first, added, sizeof(*search->files),
		      file_compare);
	return code;
}

static void directory_note(struct search *search, const char *path)
{
	char *old = search->directories;

	if (asprintf(&search->directories, "%s%s%s", old ? old : "",
		     old ? ", " : "", path) >= 0) {
		free(old);
		return;
	}
	search->directories = old;
	search->exhausted = true;
}

static int search_path_add(struct search *search, const char *path,
			   struct error *err)
{
	struct stat st;
	DIR *dir;
	int code;
	struct search_file *file;
	struct tff *tff;

	if (!stat(path, &st) && S_ISREG(st.st_mode)) {
		/* A TFF that was named: its header has the major. */
		if (search_file_known(search, &st))
			return 0;
		code = tff_open(&tff, path, err);
		if (code)
			return code;
		code = search_file_add(search, strdup(path), &st,
				       tff->header->major);
		if (code) {
			tff_close(tff);
			return error_no_memory(err);
		}
		file = file_added(search);
		file->tff = tff;
		file->tried = true;
		return 0;
	}
	dir = opendir(path);
	if (!dir)
		return error_set(err, -errno, "cannot read directory '%s': %s",
				 path, strerror(errno));
	code = directory_add(search, path, dir);
	closedir(dir);
	directory_note(search, path);
	return code ? error_no_memory(err) : 0;
}

int search_add(struct search *search, const char *path, struct error *err)
{
	int code = search_path_add(search, path, err);

	search->exhausted |= code == -ENOMEM;
	return code;
}

void search_add_environment(struct search *search)
{
	const char *value = getenv("TRACEFMT_PATH");
	char *list = value ? strdup(value) : NULL, *rest = list, *path;

	search->exhausted |= value && !list;
	while (list && (path = strsep(&rest, ":")))
		if (*path)
			search_add(search, path, NULL);
	free(list);
}

void search_add_place(struct search *search, const char *tdf)
{
	char *directory = strdup(tdf);
	char *slash = directory ? strrchr(directory, '/') : NULL;

	search->exhausted |= !directory;
	if (slash) {
		slash[slash == directory] = '\0';
		search_add(search, directory, NULL);
	}
	free(directory);
}

void search_add_system(struct search *search)
{
	search_add(search, ".", NULL);
	search_add(search, SEARCH_SYSTEM, NULL);
}

int search_add_bundled(struct search *search, const char *name,
		       const void *data, size_t size)
{
	struct stat st = { 0 };
	struct error err;
	struct tff *tff = NULL;
	int code = tff_parse(&tff, data, size, name, &err);
	char *path;

	if (code == -ENOMEM)
		return code;
	if (code)
		return 0;
	if (asprintf(&path, "%s in the trace", name) < 0)
		path = NULL;
	code = search_file_add(search, path, &st, tff->header->major);
	if (code) {
		tff_close(tff);
		return code;
	}
	file_added(search)->tff = tff;
	file_added(search)->tried = true;
	search->bundled++;
	return 0;
}

static void search_file_open(struct search *search, struct search_file *file)
{
	int code = tff_open(&file->tff, file->path, &file->error);

	file->tried = true;
	search->exhausted |= code == -ENOMEM;
	if (code)
		return;
	if (file->tff->header->major == file->major)
		return;
	error_set(&file->error, -EINVAL, "'%s' is for major %u", file->path,
		  file->tff->header->major);
	tff_close(file->tff);
	file->tff = NULL;
}

struct search_file *search_next(struct search *search, unsigned int major,
				size_t *at)
{
	while (*at < search->count) {
		struct search_file *file = search->files[(*at)++];

		if (file->major != major)
			continue;
		if (!file->tried)
			search_file_open(search, file);
		return file;
	}
	return NULL;
}

void search_free(struct search *search)
{
	for (size_t i = 0; i < search->count; i++) {
		tff_close(search->files[i]->tff);
		free(search->files[i]->path);
		free(search->files[i]);
	}
	free(search->files);
	free(search->directories);
	*search = (struct search){ 0 };
}
