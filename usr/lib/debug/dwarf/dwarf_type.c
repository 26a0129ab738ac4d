// SPDX-License-Identifier: GPL-2.0
#include "dwarf_type.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX	64	/* typedefs, qualifiers, arrays of arrays */
#define DEPTH_MAX	64	/* of scopes; of types of types */
#define AROUND_MAX	16	/* classes that are defined elsewhere */
#define MEMBERS_MAX	65536	/* of one type; bounds damaged ones */
#define DECLARATOR_MAX	256

bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr),
				 type);
}

Dwarf_Die dwarf_type_declared(Dwarf_Die *die)
{
	Dwarf_Die type;

	return dwarf_type_of(die, &type) ? type : (Dwarf_Die){ 0 };
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
	case DW_TAG_typedef: case DW_TAG_const_type: case DW_TAG_volatile_type:
	case DW_TAG_restrict_type: case DW_TAG_atomic_type:
	case DW_TAG_packed_type: case DW_TAG_shared_type:
	case DW_TAG_immutable_type: case DW_TAG_template_alias:
		return true;
	default:
		return false;
	}
}

void dwarf_type_peel(const Dwarf_Die *type, Dwarf_Die *bare, const char **alias)
{
	const char *first = NULL;
	Dwarf_Die next;

	*bare = *type;
	for (int steps = 0; bare->addr && passed_over(bare); steps++) {
		if (!first && dwarf_tag(bare) == DW_TAG_typedef)
			first = dwarf_diename(bare);
		*bare = steps == STEPS_MAX ? (Dwarf_Die){ 0 } :
					     dwarf_type_declared(bare);
	}
	/* the type may be in a unit of its own (DWARF 5 section 3.1.4) */
	if (bare->addr && dwarf_die_refer(bare, DW_AT_signature, &next))
		*bare = next;
	if (alias && first)
		*alias = first;
}

Dwarf_Die dwarf_type_bare(Dwarf_Die *die)
{
	Dwarf_Die type = dwarf_type_declared(die);

	dwarf_type_peel(&type, &type, NULL);
	return type;
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
static const uint8_t kind_of_encoding[] = {
	[DW_ATE_address] = DWARF_TYPE_INT, [DW_ATE_boolean] = DWARF_TYPE_BOOL,
	[DW_ATE_float] = DWARF_TYPE_FLOAT, [DW_ATE_signed] = DWARF_TYPE_INT,
	[DW_ATE_signed_char] = DWARF_TYPE_CHAR,
	[DW_ATE_unsigned] = DWARF_TYPE_INT,
	[DW_ATE_unsigned_char] = DWARF_TYPE_CHAR,
	[DW_ATE_UTF] = DWARF_TYPE_INT,
};

static const struct {
	int tag;
	enum dwarf_type_kind kind;
	const char *keyword;	/* of C; NULL: none */
} tags[] = {
	{ DW_TAG_enumeration_type, DWARF_TYPE_ENUM, "enum" },
	{ DW_TAG_pointer_type, DWARF_TYPE_POINTER, NULL },
	{ DW_TAG_reference_type, DWARF_TYPE_REFERENCE, NULL },
	{ DW_TAG_rvalue_reference_type, DWARF_TYPE_REFERENCE, NULL },
	{ DW_TAG_structure_type, DWARF_TYPE_STRUCT, "struct" },
	{ DW_TAG_class_type, DWARF_TYPE_STRUCT, "struct" },
	{ DW_TAG_interface_type, DWARF_TYPE_STRUCT, "struct" },
	{ DW_TAG_union_type, DWARF_TYPE_UNION, "union" },
	{ DW_TAG_array_type, DWARF_TYPE_ARRAY, NULL },
	{ DW_TAG_subroutine_type, DWARF_TYPE_FUNCTION, NULL },
};

enum dwarf_type_kind dwarf_type_value_kind(Dwarf_Die *bare)
{
	int tag = bare->addr ? dwarf_tag(bare) : DW_TAG_invalid;
	uint64_t encoding = 0;

	if (!bare->addr)
		return DWARF_TYPE_VOID;
	if (tag == DW_TAG_base_type && dwarf_type_bits(bare) <= 64) {
		dwarf_die_any_number(bare, DW_AT_encoding, &encoding);
		if (encoding < sizeof(kind_of_encoding) &&
		    kind_of_encoding[encoding])
			return kind_of_encoding[encoding];
	}
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
		if (tags[i].tag == tag)
			return tags[i].kind;
	return DWARF_TYPE_OTHER;
}

const char *dwarf_type_keyword(Dwarf_Die *bare)
{
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
		if (tags[i].tag == dwarf_tag(bare))
			return tags[i].keyword;
	return NULL;
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
		if (dwarf_hasattr_integrate(bare, DW_AT_type)) {
			type = dwarf_type_bare(bare);
		} else {
			dwarf_die_each(bare, &child)
				if (!dwarf_formsdata(dwarf_attr(&child,
						DW_AT_const_value, &attr),
						     &value) && value < 0)
					return true;
		}
		if (!type.addr || dwarf_tag(&type) != DW_TAG_base_type)
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
	int language;

	if (dwarf_die_any_number(array, DW_AT_ordering, &ordering))
		return ordering == DW_ORD_col_major;
	if (!dwarf_diecu(array, &unit, NULL, NULL))
		return false;
	language = dwarf_srclang(&unit);
	return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 ||
	       language == DW_LANG_Fortran95 || language == DW_LANG_Fortran03 ||
	       language == DW_LANG_Fortran08;
}

/* Number `index` as written; how many there are */
static unsigned int range_find(Dwarf_Die *array, unsigned int index,
			       Dwarf_Die *range)
{
	unsigned int count = 0;
	Dwarf_Die child;

	dwarf_die_each(array, &child)
		if ((dwarf_tag(&child) == DW_TAG_subrange_type ||
		     dwarf_tag(&child) == DW_TAG_enumeration_type) &&
		    count++ == index)
			*range = child;
	return count;
}

bool dwarf_type_dimension(Dwarf_Die *array, unsigned int index, uint64_t *count)
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
		element = dwarf_type_bare(&element);
		if (steps == STEPS_MAX || !element.addr)
			return false;
	}
	return dwarf_type_bytes(&element, &one) &&
	       !__builtin_mul_overflow(count, one, bytes);
}

