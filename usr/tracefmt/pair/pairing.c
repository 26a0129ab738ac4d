// SPDX-License-Identifier: GPL-2.0
#include "pairing.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/key_map.h"

/* ---- what a tracepoint is to its function ---- */

static int minor_compare(const void *minor, const void *entry)
{
	return *(const uint16_t *)minor -
	       ((const struct tff_entry *)entry)->minor;
}

/* The section's entry of the other minor; NULL: there is none. */
static const struct tff_entry *partner_find(const struct match_point *point)
{
	uint16_t minor = pair_minor(point) ^ PAIR_POST;

	if (!point->formatted)
		return NULL;
	return bsearch(&minor, point->tff->entries +
		       point->section->first_entry, point->section->entries,
		       sizeof(struct tff_entry), minor_compare);
}

static bool partner_armed(const struct match_point *point)
{
	const struct trace_session *session = point->session;
	uint16_t minor = pair_minor(point) ^ PAIR_POST;

	for (uint32_t i = 0; i < session->entry->points; i++)
		if (session->points[i].minor == minor)
			return session->points[i].state !=
			       RAS_POINT_UNSELECTED;
	return false;
}

static bool partner_static(const struct match_point *point)
{
	const struct tff_entry *partner = partner_find(point);

	return partner && partner->flags & TFF_STATIC;
}

static bool is_paired(const struct match_point *point)
{
	return point->armed ? partner_armed(point) :
			      !point->session && partner_static(point);
}

bool pair_migrates(const struct match_point *point)
{
	return point->formatted && point->entry->flags & TFF_MIGRATES &&
	       is_paired(point);
}

enum pair_role pair_role_of(const struct match_point *point)
{
	if (!is_paired(point) || pair_migrates(point))
		return PAIR_PLAIN;
	return pair_minor(point) & PAIR_POST ? PAIR_POST_ALONE : PAIR_PRE;
}

/* ---- names ---- */

/* "vector<int>>", "operator=": the signs are the name's, not those of an arrow. */
static bool name_has_signs(const char *desc, size_t n)
{
	static const char operator[] = "operator";
	size_t start = n, length = strlen(operator);

	while (start && desc[start - 1] == '>')
		start--;
	if (start < n && start && !strchr(" -=", desc[start - 1]))
		return true;
	while (start && strchr("-=<>", desc[start - 1]))
		start--;
	return start < n && start >= length &&
	       !memcmp(desc + start - length, operator, length);
}

/* Without blanks and signs at its end. */
static size_t desc_trim(const char *desc, size_t n)
{
	while (n && strchr(" \t\n-:,;.=<>[{(", desc[n - 1]) &&
	       !name_has_signs(desc, n))
		n--;
	return n;
}

/* Words at the end that name the place in the function. */
static size_t desc_strip(const char *desc, size_t n)
{
	static const char *const words[] = {
		"pre-invocation", "post-invocation", "preinvocation",
		"postinvocation", "entry", "exit", "enter", "leave", "return",
		"returns", "pre", "post", "begin", "end", "start", "done",
	};

	n = desc_trim(desc, n);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t length = strlen(words[i]);

		if (n > length && desc[n - length - 1] == ' ' &&
		    !strncasecmp(desc + n - length, words[i], length))
			return desc_trim(desc, n - length);
	}
	return n;
}

static bool role_is_blank(char c)
{
	return c == ' ' || !c;
}

/* Length of the whole words at the begin of both; one of them may go on within
 * its last word: "DosOpen" and "DosOpenC". */
static size_t desc_common(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	if (!role_is_blank(a[n]) && !role_is_blank(b[n]))
		while (n && a[n - 1] != ' ')
			n--;
	return desc_trim(a, n);
}

const char *pair_name(const struct match_point *point, char *name)
{
	const struct tff_entry *partner = partner_find(point), *pre;
	const char *desc, *other = NULL;
	size_t n = 0;
	char safe[4 * PAIR_NAME_MAX];
	char *end;
	size_t length;

	if (!point->formatted) {
		snprintf(name, PAIR_NAME_MAX, "major 0x%04X minor 0x%04X",
			 pair_major(point),
			 pair_minor(point) & (uint16_t)~PAIR_POST);
		return name;
	}
	pre = partner && pair_minor(point) & PAIR_POST ? partner : point->entry;
	desc = tff_string(point->tff, pre->desc);
	if (partner)
		other = tff_string(point->tff, pre == partner ?
				   point->entry->desc : partner->desc);
	if (other)
		n = desc_common(desc, other);
	if (!n || (desc[0] == '(' && memchr(desc, ')', n) == desc + n - 1))
		n = desc_strip(desc, strlen(desc));
	n = n ? n : strlen(desc);
	n = n < PAIR_NAME_MAX ? n : PAIR_NAME_MAX - 1;
	while (n && (desc[n] & 0xc0) == 0x80)
		n--;
	end = text_put_safe(safe, desc, n);
	length = end - safe;
	if (length >= PAIR_NAME_MAX)
		length = PAIR_NAME_MAX - 1;
	while (length && length < (size_t)(end - safe) &&
	       (safe[length] & 0xc0) == 0x80)
		length--;
	memcpy(name, safe, length);
	name[length] = 0;
	return name;
}

