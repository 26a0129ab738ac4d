// SPDX-License-Identifier: GPL-2.0
#include "value.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/rpn_emit.h"
#include "message.h"

struct evaluation evaluation_begin(const struct compilation *c,
				   const struct compile_site *site)
{
	return (struct evaluation){
		.c = c, .site = site,
		.wide = c->module->elf_class == ELFCLASS64,
	};
}

void value_push(const struct value *value, struct bytes *rpn)
{
	if (value->kind == VALUE_CONSTANT)
		rpn_emit_const(rpn, value->number);
	else
		bytes_join(rpn, &value->rpn);
}

void value_free(struct value *value)
{
	bytes_free(&value->rpn);
	place_free(&value->place);
}

bool value_report_memory(struct evaluation *e, struct srcpos pos)
{
	diag_no_memory(e->c->diag, pos);
	e->code = -1;
	return false;
}

bool value_refuse(struct evaluation *e, struct srcpos pos, const char *op,
		  const struct value *a, const struct value *b)
{
	char *first = value_type_spell(&a->type), *both = NULL;
	char *second = b ? value_type_spell(&b->type) : NULL;

	if (!first || (b && !second) ||
	    asprintf(&both, second ? "'%s' and '%s'" : "'%s'", first,
		     second) < 0)
		both = NULL;
	free(first);
	free(second);
	if (!both)
		return value_report_memory(e, pos);
	diag_report(e->c->diag, pos, TRCERR_BADOPERAND, op, both);
	if (value_type_kind(&a->type) == DWARF_TYPE_FLOAT ||
	    (b && value_type_kind(&b->type) == DWARF_TYPE_FLOAT))
		diag_hint(e->c->diag, "floating point can be logged, not "
				      "computed with");
	if (value_type_bits(&a->type) > 64 ||
	    (b && value_type_bits(&b->type) > 64))
		diag_hint(e->c->diag, "the integer's width is not known or "
				      "above 64 bits");
	free(both);
	e->code = 1;
	return false;
}

bool value_report_size(struct evaluation *e, struct srcpos pos,
		       const struct value_type *type)
{
	char *text = value_type_spell(type);

	if (!text)
		return value_report_memory(e, pos);
	diag_report(e->c->diag, pos, TRCERR_NOSIZE, text);
	free(text);
	e->code = 1;
	return false;
}

struct value value_constant(struct value_type type, uint64_t number)
{
	return (struct value){
		.type = type,
		.kind = VALUE_CONSTANT,
		.number = number,
		.where = "constant",
		.name = "",
	};
}

/* The value at a place is not known; it may be at another site. */
static bool value_absent(struct evaluation *e, const struct value *value,
			 const char *why)
{
	if (e->site->alone) {
		e->code = message_absent(e->c, e->site, value->pos,
					 value->name, why, NULL);
		return false;
	}
	if (!e->absent)
		snprintf(e->absent_why, sizeof(e->absent_why), "%s", why);
	e->absent = true;
	return true;
}

static void become_computed(struct value *value, struct bytes *rpn)
{
	bytes_free(&value->rpn);
	place_free(&value->place);
	value->kind = VALUE_COMPUTED;
	value->rpn = *rpn;
	value->bit_offset = 0;
}

/* Bits in up to nine bytes, whose lowest bit is the first. */
static int bitfield_read(const struct value *value, uint64_t first,
			 unsigned int bytes, bool is_signed, struct bytes *rpn)
{
	unsigned int shift = value->bit_offset % 8, bits = value->bits;
	int code = place_value(&value->place, first, bytes < 8 ? bytes : 8,
			       false, rpn);

	if (!code && bytes == 9) {
		rpn_emit_const(rpn, shift);
		rpn_emit_op(rpn, RPN_shr);
		code = place_value(&value->place, first + 8, 1, false, rpn);
		rpn_emit_const(rpn, 64 - shift);
		rpn_emit_op(rpn, RPN_shl);
		rpn_emit_op(rpn, RPN_or);
		shift = 0;
	}
	if (code)
		return code;
	if (shift + bits < 64) {
		rpn_emit_const(rpn, 64 - shift - bits);
		rpn_emit_op(rpn, RPN_shl);
	}
	if (bits < 64) {
		rpn_emit_const(rpn, 64 - bits);
		rpn_emit_op(rpn, is_signed ? RPN_shra : RPN_shr);
	}
	return 0;
}

