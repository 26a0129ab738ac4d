// SPDX-License-Identifier: GPL-2.0
/* Values, and what all parts load: cookies, keys, members of the kernel's. */
#include "gen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void gen_fail(struct gen *gen, int code, const char *fmt, ...)
{
	char text[256];
	va_list args;

	if (gen->c->error)
		return;
	code_fail(gen->c, code);
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	error_set(gen->plan->err, code, "%s", text);
}

void gen_note(struct gen *gen, int stmt)
{
	gen->stmt = stmt;
	code_note(gen->c, stmt);
}

struct gen_value value_const(uint64_t number)
{
	return (struct gen_value){ .kind = VALUE_CONST, .add = number };
}

struct gen_value value_memory(int base, int off, int bytes, uint64_t add)
{
	return (struct gen_value){
		.kind = VALUE_MEMORY, .base = base, .off = off,
		.bytes = bytes, .add = add,
	};
}

struct gen_value value_slot(code_slot slot, int off, int bytes)
{
	return (struct gen_value){
		.kind = VALUE_SLOT, .slot = slot, .off = off, .bytes = bytes,
	};
}

struct gen_value value_temp(int reg)
{
	return (struct gen_value){ .kind = VALUE_TEMP, .base = reg };
}

#define OFFSET_END	(1 << 29)	/* BPF_MAX_VAR_OFF */

/* The verifier of Linux 6.12 keeps a number that was added to a copied value where
 * pointers have their offset. Where it is no offset, the value, whatever its bounds,
 * can't be added to a pointer any more: a length can't be used. After a second
 * addition the first one is forgotten (adjust_reg_min_max_vals() and
 * check_reg_sane_offset() of kernel/bpf/verifier.c). */
static void value_number_add(struct gen *gen, int reg, uint64_t number)
{
	if (!number)
		return;
	if (number >= OFFSET_END && number <= INT32_MAX) {
		code_alu_imm(gen->c, BPF_ADD, reg, number / 2);
		number -= number / 2;
	}
	if ((int64_t)number == (int32_t)number)
		code_alu_imm(gen->c, BPF_ADD, reg, number);
	else
		code_alu(gen->c, BPF_ADD, reg, temp_const(gen, number));
}

void gen_value_load(struct gen *gen, const struct gen_value *v, int reg)
{
	struct code *c = gen->c;

	switch (v->kind) {
	case VALUE_CONST:
		code_const(c, reg, v->add);
		return;
	case VALUE_MEMORY:
		code_load(c, v->bytes, reg, v->base, v->off);
		break;
	case VALUE_SLOT:
		code_slot_load(c, v->bytes, reg, v->slot, v->off);
		break;
	case VALUE_TEMP:
		if (v->base != reg)
			code_move(c, reg, v->base);
		break;
	}
	value_number_add(gen, reg, v->add);
}

void value_address_load(struct gen *gen, const struct gen_value *v, int reg)
{
	gen_value_load(gen, v, reg);
	if (gen->plan->flat32)
		code_zext32(gen->c, reg);
}

int value_reg(struct gen *gen, const struct gen_value *v)
{
	int reg = v->base;

	if (v->kind == VALUE_TEMP && !v->add)
		return reg;
	reg = code_temp_new(gen->c);
	gen_value_load(gen, v, reg);
	return reg;
}

int temp_load(struct gen *gen, int bytes, int base, int off)
{
	int reg = code_temp_new(gen->c);

	code_load(gen->c, bytes, reg, base, off);
	return reg;
}

int temp_const(struct gen *gen, uint64_t number)
{
	int reg = code_temp_new(gen->c);

	code_const(gen->c, reg, number);
	return reg;
}

/* Without branches: the verifier would walk all that follows once for each way. */
int highest_bit(struct gen *gen, int number)
{
	/* of the numbers below 16, four bits each */
	const uint64_t table = 0x3333333322221100;
	struct code *c = gen->c;
	int rest = code_copy(c, number), place = temp_const(gen, 0);
	int part = code_temp_new(c);

	for (int step = 32; step > 2; step /= 2) {
		code_move(c, part, rest);
		code_alu_imm(c, BPF_RSH, part, step);
		code_alu_imm(c, BPF_NEG, part, 0);
		code_alu_imm(c, BPF_ARSH, part, 63);
		code_alu_imm(c, BPF_AND, part, step);
		code_alu(c, BPF_RSH, rest, part);
		code_alu(c, BPF_ADD, place, part);
	}
	code_alu_imm(c, BPF_LSH, rest, 2);
	code_const(c, part, table);
	code_alu(c, BPF_RSH, part, rest);
	code_alu_imm(c, BPF_AND, part, 15);
	code_alu(c, BPF_ADD, place, part);
	return place;
}

struct gen_register gen_register_find(struct gen *gen, uint64_t dwarf)
{
	const struct processor_reg *reg =
		processor_reg_find(gen->plan->machine, dwarf);

	if (!reg)
		gen_fail(gen, -ENOENT, "no register has DWARF number %" PRIu64,
			 dwarf);
	else if (reg->offset < 0)
		gen_fail(gen, -EOPNOTSUPP,
			 "the kernel does not save register %" PRIu64
			 " at a probe", dwarf);
	else
		return (struct gen_register){ reg->offset, reg->bytes,
					      reg->kind == REG_IP };
	return (struct gen_register){ 0 };
}

