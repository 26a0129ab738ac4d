// SPDX-License-Identifier: GPL-2.0
/*
 * Of a program that runs the blocks in use are found, each with the bytes that
 * can be used, and none that is free; and it goes on as if nothing had been.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"
#include "old_target.h"
#include "heapmon/old/old.h"

struct target {
	struct target_table *table;
	pid_t child;
};

static char *folder;

static bool target_start(struct target *target, const char *program,
			 char *const argv[], const char *preload)
{
	int fd = memfd_create("table", 0);
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, program);
	if (access(path, X_OK) || fd < 0 ||
	    ftruncate(fd, sizeof(*target->table)))
		return false;
	target->table = mmap(NULL, sizeof(*target->table),
			     PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (target->table == MAP_FAILED)
		tap_bail("no memory for the table");
	target->child = fork();
	if (!target->child) {
		dup2(fd, TARGET_FD);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		execv(path, argv);
		_exit(1);
	}
	close(fd);
	for (int i = 0; i < 20000; i++) {
		if (__atomic_load_n(&target->table->ready, __ATOMIC_ACQUIRE))
			return true;
		usleep(1000);
	}
	tap_bail("%s doesn't become ready", program);
}

static void target_end(struct target *target)
{
	kill(target->table->pid, SIGKILL);
	kill(target->child, SIGKILL);
	waitpid(target->child, NULL, 0);
	munmap(target->table, sizeof(*target->table));
}

/* ---- blocks that are found, and those there are ---- */

struct found {
	struct target_block *items;
	size_t count;
};

static int found_take(void *context, const struct old_block *block)
{
	struct found *found = context;

	if (found->count == TARGET_BLOCKS)
		return -E2BIG;
	found->items[found->count++] = (struct target_block){
		block->address, block->size,
	};
	return 0;
}

