// SPDX-License-Identifier: GPL-2.0
#include "pairing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/key_map.h"

const char *const pair_doubt_words[PAIR_DOUBTS] = {
	[PAIR_RECURSION] = "recursion",
	[PAIR_LOST] = "lost",
	[PAIR_FILTERED] = "filtered",
	[PAIR_NO_POST] = "no_exit",
	[PAIR_OPEN] = "open",
	[PAIR_GIVEN_UP] = "given_up",
	[PAIR_NO_PRE] = "no_entry",
};

#define STEPS_MOST	100	/* over calls that don't nest with another */

/* A buffer's traces. Times are wall clock. */
struct pair_buffer {
	uint64_t key;
	int64_t lost;		/* up to here records are missing */
};

/* PRE and POST of a session, in all traces of the buffer. */
struct pair_function {
	const struct pair_buffer *buffer;
	uint64_t key;		/* of the PRE, without the place in the TDF */
	bool recursive;		/* it was seen inside itself */
	bool filtered;		/* hits of it are missing, who knows when */
	int64_t muted;		/* they are up to here */
	int64_t ended;		/* from here on: one point is disarmed */
	int64_t longest;	/* latency so far */
	uint64_t checked;	/* a pipe's pass of these */
};

/* What is known of a point. */
struct pair_known {
	enum pair_role role;
	uint32_t index;
	char *name;		/* of PRE and POST */
	bool beside;
	int64_t armed;		/* wall clock; INT64_MIN: not known */
	struct pair_function *function;	/* of PRE and POST */
};

/* Open calls of a function in a thread. */
struct pair_open {
	const struct pair_thread *thread;
	struct pair_function *function;
	struct pair_frame *top;		/* innermost; `same` leads outwards */
	struct pair_open *next;		/* of the thread */
	uint64_t left_at;	/* by this event calls were left; the outermost
				 * of these: */
	uint64_t left;
};

/* A call that is open, pending, or ended with the last event. */
struct pair_frame {
	struct pair_call call;	/* the first member */
	struct pair_open *open;
	struct pair_frame *same;	/* the next outer one of the function;
					 * whole calls have none */
	int64_t until;		/* a whole call: when it ends */
	bool whole;
	bool migrates;		/* who knows what is inside of it */
	struct pair_frame *parent;	/* the next outer one that it nests in */
	struct pair_frame *parts;	/* open ones whose parent it is */
	struct pair_frame *part_next, **part_link;	/* the parent's */
	struct pair_frame *below, *above;	/* open: of the thread; pending:
						 * decided before, after it */
	uint64_t mark;		/* pending calls of the thread before it began;
				 * pending: before it ended */
	int64_t inside;		/* ns of calls in it */
	bool inside_doubt;	/* of one of them it isn't known */
	bool gone;
	size_t bytes;
};

struct pair_thread {
	uint64_t buffer;		/* key of its trace's buffer */
	uint32_t pid, tid;
	struct pair_frame *top;		/* open calls */
	size_t count;
	struct pair_frame *pending;	/* the newest one */
	uint64_t marks;			/* pending ones so far */
	uint64_t undecided;		/* of these some of the first so many
					 * were given up */
	struct pair_open *opens;
	int64_t newest;			/* of its PRE and POST records */
	int64_t disorder;		/* up to here they are not in order */
	struct pair_thread *older, *newer;	/* by their last records */
};

struct pairing {
	unsigned int wanted;
	const struct foresight *foresight;
	struct key_map begun;		/* processes with a POST without a PRE */
	struct key_map known;		/* pair_known by match_point */
	struct key_map functions;	/* pair_function */
	struct key_map buffers;		/* pair_buffer by key */
	struct key_map threads;		/* by pairing_thread_hash() */
	struct key_map opens;		/* pair_open by thread and function */
	struct key_map wholes;		/* pair_frame of open whole calls, by the
					 * number of their event */
	struct pair_thread *oldest, *newest;
	struct pair_buffer *buffer;	/* of the last event */
	const struct trace *trace;	/* its */
	uint64_t events, muted;
	size_t bytes;			/* of open and pending calls */
	struct pair_path *paths;	/* from 1 on */
	size_t path_count, path_room;
	struct key_map path_numbers;	/* by path around and function */
	struct pair_call **ended;	/* with the last event */
	size_t ended_count, ended_room;
	struct pair_frame alone;	/* POST without a PRE */
};

/* ---- what is known of points ---- */

static bool module_same(const struct ras_session *a,
			const struct ras_session *b)
{
	if (a->id_kind != TDF_ID_NONE && a->id_length)
		return a->id_kind == b->id_kind &&
		       a->id_length == b->id_length &&
		       !memcmp(a->id, b->id, sizeof(a->id));
	return a->inode && a->inode == b->inode && a->device == b->device;
}

/* Do calls of both points nest in a thread? */
static bool points_nest(const struct match_point *a,
			const struct match_point *b)
{
	return a->key >> 48 == b->key >> 48 || !a->session || !b->session ||
	       !module_same(a->session->entry, b->session->entry);
}

