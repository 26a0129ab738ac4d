// SPDX-License-Identifier: GPL-2.0
/*
 * The System V convention of x86-64 (psABI 3.2.3) gives each 8 bytes of a value
 * a class by the members in them. Other sources: the i386 psABI (structures are
 * in memory on Linux), AAPCS64 section 6.9, the C++ ABI (3.1.4: what has a copy
 * constructor or destructor of its own is in memory), and rustc's layout of
 * types: one or two scalars have a register each, what else has up to a
 * word is an integer. On AArch64 nothing has the address of a value in memory
 * after the call.
 */
#include "dwarf_result.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf_type.h"
#include "lib/debug/arch/arch.h"

#define WORD		8	/* of the processors that have classes */
#define MOST		16	/* bytes in registers */
#define DEPTH_MAX	16	/* of types in each other */
#define STEPS_MAX	512	/* members of a damaged type */
#define COPY_STEPS_MAX	65536	/* with their functions */

#define WHY_UNKNOWN	"where a value of this type is returned is not known"
#define WHY_X87		"it is returned in a register of the x87"
#define WHY_VECTOR	"it is returned in a vector register that cannot be read"
#define WHY_ADDRESS	"it is returned in memory, whose address no register has"
#define WHY_EITHER	"whether it is returned in memory is not known"

#define RUSTC_OF_LLVM_18	78	/* 1.78 */

enum result_class {
	CLASS_NONE, CLASS_INTEGER, CLASS_SSE, CLASS_SSEUP, CLASS_MEMORY,
};

struct classing {
	const struct arch *arch;
	enum result_class classes[MOST / WORD];
	bool memory;
	const char *why;	/* refused */
	unsigned int depth, steps;
	/* all scalars are floating point of these bytes; 0: none yet */
	uint64_t same;
	bool mixed;
};

static void refuse(struct classing *g, const char *why)
{
	if (!g->why)
		g->why = why;
}

static uint64_t encoding_of(Dwarf_Die *bare)
{
	uint64_t encoding = 0;

	if (dwarf_tag(bare) == DW_TAG_base_type)
		dwarf_die_any_number(bare, DW_AT_encoding, &encoding);
	return encoding;
}

static void class_add(struct classing *g, uint64_t offset, uint64_t bytes,
		      enum result_class class)
{
	for (uint64_t at = offset / WORD;
	     at < MOST / WORD && at * WORD < offset + bytes; at++)
		if (g->classes[at] != CLASS_INTEGER)
			g->classes[at] = class;
}

static void scalar_add(struct classing *g, uint64_t offset, uint64_t bytes,
		       enum result_class class)
{
	if (class == CLASS_INTEGER)
		g->mixed = true;
	else if (g->same && g->same != bytes)
		g->mixed = true;
	else
		g->same = bytes;
	/* psABI 3.2.3: "or it contains unaligned fields" */
	g->memory |= bytes && offset % (bytes > WORD ? WORD : bytes) &&
		     !(bytes & (bytes - 1));
	class_add(g, offset, bytes, class);
}

static void class_type(struct classing *g, const Dwarf_Die *type,
		       uint64_t offset);

struct class_walk {
	struct classing *g;
	uint64_t offset;
};

static int member_class(void *context, const struct dwarf_member *member)
{
	struct class_walk *walk = context;
	uint64_t bits = 8 * walk->offset + member->bit_offset;

	if (++walk->g->steps > STEPS_MAX)
		refuse(walk->g, WHY_UNKNOWN);
	else if (member->bits) {
		class_add(walk->g, bits / 8, (bits % 8 + member->bits + 7) / 8,
			  CLASS_INTEGER);
		walk->g->mixed = true;
	} else {
		class_type(walk->g, &member->type, bits / 8);
	}
	return walk->g->why != NULL;
}

