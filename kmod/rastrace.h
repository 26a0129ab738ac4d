/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the parts of rastrace.ko. main.c brings them up in the order in
 * which they are declared here.
 */
#ifndef KMOD_RASTRACE_H
#define KMOD_RASTRACE_H

#include <linux/bpf.h>
#include <linux/version.h>
#include <rastrace/buffer.h>
#include <rastrace/device.h>

struct file;

/* buffer.c: the trace buffer that user space handed over */

struct buffer_part {
	struct bpf_map *map;	/* NULL: there is none */
	void *base;		/* of entry 0; NULL of a hash */
	size_t stride;		/* from one entry to the next */
	u32 entries;
};

struct adopted {
	struct buffer_part parts[RASTRACE_PARTS];
	u64 key, slice_bytes, nest_bytes;
	u32 cpus;		/* possible ones, as the buffer counts them */
	bool statics;		/* has the parts of static records */
};

/* The adopted buffer or NULL. With preemption disabled, or in a read-side
 * section. */
struct adopted *buffer_get(void);

/* Has user space neither a pin nor a descriptor of it any more? */
bool buffer_orphaned(const struct adopted *buffer);

int buffer_adopt(const struct rastrace_adopt *adopt);
/* No writer uses it any more when this returns. */
void buffer_release(void);
/* Switch the majors as the buffer says now; -ENOENT: there is none. */
int buffer_switch(void);

/* A part of the adopted buffer, kept until it is put; -ENOENT: there is none */
int buffer_part_get(struct buffer_part *part, unsigned int number);
void buffer_part_put(struct buffer_part *part);

/* Bytes of all entries of a part, as they are mapped. */
size_t buffer_part_bytes(const struct buffer_part *part);

static inline void *buffer_entry(const struct adopted *buffer, int part,
				 u32 index)
{
	return buffer->parts[part].base + index * buffer->parts[part].stride;
}

/* event.c: the static keys, and the trace event */

/* Switch to what the buffer says, or all off without one. Not by two callers
 * at a time. */
void majors_switch(const struct adopted *buffer);
/* The trace event; with preemption disabled */
void event_emit(u32 major, u32 minor, const void *data, u32 length);

/* crash.c: what outlives a panic */
int crash_init(void);
void crash_exit(void);
u32 crash_kib(void);
/* The file that a panic of the boot before left, from *at on; forgotten, it ends
 * there. */
ssize_t crash_read(struct file *file, char __user *to, size_t size,
		   loff_t *at);
void crash_forget(void);
/* Where a memory dump finds the buffer; NULL: there is none. Not by two callers
 * at a time. */
void crash_anchor(const struct adopted *buffer);

/* segment.c: kfuncs, where programs at probes may call some */
#if (defined(CONFIG_X86_64) || defined(CONFIG_ARM64)) && \
	defined(CONFIG_DEBUG_INFO_BTF_MODULES) && \
	LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define KMOD_SEGMENT
void segment_init(void);
int rastrace_segments_save(void);
int rastrace_vector_read(u64 *to, u32 half);
#else
static inline void segment_init(void) {}
#endif

#endif
