// SPDX-License-Identifier: GPL-2.0
/*
 * Entries are written in the order of the BTF's types, one or a few per type.
 * A reference to a type is its id until all entries have an offset. The
 * BTF's strings become .debug_str as they are.
 */
#include "btf_dwarf.h"

#include <bpf/btf.h>
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/formats/rpn.h"
#include "lib/hash.h"
#include "lib/key_map.h"

#define UNIT_HEADER	11	/* bytes before the first entry */
#define WORD		8	/* bytes of a register and of a stack slot */

/* The attributes of an entry, in the order in which their values follow. */
enum {
	HAS_NAME, HAS_TYPE, HAS_SIZE, HAS_ENCODING, HAS_OFFSET, HAS_BITS,
	HAS_BIT_OFFSET, HAS_COUNT, HAS_SIGNED, HAS_UNSIGNED, HAS_PLACE,
	HAS_LOW, HAS_HIGH, HAS_LANGUAGE, HAS_PROTOTYPE, HAS_EXTERNAL,
	HAS_DECLARATION, ATTRIBUTES,
};

static const struct {
	uint8_t name, form;
} attributes[ATTRIBUTES] = {
	[HAS_NAME] = { DW_AT_name, DW_FORM_strp },
	[HAS_TYPE] = { DW_AT_type, DW_FORM_ref4 },
	[HAS_SIZE] = { DW_AT_byte_size, DW_FORM_udata },
	[HAS_ENCODING] = { DW_AT_encoding, DW_FORM_udata },
	[HAS_OFFSET] = { DW_AT_data_member_location, DW_FORM_udata },
	[HAS_BITS] = { DW_AT_bit_size, DW_FORM_udata },
	[HAS_BIT_OFFSET] = { DW_AT_data_bit_offset, DW_FORM_udata },
	[HAS_COUNT] = { DW_AT_count, DW_FORM_udata },
	[HAS_SIGNED] = { DW_AT_const_value, DW_FORM_sdata },
	[HAS_UNSIGNED] = { DW_AT_const_value, DW_FORM_udata },
	[HAS_PLACE] = { DW_AT_location, DW_FORM_exprloc },
	[HAS_LOW] = { DW_AT_low_pc, DW_FORM_addr },
	[HAS_HIGH] = { DW_AT_high_pc, DW_FORM_udata },
	[HAS_LANGUAGE] = { DW_AT_language, DW_FORM_udata },
	[HAS_PROTOTYPE] = { DW_AT_prototyped, DW_FORM_flag_present },
	[HAS_EXTERNAL] = { DW_AT_external, DW_FORM_flag_present },
	[HAS_DECLARATION] = { DW_AT_declaration, DW_FORM_flag_present },
};

#define BIT(n)		(1u << (n))
#define IS_FLAG(n)	((n) >= HAS_PROTOTYPE)

/* An entry: values[HAS_X] counts if `has` has BIT(HAS_X). */
struct btf_entry {
	uint8_t tag;
	bool children;
	uint32_t has;
	uint64_t values[HAS_PROTOTYPE];
	uint8_t place[32];
	size_t place_size;
};

struct btf_reference {
	uint32_t at;		/* in .debug_info */
	uint32_t type;
};

struct btf_abbreviation {
	uint32_t has;
	uint8_t tag;
	bool children;
};

struct btf_writer {
	const struct btf_dwarf_source *source;
	uint32_t types;
	struct bytes info, abbrev;
	struct btf_abbreviation *abbreviations;
	size_t abbreviation_count, abbreviation_room;
	struct btf_reference *references;
	size_t reference_count, reference_room;
	uint32_t *entries;	/* offset of each type's entry; 0: none */
	uint64_t *addresses;	/* of functions and variables; 0: not known */
	uint64_t low, high;	/* of all functions */
	bool enums_have_sign;	/* one says that it is signed */
	bool failed;		/* no memory */
};

