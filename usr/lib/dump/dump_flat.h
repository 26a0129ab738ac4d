/* SPDX-License-Identifier: GPL-2.0 */
/* Dumps in the flattened form */
#ifndef LIB_DUMP_FLAT_H
#define LIB_DUMP_FLAT_H

#include "dump_file.h"

/* dump->fd becomes a file in the right order. 0, or a negative errno with err
 * set. */
int dump_flat_open(struct dump *dump, const char *path, struct error *err);

#endif
