// SPDX-License-Identifier: GPL-2.0
/*
 * Every hit of a tracepoint that isn't in the trace, by reason: the rows add up
 * to the hits. After them the report names what nothing has counted.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include "commands.h"
#include "lib/buffer/mappings.h"
#include "lib/buffer/pin.h"
#include "lib/identity.h"
#include "lib/maps_line.h"
#include "lib/names.h"
#include "lib/text.h"
#include "trace/query/query_read.h"

#define HOLDERS_SHOWN	10

/* A process that has a session's module in memory. */
struct holder {
	uint32_t pid;
	enum holder_kind {
		HOLDER_ARMED,		/* the very file that is armed */
		HOLDER_COPY,		/* another file of the same build */
		HOLDER_OTHER,		/* another build */
	} kind;
	struct identity id;	/* of what it has, unless ARMED */
};

/* The log holds the end of a longer path. */
static bool holder_path_fits(struct maps_line *maps, const char *module)
{
	const size_t most = sizeof(((struct ras_session *)0)->module) - 1;
	size_t wanted = strlen(module), length;
	const char *path = maps->path;

	if (maps->deleted)
		*maps->deleted = '\0';
	length = strlen(path);
	if (wanted == most && length > most)
		path += length - most;
	return !strcmp(path, module);
}

/* What is mapped there: 0, or a negative errno when it can't be seen. */
static int mapping_judge(struct holder *holder, const struct maps_line *maps,
			 const struct ras_session *entry)
{
	int code = 0, fd = maps_line_open(maps, holder->pid);
	struct stat st;

	if (fd < 0)
		return fd;
	holder->kind = HOLDER_ARMED;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		code = -EINVAL;
	else if (st.st_dev != entry->device || st.st_ino != entry->inode) {
		code = identity_read(fd, entry->module, &holder->id, NULL);
		holder->kind = holder->id.kind == entry->id_kind &&
			       holder->id.length == entry->id_length &&
			       !memcmp(holder->id.id, entry->id,
				       entry->id_length) ?
			HOLDER_COPY : HOLDER_OTHER;
	}
	close(fd);
	return code;
}

/* 1: it has the module; 0: it hasn't; negative: it can't be looked into. */
static int process_judge(struct holder *holder,
			 const struct ras_session *entry)
{
	struct maps_lines lines;
	struct maps_line maps;
	int code = maps_lines_open(&lines, holder->pid);

	if (code)
		return code == -ENOENT ? 0 : code;
	while (!code && maps_lines_next(&lines, &maps)) {
		if (maps.mode[2] != 'x' ||
		    !holder_path_fits(&maps, entry->module))
			continue;
		code = mapping_judge(holder, &maps, entry);
		code = code ? code : 1;
	}
	maps_lines_close(&lines);
	/* ESRCH, ENOENT: it ended meanwhile */
	return code == -ENOENT || code == -ESRCH ? 0 : code;
}

/* The processes that have a file at the session's path of its module. */
struct holders {
	const struct ras_session *entry;
	size_t others;		/* have another file than the armed one */
	size_t before;		/* have the armed one since before that */
	size_t unseen;		/* can't be looked into; of the first: */
	uint32_t unseen_pid;
	int unseen_cause;	/* errno */
};

