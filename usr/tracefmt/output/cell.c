// SPDX-License-Identifier: GPL-2.0
#include "cell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/read/read.h"

/* ---- what --fields chooses ---- */

const char *const column_words[COLUMN_CALL_END] = {
	"schema", "event", "time", "time_ns", "boot_ns", "host", "trace",
	"major", "minor", "desc", "group", "types", "pid", "tid", "comm", "cpu",
	"length", "flags", "context", "fields", "notes", "data", NULL, NULL,
	"function", "latency", "self", "result", "parent", "depth", "doubt",
	"entry", "exit",
};

/* Between `from` and `to`; `to`: it is none of these. */
static enum column column_find(const char *name, size_t length,
			       enum column from, enum column to)
{
	enum column column = from;

	while (column < to && (strncmp(column_words[column], name, length) ||
			       column_words[column][length]))
		column++;
	return column;
}

struct columns_item columns_item_of(const char *name, size_t length,
				    bool calls)
{
	bool dotted = *name == '.';
	struct columns_item item = {
		.column = dotted ? COLUMN_FIELD :
			  column_find(name, length, 0, COLUMN_KINDS),
		.name = name + dotted,
		.length = length - dotted,
	};
	size_t first = 0;
	enum column column;

	if (dotted || !calls || item.column != COLUMN_FIELD)
		return item;
	while (first < length && name[first] != '.')
		first++;
	column = column_find(name, first, COLUMN_FUNCTION, COLUMN_CALL_END);
	if (column == COLUMN_CALL_END ||
	    (first < length && (column < COLUMN_ENTRY || first + 1 == length)))
		return item;
	item.column = column;
	item.from = first < length ? first + 1 : length;
	return item;
}

bool column_is_of_calls(enum column column)
{
	return column == COLUMN_LATENCY || column == COLUMN_SELF ||
	       column == COLUMN_RESULT || column == COLUMN_ENTRY ||
	       column == COLUMN_EXIT;
}

bool columns_item_field(const struct columns_item *item, const char **name,
			size_t *length)
{
	*name = item->name + item->from;
	*length = item->length - item->from;
	return item->column == COLUMN_FIELD ||
	       (item->column >= COLUMN_ENTRY && *length);
}

static int columns_item_add(struct columns *columns, const char *name,
			    size_t length, bool calls, struct error *err)
{
	struct columns_item *items =
		reallocarray(columns->items, columns->count + 1,
			     sizeof(*items));

	if (!items)
		return error_no_memory(err);
	columns->items = items;
	items[columns->count++] =
		columns_item_of(name, length, calls);
	return 0;
}

static int columns_list_parse(struct columns *columns, const char *list,
			      bool calls, struct error *err)
{
	size_t length;
	int code = 0;

	for (const char *p = list; !code; p += length + 1) {
		length = strcspn(p, ",");
		if (!length || (*p == '.' && length == 1))
			return error_set(err, -EINVAL,
					 "--fields '%s': a name is missing",
					 list);
		code = columns_item_add(columns, p, length, calls, err);
		if (!p[length])
			break;
	}
	return code;
}

int columns_parse(struct columns *columns,
		  const struct output_settings *settings, struct error *err)
{
	int code = 0;

	*columns = (struct columns){ 0 };
	for (size_t i = 0; !code && i < settings->field_count; i++)
		code = columns_list_parse(columns, settings->fields[i],
					  settings->calls, err);
	if (code)
		columns_free(columns);
	return code;
}

void columns_free(struct columns *columns)
{
	free(columns->items);
	*columns = (struct columns){ 0 };
}

bool columns_have(const struct columns *columns, enum column column)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->items[i].column == column)
			return true;
	return false;
}

size_t columns_field(const struct columns *columns, const char *name)
{
	size_t i = 0;

	for (; i < columns->count; i++) {
		const struct columns_item *item = &columns->items[i];

		if (item->column == COLUMN_FIELD &&
		    !strncmp(item->name, name, item->length) &&
		    !name[item->length])
			break;
	}
	return i;
}

/* It, or what is called like it. */
static bool item_met(const struct columns *columns,
		     const struct columns_item *item)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct columns_item *other = &columns->items[i];

		if (other->column == item->column && other->met &&
		    other->length == item->length &&
		    !memcmp(other->name, item->name, item->length))
			return true;
	}
	return false;
}

int columns_item_check(const struct columns_item *item, struct error *err)
{
	const char *name;
	size_t length;

	if (!columns_item_field(item, &name, &length) || item->met)
		return 0;
	error_set(err, -ENOENT, "no %s has a field '%.*s'",
		  item->column == COLUMN_FIELD ? "event" : "call",
		  (int)item->length, item->name);
	error_hint(err, "--format=json shows the names of the fields");
	return -ENOENT;
}