static void class_array(struct classing *g, Dwarf_Die *bare, uint64_t offset,
			uint64_t bytes)
{
	Dwarf_Die element = dwarf_type_bare(bare);
	bool vector = dwarf_die_flag(bare, DW_AT_GNU_vector);
	uint64_t one;

	if (vector && (bytes != MOST || !g->arch->vector_count)) {
		refuse(g, WHY_VECTOR);
	} else if (vector) {
		g->mixed = true;
		g->memory |= offset % MOST;
		class_add(g, offset, WORD, CLASS_SSE);
		class_add(g, offset + WORD, WORD, CLASS_SSEUP);
	} else if (!dwarf_type_bytes(&element, &one)) {
		refuse(g, WHY_UNKNOWN);
	} else {
		for (uint64_t at = 0; one && at < bytes && !g->why; at += one)
			class_type(g, &element, offset + at);
	}
}

static void class_float(struct classing *g, Dwarf_Die *bare, uint64_t offset,
			uint64_t bytes)
{
	switch (encoding_of(bare)) {
	case DW_ATE_float:
		if (bytes > WORD)
			refuse(g, dwarf_die_is_named(bare, "long double") &&
				  g->arch != &arch_aarch64 ? WHY_X87 :
							     WHY_UNKNOWN);
		scalar_add(g, offset, bytes, CLASS_SSE);
		break;
	case DW_ATE_complex_float:
		if (bytes > MOST)
			refuse(g, WHY_X87);
		scalar_add(g, offset, bytes / 2, CLASS_SSE);
		scalar_add(g, offset + bytes / 2, bytes / 2, CLASS_SSE);
		break;
	default:
		refuse(g, WHY_UNKNOWN);
	}
}

/* What the bytes from `offset` on are, of a type that has MOST at most. */
static void class_type(struct classing *g, const Dwarf_Die *type,
		       uint64_t offset)
{
	struct class_walk walk = { g, offset };
	bool function = false;
	Dwarf_Die bare;
	uint64_t bytes;

	dwarf_type_peel(type, &bare, NULL);
	if (g->depth == DEPTH_MAX || !bare.addr ||
	    !dwarf_type_bytes(&bare, &bytes)) {
		refuse(g, WHY_UNKNOWN);
		return;
	}
	/* the last member of a structure, without elements */
	if (!bytes || g->why)
		return;
	if (offset + bytes > MOST) {
		refuse(g, WHY_UNKNOWN);
		return;
	}
	g->depth++;
	switch (dwarf_type_value_kind(&bare)) {
	case DWARF_TYPE_BOOL: case DWARF_TYPE_CHAR: case DWARF_TYPE_INT:
	case DWARF_TYPE_ENUM: case DWARF_TYPE_POINTER:
	case DWARF_TYPE_REFERENCE:
		if (dwarf_type_bits(&bare))
			refuse(g, WHY_UNKNOWN);
		scalar_add(g, offset, bytes, CLASS_INTEGER);
		break;
	case DWARF_TYPE_STRUCT: case DWARF_TYPE_UNION:
		dwarf_type_members(&bare, member_class, &walk);
		break;
	case DWARF_TYPE_ARRAY:
		class_array(g, &bare, offset, bytes);
		break;
	default:
		if (dwarf_type_is_member_pointer(&bare, &function))
			scalar_add(g, offset, bytes, CLASS_INTEGER);
		else
			class_float(g, &bare, offset, bytes);
	}
	g->depth--;
}

static int refuse_result(struct error *err, const char *why)
{
	error_set(err, -ENODATA, "%s", why);
	if (!strcmp(why, WHY_ADDRESS))
		error_hint(err, "a caller keeps it: log the variable there");
	return -ENODATA;
}

static void result_part_add(struct dwarf_result *result, uint64_t offset,
			    uint64_t bytes, unsigned int reg,
			    unsigned int skip)
{
	result->parts[result->count++] = (struct dwarf_result_part){
		.offset = offset, .bytes = bytes, .reg = reg, .skip = skip,
	};
}

