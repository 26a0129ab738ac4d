// SPDX-License-Identifier: GPL-2.0
#include "picture.h"

#include <errno.h>
#include <rastrace/tff.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "lib/machine.h"
#include "lib/path.h"
#include "aggregate_live.h"
#include "picture_records.h"
#include "ring.h"

void picture_header(struct chunk_out *out, const struct buffer *buffer)
{
	struct ras_file file = {
		.machine = MACHINE_OWN,
		.cpus = buffer->control->cpus,
		.key = buffer->control->key,
		.slice_bytes = buffer->control->slice_bytes,
		.taken = buffer_time(),
		.wall_offset = buffer_wall_offset_kept(buffer),
	};
	struct utsname uts = { 0 };

	uname(&uts);
	strncpy(file.kernel, uts.release, sizeof(file.kernel) - 1);
	strncpy(file.host, uts.nodename, sizeof(file.host) - 1);
	chunk_file_begin(out, &file);
}

void picture_sessions(struct chunk_out *out, const struct session_list *list)
{
	chunk_begin(out);
	chunk_add(out, list->log, list->log_size);
	chunk_end(out, RAS_CHUNK_SESSIONS);
}

/* ---- counts ---- */

static void session_counts(struct chunk_out *out, const struct buffer *buffer,
			   const struct session *session)
{
	uint32_t points = session->entry->points, slices = buffer->slices;
	struct ras_counts head = { session->entry->index, points };
	struct ras_count *rows;			/* per point and slice */
	struct ras_why *why = NULL;		/* per point */
	uint64_t *missed = NULL;
	struct ras_count_total *totals;
	int code = session_counts_read(session, slices, &rows, NULL);

	if (!code && session_why_read(session, buffer->control->cpus, &why,
				      NULL) == -ENOMEM)
		code = -ENOMEM;
	if (!code) {
		missed = calloc(points + 1, sizeof(*missed));
		code = missed ? 0 : -ENOMEM;
	}
	if (code == -ENOMEM && !out->error)
		out->error = code;
	if (code)
		goto out;
	session_missed_read(session, missed);
	chunk_begin(out);
	chunk_add(out, &head, sizeof(head));
	totals = chunk_room(out, points * sizeof(*totals));
	for (uint32_t i = 0; totals && i < points; i++) {
		totals[i] = (struct ras_count_total){ .missed = missed[i] };
		if (why)
			totals[i].why = why[i];
		for (uint32_t k = 0; k < slices; k++) {
			const struct ras_count *row =
				&rows[(size_t)i * slices + k];

			totals[i].recorded += row->recorded;
			totals[i].dropped += row->dropped;
		}
	}
	chunk_end(out, RAS_CHUNK_COUNTS);
out:
	free(rows);
	free(why);
	free(missed);
}

void picture_counts(struct chunk_out *out, const struct buffer *buffer,
		    const struct session_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		session_counts(out, buffer, &list->items[i]);
}

bool picture_aggregates(struct chunk_out *out, const struct buffer *buffer,
			const struct session_list *list,
			struct picture_names *names)
{
	struct aggregates aggregates;
	bool any = false;

	for (size_t i = 0; i < list->count; i++) {
		void *data;
		size_t size;
		int code = aggregate_live_copy(&list->items[i], buffer, &data,
					       &size, NULL);

		if (code == -ENOMEM && !out->error)
			out->error = code;
		if (code || !data)
			continue;
		chunk_begin(out);
		chunk_add(out, data, size);
		chunk_end(out, RAS_CHUNK_AGGREGATES);
		if (!names)
			free(data);
		else if (!aggregates_parse(&aggregates, data, size, NULL)) {
			picture_names_note(names, &aggregates);
			aggregates_free(&aggregates);
		}
		any = true;
	}
	return any;
}

/* ---- processes ---- */

void picture_maps(struct chunk_out *out, uint32_t pid,
		  const struct mappings *m)
{
	struct ras_maps head = {
		.pid = pid, .mappings = m->count, .taken = buffer_time(),
	};

	memcpy(head.comm, m->comm, sizeof(head.comm));
	chunk_begin(out);
	chunk_add(out, &head, sizeof(head));
	chunk_add(out, m->items, m->count * sizeof(*m->items));
	chunk_end(out, RAS_CHUNK_MAPS);
}

static const char *module_of(const struct session_list *list, uint16_t index)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].entry->index == index)
			return list->items[i].entry->module;
	return "";
}

