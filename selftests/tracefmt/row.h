/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A record's data as a row of a test writes it.
 *
 * Data is written as in "2C4B", bytes in hex, with
 *	P(...)	a memory item		S(...)	a string item
 *	C(...)	a cut item		T(...)	a cut string
 *	N	an item that the site doesn't have
 *	V	one that only the kernel module could read
 *	X	a fault at 0x1234	Y	a bad selector 00B7:0001
 *	L	left alone at 0x1234	Z	a division by zero
 *	Q	a caller that isn't known, at 0x1234
 *	U	not tried at 0x1234	W	a CPU time that isn't known
 *	K(...)	a stack: how it ends, flags, addresses
 *	'text'	characters
 */
#ifndef SELFTESTS_ROW_H
#define SELFTESTS_ROW_H

#include "builder.h"

static int row_digit(char c)
{
	const char *digits = "0123456789abcdef", *at;

	at = strchr(digits, c | 0x20);
	return at && c ? (int)(at - digits) : -1;
}

/* What follows the end or ')' is returned. */
static const char *row_parse(const char *p, struct bytes *data)
{
	static const struct {
		char letter;
		uint8_t status;
	} items[] = {
		{ 'P', RAS_ITEM_VALUE }, { 'S', RAS_ITEM_STRING },
		{ 'T', RAS_ITEM_STRING | RAS_ITEM_CUT },
		{ 'C', RAS_ITEM_VALUE | RAS_ITEM_CUT },
		{ 'K', RAS_ITEM_STACK },
	};
	uint64_t selector = 0xb70001, pointer = 0x1234, zero = 0;

	while (*p && *p != ')') {
		struct bytes inner = { 0 };
		uint8_t byte;

		if (*p == '\'') {
			while (*++p != '\'')
				bytes_add(data, p, 1);
			p++;
		} else if (*p == ' ') {
			p++;
		} else if (*p == 'Y') {
			data_item(data, RAS_ITEM_SELECTOR, &selector, 8);
			p++;
		} else if (*p == 'N') {
			data_item(data, RAS_ITEM_ABSENT, NULL, 0);
			p++;
		} else if (*p == 'V') {
			data_item(data, RAS_ITEM_ABSENT | RAS_ITEM_MODULE,
				  NULL, 0);
			p++;
		} else if (*p == 'X') {
			data_fault(data, pointer);
			p++;
		} else if (*p == 'L') {
			data_item(data, RAS_ITEM_LEFT, &pointer, 8);
			p++;
		} else if (*p == 'U') {
			data_item(data, RAS_ITEM_NOT_TRIED, &pointer, 8);
			p++;
		} else if (*p == 'Q') {
			data_item(data, RAS_ITEM_ARITHMETIC, &pointer, 8);
			p++;
		} else if (*p == 'W') {
			data_item(data, RAS_ITEM_UNKNOWN, &zero, 8);
			p++;
		} else if (*p == 'Z') {
			data_item(data, RAS_ITEM_ARITHMETIC, &zero, 8);
			p++;
		} else if (p[1] == '(') {
			char letter = *p;

			p = row_parse(p + 2, &inner);
			for (size_t i = 0; i < 5; i++)
				if (items[i].letter == letter)
					data_item(data, items[i].status,
						  inner.data, inner.size);
			bytes_free(&inner);
		} else {
			byte = row_digit(p[0]) << 4 | row_digit(p[1]);
			bytes_add(data, &byte, 1);
			p += 2;
		}
	}
	return *p ? p + 1 : p;
}

/* In memory of its own size so that tools see overruns; for free(). */
static struct ras_record *row_record(const char *text, uint16_t flags)
{
	struct bytes data = { 0 };
	struct ras_record *record;

	row_parse(text, &data);
	record = calloc(1, sizeof(*record) + data.size);
	if (!record)
		abort();
	record->length = RAS_RECORD_HEADER + data.size;
	record->flags = flags;
	record->major = 0xc2;
	record->minor = 0x81;
	if (data.size)
		memcpy(record + 1, data.data, data.size);
	bytes_free(&data);
	return record;
}

#endif
