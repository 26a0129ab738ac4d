/* SPDX-License-Identifier: GPL-2.0 */
/* The names in a directory, for what has to work when memory has run out. */
#ifndef LIB_DIRECTORY_H
#define LIB_DIRECTORY_H

/* All but "." and "..", which may be removed meanwhile. */
void directory_each(int fd,
		    void (*visit)(int fd, const char *name, void *context),
		    void *context);

#endif
