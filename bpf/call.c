// SPDX-License-Identifier: GPL-2.0
/*
 * Points that are CALL or RELEASE: what a thread is doing, in its struct
 * ras_call (rastrace/tdf.h, buffer.h).
 *
 *	r7	struct ras_call
 *	r8	stack pointer
 *
 * Right at a function's first instruction the address to return to is at the
 * stack pointer (x86-64 psABI 3.2.2, i386 psABI 2.2.2). The kernel puts that of
 * its trampoline there when a return probe waits, and takes it off the stack
 * before it calls the probe.
 *
 * Or it is in a register (AArch64), and where the function saves it is not
 * known: then the kernel's list of return probes that wait says which calls are
 * under way, and the frame pointer leads to where it is (aapcs64 6.4.6).
 */
#include "gen.h"

#include <errno.h>
#include <inttypes.h>

#define CALL(field)	((int)offsetof(struct ras_call, field))
#define ARGUMENT(n)	(CALL(arguments) + 8 * (int)(n))

#define NEAR		256	/* bytes from a frame to the one right below */
#define LINK_WORDS	8	/* of a small frame without a frame record */
#define FRAMES_MOST	4	/* of functions that give names */
#define SIZE_OWN	-1	/* the name came without one */
#define STORAGE_CREATE	1	/* BPF_LOCAL_STORAGE_GET_F_CREATE */

static bool point_is_call(const struct gen *gen)
{
	return !gen->is_static && gen->point->flags & TDF_POINT_CALL;
}

static bool point_is_release(const struct gen *gen)
{
	return !gen->is_static && gen->point->flags & TDF_POINT_RELEASE;
}

/* Where the point records what it names; NULL: it only gives its name. */
static const struct tdf_site *return_find(const struct gen *gen)
{
	const struct tdf_site *site = gen->tdf->sites + gen->point->first_site;

	for (__u32 i = 0; i < gen->point->sites; i++)
		if (site[i].flags & TDF_SITE_RETURN)
			return &site[i];
	return NULL;
}

static bool call_has_link(const struct gen *gen)
{
	return gen->cpu->link >= 0;
}

static int call_word_bytes(const struct gen *gen)
{
	return gen->flat32 ? 4 : 8;
}

/* r7 = the thread's; none, and none could be made: to `missing`. The kernel makes
 * none while another thread is preempted in there on the same CPU. */
static void call_load(struct gen *gen, emit_label missing)
{
	struct emit *e = &gen->e;

	if (gen->deepest > FRAME_LEVEL)
		gen->deepest = FRAME_LEVEL;
	record_preempt(gen, false);
	emit_call(e, BPF_FUNC_get_current_task_btf);
	emit_alu(e, BPF_MOV, R2, R0);
	emit_map(e, R1, gen->target->heap->calls_fd);
	emit_alu_imm(e, BPF_MOV, R3, 0);
	emit_alu_imm(e, BPF_MOV, R4, STORAGE_CREATE);
	emit_call(e, BPF_FUNC_task_storage_get);
	emit_alu(e, BPF_MOV, R7, R0);
	record_preempt(gen, true);
	emit_jump_imm(e, BPF_JEQ, R7, 0, missing);
}

static void stack_load(struct gen *gen)
{
	emit_load(&gen->e, call_word_bytes(gen), R8, R6, gen->cpu->stack);
}

/* `off` of the frame = the word that `reg` points to; not readable: to
 * `missing` */
static void call_word_read(struct gen *gen, int reg, int off,
			   emit_label missing)
{
	struct emit *e = &gen->e;

	emit_store_imm(e, 8, FP, off, 0);
	emit_alu(e, BPF_MOV, R3, reg);
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, off);
	emit_alu_imm(e, BPF_MOV, R2, call_word_bytes(gen));
	emit_call(e, BPF_FUNC_probe_read_user);
	emit_jump_imm(e, BPF_JNE, R0, 0, missing);
}

