// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace: passes pointers to memory that is there, that isn't
 * resident, that can't be read, and that whatever reads it waits for.
 *
 *	memory DIR		each case once; prints "NAME|FLAGS|LINE" for
 *				each line that tracefmt must print, with the
 *				record's flags, or "-" when it isn't its first
 *	memory DIR COUNT	so many strings, none of them resident
 *	memory DIR COUNT THREADS
 *				while so many threads change the mappings
 *
 * DIR is where its files may be; with DIR/fuse there, a file system is mounted
 * on that.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "silent_fuse.h"

#define PAGE	4096
#define APART	(1 << 17)	/* the kernel maps the neighbours of a page that
				 * is touched, up to 64 KiB */
#define NODES	3
#define PAGED	"paged in"
#define FAULT	"fault"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

struct node {
	struct node *next;
	uint32_t value;
};

void look(const void *p, const int *after);
void text(const char *s);
void chain(const struct node *n);
void both(const void *p, const void *q);
void choose(const int *wanted, int number);

__attribute__((noinline)) void look(const void *p, const int *after)
{
	__asm__ volatile("" :: "r"(p), "r"(after) : "memory");
}

__attribute__((noinline)) void text(const char *s)
{
	__asm__ volatile("" :: "r"(s) : "memory");
}

__attribute__((noinline)) void chain(const struct node *n)
{
	__asm__ volatile("" :: "r"(n) : "memory");
}

__attribute__((noinline)) void both(const void *p, const void *q)
{
	__asm__ volatile("" :: "r"(p), "r"(q) : "memory");
}

__attribute__((noinline)) void choose(const int *wanted, int number)
{
	__asm__ volatile("" :: "r"(wanted), "r"(number) : "memory");
}

/* Pages of its own, that nothing else brings in */
static const char literal[2 * APART] __attribute__((aligned(APART))) = {
	[APART] = 'n', 'e', 'v', 'e', 'r', ' ', 't', 'o', 'u', 'c', 'h', 'e',
	'd',
};

