// SPDX-License-Identifier: GPL-2.0
#include "dwarf_location.h"

#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/rpn.h"
#include "lib/debug/arch/arch.h"
#include "lib/formats/rpn_emit.h"
#include "dwarf_die.h"
#include "dwarf_expression.h"

#define BLOCK_MAX	4096	/* bytes of a constant; a record isn't longer */
#define PIECES_MAX	1024

/* A simple location description, and what of it is used. */
struct location_part {
	enum place_kind kind;
	struct bytes rpn;
	uint64_t first_bit, bits;	/* bits 0: all */
	Dwarf_Block block;		/* the bytes, instead of rpn */
};

struct location_builder {
	const struct dwarf_context *context;
	Dwarf_Attribute *attr;
	struct place *place;
	struct error *err;
	struct bytes bits;		/* value of the bits beyond the last
					 * whole piece */
	unsigned int bit_count;
	char why[128];			/* a part of them is absent */
};

static int location_damaged(struct location_builder *b)
{
	return error_set(b->err, -EINVAL, "its location is damaged");
}

static bool is_piece(const Dwarf_Op *op)
{
	return op->atom == DW_OP_piece || op->atom == DW_OP_bit_piece;
}

static bool op_is_register(const Dwarf_Op *op)
{
	unsigned int number;

	return dwarf_op_register(op, &number);
}

static bool is_breg(const Dwarf_Op *op)
{
	return (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) ||
	       op->atom == DW_OP_bregx;
}

/* Of an operation that is one of these two. */
static unsigned int op_register_number(const Dwarf_Op *op)
{
	unsigned int number;

	if (dwarf_op_register(op, &number))
		return number;
	if (op->atom != DW_OP_bregx)
		return op->atom - DW_OP_breg0;
	return op->number < UINT16_MAX ? op->number : UINT16_MAX;
}

/* Operations between two pieces. -ENODATA: absent, why->text is the reason. */
static int location_part_read(struct location_builder *b, const Dwarf_Op *ops,
			      size_t count, struct location_part *part,
			      struct error *why)
{
	struct error err = {0};
	int code;

	while (count && ops[count - 1].atom == DW_OP_GNU_uninit)
		count--;
	if (!count)
		return error_set(why, -ENODATA, "it is optimized out");
	part->kind = PLACE_VALUE;
	if (count == 1 && op_is_register(ops))
		return dwarf_frame_own_emit(b->context, op_register_number(ops),
					    0, &part->rpn, why);
	if (count == 1 && ops->atom == DW_OP_implicit_value) {
		if (dwarf_getlocation_implicit_value(b->attr, ops,
						     &part->block) ||
		    !part->block.data)
			return error_set(why, -EINVAL,
					 "its location is damaged");
		if (part->block.length > BLOCK_MAX)
			return error_set(why, -ENODATA, "it is a constant of "
					 "%llu bytes", (unsigned long long)
					 part->block.length);
		return 0;
	}
	if (ops->atom == DW_OP_implicit_pointer ||
	    ops->atom == DW_OP_GNU_implicit_pointer)
		return error_set(why, -ENODATA, "it points to what isn't "
				 "in memory");
	if (ops[count - 1].atom == DW_OP_stack_value)
		count--;
	else
		part->kind = PLACE_MEMORY;
	code = dwarf_expression_emit(b->context, b->attr, ops, count,
				     &part->rpn, why);
	if (!code && rpn_check(part->rpn.data, part->rpn.size, 1, &err))
		return error_set(why, -ENODATA, "its computation is beyond "
				 "what a TDF allows: %s", err.text);
	return code;
}

static int add_value(struct location_builder *b, uint64_t value, uint64_t bytes)
{
	struct place_piece *piece = place_add(b->place, PLACE_VALUE, bytes);

	if (piece)
		rpn_emit_const(&piece->rpn, value);
	return piece && !piece->rpn.failed ? 0 : -ENOMEM;
}

