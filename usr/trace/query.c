// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <rastrace/rasfile.h>
#include "commands.h"
#include "lib/aggregate_print.h"
#include "lib/buffer/pin.h"
#include "lib/names.h"
#include "lib/path.h"
#include "lib/text.h"
#include "trace/query/query_export.h"

#define SECOND	UINT64_C(1000000000)
#define MANY	24	/* points of a session: those without hits are then
			 * summed up */

enum figure_column {
	HITS, RECORDED, OVERWRITTEN, FILTERED, DROPPED, MISSED, FAULTS, COLUMNS,
};

static const char *const headings[COLUMNS] = {
	"hits", "recorded", "overwritten", "filtered", "dropped", "missed",
	"faults",
};

static void table_take(const struct figure *figure, uint64_t *numbers)
{
	numbers[HITS] = figure_hits(figure);
	numbers[RECORDED] = figure->recorded;
	numbers[OVERWRITTEN] = figure->overwritten;
	numbers[FILTERED] = figure_filtered(figure);
	numbers[DROPPED] = figure->dropped;
	numbers[MISSED] = figure->missed;
	numbers[FAULTS] = figure_faults(figure);
}

static void table_print_kinds(const char *title, const char *const *names,
			      const __u64 *numbers, unsigned int count)
{
	const char *before = title;

	for (unsigned int i = 0; i < count; i++) {
		if (!numbers[i] || !names[i])
			continue;
		printf("%s%llu %s", before, numbers[i], names[i]);
		before = ", ";
	}
}

static void table_print_site(const struct query *query, const struct tdf *tdf,
			     const struct tdf_site *site)
{
	char cost[COST_TEXT];

	safe_text_print(stdout, tdf_string(tdf, site->symbol), false);
	printf("+%u (%#llx)", site->symbol_offset,
	       site->address ? site->address : site->offset);
	if (site->nominal != site->address)
		printf(" for %#llx", site->nominal);
	if (site->flags & TDF_SITE_RETURN)
		fputs(" at the return", stdout);
	if (site->text) {
		fputs(", ", stdout);
		safe_text_print(stdout, tdf_string(tdf, site->text), false);
	}
	if (hit_cost_print(cost, &query->cost, site->cost, site->flags))
		printf(", %s, %s", names_cost[site->cost], cost);
}

static void table_print_place(const struct query *query, const struct tdf *tdf,
			      uint32_t index)
{
	const struct tdf_point *point;

	if (!tdf) {
		puts("  -");
		return;
	}
	point = &tdf->points[index];
	fputs("  ", stdout);
	safe_text_print(stdout, tdf_string(tdf, point->name), false);
	fputs(": ", stdout);
	table_print_site(query, tdf, &tdf->sites[point->first_site]);
	if (point->sites > 1)
		printf(", and %u more", point->sites - 1);
	putchar('\n');
}

/* The table of one session. */
struct point_table {
	const struct query *query;
	size_t session;
	int widths[COLUMNS];
	bool brief;		/* points without hits are summed up */
};

static const struct figure *table_figure(const struct point_table *table,
					 uint32_t point)
{
	return &table->query->figures.sessions[table->session][point];
}

static bool table_has(const struct point_table *table, uint32_t point)
{
	return query_point_shown(table->query, table->session, point);
}

static void table_measure(struct point_table *table, uint32_t points)
{
	uint64_t numbers[COLUMNS];
	uint32_t shown = 0;

	for (int c = 0; c < COLUMNS; c++)
		table->widths[c] = strlen(headings[c]);
	for (uint32_t i = 0; i < points; i++) {
		if (!table_has(table, i))
			continue;
		shown++;
		table_take(table_figure(table, i), numbers);
		for (int c = 0; c < COLUMNS; c++) {
			int width = numbers[c] == RAS_MISSED_UNKNOWN ? 7 :
				snprintf(NULL, 0, "%" PRIu64, numbers[c]);

			if (width > table->widths[c])
				table->widths[c] = width;
		}
	}
	table->brief = shown > MANY && !table->query->restricted;
}

/* Of whole calls */
static void table_print_calls(const struct ras_why *why)
{
	if (!session_why_open(why) && !why->no_entry)
		return;
	printf("         calls: %llu have not returned, %llu never did, %llu exits "
	       "without an entry\n",
	       why->open, why->never_returned, why->no_entry);
}