/* A pair and a whole call of one function see each call twice; either may begin
 * first, and end first. */
static bool frames_are_twins(const struct pair_frame *a,
			     const struct pair_frame *b)
{
	return a->whole != b->whole && a->call.entry.point->key >> 48 ==
	       b->call.entry.point->key >> 48 &&
	       !strcmp(a->call.name, b->call.name);
}

static bool frames_nest(const struct pair_frame *a, const struct pair_frame *b)
{
	return points_nest(a->call.entry.point, b->call.entry.point) &&
	       !frames_are_twins(a, b);
}

static bool point_beside(const struct match_point *point,
			 const struct trace *trace)
{
	const struct ras_session *own;

	if (!point->session)
		return false;
	own = point->session->entry;
	for (size_t i = 0; i < trace->file.session_count; i++) {
		const struct ras_session *s = trace->file.sessions[i]->entry;

		if (s->index < own->index && module_same(s, own) &&
		    (!s->disarmed || s->disarmed > own->armed))
			return true;
	}
	return false;
}

static int64_t pairing_wall(const struct trace *trace, uint64_t boot)
{
	return (int64_t)(boot + (uint64_t)trace->file.header.wall_offset);
}

/* Hits that aren't recorded leave no trace of when that was, except those of
 * processes that aren't asked for (all of a call), after the trigger (nothing
 * comes), of a point that has ended, and of muted ones. */
static bool hits_missing(const struct ras_count_total *t,
			 const struct ras_count_total *base)
{
	static const int kinds[] = {
		RAS_FILTERED_SUSPENDED, RAS_FILTERED_CONDITION,
		RAS_FILTERED_PASSED,
	};
	static const struct ras_count_total none;

	base = base ? base : &none;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (t->why.filtered[kinds[i]] > base->why.filtered[kinds[i]])
			return true;
	return t->dropped > base->dropped ||
	       (t->missed != RAS_MISSED_UNKNOWN &&
		base->missed != RAS_MISSED_UNKNOWN && t->missed > base->missed);
}

/* A file's figures are known at its first event, those of a pipe by and by. */
static void function_check(struct pair_function *function,
			   const struct match_point *point,
			   const struct trace *trace)
{
	const struct trace_session *s = point->session;
	uint16_t minor = pair_minor(point) & (uint16_t)~PAIR_POST;

	for (uint32_t i = 0; s && i < s->entry->points; i++) {
		const struct ras_session_point *armed = &s->points[i];

		if ((armed->minor & (uint16_t)~PAIR_POST) != minor)
			continue;
		if (s->totals && hits_missing(&s->totals[i], s->base ?
					      &s->base[i] : NULL))
			function->filtered = true;
		if (armed->ended && (armed->state == RAS_POINT_MAXHITS ||
				     armed->state == RAS_POINT_MUTED) &&
		    pairing_wall(trace, armed->ended) < function->ended)
			function->ended = pairing_wall(trace, armed->ended);
	}
	function->checked = trace->file.pass.time;
}

/* Keys without the place in the TDF. NULL: no memory. */
static struct pair_function *pairing_function(struct pairing *pairing,
					      const struct event *event)
{
	uint64_t key = event->point->half ?
		       event->point->key >> 16 | 1ULL << 63 :
		       event->point->key >> 16 & ~(uint64_t)PAIR_POST;
	uint64_t hash = key_map_mix(pairing->buffer->key, key);
	struct pair_function *f;
	size_t step = 0;

	while ((f = key_map_each(&pairing->functions, hash, &step)))
		if (f->buffer == pairing->buffer && f->key == key)
			return f;
	f = malloc(sizeof(*f));
	if (!f || key_map_add(&pairing->functions, hash, f)) {
		free(f);
		return NULL;
	}
	*f = (struct pair_function){
		.buffer = pairing->buffer, .key = key, .muted = INT64_MIN,
		.ended = INT64_MAX,
		.filtered = pairing->wanted & PAIRING_PARTIAL,
		.recursive = pairing->foresight &&
			     foresight_recursive(pairing->foresight, event),
	};
	return f;
}

static void known_free(struct pair_known *known)
{
	free(known->name);
	free(known);
}

/* NULL: no memory. */
static const struct pair_known *pairing_known(struct pairing *pairing,
					      const struct event *event)
{
	const struct match_point *point = event->point;
	struct pair_known *known =
		key_map_find(&pairing->known, key_map_key(point));
	const struct trace_session *session = point->session;
	char name[PAIR_NAME_MAX];
	bool made;

	if (known)
		return known;
	known = malloc(sizeof(*known));
	if (!known)
		return NULL;
	*known = (struct pair_known){
		.role = pair_role_of(point),
		.index = pairing->known.count,
		.beside = point_beside(point, event->trace),
		.armed = session && session->entry->armed ?
			 pairing_wall(event->trace, session->entry->armed) :
			 INT64_MIN,
	};
	made = known->role == PAIR_PLAIN;
	if (!made) {
		known->name = strdup(pair_name(point, name));
		known->function = pairing_function(pairing, event);
		made = known->name && known->function;
	}
	if (made && !key_map_add(&pairing->known, key_map_key(point), known)) {
		if (known->function)
			function_check(known->function, point, event->trace);
		return known;
	}
	known_free(known);
	return NULL;
}

