/* SPDX-License-Identifier: GPL-2.0 */
/* The TDF and the TFF as files; what can't be undone is left to outfile_commit(). */
#ifndef TRCUST_WRITE_H
#define TRCUST_WRITE_H

#include "lib/error.h"
#include "lib/formats/tff.h"
#include "lib/outfile.h"
#include "trcust/compile/compile.h"

/* Write the dynamic tracepoints to the file. 0 or a negative errno. */
int tdf_write(struct outfile **out, const char *path,
	      const struct compilation *c, const struct compiled *compiled,
	      struct error *err);

/* The tables of a TFF while it is made, and sections of other TFFs copied into
 * them. */
struct tff_tables {
	struct bytes sections, entries, types, groups, ctypes, members;
	struct strings strings;
};

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

/*
 * Write all tracepoints as one section, with the sections of other modules
 * that the file at `path` has. `module` is the path of this one. -EEXIST: the
 * file there is of another major.
 */
int tff_write(struct outfile **out, const char *path,
	      const struct compilation *c, const struct compiled *compiled,
	      const char *module, struct error *err);

#endif
