/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arithmetic of a slice, by the protocols of rastrace/buffer.h, for the
 * kernel and for user space. Writing a record:
 *
 *	if (!ras_slice_take(slice))
 *		the next level, or count a drop
 *	record = ras_slice_place(slice, size);
 *	fill it in, but for stamp and length
 *	ras_slice_publish(slice, record, length, key);
 */
#ifndef RASTRACE_RING_H
#define RASTRACE_RING_H

#include <rastrace/buffer.h>

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/types.h>
#define RAS_CMPXCHG(p, old, new)	cmpxchg(p, old, new)
#define RAS_STORE(p, v)			WRITE_ONCE(*(p), v)
#define RAS_STORE_RELEASE(p, v)		smp_store_release(p, v)
#else
#include <stdbool.h>
#define RAS_CMPXCHG(p, old, new)	__sync_val_compare_and_swap(p, old, new)
#define RAS_STORE(p, v)			__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define RAS_STORE_RELEASE(p, v)		__atomic_store_n(p, v, RAS_RELEASE)
#ifndef RAS_RELEASE
#define RAS_RELEASE			__ATOMIC_RELEASE
#endif
#endif

/* What a record of `length` bytes takes in the slice */
static inline __u64 ras_record_space(__u32 length)
{
	return ((__u64)length + 7) & ~7ULL;
}

/* Is it the caller's, until ras_slice_publish()? Fully ordered, so that nothing
 * of the record is written before. */
static inline bool ras_slice_take(struct ras_slice *slice)
{
	return RAS_CMPXCHG(&slice->lock, 0, 1) == 0;
}

/* Where the next record goes; `size` is the number of data bytes, 2^n. */
static inline struct ras_record *ras_slice_place(struct ras_slice *slice,
						 __u64 size)
{
	return (struct ras_record *)(slice->data + (slice->head & (size - 8)));
}

/* `length` bytes of header and data are written: others may see them. */
static inline void ras_slice_publish(struct ras_slice *slice,
				     struct ras_record *record, __u32 length,
				     __u64 key)
{
	__u64 head = slice->head;

	record->length = length;
	RAS_STORE(&record->stamp, head ^ key);
	RAS_STORE(&slice->records, slice->records + 1);
	RAS_STORE_RELEASE(&slice->head, head + ras_record_space(length));
	RAS_STORE_RELEASE(&slice->lock, 0);
}

/* Reading */

/* Positions before this one may be under the writer's hand, as it is now that
 * the head is read. */
static inline __u64 ras_slice_oldest(__u64 head, __u64 size)
{
	return head < size ? 0 : head + RAS_RECORD_MAX - size;
}

/* May a control block say this of the buffer? Its maps are compared with it
 * besides. */
static inline bool ras_geometry_valid(__u64 slice_bytes, __u64 nest_bytes,
				      __u32 cpus)
{
	return slice_bytes >= RAS_SLICE_MIN && slice_bytes <= RAS_SLICE_MAX &&
	       !(slice_bytes & (slice_bytes - 1)) &&
	       nest_bytes == RAS_NEST_BYTES && cpus && cpus <= RAS_CPUS_MAX;
}

/* Is this the header of a record at `position`, which ends no later than `left`
 * bytes after it? */
static inline bool ras_record_valid(const struct ras_record *record,
				    __u64 position, __u64 left, __u64 key)
{
	return record->stamp == (position ^ key) &&
	       record->length >= RAS_RECORD_HEADER &&
	       record->length <= RAS_RECORD_MAX &&
	       ras_record_space(record->length) <= left;
}

#endif
