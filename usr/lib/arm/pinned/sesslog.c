// SPDX-License-Identifier: GPL-2.0
#include "sesslog.h"

#include <errno.h>
#include <string.h>

static struct ras_session *entry_at(struct buffer *buffer, size_t at)
{
	return (void *)((char *)buffer->sessions_view.base + at);
}

/* The end of a path distinguishes it better than its beginning. */
static void path_copy(char *to, size_t size, const char *path)
{
	size_t length = strlen(path);

	if (length >= size)
		path += length - (size - 1);
	strcpy(to, path);
}

static void points_fill(struct ras_session *entry, const struct tdf *tdf,
			const bool *picked)
{
	struct ras_session_point *points = (void *)(entry + 1);

	for (uint32_t i = 0; i < entry->points; i++)
		points[i] = (struct ras_session_point){
			.hash = tdf->points[i].hash,
			.minor = tdf->points[i].minor,
			.type = tdf->points[i].type,
			.group = tdf->points[i].group,
			.state = picked[i] ? RAS_POINT_ARMED :
					     RAS_POINT_UNSELECTED,
		};
}

static struct ras_session *log_full(struct error *err, const char *what)
{
	error_set(err, -ENOSPC, "the session log is full: %s", what);
	error_hint(err, "save the records (trace get FILE.ras); "
		   "'trace off --all' starts anew");
	return NULL;
}

struct ras_session *sesslog_add(struct buffer *buffer, const struct tdf *tdf,
				const bool *picked, const char *path,
				const struct tdf_module *module,
				const char *module_path,
				const struct ras_session *begin,
				struct error *err)
{
	struct ras_control *control = buffer->control;
	uint32_t points = tdf->header->points.count;
	uint32_t size = sizeof(struct ras_session) +
			points * sizeof(struct ras_session_point);
	struct ras_session *entry = entry_at(buffer, control->sessions_used);

	if (control->next_session > UINT16_MAX)
		return log_full(err, "it has counted to 65535");
	if (control->sessions_used > buffer->sessions_view.size ||
	    size > buffer->sessions_view.size - control->sessions_used)
		return log_full(err, "no room for another TDF");
	*entry = (struct ras_session){
		.index = control->next_session,
		.major = tdf->header->major,
		.points = points,
		.flags = begin->flags,
		.armed = buffer_time(),
		.id_kind = module->id_kind,
		.id_length = module->id_length,
		.context = begin->context,
		.max_rate = begin->max_rate,
		.device = begin->device,
		.inode = begin->inode,
		.bytes = begin->bytes,
		.mtime = begin->mtime,
		.ctime = begin->ctime,
	};
	entry->disarmed = entry->armed;
	memcpy(entry->id, module->id, sizeof(entry->id));
	path_copy(entry->tdf, sizeof(entry->tdf), path);
	path_copy(entry->module, sizeof(entry->module), module_path);
	points_fill(entry, tdf, picked);
	__atomic_store_n(&entry->size, size, __ATOMIC_RELEASE);
	control->next_session++;
	__atomic_store_n(&control->sessions_used,
			 control->sessions_used + size, __ATOMIC_RELEASE);
	return entry;
}

void sesslog_point_end(struct ras_session *entry, uint32_t point,
		       uint16_t state)
{
	struct ras_session_point *points = (void *)(entry + 1);

	if (point >= entry->points || points[point].state != RAS_POINT_ARMED)
		return;
	/* the state counts: a process killed in between has ended nothing */
	points[point].ended = buffer_time();
	__atomic_store_n(&points[point].state, state, __ATOMIC_RELEASE);
}

uint32_t sesslog_points_armed(const struct ras_session *entry)
{
	const struct ras_session_point *points = (const void *)(entry + 1);
	uint32_t armed = 0;

	for (uint32_t i = 0; i < entry->points; i++)
		armed += points[i].state == RAS_POINT_ARMED;
	return armed;
}

void sesslog_drop_last(struct buffer *buffer, struct ras_session *entry)
{
	__atomic_store_n(&buffer->control->sessions_used,
			 (char *)entry - (char *)buffer->sessions_view.base,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&entry->size, 0, __ATOMIC_RELEASE);
}

struct ras_session *sesslog_find(struct buffer *buffer, uint16_t index)
{
	size_t used = buffer->control->sessions_used, at = 0;

	if (used > buffer->sessions_view.size)
		used = buffer->sessions_view.size;
	while (used - at >= sizeof(struct ras_session)) {
		struct ras_session *entry = entry_at(buffer, at);

		if (entry->size < sizeof(*entry) || entry->size > used - at)
			break;
		if (entry->index == index)
			return entry;
		at += entry->size;
	}
	return NULL;
}

void sesslog_reset(struct buffer *buffer)
{
	__atomic_store_n(&buffer->control->sessions_used, 0, __ATOMIC_RELEASE);
	memset(buffer->sessions_view.base, 0, buffer->sessions_view.size);
}

static bool tdf_is_of(const struct tdf *tdf, const struct session *session)
{
	if (tdf->header->points.count != session->entry->points)
		return false;
	for (uint32_t i = 0; i < session->entry->points; i++)
		if (tdf->points[i].minor != session->points[i].minor ||
		    tdf->points[i].hash != session->points[i].hash ||
		    tdf->points[i].type != session->points[i].type ||
		    tdf->points[i].group != session->points[i].group)
			return false;
	return true;
}

int session_tdf_open(const struct session *session, struct tdf **tdf)
{
	int code = tdf_open(tdf, session->entry->tdf, NULL);

	if (code) {
		*tdf = NULL;
		return code == -ENOMEM ? code : 0;
	}
	if (!tdf_is_of(*tdf, session)) {
		tdf_close(*tdf);
		*tdf = NULL;
	}
	return 0;
}
