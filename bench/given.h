/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of bench/ give to the functions that are traced, and the
 * benchmark record is made of: 16 bytes over two pointers, 13 characters.
 */
#ifndef BENCH_GIVEN_H
#define BENCH_GIVEN_H

#include <stdint.h>

struct inner {
	uint64_t first, second;
};

struct middle {
	uint64_t number;
	const struct inner *inner;
};

struct outer {
	uint64_t number;
	const struct middle *middle;
};

#define GIVEN_TEXT	"thirteen char"

struct given {
	struct inner inner;
	struct middle middle;
	struct outer outer;
};

static inline const struct outer *given_make(struct given *given)
{
	given->inner = (struct inner){ 1, 2 };
	given->middle = (struct middle){ 3, &given->inner };
	given->outer = (struct outer){ 4, &given->middle };
	return &given->outer;
}

#endif