/* Writes the entry; its attributes decide its abbreviation. */
static void btf_entry_add(struct btf_writer *w, const struct btf_entry *entry)
{
	size_t i = 0;

	for (; i < w->abbreviation_count; i++)
		if (w->abbreviations[i].tag == entry->tag &&
		    w->abbreviations[i].has == entry->has &&
		    w->abbreviations[i].children == entry->children)
			break;
	if (i == w->abbreviation_count) {
		if (!array_grow(&w->abbreviations, i, &w->abbreviation_room,
				sizeof(*w->abbreviations))) {
			w->failed = true;
			return;
		}
		w->abbreviations[w->abbreviation_count++] =
			(struct btf_abbreviation) {
				entry->has, entry->tag, entry->children,
			};
	}
	rpn_emit_uleb(&w->info, i + 1);
	for (i = 0; i < HAS_PROTOTYPE; i++) {
		uint64_t value = entry->values[i];

		if (!(entry->has & BIT(i)))
			continue;
		switch (attributes[i].form) {
		case DW_FORM_strp:
			bytes_add(&w->info, &value, 4);
			break;
		case DW_FORM_ref4:
			if (!array_grow(&w->references, w->reference_count,
					&w->reference_room,
					sizeof(*w->references))) {
				w->failed = true;
				return;
			}
			w->references[w->reference_count++] =
				(struct btf_reference) { w->info.size, value };
			bytes_add(&w->info, &value, 4);
			break;
		case DW_FORM_addr:
			bytes_add(&w->info, &value, 8);
			break;
		case DW_FORM_sdata:
			rpn_emit_sleb(&w->info, value);
			break;
		case DW_FORM_exprloc:
			rpn_emit_uleb(&w->info, entry->place_size);
			bytes_add(&w->info, entry->place, entry->place_size);
			break;
		default:
			rpn_emit_uleb(&w->info, value);
		}
	}
}

/* The end of an entry's children */
static void btf_entry_end(struct btf_writer *w)
{
	bytes_add(&w->info, "", 1);
}

static void btf_set(struct btf_entry *entry, unsigned int attribute,
		    uint64_t value)
{
	entry->has |= BIT(attribute);
	if (attribute < HAS_PROTOTYPE)
		entry->values[attribute] = value;
}

static void btf_set_name(struct btf_entry *entry, uint32_t name)
{
	if (name)
		btf_set(entry, HAS_NAME, name);
}

/* Type 0 is void. */
static void btf_set_type(struct btf_entry *entry, uint32_t type)
{
	if (type)
		btf_set(entry, HAS_TYPE, type);
}

static void btf_write_int(struct btf_writer *w, const struct btf_type *type)
{
	const char *name = btf__name_by_offset(w->source->btf, type->name_off);
	uint8_t encoding = btf_int_encoding(type);
	bool is_char = type->size == 1 && name && strstr(name, "char");
	struct btf_entry entry = { .tag = DW_TAG_base_type };

	btf_set_name(&entry, type->name_off);
	btf_set(&entry, HAS_SIZE, type->size);
	if (encoding & BTF_INT_BOOL)
		btf_set(&entry, HAS_ENCODING, DW_ATE_boolean);
	else if (is_char)
		btf_set(&entry, HAS_ENCODING, strstr(name, "unsigned") ?
			DW_ATE_unsigned_char : DW_ATE_signed_char);
	else
		btf_set(&entry, HAS_ENCODING, encoding & BTF_INT_SIGNED ?
			DW_ATE_signed : DW_ATE_unsigned);
	btf_entry_add(w, &entry);
}

static void btf_write_members(struct btf_writer *w,
			      const struct btf_type *type)
{
	const struct btf_member *member = btf_members(type);

	for (uint32_t i = 0; i < btf_vlen(type); i++, member++) {
		struct btf_entry entry = { .tag = DW_TAG_member };
		uint32_t at = btf_member_bit_offset(type, i);
		uint32_t bits = btf_member_bitfield_size(type, i);

		btf_set_name(&entry, member->name_off);
		btf_set_type(&entry, member->type);
		if (bits) {
			btf_set(&entry, HAS_BITS, bits);
			btf_set(&entry, HAS_BIT_OFFSET, at);
		} else {
			btf_set(&entry, HAS_OFFSET, at / 8);
		}
		btf_entry_add(w, &entry);
	}
}

