// SPDX-License-Identifier: GPL-2.0
#include "labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/array.h"
#include "code.h"

#define BEFORE_MAX	12	/* instructions looked at before a jump */
#define TABLES_MAX	(1u << 16)	/* tables looked at ... */
#define ENTRIES_MAX	(1u << 20)	/* ... and their entries, in all */

struct label_word {
	uint64_t at, value;
};

/* Of an address that two instructions compute. */
struct label_half {
	unsigned int reg;
	uint64_t number;
};

struct label_jump {			/* one that stays inside */
	struct flow_part *part;
	uint32_t at;
	struct flow_frame frame;
	bool any;		/* goes by one of all tables, or by addresses */
	bool lost;		/* ... of which there are none */
};

struct labels {
	struct flow *flow;
	struct label_word *words;	/* of data that lead into the function,
				 * ascending by where they are */
	size_t word_count, word_room;
	bool words_known, words_complete;
	struct label_jump *jumps;
	size_t jump_count, jump_room;
	uint64_t *constants;	/* that may be addresses, of the code */
	size_t constant_count, constant_room;
	bool constants_known;
	struct label_half *highs, *lows;	/* parts of others */
	size_t high_count, high_room, low_count, low_room;
	uint64_t got;		/* global offset table */
	unsigned int tables, entries;	/* looked at */
	bool unsettled;		/* a table is used that isn't known */
	bool gotos;		/* a table of labels was met */
	bool taken;		/* code has the address of a label */
	bool marked;		/* a label that wasn't known before */
	bool lost;		/* there are more than are looked at */
};

static bool falls_through(const struct arch_insn *insn)
{
	return insn->flow == ARCH_FLOW_NEXT || insn->flow == ARCH_FLOW_BRANCH;
}

/*
 * The instruction before *at that runs before it, if that is certain; where
 * one is there that doesn't go on, the only jump that leads to *at.
 */
static bool step_back(const struct flow *flow, const struct flow_part **part,
		      int64_t *at, bool certain, struct arch_insn *insn)
{
	const struct flow_part *from = NULL;
	uint64_t to = (*part)->start + *at;
	uint8_t mark = (*part)->marks[*at];
	uint32_t from_at = 0;

	*at = flow_insn_before(flow, *part, *at, insn);
	if (!certain || !(mark & FLOW_TARGET))
		return *at >= 0 && falls_through(insn);
	if (*at < 0 || falls_through(insn) || insn->flow == ARCH_FLOW_CALL ||
	    mark & FLOW_LABEL)
		return false;
	for (size_t i = 0; i < flow->part_count; i++) {
		const struct flow_part *other = &flow->parts[i];

		for (uint32_t j = 0; j < other->size; j++) {
			if (!(other->marks[j] & FLOW_INSN) ||
			    !flow_insn(flow, other, j, insn) || !insn->jump ||
			    flow_target(flow, other->start + j, insn) != to)
				continue;
			if (from || (insn->flow != ARCH_FLOW_BRANCH &&
				     insn->flow != ARCH_FLOW_JUMP))
				return false;
			from = other;
			from_at = j;
		}
	}
	if (!from)
		return false;
	*part = from;
	*at = from_at;
	return flow_insn(flow, from, from_at, insn);
}

/*
 * Up to BEFORE_MAX instructions that end with the one at `at`; how many. Ways
 * that lead into them don't matter for what kind of jump it is; for what they
 * compute they do.
 */
static size_t insns_before(const struct flow *flow,
			   const struct flow_part *part, uint32_t at,
			   bool certain, struct arch_code *insns)
{
	size_t count = 0;
	struct arch_insn insn;
	int64_t i = at;

	if (!flow_insn(flow, part, at, &insn))
		return 0;
	do {
		memmove(insns + 1, insns, count++ * sizeof(*insns));
		*insns = (struct arch_code) {
			part->start + i, part->bytes + i, insn.length,
		};
	} while (count < BEFORE_MAX &&
		 step_back(flow, &part, &i, certain, &insn));
	return count;
}

static struct arch_computed computed_find(const struct labels *labels,
					  const struct flow_part *part,
					  uint32_t at, bool certain)
{
	struct arch_code insns[BEFORE_MAX];
	size_t count = insns_before(labels->flow, part, at, certain, insns);
	const struct arch *arch = labels->flow->source.module->arch;
	struct arch_computed computed;

	arch->computed_find(arch, insns, count, &computed);
	if (computed.from_got) {
		computed.table += labels->got;
		computed.base += labels->got;
	}
	return computed;
}

