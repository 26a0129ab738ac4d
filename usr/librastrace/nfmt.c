// SPDX-License-Identifier: GPL-2.0
/*
 * The memory tracker of nfmt(3), without the C library: a ring of words that
 * the threads of a program fill under a lock, and one of them reads.
 */
#include <rastrace_nfmt.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "futex.h"

#define EXPORT		__attribute__((visibility("default")))
#define WORDS		(NFMT_STREAM_SIZE / 4)
#define SLOTS		(2 * NFMT_STRINGS)
#define POINTER_WORDS	(sizeof(void *) / 4)
#define MALLOC_WORDS	(1 + POINTER_WORDS + 4)
#define FREE_WORDS	(1 + POINTER_WORDS)
#define UNKNOWN		(-1)

static struct {
	int lock;
	uint32_t words[WORDS];
	size_t start, used;	/* what isn't read yet, or being read */
	size_t given;		/* of it, the reader has */
	bool suspended;		/* until some of it is read */
} stream;

/* All strings that were written; a symbol is its place in `text`. */
static struct {
	char text[NFMT_STRING_BYTES];	/* at 0: "" */
	uint16_t slots[SLOTS];	/* symbols by hash; 0: free */
	int32_t bytes;		/* of text; 0: none yet, as good as 1 */
	unsigned int count;
} strings;

/* A string that a record needs. */
struct string {
	const char *text;
	size_t length;
	int32_t symbol;
	uint16_t *slot;
	bool added;		/* to be written before the record */
};

static size_t text_length(const char *text)
{
	size_t length = 0;

	while (length < NFMT_STRING_BYTES && text[length])
		length++;
	return length;
}

static bool text_is(const char *known, const struct string *string)
{
	for (size_t i = 0; i < string->length; i++)
		if (known[i] != string->text[i])
			return false;
	return !known[string->length];
}

static struct string string_make(const char *text)
{
	struct string string = { .text = text ? text : "" };

	string.length = text_length(string.text);
	return string;
}

/* Its symbol, or, where there is none yet, the slot for one. */
static void string_find(struct string *string)
{
	uint32_t hash = 2166136261u;	/* FNV-1a, 32 bits */
	size_t at;

	if (!string->length)
		return;
	for (size_t i = 0; i < string->length; i++)
		hash = (hash ^ (uint8_t)string->text[i]) * 16777619u;
	for (at = hash % SLOTS; strings.slots[at]; at = (at + 1) % SLOTS)
		if (text_is(strings.text + strings.slots[at], string))
			break;
	string->slot = &strings.slots[at];
	string->symbol = *string->slot;
}

/* Give it the next symbol; to be undone when the record doesn't fit. */
static void string_add(struct string *string)
{
	int32_t symbol = strings.bytes ? strings.bytes : 1;

	if (!string->length || string->symbol)
		return;
	if (strings.count == NFMT_STRINGS ||
	    string->length >= (size_t)(NFMT_STRING_BYTES - symbol)) {
		string->symbol = UNKNOWN;
		return;
	}
	for (size_t i = 0; i < string->length; i++)
		strings.text[symbol + i] = string->text[i];
	strings.text[symbol + string->length] = 0;
	strings.bytes = symbol + string->length + 1;
	strings.count++;
	*string->slot = symbol;
	string->symbol = symbol;
	string->added = true;
}

static void string_remove(const struct string *string)
{
	if (!string->added)
		return;
	strings.bytes = string->symbol;
	strings.count--;
	*string->slot = 0;
}

static size_t string_words(const struct string *string)
{
	return string->added ? 2 + (string->length + 1 + 3) / 4 : 0;
}

static void word_put(uint32_t word)
{
	stream.words[(stream.start + stream.used++) % WORDS] = word;
}

static void pointer_put(const void *p)
{
	union {
		const void *p;
		uint32_t words[POINTER_WORDS];
	} pointer = { p };

	for (size_t i = 0; i < POINTER_WORDS; i++)
		word_put(pointer.words[i]);
}

static void string_put(const struct string *string)
{
	if (!string->added)
		return;
	word_put(NFMT_SYMBOL);
	word_put(string->symbol);
	for (size_t i = 0; i <= string->length; i += 4) {
		union {
			char bytes[4];
			uint32_t word;
		} piece = { { 0 } };

		for (size_t k = 0; k < 4 && i + k < string->length; k++)
			piece.bytes[k] = string->text[i + k];
		word_put(piece.word);
	}
}

/* Is there room for a record? After it there must be some for OUT_OF_MEMORY,
 * which is written once; then nothing is recorded until some of it is read. */
static bool stream_room(size_t words)
{
	if (stream.suspended)
		return false;
	if (stream.used + words < WORDS)
		return true;
	word_put(NFMT_OUT_OF_MEMORY);
	stream.suspended = true;
	return false;
}

EXPORT void nfmt_init(void)
{
	futex_init(&stream.lock);
	stream.start = stream.used = stream.given = 0;
	stream.suspended = false;
	for (size_t i = 0; i < SLOTS; i++)
		strings.slots[i] = 0;
	strings.bytes = 0;
	strings.count = 0;
}

EXPORT void nfmt_record_malloc(void *p, int size, const char *tag,
			       const char *file, int line)
{
	struct string names[2] = { string_make(tag), string_make(file) };
	size_t words = MALLOC_WORDS;

	futex_lock(&stream.lock);
	for (size_t i = 0; i < 2; i++) {
		string_find(&names[i]);
		string_add(&names[i]);
		words += string_words(&names[i]);
	}
	if (stream_room(words)) {
		string_put(&names[0]);
		string_put(&names[1]);
		word_put(NFMT_MALLOC);
		pointer_put(p);
		word_put(size);
		word_put(names[0].symbol);
		word_put(names[1].symbol);
		word_put(line);
	} else {
		string_remove(&names[1]);
		string_remove(&names[0]);
	}
	futex_unlock(&stream.lock);
}

EXPORT void nfmt_record_free(void *p)
{
	futex_lock(&stream.lock);
	if (stream_room(FREE_WORDS)) {
		word_put(NFMT_FREE);
		pointer_put(p);
	}
	futex_unlock(&stream.lock);
}

EXPORT struct nfmt_Buffer nfmt_read(void)
{
	struct nfmt_Buffer buffer;
	size_t count;

	futex_lock(&stream.lock);
	if (stream.given)
		stream.suspended = false;
	stream.start = (stream.start + stream.given) % WORDS;
	stream.used -= stream.given;
	count = WORDS - stream.start;
	if (count > stream.used)
		count = stream.used;
	stream.given = count;
	buffer.start = (char *)(stream.words + stream.start);
	buffer.end = (char *)(stream.words + stream.start + count);
	futex_unlock(&stream.lock);
	return buffer;
}
