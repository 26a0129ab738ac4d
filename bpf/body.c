// SPDX-License-Identifier: GPL-2.0
/*
 * The body of a tracepoint.
 *
 *	r6	struct pt_regs
 *	r7	the record: in the slice's data, room for RAS_RECORD_MAX bytes
 *	r8	the slice, locked (before: the CPU's main slice)
 *	r9	r7 + the items' variable lengths so far; before the first item
 *		the row of `count`
 *	r0-r5	scratch; r1-r5 the temps of expressions (rpn.c)
 *
 * An item's place is r7 or r9 plus a constant, so records of constant layout
 * need no r9. The frame is in gen.h. Rare cases stand behind the straight line.
 */
#include "gen.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rastrace/buffer.h>
#include "../usr/lib/tdf.h"

#define SLICE(field)	((int)offsetof(struct ras_slice, field))
#define COUNT(field)	((int)offsetof(struct ras_count, field))

#define LIMIT(field)	((int)offsetof(struct ras_limit, field))

/* Ways through the prologue and the epilogue. */
struct frame {
	emit_label inactive, unknown, filtered, full;
	emit_label busy, nested, locked, finish, leave, out;
};

void gen_fail(struct gen *gen, int code, const char *text, unsigned int number)
{
	if (gen->e.error)
		return;
	gen->e.error = code;
	error_set(gen->err, code, text, number);
}

void gen_note(struct gen *gen, int stmt)
{
	struct emit *e = &gen->e;

	gen->stmt = stmt;
	if (gen->note_count && gen->notes[gen->note_count - 1].stmt == stmt)
		return;
	if (!e->error)
		e->error = emit_array_grow(&gen->notes, &gen->note_room,
					   gen->note_count,
					   sizeof(*gen->notes));
	if (e->error)
		return;
	gen->notes[gen->note_count++] = (struct body_note){ e->count, stmt };
}

int gen_ip_excess(const struct gen *gen)
{
	return gen->target->context == BODY_KPROBE &&
	       !(gen->site->flags & TDF_SITE_RETURN);
}

/* The IF of the site, which is its first statement, or NULL. */
static const struct tdf_stmt *condition_find(const struct gen *gen)
{
	const struct tdf_stmt *stmt = gen->tdf->stmts + gen->site->first_stmt;

	return gen->site->stmts && stmt->kind == TDF_STMT_IF ? stmt : NULL;
}

static void generate_statements(struct gen *gen)
{
	const struct tdf_site *site = gen->site;
	__u32 i = site->first_stmt;

	if (condition_find(gen))
		i++;
	gen->place = (struct place){ .base = R7, .off = RAS_RECORD_HEADER };
	gen->fault = gen->fault_ends;
	while (i < site->first_stmt + site->stmts)
		i = item_generate(gen, i);
}

/* Prologue */

static __u32 slices(const struct body_target *target)
{
	return target->cpus * (1 + RAS_NEST_LEVELS);
}

/* r0 = entry of a map whose key is in the frame; none: to `missing` */
static void lookup(struct emit *e, int map_fd, int key, emit_label missing)
{
	emit_map(e, R1, map_fd);
	emit_alu(e, BPF_MOV, R2, FP);
	emit_alu_imm(e, BPF_ADD, R2, key);
	emit_call(e, BPF_FUNC_map_lookup_elem);
	emit_jump_imm(e, BPF_JEQ, R0, 0, missing);
}

static void load_cookie(struct gen *gen)
{
	struct emit *e = &gen->e;

	if (gen->target->context == BODY_TEST) {
		emit_map_value(e, R0, gen->target->test_fd, 0);
		emit_load(e, 8, R0, R0, 0);
	} else {
		emit_alu(e, BPF_MOV, R1, R6);
		emit_call(e, BPF_FUNC_get_attach_cookie);
	}
	emit_store(e, 8, FP, FRAME_COOKIE, R0);
}

