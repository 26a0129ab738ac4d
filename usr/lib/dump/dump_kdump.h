/* SPDX-License-Identifier: GPL-2.0 */
/* Dumps in the compressed form of makedumpfile */
#ifndef LIB_DUMP_KDUMP_H
#define LIB_DUMP_KDUMP_H

#include "dump_file.h"

/* dump->fd is open, all else zero. 0, or a negative errno with err set. */
int dump_kdump_open(struct dump *dump, const char *path, struct error *err);
/* As dump_read(). */
size_t dump_kdump_read(struct dump *dump, uint64_t physical, void *to,
		       size_t size);
void dump_kdump_close(struct dump *dump);

#endif
