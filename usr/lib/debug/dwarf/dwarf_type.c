// SPDX-License-Identifier: GPL-2.0
#include "dwarf_type.h"

#include <dwarf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX	64	/* typedefs, qualifiers, arrays of arrays */
#define MEMBERS_MAX	65536	/* of one type; bounds damaged ones */

bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr),
				 type);
}

static bool passed_over(Dwarf_Die *die)
{
	uint64_t own, bytes;
	Dwarf_Die type;

	switch (dwarf_tag(die)) {
	case DW_TAG_subrange_type:
		/* it is, if it has part of another type's values in the same
		 * bytes (DWARF 5 section 5.13) */
		if (!dwarf_type_of(die, &type) ||
		    dwarf_hasattr(die, DW_AT_GNU_bias) ||
		    dwarf_hasattr(die, DW_AT_bit_size))
			return false;
		return !dwarf_die_any_number(die, DW_AT_byte_size, &own) ||
		       (dwarf_die_any_number(&type, DW_AT_byte_size, &bytes) &&
			own == bytes);
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
	case DW_TAG_immutable_type:
	case DW_TAG_template_alias:
		return true;
	default:
		return false;
	}
}

void dwarf_type_peel(const Dwarf_Die *type, Dwarf_Die *bare,
		     const char **alias)
{
	const char *first = NULL;
	Dwarf_Die next;

	*bare = *type;
	for (int steps = 0; bare->addr && passed_over(bare); steps++) {
		if (!first && dwarf_tag(bare) == DW_TAG_typedef)
			first = dwarf_diename(bare);
		if (steps == STEPS_MAX || !dwarf_type_of(bare, &next))
			memset(&next, 0, sizeof(next));
		*bare = next;
	}
	/* the type may be in a unit of its own (DWARF 5 section 3.1.4) */
	if (bare->addr && dwarf_die_refer(bare, DW_AT_signature, &next))
		*bare = next;
	if (alias && first)
		*alias = first;
}

bool dwarf_type_is_reversed(Dwarf_Die *bare)
{
	uint64_t order;

	return bare->addr && dwarf_tag(bare) == DW_TAG_base_type &&
	       dwarf_die_any_number(bare, DW_AT_endianity, &order) &&
	       order == DW_END_big;
}

/* clang has the width of _BitInt(N) in the type's name, and up to 14 nowhere. */
unsigned int dwarf_type_bits(Dwarf_Die *bare)
{
	uint64_t bits = 0, bytes = 0;
	const char *name, *width;

	if (!bare->addr || dwarf_tag(bare) != DW_TAG_base_type)
		return 0;
	dwarf_die_any_number(bare, DW_AT_byte_size, &bytes);
	if (dwarf_die_any_number(bare, DW_AT_bit_size, &bits))
		return bits && bits < 8 * bytes ? bits : 0;
	name = dwarf_diename(bare);
	width = name ? strstr(name, "_BitInt") : NULL;
	if (!width)
		return 0;
	width += strlen("_BitInt");
	bits = *width == '(' ? strtoul(width + 1, NULL, 10) : 0;
	if (!bits || bits > 8 * bytes)
		return DWARF_BITS_UNKNOWN;
	return bits == 8 * bytes ? 0 : bits;
}

/* DWARF 5 section 7.8 */
static enum dwarf_type_kind base_kind(Dwarf_Die *bare)
{
	uint64_t encoding = 0;

	dwarf_die_any_number(bare, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_boolean:
		return DWARF_TYPE_BOOL;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
		return DWARF_TYPE_CHAR;
	case DW_ATE_signed:
	case DW_ATE_unsigned:
	case DW_ATE_UTF:
	case DW_ATE_address:
		return DWARF_TYPE_INT;
	case DW_ATE_float:
		return DWARF_TYPE_FLOAT;
	default:
		return DWARF_TYPE_OTHER;
	}
}