int columns_check(const struct columns *columns, struct error *err)
{
	int code = 0;

	for (size_t i = 0; i < columns->count && !code; i++)
		if (!item_met(columns, &columns->items[i]))
			code = columns_item_check(&columns->items[i], err);
	return code;
}

/* ---- columns ---- */

#define COMM_MAX	16

static struct column_value column_number(uint64_t number)
{
	return (struct column_value){ COLUMN_NUMBER, .number = number };
}

static struct column_value column_string(const char *string, size_t length)
{
	return (struct column_value){
		COLUMN_STRING, .string = string, .length = length,
	};
}

struct column_value column_value(const struct event *event, enum column column)
{
	const struct ras_record *record = event->record;
	const struct match_point *point = event->point;
	const char *name;

	switch (column) {
	case COLUMN_SCHEMA:
		return column_number(SCHEMA_VERSION);
	case COLUMN_EVENT:
		return column_number(event->number);
	case COLUMN_BOOT_NS:
		return column_number(record->time);
	case COLUMN_MAJOR:
		return column_number(record->major);
	case COLUMN_MINOR:
		return column_number(record->minor);
	case COLUMN_PID:
		return column_number(record->pid);
	case COLUMN_TID:
		return column_number(record->tid);
	case COLUMN_CPU:
		return column_number(event->cpu);
	case COLUMN_LENGTH:
		return column_number(event_data(event).length);
	case COLUMN_HOST:
		name = event->trace->file.host;
		return column_string(name, strlen(name));
	case COLUMN_TRACE:
		name = event->trace->name;
		return column_string(name, strlen(name));
	case COLUMN_DESC:
		if (!point->formatted)
			break;
		name = tff_string(point->tff, point->entry->desc);
		return column_string(name, strlen(name));
	case COLUMN_GROUP:
		name = match_point_group(point);
		if (*name)
			return column_string(name, strlen(name));
		if (point->formatted && point->entry->group)
			return column_number(point->entry->group);
		break;
	case COLUMN_COMM:
		name = event_comm(event);
		if (name)
			return column_string(name, strnlen(name, COMM_MAX));
		break;
	default:
		break;
	}
	return (struct column_value){ COLUMN_NOTHING };
}

void column_flags_add(const struct event *event, const struct scratch *scratch,
		      const char *separator, struct text *text)
{
	unsigned int flags = event_flags(event, scratch->result.status,
					 scratch->result.misfit);
	const char *between = "";

	for (unsigned int i = 0; i < EVENT_FLAGS; i++) {
		if (!(flags & 1u << i))
			continue;
		text_add_string(text, between);
		text_add_string(text, event_flag_words[i]);
		between = separator;
	}
}

/* ---- all values on one line ---- */

static bool arguments_is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t';
}

/* Blanks and line ends from `start` on become one blank each, none at the
 * ends. */
static void line_end(struct text *text, size_t start)
{
	char *from = text->data + start, *end = text->data + text->used;
	char *p = from;

	for (char *c = from; c < end; c++)
		if (!arguments_is_space(*c))
			*p++ = *c;
		else if (p > from && p[-1] != ' ')
			*p++ = ' ';
	while (p > from && p[-1] == ' ')
		p--;
	text->used = p - text->data;
}

/* As the FMT prints it. */
static void cell_piece(const struct render_input *input,
		       const struct decode_piece *piece, bool quoted,
		       struct text *text)
{
	char *p;

	if (text_reserve(text, render_room(input->format, piece->bytes) + 2))
		return;
	p = text->data + text->used;
	if (quoted)
		*p++ = '"';
	p = render_piece(input, piece, p);
	if (quoted)
		*p++ = '"';
	text->used = p - text->data;
}

/* Those of several pieces of a field have a blank in front, but characters. */
static bool piece_is_apart(const struct decode_piece *piece)
{
	return piece->again && piece->step->letter != 'C';
}

static bool piece_is_quoted(const struct match_point *point,
			    const struct decode_piece *piece)
{
	uint32_t field = piece->step->field;

	return field != DECODE_NO_FIELD && piece->note == NOTE_NONE &&
	       point->fields.fields[field].kind == FIELD_STRING &&
	       piece->step->letter != 'C';
}

/* "label = "; a FMT's text is fit for a terminal. */
static void label_put(const struct field *field, struct text *text)
{
	size_t start = text->used;

	if (!*field->label)
		return;
	text_add_string(text, field->label);
	line_end(text, start);
	TEXT_ADD(text, " = ");
}

