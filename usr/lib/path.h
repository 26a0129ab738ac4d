/* SPDX-License-Identifier: GPL-2.0 */
/* Names of files. */
#ifndef LIB_PATH_H
#define LIB_PATH_H

/* The part after the last slash, which may be empty. */
const char *path_base(const char *path);

#endif
