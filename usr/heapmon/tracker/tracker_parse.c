// SPDX-License-Identifier: GPL-2.0
#include "tracker_parse.h"

#include <errno.h>
#include <string.h>

static uint32_t word_get(const uint8_t *p, const struct tracker_form *form)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return form->big_endian == TRACKER_HOST_BIG_ENDIAN ?
		word : __builtin_bswap32(word);
}

static uint64_t pointer_get(const uint8_t *p, const struct tracker_form *form)
{
	uint64_t pointer;

	if (form->bits == 32)
		return word_get(p, form);
	memcpy(&pointer, p, sizeof(pointer));
	return form->big_endian == TRACKER_HOST_BIG_ENDIAN ?
		pointer : __builtin_bswap64(pointer);
}

static int64_t stream_parse_symbol(const uint8_t *p, size_t left,
				   const struct tracker_form *form,
				   struct tracker_record *record)
{
	const char *text = (const char *)p + 8;
	size_t room = left - 8, used;
	const char *end = memchr(text, 0, room);

	if (!end)
		return room < NFMT_STREAM_SIZE ? 0 : -EBADMSG;
	record->symbol = word_get(p + 4, form);
	record->text = text;
	record->length = end - text;
	used = (record->length + 1 + 3) / 4 * 4;
	if (used > NFMT_STREAM_SIZE)
		return -EBADMSG;
	return used <= room ? 8 + (int64_t)used : 0;
}

int64_t tracker_stream_parse(const uint8_t *data, size_t size, size_t at,
			     const struct tracker_form *form,
			     struct tracker_record *record)
{
	const uint8_t *p = data + at;
	size_t left = size - at, pointer = form->bits / 8;

	if (left < 4)
		return 0;
	record->type = word_get(p, form);
	switch (record->type) {
	case NFMT_MALLOC:
		if (left < 4 + pointer + 16)
			return 0;
		record->address = pointer_get(p + 4, form);
		p += 4 + pointer;
		record->size = word_get(p, form);
		record->tag = word_get(p + 4, form);
		record->file = word_get(p + 8, form);
		record->line = word_get(p + 12, form);
		return 4 + pointer + 16;
	case NFMT_FREE:
		if (left < 4 + pointer)
			return 0;
		record->address = pointer_get(p + 4, form);
		return 4 + pointer;
	case NFMT_SYMBOL:
		return left < 8 ? 0
				: stream_parse_symbol(p, left, form, record);
	case NFMT_OUT_OF_MEMORY:
		return 4;
	}
	return -EBADMSG;
}

/* ---- which form? ---- */

/* The symbols so far: they ascend by the lengths of their texts, so all that
 * can be are below `next`. */
struct trial {
	int32_t next;
	uint64_t addresses, symbols;
};

static bool trial_symbol_known(const struct trial *trial, int32_t symbol)
{
	return symbol >= -1 && (symbol <= 0 || symbol < trial->next);
}

static bool trial_accept(struct trial *trial,
			 const struct tracker_record *record)
{
	bool first;

	switch (record->type) {
	case NFMT_SYMBOL:
		first = record->symbol <= 1;
		for (size_t i = record->length + 1; i % 4; i++)
			if (record->text[i])
				return false;
		if (record->symbol < 0 ||
		    (!first && record->symbol != trial->next))
			return false;
		/* symbol 0 is nothing but "" */
		if (!record->symbol && record->length)
			return false;
		if (record->length >= (size_t)(INT32_MAX - record->symbol))
			return false;
		trial->symbols++;
		trial->next = record->symbol + record->length + 1;
		return true;
	case NFMT_MALLOC:
		if (!trial_symbol_known(trial, record->tag) ||
		    !trial_symbol_known(trial, record->file))
			return false;
		break;
	case NFMT_FREE:
		break;
	default:
		return true;
	}
	trial->addresses += record->address != 0;
	return true;
}

static size_t form_try(const uint8_t *data, size_t size,
		       const struct tracker_form *form, bool *whole)
{
	struct trial trial = { .next = 1 };
	struct tracker_record record;
	size_t at = 0;
	int64_t used;

	*whole = true;
	while ((used = tracker_stream_parse(data, size, at, form,
					    &record)) > 0) {
		if (!trial_accept(&trial, &record))
			break;
		at += used;
	}
	if (used)
		*whole = false;
	/* zeros make sense in any form */
	return trial.addresses || trial.symbols ? at : 0;
}

size_t tracker_stream_form(const uint8_t *data, size_t size,
			   const struct heap_options *options,
			   struct tracker_form *form, bool *whole)
{
	static const struct tracker_form forms[] = {
		{ 64, false }, { 32, false }, { 64, true }, { 32, true },
	};
	size_t most = 0;
	bool found = false;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		bool all;
		size_t good;

		if ((options->bits && options->bits != forms[i].bits) ||
		    (options->endian &&
		     (options->endian == 'b') != forms[i].big_endian))
			continue;
		good = form_try(data, size, &forms[i], &all);
		if (found && (good < most || (good == most && all <= *whole)))
			continue;
		found = true;
		most = good;
		*whole = all;
		*form = forms[i];
	}
	return most;
}
