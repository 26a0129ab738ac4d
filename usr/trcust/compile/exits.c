// SPDX-License-Identifier: GPL-2.0
#include "exits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "epilogue.h"

struct finder {
	struct flow flow;
	struct epilogues epilogues;
	struct exits *exits;
};

static bool leads_to_return(const struct finder *f, uint64_t target)
{
	const struct module_symbol *symbol =
		symbol_index_find(f->flow.source.symbols, target);

	return symbol && symbol->address == target &&
	       arch_name_returns(f->flow.source.module->arch, symbol->name,
				 symbol->name_length);
}

static void take_jump(struct finder *f, const struct flow_part *part,
		      uint32_t at, const struct arch_insn *insn)
{
	uint64_t address = part->start + at;
	uint64_t target = flow_target(&f->flow, address, insn);

	if (flow_calls_itself(&f->flow, part, at, insn, f->epilogues.entry)) {
		epilogue_add(&f->epilogues, part, at, true);
		return;
	}
	if (flow_part_find(&f->flow, target))
		return;
	if (insn->flow == ARCH_FLOW_BRANCH)
		flow_lose(&f->flow, address,
			  "it is a conditional jump to other code");
	else
		epilogue_add(&f->epilogues, part, at, !leads_to_return(f, target));
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
		epilogue_add(&f->epilogues, part, at, false);
		break;
	case ARCH_FLOW_BRANCH:
	case ARCH_FLOW_JUMP:
		take_jump(f, part, at, insn);
		break;
	case ARCH_FLOW_COMPUTED:
		if (!(part->marks[at] & FLOW_SWITCH))
			epilogue_add(&f->epilogues, part, at, true);
		break;
	case ARCH_FLOW_NEXT:
		if (falls_out(f, part, at, insn))
			epilogue_add(&f->epilogues, part, at, true);
		break;
	default:
		break;
	}
}

static void
each_insn(struct finder *f,
	  void (*take)(struct finder *f, struct flow_part *part, uint32_t at, const struct arch_insn *insn))
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

	if (f->flow.undecoded && labels_any(f->epilogues.labels))
		flow_lose(&f->flow, f->flow.undecoded,
			  "what is there is no instruction");
	each_insn(f, take_exit);
	if (exits->count)
		qsort(exits->sites, exits->count, sizeof(*exits->sites),
		      site_compare);
	exits->lost = f->flow.lost;
	exits->lost_count = f->flow.lost_count;
	f->flow.lost = NULL;
}

int exits_find(const struct flow_source *source, struct dwarf_file *dwarf,
	       uint64_t entry, const struct module_range *ranges,
	       size_t range_count, struct exits *exits)
{
	struct finder f = { .exits = exits };
	struct labels *labels;
	bool failed;

	memset(exits, 0, sizeof(*exits));
	if (flow_decode(&f.flow, source, entry, ranges, range_count))
		return -ENOMEM;
	labels = labels_find(&f.flow);
	f.epilogues = (struct epilogues) {
		.flow = &f.flow, .labels = labels, .dwarf = dwarf,
		.entry = entry, .exits = exits,
	};
	if (labels)
		find_all(&f);
	failed = f.flow.failed || !labels;
	epilogue_forget(&f.epilogues);
	labels_free(labels);
	flow_free(&f.flow);
	if (failed)
		exits_free(exits);
	return failed ? -ENOMEM : 0;
}

void exits_free(struct exits *exits)
{
	for (size_t i = 0; i < exits->count; i++)
		bytes_free(&exits->sites[i].result);
	free(exits->sites);
	free(exits->lost);
	memset(exits, 0, sizeof(*exits));
}