/* As long as it lives all of it, then its modules by their bias. names: NULL, or
 * who places addresses in it. */
static void process_maps(struct chunk_out *out,
			 const struct processes *processes,
			 const struct ras_process_entry *entry,
			 const struct session_list *list,
			 struct mappings_cache *cache,
			 struct picture_names *names)
{
	const struct ras_process_entry *end = processes->items +
					      processes->count;
	uint32_t pid = entry->key.pid;
	struct mappings m;

	if (!mappings_read_process(&m, cache, pid, entry->process.seen)) {
		mappings_free(&m);
		memcpy(m.comm, entry->process.comm, sizeof(m.comm));
		while (entry > processes->items && entry[-1].key.pid == pid)
			entry--;
		for (; entry < end && entry->key.pid == pid; entry++)
			mappings_add_module(&m, cache,
					    module_of(list, entry->key.session),
					    entry->process.bias);
	}
	if (m.exhausted && !out->error)
		out->error = -ENOMEM;
	if (m.count)
		picture_maps(out, pid, &m);
	if (names)
		picture_names_place(names, pid, &m);
	mappings_free(&m);
}

void picture_processes(struct chunk_out *out,
		       const struct processes *processes,
		       const struct processes *known,
		       const struct session_list *list,
		       struct mappings_cache *cache,
		       struct picture_names *names)
{
	const struct ras_process_entry *entry = processes->items;
	const struct ras_process_entry *end = entry + processes->count;
	size_t written = 0;
	int64_t last = -1;

	chunk_begin(out);
	for (; entry < end; entry++) {
		if (processes_have(known, entry))
			continue;
		chunk_add(out, entry, sizeof(*entry));
		written++;
	}
	if (!written)
		return;
	chunk_end(out, RAS_CHUNK_PROCESSES);
	for (entry = processes->items; cache && entry < end; entry++) {
		if (entry->key.pid == last || processes_have(known, entry))
			continue;
		process_maps(out, processes, entry, list, cache, names);
		last = entry->key.pid;
	}
}

void picture_kernel(struct chunk_out *out, const struct session_list *list)
{
	struct mappings m;
	size_t i = 0;

	while (i < list->count &&
	       !(list->items[i].entry->flags & RAS_SESSION_KERNEL))
		i++;
	if (i == list->count)
		return;
	if (mappings_read_kernel(&m))
		picture_maps(out, 0, &m);
	mappings_free(&m);
}

/* ---- formats ---- */

static bool entry_wanted(const struct tff_entry *entry,
			 const struct session *session)
{
	if (session->entry->index == RAS_STATIC_SESSION)
		return entry->flags & TFF_STATIC;
	for (uint32_t i = 0; i < session->entry->points; i++)
		if (session->points[i].minor == entry->minor &&
		    session->points[i].hash == entry->hash)
			return true;
	return false;
}

static bool tff_wanted(const struct tff *tff, const struct session *session)
{
	for (uint32_t i = 0; i < tff->header->entries.count; i++)
		if (entry_wanted(&tff->entries[i], session))
			return true;
	return false;
}

/* Of a major: each file once, however many sessions want it. */
static void major_formats(struct chunk_out *out, struct search *search,
			  const struct session *session, unsigned int major,
			  bool *written)
{
	struct search_file *file;
	size_t at = 0;

	while ((file = search_next(search, major, &at))) {
		const struct tff *tff = file->tff;
		struct ras_formats head = { 0 };

		if (written[at - 1] || !tff || !tff_wanted(tff, session))
			continue;
		written[at - 1] = true;
		strncpy(head.name, path_base(tff->path), sizeof(head.name) - 1);
		chunk_begin(out);
		chunk_add(out, &head, sizeof(head));
		chunk_add(out, tff->data, tff->header->file_size);
		chunk_end(out, RAS_CHUNK_FORMATS);
	}
}

void picture_formats(struct chunk_out *out, const struct session_list *list)
{
	struct search search = { 0 };
	bool *written;

	search_add_environment(&search);
	for (size_t i = 0; i < list->count; i++)
		search_add_place(&search, list->items[i].entry->tdf);
	search_add_system(&search);
	written = calloc(search.count + 1, sizeof(*written));
	for (size_t i = 0; written && i < list->count; i++) {
		const struct session *s = &list->items[i];

		if (s->entry->index != RAS_STATIC_SESSION) {
			major_formats(out, &search, s, s->entry->major,
				      written);
			continue;
		}
		for (uint32_t major = 0; major < s->entry->points; major++)
			if (s->points[major].state != RAS_POINT_UNSELECTED)
				major_formats(out, &search, s, major, written);
	}
	if (!written && !out->error)
		out->error = -ENOMEM;
	free(written);
	search_free(&search);
}

