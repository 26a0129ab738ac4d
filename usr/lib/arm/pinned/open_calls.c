// SPDX-License-Identifier: GPL-2.0
#include "open_calls.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <sys/mman.h>
#include "lib/array.h"
#include "lib/buffer/pin.h"
#include "lib/formats/tdf.h"
#include "lib/maps_line.h"

#define BATCH		1024	/* entries that are read at a time */
#define NS_PER_S	1000000000ULL

struct open_call {
	struct ras_open_key key;
	uint64_t time;
	struct ras_open_slot *slot;	/* NULL: it is in `open` */
};

struct open_calls {
	int fd;
	uint32_t value_bytes;
	uint8_t *slots;			/* NULL: there are none */
	uint32_t slot_bytes, slot_count;
	struct open_call *items;
	size_t count;
};

bool open_calls_any(const struct session *session)
{
	char path[PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s/open", session->dir);
	return session->armed && !access(path, F_OK);
}

static int open_call_compare(const void *a, const void *b)
{
	const struct open_call *x = a, *y = b;

	return x->key.pid < y->key.pid ? -1 : x->key.pid > y->key.pid;
}

static uint64_t slot_owner(const struct ras_open_slot *slot)
{
	return __atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE);
}

/* Of one that is free, or written meanwhile, nothing is added. */
static void open_slot_read(struct open_calls *calls, struct ras_open_slot *slot)
{
	uint64_t owner = slot_owner(slot);
	struct open_call call = {
		.key = { owner, owner >> 32, slot->frame },
		.time = slot->record.time, .slot = slot,
	};

	/* what was read is no newer than the owner is from here on */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (owner && owner != RAS_OPEN_BUSY && slot_owner(slot) == owner)
		calls->items[calls->count++] = call;
}

/* By process; those that come while it is read may be missing, or there twice. */
static int open_calls_read(struct open_calls *calls)
{
	struct ras_open_key *keys = calloc(BATCH, sizeof(*keys));
	uint8_t *values = calloc(BATCH, calls->value_bytes);
	size_t room = RAS_OPEN_MAX + BATCH + calls->slot_count;
	bool first = true;
	uint32_t at = 0;
	int code = 0;

	calls->items = calloc(room, sizeof(*calls->items));
	if (!keys || !values || !calls->items)
		code = -ENOMEM;
	for (uint32_t i = 0; !code && i < calls->slot_count; i++)
		open_slot_read(calls, (void *)(calls->slots +
					  (size_t)i * calls->slot_bytes));
	while (!code && calls->count + BATCH <= room) {
		uint32_t count = BATCH;

		code = bpf_map_lookup_batch(calls->fd, first ? NULL : &at, &at,
					    keys, values, &count, NULL);
		first = false;
		for (uint32_t i = 0; (!code || code == -ENOENT) && i < count;
		     i++) {
			struct open_call *call = &calls->items[calls->count++];
			struct ras_record record;

			memcpy(&record, values + i * calls->value_bytes,
			       sizeof(record));
			call->key = keys[i];
			call->time = record.time;
		}
	}
	free(values);
	free(keys);
	qsort(calls->items, calls->count, sizeof(*calls->items),
	      open_call_compare);
	return code == -ENOENT ? 0 : code;
}

/* 0 where the session has no slots, too */
static int slots_open(struct open_calls *calls, const struct session *session)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);
	char path[PATH_MAX + 8];
	void *view;
	int fd;

	snprintf(path, sizeof(path), "%s/slots", session->dir);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) ||
	    info.type != BPF_MAP_TYPE_ARRAY || info.max_entries > RAS_OPEN_SLOTS ||
	    info.value_size < sizeof(struct ras_open_slot)) {
		close(fd);
		return -EINVAL;
	}
	view = mmap(NULL, (size_t)info.max_entries * info.value_size,
		    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (view == MAP_FAILED)
		return -errno;
	calls->slots = view;
	calls->slot_bytes = info.value_size;
	calls->slot_count = info.max_entries;
	return 0;
}

static void open_calls_close(struct open_calls *calls)
{
	if (calls->slots)
		munmap(calls->slots,
		       (size_t)calls->slot_count * calls->slot_bytes);
	free(calls->items);
	if (calls->fd >= 0)
		close(calls->fd);
}

/* Without calls where there is no such map. */
static int open_calls_open(struct open_calls *calls,
			   const struct session *session)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);
	char path[PATH_MAX + 8];
	int code;

	*calls = (struct open_calls){ .fd = -1 };
	if (!open_calls_any(session))
		return 0;
	snprintf(path, sizeof(path), "%s/open", session->dir);
	calls->fd = bpf_obj_get(path);
	if (calls->fd < 0)
		return calls->fd;
	if (bpf_obj_get_info_by_fd(calls->fd, &info, &size) ||
	    info.type != BPF_MAP_TYPE_HASH ||
	    info.key_size != sizeof(struct ras_open_key) ||
	    info.value_size < sizeof(struct ras_record))
		return -EINVAL;
	calls->value_bytes = info.value_size;
	code = slots_open(calls, session);
	return code ? code : open_calls_read(calls);
}

