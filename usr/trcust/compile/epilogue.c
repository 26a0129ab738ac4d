// SPDX-License-Identifier: GPL-2.0
#include "epilogue.h"

#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/debug/module/module.h"
#include "move.h"
#include "restored.h"

#define PATH_MAX	32	/* instructions from a site to the exit */
#define DEPTH_MAX	8	/* jumps on the way */

/* The way from a site to the exit, backwards: the exit comes first. Jumps are
 * left out: they do nothing. */
struct path {
	struct block_insn insns[PATH_MAX];
	size_t count;
	uint32_t written;	/* registers, a bit for each DWARF number */
	uint32_t stack;		/* those of stack_sources() */
	bool sets_result;	/* one of them does */
	bool tail_call;
};

/* A target in the middle of the epilogue, and the path from there. */
struct joint {
	size_t first, count;	/* of the jumps that lead to it */
	size_t path_count;
	uint32_t written, stack;
	bool sets_result;
};

struct walk {
	struct epilogues *e;
	const struct flow_part *part;
	struct path path;
	struct joint joints[PATH_MAX];	/* no more than instructions */
	size_t joint_count;

	/* as far as it is certain */
	uint32_t best;		/* offset of the site */
	struct bytes result;
	size_t best_joints;
	bool failed;
	int depth;
};

static bool may_be_probed(const struct epilogues *e,
			  const struct flow_part *part, uint32_t at)
{
	struct arch_insn insn;

	return !(part->marks[at] & FLOW_INNER) &&
	       flow_insn(e->flow, part, at, &insn) &&
	       code_is_good(e->flow->source.module, &insn);
}

static void add_jumps(struct epilogues *e, const struct flow_part *part)
{
	for (uint32_t at = 0; at < part->size && !e->flow->failed; at++) {
		struct epilogue_jump *jump;
		struct arch_insn insn;

		if (!(part->marks[at] & FLOW_INSN) ||
		    !flow_insn(e->flow, part, at, &insn) || !insn.jump)
			continue;
		jump = flow_append(e->flow, &e->jumps, &e->jump_count,
				   &e->jump_room, sizeof(*jump));
		if (!jump)
			return;
		jump->from = part->start + at;
		jump->target = flow_target(e->flow, jump->from, &insn);
		jump->only = insn.flow == ARCH_FLOW_JUMP &&
			     may_be_probed(e, part, at);
	}
}

