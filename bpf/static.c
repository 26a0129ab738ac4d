// SPDX-License-Identifier: GPL-2.0
/*
 * The body of the static tracepoints of user programs: what they record is
 * in the arguments of rastrace_write(), its major is the point.
 */
#include "static.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include <rastrace.h>
#include "gen.h"

/* Its parameters */
enum argument { MAJOR, MINOR, DATA, LENGTH, ARGUMENTS };

_Static_assert(RASTRACE_DATA_MAX == RAS_STATIC_DATA_MAX,
	       "programs learn what is recorded");

/* A tracepoint without statements, at a function's first instruction: a frame
 * hasn't been built yet. */
static const struct tdf no_tdf;
static const struct tdf_point no_point;
static const struct tdf_site no_site = { .symbol = 1 };

/* Those from the stack: two words that only statements use */
#define FRAME_ARGUMENTS	FRAME_LIMITS

/* Those on the stack come into the frame; if it is not
 * readable, the major is not known. */
static void arguments_read(struct gen *gen)
{
	struct emit *e = &gen->e;

	if (arch_argument_offset(gen->machine, 0) >= 0)
		return;
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, FRAME_ARGUMENTS);
	emit_alu_imm(e, BPF_MOV, R2, 4 * ARGUMENTS);
	emit_load(e, 8, R3, R6, gen->cpu->stack);
	emit_alu_imm(e, BPF_ADD, R3, 4);
	emit_call(e, BPF_FUNC_probe_read_user);
	emit_jump_imm(e, BPF_JNE, R0, 0, gen->out);
}

/* reg = the argument; the numbers are 32 bits wide, the others as pointers. */
static void argument_load(struct gen *gen, enum argument n, int reg)
{
	int offset = arch_argument_offset(gen->machine, n);

	if (offset < 0)
		emit_load(&gen->e, 4, reg, FP, FRAME_ARGUMENTS + 4 * n);
	else
		emit_load(&gen->e, n < DATA ? 4 : 8, reg, R6, offset);
}

/* Is the major on? Instead of the cookie: major and minor. */
static void generate_major(struct gen *gen, int majors_fd)
{
	struct emit *e = &gen->e;

	argument_load(gen, MAJOR, R1);
	emit_jump_imm(e, BPF_JGT, R1, RASTRACE_MAJOR_MAX, gen->out);
	emit_map_value(e, R2, majors_fd, 0);
	emit_alu(e, BPF_ADD, R2, R1);
	emit_load(e, 1, R2, R2, 0);
	emit_jump_imm(e, BPF_JEQ, R2, 0, gen->out);
	argument_load(gen, MINOR, R2);
	emit_jump_imm(e, BPF_JGT, R2, RASTRACE_MINOR_MAX, gen->out);
	emit_alu_imm(e, BPF_LSH, R1, 16);
	emit_alu(e, BPF_OR, R1, R2);
	emit_store(e, 8, FP, FRAME_COOKIE, R1);
}

/* r2 = the length, cut; the record says so. */
static void static_generate_length(struct gen *gen, bool record)
{
	emit_label whole = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	argument_load(gen, LENGTH, R2);
	emit_jump_imm(e, BPF_JLE, R2, RAS_STATIC_DATA_MAX, whole);
	if (record)
		record_flag_set(gen, RAS_RECORD_CUT);
	emit_alu_imm(e, BPF_MOV, R2, RAS_STATIC_DATA_MAX);
	emit_label_place(e, whole);
}

void static_walk_generate(struct gen *gen)
{
	struct emit *e = &gen->e;

	emit_alu_imm(e, BPF_MOV, R9, 0);
	static_generate_length(gen, false);
	argument_load(gen, DATA, R1);
	emit_alu_imm(e, BPF_MOV, R3, 0);
	walk_bring_in(gen);
	emit_store(e, 8, FP, FRAME_WALK(0), R9);
}

