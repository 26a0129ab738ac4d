/* SPDX-License-Identifier: GPL-2.0 */
/* The TFF in memory: validated once, then const views. */
#ifndef LIB_TFF_H
#define LIB_TFF_H

#include <stddef.h>
#include <stdint.h>
#include <rastrace/tff.h>
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

/* File name of a major, "TRC00C5.TFF"; buffer of at least 16 bytes. */
void tff_file_name(char *name, unsigned int major);

#endif
