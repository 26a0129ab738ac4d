// SPDX-License-Identifier: GPL-2.0
#include "ctype.h"

#include <dwarf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/formats/bytes.h"
#include "lib/formats/format.h"
#include "lib/formats/tff.h"
#include "lib/debug/dwarf/dwarf.h"

#define TYPES_MAX	65536	/* in the table; bounds damaged entries */
#define DEPTH_MAX	64	/* structs in structs, arrays of arrays */
#define NAME_MAX_BYTES	200
#define CTYPE_PARTS_MAX	200	/* items of a value, beside its bytes */
#define NUMBERS_MAX	100	/* tried one by one after a name */
#define IN_PROGRESS	(TFF_CTYPE_NONE - 1)

/* The index is a tree of byte strings; the first byte says of what kind. */
enum { KEY_SHAPED = 's', KEY_ENTRY = 'e', KEY_NUMBER = 'n', KEY_CONTENT = 'c', KEY_NAME = 't' };

struct ctype_slot {
	uint32_t value;
	size_t size;
	uint8_t key[];
};

static int ctype_slot_compare(const void *a, const void *b)
{
	const struct ctype_slot *x = a, *y = b;
	size_t size = x->size < y->size ? x->size : y->size;
	int order = memcmp(x->key, y->key, size);

	return order ? order : (x->size > y->size) - (x->size < y->size);
}

/* The slot of that key, made with CTYPE_NONE when it is new; NULL: no
 * memory. */
static struct ctype_slot *ctype_slot_get(struct ctypes *types, uint8_t kind,
					 const void *key, size_t size)
{
	struct ctype_slot *slot = malloc(sizeof(*slot) + size + 1), **found;

	if (!slot) {
		types->failed = true;
		return NULL;
	}
	slot->value = CTYPE_NONE;
	slot->size = size + 1;
	slot->key[0] = kind;
	memcpy(slot->key + 1, key, size);
	found = tsearch(slot, &types->index, ctype_slot_compare);
	if (!found)
		types->failed = true;
	if (!found || *found != slot)
		free(slot);
	return found ? *found : NULL;
}

/* The name without what would end a control of a FMT, and of limited length;
 * with the first number after it that makes it unique. */
static char *name_unique(struct ctypes *types, const char *name)
{
	char *clean = strndup(name, NAME_MAX_BYTES), *numbered;
	struct ctype_slot *slot;

	for (char *p = clean; p && *p; p++)
		if ((*p & 0xe0) == 0 || *p == 0x7f || strchr("%{}\"\\", *p))
			*p = '_';
	for (size_t i = 1; clean && i <= types->count + 1;
	     i = i < NUMBERS_MAX ? i + 1 : types->count + 1) {
		if (i == 1)
			numbered = strdup(clean);
		else if (asprintf(&numbered, "%s#%zu", clean, i) < 0)
			numbered = NULL;
		slot = numbered ? ctype_slot_get(types, KEY_NAME, numbered,
						 strlen(numbered)) : NULL;
		if (slot && slot->value != CTYPE_NONE) {
			free(numbered);
			continue;
		}
		free(clean);
		if (slot) {
			slot->value = types->count;
			return numbered;
		}
		free(numbered);
		return NULL;
	}
	free(clean);
	return NULL;
}

static void content_key(const struct ctype *type, struct bytes *key)
{
	const uint32_t numbers[] = {
		type->kind, type->is_signed, type->bytes, type->target,
		type->count,
	};

	bytes_add(key, numbers, sizeof(numbers));
	bytes_add(key, type->name, strlen(type->name) + 1);
	for (size_t i = 0; i < type->member_count; i++) {
		const struct ctype_member *member = &type->members[i];
		const int64_t own[] = {
			member->ctype, member->value, member->bits,
		};

		bytes_add(key, own, sizeof(own));
		bytes_add(key, member->name, strlen(member->name) + 1);
	}
}

static void ctype_free(struct ctype *type)
{
	for (size_t i = 0; type->members && i < type->member_count; i++)
		free((char *)type->members[i].name);
	free(type->members);
	free((char *)type->name);
}

