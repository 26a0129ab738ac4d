// SPDX-License-Identifier: GPL-2.0
/*
 * Patches its own code as it runs, then calls it: `patcher work` or `other`, of
 * which one is to return 7 instead of 1, `patcher -` for none. Says "ready", and
 * goes on with a line from stdin. Prints what both return. `patcher break` is the
 * debugger of a `patcher -` with a breakpoint in work(), and prints its stops;
 * `patcher heapmon` the same with heapmon's name. `patcher move` maps the page of
 * work() and the one before it in turns at one address until it is killed.
 */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noipa, aligned(64))) int work(volatile int *one)
{
	return *one;
}

__attribute__((noipa, aligned(64))) int other(volatile int *one)
{
	return *one;
}

/* return 7 */
#ifdef __aarch64__
static const unsigned int code[] = { 0x528000e0, 0xd65f03c0 };
#else
static const unsigned char code[] = { 0xb8, 7, 0, 0, 0, 0xc3 };
#endif

static int patch(void *function)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *from = (char *)((size_t)function & -page);

	if (mprotect(from, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC))
		return -1;
	memcpy(function, code, sizeof(code));
	__builtin___clear_cache(function, (char *)function + sizeof(code));
	return mprotect(from, 2 * page, PROT_READ | PROT_EXEC);
}

#ifdef __aarch64__
#define BREAK(word)	(((word) & ~0xffffffffL) | 0xd4200000)
#else
#define BREAK(word)	(((word) & ~0xffL) | 0xcc)
#endif

/* On with the instruction that the breakpoint has replaced. */
static void step_back(pid_t child)
{
#ifdef __x86_64__
	ptrace(PTRACE_POKEUSER, child, offsetof(struct user_regs_struct, rip),
	       (long)work);
#else
	(void)child;
#endif
}

static int debug(pid_t child)
{
	int status, stops = 0;
	long word;

	waitpid(child, &status, 0);
	word = ptrace(PTRACE_PEEKTEXT, child, work, NULL);
	ptrace(PTRACE_POKETEXT, child, work, BREAK(word));
	ptrace(PTRACE_CONT, child, NULL, NULL);
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		stops++;
		ptrace(PTRACE_POKETEXT, child, work, word);
		step_back(child);
		ptrace(PTRACE_CONT, child, NULL, NULL);
	}
	printf("%d stops\n", stops);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Where the page of a function is in the file, or -1. */
static off_t page_of(const void *function)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	size_t page = sysconf(_SC_PAGESIZE), at = (size_t)function & -page;
	unsigned long start, end, offset;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) ==
			    3 && at >= start && at < end) {
			fclose(maps);
			return offset + at - start;
		}
	return -1;
}

/* Written to, so that they are no pages of the file. */
static int move(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	int file = open("/proc/self/exe", O_RDONLY);
	off_t offset = page_of(work);
	volatile char *place = NULL;

	if (offset < (off_t)page)
		return 2;
	puts("ready");
	fflush(stdout);
	for (unsigned int i = 0;; i++) {
		void *map = mmap((void *)place, page, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | (place ? MAP_FIXED : 0), file,
				 offset - (i % 2 ? page : 0));

		if (map == MAP_FAILED)
			return 2;
		place = map;
		*place = *place;
	}
}

int main(int argc, char **argv)
{
	volatile int one = 1;
	const char *which = argc > 1 ? argv[1] : "-";

	if (!strcmp(which, "move"))
		return move();
	if (!strcmp(which, "break") || !strcmp(which, "heapmon")) {
		pid_t child = fork();

		if (child) {
			prctl(PR_SET_NAME, which);
			return debug(child);
		}
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
	}
	if ((!strcmp(which, "work") && patch(work)) ||
	    (!strcmp(which, "other") && patch(other)))
		return 2;
	puts("ready");
	fflush(stdout);
	getchar();
	printf("%d %d\n", work(&one), other(&one));
	return 0;
}
