// SPDX-License-Identifier: GPL-2.0
#include "block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "rseq.h"

#define REACH_MAX	64	/* instructions before and after */

struct block_finder {
	const struct flow *flow;
	const struct labels *labels;
	const struct flow_part *part;
	uint64_t entry;
};

/* A way other than from the instruction before leads to it. */
static const char *why_begins(const struct block_finder *f, uint32_t at)
{
	uint64_t address = f->part->start + at;

	if (address == f->entry)
		return "the function begins there";
	if (f->part->marks[at] & FLOW_TARGET)
		return "a jump leads to its start";
	if (labels_may_be(f->labels, address))
		return "a switch may lead to its start";
	return NULL;
}

static const char *why_ends(const struct arch_insn *insn)
{
	switch (insn->flow) {
	case ARCH_FLOW_NEXT:
		return NULL;
	case ARCH_FLOW_CALL:
		return "it ends with a call";
	case ARCH_FLOW_RETURN:
		return "it ends with a return";
	case ARCH_FLOW_STOP:
		return "it ends with an instruction that does not go on";
	default:
		return "it ends with a jump";
	}
}

/* Exactly one instruction begins there, and no other one has its bytes. It is
 * in no critical section, which the kernel may have begin again. */
static bool block_insn_at(const struct block_finder *f, uint32_t at,
			  struct block_insn *insn)
{
	if (at >= f->part->size ||
	    (f->part->marks[at] & (FLOW_INSN | FLOW_INNER)) != FLOW_INSN ||
	    !flow_insn(f->flow, f->part, at, &insn->insn))
		return false;
	for (uint8_t i = 1; i < insn->insn.length; i++)
		if (f->part->marks[at + i] & FLOW_INSN)
			return false;
	insn->address = f->part->start + at;
	insn->bytes = f->part->bytes + at;
	return !rseq_refuses(f->flow->source.module, insn->address);
}

/* Offset of the first instruction. */
static uint32_t find_start(const struct block_finder *f, uint32_t at,
			   const char **why)
{
	for (size_t i = 0; !(*why = why_begins(f, at)); i++) {
		struct block_insn before;
		struct arch_insn insn;
		int64_t start = flow_insn_before(f->flow, f->part, at, &insn);

		*why = "what runs before it is not known";
		if (start < 0 || !block_insn_at(f, start, &before))
			break;
		*why = "a call or jump is before it";
		if (why_ends(&before.insn))
			break;
		*why = "it began far before";
		if (i == REACH_MAX)
			break;
		at = start;
	}
	return at;
}

static int add_insns(const struct block_finder *f, uint32_t start, uint32_t at,
		     struct block *block)
{
	while (!block->after) {
		struct block_insn *insn = &block->insns[block->count];
		bool inside = block->count && start < f->part->size;

		if (inside && why_begins(f, start)) {
			block->after = "a jump leads to what follows it";
		} else if (!block_insn_at(f, start, insn)) {
			block->after = "what runs after it is not known";
		} else {
			if (start == at)
				block->at = block->count;
			block->count++;
			block->after = why_ends(&insn->insn);
			start += insn->insn.length;
		}
		if (!block->after && start > at &&
		    block->count - block->at > REACH_MAX)
			block->after = "it goes on for long";
	}
	return start > at ? 0 : -ENOENT;
}

int block_find(struct flow *flow, const struct labels *labels, uint64_t entry,
	       uint64_t address, struct block *block)
{
	struct block_finder f = {
		.flow = flow, .labels = labels, .entry = entry,
		.part = flow_part_find(flow, address),
	};
	struct block_insn asked;
	uint32_t start, at;

	memset(block, 0, sizeof(*block));
	if (!f.part || !block_insn_at(&f, address - f.part->start, &asked))
		return -ENOENT;
	at = address - f.part->start;
	start = find_start(&f, at, &block->before);
	block->insns = calloc(2 * REACH_MAX + 2, sizeof(*block->insns));
	if (!block->insns)
		return -ENOMEM;
	if (add_insns(&f, start, at, block)) {
		block_free(block);
		return -ENOENT;
	}
	block->entry = block->insns[0].address == entry;
	return 0;
}

void block_free(struct block *block)
{
	free(block->insns);
	memset(block, 0, sizeof(*block));
}