/* As tff_ctype_parts() counts. */
static uint16_t ctype_parts_count(const struct ctypes *types,
				  const struct ctype *type)
{
	uint64_t each = type->target < types->count ?
				types->types[type->target].parts : 0;
	uint32_t last = CTYPE_NONE;
	uint64_t sum = 0;

	switch (type->kind) {
	case TFF_CTYPE_TEXT:
	case TFF_CTYPE_TIME:
	case TFF_CTYPE_ADDRESS:
		return 2;
	case TFF_CTYPE_ONE:
		sum = 2 + each;
		break;
	case TFF_CTYPE_SEQUENCE:
		sum = 2 + type->count * each;
		break;
	case TFF_CTYPE_LIST:
	case TFF_CTYPE_MAP:
	case TFF_CTYPE_PATH:
	case TFF_CTYPE_EACH:
		sum = 1 + type->count *
		      tff_element_parts(type->kind,
					ctype_is_apart(&types->types[
							type->target]), each);
		break;
	case TFF_CTYPE_ARRAY:
		sum = type->count * each;
		break;
	case TFF_CTYPE_DYNAMIC:
		sum = 3;
		for (size_t i = 1; i < type->member_count; i += 2) {
			uint32_t ctype = type->members[i].ctype;

			if (!types->types[ctype].parts || ctype == last)
				continue;
			last = ctype;
			sum += types->types[ctype].parts;
		}
		break;
	case TFF_CTYPE_TUPLE:
	case TFF_CTYPE_STRUCT:
	case TFF_CTYPE_VARIANT:
		for (size_t i = 0; i < type->member_count; i++)
			if (!type->members[i].bits &&
			    !tff_member_is_number(type->kind, i))
				sum += types->types[type->members[i].ctype]
					       .parts;
		break;
	}
	return sum <= TFF_PARTS_MAX ? sum : TFF_PARTS_MAX + 1;
}

static uint32_t ctype_append(struct ctypes *types, const struct ctype *type)
{
	struct ctype copy = *type;
	bool good;

	if (!array_grow(&types->types, types->count, &types->room,
			sizeof(*types->types)))
		return CTYPE_NONE;
	copy.name = name_unique(types, type->name);
	copy.parts = ctype_parts_count(types, type);
	copy.members = calloc(type->member_count + 1, sizeof(*copy.members));
	copy.member_count = 0;
	good = copy.name && copy.members;
	for (size_t i = 0; good && i < type->member_count; i++) {
		copy.members[i] = type->members[i];
		copy.members[i].name = strdup(type->members[i].name);
		good = copy.members[i].name;
		copy.member_count++;
	}
	if (!good) {
		ctype_free(&copy);
		return CTYPE_NONE;
	}
	types->types[types->count] = copy;
	return types->count++;
}

uint32_t ctypes_put(struct ctypes *types, const struct ctype *type)
{
	struct bytes key = {0};
	struct ctype_slot *slot = NULL;

	content_key(type, &key);
	if (!key.failed)
		slot = ctype_slot_get(types, KEY_CONTENT, key.data, key.size);
	bytes_free(&key);
	if (slot && slot->value == CTYPE_NONE && types->count < TYPES_MAX)
		slot->value = ctype_append(types, type);
	types->failed |= !slot || (slot->value == CTYPE_NONE &&
				    types->count < TYPES_MAX);
	return slot ? slot->value : CTYPE_NONE;
}

/* The type of exactly this name. */
static uint32_t ctype_named(const struct ctypes *types, const char *name,
			    size_t length)
{
	_Alignas(struct ctype_slot)
	uint8_t room[sizeof(struct ctype_slot) + NAME_MAX_BYTES + 16];
	struct ctype_slot *key = (struct ctype_slot *)room, **found;

	if (length > NAME_MAX_BYTES + 15)
		return CTYPE_NONE;
	key->size = length + 1;
	key->key[0] = KEY_NAME;
	memcpy(key->key + 1, name, length);
	found = tfind(key, &types->index, ctype_slot_compare);
	return found && (*found)->value < types->count ? (*found)->value :
							 CTYPE_NONE;
}

