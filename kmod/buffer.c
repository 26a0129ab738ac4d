// SPDX-License-Identifier: GPL-2.0
/*
 * Adoption: the maps stay alive as long as the module refers to them, whatever
 * user space does. A mmapable array's entries follow each other from a page
 * boundary on (kernel/bpf/arraymap.c).
 *
 * User space can write into most parts at any time. What the module relies on
 * is read once, here, and bounds all that it does later.
 */
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <rastrace/ring.h>
#include "rastrace.h"

/* Who changes what is adopted. Never under mmap_lock: the static keys take
 * cpu_hotplug_lock, under which mmap_lock may be taken (cpusets do). */
static DEFINE_MUTEX(buffer_mutex);
static struct adopted __rcu *adopted;

struct adopted *buffer_get(void)
{
	return rcu_dereference_check(adopted, rcu_read_lock_sched_held());
}

size_t buffer_part_bytes(const struct buffer_part *part)
{
	return PAGE_ALIGN(part->stride * part->entries);
}

int buffer_part_get(struct buffer_part *part, unsigned int number)
{
	const struct adopted *buffer;
	int ret = -ENOENT;

	rcu_read_lock();
	buffer = buffer_get();
	if (buffer && buffer->parts[number].map) {
		*part = buffer->parts[number];
		bpf_map_inc(part->map);
		ret = 0;
	}
	rcu_read_unlock();
	return ret;
}

void buffer_part_put(struct buffer_part *part)
{
	bpf_map_put(part->map);
}

static void *entry_find(struct bpf_map *map, u32 index)
{
	void *entry;

	rcu_read_lock();
	entry = map->ops->map_lookup_elem(map, &index);
	rcu_read_unlock();
	return entry;
}

/*
 * Bytes and nothing else, which programs write, too: neither what the verifier
 * takes for constants (BPF_F_RDONLY_PROG), nor fields of the kernel's (kptrs,
 * timers), which only BTF can show.
 */
static int array_open(struct buffer_part *part)
{
	struct bpf_map *map = part->map;
	void *last;

	if (map->map_type != BPF_MAP_TYPE_ARRAY || map->btf ||
	    map->map_flags != BPF_F_MMAPABLE || !map->max_entries)
		return -EINVAL;
	part->entries = map->max_entries;
	part->stride = round_up(map->value_size, 8);
	part->base = entry_find(map, 0);
	last = entry_find(map, map->max_entries - 1);
	if (!part->base || !PAGE_ALIGNED(part->base) ||
	    last != part->base + (map->max_entries - 1) * part->stride)
		return -EINVAL;
	return 0;
}

/* Takes a reference on the map, also when it doesn't fit. */
static int buffer_part_open(struct buffer_part *part, int number, int fd)
{
	struct bpf_map *map = bpf_map_get(fd);

	if (IS_ERR(map))
		return PTR_ERR(map);
	part->map = map;
	if (number != RASTRACE_PIDS)
		return array_open(part);
	return map->map_type == BPF_MAP_TYPE_HASH &&
	       map->key_size == sizeof(u32) ? 0 : -EINVAL;
}

/* Does a part have exactly these entries, of exactly that many bytes? */
static bool buffer_part_fits(const struct adopted *buffer, int part, u64 entries,
			     u64 bytes)
{
	const struct bpf_map *map = buffer->parts[part].map;

	return map->max_entries == entries && map->value_size == bytes;
}

static int buffer_control_take(struct adopted *buffer)
{
	const struct buffer_part *part = &buffer->parts[RASTRACE_CONTROL];
	const struct ras_control *control = part->base;

	if (part->entries != 1 || part->map->value_size < sizeof(*control) ||
	    READ_ONCE(control->magic) != RAS_CONTROL_MAGIC)
		return -EINVAL;
	if (READ_ONCE(control->layout) != RAS_LAYOUT)
		return -EPROTO;
	buffer->key = READ_ONCE(control->key);
	buffer->slice_bytes = READ_ONCE(control->slice_bytes);
	buffer->nest_bytes = READ_ONCE(control->nest_bytes);
	buffer->cpus = READ_ONCE(control->cpus);
	if (!ras_geometry_valid(buffer->slice_bytes, buffer->nest_bytes,
				buffer->cpus) ||
	    READ_ONCE(control->nest_levels) != RAS_NEST_LEVELS ||
	    buffer->cpus < nr_cpu_ids)
		return -EINVAL;
	return 0;
}

