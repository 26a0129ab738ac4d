/* SPDX-License-Identifier: GPL-2.0 */
/* Links: from the sites of a tracepoint to a program. */
#ifndef TRACE_ATTACH_H
#define TRACE_ATTACH_H

#include "lib/arm/kernel/features.h"
#include "target.h"

/*
 * Attach a loaded program to sites of a point, all of them return probes or
 * none, and pin the links into the directory `dir`, as POINT_SITE, and of
 * further files of the target as POINT_SITE_FILE. 0, or a negative errno with
 * err set; what was pinned till then stays.
 */
int attach_sites(int program, const struct tdf *tdf, uint32_t point,
		 const uint32_t *sites, uint32_t count,
		 const struct target *target, const struct features *features,
		 const char *dir, struct error *err);

/* A link to one offset of a file, or to the return of the function there,
 * without a cookie. A descriptor, or a negative errno. */
int attach_probe(int program, const char *path, uint64_t offset, bool returns,
		 const struct features *features);

/* Attach to these offsets of a file, without cookies, and pin the links as
 * `dir`/0, 1 ... 0 or a negative errno. */
int attach_file(int program, const char *path, const uint64_t *offsets,
		uint32_t count, const struct features *features,
		const char *dir);

/* Does this module's kind get uprobe_multi links? */
bool attach_is_multi(const struct tdf_module *module,
		     const struct features *features);

#endif
