// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <rastrace/rasfile.h>
#include "../lib/identity.h"
#include "json.h"
#include "query.h"

static void address_print(const char *key, uint64_t address)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	json_string(key, text);
}

static void site_print(const struct tdf *tdf, const struct tdf_site *site)
{
	static const char *const costs[] = {
		[TDF_COST_NOP5] = "nop5", [TDF_COST_EMULATED] = "emulated",
		[TDF_COST_STEPPED] = "stepped", [TDF_COST_UNKNOWN] = "unknown",
	};

	json_open(NULL, '{');
	json_string("symbol", tdf_string(tdf, site->symbol));
	json_number("symbol_offset", site->symbol_offset);
	json_number("offset", site->offset);
	address_print("address", site->address);
	json_string("cost", costs[site->cost]);
	json_close('}');
}

/* The TDF's view of a point, as far as the TDF is still there. */
static void point_place_print(const struct tdf *tdf, uint32_t index)
{
	const struct tdf_point *point = tdf ? &tdf->points[index] : NULL;

	if (point) {
		json_string("name", tdf_string(tdf, point->name));
		json_number("line", point->line);
	} else {
		json_null("name");
		json_null("line");
	}
	json_open("sites", '[');
	for (uint32_t i = 0; point && i < point->sites; i++)
		site_print(tdf, &tdf->sites[point->first_site + i]);
	json_close(']');
}

static void point_print(const struct session *session,
			const struct figure *figure, const struct tdf *tdf,
			uint32_t index)
{
	json_open(NULL, '{');
	json_string("tdf", session->entry->tdf);
	json_number("session", session->entry->index);
	json_number("major", session->entry->major);
	json_number("minor", session->points[index].minor);
	json_string("state", query_state_name(session));
	json_number("hits", figure->recorded + figure->filtered +
			    figure->dropped);
	json_number("recorded", figure->recorded);
	json_number("present", figure->present);
	json_number("overwritten", figure->overwritten);
	json_number("filtered", figure->filtered);
	json_number("dropped", figure->dropped);
	if (figure->missed == RAS_MISSED_UNKNOWN)
		json_null("missed");
	else
		json_number("missed", figure->missed);
	json_number("faults", figure->faults);
	point_place_print(tdf, index);
	json_close('}');
}

static void session_print(const struct session *session)
{
	const struct ras_session *entry = session->entry;
	char id[64];

	identity_print(entry->id_kind, entry->id, entry->id_length, id);
	json_open(NULL, '{');
	json_number("session", entry->index);
	json_string("tdf", entry->tdf);
	if (session->armed)
		json_string("name", session->name);
	else
		json_null("name");
	json_string("module", entry->module);
	json_string("id", id);
	json_number("major", entry->major);
	json_number("points", entry->points);
	json_string("state", query_state_name(session));
	json_string("mode", query_mode_name(entry));
	json_string("preemption", query_preempt_name(entry));
	json_number("armed", entry->armed);
	if (entry->disarmed)
		json_number("disarmed", entry->disarmed);
	else
		json_null("disarmed");
	json_close('}');
}

static void buffer_print(const struct query *query)
{
	const struct ras_control *control = query->buffer->control;

	json_open("buffer", '{');
	json_number("layout", control->layout);
	json_number("cpus", control->cpus);
	json_number("slice_bytes", control->slice_bytes);
	json_number("nest_levels", control->nest_levels);
	json_number("nest_bytes", control->nest_bytes);
	json_number("created", control->created);
	json_number("records", query->figures.records);
	json_number("bytes", query->figures.bytes);
	json_number("dropped", query->figures.dropped);
	json_number("damaged", query->figures.damaged);
	json_close('}');
}

void query_print_json(const struct query *query)
{
	json_open(NULL, '{');
	if (query->buffer)
		buffer_print(query);
	else
		json_null("buffer");
	json_open("sessions", '[');
	for (size_t i = 0; i < query->list.count; i++)
		if (query->figures.sessions[i])
			session_print(&query->list.items[i]);
	json_close(']');
	json_open("tracepoints", '[');
	for (size_t i = 0; i < query->list.count; i++) {
		const struct session *session = &query->list.items[i];

		for (uint32_t k = 0; query->figures.sessions[i] &&
		     k < session->entry->points; k++)
			point_print(session, &query->figures.sessions[i][k],
				    query->tdfs[i], k);
	}
	json_close(']');
	json_close('}');
}