/* Before Linux 6.0 no enumeration said that it is signed. */
static bool btf_enum_is_signed(const struct btf_writer *w,
			       const struct btf_type *type)
{
	const struct btf_enum *e = btf_enum(type);

	if (btf_kflag(type) || w->enums_have_sign || btf_is_enum64(type))
		return btf_kflag(type);
	for (uint32_t i = 0; i < btf_vlen(type); i++)
		if (e[i].val < 0)
			return true;
	return false;
}

static void btf_write_enumerators(struct btf_writer *w,
				  const struct btf_type *type)
{
	bool is_signed = btf_enum_is_signed(w, type);

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		struct btf_entry entry = { .tag = DW_TAG_enumerator };

		if (btf_is_enum64(type)) {
			const struct btf_enum64 *e = btf_enum64(type) + i;

			btf_set_name(&entry, e->name_off);
			btf_set(&entry, is_signed ? HAS_SIGNED : HAS_UNSIGNED,
				btf_enum64_value(e));
		} else {
			const struct btf_enum *e = btf_enum(type) + i;

			btf_set_name(&entry, e->name_off);
			btf_set(&entry, is_signed ? HAS_SIGNED : HAS_UNSIGNED,
				is_signed ? (uint64_t)e->val : (uint32_t)e->val);
		}
		btf_entry_add(w, &entry);
	}
}

static void btf_write_array(struct btf_writer *w, const struct btf_type *type)
{
	const struct btf_array *array = btf_array(type);
	struct btf_entry entry = { .tag = DW_TAG_array_type, .children = true };
	struct btf_entry range = { .tag = DW_TAG_subrange_type };

	btf_set_type(&entry, array->type);
	btf_entry_add(w, &entry);
	btf_set(&range, HAS_COUNT, array->nelems);
	btf_entry_add(w, &range);
	btf_entry_end(w);
}

/*
 * Where parameters are at the entry of a function: System V ABI for AMD64 (x86-64),
 * section 3.2.3, and Procedure Call Standard for the Arm 64-bit Architecture,
 * section 6.4, without floating point, which the kernel doesn't use.
 */
struct btf_call {
	bool arm;
	unsigned int used;	/* registers */
	uint64_t stack;		/* offset of the next one from the stack pointer */
	bool lost;		/* the places of the others are not known */
};

static const uint8_t amd64_arguments[] = { 5, 4, 1, 2, 8, 9 };

static void btf_place_op(struct btf_entry *entry, uint8_t op)
{
	entry->place[entry->place_size++] = op;
}

/* An offset of at most 2^20 */
static void btf_place_based(struct btf_entry *entry, unsigned int reg,
			    uint32_t offset)
{
	btf_place_op(entry, DW_OP_breg0 + reg);
	btf_place_op(entry, (offset & 0x7f) | 0x80);
	btf_place_op(entry, (offset >> 7 & 0x7f) | 0x80);
	btf_place_op(entry, offset >> 14 & 0x3f);
}

/* Sets the place of the next parameter, if it is known. */
static void btf_call_place(const struct btf_writer *w, struct btf_call *call,
			   uint32_t id, struct btf_entry *entry)
{
	const struct btf *btf = w->source->btf;
	int resolved = btf__resolve_type(btf, id);
	const struct btf_type *type =
		resolved > 0 ? btf__type_by_id(btf, resolved) : NULL;
	unsigned int registers = call->arm ? 8 : 6, words;
	bool in_registers, aggregate;
	int64_t size;

	if (!type || call->lost) {
		call->lost = true;
		return;
	}
	aggregate = btf_is_composite(type);
	size = btf_is_ptr(type) ? WORD : btf__resolve_size(btf, id);
	if (size <= 0 || size > 1 << 16 || btf_is_float(type) ||
	    (size > WORD && !aggregate)) {
		call->lost = true;
		return;
	}
	words = (size + WORD - 1) / WORD;
	in_registers = words <= 2 && call->used + words <= registers;
	if (call->arm && words > 2) {
		/* a copy, by its address */
		words = 1;
		if (call->used < registers)
			btf_place_based(entry, call->used++, 0);
		else
			call->lost = true;
	} else if (in_registers) {
		for (unsigned int i = 0; i < words; i++, call->used++) {
			btf_place_op(entry, DW_OP_reg0 +
				     (call->arm ? call->used :
						  amd64_arguments[call->used]));
			if (words == 1)
				continue;
			btf_place_op(entry, DW_OP_piece);
			btf_place_op(entry, i ? size - WORD : WORD);
		}
	} else {
		if (call->arm)
			call->used = registers;
		btf_place_based(entry, call->arm ? 31 : 7, call->stack);
		call->stack += words * WORD;
		call->lost = call->stack >= 1 << 20;
	}
	if (entry->place_size)
		btf_set(entry, HAS_PLACE, 0);
}

