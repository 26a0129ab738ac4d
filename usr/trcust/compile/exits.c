// SPDX-License-Identifier: GPL-2.0
#include "exits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "settle.h"

#define EPILOGUE_MAX	32	/* instructions from a site to the exit */
#define DEPTH_MAX	8	/* jumps on the way */
#define RESULT_VECTORS	3	/* the first two have what a function returns */

struct exits_jump {
	uint64_t target, from;
	bool only;		/* it always jumps, and can have a probe */
};

struct exits_finder {
	struct flow flow;
	struct labels *labels;
	struct dwarf_file *dwarf;	/* NULL: none */
	uint64_t entry;			/* of the function */
	struct exits *exits;
	struct exits_jump *jumps;	/* ascending by target */
	size_t jump_count, jump_room;
	bool jumps_known;
};

/* What the instructions of a path do. */
struct path_effect {
	size_t count;
	uint32_t written;	/* registers, a bit for each DWARF number */
	uint32_t stack;		/* those of stack_sources() */
	bool sets_result;	/* one of them does */
};

/* The code from a site to the exit, backwards: the exit comes first. Jumps are
 * left out: they do nothing. */
struct exit_path {
	struct block_insn insns[EPILOGUE_MAX];
	struct path_effect effect;
	bool tail_call;
};

/* A target in the middle of the epilogue, and the path from there. */
struct joint {
	size_t first, count;	/* of the jumps that lead to it */
	struct path_effect effect;
};

struct exit_walk {
	struct exits_finder *e;
	const struct flow_part *part;
	struct exit_path path;
	struct joint joints[EPILOGUE_MAX];	/* no more than instructions */
	size_t joint_count;

	/* as far as it is certain */
	uint32_t best;		/* offset of the site */
	struct bytes result;
	size_t best_joints;
	bool failed;
	int depth;
};

static bool may_be_probed(const struct exits_finder *e,
			  const struct flow_part *part, uint32_t at)
{
	struct arch_insn insn;

	return !(part->marks[at] & FLOW_INNER) &&
	       flow_insn(&e->flow, part, at, &insn) &&
	       code_is_good(e->flow.source.module, &insn);
}

