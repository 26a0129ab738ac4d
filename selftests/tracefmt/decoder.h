/* SPDX-License-Identifier: GPL-2.0 */
/* A record's data as text, as print.c does it; aborts where room is exceeded, or
 * where the short way (plain_put()) makes another text. */
#ifndef SELFTESTS_DECODER_H
#define SELFTESTS_DECODER_H

#include <stdlib.h>
#include <string.h>
#include "lib/read/format/render.h"

/* The text of the short way, in memory of just its room, for free(); NULL: not
 * for this record. */
static __attribute__((unused)) char *
decoder_plain(const struct render_input *input)
{
	size_t n = input->record->length - RAS_RECORD_HEADER;
	size_t room = render_room(input->format, n);
	char *text = malloc(room + 1), *end;

	if (!text)
		abort();
	end = plain_put(input->format, input->record, 0, text);
	if (!end) {
		free(text);
		return NULL;
	}
	if ((size_t)(end - text) > room)
		abort();
	*end = '\0';
	return text;
}

/* With a zero at its end, for free(). seen may be NULL. */
static __attribute__((unused)) char *
decoder_text(const struct render_input *input, uint8_t *seen,
	     struct decode_result *result)
{
	size_t n = input->record->length - RAS_RECORD_HEADER;
	size_t pieces_room = DECODE_PIECES(input->format, n);
	struct decode_piece *pieces = malloc(pieces_room * sizeof(*pieces));
	size_t room = render_room(input->format, n);
	char *text = malloc(room + 1), *end, *plain;

	if (!pieces || !text)
		abort();
	decode_record(input->format, input->record, 0, pieces, seen, result);
	if (result->count > pieces_room)
		abort();
	end = render_pieces(input, pieces, result->count, text);
	if ((size_t)(end - text) > room)
		abort();
	*end = '\0';
	free(pieces);
	plain = input->record->flags ? NULL : decoder_plain(input);
	if (plain && (strcmp(plain, text) || result->status || result->misfit))
		abort();
	free(plain);
	return text;
}

#endif