static int after = 42;
static char *file;		/* APART * (NODES + 1) bytes of one */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void expect(const char *name, const char *flags, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void expect(const char *name, const char *flags, const char *format, ...)
{
	va_list args;

	printf("%s|%s|", name, flags);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

static void expect_words(const char *name, const char *flags, const char *label,
			 uint32_t value)
{
	expect(name, flags, "%s %04X %04X", label, value >> 16,
	       value & 0xffff);
}

static uint64_t pagemap(const void *p)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	off64_t at = (uintptr_t)p / PAGE * 8;
	uint64_t entry;

	if (fd < 0 || pread64(fd, &entry, 8, at) != 8)
		fail("pagemap");
	close(fd);
	return entry;
}

#define RESIDENT	(1ull << 63)
#define SWAPPED		(1ull << 62)

static void drop(const void *p)
{
	const char *page = (void *)((uintptr_t)p & -(uintptr_t)PAGE);

	if (madvise((void *)page, PAGE, MADV_DONTNEED))
		fail("madvise");
	if (pagemap(page) & RESIDENT)
		fail("it is still resident");
}

static void *anonymous(size_t size, int protection)
{
	void *p = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

static void file_make(const char *dir)
{
	size_t size = APART * (NODES + 1);
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/memory.data", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, size))
		fail(path);
	file = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		fail("mmap");
	close(fd);
}

static struct node *node(int n)
{
	return (void *)(file + (n + 1) * APART);
}

static void nodes_make(void)
{
	for (int i = 0; i < NODES; i++) {
		node(i)->next = node((i + 1) % NODES);
		node(i)->value = 0x10001 * (i + 1);
	}
}

/* What tracefmt says of a pointer that isn't followed */
static void look_bad(const char *name, const char *flags, const char *why,
		     const void *p)
{
	expect(name, flags, "first <%s: %016lX>", why, (unsigned long)p);
	look(p, &after);
}

static void resident(void)
{
	expect_words("what is resident", "", "first", after);
	look(&after, &after);
	expect("a resident string", "", "text resident");
	text("resident");
}

static void dropped(void)
{
	uint32_t *word = (void *)file;

	*word = 0x00640072;
	drop(word);
	expect_words("a file's page that was dropped", PAGED, "first",
		     0x00640072);
	look(word, &after);
	expect_words("and now it is there", "", "first", 0x00640072);
	look(word, &after);
}

static void strings(void)
{
	char *end = file + PAGE;

	drop(literal + APART);
	expect("a literal that was never touched", PAGED,
	       "text never touched");
	text(literal + APART);

	strcpy(end - 8, "crossing the page");
	drop(end);
	expect("a string that crosses into an absent page", PAGED,
	       "text crossing the page");
	text(end - 8);

	strcpy(end - 8, "up here");
	drop(end);
	expect("one that ends before it", "", "text up here");
	text(end - 8);

	drop(end - 8);
	expect("one that is absent, and ends before an absent page", PAGED,
	       "text up here");
	text(end - 8);
}

static void swapped(void)
{
	uint32_t *word = anonymous(PAGE, PROT_READ | PROT_WRITE);

	*word = 0x00730077;
	madvise(word, PAGE, MADV_PAGEOUT);
	if (!(pagemap(word) & SWAPPED)) {
		expect("a page that was swapped out", "SKIP",
		       "the kernel doesn't swap here");
		return;
	}
	expect_words("a page that was swapped out", PAGED, "first",
		     0x00730077);
	look(word, &after);
}

static void chains(void)
{
	nodes_make();
	drop(node(0));
	drop(node(1));
	expect_words("two absent pages in a chain", PAGED, "two", 0x20002);
	expect_words("and after them", "-", "three", 0x30003);
	chain(node(0));
	for (int i = 0; i < NODES; i++)
		drop(node(i));
	expect_words("three absent pages in a chain: the second", PAGED, "two",
		     0x20002);
	expect_words("the third", "-", "three", 0x30003);
	chain(node(0));
}

static void crossing(void)
{
	char *end = file + PAGE;

	memcpy(end - 2, "\1\0\2\0", 4);
	drop(end);
	expect_words("an item that crosses into an absent page", PAGED,
		     "first", 0x20001);
	look(end - 2, &after);
	drop(end - 2);
	drop(end);
	expect_words("one with both of its pages absent", PAGED, "first",
		     0x20001);
	look(end - 2, &after);
}

static void unreadable(void)
{
	char *pages = anonymous(2 * PAGE, PROT_READ | PROT_WRITE);
	char *gone = anonymous(PAGE, PROT_READ);

	*pages = 1;
	mprotect(pages + PAGE, PAGE, PROT_NONE);
	munmap(gone, PAGE);
	look_bad("NULL", FAULT, "not readable", NULL);
	look_bad("an unmapped page", FAULT, "not readable", gone);
	look_bad("a page without access", FAULT, "not readable", pages + PAGE);
	look_bad("an item that crosses into one", FAULT, "not readable",
		 pages + PAGE - 2);
	expect("a string in one", FAULT, "text <not readable: %016lX>",
	       (unsigned long)(pages + PAGE));
	text(pages + PAGE);
}

/* ONFAULT=CONTINUE */
static void going_on(void)
{
	uint32_t *word = (void *)file;

	*word = 0x00640072;
	drop(word);
	expect("after what can't be read", FAULT ", " PAGED,
	       "p <not readable: %016lX>", 0ul);
	expect_words("what is absent is brought in", "-", "q", *word);
	drop(word);
	both(NULL, word);
	drop(word);
	expect_words("what is absent", FAULT ", " PAGED, "p", 0x00640072);
	expect("before what can't be read", "-", "q <not readable: %016lX>",
	       0ul);
	both(word, NULL);
}

/* IF=(*wanted == 7) */
static void conditions(void)
{
	int *wanted = (void *)file;

	*wanted = 7;
	drop(wanted);
	expect_words("a condition on what is absent", "", "chosen", 77);
	choose(wanted, 77);
	*wanted = 8;
	drop(wanted);
	choose(wanted, 78);
	choose(NULL, 79);
}

static void beyond_the_file(const char *dir)
{
	char path[4096], *p;
	int fd;

	snprintf(path, sizeof(path), "%s/short.data", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (fd < 0 || p == MAP_FAILED)
		fail(path);
	close(fd);
	look_bad("a page beyond the end of its file", FAULT, "not readable", p);
}

static void faulted_by_others(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	char *p = anonymous(PAGE, PROT_READ | PROT_WRITE);
	struct uffdio_register range = {
		.range = { (uintptr_t)p, PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &range)) {
		expect("a userfaultfd's page", "SKIP", "%s", strerror(errno));
		return;
	}
	look_bad("a userfaultfd's page", FAULT, "left alone", p);
	nodes_make();
	node(0)->next = (void *)p;
	drop(node(0));
	expect("one after an absent page", FAULT ", " PAGED,
	       "two <left alone: %016lX>",
	       (unsigned long)(p + offsetof(struct node, value)));
	expect("and what follows it", "-", "three <not traced>");
	chain(node(0));
	close(fd);
}

static void fuse(const char *dir)
{
	char path[4096], *p;
	int fd, server;

	snprintf(path, sizeof(path), "%s/fuse", dir);
	server = silent_mount(path);
	if (server < 0) {
		expect("a page of a FUSE file", "SKIP", "%s", strerror(errno));
		return;
	}
	strcat(path, "/file");
	fd = open(path, O_RDONLY);
	p = fd < 0 ? MAP_FAILED : mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED,
				       fd, 0);
	if (p == MAP_FAILED) {
		kill(server, SIGKILL);
		fail(path);
	}
	look_bad("a page of a FUSE file", FAULT, "left alone", p);
	expect("a string in one", FAULT, "text <left alone: %016lX>",
	       (unsigned long)p);
	text(p);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	path[strlen(path) - strlen("/file")] = '\0';
	umount2(path, MNT_DETACH);
}

/* Every string is in a page of the file that was just dropped. */
static void many(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		char *s = file + i % (NODES + 1) * APART;

		sprintf(s, "string %u", i);
		drop(s);
		text(s);
	}
}

static volatile bool enough;

static void *mappings_change(void *unused)
{
	while (!enough)
		munmap(anonymous(16 * PAGE, PROT_READ), 16 * PAGE);
	return unused;
}

static void many_meanwhile(unsigned int count, unsigned int threads)
{
	pthread_t *others = calloc(threads, sizeof(*others));

	for (unsigned int i = 0; i < threads; i++)
		pthread_create(&others[i], NULL, mappings_change, NULL);
	many(count);
	enough = true;
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(others[i], NULL);
	free(others);
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : ".";

	file_make(dir);
	if (argc > 2) {
		many_meanwhile(atoi(argv[2]), argc > 3 ? atoi(argv[3]) : 0);
		return 0;
	}
	resident();
	dropped();
	strings();
	swapped();
	chains();
	crossing();
	unreadable();
	going_on();
	conditions();
	beyond_the_file(dir);
	faulted_by_others();
	fuse(dir);
	return 0;
}