/* Bits in up to nine bytes, whose highest bit is the first. */
static int reversed_read(const struct value *value, unsigned int bits,
			 bool is_signed, struct bytes *rpn)
{
	uint64_t first = value->bit_offset / 8, end = value->bit_offset + bits;
	uint64_t last = (end - 1) / 8;
	int code = 0, shift;

	for (uint64_t at = first; !code && at <= last; at++) {
		code = place_value(&value->place, at, 1, false, rpn);
		if (at == first) {
			rpn_emit_const(rpn, 0xff >> value->bit_offset % 8);
			rpn_emit_op(rpn, RPN_and);
		}
		shift = (int)(end - 8 * (at + 1));
		rpn_emit_const(rpn, shift < 0 ? -shift : shift);
		rpn_emit_op(rpn, shift < 0 ? RPN_shr : RPN_shl);
		if (at > first)
			rpn_emit_op(rpn, RPN_or);
	}
	if (is_signed && bits < 64) {
		rpn_emit_const(rpn, 64 - bits);
		rpn_emit_op(rpn, RPN_shl);
		rpn_emit_const(rpn, 64 - bits);
		rpn_emit_op(rpn, RPN_shra);
	}
	return code;
}

bool value_scalar_bytes(struct evaluation *e, struct srcpos pos,
			struct value_type *type, uint64_t *bytes)
{
	if (!value_type_bytes(e->c, type, bytes))
		return value_report_size(e, pos, type);
	if (value_type_scalar_bytes(e->c, type, bytes))
		return true;
	diag_report(e->c->diag, pos, TRCERR_UNSUPPORTED,
		    "computing with integers of such a size");
	e->code = 1;
	return false;
}

static bool read_scalar(struct evaluation *e, struct srcpos pos,
			struct value *value)
{
	bool is_signed = value_type_is_signed(&value->type);
	uint64_t first = value->bit_offset / 8, bytes;
	unsigned int bits = value->bits;
	bool reversed = value->reversed || value_type_is_reversed(&value->type);
	const char *why = "it is smaller than its type";
	struct bytes rpn = {0};
	int code;

	if (!value_scalar_bytes(e, pos, &value->type, &bytes))
		return false;
	if (!bits)
		bits = value->bits = value_type_bits(&value->type);
	value->type = value_type_plain(&value->type);
	if (reversed && !bits)
		bits = 8 * bytes;
	if (bits)
		bytes = (value->bit_offset + bits + 7) / 8 - first;
	if (e->unread)
		rpn_emit_const(&rpn, 0);
	else if (!place_is_known(&value->place, first, bytes, &why)) {
		if (!value_absent(e, value, why))
			return false;
		rpn_emit_const(&rpn, 0);
	} else {
		code = reversed ? reversed_read(value, bits, is_signed, &rpn) :
		       bits ? bitfield_read(value, first, bytes, is_signed,
					    &rpn) :
			      place_value(&value->place, first, bytes,
					  is_signed, &rpn);
		if (code && !value_absent(e, value, why)) {
			bytes_free(&rpn);
			return false;
		}
	}
	snprintf(value->where, sizeof(value->where), "%s",
		 value->place.where);
	become_computed(value, &rpn);
	return !value->rpn.failed || value_report_memory(e, pos);
}

bool value_load(struct evaluation *e, struct srcpos pos, const char *op,
		struct value *value)
{
	struct value_type element;

	switch (value_type_kind(&value->type)) {
	case DWARF_TYPE_ARRAY:
		element = value_type_target(&value->type);
		if (!value_address(e, pos, value))
			return false;
		value->type = value_type_pointer_to(&element);
		return true;
	case DWARF_TYPE_FUNCTION:
		return value->kind != VALUE_PLACE ||
		       value_address(e, pos, value);
	default:
		if (!value_type_is_scalar(&value->type))
			return value_refuse(e, pos, op, value, NULL);
		return value->kind != VALUE_PLACE ||
		       read_scalar(e, pos, value);
	}
}

bool value_in_memory(const struct value *value, uint64_t bytes,
		     struct bytes *rpn)
{
	struct place part;
	bool in_memory;

