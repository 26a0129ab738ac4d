/* SPDX-License-Identifier: GPL-2.0 */
/* The TDF that a session was armed with. */
#ifndef TRACE_SESSION_TDF_H
#define TRACE_SESSION_TDF_H

#include "lib/buffer/session.h"
#include "lib/formats/tdf.h"

/* *tdf = the file at the session's path; NULL: it is gone, or has been compiled anew
 * with other tracepoints. The caller closes it. 0 or -ENOMEM. */
int session_tdf_open(const struct session *session, struct tdf **tdf);

#endif