static int jump_compare(const void *a, const void *b)
{
	const struct exits_jump *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* All jumps of the function. */
static void find_jumps(struct exits_finder *e)
{
	struct flow *flow = &e->flow;
	struct exits_jump *jump;
	struct arch_insn insn;

	if (e->jumps_known)
		return;
	e->jumps_known = true;
	for (const struct flow_part *part = flow->parts;
	     part < flow->parts + flow->part_count; part++)
		for (uint32_t at = 0; at < part->size && !flow->failed; at++) {
			if (!(part->marks[at] & FLOW_INSN) ||
			    !flow_insn(flow, part, at, &insn) || !insn.jump)
				continue;
			jump = flow_append(&e->flow, &e->jumps, &e->jump_count,
					   &e->jump_room, sizeof(*jump));
			if (!jump)
				return;
			jump->from = part->start + at;
			jump->target = flow_target(flow, jump->from, &insn);
			jump->only = insn.flow == ARCH_FLOW_JUMP &&
				     may_be_probed(e, part, at);
		}
	if (e->jump_count)
		qsort(e->jumps, e->jump_count, sizeof(*e->jumps), jump_compare);
}

/* The jumps that lead to the address, when all ways but that from the
 * instruction before are such jumps. */
static bool find_joint(struct exits_finder *e, const struct flow_part *part,
		       uint32_t at, struct joint *joint)
{
	uint64_t address = part->start + at;
	size_t end;

	if (part->marks[at] & FLOW_LABEL)
		return false;
	find_jumps(e);
	end = array_count_upto(e->jumps, e->jump_count, sizeof(*e->jumps),
			       address);
	joint->first = end;
	while (joint->first && e->jumps[joint->first - 1].target == address)
		if (!e->jumps[--joint->first].only)
			return false;
	joint->count = end - joint->first;
	return joint->count;
}

/* All that it does is to set the register that a result is in, from what will
 * be there a little earlier, too. */
static bool sets_result(const struct arch *arch,
			const struct arch_effect *effect)
{
	if (!effect->known || effect->write_count)
		return false;
	for (uint8_t i = 0; i < effect->count; i++)
		if (effect->transfers[i].to_memory ||
		    effect->transfers[i].to != arch->results[0])
			return false;
	for (uint8_t i = 0; i < effect->read_count; i++)
		if (effect->reads[i].space != ARCH_SPACE_BASE ||
		    effect->reads[i].base != arch->stack)
			return false;
	return true;
}

/* Registers that the stack pointer is set from, other than itself and the
 * frame pointer: they lead back to the caller's frame and have no other use. */
static uint32_t stack_sources(const struct arch *arch,
			      const struct arch_effect *effect)
{
	uint32_t sources = 0;

	for (uint8_t i = 0; i < effect->count; i++) {
		const struct arch_transfer *t = &effect->transfers[i];

		if (!t->to_memory && t->to == arch->stack &&
		    t->source == ARCH_SOURCE_REGISTER &&
		    t->reg != arch->stack && t->reg != arch->frame)
			sources |= 1u << t->reg;
	}
	return sources;
}

/* All that it does is to load callee-saved registers that nothing writes from
 * there on, or one that the stack pointer will be set from. */
static bool restores(const struct flow_source *source,
		     const struct exit_path *path,
		     const struct arch_effect *effect)
{
	const struct arch *arch = source->module->arch;
	uint32_t writes = restored_writes(effect);
	uint32_t loads = restored_loads(arch, effect) & ~path->effect.written;

	if (source->keeps_none)
		loads &= 1u << arch->frame;
	return effect->known && !effect->write_count && writes &&
	       !(writes & ~(loads | path->effect.stack)) &&
	       !(writes & (1u << arch->results[0] | 1u << arch->results[1]));
}

/* Put the instruction in front of the path. False: the epilogue doesn't go
 * back over it. *gives_back: it is a part of the epilogue. */
static bool exit_path_add(struct exits_finder *e, struct exit_path *path,
			  const struct flow_part *part, uint32_t at,
			  const struct arch_insn *insn, bool *gives_back)
{
	const struct arch *arch = e->flow.source.module->arch;
	uint64_t address = part->start + at;
	struct arch_effect effect;

	if (path->effect.count == EPILOGUE_MAX ||
	    insn->flow != ARCH_FLOW_NEXT ||
	    !arch_effect_find(arch, part->bytes + at, part->size - at, address,
			      &effect) ||
	    effect.vectors & RESULT_VECTORS)
		return false;
	*gives_back = insn->epilogue || restores(&e->flow.source, path, &effect);
	if (!*gives_back) {
		if (!sets_result(arch, &effect) ||
		    (effect.count && path->tail_call))
			return false;
		path->effect.sets_result |= effect.count;
	}
	path->effect.written |= restored_writes(&effect);
	path->effect.stack |= stack_sources(arch, &effect);
	path->insns[path->effect.count++] = (struct block_insn) {
		address, part->bytes + at, *insn,
	};
	return true;
}

/* What the result is at the path's end by what there is at its beginning.
 * False: not known. */
static bool result_find(struct exits_finder *e, const struct exit_path *path,
			struct bytes *result, bool *failed)
{
	struct module *module = e->flow.source.module;
	struct block_insn insns[EPILOGUE_MAX];
	struct block block = {.insns = insns, .count = path->effect.count};
	char why[MOVE_WHY];
	struct move *move;
	int code;

	result->size = 0;
	if (!path->effect.sets_result)
		return true;
	for (size_t i = 0; i < block.count; i++)
		insns[i] = path->insns[block.count - 1 - i];
	block.at = block.count - 1;
	move = move_begin(&block, module, e->dwarf, MOVE_FAST, block.at, 0,
			  why);
	if (!move) {
		*failed |= !*why;
		return false;
	}
	code = move_register(move, module->arch->results[0], result, why);
	move_end(move);
	*failed |= code < 0 || result->failed;
	return !code;
}

/* Ways lead to `at` from elsewhere: false when they can't be followed. */
static bool take_joint(struct exit_walk *walk, uint32_t at)
{
	struct exits_finder *e = walk->e;
	struct joint *joint = &walk->joints[walk->joint_count];
	uint64_t address = walk->part->start + at;
	struct bytes result = { 0 };
	bool good;

	if (address == e->entry || labels_may_be(e->labels, address))
		return false;
	if (!(walk->part->marks[at] & FLOW_TARGET))
		return true;
	good = walk->depth < DEPTH_MAX &&
	       find_joint(e, walk->part, at, joint) &&
	       result_find(e, &walk->path, &result, &walk->failed);
	bytes_free(&result);
	if (!good)
		return false;
	joint->effect = walk->path.effect;
	walk->joint_count++;
	return true;
}

static void walk_back(struct exit_walk *walk)
{
	struct exits_finder *e = walk->e;
	struct bytes result = { 0 };
	uint32_t at = walk->best;

	while (take_joint(walk, at)) {
		struct arch_insn insn;
		bool gives_back;
		int64_t before = flow_insn_before(&e->flow, walk->part, at,
						  &insn);

		if (before < 0 || !exit_path_add(e, &walk->path, walk->part,
						 before, &insn, &gives_back))
			break;
		at = before;
		if (!gives_back || !may_be_probed(e, walk->part, at))
			continue;
		if (!result_find(e, &walk->path, &result, &walk->failed))
			break;
		bytes_free(&walk->result);
		walk->result = result;
		result = (struct bytes) { 0 };
		walk->best = at;
		walk->best_joints = walk->joint_count;
	}
	bytes_free(&result);
}

static void walk_from(struct exits_finder *e, const struct exit_path *path,
		      const struct flow_part *part, uint32_t at, int depth)
{
	struct exit_walk walk = {
		.e = e, .part = part, .path = *path, .best = at,
		.depth = depth,
	};
	struct exits *exits = e->exits;
	struct exits_site *site;

	if (result_find(e, path, &walk.result, &walk.failed))
		walk_back(&walk);
	site = flow_append(&e->flow, &exits->sites, &exits->count, &exits->room,
			   sizeof(*site));
	e->flow.failed |= walk.failed;
	if (site)
		*site = (struct exits_site) {
			.address = part->start + walk.best,
			.exit = walk.path.insns[0].address,
			.tail_call = path->tail_call,
			.result = walk.result,
		};
	else
		bytes_free(&walk.result);
	/* where jumps lead into the epilogue, the site's values are on the way
	 * to each jump */
	for (size_t i = 0; i < walk.best_joints; i++) {
		const struct joint *joint = &walk.joints[i];

		walk.path.effect = joint->effect;
		for (size_t j = 0; j < joint->count && !e->flow.failed; j++) {
			uint64_t from = e->jumps[joint->first + j].from;

			part = flow_part_find(&e->flow, from);
			walk_from(e, &walk.path, part, from - part->start,
				  depth + 1);
		}
	}
}

/* The sites of an exit, at that offset of the part. Where jumps lead into the
 * middle of its epilogue, sites on these jumps as well. */
static void epilogue_add(struct exits_finder *e, const struct flow_part *part,
			 uint32_t exit, bool tail_call)
{
	struct exit_path path = { .effect.count = 1, .tail_call = tail_call };

	path.insns[0].address = part->start + exit;
	path.insns[0].bytes = part->bytes + exit;
	if (flow_insn(&e->flow, part, exit, &path.insns[0].insn))
		walk_from(e, &path, part, exit, 0);
}

static void exits_take_jump(struct exits_finder *f,
			    const struct flow_part *part, uint32_t at,
			    const struct arch_insn *insn)
{
	uint64_t address = part->start + at;
	uint64_t target = flow_target(&f->flow, address, insn);
	const struct module_symbol *symbol;
	bool returns;

	if (flow_calls_itself(&f->flow, part, at, insn, f->entry)) {
		epilogue_add(f, part, at, true);
		return;
	}
	if (flow_part_find(&f->flow, target))
		return;
	if (insn->flow == ARCH_FLOW_BRANCH) {
		flow_lose(&f->flow, address,
			  "it is a conditional jump to other code");
		return;
	}
	/* does it jump to code that is nothing but a return? */
	symbol = symbol_index_find(f->flow.source.symbols, target);
	returns = symbol && symbol->address == target &&
		  arch_name_returns(f->flow.source.module->arch, symbol->name,
				    symbol->name_length);
	epilogue_add(f, part, at, !returns);
}

static void exits_take(struct exits_finder *f, struct flow_part *part,
		       uint32_t at, const struct arch_insn *insn)
{
	uint64_t next = part->start + at + insn->length;
	size_t available;

	switch (insn->flow) {
	case ARCH_FLOW_RETURN:
		epilogue_add(f, part, at, false);
		break;
	case ARCH_FLOW_BRANCH:
	case ARCH_FLOW_JUMP:
		exits_take_jump(f, part, at, insn);
		break;
	case ARCH_FLOW_COMPUTED:
		if (!(part->marks[at] & FLOW_SWITCH))
			epilogue_add(f, part, at, true);
		break;
	case ARCH_FLOW_NEXT:
		/* the last instruction of a part runs on into what follows */
		if (at + insn->length >= part->size && !insn->padding &&
		    !flow_part_find(&f->flow, next) &&
		    module_code(f->flow.source.module, next, &available, NULL))
			epilogue_add(f, part, at, true);
		break;
	default:
		break;
	}
}

static void find_all(struct exits_finder *f)
{
	struct exits *exits = f->exits;

	if (f->flow.undecoded && labels_any(f->labels))
		flow_lose(&f->flow, f->flow.undecoded,
			  "what is there is no instruction");
	for (size_t i = 0; i < f->flow.part_count; i++) {
		struct flow_part *part = &f->flow.parts[i];
		struct arch_insn insn;

		for (uint32_t at = 0; at < part->size && !f->flow.failed; at++)
			if (part->marks[at] & FLOW_INSN &&
			    flow_insn(&f->flow, part, at, &insn))
				exits_take(f, part, at, &insn);
	}
	if (exits->count)
		qsort(exits->sites, exits->count, sizeof(*exits->sites),
		      array_compare);
	exits->lost = f->flow.lost;
	exits->lost_count = f->flow.lost_count;
	f->flow.lost = NULL;
}

int exits_find(const struct flow_source *source, struct dwarf_file *dwarf,
	       uint64_t entry, const struct module_range *ranges,
	       size_t range_count, struct exits *exits)
{
	struct exits_finder f = {
		.dwarf = dwarf, .entry = entry, .exits = exits,
	};
	bool failed;

	memset(exits, 0, sizeof(*exits));
	if (flow_decode(&f.flow, source, entry, ranges, range_count))
		return -ENOMEM;
	f.labels = labels_find(&f.flow);
	if (f.labels)
		find_all(&f);
	failed = f.flow.failed || !f.labels;
	free(f.jumps);
	labels_free(f.labels);
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
