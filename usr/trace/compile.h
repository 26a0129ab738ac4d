/* SPDX-License-Identifier: GPL-2.0 */
/* From expressions (-e) to TDFs: by trcust, in a directory of their own. */
#ifndef TRACE_COMPILE_H
#define TRACE_COMPILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "lib/error.h"

/* Where a program is in the directories of PATH; false: nowhere. */
bool compile_path_search(const char *name, char path[PATH_MAX]);

/* What is traced, if an expression doesn't say so. */
struct compile_subject {
	const char *program;	/* as it is run, or NULL */
	uint32_t pid;		/* a process, or 0 */
};

struct expr_tdfs {
	char directory[PATH_MAX];	/* with the TFFs; "": nothing is there */
	char (*tdfs)[PATH_MAX];
	unsigned int count;
	char *condition;	/* for tracefmt --field; NULL: none */
};

/*
 * 0, or a negative errno with err set; what trcust reports goes to stderr. The
 * caller frees with compiled_remove() in either case.
 */
int compiled_make(struct expr_tdfs *compiled, const char *const *exprs,
		  unsigned int count, const struct compile_subject *subject,
		  struct error *err);
/* Print the TSFs instead. */
int compile_print(const char *const *exprs, unsigned int count,
		  const struct compile_subject *subject, struct error *err);
/* The command that leaves out what the condition excludes, for a shell. */
void compile_field_print(const char *condition, FILE *out);
/* Remove the directory, too. */
void compiled_remove(struct expr_tdfs *compiled);

#endif