static void btf_write_parameters(struct btf_writer *w,
				 const struct btf_type *proto, bool placed)
{
	const struct btf_param *param = btf_params(proto);
	bool arm = w->source->machine == EM_AARCH64;
	/* the return address is below the parameters of x86 */
	struct btf_call call = { .arm = arm, .stack = arm ? 0 : WORD };

	for (uint32_t i = 0; i < btf_vlen(proto); i++, param++) {
		struct btf_entry entry = { .tag = DW_TAG_formal_parameter };

		if (!param->type) {
			entry.tag = DW_TAG_unspecified_parameters;
			btf_entry_add(w, &entry);
			return;
		}
		btf_set_name(&entry, param->name_off);
		btf_set_type(&entry, param->type);
		if (placed)
			btf_call_place(w, &call, param->type, &entry);
		btf_entry_add(w, &entry);
	}
}

static void btf_write_function(struct btf_writer *w, uint32_t id,
			       const struct btf_type *type)
{
	const struct btf_type *proto = btf__type_by_id(w->source->btf,
						       type->type);
	struct btf_entry entry = {
		.tag = DW_TAG_subprogram, .children = true,
	};

	btf_set_name(&entry, type->name_off);
	btf_set_type(&entry, proto->type);
	btf_set(&entry, HAS_LOW, w->addresses[id]);
	btf_set(&entry, HAS_HIGH, 1);
	btf_set(&entry, HAS_PROTOTYPE, 0);
	btf_set(&entry, HAS_EXTERNAL, 0);
	btf_entry_add(w, &entry);
	btf_write_parameters(w, proto, true);
	btf_entry_end(w);
}

/* Types that only wrap another one */
static const uint8_t btf_wrappers[NR_BTF_KINDS] = {
	[BTF_KIND_PTR] = DW_TAG_pointer_type,
	[BTF_KIND_TYPEDEF] = DW_TAG_typedef,
	[BTF_KIND_VOLATILE] = DW_TAG_volatile_type,
	[BTF_KIND_CONST] = DW_TAG_const_type,
	[BTF_KIND_RESTRICT] = DW_TAG_restrict_type,
	[BTF_KIND_TYPE_TAG] = DW_TAG_const_type,	/* __user, __rcu */
};

