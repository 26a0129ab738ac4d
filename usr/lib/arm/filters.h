/* SPDX-License-Identifier: GPL-2.0 */
/* Which processes a session records. */
#ifndef TRACE_FILTERS_H
#define TRACE_FILTERS_H

#include "bpf/emit.h"
#include "lib/arm/pinned/run_dir.h"
#include "lib/arm/select/settings.h"

/* Programs at the kernel's own tracepoints, which have their arguments in the
 * context, 8 bytes each. */

/* Offsets of members, which --follow can't do without. 0, or a negative errno with
 * err set. */
int raw_tracepoint_offsets(const struct btf_want *wants, size_t count,
			   struct error *err);

/* dst = address of `off` in the frame */
void raw_tracepoint_frame(struct emit *e, int dst, int off);

/* frame[off] = `bytes` bytes of what argument `argument` of `context` points
 * to, at `member` there */
void raw_tracepoint_member(struct emit *e, int context, int argument,
			   uint32_t member, int off, int bytes);
/* frame[off] = r0 = the process that is running, 4 bytes */
void raw_tracepoint_current(struct emit *e, int off);
/* The program ends here. */
void raw_tracepoint_end(struct emit *e, emit_label end);

/* Load what was emitted, and attach it. The link, closing which detaches it, or
 * a negative errno with err set. Frees all of *e in any case. */
int raw_tracepoint_attach(struct emit *e, const char *name, struct error *err);

/* Are there any? */
bool filters_given(const struct job_settings *settings);

/* Can the processes that one starts be recorded, too? */
bool filters_can_follow(void);

/* What was asked for is there: processes, cgroups. 0, or a negative errno with
 * err set. */
int filters_check(const struct job_settings *settings, struct error *err);

/*
 * The process that links are to be of: then the kernel leaves the others in
 * peace, which is far cheaper than to look in the program. 0: the program looks.
 */
uint32_t filters_link_pid(const struct job_settings *settings,
			  const struct features *features);

/*
 * Make `pids`, pinned in `dir`, with the processes that were asked for, and
 * where children are followed, unless `dry`, what does that. 0, or a negative
 * errno with err set; *fd is the caller's to close.
 */
int filters_make_pids(const struct job_settings *settings,
		      const struct run_dir *run, const char *dir, bool dry,
		      int *fd, struct error *err);
/* Put the processes that were asked for into it. */
int filters_add_pids(const struct job_settings *settings, int fd,
		     struct error *err);

/*
 * Fill in the filter of a session. Where processes were asked for, and
 * the links aren't of them (link_pid), `pids` is made and pinned in `dir`, with
 * what follows their children unless `dry`. 0, or a negative errno with err set;
 * filter->pids_fd is the caller's to close.
 */
int filters_make(struct body_filter *filter,
		 const struct job_settings *settings, uint32_t link_pid,
		 const struct run_dir *run, const char *dir, bool dry,
		 struct error *err);

#endif