/* The time of /proc has an offset in another time namespace. */
static bool times_are_of_host(void)
{
	FILE *file = fopen("/proc/self/timens_offsets", "re");
	long long seconds, ns;
	bool same = true;
	char clock[16];

	while (file && fscanf(file, "%15s %lld %lld", clock, &seconds, &ns) == 3)
		if (!strcmp(clock, "boottime"))
			same = !seconds && !ns;
	if (file)
		fclose(file);
	return same;
}

/* ns since the start of the machine, rounded down; 0: not known */
static uint64_t process_start(uint32_t pid)
{
	uint64_t second = sysconf(_SC_CLK_TCK);
	struct process_stat stat;

	return process_stat_read(pid, &stat) ? 0 :
		stat.start / second * NS_PER_S +
		stat.start % second * (NS_PER_S / second);
}

/* ---- whose frames are gone ---- */

struct span {
	uint64_t start, end;
};

/* What a process has mapped, after its calls were read */
struct mapped {
	struct span *items;	/* ascending */
	size_t count, room;
	bool known;
	bool ended;		/* the process has */
};

static void mapped_read_thread(struct mapped *mapped, uint32_t pid, uint32_t tid)
{
	struct maps_lines lines;
	struct maps_line line;
	bool full = true;

	mapped->count = 0;
	if (maps_lines_open_thread(&lines, pid, tid))
		return;
	while (full && maps_lines_next(&lines, &line)) {
		full = array_grow(&mapped->items, mapped->count, &mapped->room,
				  sizeof(*mapped->items));
		if (full)
			mapped->items[mapped->count++] =
				(struct span){ line.start, line.end };
	}
	mapped->known = !maps_lines_close(&lines) && full && mapped->count;
}

/* By a thread that lives: a leader that has ended has no memory any more. */
static void mapped_read(struct mapped *mapped, uint32_t pid)
{
	struct dirent *entry;
	bool lives = false;
	char path[32];
	DIR *dir;

	mapped->known = false;
	mapped->ended = pid != RAS_OPEN_IDLE && kill(pid, 0) && errno == ESRCH;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", pid);
	dir = mapped->ended ? NULL : opendir(path);
	if (!dir)
		return;
	while (!mapped->known && (entry = readdir(dir))) {
		uint32_t tid = strtoul(entry->d_name, NULL, 10);

		if (!tid || process_thread_ended(pid, tid))
			continue;
		mapped_read_thread(mapped, pid, tid);
		lives |= mapped->known || !process_thread_ended(pid, tid);
	}
	closedir(dir);
	mapped->ended = !lives;
}

/* A frame that is none (tdf.h) is a goroutine's. At the end of what is mapped there
 * may be one, too: its return address is below. */
static bool frame_is_gone(const struct mapped *mapped, uint64_t frame)
{
	size_t n = array_count_upto(mapped->items, mapped->count,
				    sizeof(*mapped->items), frame);

	return mapped->known && !(frame & TDF_KEY_GOROUTINE) &&
	       (!n || frame > mapped->items[n - 1].end);
}

static bool open_call_is(const struct open_call *call, const uint8_t *value)
{
	struct ras_record record;

	memcpy(&record, value, sizeof(record));
	return record.time == call->time;
}

static bool open_slot_has(const struct open_call *call)
{
	return call->slot->frame == call->key.frame &&
	       call->slot->record.time == call->time;
}

/* This call, or whichever of the process and point. While it is busy an entry goes
 * to `open`, but an exit doesn't find its own: so another call isn't made busy,
 * unless it came between looking and that. */
