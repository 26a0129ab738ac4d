// SPDX-License-Identifier: GPL-2.0
#include "query_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rastrace/rasfile.h>
#include "lib/buffer/aggregate_live.h"
#include "lib/buffer/pin.h"
#include "lib/buffer/ring.h"
#include "lib/names.h"
#include "lib/sysbpf.h"

/* How much of the kernel's memory the pinned maps take. */

/* The records of one (point, slice) that are in the buffer. */
struct records_seen {
	uint64_t present;
	uint32_t first, next;	/* sequence numbers: of the first, and the one
				 * after the last */
	bool gap;
};

struct session_counts {
	const struct session *session;
	struct ras_count *rows;		/* read before the slices */
	struct records_seen *seen;		/* like rows */
	struct ras_count *after;	/* rows, read after the slices */
	struct ras_why *why;		/* of each point, read after them, too */
};

struct census {
	const struct buffer *buffer;
	struct session_counts *sessions;		/* one per session of the list */
	size_t count;
	int by_index[65536];		/* by session index, of `sessions`; -1:
					 * none */
	bool *lost;			/* per slice: what was overwritten there */
	uint64_t needed;		/* most bytes that came into a slice since
					 * it was cleared */
	struct query_figures *figures;
};

static int counts_read(struct session_counts *counts,
		       const struct session *session, uint32_t slices,
		       struct error *err)
{
	int code = session_counts_read(session, slices, &counts->rows, err);

	counts->session = session;
	if (code == -ENOENT)
		return 0;
	if (code)
		return code;
	counts->seen = calloc((size_t)session->entry->points * slices + 1,
			     sizeof(*counts->seen));
	return counts->seen ? 0 : error_no_memory(err);
}

static void record_see(struct census *census, uint32_t row,
		       const struct ras_record *record)
{
	int index = census->by_index[record->session];
	struct session_counts *counts;
	struct records_seen *seen;
	uint32_t point;

	census->figures->records++;
	census->figures->bytes += record->length;
	if (index < 0 || !census->sessions[index].seen)
		return;
	counts = &census->sessions[index];
	/* its row of `count`: static records count by their major */
	point = record->session == RAS_STATIC_SESSION ? record->major :
							record->point;
	if (point >= counts->session->entry->points ||
	    (record->session != RAS_STATIC_SESSION &&
	     !(record->flags & RAS_RECORD_NAMED) &&
	     record->minor != counts->session->points[point].minor)) {
		census->figures->damaged += record->length;
		return;
	}
	seen = &counts->seen[point * census->buffer->slices + row];
	if (!seen->present)
		seen->first = record->seq;
	else if (seen->next != record->seq)
		seen->gap = true;
	seen->next = record->seq + 1;
	seen->present++;
}

/* How far back the records of a slice reach. */
struct slice_reach {
	uint64_t tail;		/* position where the slice was cleared */
	uint64_t first, last;	/* times of its records */
	uint64_t bytes;		/* from the first to the last */
};

static void slice_reach_note(struct census *census, uint32_t row,
			     const struct ring *ring,
			     const struct slice_reach *reach)
{
	struct query_figures *figures = census->figures;
	uint64_t needed = ring->head - reach->tail, span, rate;

	figures->cleared |= reach->tail > 0;
	census->lost[row] = ring->first > reach->tail &&
			    ring->head > reach->tail;
	if (census->lost[row] && reach->first > figures->complete)
		figures->complete = reach->first;
	if (row >= census->buffer->control->cpus || !reach->bytes)
		return;
	if (needed > census->needed)
		census->needed = needed;
	span = reach->last - reach->first;
	rate = span > 0 ? reach->bytes * 1e9 / span : 0;
	if (rate > figures->rate)
		figures->rate = rate;
}

static void slice_walk(struct census *census, uint32_t row,
		       const struct ring *ring, struct slice_reach *reach)
{
	uint64_t key = census->buffer->control->key;
	struct ring_walk walk = { .position = ring->first };
	const struct ras_record *record;

	while ((record = ring_next(ring, key, &walk))) {
		record_see(census, row, record);
		if (!reach->first)
			reach->first = record->time;
		if (record->time > reach->last)
			reach->last = record->time;
	}
	if (reach->first)
		reach->bytes = ring->head - ring->first;
	census->figures->damaged += walk.damaged;
}

