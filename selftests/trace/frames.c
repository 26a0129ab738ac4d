// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace whose data is on its disk: frames FILE PROCESSES ROUNDS.
 * So many processes, all on the first CPU, call plain_N(), sized_N() and listed_N()
 * in turn, N being the process. What they are given is in pages that are neither
 * mapped nor in the page cache, so that a hit waits for the disk while others
 * come. Prints "waited" if one did.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE		4096
#define APART		(1 << 17)	/* more than is read ahead */
#define NODES		2
#define PROCESSES	10
#define TEXT_LEAST	17	/* up to the round */

struct node {
	const struct node *next;
	uint32_t owner, round;
	uint32_t length;
	char text[40];
};

typedef void called(uint32_t owner, const struct node *node);

#define CALLED(kind, n) \
	__attribute__((noinline)) void kind##_##n(uint32_t owner, \
						  const struct node *node); \
	void kind##_##n(uint32_t owner, const struct node *node) \
	{ \
		__asm__ volatile("" :: "r"(owner), "r"(node) : "memory"); \
	}
#define CALLED_ALL(kind) \
	CALLED(kind, 0) CALLED(kind, 1) CALLED(kind, 2) CALLED(kind, 3) \
	CALLED(kind, 4) CALLED(kind, 5) CALLED(kind, 6) CALLED(kind, 7) \
	CALLED(kind, 8) CALLED(kind, 9) \
	static called *const kind[PROCESSES] = { \
		kind##_0, kind##_1, kind##_2, kind##_3, kind##_4, \
		kind##_5, kind##_6, kind##_7, kind##_8, kind##_9, \
	};

CALLED_ALL(plain)
CALLED_ALL(sized)
CALLED_ALL(listed)

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static struct node *node_at(char *file, int n)
{
	return (void *)(file + n * APART);
}

static void nodes_write(char *file, uint32_t owner, uint32_t round)
{
	for (int i = 0; i < NODES; i++) {
		struct node *node = node_at(file, i);

		node->next = node_at(file, (i + 1) % NODES);
		node->owner = owner;
		node->round = round;
		node->length = TEXT_LEAST + owner;
		snprintf(node->text, sizeof(node->text),
			 "owner %u round %03u and more of it", owner % 100,
			 round % 1000);
	}
}

/* Neither mapped nor cached */
static void nodes_drop(int fd, char *file)
{
	for (int i = 0; i < NODES; i++)
		if (madvise(file + i * APART, PAGE, MADV_DONTNEED))
			fail("madvise");
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		fail("posix_fadvise");
}

static void process_run(const char *path, uint32_t owner, uint32_t rounds)
{
	called *const *kinds[] = { plain, sized, listed };
	char name[4096], *file;
	int fd;

	snprintf(name, sizeof(name), "%s.%u", path, owner);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, NODES * APART))
		fail(name);
	file = mmap(NULL, NODES * APART, PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
	if (file == MAP_FAILED)
		fail("mmap");
	madvise(file, NODES * APART, MADV_RANDOM);
	for (uint32_t round = 0; round < rounds; round++) {
		nodes_write(file, owner, round);
		if (msync(file, NODES * APART, MS_SYNC))
			fail("msync");
		for (int kind = 0; kind < 3; kind++) {
			nodes_drop(fd, file);
			kinds[kind][owner](owner, node_at(file, 0));
		}
	}
	unlink(name);
	exit(0);
}

int main(int argc, char **argv)
{
	struct rusage usage;
	cpu_set_t cpus;
	int status, bad = 0;

	if (argc < 4 || atoi(argv[2]) > PROCESSES)
		return 2;
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		fail("sched_setaffinity");
	for (int i = 0; i < atoi(argv[2]); i++) {
		pid_t child = fork();

		if (child < 0)
			fail("fork");
		if (!child)
			process_run(argv[1], i, atoi(argv[3]));
	}
	while (wait(&status) > 0)
		bad |= status;
	if (getrusage(RUSAGE_CHILDREN, &usage))
		fail("getrusage");
	if (usage.ru_majflt)
		printf("waited\n");
	return !!bad;
}
