/* SPDX-License-Identifier: GPL-2.0 */
/* Arming: a TDF becomes a session of the buffer, whole or not at all. */
#ifndef TRACE_ARM_H
#define TRACE_ARM_H

#include "../lib/buffer.h"
#include "features.h"
#include "run_dir.h"
#include "target.h"

/* `path` is what the session is known by, the TDF's absolute path. 0, or a
 * negative errno with err set and nothing armed. */
int arm_tdf(const struct run_dir *run, struct buffer *buffer,
	    const struct features *features, const struct tdf *tdf,
	    const char *path, const struct target *targets,
	    struct error *err);

#endif