uint32_t ctypes_find(const struct ctypes *types, const char *name,
		     size_t length)
{
	uint32_t found = ctype_named(types, name, length);
	uint8_t kind;
	size_t tag = format_type_tag(name, length, &kind);

	if (found != CTYPE_NONE || !tag)
		return found;
	found = ctype_named(types, name + tag, length - tag);
	return found != CTYPE_NONE && types->types[found].kind == kind ?
		       found : CTYPE_NONE;
}

uint32_t ctypes_put_bytes(struct ctypes *types, const char *name,
			  uint64_t bytes)
{
	return ctypes_put(types, &(struct ctype){
		.name = name,
		.kind = TFF_CTYPE_BYTES,
		.bytes = bytes > UINT32_MAX ? UINT32_MAX : bytes,
		.target = CTYPE_NONE,
	});
}

uint32_t ctypes_put_array(struct ctypes *types, uint32_t element,
			  uint32_t count)
{
	const struct ctype *e, *inner;
	struct ctype array = { .kind = TFF_CTYPE_ARRAY };
	uint32_t result;
	char *name;

	if (element >= types->count)
		return CTYPE_NONE;
	e = inner = &types->types[element];
	while (inner->kind == TFF_CTYPE_ARRAY)
		inner = &types->types[inner->target];
	if (asprintf(&name, "%s[%u]%s", inner->name, count,
		     strlen(e->name) > strlen(inner->name) ?
			     e->name + strlen(inner->name) : "") < 0) {
		types->failed = true;
		return CTYPE_NONE;
	}
	array.name = name;
	array.target = element;
	array.count = count;
	result = __builtin_mul_overflow(count, e->bytes, &array.bytes) ?
			 ctypes_put_bytes(types, name, UINT32_MAX) :
			 ctypes_put(types, &array);
	free(name);
	return result;
}

static uint32_t ctypes_add_at(struct ctypes *types, const Dwarf_Die *type,
			      int depth);

/* The members of a struct or the constants of an enumeration, while they are
 * collected. */
struct ctype_parts {
	struct ctypes *types;
	struct ctype_member *members;
	size_t count, room;
	int depth;
	bool failed;
};

static bool ctype_parts_add(struct ctype_parts *parts,
			    const struct ctype_member *member)
{
	if (!array_grow(&parts->members, parts->count, &parts->room,
			sizeof(*parts->members))) {
		parts->failed = true;
		return false;
	}
	parts->members[parts->count++] = *member;
	return true;
}

static bool has_number_bytes(uint64_t bytes)
{
	return bytes && bytes <= 8 && !(bytes & (bytes - 1));
}

/* Rust's char, char32_t */
static bool is_utf(Dwarf_Die *bare)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding;

	return !dwarf_formudata(dwarf_attr(bare, DW_AT_encoding, &attr),
				&encoding) && encoding == DW_ATE_UTF;
}

/* What the TFF calls a base type of that many bytes. */
static uint8_t scalar_kind(enum dwarf_type_kind kind, Dwarf_Die *bare,
			   bool number, uint64_t bytes)
{
	bool is_signed = dwarf_type_is_signed(bare);

	switch (kind) {
	case DWARF_TYPE_FLOAT:
		return TFF_CTYPE_FLOAT;
	case DWARF_TYPE_BOOL:
		return has_number_bytes(bytes) ? TFF_CTYPE_BOOL :
						 TFF_CTYPE_BYTES;
	case DWARF_TYPE_CHAR:
		if (!number && bytes == 1)
			return TFF_CTYPE_CHAR;
		/* fall through */
	case DWARF_TYPE_INT:
		if (is_utf(bare) && has_number_bytes(bytes) && bytes <= 4)
			return TFF_CTYPE_CHAR;
		if (has_number_bytes(bytes) || bytes == 16)
			return is_signed ? TFF_CTYPE_INT : TFF_CTYPE_UINT;
		/* fall through */
	default:
		return TFF_CTYPE_BYTES;
	}
}