/* The bytes are in the general registers, as if these were memory. */
static int result_words(const struct arch *arch, uint64_t bytes,
			struct dwarf_result *result)
{
	unsigned int width = arch->elf_class == ELFCLASS64 ? 8 : 4;

	for (uint64_t at = 0; at < bytes; at += width)
		result_part_add(result, at,
				bytes - at < width ? bytes - at : width,
				arch->results[at / width], 0);
	return 0;
}

static int result_memory(const struct arch *arch, struct dwarf_result *result,
			 struct error *err)
{
	result->in_memory = true;
	return arch == &arch_aarch64 ? refuse_result(err, WHY_ADDRESS) : 0;
}

/* The classes as registers (psABI 3.2.3, "Returning of Values"). */
static int result_classes(const struct classing *g, uint64_t bytes,
			  struct dwarf_result *result, struct error *err)
{
	unsigned int general = 0, vector = 0;

	for (uint64_t at = 0; at < bytes; at += WORD) {
		uint64_t left = bytes - at < WORD ? bytes - at : WORD;

		switch (g->classes[at / WORD]) {
		case CLASS_INTEGER:
			result_part_add(result, at, left,
					g->arch->results[general++], 0);
			break;
		case CLASS_SSE:
			result_part_add(result, at, left,
					g->arch->vector_first + vector++, 0);
			break;
		case CLASS_SSEUP:
			if (!vector)
				return refuse_result(err, WHY_UNKNOWN);
			result_part_add(result, at, left,
					g->arch->vector_first + vector - 1,
					WORD);
			break;
		default:
			break;
		}
	}
	return 0;
}

/* ---- C and C++ ---- */

/* Types in each other, and members in all that were looked at */
struct result_walk {
	unsigned int depth, steps;
};

static enum dwarf_copy type_copy(Dwarf_Die *bare, struct result_walk *walk);

/* A constructor whose parameter is a reference to the class. */
static bool is_copying(Dwarf_Die *bare, Dwarf_Die *function)
{
	const char *own = dwarf_diename(function);
	const char *class = dwarf_type_own_name(bare);
	Dwarf_Die child, type = { 0 };

	if (!own || !class || strncmp(own, class, strcspn(class, "<")) ||
	    own[strcspn(class, "<")])
		return false;
	dwarf_die_each(function, &child) {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    dwarf_die_flag(&child, DW_AT_artificial))
			continue;
		type = dwarf_type_bare(&child);
		break;
	}
	if (!type.addr || dwarf_type_kind(&type) != DWARF_TYPE_REFERENCE)
		return false;
	type = dwarf_type_bare(&type);
	return type.addr == bare->addr;
}

static enum dwarf_copy function_copy(Dwarf_Die *bare, Dwarf_Die *function)
{
	const char *name = dwarf_diename(function);
	uint64_t defaulted = 0;

	if (dwarf_hasattr(function, DW_AT_virtuality))
		return DWARF_COPY_CALLS;
	if (!name || (name[0] != '~' && !is_copying(bare, function)) ||
	    dwarf_die_flag(function, DW_AT_artificial))
		return DWARF_COPY_BYTES;
	if (dwarf_die_flag(function, DW_AT_deleted))
		return DWARF_COPY_UNKNOWN;
	dwarf_die_any_number(function, DW_AT_defaulted, &defaulted);
	return defaulted == DW_DEFAULTED_in_class ? DWARF_COPY_BYTES :
						    DWARF_COPY_CALLS;
}

/* What one part of a class has to do with how it is copied. */
static enum dwarf_copy child_copy(Dwarf_Die *bare, Dwarf_Die *child,
				  struct result_walk *walk)
{
	enum dwarf_copy copy;
	Dwarf_Die type;

