/* SPDX-License-Identifier: GPL-2.0 */
/* The sessions of a trace and their figures, from the payloads of chunks. */
#ifndef LIB_READ_TRACE_SESSION_H
#define LIB_READ_TRACE_SESSION_H

#include "trace_file.h"

#define TRACE_SESSIONS_MAX	65536	/* a record's session has 16 bits */

/* The session log, and struct ras_counts with their totals, one after the
 * other. 0 or -ENOMEM. */
int trace_session_table(struct trace_file *file, const uint8_t *p, size_t n);
int trace_session_counts(struct trace_file *file, const uint8_t *p, size_t n);
/* The figures so far are those at the start of a spool's file. */
void trace_session_begin(struct trace_file *file);
void trace_session_free(struct trace_file *file);

#endif
