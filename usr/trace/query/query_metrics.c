// SPDX-License-Identifier: GPL-2.0
/* OpenMetrics 1.0 text: the samples of a family follow each other. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/rasfile.h>
#include "lib/names.h"
#include "lib/text.h"
#include "query_metrics.h"

#define PREFIX	"rastrace_"
#define PART	1024	/* bytes of a value at a time */

static void metrics_family(const char *name, const char *type, const char *unit,
			   const char *help)
{
	printf("# TYPE " PREFIX "%s %s\n", name, type);
	if (unit)
		printf("# UNIT " PREFIX "%s %s\n", name, unit);
	printf("# HELP " PREFIX "%s %s\n", name, help);
}

static void metrics_label(const char *name, const char *value, bool first)
{
	char safe[4 * PART], *end;

	printf("%s%s=\"", first ? "{" : ",", name);
	for (size_t left = strlen(value), n; left; value += n, left -= n) {
		n = left < PART ? left : PART;
		while (n > 1 && n < left && ((uint8_t)value[n] & 0xc0) == 0x80)
			n--;
		/* What a terminal would obey, and what isn't UTF-8, comes as
		 * \xHH. */
		end = safe_text_put(safe, value, n, true);
		for (const char *p = safe; p < end; p++) {
			if (*p == '\n')
				fputs("\\n", stdout);
			else if (*p == '\\' || *p == '"')
				printf("\\%c", *p);
			else
				putchar(*p);
		}
	}
	putchar('"');
}

static void metrics_session(const struct session *session)
{
	metrics_label("tdf", session->entry->tdf, true);
	metrics_label("module", session->entry->module, false);
	printf(",session=\"%u\"", session->entry->index);
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
	  "Hits of a tracepoint: recorded, filtered or dropped.", HITS,
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
	{ "missed", "counter",
	  "Hits that the kernel did not deliver, where it reports them.",
	  OF(missed), NULL, 1 },
	{ "faults", "counter", "Items that could not be read.",
	  OF(why.faults), names_fault, RAS_FAULT_KINDS },
	{ "paged_in", "counter",
	  "Records for which absent memory was brought in.",
	  OF(why.paged_in), NULL, 1 },
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
	metrics_session(&query->list.items[i]);
	printf(",minor=\"%u\"", query->list.items[i].points[point].minor);
	metrics_label("name", query_point_name(query, i, point), false);
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
			metrics_session(session);
			printf(",minor=\"%u\"", session->points[k].minor);
			metrics_label("name", query_point_name(query, i, k),
				      false);
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