	switch (dwarf_tag(child)) {
	case DW_TAG_subprogram:
		return function_copy(bare, child);
	case DW_TAG_inheritance:
		if (dwarf_hasattr(child, DW_AT_virtuality))
			return DWARF_COPY_CALLS;
		break;
	case DW_TAG_member:
		if (dwarf_hasattr(child, DW_AT_external) ||
		    dwarf_type_is_declared_only(child))
			return DWARF_COPY_BYTES;
		break;
	default:
		return DWARF_COPY_BYTES;
	}
	type = dwarf_type_bare(child);
	for (int i = 0; type.addr && i < DEPTH_MAX &&
	     dwarf_type_kind(&type) == DWARF_TYPE_ARRAY; i++)
		type = dwarf_type_bare(&type);
	if (!type.addr)
		return DWARF_COPY_UNKNOWN;
	walk->depth++;
	copy = type_copy(&type, walk);
	walk->depth--;
	return copy;
}

/* clang has it in the type. gcc lists the functions that are declared. */
static enum dwarf_copy type_copy(Dwarf_Die *bare, struct result_walk *walk)
{
	enum dwarf_copy copy = DWARF_COPY_BYTES, part;
	enum dwarf_type_kind kind = dwarf_type_value_kind(bare);
	uint64_t convention;
	Dwarf_Die child;

	if (kind != DWARF_TYPE_STRUCT && kind != DWARF_TYPE_UNION)
		return DWARF_COPY_BYTES;
	if (dwarf_die_any_number(bare, DW_AT_calling_convention, &convention))
		return convention == DW_CC_pass_by_reference ?
			       DWARF_COPY_CALLS : DWARF_COPY_BYTES;
	if (walk->depth == DEPTH_MAX || dwarf_type_is_declared_only(bare))
		return DWARF_COPY_UNKNOWN;
	dwarf_die_each(bare, &child) {
		part = ++walk->steps > COPY_STEPS_MAX ?
			       DWARF_COPY_UNKNOWN :
			       child_copy(bare, &child, walk);
		if (part > copy)
			copy = part;
		if (copy == DWARF_COPY_CALLS ||
		    walk->steps > COPY_STEPS_MAX)
			break;
	}
	return copy;
}

enum dwarf_copy dwarf_result_copy(const Dwarf_Die *type)
{
	struct result_walk walk = { 0 };
	Dwarf_Die bare, unit;

	dwarf_type_peel(type, &bare, NULL);
	if (!bare.addr || !dwarf_diecu(&bare, &unit, NULL, NULL) ||
	    !dwarf_die_is_cc(&unit))
		return DWARF_COPY_BYTES;
	return type_copy(&bare, &walk);
}

static int member_vector(void *walk, const struct dwarf_member *member);

/* A vector begins the structure, or is too deep in it to be found. */
static bool has_vector(const Dwarf_Die *type, struct result_walk *walk)
{
	Dwarf_Die bare;

	dwarf_type_peel(type, &bare, NULL);
	if (!bare.addr || ++walk->steps > STEPS_MAX)
		return bare.addr;
	switch (dwarf_type_value_kind(&bare)) {
	case DWARF_TYPE_ARRAY:
		if (dwarf_die_flag(&bare, DW_AT_GNU_vector))
			return true;
		bare = dwarf_type_bare(&bare);
		return has_vector(&bare, walk);
	case DWARF_TYPE_STRUCT: case DWARF_TYPE_UNION:
		return dwarf_type_members(&bare, member_vector, walk);
	default:
		return false;
	}
}

/* Only the first member, or each of a union */
static int member_vector(void *walk, const struct dwarf_member *member)
{
	return !member->bit_offset && has_vector(&member->type, walk);
}

static int composed_cc(const struct arch *arch, Dwarf_Die *bare, uint64_t bytes,
		       struct dwarf_result *result, struct error *err)
{
	struct classing g = { .arch = arch };
	struct result_walk walk = { 0 };
	enum dwarf_copy copy;

