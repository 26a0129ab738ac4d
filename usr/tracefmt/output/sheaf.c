// SPDX-License-Identifier: GPL-2.0
#include "sheaf.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/temp_file.h"

#define BLOCK_MAX	(1u << 30)
#define PIECE		(64u << 10)	/* read or added at once */

void sheaf_open(struct sheaf *sheaf)
{
	*sheaf = (struct sheaf){ .fd = -1 };
}

static int bytes_write(int fd, const char *data, size_t n, uint64_t at)
{
	while (n) {
		ssize_t done = pwrite(fd, data, n, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return temp_file_fail(done ? errno : ENOSPC);
		data += done;
		n -= done;
		at += done;
	}
	return 0;
}

static int bytes_read(int fd, char *data, size_t n, uint64_t at)
{
	while (n) {
		ssize_t done = pread(fd, data, n, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		data += done;
		n -= done;
		at += done;
	}
	return 0;
}

static int block_add(struct sheaf *sheaf, struct sheaf_text *of)
{
	struct sheaf_block *last = of->block_count ?
				   &of->blocks[of->block_count - 1] : NULL;

	if (last && last->offset + last->bytes == sheaf->end &&
	    (uint64_t)last->bytes + of->used <= BLOCK_MAX) {
		last->bytes += of->used;
		return 0;
	}
	if (!array_grow(&of->blocks, of->block_count, &of->block_room,
			sizeof(*of->blocks)))
		return -ENOMEM;
	of->blocks[of->block_count++] = (struct sheaf_block){
		sheaf->end, of->used,
	};
	return 0;
}

/* All that is in memory goes to the file. */
static int held_write(struct sheaf *sheaf)
{
	struct sheaf_text *of;
	int code = 0;

	if (sheaf->fd < 0)
		sheaf->fd = temp_file_open();
	if (sheaf->fd < 0)
		return sheaf->fd;
	while ((of = sheaf->held) && !code) {
		code = bytes_write(sheaf->fd, of->data, of->used, sheaf->end);
		if (!code)
			code = block_add(sheaf, of);
		if (code)
			break;
		sheaf->end += of->used;
		sheaf->held = of->next;
		free(of->data);
		of->data = NULL;
		of->used = of->size = 0;
	}
	sheaf->used = 0;
	return code;
}

static int room_make(struct sheaf_text *to, size_t n)
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

static int piece_add(struct sheaf *sheaf, struct sheaf_text *to,
		     const char *data, size_t n)
{
	int code;

	if (sheaf->used + n > SHEAF_MEMORY) {
		code = held_write(sheaf);
		if (code)
			return code;
	}
	if (room_make(to, n))
		return -ENOMEM;
	if (!to->used) {
		to->next = sheaf->held;
		sheaf->held = to;
	}
	memcpy(to->data + to->used, data, n);
	to->used += n;
	sheaf->used += n;
	return 0;
}

int sheaf_add(struct sheaf *sheaf, struct sheaf_text *to, const char *data,
	      size_t n)
{
	int code = 0;

	while (n && !code) {
		size_t piece = n < PIECE ? n : PIECE;

		code = piece_add(sheaf, to, data, piece);
		data += piece;
		n -= piece;
	}
	return code;
}

static int block_take(const struct sheaf *sheaf,
		      const struct sheaf_block *block, struct text *text)
{
	int code = 0;

	for (uint32_t at = 0, n; at < block->bytes && !code; at += n) {
		n = block->bytes - at;
		n = n < PIECE ? n : PIECE;
		if (text_reserve(text, n))
			return -ENOMEM;
		code = bytes_read(sheaf->fd, text->data + text->used, n,
				  block->offset + at);
		if (!code)
			text->used += n;
		text_pass(text);
	}
	return code;
}

int sheaf_take(struct sheaf *sheaf, struct sheaf_text *from, struct text *text)
{
	int code = 0;

	for (size_t i = 0; i < from->block_count && !code; i++)
		code = block_take(sheaf, &from->blocks[i], text);
	if (code || text_reserve(text, from->used))
		return code ? code : -ENOMEM;
	if (from->used)
		text->used = text_put(text->data + text->used, from->data,
				      from->used) - text->data;
	sheaf_text_free(from);
	text_pass(text);
	return 0;
}

void sheaf_text_free(struct sheaf_text *of)
{
	free(of->data);
	free(of->blocks);
	*of = (struct sheaf_text){ 0 };
}

void sheaf_close(struct sheaf *sheaf)
{
	if (sheaf->fd >= 0)
		close(sheaf->fd);
	sheaf->fd = -1;
}
