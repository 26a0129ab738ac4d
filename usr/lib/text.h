/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text that is made in memory and written in large pieces. text_put_* write at
 * p, where there is enough room, and return the end. text_add_* make room and
 * append: on allocation failure they append nothing and keep ENOMEM in
 * text->error, so that one check after many calls is enough.
 */
#ifndef LIB_TEXT_H
#define LIB_TEXT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * Text that may come from anywhere, made fit for a terminal: printable ASCII
 * and valid UTF-8 from U+00A0 unchanged, \n, \t and \r by letter, the rest
 * as \xHH, so that no terminal obeys it; so are the characters that turn the
 * direction of the text around them, and Unicode's line ends. layout: line ends
 * and tabs are meant and stay.
 */

/* At most 4 bytes for each of n are written to p; returns the end. */
char *safe_text_put(char *p, const void *bytes, size_t n, bool layout);
/* Length of the valid UTF-8 sequence of n bytes at most, from U+00A0 on (those
 * below are controls or ASCII); 0: there is none. */
size_t safe_text_utf8(const void *bytes, size_t n);
/* Copies bytes up to the first that isn't printable ASCII; returns how many. */
static inline size_t safe_text_plain(char *p, const void *bytes, size_t n);
void safe_text_print(FILE *out, const char *text, bool layout);

/* All eight are printable ASCII; else a top bit stays: its own, that of a
 * borrow below 0x20 or of a carry from 0x7f on. */
static inline bool safe_text_word(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101;

	return !((word | (word - 0x20 * ones) | (word + ones)) & 0x80 * ones);
}

static inline size_t safe_text_plain(char *p, const void *bytes, size_t n)
{
	const char *s = bytes;
	size_t i = 0;
	uint64_t word;

	for (; n - i >= 8; i += 8) {
		memcpy(&word, s + i, 8);
		if (!safe_text_word(word))
			break;
		memcpy(p + i, &word, 8);
	}
	if (i && n - i < 8) {	/* the last ones, some of them again */
		memcpy(&word, s + n - 8, 8);
		if (safe_text_word(word)) {
			memcpy(p + n - 8, &word, 8);
			return n;
		}
	}
	for (; i < n && s[i] >= 0x20 && s[i] < 0x7f; i++)
		p[i] = s[i];
	return i;
}

#ifdef __x86_64__
#include <emmintrin.h>
#endif

#define TEXT_PIECE	(256u << 10)	/* written at once */

struct text {
	char *data;
	size_t used, size;
	int fd;
	int error;		/* first errno met, kept */
};

/* With room for much; a zeroed one grows from nothing. 0 or -ENOMEM. */
int text_open(struct text *text, int fd);
/* text_reserve() where there isn't enough. */
int text_grow(struct text *text, size_t n);

/* Room for n more bytes at data + used; 0 or -ENOMEM, kept in error too. */
static inline int text_reserve(struct text *text, size_t n)
{
	return text->size - text->used >= n ? 0 : text_grow(text, n);
}

/* Write out what there is: the first error met (0, or a negative errno). */
int text_flush(struct text *text);

/* Write out when there is much; between records. */
static inline void text_pass(struct text *text)
{
	if (text->used >= TEXT_PIECE)
		text_flush(text);
}

static inline void text_add(struct text *text, const void *bytes, size_t n)
{
	if (!n || text_reserve(text, n))
		return;
	memcpy(text->data + text->used, bytes, n);
	text->used += n;
}

static inline void text_add_string(struct text *text, const char *string)
{
	text_add(text, string, strlen(string));
}

static inline void text_add_char(struct text *text, char c)
{
	text_add(text, &c, 1);
}