static void holder_print(const struct holder *holder)
{
	char path[64], comm[16] = "", id[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", holder->pid);
	file = fopen(path, "re");
	if (file && !fgets(comm, sizeof(comm), file))
		comm[0] = '\0';
	if (file)
		fclose(file);
	comm[strcspn(comm, "\n")] = '\0';
	printf("    process %" PRIu32 " (", holder->pid);
	safe_text_print(stdout, comm, false);
	identity_print(holder->id.kind, holder->id.id, holder->id.length, id);
	printf(") has %s %s\n", holder->kind == HOLDER_COPY ?
	       "a copy of the same build" : "another build", id);
}

static void holders_take(struct holders *holders, uint32_t pid)
{
	struct holder holder = { .pid = pid };
	int code = process_judge(&holder, holders->entry);
	uint64_t started = 0;

	if (code < 0 && !holders->unseen++) {
		holders->unseen_pid = pid;
		holders->unseen_cause = -code;
	}
	if (code <= 0)
		return;
	if (holder.kind == HOLDER_ARMED) {
		mappings_process_start(pid, &started);
		holders->before += started < holders->entry->armed;
		return;
	}
	if (!holders->others)
		puts("and what hits in processes that have another file "
		     "from the module's path, which isn't armed:");
	if (holders->others++ < HOLDERS_SHOWN)
		holder_print(&holder);
}

static void holders_print(const struct ras_session *entry)
{
	struct holders holders = { .entry = entry };
	struct dirent *name;
	DIR *dir = entry->inode ? opendir("/proc") : NULL;

	while (dir && (name = readdir(dir))) {
		char *end;
		unsigned long pid = strtoul(name->d_name, &end, 10);

		if (pid && !*end)
			holders_take(&holders, pid);
	}
	if (dir)
		closedir(dir);
	if (holders.others > HOLDERS_SHOWN)
		printf("    and %zu more\n", holders.others - HOLDERS_SHOWN);
	if (holders.others)
		puts("    compile the TSF for that build (trcust), or name the "
		     "copy (--module); or start these processes anew");
	if (holders.before)
		printf("and what hit before it was armed: %zu process%s that %s "
		       "it %s started earlier\n",
		       holders.before, holders.before == 1 ? "" : "es",
		       holders.before == 1 ? "has" : "have",
		       holders.before == 1 ? "was" : "were");
	if (holders.unseen)
		printf("(%zu process%s can't be looked into: %s%u, %s)\n",
		       holders.unseen, holders.unseen == 1 ? "" : "es",
		       holders.unseen == 1 ? "" : "the first is ",
		       holders.unseen_pid, strerror(holders.unseen_cause));
}

/* One point of one session. */
struct point_loss {
	const struct query *query;
	const struct session *session;
	const struct ras_session_point *point;
	const struct figure *figure;
	const struct tdf *tdf;			/* NULL: not there */
	const struct tdf_point *tdf_point;	/* NULL: not there */
};

static void __attribute__((format(printf, 3, 4)))
loss_print_row(uint64_t hits, const char *reason, const char *fmt, ...)
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

static void loss_print_head(const struct point_loss *loss)
{
	const struct ras_session *entry = loss->session->entry;
	const struct ras_session_point *point = loss->point;
	uint64_t ended = point->state != RAS_POINT_ARMED && point->ended ?
			 point->ended : entry->disarmed;
	char text[AMOUNT_MOMENT];

	safe_text_print(stdout, entry->tdf, false);
	printf("(%u)", point->minor);
	if (loss->tdf_point) {
		putchar(' ');
		safe_text_print(stdout, tdf_string(loss->tdf,
						   loss->tdf_point->name),
				false);
	}
	printf(": session %u, %s", entry->index,
	       query_point_state(loss->session, point - loss->session->points));
	if (loss->tdf_point) {
		fputs(" at ", stdout);
		safe_text_print(stdout, tdf_string(loss->tdf,
						   loss->tdf->header->tsf),
				false);
		printf(":%u", loss->tdf_point->line);
	}
	putchar('\n');
	if (entry->armed)
		printf("armed %s: what hit before isn't counted\n",
		       moment(loss->query, entry->armed, text));
	if (ended)
		printf("disarmed %s: what hits since isn't counted\n",
		       moment(loss->query, ended, text));
}

static void loss_print_filtered(const struct point_loss *loss)
{
	const struct query *query = loss->query;
	const struct ras_trigger *trigger = &query->trigger;
	const struct session *by = query_trigger_session(query);
	const __u64 *filtered = loss->figure->why.filtered;
	const struct tdf_point *point = loss->tdf_point;
	bool suspended = loss->session->armed &&
			 loss->session->state == RAS_STATE_SUSPENDED;
	bool ended = loss->point->state == RAS_POINT_MAXHITS;
	char text[AMOUNT_MOMENT], more[32] = "";

	loss_print_row(filtered[RAS_FILTERED_SUSPENDED],
		       names_filtered[RAS_FILTERED_SUSPENDED],
		       "while suspended; %s", suspended ?
		       "'trace resume' records again" : "it was resumed since");
	if (by)
		snprintf(more, sizeof(more), ", minor %u of session %u",
			 by->points[trigger->point].minor, by->entry->index);
	loss_print_row(filtered[RAS_FILTERED_FROZEN],
		       names_filtered[RAS_FILTERED_FROZEN],
		       "after the trigger (--stop-on%s) of %s; %s", more,
		       trigger->time ? moment(query, trigger->time, text) : "-",
		       trigger->state == RAS_TRIGGER_FROZEN ?
		       "'trace resume' goes on" : "it was resumed since");
	loss_print_row(filtered[RAS_FILTERED_PROCESS],
		       names_filtered[RAS_FILTERED_PROCESS],
		       "of processes that weren't asked for (--pid, --comm, "
		       "--cgroup, --uid); --follow takes children along");
	loss_print_row(filtered[RAS_FILTERED_CONDITION],
		       names_filtered[RAS_FILTERED_CONDITION],
		       "the tracepoint's IF was 0, or read what isn't there (%"
		       PRIu64 " faults in all)",
		       figure_faults(loss->figure));
	more[0] = '\0';
	if (point)
		snprintf(more, sizeof(more), "=%u", point->passcount);
	loss_print_row(filtered[RAS_FILTERED_PASSED],
		       names_filtered[RAS_FILTERED_PASSED],
		       "PASSCOUNT%s passes over the first hits", more);
	if (point)
		snprintf(more, sizeof(more), "=%u", point->maxhits);
	if (point && (!point->maxhits ||
		      loss->figure->recorded < point->maxhits))
		snprintf(more, sizeof(more), " (--max-hits)");
	loss_print_row(filtered[RAS_FILTERED_MAXHITS],
		       names_filtered[RAS_FILTERED_MAXHITS],
		       "MAXHITS%s was reached%s%s; arm it anew to count from 0 (trace off, trace on)",
		       more, ended ? " before " : "", ended ?
		       moment(query, loss->point->ended, text) : "");
	loss_print_row(filtered[RAS_FILTERED_RATE],
		       names_filtered[RAS_FILTERED_RATE],
		       "muted: more than %u in a second (--max-rate)",
		       loss->session->entry->max_rate);
}

static void loss_print_overwritten(const struct point_loss *loss)
{
	const struct query *query = loss->query;
	const struct query_figures *figures = &query->figures;
	uint64_t lost = loss->figure->overwritten - loss->figure->cleared;
	char text[AMOUNT_MOMENT], rate[AMOUNT_TEXT];

	loss_print_row(loss->figure->cleared, "cleared", "by 'trace clear'");
	if (!lost)
		return;
	amount_print_bytes(rate, figures->rate);
	loss_print_row(lost, "overwritten",
		       "by newer records%s; all is there since %s",
		       figures->cleared ? ", or cleared before" : "",
		       figures->complete ? moment(query, figures->complete, text) : "then");
	printf("%26s a CPU records up to %s/s: ", "", rate);
	if (figures->wanted > query->buffer->control->slice_bytes)
		printf("--buffer %" PRIu64
		       "K would have kept all, 'trace spool' writes it out\n",
		       figures->wanted >> 10);
	else
		puts("'trace spool' writes it out as it comes");
}

static void loss_print_calls(const struct point_loss *loss)
{
	const struct ras_why *why = &loss->figure->why;

	loss_print_row(why->open, "open", loss->session->armed ?
		       "calls have not returned" :
		       "calls had not returned when it was disarmed");
	loss_print_row(why->never_returned, "left",
		       "calls never returned: longjmp(), an exception, the end of a "
		       "thread or process");
	if (why->no_entry)
		printf("and %llu exits without an entry: of calls that began before "
		       "it was armed, while suspended, or that are counted "
		       "above\n", why->no_entry);
}

static void loss_print_rows(const struct point_loss *loss)
{
	const struct ras_session *entry = loss->session->entry;
	const struct figure *figure = loss->figure;

	printf("%14" PRIu64 " hits, of which\n", figure_hits(figure));
	printf("%14" PRIu64 " %-11s are in the buffer\n", figure->present,
	       "present");
	loss_print_filtered(loss);
	loss_print_row(figure->aggregated, "aggregated",
		       "added up in the kernel: a tracepoint without data makes no records");
	loss_print_row(figure->dropped, "dropped",
		       "the CPU's %u slices were busy with %s%s",
		       1 + RAS_NEST_LEVELS, entry->flags & RAS_SESSION_PREEMPT ?
		       "hits inside hits; trace fewer tracepoints that interrupts "
		       "run through" :
		       "hits that others preempted: this kernel can't keep programs "
		       "from it; trace fewer tracepoints, or log less at each",
		       loss->tdf_point &&
		       loss->tdf_point->flags & TDF_POINT_WHOLE ?
		       "; or 16384 calls were open" : "");
	loss_print_overwritten(loss);
	loss_print_calls(loss);

	/* What isn't counted as a hit. */
	if (figure->missed != RAS_MISSED_UNKNOWN)
		printf("and %" PRIu64 " hits that the kernel missed%s\n",
		       figure->missed, figure->missed ?
		       ": kprobes inside another's program; don't probe what programs call" :
		       "");
	else
		printf("and what the kernel missed: it doesn't report it (%s)\n",
		       !(entry->flags & RAS_SESSION_KERNEL) ?
		       "of uprobes it never does" : loss->session->armed ?
		       "of kprobes it does from 6.9 on" :
		       "once the probe is gone");
	/* Probes that are of one process are never passed in others. */
	if (entry->flags & RAS_SESSION_FILTERED &&
	    !figure->why.filtered[RAS_FILTERED_PROCESS])
		puts("and what other processes pass, where the kernel itself "
		     "leaves them out (--pid)");
	if (loss->point->state == RAS_POINT_MUTED)
		puts("and what hits since it was muted: it took too much time "
		     "(--max-cpu); arm it anew with a higher limit or --max-cpu=off, or log less");
}

/* Of several points, those without a hit are only listed. */
static void loss_print_points(const struct query *query, size_t i)
{
	const struct session *session = &query->list.items[i];
	const struct ras_session *entry = session->entry;
	enum query_file file = query->sessions[i].file;
	const struct tdf *tdf = query->tdfs[i];
	uint32_t shown = 0;

	for (uint32_t k = 0; k < entry->points; k++)
		shown += query_point_shown(query, i, k);
	for (uint32_t k = 0; k < entry->points; k++) {
		const struct point_loss loss = {
			.query = query, .session = session,
			.point = &session->points[k], .tdf = tdf,
			.tdf_point = tdf ? &tdf->points[k] : NULL,
			.figure = &query->figures.sessions[i][k],
		};

		if (!query_point_shown(query, i, k) ||
		    (shown > 1 && !query_point_hit(query, i, k)))
			continue;
		loss_print_head(&loss);
		loss_print_rows(&loss);
		if (shown > 1)
			putchar('\n');
	}
	if (shown > 1) {
		safe_text_print(stdout, entry->tdf, false);
		printf(": session %u, these %u tracepoints\n", entry->index,
		       shown);
		query_print_without_hit(query, i);
	}
	if (!session->armed)
		return;
	/* The file and the processes that run it are the same for all. */
	if (file == QUERY_FILE_REPLACED || file == QUERY_FILE_GONE)
		printf("and what hits in processes started since the module was "
		       "%s; arm it anew\n",
		       file == QUERY_FILE_GONE ? "removed from its path" :
						 "replaced on disk");
	holders_print(entry);
}

static int loss_print_sessions(const struct query *query, struct error *err)
{
	bool any = false;

	for (size_t i = 0; i < query->list.count; i++) {
		if (!query->sessions[i].shown)
			continue;
		if (any)
			putchar('\n');
		any = true;
		loss_print_points(query, i);
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
	int code = query_read(&query, count, operands, err);

	if (code)
		return code;
	code = loss_print_sessions(&query, err);
	query_free(&query);
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
		.help = "explain every hit that is not in the trace, with a remedy",
		.options = options,
	},
	.run = explain_loss_run,
};
