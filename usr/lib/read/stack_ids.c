// SPDX-License-Identifier: GPL-2.0
#include "stack_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/formats/stack_number.h"

#define BYTES_MAX	(256u << 20)	/* of a trace's stacks */
#define ADDRESS		sizeof(__u64)

/* Adds those at p that are whole, and not there yet. The bytes they take, or
 * -ENOMEM. */
static ssize_t copies_add(struct stack_ids *ids, uint32_t session,
			  const uint8_t *p, size_t n)
{
	const uint8_t *start = p;

	while (n >= sizeof(struct ras_stack_copy)) {
		const struct ras_stack_copy *copy = (const void *)p;
		size_t size = sizeof(*copy) + copy->count * ADDRESS;
		uint64_t key = stack_number_key(session, copy->id);

		if (size > n)
			break;
		if (!key_map_find(&ids->copies, key) &&
		    key_map_add(&ids->copies, key, (void *)copy))
			return -ENOMEM;
		p += size;
		n -= size;
	}
	return p - start;
}

int stack_ids_add(struct stack_ids *ids, const uint8_t *payload, size_t size)
{
	size_t before = ids->copies.count;
	struct ras_stacks head;
	ssize_t used;
	void *copy;

	if (size < sizeof(head) || size > BYTES_MAX - ids->bytes)
		return -EINVAL;
	memcpy(&head, payload, sizeof(head));
	copy = malloc(size);
	if (!copy || !array_grow(&ids->payloads, ids->payload_count,
				 &ids->payload_room, sizeof(*ids->payloads))) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, payload, size);
	ids->payloads[ids->payload_count++] = copy;
	ids->bytes += size;
	used = copies_add(ids, head.session, (uint8_t *)copy + sizeof(head),
			  size - sizeof(head));
	if (ids->copies.count == before) {
		/* all of it is known */
		ids->payload_count--;
		ids->bytes -= size;
		free(copy);
	}
	return used < 0 ? used :
	       (size_t)used == size - sizeof(head) ? 0 : -EINVAL;
}

/* The stack of the record's item; what it can't have room for is lost, too. */
static const struct ras_stack_copy *copy_find(const struct stack_ids *ids,
					      const struct ras_record *record,
					      uint32_t id)
{
	static const struct ras_stack_copy lost = {
		.stack.end = RAS_STACK_LOST,
	};
	const struct ras_stack_copy *copy =
		key_map_find(&ids->copies, stack_number_key(record->session, id));

	return copy && copy->count * ADDRESS <
		       RAS_RECORD_MAX - record->length ? copy : &lost;
}

const struct ras_record *stack_ids_expand(struct stack_ids *ids,
					  const struct ras_record *record)
{
	const size_t front = RAS_ITEM_PREFIX + sizeof(uint32_t);
	const uint8_t *from = (const uint8_t *)record;
	struct ras_record *to = (void *)ids->record;
	const struct ras_stack_copy *copy;
	struct ras_item item;
	size_t at = record->stack, rest = at + front;
	uint8_t *p = (uint8_t *)to + at;
	uint32_t id;

	if (!stack_number_read(record, &id))
		return record;
	memcpy(&item, from + at, sizeof(item));
	copy = copy_find(ids, record, id);
	item.status ^= RAS_ITEM_STACK_ID ^ RAS_ITEM_STACK;
	item.length = sizeof(copy->stack) + copy->count * ADDRESS;
	memcpy(to, record, at);
	memcpy(p, &item, sizeof(item));
	memcpy(p + sizeof(item), &copy->stack, sizeof(copy->stack));
	memcpy(p + sizeof(item) + sizeof(copy->stack), copy + 1,
	       copy->count * ADDRESS);
	memcpy(p + sizeof(item) + item.length, from + rest,
	       record->length - rest);
	to->length = record->length - front + sizeof(item) + item.length;
	to->stack = 0;
	return to;
}

void stack_ids_free(struct stack_ids *ids)
{
	for (size_t i = 0; i < ids->payload_count; i++)
		free(ids->payloads[i]);
	free(ids->payloads);
	key_map_free(&ids->copies);
}
