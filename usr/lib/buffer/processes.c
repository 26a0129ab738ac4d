// SPDX-License-Identifier: GPL-2.0
#include "processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/sysbpf.h"

static uint64_t key_order(const struct ras_process_key *key)
{
	return (uint64_t)key->pid << 32 | (uint64_t)key->session << 16 |
	       key->module;
}

static int entry_compare(const void *a, const void *b)
{
	const struct ras_process_entry *x = a, *y = b;
	uint64_t first = key_order(&x->key), second = key_order(&y->key);

	return first < second ? -1 : first > second;
}

int processes_read(struct processes *processes, const struct buffer *buffer)
{
	struct ras_process *values = calloc(RAS_PROCESSES_MAX, sizeof(*values));
	struct ras_process_key *keys = calloc(RAS_PROCESSES_MAX, sizeof(*keys));
	int n = 0;

	*processes = (struct processes){ 0 };
	if (keys && values) {
		n = sysbpf_hash_read(buffer->processes_fd, keys, sizeof(*keys),
				     values, sizeof(*values),
				     RAS_PROCESSES_MAX);
		n = n < 0 ? 0 : n;
		processes->items = calloc(n + 1, sizeof(*processes->items));
	}
	if (processes->items) {
		for (int i = 0; i < n; i++)
			processes->items[i] = (struct ras_process_entry){
				keys[i], values[i],
			};
		processes->count = n;
		qsort(processes->items, n, sizeof(*processes->items),
		      entry_compare);
	}
	free(keys);
	free(values);
	return processes->items ? 0 : -ENOMEM;
}

void processes_forget(const struct buffer *buffer)
{
	struct processes processes;

	if (processes_read(&processes, buffer))
		return;
	for (size_t i = 0; i < processes.count; i++) {
		const struct ras_process_key *key = &processes.items[i].key;

		if (key->session != RAS_STATIC_SESSION)
			bpf_map_delete_elem(buffer->processes_fd, key);
	}
	processes_free(&processes);
}

bool processes_have(const struct processes *processes,
		    const struct ras_process_entry *entry)
{
	const struct ras_process_entry *found = NULL;

	if (processes->count)
		found = bsearch(entry, processes->items, processes->count,
				sizeof(*entry), entry_compare);
	return found && found->process.seen == entry->process.seen &&
	       found->process.bias == entry->process.bias;
}

void processes_free(struct processes *processes)
{
	free(processes->items);
	*processes = (struct processes){ 0 };
}