/* ---- the open calls of threads ---- */

/* What is known of a point. */
struct pair_function {
	enum pair_role role;
	uint32_t index;
	char *name;	/* of PRE and POST */
	bool beside;
};

struct pair_thread {
	uint64_t buffer;		/* key of its trace's buffer */
	uint32_t pid, tid;
	struct pair_call *calls;	/* open ones, innermost last */
	size_t count, room;
	int64_t newest;			/* of its PRE and POST records */
	struct pair_thread *older, *newer;	/* by their last records */
};

struct pairing {
	struct key_map functions;	/* pair_function by match_point */
	struct key_map threads;		/* by pairing_thread_hash() */
	struct pair_thread *oldest, *newest;
	size_t open_count;
	struct pair_call *unmatched;	/* of the last event */
	size_t unmatched_count, unmatched_room;
	struct pair_call given;		/* by pairing_open_call() */
};

/* ---- functions ---- */

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

static void function_free(struct pair_function *function)
{
	free(function->name);
	free(function);
}

/* NULL: no memory. */
static const struct pair_function *pairing_function(struct pairing *pairing,
						    const struct event *event)
{
	uint64_t key = key_map_key(event->point);
	struct pair_function *function =
		key_map_find(&pairing->functions, key);
	char name[PAIR_NAME_MAX];

	if (function)
		return function;
	function = malloc(sizeof(*function));
	if (!function)
		return NULL;
	*function = (struct pair_function){
		.role = pair_role_of(event->point),
		.index = pairing->functions.count,
		.beside = point_beside(event->point, event->trace),
	};
	if (function->role != PAIR_PLAIN)
		function->name = strdup(pair_name(event->point, name));
	if ((function->role == PAIR_PLAIN || function->name) &&
	    !key_map_add(&pairing->functions, key, function))
		return function;
	function_free(function);
	return NULL;
}

/* ---- calls without a POST ---- */

