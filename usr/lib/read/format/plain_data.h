/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data of a plain record (plain_put()), taken control by control. false: it is
 * not plain.
 */
#ifndef LIB_READ_PLAIN_DATA_H
#define LIB_READ_PLAIN_DATA_H

#include <rastrace/buffer.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "lib/number.h"

struct plain_data {
	const uint8_t *at;	/* what isn't taken yet */
	const uint8_t *end;	/* of the item, or of the record */
	const uint8_t *record_end;
	const uint8_t *fresh;	/* the item, while nothing of it was taken */
	bool in_item;
};

/* What is called for each control is to be part of the caller. */
#define PLAIN_INLINE	static inline __attribute__((always_inline))

/* It begins `skip` bytes after the record's header. */
PLAIN_INLINE struct plain_data plain_data_of(const struct ras_record *record,
					     size_t skip)
{
	const uint8_t *end = (const uint8_t *)record + record->length;

	return (struct plain_data){
		.at = (const uint8_t *)(record + 1) + skip,
		.end = end, .record_end = end,
	};
}

/* 1, 2, 4 or 8 bytes. */
PLAIN_INLINE uint64_t plain_load(const uint8_t *data, unsigned int bytes)
{
	switch (bytes) {
	case 8:
		return number_load(data, 8);
	case 4:
		return number_load(data, 4);
	case 2:
		return number_load(data, 2);
	default:
		return *data;
	}
}

/* The prefix of an item that was read, whole and now. */
PLAIN_INLINE bool plain_item(struct plain_data *d)
{
	const uint8_t *at = d->in_item ? d->end : d->at;
	size_t left = d->record_end - at, length;

	if (left < RAS_ITEM_PREFIX || at[0] > RAS_ITEM_STRING)
		return false;
	length = number_load(at + 1, 2);
	if (length > left - RAS_ITEM_PREFIX)
		return false;
	d->at = d->fresh = at + RAS_ITEM_PREFIX;
	d->end = d->at + length;
	d->in_item = true;
	return true;
}

PLAIN_INLINE bool plain_fixed(struct plain_data *d, size_t bytes)
{
	if ((size_t)(d->end - d->at) < bytes)
		return false;
	d->at += bytes;
	return true;
}

/* What a control takes, which may follow %P. NULL: it isn't there. */
PLAIN_INLINE const uint8_t *plain_take(struct plain_data *d, bool item,
				       size_t bytes)
{
	const uint8_t *data;

	if (item && !plain_item(d))
		return NULL;
	data = d->at;
	return plain_fixed(d, bytes) ? data : NULL;
}

/* All that is left, *n bytes. */
PLAIN_INLINE bool plain_rest(struct plain_data *d, size_t *n)
{
	*n = d->end - d->at;
	if (!*n && d->at != d->fresh)
		return false;
	d->at = d->end;
	d->fresh = NULL;
	return true;
}

/* *n bytes up to a zero, or all that is left of an item. */
PLAIN_INLINE bool plain_string(struct plain_data *d, size_t *n)
{
	size_t left = d->end - d->at;

	if (!left && d->at != d->fresh)
		return false;
	*n = strnlen((const char *)d->at, left);
	d->at += *n < left ? *n + 1 : *n;
	d->fresh = NULL;
	return *n < left || d->in_item;
}

#endif