enum dwarf_type_kind dwarf_type_value_kind(Dwarf_Die *bare)
{
	if (!bare->addr)
		return DWARF_TYPE_VOID;
	switch (dwarf_tag(bare)) {
	case DW_TAG_base_type:
		return dwarf_type_bits(bare) <= 64 ? base_kind(bare) :
						     DWARF_TYPE_OTHER;
	case DW_TAG_enumeration_type:
		return DWARF_TYPE_ENUM;
	case DW_TAG_pointer_type:
		return DWARF_TYPE_POINTER;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return DWARF_TYPE_REFERENCE;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
		return DWARF_TYPE_STRUCT;
	case DW_TAG_union_type:
		return DWARF_TYPE_UNION;
	case DW_TAG_array_type:
		return DWARF_TYPE_ARRAY;
	case DW_TAG_subroutine_type:
		return DWARF_TYPE_FUNCTION;
	default:
		return DWARF_TYPE_OTHER;
	}
}

enum dwarf_type_kind dwarf_type_kind(Dwarf_Die *bare)
{
	uint64_t bytes;

	if (bare->addr && dwarf_tag(bare) == DW_TAG_base_type &&
	    (dwarf_type_bits(bare) ||
	     (dwarf_type_is_reversed(bare) &&
	      !(dwarf_die_any_number(bare, DW_AT_byte_size, &bytes) &&
		bytes == 1))))
		return DWARF_TYPE_OTHER;
	return dwarf_type_value_kind(bare);
}

bool dwarf_type_is_signed(Dwarf_Die *bare)
{
	Dwarf_Die type = *bare, child;
	uint64_t encoding = 0;
	Dwarf_Attribute attr;
	Dwarf_Sword value;

	if (dwarf_tag(bare) == DW_TAG_enumeration_type) {
		/* by the underlying type, else by a negative enumerator */
		if (!dwarf_type_of(bare, &type)) {
			for (dwarf_die_child(bare, &child); child.addr;
			     dwarf_die_sibling(&child))
				if (!dwarf_formsdata(dwarf_attr(&child,
						DW_AT_const_value, &attr),
						     &value) && value < 0)
					return true;
			return false;
		}
		dwarf_type_peel(&type, &type, NULL);
		if (dwarf_tag(&type) != DW_TAG_base_type)
			return false;
	}
	dwarf_die_any_number(&type, DW_AT_encoding, &encoding);
	return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

static uint64_t range_count(Dwarf_Die *range)
{
	uint64_t count, lower;
	Dwarf_Sword usual = 0;
	Dwarf_Die unit;

	if (dwarf_die_any_number(range, DW_AT_count, &count))
		return count;
	if (!dwarf_die_any_number(range, DW_AT_lower_bound, &lower)) {
		/* 1 in Fortran and Ada (DWARF 5 section 5.13) */
		if (!dwarf_diecu(range, &unit, NULL, NULL) ||
		    dwarf_default_lower_bound(dwarf_srclang(&unit), &usual))
			usual = 0;
		lower = usual;
	}
	if (!dwarf_die_any_number(range, DW_AT_upper_bound, &count) ||
	    count < lower || count - lower == UINT64_MAX)
		return 0;
	/* the upper bound of an array without elements is -1, of any width */
	return count - lower == UINT32_MAX ? 0 : count - lower + 1;
}

/* The first index changes fastest (DWARF 5 section 5.5). */
static bool is_column_major(Dwarf_Die *array)
{
	uint64_t ordering;
	Dwarf_Die unit;

	if (dwarf_die_any_number(array, DW_AT_ordering, &ordering))
		return ordering == DW_ORD_col_major;
	if (!dwarf_diecu(array, &unit, NULL, NULL))
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
		return true;
	default:
		return false;
	}
}

/* Number `index` as written; how many there are */
static unsigned int range_find(Dwarf_Die *array, unsigned int index,
			       Dwarf_Die *range)
{
	unsigned int count = 0;
	Dwarf_Die child;

	for (dwarf_die_child(array, &child); child.addr;
	     dwarf_die_sibling(&child))
		if ((dwarf_tag(&child) == DW_TAG_subrange_type ||
		     dwarf_tag(&child) == DW_TAG_enumeration_type) &&
		    count++ == index)
			*range = child;
	return count;
}

