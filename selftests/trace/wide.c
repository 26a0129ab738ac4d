// SPDX-License-Identifier: GPL-2.0
/*
 * Long texts to trace: wide FILE COUNT LENGTH... calls wide() COUNT times for each
 * length, with a text that is in memory and again in two pages that nothing has
 * touched, and prints "N LENGTH LETTER" for each call. FILE is made.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096
#define AHEAD	3000	/* of the text, in its page of the file */

int wide(int n, const char *text, long length);

__attribute__((noinline)) int wide(int n, const char *text, long length)
{
	__asm__ volatile("" : : "r"(text) : "memory");
	return n + (int)length;
}

/* A text of one letter, as a mapping that has no page yet */
static char *untouched(int fd, const char *text)
{
	char *pages;

	if (pwrite(fd, text, strlen(text) + 1, AHEAD) < 0 ||
	    ftruncate(fd, 3 * PAGE))
		exit(1);
	pages = mmap(NULL, 3 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	if (pages == MAP_FAILED)
		exit(1);
	return pages;
}

int main(int argc, char **argv)
{
	static char text[3 * PAGE];
	int fd, n = 0, sum = 0;

	if (argc < 4)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return 1;
	for (int i = 0; i < atoi(argv[2]); i++) {
		for (int k = 3; k < argc; k++) {
			long length = atol(argv[k]);
			char letter = 'a' + n % 26, *pages;

			if (length < 0 || length > 2 * PAGE)
				return 2;
			memset(text, letter, length);
			text[length] = '\0';
			printf("%d %ld %c\n", n, length, letter);
			sum += wide(n++, text, length);
			pages = untouched(fd, text);
			printf("%d %ld %c\n", n, length, letter);
			sum += wide(n++, pages + AHEAD, length);
			munmap(pages, 3 * PAGE);
		}
	}
	return sum < 0;
}
