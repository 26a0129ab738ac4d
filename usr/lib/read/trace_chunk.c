// SPDX-License-Identifier: GPL-2.0
#include "trace_chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "chunk_read.h"

#define SESSION_BYTES_MAX	(256u << 20)	/* of all of them */

static int damaged_counts(struct trace_file *file, size_t n)
{
	damage_add(&file->damage, "%zu bytes of the tracepoints' figures", n);
	return 0;
}

/* What the counts of this session belong to; NULL: there is no such one. */
static struct trace_session *counts_owner(struct trace_file *file,
					  const struct ras_counts *counts)
{
	uint32_t at;

	if (counts->session == RAS_STATIC_SESSION)
		return counts->points == RAS_STATIC_MAJORS ? &file->majors :
							     NULL;
	if (counts->session >= TRACE_SESSIONS_MAX)
		return NULL;
	at = file->session_at[counts->session];
	return at && file->sessions[at - 1]->entry->points == counts->points ?
	       file->sessions[at - 1] : NULL;
}

static int session_counts_take(struct trace_file *file,
			       const struct ras_counts *counts)
{
	struct trace_session *session = counts_owner(file, counts);
	size_t size = counts->points * sizeof(*session->totals);

	if (!session)
		return damaged_counts(file, sizeof(*counts) + size);
	if (!session->totals)
		session->totals = malloc(size + 1);
	if (!session->totals)
		return -ENOMEM;
	memcpy(session->totals, counts + 1, size);
	return 0;
}

static int trace_session_counts(struct trace_file *file, const uint8_t *p,
				size_t n)
{
	while (n >= sizeof(struct ras_counts)) {
		const struct ras_counts *counts = (const void *)p;
		size_t room = n - sizeof(*counts);
		size_t size = sizeof(*counts);

		if (counts->points > room / sizeof(struct ras_count_total))
			return damaged_counts(file, n);
		if (session_counts_take(file, counts))
			return -ENOMEM;
		size += counts->points * sizeof(struct ras_count_total);
		p += size;
		n -= size;
	}
	return n ? damaged_counts(file, n) : 0;
}

static struct trace_session *trace_session_make(struct trace_file *file,
						const struct ras_session *entry)
{
	size_t n = file->session_count;
	struct trace_session *session = calloc(1, sizeof(*session));
	void *array = file->sessions;

	if (!(n & (n - 1)))
		array = reallocarray(array, n ? 2 * n : 1,
				     sizeof(*file->sessions));
	if (array)
		file->sessions = array;
	if (session && array)
		session->entry = malloc(entry->size);
	if (!session || !session->entry) {
		free(session);
		return NULL;
	}
	session->entry->size = entry->size;
	file->session_bytes += entry->size;
	file->sessions[file->session_count++] = session;
	file->session_at[entry->index] = file->session_count;
	return session;
}

/* One that is there has its newest form, which is as long. */
static int session_take(struct trace_file *file,
			const struct ras_session *entry)
{
	uint32_t at = file->session_at[entry->index];
	struct trace_session *session = at ? file->sessions[at - 1] : NULL;

	if (!session && entry->size > SESSION_BYTES_MAX - file->session_bytes) {
		damage_add(&file->damage, "session %u: there are too many",
			   entry->index);
		return 0;
	}
	if (!session)
		session = trace_session_make(file, entry);
	if (!session)
		return -ENOMEM;
	if (session->entry->size != entry->size ||
	    (at && (session->entry->points != entry->points ||
		    session->entry->major != entry->major))) {
		damage_add(&file->damage, "session %u is there twice",
			   entry->index);
		return 0;
	}
	memcpy(session->entry, entry, entry->size);
	session->points = (const void *)(session->entry + 1);
	memcpy(session->tdf, entry->tdf, sizeof(entry->tdf));
	memcpy(session->module, entry->module, sizeof(entry->module));
	return 0;
}

