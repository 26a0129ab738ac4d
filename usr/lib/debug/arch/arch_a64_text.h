/* SPDX-License-Identifier: GPL-2.0 */
/* Text of instructions of AArch64. */
#ifndef TRCUST_ARCH_A64_TEXT_H
#define TRCUST_ARCH_A64_TEXT_H

#include "arch_a64.h"

struct a64_text {
	char *out;
	size_t size, used;	/* used >= size: there was no room */
};

__attribute__((format(printf, 2, 3)))
void a64_text_add(struct a64_text *text, const char *format, ...);
/* "x3", "w3"; number 31 is the zero register ('z') or the stack pointer ('s')
 */
void a64_text_register(struct a64_text *text, char letter, unsigned int number,
		       char kind_of_31);

/* Instructions of Armv8.1 and later that the library for the others doesn't
 * know: atomic ones, pointer authentication, hints; and udf. False: none of
 * these. */
bool a64_extension_print(uint32_t word, struct a64_text *text);

#endif