/* r1 = what the kernel's memory has at r1 + offset, by way of `off` */
static void call_kernel_read(struct gen *gen, uint32_t offset, int off,
			     emit_label failed)
{
	struct emit *e = &gen->e;

	emit_alu(e, BPF_MOV, R3, R1);
	emit_alu_imm(e, BPF_ADD, R3, offset);
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, off);
	emit_alu_imm(e, BPF_MOV, R2, 8);
	emit_call(e, BPF_FUNC_probe_read_kernel);
	emit_jump_imm(e, BPF_JNE, R0, 0, failed);
	emit_load(e, 8, R1, FP, off);
}

/* r1 = the process's trampoline, which is kept; it has none: to `failed` */
static void trampoline_load(struct gen *gen, int off, emit_label failed)
{
	const struct body_layout *layout = gen->target->layout;
	struct emit *e = &gen->e;

	emit_call(e, BPF_FUNC_get_current_task_btf);
	emit_load(e, 8, R1, R0, layout->task_mm);
	call_kernel_read(gen, layout->mm_xol, off, failed);
	emit_jump_imm(e, BPF_JEQ, R1, 0, failed);
	call_kernel_read(gen, layout->xol_vaddr, off, failed);
	emit_store(e, 8, R7, CALL(trampoline), R1);
}

/*
 * The same without an address to look for: calls inside that one have return
 * probes of their own, of which the innermost that waits (struct
 * return_instance) began at this stack pointer or above it, but not above the
 * call's.
 */
static void waiting_test(struct gen *gen, emit_label inside, emit_label fresh)
{
	const struct body_layout *layout = gen->target->layout;
	int read = gen_frame_take(gen, 1);
	struct emit *e = &gen->e;

	emit_call(e, BPF_FUNC_get_current_task);
	gen_member_load(gen, read, 8, layout->task_utask, fresh);
	gen_member_load(gen, read, 8, layout->utask_returns, fresh);
	gen_member_load(gen, read, 8, layout->return_stack, fresh);
	emit_jump_if(e, BPF_JLT, R0, R8, fresh);
	emit_load(e, 8, R1, R7, CALL(stack));
	emit_jump_if(e, BPF_JLE, R0, R1, inside);
	emit_jump(e, fresh);
}

/* CALLED: is this inside that call? Else to `fresh`. */
static void called_test(struct gen *gen, emit_label inside, emit_label fresh)
{
	int words = gen_frame_take(gen, 2), there = words, kernel = words + 8;
	struct emit *e = &gen->e;

	emit_call(e, BPF_FUNC_jiffies64);
	emit_load(e, 8, R1, R7, CALL(began));
	emit_alu(e, BPF_SUB, R0, R1);
	emit_jump_imm(e, BPF_JGT, R0, RAS_CALL_MOST, fresh);
	emit_load(e, 8, R1, R7, CALL(stack));
	emit_alu(e, BPF_MOV, R2, R1);
	emit_alu(e, BPF_SUB, R2, R8);
	emit_jump_imm(e, BPF_JGT, R2, RAS_CALL_DEEPEST, fresh);
	if (call_has_link(gen)) {
		waiting_test(gen, inside, fresh);
		return;
	}
	call_word_read(gen, R1, there, fresh);
	emit_load(e, 8, R1, R7, CALL(trampoline));
	emit_load(e, 8, R2, FP, there);
	emit_jump_imm(e, BPF_JEQ, R2, 0, fresh);
	emit_jump_if(e, BPF_JEQ, R1, R2, inside);
	trampoline_load(gen, kernel, fresh);
	emit_load(e, 8, R2, FP, there);
	emit_jump_if(e, BPF_JEQ, R1, R2, inside);
	emit_jump(e, fresh);
}

/* r2 points into the frame: is its word the address to return to? */
static void link_compare(struct gen *gen, int there, emit_label found,
			 emit_label fresh)
{
	struct emit *e = &gen->e;

	call_word_read(gen, R2, there, fresh);
	emit_load(e, 8, R1, FP, there);
	arch_address_strip(gen, R1);
	emit_load(e, 8, R2, R7, CALL(caller));
	emit_jump_if(e, BPF_JEQ, R1, R2, found);
}