static int jump_compare(const void *a, const void *b)
{
	const struct epilogue_jump *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static void find_jumps(struct epilogues *e)
{
	if (e->jumps_known)
		return;
	e->jumps_known = true;
	for (size_t i = 0; i < e->flow->part_count; i++)
		add_jumps(e, &e->flow->parts[i]);
	if (e->jump_count)
		qsort(e->jumps, e->jump_count, sizeof(*e->jumps),
		      jump_compare);
}

/* The jumps that lead to the address, when all ways but that from the
 * instruction before are such jumps. */
static bool find_joint(struct epilogues *e, const struct flow_part *part,
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

/* All that it does is to set the register that a result is in. */
static bool sets_result(const struct arch_effect *effect, unsigned int result)
{
	if (!effect->known || effect->write_count)
		return false;
	for (uint8_t i = 0; i < effect->count; i++)
		if (effect->transfers[i].to_memory ||
		    effect->transfers[i].to != result)
			return false;
	return true;
}

/* What is read will be there a little earlier, too. */
static bool reads_frame_only(const struct arch_effect *effect,
			     const struct arch *arch)
{
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
static bool restores(const struct arch *arch, const struct path *path,
		     const struct arch_effect *effect)
{
	uint32_t writes = restored_writes(effect);
	uint32_t loads = restored_loads(arch, effect) & ~path->written;

	return effect->known && !effect->write_count && writes &&
	       !(writes & ~(loads | path->stack)) &&
	       !(writes & (1u << arch->results[0] | 1u << arch->results[1]));
}

/* Put the instruction in front of the path. False: the epilogue doesn't go
 * back over it. *gives_back: it is a part of the epilogue. */
static bool path_add(struct epilogues *e, struct path *path,
		     const struct flow_part *part, uint32_t at,
		     const struct arch_insn *insn, bool *gives_back)
{
	const struct arch *arch = e->flow->source.module->arch;
	uint64_t address = part->start + at;
	struct arch_effect effect;

	if (path->count == PATH_MAX || insn->flow != ARCH_FLOW_NEXT ||
	    !arch_effect_find(arch, part->bytes + at, part->size - at, address,
			      &effect))
		return false;
	*gives_back = insn->epilogue || restores(arch, path, &effect);
	if (!*gives_back) {
		if (!sets_result(&effect, arch->results[0]) ||
		    !reads_frame_only(&effect, arch) ||
		    (effect.count && path->tail_call))
			return false;
		path->sets_result |= effect.count;
	}
	path->written |= restored_writes(&effect);
	path->stack |= stack_sources(arch, &effect);
	path->insns[path->count++] = (struct block_insn) {
		address, part->bytes + at, *insn,
	};
	return true;
}

/* What the result is at the path's end by what there is at its beginning.
 * False: that can't be told. */
static bool result_find(struct epilogues *e, const struct path *path,
			struct bytes *result, bool *failed)
{
	struct module *module = e->flow->source.module;
	struct block_insn insns[PATH_MAX];
	struct block block = {.insns = insns, .count = path->count};
	char why[MOVE_WHY];
	struct move *move;
	int code;

	result->size = 0;
	if (!path->sets_result)
		return true;
	for (size_t i = 0; i < path->count; i++)
		insns[i] = path->insns[path->count - 1 - i];
	block.at = path->count - 1;
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
static bool take_joint(struct walk *walk, uint32_t at)
{
	struct epilogues *e = walk->e;
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
	joint->path_count = walk->path.count;
	joint->written = walk->path.written;
	joint->stack = walk->path.stack;
	joint->sets_result = walk->path.sets_result;
	walk->joint_count++;
	return true;
}

static void walk_back(struct walk *walk)
{
	struct epilogues *e = walk->e;
	struct bytes result = { 0 };
	uint32_t at = walk->best;

	while (take_joint(walk, at)) {
		struct arch_insn insn;
		bool gives_back;
		int64_t before = flow_insn_before(e->flow, walk->part, at,
						  &insn);

		if (before < 0 ||
		    !path_add(e, &walk->path, walk->part, before, &insn,
			      &gives_back))
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

static void add_site(struct walk *walk)
{
	struct exits *exits = walk->e->exits;
	struct exits_site *site = flow_append(walk->e->flow, &exits->sites,
					      &exits->count, &exits->room,
					      sizeof(*site));

	walk->e->flow->failed |= walk->failed;
	if (!site)
		return;
	*site = (struct exits_site) {
		.address = walk->part->start + walk->best,
		.exit = walk->path.insns[0].address,
		.tail_call = walk->path.tail_call,
		.result = walk->result,
	};
	walk->result = (struct bytes) { 0 };
}

static void walk_from(struct epilogues *e, const struct path *path,
		      const struct flow_part *part, uint32_t at, int depth);

/* A jump into the epilogue is where the site's values are on its way. */
static void walk_joint(const struct walk *walk, const struct joint *joint)
{
	struct epilogues *e = walk->e;
	struct path path = walk->path;

	path.count = joint->path_count;
	path.written = joint->written;
	path.stack = joint->stack;
	path.sets_result = joint->sets_result;
	for (size_t i = 0; i < joint->count && !e->flow->failed; i++) {
		uint64_t from = e->jumps[joint->first + i].from;
		const struct flow_part *part = flow_part_find(e->flow, from);

		walk_from(e, &path, part, from - part->start, walk->depth + 1);
	}
}

static void walk_from(struct epilogues *e, const struct path *path,
		      const struct flow_part *part, uint32_t at, int depth)
{
	struct walk walk = {
		.e = e, .part = part, .path = *path, .best = at,
		.depth = depth,
	};

	if (result_find(e, path, &walk.result, &walk.failed))
		walk_back(&walk);
	add_site(&walk);
	bytes_free(&walk.result);
	for (size_t i = 0; i < walk.best_joints; i++)
		walk_joint(&walk, &walk.joints[i]);
}

void epilogue_add(struct epilogues *epilogues, const struct flow_part *part,
		  uint32_t exit, bool tail_call)
{
	struct path path = { .count = 1, .tail_call = tail_call };

	path.insns[0].address = part->start + exit;
	path.insns[0].bytes = part->bytes + exit;
	if (flow_insn(epilogues->flow, part, exit, &path.insns[0].insn))
		walk_from(epilogues, &path, part, exit, 0);
}

void epilogue_forget(struct epilogues *epilogues)
{
	free(epilogues->jumps);
}
