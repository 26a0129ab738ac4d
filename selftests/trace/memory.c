// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace: calls look() with pointers that can't be read, then with
 * one that can, and prints each pointer in hex. memory FILE: a page of it is
 * mapped and not resident.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/mman.h>

void look(const void *p, const int *after);

__attribute__((noinline)) void look(const void *p, const int *after)
{
	__asm__ volatile("" :: "r"(p), "r"(after) : "memory");
}

static void *page(int protection)
{
	return mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1, after = 42;
	const void *pointers[] = {
		NULL, page(PROT_READ), page(PROT_NONE),
		mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0), &after,
	};

	for (int i = 1; i < 5; i++)
		if (pointers[i] == MAP_FAILED)
			return 1;
	if (madvise((void *)pointers[3], 4096, MADV_DONTNEED) ||
	    munmap((void *)pointers[1], 4096))
		return 1;
	for (int i = 0; i < 5; i++) {
		printf("%016lX\n", (unsigned long)pointers[i]);
		look(pointers[i], &after);
	}
	return 0;
}
