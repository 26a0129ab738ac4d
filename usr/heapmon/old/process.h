/* SPDX-License-Identifier: GPL-2.0 */
/* Another process: what is mapped, reading it, and stopping it. */
#ifndef OLD_PROCESS_H
#define OLD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "lib/error.h"

#define OLD_WINDOW_LEAST	128	/* bytes read ahead */
#define OLD_WINDOW_MOST		65536

struct old_region {
	uint64_t start, end;
	bool writable;
	bool file;		/* of a file, maybe one that is gone */
	bool heap;		/* where brk(2) is */
	bool anonymous;		/* of no file, without a name of the kernel's */
	bool first;		/* of the file's mappings: its begin */
	char name[32];		/* of the file, without folders */
};

struct old_process {
	uint32_t pid;
	unsigned int word;	/* bytes of a pointer */
	bool i386;		/* %gs, not %fs, leads to a thread's data */
	struct old_region *regions;	/* ascending */
	size_t count, room;
	uint64_t window_at, window_size;
	size_t window_next;	/* bytes to read next time */
	uint8_t window[OLD_WINDOW_MOST];
};

/* Which machine it is of. 0, or a negative errno with err set. */
int old_process_open(struct old_process *process, uint32_t pid,
		     struct error *err);
/* What is mapped now; what was read before is forgotten. */
int old_process_map(struct old_process *process, struct error *err);
void old_process_close(struct old_process *process);

const struct old_region *old_process_region(const struct old_process *process,
					    uint64_t address);
/* Where brk(2) is; NULL: it was never called. */
const struct old_region *old_process_heap(const struct old_process *process);
/* A mapped file that isn't libc and defines malloc for all; NULL: none does. */
const struct old_region *old_process_allocator(
				const struct old_process *process);
/* glibc is mapped. */
bool old_process_has_glibc(const struct old_process *process);
/* All of the bytes; false: they aren't there. */
bool old_process_read(const struct old_process *process, uint64_t address,
		      void *data, size_t size);
/* A pointer, or a number as wide. `word` for here and there, `next_word` for one
 * that is followed by others close after it. */
bool old_process_word(const struct old_process *process, uint64_t address,
		      uint64_t *value);
bool old_process_next_word(struct old_process *process, uint64_t address,
			   uint64_t *value);
/* Of bytes read before. */
uint64_t old_word(const struct old_process *process, const void *data);

/*
 * Stopping all threads of a process by ptrace(2). Of the thread that stops it:
 * when that ends, even by being killed, the kernel lets the process run on.
 */
struct old_thread {
	pid_t tid;
	bool stopped;
	int signal;		/* that it was about to take */
};

struct old_stop {
	uint32_t pid;
	struct old_thread *threads;
	size_t count, room;
};

/* 0, or a negative errno with err set: then old_stop_end(), too; what doesn't
 * run on by that does when the calling thread ends. */
int old_stop_begin(struct old_stop *stop, uint32_t pid, struct error *err);
/* Let one thread, the n-th, go on for a moment, and stop it again: it may have a
 * lock. Threads that were begun meanwhile are stopped, too. */
int old_stop_turn(struct old_stop *stop, size_t n, struct error *err);
/* Let all go. System calls that were interrupted by this only, and would say so,
 * are begun again. */
void old_stop_end(struct old_stop *stop);

#endif
