// SPDX-License-Identifier: GPL-2.0
/*
 * Writes static records; C and C++.
 *
 *	caller MAJOR MINOR text TEXT	the text with its zero
 *	caller MAJOR MINOR bytes N	N bytes 0, 1, 2 ...
 *	caller MAJOR MINOR bad		8 bytes where nothing is
 *	caller MAJOR MINOR half		16 bytes, of which nothing is at 8
 *	caller MAJOR MINOR absent	a text in a page that was never touched
 *	caller MAJOR MINOR count N	N records of one number, from 1
 *	caller MAJOR MINOR fork N	the same, and then by a child as well
 *	caller MAJOR MINOR cost N	none: prints ns per call, less a call of
 *					an empty function
 */
#include <rastrace.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void function(unsigned int, unsigned int, const void *, size_t);

static __attribute__((noinline)) void nothing(unsigned int major,
					      unsigned int minor,
					      const void *data, size_t length)
{
	__asm__ volatile("");
}

static double time_calls(function *volatile call, unsigned long calls)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned long i = 0; i < calls; i++)
		call(250, 1, "text", 5);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 +
		(double)(end.tv_nsec - begin.tv_nsec)) / (double)calls;
}

/* The last 8 bytes of a page with nothing after it */
static const void *page_end(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *pages = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || munmap(pages + page, page))
		exit(1);
	memset(pages, 'x', page);
	return pages + page - 8;
}

/* "absent" in a file's page that isn't in memory */
static const char *absent_text(void)
{
	FILE *file = tmpfile();
	char *text = (char *)MAP_FAILED;

	if (file && fwrite("absent", 7, 1, file) == 1 && !fflush(file))
		text = (char *)mmap(NULL, 4096, PROT_READ, MAP_SHARED,
				    fileno(file), 0);
	if (text == MAP_FAILED)
		exit(1);
	madvise(text, 4096, MADV_DONTNEED);
	return text;
}

static void write_numbers(unsigned int major, unsigned int minor,
			  unsigned long n)
{
	for (uint32_t i = 1; i <= n; i++)
		rastrace_write(major, minor, &i, sizeof(i));
}

/* The child's code has been probed before it is there. */
static int write_forked(unsigned int major, unsigned int minor, unsigned long n)
{
	int status = 1;
	pid_t child;

	write_numbers(major, minor, n);
	child = fork();
	if (!child) {
		write_numbers(major, minor, n);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	return status != 0;
}

int main(int argc, char **argv)
{
	unsigned int major, minor;
	const char *kind;
	unsigned long n;
	char bytes[4096];

	if (argc < 4) {
		fputs("usage: caller MAJOR MINOR KIND [N]\n", stderr);
		return 2;
	}
	major = strtoul(argv[1], NULL, 0);
	minor = strtoul(argv[2], NULL, 0);
	kind = argv[3];
	n = argc > 4 ? strtoul(argv[4], NULL, 0) : 0;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	if (!strcmp(kind, "text"))
		rastrace_write(major, minor, argv[4], strlen(argv[4]) + 1);
	else if (!strcmp(kind, "bytes"))
		rastrace_write(major, minor, bytes, n);
	else if (!strcmp(kind, "bad"))
		rastrace_write(major, minor, (const void *)(uintptr_t)8, 8);
	else if (!strcmp(kind, "half"))
		rastrace_write(major, minor, page_end(), 16);
	else if (!strcmp(kind, "absent"))
		rastrace_write(major, minor, absent_text(), 7);
	else if (!strcmp(kind, "cost"))
		printf("%.2f\n", time_calls(rastrace_write, n) -
				 time_calls(nothing, n));
	else if (!strcmp(kind, "count"))
		write_numbers(major, minor, n);
	else if (!strcmp(kind, "fork"))
		return write_forked(major, minor, n);
	return 0;
}
