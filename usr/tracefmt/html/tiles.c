// SPDX-License-Identifier: GPL-2.0
/*
 * Tiles are kept as they are in two unnamed files of TMPDIR that are filled in
 * turns, because any of them may turn out to be too old; only those that get
 * into the page are compressed.
 */
#include "tiles.h"

#include <errno.h>
#include <rastrace/rasfile.h>
#include <stdlib.h>
#include <unistd.h>
#include "lib/formats/chunk.h"
#include "lib/outfile.h"

#define TILE_TEXTS	(1u << 20)	/* bytes with which a tile is full */
#define TILES_BYTES	(256ull << 20)	/* of a page's texts, at most */
#define TILES_MAX	(TILES_ROWS_MAX / TILE_ROWS + TILES_BYTES / TILE_TEXTS)
#define TILES_LEVEL	6		/* of zlib's compression */

struct tile {
	uint64_t offset;
	uint32_t rows;
	uint32_t numbers, texts;	/* bytes */
};

struct tiles_half {
	int fd;			/* -1: not opened yet */
	uint32_t count;
	struct tile tiles[TILES_MAX];
	uint64_t rows, bytes;
};

struct tiles {
	struct tiles_half halves[2];
	unsigned int now;	/* which of them is filled */
	/* the tile that is filled */
	struct tile_row rows[TILE_ROWS];
	uint32_t count;
	struct text numbers, texts, values;
	/* one that is written */
	uint8_t *packed;
	size_t room;
};

/* The other half, which is older, is given up for what comes. */
static int half_turn(struct tiles *tiles)
{
	struct tiles_half *half = &tiles->halves[!tiles->now];

	if (half->fd < 0)
		half->fd = temp_file_open();
	if (half->fd < 0)
		return half->fd;
	if (ftruncate(half->fd, 0))
		return -errno;
	half->count = 0;
	half->rows = half->bytes = 0;
	tiles->now = !tiles->now;
	return 0;
}

int tiles_open(struct tiles **tiles)
{
	struct tiles *made = calloc(1, sizeof(*made));
	int code;

	if (!made)
		return -ENOMEM;
	made->halves[0].fd = made->halves[1].fd = -1;
	code = half_turn(made);
	if (!code && (text_open(&made->numbers, -1) ||
		      text_open(&made->texts, -1) ||
		      text_open(&made->values, -1)))
		code = -ENOMEM;
	if (code) {
		tiles_close(made);
		return code;
	}
	*tiles = made;
	return 0;
}

/* ---- numbers ---- */

#define LEB128_MAX	10	/* bytes of a number */
#define TILE_COLUMNS	15

static void put_leb128(struct text *text, uint64_t value)
{
	char *p = text->data + text->used;

	for (; value >= 0x80; value >>= 7)
		*p++ = value | 0x80;
	*p++ = value;
	text->used = p - text->data;
}

