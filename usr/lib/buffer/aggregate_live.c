// SPDX-License-Identifier: GPL-2.0
#include "aggregate_live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include <rastrace/rasfile.h>
#include "lib/sysbpf.h"
#include "pin.h"

/* What is read of a session */
struct aggregate_copy {
	const struct session *session;
	uint64_t cleared;	/* of the buffer */
	struct ras_legend *legends;
	uint32_t legend_count;
	uint16_t epoch;
	bool any_epoch;		/* it is off: what was cleared is gone */
	uint32_t key_bytes, room, cpus;
	uint8_t *keys;
	struct ras_aggregate *values;	/* cpus for each key */
	int count;
	struct ras_aggregated *rows;	/* per point */
};

static int legends_read(struct aggregate_copy *copy, struct error *err)
{
	struct bpf_map_info info;
	int fd = session_map_open(copy->session, "legend", &info, err), code;

	if (fd < 0)
		return fd;
	copy->legend_count = info.value_size / sizeof(*copy->legends);
	copy->legends = calloc(copy->legend_count + 1, sizeof(*copy->legends));
	code = !copy->legends ? error_no_memory(err) :
	       bpf_map_lookup_elem(fd, &(uint32_t){ 0 }, copy->legends) ?
	       error_set(err, -EIO, "cannot read the legend of '%s'",
			 copy->session->dir) : 0;
	close(fd);
	return code;
}

static void epoch_read(struct aggregate_copy *copy)
{
	struct ras_state state = { 0 };
	struct bpf_map_info info;
	int fd = session_map_open(copy->session, "state", &info, NULL);

	copy->any_epoch = true;
	if (fd < 0)
		return;
	if (info.value_size == sizeof(state) &&
	    !bpf_map_lookup_elem(fd, &(uint32_t){ 0 }, &state)) {
		copy->any_epoch = false;
		copy->epoch = state.epoch;
	}
	close(fd);
}

static int entries_copy(struct aggregate_copy *copy, struct error *err)
{
	int fd = session_aggregates_open(copy->session, &copy->key_bytes,
					 &copy->room, err);

	if (fd < 0)
		return fd;
	copy->cpus = libbpf_num_possible_cpus();
	copy->keys = calloc(copy->room + 1, copy->key_bytes);
	copy->values = calloc((size_t)copy->room + 1,
			      copy->cpus * sizeof(*copy->values));
	if (copy->keys && copy->values)
		copy->count = sysbpf_hash_read(fd, copy->keys, copy->key_bytes,
					       copy->values,
					       copy->cpus *
					       sizeof(*copy->values),
					       copy->room);
	close(fd);
	if (!copy->keys || !copy->values)
		return error_no_memory(err);
	return copy->count < 0 ?
		pin_refused(err, copy->count, "cannot read the aggregates of '%s'",
			    copy->session->dir) : 0;
}

static uint64_t higher(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint8_t *entries_put(const struct aggregate_copy *copy, uint8_t *p,
			    __u64 *count)
{
	for (int i = 0; i < copy->count; i++) {
		const struct ras_aggregate *value =
			&copy->values[(size_t)i * copy->cpus];
		const uint8_t *key = copy->keys + (size_t)i * copy->key_bytes;
		struct ras_aggregate sum = { 0 };
		struct ras_aggregate_key head;

		memcpy(&head, key, sizeof(head));
		if (!copy->any_epoch && head.epoch != copy->epoch)
			continue;
		for (uint32_t cpu = 0; cpu < copy->cpus; cpu++, value++) {
			sum.count += value->count;
			sum.sum += value->sum;
			sum.least = higher(sum.least, value->least);
			sum.most = higher(sum.most, value->most);
		}
		memcpy(p, key, copy->key_bytes);
		p += copy->key_bytes;
		memcpy(p, &sum, sizeof(sum));
		p += sizeof(sum);
		++*count;
	}
	return p;
}

static uint8_t *totals_put(const struct aggregate_copy *copy, uint8_t *p,
			   __u32 *count)
{
	for (uint32_t i = 0; i < copy->legend_count; i++) {
		struct ras_aggregates_point point = {
			.point = copy->legends[i].point,
			.minor = copy->legends[i].minor,
		};

		if ((i && copy->legends[i - 1].point == point.point) ||
		    point.point >= copy->session->entry->points)
			continue;
		point.sum = copy->rows[point.point];
		memcpy(p, &point, sizeof(point));
		p += sizeof(point);
		++*count;
	}
	return p;
}

static int payload_make(const struct aggregate_copy *copy, void **data,
			size_t *size, struct error *err)
{
	struct ras_aggregates head = {
		.session = copy->session->entry->index,
		.legends = copy->legend_count, .key_bytes = copy->key_bytes,
		.since = higher(copy->session->entry->armed, copy->cleared),
		.taken = buffer_time(),
	};
	size_t legends = copy->legend_count * sizeof(*copy->legends);
	uint8_t *p;

	*data = malloc(sizeof(head) + legends +
		       copy->legend_count *
		       sizeof(struct ras_aggregates_point) +
		       (size_t)copy->count *
		       (copy->key_bytes + sizeof(struct ras_aggregate)));
	if (!*data)
		return error_no_memory(err);
	p = totals_put(copy, (uint8_t *)*data + sizeof(head), &head.points);
	memcpy(p, copy->legends, legends);
	p = entries_put(copy, p + legends, &head.entries);
	memcpy(*data, &head, sizeof(head));
	*size = p - (uint8_t *)*data;
	return 0;
}

int aggregate_live_copy(const struct session *session,
			const struct buffer *buffer, void **data, size_t *size,
			struct error *err)
{
	struct aggregate_copy copy = {
		.session = session, .cleared = buffer->control->cleared,
	};
	int code;

	*data = NULL;
	*size = 0;
	if (!session->dir[0] || session->entry->index == RAS_STATIC_SESSION)
		return 0;
	code = legends_read(&copy, err);
	if (!code) {
		epoch_read(&copy);
		code = entries_copy(&copy, err);
	}
	if (!code)
		code = session_aggregated_read(session, buffer->control->cpus,
					       &copy.rows, err);
	if (!code)
		code = payload_make(&copy, data, size, err);
	free(copy.legends);
	free(copy.keys);
	free(copy.values);
	free(copy.rows);
	return code == -ENOENT ? 0 : code;
}
