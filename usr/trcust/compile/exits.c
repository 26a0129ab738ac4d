// SPDX-License-Identifier: GPL-2.0
#include "exits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../module/code.h"

#define BEFORE_MAX	12	/* instructions looked at before a jump */
#define TABLES_MAX	1024	/* looked for in the relocations */

struct finder {
	struct flow flow;
	struct exits *exits;
	struct flow_frame *switches;	/* at jumps that stay inside */
	size_t switch_count, switch_room;
	unsigned int tables;	/* looked for */
	bool unsettled;		/* a table is used that isn't known */
	bool labels;		/* a table of labels was met */
};

/* Up to BEFORE_MAX instructions that end with the one at `at`; how many. */
static size_t insns_before(const struct flow *flow,
			   const struct flow_part *part, uint32_t at,
			   struct arch_code *insns)
{
	struct arch_code last[BEFORE_MAX];
	struct arch_insn insn;
	size_t count = 0;
	int64_t i = at;

	if (!flow_insn(flow, part, at, &insn))
		return 0;
	do {
		last[count++] = (struct arch_code) {
			part->start + i, part->bytes + i, insn.length,
		};
		i = flow_insn_before(flow, part, i, &insn);
	} while (i >= 0 && count < BEFORE_MAX &&
		 insn.flow <= ARCH_FLOW_BRANCH);
	for (size_t j = 0; j < count; j++)
		insns[j] = last[count - 1 - j];
	return count;
}

/* The word of data at address, as the file has it. */
static bool read_pointer(const struct module *module, uint64_t address,
			 uint64_t *value)
{
	size_t size = module->elf_class == ELFCLASS64 ? 8 : 4;

	for (size_t i = 0; i < module->segment_count; i++) {
		const struct module_segment *seg = &module->segments[i];
		uint64_t at = address - seg->address;
		Elf_Data *data;

		if (at >= seg->size || seg->size - at < size)
			continue;
		data = elf_getdata_rawchunk(module->elf, seg->offset + at,
					    size, ELF_T_BYTE);
		if (!data || !data->d_buf)
			return false;
		*value = 0;
		memcpy(value, data->d_buf, size);
		return true;
	}
	return false;
}

/* The addend of the relative relocation of the word at address. */
static bool read_relocation(const struct module *module, uint64_t address,
			    uint64_t *value)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Rela rela;

	while ((scn = elf_nextscn(module->elf, scn))) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA ||
		    !(sh.sh_flags & SHF_ALLOC) ||
		    !(data = elf_getdata(scn, NULL)))
			continue;
		for (int i = 0; gelf_getrela(data, i, &rela); i++) {
			if (rela.r_offset != address)
				continue;
			*value = rela.r_addend;
			return !GELF_R_SYM(rela.r_info);
		}
	}
	return false;
}

/* The first address in a table is one of this function: it has the labels of
 * a switch or of a computed goto. */
static bool table_is_inside(struct finder *f, uint64_t table)
{
	const struct module *module = f->flow.source.module;
	uint64_t value;

	return table && f->tables++ < TABLES_MAX &&
	       ((read_pointer(module, table, &value) &&
		 flow_part_find(&f->flow, value)) ||
		(read_relocation(module, table, &value) &&
		 flow_part_find(&f->flow, value)));
}

/* Does the computed jump stay in the function? With a frame it does: a tail
 * call gives that back before. */
static bool jump_is_inside(struct finder *f, const struct flow_part *part,
			   uint32_t at, const struct flow_frame *frame)
{
	struct arch_code insns[BEFORE_MAX];
	size_t count = insns_before(&f->flow, part, at, insns);
	uint64_t table;

	if (frame->known && !flow_frame_is_empty(&f->flow, frame))
		return true;
	switch (arch_computed_find(insns, count,
				   f->flow.source.module->elf_class, &table)) {
	case ARCH_COMPUTED_SWITCH:
		return true;
	case ARCH_COMPUTED_TABLE:
		f->unsettled |= !table;
		f->labels |= table_is_inside(f, table);
		return f->labels;
	default:
		return false;
	}
}

/* Mark computed jumps that stay inside, and remember the frames there. */
static void mark_switch(struct finder *f, struct flow_part *part, uint32_t at,
			const struct arch_insn *insn)
{
	struct flow_frame *frame, now;

	if (insn->flow != ARCH_FLOW_COMPUTED || part->marks[at] & FLOW_SWITCH)
		return;
	now = flow_frame_find(&f->flow, part->start + at);
	if (!jump_is_inside(f, part, at, &now))
		return;
	part->marks[at] |= FLOW_SWITCH;
	frame = flow_append(&f->flow, &f->switches, &f->switch_count,
			    &f->switch_room, sizeof(*frame));
	if (frame)
		*frame = now;
}

/* Does the function take the address of a table of its labels? */
static void find_labels(struct finder *f, struct flow_part *part, uint32_t at,
			const struct arch_insn *insn)
{
	struct arch_code code = {
		part->start + at, part->bytes + at, insn->length,
	};
	uint64_t table;

	if (!f->labels &&
	    arch_address_find(&code, f->flow.source.module->elf_class, &table))
		f->labels = table_is_inside(f, table);
}

/* A way that was not seen may lead to here: by the table of a switch that has
 * the frame as it is here. */
