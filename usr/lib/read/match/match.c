// SPDX-License-Identifier: GPL-2.0
#include "match.h"

#include <errno.h>
#include <rastrace/rasfile.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/path.h"
#include "lib/text.h"
#include "stream.h"

/* ---- the best TFF entry ---- */

struct match_candidate {
	const struct tff *tff;
	const struct tff_section *section;
	const struct tff_entry *entry;
	int rank;		/* 0: none yet */
	char reason[512];	/* why there is none */
	int reason_rank;	/* the more was found, the better the reason */
	const char *other;	/* the TFF that has another entry, or none of
				 * the minor; NULL: there is no TFF */
	const char *other_tsf;
};

static void __attribute__((format(printf, 3, 4)))
reason_set(struct match_candidate *best, int rank, const char *fmt, ...)
{
	va_list args;

	if (rank <= best->reason_rank)
		return;
	best->reason_rank = rank;
	va_start(args, fmt);
	vsnprintf(best->reason, sizeof(best->reason), fmt, args);
	va_end(args);
}

/* Several modules may share major, minor and data hash: the section of the
 * module that was traced is preferred, then one of its name. */
static int section_rank(const struct tff *tff, const struct tff_section *s,
			const struct trace_session *session)
{
	const struct ras_session *armed;

	if (!session)
		return 1;
	armed = session->entry;
	if (s->id_kind != TDF_ID_NONE && s->id_kind == armed->id_kind &&
	    s->id_length == armed->id_length &&
	    !memcmp(s->id, armed->id, s->id_length))
		return 3;
	return strcmp(path_base(tff_string(tff, s->path)),
		      path_base(session->module)) ? 1 : 2;
}

static const struct tff_entry *match_section_find(const struct tff *tff,
						  const struct tff_section *s,
						  uint16_t minor)
{
	const struct tff_entry *entries = tff->entries + s->first_entry;
	uint32_t low = 0, high = s->entries;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (entries[middle].minor < minor)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->entries && entries[low].minor == minor ?
	       &entries[low] : NULL;
}

/* 8 and more: the entry is right; below: only for --force. */
static int entry_rank(const struct match_point *point,
		      const struct search_file *file,
		      const struct tff_entry *entry,
		      struct match_candidate *best)
{
	bool is_static = entry->flags & TFF_STATIC;
	const char *path = file->path;

	if (!point->armed) {
		if (is_static)
			return 8;
		reason_set(best, 3, "the entry in %s is of a traced address",
			   path);
		return 0;
	}
	if (is_static) {
		reason_set(best, 3, "the entry in %s is static", path);
		return 0;
	}
	if (entry->hash == point->armed->hash)
		return 8;
	reason_set(best, 4, "data hash differs (%s: %016llx, trace: %016llx)",
		   path, (unsigned long long)entry->hash,
		   (unsigned long long)point->armed->hash);
	return 0;
}

static void file_try(const struct match_point *point, uint16_t minor,
		     const struct search_file *file,
		     struct match_candidate *best)
{
	const struct tff *tff = file->tff;

	if (!tff) {
		reason_set(best, 2, "%s", file->error.text);
		return;
	}
	if (!best->other && tff->header->sections.count) {
		best->other = file->path;
		best->other_tsf = tff_string(tff, tff->sections[0].tsf);
	}
	for (uint32_t i = 0; i < tff->header->sections.count; i++) {
		const struct tff_section *s = &tff->sections[i];
		const struct tff_entry *entry =
			match_section_find(tff, s, minor);
		int rank;

		if (!entry)
			continue;
		if (best->reason_rank < 4) {
			best->other = file->path;
			best->other_tsf = tff_string(tff, s->tsf);
		}
		rank = entry_rank(point, file, entry, best) +
		       section_rank(tff, s, point->session);
		if (rank <= best->rank)
			continue;
		best->tff = tff;
		best->section = s;
		best->entry = entry;
		best->rank = rank;
	}
	reason_set(best, 1, "minor %u is not in %s", minor, file->path);
}

/* Entry and rank, or why there is none. */
static void candidate_find(struct match *match, const struct match_point *point,
			   const struct ras_record *record,
			   struct match_candidate *best)
{
	struct search_file *file;
	char name[16];
	size_t at = 0;

	while ((file = search_next(match->search, record->major, &at)))
		file_try(point, record->minor, file, best);
	tff_file_name(name, record->major);
	reason_set(best, 1, "%s not found", name);
	if (record->session == RAS_STATIC_SESSION || point->armed)
		return;
	best->rank = best->rank >= 8 ? 1 : best->rank;
	if (point->session)
		reason_set(best, 5, "session %u (%s) has no such tracepoint",
			   record->session, point->session->tdf);
	else
		reason_set(best, 5, "session %u is not in the trace",
			   record->session);
}

/* ---- points ---- */