/* A base type as if its bytes were just the value; bytes, if it is too wide. */
static uint32_t ctypes_put_plain(struct ctypes *types, Dwarf_Die *bare,
				 uint32_t bytes)
{
	struct ctype plain = {
		.name = dwarf_diename(bare) ? : "",
		.kind = scalar_kind(dwarf_type_value_kind(bare), bare, true,
				    bytes),
		.bytes = bytes, .target = CTYPE_NONE,
	};

	plain.is_signed = plain.kind == TFF_CTYPE_INT;
	return ctypes_put(types, &plain);
}

/*
 * Bytes that are not just the value: of a bit-field with its highest bit first
 * the TFF can say what it is within a byte, of a bit-precise type that it is a
 * bit-field. All else is bytes.
 */
static void adapt_member(struct ctypes *types,
			 const struct dwarf_member *member,
			 struct ctype_member *out)
{
	unsigned int first = member->bit_offset % 8, bits = member->bits;
	const struct ctype type = types->types[out->ctype];
	const struct ctype *element = &types->types[out->ctype];
	Dwarf_Die bare;
	bool is_base;

	dwarf_type_peel(&member->type, &bare, NULL);
	is_base = bare.addr && dwarf_tag(&bare) == DW_TAG_base_type;
	while (element->kind == TFF_CTYPE_ARRAY)
		element = &types->types[element->target];
	if (bits && (member->is_reversed ? first + bits > 8 :
		     dwarf_type_value_kind(&bare) == DWARF_TYPE_OTHER)) {
		out->value -= first;
		out->bits = 0;
		out->ctype = ctypes_put_bytes(types, "bytes", (first + bits + 7) / 8);
	} else if (member->is_reversed && bits) {
		out->value += 8 - 2 * (int)first - (int)bits;
		if (is_base)
			out->ctype = ctypes_put_plain(types, &bare, type.bytes);
	} else if (member->is_reversed && element->kind == TFF_CTYPE_ENUM &&
		   element->bytes > 1) {
		out->ctype = ctypes_put_bytes(types, "bytes", type.bytes);
	} else if (is_base && !first && dwarf_type_bits(&bare) &&
		   dwarf_type_bits(&bare) <= 64) {
		out->bits = bits ? bits : dwarf_type_bits(&bare);
		out->ctype = ctypes_put_plain(types, &bare, type.bytes);
	}
}

static int take_member(void *context, const struct dwarf_member *member)
{
	struct ctype_parts *parts = context;
	struct ctype_member out = {
		.name = member->name, .value = member->bit_offset,
		.bits = member->bits,
	};

	/* the name of a class says what its vtable does */
	if (parts->types->shape && parts->types->shape_depth &&
	    !strncmp(member->name, "_vptr", 5))
		return 0;
	parts->types->shape_inside++;
	out.ctype = ctypes_add_at(parts->types, &member->type,
				  parts->depth + 1);
	parts->types->shape_inside--;
	if (out.ctype == CTYPE_NONE)
		out.ctype = ctypes_put_bytes(parts->types, "bytes", 0);
	else
		adapt_member(parts->types, member, &out);
	return out.ctype == CTYPE_NONE || !ctype_parts_add(parts, &out);
}

/* Where a virtual base is in the object its vtable knows: the place in the
 * struct has nothing of it but that it is there. */
static void take_virtual_bases(struct ctype_parts *parts, Dwarf_Die *bare)
{
	struct ctypes *types = parts->types;
	Dwarf_Die child, base;

	if (dwarf_child(bare, &child))
		return;
	do {
		struct ctype_member out = { .ctype = CTYPE_NONE };
		const char *name;
		char *mark;

		if (dwarf_tag(&child) != DW_TAG_inheritance ||
		    !dwarf_hasattr(&child, DW_AT_virtuality) ||
		    !dwarf_type_of(&child, &base))
			continue;
		name = dwarf_diename(&base);
		if (asprintf(&mark, "<virtual base %s: not shown>",
			     name ? name : "") < 0)
			mark = NULL;
		if (mark)
			out.ctype = ctypes_put_bytes(types, mark, 0);
		free(mark);
		if (out.ctype == CTYPE_NONE) {
			parts->failed = true;
			return;
		}
		out.name = types->types[out.ctype].name;
		if (!ctype_parts_add(parts, &out))
			return;
	} while (dwarf_die_next(&child));
}

