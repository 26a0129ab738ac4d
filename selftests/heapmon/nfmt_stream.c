// SPDX-License-Identifier: GPL-2.0
/* Writes the memory tracker stream of a few allocations to stdout. */
#include <rastrace_nfmt.h>
#include <stdint.h>
#include <stdio.h>

static void put(void)
{
	struct nfmt_Buffer buffer = nfmt_read();

	while (buffer.start != buffer.end) {
		fwrite(buffer.start, 1, buffer.end - buffer.start, stdout);
		buffer = nfmt_read();
	}
}

int main(int argc, char **argv)
{
	nfmt_init();
	nfmt_record_malloc((void *)(uintptr_t)0x56550040, 1024, "render",
			   "a.c", 42);
	nfmt_record_malloc((void *)(uintptr_t)0x56550480, 16, "sound", "b.c",
			   7);
	nfmt_record_free((void *)(uintptr_t)0x56550040);
	put();
	for (int i = 0; argc > 1 && i < 2000; i++)	/* too much */
		nfmt_record_malloc((void *)(uintptr_t)(0x57000000 + 16 * i), 8,
				   "render", "a.c", i);
	put();
	nfmt_record_free((void *)(uintptr_t)0x56550480);
	put();
	return ferror(stdout);
}
