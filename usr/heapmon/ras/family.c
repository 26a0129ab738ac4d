// SPDX-License-Identifier: GPL-2.0
#include "family.h"

#include <stdlib.h>
#include "lib/array.h"

#define GENERATIONS	16

/* NULL: it isn't there. */
static struct family_member *family_member_find(const struct family *family,
						uint32_t pid)
{
	uint32_t number = key_map_number(&family->numbers, pid);

	return number ? &family->members[number] : NULL;
}

/* Found, or made as one that has ended; NULL: no memory. */
static struct family_member *member_get(struct family *family, uint32_t pid)
{
	uint32_t number = key_map_serial(&family->numbers, pid);
	struct family_member *member;

	if (!number || !array_extend(&family->members, &family->count,
				     &family->room, sizeof(*family->members),
				     number))
		return NULL;
	member = &family->members[number];
	if (!member->set) {
		member->pid = pid;
		member->ended = true;
	}
	return member;
}

bool family_set(struct family *family, uint32_t pid, uint32_t parent)
{
	struct family_member *member = member_get(family, pid);

	if (!member)
		return false;
	member->parent = parent;
	member->memory = 0;
	member->set++;
	member->ended = false;
	return true;
}

bool family_expect(struct family *family, uint32_t pid)
{
	struct family_member *member = member_get(family, pid);

	if (member)
		member->programs++;
	return member;
}

bool family_execute(struct family *family, uint32_t pid)
{
	struct family_member *member = member_get(family, pid);

	if (member && member->programs)
		member->programs--;
	return family_set(family, pid, 0);
}

bool family_has(const struct family *family, uint32_t pid)
{
	const struct family_member *member = family_member_find(family, pid);

	return member && !member->ended;
}

void family_end(struct family *family, uint32_t pid)
{
	struct family_member *member = family_member_find(family, pid);

	if (member)
		member->ended = true;
}

void family_set_bytes(struct family *family, uint32_t pid, unsigned int bytes)
{
	struct family_member *member = family_member_find(family, pid);

	if (member)
		member->bytes = bytes;
}

unsigned int family_bytes(const struct family *family, uint32_t pid)
{
	const struct family_member *member = family_member_find(family, pid);

	return member && member->bytes ? member->bytes : 8;
}

void family_share(struct family *family, uint32_t pid, uint32_t owner)
{
	struct family_member *member = family_member_find(family, pid);
	const struct family_member *other = family_member_find(family, owner);

	if (!member || !other || member == other)
		return;
	member->memory = owner;
	member->owner_set = other->set;
}

uint32_t family_memory(const struct family *family, uint32_t pid)
{
	const struct family_member *member = family_member_find(family, pid),
				   *owner;

	if (!member || !member->memory)
		return pid;
	owner = family_member_find(family, member->memory);
	if (owner->ended || owner->set != member->owner_set)
		return pid;
	return owner->pid;
}

uint32_t family_mapped(const struct family *family,
		       const struct process_table *table, uint32_t pid)
{
	uint32_t at = pid;

	for (int i = 0; i < GENERATIONS; i++) {
		const struct process_entry *known =
			process_table_find(table, at);
		const struct family_member *member =
			family_member_find(family, at);
		bool later = member && member->parent && member->programs;

		if (known && known->map_count && !later)
			return at;
		if (!member || !member->parent)
			return pid;
		at = member->parent;
	}
	return pid;
}

void family_free(struct family *family)
{
	free(family->members);
	key_map_free(&family->numbers);
}