static void load_cpu(struct emit *e)
{
	emit_call(e, BPF_FUNC_get_smp_processor_id);
	emit_store(e, 4, FP, FRAME_CPU, R0);
}

/* r0 = row of (point, slice); `slice` is a key in the frame, `first` more */
static void load_row(struct gen *gen, int slice, __u32 first,
		     emit_label missing)
{
	struct emit *e = &gen->e;

	emit_load(e, 2, R1, FP, FRAME_POINT);
	emit_alu_imm(e, BPF_MUL, R1, slices(gen->target));
	emit_load(e, 4, R2, FP, slice);
	emit_alu(e, BPF_ADD, R1, R2);
	if (first)
		emit_alu_imm(e, BPF_ADD, R1, first);
	emit_store(e, 4, FP, FRAME_ROW, R1);
	lookup(e, gen->target->count_fd, FRAME_ROW, missing);
}

/* r0 = the probed address, at a return probe its function's; keeps r2 */
static void load_probed(struct gen *gen)
{
	struct emit *e = &gen->e;

	if (gen->target->context != BODY_UPROBE ||
	    !(gen->site->flags & TDF_SITE_RETURN)) {
		emit_load(e, 8, R0, R6, arch_ip_offset());
		return;
	}
	emit_store(e, 8, FP, FRAME_BIAS, R2);
	emit_alu(e, BPF_MOV, R1, R6);
	emit_call(e, BPF_FUNC_get_func_ip);
	emit_load(e, 8, R2, FP, FRAME_BIAS);
}

/* Kernel: sites[] holds the bias. User: the address as linked. */
static void load_bias(struct gen *gen, emit_label missing)
{
	struct emit *e = &gen->e;

	lookup(e, gen->target->sites_fd, FRAME_SITE, missing);
	emit_load(e, 8, R2, R0, 0);
	if (gen->target->context != BODY_KPROBE) {
		load_probed(gen);
		emit_alu(e, BPF_SUB, R0, R2);
		emit_alu(e, BPF_MOV, R2, R0);
	}
	emit_store(e, 8, FP, FRAME_BIAS, R2);
}

/* Take the slice in `reg`; r0 != 0: it is busy. */
static void try_lock(struct emit *e, int reg)
{
	emit_alu_imm(e, BPF_MOV, R0, 0);
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_CMPXCHG, reg, SLICE(lock), R1);
}

/* r7 = where the next record of the slice r8 goes */
static void load_record(struct emit *e, __u64 bytes)
{
	emit_load(e, 8, R7, R8, SLICE(head));
	emit_alu_imm(e, BPF_AND, R7, bytes - 8);
	emit_alu(e, BPF_ADD, R7, R8);
	emit_alu_imm(e, BPF_ADD, R7, RAS_SLICE_HEADER);
}

static void preempt(struct gen *gen, bool enable)
{
	const struct body_target *target = gen->target;

	if (target->preempt_disable && target->preempt_enable)
		emit_kfunc(&gen->e, enable ? target->preempt_enable :
					     target->preempt_disable);
}

/*
 * Touch the frame's deepest word. The verifier of 6.18 else refuses, now and
 * then, programs that reach a known state with less frame in use ("verifier
 * bug: stack slot"). The offset is known in the end only.
 */
static void generate_frame(struct gen *gen)
{
	gen->deepest = FRAME_LIMITS;
	gen->deepest_insn = gen->e.count;
	emit_store_imm(&gen->e, 8, FP, gen->deepest, 0);
}

static void finish_frame(struct gen *gen)
{
	if (gen->faults && !gen->e.error)
		gen->e.insns[gen->deepest_insn].off = gen->deepest;
}

/* Make r1 visible to others, and all that was written before. */
static void publish(struct gen *gen, int off)
{
	if (gen->target->strong)
		emit_atomic(&gen->e, BPF_XCHG, R8, off, R1);
	else
		emit_store(&gen->e, 8, R8, off, R1);
}

static void unlock(struct gen *gen)
{
	emit_alu_imm(&gen->e, BPF_MOV, R1, 0);
	publish(gen, SLICE(lock));
}

