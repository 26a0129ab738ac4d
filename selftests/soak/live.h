/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The live buffer, by its maps: pins in a bpf file system, or files that hold
 * what a map would. While it is in use, what is counted may be one record ahead
 * of what is published, and the other way round; a quiet one must be exact.
 */
#ifndef SELFTESTS_SOAK_LIVE_H
#define SELFTESTS_SOAK_LIVE_H

#include <dirent.h>
#include <time.h>
#include "map.h"
#include "records.h"

#define FIGURES_MAX	512

/* What is counted of a session */
struct figures {
	unsigned int session;	/* 0 static */
	bool past;
	struct map count, why;
	struct ras_count *before, *after;
	struct ras_why *whys;
	uint64_t counts;	/* entries of `count` */
};

/* All that may change between its begin and its end */
struct outline {
	struct ras_control control;
	uint64_t *tail;
	char names[32768];	/* of sessions */
};

static struct map map_control, map_buffer, map_nest, map_sessions, map_trigger;
static struct figures figures[FIGURES_MAX];
static unsigned int figure_count, cpu_count, slice_count;
static struct outline outline;

static void live_close(void)
{
	map_close(&map_control);
	map_close(&map_buffer);
	map_close(&map_nest);
	map_close(&map_sessions);
	map_close(&map_trigger);
	for (unsigned int i = 0; i < figure_count; i++) {
		map_close(&figures[i].count);
		map_close(&figures[i].why);
		free(figures[i].before);
		free(figures[i].whys);
	}
	figure_count = 0;
}

/* --- Its geometry */

static bool control_check(void)
{
	const struct ras_control *control = &outline.control;
	uint64_t size = control->slice_bytes;

	part_is("control");
	if (!holds(control->magic == RAS_CONTROL_MAGIC, "magic %#x",
		   control->magic) ||
	    !holds(control->layout == RAS_LAYOUT, "layout %u",
		   control->layout) ||
	    !holds(size >= RAS_SLICE_MIN && size <= RAS_SLICE_MAX &&
		   !(size & (size - 1)), "slices of %llu bytes",
		   (unsigned long long)size) ||
	    !holds(control->nest_bytes == RAS_NEST_BYTES &&
		   control->nest_levels == RAS_NEST_LEVELS,
		   "%u nesting slices of %llu bytes", control->nest_levels,
		   (unsigned long long)control->nest_bytes) ||
	    !holds(control->cpus, "no CPU"))
		return false;
	holds(all_zero(control->reserved, sizeof(control->reserved)),
	      "reserved bytes are not 0");
	holds(control->next_session, "next session 0");
	holds(control->sessions_used <= RAS_SESSIONS_BYTES &&
	      control->sessions_used % 8 == 0, "a log of %u bytes",
	      control->sessions_used);
	cpu_count = control->cpus;
	slice_count = cpu_count * (1 + RAS_NEST_LEVELS);
	return map_holds(&map_control, 1, sizeof(*control) + slice_count *
			 sizeof(control->tail[0]));
}

static bool maps_check(void)
{
	const struct ras_control *control = &outline.control;
	const uint64_t around = RAS_SLICE_HEADER + RAS_RECORD_MAX;
	bool good;

	part_is("buffer");
	good = map_holds(&map_buffer, cpu_count, control->slice_bytes + around);
	part_is("nest");
	good &= map_holds(&map_nest, cpu_count * RAS_NEST_LEVELS,
			  control->nest_bytes + around);
	part_is("sessions");
	good &= map_holds(&map_sessions, 1, RAS_SESSIONS_BYTES);
	part_is("trigger");
	good &= map_holds(&map_trigger, 1, sizeof(struct ras_trigger));
	return good;
}

static void trigger_check(void)
{
	const struct ras_trigger *trigger = (const void *)map_trigger.bytes;

	part_is("trigger");
	holds(trigger->state <= RAS_TRIGGER_CLAIMED, "state %llu",
	      (unsigned long long)trigger->state);
	holds(all_zero(trigger->reserved, sizeof(trigger->reserved)),
	      "reserved bytes are not 0");
}

