// SPDX-License-Identifier: GPL-2.0
#include "mpatrol.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- reading ---- */

static uint64_t fixed(struct mpatrol_cursor *cursor, unsigned int size)
{
	const uint8_t *data = cursor_skip(&cursor->in, size);
	uint64_t value = 0;

	for (unsigned int i = 0; data && i < size; i++)
		value |= (uint64_t)data[cursor->form.big ? size - 1 - i : i] <<
			 i * 8;
	return value;
}

uint64_t mpatrol_word(struct mpatrol_cursor *cursor)
{
	return fixed(cursor, cursor->form.word);
}

uint64_t mpatrol_number(struct mpatrol_cursor *cursor)
{
	return fixed(cursor, cursor->form.number);
}

bool mpatrol_magic(struct mpatrol_cursor *cursor, const char *magic)
{
	return mpatrol_left(cursor) >= MPATROL_MAGIC &&
	       !memcmp(cursor->in.at, magic, MPATROL_MAGIC) &&
	       cursor_skip(&cursor->in, MPATROL_MAGIC);
}

/*
 * The first word is 1, so that the eight bytes there give word size and order;
 * the version after it, whose upper half is 0, gives the size of a long.
 */
static bool form_find(struct mpatrol_cursor *cursor)
{
	static const uint8_t one_little[8] = { 1 }, one_big[8] = { [7] = 1 };
	const uint8_t *p = cursor->in.at;
	struct mpatrol_form *form = &cursor->form;

	if (mpatrol_left(cursor) < 8)
		return false;
	*form = (struct mpatrol_form){ 8, 8, !memcmp(p, one_big, 8) };
	if (form->big || !memcmp(p, one_little, 8)) {
		if (mpatrol_left(cursor) >= 16 &&
		    memcmp(p + (form->big ? 8 : 12), "\0\0\0", 4))
			form->number = 4;
		return true;
	}
	*form = (struct mpatrol_form){ 4, 4, !memcmp(p, one_big + 4, 4) };
	return form->big || !memcmp(p, one_little, 4);
}

int mpatrol_open(struct mpatrol_cursor *cursor, struct heap_input *input,
		 const char *magic, uint64_t *version, struct error *err)
{
	*cursor = (struct mpatrol_cursor){
		.in = { .at = input->data, .end = input->data + input->size },
		.input = input,
	};
	if (!mpatrol_magic(cursor, magic))
		return error_set(err, -EINVAL, "'%s' doesn't begin with %s",
				 input->path, magic);
	if (!form_find(cursor))
		return mpatrol_damaged(cursor,
				       "no word of 32 or 64 bits that is 1",
				       err);
	mpatrol_word(cursor);
	*version = mpatrol_number(cursor);
	if (cursor->in.failed)
		return mpatrol_damaged(cursor, "the header ends", err);
	input->trace->bits = cursor->form.word * 8;
	input->trace->big_endian = cursor->form.big;
	input->trace->no_time = true;
	return 0;
}

void mpatrol_version_check(const struct heap_input *input, uint64_t version)
{
	if (version / 100 > MPATROL_VERSION / 100)
		heap_input_warn(input, "its version, %" PRIu64
				", is newer than the last one that is known, %d: read as that",
				version, MPATROL_VERSION);
}

int mpatrol_damaged(const struct mpatrol_cursor *cursor, const char *what,
		    struct error *err)
{
	struct heap_input *input = cursor->input;

	input->trace->damaged++;
	return error_set(err, -EBADMSG, "'%s' is damaged: %s at byte %zu",
			 input->path, what,
			 (size_t)(cursor->in.at - input->data));
}

/* ---- writing ---- */

struct mpatrol_out mpatrol_out_open(const struct heap_output *output)
{
	unsigned int word = output->options->to_bits == 32 ? 4 : 8;

	return (struct mpatrol_out){
		output->file,
		{ word, word, output->options->to_endian == 'b' }, false,
	};
}

static void put_fixed(struct mpatrol_out *out, unsigned int size,
		      uint64_t value)
{
	if (size < 8 && value >> size * 8)
		out->overflow = true;
	for (unsigned int i = 0; i < size; i++) {
		unsigned int place = out->form.big ? size - 1 - i : i;

		putc(value >> place * 8 & 0xff, out->file);
	}
}

void mpatrol_put_word(struct mpatrol_out *out, uint64_t value)
{
	put_fixed(out, out->form.word, value);
}

void mpatrol_put_number(struct mpatrol_out *out, uint64_t value)
{
	put_fixed(out, out->form.number, value);
}

void mpatrol_put_leb128(struct mpatrol_out *out, uint64_t value)
{
	if (out->form.word < 8 && value >> out->form.word * 8)
		out->overflow = true;
	for (; value > 0x7f; value >>= 7)
		putc((value & 0x7f) | 0x80, out->file);
	putc(value, out->file);
}

void mpatrol_put_header(struct mpatrol_out *out, const char *magic)
{
	fwrite(magic, 1, MPATROL_MAGIC, out->file);
	mpatrol_put_word(out, 1);
	mpatrol_put_number(out, MPATROL_VERSION);
}

int mpatrol_put_trailer(struct mpatrol_out *out, const char *magic,
			struct error *err)
{
	fwrite(magic, 1, MPATROL_MAGIC, out->file);
	if (!out->overflow)
		return 0;
	error_set(err, -EOVERFLOW, "a number has no room in %u bits",
		  out->form.word * 8);
	error_hint(err, "try --bits 64");
	return -EOVERFLOW;
}

/* ---- events ---- */

void caller_find(const struct heap_trace *trace, uint32_t stack,
		 struct caller *caller)
{
	const struct heap_frame *frame;
	uint32_t number;

	caller->function[0] = '\0';
	caller->file = "";
	caller->line = 0;
	if (!stack || stack >= trace->stack_count)
		return;
	number = trace->stacks[stack].frame;
	frame = &trace->frames[number];
	if (frame->stopped)
		return;
	if (frame->symbol || frame->module)
		heap_frame_place(trace, number, caller->function,
				 sizeof(caller->function));
	caller->file = heap_text(trace, frame->file);
	caller->line = frame->line;
}