static int unmatched_reserve(struct pairing *pairing, size_t n)
{
	size_t room = pairing->unmatched_count + n;
	struct pair_call *more;

	if (room <= pairing->unmatched_room)
		return 0;
	more = reallocarray(pairing->unmatched, 2 * room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	pairing->unmatched = more;
	pairing->unmatched_room = 2 * room;
	return 0;
}

/* Take calls [from, from + n) out of the thread, as unmatched where they nest
 * with the function (NULL: all). */
static int calls_drop(struct pairing *pairing, struct pair_thread *thread,
		      size_t from, size_t n, const struct match_point *function)
{
	size_t kept = from, end = from + n;

	if (unmatched_reserve(pairing, n))
		return -ENOMEM;
	for (size_t i = end; i-- > from;)
		if (!function ||
		    points_nest(thread->calls[i].point, function))
			pairing->unmatched[pairing->unmatched_count++] =
				thread->calls[i];
	for (size_t i = from; i < end; i++)
		if (function && !points_nest(thread->calls[i].point, function))
			thread->calls[kept++] = thread->calls[i];
	memmove(thread->calls + kept, thread->calls + end,
		(thread->count - end) * sizeof(*thread->calls));
	thread->count -= end - kept;
	pairing->open_count -= end - kept;
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

static void thread_free(struct pairing *pairing, struct pair_thread *thread)
{
	key_map_remove(
		&pairing->threads,
		pairing_thread_hash(thread->buffer, thread->pid, thread->tid),
		thread);
	thread_unlink(pairing, thread);
	pairing->open_count -= thread->count;
	free(thread->calls);
	free(thread);
}

/* Make room: of the thread that was quiet the longest, or, when it is the only
 * one, of its outer calls. */
static int thread_give_up(struct pairing *pairing)
{
	struct pair_thread *thread = pairing->oldest;
	bool only = thread == pairing->newest && thread->count > 1;
	size_t n = only ? thread->count / 2 : thread->count;

	if (calls_drop(pairing, thread, 0, n, NULL))
		return -ENOMEM;
	if (!only)
		thread_free(pairing, thread);
	return 0;
}

/* The event's thread, which is the newest one now; NULL: it isn't there. */
static struct pair_thread *pairing_thread_find(struct pairing *pairing,
					       const struct event *event)
{
	uint64_t buffer = event->trace->file.header.key;
	uint32_t pid = event->record->pid, tid = event->record->tid;
	uint64_t hash = pairing_thread_hash(buffer, pid, tid);
	struct pair_thread *thread;
	size_t step = 0;

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
	key_map_add(
		&pairing->threads,
		pairing_thread_hash(thread->buffer, thread->pid, thread->tid),
		thread);
	thread_link(pairing, thread);
	return thread;
}

/* ---- events ---- */

static int64_t distance(int64_t from, int64_t to)
{
	uint64_t ns = (uint64_t)to - (uint64_t)from;

	return ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
}

/* How late it is in its thread. */
static int64_t thread_pass(struct pair_thread *thread, int64_t time)
{
	if (time < thread->newest)
		return distance(time, thread->newest);
	thread->newest = time;
	return 0;
}

static int call_begin(struct pairing *pairing, const struct event *event,
		      const struct pair_function *function,
		      struct pair_seen *seen)
{
	struct pair_thread *thread = pairing_thread_find(pairing, event);

	if (!thread)
		thread = pairing_thread_add(pairing, event);
	if (!thread || (pairing->open_count >= PAIR_OPEN &&
			thread_give_up(pairing)))
		return -ENOMEM;
	if (!array_grow(&thread->calls, thread->count, &thread->room,
			sizeof(*thread->calls)))
		return -ENOMEM;
	seen->role = PAIR_PRE;
	seen->depth = thread->count;
	seen->late = thread_pass(thread, event->time);
	seen->call = (struct pair_call){
		.point = event->point, .name = function->name,
		.trace = event->trace, .number = event->number,
		.time = event->time,
		.pid = thread->pid, .tid = thread->tid,
		.depth = thread->count, .index = function->index,
		.beside = function->beside,
	};
	thread->calls[thread->count++] = seen->call;
	pairing->open_count++;
	return 0;
}

/* Keys without the place in the TDF. */
static bool is_call_of(const struct match_point *pre,
		       const struct match_point *post)
{
	return pre->key >> 16 == (post->key >> 16 & ~(uint64_t)PAIR_POST);
}

static int call_end(struct pairing *pairing, const struct event *event,
		    struct pair_seen *seen)
{
	struct pair_thread *thread = pairing_thread_find(pairing, event);
	size_t at = thread ? thread->count : 0;

	seen->depth = at;
	while (at && (!is_call_of(thread->calls[at - 1].point, event->point) ||
		      thread->calls[at - 1].time > event->time))
		at--;
	if (!at--)
		return 0;
	seen->role = PAIR_POST_MATCHED;
	seen->call = thread->calls[at];
	seen->depth = seen->call.depth;
	seen->latency = distance(seen->call.time, event->time);
	seen->late = thread_pass(thread, event->time);
	if (calls_drop(pairing, thread, at + 1, thread->count - at - 1,
		       event->point))
		return -ENOMEM;
	memmove(thread->calls + at, thread->calls + at + 1,
		(thread->count - at - 1) * sizeof(*thread->calls));
	thread->count--;
	pairing->open_count--;
	return 0;
}

int pairing_see(struct pairing *pairing, const struct event *event,
		struct pair_seen *seen)
{
	const struct pair_function *function = pairing_function(pairing, event);
	struct pair_thread *thread;
	int code = 0;

	if (!function)
		return -ENOMEM;
	pairing->unmatched_count = 0;
	*seen = (struct pair_seen){ .role = function->role,
				    .index = function->index,
				    .name = function->name };
	if (function->role == PAIR_PRE) {
		code = call_begin(pairing, event, function, seen);
	} else if (function->role == PAIR_POST_ALONE) {
		code = call_end(pairing, event, seen);
	} else {
		thread = pairing_thread_find(pairing, event);
		seen->depth = thread ? thread->count : 0;
	}
	seen->unmatched = pairing->unmatched;
	seen->unmatched_count = pairing->unmatched_count;
	return code;
}

/* ---- */

const struct pair_call *pairing_open_call(struct pairing *pairing)
{
	struct pair_thread *thread;

	while ((thread = pairing->oldest) && !thread->count)
		thread_free(pairing, thread);
	if (!thread)
		return NULL;
	pairing->given = thread->calls[--thread->count];
	pairing->open_count--;
	return &pairing->given;
}

struct pairing *pairing_open(void)
{
	return calloc(1, sizeof(struct pairing));
}

void pairing_close(struct pairing *pairing)
{
	size_t at = 0;
	void *function;

	if (!pairing)
		return;
	while (pairing->oldest)
		thread_free(pairing, pairing->oldest);
	while ((function = key_map_next(&pairing->functions, &at)))
		function_free(function);
	key_map_free(&pairing->functions);
	key_map_free(&pairing->threads);
	free(pairing->unmatched);
	free(pairing);
}
