// SPDX-License-Identifier: GPL-2.0
#include "restored.h"

#include <errno.h>
#include "lib/formats/rpn.h"
#include "analysis.h"

#define LOOKED_AT	64	/* instructions, either way */

#define BIT(number)	((number) < ARCH_REGISTERS ? 1u << (number) : 0)

uint32_t restored_loads(const struct arch *arch,
			const struct arch_effect *effect)
{
	unsigned int width = arch->elf_class == ELFCLASS64 ? 8 : 4;
	uint32_t loaded = 0;

	for (uint8_t i = 0; i < effect->count; i++) {
		const struct arch_transfer *t = &effect->transfers[i];

		if (!t->to_memory && t->source == ARCH_SOURCE_MEMORY &&
		    t->memory.space == ARCH_SPACE_BASE &&
		    (t->memory.base == arch->stack ||
		     t->memory.base == arch->frame) &&
		    t->memory.bytes == width && t->to != arch->stack &&
		    arch_register_is_kept(arch, t->to))
			loaded |= BIT(t->to);
	}
	return loaded;
}

uint32_t restored_writes(const struct arch_effect *effect)
{
	uint32_t written = 0;

	for (uint8_t i = 0; i < effect->count; i++)
		if (!effect->transfers[i].to_memory)
			written |= BIT(effect->transfers[i].to);
	return written;
}

static bool effect_at(const struct flow *flow, const struct flow_part *part,
		      uint32_t at, struct arch_effect *effect)
{
	return arch_effect_find(flow->source.module->arch, part->bytes + at,
				part->size - at, part->start + at, effect) &&
	       effect->known;
}

/* The one way from `at` leads out of the function without a call: *written has
 * the registers that are written on it. */
static bool leaves(const struct flow *flow, const struct flow_part *part,
		   uint32_t at, uint32_t *written)
{
	for (int i = 0; i < LOOKED_AT; i++) {
		struct arch_effect effect;
		struct arch_insn insn;
		uint64_t target;

		if (at >= part->size || !flow_insn(flow, part, at, &insn))
			return false;
		if (insn.flow == ARCH_FLOW_RETURN ||
		    (insn.flow == ARCH_FLOW_COMPUTED &&
		     !(part->marks[at] & FLOW_SWITCH)))
			return true;
		if (insn.flow == ARCH_FLOW_JUMP) {
			target = flow_target(flow, part->start + at, &insn);
			part = flow_part_find(flow, target);
			if (!part)
				return true;
			at = target - part->start;
			continue;
		}
		if (insn.flow != ARCH_FLOW_NEXT ||
		    !effect_at(flow, part, at, &effect))
			return false;
		*written |= restored_writes(&effect);
		at += insn.length;
	}
	return false;
}

/* What was loaded on the straight line that ends at `at`, and not written
 * after that. */
static uint32_t loaded_before(const struct flow *flow,
			      const struct flow_part *part, uint32_t at,
			      uint32_t written)
{
	const struct arch *arch = flow->source.module->arch;
	uint32_t loaded = 0;

	for (int i = 0; i < LOOKED_AT && !(part->marks[at] & FLOW_TARGET);
	     i++) {
		struct arch_effect effect;
		struct arch_insn insn;
		int64_t before = flow_insn_before(flow, part, at, &insn);

		if (before < 0 || insn.flow != ARCH_FLOW_NEXT ||
		    !effect_at(flow, part, before, &effect))
			break;
		loaded |= restored_loads(arch, &effect) & ~written;
		written |= restored_writes(&effect);
		at = before;
	}
	return loaded;
}

static int restored_find(const struct compilation *c,
			 const struct compile_site *site, uint32_t *restored)
{
	const struct flow_part *part;
	const struct flow *flow;
	uint32_t written = 0;
	uint64_t entry;
	int code = analysis_flow(c, site->nominal, &flow, &entry);

	*restored = 0;
	if (code)
		return code == -ENOENT ? 0 : code;
	part = flow_part_find(flow, site->nominal);
	if (part && leaves(flow, part, site->nominal - part->start, &written))
		*restored = loaded_before(flow, part,
					  site->nominal - part->start,
					  written);
	return 0;
}

/* The first of the registers that the place is computed from; -1: none. */
static int register_of(const struct place *place, uint32_t registers)
{
	for (size_t i = 0; i < place->count; i++) {
		const struct bytes *rpn = &place->pieces[i].rpn;
		struct rpn_op op = { 0 };

		while (rpn_next(rpn->data, rpn->size, &op))
			if (op.code >= RPN_breg && op.code <= RPN_breg_last &&
			    registers & BIT(op.index))
				return op.index;
	}
	return -1;
}

int restored_check(const struct compilation *c, const struct compile_site *site,
		   const struct place *place, struct error *err)
{
	const struct arch *arch = c->module->arch;
	uint32_t kept = 0, restored;
	char name[16];
	int number;

	for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
		if (arch_register_is_kept(arch, i) && i != arch->stack)
			kept |= BIT(i);
	if (!c->analysis || !c->module->elf || register_of(place, kept) < 0)
		return 0;
	if (restored_find(c, site, &restored))
		return error_no_memory(err);
	number = register_of(place, restored);
	if (number < 0)
		return 0;
	arch_register_print(arch, number, name, sizeof(name));
	return error_set(err, -ENODATA, "it was in %s, which has the caller's "
			 "value again here", name);
}
