// SPDX-License-Identifier: GPL-2.0
/*
 * Any format over any data: the first byte is the record's flags, then the
 * format up to a zero, then the data.
 */
#include <stdlib.h>
#include <string.h>
#include "usr/tracefmt/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(const char *fmt, struct ras_record *record)
{
	size_t n = record->length - RAS_RECORD_HEADER, room;
	struct render_format format;
	struct render_result result;
	uint8_t *seen = calloc(1, n + 1);
	char *text;

	if (!seen || render_compile(&format, fmt))
		abort();
	room = render_room(&format, n);
	text = malloc(room);
	if (!text)
		abort();
	if ((size_t)(render_record(&format, record, text, seen, &result) -
		     text) > room)
		abort();
	render_record(&format, record, text, NULL, &result);
	render_free(&format);
	free(text);
	free(seen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = size > 1 ? memchr(data + 1, 0, size - 1) : NULL;
	struct ras_record *record;
	size_t n;

	if (!zero)
		return 0;
	n = data + size - (zero + 1);
	if (n > RAS_RECORD_MAX - RAS_RECORD_HEADER)
		n = RAS_RECORD_MAX - RAS_RECORD_HEADER;
	record = calloc(1, sizeof(*record) + n);
	if (!record)
		abort();
	record->flags = data[0];
	record->length = RAS_RECORD_HEADER + n;
	memcpy(record + 1, zero + 1, n);
	render((const char *)data + 1, record);
	free(record);
	return 0;
}
