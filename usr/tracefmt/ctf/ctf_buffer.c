// SPDX-License-Identifier: GPL-2.0
#include "ctf_buffer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/text.h"

#define BUFFER_START	4096

/* Room for n more bytes; NULL: none. */
static uint8_t *ctf_buffer_room(struct ctf_buffer *b, size_t n)
{
	size_t size = b->size ? b->size : BUFFER_START;
	uint8_t *data;

	if (b->failed)
		return NULL;
	while (size - b->used < n)
		size *= 2;
	if (size != b->size) {
		data = realloc(b->data, size);
		if (!data) {
			b->failed = true;
			return NULL;
		}
		b->data = data;
		b->size = size;
	}
	return b->data + b->used;
}

void ctf_buffer_add(struct ctf_buffer *b, const void *data, size_t n)
{
	uint8_t *p = ctf_buffer_room(b, n);

	if (!p || !n)
		return;
	memcpy(p, data, n);
	b->used += n;
}

void ctf_buffer_number(struct ctf_buffer *b, uint64_t value,
		       unsigned int bytes)
{
	uint8_t *p = ctf_buffer_room(b, bytes);

	if (!p)
		return;
	for (unsigned int i = 0; i < bytes; i++, value >>= 8)
		p[i] = value;
	b->used += bytes;
}

bool ctf_buffer_is_text(const void *bytes, size_t n)
{
	const uint8_t *s = bytes;
	size_t length;

	for (size_t i = 0; i < n; i += length) {
		length = s[i] < 0x80 ? s[i] != 0 :
				       safe_text_utf8(s + i, n - i);
		if (!length)
			return false;
	}
	return true;
}

void ctf_buffer_string(struct ctf_buffer *b, const void *bytes, size_t n)
{
	const uint8_t *s = bytes, *end = s + n;
	char *p = (char *)ctf_buffer_room(b, 4 * n + 1);
	size_t length;

	if (!p)
		return;
	while (s < end) {
		length = *s < 0x80 ? *s != 0 : safe_text_utf8(s, end - s);
		if (length) {
			memcpy(p, s, length);
			p += length;
		} else {
			p += sprintf(p, "\\x%02X", *s);
			length = 1;
		}
		s += length;
	}
	*p++ = '\0';
	b->used = (uint8_t *)p - b->data;
}

void ctf_buffer_bytes(struct ctf_buffer *b, const uint8_t *data, size_t n)
{
	ctf_buffer_number(b, n, 2);
	ctf_buffer_add(b, data, n);
}

void ctf_buffer_print(struct ctf_buffer *b, const char *fmt, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(text))
		b->failed = true;
	else
		ctf_buffer_add(b, text, n);
}

int ctf_buffer_write(struct ctf_buffer *b, int fd)
{
	size_t at = 0;
	ssize_t n;

	if (b->failed)
		return -ENOMEM;
	while (at < b->used) {
		n = write(fd, b->data + at, b->used - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
	}
	b->used = 0;
	return 0;
}

void ctf_buffer_free(struct ctf_buffer *b)
{
	free(b->data);
	*b = (struct ctf_buffer){ 0 };
}
