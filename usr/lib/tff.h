/* SPDX-License-Identifier: GPL-2.0 */
/* The TFF in memory: validated once, then const views. */
#ifndef LIB_TFF_H
#define LIB_TFF_H

#include <stddef.h>
#include <rastrace/tff.h>
#include "error.h"

struct tff {
	const void *data;
	const struct tff_header *header;
	const struct tff_section *sections;
	const struct tff_entry *entries;
	const struct tdf_name *types, *groups;
	const char *strings;
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

/* File name of a major, "TRC00C5.TFF"; buffer of at least 16 bytes. */
void tff_file_name(char *name, unsigned int major);

#endif
