/* SPDX-License-Identifier: GPL-2.0 */
/* Programs at the kernel's own tracepoints, which have their arguments in the
 * context, 8 bytes each. */
#ifndef TRACE_RAW_TRACEPOINT_H
#define TRACE_RAW_TRACEPOINT_H

#include "bpf/emit.h"
#include "lib/error.h"
#include "lib/arm/kernel/btf.h"

/* Offsets of members, which --follow can't do without. 0, or a negative errno with
 * err set. */
int raw_tracepoint_offsets(const struct btf_want *wants, size_t count,
			   struct error *err);

/* dst = address of `off` in the frame */
void raw_tracepoint_frame(struct emit *e, int dst, int off);
/* frame[off] = `bytes` bytes of the kernel at r3; uses r0 to r5 */
void raw_tracepoint_read(struct emit *e, int off, int bytes);
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

#endif