/* Itanium ABI section 2.3: an offset, or a function, or what the vtable has,
 * and what is added to the object's address. */
static void fill_member_pointer(struct ctype_parts *parts, bool function,
				struct ctype *out)
{
	uint32_t half = out->bytes / 2;
	struct ctype pointer = {
		.name = "void *", .kind = TFF_CTYPE_POINTER, .bytes = half,
		.target = CTYPE_NONE,
	}, offset = {
		.name = "ptrdiff_t", .kind = TFF_CTYPE_INT, .is_signed = true,
		.bytes = half, .target = CTYPE_NONE,
	};
	struct ctype_member ptr = { .name = "ptr" };
	struct ctype_member adj = { .name = "adj", .value = 8 * half };

	out->kind = function ? TFF_CTYPE_STRUCT : TFF_CTYPE_INT;
	out->is_signed = !function;
	if (!function)
		return;
	ptr.ctype = ctypes_put(parts->types, &pointer);
	adj.ctype = ctypes_put(parts->types, &offset);
	if (ptr.ctype == CTYPE_NONE || adj.ctype == CTYPE_NONE)
		parts->failed = true;
	else if (ctype_parts_add(parts, &ptr))
		ctype_parts_add(parts, &adj);
	out->members = parts->members;
	out->member_count = parts->count;
}

static void take_enumerators(struct ctype_parts *parts, Dwarf_Die *bare,
			     bool is_signed)
{
	Dwarf_Attribute attr;
	Dwarf_Die child;

	if (dwarf_child(bare, &child))
		return;
	do {
		struct ctype_member out = {
			.name = dwarf_diename(&child),
			.ctype = CTYPE_NONE,
		};
		Dwarf_Sword number;
		Dwarf_Word word;

		if (dwarf_tag(&child) != DW_TAG_enumerator || !out.name ||
		    !dwarf_attr(&child, DW_AT_const_value, &attr))
			continue;
		if (is_signed && !dwarf_formsdata(&attr, &number))
			out.value = number;
		else if (!is_signed && !dwarf_formudata(&attr, &word))
			out.value = word;
		else
			continue;
		if (parts->count == TYPES_MAX || !ctype_parts_add(parts, &out))
			return;
	} while (dwarf_die_next(&child));
}

/* The value that selects an alternative; false: all that others don't have. */
static bool alternative_number(Dwarf_Die *variant, bool is_signed,
			       int64_t *number)
{
	Dwarf_Attribute attr;
	Dwarf_Sword sword;
	Dwarf_Word word;

	if (!dwarf_attr(variant, DW_AT_discr_value, &attr))
		return false;
	if (is_signed && !dwarf_formsdata(&attr, &sword))
		*number = sword;
	else if (!dwarf_formudata(&attr, &word))
		*number = word;
	else
		return false;
	return true;
}

struct only_member {
	struct dwarf_member member;
	unsigned int count;
};

static int only_member_take(void *context, const struct dwarf_member *member)
{
	struct only_member *only = context;

	only->member = *member;
	return ++only->count > 1;
}

bool ctype_alternative_find(Dwarf_Die *bare, Dwarf_Die *variant,
			    struct dwarf_member *member, const char **name)
{
	struct only_member only = { .count = 0 };
	Dwarf_Die child, inner;
	bool found = false;

	if (!dwarf_child(variant, &child))
		do
			found = dwarf_tag(&child) == DW_TAG_member &&
				dwarf_type_member(bare, &child, member);
		while (!found && dwarf_die_next(&child));
	if (!found)
		return false;
	*name = member->name;
	dwarf_type_peel(&member->type, &inner, NULL);
	if (inner.addr && dwarf_type_kind(&inner) == DWARF_TYPE_STRUCT)
		dwarf_type_members(&inner, only_member_take, &only);
	if (only.count == 1 && !strcmp(only.member.name, "__0")) {
		only.member.bit_offset += member->bit_offset;
		*member = only.member;
	}
	return true;
}

