/* SPDX-License-Identifier: GPL-2.0 */
/* The live trace buffer (rastrace/buffer.h), opened and mapped. */
#ifndef LIB_BUFFER_H
#define LIB_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/buffer.h>
#include "lib/error.h"

struct buffer_view {
	int fd;
	void *base;
	size_t size;
	size_t stride;		/* bytes from one entry to the next */
};

struct buffer {
	struct ras_control *control;	/* in control_view */
	struct ras_trigger *trigger;	/* in trigger_view */
	uint32_t slices;		/* main and nesting ones */
	struct buffer_view control_view, sessions_view, trigger_view;
	struct buffer_view main_view, nest_view;
	int processes_fd;		/* a hash, never mapped; -1: not here */
	int device_fd;			/* the kernel module's device, which all of
					 * it was mapped from; -1: the pins are */
	uint32_t device_id;		/* what the module calls it */
};

/*
 * Open the buffer of a run directory and check that its maps fit together.
 * write: control and session log can be written. Who only reads and may not
 * look into the default run directory gets the kernel module's buffer from its
 * device. 0, or a negative errno with err set: -ENOENT when there is none,
 * -EPROTO when its layout is another version's.
 */
int buffer_open(struct buffer *buffer, const char *run, bool write,
		struct error *err);
void buffer_close(struct buffer *buffer);

/*
 * Who may only read (a member of the group of --group-read) has copies of
 * control, sessions and trigger: read them again. Others see what is there
 * anyhow.
 */
int buffer_refresh(struct buffer *buffer, struct error *err);

/* Has the kernel module another buffer by now, or none? */
bool buffer_device_gone(const struct buffer *buffer);

/* Bytes of kernel memory that a buffer takes. */
uint64_t buffer_memory(uint64_t slice_bytes, uint32_t cpus);

/* Slice of a row of `count`, and how many data bytes it has. */
const struct ras_slice *buffer_slice(const struct buffer *buffer,
				     uint32_t row, uint64_t *size);
uint64_t buffer_tail(const struct buffer *buffer, uint32_t row);

/* Now, in the records' clock; and what to add to get wall time. */
uint64_t buffer_time(void);
int64_t buffer_wall_offset(void);
/* The buffer's own, so that a record's wall time is the same whenever it is read,
 * unless the clock has been set since. */
int64_t buffer_wall_offset_kept(const struct buffer *buffer);

#endif
