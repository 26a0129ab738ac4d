/* SPDX-License-Identifier: GPL-2.0 */
/* Where the program's file has what is at an address. */
#ifndef BENCH_OFFSET_H
#define BENCH_OFFSET_H

#include <stdint.h>
#include <stdio.h>

/* In hex. 0: printed */
static inline int offset_print(const void *address)
{
	uintptr_t start, end, offset, at = (uintptr_t)address;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end,
			   &offset) == 3 && at >= start && at < end) {
			printf("%#lx\n", at - start + offset);
			fclose(maps);
			return 0;
		}
	}
	return 1;
}

#endif
