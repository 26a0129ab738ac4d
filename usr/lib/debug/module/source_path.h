/* SPDX-License-Identifier: GPL-2.0 */
/* Names of source files, as debug information and as a TSF have them. */
#ifndef TRCUST_SOURCE_PATH_H
#define TRCUST_SOURCE_PATH_H

#include <stdbool.h>

/* Does the path end with `wanted`, part by part? Upper and lower case are the
 * same unless `exact`, / and \ always are. */
bool source_path_matches(const char *path, const char *wanted, bool exact);
/* The last part. */
const char *source_path_base(const char *path);

#endif
