/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_DUMP_H
#define TRCUST_DUMP_H

#include "lib/error.h"

/* Print a TDF or TFF as text, one line per item. 0 or a negative errno. */
int dump_file(const char *path, struct error *err);

#endif