/* IF, before a slice is taken; r9 is the row. */
static void generate_condition(struct gen *gen, const struct frame *f)
{
	const struct tdf_stmt *stmt = condition_find(gen);
	struct value value;

	if (!stmt)
		return;
	gen_note(gen, gen->site->first_stmt);
	gen->place = (struct place){ .base = R9 };
	gen->fault = f->unknown;
	rpn_generate(gen, gen->tdf->rpn + stmt->rpn, stmt->rpn_length, &value);
	rpn_value_load(gen, &value, R1);
	emit_jump_imm(&gen->e, BPF_JEQ, R1, 0, f->filtered);
	gen_note(gen, STMT_PROLOGUE);
}

/* r1 = what r0 + off counted before this; r2 = the limit to compare it with */
static void count_up(struct emit *e, int off, __u32 limit)
{
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_ADD | BPF_FETCH, R0, off, R1);
	emit_const(e, R2, limit);
}

/*
 * PASSCOUNT, and MAXHITS as far as it is reached: who has a slice counts the
 * record (generate_record_limit), so that none that is dropped counts.
 */
static void generate_limits(struct gen *gen, const struct frame *f)
{
	const struct tdf_point *point = gen->point;
	emit_label passed = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_load(e, 2, R1, FP, FRAME_POINT);
	emit_store(e, 4, FP, FRAME_ROW, R1);
	lookup(e, gen->target->limits_fd, FRAME_ROW, f->leave);
	if (point->passcount) {
		emit_load(e, 8, R1, R0, LIMIT(passed));
		emit_const(e, R2, point->passcount);
		emit_jump_if(e, BPF_JGE, R1, R2, passed);
		count_up(e, LIMIT(passed), point->passcount);
		emit_jump_if(e, BPF_JLT, R1, R2, f->filtered);
		emit_label_place(e, passed);
	}
	if (point->maxhits) {
		emit_store(e, 8, FP, FRAME_LIMITS, R0);
		emit_load(e, 8, R1, R0, LIMIT(recorded));
		emit_const(e, R2, point->maxhits);
		emit_jump_if(e, BPF_JGE, R1, R2, f->filtered);
	}
}

static void generate_record_limit(struct gen *gen, const struct frame *f)
{
	struct emit *e = &gen->e;

	if (!gen->point->maxhits)
		return;
	emit_load(e, 8, R0, FP, FRAME_LIMITS);
	count_up(e, LIMIT(recorded), gen->point->maxhits);
	emit_jump_if(e, BPF_JGE, R1, R2, f->full);
}

/* Not recorded, for a reason of the tracepoint's; r9 is the row. */
static void generate_filtered(struct gen *gen, const struct frame *f)
{
	struct emit *e = &gen->e;
	bool unknown = emit_label_used(e, f->unknown);
	bool full = emit_label_used(e, f->full);

	if (!unknown && !full && !emit_label_used(e, f->filtered))
		return;
	if (full) {
		emit_label_place(e, f->full);
		unlock(gen);
		emit_jump(e, f->filtered);
	}
	if (unknown) {
		emit_label_place(e, f->unknown);
		stub_fault_count(gen, R9);
	}
	emit_label_place(e, f->filtered);
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_ADD, R9, COUNT(filtered), R1);
	emit_jump(e, f->leave);
}