/* NULL: no memory. */
static struct pair_buffer *pairing_buffer(struct pairing *pairing,
					  const struct trace *trace,
					  int64_t time)
{
	struct pair_buffer *buffer = pairing->buffer;
	uint64_t lost = trace->file.slices.lost_until;

	if (!buffer || pairing->trace != trace)
		buffer = key_map_find(&pairing->buffers,
				      trace->file.header.key);
	if (!buffer) {
		buffer = malloc(sizeof(*buffer));
		if (!buffer || key_map_add(&pairing->buffers,
					   trace->file.header.key, buffer)) {
			free(buffer);
			return NULL;
		}
		*buffer = (struct pair_buffer){
			.key = trace->file.header.key,
			.lost = pairing->wanted & PAIRING_CUT ? time :
								INT64_MIN,
		};
	}
	if (lost && pairing_wall(trace, lost) > buffer->lost)
		buffer->lost = pairing_wall(trace, lost);
	pairing->buffer = buffer;
	pairing->trace = trace;
	return buffer;
}

/* ---- calls that have ended ---- */

static int ended_add(struct pairing *pairing, struct pair_frame *frame,
		     enum pair_doubt doubt)
{
	if (!array_grow(&pairing->ended, pairing->ended_count,
			&pairing->ended_room, sizeof(*pairing->ended)))
		return -ENOMEM;
	frame->call.doubt = doubt;
	frame->call.self_doubt |= doubt != PAIR_SURE;
	pairing->bytes -= frame->bytes;
	pairing->ended[pairing->ended_count++] = &frame->call;
	return 0;
}

static void pair_frame_free(struct pair_frame *frame)
{
	free((void *)frame->call.exit.record);
	free(frame);
}

static void ended_free(struct pairing *pairing)
{
	for (size_t i = 0; i < pairing->ended_count; i++) {
		struct pair_call *call = pairing->ended[i];
		struct pair_frame *frame = (struct pair_frame *)call;

		if (frame == &pairing->alone)
			continue;
		/* the event's own record isn't there any more */
		if (!(frame->gone && pairing->wanted & PAIRING_EXITS))
			call->exit.record = NULL;
		pair_frame_free(frame);
	}
	pairing->ended_count = 0;
}

/* ---- open calls of a thread ---- */

static void pair_frame_unlink(struct pair_frame *frame)
{
	if (!frame->parent)
		return;
	*frame->part_link = frame->part_next;
	if (frame->part_next)
		frame->part_next->part_link = frame->part_link;
}

static void pair_frame_link(struct pair_frame *frame)
{
	struct pair_frame *parent = frame->parent;

	if (!parent)
		return;
	frame->part_next = parent->parts;
	frame->part_link = &parent->parts;
	if (parent->parts)
		parent->parts->part_link = &frame->part_next;
	parent->parts = frame;
}

/* It ends: calls in it that go on are in none. */
static void pair_frame_part(struct pair_frame *frame)
{
	frame->inside_doubt |= frame->parts != NULL;
	for (struct pair_frame *at = frame->parts; at; at = at->part_next) {
		at->parent = NULL;
		at->call.parent = 0;
	}
	frame->parts = NULL;
	pair_frame_unlink(frame);
}

/* Take it out of the open ones. */
static void pair_frame_take(struct pairing *pairing, struct pair_thread *thread,
			    struct pair_frame *frame)
{
	struct pair_frame **at = &frame->open->top;

	pair_frame_part(frame);
	*(frame->above ? &frame->above->below : &thread->top) = frame->below;
	if (frame->below)
		frame->below->above = frame->above;
	thread->count--;
	if (frame->whole) {
		key_map_remove(&pairing->wholes, frame->call.number, frame);
		return;
	}
	/* mostly the first one */
	while (*at != frame)
		at = &(*at)->same;
	*at = frame->same;
}

/* Pending ones from `mark` on are decided; `around`: a call that has returned for
 * sure, or NULL. Sets *doubt when some remain in doubt. 0 or -ENOMEM. */
static int pending_decide(struct pairing *pairing, struct pair_thread *thread,
			  uint64_t mark, const struct pair_frame *around,
			  bool *doubt)
{
	struct pair_frame *first = NULL, *frame;
	size_t from = pairing->ended_count, count = 0;
	bool beyond = !around;

	for (frame = thread->pending; frame && frame->mark >= mark;
	     frame = frame->below) {
		first = frame;
		count++;
	}
	if (!first)
		return 0;
	thread->pending = first->below;
	for (frame = first; frame; frame = frame->above) {
		const struct pair_open *open = frame->open;
		bool nests = around && points_nest(frame->call.entry.point,
						   around->call.entry.point);
		bool sure = nests && (open->left_at != pairing->events ||
				      open->left > frame->call.order);

		beyond |= !nests;
		*doubt |= !sure;
		frame->gone = true;
		if (ended_add(pairing, frame, sure ? PAIR_SURE :
			      PAIR_RECURSION))
			return -ENOMEM;
	}
	if (thread->pending)
		thread->pending->above = NULL;
	for (size_t i = from; *doubt && i < from + count; i++)
		pairing->ended[i]->self_doubt = true;
	if (beyond)
		thread->undecided = thread->marks;
	return 0;
}