static void table_print_point(const struct point_table *table, uint32_t index)
{
	const struct query *query = table->query;
	const struct session *session = &query->list.items[table->session];
	const struct figure *figure = table_figure(table, index);
	const struct tdf *tdf = query->tdfs[table->session];
	uint64_t filtered = figure_filtered(figure);
	uint64_t faults = figure_faults(figure), numbers[COLUMNS];

	table_take(figure, numbers);
	printf("  %5u  %-9s", session->points[index].minor,
	       query_point_state(session, index));
	for (int c = 0; c < COLUMNS; c++)
		if (numbers[c] == RAS_MISSED_UNKNOWN)
			printf(" %*s", table->widths[c], "unknown");
		else
			printf(" %*" PRIu64, table->widths[c], numbers[c]);
	table_print_place(table->query, tdf, index);
	if (tdf && query->restricted) {
		/* The other sites, a line for each. */
		const struct tdf_point *point = &tdf->points[index];

		for (uint32_t i = 1; i < point->sites; i++) {
			fputs("         also at ", stdout);
			table_print_site(table->query, tdf,
					 &tdf->sites[point->first_site + i]);
			putchar('\n');
		}
	}

	/* What the sums in the line above are made of. */
	if (figure->aggregated)
		printf("         aggregated: %" PRIu64 ", without a record\n",
		       figure->aggregated);
	table_print_calls(&figure->why);
	if (!filtered && !faults && !figure->why.paged_in)
		return;
	printf("        ");
	table_print_kinds(" filtered: ", names_filtered, figure->why.filtered,
			  RAS_FILTERED_KINDS);
	table_print_kinds(filtered ? "; faults: " : " faults: ", names_fault,
			  figure->why.faults, RAS_FAULT_KINDS);
	if (figure->why.paged_in)
		printf("%s%llu records had memory brought in",
		       filtered || faults ? "; " : " ", figure->why.paged_in);
	putchar('\n');
}

static void session_table_print(const struct query *query, size_t i)
{
	const struct session *session = &query->list.items[i];
	uint32_t points = session->entry->points;
	struct point_table table = { .query = query, .session = i };

	table_measure(&table, points);
	printf("  %5s  %-9s", session->entry->index == RAS_STATIC_SESSION ?
	       "major" : "minor", "state");
	for (int c = 0; c < COLUMNS; c++)
		printf(" %*s", table.widths[c], headings[c]);
	puts("  site");
	for (uint32_t k = 0; k < points; k++)
		if (table_has(&table, k) &&
		    (!table.brief || query_point_hit(query, i, k)))
			table_print_point(&table, k);
	if (table.brief)
		query_print_without_hit(query, i);
}

static void session_aggregates_print(const struct query *query, size_t i)
{
	const struct aggregates *aggregates = &query->sessions[i].aggregates;
	struct text text = { .fd = -1 };
	uint64_t lost = aggregates_lost(aggregates);

	for (size_t k = 0; k < aggregates->table_count; k++) {
		const struct aggregate_table *table = &aggregates->tables[k];

		if (!query->chosen[i][table->legend->point])
			continue;
		text_add_char(&text, '\n');
		aggregate_name_add(&text, table);
		aggregate_table_add(&text, table, 0);
		fwrite(text.data, 1, text.used, stdout);
		text.used = 0;
	}
	free(text.data);
	if (lost)
		printf("  aggregates: %" PRIu64 " additions found no room for their keys (trace on --aggregates)\n",
		       lost);
}

static void session_stacks_print(const struct query *query, size_t i)
{
	const struct stack_table_figures *stacks = &query->sessions[i].stacks;

	if (!stacks->used && !stacks->unplaced)
		return;
	printf("  stacks: %" PRIu64 " of %" PRIu64 " that records name by number",
	       stacks->used, stacks->room);
	if (stacks->unplaced)
		printf("; %" PRIu64 " records found no room for theirs and have it in full (trace on --stack-ids)",
		       stacks->unplaced);
	putchar('\n');
}

/* Wall time as of the buffer's clock. */
static void text_print_moment(const struct query *query, uint64_t time)
{
	char text[AMOUNT_MOMENT];

	amount_print_moment(text, time, query->time,
			    query->buffer->control->wall_offset);
	fputs(text, stdout);
}

static void text_print_size(const char *before, uint64_t bytes,
			    const char *after)
{
	char text[AMOUNT_TEXT];

	amount_print_bytes(text, bytes);
	printf("%s%s%s", before, text, after);
}

