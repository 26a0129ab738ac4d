// SPDX-License-Identifier: GPL-2.0
/*
 * The program of scripts/bench_memory: passes pointers to memory that isn't
 * resident, each to a function where a tool follows it.
 *
 *	absent DIR FIRST
 *
 * Calls absent_text(p, n) and absent_word(p, n) a hundred times for each kind,
 * n from FIRST on and each once; at p is a string that begins with 8 digits.
 * Prints what there is to be seen, as "N KIND text STRING", "N KIND word HEX"
 * of the 8 digits, with "-" where nothing can be read. Memory that is resident
 * in spite of all is left out. DIR is for a file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096
#define APART	65536		/* the kernel maps neighbours of a page that is
				 * touched, up to here */
#define COUNT	100		/* of each kind and function */
#define DIGITS	10000000	/* the least of 8 */

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

typedef void look(const char *p, unsigned long n);

look absent_text, absent_word;

__attribute__((noipa)) void absent_text(const char *p, unsigned long n)
{
	__asm__ volatile("" :: "r"(p), "r"(n) : "memory");
}

__attribute__((noipa)) void absent_word(const char *p, unsigned long n)
{
	__asm__ volatile("" :: "r"(p), "r"(n) : "memory");
}

/* Strings that are never touched, in pages of which nothing is: 10000000 and so
 * on. There are as many as there are calls. */
__asm__(".section .rodata\n"
	".altmacro\n"
	".macro literal number\n"
	"	.p2align 16\n"
	"	.asciz	\"\\number literal\"\n"
	".endm\n"
	"	.p2align 16\n"
	"literals:\n"
	".set index, 10000000\n"
	".rept 200\n"
	"	literal	%index\n"
	"	.set	index, index + 1\n"
	".endr\n"
	"	.p2align 16\n"
	".noaltmacro\n"
	".text\n");

extern const char literals[];

static char *file;		/* 2 * COUNT * APART bytes of one */
static int file_fd;
static char *pages;		/* as many, anonymous */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t pagemap(const void *p)
{
	static int fd = -1;
	uint64_t entry;

	if (fd < 0)
		fd = open("/proc/self/pagemap", O_RDONLY);
	if (pread(fd, &entry, 8, (uintptr_t)p / PAGE * 8) != 8)
		fail("pagemap");
	return entry;
}

#define RESIDENT	(1ull << 63)
#define SWAPPED		(1ull << 62)

static bool cached(char *p)
{
	unsigned char in_core;

	return mincore(p, PAGE, &in_core) || in_core & 1;
}

/* ---- the kinds: the nth pointer; NULL when it isn't as it should be ---- */

static const char *resident(int n)
{
	char *p = pages + n * APART;

	return pagemap(p) & RESIDENT ? p : NULL;
}

static const char *literal(int n)
{
	const char *p = literals + n * APART;

	return pagemap(p) & RESIDENT ? NULL : p;
}

static const char *dropped(int n)
{
	char *p = file + n * APART;

	if (madvise(p, PAGE, MADV_DONTNEED))
		fail("madvise");
	return pagemap(p) & RESIDENT || !cached(p) ? NULL : p;
}

static const char *evicted(int n)
{
	char *p = file + n * APART;

	if (madvise(p, PAGE, MADV_DONTNEED))
		fail("madvise");
	posix_fadvise(file_fd, n * APART, APART, POSIX_FADV_DONTNEED);
	return pagemap(p) & RESIDENT || cached(p) ? NULL : p;
}

static const char *swapped(int n)
{
	char *p = pages + n * APART;

	madvise(p, PAGE, MADV_PAGEOUT);
	return pagemap(p) & SWAPPED ? p : NULL;
}

static const char *unmapped(int n)
{
	char *p = pages + n * APART;

	munmap(p, PAGE);
	return p;
}

static const char *no_access(int n)
{
	char *p = pages + n * APART;

	if (mprotect(p, PAGE, PROT_NONE))
		fail("mprotect");
	return p;
}

static const struct kind {
	const char *name;
	const char *(*take)(int n);
	bool unreadable;
} kinds[] = {
	{ "resident", resident, false },
	{ "literal", literal, false },
	{ "dropped", dropped, false },
	{ "evicted", evicted, false },
	{ "swapped", swapped, false },
	{ "unmapped", unmapped, true },
	{ "no-access", no_access, true },
};

/* ---- */

static void text_make(char *text, const char *kind, int n)
{
	sprintf(text, "%d %s", DIGITS + n, kind);
}

static void pages_make(const char *kind)
{
	if (pages)
		munmap(pages, 2 * COUNT * APART);
	pages = mmap(NULL, 2 * COUNT * APART, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		fail("mmap");
	for (int n = 0; n < 2 * COUNT; n++) {
		text_make(pages + n * APART, kind, n);
		text_make(file + n * APART, kind, n);
	}
	if (msync(file, 2 * COUNT * APART, MS_SYNC))
		fail("msync");
}

static void file_make(const char *dir)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/absent.data", dir);
	file_fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (file_fd < 0 || ftruncate(file_fd, 2 * COUNT * APART))
		fail(path);
	file = mmap(NULL, 2 * COUNT * APART, PROT_READ | PROT_WRITE, MAP_SHARED,
		    file_fd, 0);
	if (file == MAP_FAILED)
		fail("mmap");
	/* else neighbours are read, too */
	madvise(file, 2 * COUNT * APART, MADV_RANDOM);
}

static void call(const struct kind *kind, int n, unsigned long first)
{
	const char *p = kind->take(n);
	bool word = n >= COUNT;
	char text[64];
	uint64_t digits;

	if (!p)
		return;
	text_make(text, kind->name, n);
	memcpy(&digits, text, 8);
	printf("%lu %s %s ", first + n, kind->name, word ? "word" : "text");
	if (kind->unreadable)
		puts("-");
	else if (word)
		printf("%llx\n", (unsigned long long)digits);
	else
		puts(text);
	if (word)
		absent_word(p, first + n);
	else
		absent_text(p, first + n);
}

int main(int argc, char **argv)
{
	unsigned long first;

	if (argc != 3)
		return 2;
	file_make(argv[1]);
	first = strtoul(argv[2], NULL, 10);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		pages_make(kinds[i].name);
		for (int n = 0; n < 2 * COUNT; n++)
			call(&kinds[i], n, first);
		first += 2 * COUNT;
	}
	return 0;
}
