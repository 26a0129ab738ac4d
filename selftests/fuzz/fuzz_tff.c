// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a TFF: refused, or every entry prints a record. Size and
 * checksum are put right, or nothing would get past them.
 */
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"
#include "lib/formats/tff.h"
#include "selftests/tracefmt/decoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	struct ras_record record;
	uint8_t data[32];
} sample = {
	.record = { .length = RAS_RECORD_HEADER + 32, .major = 5 },
	.data = { 1, 2, 3, 4,
		  RAS_ITEM_STRING, 3, 0, 'a', '\033', 'c',
		  RAS_ITEM_VALUE | RAS_ITEM_CUT, 4, 0, 1, 2, 3, 4,
		  RAS_ITEM_FAULT, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8 },
};

static void entry_print(const struct tff *tff,
			const struct tff_section *section,
			const struct tff_entry *entry)
{
	struct value_types types = value_types_of(tff, section);
	struct decode_format format;
	struct decode_result result;

	if (decode_compile(&format, tff_string(tff, entry->fmt), &types))
		abort();
	free(decoder_text(&(struct render_input){ &format, &sample.record },
			  NULL, &result));
	decode_free(&format);
}

static void tff_walk(const struct tff *tff)
{
	for (uint32_t i = 0; i < tff->header->sections.count; i++) {
		const struct tff_section *s = &tff->sections[i];

		if (strlen(tff_string(tff, s->name)) >= tff->header->file_size)
			abort();
		for (uint32_t k = 0; k < s->entries && k < 64; k++)
			entry_print(tff, s, &tff->entries[s->first_entry + k]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct error err;
	struct tff *tff;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (size >= sizeof(struct tff_header)) {
		struct tff_header *h = (void *)copy;

		h->file_size = size;
		h->crc = 0;
		h->crc = hash_crc32(0, copy, size);
	}
	if (!tff_parse(&tff, copy, size, "fuzz.tff", &err)) {
		tff_walk(tff);
		tff_close(tff);
	}
	free(copy);
	return 0;
}
