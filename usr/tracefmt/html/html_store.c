// SPDX-License-Identifier: GPL-2.0
#include "html_store.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include "lib/temp_file.h"
#include "html_json.h"

#define COPY_BYTES	(64u << 10)

#define ROWS_BEGIN "<script type=\"application/json\" class=\"rows\">[\n"
#define ROWS_END   "\n]</script>\n"

static bool half_is_full(const struct html_half *half)
{
	return half->rows >= HTML_ROWS || half->bytes >= HTML_BYTES ||
	       half->block_count > HTML_BLOCKS;
}

/* The other half, which is older, is given up for what comes. */
static int half_turn(struct html_store *store)
{
	struct html_half *half = &store->halves[!store->now];
	int code = store->text.fd < 0 ? 0 : text_flush(&store->text);

	if (code)
		return temp_file_fail(-code);
	if (half->fd < 0)
		half->fd = temp_file_open();
	if (half->fd < 0)
		return half->fd;
	if (ftruncate(half->fd, 0) || lseek(half->fd, 0, SEEK_SET))
		return -errno;
	half->block_count = half->rows = 0;
	half->bytes = 0;
	store->text.fd = half->fd;
	store->now = !store->now;
	return 0;
}

int html_store_open(struct html_store *store)
{
	int code = text_open(&store->text, -1);

	store->halves[0].fd = store->halves[1].fd = -1;
	return code ? code : half_turn(store);
}

static struct html_block *block_open(struct html_half *half)
{
	struct html_block *last;

	if (half->block_count) {
		last = &half->blocks[half->block_count - 1];
		if (last->rows < HTML_BLOCK && last->bytes < HTML_BLOCK_BYTES)
			return last;
	}
	last = &half->blocks[half->block_count++];
	*last = (struct html_block){ .offset = half->bytes };
	return last;
}

int html_store_row(struct html_store *store, size_t n, char **row)
{
	struct html_half *half = &store->halves[store->now];
	struct html_block *block;
	int code = half_is_full(half) ? half_turn(store) : 0;

	if (code)
		return code;
	half = &store->halves[store->now];
	if (text_reserve(&store->text, n + 2))
		return -ENOMEM;
	block = block_open(half);
	*row = store->text.data + store->text.used;
	if (block->rows)
		*row = TEXT_PUT(*row, ",\n");
	return 0;
}

int html_store_add(struct html_store *store, const char *p)
{
	struct html_half *half = &store->halves[store->now];
	struct html_block *block = &half->blocks[half->block_count - 1];
	size_t bytes = p - (store->text.data + store->text.used);

	store->text.used += bytes;
	block->bytes += bytes;
	half->bytes += bytes;
	block->rows++;
	half->rows++;
	text_pass(&store->text);
	return store->text.error ? temp_file_fail(store->text.error) : 0;
}

/* ---- writing ---- */

/* Blocks of a half that are among the newest ones; `rows` and `bytes` are what
 * may still be kept. Returns the index of the first. */
static uint32_t half_first(const struct html_half *half, uint64_t *rows,
			   uint64_t *bytes)
{
	uint32_t first = half->block_count;

	for (; first; first--) {
		const struct html_block *block = &half->blocks[first - 1];

		if (block->rows > *rows || block->bytes > *bytes) {
			*rows = *bytes = 0;
			break;
		}
		*rows -= block->rows;
		*bytes -= block->bytes;
	}
	return first;
}

struct kept {
	uint32_t old, now;	/* first blocks of the halves */
	uint64_t rows;
};

static struct kept kept_find(const struct html_store *store)
{
	/* a half is full when it is above a limit */
	uint64_t rows = HTML_ROWS, bytes = HTML_BYTES + 2 * HTML_BLOCK_BYTES;
	struct kept kept;

	kept.now = half_first(&store->halves[store->now], &rows, &bytes);
	kept.old = half_first(&store->halves[!store->now], &rows, &bytes);
	kept.rows = 0;
	for (unsigned int i = 0; i < 2; i++) {
		const struct html_half *half = &store->halves[i];
		uint32_t b = i == store->now ? kept.now : kept.old;

		for (; b < half->block_count; b++)
			kept.rows += half->blocks[b].rows;
	}
	return kept;
}

uint64_t html_store_kept(const struct html_store *store)
{
	return kept_find(store).rows;
}

static int bytes_copy(int fd, uint64_t at, uint64_t left, struct text *text)
{
	while (left) {
		size_t n = left < COPY_BYTES ? left : COPY_BYTES;
		ssize_t got;

		if (text_reserve(text, n))
			return -ENOMEM;
		got = pread(fd, text->data + text->used, n, at);
		if (got <= 0)
			return got ? -errno : -EIO;
		text->used += got;
		at += got;
		left -= got;
		text_pass(text);
	}
	return 0;
}

static int half_write(const struct html_half *half, uint32_t first,
		      struct text *text)
{
	int code = 0;

	for (; first < half->block_count && !code; first++) {
		const struct html_block *block = &half->blocks[first];

		TEXT_ADD(text, ROWS_BEGIN);
		code = bytes_copy(half->fd, block->offset, block->bytes, text);
		TEXT_ADD(text, ROWS_END);
	}
	return code;
}

int html_store_write(struct html_store *store, struct text *text)
{
	struct kept kept = kept_find(store);
	int code = text_flush(&store->text);

	if (!code)
		code = half_write(&store->halves[!store->now], kept.old, text);
	if (!code)
		code = half_write(&store->halves[store->now], kept.now, text);
	return code;
}

void html_store_close(struct html_store *store)
{
	for (unsigned int i = 0; i < 2; i++)
		if (store->halves[i].fd >= 0)
			close(store->halves[i].fd);
	free(store->text.data);
}