/*
 * Calls above the frame (NULL: all) are without a POST, where they nest with it.
 * *mark: that of the outermost of them, if there is one. 0 or -ENOMEM.
 */
static int calls_leave(struct pairing *pairing, struct pair_thread *thread,
		       const struct pair_frame *frame, enum pair_doubt doubt,
		       uint64_t *mark)
{
	struct pair_frame *at, *below;
	size_t kept = 0, wholes = 0;

	for (at = thread->top; frame && at != frame && wholes <= STEPS_MOST;
	     at = at->below) {
		kept += !frames_nest(at, frame);
		wholes += at->whole;
	}
	wholes = 0;
	for (at = thread->top; at && at != frame; at = below) {
		below = at->below;
		/* it ends later, for sure */
		if (at->whole && frame) {
			if (wholes++ == STEPS_MOST)
				break;
			continue;
		}
		if (kept && kept <= STEPS_MOST && !frames_nest(at, frame))
			continue;
		pair_frame_take(pairing, thread, at);
		at->open->left_at = pairing->events;
		at->open->left = at->call.order;
		*mark = at->mark;
		if (ended_add(pairing, at, doubt))
			return -ENOMEM;
	}
	return 0;
}

/* ---- threads ---- */

static uint64_t pairing_thread_hash(uint64_t buffer, uint32_t pid, uint32_t tid)
{
	return key_map_mix(buffer, (uint64_t)pid << 32 | tid);
}

static void thread_unlink(struct pairing *pairing, struct pair_thread *thread)
{
	*(thread->older ? &thread->older->newer : &pairing->oldest) =
		thread->newer;
	*(thread->newer ? &thread->newer->older : &pairing->newest) =
		thread->older;
}

static void thread_link(struct pairing *pairing, struct pair_thread *thread)
{
	thread->older = pairing->newest;
	thread->newer = NULL;
	*(thread->older ? &thread->older->newer : &pairing->oldest) = thread;
	pairing->newest = thread;
}

static uint64_t open_hash(const struct pair_thread *thread,
			  const struct pair_function *function)
{
	return key_map_mix(key_map_key(thread), key_map_key(function));
}

/* Its calls have been given out, or are freed with it. */
static void thread_free(struct pairing *pairing, struct pair_thread *thread)
{
	struct pair_frame *frame, *below;
	struct pair_open *open;

	for (frame = thread->top; frame; frame = below) {
		below = frame->below;
		if (frame->whole)
			key_map_remove(&pairing->wholes, frame->call.number,
				       frame);
		pair_frame_free(frame);
	}
	for (frame = thread->pending; frame; frame = below) {
		below = frame->below;
		if (!(pairing->wanted & PAIRING_EXITS))
			frame->call.exit.record = NULL;
		pair_frame_free(frame);
	}
	while ((open = thread->opens)) {
		thread->opens = open->next;
		key_map_remove(&pairing->opens,
			       open_hash(thread, open->function), open);
		free(open);
	}
	key_map_remove(
		&pairing->threads,
		pairing_thread_hash(thread->buffer, thread->pid, thread->tid),
		thread);
	thread_unlink(pairing, thread);
	free(thread);
}

/* Make room: of the thread that was quiet the longest, or, when it is the only
 * one, of its outer calls. */
static int thread_give_up(struct pairing *pairing)
{
	struct pair_thread *thread = pairing->oldest;
	bool only = thread == pairing->newest && thread->count > 1;
	struct pair_frame *frame = thread->top, *below;
	bool doubt = false;
	uint64_t mark;

	if (pending_decide(pairing, thread, 0, NULL, &doubt))
		return -ENOMEM;
	if (!only) {
		if (calls_leave(pairing, thread, NULL, PAIR_GIVEN_UP, &mark))
			return -ENOMEM;
		thread_free(pairing, thread);
		return 0;
	}
	for (size_t i = thread->count / 2; i; i--)
		frame = frame->below;
	for (struct pair_frame *at = frame; at; at = at->below) {
		at->gone = true;
		pair_frame_part(at);
	}
	/* The innermost ones of each function remain. */
	for (struct pair_open *open = thread->opens; open; open = open->next) {
		struct pair_frame **at = &open->top;

		while (*at && !(*at)->gone)
			at = &(*at)->same;
		*at = NULL;
	}
	frame->above->below = NULL;
	for (; frame; frame = below) {
		below = frame->below;
		frame->gone = false;
		thread->count--;
		if (frame->whole)
			key_map_remove(&pairing->wholes, frame->call.number,
				       frame);
		if (ended_add(pairing, frame, PAIR_GIVEN_UP))
			return -ENOMEM;
	}
	return 0;
}