/* Not readable: absent at most, unless that has been looked into. */
static void generate_fault(struct gen *gen)
{
	emit_label unreadable = emit_label_new(&gen->e);
	emit_label counted = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	record_flag_set(gen, RAS_RECORD_FAULT);
	if (gen->walked) {
		walk_bits_load(gen, gen->item, R1);
		emit_alu_imm(e, BPF_AND, R1, WALK_LEFT | WALK_UNREADABLE);
		emit_jump_imm(e, BPF_JEQ, R1, WALK_UNREADABLE, unreadable);
	}
	why_count(gen, WHY_FAULT(RAS_FAULT_ABSENT));
	if (!gen->walked)
		return;
	emit_jump(e, counted);
	emit_label_place(e, unreadable);
	why_count(gen, WHY_FAULT(RAS_FAULT_UNREADABLE));
	emit_label_place(e, counted);
}

/* Without a prefix a fault can't be reported: there is no data then. */
void static_data_generate(struct gen *gen)
{
	emit_label done = emit_label_new(&gen->e);
	emit_label read = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	gen->item = 1;
	item_place_load(gen, &gen->place, 0, R9);
	static_generate_length(gen, true);
	emit_jump_imm(e, BPF_JEQ, R2, 0, done);
	emit_store(e, 8, FP, FRAME_LENGTH, R2);
	emit_alu(e, BPF_MOV, R1, R9);
	argument_load(gen, DATA, R3);
	emit_call(e, BPF_FUNC_probe_read_user);
	if (gen->bring_in && !gen->walked) {
		emit_jump_imm(e, BPF_JNE, R0, 0, gen->absent);
	} else {
		emit_jump_imm(e, BPF_JEQ, R0, 0, read);
		generate_fault(gen);
		emit_jump(e, done);
		emit_label_place(e, read);
	}
	emit_load(e, 8, R2, FP, FRAME_LENGTH);
	emit_alu(e, BPF_ADD, R9, R2);
	emit_label_place(e, done);
	gen->place = (struct gen_place){ .base = R9 };
}

static void generate_static(struct gen *gen, int majors_fd)
{
	struct emit *e = &gen->e;

	gen_note(gen, STMT_PROLOGUE);
	body_begin_generate(gen);
	arguments_read(gen);
	generate_major(gen, majors_fd);
	body_state_generate(gen);
	filter_processes(gen);
	if (gen->process)
		emit_store_imm(e, 8, FP, FRAME_BIAS, 0);
	record_enter(gen);
	record_generate(gen);
	walk_generate(gen);
	filter_ways_generate(gen);
	process_keep_generate(gen);
	vma_generate(gen);
}

int body_generate_static(struct body *body, __u16 machine, int majors_fd,
			 const struct body_target *target, struct error *err)
{
	struct body_filter pids = { .pids_fd = -1 };
	struct body_target own = *target;
	struct gen gen = {
		.tdf = &no_tdf, .point = &no_point, .site = &no_site,
		.target = &own, .err = err, .machine = machine,
		.cpu = processor_find(machine),
		.flat32 = machine == EM_386, .is_static = true,
		.process = target->processes_fd >= 0,
		.bring_in = target->bring_in && target->layout &&
			    target->layout->vma,
	};

	memset(body, 0, sizeof(*body));
	if (err)
		err->text[0] = err->hint[0] = '\0';
	if (!gen.cpu)
		return error_set(err, -EOPNOTSUPP, "unknown machine %u",
				 machine);
	if (own.filter)
		pids.pids_fd = own.filter->pids_fd;
	own.filter = &pids;
	own.max_rate = 0;
	gen_begin(&gen);
	context_scan(&gen);
	if (RAS_RECORD_HEADER + gen.context_most + RAS_STATIC_DATA_MAX >
	    RAS_RECORD_MAX)
		gen_fail(&gen, -E2BIG, "the record exceeds %u bytes",
			 RAS_RECORD_MAX);
	generate_static(&gen, majors_fd);
	return gen_finish(&gen, body);
}