static void text_print_loss(const struct query *query)
{
	const struct query_figures *figures = &query->figures;

	if (figures->complete) {
		fputs("buffer: complete since ", stdout);
		text_print_moment(query, figures->complete);
		if (figures->rate)
			text_print_size(", at most ", figures->rate,
					"/s for a CPU");
		if (figures->wanted > query->buffer->control->slice_bytes)
			printf("; --buffer %" PRIu64 "K would have kept all",
			       figures->wanted >> 10);
		putchar('\n');
	}
	if (figures->dropped)
		printf("buffer: %" PRIu64 " hits dropped while all slices were busy\n",
		       figures->dropped);
	if (figures->damaged)
		printf("buffer: %" PRIu64 " places are damaged or don't fit the counters\n",
		       figures->damaged);
}

static void text_print_buffer(const struct query *query)
{
	const struct ras_control *control = query->buffer->control;
	const struct query_figures *figures = &query->figures;

	printf("buffer: %llu KiB for each of %u CPUs",
	       control->slice_bytes >> 10, control->cpus);
	text_print_size("; with the armed tracepoints, ", query->memory,
			" of memory\n");
	printf("buffer: %" PRIu64 " records of %" PRIu64 " bytes\n",
	       figures->records, figures->bytes);
	text_print_loss(query);
}

/* Of the time in programs, in per cent of one CPU's. */
static void text_print_cpu(const struct query *query)
{
	const struct ras_control *control = query->buffer->control;

	if (!control->max_cpu && !query_cpu_known(query))
		return;
	printf("cpu: programs take ");
	if (query_cpu_known(query))
		printf("%.2f %% of a CPU", control->used_cpu / 100.0);
	else
		printf("what isn't measured now");
	if (control->max_cpu)
		printf(", above %.2f %% the most expensive tracepoint is muted",
		       control->max_cpu / 100.0);
	putchar('\n');
}

static void text_print_trigger(const struct query *query)
{
	const struct ras_trigger *trigger = &query->trigger;
	const struct session *session = query_trigger_session(query);

	if (trigger->state == RAS_TRIGGER_IDLE)
		return;
	printf("trigger: ");
	if (session) {
		safe_text_print(stdout, path_base(session->entry->tdf), false);
		printf("(%u)", session->points[trigger->point].minor);
		fputs(" at ", stdout);
	}
	text_print_moment(query, trigger->time);
	if (trigger->state == RAS_TRIGGER_FROZEN)
		puts(": frozen, nothing is recorded until 'trace resume'");
	else
		printf(": %lld more records, then all stops\n",
		       trigger->left > 0 ? (long long)trigger->left : 0);
}

static void text_print_kmod(const struct kmod *kmod)
{
	static const char *const buffers[] = {
		[KMOD_BUFFER_NONE] =
			"loaded, gets the buffer with the next 'trace on'",
		[KMOD_BUFFER_OURS] = "has the buffer",
		[KMOD_BUFFER_OTHER] = "has the buffer of another run directory",
	};

	if (!kmod->loaded)
		return;
	printf("kernel module: %s, layout %u", kmod->layout == RAS_LAYOUT ?
	       buffers[kmod->buffer] : "of another version, isn't used",
	       kmod->layout);
	if (kmod->crash_bytes)
		text_print_size(", ", kmod->crash_bytes, " outlive a panic");
	putchar('\n');
}

/* Has an armed tracepoint a MAXHITS? */
static bool has_maxhits(const struct query *query)
{
	for (size_t i = 0; i < query->list.count; i++) {
		const struct session *session = &query->list.items[i];
		const struct tdf *tdf = query->tdfs[i];
		struct keep_tasks tasks;
		bool all;

		if (!session->armed)
			continue;
		keep_tasks_read(&tasks, session->dir);
		all = tasks.max_hits;
		keep_tasks_free(&tasks);
		if (all)
			return true;
		if (!tdf)
			continue;
		for (uint32_t k = 0; k < session->entry->points; k++)
			if (session->points[k].state == RAS_POINT_ARMED &&
			    tdf->points[k].maxhits)
				return true;
	}
	return false;
}

/* Has an armed session something that the keeper is to do? */
static bool keep_has_tasks(const struct query *query)
{
	struct keep_tasks tasks;
	bool any = false;

	for (size_t i = 0; i < query->list.count && !any; i++) {
		if (!query->list.items[i].armed)
			continue;
		keep_tasks_read(&tasks, query->list.items[i].dir);
		any = keep_tasks_any(&tasks);
		keep_tasks_free(&tasks);
	}
	return any;
}