/* The event's thread, which is the newest one now; NULL: it isn't there. */
static struct pair_thread *pairing_thread_find(struct pairing *pairing,
					       const struct event *event)
{
	uint64_t buffer = event->trace->file.header.key;
	uint32_t pid = event->record->pid, tid = event->record->tid;
	uint64_t hash = pairing_thread_hash(buffer, pid, tid);
	struct pair_thread *thread = pairing->newest;
	size_t step = 0;

	if (thread && thread->buffer == buffer && thread->pid == pid &&
	    thread->tid == tid)
		return thread;
	while ((thread = key_map_each(&pairing->threads, hash, &step)))
		if (thread->buffer == buffer && thread->pid == pid &&
		    thread->tid == tid)
			break;
	if (thread && thread != pairing->newest) {
		thread_unlink(pairing, thread);
		thread_link(pairing, thread);
	}
	return thread;
}

static struct pair_thread *pairing_thread_add(struct pairing *pairing,
					      const struct event *event)
{
	struct pair_thread *thread;

	if (pairing->threads.count >= PAIR_THREADS && thread_give_up(pairing))
		return NULL;
	if (key_map_reserve(&pairing->threads))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->buffer = event->trace->file.header.key;
	thread->pid = event->record->pid;
	thread->tid = event->record->tid;
	thread->newest = event->time;
	thread->disorder = INT64_MIN;
	key_map_add(
		&pairing->threads,
		pairing_thread_hash(thread->buffer, thread->pid, thread->tid),
		thread);
	thread_link(pairing, thread);
	return thread;
}

/* NULL: it has none of the function. */
static struct pair_open *thread_open_find(const struct pairing *pairing,
					  const struct pair_thread *thread,
					  const struct pair_function *function)
{
	uint64_t hash = open_hash(thread, function);
	struct pair_open *open;
	size_t step = 0;

	while ((open = key_map_each(&pairing->opens, hash, &step)))
		if (open->thread == thread && open->function == function)
			break;
	return open;
}

/* NULL: no memory. */
static struct pair_open *thread_open(struct pairing *pairing,
				     struct pair_thread *thread,
				     struct pair_function *function)
{
	struct pair_open *open = thread_open_find(pairing, thread, function);

	if (open)
		return open;
	open = calloc(1, sizeof(*open));
	if (!open || key_map_add(&pairing->opens, open_hash(thread, function),
				 open)) {
		free(open);
		return NULL;
	}
	*open = (struct pair_open){
		.thread = thread, .function = function, .next = thread->opens,
	};
	thread->opens = open;
	return open;
}

/* ---- events ---- */

#define SECOND		1000000000LL
#define TIMES_LONGER	10	/* than any: a call isn't reckoned with */

static int64_t distance(int64_t from, int64_t to)
{
	uint64_t ns = (uint64_t)to - (uint64_t)from;

	return to < from ? 0 : ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
}

static int64_t later(int64_t time, int64_t ns)
{
	return time > INT64_MAX - ns ? INT64_MAX : time + ns;
}

/* How late it is in its thread, where the order isn't known then. */
static int64_t thread_pass(struct pair_thread *thread, int64_t time)
{
	if (time < thread->newest) {
		thread->disorder = thread->newest;
		return distance(time, thread->newest);
	}
	thread->newest = time;
	return 0;
}

/* Room for so many bytes of the newest thread's calls. */
static int pairing_make_room(struct pairing *pairing, size_t bytes)
{
	struct pair_thread *thread = pairing->newest;
	bool doubt = false;
	int code = 0;

	while (!code && pairing->bytes + bytes > PAIR_BYTES)
		if (thread->pending)
			code = pending_decide(pairing, thread, 0, NULL, &doubt);
		else if (thread == pairing->oldest && thread->count < 2)
			break;
		else
			code = thread_give_up(pairing);
	return code;
}

/* Can the call be inside the other one? */
static bool frame_contains(const struct pair_frame *outer,
			   const struct pair_frame *inner)
{
	const struct event *entry = &inner->call.entry;

	if (outer->migrates || inner->migrates ||
	    !frames_nest(outer, inner))
		return false;
	return !inner->whole || (outer->call.entry.time <= entry->time &&
				 (!outer->whole ||
				  outer->until >= inner->until));
}

/* The innermost open call that the call is in. */
static struct pair_frame *thread_parent(const struct pair_thread *thread,
					const struct pair_frame *of)
{
	struct pair_frame *frame = thread->top;

	for (size_t i = 0; frame && !frame_contains(frame, of); i++) {
		/* what is in `of` may be in it, too */
		frame->inside_doubt |= frames_are_twins(frame, of);
		frame = i < STEPS_MOST ? frame->below : NULL;
	}
	return frame;
}