static int figures_slice_read(struct census *census, uint32_t row,
			      struct error *err)
{
	const struct buffer *buffer = census->buffer;
	struct slice_reach reach = { .tail = buffer_tail(buffer, row) };
	const struct ras_slice *slice;
	struct ring ring;
	uint64_t size;
	uint8_t *copy;

	slice = buffer_slice(buffer, row, &size);
	if (row < buffer->control->cpus)
		census->figures->dropped += slice->dropped;
	if (!slice->head)
		return 0;
	copy = malloc(size);
	if (!copy)
		return error_no_memory(err);
	ring_copy(&ring, slice, size, buffer->control->key, reach.tail, copy);
	slice_walk(census, row, &ring, &reach);
	slice_reach_note(census, row, &ring, &reach);
	free(copy);
	return 0;
}

static void counts_add_row(struct census *census, struct figure *figure,
			   const struct session_counts *counts, size_t row,
			   bool lost)
{
	const struct ras_count *before = &counts->rows[row];
	const struct ras_count *after = &counts->after[row];
	const struct records_seen *seen = &counts->seen[row];
	uint64_t recorded = before->recorded, overwritten = recorded;

	if (seen->present) {
		/* A counter is 64 bits wide and a sequence number its low
		 * half. `before` was read before the slice was copied and the
		 * number may have moved on since, or be one less (counted, not
		 * yet published). */
		recorded = before->recorded +
			   (int32_t)(seen->next - (uint32_t)before->recorded);
		overwritten = recorded - (uint32_t)(seen->next - seen->first);
		if (seen->gap || overwritten + seen->present != recorded ||
		    recorded + 1 < before->recorded ||
		    recorded > after->recorded + 1)
			census->figures->damaged++;
	}
	figure->recorded += recorded;
	figure->overwritten += overwritten;
	figure->present += seen->present;
	figure->dropped += after->dropped;
	if (!lost)
		figure->cleared += overwritten;
}

static int aggregated_take(const struct session *session,
			   struct figure *figures, uint32_t cpus,
			   struct error *err)
{
	struct ras_aggregated *rows;
	int code = session_aggregated_read(session, cpus, &rows, err);

	for (uint32_t i = 0; !code && i < session->entry->points; i++) {
		figures[i].aggregated = rows[i].hits;
		figures[i].lost = rows[i].lost;
	}
	free(rows);
	return code == -ENOENT ? 0 : code;
}

static int counts_sum(struct census *census, struct session_counts *counts,
		      struct figure **result, struct error *err)
{
	uint32_t points = counts->session->entry->points;
	const struct buffer *buffer = census->buffer;
	struct figure *figures;
	uint64_t *missed;
	/* after the slices: what is counted there has its reason */
	int code = session_counts_read(counts->session, buffer->slices,
				       &counts->after, err);

	if (!code)
		code = session_why_read(counts->session, buffer->control->cpus,
					&counts->why, err);
	if (code)
		return code == -ENOENT ? 0 : code;
	figures = calloc(points + 1, sizeof(*figures));
	missed = calloc(points + 1, sizeof(*missed));
	if (figures && missed)
		session_missed_read(counts->session, missed);
	for (uint32_t i = 0; figures && missed && i < points; i++) {
		figures[i].missed = missed[i];
		figures[i].why = counts->why[i];
		for (uint32_t k = 0; k < buffer->slices; k++)
			counts_add_row(census, &figures[i], counts,
				       (size_t)i * buffer->slices + k,
				       census->lost[k]);
	}
	*result = figures;
	if (!figures || !missed)
		code = error_no_memory(err);
	free(missed);
	return code ? code : aggregated_take(counts->session, figures,
					     buffer->control->cpus, err);
}

static int census_take(struct census *census, const struct session_list *list,
		       struct error *err)
{
	int code = 0;
	uint64_t size;

	memset(census->by_index, -1, sizeof(census->by_index));
	for (size_t i = 0; i < list->count && !code; i++) {
		const struct session *session = &list->items[i];

		census->by_index[session->entry->index] = i;
		code = counts_read(&census->sessions[i], session,
				   census->buffer->slices, err);
	}
	for (uint32_t row = 0; row < census->buffer->slices && !code; row++)
		code = figures_slice_read(census, row, err);

