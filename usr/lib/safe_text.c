// SPDX-License-Identifier: GPL-2.0
#include "safe_text.h"

#include <stdint.h>
#include <string.h>

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