static int any_member(void *context, const struct dwarf_member *member)
{
	return 1;
}

static bool alternative_value(struct ctype_parts *parts, Dwarf_Die *bare,
			      Dwarf_Die *variant, struct ctype_member *number,
			      struct ctype_member *out)
{
	struct dwarf_member member;
	Dwarf_Die inner;
	bool nothing;

	if (!ctype_alternative_find(bare, variant, &member, &number->name))
		return false;
	dwarf_type_peel(&member.type, &inner, NULL);
	nothing = inner.addr && dwarf_type_kind(&inner) == DWARF_TYPE_STRUCT &&
		  !dwarf_type_members(&inner, any_member, NULL);
	out->value = member.bit_offset;
	out->ctype = nothing ? ctypes_put_bytes(parts->types, "nothing", 0) :
			       ctypes_add_at(parts->types, &member.type,
					     parts->depth + 1);
	return out->ctype != CTYPE_NONE;
}

/*
 * DWARF 5 section 5.7.10: which members there are depends on the value of
 * another one. Rust's enumerations have nothing else.
 */
static bool fill_variants(struct ctype_parts *parts, Dwarf_Die *bare,
			  Dwarf_Die *part, struct ctype *out)
{
	static const char optional[] = "core::option::Option<";
	struct ctype_member discriminant = { .name = "" };
	struct dwarf_member member;
	bool is_signed = false;
	Dwarf_Attribute attr;
	Dwarf_Die die, bare_type;

	if (dwarf_attr(part, DW_AT_discr, &attr) &&
	    dwarf_formref_die(&attr, &die) &&
	    dwarf_type_member(bare, &die, &member)) {
		discriminant.ctype = ctypes_add_at(parts->types, &member.type,
						   parts->depth + 1);
		discriminant.value = member.bit_offset;
		dwarf_type_peel(&member.type, &bare_type, NULL);
		is_signed = bare_type.addr && dwarf_type_is_signed(&bare_type);
	} else {
		discriminant.ctype = ctypes_put(parts->types, &(struct ctype){
			.name = "u8", .kind = TFF_CTYPE_UINT, .bytes = 1,
			.target = CTYPE_NONE,
		});
	}
	if (discriminant.ctype == CTYPE_NONE ||
	    !ctype_parts_add(parts, &discriminant) || dwarf_child(part, &die))
		return false;
	do {
		struct ctype_member number = { 0 }, value = { .name = "" };

		if (dwarf_tag(&die) != DW_TAG_variant)
			continue;
		if (parts->count >= TYPES_MAX ||
		    !alternative_value(parts, bare, &die, &number, &value))
			return false;
		number.bits = !alternative_number(&die, is_signed,
						  &number.value);
		number.ctype = discriminant.ctype;
		if (!ctype_parts_add(parts, &number) ||
		    !ctype_parts_add(parts, &value))
			return false;
	} while (dwarf_die_next(&die));
	out->kind = TFF_CTYPE_VARIANT;
	out->is_signed = !strncmp(out->name, optional, sizeof(optional) - 1);
	return true;
}

bool ctype_variants_find(Dwarf_Die *bare, Dwarf_Die *part)
{
	bool found = false;
	Dwarf_Die child;

	if (dwarf_child(bare, &child))
		return false;
	do {
		/* Ada's records have other members beside it */
		if (dwarf_tag(&child) == DW_TAG_member)
			return false;
		if (dwarf_tag(&child) != DW_TAG_variant_part)
			continue;
		*part = child;
		found = true;
	} while (dwarf_die_next(&child));
	return found;
}

/* Alternatives beside other members, as in Ada's records: the bytes of all. */
static void take_undecoded(struct ctype_parts *parts, Dwarf_Die *bare,
			   uint32_t bytes)
{
	struct ctype_member out = { .name = "<variant, not decoded>" };
	Dwarf_Die child;

	if (dwarf_child(bare, &child))
		return;
	do {
		if (dwarf_tag(&child) != DW_TAG_variant_part)
			continue;
		out.ctype = ctypes_put_bytes(parts->types, "bytes", bytes);
		if (out.ctype != CTYPE_NONE)
			ctype_parts_add(parts, &out);
		return;
	} while (dwarf_die_next(&child));
}

