// SPDX-License-Identifier: GPL-2.0
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE	256

size_t safe_text_utf8(const void *bytes, size_t n)
{
	static const uint32_t least[] = { 0, 0, 0xa0, 0x800, 0x10000 };
	const uint8_t *s = bytes;
	size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t c = s[0] & (0x7f >> length);

	if (s[0] < 0xc2 || s[0] > 0xf4 || length > n)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return length;
}

static char *safe_text_escape(char *p, uint8_t c)
{
	static const char digits[] = "0123456789ABCDEF";

	*p++ = '\\';
	switch (c) {
	case '\n':
		*p++ = 'n';
		return p;
	case '\t':
		*p++ = 't';
		return p;
	case '\r':
		*p++ = 'r';
		return p;
	default:
		*p++ = 'x';
		*p++ = digits[c >> 4];
		*p++ = digits[c & 0xf];
		return p;
	}
}

/* What reorders the text around it (U+061C, U+200E, U+200F, U+202A-202E,
 * U+2066-2069), or breaks its line (U+2028, U+2029). */
static bool is_control(const uint8_t *s, size_t length)
{
	if (length == 2)
		return s[0] == 0xd8 && s[1] == 0x9c;
	if (length != 3 || s[0] != 0xe2)
		return false;
	return (s[1] == 0x80 && ((s[2] >= 0xa8 && s[2] <= 0xae) ||
				 s[2] == 0x8e || s[2] == 0x8f)) ||
	       (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

char *safe_text_put(char *p, const void *bytes, size_t n, bool layout)
{
	const uint8_t *s = bytes;
	size_t length;

	for (size_t i = 0;; i += length) {
		length = safe_text_plain(p, s + i, n - i);
		p += length;
		i += length;
		if (i == n)
			return p;
		length = 1;
		if (layout && (s[i] == '\n' || s[i] == '\t')) {
			*p++ = s[i];
			continue;
		}
		length = s[i] < 0x80 ? 0 : safe_text_utf8(s + i, n - i);
		if (length && !is_control(s + i, length)) {
			memcpy(p, s + i, length);
			p += length;
			continue;
		}
		length = 1;
		p = safe_text_escape(p, s[i]);
	}
}

void safe_text_print(FILE *out, const char *text, bool layout)
{
	char safe[4 * PIECE];
	size_t left = strlen(text);

	while (left) {
		size_t n = left < PIECE ? left : PIECE;

		/* not between the bytes of one character */
		while (n < left && n > PIECE - 4 && (text[n] & 0xc0) == 0x80)
			n--;
		fwrite(safe, 1, safe_text_put(safe, text, n, layout) - safe,
		       out);
		text += n;
		left -= n;
	}
}

#define TEXT_LEAST	128	/* bytes of one that was not opened */
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
	size_t size = text->size ? text->size : TEXT_LEAST;
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

char *text_put_duration(char *p, int64_t ns)
{
	static const char *const units[] = { "us", "ms", "s" };
	double value = ns / 1e3;
	size_t unit = 0;

	if (ns < 1000)
		return p + sprintf(p, "%lld ns", (long long)ns);
	while (unit < 2 && value >= 999.95) {
		value /= 1000;
		unit++;
	}
	return p + sprintf(p, "%.*f %s", value < 9.9995 ? 3 :
			   value < 99.995 ? 2 : value < 999.95 ? 1 : 0,
			   value, units[unit]);
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