static void text_print_keep(const struct query *query)
{
	const struct keep_state *keep = &query->keep;
	const char *before = " ";

	if (keep->pid > 0)
		printf("keeper: process %d", keep->pid);
	else if (keep->pid < 0)
		fputs("keeper: a process that can't be seen from here", stdout);
	else if (keep->needed)
		fputs("keeper: isn't running, the next command starts it; it",
		      stdout);
	if (keep->pid || keep->needed) {
		if (has_maxhits(query)) {
			printf("%stakes away what has its MAXHITS", before);
			before = ", ";
		}
		if (query->buffer && query->buffer->control->max_cpu) {
			printf("%skeeps to --max-cpu", before);
			before = ", ";
		}
		if (keep_has_tasks(query)) {
			printf("%sends what is --for a time and answers triggers",
			       before);
			before = ", ";
		}
		if (query->keep.count)
			printf("%swaits for kernel modules", before);
		putchar('\n');
	}
	for (size_t i = 0; i < keep->count; i++) {
		const struct keep_request *request = &keep->requests[i];
		const char *refused = request->refused;

		fputs(refused ? "refused: " : "waiting: ", stdout);
		safe_text_print(stdout, request->tdf, false);
		fputs(refused ? " when the kernel module '" :
		      " is armed when the kernel module '", stdout);
		safe_text_print(stdout, request->module, false);
		fputs(refused ? "' came: " : "' is loaded", stdout);
		if (refused)
			safe_text_print(stdout, refused, false);
		putchar('\n');
	}
}

static void text_print_session_reads(const struct ras_session *entry)
{
	const char *why, *name = query_reads_name(entry, &why);

	if (why)
		printf(", memory is read by helper (%s)", why);
	else if (name)
		fputs(", memory is read directly", stdout);
}

static void text_print_session_how(const struct query *query, size_t i)
{
	const struct session *session = &query->list.items[i];
	const struct ras_session *entry = session->entry;

	if (entry->index == RAS_STATIC_SESSION)
		return;
	printf("  %s links, preemption %s in programs, absent memory %s",
	       query_mode_name(entry), query_preempt_name(entry),
	       entry->flags & RAS_SESSION_BRINGS_IN ? "is brought in" :
						     "is left alone");
	text_print_session_reads(entry);
	if (entry->flags & RAS_SESSION_FILTERED)
		fputs(", some processes only", stdout);
	for (unsigned int bit = 0; names_context[bit]; bit++)
		if (names_context[bit][0] && entry->context & 1u << bit)
			printf("%s%s", entry->context & ((1u << bit) - 1) ?
			       "," : ", context ", names_context[bit]);
	if (entry->max_rate)
		printf(", at most %u records/s of a point", entry->max_rate);
	text_print_size(", ", query->sessions[i].memory, "\n");
	fputs("  armed ", stdout);
	text_print_moment(query, entry->armed);
	if (entry->disarmed) {
		fputs(", off ", stdout);
		text_print_moment(query, entry->disarmed);
	}
	putchar('\n');
}

static void text_print_trigger_did(const struct query *query,
				   const struct session *session,
				   const struct keep_trigger *trigger,
				   enum keep_trigger_kind kind)
{
	struct keep_did did;

	printf("  %s: on ", keep_trigger_names[kind]);
	for (unsigned int i = 0; i < trigger->count; i++)
		if (trigger->points[i] < session->entry->points)
			printf("%s%u", i ? "," : "",
			       session->points[trigger->points[i]].minor);
	if (kind != KEEP_STOP) {
		keep_did_read(&did, session->dir, kind);
		printf(": %" PRIu64 " %s, %" PRIu64 " failed, %" PRIu64
		       " hits passed over", did.done,
		       kind == KEEP_RUN ? "commands" : "files", did.failed,
		       did.passed);
		if (did.time) {
			fputs(", the last ", stdout);
			text_print_moment(query, did.time);
			fputs(": ", stdout);
			safe_text_print(stdout, did.last, false);
		}
	}
	putchar('\n');
}

/* What the keeper does with it. */
static void text_print_session_tasks(const struct query *query,
				     const struct session *session)
{
	struct keep_tasks tasks;

	if (!session->armed)
		return;
	keep_tasks_read(&tasks, session->dir);
	if (tasks.ends > query->time)
		printf("  ends in %" PRIu64 " s (--for)\n",
		       (tasks.ends - query->time) / SECOND + 1);
	else if (tasks.ends)
		puts("  its time is over (--for), and the keeper ends it");
	if (tasks.max_hits)
		printf("  each tracepoint ends with %u records (--max-hits)\n",
		       tasks.max_hits);
	for (int i = 0; i < KEEP_TRIGGERS; i++)
		if (tasks.triggers[i].count)
			text_print_trigger_did(query, session,
					       &tasks.triggers[i], i);
	keep_tasks_free(&tasks);
}

