// SPDX-License-Identifier: GPL-2.0
#include "spooler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/outfile.h"
#include "picture.h"
#include "picture_records.h"
#include "ring.h"

#define WAIT_STEP	50		/* ms */
#define WAIT_STEPS	40		/* for a reader that doesn't read */
#define PIPE_PIECE	4096		/* a pipe that is ready has room for it */

static int files_refuse(const struct spool_files *files, int cause,
			struct error *err)
{
	return error_set(err, -cause, "cannot write '%s': %s", files->name,
			 strerror(cause));
}

static void spool_file_name(const struct spool_files *files,
			    unsigned int number, char path[PATH_MAX])
{
	if (number)
		snprintf(path, PATH_MAX, "%s.%u", files->name, number);
	else
		snprintf(path, PATH_MAX, "%s", files->name);
}

/* Everyone moves on by one; the last one is overwritten. 0 or errno. */
static int files_move(const struct spool_files *files)
{
	char from[PATH_MAX], to[PATH_MAX];

	for (unsigned int n = files->files - 1; n > 0; n--) {
		spool_file_name(files, n - 1, from);
		spool_file_name(files, n, to);
		if (rename(from, to) && errno != ENOENT)
			return errno;
	}
	return 0;
}

/* What is in the way: 0, it isn't any more; 1: it is to be written as it
 * is; or a negative errno. */
static int files_clear_way(const struct spool_files *files)
{
	struct stat st;
	int cause;

	if (lstat(files->name, &st))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	if (!S_ISREG(st.st_mode))
		return 1;
	cause = files->files > 1 ? files_move(files) : 0;
	if (cause)
		return -cause;
	return unlink(files->name) && errno != ENOENT ? -errno : 0;
}

/* open(2) of a FIFO that nothing reads waits, and restarts after signals. */
static int way_open(const struct spool_files *files)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, fd;
	struct stat st;

	if (!files->stopped || stat(files->name, &st) ||
	    !S_ISFIFO(st.st_mode))
		return open(files->name, flags);
	while ((fd = open(files->name, flags | O_NONBLOCK)) < 0 &&
	       errno == ENXIO) {
		if (files->stopped()) {
			errno = ECANCELED;
			return -1;
		}
		poll(NULL, 0, WAIT_STEP);
	}
	if (fd >= 0)
		fcntl(fd, F_SETFL, 0);
	return fd;
}