static void read_words(struct labels *labels)
{
	struct flow *flow = labels->flow;
	const struct pointers *all;

	if (labels->words_known)
		return;
	labels->words_known = true;
	all = pointers_get(flow->source.module);
	flow->failed |= !all;
	for (size_t i = 0; i < flow->part_count && !flow->failed; i++) {
		const struct flow_part *part = &flow->parts[i];
		size_t p = array_count_upto(all->list, all->count,
					    sizeof(*all->list), part->start);

		while (p && all->list[p - 1].value == part->start)
			p--;
		for (; p < all->count &&
		       all->list[p].value - part->start < part->size; p++) {
			struct label_word *word = flow_append(
				flow, &labels->words, &labels->word_count,
				&labels->word_room, sizeof(*word));

			if (!word)
				break;
			*word = (struct label_word) {
				all->list[p].at, all->list[p].value,
			};
		}
	}
	labels->words_complete = all && all->complete;
	if (labels->word_count)
		qsort(labels->words, labels->word_count,
		      sizeof(*labels->words), array_compare);
}

/* False: no instruction that only a jump would lead to is there. */
static bool mark(struct labels *labels, uint64_t address)
{
	struct flow_part *part = flow_part_find(labels->flow, address);
	uint8_t *marks = part ? &part->marks[address - part->start] : NULL;

	if (!marks || !(*marks & FLOW_INSN))
		return false;
	if (!(*marks & FLOW_TARGET))
		labels->marked = true;
	*marks |= FLOW_TARGET | FLOW_LABEL;
	return address != part->start;
}

/* A number of a table. False: there is none. */
static bool labels_read_number(const struct labels *labels,
			       const struct arch_computed *computed,
			       uint64_t address, uint64_t *value)
{
	unsigned int bits = computed->bytes * 8;
	size_t available;
	const uint8_t *bytes = pointers_bytes(labels->flow->source.module,
					      address, &available);

	if (!bytes || !bits || bits > 64 || available < computed->bytes)
		return false;
	*value = 0;
	memcpy(value, bytes, computed->bytes);
	if (computed->is_signed && bits < 64 && *value >> (bits - 1))
		*value |= ~0ULL << bits;
	return true;
}

/* What is looked at is limited: a table, or an entry more. */
static bool may_look(struct labels *labels, unsigned int *looked,
		     unsigned int most)
{
	labels->lost |= *looked == most;
	*looked += *looked < most;
	return !labels->lost;
}

/* Labels of a table of distances; are there any? Some may be in parts of the
 * function that aren't known. */
static bool mark_distances(struct labels *labels,
			   const struct arch_computed *computed)
{
	const struct module *module = labels->flow->source.module;
	uint64_t at = computed->table, end = UINT64_MAX, value;
	bool found = false;
	size_t available, next;

	/* Numbers of 4 bytes soon lead elsewhere after the table's end; one of
	 * smaller numbers ends where something else's address is. */
	if (computed->count) {
		end = at + (uint64_t)computed->count * computed->bytes;
	} else if (computed->bytes < 4) {
		next = array_count_upto(labels->constants,
					labels->constant_count,
					sizeof(*labels->constants), at);
		if (next < labels->constant_count)
			end = labels->constants[next];
	}
	if (!may_look(labels, &labels->tables, TABLES_MAX))
		return false;
	for (; at < end && labels_read_number(labels, computed, at, &value);
	     at += computed->bytes) {
		value = (value << computed->shift) + computed->base;
		if (module->elf_class == ELFCLASS32)
			value = (uint32_t)value;
		if (!module_code(module, value, &available, NULL))
			break;
		if (!may_look(labels, &labels->entries, ENTRIES_MAX))
			return false;
		found |= mark(labels, value);
	}
	return found;
}

/* The word of data at address, when it leads into the function. */
static bool word_find(struct labels *labels, uint64_t address, uint64_t *value)
{
	size_t count;

	read_words(labels);
	count = array_count_upto(labels->words, labels->word_count,
				 sizeof(*labels->words), address);
	if (!count || labels->words[count - 1].at != address)
		return false;
	*value = labels->words[count - 1].value;
	return true;
}

/* The labels of a jump by a table that isn't known; false: none are found. */
static bool mark_all(struct labels *labels,
		     const struct arch_computed *like)
{
	struct arch_computed computed = {
		.bytes = like->bytes ? like->bytes : 4, .shift = like->shift,
		.is_signed = !like->bytes || like->is_signed,
		.count = like->count,
	};
	size_t count = labels->constant_count;
	bool found = false, addresses = false;

	/* All tables of distances that the function's code has the address of:
	 * from where they are, or from labels. */
	for (size_t i = 0; like->kind != ARCH_COMPUTED_ADDRESSES && i < count;
	     i++) {
		computed.table = computed.base = labels->constants[i];
		found |= mark_distances(labels, &computed);
	}
	for (size_t i = 0; like->kind != ARCH_COMPUTED_ADDRESSES && i < count;
	     i++) {
		computed.base = labels->constants[i];
		if (!flow_part_find(labels->flow, computed.base))
			continue;
		for (size_t j = 0; j < count; j++) {
			computed.table = labels->constants[j];
			found |= mark_distances(labels, &computed);
		}
	}

	/* all addresses of the function that its data or its code have */
	if (like->kind != ARCH_COMPUTED_DISTANCES) {
		read_words(labels);
		for (size_t i = 0; i < labels->word_count; i++)
			addresses |= mark(labels, labels->words[i].value);
		for (size_t i = 0; i < count; i++)
			addresses |= mark(labels, labels->constants[i]);
		found |= addresses && labels->words_complete;
	}
	return found && !like->any_form;
}

