/* SPDX-License-Identifier: GPL-2.0 */
/* The tables of a TFF while it is made, and sections of other TFFs copied into
 * them. */
#ifndef TRCUST_TFF_TABLES_H
#define TRCUST_TFF_TABLES_H

#include <stdbool.h>
#include "lib/error.h"
#include "lib/outfile.h"
#include "lib/formats/tff.h"
#include "lib/formats/bytes.h"

struct tff_tables {
	struct bytes sections, entries, types, groups, ctypes, members;
	struct strings strings;
};

/* A section's share of the tables begins at what they hold now. */
void tff_tables_begin(const struct tff_tables *t, struct tff_section *section);
void tff_tables_name(struct tff_tables *t, struct bytes *table,
		     const char *name, uint32_t id);
/* Copy a section of `from`. keep (may be NULL) says which of its entries; one
 * that is left without any is not copied. */
void tff_tables_copy(struct tff_tables *t, const struct tff *from,
		     const struct tff_section *section,
		     bool (*keep)(void *context, const struct tff_entry *entry),
		     void *context);
/* Write all as the file. 0 or a negative errno. */
int tff_tables_write(const struct tff_tables *t, unsigned int major,
		     struct outfile **out, const char *path, struct error *err);
void tff_tables_free(struct tff_tables *t);

#endif
