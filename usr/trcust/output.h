/* SPDX-License-Identifier: GPL-2.0 */
/* TDF and TFF put in place: both or none; and what is printed. */
#ifndef TRCUST_OUTPUT_H
#define TRCUST_OUTPUT_H

#include "trcust/compile/compile.h"
#include "lib/error.h"
#include "run.h"

/* What was compiled: the TDF, and the TFF beside it. `module`: its path. 0, or
 * a negative errno after a message. */
int output_write(const struct compilation *c,
		 const struct compiled *compiled, const char *tdf,
		 const char *module);
/* Of a TSF that can't be compiled: a TDF made of it before goes away. */
int output_remove(struct diag *diag, const char *tdf);
/* Report that a file could not be written: the messages of diag_report_error()
 * for outputs. */
void output_report(struct diag *diag, const char *path, int code,
		   const struct error *err);

/* Print the text of a TSF that was made; takes the memory. */
int output_print(const struct settings *s, char *text, size_t size);
/* What was printed has arrived: 0; else 1, after a message. Each process has to
 * look for itself. */
int stdout_check(void);

#endif
