// SPDX-License-Identifier: GPL-2.0
/*
 * Address specifications (manual 1.3.5.15) are DWARF expressions. Values are 64
 * bits wide, so in a 32-bit module every sum is cut to 32 bits. A far address
 * is two values, selector and offset, whose sums are cut to 16 bits.
 */
#include "data.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "analysis.h"
#include "lib/debug/arch/arch.h"
#include "symbol.h"
#include "value_type.h"

#define FAR_BYTES	4	/* of a far pointer: offset, selector */
#define OFFSET_MASK	0xffff
#define LEN_BYTES	2	/* a word, manual 1.3.5.8 */

/* A register in this module: its DWARF number; -1 after a message. */
static int address_register(const struct site_stmt *s,
			    const struct tsf_register *reg, uint8_t *bytes)
{
	const struct arch *arch = s->c->module->arch;
	const struct arch_register *r = arch_register_find(arch, reg->name);
	int number = r ? r->dwarf : -1;

	if (number < 0) {
		diag_report(s->c->diag, reg->pos, TRCERR_NOTAREG, reg->name);
		if (r)
			diag_hint(s->c->diag, "the module is a 32-bit one");
		return -1;
	}
	*bytes = r->bytes;
	if (!arch->inherits_names || r->bytes != 4 || r->kind == ARCH_FLAGS ||
	    s->site->repeated)
		return number;
	/* the low half is right for an int, wrong for a pointer */
	diag_report(s->c->diag, reg->pos, TRCERR_LOWHALF, r->name);
	for (size_t i = 0; i < arch->register_count; i++)
		if (arch->registers[i].dwarf == number &&
		    arch->registers[i].bytes == 8) {
			diag_hint(s->c->diag, "which is all of an int; %s logs "
				  "its 8 bytes", arch->registers[i].name);
			break;
		}
	return number;
}