void text_add_number(struct text *text, uint64_t number);
/* n blanks */
void text_add_blanks(struct text *text, size_t n);
/* As printf does. */
void text_print(struct text *text, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define TEXT_ADD(text, literal)	text_add(text, literal, sizeof(literal) - 1)

extern const char text_digits[];	/* hexadecimal, upper case */

static inline char *text_put(char *p, const char *bytes, size_t n)
{
	memcpy(p, bytes, n);
	return p + n;
}

#define TEXT_PUT(p, literal) text_put(p, literal, sizeof(literal) - 1)

/* Bytes after its end that text_put_wide() may read and write. */
#define TEXT_SLACK	32

/* Short text, copied in pieces of one size: at least one, and the last one is
 * too long. */
static inline char *text_put_wide(char *p, const char *bytes, size_t n)
{
	memcpy(p, bytes, TEXT_SLACK);
	for (size_t i = TEXT_SLACK; i < n; i += TEXT_SLACK)
		memcpy(p + i, bytes + i, TEXT_SLACK);
	return p + n;
}

/* Eight hexadecimal digits as a word of memory: all nibbles at once. */
static inline uint64_t text_hex_word(uint32_t value)
{
	uint64_t x = __builtin_bswap32(value), letters;

	x = (x | x << 16) & 0x0000ffff0000ffff;
	x = (x | x << 8) & 0x00ff00ff00ff00ff;
	x = (x >> 4 & 0x000f000f000f000f) | (x & 0x000f000f000f000f) << 8;
	letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
	return htole64(x + 0x3030303030303030 + letters * ('A' - '9' - 1));
}

/* All sixteen digits. */
static inline char *text_put_hex64(char *p, uint64_t value)
{
#ifdef __x86_64__
	__m128i bytes = _mm_cvtsi64_si128(__builtin_bswap64(value));
	__m128i low = _mm_set1_epi8(0xf), nine = _mm_set1_epi8(9);
	__m128i x = _mm_unpacklo_epi8(_mm_and_si128(_mm_srli_epi64(bytes, 4),
						    low),
				      _mm_and_si128(bytes, low));
	__m128i letters = _mm_and_si128(_mm_cmpgt_epi8(x, nine),
					_mm_set1_epi8('A' - '9' - 1));

	x = _mm_add_epi8(_mm_add_epi8(x, _mm_set1_epi8('0')), letters);
	_mm_storeu_si128((__m128i *)p, x);
#else
	uint64_t words[] = {
		text_hex_word(value >> 32), text_hex_word(value),
	};

	memcpy(p, words, sizeof(words));
#endif
	return p + 16;
}

/* The lowest 1 to 16 digits. */
static inline char *text_put_hex(char *p, uint64_t value, int digits)
{
	uint64_t word;

	if (digits == 16)
		return text_put_hex64(p, value);
	for (; digits > 8; digits -= 8, p += 8) {
		word = text_hex_word(value >> 4 * (digits - 8));
		memcpy(p, &word, 8);
	}
	word = text_hex_word(value);
	memcpy(p, (char *)&word + 8 - digits, digits);
	return p + digits;
}

extern const char text_decimal_pairs[];	/* "00" to "99" */

/* Exactly four digits. */
static inline char *text_put_four(char *p, uint32_t value)
{
	memcpy(p, text_decimal_pairs + 2 * (value / 100), 2);
	memcpy(p + 2, text_decimal_pairs + 2 * (value % 100), 2);
	return p + 4;
}

/* The digits of a value of eight, a byte for each, the first one lowest: all at
 * once. 10486 / 2^20 and 103 / 2^10 are 1 / 100 and 1 / 10. */
static inline uint64_t text_decimal_word(uint32_t value)
{
	uint64_t x = value / 10000 | (uint64_t)(value % 10000) << 32, high;

	high = x * 10486 >> 20 & 0x0000007f0000007f;
	x = high | (x - 100 * high) << 16;
	high = x * 103 >> 10 & 0x000f000f000f000f;
	return high | (x - 10 * high) << 8;
}

/* Exactly eight digits. */
static inline char *text_put_eight(char *p, uint32_t value)
{
	uint64_t word = htole64(text_decimal_word(value) + 0x3030303030303030);

	memcpy(p, &word, sizeof(word));
	return p + sizeof(word);
}

/* Exactly nine digits. */
static inline char *text_put_nine(char *p, uint32_t value)
{
	*p++ = '0' + value / 100000000;
	return text_put_eight(p, value % 100000000);
}

/* At most 20 digits, in room for them all. */
char *text_put_decimal(char *p, uint64_t value);
#define TEXT_DURATION	24	/* characters of one */
/* "512 ns", "1.203 us", "12.34 ms"; ns >= 0. */
char *text_put_duration(char *p, int64_t ns);
/* Exactly `digits`, with leading zeros. */
char *text_put_padded(char *p, uint64_t value, int digits);

/* "64 65 0a"; up to TEXT_SLACK bytes after it are overwritten. */
char *text_put_bytes(char *p, const uint8_t *data, size_t n);

#define TEXT_ROW	16	/* bytes of a row */
#define TEXT_ROW_MAX	80	/* characters of it */
/* Row of a dump, with those of the n bytes that begin at offset `row`:
 * "+0010  64 65 66 0A                                      def." */
char *text_put_row(char *p, const uint8_t *data, size_t n, size_t row);

/* A string; and text that keeps its line ends and tabs. */
static inline char *text_put_safe(char *p, const void *bytes, size_t n)
{
	return safe_text_put(p, bytes, n, false);
}

static inline char *text_put_layout(char *p, const void *bytes, size_t n)
{
	return safe_text_put(p, bytes, n, true);
}

#endif
