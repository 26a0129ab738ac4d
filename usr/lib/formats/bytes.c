// SPDX-License-Identifier: GPL-2.0
#include "bytes.h"

#include <stdarg.h>
#include <stdio.h>
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

void bytes_print(struct bytes *bytes, const char *fmt, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, fmt);
	length = vasprintf(&text, fmt, args);
	va_end(args);
	if (length < 0) {
		bytes->failed = true;
		return;
	}
	bytes_add(bytes, text, length);
	free(text);
}

char *text_format(const char *fmt, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, fmt);
	length = vasprintf(&text, fmt, args);
	va_end(args);
	return length < 0 ? NULL : text;
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

uint32_t strings_add(struct strings *strings, const char *text)
{
	struct bytes *bytes = &strings->bytes;
	uint64_t hash, at;
	size_t step = 0;

	if (!bytes->size)
		bytes_add(bytes, "", 1);
	if (!text || !*text || bytes->failed)
		return 0;
	hash = hash_fnv(HASH_FNV_START, text, strlen(text));
	while ((at = key_map_each_number(&strings->offsets, hash, &step)))
		if (!strcmp((char *)bytes->data + at, text))
			return at;
	at = bytes->size;
	bytes_add(bytes, text, strlen(text) + 1);
	if (!bytes->failed)
		bytes->failed = key_map_add_number(&strings->offsets, hash, at);
	return bytes->failed ? 0 : at;
}

void strings_free(struct strings *strings)
{
	bytes_free(&strings->bytes);
	key_map_free(&strings->offsets);
}