static int block_compare(const void *a, const void *b)
{
	const struct target_block *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* How many of its blocks aren't among the found ones, with their sizes. */
static size_t blocks_missing(const struct found *found,
			     const struct target_table *table)
{
	size_t missing = 0;

	for (uint32_t i = 0; i < table->count; i++) {
		const struct target_block *own = &table->blocks[i];
		const struct target_block *same =
			bsearch(own, found->items, found->count, sizeof(*own),
				block_compare);

		missing += !same || same->size != own->size;
	}
	return missing;
}

struct row {
	const char *program, *threads, *operations, *way;
	bool busy;		/* more blocks come and go */
	const char *name;
};

static const struct row rows[] = {
	{ "old_target", "0", "2000", NULL, false, "one thread" },
	{ "old_target", "0", "30000", NULL, false, "a large heap" },
	{ "old_target", "6", "3000", NULL, false, "arenas of threads" },
	{ "old_target", "20", "1500", NULL, false,
	  "more threads than arenas" },
	{ "old_target", "4", "3000", "ending", false, "threads that ended" },
	{ "old_target", "4", "3000", "fork", false,
	  "a child, and caches of its parent's threads" },
	{ "old_target", "0", "3000", "sbrk", false,
	  "memory of others between" },
	{ "old_target", "2", "8000", "blocked", false,
	  "where sbrk gives nothing" },
	{ "old_target", "4", "3000", "busy", true,
	  "while threads allocate" },
	{ "old_target", "2", "1500", "aligned", false,
	  "mapped blocks of memalign" },
	{ "old_target32", "4", "3000", NULL, false, "32 bits" },
	{ "old_target32", "2", "1500", "aligned", false,
	  "32 bits, mapped blocks of memalign" },
	{ "old_target32", "2", "8000", "blocked", false,
	  "32 bits, where sbrk gives nothing" },
	{ "old_target_static", "0", "3000", NULL, false, "a static program" },
	{ "old_target_static", "16", "5000", NULL, false,
	  "a static program with threads" },
};

/* What libc itself has before the program begins. */
static long long own_of_libc(const char *program)
{
	char *argv[] = { (char *)program, "1", "0", "0", NULL };
	struct found found = { 0 };
	struct old_figures figures;
	struct target target;
	struct error err;

	if (!target_start(&target, program, argv, NULL))
		return -1;
	found.items = calloc(1000, sizeof(*found.items));
	if (old_walk(target.table->pid, found_take, &found, &figures, &err))
		tap_diag("%s", err.text);
	free(found.items);
	target_end(&target);
	return figures.blocks;
}

static void row_check(const struct row *row, const struct target_table *table,
		      struct found *found, const struct old_figures *figures)
{
	/* each thread's vector of thread-local storage, of ld.so */
	long long others = own_of_libc(row->program) + atoi(row->threads);

	qsort(found->items, found->count, sizeof(*found->items),
	      block_compare);
	tap_is(blocks_missing(found, table), 0, "%s: no block is missing",
	       row->name);
	if (row->busy)
		tap_ok((long long)found->count >= table->count + others,
		       "%s: there are more", row->name);
	else
		tap_is(found->count, table->count + others,
		       "%s: no block is too many", row->name);
	tap_ok(figures->cached, "%s: what is free but looks used is left out",
	       row->name);
}

static void row_run(const struct row *row)
{
	char *argv[] = { (char *)row->program, "7", (char *)row->threads,
			 (char *)row->operations, (char *)row->way, NULL };
	struct found found = { 0 };
	struct old_figures figures;
	struct error err = { "" };
	struct target target;
	int code;

	if (!target_start(&target, row->program, argv, NULL)) {
		tap_skip(row->name, "the program couldn't be built");
		return;
	}
	found.items = malloc(TARGET_BLOCKS * sizeof(*found.items));
	code = old_walk(target.table->pid, found_take, &found, &figures, &err);
	if (!tap_ok(!code && figures.why == RAS_HEAP_OLD_WHOLE, "%s: all of it",
		    row->name))
		tap_diag("%d %u %s", code, figures.why, err.text);
	row_check(row, target.table, &found, &figures);
	tap_diag("%llu blocks of %u arenas, stopped for %llu us",
		 (unsigned long long)figures.blocks, figures.arenas,
		 (unsigned long long)figures.stopped / 1000);
	free(found.items);
	target_end(&target);
}

/* ---- the program goes on ---- */

static int take_nothing(void *context, const struct old_block *block)
{
	return 0;
}

static bool goes_on(const struct target_table *table)
{
	uint64_t before = __atomic_load_n(&table->turns, __ATOMIC_RELAXED);

	for (int i = 0; i < 5000; i++) {
		if (__atomic_load_n(&table->turns, __ATOMIC_RELAXED) >
		    before + 100)
			return true;
		usleep(1000);
	}
	return false;
}

static void test_waiting(void)
{
	char *argv[] = { "old_target", "1", "3", "100", "waiting", NULL };
	struct old_figures figures;
	struct target target;
	struct error err;

	if (!target_start(&target, argv[0], argv, NULL))
		tap_bail("old_target isn't there");
	for (int i = 0; i < 30; i++)
		old_walk(target.table->pid, take_nothing, NULL, &figures,
			 &err);
#ifdef __aarch64__
	tap_skip("a waiting thread doesn't see an interruption",
		 "there a system call's first argument is gone by then");
#else
	tap_is(target.table->failures, 0,
	       "a waiting thread doesn't see an interruption");
#endif
	tap_ok(goes_on(target.table), "... and goes on waiting");
	target_end(&target);
}

/* The walker is killed, wherever it is. */
static void test_killed(void)
{
	char *argv[] = { "old_target", "1", "2", "20000", "busy", NULL };
	struct target target;
	int stuck = 0;

	if (!target_start(&target, argv[0], argv, NULL))
		tap_bail("old_target isn't there");
	for (int i = 0; i < 15; i++) {
		pid_t walker = fork();

		if (!walker) {
			struct old_figures figures;

			for (;;)
				old_walk(target.table->pid, take_nothing, NULL,
					 &figures, NULL);
		}
		usleep(5000 + i * 700);
		kill(walker, SIGKILL);
		waitpid(walker, NULL, 0);
		stuck += !goes_on(target.table);
	}
	tap_is(stuck, 0, "the program goes on when its walker is killed");
	target_end(&target);
}

/* No thread changes the heap while it is walked. */
static void test_locks(void)
{
	char *argv[] = { "old_target", "1", "4", "2000", "busy", NULL };
	struct old_figures figures;
	struct target target;
	struct error err;
	int whole = 0;

	if (!target_start(&target, argv[0], argv, NULL))
		tap_bail("old_target isn't there");
	for (int i = 0; i < 20; i++)
		whole += !old_walk(target.table->pid, take_nothing, NULL,
				   &figures, &err) &&
			 figures.why == RAS_HEAP_OLD_WHOLE;
	if (!tap_is(whole, 20, "the heap is at rest when it is walked"))
		tap_diag("%s", err.text);
	target_end(&target);
}

/* ---- what can't be walked ---- */

static uint32_t why_not(struct target *target, struct error *err)
{
	struct old_figures figures;
	int code;

	*err = (struct error){ "" };
	code = old_walk(target->table->pid, take_nothing, NULL, &figures, err);
	if (code)
		tap_diag("%d %s", code, err->text);
	return code ? 99 : figures.why;
}

static void test_damaged(void)
{
	char *argv[] = { "old_target", "1", "0", "2000", "damaged", NULL };
	struct target target;
	struct error err;

	if (!target_start(&target, argv[0], argv, NULL))
		tap_bail("old_target isn't there");
	tap_is(why_not(&target, &err), RAS_HEAP_OLD_BROKEN,
	       "a damaged heap is reported");
	tap_ok(strstr(err.text, "damaged"), "... %s", err.text);
	target_end(&target);
}

static void test_foreign(const char *library)
{
	char *argv[] = { "old_target", "1", "2", "2000", NULL };
	struct target target;
	struct error err;
	char path[256];

	snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/%s", library);
	if (geteuid() || access(path, R_OK)) {
		tap_skip(library, "it isn't installed, or this isn't root");
		return;
	}
	if (!target_start(&target, argv[0], argv, path))
		tap_bail("old_target isn't there");
	tap_is(why_not(&target, &err), RAS_HEAP_OLD_FOREIGN,
	       "%s isn't glibc's", library);
	tap_ok(strstr(err.text, library), "... %s", err.text);
	target_end(&target);
}

static void test_traced(void)
{
	char *argv[] = { "old_target", "1", "0", "100", NULL };
	struct target target;
	struct error err;

	if (!target_start(&target, argv[0], argv, NULL))
		tap_bail("old_target isn't there");
	ptrace(PTRACE_SEIZE, target.child, 0, 0);
	tap_is(why_not(&target, &err), RAS_HEAP_OLD_REFUSED,
	       "a process that a debugger has is left alone");
	tap_ok(err.hint[0], "... %s", err.text);
	target_end(&target);
}

static void test_traced_shortly(void)
{
	char *argv[] = { "old_target", "1", "0", "100", NULL };
	struct target target;
	struct error err;
	pid_t tracer;
	int ready[2];
	char byte;

	if (!target_start(&target, argv[0], argv, NULL) || pipe(ready))
		tap_bail("old_target isn't there");
	tracer = fork();
	if (!tracer) {
		ptrace(PTRACE_SEIZE, target.child, 0, 0);
		if (write(ready[1], "", 1) == 1)
			usleep(200000);
		_exit(0);
	}
	tap_ok(read(ready[0], &byte, 1) == 1 &&
	       why_not(&target, &err) == RAS_HEAP_OLD_WHOLE && !err.text[0],
	       "one that another has for a moment is waited for");
	waitpid(tracer, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	target_end(&target);
}

static void test_gone(void)
{
	struct old_figures figures;
	struct error err = { "" };
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	tap_ok(old_walk(child, take_nothing, NULL, &figures, &err) < 0,
	       "a process that isn't there is an error");
	tap_ok(err.text[0], "... %s", err.text);
}

int main(int argc, char **argv)
{
	folder = dirname(strdup(argv[0]));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		row_run(&rows[i]);
	test_waiting();
	test_killed();
	test_locks();
	test_damaged();
	test_foreign("libjemalloc.so.2");
	test_foreign("libmimalloc.so.2.0");
	test_foreign("libtcmalloc_minimal.so.4");
	test_traced();
	test_traced_shortly();
	test_gone();
	return tap_done();
}
