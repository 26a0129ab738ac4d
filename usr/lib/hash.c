// SPDX-License-Identifier: GPL-2.0
#include "hash.h"

#include <pthread.h>

static uint32_t crc_table[8][256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void crc_table_make(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
		crc_table[0][i] = c;
	}
	for (int t = 1; t < 8; t++)
		for (int i = 0; i < 256; i++)
			crc_table[t][i] = crc_table[t - 1][i] >> 8 ^
				crc_table[0][crc_table[t - 1][i] & 0xff];
}

/* Eight bytes at a time ("slicing by 8"): a snapshot may be gigabytes. */
uint32_t hash_crc32(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;

	pthread_once(&crc_once, crc_table_make);
	crc = ~crc;
	for (; size >= 8; size -= 8, p += 8) {
		crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 |
		       (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
		crc = crc_table[7][crc & 0xff] ^ crc_table[6][crc >> 8 & 0xff] ^
		      crc_table[5][crc >> 16 & 0xff] ^ crc_table[4][crc >> 24] ^
		      crc_table[3][p[4]] ^ crc_table[2][p[5]] ^
		      crc_table[1][p[6]] ^ crc_table[0][p[7]];
	}
	while (size--)
		crc = crc >> 8 ^ crc_table[0][(crc ^ *p++) & 0xff];
	return ~crc;
}

uint64_t hash_fnv(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *p = data;

	while (size--)
		hash = (hash ^ *p++) * 0x100000001b3ULL;
	return hash;
}