	/* psABI 3.2.3: what is all of a vector register is in it */
	if (arch->vector_count && bytes > MOST && has_vector(bare, &walk))
		return refuse_result(err, WHY_VECTOR);
	if (arch->elf_class != ELFCLASS64 || bytes > MOST)
		return result_memory(arch, result, err);
	copy = dwarf_result_copy(bare);
	if (copy == DWARF_COPY_CALLS)
		return result_memory(arch, result, err);
	if (copy == DWARF_COPY_UNKNOWN)
		return refuse_result(err, WHY_EITHER);
	class_type(&g, bare, 0);
	if (g.why)
		return refuse_result(err, g.why);
	if (arch != &arch_aarch64)
		return g.memory ? result_memory(arch, result, err) :
				  result_classes(&g, bytes, result, err);
	/* AAPCS64 section 5.9.5: homogeneous aggregates */
	if (!g.mixed && g.same && bytes / g.same <= 4)
		return refuse_result(err, WHY_VECTOR);
	return result_words(arch, bytes, result);
}

static int scalar_cc(const struct arch *arch, Dwarf_Die *bare, uint64_t bytes,
		     struct dwarf_result *result, struct error *err)
{
	bool wide = arch->elf_class == ELFCLASS64;
	struct classing g = { .arch = arch };
	struct result_walk walk = { 0 };

	if (bytes <= MOST)
		class_type(&g, bare, 0);
	else
		refuse(&g, has_vector(bare, &walk) ? WHY_VECTOR :
			   wide ? WHY_X87 : WHY_UNKNOWN);
	if (!g.why && g.same && !arch->vector_count)
		refuse(&g, wide ? WHY_VECTOR : WHY_X87);
	if (!g.why && !wide && bytes > WORD)
		refuse(&g, WHY_UNKNOWN);
	if (g.why)
		return refuse_result(err, g.why);
	return arch->vector_count ? result_classes(&g, bytes, result, err) :
				    result_words(arch, bytes, result);
}

/* ---- Rust ---- */

/* What rustc calls the ABI of a type's layout; of no register: bytes. */
enum layout_abi { ABI_NOTHING, ABI_SCALAR, ABI_PAIR, ABI_BYTES };

struct layout_scalar {
	uint64_t offset, bytes;
	bool is_float, is_pointer, is_signed;
};

struct layout {
	enum layout_abi abi;
	uint64_t bytes;
	struct layout_scalar scalars[2];
};

struct layouting {
	const char *why;
	unsigned int depth, steps;
	bool has_float;
};

static struct layout layout_find(struct layouting *g, const Dwarf_Die *type);

/* Members that have bytes */
struct fields {
	struct layouting *g;
	unsigned int count;
	uint64_t offset[2];
	Dwarf_Die type[2];
	struct layout layout[2];
};

static int field_take(void *context, const struct dwarf_member *member)
{
	struct fields *f = context;
	struct layout layout;

	if (++f->g->steps > STEPS_MAX) {
		f->g->why = WHY_UNKNOWN;
		return 1;
	}
	layout = layout_find(f->g, &member->type);
	if (f->g->why || !layout.bytes)
		return f->g->why != NULL;
	if (f->count < 2) {
		f->offset[f->count] = member->bit_offset / 8;
		f->type[f->count] = member->type;
		f->layout[f->count] = layout;
	}
	f->count++;
	return 0;
}

/* Of the library, where a structure around one scalar is that scalar. With
 * repr(C), which the debug information does not have, it is bytes. */
static bool is_transparent(Dwarf_Die *bare)
{
	char *name = dwarf_type_name(bare);
	bool own = name && (!strncmp(name, "core::", 6) ||
			    !strncmp(name, "alloc::", 7) ||
			    !strncmp(name, "std::", 5));

	free(name);
	return own;
}

static uint64_t align_up(uint64_t number, uint64_t align)
{
	return align ? (number + align - 1) / align * align : number;
}