/* Does the computed jump stay in the function? With a frame it does: a tail
 * call gives that back before. */
static bool jump_is_inside(struct labels *labels, const struct flow_part *part,
			   uint32_t at, const struct flow_frame *frame)
{
	struct arch_computed computed;
	uint64_t value;

	if (frame->known && !flow_frame_is_empty(labels->flow, frame))
		return true;
	computed = computed_find(labels, part, at, false);
	if (computed.stays || computed.kind == ARCH_COMPUTED_DISTANCES)
		return true;
	labels->unsettled |= !computed.known;
	if (labels->taken || computed.kind != ARCH_COMPUTED_ADDRESSES)
		return labels->taken;
	labels->gotos |= computed.known &&
			 word_find(labels, computed.table, &value);
	return labels->gotos;
}

static void find_jump(struct labels *labels, struct flow_part *part,
		      uint32_t at, const struct arch_insn *insn)
{
	struct label_jump found = { .part = part, .at = at }, *jump;

	if (insn->flow != ARCH_FLOW_COMPUTED || part->marks[at] & FLOW_SWITCH)
		return;
	found.frame = flow_frame_find(labels->flow, part->start + at);
	if (!jump_is_inside(labels, part, at, &found.frame))
		return;
	part->marks[at] |= FLOW_SWITCH;
	jump = flow_append(labels->flow, &labels->jumps, &labels->jump_count,
			   &labels->jump_room, sizeof(*jump));
	if (jump)
		*jump = found;
}

/* Does the function take the address of a label, or of a table of them? */
static void labels_take_constant(struct labels *labels, uint64_t address)
{
	const struct module *module = labels->flow->source.module;
	const struct flow_part *part;
	uint64_t value, *constant;
	size_t available;

	/* Something is at the address that an instruction has in it; in 32
	 * bits it may be a distance from the global offset table. */
	if (!pointers_bytes(module, address, &available)) {
		address = (uint32_t)(address + labels->got);
		if (module->elf_class == ELFCLASS64 ||
		    !pointers_bytes(module, address, &available))
			return;
	}

	/* an instruction of the function, but not one that calls come to */
	part = flow_part_find(labels->flow, address);
	labels->taken |= part && address != part->start &&
			 part->marks[address - part->start] & FLOW_INSN;
	labels->gotos |= labels->taken || word_find(labels, address, &value);
	constant = flow_append(labels->flow, &labels->constants,
			       &labels->constant_count,
			       &labels->constant_room, sizeof(*constant));
	if (constant)
		*constant = address;
}

static void find_constant(struct labels *labels, struct flow_part *part,
			  uint32_t at, const struct arch_insn *insn)
{
	struct flow *flow = labels->flow;
	const struct arch *arch = flow->source.module->arch;
	struct arch_code insns[BEFORE_MAX] = {
		{ part->start + at, part->bytes + at, insn->length },
	};
	struct arch_address address;
	struct label_half *half = NULL;

	arch->address_find(arch, insns, 1, &address);
	if (address.kind == ARCH_ADDRESS_LOW) {
		size_t count = insns_before(flow, part, at, true, insns);

		arch->address_find(arch, insns, count, &address);
	}
	if (address.kind == ARCH_ADDRESS_WHOLE)
		labels_take_constant(labels, address.number);
	else if (address.kind == ARCH_ADDRESS_HIGH)
		half = flow_append(flow, &labels->highs, &labels->high_count,
				   &labels->high_room, sizeof(*half));
	else if (address.kind == ARCH_ADDRESS_LOW)
		half = flow_append(flow, &labels->lows, &labels->low_count,
				   &labels->low_room, sizeof(*half));
	if (half)
		*half = (struct label_half) { address.reg, address.number };
}

static void labels_each_insn(struct labels *labels,
			     void (*take)(struct labels *labels,
					  struct flow_part *part, uint32_t at,
					  const struct arch_insn *insn))
{
	struct flow *flow = labels->flow;

	for (size_t i = 0; i < flow->part_count; i++) {
		struct flow_part *part = &flow->parts[i];
		struct arch_insn insn;

		for (uint32_t at = 0; at < part->size && !flow->failed; at++)
			if (part->marks[at] & FLOW_INSN &&
			    flow_insn(flow, part, at, &insn))
				take(labels, part, at, &insn);
	}
}

