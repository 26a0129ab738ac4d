/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text that may come from anywhere, made fit for a terminal: printable ASCII
 * and valid UTF-8 from U+00A0 unchanged, \n, \t and \r by letter, the rest
 * as \xHH, so that no terminal obeys it; so are the characters that turn the
 * direction of the text around them, and Unicode's line ends. layout: line ends
 * and tabs are meant and stay.
 */
#ifndef LIB_SAFE_TEXT_H
#define LIB_SAFE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

#endif
