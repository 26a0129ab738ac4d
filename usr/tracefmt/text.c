// SPDX-License-Identifier: GPL-2.0
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT_PIECE	(256u << 10)

const char text_digits[] = "0123456789ABCDEF";

static const char decimal_pairs[] =
	"00010203040506070809101112131415161718192021222324"
	"25262728293031323334353637383940414243444546474849"
	"50515253545556575859606162636465666768697071727374"
	"75767778798081828384858687888990919293949596979899";

int text_open(struct text *text, int fd)
{
	*text = (struct text){ .fd = fd, .size = 2 * TEXT_PIECE };
	text->data = malloc(text->size);
	return text->data ? 0 : -ENOMEM;
}

int text_reserve(struct text *text, size_t n)
{
	size_t size = text->size;
	char *data;

	if (text->size - text->used >= n)
		return 0;
	while (size - text->used < n)
		size *= 2;
	data = realloc(text->data, size);
	if (!data) {
		text->error = text->error ? text->error : ENOMEM;
		return -ENOMEM;
	}
	text->data = data;
	text->size = size;
	return 0;
}

static void text_write(struct text *text)
{
	size_t done = 0;

	while (done < text->used && !text->error) {
		ssize_t n = write(text->fd, text->data + done,
				  text->used - done);

		if (n >= 0)
			done += n;
		else if (errno != EINTR)
			text->error = errno;
	}
	text->used = 0;
}

void text_pass(struct text *text)
{
	if (text->used >= TEXT_PIECE)
		text_write(text);
}

int text_flush(struct text *text)
{
	text_write(text);
	return -text->error;
}

int text_close(struct text *text)
{
	text_write(text);
	free(text->data);
	text->data = NULL;
	return -text->error;
}

char *text_put_decimal(char *p, uint64_t value)
{
	char digits[20], *d = digits + sizeof(digits);

	while (value >= 100) {
		d -= 2;
		memcpy(d, decimal_pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	if (value >= 10) {
		d -= 2;
		memcpy(d, decimal_pairs + 2 * value, 2);
	} else {
		*--d = '0' + value;
	}
	return text_put(p, d, digits + sizeof(digits) - d);
}

char *text_put_padded(char *p, uint64_t value, int digits)
{
	int i = digits;

	for (; i >= 2; i -= 2, value /= 100)
		memcpy(p + i - 2, decimal_pairs + 2 * (value % 100), 2);
	if (i)
		*p = '0' + value % 10;
	return p + digits;
}

char *text_put_row(char *p, const uint8_t *data, size_t n, size_t row)
{
	size_t count = n - row < TEXT_ROW ? n - row : TEXT_ROW;

	p = TEXT_PUT(p, "+");
	p = text_put_hex(p, row, 4);
	p = TEXT_PUT(p, " ");
	for (size_t i = 0; i < TEXT_ROW; i++) {
		*p++ = ' ';
		if (i < count)
			p = text_put_hex(p, data[row + i], 2);
		else
			p = TEXT_PUT(p, "  ");
	}
	p = TEXT_PUT(p, "  ");
	for (size_t i = 0; i < count; i++) {
		uint8_t c = data[row + i];

		*p++ = c >= 0x20 && c < 0x7f ? c : '.';
	}
	return p;
}
