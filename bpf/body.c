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
 * need no r9. The frame is in gen.h. Rare cases are after the straight line.
 */
#include "gen.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/formats/tdf.h"

#define LIMIT(field)	((int)offsetof(struct ras_limit, field))

void gen_fail(struct gen *gen, int code, const char *fmt, ...)
{
	char text[256];
	va_list args;

	if (gen->e.error)
		return;
	gen->e.error = code;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	error_set(gen->err, code, "%s", text);
}

void gen_note(struct gen *gen, int stmt)
{
	struct emit *e = &gen->e;

	gen->stmt = stmt;
	reads_slots(gen, stmt);
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
	       !(gen->site->flags & TDF_SITE_RETURN) ?
	       gen->cpu->kprobe_excess : 0;
}

int gen_frame_take(struct gen *gen, int words)
{
	int off = gen->slots - 8 * (words - 1);

	if (gen->deepest > off)
		gen->deepest = off;
	return off;
}

void gen_member_load(struct gen *gen, int off, int bytes, uint32_t member,
		     emit_label failed)
{
	struct emit *e = &gen->e;

	emit_alu(e, BPF_MOV, R3, R0);
	emit_alu_imm(e, BPF_ADD, R3, member);
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, off);
	emit_alu_imm(e, BPF_MOV, R2, bytes);
	emit_call(e, BPF_FUNC_probe_read_kernel);
	emit_jump_imm(e, BPF_JNE, R0, 0, failed);
	emit_load(e, bytes, R0, FP, off);
}

void gen_cookie_load(struct gen *gen)
{
	struct emit *e = &gen->e;

	if (gen->known)
		return;
	if (gen->target->single) {
		emit_const(e, R0, gen->target->cookie);
	} else if (gen->target->context == BODY_TEST) {
		emit_map_value(e, R0, gen->target->test_fd, 0);
		emit_load(e, 8, R0, R0, 0);
	} else {
		emit_alu(e, BPF_MOV, R1, R6);
		emit_call(e, BPF_FUNC_get_attach_cookie);
	}
	if (!gen->is_static && gen->point->level) {
		emit_alu(e, BPF_MOV, R1, R0);
		emit_alu_imm(e, BPF_RSH, R1, RAS_COOKIE_LEVEL_SHIFT);
		emit_store(e, 8, FP, FRAME_LEVEL, R1);
		emit_alu_imm(e, BPF_LSH, R0, 64 - RAS_COOKIE_LEVEL_SHIFT);
		emit_alu_imm(e, BPF_RSH, R0, 64 - RAS_COOKIE_LEVEL_SHIFT);
	}
	emit_store(e, 8, FP, FRAME_COOKIE, R0);
}

void gen_cookie_get(struct gen *gen, int reg)
{
	if (gen->known)
		emit_const(&gen->e, reg, gen->target->cookie);
	else
		emit_load(&gen->e, 8, reg, FP, FRAME_COOKIE);
}

void gen_point_get(struct gen *gen, int reg)
{
	if (gen->known)
		emit_const(&gen->e, reg, RAS_COOKIE_POINT(gen->target->cookie));
	else
		emit_load(&gen->e, 2, reg, FP, FRAME_POINT);
}

/* Is it the distance of the probed address from the only one it may be? */
static bool bias_known(const struct gen *gen)
{
	return gen->known && gen->target->context == BODY_UPROBE &&
	       !(gen->site->flags & TDF_SITE_RETURN);
}

struct gen_value gen_bias(const struct gen *gen)
{
	if (!bias_known(gen))
		return (struct gen_value){
			.kind = VALUE_MEMORY, .base = FP, .off = FRAME_BIAS,
			.bytes = 8,
		};
	return (struct gen_value){
		.kind = VALUE_MEMORY, .base = R6, .off = gen->cpu->ip,
		.bytes = 8, .add = -gen->site->address,
	};
}

void gen_cpu_load(struct gen *gen)
{
	emit_call(&gen->e, BPF_FUNC_get_smp_processor_id);
	emit_store(&gen->e, 4, FP, FRAME_CPU, R0);
}

/* The kernel of 6.1 writes no more than the name's last word. */
void gen_comm_store(struct gen *gen, int base, int off)
{
	struct emit *e = &gen->e;

	emit_store_imm(e, 8, base, off, 0);
	emit_store_imm(e, 8, base, off + 8, 0);
	emit_alu(e, BPF_MOV, R1, base);
	emit_alu_imm(e, BPF_ADD, R1, off);
	emit_alu_imm(e, BPF_MOV, R2, GEN_COMM_BYTES);
	emit_call(e, BPF_FUNC_get_current_comm);
}

