// SPDX-License-Identifier: GPL-2.0
#include "family.h"

#include <stdlib.h>
#include "../../lib/array.h"

#define GENERATIONS	16

/* NULL: it isn't there. */
static struct family_member *member_find(const struct family *family,
					 uint32_t pid)
{
	uint32_t hash = heap_hash(HEAP_HASH_START, pid);
	struct heap_slot *slot;
	size_t at = hash;

	for (;; at++) {
		slot = heap_table_find(&family->table, hash, &at);
		if (!slot || !slot->number)
			return NULL;
		if (family->members[slot->number].pid == pid)
			return &family->members[slot->number];
	}
}

bool family_set(struct family *family, uint32_t pid, uint32_t parent)
{
	struct family_member *member = member_find(family, pid);
	uint32_t hash = heap_hash(HEAP_HASH_START, pid);
	struct heap_slot *slot;
	size_t at = hash;

	if (member) {
		member->parent = parent;
		member->ended = false;
		return true;
	}
	if (!family->count)
		family->count = 1;
	if (!heap_table_grow(&family->table) ||
	    !array_grow(&family->members, family->count, &family->room,
			sizeof(*family->members)))
		return false;
	while ((slot = heap_table_find(&family->table, hash, &at))->number)
		at++;
	heap_table_set(&family->table, slot, hash, family->count);
	family->members[family->count++] = (struct family_member){
		.pid = pid, .parent = parent,
	};
	return true;
}

bool family_has(const struct family *family, uint32_t pid)
{
	const struct family_member *member = member_find(family, pid);

	return member && !member->ended;
}

void family_end(struct family *family, uint32_t pid)
{
	struct family_member *member = member_find(family, pid);

	if (member)
		member->ended = true;
}

uint32_t family_mapped(const struct family *family, const struct book *book,
		       uint32_t pid)
{
	uint32_t at = pid;

	for (int i = 0; i < GENERATIONS; i++) {
		const struct book_process *known = book_process_find(book, at);
		const struct family_member *member;

		if (known && known->map_count)
			return at;
		member = member_find(family, at);
		if (!member || !member->parent)
			return pid;
		at = member->parent;
	}
	return pid;
}

void family_free(struct family *family)
{
	free(family->members);
	heap_table_free(&family->table);
}
