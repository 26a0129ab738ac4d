// SPDX-License-Identifier: GPL-2.0
#include "link.h"

#include "lib/debug/arch/arch.h"
#include "site.h"

struct record {
	bool called;		/* what the register had is gone */
	bool built;		/* the frame pointer leads to the record */
};

static bool sets_frame(const struct arch *arch,
		       const struct arch_effect *effect)
{
	for (uint8_t i = 0; i < effect->count; i++) {
		const struct arch_transfer *t = &effect->transfers[i];

		if (!t->to_memory && t->to == arch->frame &&
		    t->source == ARCH_SOURCE_REGISTER && t->reg == arch->stack)
			return true;
	}
	return false;
}

/* In the order of addresses: prologues come first. */
static void part_read(const struct flow *flow, const struct flow_part *part,
		      uint64_t address, struct record *record)
{
	const struct arch *arch = flow->source.module->arch;

	for (uint32_t at = 0; part->start + at < address; at++) {
		struct arch_effect effect;
		struct arch_insn insn;

		if (!(part->marks[at] & FLOW_INSN) ||
		    !flow_insn(flow, part, at, &insn))
			continue;
		record->called |= insn.flow == ARCH_FLOW_CALL;
		if (arch_effect_find(arch, part->bytes + at, part->size - at,
				     part->start + at, &effect))
			record->built |= sets_frame(arch, &effect);
	}
}

bool link_is_known(struct compilation *c, const struct compile_site *site)
{
	struct record record = { 0 };
	const struct flow_part *part;
	const struct flow *flow;
	uint64_t entry;

	if (c->module->arch->link < 0 || !site->symbol_offset)
		return true;
	if (site_flow_find(c, site->address, &flow, &entry))
		return false;
	part = flow_part_find(flow, site->address);
	if (!part)
		return false;
	if (!flow_frame_find(flow, site->address).has_link)
		return true;
	part_read(flow, part, site->address, &record);
	return record.built || !record.called;
}
