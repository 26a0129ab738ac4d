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

static bool restored_effect(const struct flow *flow,
			    const struct flow_part *part, uint32_t at,
			    struct arch_effect *effect)
{
	return arch_effect_find(flow->source.module->arch, part->bytes + at,
				part->size - at, part->start + at, effect) &&
	       effect->known;
}

/* The code from `at` leads out of the function, the only way and without a
 * call: *written has the registers that are written on it. */
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
		    !restored_effect(flow, part, at, &effect))
			return false;
		*written |= restored_writes(&effect);
		at += insn.length;
	}
	return false;
}

/* The registers that the code before the nominal address has restored. 0 or
 * -ENOMEM. */
static int restored_find(const struct compilation *c,
			 const struct compile_site *site, uint32_t *restored)
{
	const struct flow_part *part;
	const struct flow *flow;
	uint32_t written = 0, at;
	uint64_t entry;
	int code = analysis_flow(c, site->nominal, &flow, &entry);

	*restored = 0;
	if (code)
		return code == -ENOENT ? 0 : code;
	part = flow_part_find(flow, site->nominal);
	at = part ? site->nominal - part->start : 0;
	if (!part || !leaves(flow, part, at, &written))
		return 0;
	/* loaded on the straight line that ends here, and not written since */
	for (int i = 0; i < LOOKED_AT && !(part->marks[at] & FLOW_TARGET);
	     i++) {
		struct arch_effect effect;
		struct arch_insn insn;
		int64_t before = flow_insn_before(flow, part, at, &insn);

		if (before < 0 || insn.flow != ARCH_FLOW_NEXT ||
		    !restored_effect(flow, part, before, &effect))
			break;
		*restored |= restored_loads(c->module->arch, &effect) &
			     ~written;
		written |= restored_writes(&effect);
		at = before;
	}
	return 0;
}

/* The first of the registers that the place is computed from; -1: none. */
static int register_of(const struct place *place, uint32_t registers)
{
	uint64_t number;
	int64_t offset;

	for (size_t i = 0; i < place->count; i++) {
		const struct bytes *rpn = &place->pieces[i].rpn;
		struct rpn_op op = {0};

		while (rpn_next(rpn->data, rpn->size, &op))
			if (op.code != RPN_bregx &&
			    rpn_is_register(&op, &number, &offset) &&
			    registers & BIT(number))
				return number;
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
