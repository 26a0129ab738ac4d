/* SPDX-License-Identifier: GPL-2.0 */
/* Whether the file that a session has probes in is still what it was. */
#ifndef LIB_MODULE_FILE_H
#define LIB_MODULE_FILE_H

#include <rastrace/buffer.h>
#include <stdint.h>
#include <sys/stat.h>

/* Into a new session: what the file is like. */
void module_file_note(struct ras_session *entry, const struct stat *st);

/*
 * CLOCK_BOOTTIME at which the file at the module's path was written to since, as
 * its times have it; 0: it wasn't, another file is there, or that can't be seen.
 */
uint64_t module_file_changed(const struct ras_session *entry);

#endif