/* --- Figures */

/* A session's directory; false: it has gone, or isn't complete yet. */
static bool figures_open(const char *folder, bool is_static)
{
	struct figures *figure = &figures[figure_count];
	const struct ras_state *state;
	struct map map;

	*figure = (struct figures) {};
	if (!map_open(folder, "count", &figure->count) ||
	    !map_open(folder, "why", &figure->why)) {
		map_close(&figure->count);
		return false;
	}
	if (map_open(folder, "state", &map)) {
		state = (const void *)map.bytes;
		figure->session = state->session;
		part_is("%.80s", folder);
		holds(state->state <= RAS_STATE_SUSPENDED, "state %u",
		      state->state);
		map_close(&map);
	} else if (!is_static) {
		figure->past = true;
		figure->session = atoi(strrchr(folder, '/') + 1);
	}
	if (is_static)
		figure->session = RAS_STATIC_SESSION;
	figure->counts = figure->count.length / sizeof(struct ras_count);
	figure->before = allocate(2 * figure->counts, sizeof(struct ras_count));
	figure->after = figure->before + figure->counts;
	figure->whys = allocate(1, figure->why.length);
	figure_count++;
	return true;
}

static bool figures_open_all(const char *folder, const char *group)
{
	char path[4096];
	struct dirent *entry;
	bool all = true;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", folder, group);
	dir = opendir(path);
	if (!dir)
		return true;
	while ((entry = readdir(dir)) && figure_count < FIGURES_MAX) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/%s", folder, group,
			 entry->d_name);
		all &= figures_open(path, false);
	}
	closedir(dir);
	return all;
}

static const struct ras_count *count_at(const struct ras_count *counts,
					unsigned int point, unsigned int slice)
{
	return &counts[(uint64_t)point * slice_count + slice];
}

/* The records of a point in a slice, beside how many there were */
static void tally_check(const struct figures *figure, unsigned int point,
			unsigned int slice, bool quiet)
{
	uint64_t before = count_at(figure->before, point, slice)->recorded;
	uint64_t after = count_at(figure->after, point, slice)->recorded;
	const struct tally *tally = tally_find(figure->session, point, slice);
	uint64_t seen = tally ? (uint64_t)tally->last + 1 : 0;

	holds(before <= after, "slice %u: %llu recorded, and %llu before",
	      slice, (unsigned long long)after, (unsigned long long)before);
	if (!tally)
		return;
	holds(quiet ? seen == after : seen + 1 >= before && seen <= after + 1,
	      "slice %u: %llu recorded, %llu before, present %llu + overwritten %u",
	      slice, (unsigned long long)after, (unsigned long long)before,
	      (unsigned long long)tally->present, tally->first);
}

static void point_sum(const struct figures *figure, struct session *session,
		      unsigned int point)
{
	const struct ras_count *count;
	const struct ras_why *why;

	for (unsigned int slice = 0; slice < slice_count; slice++) {
		count = count_at(figure->after, point, slice);
		holds(slice < cpu_count || !count->dropped,
		      "point %u: slice %u dropped %llu", point, slice,
		      (unsigned long long)count->dropped);
		if (!session)
			continue;
		session->recorded[point] += count->recorded;
		session->dropped[point] += count->dropped;
	}
	for (unsigned int cpu = 0; cpu < cpu_count; cpu++) {
		why = &figure->whys[point * cpu_count + cpu];
		for (int kind = 0; session && kind < RAS_FILTERED_KINDS; kind++)
			session->filtered[point] += why->filtered[kind];
	}
}

static bool figures_measure(const struct figures *figure, unsigned int points)
{
	part_is("session %u's count", figure->session);
	if (!map_holds(&figure->count, (uint64_t)points * slice_count,
		       sizeof(struct ras_count)))
		return false;
	part_is("session %u's why", figure->session);
	return map_holds(&figure->why, (uint64_t)points * cpu_count,
			 sizeof(struct ras_why));
}