static void find_constants(struct labels *labels)
{
	unsigned int joined = 0;
	size_t kept = 0;

	if (labels->constants_known)
		return;
	labels->constants_known = true;
	labels_each_insn(labels, find_constant);

	/* What is apart may belong together where it's the same register. */
	for (size_t i = 0; i < labels->low_count && !labels->lost; i++) {
		const struct label_half *low = &labels->lows[i];

		for (size_t j = 0; j < labels->high_count; j++) {
			const struct label_half *high = &labels->highs[j];

			if (high->reg == low->reg &&
			    may_look(labels, &joined, TABLES_MAX))
				labels_take_constant(
					labels, high->number + low->number);
		}
	}
	if (labels->constant_count)
		qsort(labels->constants, labels->constant_count,
		      sizeof(*labels->constants), array_compare);
	for (size_t i = 0; i < labels->constant_count; i++)
		if (!i || labels->constants[i] != labels->constants[kept - 1])
			labels->constants[kept++] = labels->constants[i];
	labels->constant_count = kept;
}

static void labels_settle(struct labels *labels, struct label_jump *jump)
{
	struct arch_computed computed;

	if (jump->any)
		return;
	computed = computed_find(labels, jump->part, jump->at, true);
	computed.any_form &= computed_find(labels, jump->part, jump->at,
					   false).any_form;
	if (computed.known && computed.kind == ARCH_COMPUTED_DISTANCES) {
		if (!computed.count && computed.bytes < 4)
			find_constants(labels);
		if (mark_distances(labels, &computed))
			return;
	}
	jump->any = true;
	find_constants(labels);
	jump->lost = !mark_all(labels, &computed);
}

struct labels *labels_find(struct flow *flow)
{
	struct labels *labels = calloc(1, sizeof(*labels));
	const struct module *module = flow->source.module;
	GElf_Shdr sh;

	if (!labels || !flow->computed)
		return labels;
	labels->flow = flow;
	if (module->elf_class == ELFCLASS32 &&
	    (elf_section_named(module->elf, ".got.plt", &sh) ||
	     elf_section_named(module->elf, ".got", &sh)))
		labels->got = sh.sh_addr;
	labels_each_insn(labels, find_jump);
	if (labels->unsettled)
		find_constants(labels);
	if (labels->gotos)
		labels_each_insn(labels, find_jump);

	/* A label that is found may be inside of what was taken for certain. */
	do {
		labels->marked = false;
		for (size_t i = 0; i < labels->jump_count; i++)
			labels_settle(labels, &labels->jumps[i]);
	} while (labels->marked && !labels->lost && !flow->failed);
	if (!flow->failed)
		return labels;
	labels_free(labels);
	return NULL;
}

void labels_free(struct labels *labels)
{
	if (!labels)
		return;
	free(labels->words);
	free(labels->jumps);
	free(labels->constants);
	free(labels->highs);
	free(labels->lows);
	free(labels);
}

bool labels_may_be(const struct labels *labels, uint64_t address)
{
	struct flow_frame frame;
	bool known = false;

	for (size_t i = 0; i < labels->jump_count; i++) {
		const struct flow_frame *other = &labels->jumps[i].frame;

		if (!labels->jumps[i].lost && !labels->lost)
			continue;
		if (!known)
			frame = flow_frame_find(labels->flow, address);
		known = true;
		if (!frame.known || !other->known ||
		    (frame.reg == other->reg && frame.offset == other->offset))
			return true;
	}
	return false;
}

bool labels_any(const struct labels *labels)
{
	return labels->jump_count;
}

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

	/* the first instruction */
	start = at = address - f.part->start;
	for (size_t i = 0; !(block->before = why_begins(&f, start)); i++) {
		struct block_insn before;
		struct arch_insn insn;
		int64_t back = flow_insn_before(flow, f.part, start, &insn);

		block->before = "what runs before it is not known";
		if (back < 0 || !block_insn_at(&f, back, &before))
			break;
		block->before = "a call or jump is before it";
		if (why_ends(&before.insn))
			break;
		block->before = "it began far before";
		if (i == REACH_MAX)
			break;
		start = back;
	}
	block->insns = calloc(2 * REACH_MAX + 2, sizeof(*block->insns));
	if (!block->insns)
		return -ENOMEM;
	while (!block->after) {
		struct block_insn *insn = &block->insns[block->count];

		if (block->count && start < f.part->size &&
		    why_begins(&f, start)) {
			block->after = "a jump leads to what follows it";
		} else if (!block_insn_at(&f, start, insn)) {
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
	if (start <= at) {
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