/*
 * The function that began at stack pointer r1 still has the address to return to:
 * after a jump in the register, else in its frame record, or where it has none
 * in one of the words above the stack pointer.
 */
static void link_test(struct gen *gen, int there, emit_label fresh)
{
	emit_label called = emit_label_new(&gen->e);
	emit_label search = emit_label_new(&gen->e);
	emit_label found = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_jump_if(e, BPF_JNE, R1, R8, called);
	emit_load(e, 8, R1, R6, gen->cpu->link);
	emit_load(e, 8, R2, R7, CALL(caller));
	emit_jump_if(e, BPF_JEQ, R1, R2, found);
	emit_jump(e, fresh);
	emit_label_place(e, called);
	emit_load(e, 8, R2, R6, gen->cpu->frame);
	emit_jump_if(e, BPF_JLT, R2, R8, search);
	emit_jump_if(e, BPF_JGE, R2, R1, search);
	emit_alu_imm(e, BPF_ADD, R2, 8);
	link_compare(gen, there, found, fresh);
	emit_label_place(e, search);
	for (int i = 0; i < LINK_WORDS; i++) {
		emit_alu(e, BPF_MOV, R2, R8);
		emit_alu_imm(e, BPF_ADD, R2, 8 * i);
		emit_load(e, 8, R1, R7, CALL(stack));
		emit_jump_if(e, BPF_JGE, R2, R1, fresh);
		link_compare(gen, there, found, fresh);
	}
	emit_jump(e, fresh);
	emit_label_place(e, found);
}

/* NAMED, RELEASED: did that function jump here, or call from its frame? Else to
 * `fresh`. */
static void near_test(struct gen *gen, emit_label fresh)
{
	int there = gen_frame_take(gen, 1);
	struct emit *e = &gen->e;

	emit_load(e, 2, R1, R7, CALL(level));
	emit_load(e, 8, R2, FP, FRAME_LEVEL);
	emit_jump_if(e, BPF_JLE, R1, R2, fresh);
	emit_load(e, 8, R1, R7, CALL(stack));
	emit_alu(e, BPF_MOV, R2, R1);
	emit_alu(e, BPF_SUB, R2, R8);
	emit_jump_imm(e, BPF_JGT, R2, NEAR, fresh);
	if (call_has_link(gen)) {
		link_test(gen, there, fresh);
		return;
	}
	call_word_read(gen, R1, there, fresh);
	emit_load(e, 8, R1, R7, CALL(caller));
	emit_load(e, 8, R2, FP, there);
	emit_jump_if(e, BPF_JNE, R1, R2, fresh);
}

/* FRAME_CALLER = where the function that begins returns to; not readable: to
 * `missing` */
static void caller_load(struct gen *gen, emit_label missing)
{
	if (!call_has_link(gen)) {
		call_word_read(gen, R8, FRAME_CALLER, missing);
		return;
	}
	emit_load(&gen->e, 8, R1, R6, gen->cpu->link);
	emit_store(&gen->e, 8, FP, FRAME_CALLER, R1);
}

/* arguments[] of the call that begins */
static void arguments_store(struct gen *gen, emit_label missing)
{
	int words = gen_frame_take(gen, RAS_CALL_ARGUMENTS / 2);
	struct emit *e = &gen->e;

	if (!gen->flat32) {
		for (unsigned int i = 0; i < RAS_CALL_ARGUMENTS; i++) {
			emit_load(e, 8, R1, R6,
				  arch_argument_offset(gen->machine, i));
			emit_store(e, 8, R7, ARGUMENT(i), R1);
		}
		return;
	}
	emit_alu(e, BPF_MOV, R3, R8);
	emit_alu_imm(e, BPF_ADD, R3, 4);
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, words);
	emit_alu_imm(e, BPF_MOV, R2, 4 * RAS_CALL_ARGUMENTS);
	emit_call(e, BPF_FUNC_probe_read_user);
	emit_jump_imm(e, BPF_JNE, R0, 0, missing);
	for (int i = 0; i < RAS_CALL_ARGUMENTS; i++) {
		emit_load(e, 4, R1, FP, words + 4 * i);
		emit_store(e, 8, R7, ARGUMENT(i), R1);
	}
}

