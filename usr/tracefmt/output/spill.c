// SPDX-License-Identifier: GPL-2.0
#include "spill.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/temp_file.h"

#define BLOCK_MAX	(1u << 30)
#define PIECE		(64u << 10)	/* read or added at once */

void spill_open(struct spill *spill)
{
	*spill = (struct spill){ .fd = -1 };
}

/* Write all that is in memory to the file. */
static int spill_write(struct spill *spill)
{
	struct spill_text *of;

	if (spill->fd < 0)
		spill->fd = temp_file_open();
	if (spill->fd < 0)
		return spill->fd;
	while ((of = spill->held)) {
		struct spill_block *last = of->block_count ?
			&of->blocks[of->block_count - 1] : NULL;
		int code = temp_file_write(spill->fd, of->data, of->used,
					   spill->end);

		if (code)
			return code;
		if (last && last->offset + last->bytes == spill->end &&
		    (uint64_t)last->bytes + of->used <= BLOCK_MAX) {
			last->bytes += of->used;
		} else {
			if (!array_grow(&of->blocks, of->block_count,
					&of->block_room, sizeof(*of->blocks)))
				return -ENOMEM;
			of->blocks[of->block_count++] = (struct spill_block){
				spill->end, of->used,
			};
		}
		spill->end += of->used;
		spill->held = of->next;
		free(of->data);
		of->data = NULL;
		of->used = of->size = 0;
	}
	spill->used = 0;
	return 0;
}

static int spill_reserve(struct spill_text *to, size_t n)
{
	size_t size = to->size ? to->size : 128;
	char *data;

	while (size < to->used + n)
		size *= 2;
	if (size > UINT32_MAX)
		return -ENOMEM;
	data = size == to->size ? to->data : realloc(to->data, size);
	if (!data)
		return -ENOMEM;
	to->data = data;
	to->size = size;
	return 0;
}

int spill_add(struct spill *spill, struct spill_text *to, const char *data,
	      size_t n)
{
	while (n) {
		size_t piece = n < PIECE ? n : PIECE;

		if (spill->used + piece > SPILL_MEMORY) {
			int code = spill_write(spill);

			if (code)
				return code;
		}
		if (spill_reserve(to, piece))
			return -ENOMEM;
		if (!to->used) {
			to->next = spill->held;
			spill->held = to;
		}
		memcpy(to->data + to->used, data, piece);
		to->used += piece;
		spill->used += piece;
		data += piece;
		n -= piece;
	}
	return 0;
}

int spill_take(struct spill *spill, struct spill_text *from, struct text *text)
{
	/* Copy the blocks in the file, a piece at a time. */
	for (size_t i = 0; i < from->block_count; i++) {
		const struct spill_block *block = &from->blocks[i];

		for (uint32_t at = 0, n; at < block->bytes; at += n) {
			int code;

			n = block->bytes - at;
			n = n < PIECE ? n : PIECE;
			if (text_reserve(text, n))
				return -ENOMEM;
			code = temp_file_read(spill->fd,
					      text->data + text->used, n,
					      block->offset + at);
			if (code)
				return code;
			text->used += n;
			text_pass(text);
		}
	}

	/* Then the end, which is in memory. */
	if (text_reserve(text, from->used))
		return -ENOMEM;
	if (from->used)
		text->used = text_put(text->data + text->used, from->data,
				      from->used) - text->data;
	spill_text_free(from);
	text_pass(text);
	return 0;
}

void spill_text_free(struct spill_text *of)
{
	free(of->data);
	free(of->blocks);
	*of = (struct spill_text){ 0 };
}

void spill_close(struct spill *spill)
{
	if (spill->fd >= 0)
		close(spill->fd);
	spill->fd = -1;
}