static void figures_check(const struct figures *figure, bool quiet)
{
	struct session *session = session_find(figure->session);
	unsigned int points = RAS_STATIC_MAJORS;

	if (figure->session) {
		part_is("session %u", figure->session);
		/* arming may be under way, or have ended in the middle */
		if (!session) {
			holds(!quiet, "figures, but no entry in the log");
			return;
		}
		points = session->entry->points;
		holds(!quiet || !session->entry->disarmed == !figure->past,
		      "disarmed at %llu, and its figures are %s",
		      (unsigned long long)session->entry->disarmed,
		      figure->past ? "past" : "armed");
	}
	if (!figures_measure(figure, points))
		return;
	for (unsigned int point = 0; point < points; point++) {
		part_is("session %u, point %u", figure->session, point);
		for (unsigned int slice = 0; slice < slice_count; slice++)
			tally_check(figure, point, slice, quiet);
		point_sum(figure, session, point);
	}
}

/* --- Slices */

struct slice_copy {
	struct ras_slice header;
	uint64_t head, later;	/* before and after the copy */
	uint8_t *data;
};

static struct slice_copy *copies;

static const struct ras_slice *slice_at(unsigned int slice, uint64_t *size)
{
	const struct map *map = slice < cpu_count ? &map_buffer : &map_nest;
	unsigned int i = slice < cpu_count ? slice : slice - cpu_count;

	*size = slice < cpu_count ? outline.control.slice_bytes :
				    outline.control.nest_bytes;
	return (const void *)(map->bytes + (uint64_t)i *
			      (*size + RAS_SLICE_HEADER + RAS_RECORD_MAX));
}

/* As it is at one moment, but for a record that is being published */
static void slice_header_copy(const struct ras_slice *slice,
			      struct ras_slice *copy)
{
	uint64_t head;

	for (int tries = 0; tries < 1000; tries++) {
		head = __atomic_load_n(&slice->head, __ATOMIC_ACQUIRE);
		memcpy(copy, slice, sizeof(*copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&slice->head, __ATOMIC_RELAXED) == head)
			return;
	}
	die(2, "a slice's head doesn't stay for a moment");
}

static void slices_copy(void)
{
	copies = allocate(slice_count, sizeof(*copies));
	for (unsigned int i = 0; i < slice_count; i++) {
		uint64_t size;
		const struct ras_slice *slice = slice_at(i, &size);
		struct slice_copy *copy = &copies[i];

		copy->data = allocate(1, size + RAS_RECORD_MAX);
		copy->head = __atomic_load_n(&slice->head, __ATOMIC_ACQUIRE);
		memcpy(copy->data, slice->data, size + RAS_RECORD_MAX);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		copy->later = __atomic_load_n(&slice->head, __ATOMIC_RELAXED);
		slice_header_copy(slice, &copy->header);
	}
}

static void slices_forget(void)
{
	for (unsigned int i = 0; copies && i < slice_count; i++)
		free(copies[i].data);
	free(copies);
	copies = NULL;
}

