// SPDX-License-Identifier: GPL-2.0
/*
 * Static records, written in any context: no lock is waited for, nothing is
 * called that could sleep or be traced into this again without end.
 */
#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <rastrace/kernel.h>
#include <rastrace/ring.h>
#include "rastrace.h"

struct hit {
	const struct adopted *buffer;
	unsigned int major, minor, cpu;
	const void *data;
	size_t length;
};

/* Row of `count`: see rastrace/buffer.h for the order of slices. */
static struct ras_count *count_row(const struct hit *hit, u32 slice)
{
	u32 slices = hit->buffer->cpus * (1 + RAS_NEST_LEVELS);

	return buffer_entry(hit->buffer, RASTRACE_COUNT,
			    hit->major * slices + slice);
}

static void counter_add(__u64 *counter)
{
	atomic64_inc((atomic64_t *)counter);
}

static int hit_filtered(const struct hit *hit, int kind, int result)
{
	struct ras_why *why = buffer_entry(hit->buffer, RASTRACE_WHY,
					   hit->major * hit->buffer->cpus +
					   hit->cpu);

	counter_add(&why->filtered[kind]);
	return result;
}

/* The slice is taken. */
static void record_fill(const struct hit *hit, struct ras_record *record,
			struct ras_count *count, size_t length)
{
	record->flags = length < hit->length ? RAS_RECORD_CUT : 0;
	record->major = hit->major;
	record->minor = hit->minor;
	record->point = hit->major;
	record->site = 0;
	record->time = ktime_get_boot_fast_ns();
	record->tid = current->pid;
	record->pid = current->tgid;
	record->seq = count->recorded++;
	record->session = RAS_STATIC_SESSION;
	record->stack = 0;
	memcpy(record + 1, hit->data, length);
}

/* -EBUSY: the slice is somebody else's. */
static int record_slice_write(const struct hit *hit, struct ras_slice *slice,
			      u64 bytes, u32 row)
{
	size_t length = min_t(size_t, hit->length, RAS_STATIC_DATA_MAX);
	struct ras_record *record;

	if (!ras_slice_take(slice))
		return -EBUSY;
	record = ras_slice_place(slice, bytes);
	record_fill(hit, record, count_row(hit, row), length);
	ras_slice_publish(slice, record, RAS_RECORD_HEADER + length,
			  hit->buffer->key);
	return length < hit->length ? -EMSGSIZE : 0;
}

/* A record is published: the last one that a trigger lets through stops the
 * recording. The trigger's own one is never static. */
static void record_trigger_count(struct ras_trigger *trigger)
{
	if (READ_ONCE(trigger->state) == RAS_TRIGGER_COUNTING &&
	    atomic64_dec_return((atomic64_t *)&trigger->left) <= 0)
		cmpxchg(&trigger->state, RAS_TRIGGER_COUNTING,
			RAS_TRIGGER_FROZEN);
}

static int slices_try(const struct hit *hit)
{
	const struct adopted *b = hit->buffer;
	struct ras_slice *main = buffer_entry(b, RASTRACE_BUFFER, hit->cpu);
	int ret = record_slice_write(hit, main, b->slice_bytes, hit->cpu);

	for (u32 level = 0; ret == -EBUSY && level < RAS_NEST_LEVELS; level++) {
		u32 nest = hit->cpu * RAS_NEST_LEVELS + level;

		ret = record_slice_write(hit,
					 buffer_entry(b, RASTRACE_NEST, nest),
					 b->nest_bytes, b->cpus + nest);
	}
	if (ret != -EBUSY) {
		record_trigger_count(buffer_entry(b, RASTRACE_TRIGGER, 0));
		return ret;
	}
	counter_add(&main->dropped);
	counter_add(&count_row(hit, hit->cpu)->dropped);
	return -ENOBUFS;
}

/* Of the processes asked for? Without such a set all are. */
static bool process_wanted(const struct adopted *buffer)
{
	struct bpf_map *pids = buffer->parts[RASTRACE_PIDS].map;
	u32 pid = current->tgid;
	bool wanted;

	if (!pids)
		return true;
	rcu_read_lock();
	wanted = pids->ops->map_lookup_elem(pids, &pid);
	rcu_read_unlock();
	return wanted;
}

/* The tests in the order in which BPF programs make them: bpf/body.c */
static int hit_record(const struct hit *hit)
{
	const struct adopted *b = hit->buffer;
	const struct ras_trigger *trigger =
		buffer_entry(b, RASTRACE_TRIGGER, 0);
	const struct ras_state *state = buffer_entry(b, RASTRACE_STATE, 0);
	const u8 *majors = buffer_entry(b, RASTRACE_MAJORS, 0);

	if (!READ_ONCE(majors[hit->major]))
		return -ENOENT;
	switch (READ_ONCE(state->state)) {
	case RAS_STATE_ON:
		break;
	case RAS_STATE_SUSPENDED:
		return hit_filtered(hit, RAS_FILTERED_SUSPENDED, -EAGAIN);
	default:
		return -ENOENT;
	}
	if (READ_ONCE(trigger->state) == RAS_TRIGGER_FROZEN)
		return hit_filtered(hit, RAS_FILTERED_FROZEN, -EAGAIN);
	if (!process_wanted(b))
		return hit_filtered(hit, RAS_FILTERED_PROCESS, -ESRCH);
	return slices_try(hit);
}

int rastrace_record(unsigned int major, unsigned int minor, const void *data,
		    size_t length)
{
	struct hit hit = {
		.major = major, .minor = minor, .data = data, .length = length,
	};
	int ret = -ENOENT;

	if (minor > U16_MAX)
		return -EINVAL;
	/* else neither the buffer nor the event's listeners would stay */
	if (major >= RAS_STATIC_MAJORS || !rcu_is_watching())
		return ret;
	preempt_disable_notrace();
	event_emit(major, minor, data,
		   min_t(size_t, length, RAS_STATIC_DATA_MAX));
	hit.buffer = buffer_get();
	hit.cpu = raw_smp_processor_id();
	if (hit.buffer && hit.buffer->statics)
		ret = hit_record(&hit);
	preempt_enable_notrace();
	return ret;
}
EXPORT_SYMBOL_GPL(rastrace_record);

#ifdef CONFIG_RASTRACE_KUNIT_TEST
#include "record_kunit.c"
#endif