static void put_zigzag(struct text *text, int64_t value)
{
	put_leb128(text, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

#define PUT_COLUMN(tiles, member)					\
	for (uint32_t i = 0; i < (tiles)->count; i++)			\
		put_leb128(&(tiles)->numbers, (tiles)->rows[i].member)

#define PUT_STEPS(tiles, member) do {					\
	uint64_t before = 0;						\
									\
	for (uint32_t i = 0; i < (tiles)->count; i++) {			\
		uint64_t value = (tiles)->rows[i].member;		\
									\
		put_zigzag(&(tiles)->numbers, value - before);		\
		before = value;						\
	}								\
} while (0)

static int numbers_make(struct tiles *tiles)
{
	tiles->numbers.used = 0;
	if (text_reserve(&tiles->numbers,
			 TILE_COLUMNS * LEB128_MAX * tiles->count))
		return -ENOMEM;
	PUT_STEPS(tiles, number);
	PUT_STEPS(tiles, time);
	PUT_COLUMN(tiles, trace);
	PUT_COLUMN(tiles, cpu);
	PUT_STEPS(tiles, pid);
	PUT_STEPS(tiles, tid);
	PUT_COLUMN(tiles, comm);
	PUT_COLUMN(tiles, point);
	PUT_COLUMN(tiles, flags);
	PUT_COLUMN(tiles, length);
	PUT_COLUMN(tiles, role);
	PUT_COLUMN(tiles, depth);
	for (uint32_t i = 0; i < tiles->count; i++)
		put_zigzag(&tiles->numbers, tiles->rows[i].latency);
	for (uint32_t i = 0; i < tiles->count; i++)
		put_zigzag(&tiles->numbers, tiles->rows[i].self);
	PUT_COLUMN(tiles, call);
	return 0;
}

/* ---- keeping ---- */

/* The tile goes into the half that is filled. 0, or a negative errno. */
static int tile_end(struct tiles *tiles)
{
	struct tiles_half *half = &tiles->halves[tiles->now];
	struct text *const parts[] = {
		&tiles->numbers, &tiles->texts, &tiles->values,
	};
	struct tile *tile;
	uint64_t at;
	int code;

	if (!tiles->count)
		return 0;
	if (half->count == TILES_MAX || half->rows >= TILES_ROWS_MAX ||
	    half->bytes >= TILES_BYTES) {
		code = half_turn(tiles);
		if (code)
			return code;
		half = &tiles->halves[tiles->now];
	}
	if (numbers_make(tiles))
		return -ENOMEM;
	tile = &half->tiles[half->count++];
	at = half->bytes;
	*tile = (struct tile){
		.offset = at, .rows = tiles->count,
		.numbers = tiles->numbers.used,
		.texts = tiles->texts.used + tiles->values.used,
	};
	half->rows += tile->rows;
	half->bytes += tile->numbers + tile->texts;
	for (unsigned int i = 0; i < 3; i++) {
		code = temp_file_write(half->fd, parts[i]->data,
				       parts[i]->used, at);
		if (code)
			return code;
		at += parts[i]->used;
		parts[i]->used = 0;
	}
	tiles->count = 0;
	return 0;
}

int tiles_add(struct tiles *tiles, const struct tile_row *row,
	      const struct text *text, const struct text *values)
{
	tiles->rows[tiles->count++] = *row;
	text_add(&tiles->texts, text->data, text->used);
	text_add(&tiles->texts, "", 1);
	text_add(&tiles->values, values->data, values->used);
	text_add(&tiles->values, "", 1);
	if (tiles->texts.error || tiles->values.error)
		return -ENOMEM;
	return tiles->count == TILE_ROWS ||
	       tiles->texts.used + tiles->values.used >= TILE_TEXTS ?
	       tile_end(tiles) : 0;
}

/* ---- which are in the page ---- */

/* Those of a half from *first on; `rows` and `bytes` are what may still be
 * kept. */
static uint64_t half_kept(const struct tiles_half *half, uint64_t *rows,
			  uint64_t *bytes, uint32_t *first)
{
	uint64_t kept = 0;

	for (*first = half->count; *first; --*first) {
		const struct tile *tile = &half->tiles[*first - 1];
		uint64_t size = tile->numbers + tile->texts;

		if (tile->rows > *rows || size > *bytes) {
			*rows = *bytes = 0;
			break;
		}
		*rows -= tile->rows;
		*bytes -= size;
		kept += tile->rows;
	}
	return kept;
}

/* The first tile of each half. */
static uint64_t tiles_find(const struct tiles *tiles, uint32_t first[2])
{
	uint64_t rows = TILES_ROWS_MAX, bytes = TILES_BYTES, kept;

	kept = half_kept(&tiles->halves[tiles->now], &rows, &bytes,
			 &first[tiles->now]);
	return kept + half_kept(&tiles->halves[!tiles->now], &rows, &bytes,
				&first[!tiles->now]);
}

int tiles_end(struct tiles *tiles, uint64_t *kept)
{
	uint32_t first[2];
	int code = tile_end(tiles);

	*kept = tiles_find(tiles, first);
	return code;
}

/* ---- writing ---- */

static void add_base64(struct text *text, const uint8_t *data, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	char *p;

	if (text_reserve(text, (n + 2) / 3 * 4 + 1))
		return;
	p = text->data + text->used;
	for (size_t i = 0; i < n; i += 3) {
		uint32_t three = data[i] << 16 |
				 (i + 1 < n ? data[i + 1] << 8 : 0) |
				 (i + 2 < n ? data[i + 2] : 0);

		*p++ = digits[three >> 18];
		*p++ = digits[three >> 12 & 63];
		*p++ = i + 1 < n ? digits[three >> 6 & 63] : '=';
		*p++ = i + 2 < n ? digits[three & 63] : '=';
	}
	*p++ = '\n';
	text->used = p - text->data;
}

/* n bytes of the file at *at, which goes on. */
static int part_write(struct tiles *tiles, int fd, uint64_t at, size_t n,
		      struct text *text)
{
	/* as large as any so far: it is used for nothing else now */
	struct text *plain = &tiles->texts;
	size_t packed;
	int code;

	plain->used = 0;
	if (text_reserve(plain, n))
		return -ENOMEM;
	code = temp_file_read(fd, plain->data, n, at);
	if (code)
		return code;
	packed = pack_bytes(RAS_PACKED_ZLIB, TILES_LEVEL, plain->data, n,
			    &tiles->packed, &tiles->room);
	/* not packed: as large as before, or no memory for it */
	if (!packed && pack_is_there(RAS_PACKED_ZLIB) && tiles->room < n)
		return -ENOMEM;
	if (packed)
		add_base64(text, tiles->packed, packed);
	else
		add_base64(text, (const uint8_t *)plain->data, n);
	text_pass(text);
	return -text->error;
}

static int tile_write(struct tiles *tiles, int fd, const struct tile *tile,
		      struct text *text)
{
	int code;

	text_print(text, "<script type=\"text/plain\" class=\"tile\">"
		   "%u %u %u\n", tile->rows, tile->numbers, tile->texts);
	code = part_write(tiles, fd, tile->offset, tile->numbers, text);
	if (!code)
		code = part_write(tiles, fd, tile->offset + tile->numbers,
				  tile->texts, text);
	text_add_string(text, "</script>\n");
	return code;
}

int tiles_write(struct tiles *tiles, struct text *text)
{
	uint32_t first[2];
	int code = 0;

	tiles_find(tiles, first);
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int which = i ? tiles->now : !tiles->now;
		const struct tiles_half *half = &tiles->halves[which];

		for (uint32_t t = first[which]; t < half->count && !code; t++)
			code = tile_write(tiles, half->fd, &half->tiles[t],
					  text);
	}
	return code;
}

void tiles_close(struct tiles *tiles)
{
	if (!tiles)
		return;
	for (unsigned int i = 0; i < 2; i++)
		if (tiles->halves[i].fd >= 0)
			close(tiles->halves[i].fd);
	free(tiles->numbers.data);
	free(tiles->texts.data);
	free(tiles->values.data);
	free(tiles->packed);
	free(tiles);
}
