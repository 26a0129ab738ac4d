/* SPDX-License-Identifier: GPL-2.0 */
/* Where the running kernel's image begins, by the symbols in /proc/kallsyms. */
#ifndef LIB_KERNEL_IMAGE_H
#define LIB_KERNEL_IMAGE_H

#include <stdint.h>
#include <string.h>

#define KERNEL_IMAGE_ALIGN	(2u << 20)

/*
 * `start` as far as it is known, or this symbol's address: it is _text. Where
 * that is not among the symbols (arm64), _stext is in the image's first 2 MiB,
 * to which the image is aligned (Documentation/arm64/booting.rst).
 */
static inline uint64_t kernel_image_start(uint64_t start, const char *name,
					  uint64_t address)
{
	if (!strcmp(name, "_text"))
		return address;
	if (!start && !strcmp(name, "_stext"))
		return address & ~(uint64_t)(KERNEL_IMAGE_ALIGN - 1);
	return start;
}

#endif