/* The point that gave the record its minor: the first one armed */
static const struct ras_session_point *name_locate(const struct match *match,
						   const struct ras_record *r)
{
	for (size_t i = 0; i < match->file->session_count; i++) {
		const struct trace_session *s = match->file->sessions[i];

		for (uint32_t k = 0; r->major == s->entry->major &&
				     k < s->entry->points; k++)
			if (s->points[k].minor == r->minor)
				return &s->points[k];
	}
	return NULL;
}

/* Major, minor and place must be what was armed. */
static void point_locate(struct match_point *point, const struct match *match,
			 const struct ras_record *record)
{
	const struct trace_session *session;

	if (record->session == RAS_STATIC_SESSION)
		return;
	session = trace_file_session(match->file, record->session);
	point->session = session;
	point->context = session ? session->entry->context : 0;
	if (session && record->major == session->entry->major &&
	    record->point < session->entry->points &&
	    session->points[record->point].minor == record->minor)
		point->armed = &session->points[record->point];
	else if (session && record->flags & RAS_RECORD_NAMED)
		point->armed = name_locate(match, record);
}

static int point_title(struct match_point *point,
		       const struct match_candidate *best, bool usable)
{
	const char *text = usable ? tff_string(best->tff, best->entry->desc) :
				    best->reason;
	size_t length = strlen(text);
	char *p = malloc(4 * length + 32 + TEXT_SLACK);

	if (!p)
		return -ENOMEM;
	point->title = p;
	if (!usable)
		p = TEXT_PUT(p, "<no TFF entry: ");
	p = text_put_safe(p, text, length);
	p = usable ? TEXT_PUT(p, "\n") : TEXT_PUT(p, ">\n");
	point->title_length = p - point->title;
	return 0;
}

static void match_point_free(struct match_point *point)
{
	if (!point)
		return;
	match_point_free(point->halves[0]);
	match_point_free(point->halves[1]);
	field_set_free(&point->fields);
	decode_free(&point->format);
	free(point->title);
	free(point);
}

static int point_format(struct match_point *point,
			const struct match_candidate *best)
{
	struct value_types types = value_types_of(best->tff, best->section);

	point->tff = best->tff;
	point->section = best->section;
	point->entry = best->entry;
	if (decode_compile(&point->format,
			   tff_string(best->tff, best->entry->fmt), &types))
		return -ENOMEM;
	return field_set_make(&point->fields, &point->format);
}

static struct match_point *match_point_alloc(uint64_t key)
{
	struct match_point *point = aligned_alloc(_Alignof(struct match_point),
						  sizeof(*point));

	if (point)
		memset(point, 0, sizeof(*point));
	if (point)
		point->key = key;
	return point;
}

/* Hide what the other half prints, and how long the call took, which is no value
 * of either. */
static void half_hide(struct match_point *half)
{
	struct decode_format *format = &half->format;
	uint32_t split = TFF_ENTRY_FIELDS(half->entry->flags);
	uint32_t fields = 0;
	size_t texts = 0;	/* that are in front of the step */
	bool taken = false, shown = false;

	for (size_t i = 0; i < format->count; i++) {
		struct decode_step *step = &format->steps[i];
		bool is_field = step->field != DECODE_NO_FIELD;
		bool elapsed = !taken && is_field && step->fixed &&
			       step->bytes == 8;
		bool hidden = elapsed ||
			      (fields < split) != (half->half == MATCH_ENTRY);

		if (step->letter == STEP_TEXT) {
			texts++;
			continue;
		}
		/* what is in front of a control belongs to it */
		for (; texts; texts--)
			step[-(ptrdiff_t)texts].hidden = hidden;
		step->hidden = hidden;
		if (!hidden && !shown && i && step[-1].letter == STEP_TEXT &&
		    step[-1].length && step[-1].text[0] == '\n') {
			step[-1].text++;
			step[-1].length--;
		}
		shown |= !hidden;
		fields += is_field;
		taken = true;
	}
}

/* 0 or -ENOMEM. */
static int half_make(const struct match_point *point, enum match_half which,
		     const struct match_candidate *best)
{
	struct match_point *half = match_point_alloc(point->key);

	if (!half)
		return -ENOMEM;
	*half = (struct match_point){
		.key = point->key, .session = point->session,
		.armed = point->armed, .formatted = point->formatted,
		.forced = point->forced, .context = point->context,
		.title_length = point->title_length, .half = which,
	};
	((struct match_point *)point)->halves[which - MATCH_ENTRY] = half;
	half->title = malloc(half->title_length + TEXT_SLACK);
	if (!half->title)
		return -ENOMEM;
	memcpy(half->title, point->title, half->title_length);
	if (!point->formatted)
		return 0;
	if (point_format(half, best))
		return -ENOMEM;
	half_hide(half);
	field_set_free(&half->fields);
	free(half->format.plain);
	half->format.plain = NULL;
	return field_set_make(&half->fields, &half->format);
}

