/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random registers, flags and memory under which an instruction's operands in
 * memory are within INSN_DATA, mostly.
 */
#ifndef INSN_RANDOM_H
#define INSN_RANDOM_H

#include "effect_trial.h"
#include "insn_form.h"
#include "insn_run.h"

/* The register in state->regs that it is a part of; NULL: no general one */
static uint64_t *insn_register(struct insn_state *state, ZydisRegister reg,
			       bool wide)
{
	static const uint8_t order[16] = {
		0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15,
	};
	ZyanI8 id;

	if (reg < ZYDIS_REGISTER_AL || reg > ZYDIS_REGISTER_R15)
		return NULL;
	id = ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(
		wide ? ZYDIS_MACHINE_MODE_LONG_64 :
		       ZYDIS_MACHINE_MODE_LONG_COMPAT_32, reg));
	return id < 0 ? NULL : &state->regs[wide ? order[id] : id];
}

/* An address for an operand: aligned as most are, or not */
static uint64_t insn_random_address(void)
{
	uint64_t address = EFFECT_CENTRE + random_below(1024);

	return random_below(4) ? address & ~63ULL : address;
}

/* Put another distance into the copy of the instruction. */
static void insn_patch(const struct insn_decoded *insn, uint8_t *code,
		       uint64_t distance)
{
	memcpy(code + insn->zi.raw.disp.offset, &distance,
	       insn->zi.raw.disp.size / 8);
}

/* Have the operand's address in the data, by registers or by its distance. */
static void insn_aim(const struct insn_decoded *insn,
		     const ZydisDecodedOperand *operand, bool wide,
		     uint8_t *code, struct insn_state *state, uint64_t *thread)
{
	uint64_t *base = insn_register(state, operand->mem.base, wide);
	uint64_t *index = insn_register(state, operand->mem.index, wide);
	bool own = operand->mem.segment == ZYDIS_REGISTER_FS ||
		   operand->mem.segment == ZYDIS_REGISTER_GS;
	uint64_t to = insn_random_address() - operand->mem.disp.value;
	unsigned int scale = operand->mem.scale;

	if (operand->mem.segment == ZYDIS_REGISTER_FS && wide)
		*thread = INSN_DATA;
	if (own && (base || index))
		to -= INSN_DATA;
	if (base && index == base) {
		*base = to / (scale + 1);
	} else if (base) {
		uint64_t number = random_below(64);

		if (index)
			*index = number;
		*base = to - (index ? number * scale : 0);
	} else if (index) {
		*index = to / scale;
	} else if (operand->mem.base == ZYDIS_REGISTER_RIP) {
		insn_patch(insn, code, insn_random_address() - state->ip -
					       insn->zi.length);
	} else if (operand->mem.base == ZYDIS_REGISTER_NONE && !own) {
		insn_patch(insn, code, insn_random_address());
	} else if (own && wide) {
		*thread = to >> 47 ? INSN_DATA : to;
	} else if (own) {
		insn_patch(insn, code, insn_random_address() - INSN_DATA);
	}
}

static void insn_random_vectors(struct insn_state *state, bool small)
{
	/* every fourth time with exceptions of arithmetic */
	state->mxcsr = random_below(4) ? INSN_MXCSR : 0;
	state->pending = !random_below(4);
	for (int i = 0; i < INSN_VECTORS; i++)
		for (int j = 0; j < 32; j += 4) {
			uint32_t number = small ? random_below(64) :
						  random_next();

			memcpy(&state->vectors[i][j], &number, 4);
		}
}

static bool insn_is_gather(const struct insn_decoded *insn)
{
	for (int i = 0; i < insn->zi.operand_count; i++)
		if (insn->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    insn->operands[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB)
			return true;
	return false;
}

/* A state for the form, whose code is put where it runs. *thread: base of fs,
 * 0 any. */
static void insn_randomize(const struct insn_form *form,
			   const struct insn_decoded *insn,
			   struct insn_state *state, uint64_t *thread)
{
	uint64_t mask = form->wide ? ~0ULL : 0xffffffff;
	uint8_t *code = (uint8_t *)INSN_CODE + INSN_CODE_SIZE / 2;

	memset(state, 0, sizeof(*state));
	*thread = 0;
	state->ip = (uintptr_t)code;
	state->flags = random_next() & INSN_FLAGS;
	memcpy(code, form->bytes, form->length);
	insn_random_vectors(state, insn_is_gather(insn));
	for (int i = 0; i < 16; i++)
		state->regs[i] = effect_random_number();
	if (insn->zi.attributes &
	    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
	     ZYDIS_ATTRIB_HAS_REPNE))
		*insn_register(state, ZYDIS_REGISTER_RCX, true) =
			random_below(40);
	for (int i = insn->zi.operand_count - 1; i >= 0; i--)
		if (insn->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    insn->operands[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN)
			insn_aim(insn, &insn->operands[i], form->wide, code,
				 state, thread);
	for (int i = 0; i < 16; i++)
		state->regs[i] &= mask;
}

#endif
