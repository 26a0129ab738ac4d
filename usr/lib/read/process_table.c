// SPDX-License-Identifier: GPL-2.0
#include "process_table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/array.h"

#define PROCESSES_MAX	(1u << 20)
#define MAP_BYTES_MAX	(256u << 20)	/* of all processes */
#define FUNCTIONS_MAX	4096		/* modules */
#define FUNCTION_BYTES_MAX (128u << 20)	/* of all modules */

const struct process_entry *
process_table_find(const struct process_table *table, uint32_t pid)
{
	return key_map_find(&table->processes, pid);
}

/* Found or made; NULL: no memory, or too many. */
static struct process_entry *process_entry_get(struct process_table *table,
					       uint32_t pid)
{
	struct process_entry *process = key_map_find(&table->processes, pid);

	if (process || table->processes.count == PROCESSES_MAX)
		return process;
	process = calloc(1, sizeof(*process));
	if (process && key_map_add(&table->processes, pid, process)) {
		free(process);
		return NULL;
	}
	if (process)
		process->pid = pid;
	return process;
}

/* ---- adding ---- */

static void process_name_add(struct process_entry *process, uint64_t since,
			     const char *comm)
{
	size_t n = process->name_count, at = n;

	while (at && process->names[at - 1].since >= since)
		at--;
	if (at < n && process->names[at].since == since) {
		memcpy(process->names[at].comm, comm, 16);
		return;
	}
	if (n == PROCESS_NAMES && !at)
		return;
	if (n == PROCESS_NAMES) {	/* the oldest goes */
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

int process_table_add(struct process_table *table, const uint8_t *p, size_t n)
{
	struct ras_process_entry entry;

	for (; n >= sizeof(entry); p += sizeof(entry), n -= sizeof(entry)) {
		struct process_entry *process;

		memcpy(&entry, p, sizeof(entry));
		process = process_entry_get(table, entry.key.pid);
		if (!process)
			return table->processes.count < PROCESSES_MAX ?
			       -ENOMEM : 0;
		process_name_add(process, entry.process.seen,
				 entry.process.comm);
	}
	return n ? -EINVAL : 0;
}

static void maps_drop(struct process_table *table,
		      struct process_entry *process)
{
	table->map_bytes -= process->map_count * sizeof(*process->maps);
	free(process->maps);
	process->maps = NULL;
	process->map_count = 0;
}

/* Who was seen long ago is gone: the older half. */
static void maps_make_room(struct process_table *table)
{
	uint64_t least = UINT64_MAX, limit;
	struct process_entry *process;
	size_t at = 0;

	while ((process = key_map_next(&table->processes, &at)))
		if (process->maps && process->map_order < least)
			least = process->map_order;
	limit = least + (table->map_order - least) / 2;
	at = 0;
	while ((process = key_map_next(&table->processes, &at)))
		if (process->maps && process->map_order <= limit)
			maps_drop(table, process);
}

static int mapping_compare(const void *a, const void *b)
{
	const struct ras_mapping *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int process_table_add_maps(struct process_table *table, const uint8_t *p,
			   size_t n)
{
	struct process_entry *process;
	struct ras_mapping *maps;
	struct ras_maps head;

	if (n < sizeof(head))
		return -EINVAL;
	memcpy(&head, p, sizeof(head));
	if (n - sizeof(head) != head.mappings * sizeof(*maps))
		return -EINVAL;
	while (table->map_bytes > MAP_BYTES_MAX)
		maps_make_room(table);
	process = process_entry_get(table, head.pid);
	maps = malloc(n);
	if (!process || !maps) {
		free(maps);
		return table->processes.count < PROCESSES_MAX ? -ENOMEM : 0;
	}
	memcpy(maps, p + sizeof(head), n - sizeof(head));
	qsort(maps, head.mappings, sizeof(*maps), mapping_compare);
	maps_drop(table, process);
	process->maps = maps;
	process->map_count = head.mappings;
	process->map_order = ++table->map_order;
	table->map_bytes += head.mappings * sizeof(*maps);
	memcpy(process->comm, head.comm, sizeof(head.comm));
	return 0;
}

static bool functions_valid(const struct process_functions *functions)
{
	for (uint32_t i = 0; i < functions->head.count; i++)
		if (functions->items[i].text >= functions->head.bytes ||
		    (i && functions->items[i].offset <=
				  functions->items[i - 1].offset))
			return false;
	return !functions->head.bytes ||
	       !functions->texts[functions->head.bytes - 1];
}

/* Files of a cycle may have those of the same module. */
int process_table_add_functions(struct process_table *table, const uint8_t *p,
				size_t n)
{
	struct process_functions made = { 0 }, *functions;
	size_t items;

	if (n < sizeof(made.head))
		return -EINVAL;
	memcpy(&made.head, p, sizeof(made.head));
	p += sizeof(made.head);
	n -= sizeof(made.head);
	if (made.head.count > n / sizeof(*made.items))
		return -EINVAL;
	items = made.head.count * sizeof(*made.items);
	if (n - items != made.head.bytes)
		return -EINVAL;
	if (table->function_modules == FUNCTIONS_MAX ||
	    n > FUNCTION_BYTES_MAX - table->function_bytes)
		return 0;
	functions = reallocarray(table->functions, table->function_modules + 1,
				 sizeof(*functions));
	if (!functions)
		return -ENOMEM;
	table->functions = functions;
	made.items = malloc(items + 1);
	made.texts = malloc(made.head.bytes + 1);
	if (!made.items || !made.texts) {
		free(made.items);
		free(made.texts);
		return -ENOMEM;
	}
	memcpy(made.items, p, items);
	memcpy(made.texts, p + items, made.head.bytes);
	if (!functions_valid(&made)) {
		free(made.items);
		free(made.texts);
		return -EINVAL;
	}
	functions[table->function_modules++] = made;
	table->function_bytes += n;
	return 0;
}

void process_table_free(struct process_table *table)
{
	struct process_entry *process;
	size_t at = 0;

	for (size_t i = 0; i < table->function_modules; i++) {
		free(table->functions[i].items);
		free(table->functions[i].texts);
	}
	free(table->functions);

	while ((process = key_map_next(&table->processes, &at))) {
		free(process->maps);
		free(process);
	}
	key_map_free(&table->processes);
	*table = (struct process_table){ 0 };
}

/* ---- asking ---- */

const char *process_table_name(const struct process_table *table, uint32_t pid,
			       uint64_t time)
{
	const struct process_entry *process = process_table_find(table, pid);
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
static const struct ras_mapping *mapping_find(const struct process_entry *p,
					      uint64_t address)
{
	size_t n = array_count_upto(p->maps, p->map_count, sizeof(*p->maps),
				    address);

	return n && address < p->maps[n - 1].end ? &p->maps[n - 1] : NULL;
}

const struct ras_mapping *
process_table_mapping(const struct process_table *table, uint32_t pid,
		      uint64_t address)
{
	const struct process_entry *process = process_table_find(table, pid);

	return process ? mapping_find(process, address) : NULL;
}

const char *process_table_function(const struct process_table *table,
				   const struct ras_mapping *mapping,
				   uint64_t address, uint64_t *distance)
{
	uint64_t offset = address - mapping->start + mapping->offset;

	for (size_t i = 0; i < table->function_modules &&
	     mapping->id_kind != TDF_ID_NONE; i++) {
		const struct process_functions *f = &table->functions[i];
		size_t at;

		if (f->head.id_kind != mapping->id_kind ||
		    memcmp(f->head.id, mapping->id, sizeof(mapping->id)))
			continue;
		at = array_count_upto(f->items, f->head.count,
				      sizeof(*f->items), offset);
		if (!at)
			continue;
		*distance = offset - f->items[at - 1].offset;
		if (*distance < f->items[at - 1].length)
			return f->texts + f->items[at - 1].text;
	}
	return NULL;
}

/* A signature is between the bits of the address, whose number depends on the
 * kernel's configuration, and bit 55; a tag is above (Arm ARM, D8.10). */
static uint32_t owner_a64(const struct process_table *table, uint32_t pid,
			  uint64_t *address)
{
	static const int widths[] = { 55, 52, 48, 47, 42, 39, 36 };
	bool kernel = *address >> 55 & 1;

	if (kernel)
		pid = PROCESS_KERNEL;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		uint64_t above = ~0ULL << widths[i];
		uint64_t bare = kernel ? *address | above : *address & ~above;

		if (process_table_mapping(table, pid, bare)) {
			*address = bare;
			break;
		}
	}
	return pid;
}

uint32_t process_table_owner(const struct process_table *table, uint32_t pid,
			     uint64_t *address)
{
	if (table && table->machine == EM_AARCH64)
		return owner_a64(table, pid, address);
	return *address >> 63 ? PROCESS_KERNEL : pid;
}
