// SPDX-License-Identifier: GPL-2.0
#include "query_export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <rastrace/rasfile.h>
#include "lib/aggregate_print.h"
#include "lib/identity.h"
#include "lib/json.h"
#include "lib/names.h"
#include "metrics.h"

static void number_or_null(struct json *json, const char *key, uint64_t number,
			   bool known)
{
	if (known)
		json_number(json, key, number);
	else
		json_null(json, key);
}

/* value may be NULL. */
static void string_or_null(struct json *json, const char *key,
			   const char *value)
{
	if (value)
		json_string(json, key, value);
	else
		json_null(json, key);
}

static void json_print_kinds(struct json *json, const char *key,
			     const char *const *names, const __u64 *numbers,
			     unsigned int count)
{
	json_open(json, key, '{');
	for (unsigned int i = 0; i < count; i++)
		if (names[i])
			json_number(json, names[i], numbers[i]);
	json_close(json, '}');
}

static void json_print_figure(struct json *json, const struct figure *figure)
{
	json_number(json, "hits", figure_hits(figure));
	json_number(json, "recorded", figure->recorded);
	json_number(json, "present", figure->present);
	json_number(json, "overwritten", figure->overwritten);
	json_number(json, "cleared", figure->cleared);
	json_number(json, "filtered", figure_filtered(figure));
	json_print_kinds(json, "filtered_by", names_filtered,
			 figure->why.filtered, RAS_FILTERED_KINDS);
	json_number(json, "muted", figure->why.filtered[RAS_FILTERED_RATE]);
	json_number(json, "dropped", figure->dropped);
	json_number(json, "aggregated", figure->aggregated);
	json_number(json, "aggregations_lost", figure->lost);
	number_or_null(json, "missed", figure->missed,
		       figure->missed != RAS_MISSED_UNKNOWN);
	json_number(json, "faults", figure_faults(figure));
	json_print_kinds(json, "faults_by", names_fault, figure->why.faults,
			 RAS_FAULT_KINDS);
	json_number(json, "paged_in", figure->why.paged_in);
	json_number(json, "open", figure->why.open);
	json_number(json, "never_returned", figure->why.never_returned);
	json_number(json, "no_entry", figure->why.no_entry);
}

static void json_print_site(struct json *json, const struct query *query,
			    const struct tdf *tdf, const struct tdf_site *site)
{
	bool measured = site->cost < TDF_COST_UNKNOWN &&
			query->cost.ns[site->cost] &&
			!(site->flags & TDF_SITE_RETURN);
	unsigned int ns = measured ? query->cost.ns[site->cost] :
				     cost_expect(site->cost, site->flags);
	char address[32];

	json_open(json, NULL, '{');
	json_string(json, "symbol", tdf_string(tdf, site->symbol));
	json_number(json, "symbol_offset", site->symbol_offset);
	json_number(json, "offset", site->offset);
	snprintf(address, sizeof(address), "0x%llx", site->address);
	json_string(json, "address", address);
	snprintf(address, sizeof(address), "0x%llx", site->nominal);
	json_string(json, "nominal", address);
	json_boolean(json, "at_return", site->flags & TDF_SITE_RETURN);
	string_or_null(json, "instruction",
		       site->text ? tdf_string(tdf, site->text) : NULL);
	json_string(json, "cost", names_cost[site->cost]);
	number_or_null(json, "cost_ns", ns, ns);
	json_boolean(json, "cost_measured", measured);
	json_close(json, '}');
}

static void json_print_point(struct json *json, const struct query *query,
			     size_t i, uint32_t index)
{
	const struct session *session = &query->list.items[i];
	const struct ras_session_point *point = &session->points[index];
	bool is_static = session->entry->index == RAS_STATIC_SESSION;
	const struct tdf *tdf = query->tdfs[i];
	const struct tdf_point *tdf_point = tdf ? &tdf->points[index] : NULL;

	json_open(json, NULL, '{');
	json_string(json, "tdf", session->entry->tdf);
	json_number(json, "session", session->entry->index);
	json_number(json, "major",
		    is_static ? point->minor : session->entry->major);
	number_or_null(json, "minor", point->minor, !is_static);
	json_string(json, "state", query_point_state(session, index));
	number_or_null(json, "ended", point->ended,
		       point->ended && point->state != RAS_POINT_ARMED);
	json_print_figure(json, &query->figures.sessions[i][index]);
	string_or_null(json, "name", tdf_point ?
		       tdf_string(tdf, tdf_point->name) : NULL);
	number_or_null(json, "line", tdf_point ? tdf_point->line : 0,
		       tdf_point);
	json_open(json, "sites", '[');
	for (uint32_t k = 0; tdf_point && k < tdf_point->sites; k++)
		json_print_site(json, query, tdf,
				&tdf->sites[tdf_point->first_site + k]);
	json_close(json, ']');
	json_close(json, '}');
}

