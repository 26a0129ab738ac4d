// SPDX-License-Identifier: GPL-2.0
/* The names of a unit by themselves. Made when one is first looked for. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"
#include "lib/array.h"
#include "dwarf_unit.h"

static uint32_t name_hash(const char *name)
{
	return hash_fnv(HASH_FNV_START, name, strlen(name));
}

static void index_add(struct unit *unit, const char *text, uint32_t name)
{
	struct unit_index *index = &unit->index;

	if (unit->failed || !array_grow(&index->entries, index->count,
					&index->room,
					sizeof(*index->entries))) {
		unit->failed = true;
		return;
	}
	index->entries[index->count++] = (struct unit_index_entry){
		.hash = name_hash(text), .name = name,
	};
}

/* Of an enumeration the constants, of an anonymous union the members. */
static void index_add_children(struct unit *unit, uint32_t name, int tag)
{
	Dwarf_Die die = unit->names[name].die, child;
	Dwarf_Attribute attr;

	if (tag == DW_TAG_member &&
	    !dwarf_formref_die(dwarf_attr_integrate(&die, DW_AT_type, &attr),
			       &die))
		return;
	if (dwarf_child(&die, &child))
		return;
	do {
		const char *text = dwarf_tag(&child) == tag ?
					   dwarf_diename(&child) : NULL;

		if (text)
			index_add(unit, text, name);
	} while (!unit->failed && dwarf_die_next(&child));
}

static void index_fill(struct unit *unit)
{
	for (size_t i = 0; i < unit->name_count; i++)
		switch (unit->names[i].kind) {
		case UNIT_VARIABLE:
		case UNIT_TYPE:
			index_add(unit, unit->names[i].name, i);
			break;
		case UNIT_UNION:
			index_add_children(unit, i, DW_TAG_member);
			break;
		case UNIT_ENUMERATION:
			index_add_children(unit, i, DW_TAG_enumerator);
			break;
		}
}

/* From the last one on, so that a bucket begins with the first. */
static void index_hash(struct unit_index *index)
{
	for (size_t i = index->count; i--; ) {
		struct unit_index_entry *entry = &index->entries[i];
		uint32_t *bucket = &index->buckets[entry->hash &
						   (index->bucket_count - 1)];

		entry->next = *bucket;
		*bucket = i + 1;
	}
}

static bool index_make(struct unit *unit)
{
	struct unit_index *index = &unit->index;

	if (index->buckets || unit->failed)
		return !unit->failed;
	index_fill(unit);
	index->bucket_count = 16;
	while (index->bucket_count < index->count)
		index->bucket_count *= 2;
	index->buckets = calloc(index->bucket_count, sizeof(*index->buckets));
	unit->failed |= !index->buckets;
	if (!unit->failed)
		index_hash(index);
	return !unit->failed;
}

const struct unit_name *dwarf_unit_name_next(struct unit *unit,
					     const char *name,
					     uint32_t *position)
{
	const struct unit_index *index = &unit->index;
	uint32_t hash = name_hash(name), at;

	if (!index_make(unit))
		return NULL;
	at = *position ? index->entries[*position - 1].next :
			 index->buckets[hash & (index->bucket_count - 1)];
	while (at && index->entries[at - 1].hash != hash)
		at = index->entries[at - 1].next;
	*position = at;
	return at ? &unit->names[index->entries[at - 1].name] : NULL;
}

void dwarf_unit_index_free(struct unit_index *index)
{
	free(index->entries);
	free(index->buckets);
}
