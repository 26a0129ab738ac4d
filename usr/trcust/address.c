// SPDX-License-Identifier: GPL-2.0
/*
 * Address specifications (manual 1.3.5.15) as DWARF expressions. Values are 64
 * bits wide, so in a 32-bit module every sum is cut to 32 bits.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include "../lib/rpn.h"
#include "arch.h"
#include "compile.h"

struct emitter {
	struct bytes *rpn;
	bool wide;		/* the module's pointers have 64 bits */
};

static void emit_op(struct emitter *e, uint8_t code)
{
	bytes_add(e->rpn, &code, 1);
}

static void emit_uleb(struct emitter *e, uint64_t value)
{
	do {
		emit_op(e, (value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
}

static void emit_sleb(struct emitter *e, int64_t value)
{
	bool more;

	do {
		uint8_t low = value & 0x7f;

		value >>= 7;
		more = value != (low & 0x40 ? -1 : 0);
		emit_op(e, low | (more ? 0x80 : 0));
	} while (more);
}

static void emit_fixed(struct emitter *e, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		emit_op(e, value >> (8 * i));
}

static void emit_mask(struct emitter *e)
{
	emit_op(e, RPN_const4u);
	emit_fixed(e, UINT32_MAX, 4);
	emit_op(e, RPN_and);
}

static void emit_add(struct emitter *e, int64_t value)
{
	if (value > 0) {
		emit_op(e, RPN_plus_uconst);
		emit_uleb(e, value);
	} else if (value < 0) {
		emit_op(e, RPN_constu);
		emit_uleb(e, -(uint64_t)value);
		emit_op(e, RPN_minus);
	}
	if (value && !e->wide)
		emit_mask(e);
}

static void emit_deref(struct emitter *e)
{
	if (e->wide) {
		emit_op(e, RPN_deref);
		return;
	}
	emit_op(e, RPN_deref_size);
	emit_op(e, 4);
}

static void emit_register(struct emitter *e, unsigned int number,
			  int64_t displacement)
{
	if (number < 32) {
		emit_op(e, RPN_breg + number);
	} else {
		emit_op(e, RPN_bregx);
		emit_uleb(e, number);
	}
	emit_sleb(e, displacement);
}

int address_register(struct compilation *c, const struct tsf_register *reg,
		     uint8_t *bytes)
{
	const struct arch_register *r = arch_register_find(reg->name);
	bool wide = c->module->elf_class == ELFCLASS64;
	int number = !r ? -1 : wide ? r->dwarf64 : r->dwarf32;

	if (number < 0) {
		diag_tell(c->diag, reg->pos, TRCERR_NOTAREG, reg->name);
		if (r)
			diag_hint(c->diag, "the module is a 32-bit one");
		return -1;
	}
	if (r->pt_regs < 0) {
		diag_tell(c->diag, reg->pos, TRCERR_UNSUPPORTED,
			  "segment registers other than CS and SS");
		return -1;
	}
	if (wide && r->bytes == 4 && r->kind != ARCH_FLAGS)
		diag_tell(c->diag, reg->pos, TRCERR_LOWHALF, r->name);
	*bytes = r->bytes;
	return number;
}

/* Fbreg[{+|-}ireg]...: an E-register of a 64-bit module is its low half. */
static int compile_flat(struct compilation *c, struct emitter *e,
			const struct tsf_address *address)
{
	int64_t rest = address->displacement;

	for (size_t i = 0; i < address->register_count; i++) {
		const struct tsf_register *reg = &address->registers[i];
		uint8_t bytes = 0;
		int number = address_register(c, reg, &bytes);
		bool half = e->wide && bytes == 4;

		if (number < 0)
			return 1;
		emit_register(e, number, half || reg->minus ? 0 : rest);
		if (half)
			emit_mask(e);
		else if (!reg->minus)
			rest = 0;
		if (i)
			emit_op(e, reg->minus ? RPN_minus : RPN_plus);
	}
	if (rest)
		emit_add(e, rest);
	else if (!e->wide &&
		 (address->register_count > 1 || address->displacement))
		emit_mask(e);
	return 0;
}

static bool symbol_is_per_cpu(const struct compilation *c,
			      const struct module_symbol *symbol)
{
	const struct module_symbol *start, *end;
	bool others;

	if (c->module->kind == TDF_MODULE_USER)
		return false;
	start = module_symbol_find(c->module, "__per_cpu_start", MODULE_DATA,
				   &others);
	end = module_symbol_find(c->module, "__per_cpu_end", MODULE_DATA,
				 &others);
	return start && end && symbol->address >= start->address &&
	       symbol->address < end->address;
}

static void tell_unknown(struct compilation *c,
			 const struct tsf_address *address, uint64_t pc)
{
	char text[512];

	if (c->dwarf && dwarf_variable_known(c->dwarf, pc, address->name)) {
		snprintf(text, sizeof(text),
			 "variable '%s', which only the debug information knows",
			 address->name);
		diag_tell(c->diag, address->pos, TRCERR_UNSUPPORTED, text);
		return;
	}
	diag_tell(c->diag, address->pos, TRCERR_BADSYMBOL, address->name);
	if (!c->module->elf) {
		diag_hint(c->diag, "the kernel's file is not at hand: give it "
				   "with --module vmlinux");
		return;
	}
	module_symbol_near(c->module, address->name, MODULE_DATA, text,
			   sizeof(text));
	if (text[0])
		diag_hint(c->diag, "near names: %s", text);
}

static int compile_symbol(struct compilation *c, struct emitter *e,
			  const struct tsf_address *address, uint64_t pc)
{
	const struct module_symbol *symbol;
	uint64_t at;
	bool others;
	char text[32];

	symbol = module_symbol_find(c->module, address->name, MODULE_DATA,
				    &others);
	if (!symbol) {
		tell_unknown(c, address, pc);
		return 1;
	}
	if (symbol->type == STT_TLS || symbol_is_per_cpu(c, symbol)) {
		diag_tell(c->diag, address->pos, TRCERR_UNSUPPORTED,
			  symbol->type == STT_TLS ? "thread-local variables" :
						    "per-CPU variables");
		return 1;
	}
	if (!symbol->defined && !symbol->slot) {
		diag_tell(c->diag, address->pos, TRCERR_BADSYMBOL,
			  address->name);
		diag_hint(c->diag, "the module only uses it, it is defined in "
				   "another one");
		return 1;
	}
	if (others) {
		snprintf(text, sizeof(text), "%#llx",
			 (unsigned long long)symbol->address);
		diag_tell(c->diag, address->pos, TRCERR_AMBIGUOUS,
			  address->name, text);
	}
	if (symbol->slot) {
		emit_op(e, RPN_addr);
		emit_fixed(e, symbol->slot, 8);
		emit_deref(e);
		emit_add(e, address->displacement);
		return 0;
	}
	emit_op(e, symbol->absolute ? RPN_const8u : RPN_addr);
	at = symbol->address + address->displacement;
	emit_fixed(e, e->wide ? at : (uint32_t)at, 8);
	return 0;
}

int address_compile(struct compilation *c, const struct tsf_address *address,
		    const struct tsf_chain *chain, uint64_t pc,
		    uint32_t *rpn, uint32_t *rpn_length)
{
	struct emitter e = {
		.rpn = &c->rpn, .wide = c->module->elf_class == ELFCLASS64,
	};
	size_t start = c->rpn.size;

	if (address->form == TSF_ADDRESS_SEGMENT || chain->flag == TSF_IS ||
	    chain->flag == TSF_IF) {
		diag_tell(c->diag, address->pos, TRCERR_UNSUPPORTED,
			  "segmented addresses");
		return 1;
	}
	if (address->form == TSF_ADDRESS_FLAT ?
		    compile_flat(c, &e, address) :
		    compile_symbol(c, &e, address, pc))
		return 1;
	for (size_t i = 0; i < chain->count; i++) {
		emit_deref(&e);
		emit_add(&e, chain->add[i] +
			     (i + 1 == chain->count ? address->final : 0));
	}
	if (c->rpn.size - start > TDF_RPN_MAX) {
		diag_tell(c->diag, address->pos, TRCERR_TPRTOOBIG);
		return 1;
	}
	*rpn = start;
	*rpn_length = c->rpn.size - start;
	return 0;
}