/* 0: no memory. */
static uint32_t path_find(struct pairing *pairing,
			  const struct pair_frame *frame)
{
	uint32_t around = frame->parent ? frame->parent->call.path : 0;
	const struct pair_path *outer = pairing_path(pairing, around);
	uint64_t key = key_map_mix(around,
				   key_map_key(frame->open->function));
	const char *name = frame->call.name;
	uint64_t number;
	size_t step = 0;

	if (outer && outer->depth == PAIRING_PATH_DEPTH)
		return around;
	while ((number = key_map_each_number(&pairing->path_numbers, key,
					     &step)))
		if (pairing->paths[number - 1].around == around &&
		    !strcmp(pairing->paths[number - 1].name, name))
			return number;
	if (!array_grow(&pairing->paths, pairing->path_count,
			&pairing->path_room, sizeof(*pairing->paths)) ||
	    key_map_add_number(&pairing->path_numbers, key,
			       pairing->path_count + 1))
		return 0;
	outer = pairing_path(pairing, around);
	pairing->paths[pairing->path_count++] = (struct pair_path){
		.name = name, .around = around,
		.depth = outer ? outer->depth + 1 : 1,
	};
	return pairing->path_count;
}

static int call_begin(struct pairing *pairing, const struct event *event,
		      const struct pair_known *known, struct pair_seen *seen)
{
	struct pair_thread *thread = pairing_thread_find(pairing, event);
	size_t bytes = sizeof(struct pair_frame);
	struct pair_frame *frame;
	struct pair_open *open;

	if (pairing->wanted & PAIRING_ENTRIES)
		bytes += event->record->length;
	if (!thread)
		thread = pairing_thread_add(pairing, event);
	if (!thread || pairing_make_room(pairing, bytes))
		return -ENOMEM;
	frame = malloc(bytes);
	open = thread_open(pairing, thread, known->function);
	if (!frame || !open) {
		free(frame);
		return -ENOMEM;
	}
	pairing->bytes += bytes;
	*frame = (struct pair_frame){
		.call = {
			.name = known->name, .entry = *event,
			.number = event->number, .order = pairing->events,
			.pid = thread->pid, .tid = thread->tid,
			.depth = thread->count, .index = known->index,
			.beside = known->beside,
		},
		.open = open, .below = thread->top,
		.mark = thread->marks, .bytes = bytes,
		.whole = event->point->half,
		.migrates = whole_migrates(event->point),
		.until = pairing_wall(event->trace, event->record->time),
	};
	frame->parent = thread_parent(thread, frame);
	frame->call.parent = frame->parent ? frame->parent->call.number : 0;
	frame->call.entry.record = pairing->wanted & PAIRING_ENTRIES ?
		memcpy(frame + 1, event->record, event->record->length) : NULL;
	if (!frame->whole) {
		known->function->recursive |= open->top != NULL;
		frame->same = open->top;
		open->top = frame;
		frame->call.beside |= thread->top && thread->top->whole &&
				      frame->parent != thread->top;
	} else if (key_map_add(&pairing->wholes, event->number, frame)) {
		free(frame);
		return -ENOMEM;
	} else {
		frame->call.depth = frame->parent ?
				    frame->parent->call.depth + 1 : 0;
		/* a pair's end is not known */
		frame->call.beside |= frame->parent != thread->top ||
				      frame->migrates ||
				      (frame->parent &&
				       (!frame->parent->whole ||
					frame->parent->call.beside));
		frame->inside_doubt = frame->migrates;
	}
	pair_frame_link(frame);
	if (thread->top)
		thread->top->above = frame;
	thread->top = frame;
	thread->count++;
	if (frame->whole && event->time < thread->newest) {
		/* late: what was inside of it is taken for what is around it */
		seen->late = distance(event->time, thread->newest);
		frame->call.beside = frame->inside_doubt = true;
		if (frame->parent)
			frame->parent->inside_doubt = true;
	} else {
		seen->late = thread_pass(thread, event->time);
	}
	if (pairing->wanted & PAIRING_PATHS &&
	    !(frame->call.path = path_find(pairing, frame)))
		return -ENOMEM;
	seen->role = PAIR_PRE;
	seen->depth = frame->call.depth;
	seen->call = frame->call;
	seen->kept = &frame->call;
	return 0;
}

/* So long that no call is, as far as was seen. */
static bool is_longer(const struct pair_function *function, int64_t ns)
{
	return ns > SECOND && ns / TIMES_LONGER > function->longest;
}

static uint64_t pairing_process(const struct event *event)
{
	return key_map_mix(event->trace->file.header.key, event->record->pid);
}

/* A call that began before the trace did may be the one that has returned: the
 * frame would have been left then. */
static bool unseen_is_possible(const struct pairing *pairing,
			       const struct pair_known *known,
			       const struct pair_frame *frame)
{
	const struct event *exit = &frame->call.exit;
	const struct pair_function *f = known->function;
	bool lost = f->buffer->lost > known->armed;
	int64_t start = lost ? f->buffer->lost : known->armed;

	if (!f->recursive || start == INT64_MIN ||
	    is_longer(f, distance(start, exit->time)))
		return false;
	return lost || key_map_find(&pairing->begun, pairing_process(exit)) ||
	       (pairing->foresight && foresight_begun(pairing->foresight,
						      exit));
}

