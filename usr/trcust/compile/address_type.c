// SPDX-License-Identifier: GPL-2.0
#include "address_type.h"

#include "lib/debug/dwarf/dwarf.h"

#define STEPS_MAX	64	/* types inside types: they may be damaged */
#define INTEGER_MAX	8	/* bytes of a length */

static enum dwarf_type_kind type_kind(const Dwarf_Die *type)
{
	Dwarf_Die bare;

	dwarf_type_peel(type, &bare, NULL);
	return dwarf_type_kind(&bare);
}

uint64_t address_type_bytes(const Dwarf_Die *type)
{
	uint64_t bytes;
	Dwarf_Die bare;

	dwarf_type_peel(type, &bare, NULL);
	return dwarf_type_bytes(&bare, &bytes) ? bytes : 0;
}

struct member_query {
	uint64_t *offset;
	Dwarf_Die *type;
};

/* The member around *offset, which becomes the offset in it. */
static int member_at(void *context, const struct dwarf_member *member)
{
	struct member_query *q = context;
	uint64_t at = member->bit_offset / 8;

	if (member->bits || member->bit_offset % 8 || *q->offset < at ||
	    *q->offset - at >= address_type_bytes(&member->type))
		return 0;
	*q->offset -= at;
	*q->type = member->type;
	return 1;
}

/*
 * One type further in: what is *offset bytes into the type, which become the
 * bytes into that. Of a union, or of bytes in a row, nothing is known.
 */
static bool type_inside(Dwarf_Die *type, uint64_t *offset)
{
	struct member_query query = { offset, type };
	Dwarf_Die bare, element;
	uint64_t bytes;

	dwarf_type_peel(type, &bare, NULL);
	switch (dwarf_type_kind(&bare)) {
	case DWARF_TYPE_STRUCT:
		return dwarf_type_members(&bare, member_at, &query);
	case DWARF_TYPE_ARRAY:
		if (!dwarf_type_of(&bare, &element))
			return false;
		bytes = address_type_bytes(&element);
		if (bytes <= 1)
			return false;
		*offset %= bytes;
		*type = element;
		return true;
	default:
		return false;
	}
}

bool address_type_at(Dwarf_Die *type, uint64_t offset)
{
	if (offset && offset >= address_type_bytes(type))
		return false;
	for (int steps = 0; offset && steps < STEPS_MAX; steps++)
		if (!type_inside(type, &offset))
			return false;
	return !offset;
}

bool address_type_target(Dwarf_Die *type)
{
	uint64_t offset = 0;
	Dwarf_Die bare;

	for (int steps = 0; steps < STEPS_MAX; steps++) {
		dwarf_type_peel(type, &bare, NULL);
		switch (dwarf_type_kind(&bare)) {
		case DWARF_TYPE_POINTER:
		case DWARF_TYPE_REFERENCE:
			return dwarf_type_of(&bare, type);
		default:
			if (!type_inside(type, &offset))
				return false;
		}
	}
	return false;
}

bool address_type_sized(Dwarf_Die *type, uint64_t bytes)
{
	uint64_t offset = 0;

	for (int steps = 0; steps < STEPS_MAX; steps++) {
		if (address_type_bytes(type) == bytes)
			return true;
		if (!type_inside(type, &offset))
			return false;
	}
	return false;
}

static bool is_integer(const Dwarf_Die *type)
{
	switch (type_kind(type)) {
	case DWARF_TYPE_BOOL:
	case DWARF_TYPE_CHAR:
	case DWARF_TYPE_INT:
	case DWARF_TYPE_ENUM:
		return true;
	default:
		return false;
	}
}

unsigned int address_type_integer(const Dwarf_Die *type)
{
	uint64_t offset = 0, bytes;
	Dwarf_Die inner = *type;

	for (int steps = 0; !is_integer(&inner); steps++)
		if (steps == STEPS_MAX || !type_inside(&inner, &offset))
			return 0;
	bytes = address_type_bytes(&inner);
	return bytes <= INTEGER_MAX && !(bytes & (bytes - 1)) ? bytes : 0;
}

bool address_type_is_composed(const Dwarf_Die *type)
{
	enum dwarf_type_kind kind = type_kind(type);

	return kind == DWARF_TYPE_STRUCT || kind == DWARF_TYPE_UNION;
}

bool address_type_refers(Dwarf_Die *type)
{
	Dwarf_Die bare;

	dwarf_type_peel(type, &bare, NULL);
	return dwarf_type_kind(&bare) == DWARF_TYPE_REFERENCE &&
	       dwarf_type_of(&bare, type);
}

bool address_type_is_text_pointer(const Dwarf_Die *type)
{
	Dwarf_Die bare, target;

	dwarf_type_peel(type, &bare, NULL);
	if (dwarf_type_kind(&bare) != DWARF_TYPE_POINTER)
		return false;
	return !dwarf_type_of(&bare, &target) ||
	       type_kind(&target) == DWARF_TYPE_VOID ||
	       (is_integer(&target) && address_type_bytes(&target) == 1);
}
