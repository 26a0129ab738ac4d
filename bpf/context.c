// SPDX-License-Identifier: GPL-2.0
/* The context of a record: who hit, where, beside what the header says. */
#include "gen.h"

#include <errno.h>

static uint32_t context_mask(const struct gen *gen)
{
	return gen->target->context_mask;
}

void context_scan(struct gen *gen)
{
	const struct body_layout *layout = gen->target->layout;
	uint32_t mask = context_mask(gen);

	if (mask & ~RAS_CONTEXT_ALL)
		gen_fail(gen, -EINVAL, "unknown context %#x", mask);
	if (mask & RAS_CONTEXT_PPID &&
	    (!layout || !layout->task_parent || !layout->task_tgid))
		gen_fail(gen, -EOPNOTSUPP, "the parent's process id can't be "
			 "recorded: this kernel has no BTF");
	gen->context_most = RAS_CONTEXT_BYTES(mask);
	if (mask & RAS_CONTEXT_STACK) {
		gen->context_most += STACK_ITEM_BYTES(
			gen->target->context_depth);
		gen->data_moves = true;
	}
}

static void generate_comm(struct gen *gen)
{
	gen_comm_store(gen, R7, gen->place.off);
	gen->place.off += GEN_COMM_BYTES;
}

/* Eight bytes that a helper returns */
static void generate_word(struct gen *gen, int helper)
{
	emit_call(&gen->e, helper);
	emit_store(&gen->e, 8, R7, gen->place.off, R0);
	gen->place.off += 8;
}

/* current->real_parent->tgid; 0: not readable */
static void generate_ppid(struct gen *gen)
{
	const struct body_layout *layout = gen->target->layout;
	emit_label failed = emit_label_new(&gen->e);
	int off = gen_frame_take(gen, 1);
	struct emit *e = &gen->e;

	emit_store_imm(e, 8, R7, gen->place.off, 0);
	emit_call(e, BPF_FUNC_get_current_task);
	gen_member_load(gen, off, 8, layout->task_parent, failed);
	gen_member_load(gen, off, 4, layout->task_tgid, failed);
	emit_store(e, 4, R7, gen->place.off, R0);
	emit_label_place(e, failed);
	gen->place.off += 8;
}

/* What follows an item of variable length begins where it ends. */
static void context_generate_stack(struct gen *gen)
{
	stack_generate(gen, NULL, gen->target->context_depth);
	emit_store(&gen->e, 8, FP, FRAME_DATA, gen->place.base);
}

void context_generate(struct gen *gen)
{
	uint32_t mask = context_mask(gen);

	if (gen->e.error)
		return;
	if (mask & (RAS_CONTEXT_COMM | RAS_CONTEXT_NAME))
		generate_comm(gen);
	if (mask & RAS_CONTEXT_UID)
		generate_word(gen, BPF_FUNC_get_current_uid_gid);
	if (mask & RAS_CONTEXT_CGROUP)
		generate_word(gen, BPF_FUNC_get_current_cgroup_id);
	if (mask & RAS_CONTEXT_CPU)
		generate_word(gen, BPF_FUNC_get_smp_processor_id);
	if (mask & RAS_CONTEXT_PPID)
		generate_ppid(gen);
	if (mask & RAS_CONTEXT_STACK)
		context_generate_stack(gen);
	gen->data_off = gen->place.off;
}