/* The IF of the site, which is its first statement, or NULL. */
static const struct tdf_stmt *condition_find(const struct gen *gen)
{
	const struct tdf_stmt *stmt;

	if (!gen->site->stmts)
		return NULL;
	stmt = gen->tdf->stmts + gen->site->first_stmt;
	return stmt->kind == TDF_STMT_IF ? stmt : NULL;
}

void body_data_generate(struct gen *gen)
{
	const struct tdf_site *site = gen->site;
	__u32 i = site->first_stmt;

	if (gen->is_static) {
		static_data_generate(gen);
		return;
	}
	if (condition_find(gen))
		i++;
	gen->fault = gen->fault_ends;
	kept_begin(gen);
	while (i < site->first_stmt + site->stmts)
		i = item_generate(gen, i);
}

/* r0 = the probed address, at a return probe its function's; keeps r2 */
static void load_probed(struct gen *gen)
{
	struct emit *e = &gen->e;

	if (gen->target->context != BODY_UPROBE ||
	    !(gen->site->flags & TDF_SITE_RETURN)) {
		emit_load(e, 8, R0, R6, gen->cpu->ip);
		return;
	}
	emit_store(e, 8, FP, FRAME_BIAS, R2);
	emit_alu(e, BPF_MOV, R1, R6);
	if (gen->target->func_ip)
		emit_call(e, BPF_FUNC_get_func_ip);
	else
		returned_load(gen);
	emit_load(e, 8, R2, FP, FRAME_BIAS);
}

/* Kernel: sites[] holds the bias. User: the address as linked. */
void body_bias_generate(struct gen *gen)
{
	struct emit *e = &gen->e;

	if ((!gen->relocated && !gen->process) || bias_known(gen))
		return;
	if (gen->deepest > FRAME_BIAS)
		gen->deepest = FRAME_BIAS;
	if (gen->known)
		emit_const(e, R1, gen->target->cookie >> 32);
	else
		emit_load(e, 4, R1, FP, FRAME_SITE);
	emit_store(e, 4, FP, FRAME_ROW, R1);
	emit_lookup(e, gen->target->sites_fd, FRAME_ROW, gen->out);
	emit_load(e, 8, R2, R0, 0);
	if (gen->target->context != BODY_KPROBE) {
		load_probed(gen);
		emit_alu(e, BPF_SUB, R0, R2);
		emit_alu(e, BPF_MOV, R2, R0);
	}
	emit_store(e, 8, FP, FRAME_BIAS, R2);
}

/*
 * Touch the frame's deepest word. The verifier of 6.18 else refuses, now and
 * then, programs that reach a known state with less frame in use ("verifier
 * bug: stack slot"). The offset is known in the end only.
 */
void gen_frame_begin(struct gen *gen)
{
	gen->deepest = gen->lean ? FRAME_MUTED : FRAME_LIMITS;
	gen->deepest_insn = gen->e.count;
	emit_store_imm(&gen->e, 8, FP, gen->deepest, 0);
}

void gen_frame_end(struct gen *gen)
{
	int most = gen->lean ? FRAME_LEAN : FRAME_AGAIN;

	if (!gen->e.error)
		gen->e.insns[gen->deepest_insn].off = gen->deepest;
	if (gen->lean || gen->subprograms[BODY_AGAIN])
		gen->wide |= gen->deepest < -most;
	else if (gen->reads.room)
		gen->wide |= gen->deepest < -FRAME_MOST;
}

void record_condition(struct gen *gen)
{
	const struct tdf_stmt *stmt = condition_find(gen);
	struct gen_value value;

	if (!stmt)
		return;
	gen_note(gen, gen->site->first_stmt);
	gen->place = (struct gen_place){ .base = R9 };
	gen->fault = gen->bring_in && !gen->walked ? gen->absent_if :
		     gen->early ? gen->undecided : gen->unknown;
	rpn_generate(gen, gen->tdf->rpn + stmt->rpn, stmt->rpn_length, &value);
	rpn_value_load(gen, &value, R1);
	emit_jump_imm(&gen->e, BPF_JEQ, R1, 0, gen->early ? gen->refused :
		      gen->filtered[RAS_FILTERED_CONDITION]);
	gen_note(gen, STMT_PROLOGUE);
}

static void generate_passcount(struct gen *gen)
{
	emit_label passed = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_load(e, 8, R1, R0, LIMIT(passed));
	emit_const(e, R2, gen->point->passcount);
	emit_jump_if(e, BPF_JGE, R1, R2, passed);
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_ADD | BPF_FETCH, R0, LIMIT(passed), R1);
	emit_jump_if(e, BPF_JLT, R1, R2, gen->filtered[RAS_FILTERED_PASSED]);
	emit_label_place(e, passed);
}

