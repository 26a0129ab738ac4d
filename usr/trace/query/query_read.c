// SPDX-License-Identifier: GPL-2.0
#include "query_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <rastrace/rasfile.h>
#include "lib/names.h"
#include "lib/buffer/pin.h"
#include "lib/arm/arm.h"
#include "figures.h"

#define CPU_FRESH	3000000000ULL	/* ns; it is measured four times a second */

const char *query_state_name(const struct session *session)
{
	if (!session->armed || session->state == RAS_STATE_OFF)
		return "off";
	return session->state == RAS_STATE_SUSPENDED ? "suspended" : "on";
}

const char *query_point_state(const struct session *session, uint32_t point)
{
	switch (session->points[point].state) {
	case RAS_POINT_ARMED:
		return query_state_name(session);
	case RAS_POINT_UNSELECTED:	/* a major that was on */
		return "off";
	default:
		return names_point_state(session->points[point].state);
	}
}

const char *query_mode_name(const struct ras_session *entry)
{
	return entry->flags & RAS_SESSION_MULTI ? "uprobe_multi" : "perf_event";
}

const char *query_preempt_name(const struct ras_session *entry)
{
	return entry->flags & RAS_SESSION_PREEMPT ? "disabled" : "unchanged";
}

const char *query_file_name(enum query_file file)
{
	static const char *const names[] = {
		[QUERY_FILE_SAME] = "same", [QUERY_FILE_REPLACED] = "replaced",
		[QUERY_FILE_GONE] = "gone", [QUERY_FILE_CHANGED] = "changed",
		[QUERY_FILE_UNKNOWN] = "unknown",
	};

	return names[file];
}

static enum query_file armed_file_find(const struct ras_session *entry)
{
	struct stat st;

	if (entry->changed)
		return QUERY_FILE_CHANGED;
	if (!entry->inode || entry->module[0] != '/')
		return QUERY_FILE_UNKNOWN;
	if (stat(entry->module, &st))
		return errno == ENOENT || errno == ENOTDIR ?
			QUERY_FILE_GONE : QUERY_FILE_UNKNOWN;
	return st.st_ino == entry->inode && st.st_dev == entry->device ?
		QUERY_FILE_SAME : QUERY_FILE_REPLACED;
}

bool query_cpu_known(const struct query *query)
{
	uint64_t measured = query->buffer->control->used_time;

	return measured && query->time < measured + CPU_FRESH;
}

const struct session *query_trigger_session(const struct query *query)
{
	for (size_t i = 0; i < query->list.count; i++) {
		const struct session *session = &query->list.items[i];

		if (session->entry->index == query->trigger.session &&
		    query->trigger.point < session->entry->points)
			return session;
	}
	return NULL;
}

bool query_point_shown(const struct query *query, size_t session,
		       uint32_t point)
{
	const struct session *s = &query->list.items[session];

	return query->figures.sessions[session] &&
	       query->chosen[session][point] &&
	       (s->points[point].state != RAS_POINT_UNSELECTED ||
		figure_hits(&query->figures.sessions[session][point]));
}

bool query_point_hit(const struct query *query, size_t session, uint32_t point)
{
	const struct figure *figure = &query->figures.sessions[session][point];

	return figure_hits(figure) || figure_faults(figure) ||
	       (figure->missed && figure->missed != RAS_MISSED_UNKNOWN);
}

const char *query_point_name(const struct query *query, size_t session,
			     uint32_t point)
{
	const struct tdf *tdf = query->tdfs[session];

	return tdf ? tdf_string(tdf, tdf->points[point].name) : "";
}

static bool is_without_hit(const struct query *query, size_t session,
			   uint32_t point)
{
	return query_point_shown(query, session, point) &&
	       !query_point_hit(query, session, point);
}

void query_print_without_hit(const struct query *query, size_t index)
{
	const struct session *session = &query->list.items[index];
	const char *before = "  without a hit: ";
	uint32_t points = session->entry->points;

	for (uint32_t i = 0; i < points; i++) {
		uint32_t first = i;

		if (!is_without_hit(query, index, i))
			continue;
		while (i + 1 < points && is_without_hit(query, index, i + 1) &&
		       session->points[i + 1].minor ==
		       session->points[i].minor + 1)
			i++;
		printf("%s%u", before, session->points[first].minor);
		if (i > first)
			printf("-%u", session->points[i].minor);
		before = ", ";
	}
	if (before[0] == ',')
		putchar('\n');
}

static void session_describe(struct query *query, size_t i)
{
	const struct session *session = &query->list.items[i];
	struct query_session *result = &query->sessions[i];

	if (!query->figures.sessions[i])
		return;
	result->memory = footprint_read_session(session);
	query->memory += result->memory;
	result->file = session->armed || session->entry->changed ?
		armed_file_find(session->entry) : QUERY_FILE_UNKNOWN;
	for (uint32_t k = 0; k < session->entry->points; k++) {
		if (!query_point_shown(query, i, k))
			continue;
		result->shown = true;
		figure_add(&result->sum, &query->figures.sessions[i][k]);
	}
}

/* What is there for each session: memory, TDFs, and the points to be shown. */
static int sessions_read(struct query *query, int count, char **operands,
			 struct error *err)
{
	size_t sessions = query->list.count + 1;
	int code = 0;

	query->sessions = calloc(sessions, sizeof(*query->sessions));
	query->tdfs = calloc(sessions, sizeof(*query->tdfs));
	query->chosen = calloc(sessions, sizeof(*query->chosen));
	if (!query->sessions || !query->tdfs || !query->chosen)
		return error_no_memory(err);
	for (size_t i = 0; i < query->list.count; i++) {
		const struct session *session = &query->list.items[i];
		uint32_t points = session->entry->points;

		if (query->figures.sessions[i] &&
		    session_tdf_open(session, &query->tdfs[i]))
			return error_no_memory(err);
		query->chosen[i] = malloc(points + 1);
		if (!query->chosen[i])
			return error_no_memory(err);
		memset(query->chosen[i], !count, points);
	}
	query->restricted = count;
	for (int i = 0; i < count && !code; i++)
		code = choice_add(&query->list, query->tdfs, operands[i],
				  query->chosen, err);
	return code;
}

int query_read(struct query *query, const struct buffer *buffer, int count,
	       char **operands, struct error *err)
{
	int code;

	*query = (struct query){
		.buffer = buffer, .time = buffer_time(),
		.trigger = *buffer->trigger,
		.memory = footprint_read_buffer(pin_run()),
	};
	code = session_list_read(&query->list, buffer, pin_run(), err);
	if (!code)
		code = query_figures_read(&query->figures, buffer, &query->list,
					  err);
	if (!code)
		code = sessions_read(query, count, operands, err);
	if (!code)
		code = keep_state_read(&query->keep, pin_run(), err);
	kmod_read(&query->kmod, pin_run());
	for (size_t i = 0; !code && i < query->list.count; i++)
		session_describe(query, i);
	if (code)
		query_free(query);
	return code;
}

void query_free(struct query *query)
{
	for (size_t i = 0; query->tdfs && i < query->list.count; i++)
		tdf_close(query->tdfs[i]);
	for (size_t i = 0; query->chosen && i < query->list.count; i++)
		free(query->chosen[i]);
	free(query->tdfs);
	free(query->chosen);
	free(query->sessions);
	keep_state_free(&query->keep);
	query_figures_free(&query->figures);
	session_list_free(&query->list);
	*query = (struct query){ 0 };
}