/* Records of a chunk: damage is reported by chunk, and a reader has one
 * in memory at a time, so they are small. */
#define PIECE	(1u << 20)

static void snapshot_slices(struct chunk_out *out, const struct buffer *buffer,
			    const struct session_list *list,
			    struct picture_names *names)
{
	struct picture_stacks stacks = { 0 };
	uint64_t key = buffer->control->key, size = buffer->control->slice_bytes;
	uint8_t *room;

	if (size < buffer->control->nest_bytes)
		size = buffer->control->nest_bytes;
	room = malloc(size);
	if (!room && !out->error)
		out->error = -ENOMEM;
	for (uint32_t row = 0; room && row < buffer->slices; row++) {
		struct ras_slice_copy place = picture_slice_place(buffer, row);
		const struct ras_slice *slice = buffer_slice(buffer, row, &size);
		struct ring ring;

		if (!__atomic_load_n(&slice->head, __ATOMIC_RELAXED) &&
		    !__atomic_load_n(&slice->dropped, __ATOMIC_RELAXED))
			continue;
		ring_copy(&ring, slice, size, key, buffer_tail(buffer, row),
			  room);
		picture_records(out, &place, &ring, key, PIECE);
		picture_stacks_note(&stacks, &ring, key);
		if (names)
			picture_names_scan(names, &ring, key, &stacks, list);
	}
	picture_stacks_write(&stacks, list, out);
	picture_stacks_free(&stacks);
	free(room);
}

static void snapshot_processes(struct chunk_out *out,
			       const struct buffer *buffer,
			       const struct session_list *list,
			       struct picture_names *names)
{
	struct processes processes, none = { 0 };
	struct mappings_cache cache = { 0 };

	if (processes_read(&processes, buffer) && !out->error)
		out->error = -ENOMEM;
	picture_processes(out, &processes, &none, list, &cache, names);
	picture_kernel(out, list);
	mappings_cache_free(&cache);
	processes_free(&processes);
}

/* Figures first: the records may be ahead of them, never the reverse. */
static int picture_take(struct chunk_out *out, const char *run, bool bundle,
			struct error *err)
{
	struct picture_names names = { 0 };
	struct session_list list;
	struct buffer buffer;
	int code = buffer_open(&buffer, run, false, err);

	if (code)
		return code;
	code = session_list_read(&list, &buffer, run, err);
	if (!code) {
		picture_header(out, &buffer);
		picture_sessions(out, &list);
		picture_counts(out, &buffer, &list);
		picture_aggregates(out, &buffer, &list,
				   bundle ? &names : NULL);
		if (bundle)
			picture_formats(out, &list);
		snapshot_slices(out, &buffer, &list,
				bundle ? &names : NULL);
		snapshot_processes(out, &buffer, &list, &names);
		picture_names_write(&names, out);
		picture_names_free(&names);
		picture_end(out);
		session_list_free(&list);
		code = out->error;
		if (code)
			error_set(err, code, "no memory for a picture of the buffer");
	}
	buffer_close(&buffer);
	return code;
}

/* ---- in memory ---- */

int snapshot_take(const char *run, void **data, size_t *size,
		  struct error *err)
{
	struct chunk_memory memory = { 0 };
	struct chunk_out out = {
		.take = chunk_memory_take, .context = &memory,
	};
	int code = picture_take(&out, run, false, err);

	chunk_out_free(&out);
	*data = NULL;
	if (code) {
		free(memory.data);
		return code;
	}
	*data = memory.data;
	*size = memory.size;
	return 0;
}

/* ---- into a file ---- */

static int snapshot_file_take(void *context, const void *chunk, size_t size)
{
	outfile_write(context, chunk, size);
	return 0;
}

int snapshot_save(const char *run, struct outfile *file,
		  const struct snapshot_settings *settings, struct error *err)
{
	struct chunk_out out = {
		.take = snapshot_file_take,
		.context = file,
		.pack = settings->pack,
	};
	int code = picture_take(&out, run, settings->bundle, err);

	chunk_out_free(&out);
	if (code) {
		outfile_abort(file);
		return code;
	}
	return outfile_commit(file, err);
}