/* Bytes of a constant, in pieces that an entry of the stack can hold; one
 * piece that is all of the place may be asked for more. */
static int add_block(struct location_builder *b, const uint8_t *data,
		     size_t size, bool alone)
{
	int code = size ? 0 : location_damaged(b);

	for (size_t at = 0; at < size && !code; at += 8) {
		size_t bytes = size - at < 8 ? size - at : 8;
		uint64_t value = 0;

		memcpy(&value, data + at, bytes);
		code = add_value(b, value, alone && size <= 8 ? 0 : bytes);
	}
	return code;
}

static int place_add_absent(struct location_builder *b, uint64_t bytes,
			    const char *why)
{
	struct place_piece *piece = place_add(b->place, PLACE_ABSENT, bytes);

	if (piece)
		piece->why = strdup(why);
	return piece && piece->why ? 0 : -ENOMEM;
}

/* Append the expression; it moves to the piece. */
static int add_part(struct location_builder *b, struct location_part *part,
		    uint64_t bytes)
{
	struct place_piece *piece = place_add(b->place, part->kind, bytes);

	if (!piece)
		return -ENOMEM;
	piece->rpn = part->rpn;
	memset(&part->rpn, 0, sizeof(part->rpn));
	if (part->kind == PLACE_MEMORY)
		rpn_emit_add(&piece->rpn, part->first_bit / 8,
			     dwarf_is_wide(b->context->dwarf));
	else if (part->first_bit) {
		rpn_emit_const(&piece->rpn, part->first_bit);
		rpn_emit_op(&piece->rpn, RPN_shr);
	}
	return piece->rpn.failed ? -ENOMEM : 0;
}

/* Bits that don't fill bytes go to a value that several parts make up. */
static int bits_flush(struct location_builder *b)
{
	struct location_part part = { .kind = PLACE_VALUE, .rpn = b->bits };
	uint64_t bytes = (b->bit_count + 7) / 8;
	int code;

	if (!b->bit_count)
		return 0;
	memset(&b->bits, 0, sizeof(b->bits));
	b->bit_count = 0;
	if (b->why[0]) {
		bytes_free(&part.rpn);
		code = place_add_absent(b, bytes, b->why);
	} else {
		code = add_part(b, &part, bytes);
		bytes_free(&part.rpn);
	}
	b->why[0] = '\0';
	return code;
}

static int bits_add(struct location_builder *b, struct location_part *part,
		    const char *why)
{
	bool wide = dwarf_is_wide(b->context->dwarf);
	uint64_t end = part->first_bit % 8 + part->bits;
	struct bytes *rpn = &part->rpn;
	unsigned int bytes = 1;

	if (!part->bits || b->bit_count + part->bits > 64)
		return error_set(b->err, -ENODATA, "its bits are spread over "
				 "more than 8 bytes");
	/* The memory that has the bits becomes a value; 1, 2, 4 or 8 bytes are
	 * read. */
	if (!why && part->kind == PLACE_MEMORY && end <= 64) {
		while (8 * bytes < end)
			bytes *= 2;
		rpn_emit_add(rpn, part->first_bit / 8, wide);
		rpn_emit_deref(rpn, bytes);
		part->first_bit %= 8;
	} else if (!why && part->kind == PLACE_MEMORY) {
		why = "its bits are spread over more than 8 bytes";
	}
	if (why)
		snprintf(b->why, sizeof(b->why), "%.127s", why);
	if (!b->why[0]) {
		if (part->first_bit) {
			rpn_emit_const(rpn, part->first_bit);
			rpn_emit_op(rpn, RPN_shr);
		}
		if (part->bits < 64) {
			rpn_emit_const(rpn, (1ULL << part->bits) - 1);
			rpn_emit_op(rpn, RPN_and);
		}
		if (b->bit_count) {
			rpn_emit_const(rpn, b->bit_count);
			rpn_emit_op(rpn, RPN_shl);
		}
		bytes_join(&b->bits, rpn);
		if (b->bit_count)
			rpn_emit_op(&b->bits, RPN_or);
	}
	b->bit_count += part->bits;
	return b->bit_count % 8 ? 0 : bits_flush(b);
}