bool dwarf_type_is_member_pointer(Dwarf_Die *bare, bool *function)
{
	Dwarf_Die target;

	if (dwarf_tag(bare) != DW_TAG_ptr_to_member_type ||
	    !dwarf_type_of(bare, &target))
		return false;
	dwarf_type_peel(&target, &target, NULL);
	*function = dwarf_type_kind(&target) == DWARF_TYPE_FUNCTION;
	return true;
}

bool dwarf_type_bytes(Dwarf_Die *bare, uint64_t *bytes)
{
	enum dwarf_type_kind kind = dwarf_type_kind(bare);
	bool function = false;
	Dwarf_Die type;
	uint8_t address;

	if (!bare->addr || dwarf_type_is_declared_only(bare))
		return false;
	if (dwarf_die_any_number(bare, DW_AT_byte_size, bytes))
		return true;
	if (kind == DWARF_TYPE_ARRAY)
		return dwarf_array_bytes(bare, bytes);
	if (kind == DWARF_TYPE_ENUM) {
		type = dwarf_type_bare(bare);
		return type.addr && dwarf_tag(&type) == DW_TAG_base_type &&
		       dwarf_type_bytes(&type, bytes);
	}
	/* Itanium ABI section 2.3 */
	if ((kind != DWARF_TYPE_POINTER && kind != DWARF_TYPE_REFERENCE &&
	     !dwarf_type_is_member_pointer(bare, &function)) ||
	    dwarf_cu_info(bare->cu, NULL, NULL, NULL, NULL, NULL, &address,
			  NULL))
		return false;
	*bytes = function ? 2 * address : address;
	return true;
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
		Dwarf_Die bare = dwarf_type_bare(&member->die);

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

	dwarf_die_each(bare, &child) {
		type = dwarf_type_bare(&child);
		if (dwarf_tag(&child) == DW_TAG_member &&
		    dwarf_type_is_reversed(&type))
			return true;
		if (++count == MEMBERS_MAX)
			break;
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
	type = dwarf_type_bare(die);
	for (int i = 0; type.addr && i < STEPS_MAX &&
	     dwarf_tag(&type) == DW_TAG_array_type; i++)
		type = dwarf_type_bare(&type);
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

	dwarf_die_each(bare, &child) {
		if (code || count++ == MEMBERS_MAX)
			break;
		if (dwarf_type_member(bare, &child, &member))
			code = take(context, &member);
	}
	return code;
}

/* ---- names ---- */

bool dwarf_type_is_tagless(Dwarf_Die *type)
{
	Dwarf_Die unit;
	int language;

	if (!dwarf_diecu(type, &unit, NULL, NULL))
		return false;
	language = dwarf_srclang(&unit);
	return !dwarf_die_is_c(&unit) && language != DW_LANG_ObjC &&
	       language != -1;
}

const char *dwarf_type_own_name(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	Dwarf_Die type;

	return !name && dwarf_die_refer(die, DW_AT_signature, &type) ?
	       dwarf_diename(&type) : name;
}

bool dwarf_type_is_scope(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace: case DW_TAG_module: case DW_TAG_structure_type:
	case DW_TAG_class_type: case DW_TAG_union_type:
		return dwarf_type_own_name(die);
	default:
		return false;
	}
}

