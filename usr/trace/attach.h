/* SPDX-License-Identifier: GPL-2.0 */
/* Links: from the sites of a tracepoint to its program. */
#ifndef TRACE_ATTACH_H
#define TRACE_ATTACH_H

#include "features.h"
#include "target.h"

/*
 * Attach a loaded program to all sites of a point and pin the links into the
 * directory `dir`, as POINT or POINT_SITE. 0, or a negative errno with err
 * set; what was pinned till then stays.
 */
int attach_point(int program, const struct tdf *tdf, uint32_t point,
		 const struct target *target, const struct features *features,
		 const char *dir, struct error *err);

/* Does this module's kind get uprobe_multi links? */
bool attach_is_multi(const struct tdf_module *module,
		     const struct features *features);

#endif
