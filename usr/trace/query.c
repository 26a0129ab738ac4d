// SPDX-License-Identifier: GPL-2.0
#include "query.h"

#include <errno.h>
#include <stdlib.h>
#include "../lib/pin.h"
#include "commands.h"
#include "run_dir.h"

static int take_json(void *context, const char *value)
{
	*(bool *)context = true;
	return 0;
}

static const struct option_def options[] = {
	{ "json", 'j', NULL, "print a JSON object", take_json },
	{ NULL }
};

const char *query_state_name(const struct session *session)
{
	if (!session->armed || session->state == RAS_STATE_OFF)
		return "off";
	return session->state == RAS_STATE_SUSPENDED ? "suspended" : "on";
}

const char *query_mode_name(const struct ras_session *entry)
{
	return entry->flags & RAS_SESSION_MULTI ? "uprobe_multi" : "perf_event";
}

const char *query_preempt_name(const struct ras_session *entry)
{
	return entry->flags & RAS_SESSION_PREEMPT ? "disabled" : "unchanged";
}

static bool tdf_fits(const struct tdf *tdf, const struct session *session)
{
	if (tdf->header->points.count != session->entry->points)
		return false;
	for (uint32_t i = 0; i < session->entry->points; i++)
		if (tdf->points[i].minor != session->points[i].minor ||
		    tdf->points[i].hash != session->points[i].hash)
			return false;
	return true;
}

static int tdfs_open(struct query *query, struct error *err)
{
	query->tdfs = calloc(query->list.count + 1, sizeof(*query->tdfs));
	if (!query->tdfs)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < query->list.count; i++) {
		struct session *session = &query->list.items[i];
		struct tdf *tdf;

		if (!query->figures.sessions[i] ||
		    tdf_open(&tdf, session->entry->tdf, NULL))
			continue;
		if (tdf_fits(tdf, session))
			query->tdfs[i] = tdf;
		else
			tdf_close(tdf);
	}
	return 0;
}

static void query_print(const struct query *query, bool json)
{
	if (json)
		query_print_json(query);
	else
		query_print_text(query);
}

static int query_buffer(const struct buffer *buffer, bool json,
			struct error *err)
{
	struct query query = { .buffer = buffer };
	int code = session_list_read(&query.list, buffer, pin_run(), err);

	if (code)
		return code;
	code = figures_read(&query.figures, buffer, &query.list, err);
	if (!code) {
		code = tdfs_open(&query, err);
		if (!code)
			query_print(&query, json);
		for (size_t i = 0; query.tdfs && i < query.list.count; i++)
			tdf_close(query.tdfs[i]);
		free(query.tdfs);
		figures_free(&query.figures);
	}
	session_list_free(&query.list);
	return code;
}

static int query(bool json, struct error *err)
{
	static const struct query nothing;
	struct buffer buffer;
	int code = run_dir_check(pin_run(), err);

	if (!code)
		code = buffer_open(&buffer, pin_run(), false, err);
	if (code == -ENOENT) {
		query_print(&nothing, json);
		return 0;
	}
	if (code)
		return code;
	code = query_buffer(&buffer, json, err);
	buffer_close(&buffer);
	return code;
}

static int query_run(int argc, char **argv)
{
	struct error err = { 0 };
	bool json = false;
	int status, first = command_parse(&command_query, argc, argv, 0, 0,
					  &json, &status);

	return first < 0 ? status : command_end(query(json, &err), &err);
}

const struct command command_query = {
	.def = {
		.program = "trace", .name = "query", .operands = "",
		.help = "show tracepoints, their figures and the buffer",
		.options = options,
	},
	.run = query_run,
};