/* The session log, and struct ras_counts with their totals, one after the
 * other. 0 or -ENOMEM. */
static int trace_session_table(struct trace_file *file, const uint8_t *p,
			       size_t n)
{
	while (n >= sizeof(struct ras_session)) {
		const struct ras_session *entry = (const void *)p;

		if (!entry->size)
			return 0;
		if (!(entry->size % 8 == 0 && entry->size <= n &&
		      entry->size >= sizeof(*entry) &&
		      entry->points <=
			      (entry->size - sizeof(*entry)) /
				      sizeof(struct ras_session_point)))
			break;
		if (session_take(file, entry))
			return -ENOMEM;
		p += entry->size;
		n -= entry->size;
	}
	if (n)
		damage_add(&file->damage, "%zu bytes of the session table", n);
	return 0;
}

static void counts_begin(struct trace_session *session)
{
	free(session->base);
	session->base = session->totals;
	session->totals = NULL;
}

static void session_clear(struct trace_session *session)
{
	free(session->entry);
	free(session->totals);
	free(session->base);
	aggregates_free(&session->aggregates);
}

void trace_session_free(struct trace_file *file)
{
	for (size_t i = 0; i < file->session_count; i++) {
		session_clear(file->sessions[i]);
		free(file->sessions[i]);
	}
	session_clear(&file->majors);
	free(file->sessions);
	free(file->session_at);
	file->sessions = NULL;
	file->session_at = NULL;
	file->session_count = 0;
}

typedef unsigned long long ull;

#define FORMATS_MAX	(64u << 20)	/* bytes of TFFs in the trace */
#define PAYLOAD_MAX	(64u << 20)	/* of a chunk that isn't records */
#define NOTES_MAX	(16u << 20)	/* of heapmon in the trace */
#define PIPE_HELD	(8u << 20)	/* bytes of a pipe's chunks */

/* What is looked at of a chunk with records, which are fetched later. */
#define FRONT	(sizeof(struct ras_chunk) + sizeof(struct ras_packed) + \
		 sizeof(struct ras_slice_copy))

/* ---- payloads ---- */

static int formats_parse(struct trace_file *file, const uint8_t *p, size_t n)
{
	size_t front = sizeof(struct ras_formats);
	struct trace_format *formats, *format;

	if (n < front || n > FORMATS_MAX - file->format_bytes) {
		damage_add(&file->damage, "a format file of %zu bytes", n);
		return 0;
	}
	file->format_bytes += n;
	formats = reallocarray(file->formats, file->format_count + 1,
			       sizeof(*formats));
	if (!formats)
		return -ENOMEM;
	file->formats = formats;
	format = &formats[file->format_count];
	*format = (struct trace_format){
		.data = malloc(n - front + 1), .size = n - front,
	};
	if (!format->data)
		return -ENOMEM;
	memcpy(format->name, p, sizeof(format->name) - 1);
	memcpy(format->data, p + front, n - front);
	file->format_count++;
	return 0;
}

/* The last one of a session holds. */
static int aggregates_take(struct trace_file *file, const uint8_t *p, size_t n)
{
	struct trace_session *session = NULL;
	struct aggregates aggregates;
	struct error err = { 0 };
	void *data = malloc(n + 8);
	int code;

	if (!data)
		return -ENOMEM;
	memcpy(data, p, n);
	code = aggregates_parse(&aggregates, data, n, &err);
	if (code == -ENOMEM)
		return code;
	if (!code && aggregates.session < TRACE_SESSIONS_MAX &&
	    file->session_at[aggregates.session])
		session = file->sessions[file->session_at[aggregates.session] -
					 1];
	if (!session) {
		if (!code)
			aggregates_free(&aggregates);
		damage_add(&file->damage, "%zu bytes of aggregates", n);
		return 0;
	}
	aggregates_free(&session->aggregates);
	session->aggregates = aggregates;
	return 0;
}