/* `own` is the entry's name, without scopes. */
static void path_print(FILE *out, const Dwarf_Die *die, const char *own,
		       bool anonymous, int left)
{
	Dwarf_Die scopes[DEPTH_MAX], at, root = *die;
	int depth = 0, first;

	/* the declaration that the entry defines, or the entry */
	for (int steps = 0; steps < DEPTH_MAX && dwarf_die_refer(&root,
			DW_AT_specification, &at); steps++)
		root = at;
	if (!dwarf_diecu(&root, &at, NULL, NULL))
		at = root;
	while (depth < DEPTH_MAX && dwarf_die_enter(&at, root.addr) &&
	       at.addr != root.addr)
		scopes[depth++] = at;
	/* a class around it may be defined elsewhere than it is declared */
	first = depth;
	while (first > 0 && !dwarf_hasattr(&scopes[first - 1],
					   DW_AT_specification))
		first--;
	if (first && left && dwarf_diename(&scopes[first - 1])) {
		path_print(out, &scopes[first - 1],
			   dwarf_diename(&scopes[first - 1]), anonymous,
			   left - 1);
		fputs("::", out);
	}
	for (int i = first; i < depth; i++)
		if (dwarf_type_is_scope(&scopes[i]))
			fprintf(out, "%s::", dwarf_type_own_name(&scopes[i]));
		else if (anonymous && dwarf_tag(&scopes[i]) == DW_TAG_namespace)
			fputs("(anonymous namespace)::", out);
	fputs(own, out);
}

char *dwarf_die_path(const Dwarf_Die *die, bool anonymous)
{
	Dwarf_Die entry = *die;
	const char *own = dwarf_diename(&entry);
	char *path = NULL;
	size_t size;
	FILE *out = own ? open_memstream(&path, &size) : NULL;

	if (!out)
		return NULL;
	path_print(out, die, own, anonymous, AROUND_MAX);
	return fclose(out) ? NULL : path;
}

char *dwarf_type_name(Dwarf_Die *type)
{
	const char *own = dwarf_diename(type);

	return !own ? NULL : dwarf_type_is_tagless(type) ?
			     dwarf_die_path(type, false) : strdup(own);
}

/* A declarator as C writes it: "*", "(*)[3]", "[2][3]", cut at its size. */
struct declarator {
	char text[DECLARATOR_MAX];
};

static void declarator_point(struct declarator *d, bool wrapped)
{
	struct declarator inner = *d;

	snprintf(d->text, sizeof(d->text), wrapped ? "(*%.*s)" : "*%.*s",
		 DECLARATOR_MAX - 4, inner.text);
}

static void declarator_add(struct declarator *d, const char *text)
{
	size_t used = strlen(d->text);

	snprintf(d->text + used, sizeof(d->text) - used, "%s", text);
}

static bool is_wrapped(enum dwarf_type_kind kind)
{
	return kind == DWARF_TYPE_ARRAY || kind == DWARF_TYPE_FUNCTION;
}

char *dwarf_type_spell(const Dwarf_Die *type, unsigned int dimension,
		       unsigned int pointers)
{
	struct declarator d = { "" };
	const char *alias = NULL, *tag;
	Dwarf_Die bare;
	char *own, *name;
	bool number;

	dwarf_type_peel(type, &bare, &alias);
	while (pointers--)
		declarator_point(&d, !pointers &&
				     is_wrapped(dwarf_type_kind(&bare)));
	/* Move what is around a name from the type into the declarator. */
	for (int steps = 0; steps < DEPTH_MAX; steps++) {
		enum dwarf_type_kind kind = dwarf_type_kind(&bare);
		Dwarf_Die next = { 0 };
		char text[32] = "()";
		uint64_t count;

		if (!is_wrapped(kind) && kind != DWARF_TYPE_POINTER &&
		    kind != DWARF_TYPE_REFERENCE)
			break;
		alias = NULL;
		if (dwarf_type_of(&bare, &next))
			dwarf_type_peel(&next, &next, &alias);
		if (kind == DWARF_TYPE_FUNCTION)
			declarator_add(&d, text);
		else if (kind != DWARF_TYPE_ARRAY)
			declarator_point(&d,
					 is_wrapped(dwarf_type_kind(&next)));
		if (kind == DWARF_TYPE_REFERENCE)
			*strchr(d.text, '*') = '&';
		for (; kind == DWARF_TYPE_ARRAY && dimension < DEPTH_MAX &&
		       dwarf_type_dimension(&bare, dimension, &count);
		     dimension++) {
			snprintf(text, sizeof(text), "[%" PRIu64 "]", count);
			declarator_add(&d, count ? text : "[]");
		}
		dimension = 0;
		bare = next;
	}
	own = bare.addr ? dwarf_type_name(&bare) : strdup("void");
	if (!own && (!bare.addr || dwarf_diename(&bare)))
		return NULL;
	number = dwarf_type_alias_is_number(alias);
	tag = NULL;
	if (bare.addr && !dwarf_type_is_tagless(&bare) &&
	    (!alias || (own && !number)))
		tag = dwarf_type_keyword(&bare);
	if (asprintf(&name, "%s%s%s%s%s", tag ? tag : "", tag ? " " : "",
		     own && !number ? own : alias ? alias : "(unnamed)",
		     *d.text && *d.text != '[' ? " " : "", d.text) < 0)
		name = NULL;
	free(own);
	return name;
}