static void pipe_find(struct spool_files *files)
{
	struct stat st;

	files->pipe = !fstat(files->fd, &st) &&
		      (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static int spool_file_begin(struct spool_files *files, struct error *err)
{
	int way = outfile_refuse_planted(files->name, err);

	if (way)
		return way;
	way = files_clear_way(files);
	if (way == -ELOOP) {
		error_set(err, way, "'%s' is a symbolic link", files->name);
		error_hint(err, "name the file itself");
		return way;
	}
	if (way < 0)
		return files_refuse(files, -way, err);
	files->regular = !way;
	/* made by us: no link or file of another user */
	files->fd = way ? way_open(files) :
		open(files->name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_CREAT |
		     O_EXCL, 0666);
	if (files->fd < 0)
		return files_refuse(files, errno, err);
	pipe_find(files);
	files->size = files->last = 0;
	files->begun++;
	return 0;
}

/* Begin the first file; one that is there moves on in the cycle, or is
 * replaced when there is no cycle. 0, or a negative errno with err set. */
static int spool_files_open(struct spool_files *files, struct error *err)
{
	if (files->name)
		return spool_file_begin(files, err);
	if (files->fd < 0)
		files->fd = STDOUT_FILENO;
	pipe_find(files);
	files->begun = 1;
	return 0;
}

/* All is on the disk. 0, or a negative errno with err set. */
static int spool_files_close(struct spool_files *files, struct error *err)
{
	int cause = 0;

	if (files->fd < 0 || !files->name)
		return 0;
	if (files->regular && !files->size)
		unlink(files->name);
	else if (files->regular && fsync(files->fd))
		cause = errno;
	if (close(files->fd) && !cause)
		cause = errno;
	files->fd = -1;
	return cause ? files_refuse(files, cause, err) : 0;
}

void spool_files_remove(const struct spool_files *files)
{
	if (files->fd >= 0 && files->name && files->regular)
		unlink(files->name);
}

/* Close this file and begin the next. */
static int spool_files_rotate(struct spool_files *files, struct error *err)
{
	int code = spool_files_close(files, err);

	return code ? code : spool_file_begin(files, err);
}

/* Away with the part of a chunk that there was room for. */
static int spool_file_fail(struct spool_files *files, int cause)
{
	if (files->regular && ftruncate(files->fd, files->size))
		cause = cause ? cause : errno;
	if (files->regular)
		lseek(files->fd, files->size, SEEK_SET);
	files->cause = cause;
	return -cause;
}

/* Cut a file to so many bytes; not a pipe. */
static void spool_files_cut(struct spool_files *files, uint64_t size)
{
	if (!files->regular || ftruncate(files->fd, size) ||
	    lseek(files->fd, size, SEEK_SET) < 0)
		return;
	files->total -= files->size - size;
	files->size = size;
}

const char *spool_files_kept(const struct spool_files *files)
{
	return files->total ? "what was written before is kept, and can be read" :
			      "nothing could be written";
}

/* A write(2) that can end: false when the reader of a pipe doesn't read, and the
 * program has been asked to end. */
static bool room_wait(const struct spool_files *files)
{
	struct pollfd fd = { .fd = files->fd, .events = POLLOUT };

	if (!files->pipe || !files->stopped)
		return true;
	if (files->cause)
		return false;
	for (unsigned int n = 0; n < WAIT_STEPS; n += files->stopped())
		if (poll(&fd, 1, WAIT_STEP) > 0)
			return true;
	return false;
}

/* Write a chunk (struct chunk_out); context is the files. */
static int spool_files_take(void *context, const void *chunk, size_t size)
{
	struct spool_files *files = context;
	size_t done = 0;

	while (done < size) {
		size_t most = size - done;
		ssize_t n;

		if (!room_wait(files))
			return spool_file_fail(
				files, files->cause ? files->cause : ETIMEDOUT);
		if (files->pipe && files->stopped && most > PIPE_PIECE)
			most = PIPE_PIECE;
		n = write(files->fd, (const char *)chunk + done, most);
		if (n < 0 && errno != EINTR)
			return spool_file_fail(files, errno);
		done += n < 0 ? 0 : n;
	}
	files->last = files->size;
	files->size += size;
	files->total += size;
	return 0;
}

#define MS		1000000ULL	/* ns */
#define INTERVAL_START	20		/* ms */
#define INTERVAL_LEAST	5
#define INTERVAL_MOST	500
#define BURST		(2u << 20)	/* bytes per second on a CPU that don't fill
					 * an idle slice before it is read */
#define PROCESSES_EVERY	(100 * MS)
#define COUNTS_EVERY	(10000 * MS)
#define PIECE_MOST	(256u << 10)
#define PIECE_LEAST	(8u << 10)

/* ---- what is written beside the records ---- */

static bool sessions_changed(const struct spooler *s)
{
	const struct buffer_view *view = &s->buffer.sessions_view;
	size_t used = s->buffer.control->sessions_used;

	if (used > view->size)
		used = view->size;
	return s->log_size != view->size || memcmp(s->log, view->base, used);
}

/* They aren't in the file, or not all. */
static void others_forget(struct spooler *s)
{
	s->log_size = 0;
	s->processes_time = 0;
	processes_free(&s->known);
}

/* Sessions that were armed or ended, processes that came; this is also
 * what the records mean. */
static int others_update(struct spooler *s, bool all, struct error *err)
{
	bool sessions = all || sessions_changed(s);
	uint64_t now = buffer_time();
	bool processes = all || s->stranger ||
			 now - s->processes_time > PROCESSES_EVERY;
	struct processes seen = { 0 };
	struct session_list list;
	int code = 0;
	const struct buffer_view *view;

	if (!sessions && !processes)
		return 0;
	if (processes)
		code = processes_read(&seen, &s->buffer);
	if (sessions) {
		/* Before it is read: what changes while it is will be written
		 * again. */
		view = &s->buffer.sessions_view;
		memcpy(s->log, view->base, view->size);
		s->log_size = view->size;
		s->counts_due = true;
	}
	if (!code)
		code = session_list_read(&list, &s->buffer, s->run, err);
	if (code)
		goto out;
	if (sessions) {
		/* After the last records come their PASS, that of the
		 * file's end, the counts and the END; and processes that came
		 * meanwhile. */
		picture_sessions(&s->others, &list);
		s->file_end = 3 * sizeof(struct ras_chunk) +
			      2 * sizeof(struct ras_pass) + s->files.most / 16;
		for (size_t i = 0; i < list.count; i++)
			s->file_end += sizeof(struct ras_chunk) +
				       sizeof(struct ras_counts) +
				       list.items[i].entry->points *
				       sizeof(struct ras_count_total);
	}
	if (sessions && s->bundle)
		picture_formats(&s->others, &list);
	if (sessions)
		picture_kernel(&s->others, &list);
	if (processes) {
		picture_processes(&s->others, &seen, &s->known, &list,
				  s->own_maps ? NULL : &s->cache, NULL);
		/* Records of the kernel's code are of anybody. */
		s->none_came = s->stranger && seen.count == s->known.count;
		s->stranger = false;
		processes_free(&s->known);
		s->known = seen;
		seen = (struct processes){ 0 };
		s->processes_time = now;
	}
	session_list_free(&list);
	code = s->others.error;
out:
	if (code)
		others_forget(s);
	processes_free(&seen);
	return code;
}

static int spooler_counts_write(struct spooler *s, struct error *err)
{
	struct session_list list;
	int code = session_list_read(&list, &s->buffer, s->run, err);

	if (code)
		return code;
	picture_counts(&s->others, &s->buffer, &list);
	/* They change without records. A pipe gets them each time; in a file they
	 * would take the place of records. */
	s->counts_due = picture_aggregates(&s->others, &s->buffer, &list,
					   NULL) &&
			!s->files.name;
	session_list_free(&list);
	s->counts_time = buffer_time();
	return s->others.error;
}

/* What the records since the last time have of them. */
static int stacks_write(struct spooler *s, struct error *err)
{
	struct session_list list;
	int code;

	if (!s->stacks.due_count)
		return 0;
	code = session_list_read(&list, &s->buffer, s->run, err);
	if (code)
		return code;
	picture_stacks_write(&s->stacks, &list, &s->others);
	session_list_free(&list);
	return s->others.error;
}

static void pass_write(struct spooler *s, uint64_t time)
{
	struct ras_pass pass = { .time = time, .lost = s->lost };

	chunk_begin(&s->others);
	chunk_add(&s->others, &pass, sizeof(pass));
	chunk_end(&s->others, RAS_CHUNK_PASS);
}

/* Where the slice goes on, or its figures: a chunk without records. */
static void row_mark(struct spooler *s, uint32_t index)
{
	struct ras_slice_copy copy = picture_slice_place(&s->buffer, index);
	const struct spooler_row *row = &s->rows[index];

	copy.first = copy.head = row->position;
	copy.records = row->before + row->copied + row->lost;
	copy.dropped = row->dropped;
	chunk_begin(&s->others);
	chunk_add(&s->others, &copy, sizeof(copy));
	chunk_end(&s->others, RAS_CHUNK_SLICE);
}

/* ---- files ---- */

static int file_start(struct spooler *s, struct error *err)
{
	bool first = s->files.begun == 1;
	uint64_t time = buffer_time();
	int code;

	s->file_used = false;
	s->last = 0;
	if (first)
		s->pass_time = time;
	processes_free(&s->known);
	picture_stacks_forget(&s->stacks);
	picture_header(&s->others, &s->buffer);
	code = others_update(s, true, err);
	if (!code && !first)
		code = spooler_counts_write(s, err);
	for (uint32_t i = 0; !code && !first && i < s->buffer.slices; i++)
		if (s->rows[i].position)
			row_mark(s, i);
	if (!code)
		pass_write(s, time);
	return code ? code : s->others.error;
}

static int file_finish(struct spooler *s, struct error *err)
{
	int code = others_update(s, false, err);

	if (!code)
		code = stacks_write(s, err);
	if (!code)
		code = spooler_counts_write(s, err);
	if (code)
		return code;
	pass_write(s, s->pass_time);
	picture_end(&s->others);
	return s->others.error;
}

/* What hasn't gone out; what was overwritten is in front of it. */
static struct ring ring_rest(const struct ring *ring, uint64_t position)
{
	struct ring rest = *ring;

	if (position > ring->first) {
		rest.data += position - ring->first;
		rest.first = position;
	}
	return rest;
}

/* The rest of the row's records is in the next file, with their stacks. */
static int file_rotate(struct spooler *s)
{
	struct ring rest = ring_rest(&s->ring, s->row->position);
	int code = file_finish(s, &s->err);

	if (!code)
		code = spool_files_rotate(&s->files, &s->err);
	if (!code)
		code = file_start(s, &s->err);
	picture_stacks_note(&s->stacks, &rest, s->buffer.control->key);
	return code;
}

static bool file_is_full(const struct spooler *s, size_t more)
{
	uint64_t end = s->file_end + picture_stacks_bytes(&s->stacks);

	if (!s->files.most || !s->file_used)
		return false;
	if (end > s->files.most / 2)
		end = s->files.most / 2;
	return s->files.size + more + end > s->files.most;
}

/* Of the file that has the gap, not of the one before. */
static void lost_count(struct spooler *s)
{
	s->lost += s->lost_ahead;
	s->lost_ahead = 0;
}

/* A chunk of the row's records goes out (struct chunk_out). */
static int records_take(void *context, const void *chunk, size_t size)
{
	struct spooler *s = context;
	const uint8_t *payload = (const uint8_t *)chunk +
				 sizeof(struct ras_chunk);
	struct ras_slice_copy copy;
	int code = file_is_full(s, size) ? file_rotate(s) : 0;

	if (((const struct ras_chunk *)chunk)->kind == RAS_CHUNK_PACKED)
		payload += sizeof(struct ras_packed);
	memcpy(&copy, payload, sizeof(copy));
	if (!code) {
		code = spool_files_take(&s->files, chunk, size);
		s->too_long = code == -ENOSPC || code == -EDQUOT ||
			      code == -EFBIG;
	}
	if (code)
		return code;
	lost_count(s);
	s->last = s->files.last;
	s->last_first = copy.first;
	s->row->position = copy.head;
	s->row->dropped = copy.dropped;
	s->file_used = true;
	return 0;
}

/* ---- records ---- */

/* Records that were read of the row, from a position on */
static uint64_t records_from(const struct spooler *s, uint64_t position)
{
	struct ring_walk walk = { .position = position };
	uint64_t count = 0;

	/* overwritten in between: before what was read */
	if (walk.position < s->ring.first)
		walk.position = s->ring.first;
	while (ring_next(&s->ring, s->buffer.control->key, &walk))
		count++;
	return count;
}

/* A disk that has no room for a piece may have some for a part of it. */
static void row_write(struct spooler *s, uint32_t index)
{
	struct ras_slice_copy place = picture_slice_place(&s->buffer, index);
	uint64_t from = s->rows[index].position, left;
	size_t piece = 2 * s->piece;
	struct ring rest;

	s->row = &s->rows[index];
	do {
		s->too_long = false;
		s->records.error = 0;
		piece /= 2;
		rest = ring_rest(&s->ring, s->row->position);
		picture_records(&s->records, &place, &rest,
				s->buffer.control->key, piece);
	} while (s->too_long && piece > RAS_RECORD_MAX);
	left = s->records.error ? records_from(s, s->row->position) : 0;
	s->total -= left;
	if (s->row->position != from)
		s->last_count = records_from(s, s->last_first) - left;
}

/* Is one of a process that isn't in the file? It has to be before the records
 * are printed: it may be gone soon. */
static bool row_has_stranger(const struct spooler *s)
{
	struct ring_walk walk = { .position = s->ring.first };
	const struct ras_record *record;
	uint32_t last = 0;

	while ((record = ring_next(&s->ring, s->buffer.control->key, &walk))) {
		if (record->pid != last &&
		    !processes_have_pid(&s->known, record->pid))
			return true;
		last = record->pid;
	}
	return false;
}

/* How full the slice was of what is new: 0 to 1. */
static double row_spool(struct spooler *s, uint32_t index)
{
	struct spooler_row *row = &s->rows[index];
	uint64_t key = s->buffer.control->key, size, from = row->position;
	const struct ras_slice *slice = buffer_slice(&s->buffer, index, &size);
	uint64_t head = __atomic_load_n(&slice->head, __ATOMIC_RELAXED);
	struct ring *ring = &s->ring;
	uint64_t lost;

	if (head == from)
		return 0;
	if (!row->begun)
		row->position = from = buffer_tail(&s->buffer, index);
	ring_copy(ring, slice, size, key, from, s->room);
	if (!row->begun && ring->records - ring->count < row->before)
		row->before = ring->records - ring->count;
	row->begun = true;
	row->copied += ring->count;
	lost = ring->records - row->before - row->copied;
	s->total += ring->count;
	/* `records` may be late, never ahead of the head */
	if (lost < INT64_MAX && lost > row->lost) {
		s->lost_ahead = lost - row->lost;
		row->lost = lost;
	}
	if (ring->head != from) {
		picture_stacks_note(&s->stacks, ring, s->buffer.control->key);
		if (!s->none_came && !s->stranger)
			s->stranger = row_has_stranger(s);
		row_write(s, index);
		s->counts_due = true;
	}
	lost_count(s);
	return (double)(ring->head - from) / size;
}

static unsigned int interval_most(const struct spooler *s)
{
	uint64_t most = s->buffer.control->slice_bytes * 1000 / BURST;
	unsigned int limit = s->interval_most ? s->interval_most :
						INTERVAL_MOST;

	return most < limit ? most : limit;
}

int spooler_pass(struct spooler *s, struct error *err)
{
	uint64_t total = s->total, time = buffer_time();
	double most = 0;
	int code = buffer_refresh(&s->buffer, err);
	double wanted;

	for (uint32_t i = 0; !code && i < s->buffer.slices; i++) {
		double fill = row_spool(s, i);

		most = fill > most ? fill : most;
		code = s->records.error;
	}

	/* Slices should be a quarter full when they are read. */
	wanted = most > 0 ? s->interval * 0.25 / most : INTERVAL_MOST;
	if (wanted > 2.0 * s->interval)
		wanted = 2.0 * s->interval;
	s->interval = wanted;
	if (s->interval > interval_most(s))
		s->interval = interval_most(s);
	if (s->interval < INTERVAL_LEAST)
		s->interval = INTERVAL_LEAST;

	if (!code && (s->total != total || sessions_changed(s)))
		code = others_update(s, false, err);
	if (!code)
		code = stacks_write(s, err);
	if (!code && s->counts_due && time > s->counts_time + COUNTS_EVERY)
		code = spooler_counts_write(s, err);
	if (!code && (s->total != total || !s->files.name)) {
		pass_write(s, time);
		code = s->others.error;
		if (!code)
			s->pass_time = time;
	}
	if (code && s->err.text[0])
		*err = s->err;
	return code;
}

/* ---- from beginning to end ---- */

static uint64_t control_inode(const char *run)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/control", run);
	return lstat(path, &st) ? 0 : st.st_ino;
}

bool spooler_gone(const struct spooler *s)
{
	if (s->buffer.device_fd >= 0)
		return buffer_device_gone(&s->buffer);
	return control_inode(s->run) != s->buffer_inode;
}

int spooler_open(struct spooler *s, int pack, struct error *err)
{
	int code = buffer_open(&s->buffer, s->run, false, err);
	const struct ras_control *control = s->buffer.control;
	uint64_t most = s->files.most;

	if (code)
		return code;
	s->buffer_inode = control_inode(s->run);
	s->interval = INTERVAL_START;
	s->piece = PIECE_MOST;
	if (most && most / 4 < PIECE_MOST)
		s->piece = most / 4 < PIECE_LEAST ? PIECE_LEAST : most / 4;
	s->others = (struct chunk_out){
		.take = spool_files_take, .context = &s->files, .pack = pack,
	};
	s->records = (struct chunk_out){
		.take = records_take, .context = s, .pack = pack,
	};
	s->room = malloc(control->slice_bytes > control->nest_bytes ?
			 control->slice_bytes : control->nest_bytes);
	s->rows = calloc(s->buffer.slices, sizeof(*s->rows));
	s->log = malloc(s->buffer.sessions_view.size);
	if (!s->room || !s->rows || !s->log)
		return error_no_memory(err);

	/* Of a slice without records the first one is ours. Of another one the
	 * records that are there now are written if the first pass still finds
	 * them; those that come from now on are written or counted as lost,
	 * even if the first pass is late. */
	for (uint32_t i = 0; i < s->buffer.slices; i++) {
		struct spooler_row *row = &s->rows[i];
		const struct ras_slice *slice;
		uint64_t size;

		slice = buffer_slice(&s->buffer, i, &size);
		row->begun = !__atomic_load_n(&slice->head, __ATOMIC_RELAXED);
		if (!row->begun && !s->whole)
			row->before = __atomic_load_n(&slice->records,
						      __ATOMIC_RELAXED);
	}

	code = spool_files_open(&s->files, err);
	s->counts_time = buffer_time();
	return code ? code : file_start(s, err);
}

/* Nothing but an END after so many bytes. The PASS in front of it would state
 * what the one before says. In front of a file's header there is none. */
static bool file_end_at(struct spooler *s, uint64_t size)
{
	spool_files_cut(&s->files, size);
	if (!size)
		return true;
	s->others.error = 0;
	picture_end(&s->others);
	return !s->others.error;
}

/* A disk that is full may have room for an END; if not, the last chunk is given
 * up for it. */
int spooler_finish(struct spooler *s, int code, struct error *err)
{
	uint64_t size, last;
	int ended;

	s->others.error = 0;
	for (uint32_t i = 0; !code && i < s->buffer.slices; i++) {
		struct spooler_row *row = &s->rows[i];
		uint64_t dropped;

		dropped = __atomic_load_n(&buffer_slice(&s->buffer, i,
							&size)->dropped,
					  __ATOMIC_RELAXED);
		if (dropped == row->dropped)
			continue;
		row->dropped = dropped;
		row_mark(s, i);
	}
	size = s->files.size;
	last = s->files.last;
	ended = code == -ENOMEM || s->files.fd < 0 ? code : file_finish(s, NULL);
	if (ended && s->files.fd >= 0 && !file_end_at(s, size) && last) {
		if (last == s->last)
			s->total -= s->last_count;
		file_end_at(s, last);
	}
	if (!code && ended)
		code = ended;
	ended = spool_files_close(&s->files, code ? NULL : err);
	return code ? code : ended;
}

void spooler_close(struct spooler *s)
{
	chunk_out_free(&s->records);
	chunk_out_free(&s->others);
	processes_free(&s->known);
	picture_stacks_free(&s->stacks);
	mappings_cache_free(&s->cache);
	free(s->rows);
	free(s->room);
	free(s->log);
	buffer_close(&s->buffer);
}