static int payload_damage(struct trace_file *file, int code, const char *what,
		       size_t n)
{
	if (code == -EINVAL)
		damage_add(&file->damage, "%zu bytes that should be %s", n,
			   what);
	return code == -ENOMEM ? code : 0;
}

static int payload_parse(struct trace_file *file, uint32_t kind,
			 const uint8_t *p, size_t n)
{
	size_t count;

	switch (kind) {
	case RAS_CHUNK_SESSIONS:
		return trace_session_table(file, p, n);
	case RAS_CHUNK_COUNTS:
		return trace_session_counts(file, p, n);
	case RAS_CHUNK_AGGREGATES:
		return aggregates_take(file, p, n);
	case RAS_CHUNK_STACKS:
		return payload_damage(file, stack_ids_add(&file->stack_ids, p, n),
				      "stacks", n);
	case RAS_CHUNK_PROCESSES:
		return payload_damage(file,
				   process_table_add(&file->processes, p, n),
				   "processes", n);
	case RAS_CHUNK_MAPS:
		return payload_damage(
			file, process_table_add_maps(&file->processes, p, n),
			"the mappings of a process", n);
	case RAS_CHUNK_NAMES:
		return payload_damage(
			file, process_table_add_functions(&file->processes, p, n),
			"names of functions", n);
	case RAS_CHUNK_FORMATS:
		return formats_parse(file, p, n);
	case RAS_CHUNK_PASS:
		/* What precedes the first one was there at the file's start. */
		if (n < sizeof(file->pass)) {
			damage_add(&file->damage, "a pass of %zu bytes", n);
			return 0;
		}
		memcpy(&file->pass, p, sizeof(file->pass));
		if (file->spooled)
			return 0;
		file->spooled = true;
		file->continued = file->slices.count;
		file->began = file->pass.time;
		file->lost_base = file->pass.lost;
		slices_begin(&file->slices);

		/* The figures so far are those at its start. */
		for (size_t i = 0; i < file->session_count; i++)
			counts_begin(file->sessions[i]);
		counts_begin(&file->majors);
		return 0;
	case RAS_CHUNK_PANIC:
		if (n < sizeof(file->panic)) {
			damage_add(&file->damage, "a panic of %zu bytes", n);
			return 0;
		}
		memcpy(&file->panic, p, sizeof(file->panic));
		file->panic.reason[sizeof(file->panic.reason) - 1] = '\0';
		file->panicked = true;
		return 0;
	case RAS_CHUNK_HEAP:
		count = n / sizeof(*file->notes);
		if (n % sizeof(*file->notes) ||
		    count > NOTES_MAX - file->note_count) {
			damage_add(&file->damage, "notes of a heap, %zu bytes",
				   n);
			return 0;
		}
		for (; count; count--, p += sizeof(*file->notes)) {
			if (!array_grow(&file->notes, file->note_count,
					&file->note_room, sizeof(*file->notes)))
				return -ENOMEM;
			memcpy(&file->notes[file->note_count++], p,
			       sizeof(*file->notes));
		}
		return 0;
	default:
		return 0;
	}
}

/* ---- chunks ---- */

static uint32_t packed_kind(const struct source_bytes *bytes)
{
	const struct ras_chunk *chunk = (const void *)bytes->data;
	struct ras_packed packed;

	if (chunk->kind != RAS_CHUNK_PACKED ||
	    bytes->size < sizeof(*chunk) + sizeof(packed))
		return chunk->kind;
	memcpy(&packed, chunk + 1, sizeof(packed));
	return packed.kind;
}

/* A whole chunk that isn't records. */
static int chunk_parse(struct trace_file *file,
		       const struct source_bytes *bytes,
		       struct chunk_place place)
{
	const struct ras_chunk *chunk = (const void *)bytes->data;
	void *expanded;
	size_t size;
	int code;