/* What its POST may be instead; known: of that. */
static enum pair_doubt call_doubt(const struct pairing *pairing,
				  const struct pair_thread *thread,
				  const struct pair_known *known,
				  const struct pair_frame *frame)
{
	const struct event *entry = &frame->call.entry;
	const struct event *exit = &frame->call.exit;
	const struct pair_function *f = known->function;
	const struct pair_frame *same = frame->same;

	if (frame->whole)
		return exit->damaged ? PAIR_LOST : PAIR_SURE;
	if (entry->time <= f->buffer->lost || entry->time <= thread->disorder ||
	    entry->damaged || exit->damaged || frame != frame->open->top)
		return PAIR_LOST;
	if (f->filtered || entry->time <= f->muted || exit->time >= f->ended)
		return PAIR_FILTERED;
	if ((same && !is_longer(f, distance(same->call.entry.time,
					    exit->time))) ||
	    unseen_is_possible(pairing, known, frame))
		return frame->below ? PAIR_PENDING : PAIR_RECURSION;
	return PAIR_SURE;
}

/* The frame has its POST, and isn't open any more. Decide what is inside it, and
 * whether it is sure itself. 0 or -ENOMEM. */
static int call_settle(struct pairing *pairing, struct pair_thread *thread,
		       struct pair_frame *frame, enum pair_doubt doubt,
		       uint64_t left)
{
	struct pair_frame *parent = frame->parent;
	struct pair_call *call = &frame->call;
	bool undecided = left != UINT64_MAX;
	int code = 0;

	/* A call that was left inside a pending one: more is left to doubt. */
	if (doubt == PAIR_SURE)
		code = pending_decide(pairing, thread, frame->mark, frame,
				      &undecided);
	else if (doubt == PAIR_LOST || doubt == PAIR_RECURSION)
		code = pending_decide(pairing, thread, frame->mark, NULL,
				      &undecided);
	else if (undecided)
		code = pending_decide(pairing, thread, left, NULL, &undecided);
	if (frame->whole)
		frame->inside_doubt |= pairing->wanted & PAIRING_PARTIAL ||
				       call->entry.time <= frame->open->function->buffer->lost;
	call->self = call->latency - frame->inside;
	call->self_doubt = undecided || frame->inside_doubt || call->self < 0 ||
			   frame->mark < thread->undecided;
	if (parent) {
		parent->inside = later(parent->inside, call->latency);
		parent->inside_doubt |= doubt > PAIR_PENDING;
	}
	frame->parent = NULL;
	return code;
}

/* The POST that has no PRE; its call began before any that is known. */
static int call_alone(struct pairing *pairing, const struct event *event,
		      const struct pair_known *known,
		      struct pair_thread *thread)
{
	if (!event->point->half &&
	    !key_map_find(&pairing->begun, pairing_process(event)) &&
	    key_map_add_number(&pairing->begun, pairing_process(event), 1))
		return -ENOMEM;
	if (thread && thread->top)
		thread->top->inside_doubt = true;
	pairing->alone = (struct pair_frame){
		.call = {
			.name = known->name, .exit = *event,
			.order = pairing->events,
			.pid = event->record->pid, .tid = event->record->tid,
			.depth = thread ? thread->count : 0,
			.index = known->index, .beside = known->beside,
		},
	};
	return ended_add(pairing, &pairing->alone, PAIR_NO_PRE);
}

/* What was measured: the record is a bit later. */
static int64_t whole_elapsed(const struct event *event, int64_t latency)
{
	struct event_data data = event_data(event);
	uint64_t ns = data.length < sizeof(ns) ? UINT64_MAX :
		      number_load(data.data, sizeof(ns));

	return ns <= (uint64_t)latency ? (int64_t)ns : latency;
}