bool dwarf_type_dimension(Dwarf_Die *array, unsigned int index,
			  uint64_t *count)
{
	Dwarf_Die range;
	unsigned int dimensions = range_find(array, index, &range);

	if (index >= dimensions)
		return false;
	if (is_column_major(array))
		range_find(array, dimensions - 1 - index, &range);
	*count = range_count(&range);
	return true;
}

static bool dwarf_array_bytes(Dwarf_Die *bare, uint64_t *bytes)
{
	uint64_t count = 1, one;
	Dwarf_Die element = *bare;

	for (int steps = 0; dwarf_tag(&element) == DW_TAG_array_type; steps++) {
		for (unsigned int i = 0;
		     dwarf_type_dimension(&element, i, &one); i++)
			if (i == STEPS_MAX ||
			    __builtin_mul_overflow(count, one, &count))
				return false;
		if (steps == STEPS_MAX || !dwarf_type_of(&element, &element))
			return false;
		dwarf_type_peel(&element, &element, NULL);
	}
	return element.addr && dwarf_type_bytes(&element, &one) &&
	       !__builtin_mul_overflow(count, one, bytes);
}

bool dwarf_type_is_member_pointer(Dwarf_Die *bare, bool *function)
{
	Dwarf_Die target;

	if (dwarf_tag(bare) != DW_TAG_ptr_to_member_type ||
	    !dwarf_type_of(bare, &target))
		return false;
	dwarf_type_peel(&target, &target, NULL);
	*function = target.addr &&
		    dwarf_type_kind(&target) == DWARF_TYPE_FUNCTION;
	return true;
}

bool dwarf_type_bytes(Dwarf_Die *bare, uint64_t *bytes)
{
	Dwarf_Die unit, type;
	bool function;
	uint8_t address;

	if (!bare->addr || dwarf_type_is_declared_only(bare))
		return false;
	if (dwarf_die_any_number(bare, DW_AT_byte_size, bytes))
		return true;
	switch (dwarf_type_kind(bare)) {
	case DWARF_TYPE_ARRAY:
		return dwarf_array_bytes(bare, bytes);
	case DWARF_TYPE_POINTER:
	case DWARF_TYPE_REFERENCE:
		if (!dwarf_cu_die(bare->cu, &unit, NULL, NULL, &address, NULL,
				  NULL, NULL))
			return false;
		*bytes = address;
		return true;
	case DWARF_TYPE_ENUM:
		if (!dwarf_type_of(bare, &type))
			return false;
		dwarf_type_peel(&type, &type, NULL);
		return type.addr && dwarf_tag(&type) == DW_TAG_base_type &&
		       dwarf_type_bytes(&type, bytes);
	default:
		/* Itanium ABI section 2.3 */
		if (!dwarf_type_is_member_pointer(bare, &function) ||
		    !dwarf_cu_die(bare->cu, &unit, NULL, NULL, &address, NULL,
				  NULL, NULL))
			return false;
		*bytes = function ? 2 * address : address;
		return true;
	}
}

bool dwarf_type_is_declared_only(Dwarf_Die *bare)
{
	Dwarf_Attribute attr;
	bool declared;

	return !dwarf_formflag(dwarf_attr(bare, DW_AT_declaration, &attr),
			       &declared) && declared;
}

bool dwarf_type_alias_is_number(const char *alias)
{
	static const char *const names[] = {
		"int8_t", "uint8_t", "u8", "s8", "u_int8_t", "int_least8_t",
		"uint_least8_t", "int_fast8_t", "uint_fast8_t", "i8",
	};

	if (!alias)
		return false;
	alias += strspn(alias, "_");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(alias, names[i]))
			return true;
	return false;
}

/* DWARF 5 section 5.7.6 and, of bit-fields, DWARF 4 section 5.5.6: there
 * DW_AT_bit_offset counts from the highest bit of the storage unit. */
