// SPDX-License-Identifier: GPL-2.0
/* CRC-32 is zlib's for any length and alignment, by every way it is made. */
#include <stdlib.h>
#include <zlib.h>
#include <tap.h>
#include "lib/hash.h"

#define LENGTHS	700
#define ALIGNMENTS 17

static uint8_t data[1 << 16];

static size_t differences(uint32_t (*hash)(uint32_t, const void *, size_t))
{
	size_t wrong = 0;

	for (size_t at = 0; at < ALIGNMENTS; at++)
		for (size_t n = 0; n < LENGTHS; n++) {
			uint32_t crc = n * 0x9e3779b9u;

			wrong += hash(crc, data + at, n) !=
				 crc32(crc, data + at, n);
		}
	wrong += hash(0, data, sizeof(data)) != crc32(0, data, sizeof(data));
	return wrong;
}

static uint32_t in_parts(size_t part)
{
	uint32_t crc = 0;

	for (size_t at = 0; at < sizeof(data); at += part) {
		size_t left = sizeof(data) - at;

		crc = hash_crc32(crc, data + at, left < part ? left : part);
	}
	return crc;
}

int main(void)
{
	srandom(1);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = random() >> 8;
	tap_is(hash_crc32(0, "123456789", 9), 0xcbf43926,
	       "the check value of CRC-32");
	tap_is(differences(hash_crc32), 0, "the fast way agrees with zlib");
	tap_is(differences(hash_crc32_plain), 0, "the plain way agrees, too");
	tap_is(in_parts(100), crc32(0, data, sizeof(data)),
	       "parts are chained");
	return tap_done();
}
