// SPDX-License-Identifier: GPL-2.0
#include "arguments.h"

#include <string.h>
#include "lib/read/read.h"

static bool arguments_is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t';
}

/* Blanks and line ends from `start` on become one blank each, none at the
 * ends; returns the new end. */
static char *line_make(char *start, char *end)
{
	char *p = start;

	for (char *c = start; c < end; c++)
		if (!arguments_is_space(*c))
			*p++ = *c;
		else if (p > start && p[-1] != ' ')
			*p++ = ' ';
	while (p > start && p[-1] == ' ')
		p--;
	return p;
}

static void shown_put(const struct render_input *input,
		     const struct match_point *point,
		     const struct decode_piece *piece, struct text *text)
{
	bool quoted;
	char *start, *end;

	quoted =
		piece->step->field != DECODE_NO_FIELD &&
		point->fields.fields[piece->step->field].kind == FIELD_STRING &&
		piece->step->letter != 'C' && piece->note == NOTE_NONE;
	if (text_reserve(text, render_room(input->format, piece->bytes) + 2))
		return;
	start = text->data + text->used;
	if (quoted)
		*start++ = '"';
	end = render_piece(input, piece, start);
	if (quoted)
		*end++ = '"';
	else
		end = line_make(start, end);
	text->used = end - text->data;
}

/* "label = "; a FMT's text is fit for a terminal. */
static void label_put(const struct field *field, struct text *text)
{
	size_t start = text->used;

	if (!*field->label)
		return;
	text_add_string(text, field->label);
	text->used = line_make(text->data + start, text->data + text->used) -
		     text->data;
	TEXT_ADD(text, " = ");
}

void arguments_put(const struct output *output, const struct event *event,
		   const struct scratch *scratch, const struct field *without,
		   struct text *text)
{
	const struct match_point *point = event->point;
	struct render_input input = output_render_input(event,
					output->settings->symbols);
	size_t start = text->used;

	for (size_t i = 0; i < scratch->result.count; i++) {
		const struct decode_piece *piece = &scratch->pieces[i];
		uint32_t field = piece->step->field;

		if (piece->step->letter == STEP_TEXT || piece->nothing ||
		    (field == DECODE_NO_FIELD &&
		     (piece->note == NOTE_NONE || piece->shared)) ||
		    (without && piece->step == without->step))
			continue;
		if (!piece->again && text->used > start)
			TEXT_ADD(text, ", ");
		else if (piece->again && piece->step->letter != 'C')
			TEXT_ADD(text, " ");
		if (!piece->again && field != DECODE_NO_FIELD)
			label_put(&point->fields.fields[field], text);
		shown_put(&input, point, piece, text);
	}
}

/* ---- */

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

	if (event->record->flags & RAS_RECORD_TAIL_CALL) {
		TEXT_ADD(text, "<tail call>");
		return;
	}
	if (!field || !scratch->result.count)
		return;
	piece = field_piece(field, scratch->pieces, scratch->result.count);
	if (piece)
		shown_put(&input, event->point, piece, text);
	else
		TEXT_ADD(text, "<not traced>");
}
