// SPDX-License-Identifier: GPL-2.0
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PRINT_GUESS	256	/* bytes; printed again where they aren't enough */

const char text_digits[] = "0123456789ABCDEF";

const char text_decimal_pairs[] =
	"00010203040506070809101112131415161718192021222324"
	"25262728293031323334353637383940414243444546474849"
	"50515253545556575859606162636465666768697071727374"
	"75767778798081828384858687888990919293949596979899";

#define ROW_OF(h) \
	h "0 ", h "1 ", h "2 ", h "3 ", h "4 ", h "5 ", h "6 ", h "7 ", \
	h "8 ", h "9 ", h "a ", h "b ", h "c ", h "d ", h "e ", h "f "

/* Two digits, a blank and a zero, for text_put_bytes() */
static const char byte_digits[256][4] = {
	ROW_OF("0"), ROW_OF("1"), ROW_OF("2"), ROW_OF("3"), ROW_OF("4"),
	ROW_OF("5"), ROW_OF("6"), ROW_OF("7"), ROW_OF("8"), ROW_OF("9"),
	ROW_OF("a"), ROW_OF("b"), ROW_OF("c"), ROW_OF("d"), ROW_OF("e"),
	ROW_OF("f"),
};

int text_open(struct text *text, int fd)
{
	*text = (struct text){ .fd = fd, .size = 2 * TEXT_PIECE };
	text->data = malloc(text->size);
	return text->data ? 0 : -ENOMEM;
}

int text_grow(struct text *text, size_t n)
{
	size_t size = text->size;
	char *data;

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

int text_flush(struct text *text)
{
	size_t done;

	done = 0;
	while (done < text->used && !text->error) {
		ssize_t n = write(text->fd, text->data + done,
				  text->used - done);

		if (n >= 0)
			done += n;
		else if (errno != EINTR)
			text->error = errno;
	}
	text->used = 0;
	return -text->error;
}

void text_add_number(struct text *text, uint64_t number)
{
	char digits[20];

	text_add(text, digits, text_put_decimal(digits, number) - digits);
}

void text_add_blanks(struct text *text, size_t n)
{
	if (text_reserve(text, n))
		return;
	memset(text->data + text->used, ' ', n);
	text->used += n;
}

void text_print(struct text *text, const char *fmt, ...)
{
	size_t room = PRINT_GUESS;
	va_list args;
	int n;

	while (!text_reserve(text, room)) {
		va_start(args, fmt);
		n = vsnprintf(text->data + text->used, room, fmt, args);
		va_end(args);
		if (n < 0)
			return;
		if ((size_t)n < room) {
			text->used += n;
			return;
		}
		room = (size_t)n + 1;
	}
}

char *text_put_decimal(char *p, uint64_t value)
{
	uint64_t word;
	int zeros;

	if (value >= 100000000) {
		p = text_put_decimal(p, value / 100000000);
		return text_put_eight(p, value % 100000000);
	}
	word = text_decimal_word(value);
	zeros = __builtin_ctzll(word | 1ULL << 56) / 8;
	word = htole64((word + 0x3030303030303030) >> 8 * zeros);
	memcpy(p, &word, sizeof(word));
	return p + sizeof(word) - zeros;
}

char *text_put_padded(char *p, uint64_t value, int digits)
{
	int i = digits;

	for (; i >= 4; i -= 4, value /= 10000)
		text_put_four(p + i - 4, value % 10000);
	for (; i > 0; i--, value /= 10)
		p[i - 1] = '0' + value % 10;
	return p + digits;
}

static inline char *byte_put(char *p, uint8_t byte)
{
	memcpy(p, byte_digits[byte], 4);
	return p + 3;
}

char *text_put_bytes(char *p, const uint8_t *data, size_t n)
{
	char *end = n ? p + 3 * n - 1 : p;

	for (; n >= 4; n -= 4, data += 4) {
		p = byte_put(p, data[0]);
		p = byte_put(p, data[1]);
		p = byte_put(p, data[2]);
		p = byte_put(p, data[3]);
	}
	while (n--)
		p = byte_put(p, *data++);
	return end;
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
