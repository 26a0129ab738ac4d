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
 * The CLOCK_BOOTTIME, by the file's times, of the last write to the file at the
 * module's path; 0: it was not written to since it was armed, another file is
 * there, or that can't be found out.
 */
uint64_t module_file_changed(const struct ras_session *entry);

#endif
