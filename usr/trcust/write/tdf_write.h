/* SPDX-License-Identifier: GPL-2.0 */
/* The TDF as a file; what can't be undone is left to outfile_commit(). */
#ifndef TRCUST_TDF_WRITE_H
#define TRCUST_TDF_WRITE_H

#include "lib/error.h"
#include "lib/outfile.h"
#include "trcust/compile/compile.h"

/* Write the dynamic tracepoints to the file. 0 or a negative errno. */
int tdf_write(struct outfile **out, const char *path,
	      const struct compilation *c, const struct compiled *compiled,
	      struct error *err);

#endif