static struct match_point *match_point_make(struct match *match,
					    const struct ras_record *record,
					    uint64_t key)
{
	struct match_point *point = match_point_alloc(key);
	struct match_candidate best = { 0 };
	int code = 0;

	if (!point)
		return NULL;
	point_locate(point, match, record);
	candidate_find(match, point, record, &best);
	point->formatted = best.rank >= 8 || (best.rank && match->force);
	point->forced = point->formatted && best.rank < 8;
	if (!point->formatted) {
		if (!point->armed || !best.other) {
			match->lack.missing = true;
		} else if (!match->lack.file) {
			match->lack.file = best.other;
			match->lack.tsf = best.other_tsf;
			match->lack.tdf = point->session->tdf;
		}
	}
	if (match->search->exhausted)
		code = -ENOMEM;
	else if (point->formatted)
		code = point_format(point, &best);
	code = code ? code : point_title(point, &best, point->formatted);
	for (int i = MATCH_ENTRY; i <= MATCH_EXIT && !code &&
	     record->flags & RAS_RECORD_WHOLE; i++)
		code = half_make(point, i, &best);
	if (!code)
		return point;
	match_point_free(point);
	return NULL;
}

/* ---- the points ---- */

void match_open(struct match *match, const struct trace_file *file,
		struct search *search, bool force)
{
	*match = (struct match){ .file = file, .search = search,
				 .force = force };
}

struct match_point *match_record(struct match *match,
				 const struct ras_record *record)
{
	uint64_t key = match_key(record);
	struct match_point *point = key_map_find(&match->points, key);

	if (point)
		return point;
	point = match_point_make(match, record, key);
	if (point && key_map_add(&match->points, key, point)) {
		match_point_free(point);
		return NULL;
	}
	return point;
}

struct match_point *match_counting(struct match *match,
				   struct match_point *point,
				   const struct ras_record *record)
{
	const struct trace_session *session = point->session;
	struct ras_record own = *record;

	if (!(record->flags & RAS_RECORD_NAMED) || !session ||
	    record->point >= session->entry->points)
		return point;
	own.minor = session->points[record->point].minor;
	own.flags &= ~RAS_RECORD_NAMED;
	return match_record(match, &own);
}

const struct match_point *match_armed(const struct match *match,
				      const struct trace_session *session,
				      uint32_t point)
{
	return key_map_find(
		&match->points,
		(uint64_t)session->entry->index << 48 |
			(uint64_t)session->entry->major << 32 |
			(uint64_t)session->points[point].minor << 16 | point);
}

static bool point_has(const struct match_point *point, const char *name,
		      size_t length)
{
	return point && point->formatted &&
	       field_find(&point->fields, name, length);
}

/* Its records need not be there, and what it lacks is not noted. One without an
 * entry may have anything. */
static int armed_has(struct match *match, const char *name, size_t length)
{
	struct match_lack lack = match->lack;
	int has = 0;

	for (size_t i = 0; i < match->file->session_count && !has; i++) {
		const struct trace_session *s = match->file->sessions[i];

		for (uint32_t k = 0; k < s->entry->points && !has; k++) {
			struct ras_record record = {
				.session = s->entry->index, .point = k,
				.major = s->entry->major,
				.minor = s->points[k].minor,
			};
			struct match_point *point = match_point_make(
				match, &record, match_key(&record));

			has = !point ? -ENOMEM : !point->formatted ||
			      point_has(point, name, length);
			match_point_free(point);
		}
	}
	match->lack = lack;
	return has;
}

static int static_has(const struct tff *tff, const struct tff_section *section,
		      const char *name, size_t length)
{
	int has = 0;

	for (uint32_t i = 0; i < section->entries && !has; i++) {
		struct match_candidate entry = {
			.tff = tff, .section = section,
			.entry = &tff->entries[section->first_entry + i],
		};
		struct match_point point = { .formatted = true };

		if (!(entry.entry->flags & TFF_STATIC))
			continue;
		has = point_format(&point, &entry) ? -ENOMEM :
		      point_has(&point, name, length);
		field_set_free(&point.fields);
		decode_free(&point.format);
	}
	return has;
}

int match_field_known(struct match *match, const char *name, size_t length)
{
	int has = armed_has(match, name, length);

	for (unsigned int major = 1; major <= 255 && !has; major++) {
		struct search_file *file;
		size_t at = 0;

		while (!has && (file = search_next(match->search, major, &at)))
			for (uint32_t i = 0; file->tff && !has &&
			     i < file->tff->header->sections.count; i++)
				has = static_has(file->tff,
						 &file->tff->sections[i],
						 name, length);
	}
	return match->search->exhausted ? -ENOMEM : has;
}

