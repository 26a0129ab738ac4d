// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <rastrace/rasfile.h>
#include "lib/cost.h"
#include "lib/identity.h"
#include "lib/names.h"
#include "json.h"
#include "query.h"

static void address_print(const char *key, uint64_t address)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	query_json_string(key, text);
}

static void number_or_null(const char *key, uint64_t number, bool known)
{
	if (known)
		query_json_number(key, number);
	else
		query_json_null(key);
}

static void kinds_print(const char *key, const char *const *names,
			const __u64 *numbers, unsigned int count)
{
	query_json_open(key, '{');
	for (unsigned int i = 0; i < count; i++)
		if (names[i])
			query_json_number(names[i], numbers[i]);
	query_json_close('}');
}

static void site_print(const struct tdf *tdf, const struct tdf_site *site)
{
	unsigned int ns = cost_expect(site->cost, site->flags);

	query_json_open(NULL, '{');
	query_json_string("symbol", tdf_string(tdf, site->symbol));
	query_json_number("symbol_offset", site->symbol_offset);
	query_json_number("offset", site->offset);
	address_print("address", site->address);
	address_print("nominal", site->nominal);
	query_json_boolean("at_return", site->flags & TDF_SITE_RETURN);
	if (site->text)
		query_json_string("instruction", tdf_string(tdf, site->text));
	else
		query_json_null("instruction");
	query_json_string("cost", names_cost[site->cost]);
	number_or_null("cost_ns", ns, ns);
	query_json_close('}');
}

/* The TDF's view of a point, as far as the TDF is still there. */
static void point_place_print(const struct tdf *tdf, uint32_t index)
{
	const struct tdf_point *point = tdf ? &tdf->points[index] : NULL;

	if (point) {
		query_json_string("name", tdf_string(tdf, point->name));
		query_json_number("line", point->line);
	} else {
		query_json_null("name");
		query_json_null("line");
	}
	query_json_open("sites", '[');
	for (uint32_t i = 0; point && i < point->sites; i++)
		site_print(tdf, &tdf->sites[point->first_site + i]);
	query_json_close(']');
}

static void figure_print(const struct figure *figure)
{
	query_json_number("hits", figure_hits(figure));
	query_json_number("recorded", figure->recorded);
	query_json_number("present", figure->present);
	query_json_number("overwritten", figure->overwritten);
	query_json_number("cleared", figure->cleared);
	query_json_number("filtered", figure_filtered(figure));
	kinds_print("filtered_by", names_filtered, figure->why.filtered,
		    RAS_FILTERED_KINDS);
	query_json_number("muted", figure->why.filtered[RAS_FILTERED_RATE]);
	query_json_number("dropped", figure->dropped);
	number_or_null("missed", figure->missed,
		       figure->missed != RAS_MISSED_UNKNOWN);
	query_json_number("faults", figure_faults(figure));
	kinds_print("faults_by", names_fault, figure->why.faults,
		    RAS_FAULT_KINDS);
	query_json_number("paged_in", figure->why.paged_in);
}

static void point_print(const struct query *query, size_t i, uint32_t index)
{
	const struct session *session = &query->list.items[i];
	const struct ras_session_point *point = &session->points[index];
	bool is_static = session->entry->index == RAS_STATIC_SESSION;

	query_json_open(NULL, '{');
	query_json_string("tdf", session->entry->tdf);
	query_json_number("session", session->entry->index);
	query_json_number("major", is_static ? point->minor : session->entry->major);
	number_or_null("minor", point->minor, !is_static);
	query_json_string("state", query_point_state(session, index));
	number_or_null("ended", point->ended,
		       point->ended && point->state != RAS_POINT_ARMED);
	figure_print(&query->figures.sessions[i][index]);
	point_place_print(query->tdfs[i], index);
	query_json_close('}');
}

static void context_print(uint32_t context)
{
	query_json_open("context", '[');
	for (unsigned int bit = 0; names_context[bit]; bit++)
		if (context & 1u << bit)
			query_json_string(NULL, names_context[bit]);
	query_json_close(']');
}

