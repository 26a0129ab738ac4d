// SPDX-License-Identifier: GPL-2.0
#include "address.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "address_type.h"
#include "lib/debug/arch/arch.h"
#include "lib/formats/rpn_emit.h"
#include "message.h"

#define FAR_BYTES	4	/* of a far pointer: offset, selector */
#define OFFSET_MASK	0xffff

int address_register(const struct compilation *c,
		     const struct compile_site *site,
		     const struct tsf_register *reg, uint8_t *bytes)
{
	const struct arch *arch = c->module->arch;
	const struct arch_register *r = arch_register_find(arch, reg->name);
	int number = r ? r->dwarf : -1;

	if (number < 0) {
		diag_report(c->diag, reg->pos, TRCERR_NOTAREG, reg->name);
		if (r)
			diag_hint(c->diag, "the module is a 32-bit one");
		return -1;
	}
	*bytes = r->bytes;
	if (!arch->inherits_names || r->bytes != 4 || r->kind == ARCH_FLAGS ||
	    site->repeated)
		return number;
	/* the low half is right for an int, wrong for a pointer */
	diag_report(c->diag, reg->pos, TRCERR_LOWHALF, r->name);
	for (size_t i = 0; i < arch->register_count; i++)
		if (arch->registers[i].dwarf == number &&
		    arch->registers[i].bytes == 8) {
			diag_hint(c->diag, "which is all of an int; %s logs "
				  "its 8 bytes", arch->registers[i].name);
			break;
		}
	return number;
}

void address_register_emit(const struct compile_site *site, unsigned int number,
			   int64_t displacement, struct bytes *rpn)
{
	if (!site->result_rpn || number != site->result) {
		rpn_emit_register(rpn, number, displacement);
		return;
	}
	bytes_join(rpn, site->result_rpn);
	rpn_emit_add(rpn, displacement, true);
}

static bool module_is_wide(const struct compilation *c)
{
	return c->module->elf_class == ELFCLASS64;
}

/* Fbreg[{+|-}ireg]...: an E-register of a 64-bit module is its low half. */
static int compile_flat(const struct compilation *c,
			const struct compile_site *site, struct bytes *rpn,
			const struct tsf_address *address)
{
	bool wide = module_is_wide(c);
	int64_t rest = address->displacement;

	for (size_t i = 0; i < address->register_count; i++) {
		const struct tsf_register *reg = &address->registers[i];
		uint8_t bytes = 0;
		int number = address_register(c, site, reg, &bytes);
		bool half = wide && bytes == 4;

		if (number < 0)
			return 1;
		address_register_emit(site, number,
				      half || reg->minus ? 0 : rest, rpn);
		if (half)
			rpn_emit_extend(rpn, 4, false);
		else if (!reg->minus)
			rest = 0;
		if (i)
			rpn_emit_op(rpn, reg->minus ? RPN_minus : RPN_plus);
	}
	if (rest)
		rpn_emit_add(rpn, rest, wide);
	else if (!wide && (address->register_count > 1 ||
			   address->displacement))
		rpn_emit_extend(rpn, 4, false);
	return 0;
}

static void emit_offset_cut(struct bytes *rpn)
{
	rpn_emit_const(rpn, OFFSET_MASK);
	rpn_emit_op(rpn, RPN_and);
}

/* Rsreg[{+|-}dreg]...: the selector, the low 16 bits of the sum. */
static int compile_segment(const struct compilation *c,
			   const struct compile_site *site, struct bytes *rpn,
			   const struct tsf_address *address)
{
	uint16_t displacement = address->displacement;
	uint8_t bytes;

	for (size_t i = 0; i < address->register_count; i++) {
		const struct tsf_register *reg = &address->registers[i];
		int number = address_register(c, site, reg, &bytes);

		if (number < 0)
			return 1;
		if (i == 1 && reg->minus)
			rpn_emit_const(rpn, 0);
		address_register_emit(site, number, 0, rpn);
		if (i > 1 || reg->minus)
			rpn_emit_op(rpn, reg->minus ? RPN_minus : RPN_plus);
	}
	if (address->register_count == 1) {
		rpn_emit_const(rpn, displacement);
		return 0;
	}
	rpn_emit_add(rpn, displacement, true);
	emit_offset_cut(rpn);
	return 0;
}

static int compile_registers(const struct compilation *c,
			     const struct compile_site *site,
			     const struct tsf_address *address,
			     struct address *result)
{
	struct place *place = &result->place;
	struct bytes *rpn = place_begin(place, PLACE_MEMORY);
	size_t used = 0;

	if (!rpn)
		return diag_no_memory(c->diag, address->pos);
	for (size_t i = 0; i < address->register_count &&
			   used < sizeof(place->where); i++) {
		const struct tsf_register *reg = &address->registers[i];

		used += snprintf(place->where + used,
				 sizeof(place->where) - used, "%s%s",
				 !i ? "" : reg->minus ? "-" : "+", reg->name);
	}
	if (address->form == TSF_ADDRESS_FLAT)
		return compile_flat(c, site, rpn, address);
	result->segment = true;
	return compile_segment(c, site, rpn, address);
}