/* Kind and members. The target of a pointer is not followed: no trace has
 * it. */
static void fill(struct ctype_parts *parts, Dwarf_Die *bare, const char *alias,
		 struct ctype *out)
{
	uint32_t (*shape)(struct ctypes *types, const Dwarf_Die *type);
	enum dwarf_type_kind kind = dwarf_type_kind(bare);
	bool number = has_number_bytes(out->bytes), function;
	Dwarf_Die variants;

	if (dwarf_type_is_member_pointer(bare, &function)) {
		fill_member_pointer(parts, function, out);
		return;
	}
	switch (kind) {
	case DWARF_TYPE_POINTER:
	case DWARF_TYPE_REFERENCE:
		out->kind = number ? TFF_CTYPE_POINTER : TFF_CTYPE_BYTES;
		return;
	case DWARF_TYPE_STRUCT:
	case DWARF_TYPE_UNION:
		out->kind = kind == DWARF_TYPE_UNION ? TFF_CTYPE_UNION :
						       TFF_CTYPE_STRUCT;
		if (kind == DWARF_TYPE_STRUCT &&
		    ctype_variants_find(bare, &variants)) {
			parts->failed |= !fill_variants(parts, bare, &variants,
							out);
			break;
		}
		/* which of a union's members is there isn't known */
		shape = parts->types->shape;
		if (kind == DWARF_TYPE_UNION)
			parts->types->shape = NULL;
		take_virtual_bases(parts, bare);
		dwarf_type_members(bare, take_member, parts);
		take_undecoded(parts, bare, out->bytes);
		parts->types->shape = shape;
		break;
	case DWARF_TYPE_ENUM:
		out->kind = number ? TFF_CTYPE_ENUM : TFF_CTYPE_BYTES;
		out->is_signed = dwarf_type_is_signed(bare);
		if (number)
			take_enumerators(parts, bare, out->is_signed);
		break;
	default:
		out->kind = scalar_kind(kind, bare,
					dwarf_type_alias_is_number(alias),
					out->bytes);
		out->is_signed = out->kind == TFF_CTYPE_INT;
		return;
	}
	out->members = parts->members;
	out->member_count = parts->count;
}

/* Empty bases and marks, of a structure that is shown with shapes. */
static void drop_empty(const struct ctypes *types, struct ctype *out)
{
	size_t kept = 0;

	if (!ctype_parts_count(types, out))
		return;
	for (size_t i = 0; i < out->member_count; i++) {
		const struct ctype *type =
			&types->types[out->members[i].ctype];

		if (type->kind != TFF_CTYPE_STRUCT || type->member_count)
			out->members[kept++] = out->members[i];
	}
	out->member_count = kept;
}

static uint32_t add_single(struct ctypes *types, const Dwarf_Die *type,
			   Dwarf_Die *bare, const char *alias, int depth)
{
	struct ctype_parts parts = { .types = types, .depth = depth };
	struct ctype out = { .kind = TFF_CTYPE_BYTES, .target = CTYPE_NONE };
	char *name = dwarf_type_spell(type, 0, 0);
	uint32_t result = CTYPE_NONE;
	uint64_t bytes;

	if (dwarf_type_bytes(bare, &bytes) && bytes <= UINT32_MAX)
		out.bytes = bytes;
	out.name = name ? name : "";
	fill(&parts, bare, alias, &out);
	if (types->shape && out.kind == TFF_CTYPE_STRUCT)
		drop_empty(types, &out);
	if (name && !parts.failed)
		result = ctypes_put(types, &out);
	else
		types->failed = true;
	free(parts.members);
	free(name);
	return result;
}

