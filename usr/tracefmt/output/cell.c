// SPDX-License-Identifier: GPL-2.0
#include "cell.h"

#include "lib/read/read.h"
#include "arguments.h"

#define COMM_MAX	16

static void safe_add(struct text *text, const void *bytes, size_t n)
{
	if (!text_reserve(text, 4 * n))
		text->used = text_put_safe(text->data + text->used, bytes, n) -
			     text->data;
}

/* Line ends and tabs from `start` on become blanks. */
static void one_line(struct text *text, size_t start)
{
	for (size_t i = start; i < text->used; i++)
		if (text->data[i] == '\n' || text->data[i] == '\t')
			text->data[i] = ' ';
}

/* ---- times ---- */

static void seconds_add(struct text *text, int64_t ns)
{
	uint64_t distance = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	text_print(text, "%s%llu.%09llu", ns < 0 ? "-" : "",
		   (unsigned long long)(distance / 1000000000),
		   (unsigned long long)(distance % 1000000000));
}

static void cell_time(const struct cell *cell, const struct cell_source *source,
		      struct text *text)
{
	const struct event *event = source->event;
	int64_t before = event->before == EVENT_FIRST ? event->time :
							event->before;
	char date[32];

	switch (cell->kind) {
	case CELL_DATE:
		clock_date(&source->scratch->clock, source->event->time, date,
			   sizeof(date));
		text_add(text, date, 10);
		break;
	case CELL_SECONDS:
		seconds_add(text, event->time);
		break;
	case CELL_BOOT:
		seconds_add(text, event->record->time);
		break;
	case CELL_SINCE_FIRST:
		seconds_add(text, (uint64_t)event->time -
				  (uint64_t)source->output->start);
		break;
	default:
		seconds_add(text, (uint64_t)event->time - (uint64_t)before);
	}
}

/* ---- fields ---- */

static void cell_piece(const struct render_input *input, bool quoted,
		       const struct decode_piece *piece, struct text *text)
{
	size_t start = text->used;
	char *p;

	if (text_reserve(text, render_room(input->format, piece->bytes) + 2))
		return;
	p = text->data + start;
	if (quoted)
		*p++ = '"';
	p = render_piece(input, piece, p);
	if (quoted)
		*p++ = '"';
	text->used = p - text->data;
	one_line(text, start);
}

static void cell_field(struct cell *cell, const struct cell_source *source,
		       struct text *text)
{
	const struct event *event = source->event;
	const struct decode_piece *p = source->scratch->pieces, *end;
	const struct render_input input =
		output_render_input(event, source->output->settings->symbols);
	const struct field *field = event->point->formatted ?
		field_find(&event->point->fields, cell->item.name,
			   cell->item.length) : NULL;

	if (!field)
		return;
	__atomic_store_n(&cell->item.met, true, __ATOMIC_RELAXED);
	for (end = p + source->scratch->result.count; p < end; p++) {
		if (p->step != field->step)
			continue;
		if (p->again)
			text_add_blanks(text, 1);
		cell_piece(&input,
			   cell->quoted && (field->kind == FIELD_STRING &&
					    p->step->letter != 'C' &&
					    (p->note == NOTE_NONE ||
					     p->note == NOTE_CUT)),
			   p, text);
	}
}

/* ---- columns ---- */

static void cell_types(const struct match_point *point, struct text *text)
{
	const char *comma = "";

	for (unsigned int bit = 0; point->formatted && bit < 16; bit++) {
		const char *name = match_point_type(point, bit);

		if (!(point->entry->type & 1u << bit))
			continue;
		text_add_string(text, comma);
		if (*name)
			safe_add(text, name, strlen(name));
		else
			text_print(text, "0x%x", 1u << bit);
		comma = ",";
	}
}

static void cell_context(const struct cell_source *source, struct text *text)
{
	const struct event *event = source->event;
	struct context context = context_find(event->record,
					      event->point->context);
	struct stack_owner owner = output_render_input(event,
				source->output->settings->symbols).owner;
	size_t start = text->used;

	if (!context.mask || text_reserve(text, context_room(&context)))
		return;
	text->used = context_put(&context, owner, text->data + start) -
		     text->data;
	if (text->used > start)
		text->used--;
	one_line(text, start);
}

