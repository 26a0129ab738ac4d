/* SPDX-License-Identifier: GPL-2.0 */
/* How much of the kernel's memory the pinned maps take. */
#ifndef TRACE_FOOTPRINT_H
#define TRACE_FOOTPRINT_H

#include <stdint.h>
#include "lib/buffer/session.h"

/* Bytes, as the kernel reports them; what can't be opened counts as 0. */
uint64_t footprint_read_buffer(const char *run);
uint64_t footprint_read_session(const struct session *session);

#endif