static void text_print_session_file(enum query_file file)
{
	if (file == QUERY_FILE_CHANGED)
		puts("  the module was written to while it was armed: records of later hits are marked");
	else if (file == QUERY_FILE_REPLACED)
		puts("  the module was replaced on disk since: what is started "
		     "from now on runs another file, which isn't traced");
	else if (file == QUERY_FILE_GONE)
		puts("  the module isn't on disk any more: only processes that have it are traced");
}

static void text_print_session_loss(const struct figure *sum)
{
	uint64_t lost = sum->overwritten - sum->cleared + sum->dropped;
	uint64_t hits = figure_hits(sum);

	if (!lost && (!sum->missed || sum->missed == RAS_MISSED_UNKNOWN))
		return;
	printf("  lost: %" PRIu64 " of %" PRIu64 " hits that were to be recorded",
	       lost, hits - figure_filtered(sum));
	if (sum->missed && sum->missed != RAS_MISSED_UNKNOWN)
		printf(", and %" PRIu64 " that the kernel missed", sum->missed);
	puts(" (trace explain-loss)");
}

static void query_print_text(const struct query *query)
{
	size_t shown = 0;

	if (query->buffer) {
		text_print_buffer(query);
		text_print_cpu(query);
		text_print_trigger(query);
	}
	text_print_kmod(&query->kmod);
	text_print_keep(query);
	for (size_t i = 0; i < query->list.count; i++) {
		const struct session *session = &query->list.items[i];
		const struct ras_session *entry = session->entry;

		if (!query->sessions[i].shown)
			continue;
		putchar('\n');
		safe_text_print(stdout, entry->tdf, false);
		if (entry->index == RAS_STATIC_SESSION) {
			printf(": %s%s\n", query_state_name(session),
			       entry->flags & RAS_SESSION_FILTERED ?
			       ", some processes only" : "");
		} else {
			printf(": session %u, %s, major %u (0x%04x), module '",
			       entry->index, query_state_name(session),
			       entry->major, entry->major);
			safe_text_print(stdout, entry->module, false);
			puts("'");
		}
		if (entry->index == RAS_STATIC_SESSION &&
		    !figure_hits(&query->sessions[i].sum))
			puts("  no hit yet: name a program that has librastrace.a in itself: "
			     "trace on --module FILE MAJORS");
		text_print_session_how(query, i);
		text_print_session_tasks(query, session);
		text_print_session_file(query->sessions[i].file);
		text_print_session_loss(&query->sessions[i].sum);
		session_table_print(query, i);
		session_stacks_print(query, i);
		session_aggregates_print(query, i);
		shown++;
	}
	if (!shown)
		puts("nothing is armed");
}

struct query_options {
	bool json, metrics;
};

static const struct option_def options[] = {
	{ "json", 'j', NULL, "print a JSON object",
	  OPTION_PLACE(struct query_options, json) },
	{ "metrics", 0, NULL, "print OpenMetrics text, for monitoring",
	  OPTION_PLACE(struct query_options, metrics) },
	{ NULL }
};

static int query_print(const struct query *query,
		       const struct query_options *how, struct error *err)
{
	if (how->json)
		return query_print_json(query, err);
	if (how->metrics)
		query_print_metrics(query);
	else
		query_print_text(query);
	return 0;
}

static void query_warn_left(const char *path, const char *name, void *context)
{
	if (!run_dir_is_left(name))
		return;
	fprintf(stderr, "trace: '%s' is left of what was killed, and may still record\n"
		"trace: its records: trace -d %s get FILE; the next on, run or off --all removes it\n",
		path, path);
}

static int query(const struct query_options *how, int count, char **operands,
		 struct error *err)
{
	struct query query;
	int code = query_read(&query, count, operands, err);

	if (code)
		return code;
	if (query.buffer && !how->metrics)
		hit_cost_recall(&query.cost, pin_run());
	code = query_print(&query, how, err);
	query_free(&query);
	if (!code)
		pins_each(pin_run(), query_warn_left, NULL);
	return code;
}

static int query_run(int argc, char **argv)
{
	struct query_options how = { 0 };
	struct error err = { 0 };
	int status, first = command_parse(&command_query, argc, argv, 0, -1,
					  &how, &status);

	if (first < 0)
		return status;
	if (how.json && how.metrics)
		return command_misuse(&command_query,
				      "--json or --metrics, not both");
	return command_end(query(&how, argc - first, argv + first, &err),
			   &err);
}

const struct command command_query = {
	.def = {
		.program = "trace", .name = "query",
		.operands = "[APP|APP(MINOR,...)...]",
		.help = "print the armed tracepoints, their figures and the buffer's state",
		.options = options,
	},
	.run = query_run,
};