/* Two scalars: a pair, if they are where a pair has them. */
static void pair_set(struct layout *layout, const struct layout_scalar *a,
		     const struct layout_scalar *b)
{
	const struct layout_scalar *first = a->offset <= b->offset ? a : b;
	const struct layout_scalar *second = first == a ? b : a;
	uint64_t align = first->bytes > second->bytes ? first->bytes :
							second->bytes;
	uint64_t at = align_up(first->bytes, second->bytes);

	if (first->offset || second->offset != at ||
	    layout->bytes != align_up(at + second->bytes, align))
		return;
	layout->abi = ABI_PAIR;
	layout->scalars[0] = *first;
	layout->scalars[1] = *second;
}

static void layout_fields(struct fields *f, struct layout *layout)
{
	layout->abi = f->count ? ABI_BYTES : ABI_NOTHING;
	if (f->count == 1 && !f->offset[0] &&
	    f->layout[0].bytes == layout->bytes) {
		*layout = f->layout[0];
	} else if (f->count == 2 && f->layout[0].abi == ABI_SCALAR &&
		   f->layout[1].abi == ABI_SCALAR) {
		for (int i = 0; i < 2; i++)
			f->layout[i].scalars[0].offset += f->offset[i];
		pair_set(layout, &f->layout[0].scalars[0],
			 &f->layout[1].scalars[0]);
	}
}

/* The variants of an enumeration. */
struct variants {
	struct layouting *g;
	struct layout_scalar tag, payload;
	unsigned int with_fields;	/* variants */
	bool bytes;			/* one has more than a scalar */
	bool niche;			/* the tag is in the bytes of one */
	struct layout whole;		/* of the last one with fields */
};

static bool same_scalar(const struct layout_scalar *a,
			const struct layout_scalar *b)
{
	return a->offset == b->offset && a->bytes == b->bytes &&
	       a->is_float == b->is_float;
}

static void variant_take(struct variants *v, Dwarf_Die *variant)
{
	struct fields f = { .g = v->g };
	Dwarf_Die child, bare;
	struct layout layout = { 0 };
	struct layout_scalar scalar;

	dwarf_die_each(variant, &child)
		if (dwarf_tag(&child) == DW_TAG_member)
			break;
	if (!child.addr)
		return;
	bare = dwarf_type_bare(&child);
	if (!bare.addr || !dwarf_type_bytes(&bare, &layout.bytes)) {
		v->g->why = WHY_UNKNOWN;
		return;
	}
	dwarf_type_members(&bare, field_take, &f);
	if (v->g->why || !f.count)
		return;
	v->with_fields++;
	for (unsigned int i = 0; i < f.count && i < 2; i++)
		v->niche |= f.offset[i] < v->tag.offset + v->tag.bytes &&
			    v->tag.offset < f.offset[i] + f.layout[i].bytes;
	scalar = f.layout[0].scalars[0];
	scalar.offset += f.offset[0];
	if (f.count != 1 || f.layout[0].abi != ABI_SCALAR)
		v->bytes = true;
	else if (v->with_fields > 1 && !same_scalar(&v->payload, &scalar))
		v->bytes = true;
	else if (v->with_fields > 1 &&
		 (v->payload.is_signed != scalar.is_signed ||
		  v->payload.is_pointer != scalar.is_pointer))
		/* it depends on the compiler's version */
		v->g->why = WHY_UNKNOWN;
	v->payload = scalar;
	layout_fields(&f, &layout);
	v->whole = layout;
}

/* DWARF 5 section 5.7.10 */
static void layout_variants(struct layouting *g, Dwarf_Die *part,
			    struct layout *layout)
{
	struct variants v = { .g = g };
	struct dwarf_member member;
	Dwarf_Die discriminant, type, child;