static void state_store(struct gen *gen, int state)
{
	struct emit *e = &gen->e;

	emit_store_imm(e, 2, R7, CALL(state), state);
	emit_load(e, 8, R1, FP, FRAME_LEVEL);
	emit_store(e, 2, R7, CALL(level), R1);
	emit_store(e, 8, R7, CALL(stack), R8);
}

/* flags: TDF_STMT_BLOCK, _SIZE or _OLD */
static const struct tdf_stmt *stmt_find(const struct gen *gen, int flags)
{
	const struct tdf_stmt *stmt = gen->tdf->stmts + gen->site->first_stmt;

	for (__u32 i = 0; i < gen->site->stmts; i++)
		if ((stmt[i].flags & TDF_STMT_OLD) == flags)
			return &stmt[i];
	return NULL;
}

/* r1 = the value of a statement, before a record is begun; it can't be read: to
 * `fault`. Nothing is brought in for it. */
static void stmt_load(struct gen *gen, const struct tdf_stmt *stmt,
		      emit_label fault)
{
	bool bring_in = gen->bring_in;
	struct gen_value value;

	gen->bring_in = false;
	gen->fault = fault;
	rpn_generate(gen, gen->tdf->rpn + stmt->rpn, stmt->rpn_length, &value);
	gen->bring_in = bring_in;
	rpn_value_load(gen, &value, R1);
}

/* A call that makes no record: of the next one it is the name. */
static void name_store(struct gen *gen, emit_label out)
{
	const struct tdf_stmt *size = stmt_find(gen, TDF_STMT_SIZE);
	struct emit *e = &gen->e;

	state_store(gen, RAS_CALL_NAMED);
	emit_load(e, 2, R1, FP, FRAME_COOKIE);
	emit_store(e, 2, R7, CALL(name), R1);
	emit_load(e, 8, R1, FP, FRAME_CALLER);
	emit_store(e, 8, R7, CALL(caller), R1);
	emit_store_imm(e, 8, R7, CALL(size), SIZE_OWN);
	if (!size)
		return;
	stmt_load(gen, size, out);
	emit_store(e, 8, R7, CALL(size), R1);
}

/* The call that is named, or gives its name, came from one that did. */
static void frame_count(struct gen *gen)
{
	emit_label jump = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_load(e, 8, R1, R7, CALL(named));
	emit_jump_if(e, BPF_JEQ, R1, R8, jump);
	emit_load(e, 8, R1, R7, CALL(frames));
	emit_alu_imm(e, BPF_ADD, R1, 1);
	emit_store(e, 8, R7, CALL(frames), R1);
	emit_store(e, 8, R7, CALL(named), R8);
	emit_label_place(e, jump);
}

/* Another call under way: what `size` and `name` belong to, or out. */
static void begin_test(struct gen *gen, bool records, emit_label out)
{
	emit_label fresh = emit_label_new(&gen->e);
	emit_label named = emit_label_new(&gen->e);
	emit_label called = emit_label_new(&gen->e);
	emit_label join = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_load(e, 2, R1, R7, CALL(state));
	emit_jump_imm(e, BPF_JEQ, R1, RAS_CALL_CALLED, called);
	emit_jump_imm(e, BPF_JEQ, R1, RAS_CALL_NAMED, named);
	emit_jump(e, fresh);
	emit_label_place(e, called);
	called_test(gen, out, fresh);
	emit_label_place(e, named);
	near_test(gen, fresh);
	frame_count(gen);
	emit_jump(e, records ? join : out);
	emit_label_place(e, fresh);
	emit_store_imm(e, 2, R7, CALL(name), 0);
	emit_store_imm(e, 8, R7, CALL(frames), 0);
	emit_store(e, 8, R7, CALL(named), R8);
	emit_label_place(e, join);
}

