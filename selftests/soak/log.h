/* SPDX-License-Identifier: GPL-2.0 */
/* The session log, as in memory and in files. */
#ifndef SELFTESTS_SOAK_LOG_H
#define SELFTESTS_SOAK_LOG_H

#include "check.h"

#define SESSION_FLAGS	(0x1f | RAS_SESSION_READS)
#define SESSION_ID_MAX	2

/* A copy of its entry with its points, and of its figures */
struct session {
	struct ras_session *entry;
	const struct ras_session_point *points;
	/* of each point, if known */
	uint64_t *recorded, *filtered, *dropped;
};

static struct session *sessions;
static unsigned int session_count;

static void sessions_forget(void)
{
	for (unsigned int i = 0; i < session_count; i++) {
		free(sessions[i].entry);
		free(sessions[i].recorded);
	}
	free(sessions);
	sessions = NULL;
	session_count = 0;
}

static struct session *session_find(unsigned int index)
{
	for (unsigned int i = session_count; i--;)
		if (sessions[i].entry->index == index)
			return &sessions[i];
	return NULL;
}

static void session_points_check(const struct ras_session *entry)
{
	const struct ras_session_point *points = (const void *)(entry + 1);

	for (unsigned int i = 0; i < entry->points; i++) {
		holds(points[i].minor, "point %u: minor 0", i);
		holds(points[i].state <= RAS_POINT_MUTED, "point %u: state %u",
		      i, points[i].state);
		holds(points[i].ended || points[i].state != RAS_POINT_OFF,
		      "point %u is off and has not ended", i);
	}
}

static void session_check(const struct ras_session *entry)
{
	holds(entry->index, "index 0");
	holds(entry->major && entry->major <= 255, "major %u", entry->major);
	holds(!(entry->flags & ~SESSION_FLAGS), "flags %#x", entry->flags);
	holds(entry->armed, "armed at 0");
	holds(!entry->disarmed || entry->disarmed >= entry->armed,
	      "disarmed before it was armed");
	holds(entry->id_kind <= SESSION_ID_MAX, "kind of identity %u",
	      entry->id_kind);
	holds(entry->id_length <= sizeof(entry->id), "identity of %u bytes",
	      entry->id_length);
	holds(!(entry->context & ~RAS_CONTEXT_ALL), "context %#x",
	      entry->context);
	holds(!entry->changed || (entry->mtime &&
				  entry->changed >= entry->armed),
	      "changed at %llu, before it was armed", entry->changed);
	holds(memchr(entry->tdf, 0, sizeof(entry->tdf)) && entry->tdf[0],
	      "path of the TDF");
	holds(memchr(entry->module, 0, sizeof(entry->module)),
	      "path of the module");
	session_points_check(entry);
}

/* The same session again: only the times at which something ends may differ. */
static void session_again(struct session *session,
			  const struct ras_session *entry)
{
	struct ras_session was = *session->entry, is = *entry;
	const struct ras_session_point *points = (const void *)(entry + 1);

	was.disarmed = is.disarmed;
	if (!holds(!memcmp(&was, &is, sizeof(was)), "it has changed"))
		return;
	for (unsigned int i = 0; i < is.points; i++)
		holds(points[i].hash == session->points[i].hash &&
		      points[i].minor == session->points[i].minor &&
		      points[i].type == session->points[i].type &&
		      points[i].group == session->points[i].group,
		      "point %u has changed", i);
	memcpy(session->entry, entry, entry->size);
}

static void session_add(const struct ras_session *entry, bool live)
{
	struct session *session = session_find(entry->index);

	session_check(entry);
	if (session && session->entry->armed == entry->armed) {
		session_again(session, entry);
		return;
	}
	holds(!session || !live, "index %u twice", entry->index);
	sessions = realloc(sessions, (session_count + 1) * sizeof(*sessions));
	if (!sessions)
		die(2, "out of memory");
	session = &sessions[session_count++];
	session->entry = allocate(1, entry->size);
	memcpy(session->entry, entry, entry->size);
	session->points = (const void *)(session->entry + 1);
	session->recorded = allocate(3 * entry->points, sizeof(uint64_t));
	session->filtered = session->recorded + entry->points;
	session->dropped = session->filtered + entry->points;
}

/* `bytes` of it, all of which are entries but for one of size 0 at the end */
static void log_check(const uint8_t *log, uint64_t bytes, bool live)
{
	const struct ras_session *entry;
	uint64_t at = 0, last = 0;

	for (; at + sizeof(entry->size) <= bytes; at += entry->size) {
		entry = (const void *)(log + at);
		part_is("sessions at %#llx", (unsigned long long)at);
		if (!entry->size)
			break;
		if (!holds(entry->size >= sizeof(*entry) &&
			   entry->size <= bytes - at &&
			   entry->size == sizeof(*entry) + (uint64_t)
				entry->points *
				sizeof(struct ras_session_point),
			   "entry of %u bytes with %u points", entry->size,
			   entry->points))
			return;
		part_is("session %u", entry->index);
		holds(entry->index > last, "it is after session %u",
		      (unsigned int)last);
		last = entry->index;
		session_add(entry, live);
	}
	part_is("sessions");
	holds(at == bytes || (!live && all_zero(log + at, bytes - at)),
	      "%llu bytes, and the entries are %llu", (unsigned long long)bytes,
	      (unsigned long long)at);
}

#endif