static void json_print_trigger(struct json *json, const struct session *session,
			       const struct keep_trigger *trigger,
			       enum keep_trigger_kind kind)
{
	struct keep_did did;

	if (!trigger->count) {
		json_null(json, keep_trigger_names[kind]);
		return;
	}
	json_open(json, keep_trigger_names[kind], '{');
	json_open(json, "points", '[');
	for (unsigned int i = 0; i < trigger->count; i++)
		if (trigger->points[i] < session->entry->points)
			json_number(json, NULL,
				    session->points[trigger->points[i]].minor);
	json_close(json, ']');
	if (kind != KEEP_STOP) {
		keep_did_read(&did, session->dir, kind);
		json_string(json, kind == KEEP_RUN ? "command" : "file",
			    trigger->text);
		json_number(json, "at_most", trigger->most);
		json_number(json, "at_most_time", trigger->span);
		json_number(json, "done", did.done);
		json_number(json, "failed", did.failed);
		json_number(json, "passed", did.passed);
		number_or_null(json, "time", did.time, did.time);
		string_or_null(json, "last", did.time ? did.last : NULL);
	}
	json_close(json, '}');
}

static void json_print_tasks(struct json *json, const struct session *session)
{
	struct keep_tasks tasks = { 0 };

	if (session->armed)
		keep_tasks_read(&tasks, session->dir);
	number_or_null(json, "ends", tasks.ends, tasks.ends);
	number_or_null(json, "max_hits", tasks.max_hits, tasks.max_hits);
	for (int i = 0; i < KEEP_TRIGGERS; i++)
		json_print_trigger(json, session, &tasks.triggers[i], i);
	keep_tasks_free(&tasks);
}

static void json_print_session(struct json *json, const struct query *query,
			       size_t i)
{
	const struct stack_table_figures *stacks = &query->sessions[i].stacks;
	const struct session *session = &query->list.items[i];
	static const char *const files[] = {
		[QUERY_FILE_SAME] = "same", [QUERY_FILE_REPLACED] = "replaced",
		[QUERY_FILE_GONE] = "gone", [QUERY_FILE_CHANGED] = "changed",
		[QUERY_FILE_UNKNOWN] = "unknown",
	};
	const struct ras_session *entry = session->entry;
	const char *why;
	char id[64];

	identity_print(entry->id_kind, entry->id, entry->id_length, id);
	json_open(json, NULL, '{');
	json_number(json, "session", entry->index);
	json_string(json, "tdf", entry->tdf);
	string_or_null(json, "name", session->armed ? session->name : NULL);
	json_string(json, "module", entry->module);
	json_string(json, "file", files[query->sessions[i].file]);
	json_string(json, "id", id);
	json_number(json, "major", entry->major);
	json_number(json, "points", entry->points);
	json_string(json, "state", query_state_name(session));
	json_string(json, "mode", query_mode_name(entry));
	json_string(json, "preemption", query_preempt_name(entry));
	json_string(json, "absent_memory",
		    entry->flags & RAS_SESSION_BRINGS_IN ? "brought in" :
							   "left");
	string_or_null(json, "reads", query_reads_name(entry, &why));
	string_or_null(json, "reads_reason", why);
	json_boolean(json, "processes_filtered",
		     entry->flags & RAS_SESSION_FILTERED);
	json_open(json, "context", '[');
	for (unsigned int bit = 0; names_context[bit]; bit++)
		if (names_context[bit][0] && entry->context & 1u << bit)
			json_string(json, NULL, names_context[bit]);
	json_close(json, ']');
	number_or_null(json, "max_rate", entry->max_rate, entry->max_rate);
	json_print_tasks(json, session);
	json_number(json, "memory", query->sessions[i].memory);
	if (stacks->room) {
		json_open(json, "stacks", '{');
		json_number(json, "used", stacks->used);
		json_number(json, "room", stacks->room);
		json_number(json, "unplaced", stacks->unplaced);
		json_close(json, '}');
	} else {
		json_null(json, "stacks");
	}
	json_number(json, "armed", entry->armed);
	number_or_null(json, "disarmed", entry->disarmed, entry->disarmed);
	json_print_figure(json, &query->sessions[i].sum);
	json_close(json, '}');
}