static void generate_enter(struct gen *gen, const struct frame *f)
{
	const struct body_target *target = gen->target;
	struct emit *e = &gen->e;

	if (target->context == BODY_TEST)
		emit_map_value(e, R6, target->test_fd, 8);
	else
		emit_alu(e, BPF_MOV, R6, R1);
	emit_map_value(e, R1, target->state_fd, 0);
	emit_load(e, 4, R1, R1, offsetof(struct ras_state, state));
	emit_jump_imm(e, BPF_JNE, R1, RAS_STATE_ON, f->inactive);
	load_cookie(gen);
	preempt(gen, false);
	load_cpu(e);
	lookup(e, target->buffer_fd, FRAME_CPU, f->leave);
	emit_alu(e, BPF_MOV, R8, R0);
	load_row(gen, FRAME_CPU, 0, f->leave);
	emit_alu(e, BPF_MOV, R9, R0);
	if (gen->faults)
		generate_frame(gen);
	if (gen->relocated)
		load_bias(gen, f->leave);
	generate_condition(gen, f);
	if (gen->point->maxhits || gen->point->passcount)
		generate_limits(gen, f);
	try_lock(e, R8);
	emit_jump_imm(e, BPF_JNE, R0, 0, f->busy);
	load_record(e, target->slice_bytes);
}

/* All of the header but stamp and length. */
static void generate_header(struct gen *gen)
{
	const struct body_target *target = gen->target;
	struct emit *e = &gen->e;
	int flags = gen->site->flags & TDF_SITE_TAIL_CALL ?
		RAS_RECORD_TAIL_CALL : 0;

	emit_load(e, 8, R1, R9, COUNT(recorded));
	emit_store(e, 4, R7, RECORD(seq), R1);
	emit_alu_imm(e, BPF_ADD, R1, 1);
	emit_store(e, 8, R9, COUNT(recorded), R1);
	if (gen->faults)
		emit_store(e, 8, FP, FRAME_COUNT, R9);
	emit_store_imm(e, 4, R7, RECORD(flags), target->major << 16 | flags);
	emit_store_imm(e, 4, R7, RECORD(session), target->session);
	emit_load(e, 8, R1, FP, FRAME_COOKIE);
	emit_store(e, 8, R7, RECORD(minor), R1);
	emit_call(e, BPF_FUNC_ktime_get_boot_ns);
	emit_store(e, 8, R7, RECORD(time), R0);
	emit_call(e, BPF_FUNC_get_current_pid_tgid);
	emit_store(e, 8, R7, RECORD(tid), R0);
}

/* The state is in r1. Suspended: count, nothing else. */
static void generate_inactive(struct gen *gen, const struct frame *f)
{
	struct emit *e = &gen->e;

	emit_label_place(e, f->inactive);
	emit_jump_imm(e, BPF_JNE, R1, RAS_STATE_SUSPENDED, f->out);
	load_cookie(gen);
	load_cpu(e);
	load_row(gen, FRAME_CPU, 0, f->out);
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_ADD, R0, COUNT(filtered), R1);
	emit_jump(e, f->out);
}

/* The main slice is busy: r8 is it, r9 its row. */
static void generate_busy(struct gen *gen, const struct frame *f)
{
	struct emit *e = &gen->e;

	emit_label_place(e, f->busy);
	for (int level = 1; level <= RAS_NEST_LEVELS; level++) {
		emit_load(e, 4, R1, FP, FRAME_CPU);
		emit_alu_imm(e, BPF_MUL, R1, RAS_NEST_LEVELS);
		emit_alu_imm(e, BPF_ADD, R1, level - 1);
		emit_store(e, 4, FP, FRAME_NEST, R1);
		lookup(e, gen->target->nest_fd, FRAME_NEST, f->leave);
		emit_alu(e, BPF_MOV, R7, R0);
		try_lock(e, R7);
		emit_jump_imm(e, BPF_JEQ, R0, 0, f->nested);
	}
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_ADD, R8, SLICE(dropped), R1);
	emit_atomic(e, BPF_ADD, R9, COUNT(dropped), R1);
	emit_jump(e, f->leave);
}

/* r7 is a nesting slice, locked. */
static void generate_nested(struct gen *gen, const struct frame *f)
{
	emit_label missing = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_label_place(e, f->nested);
	emit_alu(e, BPF_MOV, R8, R7);
	load_row(gen, FRAME_NEST, gen->target->cpus, missing);
	emit_alu(e, BPF_MOV, R9, R0);
	load_record(e, gen->target->nest_bytes);
	emit_jump(e, f->locked);
	emit_label_place(e, missing);
	unlock(gen);
	emit_jump(e, f->leave);
}