/* One more `dropped` of the point: nothing could be kept of its thread. */
static void dropped_count(struct gen *gen)
{
	struct emit *e = &gen->e;

	gen_cpu_load(gen);
	emit_load(e, 2, R1, FP, FRAME_POINT);
	emit_alu_imm(e, BPF_MUL, R1, gen->target->cpus * (1 + RAS_NEST_LEVELS));
	emit_load(e, 4, R2, FP, FRAME_CPU);
	emit_alu(e, BPF_ADD, R1, R2);
	emit_store(e, 4, FP, FRAME_ROW, R1);
	emit_lookup(e, gen->target->count_fd, FRAME_ROW, gen->out);
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_ADD, R0, (int)offsetof(struct ras_count, dropped),
		    R1);
}

static void stubs_generate(struct gen *gen)
{
	for (; gen->stubs_done < gen->stub_count && !gen->e.error;
	     gen->stubs_done++)
		stub_generate(gen, &gen->stubs[gen->stubs_done]);
}

static bool layout_knows(const struct gen *gen)
{
	const struct body_layout *layout = gen->target->layout;

	if (!layout)
		return false;
	if (call_has_link(gen))
		return layout->task_utask && layout->utask_returns &&
		       layout->return_stack;
	return layout->task_mm && layout->mm_xol && layout->xol_vaddr;
}

static bool target_check(struct gen *gen)
{
	if (!gen->target->heap || gen->target->heap->calls_fd < 0)
		gen_fail(gen, -EINVAL, "calls have no map");
	else if (!layout_knows(gen))
		gen_fail(gen, -EOPNOTSUPP, "calls inside each other can't be "
			 "distinguished: this kernel has no BTF");
	return !gen->e.error;
}

/* What the call's return has of its arguments */
static void call_keep(struct gen *gen, const struct tdf_site *returns,
		      emit_label missing)
{
	const struct tdf_site *begins = gen->site;
	struct emit *e = &gen->e;

	emit_store(e, 8, FP, FRAME_CALL, R7);
	arguments_store(gen, missing);
	gen->site = returns;
	choose_block_begin(gen);
	gen->site = begins;
	emit_call(e, BPF_FUNC_jiffies64);
	emit_store(e, 8, R7, CALL(began), R0);
	emit_load(e, 2, R1, FP, FRAME_COOKIE);
	emit_store(e, 2, R7, CALL(minor), R1);
	state_store(gen, RAS_CALL_CALLED);
}

void call_begin_generate(struct gen *gen)
{
	const struct tdf_site *returns = return_find(gen);
	emit_label missing = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (!target_check(gen))
		return;
	gen_note(gen, STMT_PROLOGUE);
	body_begin_generate(gen);
	body_state_generate(gen);
	gen_cookie_load(gen);
	filter_processes(gen);
	call_load(gen, missing);
	stack_load(gen);
	begin_test(gen, returns, gen->out);
	if (returns) {
		call_keep(gen, returns, missing);
	} else {
		caller_load(gen, gen->out);
		name_store(gen, gen->out);
	}
	emit_jump(e, gen->out);
	emit_label_place(e, missing);
	dropped_count(gen);
	emit_jump(e, gen->out);
	stubs_generate(gen);
	for (int kind = 0; kind < RAS_FILTERED_KINDS; kind++)
		if (emit_label_used(e, gen->filtered[kind]))
			emit_label_place(e, gen->filtered[kind]);
	emit_label_place(e, gen->out);
	emit_alu_imm(e, BPF_MOV, R0, 0);
	emit_exit(e);
}