static uint64_t now_boot(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void slice_header_check(unsigned int slice,
			       const struct slice_copy *copy, bool quiet)
{
	const struct ras_slice *header = &copy->header;
	uint64_t head = header->head;

	holds(header->lock <= 1, "lock %#llx",
	      (unsigned long long)header->lock);
	holds(!quiet || !header->lock, "it is locked, and there is no writer");
	holds(head % 8 == 0, "head %#llx", (unsigned long long)head);
	holds(copy->later >= copy->head && head >= copy->later,
	      "the head went back from %#llx to %#llx",
	      (unsigned long long)copy->head, (unsigned long long)copy->later);
	/* one of both is written first */
	holds((header->records + 1) * RAS_RECORD_MAX >= head &&
	      (header->records - !!header->records) * RAS_RECORD_HEADER <= head,
	      "%llu records in %llu bytes",
	      (unsigned long long)header->records, (unsigned long long)head);
	holds(slice < cpu_count || !header->dropped,
	      "a nesting slice that dropped %llu",
	      (unsigned long long)header->dropped);
	holds(all_zero(header->reserved, sizeof(header->reserved)),
	      "reserved bytes are not 0");
	holds(outline.tail[slice] <= head,
	      "cleared to %#llx, the head is %#llx",
	      (unsigned long long)outline.tail[slice],
	      (unsigned long long)head);
}

static void slice_name(unsigned int slice)
{
	if (slice < cpu_count)
		part_is("slice %u", slice);
	else
		part_is("slice %u.%u", (slice - cpu_count) / RAS_NEST_LEVELS,
			(slice - cpu_count) % RAS_NEST_LEVELS + 1);
}

/* What is whole of it; returns how many records. */
static uint64_t slice_check(unsigned int slice, bool quiet, uint64_t now)
{
	const struct slice_copy *copy = &copies[slice];
	uint64_t size = slice < cpu_count ? outline.control.slice_bytes :
					    outline.control.nest_bytes;
	struct run run = {
		.data = copy->data, .mask = size - 1, .to = copy->head,
		.key = outline.control.key, .slice = slice, .latest = now,
		.cleared = outline.tail[slice], .begins = true,
	};

	slice_name(slice);
	slice_header_check(slice, copy, quiet);
	if (copy->later >= size) {
		run.from = copy->later + RAS_RECORD_MAX - size;
		run.begins = false;
	}
	if (run.from >= run.to)
		return 0;
	run_check(&run);
	slice_name(slice);
	holds(!quiet || run.from || copy->header.records == run.count,
	      "%llu records, and %llu are there",
	      (unsigned long long)copy->header.records,
	      (unsigned long long)run.count);
	return run.count;
}

/* All that was counted, beside what the slices say of themselves: as long as
 * nothing was cleared, with whose figures go */
static void slices_sum(bool quiet)
{
	const struct ras_slice *header;
	uint64_t recorded, dropped;
	bool whole = quiet && figure_count < FIGURES_MAX;

	for (unsigned int slice = 0; slice < slice_count; slice++)
		whole &= !outline.tail[slice];
	for (unsigned int slice = 0; whole && slice < slice_count; slice++) {
		header = &copies[slice].header;
		recorded = dropped = 0;
		for (unsigned int i = 0; i < figure_count; i++) {
			const struct figures *figure = &figures[i];

			for (uint64_t n = slice; n < figure->counts;
			     n += slice_count) {
				recorded += figure->after[n].recorded;
				dropped += figure->after[n].dropped;
			}
		}
		slice_name(slice);
		holds(recorded == header->records,
		      "%llu records, and %llu are counted",
		      (unsigned long long)header->records,
		      (unsigned long long)recorded);
		holds(dropped == header->dropped,
		      "%llu dropped, and %llu are counted",
		      (unsigned long long)header->dropped,
		      (unsigned long long)dropped);
	}
}

/* --- Who was traced: a hash, which files can't imitate */

static void process_check(const struct ras_process_key *key,
			  const struct ras_process *process, bool quiet)
{
	holds(key->pid, "process 0");
	holds(process->seen, "process %u was never seen", key->pid);
	holds(key->session < outline.control.next_session,
	      "process %u: session %u is to come", key->pid, key->session);
	holds(!quiet || !key->session || session_find(key->session),
	      "process %u: session %u isn't in the log", key->pid,
	      key->session);
}

static void processes_check(const char *folder, bool quiet)
{
	struct ras_process_key key, next;
	struct ras_process process;
	char path[4096];
	bool more;
	int fd;

	part_is("processes");
	snprintf(path, sizeof(path), "%s/processes", folder);
	fd = pin_open(path);
	if (fd < 0)
		return;
	more = hash_next(fd, NULL, &key);
	for (unsigned int n = 0; more && n < RAS_PROCESSES_MAX; n++) {
		more = hash_next(fd, &key, &next);
		if (hash_find(fd, &key, &process))
			process_check(&key, &process, quiet);
		key = next;
	}
	close(fd);
}

/* --- All of it */

static void outline_take(const char *folder, struct outline *to)
{
	static const char *const groups[] = { "armed", "past" };
	const struct ras_control *control = (const void *)map_control.bytes;
	uint64_t tails = map_control.length - sizeof(*control);
	size_t used = 0;

	memcpy(&to->control, control, sizeof(*control));
	free(to->tail);
	to->tail = allocate(1, tails);
	memcpy(to->tail, control->tail, tails);
	memset(to->names, 0, sizeof(to->names));
	for (unsigned int i = 0; i < 2; i++) {
		char path[4096];
		struct dirent *entry;
		DIR *dir;

		snprintf(path, sizeof(path), "%s/%s", folder, groups[i]);
		dir = opendir(path);
		while (dir && (entry = readdir(dir)) &&
		       used + 300 < sizeof(to->names))
			used += sprintf(to->names + used, "%s/", entry->d_name);
		if (dir)
			closedir(dir);
	}
}

static bool outline_same(const struct outline *a, const struct outline *b)
{
	return a->control.key == b->control.key &&
	       a->control.next_session == b->control.next_session &&
	       a->control.sessions_used == b->control.sessions_used &&
	       !memcmp(a->tail, b->tail, map_control.length -
		       sizeof(struct ras_control)) &&
	       !strcmp(a->names, b->names);
}

static bool live_open(const char *folder)
{
	return map_open(folder, "control", &map_control) &&
	       map_open(folder, "buffer", &map_buffer) &&
	       map_open(folder, "nest", &map_nest) &&
	       map_open(folder, "sessions", &map_sessions) &&
	       map_open(folder, "trigger", &map_trigger);
}

static bool live_figures(const char *folder)
{
	char path[4096];
	bool all;

	snprintf(path, sizeof(path), "%s/static", folder);
	all = figures_open_all(folder, "armed");
	all &= figures_open_all(folder, "past");
	figures_open(path, true);
	return all;
}

static void figures_copy(bool before)
{
	for (unsigned int i = 0; i < figure_count; i++) {
		struct figures *figure = &figures[i];

		memcpy(before ? figure->before : figure->after,
		       figure->count.bytes,
		       figure->counts * sizeof(struct ras_count));
		memcpy(figure->whys, figure->why.bytes, figure->why.length);
	}
}

/* A copy of all that is changed by programs, between two looks at what `trace`
 * changes; false: that was changed meanwhile. */
static bool live_copy(const char *folder, uint8_t *log)
{
	static struct outline later;
	bool complete;

	outline_take(folder, &outline);
	if (!control_check() || !maps_check())
		return true;
	complete = live_figures(folder);
	figures_copy(true);
	slices_copy();
	figures_copy(false);
	memcpy(log, map_sessions.bytes, RAS_SESSIONS_BYTES);
	outline_take(folder, &later);
	return complete && outline_same(&outline, &later);
}

static uint64_t live_judge(const uint8_t *log, bool quiet)
{
	uint64_t now = now_boot(), records = 0;

	log_check(log, outline.control.sessions_used, true);
	part_is("control");
	for (unsigned int i = 0; i < session_count; i++)
		holds(sessions[i].entry->index < outline.control.next_session,
		      "session %u is in the log, the next one is %u",
		      sessions[i].entry->index, outline.control.next_session);
	trigger_check();
	for (unsigned int i = 0; i < slice_count; i++)
		records += slice_check(i, quiet, now);
	for (unsigned int i = 0; i < figure_count; i++)
		figures_check(&figures[i], quiet);
	slices_sum(quiet);
	return records;
}

/* 0, or 3: no buffer is there, or no longer. */
static int live_check(const char *folder, bool quiet, uint64_t *records)
{
	uint8_t *log = allocate(1, RAS_SESSIONS_BYTES);
	unsigned int tries = 0;
	bool copied;

	*records = 0;
	for (;; usleep(20000)) {
		if (!live_open(folder)) {
			live_close();
			free(log);
			return 3;
		}
		copied = live_copy(folder, log);
		if (copied || ++tries == 100)
			break;
		slices_forget();
		live_close();
	}
	part_is("control");
	if (holds(copied, "it changes all the time") && copies) {
		*records = live_judge(log, quiet);
		processes_check(folder, quiet);
	}
	free(log);
	return 0;
}

#endif