	layout->abi = ABI_BYTES;
	if (!dwarf_die_refer(part, DW_AT_discr, &discriminant) ||
	    !dwarf_type_member(part, &discriminant, &member)) {
		g->why = WHY_UNKNOWN;
		return;
	}
	type = dwarf_type_bare(&discriminant);
	if (!type.addr || !dwarf_type_bytes(&type, &v.tag.bytes)) {
		g->why = WHY_UNKNOWN;
		return;
	}
	v.tag.offset = member.bit_offset / 8;
	dwarf_die_each(part, &child)
		if (dwarf_tag(&child) == DW_TAG_variant && !g->why)
			variant_take(&v, &child);
	if (g->why)
		return;
	if (v.tag.bytes == layout->bytes || !v.with_fields) {
		layout->abi = ABI_SCALAR;
		layout->scalars[0] = v.tag;
	} else if (v.niche) {
		if (v.with_fields == 1 && v.whole.bytes == layout->bytes)
			*layout = v.whole;
	} else if (!v.bytes) {
		pair_set(layout, &v.tag, &v.payload);
	}
}

static void layout_struct(struct layouting *g, Dwarf_Die *bare,
			  struct layout *layout)
{
	struct fields f = { .g = g };
	Dwarf_Die child;

	dwarf_die_each(bare, &child) {
		if (dwarf_tag(&child) != DW_TAG_variant_part)
			continue;
		layout_variants(g, &child, layout);
		return;
	}
	dwarf_type_members(bare, field_take, &f);
	if (g->why)
		return;
	layout_fields(&f, layout);
	/* outermost, bytes and an integer are in the same register */
	if (f.count == 1 && layout->abi == ABI_SCALAR &&
	    !is_transparent(bare) &&
	    (layout->scalars[0].is_float || g->depth > 1))
		g->why = WHY_UNKNOWN;
}

static struct layout layout_find(struct layouting *g, const Dwarf_Die *type)
{
	struct layout layout = { 0 };
	struct layout_scalar *scalar = &layout.scalars[0];
	enum dwarf_type_kind kind;
	Dwarf_Die bare;

	dwarf_type_peel(type, &bare, NULL);
	if (g->depth == DEPTH_MAX || !bare.addr ||
	    !dwarf_type_bytes(&bare, &layout.bytes))
		g->why = WHY_UNKNOWN;
	if (g->why || !layout.bytes)
		return layout;
	g->depth++;
	kind = dwarf_type_value_kind(&bare);
	switch (kind) {
	case DWARF_TYPE_FLOAT: case DWARF_TYPE_BOOL: case DWARF_TYPE_CHAR:
	case DWARF_TYPE_INT: case DWARF_TYPE_ENUM: case DWARF_TYPE_POINTER:
		layout.abi = ABI_SCALAR;
		scalar->bytes = layout.bytes;
		scalar->is_float = kind == DWARF_TYPE_FLOAT;
		scalar->is_pointer = kind == DWARF_TYPE_POINTER;
		scalar->is_signed = dwarf_type_is_signed(&bare);
		g->has_float |= scalar->is_float;
		break;
	case DWARF_TYPE_STRUCT:
		layout_struct(g, &bare, &layout);
		break;
	case DWARF_TYPE_ARRAY:
		layout.abi = ABI_BYTES;
		bare = dwarf_type_bare(&bare);
		layout_find(g, &bare);
		break;
	default:
		g->why = WHY_UNKNOWN;
	}
	g->depth--;
	return layout;
}

static int result_rust(const struct arch *arch, Dwarf_Die *bare, uint64_t bytes,
		       struct dwarf_result *result, struct error *err)
{
	unsigned int general = 0, vector = 0, width;
	struct layouting g = { 0 };
	struct layout layout;