static int parts_check(struct adopted *b)
{
	const u64 around = RAS_SLICE_HEADER + RAS_RECORD_MAX;
	const u64 levels = RAS_NEST_LEVELS;
	int ret = buffer_control_take(b);

	if (ret)
		return ret;
	if (!buffer_part_fits(b, RASTRACE_BUFFER, b->cpus,
			      b->slice_bytes + around) ||
	    !buffer_part_fits(b, RASTRACE_NEST, b->cpus * levels,
			      b->nest_bytes + around) ||
	    !buffer_part_fits(b, RASTRACE_SESSIONS, 1, RAS_SESSIONS_BYTES) ||
	    !buffer_part_fits(b, RASTRACE_TRIGGER, 1,
			      sizeof(struct ras_trigger)))
		return -EINVAL;
	if (!b->statics)
		return 0;
	if (!buffer_part_fits(b, RASTRACE_STATE, 1, sizeof(struct ras_state)) ||
	    !buffer_part_fits(b, RASTRACE_COUNT,
			      RAS_STATIC_MAJORS * b->cpus * (1 + levels),
			      sizeof(struct ras_count)) ||
	    !buffer_part_fits(b, RASTRACE_WHY, RAS_STATIC_MAJORS * b->cpus,
			      sizeof(struct ras_why)) ||
	    !buffer_part_fits(b, RASTRACE_MAJORS, 1, RAS_STATIC_MAJORS))
		return -EINVAL;
	return 0;
}

/* Those of the buffer must be there, those of static tracepoints may, and with
 * them the processes that were asked for. */
static int buffer_parts_open(struct adopted *buffer,
			     const struct rastrace_adopt *adopt)
{
	buffer->statics = adopt->maps[RASTRACE_STATE] >= 0;
	for (int i = 0; i < RASTRACE_PARTS; i++) {
		bool given = adopt->maps[i] >= 0;
		bool wanted = i < RASTRACE_STATE || buffer->statics;
		int ret;

		if (given != wanted && !(wanted && i == RASTRACE_PIDS))
			return -EINVAL;
		if (!given)
			continue;
		ret = buffer_part_open(&buffer->parts[i], i, adopt->maps[i]);
		if (ret)
			return ret;
	}
	return parts_check(buffer);
}

static void kmod_buffer_close(struct adopted *buffer)
{
	for (int i = 0; i < RASTRACE_PARTS; i++)
		if (buffer->parts[i].map)
			bpf_map_put(buffer->parts[i].map);
	kfree(buffer);
}

static struct adopted *kmod_buffer_open(const struct rastrace_adopt *adopt)
{
	struct adopted *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
	int ret;

	if (!buffer)
		return ERR_PTR(-ENOMEM);
	ret = buffer_parts_open(buffer, adopt);
	if (!ret)
		return buffer;
	kmod_buffer_close(buffer);
	return ERR_PTR(ret);
}

bool buffer_orphaned(const struct adopted *buffer)
{
	const struct bpf_map *control = buffer->parts[RASTRACE_CONTROL].map;

	return !atomic64_read(&control->usercnt);
}

int buffer_adopt(const struct rastrace_adopt *adopt)
{
	struct adopted *buffer, *old;

	if (adopt->layout != RAS_LAYOUT)
		return -EPROTO;
	if (adopt->flags & ~RASTRACE_ADOPT_AGAIN)
		return -EINVAL;
	buffer = kmod_buffer_open(adopt);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	mutex_lock(&buffer_mutex);
	old = rcu_dereference_protected(adopted,
					lockdep_is_held(&buffer_mutex));
	if (old && !buffer_orphaned(old) &&
	    !(adopt->flags && old->parts[RASTRACE_CONTROL].map ==
			      buffer->parts[RASTRACE_CONTROL].map)) {
		mutex_unlock(&buffer_mutex);
		kmod_buffer_close(buffer);
		return -EBUSY;
	}
	rcu_assign_pointer(adopted, buffer);
	majors_switch(buffer);
	crash_anchor(buffer);
	mutex_unlock(&buffer_mutex);
	if (old) {
		synchronize_rcu();
		kmod_buffer_close(old);
	}
	return 0;
}

void buffer_release(void)
{
	struct adopted *buffer;

	mutex_lock(&buffer_mutex);
	buffer = rcu_replace_pointer(adopted, NULL,
				     lockdep_is_held(&buffer_mutex));
	majors_switch(NULL);
	crash_anchor(NULL);
	mutex_unlock(&buffer_mutex);
	/* also for who finds that somebody else has just released it */
	synchronize_rcu();
	if (buffer)
		kmod_buffer_close(buffer);
}

int buffer_switch(void)
{
	struct adopted *buffer;

	mutex_lock(&buffer_mutex);
	buffer = rcu_dereference_protected(adopted,
					   lockdep_is_held(&buffer_mutex));
	if (buffer)
		majors_switch(buffer);
	mutex_unlock(&buffer_mutex);
	return buffer ? 0 : -ENOENT;
}
