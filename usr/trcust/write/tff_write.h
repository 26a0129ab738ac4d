/* SPDX-License-Identifier: GPL-2.0 */
/* The TFF as a file; what can't be undone is left to outfile_commit(). */
#ifndef TRCUST_TFF_WRITE_H
#define TRCUST_TFF_WRITE_H

#include "lib/error.h"
#include "lib/outfile.h"
#include "trcust/compile/compile.h"

/*
 * Write all tracepoints as one section, with the sections of other modules
 * that the file at `path` has. `module` is the path of this one. -EEXIST: the
 * file there is of another major.
 */
int tff_write(struct outfile **out, const char *path,
	      const struct compilation *c, const struct compiled *compiled,
	      const char *module, struct error *err);

#endif