void arguments_put(const struct output *output, const struct event *event,
		   const struct scratch *scratch, const struct field *without,
		   struct text *text)
{
	const struct match_point *point = event->point;
	struct render_input input = output_render_input(event,
					output->settings->symbols);
	size_t start = text->used, from = start;
	bool quoted;

	for (size_t i = 0; i < scratch->result.count; i++) {
		const struct decode_piece *piece = &scratch->pieces[i];
		uint32_t field = piece->step->field;

		if (piece->step->letter == STEP_TEXT || piece->nothing ||
		    (field == DECODE_NO_FIELD &&
		     (piece->note == NOTE_NONE || piece->shared)) ||
		    (without && piece->step == without->step))
			continue;
		if (!piece->again) {
			line_end(text, from);
			if (text->used > start)
				TEXT_ADD(text, ", ");
			if (field != DECODE_NO_FIELD)
				label_put(&point->fields.fields[field], text);
			from = text->used;
		}
		if (piece_is_apart(piece))
			TEXT_ADD(text, " ");
		quoted = piece_is_quoted(point, piece);
		cell_piece(&input, piece, quoted, text);
		if (quoted)
			from = text->used;
	}
	line_end(text, from);
}

const struct field *arguments_return_field(const struct match_point *post)
{
	const struct field_set *set = &post->fields;

	if (!post->formatted || !set->count)
		return NULL;
	for (size_t i = 0; i < set->count; i++)
		if (!strncasecmp(set->fields[i].label, "ret", 3) ||
		    !strcasecmp(set->fields[i].label, "rc") ||
		    !strcasecmp(set->fields[i].label, "result"))
			return &set->fields[i];
	return &set->fields[0];
}

void arguments_return_put(const struct output *output,
			  const struct event *event,
			  const struct scratch *scratch, struct text *text)
{
	const struct field *field = arguments_return_field(event->point);
	struct render_input input = output_render_input(event,
					output->settings->symbols);
	const struct decode_piece *piece;
	size_t start;
	bool quoted;

	if (event->record->flags & RAS_RECORD_TAIL_CALL) {
		TEXT_ADD(text, "<tail call>");
		return;
	}
	if (!field || !scratch->result.count)
		return;
	piece = field_piece(field, scratch->pieces, scratch->result.count);
	if (!piece) {
		TEXT_ADD(text, "<not traced>");
		return;
	}
	start = text->used;
	quoted = piece_is_quoted(event->point, piece);
	cell_piece(&input, piece, quoted, text);
	if (!quoted)
		line_end(text, start);
}

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

static void cell_field(struct cell *cell, const struct cell_source *source,
		       struct text *text)
{
	const struct event *event = source->event;
	const struct decode_piece *p = source->scratch->pieces, *end;
	size_t start = text->used;
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
		if (piece_is_apart(p))
			text_add_blanks(text, 1);
		cell_piece(&input, p, cell->quoted &&
			   field->kind == FIELD_STRING &&
			   p->step->letter != 'C' &&
			   (p->note == NOTE_NONE || p->note == NOTE_CUT), text);
	}
	one_line(text, start);
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

static void cell_column(struct cell *cell, const struct cell_source *source,
			struct text *text)
{
	const struct event *event = source->event;
	enum column column = cell->item.column;
	struct column_value value = column_value(event, column);
	char time[CLOCK_MAX];
	const char *title;

	switch (column) {
	case COLUMN_TIME:
		text_add(text, time, clock_put(&source->scratch->clock,
					       event->time, time) - time);
		break;
	case COLUMN_TIME_NS:
		text_print(text, "%lld", (long long)event->time);
		break;
	case COLUMN_DESC:
		/* without the line end */
		title = output_desc(source->output, event->point->title);
		text_add(text, title, event->point->title_length - 1 -
				      (title - event->point->title));
		break;
	case COLUMN_TYPES:
		cell_types(event->point, text);
		break;
	case COLUMN_FLAGS:
		column_flags_add(event, source->scratch, ",", text);
		break;
	case COLUMN_CONTEXT:
		cell_context(source, text);
		break;
	case COLUMN_FIELD:
		cell_field(cell, source, text);
		break;
	case COLUMN_FIELDS:
		arguments_put(source->output, event, source->scratch, NULL,
			      text);
		break;
	case COLUMN_DATA:
		cell_data(event, text);
		break;
	default:
		if (value.kind == COLUMN_STRING)
			safe_add(text, value.string, value.length);
		else if (value.kind == COLUMN_NUMBER && cell->hex)
			text_print(text, "0x%04llX",
				   (unsigned long long)value.number);
		else if (value.kind == COLUMN_NUMBER)
			text_add_number(text, value.number);
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