	/* The writer may be at work on RAS_RECORD_MAX bytes after the last. */
	size = RAS_SLICE_MIN;
	while (size <= RAS_SLICE_MAX && size < census->needed + RAS_RECORD_MAX)
		size <<= 1;
	census->figures->wanted = size <= RAS_SLICE_MAX ? size : 0;

	for (size_t i = 0; i < list->count && !code; i++)
		if (census->sessions[i].seen)
			code = counts_sum(census, &census->sessions[i],
					  &census->figures->sessions[i], err);
	return code;
}

static struct census *census_new(const struct buffer *buffer, size_t sessions)
{
	struct census *census = calloc(1, sizeof(*census));

	if (!census)
		return NULL;
	census->buffer = buffer;
	census->sessions = calloc(sessions + 1, sizeof(*census->sessions));
	census->lost = calloc(buffer->slices + 1, sizeof(*census->lost));
	census->count = sessions;
	return census;
}

int query_figures_read(struct query_figures *figures,
		       const struct buffer *buffer,
		       const struct session_list *list, struct error *err)
{
	struct census *census = census_new(buffer, list->count);
	int code = -ENOMEM;

	*figures = (struct query_figures){ .count = list->count };
	figures->sessions = calloc(list->count + 1,
				   sizeof(*figures->sessions));
	if (!census || !census->sessions || !census->lost ||
	    !figures->sessions) {
		error_no_memory(err);
	} else {
		census->figures = figures;
		code = census_take(census, list, err);
	}
	if (census) {
		for (size_t i = 0; census->sessions && i < census->count; i++) {
			free(census->sessions[i].rows);
			free(census->sessions[i].seen);
			free(census->sessions[i].after);
			free(census->sessions[i].why);
		}
		free(census->sessions);
		free(census->lost);
		free(census);
	}
	if (code)
		query_figures_free(figures);
	return code;
}

void query_figures_free(struct query_figures *figures)
{
	for (size_t i = 0; figures->sessions && i < figures->count; i++)
		free(figures->sessions[i]);
	free(figures->sessions);
	*figures = (struct query_figures){ 0 };
}

static uint64_t numbers_sum(const __u64 *numbers, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += numbers[i];
	return total;
}

uint64_t figure_filtered(const struct figure *figure)
{
	return numbers_sum(figure->why.filtered, RAS_FILTERED_KINDS);
}

uint64_t figure_faults(const struct figure *figure)
{
	return numbers_sum(figure->why.faults, RAS_FAULT_KINDS);
}

uint64_t figure_hits(const struct figure *figure)
{
	return figure->recorded + figure_filtered(figure) + figure->dropped +
	       figure->aggregated + session_why_open(&figure->why);
}

/* sum += figure; what is unknown stays so. */
static void figure_add(struct figure *total, const struct figure *figure)
{
	total->recorded += figure->recorded;
	total->present += figure->present;
	total->overwritten += figure->overwritten;
	total->cleared += figure->cleared;
	total->dropped += figure->dropped;
	total->aggregated += figure->aggregated;
	total->lost += figure->lost;
	if (total->missed == RAS_MISSED_UNKNOWN ||
	    figure->missed == RAS_MISSED_UNKNOWN)
		total->missed = RAS_MISSED_UNKNOWN;
	else
		total->missed += figure->missed;
	for (int i = 0; i < RAS_FILTERED_KINDS; i++)
		total->why.filtered[i] += figure->why.filtered[i];
	for (int i = 0; i < RAS_FAULT_KINDS; i++)
		total->why.faults[i] += figure->why.faults[i];
	total->why.paged_in += figure->why.paged_in;
	total->why.never_returned += figure->why.never_returned;
	total->why.no_entry += figure->why.no_entry;
	total->why.open += figure->why.open;
}

#define MEMLOCK	"\nmemlock:"

/* "memlock" in the map's fdinfo (Documentation/filesystems/proc.rst, 3.8). */
static uint64_t footprint_map_bytes(int fd)
{
	char path[64], text[1024], *line;
	int info;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	if (info < 0)
		return 0;
	n = read(info, text, sizeof(text) - 1);
	close(info);
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, MEMLOCK);
	return line ? strtoull(line + strlen(MEMLOCK), NULL, 10) : 0;
}