static void cell_data(const struct event *event, struct text *text)
{
	struct event_data data = event_data(event);
	char *p;

	if (text_reserve(text, 3 * data.length))
		return;
	p = text->data + text->used;
	for (uint32_t i = 0; i < data.length; i++) {
		if (i)
			*p++ = ' ';
		p = text_put_hex(p, data.data[i], 2);
	}
	text->used = p - text->data;
}

static void cell_number(const struct cell *cell, uint64_t number, int digits,
			struct text *text)
{
	if (cell->hex)
		text_print(text, "0x%0*llX", digits,
			   (unsigned long long)number);
	else
		text_add_number(text, number);
}

static void cell_string(enum column column, const struct cell_source *source,
			struct text *text)
{
	const struct match_point *point = source->event->point;
	const struct trace *trace = source->event->trace;
	const char *name, *comma = "";
	unsigned int flags;

	switch (column) {
	case COLUMN_HOST:
		safe_add(text, trace->file.host, strlen(trace->file.host));
		break;
	case COLUMN_TRACE:
		safe_add(text, trace->name, strlen(trace->name));
		break;
	case COLUMN_DESC:
		/* without the line end */
		text_add(text, point->title, point->title_length - 1);
		break;
	case COLUMN_GROUP:
		name = match_point_group(point);
		if (*name)
			safe_add(text, name, strlen(name));
		else if (point->formatted && point->entry->group)
			text_add_number(text, point->entry->group);
		break;
	case COLUMN_TYPES:
		cell_types(point, text);
		break;
	case COLUMN_COMM:
		name = event_comm(source->event);
		if (name)
			safe_add(text, name, strnlen(name, COMM_MAX));
		break;
	case COLUMN_FLAGS:
		flags = event_flags(source->event,
				    source->scratch->result.status,
				    source->scratch->result.misfit);
		for (size_t i = 0; i < EVENT_FLAGS; i++) {
			if (!(flags & 1u << i))
				continue;
			text_add_string(text, comma);
			text_add_string(text, event_flag_words[i]);
			comma = ",";
		}
		break;
	case COLUMN_CONTEXT:
		cell_context(source, text);
		break;
	case COLUMN_FIELDS:
		arguments_put(source->output, source->event, source->scratch,
			      NULL, text);
		break;
	case COLUMN_DATA:
		cell_data(source->event, text);
		break;
	default:
		break;
	}
}

static void cell_column(struct cell *cell, const struct cell_source *source,
			struct text *text)
{
	const struct event *event = source->event;
	const struct ras_record *record = event->record;
	char time[CLOCK_MAX];

	switch (cell->item.column) {
	case COLUMN_EVENT:
		text_add_number(text, event->number);
		break;
	case COLUMN_TIME:
		text_add(text, time, clock_put(&source->scratch->clock,
					       event->time, time) - time);
		break;
	case COLUMN_TIME_NS:
		text_print(text, "%lld", (long long)event->time);
		break;
	case COLUMN_BOOT_NS:
		text_add_number(text, record->time);
		break;
	case COLUMN_MAJOR:
		cell_number(cell, record->major, 4, text);
		break;
	case COLUMN_MINOR:
		cell_number(cell, record->minor, 4, text);
		break;
	case COLUMN_PID:
		cell_number(cell, record->pid, 4, text);
		break;
	case COLUMN_TID:
		cell_number(cell, record->tid, 4, text);
		break;
	case COLUMN_CPU:
		text_add_number(text, event->cpu);
		break;
	case COLUMN_LENGTH:
		text_add_number(text, event_data(event).length);
		break;
	case COLUMN_FIELD:
		cell_field(cell, source, text);
		break;
	default:
		cell_string(cell->item.column, source, text);
	}
}

void cell_put(struct cell *cell, const struct cell_source *source,
	      struct text *text)
{
	if (cell->kind == CELL_COLUMN)
		cell_column(cell, source, text);
	else
		cell_time(cell, source, text);
}