/* Operations [0, count), and the piece after them that has their size, or NULL */
static int location_part(struct location_builder *b, const Dwarf_Op *ops,
			 size_t count, const Dwarf_Op *piece)
{
	struct location_part part = {0};
	struct error why = {0};
	uint64_t bytes, first;
	int code;

	if (piece && piece->atom == DW_OP_bit_piece) {
		part.bits = piece->number;
		part.first_bit = piece->number2;
	} else if (piece) {
		part.bits = 8 * piece->number;
	}
	if (piece && (piece->number > UINT32_MAX ||
		      part.first_bit > UINT32_MAX))
		return location_damaged(b);
	if (piece && !part.bits)
		return 0;
	code = location_part_read(b, ops, count, &part, &why);
	bytes = part.bits / 8;
	first = part.first_bit / 8;
	if (code && code != -ENODATA) {
		error_set(b->err, code, "%s", why.text);
	} else if (!b->bit_count && part.bits % 8 == 0 &&
		   part.first_bit % 8 == 0) {
		/* whole bytes at the boundary of one */
		if (!code && !piece && part.block.data)
			bytes = part.block.length;
		if (code)
			code = place_add_absent(b, bytes, why.text);
		else if (!part.block.data)
			code = add_part(b, &part, bytes);
		else if (first > part.block.length ||
			 bytes > part.block.length - first)
			code = location_damaged(b);
		else
			code = add_block(b, part.block.data + first, bytes,
					 !piece);
	} else if (part.block.data) {
		code = error_set(b->err, -ENODATA, "its bits are spread over "
				 "constants");
	} else {
		code = bits_add(b, &part, code ? why.text : NULL);
	}
	bytes_free(&part.rpn);
	return code;
}

static void describe_register(const struct dwarf_context *context,
			      const Dwarf_Op *op, char *text, size_t size)
{
	int64_t distance = op->atom == DW_OP_bregx ? op->number2 : op->number;
	char name[16];

	arch_register_print(context->dwarf->module->arch,
			    op_register_number(op), name, sizeof(name));
	if (is_breg(op) && distance)
		snprintf(text, size, "%s%+" PRId64, name, distance);
	else
		snprintf(text, size, "%s", name);
}

/* Of the first part, for people. */
static void location_describe(const struct location_builder *b,
			      const Dwarf_Op *ops, size_t count,
			      const char *entry_name)
{
	char name[32], *text = b->place->where;
	size_t size = sizeof(b->place->where), base_count;
	bool alone;

	while (count && ops->atom == DW_OP_piece) {	/* absent */
		ops++;
		count--;
	}
	if (!count)
		return;
	alone = count == 1 || is_piece(&ops[1]);
	if (entry_name[0]) {
		snprintf(text, size, "%s at entry", entry_name);
	} else if (op_is_register(ops)) {
		describe_register(b->context, ops, name, sizeof(name));
		snprintf(text, size, "register %s", name);
	} else if (ops->atom == DW_OP_fbreg && alone) {
		Dwarf_Die function = b->context->function;
		Dwarf_Attribute attr;
		Dwarf_Op *base;

		snprintf(name, sizeof(name), "frame base");
		if (dwarf_attr_integrate(&function, DW_AT_frame_base, &attr) &&
		    dwarf_getlocation_addr(&attr, b->context->pc, &base,
					   &base_count, 1) == 1 &&
		    base_count == 1) {
			if (base->atom == DW_OP_call_frame_cfa)
				snprintf(name, sizeof(name), "CFA");
			else if (op_is_register(base) || is_breg(base))
				describe_register(b->context, base, name,
						  sizeof(name));
		}
		snprintf(text, size, "frame slot %s%+" PRId64, name,
			 (int64_t)ops->number);
	} else if (is_breg(ops) && alone) {
		describe_register(b->context, ops, name, sizeof(name));
		snprintf(text, size, "memory at %s", name);
	} else if (ops->atom == DW_OP_addr && alone) {
		snprintf(text, size, "global at %#" PRIx64,
			 (uint64_t)ops->number);
	} else if (ops->atom == DW_OP_implicit_value) {
		snprintf(text, size, "constant");
	} else if (ops[count - 1].atom == DW_OP_form_tls_address ||
		   ops[count - 1].atom == DW_OP_GNU_push_tls_address) {
		snprintf(text, size, "thread-local variable");
	} else {
		snprintf(text, size, "computed");
	}
}

