// SPDX-License-Identifier: GPL-2.0
#include "hash.h"

#include <pthread.h>
#include <stdbool.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* ---- CRC-32 ---- */

/*
 * By carry-less multiplication: four blocks of 16 bytes at a time are multiplied
 * by what 64 bytes further on makes of them, then folded into one, and that is
 * reduced to 32 bits. From "Fast CRC Computation for Generic Polynomials Using
 * PCLMULQDQ Instruction" (Gopal and others, Intel, 2009), for a reflected CRC.
 */
#ifdef __x86_64__

#define CLMUL_LEAST	64	/* bytes */
#define CLMUL	__attribute__((target("pclmul,sse4.1")))

/* x^n modulo the polynomial, reflected, n in front. */
#define X544	0x154442bd4
#define X480	0x1c6e41596
#define X160	0x1751997d0
#define X96	0x0ccaa009e
#define X64	0x163cd6124
#define POLYNOMIAL	0x1db710641
#define QUOTIENT	0x1f7011641	/* x^64 divided by it */

static bool clmul_possible(void)
{
	return __builtin_cpu_supports("pclmul") &&
	       __builtin_cpu_supports("sse4.1");
}

static inline CLMUL __m128i block_load(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

/* Move `block` to the place of `next`, and add that one. */
static inline CLMUL __m128i block_fold(__m128i block, __m128i by, __m128i next)
{
	__m128i low = _mm_clmulepi64_si128(block, by, 0x00);
	__m128i high = _mm_clmulepi64_si128(block, by, 0x11);

	return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

static CLMUL uint32_t block_reduce(__m128i block)
{
	const __m128i low32 = _mm_setr_epi32(-1, 0, -1, 0);
	const __m128i by = _mm_set_epi64x(QUOTIENT, POLYNOMIAL);
	__m128i t;

	t = _mm_clmulepi64_si128(block, _mm_set_epi64x(X96, 0), 0x10);
	block = _mm_xor_si128(_mm_srli_si128(block, 8), t);
	t = _mm_srli_si128(block, 4);
	block = _mm_and_si128(block, low32);
	block = _mm_clmulepi64_si128(block, _mm_set_epi64x(0, X64), 0x00);
	block = _mm_xor_si128(block, t);
	t = _mm_clmulepi64_si128(_mm_and_si128(block, low32), by, 0x10);
	t = _mm_clmulepi64_si128(_mm_and_si128(t, low32), by, 0x00);
	return _mm_extract_epi32(_mm_xor_si128(block, t), 1);
}

/* CLMUL_LEAST bytes or more, of which a multiple of 16 is taken. */
static CLMUL uint32_t clmul_crc32(uint32_t crc, const uint8_t *p, size_t size,
				  size_t *taken)
{
	const __m128i by64 = _mm_set_epi64x(X480, X544);
	const __m128i by16 = _mm_set_epi64x(X96, X160);
	const uint8_t *start = p;
	__m128i x[4];

	for (int i = 0; i < 4; i++)
		x[i] = block_load(p + 16 * i);
	x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128(crc));
	for (p += 64, size -= 64; size >= 64; p += 64, size -= 64)
		for (int i = 0; i < 4; i++)
			x[i] = block_fold(x[i], by64, block_load(p + 16 * i));
	for (int i = 1; i < 4; i++)
		x[0] = block_fold(x[0], by16, x[i]);
	for (; size >= 16; p += 16, size -= 16)
		x[0] = block_fold(x[0], by16, block_load(p));
	*taken = p - start;
	return block_reduce(x[0]);
}

#else

#define CLMUL_LEAST	SIZE_MAX

static bool clmul_possible(void)
{
	return false;
}

static uint32_t clmul_crc32(uint32_t crc, const uint8_t *p, size_t size,
			    size_t *taken)
{
	*taken = 0;
	return crc;
}

#endif

static uint32_t crc_table[8][256];
static bool crc_clmul;
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
	crc_clmul = clmul_possible();
}

/* Eight bytes at a time ("slicing by 8"), of a CRC that is inverted. */
static uint32_t table_crc32(uint32_t crc, const uint8_t *p, size_t size)
{
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
	return crc;
}

uint32_t hash_crc32_plain(uint32_t crc, const void *data, size_t size)
{
	pthread_once(&crc_once, crc_table_make);
	return ~table_crc32(~crc, data, size);
}

/* A snapshot may be gigabytes. */
uint32_t hash_crc32(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;
	size_t taken = 0;

	pthread_once(&crc_once, crc_table_make);
	crc = ~crc;
	if (crc_clmul && size >= CLMUL_LEAST)
		crc = clmul_crc32(crc, p, size, &taken);
	return ~table_crc32(crc, p + taken, size - taken);
}

uint64_t hash_fnv(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *p = data;

	while (size--)
		hash = (hash ^ *p++) * 0x100000001b3ULL;
	return hash;
}
