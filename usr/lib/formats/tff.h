/* SPDX-License-Identifier: GPL-2.0 */
/* The TFF in memory: validated once, then const views. */
#ifndef LIB_TFF_H
#define LIB_TFF_H

#include <rastrace/tff.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "lib/error.h"

struct tff {
	const void *data;
	const struct tff_header *header;
	const struct tff_section *sections;
	const struct tff_entry *entries;
	const struct tdf_name *types, *groups;
	const struct tff_ctype *ctypes;
	const struct tff_member *members;
	const char *strings;
	uint32_t *by_name;	/* per ctype: see tff_ctypes_sort(), which was
				 * done for each section */
	uint16_t *parts;	/* per ctype: items beside its own bytes */
	char *path;
};

int tff_open(struct tff **tff, const char *path, struct error *err);
int tff_parse(struct tff **tff, const void *data, size_t size,
	      const char *path, struct error *err);
void tff_close(struct tff *tff);

static inline const char *tff_string(const struct tff *tff, __u32 offset)
{
	return tff->strings + offset;
}

/* by_name[] = the indices of a section's ctypes, by name, kind, index. */
void tff_ctypes_sort(uint32_t *by_name, const struct tff_ctype *ctypes,
		     uint32_t count, const char *strings);

/* Items that a value of the type has beside its own bytes (TFF_PARTS_MAX + 1:
 * too many), when those of the types before are known. */
unsigned int tff_ctype_parts(const struct tff_ctype *type,
			     const struct tff_ctype *types,
			     const struct tff_member *members,
			     const uint16_t *parts);
/* Its bytes are no item: it has parts only. */
static inline bool tff_ctype_is_apart(const struct tff_ctype *type)
{
	return type->kind >= TFF_CTYPE_TEXT &&
	       type->kind != TFF_CTYPE_VARIANT && type->kind != TFF_CTYPE_TUPLE;
}
/* `target` is the type of its elements, or of what it is a pointer to and that
 * it consists of. */
static inline bool tff_kind_has_elements(unsigned int kind)
{
	return kind == TFF_CTYPE_ARRAY || kind == TFF_CTYPE_SEQUENCE ||
	       kind == TFF_CTYPE_ONE || kind == TFF_CTYPE_LIST ||
	       kind == TFF_CTYPE_MAP || kind == TFF_CTYPE_EACH ||
	       kind == TFF_CTYPE_PATH;
}
/* The parts of each element of a LIST, MAP or EACH, which has `each` itself. */
static inline uint64_t tff_element_parts(unsigned int kind, bool apart,
					 unsigned int each)
{
	return (kind != TFF_CTYPE_EACH) + !apart + (uint64_t)each;
}

/* File name of a major, "TRC00C5.TFF"; buffer of at least 16 bytes. */
void tff_file_name(char *name, unsigned int major);

/*
 * Where the TFFs are: the directories named are read once; a file is opened
 * when its major is asked for first.
 */

struct search_file {
	char *path;
	dev_t device;
	ino_t inode;
	unsigned int major;
	bool tried;
	struct tff *tff;	/* NULL after a try: see error */
	struct error error;
};

struct search {
	struct search_file **files;	/* in the order of the search */
	size_t count;
	size_t bundled;		/* the last ones, which came with a trace */
	bool exhausted;		/* memory was: something isn't there for it */
	char *directories;	/* that were read: "/usr/tff, ."; NULL: none */
};

/*
 * Add a directory's files TRC00xx.TFF, in either case, after those that are
 * there; or a file itself. 0, or a negative errno with err set.
 */
int search_add(struct search *search, const char *path, struct error *err);
/* Directories that need not be there: those of TRACEFMT_PATH; that of a TDF; the
 * current one and the system's. Without memory `exhausted` is set. */
void search_add_environment(struct search *search);
void search_add_place(struct search *search, const char *tdf);
void search_add_system(struct search *search);
/* One that came with a trace, after all others. 0 or -ENOMEM. */
int search_add_bundled(struct search *search, const char *name,
		       const void *data, size_t size);
/* The next file of this major from *at on (0 at first), opened if it can be;
 * NULL: no more. */
struct search_file *search_next(struct search *search, unsigned int major,
				size_t *at);
void search_free(struct search *search);

#endif
