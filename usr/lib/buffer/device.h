/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel module's device (rastrace/device.h), as its users open it. */
#ifndef LIB_DEVICE_H
#define LIB_DEVICE_H

#include <stddef.h>
#include <rastrace/device.h>
#include "lib/error.h"

#define DEVICE_PATH	"/dev/rastrace"

/*
 * Open it and ask what the module has. Returns a descriptor, or a negative
 * errno with err set: -ENOENT when the module isn't loaded.
 */
int device_open(struct rastrace_info *info, struct error *err);

/* Ask again. */
int device_ask(int fd, struct rastrace_info *info, struct error *err);

/* Are its buffers like ours? 0, or -EPROTO with err set. */
int device_check_layout(const struct rastrace_info *info, struct error *err);

/* Map `size` bytes of a part for reading; munmap() ends it. NULL with err and
 * errno set. */
void *device_map(int fd, int part, size_t size, struct error *err);

#endif
