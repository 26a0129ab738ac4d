// SPDX-License-Identifier: GPL-2.0
/* FMT lines as steps for decode_record() */
#include "decode_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/text.h"
#include "plain.h"
#include "render.h"

static void typed_compile(struct decode_format *format,
			  struct decode_step *step)
{
	step->letter = STEP_TYPED;
	step->type = step->source.type;
	switch (step->type) {
	case FORMAT_CHAR:
		step->letter = 'C';
		break;
	case FORMAT_STRING:
		step->letter = 'S';
		break;
	case FORMAT_BYTES:
		step->letter = STEP_HEX;
		break;
	case FORMAT_DUMP:
		step->letter = STEP_DUMP;
		break;
	case FORMAT_SYM:
		step->letter = STEP_SYM;
		format->has_addresses = true;
		break;
	case FORMAT_STACK:
		step->letter = STEP_STACK;
		format->has_addresses = true;
		break;
	case FORMAT_NAMED:
		step->letter = STEP_VALUE;
		step->ctype = step->source.ctype;
		step->bytes = format->types.types[step->ctype].bytes;
		format->has_values = true;
		break;
	default:
		break;
	}
}

static bool letter_rests(char letter)
{
	return letter == 'S' || letter == STEP_HEX || letter == STEP_DUMP ||
	       letter == STEP_STACK || letter == STEP_VALUE;
}

static void step_compile(struct decode_format *format, size_t i)
{
	struct decode_step *step = &format->steps[i];
	char *text = format->text + format->text_length;

	*step = (struct decode_step){
		.letter = format->parsed.steps[i].letter,
		.field = DECODE_NO_FIELD,
		.source = format->parsed.steps[i],
	};
	if (step->source.kind == FORMAT_CONTROL) {
		step->bytes = format_step_bytes(&step->source);
		if (step->letter == '{')
			typed_compile(format, step);
		step->rest = letter_rests(step->letter) && !step->bytes;
		step->fixed = step->bytes && step->letter != 'I' &&
			      step->letter != 'S';
		step->repeats = i && step[-1].letter == 'R';
		if (!strchr("PRXY", step->letter))
			format->takes_data = true;
		return;
	}
	step->letter = STEP_TEXT;
	step->text = text;
	step->length = text_put_layout(text, step->source.text,
				       step->source.length) - text;
	step->blank = strspn(text, " ") == step->length;
	format->text_length += step->length;
}

static uint32_t decode_type_find(const void *types, const char *name,
				 size_t length)
{
	return value_type_find(types, name, length);
}

int decode_compile(struct decode_format *format, const char *fmt,
		   const struct value_types *types)
{
	struct format_types known = { decode_type_find, types };

	*format = (struct decode_format){ .types = *types };
	if (format_compile(&format->parsed, fmt, &known))
		return -ENOMEM;
	format->count = format->parsed.count;
	format->steps = calloc(format->count + 1, sizeof(*format->steps));
	format->text = calloc(4 * strlen(fmt) + TEXT_SLACK, 1);
	if (!format->steps || !format->text) {
		decode_free(format);
		return -ENOMEM;
	}
	for (size_t i = 0; i < format->count; i++)
		step_compile(format, i);
	render_prepare(format);
	if (!plain_prepare(format))
		return 0;
	decode_free(format);
	return -ENOMEM;
}

void decode_free(struct decode_format *format)
{
	format_free(&format->parsed);
	free(format->plain);
	free(format->steps);
	free(format->text);
	memset(format, 0, sizeof(*format));
}