static void json_print_buffer(struct json *json, const struct query *query)
{
	const struct ras_control *control = query->buffer->control;
	const struct query_figures *figures = &query->figures;
	const struct ras_trigger *trigger = &query->trigger;
	const struct session *session = query_trigger_session(query);
	bool set = trigger->state != RAS_TRIGGER_IDLE;

	json_open(json, "buffer", '{');
	json_number(json, "layout", control->layout);
	json_number(json, "cpus", control->cpus);
	json_number(json, "slice_bytes", control->slice_bytes);
	json_number(json, "nest_levels", control->nest_levels);
	json_number(json, "nest_bytes", control->nest_bytes);
	json_number(json, "memory", query->memory);
	json_number(json, "created", control->created);
	json_number(json, "records", figures->records);
	json_number(json, "bytes", figures->bytes);
	json_number(json, "bytes_per_second", figures->rate);
	number_or_null(json, "complete_since", figures->complete,
		       figures->complete);
	number_or_null(json, "slice_bytes_wanted", figures->wanted,
		       figures->wanted);
	number_or_null(json, "max_cpu", control->max_cpu, control->max_cpu);
	number_or_null(json, "used_cpu", control->used_cpu,
		       query_cpu_known(query));
	json_number(json, "dropped", figures->dropped);
	json_number(json, "damaged", figures->damaged);
	json_close(json, '}');

	json_open(json, "trigger", '{');
	json_string(json, "state", names_trigger_state(trigger->state));
	number_or_null(json, "session", trigger->session, set);
	number_or_null(json, "minor", set && session ?
		       session->points[trigger->point].minor : 0,
		       set && session);
	number_or_null(json, "left", trigger->left > 0 ? trigger->left : 0,
		       set);
	number_or_null(json, "time", trigger->time, set);
	json_close(json, '}');
}

static void json_print_kmod(struct json *json, const struct kmod *kmod)
{
	static const char *const buffers[] = {
		[KMOD_BUFFER_OURS] = "this", [KMOD_BUFFER_OTHER] = "other",
	};

	if (!kmod->loaded) {
		json_null(json, "kernel_module");
		return;
	}
	json_open(json, "kernel_module", '{');
	json_number(json, "layout", kmod->layout);
	json_boolean(json, "layout_fits", kmod->layout == RAS_LAYOUT);
	string_or_null(json, "buffer", buffers[kmod->buffer]);
	json_boolean(json, "statics", kmod->statics);
	json_number(json, "crash_bytes", kmod->crash_bytes);
	json_close(json, '}');
}

static void json_print_aggregates(struct json *json, const struct query *query,
				  size_t i)
{
	const struct aggregates *aggregates = &query->sessions[i].aggregates;

	for (size_t k = 0; k < aggregates->table_count; k++) {
		const struct aggregate_table *table = &aggregates->tables[k];

		if (!query->chosen[i][table->legend->point])
			continue;
		json_open(json, NULL, '{');
		json_string(json, "tdf", query->list.items[i].entry->tdf);
		json_number(json, "session",
			    query->list.items[i].entry->index);
		aggregate_table_json(json, table);
		json_close(json, '}');
	}
}

