// SPDX-License-Identifier: GPL-2.0
#include "book.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define PROCESSES_MAX	(1u << 20)
#define MAP_BYTES_MAX	(256u << 20)	/* of all processes */

const struct book_process *book_process_find(const struct book *book,
					     uint32_t pid)
{
	return key_map_find(&book->processes, pid);
}

/* Found or made; NULL: no memory, or too many. */
static struct book_process *process_get(struct book *book, uint32_t pid)
{
	struct book_process *process = key_map_find(&book->processes, pid);

	if (process || book->processes.count == PROCESSES_MAX)
		return process;
	process = calloc(1, sizeof(*process));
	if (process && key_map_add(&book->processes, pid, process)) {
		free(process);
		return NULL;
	}
	if (process)
		process->pid = pid;
	return process;
}

/* ---- adding ---- */

static void name_add(struct book_process *process, uint64_t since,
		     const char *comm)
{
	size_t n = process->name_count, at = n;

	while (at && process->names[at - 1].since >= since)
		at--;
	if (at < n && process->names[at].since == since) {
		memcpy(process->names[at].comm, comm, 16);
		return;
	}
	if (n == BOOK_NAMES && !at)
		return;
	if (n == BOOK_NAMES) {	/* the oldest goes */
		memmove(process->names, process->names + 1,
			--at * sizeof(*process->names));
	} else {
		memmove(process->names + at + 1, process->names + at,
			(n - at) * sizeof(*process->names));
		process->name_count++;
	}
	process->names[at].since = since;
	memcpy(process->names[at].comm, comm, 16);
}

int book_add_processes(struct book *book, const uint8_t *p, size_t n)
{
	struct ras_process_entry entry;

	for (; n >= sizeof(entry); p += sizeof(entry), n -= sizeof(entry)) {
		struct book_process *process;

		memcpy(&entry, p, sizeof(entry));
		process = process_get(book, entry.key.pid);
		if (!process)
			return book->processes.count < PROCESSES_MAX ?
			       -ENOMEM : 0;
		name_add(process, entry.process.seen, entry.process.comm);
	}
	return n ? -EINVAL : 0;
}

static void maps_drop(struct book *book, struct book_process *process)
{
	book->map_bytes -= process->map_count * sizeof(*process->maps);
	free(process->maps);
	process->maps = NULL;
	process->map_count = 0;
}

/* Who was seen long ago is gone: the older half. */
static void maps_make_room(struct book *book)
{
	uint64_t least = UINT64_MAX, limit;
	struct book_process *process;
	size_t at = 0;

	while ((process = key_map_next(&book->processes, &at)))
		if (process->maps && process->map_order < least)
			least = process->map_order;
	limit = least + (book->map_order - least) / 2;
	at = 0;
	while ((process = key_map_next(&book->processes, &at)))
		if (process->maps && process->map_order <= limit)
			maps_drop(book, process);
}

static int mapping_compare(const void *a, const void *b)
{
	const struct ras_mapping *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int book_add_maps(struct book *book, const uint8_t *p, size_t n)
{
	struct book_process *process;
	struct ras_mapping *maps;
	struct ras_maps head;

	if (n < sizeof(head))
		return -EINVAL;
	memcpy(&head, p, sizeof(head));
	if (n - sizeof(head) != head.mappings * sizeof(*maps))
		return -EINVAL;
	while (book->map_bytes > MAP_BYTES_MAX)
		maps_make_room(book);
	process = process_get(book, head.pid);
	maps = malloc(n);
	if (!process || !maps) {
		free(maps);
		return book->processes.count < PROCESSES_MAX ? -ENOMEM : 0;
	}
	memcpy(maps, p + sizeof(head), n - sizeof(head));
	qsort(maps, head.mappings, sizeof(*maps), mapping_compare);
	maps_drop(book, process);
	process->maps = maps;
	process->map_count = head.mappings;
	process->map_order = ++book->map_order;
	book->map_bytes += head.mappings * sizeof(*maps);
	memcpy(process->comm, head.comm, sizeof(head.comm));
	return 0;
}

void book_free(struct book *book)
{
	struct book_process *process;
	size_t at = 0;

	while ((process = key_map_next(&book->processes, &at))) {
		free(process->maps);
		free(process);
	}
	key_map_free(&book->processes);
	*book = (struct book){ 0 };
}

/* ---- asking ---- */

const char *book_name(const struct book *book, uint32_t pid, uint64_t time)
{
	const struct book_process *process = book_process_find(book, pid);
	size_t at;

	if (!process)
		return NULL;
	at = process->name_count;
	while (at > 1 && process->names[at - 1].since > time)
		at--;
	if (at)
		return process->names[at - 1].comm;
	return process->comm[0] ? process->comm : NULL;
}

/* The last one that starts at or before it, if it reaches as far. */
static const struct ras_mapping *mapping_find(const struct book_process *p,
					      uint64_t address)
{
	size_t n = array_count_upto(p->maps, p->map_count, sizeof(*p->maps),
				    address);

	return n && address < p->maps[n - 1].end ? &p->maps[n - 1] : NULL;
}

const struct ras_mapping *book_mapping(const struct book *book, uint32_t pid,
				       uint64_t address)
{
	const struct book_process *process = book_process_find(book, pid);

	return process ? mapping_find(process, address) : NULL;
}

/* Signatures are between the bits of an address, which are as many as the kernel
 * was built for, and bit 55; a tag is above (Arm ARM, D8.10). */
static uint32_t owner_a64(const struct book *book, uint32_t pid,
			  uint64_t *address)
{
	static const int widths[] = { 55, 52, 48, 47, 42, 39, 36 };
	bool kernel = *address >> 55 & 1;

	if (kernel)
		pid = BOOK_KERNEL;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		uint64_t above = ~0ULL << widths[i];
		uint64_t bare = kernel ? *address | above : *address & ~above;

		if (book_mapping(book, pid, bare)) {
			*address = bare;
			break;
		}
	}
	return pid;
}

uint32_t book_owner(const struct book *book, uint32_t pid, uint64_t *address)
{
	if (book && book->machine == EM_AARCH64)
		return owner_a64(book, pid, address);
	return *address >> 63 ? BOOK_KERNEL : pid;
}
