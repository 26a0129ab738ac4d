/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control groups by the names that people have for them: systemd's units, and
 * containers of docker, podman, containerd and CRI-O by name or id.
 */
#ifndef TRACE_UNIT_H
#define TRACE_UNIT_H

#include <limits.h>
#include "lib/error.h"

/*
 * The directory below `root`, a cgroup v2, of the unit or container. 0, or a
 * negative errno with err set: -ENOENT, without err: there is none; -EEXIST:
 * there are several.
 */
int unit_find(const char *name, const char *root, char path[PATH_MAX],
	      struct error *err);

#endif
