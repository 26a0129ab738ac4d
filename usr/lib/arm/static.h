/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Static tracepoints: calls of rastrace_write(), of librastrace in user
 * programs and of the kernel module in kernel code, switched by major. One
 * session of the buffer (RAS_STATIC_SESSION) for all of them:
 *
 *	RUN/static/state, count, why, majors	maps (rastrace/buffer.h)
 *	RUN/static/pids				with --pid: the same of a session
 *	RUN/static/file_DEVICE_INODE/		links into a file
 */
#ifndef TRACE_STATIC_H
#define TRACE_STATIC_H

#include "lib/arm/pinned/run_dir.h"
#include "lib/arm/select/settings.h"
#include "lib/buffer/buffer.h"

/*
 * "100", "5,7,12-18" (also 0x64): majors[n] becomes true for each, what was true
 * stays. 1; 0: that is no list of numbers; -EINVAL with err set: it is one, but
 * not of majors (1 to 255).
 */
int static_majors_parse(const char *text, bool majors[RAS_STATIC_MAJORS],
			struct error *err);

/*
 * Record these majors, beside those that are on. --module: programs and
 * libraries that have rastrace_write(); none: every librastrace.so.0 where the
 * dynamic linker looks for it, and where there is none kernel code alone, if
 * the module is loaded. What is recorded of --pid and --follow is the same for
 * all majors. The kernel module is handed all this by kmod_hand_over(). 0, or a
 * negative errno with err set and nothing changed.
 */
int static_majors_on(const struct run_dir *run, struct buffer *buffer,
		     const struct features *features,
		     const struct job_settings *settings,
		     const bool majors[RAS_STATIC_MAJORS], struct error *err);

/*
 * Record these no more; with the last one the probes go. -ENOENT: none of them
 * is on.
 */
int static_majors_off(const struct run_dir *run, struct buffer *buffer,
		      const bool majors[RAS_STATIC_MAJORS], struct error *err);

#endif