	/* rather none than a stack that is another one */
	if (chunk_read_damaged(chunk, chunk + 1, place, &file->damage) &&
	    packed_kind(bytes) == RAS_CHUNK_STACKS)
		return 0;
	if (chunk->kind != RAS_CHUNK_PACKED)
		return payload_parse(file, chunk->kind,
				     (const uint8_t *)(chunk + 1),
				     place.length);
	expanded = chunk_read_expand(chunk + 1, place, &size, &file->damage);
	if (!expanded)
		return 0;
	code = payload_parse(file, packed_kind(bytes), expanded, size);
	free(expanded);
	return code;
}

/* The chunk at `place`, which is there as a whole or, of records, by its
 * beginning. 0 or -ENOMEM. */
static int chunk_take(struct trace_file *file, struct source_bytes *bytes,
		      struct chunk_place place)
{
	const struct ras_chunk *chunk = (const void *)bytes->data;

	if (place.length < chunk->length && chunk->kind != RAS_CHUNK_SLICE)
		damage_add(
			&file->damage,
			"%llu of %llu bytes of the chunk at offset %llu (kind %u)",
			(ull)(chunk->length - place.length), (ull)chunk->length,
			(ull)place.offset, chunk->kind);
	if (packed_kind(bytes) == RAS_CHUNK_SLICE)
		return slices_add(&file->slices, place.offset, place.length,
				  bytes);
	return chunk_parse(file, bytes, place);
}

/* ---- of a file ---- */

/* One that isn't records, from the file. */
static int chunk_fetch(struct trace_file *file, struct trace_source *source,
		       const struct ras_chunk *chunk, struct chunk_place place)
{
	struct source_bytes bytes;
	int code;

	if (chunk->kind > RAS_CHUNK_LAST) {
		chunk_read_damaged_file(chunk, place, source, &file->damage);
		return 0;
	}
	if (place.length > PAYLOAD_MAX) {
		damage_add(&file->damage,
			   "the chunk at offset %llu (kind %u): %llu bytes are too many",
			   (ull)place.offset, chunk->kind, (ull)place.length);
		return 0;
	}
	code = trace_source_read(source, place.offset,
				 sizeof(*chunk) + place.length, &bytes);
	if (!code && bytes.size == sizeof(*chunk) + place.length)
		code = chunk_take(file, &bytes, place);
	else if (code != -ENOMEM)
		damage_add(&file->damage, "the chunk at offset %llu can't be read",
			   (ull)place.offset);
	free(bytes.owned);
	return code == -ENOMEM ? code : 0;
}

/* What its header says isn't so: it ends where the next one begins. Returns
 * whether there is a next one. */
static bool chunk_resync(struct trace_file *file, struct resync *resync,
			 struct source_bytes *bytes, struct chunk_place *place)
{
	struct ras_chunk *chunk = (void *)bytes->data;
	uint64_t next = resync_find(resync, place->offset + 8), room;
	bool found = next < file->source.size;

	file->damage.exhausted |= resync->exhausted;
	room = next - place->offset;
	room = room < sizeof(*chunk) ? 0 : room - sizeof(*chunk);
	if (found)
		damage_add(&file->damage,
			   "the chunk at offset %llu: its header, which leads nowhere; the next one found is at %llu",
			   (ull)place->offset, (ull)next);
	if (bytes->size >= RESYNC_FRONT &&
	    resync_is_slice(resync, bytes->data)) {
		chunk->kind = RAS_CHUNK_SLICE;
		place->length = room;
	} else {
		place->length = chunk->length < room ? chunk->length : room;
	}
	file->at = next;
	return found;
}

/* Records under another name. */
static void chunk_kind_check(struct trace_file *file,
			     struct source_bytes *bytes)
{
	struct ras_chunk *chunk = (void *)bytes->data;