	if (value->kind != VALUE_PLACE || value->bits || value->reversed ||
	    value->bit_offset % 8 ||
	    place_slice(&value->place, value->bit_offset / 8,
			bytes ? bytes : 1, &part))
		return false;
	in_memory = part.count == 1 && part.pieces[0].kind == PLACE_MEMORY;
	if (in_memory)
		bytes_add(rpn, part.pieces[0].rpn.data,
			  part.pieces[0].rpn.size);
	place_free(&part);
	return in_memory;
}

static bool report_no_address(struct evaluation *e, struct srcpos pos,
			      const struct value *value)
{
	char why[128];

	if (value->kind != VALUE_PLACE || value->bits || value->reversed) {
		value_refuse(e, pos, "&", value, NULL);
		diag_hint(e->c->diag, value->reversed ?
				      "what an address points at would have "
				      "another storage order" :
				      value->bits ?
				      "a bit-field has no address" :
				      "what is computed has no address");
		return false;
	}
	snprintf(why, sizeof(why), "it is not in memory (%s)",
		 value->place.where);
	e->code = message_absent(e->c, e->site, value->pos, value->name,
				 why, NULL);
	return false;
}

bool value_address(struct evaluation *e, struct srcpos pos, struct value *value)
{
	const char *why;
	struct bytes rpn = {0};
	uint64_t bytes;
	bool found = value_type_bytes(e->c, &value->type, &bytes);

	if (!found)
		bytes = 0;
	if (e->unread) {
		rpn_emit_const(&rpn, 0);
	} else if (value->kind == VALUE_PLACE && !value->bits &&
		   !place_is_known(&value->place, value->bit_offset / 8,
				   bytes ? bytes : 1, &why)) {
		if (!value_absent(e, value, why))
			return false;
		rpn_emit_const(&rpn, 0);
	} else if (!value_in_memory(value, bytes, &rpn)) {
		bytes_free(&rpn);
		return report_no_address(e, pos, value);
	}
	if (!e->wide)
		rpn_emit_extend(&rpn, 4, false);
	snprintf(value->where, sizeof(value->where), "address %s%.50s",
		 strncmp(value->place.where, "through ", 8) ? "of " : "",
		 value->place.where);
	become_computed(value, &rpn);
	value->type = value_type_pointer_to(&value->type);
	return !value->rpn.failed || value_report_memory(e, pos);
}

bool value_dereference(struct evaluation *e, struct srcpos pos, const char *op,
		       struct value *value)
{
	enum dwarf_type_kind kind = value_type_kind(&value->type);
	struct value_type target;
	struct place place;
	struct bytes *rpn;

	if (kind == DWARF_TYPE_FUNCTION)
		return true;	/* *f is f */
	if (kind != DWARF_TYPE_POINTER && kind != DWARF_TYPE_ARRAY &&
	    kind != DWARF_TYPE_REFERENCE)
		return value_refuse(e, pos, op, value, NULL);
	target = value_type_target(&value->type);
	if (kind == DWARF_TYPE_ARRAY && value->kind == VALUE_PLACE) {
		value_narrow(value, &target, 0, 0);
		return true;
	}
	if (kind == DWARF_TYPE_REFERENCE ? !read_scalar(e, pos, value) :
					   !value_load(e, pos, op, value))
		return false;
	rpn = place_begin(&place, PLACE_MEMORY);
	if (!rpn)
		return value_report_memory(e, pos);
	value_push(value, rpn);
	snprintf(place.where, sizeof(place.where), "through %s%.40s",
		 strncmp(value->where, "through ", 8) ? "" : "a pointer ",
		 value->where);
	bytes_free(&value->rpn);
	value->kind = VALUE_PLACE;
	value->place = place;
	value->bit_offset = 0;
	value->bits = 0;
	value->reversed = false;
	value->type = target;
	return value_refer(e, value);
}

bool value_refer(struct evaluation *e, struct value *value)
{
	return value_type_kind(&value->type) != DWARF_TYPE_REFERENCE ||
	       value_dereference(e, value->pos, "&", value);
}

void value_narrow(struct value *value, const struct value_type *type,
		  int64_t bits_in, unsigned int bits)
{
	value->reversed &= value_type_kind(&value->type) == DWARF_TYPE_ARRAY;
	value->type = *type;
	value->bit_offset += bits_in;
	value->bits = bits;
}
