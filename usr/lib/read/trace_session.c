// SPDX-License-Identifier: GPL-2.0
#include "trace_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int trace_session_counts(struct trace_file *file, const uint8_t *p, size_t n)
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

static bool session_valid(const struct ras_session *entry, size_t n)
{
	return entry->size % 8 == 0 && entry->size <= n &&
	       entry->size >= sizeof(*entry) &&
	       entry->points <= (entry->size - sizeof(*entry)) /
					sizeof(struct ras_session_point);
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

int trace_session_table(struct trace_file *file, const uint8_t *p, size_t n)
{
	while (n >= sizeof(struct ras_session)) {
		const struct ras_session *entry = (const void *)p;

		if (!entry->size)
			return 0;
		if (!session_valid(entry, n))
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

void trace_session_begin(struct trace_file *file)
{
	for (size_t i = 0; i < file->session_count; i++)
		counts_begin(file->sessions[i]);
	counts_begin(&file->majors);
}

static void session_clear(struct trace_session *session)
{
	free(session->entry);
	free(session->totals);
	free(session->base);
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