static bool slot_remove(const struct open_call *call, bool whichever)
{
	struct ras_open_slot *slot = call->slot;
	uint64_t owner = call->key.pid | (uint64_t)call->key.point << 32;
	uint64_t was = owner;
	bool same;

	if (!whichever && !open_slot_has(call))
		return false;
	if (!__atomic_compare_exchange_n(&slot->owner, &was, RAS_OPEN_BUSY, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	same = whichever || open_slot_has(call);
	__atomic_store_n(&slot->owner, same ? 0 : owner, __ATOMIC_RELEASE);
	return same;
}

/* A later call may have come in its place, also between looking and removing: it is
 * put back, unless there is one later still. */
static bool open_call_remove(struct open_calls *calls,
			     const struct open_call *call)
{
	uint8_t *value = call->slot ? NULL : calloc(1, calls->value_bytes);
	bool removed = value &&
		!bpf_map_lookup_elem(calls->fd, &call->key, value) &&
		open_call_is(call, value) &&
		!bpf_map_lookup_and_delete_elem(calls->fd, &call->key, value);

	if (removed && !open_call_is(call, value))
		removed = bpf_map_update_elem(calls->fd, &call->key, value,
					      BPF_NOEXIST);
	free(value);
	return call->slot ? slot_remove(call, false) : removed;
}

/* The rows of `why`, to be added to while programs add to them; NULL: none */
static struct ras_why *why_view(const struct session *session, uint32_t cpus,
				size_t *size)
{
	struct bpf_map_info info = { 0 };
	void *view = NULL;
	int fd = session_map_open(session, "why", &info, NULL);

	if (fd < 0)
		return NULL;
	*size = (size_t)info.max_entries * info.value_size;
	if (info.value_size == sizeof(struct ras_why) &&
	    info.max_entries == session->entry->points * cpus)
		view = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED,
			    fd, 0);
	close(fd);
	return view == MAP_FAILED ? NULL : view;
}

size_t open_calls_sweep(const struct session *session, uint32_t cpus)
{
	bool has_times = times_are_of_host();
	struct mapped mapped = { 0 };
	struct ras_why *why = NULL;
	struct open_calls calls;
	uint64_t start = 0;
	size_t size, left;

	if (!open_calls_open(&calls, session) && calls.count &&
	    process_ids_are_of_host())
		why = why_view(session, cpus, &size);
	left = calls.count;
	for (size_t i = 0; why && i < calls.count; i++) {
		const struct open_call *call = &calls.items[i];
		uint32_t pid = call->key.pid, point = call->key.point;

		if (!i || pid != call[-1].key.pid) {
			mapped_read(&mapped, pid);
			start = has_times ? process_start(pid) : 0;
		}
		if (point >= session->entry->points ||
		    (!mapped.ended && call->time >= start &&
		     !frame_is_gone(&mapped, call->key.frame)) ||
		    !open_call_remove(&calls, call))
			continue;
		__atomic_fetch_add(&why[point * cpus].never_returned, 1,
				   __ATOMIC_RELAXED);
		left--;
	}
	if (why)
		munmap(why, size);
	free(mapped.items);
	open_calls_close(&calls);
	return left;
}

static bool point_is_of(const struct session *session, uint32_t point,
			const struct ras_session_point *ended)
{
	return point < session->entry->points &&
	       (!ended || ended[point].state != RAS_POINT_ARMED);
}

/* Removes them, and counts them where there are rows. */
static int open_calls_empty(const struct session *session, uint32_t cpus,
			    const struct ras_session_point *ended,
			    struct ras_why *why)
{
	struct open_calls calls;
	int code = open_calls_open(&calls, session);

	for (size_t i = 0; !code && i < calls.count; i++) {
		const struct open_call *call = &calls.items[i];
		uint32_t point = call->key.point;

		if (point_is_of(session, point, ended) &&
		    (call->slot ? slot_remove(call, true) :
		     !bpf_map_delete_elem(calls.fd, &call->key)) && why)
			__atomic_fetch_add(&why[point * cpus].open, 1,
					   __ATOMIC_RELAXED);
	}
	open_calls_close(&calls);
	return code;
}

int open_calls_keep(const struct session *session, uint32_t cpus,
		    struct error *err)
{
	struct ras_why *why;
	size_t size;
	int code;

	/* no rows: a killed trace has come that far */
	if (!open_calls_any(session) ||
	    !(why = why_view(session, cpus, &size)))
		return 0;
	code = open_calls_empty(session, cpus, NULL, why);
	munmap(why, size);
	return code ? pin_refused(err, code, "cannot read the map 'open' of '%s'",
				  session->name) : 0;
}

void open_calls_end(const struct session *session, uint32_t cpus,
		    const struct ras_session_point *ended,
		    void (*detach)(void *context, bool exits), void *context)
{
	size_t size, rows = (size_t)session->entry->points * cpus;
	uint64_t *never = calloc(rows + 1, sizeof(*never));
	struct ras_why *why = why_view(session, cpus, &size);

	for (size_t i = 0; why && never && i < rows; i++)
		never[i] = why[i].never_returned;
	detach(context, true);
	open_calls_empty(session, cpus, ended, why);
	detach(context, false);
	for (size_t i = 0; why && never && i < rows; i++)
		if (point_is_of(session, i / cpus, ended))
			why[i].never_returned = never[i];
	open_calls_empty(session, cpus, ended, NULL);
	if (why)
		munmap(why, size);
	free(never);
}