/* r9 = end of the record */
static void generate_finish(struct gen *gen, const struct frame *f)
{
	struct emit *e = &gen->e;

	emit_label_place(e, f->finish);
	emit_alu(e, BPF_SUB, R9, R7);
	emit_store(e, 4, R7, RECORD(length), R9);
	emit_alu_imm(e, BPF_ADD, R9, 7);
	emit_alu_imm(e, BPF_AND, R9, -8);
	emit_load(e, 8, R2, R8, SLICE(records));
	emit_alu_imm(e, BPF_ADD, R2, 1);
	emit_store(e, 8, R8, SLICE(records), R2);
	emit_load(e, 8, R1, R8, SLICE(head));
	emit_const(e, R2, gen->target->key);
	emit_alu(e, BPF_XOR, R2, R1);
	emit_store(e, 8, R7, RECORD(stamp), R2);
	emit_alu(e, BPF_ADD, R1, R9);
	publish(gen, SLICE(head));
	unlock(gen);
	emit_label_place(e, f->leave);
	preempt(gen, true);
	emit_label_place(e, f->out);
	emit_alu_imm(e, BPF_MOV, R0, 0);
	emit_exit(e);
}

static void generate_body(struct gen *gen)
{
	struct emit *e = &gen->e;
	struct frame f = {
		.inactive = emit_label_new(e), .unknown = emit_label_new(e),
		.filtered = emit_label_new(e), .full = emit_label_new(e),
		.busy = emit_label_new(e), .nested = emit_label_new(e),
		.locked = emit_label_new(e), .finish = emit_label_new(e),
		.leave = emit_label_new(e), .out = emit_label_new(e),
	};

	gen->fault_ends = emit_label_new(e);
	gen->raw_fault = emit_label_new(e);
	gen_note(gen, STMT_PROLOGUE);
	generate_enter(gen, &f);
	emit_label_place(e, f.locked);
	generate_record_limit(gen, &f);
	generate_header(gen);
	generate_statements(gen);
	gen_note(gen, STMT_EPILOGUE);
	item_place_load(gen, &gen->place, 0, R9);
	generate_finish(gen, &f);
	for (size_t i = 0; i < gen->stub_count && !e->error; i++) {
		gen_note(gen, gen->stubs[i].stmt);
		stub_generate(gen, &gen->stubs[i]);
	}
	gen_note(gen, STMT_EPILOGUE);
	stub_ends_generate(gen, f.finish);
	gen_note(gen, STMT_PROLOGUE);
	generate_filtered(gen, &f);
	generate_inactive(gen, &f);
	generate_busy(gen, &f);
	generate_nested(gen, &f);
	finish_frame(gen);
}

int body_generate(struct body *body, const struct tdf *tdf,
		  const struct tdf_point *point, const struct tdf_site *site,
		  const struct body_target *target, struct error *err)
{
	const struct tdf_module *module = &tdf->modules[point->module];
	struct gen gen = {
		.tdf = tdf, .point = point, .site = site, .target = target,
		.err = err, .go_on = point->flags & TDF_POINT_CONTINUE,
		.machine = module->machine,
		.flat32 = module->elf_class == ELFCLASS32,
	};
	int ret;

	memset(body, 0, sizeof(*body));
	if (err)
		err->text[0] = err->hint[0] = '\0';
	scan_site(&gen);
	generate_body(&gen);
	ret = emit_finish(&gen.e);
	emit_free(&gen.e);
	free(gen.stubs);
	if (ret) {
		free(gen.e.insns);
		free(gen.notes);
		return err && err->text[0] ? ret :
		       error_set(err, ret, "cannot generate the body: %s",
				 strerror(-ret));
	}
	*body = (struct body){ gen.e.insns, gen.e.count, gen.notes,
			       gen.note_count };
	return 0;
}

void body_free(struct body *body)
{
	free(body->insns);
	free(body->notes);
	memset(body, 0, sizeof(*body));
}