/* The return that is waited for, and not one inside it */
static void return_generate(struct gen *gen)
{
	emit_label nested = gen->filtered[RAS_FILTERED_NESTED];
	struct emit *e = &gen->e;

	emit_load(e, 2, R1, R7, CALL(state));
	emit_jump_imm(e, BPF_JNE, R1, RAS_CALL_CALLED, nested);
	emit_load(e, 2, R1, R7, CALL(minor));
	emit_load(e, 2, R2, FP, FRAME_COOKIE);
	emit_jump_if(e, BPF_JNE, R1, R2, nested);
	emit_load(e, 8, R1, R7, CALL(stack));
	emit_alu_imm(e, BPF_ADD, R1, gen->cpu->call_bytes);
	emit_jump_if(e, BPF_JNE, R1, R8, nested);
	emit_store_imm(e, 2, R7, CALL(state), RAS_CALL_IDLE);
}

/* RELEASED: of the same block */
static void release_test(struct gen *gen, emit_label fresh)
{
	struct emit *e = &gen->e;

	emit_load(e, 8, R1, R7, CALL(block));
	emit_load(e, 8, R2, FP, FRAME_BLOCK);
	emit_jump_if(e, BPF_JNE, R1, R2, fresh);
	near_test(gen, fresh);
	emit_load(e, 8, R1, FP, FRAME_LEVEL);
	emit_store(e, 2, R7, CALL(level), R1);
	emit_jump(e, gen->filtered[RAS_FILTERED_NESTED]);
}

static void release_generate(struct gen *gen)
{
	const struct tdf_stmt *block = stmt_find(gen, TDF_STMT_BLOCK);
	emit_label fresh = emit_label_new(&gen->e);
	emit_label called = emit_label_new(&gen->e);
	emit_label unknown = emit_label_new(&gen->e);
	emit_label done = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_store_imm(e, 8, FP, FRAME_BLOCK, 0);
	if (block) {
		stmt_load(gen, block, unknown);
		emit_store(e, 8, FP, FRAME_BLOCK, R1);
	}
	emit_label_place(e, unknown);
	emit_load(e, 2, R1, R7, CALL(state));
	emit_jump_imm(e, BPF_JEQ, R1, RAS_CALL_CALLED, called);
	emit_jump_imm(e, BPF_JNE, R1, RAS_CALL_RELEASED, fresh);
	release_test(gen, fresh);
	emit_label_place(e, called);
	called_test(gen, gen->filtered[RAS_FILTERED_NESTED], fresh);
	emit_label_place(e, fresh);
	state_store(gen, RAS_CALL_RELEASED);
	emit_load(e, 8, R1, FP, FRAME_BLOCK);
	emit_store(e, 8, R7, CALL(block), R1);
	emit_store_imm(e, 8, R7, CALL(caller), 0);
	caller_load(gen, done);
	emit_load(e, 8, R1, FP, FRAME_CALLER);
	emit_store(e, 8, R7, CALL(caller), R1);
	emit_label_place(e, done);
}

void call_join_generate(struct gen *gen)
{
	emit_label missing = gen->filtered[RAS_FILTERED_NESTED];
	struct emit *e = &gen->e;

	if (!point_is_call(gen) && !point_is_release(gen))
		return;
	if (!target_check(gen))
		return;
	call_load(gen, missing);
	emit_store(e, 8, FP, FRAME_CALL, R7);
	stack_load(gen);
	if (point_is_call(gen))
		return_generate(gen);
	else
		release_generate(gen);
}

void call_name_generate(struct gen *gen)
{
	emit_label own = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (!point_is_call(gen))
		return;
	emit_load(e, 8, R1, FP, FRAME_CALL);
	emit_load(e, 2, R1, R1, CALL(name));
	emit_jump_imm(e, BPF_JEQ, R1, 0, own);
	emit_store(e, 2, R7, RECORD(minor), R1);
	record_flag_set(gen, RAS_RECORD_NAMED);
	emit_label_place(e, own);
}

/*
 * The stack item's first addresses are in functions that gave names: remove them.
 * The ones after `depth` that take the last places are in the record, too, but
 * no reader uses them.
 */
