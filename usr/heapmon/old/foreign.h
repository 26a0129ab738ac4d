/* SPDX-License-Identifier: GPL-2.0 */
/* Whose malloc a process calls. */
#ifndef OLD_FOREIGN_H
#define OLD_FOREIGN_H

#include "process.h"

/* A mapped file that isn't libc and defines malloc for all; NULL: none does. */
const struct old_region *old_foreign_find(const struct old_process *process);
/* glibc is mapped. */
bool old_foreign_has_glibc(const struct old_process *process);

#endif