static bool member_place(struct dwarf_member *member)
{
	uint64_t bytes = 0, storage, high;
	Dwarf_Attribute attr;
	size_t count;
	Dwarf_Op *ops;

	if (dwarf_die_any_number(&member->die, DW_AT_data_bit_offset,
				 &member->bit_offset))
		return true;
	if (dwarf_attr(&member->die, DW_AT_data_member_location, &attr) &&
	    !dwarf_die_any_number(&member->die, DW_AT_data_member_location,
				  &bytes)) {
		/* up to DWARF 3 it is an expression */
		if (dwarf_getlocation(&attr, &ops, &count) || count != 1 ||
		    ops[0].atom != DW_OP_plus_uconst)
			return false;
		bytes = ops[0].number;
	}
	if (bytes > UINT32_MAX)
		return false;
	member->bit_offset = bytes * 8;
	if (!member->bits ||
	    !dwarf_die_any_number(&member->die, DW_AT_bit_offset, &high))
		return true;
	if (!dwarf_die_any_number(&member->die, DW_AT_byte_size, &storage)) {
		Dwarf_Die bare;

		dwarf_type_peel(&member->type, &bare, NULL);
		if (!dwarf_type_bytes(&bare, &storage))
			return false;
	}
	if (storage > 16)
		return false;
	member->bit_offset += storage * 8 - (int64_t)(int32_t)high -
			      member->bits;
	return true;
}

/* A member has another storage order than the processor: all scalars have. */
static bool has_reversed(Dwarf_Die *bare)
{
	unsigned int count = 0;
	Dwarf_Die child, type;

	for (dwarf_die_child(bare, &child);
	     child.addr && count++ < MEMBERS_MAX; dwarf_die_sibling(&child)) {
		if (dwarf_tag(&child) != DW_TAG_member ||
		    !dwarf_type_of(&child, &type))
			continue;
		dwarf_type_peel(&type, &type, NULL);
		if (dwarf_type_is_reversed(&type))
			return true;
	}
	return false;
}

bool dwarf_type_member(Dwarf_Die *bare, Dwarf_Die *die,
		       struct dwarf_member *member)
{
	bool in_union = dwarf_tag(bare) == DW_TAG_union_type;
	uint64_t bits = 0;
	Dwarf_Die type;

	*member = (struct dwarf_member){
		.die = *die,
		.is_base = dwarf_tag(die) == DW_TAG_inheritance,
	};
	/* static members and virtual bases have no place in the struct */
	if (member->is_base ? dwarf_hasattr(die, DW_AT_virtuality) :
	    dwarf_tag(die) != DW_TAG_member ||
	    dwarf_hasattr(die, DW_AT_external) ||
	    dwarf_type_is_declared_only(die) ||
	    (!in_union && !dwarf_hasattr(die, DW_AT_data_member_location) &&
	     !dwarf_hasattr(die, DW_AT_data_bit_offset)))
		return false;
	if (!dwarf_type_of(die, &member->type))
		return false;
	dwarf_die_any_number(die, DW_AT_bit_size, &bits);
	if (bits > 64)
		return false;
	member->bits = bits;
	member->name = dwarf_diename(member->is_base ? &member->type : die);
	if (!member->name)
		member->name = "";
	if (!member_place(member))
		return false;
	dwarf_type_peel(&member->type, &type, NULL);
	for (int i = 0; type.addr && i < STEPS_MAX &&
	     dwarf_tag(&type) == DW_TAG_array_type; i++) {
		if (!dwarf_type_of(&type, &type))
			return true;
		dwarf_type_peel(&type, &type, NULL);
	}
	/* gcc marks base types; an enumeration has the order of the other
	 * members */
	member->is_reversed = dwarf_type_is_reversed(&type) ||
		(type.addr && dwarf_tag(&type) == DW_TAG_enumeration_type &&
		 has_reversed(bare));
	return true;
}

int dwarf_type_members(Dwarf_Die *bare,
		       int (*take)(void *context,
				   const struct dwarf_member *member),
		       void *context)
{
	struct dwarf_member member;
	unsigned int count = 0;
	Dwarf_Die child;
	int code = 0;

	for (dwarf_die_child(bare, &child);
	     child.addr && !code && count++ < MEMBERS_MAX;
	     dwarf_die_sibling(&child))
		if (dwarf_type_member(bare, &child, &member))
			code = take(context, &member);
	return code;
}
