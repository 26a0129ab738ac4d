// SPDX-License-Identifier: GPL-2.0
/* Whatever the bytes are, what is printed of them is text that no terminal
 * obeys: the same as a decoder of single characters makes, and in its room. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tap.h>
#include "lib/text.h"

#define LENGTH	24
#define GUARD	0x5a

/* The character at s, of n bytes at most (RFC 3629); 0: there is none. */
static size_t character(const uint8_t *s, size_t n, uint32_t *c)
{
	static const struct {
		uint8_t mask, mark;
		uint32_t least;
	} forms[] = {
		{ 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 },
		{ 0xf8, 0xf0, 0x10000 },
	};
	size_t length = 0, i;

	while (length < 4 &&
	       (s[0] & forms[length].mask) != forms[length].mark)
		length++;
	if (length == 4 || length >= n)
		return 0;
	*c = s[0] & ~forms[length].mask;
	for (i = 1; i <= length && s[i] >> 6 == 2; i++)
		*c = *c << 6 | (s[i] & 0x3f);
	return i <= length || *c < forms[length].least || *c > 0x10ffff ||
	       (*c >> 11) == 0x1b ? 0 : length + 1;
}

/* It shows itself, and doesn't turn or break the line. */
static bool is_shown(uint32_t c)
{
	if (c < 0xa0)
		return c >= ' ' && c < 0x7f;
	return c != 0x61c && c != 0x200e && c != 0x200f &&
	       !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069);
}

static size_t expect(char *p, const uint8_t *s, size_t n, bool layout)
{
	static const char letters[] = "\nn\tt\rr";
	char *start = p;
	uint32_t c = 0;

	for (size_t at = 0, step; at < n; at += step) {
		const char *letter = s[at] ? strchr(letters, s[at]) : NULL;

		step = character(s + at, n - at, &c);
		if (step && (is_shown(c) ||
			     (layout && (c == '\n' || c == '\t')))) {
			memcpy(p, s + at, step);
			p += step;
			continue;
		}
		step = 1;
		if (letter && s[at] < ' ')
			p += sprintf(p, "\\%c", letter[1]);
		else
			p += sprintf(p, "\\x%02X", s[at]);
	}
	return p - start;
}

/* Does it come out as expected, without a byte past its room? */
static bool same(const uint8_t *bytes, size_t n, bool layout)
{
	char want[4 * LENGTH + 1], got[4 * LENGTH + 8];
	size_t length = expect(want, bytes, n, layout);

	memset(got, GUARD, sizeof(got));
	if (safe_text_put(got, bytes, n, layout) != got + length ||
	    memcmp(got, want, length))
		return false;
	for (size_t i = 4 * n; i < sizeof(got); i++)
		if (got[i] != GUARD)
			return false;
	return true;
}

/* One byte of any value at any place among letters. */
static size_t single_bytes(void)
{
	uint8_t bytes[LENGTH];
	size_t wrong = 0;

	for (size_t n = 1; n <= LENGTH; n++)
		for (size_t at = 0; at < n; at++)
			for (int value = 0; value < 256; value++) {
				memset(bytes, 'a', sizeof(bytes));
				bytes[at] = value;
				wrong += !same(bytes, n, value & 1);
			}
	return wrong;
}

/* Of values that matter: the edges of ASCII and of UTF-8's forms. */
static size_t edges(unsigned int rounds)
{
	static const uint8_t values[] = {
		0, '\t', '\n', '\r', 0x1b, 0x1f, ' ', '\\', '~', 0x7f, 0x80,
		0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0,
		0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff, 'a', 'b',
	};
	uint8_t bytes[LENGTH];
	size_t wrong = 0;

	while (rounds--) {
		size_t n = random() % (LENGTH + 1);

		for (size_t i = 0; i < n; i++)
			bytes[i] = values[random() % sizeof(values)];
		wrong += !same(bytes, n, random() & 1);
	}
	return wrong;
}

static size_t every_character(void)
{
	uint8_t bytes[4];
	size_t wrong = 0;

	for (uint32_t c = 0x80; c < 0x120000; c += c < 0x11000 ? 1 : 0x3f) {
		size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		uint32_t rest = c;

		for (size_t i = n; --i; rest >>= 6)
			bytes[i] = 0x80 | (rest & 0x3f);
		bytes[0] = (0xf00 >> n & 0xff) | rest;
		wrong += !same(bytes, n, false);
	}
	return wrong;
}

int main(void)
{
	srandom(1);
	tap_ok(same((const uint8_t *)"\033[31m", 5, false), "an escape");
	tap_is(single_bytes(), 0, "every byte at every place");
	tap_is(edges(300000), 0, "the edges of ASCII and UTF-8, mixed");
	tap_is(every_character(), 0, "characters of all lengths");
	return tap_done();
}