static void btf_write_type(struct btf_writer *w, uint32_t id,
			   const struct btf_type *type)
{
	struct btf_entry entry = { .tag = btf_wrappers[btf_kind(type)] };

	w->entries[id] = w->info.size;
	switch (btf_kind(type)) {
	case BTF_KIND_INT:
		btf_write_int(w, type);
		break;
	case BTF_KIND_FLOAT:
		entry.tag = DW_TAG_base_type;
		btf_set_name(&entry, type->name_off);
		btf_set(&entry, HAS_SIZE, type->size);
		btf_set(&entry, HAS_ENCODING, DW_ATE_float);
		btf_entry_add(w, &entry);
		break;
	case BTF_KIND_PTR:
		btf_set(&entry, HAS_SIZE, WORD);
		btf_set_type(&entry, type->type);
		btf_entry_add(w, &entry);
		break;
	case BTF_KIND_TYPEDEF:
		btf_set_name(&entry, type->name_off);
		btf_set_type(&entry, type->type);
		btf_entry_add(w, &entry);
		break;
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		btf_set_type(&entry, type->type);
		btf_entry_add(w, &entry);
		break;
	case BTF_KIND_ARRAY:
		btf_write_array(w, type);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		entry.tag = btf_is_struct(type) ? DW_TAG_structure_type :
						  DW_TAG_union_type;
		entry.children = true;
		btf_set_name(&entry, type->name_off);
		btf_set(&entry, HAS_SIZE, type->size);
		btf_entry_add(w, &entry);
		btf_write_members(w, type);
		btf_entry_end(w);
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		entry.tag = DW_TAG_enumeration_type;
		entry.children = true;
		btf_set_name(&entry, type->name_off);
		btf_set(&entry, HAS_SIZE, type->size);
		btf_entry_add(w, &entry);
		btf_write_enumerators(w, type);
		btf_entry_end(w);
		break;
	case BTF_KIND_FWD:
		entry.tag = btf_kflag(type) ? DW_TAG_union_type :
					      DW_TAG_structure_type;
		btf_set_name(&entry, type->name_off);
		btf_set(&entry, HAS_DECLARATION, 0);
		btf_entry_add(w, &entry);
		break;
	case BTF_KIND_FUNC_PROTO:
		entry.tag = DW_TAG_subroutine_type;
		entry.children = true;
		btf_set_type(&entry, type->type);
		btf_set(&entry, HAS_PROTOTYPE, 0);
		btf_entry_add(w, &entry);
		btf_write_parameters(w, type, false);
		btf_entry_end(w);
		break;
	case BTF_KIND_FUNC:
		if (w->addresses[id])
			btf_write_function(w, id, type);
		w->entries[id] = 0;
		break;
	case BTF_KIND_VAR:
		entry.tag = DW_TAG_variable;
		btf_set_name(&entry, type->name_off);
		btf_set_type(&entry, type->type);
		btf_place_op(&entry, DW_OP_addr);
		memcpy(entry.place + 1, &w->addresses[id], WORD);
		entry.place_size += WORD;
		btf_set(&entry, HAS_PLACE, 0);
		btf_set(&entry, HAS_EXTERNAL, 0);
		if (w->addresses[id])
			btf_entry_add(w, &entry);
		w->entries[id] = 0;
		break;
	default:		/* not in a kernel's BTF, or no type */
		w->entries[id] = 0;
	}
}

/*
 * Finds the functions' addresses. A name that several functions with different
 * parameters have gets none: which one is meant is not known.
 */
static int btf_address_functions(struct btf_writer *w)
{
	const struct btf_dwarf_source *s = w->source;
	struct key_map names = {0};
	int code = 0;

	w->low = UINT64_MAX;
	for (uint32_t id = 1; id < w->types && !code; id++) {
		const struct btf_type *type = btf__type_by_id(s->btf, id), *t;
		uint64_t address = BTF_DWARF_CODE +
				   (uint64_t)id * BTF_DWARF_STEP;
		uint64_t *same, hash;
		const char *name;
		size_t step = 0;

		w->enums_have_sign |= btf_is_any_enum(type) && btf_kflag(type);
		if (!btf_is_func(type) ||
		    btf_vlen(type) == BTF_FUNC_EXTERN)
			continue;
		name = btf__name_by_offset(s->btf, type->name_off);
		t = btf__type_by_id(s->btf, type->type);
		if (!name || !*name || !t || !btf_is_func_proto(t))
			continue;
		hash = hash_fnv(HASH_FNV_START, name, strlen(name));
		while ((same = key_map_each(&names, hash, &step))) {
			t = btf__type_by_id(s->btf, same - w->addresses);
			if (!strcmp(btf__name_by_offset(s->btf, t->name_off),
				    name))
				break;
		}
		if (same) {
			if (t->type != type->type)
				*same = 0;
			continue;
		}
		if (s->address)
			address = s->address(s->context, name);
		code = key_map_add(&names, hash, &w->addresses[id]);
		w->addresses[id] = address;
		if (address && address < w->low)
			w->low = address;
		if (address >= w->high)
			w->high = address + 1;
	}
	key_map_free(&names);
	return code;
}

/* Finds the addresses of variables: those of the section that has a copy on each
 * processor are the only ones that BTF has. */
