// SPDX-License-Identifier: GPL-2.0
#include "spill.h"

#include <errno.h>
#include <stdlib.h>
#include "lib/array.h"
#include "lib/outfile.h"

#define SPILL_MEMORY	(4u << 20)	/* bytes of text in memory */

/* Write all that is in memory to the file. */
static int spill_write(struct spill *spill)
{
	struct spill_text *of;
	int code;

	if (spill->fd < 0)
		spill->fd = temp_file_open();
	if (spill->fd < 0)
		return spill->fd;
	for (; (of = spill->held); spill->held = of->next) {
		struct spill_block *last = of->block_count ?
			&of->blocks[of->block_count - 1] : NULL;

		code = temp_file_write(spill->fd, of->text.data, of->text.used,
				       spill->end);
		if (code)
			return code;
		if (!last || last->offset + last->bytes != spill->end) {
			if (!array_grow(&of->blocks, of->block_count,
					&of->block_room, sizeof(*of->blocks)))
				return -ENOMEM;
			last = &of->blocks[of->block_count++];
			*last = (struct spill_block){
				.start = of->length - of->text.used,
				.offset = spill->end,
			};
		}
		last->bytes += of->text.used;
		spill->end += of->text.used;
		free(of->text.data);
		of->text = (struct text){ 0 };
	}
	spill->used = 0;
	return 0;
}

int spill_add(struct spill *spill, struct spill_text *to, const char *data,
	      size_t n)
{
	int code = spill->used + n > SPILL_MEMORY ? spill_write(spill) : 0;

	if (code)
		return code;
	if (!to->text.used) {
		to->next = spill->held;
		spill->held = to;
	}
	text_add(&to->text, data, n);
	spill->used += n;
	to->length += n;
	return -to->text.error;
}

int spill_patch(struct spill *spill, struct spill_text *of, uint64_t at,
		const char *data, size_t n)
{
	uint64_t memory = of->length - of->text.used;
	const struct spill_block *block;

	if (at >= memory) {
		memcpy(of->text.data + (at - memory), data, n);
		return 0;
	}
	block = &of->blocks[array_count_upto(of->blocks, of->block_count,
					     sizeof(*block), at) - 1];
	return temp_file_write(spill->fd, data, n,
			       block->offset + (at - block->start));
}

void spill_text_free(struct spill_text *of)
{
	free(of->text.data);
	free(of->blocks);
	*of = (struct spill_text){ 0 };
}

int spill_take(struct spill *spill, struct spill_text *from,
	       struct text *text)
{
	int code = 0;

	for (size_t i = 0; i < from->block_count && !code; i++)
		code = temp_file_take(spill->fd, from->blocks[i].offset,
				      from->blocks[i].bytes, text);
	if (code)
		return code;
	text_add(text, from->text.data, from->text.used);
	spill_text_free(from);
	text_pass(text);
	return -text->error;
}
