// SPDX-License-Identifier: GPL-2.0
#include "value_type.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/debug/arch/arch.h"

#define DIMENSIONS_MAX	64	/* of an array; bounds damaged ones */
#define STEPS_MAX	64	/* types inside types: they may be damaged */
#define INTEGER_MAX	8	/* bytes of a length */

static unsigned int word_bytes(const struct compilation *c)
{
	return c->module->elf_class == ELFCLASS64 ? 8 : 4;
}

struct value_type value_type_of(const Dwarf_Die *die)
{
	return (struct value_type){ .die = *die };
}

static struct value_type type_make(enum dwarf_type_kind kind,
				   unsigned int bytes, bool is_signed,
				   const char *name)
{
	return (struct value_type){
		.kind = kind, .bytes = bytes, .is_signed = is_signed,
		.name = name,
	};
}

struct value_type value_type_void(void)
{
	return type_make(DWARF_TYPE_VOID, 0, false, "void");
}

struct value_type value_type_function(void)
{
	return type_make(DWARF_TYPE_FUNCTION, 0, false, "void ()");
}

struct value_type value_type_integer(const struct compilation *c,
				     unsigned int bytes, bool is_signed)
{
	static const char *const names[][2] = {
		[1] = { "uint8_t", "int8_t" },
		[2] = { "short unsigned int", "short int" },
		[4] = { "unsigned int", "int" },
		[8] = { "long long unsigned int", "long long int" },
		[9] = { "long unsigned int", "long int" },
	};
	bool is_long = bytes == 8 && word_bytes(c) == 8;

	return type_make(DWARF_TYPE_INT, bytes, is_signed,
			 names[is_long ? 9 : bytes][is_signed]);
}

/* C11 section 6.2.5: as the processor has it, or as the compiler was asked to
 * (-funsigned-char), which debug information shows. */
static bool char_is_signed(const struct compilation *c,
			   const struct dwarf_from *from)
{
	Dwarf_Die type[2];

	if (c->dwarf &&
	    dwarf_type_find(c->dwarf, from, NULL, "char", type) >= 0 &&
	    dwarf_type_kind(type) == DWARF_TYPE_CHAR)
		return dwarf_type_is_signed(type);
	return !c->module->arch->char_is_unsigned;
}

struct value_type value_type_base(const struct compilation *c,
				  const struct dwarf_from *from,
				  const struct expr_type *type)
{
	bool is_signed = !type->is_unsigned;

	switch (type->base) {
	case EXPR_BASE_VOID:
		return value_type_void();
	case EXPR_BASE_BOOL:
		return type_make(DWARF_TYPE_BOOL, 1, false, "bool");
	case EXPR_BASE_CHAR:
		return type_make(DWARF_TYPE_CHAR, 1, type->is_signed ||
				 (is_signed && char_is_signed(c, from)),
				 !is_signed ? "unsigned char" :
				 type->is_signed ? "signed char" : "char");
	case EXPR_BASE_SHORT:
		return value_type_integer(c, 2, is_signed);
	case EXPR_BASE_INT:
		return value_type_integer(c, 4, is_signed);
	case EXPR_BASE_LONG:
		return value_type_integer(c, word_bytes(c), is_signed);
	case EXPR_BASE_LONG_LONG:
		return value_type_integer(c, 8, is_signed);
	case EXPR_BASE_FLOAT:
		return type_make(DWARF_TYPE_FLOAT, 4, true, "float");
	case EXPR_BASE_DOUBLE:
		return type_make(DWARF_TYPE_FLOAT, 8, true, "double");
	case EXPR_BASE_LONG_DOUBLE:
		return type_make(DWARF_TYPE_FLOAT, word_bytes(c) == 8 ? 16 : 12,
				 true, "long double");
	case EXPR_BASE_NAMED:
		break;
	}
	return type_make(DWARF_TYPE_OTHER, 0, false, type->name);
}

struct value_type value_type_pointer_to(const struct value_type *type)
{
	struct value_type pointer = *type;

	pointer.pointers++;
	return pointer;
}