static void btf_address_variables(struct btf_writer *w)
{
	const struct btf_dwarf_source *s = w->source;

	for (uint32_t id = 1; id < w->types; id++) {
		const struct btf_type *type = btf__type_by_id(s->btf, id), *t;
		const struct btf_var_secinfo *in = btf_var_secinfos(type);
		const char *name;

		if (!btf_is_datasec(type))
			continue;
		name = btf__name_by_offset(s->btf, type->name_off);
		if (!name || strcmp(name, ".data..percpu"))
			continue;
		for (uint32_t i = 0; i < btf_vlen(type); i++, in++) {
			t = btf__type_by_id(s->btf, in->type);
			if (!t || !btf_is_var(t) ||
			    in->offset >= BTF_DWARF_PERCPU_SIZE)
				continue;
			name = btf__name_by_offset(s->btf, t->name_off);
			if (!s->address)
				w->addresses[in->type] = BTF_DWARF_PERCPU +
							 in->offset;
			else if (name && *name)
				w->addresses[in->type] =
					s->address(s->context, name);
		}
	}
}

static void btf_write_info(struct btf_writer *w)
{
	struct btf_entry entry = {
		.tag = DW_TAG_compile_unit, .children = true,
	};
	const struct {
		uint32_t length;
		uint16_t version;
		uint32_t abbreviations;
		uint8_t word;
	} __attribute__((packed)) header = { 0, 4, 0, WORD };
	uint32_t length;

	bytes_add(&w->info, &header, sizeof(header));
	if (w->high) {
		btf_set(&entry, HAS_LOW, w->low);
		btf_set(&entry, HAS_HIGH, w->high - w->low);
	}
	btf_set(&entry, HAS_LANGUAGE, DW_LANG_C11);
	btf_entry_add(w, &entry);
	for (uint32_t id = 1; id < w->types; id++)
		btf_write_type(w, id, btf__type_by_id(w->source->btf, id));
	btf_entry_end(w);
	length = w->info.size - sizeof(length);
	if (!w->info.failed)
		memcpy(w->info.data, &length, sizeof(length));
}

/* Replaces the ids of types by offsets of entries. */
static int btf_settle_references(struct btf_writer *w, struct error *err)
{
	for (size_t i = 0; i < w->reference_count; i++) {
		const struct btf_reference *ref = &w->references[i];

		if (ref->type >= w->types || !w->entries[ref->type])
			return error_set(err, -EBADMSG, "the BTF is damaged: "
					 "%u is not the id of a type",
					 ref->type);
		memcpy(w->info.data + ref->at, &w->entries[ref->type], 4);
	}
	return 0;
}

static void btf_write_abbreviations(struct btf_writer *w)
{
	for (size_t i = 0; i < w->abbreviation_count; i++) {
		const struct btf_abbreviation *a = &w->abbreviations[i];

		rpn_emit_uleb(&w->abbrev, i + 1);
		rpn_emit_uleb(&w->abbrev, a->tag);
		bytes_add(&w->abbrev, &(uint8_t) { a->children }, 1);
		for (unsigned int n = 0; n < ATTRIBUTES; n++) {
			if (!(a->has & BIT(n)))
				continue;
			rpn_emit_uleb(&w->abbrev, attributes[n].name);
			rpn_emit_uleb(&w->abbrev, attributes[n].form);
		}
		bytes_add(&w->abbrev, "\0", 2);
	}
	bytes_add(&w->abbrev, "", 1);
}

/* The strings of the BTF and of the one that it continues: offsets count
 * through both. */
static bool btf_strings_add(const struct btf *btf, struct bytes *strings)
{
	const struct btf *base = btf__base_btf(btf);
	const struct btf_header *header;
	uint32_t size;

	if (base && !btf_strings_add(base, strings))
		return false;
	header = btf__raw_data(btf, &size);
	if (!header)
		return false;
	bytes_add(strings, (const uint8_t *)header + header->hdr_len +
			   header->str_off, header->str_len);
	return true;
}

/* A symbol for each function. Names are in .debug_str. */
static void btf_write_symbols(const struct btf_writer *w,
			      struct bytes *symbols)
{
	Elf64_Sym symbol = {0};