static uint32_t add_array(struct ctypes *types, Dwarf_Die *array,
			  unsigned int first, int depth)
{
	uint64_t counts[DEPTH_MAX];
	unsigned int dimensions = 0;
	uint32_t result;
	Dwarf_Die element;

	while (dimensions < DEPTH_MAX &&
	       dwarf_type_dimension(array, dimensions, &counts[dimensions]))
		dimensions++;
	if (!dwarf_type_of(array, &element))
		return CTYPE_NONE;
	types->shape_inside++;
	result = ctypes_add_at(types, &element, depth + 1);
	types->shape_inside--;
	while (dimensions-- > first && result != CTYPE_NONE)
		result = counts[dimensions] > UINT32_MAX ?
				 ctypes_put_bytes(types, "bytes", UINT32_MAX) :
				 ctypes_put_array(types, result,
						  counts[dimensions]);
	return result;
}

/*
 * With what shapes make of it. Of too many parts the type is what the debug
 * information has. Found again by its entry and how deep it is, because less is
 * recorded of what is deeper.
 */
static uint32_t add_shaped(struct ctypes *types, const Dwarf_Die *type,
			   int depth)
{
	uint32_t (*shape)(struct ctypes *own, const Dwarf_Die *die) =
		types->shape;
	struct {
		const void *entry;
		uint32_t depth, most, inside, many;
	} key = {
		type->addr, types->shape_depth,
		types->shape_depth ? 0 : types->shape_most,
		types->shape_inside > 0, types->shape_many > 0,
	};
	struct ctype_slot *slot = ctype_slot_get(types, KEY_SHAPED, &key,
						 sizeof(key));
	const char *alias = NULL;
	uint32_t result;
	Dwarf_Die bare;

	if (!slot || slot->value == IN_PROGRESS)
		return CTYPE_NONE;
	if (slot->value != CTYPE_NONE)
		return slot->value;
	slot->value = IN_PROGRESS;
	result = shape(types, type);
	if (result == CTYPE_NONE) {
		dwarf_type_peel(type, &bare, &alias);
		dwarf_type_complete(types->dwarf, &bare);
		switch (dwarf_type_kind(&bare)) {
		case DWARF_TYPE_ARRAY:
			result = add_array(types, &bare, 0, depth);
			break;
		case DWARF_TYPE_STRUCT:
		case DWARF_TYPE_UNION:
			result = add_single(types, type, &bare, alias, depth);
			break;
		default:
			break;
		}
	}
	if (result == CTYPE_NONE ||
	    types->types[result].parts > CTYPE_PARTS_MAX) {
		types->shape = NULL;
		result = ctypes_add_at(types, type, depth);
		types->shape = shape;
	}
	slot->value = result;
	return result;
}

static uint32_t ctypes_add_at(struct ctypes *types, const Dwarf_Die *type,
			      int depth)
{
	const char *alias = NULL;
	struct ctype_slot *slot;
	Dwarf_Die bare;
	bool number;

	dwarf_type_peel(type, &bare, &alias);
	if (!bare.addr || depth > DEPTH_MAX)
		return CTYPE_NONE;
	dwarf_type_complete(types->dwarf, &bare);
	if (types->shape)
		return add_shaped(types, type, depth);
	number = dwarf_type_kind(&bare) == DWARF_TYPE_CHAR &&
		 dwarf_type_alias_is_number(alias);
	slot = ctype_slot_get(types, number ? KEY_NUMBER : KEY_ENTRY,
			      &bare.addr, sizeof(bare.addr));
	if (!slot || slot->value == IN_PROGRESS)
		return CTYPE_NONE;
	if (slot->value != CTYPE_NONE)
		return slot->value;
	slot->value = IN_PROGRESS;
	slot->value = dwarf_type_kind(&bare) == DWARF_TYPE_ARRAY ?
			       add_array(types, &bare, 0, depth) :
			       add_single(types, type, &bare, alias, depth);
	return slot->value;
}

uint32_t ctypes_add(struct ctypes *types, Dwarf_Die *type)
{
	return ctypes_add_at(types, type, 0);
}

uint32_t ctypes_add_part(struct ctypes *types, Dwarf_Die *array,
			 unsigned int dimension)
{
	return add_array(types, array, dimension, 0);
}

void ctypes_free(struct ctypes *types)
{
	for (size_t i = 0; i < types->count; i++)
		ctype_free(&types->types[i]);
	free(types->types);
	tdestroy(types->index, free);
	memset(types, 0, sizeof(*types));
}