int query_print_json(const struct query *query, struct error *err)
{
	struct text text;
	struct json json = { .text = &text, .style = JSON_INDENTED };

	if (text_open(&text, -1))
		return error_no_memory(err);
	json_open(&json, NULL, '{');
	if (query->buffer) {
		json_print_buffer(&json, query);
	} else {
		json_null(&json, "buffer");
		json_null(&json, "trigger");
	}
	json_print_kmod(&json, &query->kmod);
	json_open(&json, "keeper", '{');
	json_boolean(&json, "running", query->keep.pid);
	json_boolean(&json, "needed", query->keep.needed);
	number_or_null(&json, "pid", query->keep.pid, query->keep.pid > 0);
	json_open(&json, "waiting", '[');
	for (size_t i = 0; i < query->keep.count; i++) {
		const struct keep_request *request = &query->keep.requests[i];

		json_open(&json, NULL, '{');
		json_string(&json, "tdf", request->tdf);
		json_string(&json, "kernel_module", request->module);
		string_or_null(&json, "refused", request->refused);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
	json_open(&json, "sessions", '[');
	for (size_t i = 0; i < query->list.count; i++)
		if (query->sessions[i].shown)
			json_print_session(&json, query, i);
	json_close(&json, ']');
	json_open(&json, "tracepoints", '[');
	for (size_t i = 0; i < query->list.count; i++)
		for (uint32_t k = 0; k < query->list.items[i].entry->points;
		     k++)
			if (query_point_shown(query, i, k))
				json_print_point(&json, query, i, k);
	json_close(&json, ']');
	json_open(&json, "aggregates", '[');
	for (size_t i = 0; i < query->list.count; i++)
		json_print_aggregates(&json, query, i);
	json_close(&json, ']');
	json_close(&json, '}');
	fwrite(text.data, 1, text.used, stdout);
	free(text.data);
	return text.error ? error_no_memory(err) : 0;
}

/* OpenMetrics 1.0 text: the samples of a family follow each other. */

#define PREFIX	METRICS_PREFIX

static void metrics_session(const struct session *session)
{
	metrics_label("tdf", session->entry->tdf, true);
	metrics_label("module", session->entry->module, false);
	printf(",session=\"%u\"", session->entry->index);
}

static void metrics_point(const struct query *query, size_t i, uint32_t point)
{
	metrics_session(&query->list.items[i]);
	printf(",minor=\"%u\"", query->list.items[i].points[point].minor);
	metrics_label("name", query_point_name(query, i, point), false);
}

/* One number per tracepoint; `reasons` is NULL, or names the numbers of an
 * array. */
struct metrics_series {
	const char *name;
	const char *type;	/* "counter", "gauge" */
	const char *help;
	size_t offset;		/* in struct figure; HITS: their sum */
	const char *const *reasons;
	unsigned int reason_count;
};

#define HITS		SIZE_MAX
#define OF(member)	offsetof(struct figure, member)

static const struct metrics_series all_series[] = {
	{ "hits", "counter",
	  "Hits of a tracepoint: recorded, filtered, dropped or aggregated.", HITS,
	  NULL, 1 },
	{ "recorded", "counter", "Hits that were recorded.", OF(recorded),
	  NULL, 1 },
	{ "present", "gauge", "Records that are in the buffer.", OF(present),
	  NULL, 1 },
	{ "overwritten", "counter",
	  "Records that newer ones have overwritten, or that were cleared.",
	  OF(overwritten), NULL, 1 },
	{ "filtered", "counter", "Hits that were not to be recorded.",
	  OF(why.filtered), names_filtered, RAS_FILTERED_KINDS },
	{ "dropped", "counter", "Hits that found all slices busy.",
	  OF(dropped), NULL, 1 },
	{ "aggregated", "counter",
	  "Hits of tracepoints that make no records.", OF(aggregated), NULL,
	  1 },
	{ "aggregations_lost", "counter",
	  "Additions that found no room for their keys.", OF(lost), NULL, 1 },
	{ "missed", "counter",
	  "Hits that the kernel did not deliver, where it reports them.",
	  OF(missed), NULL, 1 },
	{ "faults", "counter", "Items that could not be read.",
	  OF(why.faults), names_fault, RAS_FAULT_KINDS },
	{ "paged_in", "counter",
	  "Records for which absent memory was brought in.",
	  OF(why.paged_in), NULL, 1 },
	{ "open", "gauge", "Whole calls that have not returned.",
	  OF(why.open), NULL, 1 },
	{ "never_returned", "counter",
	  "Whole calls that were left without a return.",
	  OF(why.never_returned), NULL, 1 },
	{ "no_entry", "counter",
	  "Exits of whole calls whose entry was not kept.",
	  OF(why.no_entry), NULL, 1 },
};

static void metrics_sample(const struct query *query, size_t i,
			   uint32_t point,
			   const struct metrics_series *series,
			   unsigned int reason)
{
	const struct figure *figure = &query->figures.sessions[i][point];
	uint64_t value = figure_hits(figure);

	if (series->offset != HITS)
		memcpy(&value, (const char *)figure + series->offset +
		       reason * sizeof(value), sizeof(value));
	if (value == RAS_MISSED_UNKNOWN ||
	    (series->reasons && !series->reasons[reason]))
		return;
	printf(PREFIX "%s%s", series->name,
	       series->type[0] == 'c' ? "_total" : "");
	metrics_point(query, i, point);
	if (series->reasons)
		metrics_label("reason", series->reasons[reason], false);
	printf("} %" PRIu64 "\n", value);
}

static void metrics_series_print(const struct query *query,
				 const struct metrics_series *series)
{
	metrics_family(series->name, series->type, NULL, series->help);
	for (size_t i = 0; i < query->list.count; i++)
		for (uint32_t k = 0; k < query->list.items[i].entry->points;
		     k++)
			for (unsigned int r = 0;
			     query_point_shown(query, i, k) &&
			     r < series->reason_count; r++)
				metrics_sample(query, i, k, series, r);
}

static void metrics_states(const struct query *query)
{
	metrics_family("recording", "gauge", NULL,
		       "1 while hits of the tracepoint are recorded.");
	for (size_t i = 0; i < query->list.count; i++) {
		const struct session *session = &query->list.items[i];

		for (uint32_t k = 0; k < session->entry->points; k++) {
			const char *state = query_point_state(session, k);
			bool on = !strcmp(state, "on") &&
				  query->trigger.state != RAS_TRIGGER_FROZEN;

			if (!query_point_shown(query, i, k))
				continue;
			fputs(PREFIX "recording", stdout);
			metrics_point(query, i, k);
			metrics_label("state", state, false);
			printf("} %d\n", on);
		}
	}
}

static void metrics_gauge(const char *name, const char *unit, const char *help,
			  uint64_t value)
{
	metrics_family(name, "gauge", unit, help);
	printf(PREFIX "%s %" PRIu64 "\n", name, value);
}

static void metrics_kmod(const struct kmod *kmod)
{
	metrics_gauge("kernel_module_loaded", NULL,
		      "1 while the kernel module is loaded.",
		      kmod->loaded);
	if (!kmod->loaded)
		return;
	metrics_gauge("kernel_module_layout", NULL,
		      "Layout of the buffer that the kernel module takes.",
		      kmod->layout);
	metrics_gauge("kernel_module_buffer", NULL,
		      "1 while the kernel module has this buffer.",
		      kmod->buffer == KMOD_BUFFER_OURS);
	metrics_gauge("kernel_module_crash_bytes", "bytes",
		      "Memory of the kernel module that outlives a panic.",
		      kmod->crash_bytes);
}

void query_print_metrics(const struct query *query)
{
	const struct query_figures *figures = &query->figures;

	if (query->buffer) {
		const struct ras_control *control = query->buffer->control;

		metrics_gauge("buffer_cpu_bytes", "bytes",
			      "Size of the buffer for each CPU.",
			      control->slice_bytes);
		metrics_gauge("buffer_memory_bytes", "bytes",
			      "Memory that buffer and armed TDFs take.",
			      query->memory);
		metrics_gauge("buffer_used_bytes", "bytes",
			      "Bytes of the records in the buffer.",
			      figures->bytes);
		metrics_gauge("buffer_records", NULL, "Records in the buffer.",
			      figures->records);
		metrics_gauge("buffer_damaged", NULL,
			      "Places in the buffer that don't fit the counters.",
			      figures->damaged);
		if (query_cpu_known(query)) {
			metrics_family("cpu_used_ratio", "gauge", "ratio",
				       "Time in programs, of one CPU's.");
			printf(PREFIX "cpu_used_ratio %.4f\n",
			       control->used_cpu / 10000.0);
		}
		metrics_family("trigger", "stateset", NULL,
			       "State of the trigger that stops the recording.");
		for (uint64_t s = RAS_TRIGGER_IDLE; s <= RAS_TRIGGER_CLAIMED;
		     s++)
			printf(PREFIX "trigger{" PREFIX "trigger=\"%s\"} %d\n",
			       names_trigger_state(s),
			       query->trigger.state == s);
	}
	metrics_kmod(&query->kmod);
	metrics_gauge("keeper_running", NULL,
		      "1 while the keeper of armed points runs.",
		      query->keep.pid != 0);
	metrics_gauge("keeper_needed", NULL,
		      "1 while there is something to do for a keeper.",
		      query->keep.needed);
	for (size_t i = 0; i < sizeof(all_series) / sizeof(all_series[0]); i++)
		metrics_series_print(query, &all_series[i]);
	metrics_aggregates(query);
	metrics_states(query);
	metrics_family("session_memory_bytes", "gauge", "bytes",
		       "Memory that the maps of an armed TDF take.");
	for (size_t i = 0; i < query->list.count; i++) {
		if (!query->sessions[i].shown)
			continue;
		fputs(PREFIX "session_memory_bytes", stdout);
		metrics_session(&query->list.items[i]);
		printf("} %" PRIu64 "\n", query->sessions[i].memory);
	}
	metrics_family("module_replaced", "gauge", NULL,
		       "1 when another file is at the traced module's path.");
	for (size_t i = 0; i < query->list.count; i++) {
		enum query_file file = query->sessions[i].file;

		if (!query->sessions[i].shown || file == QUERY_FILE_UNKNOWN)
			continue;
		fputs(PREFIX "module_replaced", stdout);
		metrics_session(&query->list.items[i]);
		printf("} %d\n", file != QUERY_FILE_SAME);
	}
	puts("# EOF");
}
