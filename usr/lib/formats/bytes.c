// SPDX-License-Identifier: GPL-2.0
#include "bytes.h"

#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"

void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
	size_t need = bytes->size + size;

	if (bytes->failed || need > UINT32_MAX) {
		bytes->failed = true;
		return;
	}
	if (need > bytes->room) {
		size_t room = need < 4096 ? 4096 : need * 2;
		uint8_t *grown = realloc(bytes->data, room);

		if (!grown) {
			bytes->failed = true;
			return;
		}
		bytes->data = grown;
		bytes->room = room;
	}
	if (size)
		memcpy(bytes->data + bytes->size, data, size);
	bytes->size = need;
}

void bytes_join(struct bytes *bytes, const struct bytes *more)
{
	bytes_add(bytes, more->data, more->size);
	bytes->failed |= more->failed;
}

void bytes_align(struct bytes *bytes)
{
	static const uint8_t zeros[8];

	bytes_add(bytes, zeros, -bytes->size & 7);
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	memset(bytes, 0, sizeof(*bytes));
}

/* The slot of text: the one that holds it, or the free one for it. */
static uint32_t *strings_slot(const struct strings *strings, const char *text)
{
	size_t mask = strings->slot_count - 1;
	size_t i = hash_fnv(HASH_FNV_START, text, strlen(text)) & mask;

	while (strings->slots[i] &&
	       strcmp((char *)strings->bytes.data + strings->slots[i], text))
		i = (i + 1) & mask;
	return &strings->slots[i];
}

static bool strings_grow(struct strings *strings)
{
	struct strings grown = *strings;

	grown.slot_count = strings->slot_count ? strings->slot_count * 2 : 256;
	grown.slots = calloc(grown.slot_count, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < strings->slot_count; i++) {
		uint32_t at = strings->slots[i];

		if (at)
			*strings_slot(&grown, (char *)strings->bytes.data + at) =
				at;
	}
	free(strings->slots);
	*strings = grown;
	return true;
}

uint32_t strings_add(struct strings *strings, const char *text)
{
	uint32_t *slot;

	if (!strings->bytes.size)
		bytes_add(&strings->bytes, "", 1);
	if (!text || !*text || strings->bytes.failed)
		return 0;
	if (2 * (strings->used + 1) > strings->slot_count &&
	    !strings_grow(strings)) {
		strings->bytes.failed = true;
		return 0;
	}
	slot = strings_slot(strings, text);
	if (!*slot) {
		*slot = strings->bytes.size;
		strings->used++;
		bytes_add(&strings->bytes, text, strlen(text) + 1);
		if (strings->bytes.failed)
			*slot = 0;
	}
	return *slot;
}

void strings_free(struct strings *strings)
{
	bytes_free(&strings->bytes);
	free(strings->slots);
	memset(strings, 0, sizeof(*strings));
}