void call_frames_drop(struct gen *gen, int addresses, uint32_t depth)
{
	const struct gen_place *place = &gen->place;
	int length = place->off + ITEM(length);
	emit_label done = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (!point_is_call(gen))
		return;
	emit_load(e, 8, R1, FP, FRAME_CALL);
	emit_load(e, 8, R2, R1, CALL(frames));
	emit_jump_imm(e, BPF_JEQ, R2, 0, done);
	emit_jump_imm(e, BPF_JGT, R2, FRAMES_MOST, done);
	emit_alu_imm(e, BPF_LSH, R2, 3);
	emit_load(e, 2, R1, place->base, length);
	emit_alu(e, BPF_SUB, R1, R2);
	emit_jump_imm(e, BPF_JSLT, R1, (int)sizeof(struct ras_stack), done);
	emit_store(e, 2, place->base, length, R1);
	emit_alu(e, BPF_MOV, R3, place->base);
	emit_alu(e, BPF_ADD, R3, R2);
	for (uint32_t i = 0; i + 1 < depth; i++) {
		int off = place->off + addresses + (int)i * STACK_FRAME_BYTES;

		emit_load(e, 8, R1, R3, off);
		emit_store(e, 8, place->base, off, R1);
	}
	emit_label_place(e, done);
}

void call_size_load(struct gen *gen)
{
	emit_label own = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (!point_is_call(gen))
		return;
	emit_load(e, 8, R2, FP, FRAME_CALL);
	emit_load(e, 2, R3, R2, CALL(name));
	emit_jump_imm(e, BPF_JEQ, R3, 0, own);
	emit_load(e, 8, R2, R2, CALL(size));
	emit_jump_imm(e, BPF_JEQ, R2, SIZE_OWN, own);
	emit_alu(e, BPF_MOV, R1, R2);
	emit_label_place(e, own);
}

bool call_old_load(struct gen *gen)
{
	const struct tdf_stmt *old = stmt_find(gen, TDF_STMT_OLD);

	if (old)
		stmt_load(gen, old, gen->out);
	return old;
}

void call_block_load(struct gen *gen)
{
	static const struct { int flags, off; } words[] = {
		{ TDF_STMT_BLOCK, FRAME_BLOCK }, { TDF_STMT_SIZE, FRAME_SIZE },
	};
	struct emit *e = &gen->e;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const struct tdf_stmt *stmt = stmt_find(gen, words[i].flags);

		if (!stmt) {
			emit_store_imm(e, 8, FP, words[i].off, 0);
			continue;
		}
		stmt_load(gen, stmt, gen->unknown);
		if (words[i].flags == TDF_STMT_SIZE)
			call_size_load(gen);
		emit_store(e, 8, FP, words[i].off, R1);
	}
}

/* Which argument, or -1: the stack pointer; -2: none of these */
static int call_argument_find(struct gen *gen, const struct rpn_op *op)
{
	struct arch_reg reg;

	if (op->bytes) {
		if (!gen->flat32 || op->bytes != 4 || op->b % 4 ||
		    arch_reg_find(gen, op->a).offset != gen->cpu->stack)
			return -2;
		return op->b >= 4 && op->b <= 4 * RAS_CALL_ARGUMENTS ?
		       (int)op->b / 4 - 1 : -2;
	}
	reg = arch_reg_find(gen, op->a);
	if (reg.offset == gen->cpu->stack)
		return -1;
	for (int i = 0; i < RAS_CALL_ARGUMENTS; i++)
		if (reg.offset == arch_argument_offset(gen->machine, i))
			return i;
	return -2;
}

void call_value_load(struct gen *gen, const struct rpn_op *op, int reg)
{
	int argument = call_argument_find(gen, op);
	struct emit *e = &gen->e;

	if (!point_is_call(gen) || gen->site->flags & TDF_SITE_CALL) {
		gen_fail(gen, -EINVAL,
			 "there is no beginning of a call to take values of");
		return;
	}
	if (argument < -1) {
		gen_fail(gen, -EINVAL,
			 "register %" PRIu64
			 " isn't kept where a call begins", op->a);
		return;
	}
	emit_load(e, 8, reg, FP, FRAME_CALL);
	emit_load(e, 8, reg, reg, argument < 0 ? CALL(stack) :
						 ARGUMENT(argument));
}