/* How much of the kernel's memory the maps take that are pinned in a directory,
 * of the buffer or of a session; what can't be opened counts as 0. */
static uint64_t footprint_read(const char *dir)
{
	static const char *const names[] = {
		"buffer", "nest", "control", "sessions", "trigger", "processes",
		"count", "why", "state", "sites", "limits", "pids", "majors",
		"aggregates", "aggregated", "legend",
		"stack_table", "open", "slots",
	};
	char path[PATH_MAX + 16];
	uint64_t bytes = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		fd = sysbpf_map_get(path);
		if (fd < 0)
			continue;
		bytes += footprint_map_bytes(fd);
		close(fd);
	}
	return bytes;
}

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

const char *query_reads_name(const struct ras_session *entry, const char **why)
{
	unsigned int reads = (entry->flags & RAS_SESSION_READS) >>
			     RAS_SESSION_READS_SHIFT;

	*why = NULL;
	if (reads == RAS_READS_NONE)
		return NULL;
	if (reads == RAS_READS_DIRECT)
		return "direct";
	*why = reads < RAS_READS_KINDS ? names_reads[reads] : "unknown";
	return "helper";
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

static int session_aggregates_read(struct query *query, size_t i,
				   struct error *err)
{
	void *data;
	size_t size;
	int code = aggregate_live_copy(&query->list.items[i], query->buffer,
				       &data, &size, err);

	if (code || !data)
		return code;
	return aggregates_parse(&query->sessions[i].aggregates, data, size,
				err);
}

static void session_stacks_read(struct query *query, size_t i)
{
	struct stack_table table;

	if (stack_table_open(&table, &query->list.items[i], NULL))
		return;
	stack_table_count(&table, &query->sessions[i].stacks);
	stack_table_close(&table);
}

static int session_describe(struct query *query, size_t i, struct error *err)
{
	const struct session *session = &query->list.items[i];
	struct query_session *result = &query->sessions[i];

	if (!query->figures.sessions[i])
		return 0;
	result->memory = session->dir[0] ? footprint_read(session->dir) : 0;
	query->memory += result->memory;
	result->file = session->armed || session->entry->changed ?
		armed_file_find(session->entry) : QUERY_FILE_UNKNOWN;
	for (uint32_t k = 0; k < session->entry->points; k++) {
		if (!query_point_shown(query, i, k))
			continue;
		result->shown = true;
		figure_add(&result->sum, &query->figures.sessions[i][k]);
	}
	session_stacks_read(query, i);
	return session_aggregates_read(query, i, err);
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

int query_read(struct query *query, int count, char **operands,
	       struct error *err)
{
	int code = run_dir_check(pin_run(), err);

	*query = (struct query){ 0 };
	if (!code)
		code = buffer_open(&query->opened, pin_run(), false, err);
	if (code == -ENOENT && !count) {
		/* Nothing was ever armed, but something may wait for it. */
		keep_state_read(&query->keep, pin_run(), NULL);
		kmod_read(&query->kmod, pin_run());
		return 0;
	}
	if (code)
		return code;
	query->buffer = &query->opened;
	query->time = buffer_time();
	query->trigger = *query->buffer->trigger;
	query->memory = footprint_read(pin_run());
	code = session_list_read(&query->list, query->buffer, pin_run(), err);
	if (!code)
		code = query_figures_read(&query->figures, query->buffer,
					  &query->list, err);
	if (!code)
		code = sessions_read(query, count, operands, err);
	if (!code)
		code = keep_state_read(&query->keep, pin_run(), err);
	kmod_read(&query->kmod, pin_run());
	for (size_t i = 0; !code && i < query->list.count; i++)
		code = session_describe(query, i, err);
	if (code)
		query_free(query);
	return code;
}

void query_free(struct query *query)
{
	for (size_t i = 0; query->sessions && i < query->list.count; i++)
		aggregates_free(&query->sessions[i].aggregates);
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
	if (query->buffer)
		buffer_close(&query->opened);
	*query = (struct query){ 0 };
}