/* The context of a program is read at constant offsets only. */
int gen_register_load(struct gen *gen, const struct body_register *own,
		      int bytes)
{
	int reg = temp_load(gen, 2, gen->offsets, 8 * (int)own->word);

	code_alu(gen->c, BPF_ADD, reg, CONTEXT);
	direct_cast(gen, reg);
	return temp_load(gen, bytes, R0, 0);
}

int gen_vector_find(struct gen *gen, uint64_t dwarf)
{
	const struct processor *cpu = gen->plan->cpu;

	if (gen->plan->target->context == BODY_KPROBE)
		gen_fail(gen, -EOPNOTSUPP,
			 "the kernel has nothing in vector registers");
	else if (dwarf - cpu->vector_first >= (uint64_t)cpu->vector_count)
		gen_fail(gen, -ENOENT, "no vector register has DWARF number %"
			 PRIu64, dwarf);
	return dwarf - cpu->vector_first;
}

int gen_ip_excess(const struct gen *gen)
{
	return gen->plan->target->context == BODY_KPROBE &&
	       !(gen->plan->site->flags & TDF_SITE_RETURN) ?
	       gen->plan->cpu->kprobe_excess : 0;
}

struct gen_value gen_bias(const struct gen *gen)
{
	const struct plan *plan = gen->plan;

	return plan->bias_known ?
	       value_memory(CONTEXT, plan->cpu->ip, 8, -plan->site->address) :
	       value_temp(gen->bias);
}

/* A part of the cookie: where struct ras_record has it, less what is before */
static int cookie_part(struct gen *gen, int bytes, int off)
{
	uint64_t cookie = gen->plan->target->cookie &
			  (RAS_COOKIE_LEVEL(1) - 1);
	int reg = code_temp_new(gen->c);

	if (gen->plan->known)
		code_const(gen->c, reg, cookie << (64 - 8 * (off + bytes)) >>
			   (64 - 8 * bytes));
	else
		code_slot_load(gen->c, bytes, reg, gen->cookie, off);
	return reg;
}

int cookie_reg(struct gen *gen)
{
	return cookie_part(gen, 8, 0);
}

int minor_reg(struct gen *gen)
{
	return cookie_part(gen, 2, 0);
}

int point_reg(struct gen *gen)
{
	return cookie_part(gen, 2, 2);
}

int site_reg(struct gen *gen)
{
	return cookie_part(gen, 4, 4);
}

void member_load(struct gen *gen, int reg, int bytes, int base,
		 uint32_t member, code_label failed)
{
	code_slot slot = code_slot_new(gen->c, bytes);
	struct code *c = gen->c;

	code_move(c, R3, base);
	if (member)
		code_alu_imm(c, BPF_ADD, R3, member);
	code_slot_address(c, R1, slot, 0);
	code_alu_imm(c, BPF_MOV, R2, bytes);
	code_call(c, BPF_FUNC_probe_read_kernel);
	code_jump_imm(c, BPF_JNE, R0, 0, failed);
	code_slot_load(c, bytes, reg, slot, 0);
}

void gen_publish(struct gen *gen, int base, int off, int reg)
{
	if (gen->plan->cpu->strong)
		code_atomic(gen->c, BPF_XCHG, base, off, reg);
	else
		code_store(gen->c, 8, base, off, reg);
}

code_slot key_new(struct gen *gen, int reg)
{
	code_slot key = code_slot_new(gen->c, 4);

	code_slot_store(gen->c, 4, key, 0, reg);
	return key;
}

code_slot cpu_key(struct gen *gen)
{
	code_call(gen->c, BPF_FUNC_get_smp_processor_id);
	return key_new(gen, R0);
}

/* The kernel of 6.1 writes no more than the name's last word. */
void comm_to_slot(struct gen *gen, code_slot slot, int off)
{
	struct code *c = gen->c;

	code_slot_store_imm(c, 8, slot, off, 0);
	code_slot_store_imm(c, 8, slot, off + 8, 0);
	code_slot_address(c, R1, slot, off);
	code_alu_imm(c, BPF_MOV, R2, GEN_COMM_BYTES);
	code_call(c, BPF_FUNC_get_current_comm);
}

void comm_to_record(struct gen *gen, int off)
{
	struct code *c = gen->c;

	code_store_imm(c, 8, RECORD, off, 0);
	code_store_imm(c, 8, RECORD, off + 8, 0);
	code_move(c, R1, RECORD);
	code_alu_imm(c, BPF_ADD, R1, off);
	code_alu_imm(c, BPF_MOV, R2, GEN_COMM_BYTES);
	code_call(c, BPF_FUNC_get_current_comm);
}

void item_place_load(struct gen *gen, const struct gen_place *place, int more,
		     int reg)
{
	int off = place->off + more;

	if (reg != place->base)
		code_move(gen->c, reg, place->base);
	if (off)
		code_alu_imm(gen->c, BPF_ADD, reg, off);
}

void item_status_store(struct gen *gen, const struct gen_place *place,
		       int status)
{
	code_store_imm(gen->c, 1, place->base, place->off + ITEM_AT(status),
		       status);
}

/* Rare, so it may read what it changes. */
void record_flag_set(struct gen *gen, int flag)
{
	int flags = temp_load(gen, 2, RECORD, RECORD_AT(flags));

	code_alu_imm(gen->c, BPF_OR, flags, flag);
	code_store(gen->c, 2, RECORD, RECORD_AT(flags), flags);
}
