/* SPDX-License-Identifier: GPL-2.0 */
/* What kmod/crash_file.c takes of the kernel, for user space. */
#ifndef FUZZ_KERNEL_H
#define FUZZ_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <linux/elf-em.h>
#include <linux/types.h>
#include <linux/utsname.h>
#include "lib/hash.h"

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define __user
#define ELF_ARCH		EM_X86_64
#define SZ_64K			0x10000
#define U16_MAX			0xffff
#define PAGE_SIZE		4096ul
#define offset_in_page(p)	((uintptr_t)(p) & (PAGE_SIZE - 1))
#define is_power_of_2(n)	((n) && !((n) & ((n) - 1)))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define min3(a, b, c)		min(min(a, b), c)
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define clamp(value, low, high)	((value) < (low) ? (low) : min(value, high))
#define round_down(value, n)	((value) & ~((typeof(value))(n) - 1))
#define round_up(value, n)	round_down((value) + (n) - 1, n)

/* Memory that isn't mapped: nothing but this may touch it. */
static struct { const u8 *start, *end; } kernel_hole;

static inline long copy_from_kernel_nofault(void *to, const void *from,
					    size_t size)
{
	const u8 *start = from;

	if (start < kernel_hole.end && start + size > kernel_hole.start)
		return -1;
	memcpy(to, from, size);
	return 0;
}

static inline u32 crc32_le(u32 crc, const u8 *data, size_t size)
{
	return ~hash_crc32(~crc, data, size);
}

static inline void strscpy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%s", from);
}

static inline const struct new_utsname *init_utsname(void)
{
	static const struct new_utsname names = {
		.nodename = "host", .release = "6.0.fuzz",
	};

	return &names;
}

#endif
