/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_PARSE_POINT_H
#define TRCUST_PARSE_POINT_H

#include "parser.h"

/* The processor of the module that MODNAME names; NULL: not known, which later
 * passes report. */
typedef const struct arch *tsf_arch_find(void *context, const char *modname);
/*
 * Parse the text that diag was opened on. 0, or -1 after a fatal or severe
 * diagnostic. Points with errors are in the tree, marked discarded. Names of
 * registers are those of the processor that `find` returns; x86-64's without
 * it (NULL).
 */
int tsf_parse(struct tsf **tsf, struct diag *diag, tsf_arch_find *find,
	      void *context);

#endif