static enum dwarf_type_kind bare_kind(const struct value_type *type,
				      Dwarf_Die *bare)
{
	if (type->pointers)
		return DWARF_TYPE_POINTER;
	if (!type->die.addr)
		return type->kind;
	dwarf_type_peel(&type->die, bare, NULL);
	return dwarf_type_value_kind(bare);
}

enum dwarf_type_kind value_type_kind(const struct value_type *type)
{
	Dwarf_Die bare;

	return bare_kind(type, &bare);
}

struct value_type value_type_target(const struct value_type *type)
{
	struct value_type target = *type;
	enum dwarf_type_kind kind;
	uint64_t count;
	Dwarf_Die bare;

	if (target.pointers) {
		target.pointers--;
		return target;
	}
	if (!target.die.addr)
		return value_type_void();
	kind = bare_kind(type, &bare);
	if (kind == DWARF_TYPE_ARRAY &&
	    dwarf_type_dimension(&bare, type->dimension + 1, &count)) {
		target.dimension++;
		return target;
	}
	return bare.addr && dwarf_type_of(&bare, &target.die) ?
		       value_type_of(&target.die) : value_type_void();
}

uint64_t value_type_count(const struct value_type *type)
{
	uint64_t count = 0;
	Dwarf_Die bare;

	if (bare_kind(type, &bare) == DWARF_TYPE_ARRAY)
		dwarf_type_dimension(&bare, type->dimension, &count);
	return count;
}

bool value_type_bytes(const struct compilation *c, struct value_type *type,
		      uint64_t *bytes)
{
	struct value_type element;
	Dwarf_Die bare;
	enum dwarf_type_kind kind = bare_kind(type, &bare);

	if (type->pointers || !type->die.addr) {
		*bytes = type->pointers ? word_bytes(c) : type->bytes;
		return *bytes;
	}
	if (kind == DWARF_TYPE_ARRAY && type->dimension) {
		element = value_type_target(type);
		return type->dimension < DIMENSIONS_MAX &&
		       value_type_bytes(c, &element, bytes) &&
		       !__builtin_mul_overflow(*bytes, value_type_count(type),
					       bytes) && *bytes;
	}
	if (bare.addr && dwarf_type_is_declared_only(&bare)) {
		if (!dwarf_type_complete(c->dwarf, &bare))
			return false;
		type->die = bare;
	}
	return dwarf_type_bytes(&bare, bytes) &&
	       (kind != DWARF_TYPE_ARRAY || *bytes);
}

bool value_type_scalar_bytes(const struct compilation *c,
			     struct value_type *type, uint64_t *bytes)
{
	return value_type_bytes(c, type, bytes) && *bytes && *bytes <= 8 &&
	       !(*bytes & (*bytes - 1));
}

unsigned int value_type_bits(const struct value_type *type)
{
	Dwarf_Die bare;

	bare_kind(type, &bare);
	return type->pointers || !type->die.addr ? 0 : dwarf_type_bits(&bare);
}

bool value_type_is_reversed(const struct value_type *type)
{
	Dwarf_Die bare;

	bare_kind(type, &bare);
	return !type->pointers && type->die.addr &&
	       dwarf_type_is_reversed(&bare);
}

struct value_type value_type_plain(const struct value_type *type)
{
	uint64_t bytes = 0;
	Dwarf_Die bare;

	if (!value_type_is_reversed(type) && !value_type_bits(type))
		return *type;
	bare_kind(type, &bare);
	dwarf_type_bytes(&bare, &bytes);
	return type_make(value_type_kind(type), bytes,
			 value_type_is_signed(type),
			 dwarf_diename(&bare) ? : "");
}

bool value_type_is_signed(const struct value_type *type)
{
	Dwarf_Die bare;

	switch (bare_kind(type, &bare)) {
	case DWARF_TYPE_CHAR:
	case DWARF_TYPE_INT:
	case DWARF_TYPE_ENUM:
		return type->die.addr ? dwarf_type_is_signed(&bare) :
					type->is_signed;
	default:
		return false;
	}
}

static bool kind_is_integer(enum dwarf_type_kind kind)
{
	return kind == DWARF_TYPE_BOOL || kind == DWARF_TYPE_CHAR ||
	       kind == DWARF_TYPE_INT || kind == DWARF_TYPE_ENUM;
}