/*
 * PASSCOUNT, MAXHITS as far as it is reached (record.c counts), the ceiling of
 * records per second.
 */
static void generate_limits(struct gen *gen)
{
	const struct tdf_point *point = gen->point;
	struct emit *e = &gen->e;

	if (!point->passcount && !point->maxhits && !gen->target->max_rate)
		return;
	gen_point_get(gen, R1);
	emit_store(e, 4, FP, FRAME_ROW, R1);
	emit_lookup(e, gen->target->limits_fd, FRAME_ROW, gen->leave);
	emit_store(e, 8, FP, FRAME_LIMITS, R0);
	if (point->passcount)
		generate_passcount(gen);
	if (point->maxhits) {
		emit_load(e, 8, R1, R0, LIMIT(recorded));
		emit_const(e, R2, point->maxhits);
		emit_jump_if(e, BPF_JGE, R1, R2,
			     gen->filtered[RAS_FILTERED_MAXHITS]);
	}
	filter_rate(gen);
}

void body_begin_generate(struct gen *gen)
{
	struct emit *e = &gen->e;

	if (gen->target->context == BODY_TEST)
		emit_map_value(e, R6, gen->target->test_fd, 8);
	else
		emit_alu(e, BPF_MOV, R6, R1);
	gen_frame_begin(gen);
}

void body_state_generate(struct gen *gen)
{
	const struct body_target *target = gen->target;
	struct emit *e = &gen->e;

	emit_map_value(e, R1, target->state_fd, 0);
	emit_load(e, 4, R1, R1, offsetof(struct ras_state, state));
	emit_jump_imm(e, BPF_JEQ, R1, RAS_STATE_SUSPENDED,
		      gen->filtered[RAS_FILTERED_SUSPENDED]);
	emit_jump_imm(e, BPF_JNE, R1, RAS_STATE_ON, gen->out);
	trigger_test(gen);
}

static void generate_body(struct gen *gen)
{
	struct emit *e = &gen->e;

	gen_note(gen, STMT_PROLOGUE);
	body_begin_generate(gen);
	body_state_generate(gen);
	gen_cookie_load(gen);
	filter_processes(gen);
	call_join_generate(gen);
	if (gen->fresh)
		emit_module_kfunc(e, BODY_MODULE_PLACE,
				  gen->target->segments_save);
	body_bias_generate(gen);
	item_own_generate(gen);
	if (!gen->early)
		record_enter(gen);
	record_condition(gen);
	emit_label_place(e, gen->passed);
	if (gen->early)
		record_enter(gen);
	choose_block_generate(gen);
	generate_limits(gen);
	record_generate(gen);
	walk_generate(gen);
	filter_ways_generate(gen);
	process_keep_generate(gen);
	walk_again_generate(gen);
	trees_generate(gen);
	vma_generate(gen);
	unwind_steps_generate(gen);
}

void gen_begin(struct gen *gen)
{
	bool calls = !gen->is_static && gen->point->flags &
		     (TDF_POINT_CALL | TDF_POINT_RELEASE);
	struct emit *e = &gen->e;

	gen->early = !calls;
	gen->known = !gen->is_static && !calls && gen->target->single;
	gen->slots = calls ? FRAME_SLOTS_CALL : FRAME_SLOTS;
	for (int i = 0; i < RAS_FILTERED_KINDS; i++)
		gen->filtered[i] = emit_label_new(e);
	gen->keep = emit_label_new(e);
	gen->again = emit_label_new(e);
	gen->tree[0] = emit_label_new(e);
	gen->tree[1] = emit_label_new(e);
	gen->bring = emit_label_new(e);
	gen->touch = emit_label_new(e);
	gen->callback = emit_label_new(e);
	gen->absent = emit_label_new(e);
	gen->absent_if = emit_label_new(e);
	gen->elsewhere = emit_label_new(e);
	gen->passed = emit_label_new(e);
	gen->unknown = emit_label_new(e);
	gen->refused = emit_label_new(e);
	gen->undecided = emit_label_new(e);
	gen->leave = emit_label_new(e);
	gen->out = emit_label_new(e);
}

int gen_finish(struct gen *gen, struct body *body)
{
	struct error *err = gen->err;
	int ret;

	gen_frame_end(gen);
	ret = emit_finish(&gen->e);
	emit_free(&gen->e);
	free(gen->stubs);
	if (!ret) {
		*body = (struct body){
			.insns = gen->e.insns, .count = gen->e.count,
			.notes = gen->notes, .note_count = gen->note_count,
			.sleepable = gen->bring_in,
		};
		memcpy(body->subprograms, gen->subprograms,
		       sizeof(body->subprograms));
		return 0;
	}
	free(gen->e.insns);
	free(gen->notes);
	return err && err->text[0] ? ret :
	       error_set(err, ret, "cannot generate the body: %s",
			 strerror(-ret));
}

