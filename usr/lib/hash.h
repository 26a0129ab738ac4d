/* SPDX-License-Identifier: GPL-2.0 */
/* Checksums: CRC-32 of the file formats, FNV-1a of data statements. */
#ifndef LIB_HASH_H
#define LIB_HASH_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 (IEEE 802.3, reflected); start with crc = 0, chain the result. */
uint32_t hash_crc32(uint32_t crc, const void *data, size_t size);
/* The same, by nothing but what every processor has. */
uint32_t hash_crc32_plain(uint32_t crc, const void *data, size_t size);

#define HASH_FNV_START	0xcbf29ce484222325ULL

/* FNV-1a, 64 bits; start with HASH_FNV_START, chain the result. */
uint64_t hash_fnv(uint64_t hash, const void *data, size_t size);

#endif