bool value_type_is_integer(const struct value_type *type)
{
	return kind_is_integer(value_type_kind(type));
}

bool value_type_is_scalar(const struct value_type *type)
{
	return value_type_is_integer(type) ||
	       value_type_kind(type) == DWARF_TYPE_POINTER;
}

bool value_type_is_text(const struct value_type *type)
{
	const char *alias = NULL;
	uint64_t bytes = 0;
	Dwarf_Die bare;

	if (bare_kind(type, &bare) != DWARF_TYPE_CHAR)
		return false;
	if (!type->die.addr)
		return true;
	dwarf_type_peel(&type->die, &bare, &alias);
	return dwarf_type_bytes(&bare, &bytes) && bytes == 1 &&
	       !dwarf_type_alias_is_number(alias);
}

bool value_type_composed(const struct compilation *c,
			 const struct value_type *type, Dwarf_Die *bare)
{
	enum dwarf_type_kind kind = bare_kind(type, bare);

	if (kind != DWARF_TYPE_STRUCT && kind != DWARF_TYPE_UNION)
		return false;
	dwarf_type_complete(c->dwarf, bare);
	return true;
}

char *value_type_spell(const struct value_type *type)
{
	char *text, stars[64] = "";

	if (type->die.addr)
		return dwarf_type_spell(&type->die, type->dimension,
					type->pointers);
	for (size_t i = 0; i < type->pointers && i < sizeof(stars) - 1; i++)
		stars[i] = '*';
	if (type->kind == DWARF_TYPE_FUNCTION && type->pointers)
		return asprintf(&text, "void (%s)()", stars) < 0 ? NULL : text;
	return asprintf(&text, "%s%s%s", type->name, *stars ? " " : "",
			stars) < 0 ? NULL : text;
}

/* A type that the debug information doesn't have. */
static uint32_t own_ctype(const struct compilation *c, struct ctypes *ctypes,
			  const struct value_type *type)
{
	static const uint8_t kinds[] = {
		[DWARF_TYPE_BOOL] = TFF_CTYPE_BOOL,
		[DWARF_TYPE_CHAR] = TFF_CTYPE_CHAR,
		[DWARF_TYPE_INT] = TFF_CTYPE_UINT,
		[DWARF_TYPE_FLOAT] = TFF_CTYPE_FLOAT,
	};
	struct ctype out = {
		.kind = TFF_CTYPE_BYTES, .bytes = type->bytes,
		.target = CTYPE_NONE,
	};
	char *name = value_type_spell(type);
	uint32_t result;

	if (!name) {
		ctypes->failed = true;
		return CTYPE_NONE;
	}
	out.name = name;
	if (type->pointers) {
		out.kind = TFF_CTYPE_POINTER;
		out.bytes = word_bytes(c);
	} else if (type->kind == DWARF_TYPE_INT && type->is_signed) {
		out.kind = TFF_CTYPE_INT;
		out.is_signed = true;
	} else if (type->kind >= DWARF_TYPE_BOOL &&
		   type->kind <= DWARF_TYPE_FLOAT) {
		out.kind = kinds[type->kind];
	}
	result = ctypes_put(ctypes, &out);
	free(name);
	return result;
}

uint32_t value_type_ctype(const struct compilation *c, struct ctypes *ctypes,
			  const struct value_type *type)
{
	Dwarf_Die bare, die = type->die;

	ctypes->dwarf = c->dwarf;
	if (type->pointers || !die.addr)
		return own_ctype(c, ctypes, type);
	if (type->dimension && bare_kind(type, &bare) == DWARF_TYPE_ARRAY)
		return ctypes_add_part(ctypes, &bare, type->dimension);
	return ctypes_add(ctypes, &die);
}

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

unsigned int address_type_integer(const Dwarf_Die *type)
{
	uint64_t offset = 0, bytes;
	Dwarf_Die inner = *type;

	for (int steps = 0; !kind_is_integer(type_kind(&inner)); steps++)
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
	       (kind_is_integer(type_kind(&target)) &&
		address_type_bytes(&target) == 1);
}