/* Minors of whole calls in format files of the major. */
static bool whole_minors(const struct match *match, unsigned int major,
			 bool *minors)
{
	struct search_file *file;
	bool any = false;
	size_t at = 0;

	while ((file = search_next(match->search, major, &at)))
		for (uint32_t i = 0; file->tff &&
		     i < file->tff->header->entries.count; i++) {
			const struct tff_entry *entry = &file->tff->entries[i];

			if (!(entry->flags & TFF_WHOLE))
				continue;
			minors[entry->minor] = true;
			any = true;
		}
	return any;
}

static bool session_has(const struct trace_session *session,
			const bool *minors)
{
	for (uint32_t i = 0; i < session->entry->points; i++)
		if (minors[session->points[i].minor] &&
		    session->points[i].state != RAS_POINT_UNSELECTED)
			return true;
	return false;
}

bool match_has_whole(const struct match *match)
{
	bool minors[UINT16_MAX + 1] = { false };
	bool majors[UINT8_MAX + 1] = { false };

	for (size_t i = 0; i < match->file->session_count; i++) {
		uint8_t major = match->file->sessions[i]->entry->major;
		bool any = !majors[major] && whole_minors(match, major, minors);

		majors[major] = true;
		for (size_t k = i; any && k < match->file->session_count; k++) {
			const struct trace_session *s =
				match->file->sessions[k];

			if (s->entry->major == major && session_has(s, minors))
				return true;
		}
		if (any)
			memset(minors, 0, sizeof(minors));
	}
	return false;
}

void match_close(struct match *match)
{
	struct match_point *point;
	size_t at = 0;

	while ((point = key_map_next(&match->points, &at)))
		match_point_free(point);
	key_map_free(&match->points);
}

static const char *match_name_find(const struct tff *tff,
				   const struct tdf_name *names, uint32_t count,
				   uint32_t id)
{
	for (uint32_t i = 0; i < count; i++)
		if (names[i].id == id)
			return tff_string(tff, names[i].name);
	return "";
}

const char *match_point_group(const struct match_point *point)
{
	if (!point->formatted || !point->entry->group)
		return "";
	return match_name_find(point->tff,
			       point->tff->groups + point->section->first_group,
			       point->section->groups, point->entry->group);
}

const char *match_point_type(const struct match_point *point, unsigned int bit)
{
	return match_name_find(point->tff,
			       point->tff->types + point->section->first_type,
			       point->section->types, 1u << bit);
}

const char *const event_flag_words[EVENT_FLAGS] = {
	"trigger", "muted", "fault", "cut", "paged_in", "stale", "tail_call",
	"forced", "misfit", "damaged", "unknown",
	"changed",
};

static const char *process_comm(const struct event *event)
{
	return process_table_name(&event->trace->file.processes,
				  event->record->pid, event->record->time);
}

const char *event_comm(const struct event *event)
{
	uint32_t mask = event->point->context;
	const char *name = mask & RAS_CONTEXT_NAME ? NULL : process_comm(event);

	if (!name)
		name = context_of(event->record, mask).name;
	return name ? name : process_comm(event);
}

const char *event_thread_comm(const struct event *event)
{
	const char *name =
		context_of(event->record, event->point->context).name;

	return name ? name : process_comm(event);
}

unsigned int event_flags(const struct event *event, uint8_t item_status,
			 bool misfit)
{
	static const struct {
		uint16_t record, event;
	} of_record[] = {
		{ RAS_RECORD_TRIGGER, EVENT_TRIGGER },
		{ RAS_RECORD_MUTED, EVENT_MUTED },
		{ RAS_RECORD_FAULT, EVENT_FAULT },
		{ RAS_RECORD_CUT, EVENT_CUT },
		{ RAS_RECORD_PAGED_IN, EVENT_PAGED_IN },
		{ RAS_RECORD_TAIL_CALL, EVENT_TAIL_CALL },
	};
	uint16_t flags = event->record->flags;
	unsigned int found = 0;

	for (size_t i = 0; flags && i < sizeof(of_record) /
					sizeof(*of_record); i++)
		if (flags & of_record[i].record)
			found |= of_record[i].event;
	if (item_status & RAS_ITEM_CUT)
		found |= EVENT_CUT;
	if (item_status & RAS_ITEM_PAGED_IN)
		found |= EVENT_PAGED_IN;
	if (item_status & RAS_ITEM_STALE)
		found |= EVENT_STALE;
	if (event->point->forced)
		found |= EVENT_FORCED;
	if (misfit)
		found |= EVENT_MISFIT;
	if (event->damaged)
		found |= EVENT_DAMAGED;
	if (event_is_changed(event))
		found |= EVENT_CHANGED;
	if (!event->point->formatted)
		found |= EVENT_UNKNOWN;
	return found;
}
