/* SPDX-License-Identifier: GPL-2.0 */
/* Names of files. */
#ifndef LIB_PATH_H
#define LIB_PATH_H

/* The last part: what stands behind the last slash, which may be nothing. */
const char *path_base(const char *path);

#endif