/* The displacement of a symbol: part of a static address, which it mustn't
 * carry into another section, else added to it. */
static void symbol_displace(const struct compilation *c, int64_t displacement,
			    struct address *result)
{
	bool wide = module_is_wide(c);
	struct bytes *rpn = &result->place.pieces[0].rpn;
	struct rpn_op op;

	if (!address_in_memory(result)) {
		result->offset = displacement;
		return;
	}
	if (c->module->kind != TDF_MODULE_USER ||
	    !rpn_single(rpn->data, rpn->size, &op) || op.code != RPN_addr) {
		rpn_emit_add(rpn, displacement, wide);
		return;
	}
	rpn->size = 0;
	op.a += displacement;
	rpn_emit_addr(rpn, wide ? op.a : (uint32_t)op.a);
}

/* Flat pointers have the type of what they point at. */
static void compile_type(const struct tsf_address *address,
			 const struct tsf_chain *chain, bool segmented,
			 struct address *result)
{
	Dwarf_Die *type = &result->type;
	bool typed = result->typed;

	result->pointer = typed && !chain->count && !address->displacement &&
			  address_type_is_text_pointer(type);
	typed = typed && address_type_at(type, address->displacement) &&
		(!chain->count || (!segmented && chain->flag == TSF_INDIRECT));
	for (size_t i = 0; i < chain->count; i++)
		typed = typed && address_type_target(type) &&
			address_type_at(type, chain->add[i] +
					(i + 1 == chain->count ?
						 address->final : 0));
	result->typed = typed;
}

/* One dereference, and what is added after it. */
static int compile_link(const struct compilation *c,
			const struct compile_site *site,
			const struct tsf_address *in, bool loads_far,
			int64_t add, struct address *result)
{
	bool wide = module_is_wide(c);
	unsigned int bytes = loads_far ? FAR_BYTES : wide ? 8 : 4;
	const char *why = "it has fewer bytes than a pointer";
	struct place target;
	struct bytes *rpn = place_begin(&target, PLACE_MEMORY);
	int code = 0;

	if (!rpn)
		return diag_no_memory(c->diag, in->pos);
	if (result->segment) {
		bytes_join(rpn, &result->place.pieces[0].rpn);
		rpn_emit_op(rpn, RPN_xderef_size);
		rpn_emit_op(rpn, bytes);
	} else if (place_value(&result->place, result->offset, bytes, false,
			       rpn)) {
		place_is_known(&result->place, result->offset, bytes, &why);
		code = message_absent(c, site, in->pos, in->name, why, NULL);
	}
	if (loads_far) {
		/* a far pointer becomes selector and, on top, offset + add */
		rpn_emit_op(rpn, RPN_dup);
		rpn_emit_const(rpn, 16);
		rpn_emit_op(rpn, RPN_shr);
		rpn_emit_op(rpn, RPN_swap);
		rpn_emit_add(rpn, (uint16_t)add, true);
		emit_offset_cut(rpn);
	} else {
		rpn_emit_add(rpn, add, wide);
	}
	snprintf(target.where, sizeof(target.where), "through %.50s",
		 result->place.where);
	place_free(&result->place);
	result->place = target;
	result->offset = 0;
	result->segment = loads_far;
	return code;
}

int address_compile(const struct compilation *c,
		    const struct compile_site *site,
		    const struct tsf_address *address,
		    const struct tsf_chain *chain, bool segmented,
		    struct address *result)
{
	bool symbol = address->form == TSF_ADDRESS_SYMBOL;
	bool far = address->form == TSF_ADDRESS_SEGMENT ||
		   (symbol && segmented);
	int code;

	memset(result, 0, sizeof(*result));
	code = symbol ? symbol_resolve(c, site, address->pos, address->name,
				    false, result) :
			compile_registers(c, site, address, result);
	if (code)
		return code;
	compile_type(address, chain, segmented, result);
	if (address_is_absent(result))
		return 0;
	if (symbol)
		symbol_displace(c, address->displacement, result);
	for (size_t i = 0; i < chain->count && !code; i++) {
		bool last = i + 1 == chain->count;
		bool switched = last && (chain->flag == TSF_IF ||
					 chain->flag == TSF_IS);

		code = compile_link(c, site, address, far != switched,
				    chain->add[i] + (last ? address->final : 0),
				    result);
	}
	return code;
}

bool address_is_absent(const struct address *address)
{
	return address->place.count == 1 &&
	       address->place.pieces[0].kind == PLACE_ABSENT;
}

const struct bytes *address_in_memory(const struct address *address)
{
	const struct place *place = &address->place;

	return place->count == 1 && place->pieces[0].kind == PLACE_MEMORY &&
	       !place->pieces[0].bytes ? &place->pieces[0].rpn : NULL;
}