	if (bytes > MOST && arch->elf_class == ELFCLASS64)
		return result_memory(arch, result, err);
	layout = layout_find(&g, bare);
	width = arch->elf_class == ELFCLASS64 ? 8 : 4;
	if (!g.why && layout.abi == ABI_BYTES && bytes > width && width == 8)
		return result_memory(arch, result, err);
	if (!g.why && ((layout.abi == ABI_BYTES && g.has_float) ||
		       (layout.abi > ABI_SCALAR && width == 4) ||
		       (g.has_float && !arch->vector_count)))
		g.why = WHY_UNKNOWN;
	for (int i = 0; !g.why && layout.abi == ABI_PAIR && i < 2; i++)
		if (layout.scalars[i].bytes > width)
			g.why = WHY_UNKNOWN;
	if (g.why)
		return refuse_result(err, g.why);
	if (layout.abi != ABI_PAIR &&
	    !(layout.abi == ABI_SCALAR && layout.scalars[0].is_float))
		return result_words(arch, bytes, result);
	for (int i = 0; i < (layout.abi == ABI_PAIR ? 2 : 1); i++) {
		const struct layout_scalar *scalar = &layout.scalars[i];

		result_part_add(result, scalar->offset, scalar->bytes,
				scalar->is_float ?
					arch->vector_first + vector++ :
					arch->results[general++], 0);
	}
	return 0;
}

/* Optimised code: clang describes calls there only, and the frame by the frame
 * pointer elsewhere only. */
static bool clang_optimised(const struct arch *arch, Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_die_flag(function, DW_AT_call_all_calls) ||
	    dwarf_die_flag(function, DW_AT_GNU_all_call_sites))
		return true;
	if (!dwarf_attr(function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &count) || count != 1)
		return true;
	return ops[0].atom != DW_OP_reg0 + arch->frame;
}

bool dwarf_result_may_be_dropped(const struct dwarf_file *dwarf,
				 Dwarf_Die *function)
{
	const char *producer = NULL, *at;
	unsigned int major = 0, minor = 0;
	Dwarf_Die unit;

	if (dwarf_diecu(function, &unit, NULL, NULL))
		producer = dwarf_die_text(&unit, DW_AT_producer);
	if (!producer || dwarf_die_flag(function, DW_AT_external))
		return false;
	at = strstr(producer, "rustc version ");
	if (at && sscanf(at, "rustc version %u.%u", &major, &minor) == 2) {
		if (major > 1 || minor >= RUSTC_OF_LLVM_18)
			return false;
	} else {
		at = strstr(producer, "clang version ");
		if (!at || sscanf(at, "clang version %u", &major) != 1 ||
		    major >= 18)
			return false;
	}
	return clang_optimised(dwarf->module->arch, function);
}

int dwarf_result_find(const struct dwarf_file *dwarf, Dwarf_Die *function,
		      const Dwarf_Die *type, struct dwarf_result *result,
		      struct error *err)
{
	const struct arch *arch = dwarf->module->arch;
	uint64_t convention = DW_CC_normal, bytes;
	enum dwarf_type_kind kind;
	Dwarf_Die bare, unit;
	int language;

	memset(result, 0, sizeof(*result));
	dwarf_type_peel(type, &bare, NULL);
	dwarf_die_any_number(function, DW_AT_calling_convention, &convention);
	if (convention != DW_CC_normal && convention != DW_CC_program)
		return refuse_result(err, "the function has a calling convention of its own");
	if (!bare.addr || !dwarf_type_bytes(&bare, &bytes) ||
	    !dwarf_diecu(function, &unit, NULL, NULL))
		return refuse_result(err, WHY_UNKNOWN);
	kind = dwarf_type_value_kind(&bare);
	language = dwarf_srclang(&unit);
	if (language == DW_LANG_Rust)
		return result_rust(arch, &bare, bytes, result, err);
	if (language == DW_LANG_Go)
		return refuse_result(err, "Go returns values by a convention of its own");
	if (kind != DWARF_TYPE_STRUCT && kind != DWARF_TYPE_UNION)
		return scalar_cc(arch, &bare, bytes, result, err);
	if (!dwarf_die_is_c(&unit) && !dwarf_die_is_cc(&unit))
		return refuse_result(err, WHY_UNKNOWN);
	return composed_cc(arch, &bare, bytes, result, err);
}