	if (chunk->kind == RAS_CHUNK_SLICE || chunk->kind == RAS_CHUNK_PACKED ||
	    bytes->size < RESYNC_FRONT ||
	    !resync_is_slice(&file->resync, bytes->data))
		return;
	damage_add(&file->damage,
		   "the chunk at offset %llu: its kind is %u, but it has records",
		   (ull)file->at, chunk->kind);
	chunk->kind = RAS_CHUNK_SLICE;
}

/* The chunk at file->at; bytes: its beginning. */
static int file_chunk_take(struct trace_file *file, struct source_bytes *bytes,
			   uint32_t *kind)
{
	struct resync *resync = &file->resync;
	const struct ras_chunk *chunk = (const void *)bytes->data;
	struct chunk_place place = { file->at, chunk->length };
	bool found = true;
	int code;
	uint64_t end;

	resync->source = &file->source;
	resync->key = file->header.key;
	resync->keyless = file->ruined;
	*kind = chunk->kind;
	if (!resync_plausible(resync, chunk, file->at)) {
		found = chunk_resync(file, resync, bytes, &place);
		*kind = RAS_CHUNK_SLICE;
	} else if (*kind == RAS_CHUNK_END) {
		end = file->at + sizeof(struct ras_chunk);
		if (end < file->source.size)
			damage_add(
				&file->damage,
				"%llu bytes after the end chunk at offset %llu",
				(ull)(file->source.size - end), (ull)file->at);
		return 0;
	} else {
		chunk_kind_check(file, bytes);
		file->at += sizeof(*chunk) + chunk_read_padded(place.length);
	}
	if (packed_kind(bytes) == RAS_CHUNK_SLICE)
		code = chunk_take(file, bytes, place);
	else if (chunk->kind == RAS_CHUNK_END)
		code = 0;
	else
		code = chunk_fetch(file, &file->source, chunk, place);
	return code ? code : found;
}

static int chunk_next(struct trace_file *file, uint32_t *kind)
{
	_Alignas(8) uint8_t front[FRONT];
	struct source_bytes bytes = { .data = front };
	ssize_t got = trace_source_fetch(&file->source, file->at, FRONT, front);

	if (got < (ssize_t)sizeof(struct ras_chunk))
		return 0;
	bytes.size = got;
	return file_chunk_take(file, &bytes, kind);
}

/* ---- of a pipe ---- */

static uint64_t pipe_padded(const struct ras_chunk *chunk)
{
	return chunk->length < UINT64_MAX - 8 ?
	       chunk_read_padded(chunk->length) : UINT64_MAX;
}

/* The rest of the chunk, after its header in one piece. */
static int pipe_chunk_read(struct trace_file *file, struct source_bytes *bytes)
{
	const struct ras_chunk chunk = *(const struct ras_chunk *)bytes->data;
	struct source_bytes rest;
	uint8_t *whole = NULL;
	int code = trace_source_read(&file->source, file->at,
				     pipe_padded(&chunk), &rest);

	if (!code)
		whole = malloc(sizeof(chunk) + rest.size + 8);
	if (whole) {
		memcpy(whole, &chunk, sizeof(chunk));
		if (rest.size)
			memcpy(whole + sizeof(chunk), rest.data, rest.size);
		free(bytes->owned);
		*bytes = (struct source_bytes){
			whole, sizeof(chunk) + rest.size, whole,
		};
	}
	free(rest.owned);
	return code || whole ? code : -ENOMEM;
}

/* What is long is put into a file; so are records that have to wait for others,
 * when they are many. */
static bool pipe_chunk_is_long(const struct trace_file *file,
			       const struct ras_chunk *chunk)
{
	bool waits = chunk->kind == RAS_CHUNK_SLICE ||
		     chunk->kind == RAS_CHUNK_PACKED;

	return chunk->length > PIPE_HELD ||
	       (waits && file->slices.held > PIPE_HELD - chunk->length);
}