static int call_end(struct pairing *pairing, const struct event *event,
		    const struct pair_known *known, struct pair_seen *seen)
{
	struct pair_thread *thread = pairing_thread_find(pairing, event);
	struct pair_open *open = thread ? thread_open_find(pairing, thread,
							   known->function) :
					  NULL;
	struct pair_frame *frame =
		event->point->half ? key_map_find(&pairing->wholes,
						  event->number) :
		open ? open->top : NULL;
	uint64_t left = UINT64_MAX;
	struct ras_record *copy;
	enum pair_doubt doubt;

	for (size_t i = 0; frame && frame->call.entry.time > event->time; i++)
		frame = i < STEPS_MOST ? frame->same : NULL;
	seen->depth = thread ? thread->count : 0;
	if (!frame) {
		seen->doubt = PAIR_NO_PRE;
		return call_alone(pairing, event, known, thread);
	}
	frame->call.exit = *event;
	frame->call.latency = distance(frame->call.entry.time, event->time);
	if (frame->whole)
		frame->call.latency = whole_elapsed(event, frame->call.latency);
	seen->late = thread_pass(thread, event->time);
	doubt = call_doubt(pairing, thread, known, frame);
	if (known->function->longest < frame->call.latency)
		known->function->longest = frame->call.latency;
	if (calls_leave(pairing, thread, frame, PAIR_NO_POST, &left))
		return -ENOMEM;
	pair_frame_take(pairing, thread, frame);
	if (call_settle(pairing, thread, frame, doubt, left))
		return -ENOMEM;
	seen->role = doubt == PAIR_SURE ? PAIR_POST_MATCHED : PAIR_POST_UNSURE;
	seen->doubt = doubt;
	seen->depth = frame->call.depth;
	seen->latency = frame->call.latency;
	seen->call = frame->call;
	if (doubt != PAIR_PENDING)
		return ended_add(pairing, frame, doubt);
	if (pairing_make_room(pairing, event->record->length))
		return -ENOMEM;
	seen->kept = &frame->call;
	frame->mark = thread->marks++;
	frame->above = NULL;
	frame->below = thread->pending;
	if (thread->pending)
		thread->pending->above = frame;
	thread->pending = frame;
	frame->call.exit.record = NULL;
	if (!(pairing->wanted & PAIRING_EXITS))
		return 0;
	copy = malloc(event->record->length);
	if (!copy)
		return -ENOMEM;
	frame->call.exit.record = memcpy(copy, event->record,
					 event->record->length);
	frame->bytes += event->record->length;
	pairing->bytes += event->record->length;
	return 0;
}

int pairing_see(struct pairing *pairing, const struct event *event,
		struct pair_seen *seen)
{
	const struct pair_known *known;
	struct pair_thread *thread;
	int code = 0;

	ended_free(pairing);
	pairing->events++;
	if (!pairing_buffer(pairing, event->trace, event->time))
		return -ENOMEM;
	known = pairing_known(pairing, event);
	if (!known)
		return -ENOMEM;
	if (known->function && event->trace->file.source.pipe &&
	    known->function->checked != event->trace->file.pass.time)
		function_check(known->function, event->point, event->trace);
	*seen = (struct pair_seen){ .role = known->role,
				    .index = known->index,
				    .name = known->name };
	if (known->function && event->record->flags & RAS_RECORD_MUTED) {
		known->function->muted = later(event->time, SECOND);
		pairing->muted++;
	}
	if (known->role == PAIR_PRE) {
		code = call_begin(pairing, event, known, seen);
	} else if (known->role == PAIR_POST_ALONE) {
		code = call_end(pairing, event, known, seen);
	} else {
		thread = pairing_thread_find(pairing, event);
		seen->depth = thread ? thread->count : 0;
	}
	seen->ended = pairing->ended;
	seen->ended_count = pairing->ended_count;
	return code;
}

/* ---- */

struct pair_call *pairing_open_call(struct pairing *pairing)
{
	struct pair_thread *thread;
	struct pair_frame *frame;
	enum pair_doubt doubt = PAIR_OPEN;

	ended_free(pairing);
	while ((thread = pairing->oldest) && !thread->top && !thread->pending)
		thread_free(pairing, thread);
	if (!thread)
		return NULL;
	frame = thread->pending;
	if (frame) {
		thread->pending = frame->below;
		frame->gone = true;
		doubt = PAIR_RECURSION;
	} else {
		frame = thread->top;
		pair_frame_take(pairing, thread, frame);
	}
	ended_add(pairing, frame, doubt);
	return &frame->call;
}

uint64_t pairing_muted(const struct pairing *pairing)
{
	return pairing->muted;
}

const struct pair_path *pairing_path(const struct pairing *pairing,
				     uint32_t path)
{
	return path ? &pairing->paths[path - 1] : NULL;
}

struct pairing *pairing_open(unsigned int wanted,
			     const struct foresight *foresight)
{
	struct pairing *pairing = calloc(1, sizeof(*pairing));

	if (!pairing)
		return NULL;
	pairing->wanted = wanted;
	pairing->foresight = foresight;
	/* so that pairing_open_call() needs none */
	if (array_grow(&pairing->ended, 0, &pairing->ended_room,
		       sizeof(*pairing->ended)))
		return pairing;
	free(pairing);
	return NULL;
}

void pairing_close(struct pairing *pairing)
{
	size_t at = 0;
	void *item;

	if (!pairing)
		return;
	ended_free(pairing);
	while (pairing->oldest)
		thread_free(pairing, pairing->oldest);
	while ((item = key_map_next(&pairing->known, &at)))
		known_free(item);
	for (at = 0; (item = key_map_next(&pairing->functions, &at));)
		free(item);
	for (at = 0; (item = key_map_next(&pairing->buffers, &at));)
		free(item);
	key_map_free(&pairing->begun);
	key_map_free(&pairing->known);
	key_map_free(&pairing->functions);
	key_map_free(&pairing->buffers);
	key_map_free(&pairing->threads);
	key_map_free(&pairing->opens);
	key_map_free(&pairing->wholes);
	key_map_free(&pairing->path_numbers);
	free(pairing->paths);
	free(pairing->ended);
	free(pairing);
}