/* Fbreg[{+|-}ireg]...: an E-register of a 64-bit module is its low half. */
static int compile_flat(const struct site_stmt *s, struct bytes *rpn,
			const struct tsf_address *address)
{
	bool wide = s->c->module->elf_class == ELFCLASS64;
	int64_t rest = address->displacement;

	for (size_t i = 0; i < address->register_count; i++) {
		const struct tsf_register *reg = &address->registers[i];
		uint8_t bytes = 0;
		int number = address_register(s, reg, &bytes);
		bool half = wide && bytes == 4;

		if (number < 0)
			return 1;
		emit_register(s->site, number, half || reg->minus ? 0 : rest,
			      rpn);
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
static int compile_segment(const struct site_stmt *s, struct bytes *rpn,
			   const struct tsf_address *address)
{
	uint16_t displacement = address->displacement;
	uint8_t bytes;

	for (size_t i = 0; i < address->register_count; i++) {
		const struct tsf_register *reg = &address->registers[i];
		int number = address_register(s, reg, &bytes);

		if (number < 0)
			return 1;
		if (i == 1 && reg->minus)
			rpn_emit_const(rpn, 0);
		emit_register(s->site, number, 0, rpn);
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

static int compile_registers(const struct site_stmt *s,
			     const struct tsf_address *address,
			     struct address *result)
{
	struct place *place = &result->place;
	struct bytes *rpn = place_begin(place, PLACE_MEMORY);
	size_t used = 0;

	if (!rpn)
		return diag_no_memory(s->c->diag, address->pos);
	for (size_t i = 0; i < address->register_count &&
			   used < sizeof(place->where); i++) {
		const struct tsf_register *reg = &address->registers[i];

		used += snprintf(place->where + used,
				 sizeof(place->where) - used, "%s%s",
				 !i ? "" : reg->minus ? "-" : "+", reg->name);
	}
	if (address->form == TSF_ADDRESS_FLAT)
		return compile_flat(s, rpn, address);
	result->segment = true;
	return compile_segment(s, rpn, address);
}

/* The displacement of a symbol: part of a static address, which it mustn't
 * carry into another section, else added to it. */
static void symbol_displace(const struct site_stmt *s, int64_t displacement,
			    struct address *result)
{
	bool wide = s->c->module->elf_class == ELFCLASS64;
	struct bytes *rpn = &result->place.pieces[0].rpn;
	struct rpn_op op;

	if (!address_in_memory(result)) {
		result->offset = displacement;
		return;
	}
	if (s->c->module->kind != TDF_MODULE_USER ||
	    !rpn_single(rpn->data, rpn->size, &op) || op.code != RPN_addr) {
		rpn_emit_add(rpn, displacement, wide);
		return;
	}
	rpn->size = 0;
	op.a += displacement;
	rpn_emit_addr(rpn, wide ? op.a : (uint32_t)op.a);
}

/* Flat pointers have the type of what they point at. */
static void compile_type(const struct tsf_address *address, bool segmented,
			 struct address *result)
{
	Dwarf_Die *type = &result->type;
	bool typed = result->typed;

	result->pointer = typed && !address->add_count &&
			  !address->displacement &&
			  address_type_is_text_pointer(type);
	typed = typed && address_type_at(type, address->displacement) &&
		(!address->add_count ||
		 (!segmented && address->flag == TSF_INDIRECT));
	for (size_t i = 0; i < address->add_count; i++)
		typed = typed && address_type_target(type) &&
			address_type_at(type, address->add[i]);
	result->typed = typed;
}

/* One dereference, and what is added after it. */
static int compile_link(const struct site_stmt *s, const struct tsf_address *in,
			bool loads_far, int64_t add, struct address *result)
{
	bool wide = s->c->module->elf_class == ELFCLASS64;
	unsigned int bytes = loads_far ? FAR_BYTES : wide ? 8 : 4;
	const char *why = "it has fewer bytes than a pointer";
	struct place target;
	struct bytes *rpn = place_begin(&target, PLACE_MEMORY);
	int code = 0;

	if (!rpn)
		return diag_no_memory(s->c->diag, in->pos);
	if (result->segment) {
		bytes_join(rpn, &result->place.pieces[0].rpn);
		rpn_emit_op(rpn, RPN_xderef_size);
		rpn_emit_op(rpn, bytes);
	} else if (place_value(&result->place, result->offset, bytes, false,
			       rpn)) {
		place_is_known(&result->place, result->offset, bytes, &why);
		code = message_absent(s->c, s->site, in->pos, in->name, why,
				      NULL);
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

/* `segmented`: pointers at a symbol are far ones (MEM, ASCIIZ). */
static int address_compile(const struct site_stmt *s,
			   const struct tsf_address *address, bool segmented,
			   struct address *result)
{
	bool symbol = address->form == TSF_ADDRESS_SYMBOL;
	bool far = address->form == TSF_ADDRESS_SEGMENT ||
		   (symbol && segmented);
	int code;

	memset(result, 0, sizeof(*result));
	code = symbol ? symbol_resolve(s->c, s->site, address->pos,
				       address->name, false, result) :
			compile_registers(s, address, result);
	if (code)
		return code;
	compile_type(address, segmented, result);
	if (address_is_absent(result))
		return 0;
	if (symbol)
		symbol_displace(s, address->displacement, result);
	for (size_t i = 0; i < address->add_count && !code; i++) {
		bool switched = i + 1 == address->add_count &&
				(address->flag == TSF_IF ||
				 address->flag == TSF_IS);

		code = compile_link(s, address, far != switched,
				    address->add[i], result);
	}
	return code;
}

static int data_register(const struct site_stmt *s)
{
	const struct tsf_register *reg = &s->in->reg;
	struct bytes rpn = {0};
	struct compile_item *item = s->item;
	struct tdf_stmt *out;
	uint8_t bytes;
	int number = address_register(s, reg, &bytes), code;
	bool saved;

	if (number < 0)
		return 1;
	item->raw = true;
	item->bytes = bytes;
	item->label = reg->name;
	saved = arch_register_find(s->c->module->arch, reg->name)->pt_regs >= 0;
	item->kind = saved ? TDF_STMT_REG : TDF_STMT_MEM;
	if (saved && !(s->site->result_rpn &&
		       (unsigned int)number == s->site->result)) {
		out = emit_stmt(s->c, s->out, reg->pos, reg->name);
		if (!out)
			return -1;
		out->kind = TDF_STMT_REG;
		out->reg = number;
		out->reg_bytes = bytes;
		return 0;
	}
	/* registers that a probe doesn't save are read from the task, and a
	 * result that is not in its register yet is computed */
	emit_register(s->site, number, 0, &rpn);
	code = emit_value(s, reg->pos, reg->name, TDF_STMT_VALUE, TDF_STMT_RAW,
			  bytes, &rpn);
	bytes_free(&rpn);
	return code;
}

/* The type that has so many bytes, else the one that begins there: the bytes
 * are a part of it, or several of its kind. */
static void item_find_type(const struct site_stmt *s,
			   const struct address *address)
{
	struct compile_item *item = s->item;
	Dwarf_Die type = address->type;

	if (!address->typed || item->kind == TDF_STMT_ASCIIZ)
		return;
	if (item->variable) {
		if (address_type_is_composed(&type))
			return;
	} else if (!address_type_sized(&type, item->bytes)) {
		type = address->type;
	}
	item->ctype = ctypes_add(&s->out->ctypes, &type);
}

/* REGS=(.name): the value of a variable, wherever it is (manual 1.3.5.10). */
static int data_variable(const struct site_stmt *s)
{
	const struct tsf_register *reg = &s->in->reg;
	struct compile_item *item = s->item;
	struct address address = {0};
	uint64_t bytes;
	int code = symbol_resolve(s->c, s->site, reg->pos, reg->name, true,
			       &address);

	if (code)
		goto out;
	bytes = address_type_bytes(&address.type);
	if (bytes > s->c->tsf->maxdata) {
		if (!s->site->repeated)
			diag_report(s->c->diag, reg->pos, TRCERR_MAXLEN_EXCEED);
		bytes = s->c->tsf->maxdata;
	}
	item->kind = TDF_STMT_MEM;
	item->raw = true;
	item->bytes = bytes;
	item->label = tsf_format(s->c->tsf, ".%s", reg->name);
	item_find_type(s, &address);
	if (bytes)
		code = emit_place(s, reg->pos, reg->name, &address.place, 0,
				  bytes, true);
	else
		code = message_absent(s->c, s->site, reg->pos, reg->name,
				      "how many bytes it has is not known",
				      NULL);
out:
	place_free(&address.place);
	return code;
}

/* The address of a length in memory, or the length as a value: of a variable
 * that is in a register, say. */
static int len_emit(const struct site_stmt *s, const struct address *len,
		    struct tdf_stmt *out)
{
	const struct tsf_address *named = &s->in->len_address;
	const struct bytes *address = address_in_memory(len);
	const char *why = "it has fewer bytes than the length";
	struct bytes rpn = {0};
	int code;

	out->flags |= TDF_STMT_LEN;
	if (address) {
		if (len->segment)
			out->flags |= TDF_STMT_LEN_SEGMENT;
		return emit_rpn(s, named->pos, address, &out->len_rpn,
				&out->len_rpn_length);
	}
	out->flags |= TDF_STMT_LEN_VALUE;
	code = place_value(&len->place, len->offset, out->len_bytes, false,
			   &rpn);
	if (code) {
		place_is_known(&len->place, len->offset, out->len_bytes, &why);
		code = message_absent(s->c, s->site, named->pos, named->name,
				      why, NULL);
	} else {
		code = emit_rpn(s, named->pos, &rpn, &out->len_rpn,
				&out->len_rpn_length);
	}
	bytes_free(&rpn);
	return code;
}

static int memory_emit(const struct site_stmt *s, const struct address *at,
		       const struct address *len)
{
	const struct tsf_stmt *in = s->in;
	bool no_length = in->has_len && address_is_absent(len);
	const struct address *absent = no_length ? len : at;
	const struct tsf_address *named = no_length ? &in->len_address :
						      &in->address;
	const struct bytes *rpn = address_in_memory(at);
	struct tdf_stmt *out;
	char why[128];
	int code;

	if (address_is_absent(absent))
		return emit_absent(s, named->pos, named->name,
				   absent->place.pieces[0].why, false);
	if (!at->segment && !in->has_len && in->kind != TSF_ASCIIZ)
		return emit_place(s, in->address.pos,
				  named->name ? named->name : "", &at->place,
				  at->offset, s->item->bytes, false);
	/* a string, a variable length, a far address: one statement with the
	 * address in memory */
	if (!rpn) {
		snprintf(why, sizeof(why),
			 "it is not in memory as a whole (%s)",
			 at->place.where);
		return message_absent(s->c, s->site, in->address.pos,
				      in->address.name, why, at->pointer ?
				      "INDIRECT takes its value as an address" :
				      NULL);
	}
	out = emit_stmt(s->c, s->out, in->pos, at->place.where);
	if (!out)
		return -1;
	out->kind = s->item->kind;
	out->length = s->item->bytes;
	out->flags = at->segment ? TDF_STMT_SEGMENT : 0;
	out->len_bytes = s->item->len_bytes;
	code = emit_rpn(s, in->address.pos, rpn, &out->rpn, &out->rpn_length);
	return code || !in->has_len ? code : len_emit(s, len, out);
}

static void label_add_number(struct bytes *label, int64_t number)
{
	if (number)
		bytes_print(label, "%+" PRId64, number);
}

/* As in the TSF: ".p+8*+4", "FEBP+EDI". NULL: no memory. */
static const char *memory_label_make(struct tsf *tsf,
				     const struct tsf_address *address)
{
	struct bytes label = {0};
	const char *text = NULL;

	if (address->form == TSF_ADDRESS_SYMBOL)
		bytes_print(&label, ".%s", address->name);
	else
		bytes_print(&label, address->form == TSF_ADDRESS_FLAT ? "F" :
									"R");
	for (size_t i = 0; i < address->register_count; i++)
		bytes_print(&label, "%s%s", !i ? "" :
			    address->registers[i].minus ? "-" : "+",
			    address->registers[i].name);
	label_add_number(&label, address->displacement);
	for (size_t i = 0; i < address->add_count; i++) {
		bytes_print(&label, "*");
		label_add_number(&label, address->add[i]);
	}
	if (!label.failed)
		text = tsf_format(tsf, "%.*s", (int)label.size,
				  (char *)label.data);
	bytes_free(&label);
	return text;
}

static int data_memory(const struct site_stmt *s)
{
	const struct tsf_stmt *in = s->in;
	struct compile_item *item = s->item;
	struct address at, len = {0};
	int code = address_compile(s, &in->address, in->segmented, &at);

	if (!code && in->has_len)
		code = address_compile(s, &in->len_address, in->segmented,
				       &len);
	if (code)
		goto out;
	item->kind = in->kind == TSF_MEM ? TDF_STMT_MEM : TDF_STMT_ASCIIZ;
	item->bytes = in->has_len ? s->c->tsf->maxdata : in->length;
	item->variable = in->has_len || in->kind == TSF_ASCIIZ;
	item->label = memory_label_make(s->c->tsf, &in->address);
	item_find_type(s, &at);
	if (in->has_len) {
		item->len_bytes = in->len_bytes;
		if (!item->len_bytes && len.typed)
			item->len_bytes = address_type_integer(&len.type);
		if (!item->len_bytes)
			item->len_bytes = LEN_BYTES;
	}
	if (in->kind == TSF_ASCIIZ && at.pointer && !s->site->repeated) {
		diag_report(s->c->diag, in->address.flag_pos,
			    TRCERR_POINTERBYTES, in->address.name);
		diag_hint(s->c->diag, "the string that it points at: INDIRECT");
	}
	code = memory_emit(s, &at, &len);
out:
	place_free(&at.place);
	place_free(&len.place);
	return code;
}

/*
 * Where calls leave the return address in a register, a frame pointer to a
 * frame record, or that register, gives STACK its first address
 * (bpf/code/stack.c).
 * False: neither of them has to be right at the site, because the function
 * keeps the address elsewhere and has no frame record.
 */
static bool link_is_known(const struct site_stmt *s)
{
	const struct arch *arch = s->c->module->arch;
	uint64_t address = s->site->address;
	bool called = false;	/* the register's first value is gone */
	bool built = false;	/* the frame pointer points to the record */
	const struct flow_part *part;
	const struct flow *flow;

	if (arch->link < 0 || !s->site->symbol_offset)
		return true;
	if (analysis_flow(s->c, address, &flow, NULL))
		return false;
	part = flow_part_find(flow, address);
	if (!part)
		return false;
	if (!flow_frame_find(flow, address).has_link)
		return true;
	/* in the order of addresses: prologues come first */
	for (uint32_t at = 0; part->start + at < address; at++) {
		struct arch_effect effect;
		struct arch_insn insn;

		if (!(part->marks[at] & FLOW_INSN) ||
		    !flow_insn(flow, part, at, &insn))
			continue;
		called |= insn.flow == ARCH_FLOW_CALL;
		if (!arch_effect_find(arch, part->bytes + at, part->size - at,
				      part->start + at, &effect))
			continue;
		for (uint8_t i = 0; i < effect.count; i++) {
			const struct arch_transfer *t = &effect.transfers[i];

			built |= !t->to_memory && t->to == arch->frame &&
				 t->source == ARCH_SOURCE_REGISTER &&
				 t->reg == arch->stack;
		}
	}
	return built || !called;
}

/*
 * The kernel unwinds its own stack; what a return probe has returned from is known.
 * Without a description of frames the caller's is known where the function begins;
 * else the frame pointer has to do.
 */
int data_frame_emit(const struct site_stmt *s, struct srcpos pos,
		    struct tdf_stmt *out)
{
	const struct compilation *c = s->c;
	const struct arch *arch = c->module->arch;
	const struct compile_site *site = s->site;
	struct bytes rpn = {0};
	struct error err = {0};
	int code = 0;

	if (c->module->kind == TDF_MODULE_USER &&
	    !(site->flags & TDF_SITE_RETURN)) {
		code = dwarf_frame_address_emit(c->dwarf, c->module,
						site->address, &rpn, &err);
		if (code && code != -ENOMEM) {
			code = 0;
			rpn.size = 0;
			if (site->symbol && site->symbol[0] &&
			    !site->symbol_offset)
				rpn_emit_register(&rpn, arch->stack,
						  arch->call_bytes);
		}
		if (!link_is_known(s))
			rpn.size = 0;
	}
	if (code || rpn.failed)
		code = diag_no_memory(c->diag, pos);
	else if (rpn.size)
		code = emit_rpn(s, pos, &rpn, &out->rpn, &out->rpn_length);
	bytes_free(&rpn);
	return code;
}

static int data_stack(const struct site_stmt *s)
{
	struct tdf_stmt *out = emit_stmt(s->c, s->out, s->in->pos,
					 "return addresses");

	if (!out)
		return -1;
	out->kind = TDF_STMT_STACK;
	out->length = s->in->length;
	s->item->kind = TDF_STMT_STACK;
	s->item->variable = true;
	s->item->bytes = s->in->length * TSF_FRAME_BYTES;
	s->item->label = "stack";
	return data_frame_emit(s, s->in->pos, out);
}

int data_compile(const struct site_stmt *s)
{
	int code;

	if (s->in->kind == TSF_STACK)
		code = data_stack(s);
	else if (s->in->kind != TSF_REGS)
		code = data_memory(s);
	else if (s->in->reg_is_variable)
		code = data_variable(s);
	else
		code = data_register(s);
	return code || s->item->label ? code :
	       diag_no_memory(s->c->diag, s->in->pos);
}
