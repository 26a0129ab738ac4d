// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <rastrace/rasfile.h>
#include "lib/names.h"
#include "lib/path.h"
#include "lib/safe_text.h"
#include "lib/arm/arm.h"
#include "query.h"

/* Wall time as of the buffer's clock. */
static void moment_print(const struct query *query, uint64_t time)
{
	char text[AMOUNT_MOMENT];

	amount_print_moment(text, time, query->time,
			    query->buffer->control->wall_offset);
	fputs(text, stdout);
}

static void size_print(const char *before, uint64_t bytes, const char *behind)
{
	char text[AMOUNT_TEXT];

	amount_print_bytes(text, bytes);
	printf("%s%s%s", before, text, behind);
}

static void loss_print(const struct query *query)
{
	const struct figures *figures = &query->figures;

	if (figures->complete) {
		fputs("buffer: complete since ", stdout);
		moment_print(query, figures->complete);
		if (figures->rate)
			size_print(", at most ", figures->rate,
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

static void buffer_print(const struct query *query)
{
	const struct ras_control *control = query->buffer->control;
	const struct figures *figures = &query->figures;

	printf("buffer: %llu KiB for each of %u CPUs",
	       control->slice_bytes >> 10, control->cpus);
	size_print(", with all that is armed ", query->memory, " of memory\n");
	printf("buffer: %" PRIu64 " records of %" PRIu64 " bytes\n",
	       figures->records, figures->bytes);
	loss_print(query);
}

/* Of the time in programs, in per cent of one CPU's. */
static void cpu_print(const struct query *query)
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
		printf(", above %.2f %% the dearest tracepoint is muted",
		       control->max_cpu / 100.0);
	putchar('\n');
}

static void trigger_print(const struct query *query)
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
	moment_print(query, trigger->time);
	if (trigger->state == RAS_TRIGGER_FROZEN)
		puts(": frozen, nothing is recorded until 'trace resume'");
	else
		printf(": %lld more records, then all stops\n",
		       trigger->left > 0 ? (long long)trigger->left : 0);
}

static void kmod_print(const struct kmod *kmod)
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
		size_print(", ", kmod->crash_bytes, " outlive a panic");
	putchar('\n');
}

static void request_print(const struct keep_request *request)
{
	fputs(request->refused ? "refused: " : "waiting: ", stdout);
	safe_text_print(stdout, request->tdf, false);
	fputs(request->refused ? " when the kernel module '" :
	      " is armed when the kernel module '", stdout);
	safe_text_print(stdout, request->module, false);
	fputs(request->refused ? "' came: " : "' is loaded", stdout);
	if (request->refused)
		safe_text_print(stdout, request->refused, false);
	putchar('\n');
}

/* Has an armed tracepoint a MAXHITS? */
static bool maxhits_find(const struct query *query)
{
	for (size_t i = 0; i < query->list.count; i++) {
		const struct session *session = &query->list.items[i];
		const struct tdf *tdf = query->tdfs[i];

		if (!session->armed || !tdf)
			continue;
		for (uint32_t k = 0; k < session->entry->points; k++)
			if (session->points[k].state == RAS_POINT_ARMED &&
			    tdf->points[k].maxhits)
				return true;
	}
	return false;
}

static void keep_print(const struct query *query)
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
		if (maxhits_find(query)) {
			printf("%stakes away what has its MAXHITS", before);
			before = ", ";
		}
		if (query->buffer && query->buffer->control->max_cpu) {
			printf("%skeeps to --max-cpu", before);
			before = ", ";
		}
		if (query->keep.count)
			printf("%swaits for kernel modules", before);
		putchar('\n');
	}
	for (size_t i = 0; i < keep->count; i++)
		request_print(&keep->requests[i]);
}

static void context_print(uint32_t context)
{
	for (unsigned int bit = 0; names_context[bit]; bit++)
		if (context & 1u << bit)
			printf("%s%s", context & ((1u << bit) - 1) ? "," :
			       ", context ", names_context[bit]);
}

static void session_print_how(const struct query *query, size_t i)
{
	const struct session *session = &query->list.items[i];
	const struct ras_session *entry = session->entry;

	if (entry->index == RAS_STATIC_SESSION)
		return;
	printf("  %s links, preemption %s in programs, absent memory %s",
	       query_mode_name(entry), query_preempt_name(entry),
	       entry->flags & RAS_SESSION_BRINGS_IN ? "is brought in" :
						     "is left alone");
	if (entry->flags & RAS_SESSION_FILTERED)
		fputs(", some processes only", stdout);
	context_print(entry->context);
	if (entry->max_rate)
		printf(", at most %u records/s of a point", entry->max_rate);
	size_print(", ", query->sessions[i].memory, "\n");
	fputs("  armed ", stdout);
	moment_print(query, entry->armed);
	if (entry->disarmed) {
		fputs(", off ", stdout);
		moment_print(query, entry->disarmed);
	}
	putchar('\n');
}

static void session_print_file(enum query_file file)
{
	if (file == QUERY_FILE_CHANGED)
		puts("  the module was written to while it was armed: records of later hits are marked");
	else if (file == QUERY_FILE_REPLACED)
		puts("  the module was replaced on disk since: what is started "
		     "from now on runs another file, which isn't traced");
	else if (file == QUERY_FILE_GONE)
		puts("  the module isn't on disk any more: only processes that have it are traced");
}

static void session_print_loss(const struct figure *sum)
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

void query_print_text(const struct query *query)
{
	size_t shown = 0;

	if (query->buffer) {
		buffer_print(query);
		cpu_print(query);
		trigger_print(query);
	}
	kmod_print(&query->kmod);
	keep_print(query);
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
			puts("  no hit yet: of a program that has librastrace.a in itself trace is told: "
			     "trace on --module FILE MAJORS");
		session_print_how(query, i);
		session_print_file(query->sessions[i].file);
		session_print_loss(&query->sessions[i].sum);
		query_print_table(query, i);
		shown++;
	}
	if (!shown)
		puts("nothing is armed");
}
