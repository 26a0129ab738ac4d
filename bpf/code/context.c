// SPDX-License-Identifier: GPL-2.0
/* The context of a record: who hit, where, beside what the header says. */
#include "gen.h"

static void comm_generate(struct gen *gen)
{
	comm_to_record(gen, gen->place.off);
	gen->place.off += GEN_COMM_BYTES;
}

/* Eight bytes that a helper returns */
static void word_generate(struct gen *gen, int helper)
{
	code_call(gen->c, helper);
	code_store(gen->c, 8, RECORD, gen->place.off, R0);
	gen->place.off += 8;
}

/* current->real_parent->tgid; 0: not readable */
static void ppid_generate(struct gen *gen)
{
	const struct body_layout *layout = gen->plan->target->layout;
	code_label failed = code_label_new(gen->c);
	struct code *c = gen->c;

	code_store_imm(c, 8, RECORD, gen->place.off, 0);
	code_call(c, BPF_FUNC_get_current_task);
	member_load(gen, R0, 8, R0, layout->task_parent, failed);
	member_load(gen, R0, 4, R0, layout->task_tgid, failed);
	code_store(c, 4, RECORD, gen->place.off, R0);
	code_label_place(c, failed);
	gen->place.off += 8;
}

/* What follows an item of variable length begins where it ends. */
static void callers_generate(struct gen *gen)
{
	stack_generate(gen, NULL, gen->plan->target->context_depth, -1);
	code_move(gen->c, gen->data, gen->place.base);
}

void context_generate(struct gen *gen)
{
	uint32_t mask = gen->plan->enters ? 0 :
					    gen->plan->target->context_mask;

	if (gen->c->error)
		return;
	if (mask & (RAS_CONTEXT_COMM | RAS_CONTEXT_NAME))
		comm_generate(gen);
	if (mask & RAS_CONTEXT_UID)
		word_generate(gen, BPF_FUNC_get_current_uid_gid);
	if (mask & RAS_CONTEXT_CGROUP)
		word_generate(gen, BPF_FUNC_get_current_cgroup_id);
	if (mask & RAS_CONTEXT_CPU)
		word_generate(gen, BPF_FUNC_get_smp_processor_id);
	if (mask & RAS_CONTEXT_PPID)
		ppid_generate(gen);
	if (mask & RAS_CONTEXT_OTEL)
		otel_generate(gen);
	if (mask & RAS_CONTEXT_STACK)
		callers_generate(gen);
	gen->data_off = gen->place.off;
}