int dwarf_location_place(const struct dwarf_context *outer,
			 Dwarf_Attribute *attr, const Dwarf_Op *ops,
			 size_t count, struct place *place, struct error *err)
{
	struct dwarf_context context = *outer;
	char entry_name[16] = "";
	struct location_builder b = {
		.context = &context, .attr = attr, .place = place, .err = err,
	};
	size_t start = 0, pieces = 0;
	bool absent = true;
	int code = 0;

	memset(place, 0, sizeof(*place));
	context.entry_name = entry_name;
	for (size_t i = 0; i < count && !code; i++) {
		if (!is_piece(&ops[i]))
			continue;
		code = ++pieces > PIECES_MAX ? location_damaged(&b) :
			location_part(&b, ops + start, i - start, &ops[i]);
		start = i + 1;
	}
	if (!code && (start < count || !count))
		code = pieces ? location_damaged(&b) :
				location_part(&b, ops, count, NULL);
	if (!code)
		code = bits_flush(&b);
	bytes_free(&b.bits);
	for (size_t i = 0; i < place->count && absent; i++)
		absent = place->pieces[i].kind == PLACE_ABSENT;
	if (!code && absent)
		code = error_set(err, -ENODATA, "%s", place->count ?
				 place->pieces[0].why : "it is optimized out");
	if (!code)
		location_describe(&b, ops, count, entry_name);
	return code == -ENOMEM ? error_no_memory(err) : code;
}

int dwarf_constant_place(Dwarf_Attribute *attr, struct place *place,
			 struct error *err)
{
	struct location_builder b = { .place = place, .err = err };
	Dwarf_Sword number_signed;
	Dwarf_Word number;
	Dwarf_Block block;
	const char *text;
	Dwarf_Addr address;
	int code;

	memset(place, 0, sizeof(*place));
	if (attr->form == DW_FORM_sdata || attr->form == DW_FORM_implicit_const)
		code = dwarf_formsdata(attr, &number_signed) ? -EINVAL :
			add_value(&b, number_signed, 0);
	else if (!dwarf_formudata(attr, &number))
		code = add_value(&b, number, 0);
	else if (!dwarf_formblock(attr, &block))
		code = block.length > BLOCK_MAX ? -EINVAL :
			add_block(&b, block.data, block.length, true);
	else if ((text = dwarf_formstring(attr)))
		code = strnlen(text, BLOCK_MAX) == BLOCK_MAX ? -EINVAL :
			add_block(&b, (const uint8_t *)text, strlen(text) + 1,
				  true);
	else if (!dwarf_formaddr(attr, &address)) {
		struct bytes *rpn = place_begin(place, PLACE_VALUE);

		code = rpn ? 0 : -ENOMEM;
		if (rpn)
			rpn_emit_addr(rpn, address);
	} else {
		code = -EINVAL;
	}
	snprintf(place->where, sizeof(place->where), "constant");
	if (code == -EINVAL)
		return error_set(err, code, "its constant is damaged");
	return code ? error_no_memory(err) : 0;
}