static bool may_be_label(const struct finder *f, uint64_t address)
{
	struct flow_frame frame;

	if (!f->switch_count)
		return false;
	frame = flow_frame_find(&f->flow, address);
	for (size_t i = 0; i < f->switch_count; i++) {
		const struct flow_frame *other = &f->switches[i];

		if (!frame.known || !other->known ||
		    (frame.reg == other->reg && frame.offset == other->offset))
			return true;
	}
	return false;
}

static bool may_be_probed(const struct finder *f, const struct flow_part *part,
			  uint32_t at)
{
	struct arch_insn insn;

	return !(part->marks[at] & FLOW_INNER) &&
	       flow_insn(&f->flow, part, at, &insn) &&
	       code_is_good(f->flow.source.module, &insn);
}

/* Go back from an exit over its epilogue, as long as every way to the exit
 * comes along there. */
static void exit_add(struct finder *f, const struct flow_part *part,
		     uint32_t exit, bool tail_call)
{
	struct exits *exits = f->exits;
	uint32_t at = exit, best = exit;
	struct exits_site *site;

	while (!(part->marks[at] & FLOW_TARGET) &&
	       !may_be_label(f, part->start + at)) {
		struct arch_insn insn;
		int64_t before = flow_insn_before(&f->flow, part, at, &insn);

		if (before < 0 || !insn.epilogue)
			break;
		at = before;
		if (may_be_probed(f, part, at))
			best = at;
	}
	site = flow_append(&f->flow, &exits->sites, &exits->count,
			   &exits->room, sizeof(*site));
	if (site)
		*site = (struct exits_site) {
			part->start + best, part->start + exit, tail_call,
		};
}

static bool leads_to_return(const struct finder *f, uint64_t target)
{
	const struct module_symbol *symbol =
		symbol_index_find(f->flow.source.symbols, target);

	return symbol && symbol->address == target &&
	       arch_name_returns(symbol->name, symbol->name_length);
}

static void take_jump(struct finder *f, const struct flow_part *part,
		      uint32_t at, const struct arch_insn *insn)
{
	uint64_t address = part->start + at;
	uint64_t target = flow_target(&f->flow, address, insn);

	if (flow_part_find(&f->flow, target))
		return;
	if (insn->flow == ARCH_FLOW_BRANCH)
		flow_lose(&f->flow, address,
			  "it is a conditional jump to other code");
	else
		exit_add(f, part, at, !leads_to_return(f, target));
}

/* The instruction at a part's end goes on into what follows. */
static bool falls_out(const struct finder *f, const struct flow_part *part,
		      uint32_t at, const struct arch_insn *insn)
{
	uint64_t behind = part->start + at + insn->length;
	size_t available;

	return at + insn->length >= part->size && !insn->padding &&
	       !flow_part_find(&f->flow, behind) &&
	       module_code(f->flow.source.module, behind, &available, NULL);
}

static void take_exit(struct finder *f, struct flow_part *part, uint32_t at,
		      const struct arch_insn *insn)
{
	switch (insn->flow) {
	case ARCH_FLOW_RETURN:
		exit_add(f, part, at, false);
		break;
	case ARCH_FLOW_BRANCH:
	case ARCH_FLOW_JUMP:
		take_jump(f, part, at, insn);
		break;
	case ARCH_FLOW_COMPUTED:
		if (!(part->marks[at] & FLOW_SWITCH))
			exit_add(f, part, at, true);
		break;
	case ARCH_FLOW_NEXT:
		if (falls_out(f, part, at, insn))
			exit_add(f, part, at, true);
		break;
	default:
		break;
	}
}

static void each_insn(struct finder *f,
		      void (*take)(struct finder *f, struct flow_part *part,
				   uint32_t at, const struct arch_insn *insn))
{
	for (size_t i = 0; i < f->flow.part_count; i++) {
		struct flow_part *part = &f->flow.parts[i];
		struct arch_insn insn;

		for (uint32_t at = 0; at < part->size && !f->flow.failed; at++)
			if (part->marks[at] & FLOW_INSN &&
			    flow_insn(&f->flow, part, at, &insn))
				take(f, part, at, &insn);
	}
}

static int site_compare(const void *a, const void *b)
{
	const struct exits_site *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void find_all(struct finder *f)
{
	struct exits *exits = f->exits;

	each_insn(f, mark_switch);
	if (f->unsettled)
		each_insn(f, find_labels);
	if (f->labels)
		each_insn(f, mark_switch);
	if (f->flow.undecoded && f->switch_count)
		flow_lose(&f->flow, f->flow.undecoded,
			  "what stands there is no instruction");
	each_insn(f, take_exit);
	if (exits->count)
		qsort(exits->sites, exits->count, sizeof(*exits->sites),
		      site_compare);
	exits->lost = f->flow.lost;
	exits->lost_count = f->flow.lost_count;
	f->flow.lost = NULL;
}

int exits_find(const struct flow_source *source, uint64_t entry,
	       const struct module_range *ranges, size_t range_count,
	       struct exits *exits)
{
	struct finder f = { .exits = exits };
	bool failed;

	memset(exits, 0, sizeof(*exits));
	if (flow_decode(&f.flow, source, entry, ranges, range_count))
		return -ENOMEM;
	find_all(&f);
	failed = f.flow.failed;
	free(f.switches);
	flow_free(&f.flow);
	if (failed)
		exits_free(exits);
	return failed ? -ENOMEM : 0;
}

void exits_free(struct exits *exits)
{
	free(exits->sites);
	free(exits->lost);
	memset(exits, 0, sizeof(*exits));
}
