/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel module and the buffer: when it is loaded (which is not trace's to
 * do) the buffer of a run directory is handed over to it, for the static
 * tracepoints of kernel code and for what outlives a panic. It takes one.
 */
#ifndef TRACE_KMOD_H
#define TRACE_KMOD_H

#include <stdint.h>
#include "run_dir.h"

enum kmod_buffer {
	KMOD_BUFFER_NONE,
	KMOD_BUFFER_OURS,	/* that of the run directory asked about */
	KMOD_BUFFER_OTHER,
};

struct kmod {
	bool loaded;		/* as far as the caller may know */
	uint32_t layout;	/* RAS_LAYOUT it was built with */
	uint64_t crash_bytes;	/* that outlive a panic */
	enum kmod_buffer buffer;
	bool statics;		/* with the static tracepoints */
};

void kmod_read(struct kmod *kmod, const char *run);

/* Can it have this run directory's buffer? 0, or a negative errno with err set:
 * -ENOENT when it isn't loaded. */
int kmod_check(const struct run_dir *run, struct error *err);

/*
 * Hand over what is in the run directory now, and switch the majors in kernel
 * code as it requests. Nothing to do without a buffer, without a module or where
 * its device isn't; 0, or a negative errno with err set.
 */
int kmod_hand_over(const struct run_dir *run, struct error *err);

/* The module uses nothing of this run directory any more. */
void kmod_release(const struct run_dir *run);

/* What the kernel module kept of the boot before, which ended in a panic. */

/*
 * Save it as a .ras file, and make the module forget it. 0, or a negative errno
 * with err set: -ENODATA when there is none. *kept: saved, but the caller may not
 * make it forget.
 */
int crash_save(const char *path, bool *kept, struct error *err);

#endif