	bytes_add(symbols, &symbol, sizeof(symbol));
	for (uint32_t id = 1; id < w->types; id++) {
		const struct btf_type *type =
			btf__type_by_id(w->source->btf, id);

		if (!btf_is_func(type) || !w->addresses[id])
			continue;
		symbol = (Elf64_Sym) {
			.st_name = type->name_off,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = w->addresses[id],
			.st_size = 1,
		};
		bytes_add(symbols, &symbol, sizeof(symbol));
	}
}

/* An ELF file with these sections and no segment */
static void btf_write_elf(const struct btf_writer *w,
			  const struct bytes *strings,
			  const struct bytes *symbols, struct bytes *image)
{
	enum { NONE, INFO, ABBREV, STRINGS, SYMBOLS, NAMES, COUNT };
	static const char names[] = "\0.debug_info\0.debug_abbrev\0"
				    ".debug_str\0.symtab\0.shstrtab";
	const struct bytes section_names = {
		.data = (uint8_t *)names, .size = sizeof(names),
	};
	const struct bytes *contents[COUNT] = {
		[INFO] = &w->info, [ABBREV] = &w->abbrev, [STRINGS] = strings,
		[SYMBOLS] = symbols, [NAMES] = &section_names,
	};
	Elf64_Shdr sections[COUNT] = {0};
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = w->source->machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shoff = sizeof(header),
		.e_shentsize = sizeof(*sections),
		.e_shnum = COUNT,
		.e_shstrndx = NAMES,
	};
	uint64_t at = sizeof(header) + sizeof(sections);
	uint32_t name = 1;

	for (unsigned int i = INFO; i < COUNT; i++) {
		sections[i] = (Elf64_Shdr) {
			.sh_name = name,
			.sh_type = SHT_PROGBITS,
			.sh_offset = at,
			.sh_size = contents[i]->size,
			.sh_addralign = 1,
		};
		name += strlen(names + name) + 1;
		at += contents[i]->size;
	}
	sections[STRINGS].sh_type = sections[NAMES].sh_type = SHT_STRTAB;
	sections[SYMBOLS].sh_type = SHT_SYMTAB;
	sections[SYMBOLS].sh_link = STRINGS;
	sections[SYMBOLS].sh_info = 1;		/* no local ones */
	sections[SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
	bytes_add(image, &header, sizeof(header));
	bytes_add(image, sections, sizeof(sections));
	for (unsigned int i = INFO; i < COUNT; i++)
		bytes_join(image, contents[i]);
}

int btf_dwarf(const struct btf_dwarf_source *source, struct bytes *image,
	      struct error *err)
{
	struct btf_writer w = {
		.source = source, .types = btf__type_cnt(source->btf),
	};
	struct bytes strings = {0}, symbols = {0};
	int code = -ENOMEM;

	/* libbpf swaps the types, not the header and the strings */
	if (btf__endianness(source->btf) != BTF_LITTLE_ENDIAN)
		return error_set(err, -EBADMSG, "its BTF is big-endian");

	w.entries = calloc(w.types, sizeof(*w.entries));
	w.addresses = calloc(w.types, sizeof(*w.addresses));
	if (w.entries && w.addresses)
		code = btf_address_functions(&w);
	if (!code) {
		btf_address_variables(&w);
		btf_write_info(&w);
		btf_write_abbreviations(&w);
		if (w.failed || w.info.failed ||
		    !btf_strings_add(source->btf, &strings))
			code = -ENOMEM;
	}
	if (!code)
		code = btf_settle_references(&w, err);
	if (!code) {
		btf_write_symbols(&w, &symbols);
		btf_write_elf(&w, &strings, &symbols, image);
		code = image->failed ? -ENOMEM : 0;
	}
	if (code == -ENOMEM)
		error_no_memory(err);
	bytes_free(&strings);
	bytes_free(&symbols);
	bytes_free(&w.info);
	bytes_free(&w.abbrev);
	free(w.abbreviations);
	free(w.references);
	free(w.entries);
	free(w.addresses);
	return code;
}
