/* SPDX-License-Identifier: GPL-2.0 */
/* What a site's statements need, before its body is generated. */
#ifndef BPF_SCAN_H
#define BPF_SCAN_H

#include <stdbool.h>
#include "lib/formats/tdf.h"

/* What the body of a site needs beside the session's maps. */
struct body_needs {
	bool limits;		/* limits_fd: MAXHITS or PASSCOUNT */
	bool func_ip;		/* a return probe of user space */
	bool layout;		/* target->layout */
	bool segments;		/* target->segments_save */
	bool vectors;		/* target->vector_read */
};

struct body_needs body_needs_find(const struct tdf *tdf,
				  const struct tdf_point *point,
				  const struct tdf_site *site);

#endif
