// SPDX-License-Identifier: GPL-2.0
#include "stack_table.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <linux/bpf.h>
#include "pin.h"

#define ADDRESS	sizeof(__u64)

int stack_table_open(struct stack_table *table, const struct session *session,
		     struct error *err)
{
	const size_t least = sizeof(struct ras_stack_set);
	struct bpf_map_info info;
	int fd = session->device_fd >= 0 ? -ENOENT :
		 session_map_open(session, "stack_table", &info, err);

	*table = (struct stack_table){ .fd = fd };
	if (fd < 0)
		return fd;
	if (info.value_size < least ||
	    (info.value_size - least) % (RAS_STACK_WAYS * ADDRESS) ||
	    info.max_entries > RAS_STACK_IDS_MAX / RAS_STACK_WAYS) {
		close(fd);
		return error_set(err, -EINVAL, "'%s' has an impossible stack_table",
				 session->dir);
	}
	table->sets = pin_map_view(fd, &info, 0, &table->bytes, err);
	if (!table->sets) {
		int cause = errno;

		close(fd);
		return -cause;
	}
	table->set_bytes = info.value_size;
	table->count = info.max_entries;
	table->depth = (info.value_size - least) / (RAS_STACK_WAYS * ADDRESS);
	return 0;
}

void stack_table_close(struct stack_table *table)
{
	if (!table->sets)
		return;
	munmap((void *)table->sets, table->bytes);
	close(table->fd);
	table->sets = NULL;
}

int stack_table_refresh(const struct stack_table *table, struct error *err)
{
	return pin_map_refresh(table->fd, (void *)table->sets, table->bytes,
			       err);
}

static const struct ras_stack_set *set_at(const struct stack_table *table,
					  uint32_t number)
{
	return (const void *)(table->sets + (size_t)number * table->set_bytes);
}

bool stack_table_find(const struct stack_table *table, uint32_t id,
		      struct stack_found *found)
{
	uint32_t way = id % RAS_STACK_WAYS;
	const struct ras_stack_set *set;
	uint16_t length;
	uint64_t head;

	if (id / RAS_STACK_WAYS >= table->count)
		return false;
	set = set_at(table, id / RAS_STACK_WAYS);
	head = __atomic_load_n(&set->heads[way], __ATOMIC_ACQUIRE);
	length = head;
	if (!(head & RAS_STACK_WHOLE) || length < sizeof(found->stack))
		return false;
	found->stack.end = head >> 16;
	found->stack.flags = head >> 24;
	found->count = (length - sizeof(found->stack)) / ADDRESS;
	found->addresses = set->addresses + (size_t)way * table->depth;
	return found->count <= table->depth;
}

void stack_table_count(const struct stack_table *table,
		       struct stack_table_figures *figures)
{
	*figures = (struct stack_table_figures){
		.room = (uint64_t)table->count * RAS_STACK_WAYS,
	};
	for (uint32_t i = 0; i < table->count; i++) {
		const struct ras_stack_set *set = set_at(table, i);

		figures->unplaced += set->unplaced;
		for (int way = 0; way < RAS_STACK_WAYS; way++)
			figures->used += set->heads[way] != RAS_STACK_FREE;
	}
}