/* Is the process that hits kept? A return probe may not know its function. */
static bool process_kept(const struct gen *gen)
{
	const struct body_target *target = gen->target;

	return target->context != BODY_KPROBE && target->processes_fd >= 0 &&
	       (target->context == BODY_TEST || target->func_ip ||
		returned_known(target->layout) ||
		!(gen->site->flags & TDF_SITE_RETURN));
}

/* A frame: lean where that can be and is asked for, with so many words for what
 * is read at once. */
struct frame {
	bool lean;
	int room;
	bool fits;		/* results */
	bool cramped;		/* more words were fewer reads */
	int reads;
};

static int generate_frame(struct body *body, const struct tdf *tdf,
			  const struct tdf_point *point,
			  const struct tdf_site *site,
			  const struct body_target *target,
			  struct frame *frame, struct error *err)
{
	const struct tdf_module *module = &tdf->modules[point->module];
	struct gen gen = {
		.tdf = tdf, .point = point, .site = site, .target = target,
		.err = err, .go_on = point->flags & TDF_POINT_CONTINUE,
		.machine = module->machine,
		.cpu = processor_find(module->machine),
		.flat32 = module->elf_class == ELFCLASS32,
	};
	int ret;

	memset(body, 0, sizeof(*body));
	if (err)
		err->text[0] = err->hint[0] = '\0';
	if (!gen.cpu)
		return error_set(err, -ENOSYS,
				 "registers of machine %u are not known",
				 module->machine);
	gen.process = process_kept(&gen);
	gen_begin(&gen);
	context_scan(&gen);
	scan_site(&gen);
	frame->lean &= gen.lean;
	gen.lean = frame->lean;
	if (gen.lean)
		gen.slots = gen.known ? FRAME_SLOTS_KNOWN : FRAME_SLOTS_LEAN;
	reads_plan(&gen, frame->room);
	if (site->flags & TDF_SITE_CALL)
		call_begin_generate(&gen);
	else
		generate_body(&gen);
	ret = gen_finish(&gen, body);
	frame->fits = !gen.wide;
	frame->cramped = gen.reads.cramped;
	frame->reads = gen.reads.calls;
	return ret;
}

/* A read into a large frame takes a third longer. */
static int frame_cost(const struct frame *frame)
{
	return frame->reads * (frame->lean ? 3 : 4);
}

/* The last one is what all bodies can do with. */
static const struct frame frames[] = {
	{ true, 5 }, { true, 2 }, { true, 0 }, { false, 16 }, { false, 0 },
};
#define FRAMES	(sizeof(frames) / sizeof(*frames))

/* After `best`, the i-th: has that one something to offer? */
static bool frame_promises(const struct frame *best, size_t i)
{
	if (i == FRAMES - 1)
		return !best->fits;
	if (frames[i].lean)
		return best->lean && !best->fits;
	return best->cramped || !best->fits;
}

/* The cheapest of those that fit */
static int generate_once(struct body *body, const struct tdf *tdf,
			 const struct tdf_point *point,
			 const struct tdf_site *site,
			 const struct body_target *target, struct error *err)
{
	struct frame best, frame = frames[0];
	int ret = generate_frame(body, tdf, point, site, target, &frame, err);

	best = frame;
	for (size_t i = 1; i < FRAMES; i++) {
		struct body other;
		int code;

		if (!frame_promises(&best, i))
			continue;
		frame = frames[i];
		code = generate_frame(&other, tdf, point, site, target, &frame,
				      err);
		if (best.fits && (code || !frame.fits ||
				  frame_cost(&frame) >= frame_cost(&best))) {
			body_free(&other);
			continue;
		}
		body_free(body);
		*body = other;
		best = frame;
		ret = code;
	}
	return ret;
}

/* A record that is taken a second time may be farther away than jumps reach:
 * then what is absent stays so. */
int body_generate(struct body *body, const struct tdf *tdf,
		  const struct tdf_point *point, const struct tdf_site *site,
		  const struct body_target *target, struct error *err)
{
	struct body_target resident = *target;
	int ret = generate_once(body, tdf, point, site, target, err);

	if (ret != -E2BIG || !target->bring_in)
		return ret;
	resident.bring_in = false;
	return generate_once(body, tdf, point, site, &resident, err);
}

void body_free(struct body *body)
{
	free(body->insns);
	free(body->notes);
	memset(body, 0, sizeof(*body));
}
