// SPDX-License-Identifier: GPL-2.0
/*
 * Every hit of a tracepoint that isn't in the trace, by reason: the rows add up
 * to the hits. Behind them stands what nobody has counted.
 */
#include "commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <rastrace/rasfile.h>
#include "lib/names.h"
#include "lib/buffer/pin.h"
#include "lib/safe_text.h"
#include "lib/arm/arm.h"
#include "trace/query/holders.h"
#include "trace/query/query.h"

#define HOLDERS_SHOWN	10

/* One point of one session. */
struct loss {
	const struct query *query;
	const struct session *session;
	const struct ras_session_point *point;
	const struct figure *figure;
	const struct tdf *tdf;			/* NULL: not there */
	const struct tdf_point *tdf_point;	/* likewise */
};

static void __attribute__((format(printf, 3, 4)))
row_print(uint64_t hits, const char *reason, const char *fmt, ...)
{
	va_list ap;

	if (!hits)
		return;
	printf("%14" PRIu64 " %-11s ", hits, reason);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static const char *moment(const struct query *query, uint64_t time,
			  char text[AMOUNT_MOMENT])
{
	amount_print_moment(text, time, query->time,
			    query->buffer->control->wall_offset);
	return text;
}

/* "app.tsf:12", where the TDF says it. */
static void where_print(const struct loss *loss)
{
	if (!loss->tdf_point)
		return;
	fputs(" at ", stdout);
	safe_text_print(stdout, tdf_string(loss->tdf, loss->tdf->header->tsf),
			false);
	printf(":%u", loss->tdf_point->line);
}

static void head_print(const struct loss *loss)
{
	const struct ras_session *entry = loss->session->entry;
	uint32_t point = loss->point - loss->session->points;
	uint64_t ended = loss->point->state != RAS_POINT_ARMED &&
			 loss->point->ended ? loss->point->ended :
					      entry->disarmed;
	char text[AMOUNT_MOMENT];

	safe_text_print(stdout, entry->tdf, false);
	printf("(%u)", loss->point->minor);
	if (loss->tdf_point) {
		putchar(' ');
		safe_text_print(stdout, tdf_string(loss->tdf,
						   loss->tdf_point->name),
				false);
	}
	printf(": session %u, %s", entry->index,
	       query_point_state(loss->session, point));
	where_print(loss);
	putchar('\n');
	if (entry->armed)
		printf("armed %s: what hit before isn't counted\n",
		       moment(loss->query, entry->armed, text));
	if (ended)
		printf("disarmed %s: what hits since isn't counted\n",
		       moment(loss->query, ended, text));
}

static uint64_t filtered(const struct loss *loss, unsigned int kind)
{
	return loss->figure->why.filtered[kind];
}

static void frozen_print(const struct loss *loss)
{
	const struct query *query = loss->query;
	const struct ras_trigger *trigger = &query->trigger;
	const struct session *by = query_trigger_session(query);
	bool frozen = trigger->state == RAS_TRIGGER_FROZEN;
	char text[AMOUNT_MOMENT], point[32] = "";

	if (by)
		snprintf(point, sizeof(point), ", minor %u of session %u",
			 by->points[trigger->point].minor, by->entry->index);
	row_print(filtered(loss, RAS_FILTERED_FROZEN),
		  names_filtered[RAS_FILTERED_FROZEN],
		  "behind the trigger (--stop-on%s) of %s; %s", point,
		  trigger->time ? moment(query, trigger->time, text) : "-",
		  frozen ? "'trace resume' goes on" : "it was resumed since");
}

static void limits_print(const struct loss *loss)
{
	const struct tdf_point *point = loss->tdf_point;
	bool ended = loss->point->state == RAS_POINT_MAXHITS;
	char number[32] = "", text[AMOUNT_MOMENT];

	if (point)
		snprintf(number, sizeof(number), "=%u", point->passcount);
	row_print(filtered(loss, RAS_FILTERED_PASSED),
		  names_filtered[RAS_FILTERED_PASSED],
		  "PASSCOUNT%s passes over the first hits", number);
	if (point)
		snprintf(number, sizeof(number), "=%u", point->maxhits);
	row_print(filtered(loss, RAS_FILTERED_MAXHITS),
		  names_filtered[RAS_FILTERED_MAXHITS],
		  "MAXHITS%s was reached%s%s; arm it anew to count from 0 (trace off, trace on)",
		  number, ended ? " before " : "", ended ?
		  moment(loss->query, loss->point->ended, text) : "");
}

static void filtered_print(const struct loss *loss)
{
	bool suspended = loss->session->armed &&
			 loss->session->state == RAS_STATE_SUSPENDED;

	row_print(filtered(loss, RAS_FILTERED_SUSPENDED),
		  names_filtered[RAS_FILTERED_SUSPENDED],
		  "while suspended; %s", suspended ?
		  "'trace resume' records again" : "it was resumed since");
	frozen_print(loss);
	row_print(filtered(loss, RAS_FILTERED_PROCESS),
		  names_filtered[RAS_FILTERED_PROCESS],
		  "of processes that weren't asked for (--pid, --comm, "
		  "--cgroup, --uid); --follow takes children along");
	row_print(filtered(loss, RAS_FILTERED_CONDITION),
		  names_filtered[RAS_FILTERED_CONDITION],
		  "the tracepoint's IF was 0, or read what isn't there (%"
		  PRIu64 " faults in all)",
		  figure_faults(loss->figure));
	limits_print(loss);
	row_print(filtered(loss, RAS_FILTERED_RATE),
		  names_filtered[RAS_FILTERED_RATE],
		  "muted: more than %u in a second (--max-rate)",
		  loss->session->entry->max_rate);
}

static void dropped_print(const struct loss *loss)
{
	bool preempt = loss->session->entry->flags & RAS_SESSION_PREEMPT;

	row_print(loss->figure->dropped, "dropped",
		  "the CPU's %u slices were busy with %s",
		  1 + RAS_NEST_LEVELS, preempt ?
		  "hits inside hits; trace fewer tracepoints that interrupts "
		  "run through" :
		  "hits that others preempted: this kernel can't keep programs "
		  "from it; trace fewer tracepoints, or log less at each");
}

static void overwritten_print(const struct loss *loss)
{
	const struct query *query = loss->query;
	const struct figures *figures = &query->figures;
	uint64_t lost = loss->figure->overwritten - loss->figure->cleared;
	char text[AMOUNT_MOMENT], rate[AMOUNT_TEXT];

	row_print(loss->figure->cleared, "cleared", "by 'trace clear'");
	if (!lost)
		return;
	amount_print_bytes(rate, figures->rate);
	row_print(lost, "overwritten",
		  "by newer records%s; all is there since %s",
		  figures->cleared ? ", or cleared before" : "",
		  figures->complete ? moment(query, figures->complete, text) :
				      "then");
	printf("%26s a CPU records up to %s/s: ", "", rate);
	if (figures->wanted > query->buffer->control->slice_bytes)
		printf("--buffer %" PRIu64
		       "K would have kept all, 'trace spool' writes it out\n",
		       figures->wanted >> 10);
	else
		puts("'trace spool' writes it out as it comes");
}

static void missed_print(const struct loss *loss)
{
	const struct figure *figure = loss->figure;
	bool kernel = loss->session->entry->flags & RAS_SESSION_KERNEL;

	if (figure->missed != RAS_MISSED_UNKNOWN)
		printf("and %" PRIu64 " hits that the kernel missed%s\n",
		       figure->missed, figure->missed ?
		       ": kprobes inside another's program; don't probe what programs call" :
		       "");
	else
		printf("and what the kernel missed: it doesn't tell (%s)\n",
		       !kernel ? "of uprobes it never does" :
		       loss->session->armed ? "of kprobes it does from 6.9 on" :
		       "once the probe is gone");
}

/* Probes that are of one process are never passed in others. */
static void others_print(const struct loss *loss)
{
	if (loss->session->entry->flags & RAS_SESSION_FILTERED &&
	    !filtered(loss, RAS_FILTERED_PROCESS))
		puts("and what other processes pass, where the kernel itself "
		     "leaves them out (--pid)");
}

static void muted_print(const struct loss *loss)
{
	if (loss->point->state == RAS_POINT_MUTED)
		puts("and what hits since it was muted: it was too dear "
		     "(--max-cpu); arm it anew with a higher ceiling, or log less");
}

static void rows_print(const struct loss *loss)
{
	const struct figure *figure = loss->figure;

	printf("%14" PRIu64 " hits, of which\n", figure_hits(figure));
	printf("%14" PRIu64 " %-11s are in the buffer\n", figure->present,
	       "present");
	filtered_print(loss);
	dropped_print(loss);
	overwritten_print(loss);
	missed_print(loss);
	others_print(loss);
	muted_print(loss);
}

static void holder_print(const struct holder *holder)
{
	char id[64];

	printf("    process %" PRIu32 " (", holder->pid);
	safe_text_print(stdout, holder->comm, false);
	identity_print(holder->id.kind, holder->id.id, holder->id.length, id);
	printf(") has %s %s\n", holder->kind == HOLDER_COPY ?
	       "a copy of the same build" : "another build", id);
}

static void holders_print_others(const struct holders *holders)
{
	size_t others = 0;

	for (size_t i = 0; i < holders->count; i++) {
		if (holders->items[i].kind == HOLDER_ARMED)
			continue;
		if (!others)
			puts("and what hits in processes that have another file "
			     "from the module's path, which isn't armed:");
		if (others++ < HOLDERS_SHOWN)
			holder_print(&holders->items[i]);
	}
	if (others > HOLDERS_SHOWN)
		printf("    and %zu more\n", others - HOLDERS_SHOWN);
	if (others)
		puts("    compile the TSF for that build (trcust), or name the "
		     "copy (--module); or start these processes anew");
}

static void holders_print_before(const struct holders *holders,
				 const struct session *session)
{
	size_t before = 0;

	for (size_t i = 0; i < holders->count; i++)
		before += holders->items[i].kind == HOLDER_ARMED &&
			  holders->items[i].started < session->entry->armed;
	if (before)
		printf("and what hit before it was armed: %zu process%s that %s "
		       "it %s started earlier\n",
		       before, before == 1 ? "" : "es",
		       before == 1 ? "has" : "have",
		       before == 1 ? "was" : "were");
}

/* Of the file and who runs it: the same for all points of a session. */
static int session_print(const struct query *query, size_t i,
			 struct error *err)
{
	const struct session *session = &query->list.items[i];
	enum query_file file = query->sessions[i].file;
	struct holders holders;
	int code;

	if (!session->armed)
		return 0;
	if (file == QUERY_FILE_REPLACED || file == QUERY_FILE_GONE)
		printf("and what hits in processes started since the module was "
		       "%s; arm it anew\n",
		       file == QUERY_FILE_GONE ? "removed from its path" :
						 "replaced on disk");
	code = holders_find(&holders, session->entry, err);
	if (code)
		return code;
	holders_print_others(&holders);
	holders_print_before(&holders, session);
	if (holders.unseen)
		printf("(%zu process%s can't be looked into: %s%u, %s)\n",
		       holders.unseen, holders.unseen == 1 ? "" : "es",
		       holders.unseen == 1 ? "" : "the first is ",
		       holders.unseen_pid, strerror(holders.unseen_cause));
	holders_free(&holders);
	return 0;
}

static void point_print(const struct query *query, size_t i, uint32_t index)
{
	const struct session *session = &query->list.items[i];
	const struct tdf *tdf = query->tdfs[i];
	struct loss loss = {
		.query = query, .session = session,
		.point = &session->points[index], .tdf = tdf,
		.tdf_point = tdf ? &tdf->points[index] : NULL,
		.figure = &query->figures.sessions[i][index],
	};

	head_print(&loss);
	rows_print(&loss);
}

/* Of several points, those without a hit are only listed. */
static int session_print_points(const struct query *query, size_t i,
				struct error *err)
{
	const struct ras_session *entry = query->list.items[i].entry;
	uint32_t shown = 0;

	for (uint32_t k = 0; k < entry->points; k++)
		shown += query_point_shown(query, i, k);
	for (uint32_t k = 0; k < entry->points; k++) {
		if (!query_point_shown(query, i, k) ||
		    (shown > 1 && query_point_quiet(query, i, k)))
			continue;
		point_print(query, i, k);
		if (shown > 1)
			putchar('\n');
	}
	if (shown > 1) {
		safe_text_print(stdout, entry->tdf, false);
		printf(": session %u, these %u tracepoints\n", entry->index,
		       shown);
		query_print_quiet(query, i);
	}
	return session_print(query, i, err);
}

static int points_print(const struct query *query, struct error *err)
{
	bool any = false;

	for (size_t i = 0; i < query->list.count; i++) {
		int code;

		if (!query->sessions[i].shown)
			continue;
		if (any)
			putchar('\n');
		any = true;
		code = session_print_points(query, i, err);
		if (code)
			return code;
	}
	if (any)
		return 0;
	error_set(err, -ENOENT, "none of these tracepoints was ever armed");
	error_hint(err, "'trace query' shows which were");
	return -ENOENT;
}

static int explain(int count, char **operands, struct error *err)
{
	struct query query;
	struct buffer buffer;
	int code = run_dir_check(pin_run(), err);

	if (!code)
		code = buffer_open(&buffer, pin_run(), false, err);
	if (code)
		return code;
	code = query_read(&query, &buffer, count, operands, err);
	if (!code) {
		code = points_print(&query, err);
		query_free(&query);
	}
	buffer_close(&buffer);
	return code;
}

static int explain_loss_run(int argc, char **argv)
{
	struct error err = { 0 };
	int status, first = command_parse(&command_explain_loss, argc, argv,
					  1, -1, NULL, &status);

	return first < 0 ? status :
	       command_end(explain(argc - first, argv + first, &err), &err);
}

static const struct option_def options[] = { { NULL } };

const struct command command_explain_loss = {
	.def = {
		.program = "trace", .name = "explain-loss",
		.operands = "APP|APP(MINOR,...)...",
		.help = "name every hit that isn't in the trace, and a remedy",
		.options = options,
	},
	.run = explain_loss_run,
};