/* Returns the bytes of the chunk that came, or a negative errno. */
static int64_t pipe_chunk_keep(struct trace_file *file,
			       const struct ras_chunk *chunk)
{
	int code = file->kept.temporary ? 0 :
		   source_open_temporary(&file->kept);

	if (!code)
		code = trace_source_put(&file->kept, file->at, chunk,
					sizeof(*chunk));
	if (code)
		return code;
	return source_put_pipe(&file->kept, file->at + sizeof(*chunk),
			       pipe_padded(chunk), &file->source);
}

static int pipe_long_take(struct trace_file *file,
			  const struct ras_chunk *chunk)
{
	struct chunk_place place = { file->at, chunk->length };
	int64_t came = pipe_chunk_keep(file, chunk);
	_Alignas(8) uint8_t front[FRONT];
	struct source_bytes bytes = { .data = front };
	uint64_t at = file->at;
	ssize_t got;
	int code;

	if (came < 0) {
		damage_add(&file->damage,
			   "the chunk at offset %llu: it can't be kept: %s",
			   (ull)file->at, strerror(-came));
		return 0;
	}
	place.length = (uint64_t)came < place.length ? (uint64_t)came :
						       place.length;
	got = trace_source_fetch(&file->kept, file->at, FRONT, front);
	bytes.size = got < 0 ? 0 : got;
	file->at += sizeof(*chunk) + came;
	if (bytes.size < sizeof(*chunk) + place.length && bytes.size < FRONT)
		return 0;
	if (packed_kind(&bytes) == RAS_CHUNK_SLICE)
		return chunk_take(file, &bytes, place);
	code = chunk_fetch(file, &file->kept, chunk, place);
	trace_source_forget(&file->kept, at, file->at - at);
	return code;
}

static int pipe_chunk_take(struct trace_file *file, struct source_bytes *bytes)
{
	struct chunk_place place = { file->at, 0 };
	int code = pipe_chunk_read(file, bytes);
	const struct ras_chunk *chunk;

	if (code)
		return code;
	chunk = (const void *)bytes->data;
	place.length = bytes->size - sizeof(*chunk);
	if (place.length > chunk->length)
		place.length = chunk->length;
	file->at += bytes->size;
	return chunk_take(file, bytes, place);
}

static int end_of_pipe(struct trace_file *file, const struct ras_chunk *chunk)
{
	struct chunk_place place = { file->at, 0 };
	struct source_bytes bytes;

	file->at += sizeof(*chunk);
	chunk_read_damaged(chunk, chunk + 1, place, &file->damage);

	/* Is there more? A writer that goes on is waited for. */
	if (!trace_source_read(&file->source, file->at, 1, &bytes) &&
	    bytes.size)
		damage_add(&file->damage,
			   "what comes after the end chunk before offset %llu",
			   (ull)file->at);
	free(bytes.owned);
	return 0;
}

/* The chunk with that header. */
static int pipe_take(struct trace_file *file, struct source_bytes *head)
{
	const struct ras_chunk *chunk = (const void *)head->data;
	int code;

	if (chunk->kind == RAS_CHUNK_END)
		return end_of_pipe(file, chunk);
	code = pipe_chunk_is_long(file, chunk) ? pipe_long_take(file, chunk) :
						 pipe_chunk_take(file, head);
	return code ? code : 1;
}

static int pipe_next(struct trace_file *file, uint32_t *kind)
{
	struct source_bytes head;
	int code = trace_source_read(&file->source, file->at,
				     sizeof(struct ras_chunk), &head);

	if (!code && head.size == sizeof(struct ras_chunk)) {
		*kind = ((const struct ras_chunk *)head.data)->kind;
		code = pipe_take(file, &head);
	}
	free(head.owned);
	return code == -ENOMEM || code > 0 ? code : 0;
}

int trace_chunk_next(struct trace_file *file, uint32_t *kind)
{
	return file->source.pipe ? pipe_next(file, kind) :
				   chunk_next(file, kind);
}