static void session_print(const struct query *query, size_t i)
{
	const struct session *session = &query->list.items[i];
	const struct ras_session *entry = session->entry;
	char id[64];

	identity_print(entry->id_kind, entry->id, entry->id_length, id);
	query_json_open(NULL, '{');
	query_json_number("session", entry->index);
	query_json_string("tdf", entry->tdf);
	if (session->armed)
		query_json_string("name", session->name);
	else
		query_json_null("name");
	query_json_string("module", entry->module);
	query_json_string("file", query_file_name(query->sessions[i].file));
	query_json_string("id", id);
	query_json_number("major", entry->major);
	query_json_number("points", entry->points);
	query_json_string("state", query_state_name(session));
	query_json_string("mode", query_mode_name(entry));
	query_json_string("preemption", query_preempt_name(entry));
	query_json_string("absent_memory", entry->flags & RAS_SESSION_BRINGS_IN ?
		    "brought in" : "left");
	query_json_boolean("processes_filtered",
		     entry->flags & RAS_SESSION_FILTERED);
	context_print(entry->context);
	number_or_null("max_rate", entry->max_rate, entry->max_rate);
	query_json_number("memory", query->sessions[i].memory);
	query_json_number("armed", entry->armed);
	number_or_null("disarmed", entry->disarmed, entry->disarmed);
	figure_print(&query->sessions[i].sum);
	query_json_close('}');
}

static void buffer_print(const struct query *query)
{
	const struct ras_control *control = query->buffer->control;
	const struct figures *figures = &query->figures;

	query_json_open("buffer", '{');
	query_json_number("layout", control->layout);
	query_json_number("cpus", control->cpus);
	query_json_number("slice_bytes", control->slice_bytes);
	query_json_number("nest_levels", control->nest_levels);
	query_json_number("nest_bytes", control->nest_bytes);
	query_json_number("memory", query->memory);
	query_json_number("created", control->created);
	query_json_number("records", figures->records);
	query_json_number("bytes", figures->bytes);
	query_json_number("bytes_per_second", figures->rate);
	number_or_null("complete_since", figures->complete, figures->complete);
	number_or_null("slice_bytes_wanted", figures->wanted, figures->wanted);
	number_or_null("max_cpu", control->max_cpu, control->max_cpu);
	number_or_null("used_cpu", control->used_cpu, query_cpu_known(query));
	query_json_number("dropped", figures->dropped);
	query_json_number("damaged", figures->damaged);
	query_json_close('}');
}

static void trigger_print(const struct query *query)
{
	const struct ras_trigger *trigger = &query->trigger;
	const struct session *session = query_trigger_session(query);
	bool set = trigger->state != RAS_TRIGGER_IDLE;

	query_json_open("trigger", '{');
	query_json_string("state", names_trigger_state(trigger->state));
	number_or_null("session", trigger->session, set);
	number_or_null("minor", set && session ?
		       session->points[trigger->point].minor : 0,
		       set && session);
	number_or_null("left", trigger->left > 0 ? trigger->left : 0, set);
	number_or_null("time", trigger->time, set);
	query_json_close('}');
}

static void keep_print(const struct keep_state *keep)
{
	query_json_open("keeper", '{');
	query_json_boolean("running", keep->pid);
	query_json_boolean("needed", keep->needed);
	number_or_null("pid", keep->pid, keep->pid > 0);
	query_json_open("waiting", '[');
	for (size_t i = 0; i < keep->count; i++) {
		query_json_open(NULL, '{');
		query_json_string("tdf", keep->requests[i].tdf);
		query_json_string("kernel_module", keep->requests[i].module);
		if (keep->requests[i].refused)
			query_json_string("refused", keep->requests[i].refused);
		else
			query_json_null("refused");
		query_json_close('}');
	}
	query_json_close(']');
	query_json_close('}');
}

static void kmod_print(const struct kmod *kmod)
{
	if (!kmod->loaded) {
		query_json_null("kernel_module");
		return;
	}
	query_json_open("kernel_module", '{');
	query_json_number("layout", kmod->layout);
	query_json_boolean("layout_fits", kmod->layout == RAS_LAYOUT);
	if (kmod->buffer == KMOD_BUFFER_NONE)
		query_json_null("buffer");
	else
		query_json_string("buffer", kmod->buffer == KMOD_BUFFER_OURS ?
			    "this" : "other");
	query_json_boolean("statics", kmod->statics);
	query_json_number("crash_bytes", kmod->crash_bytes);
	query_json_close('}');
}

void query_print_json(const struct query *query)
{
	query_json_open(NULL, '{');
	if (query->buffer) {
		buffer_print(query);
		trigger_print(query);
	} else {
		query_json_null("buffer");
		query_json_null("trigger");
	}
	kmod_print(&query->kmod);
	keep_print(&query->keep);
	query_json_open("sessions", '[');
	for (size_t i = 0; i < query->list.count; i++)
		if (query->sessions[i].shown)
			session_print(query, i);
	query_json_close(']');
	query_json_open("tracepoints", '[');
	for (size_t i = 0; i < query->list.count; i++)
		for (uint32_t k = 0; k < query->list.items[i].entry->points;
		     k++)
			if (query_point_shown(query, i, k))
				point_print(query, i, k);
	query_json_close(']');
	query_json_close('}');
}
