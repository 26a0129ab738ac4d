// SPDX-License-Identifier: GPL-2.0
/*
 * Points that are CALL or RELEASE: what a thread is doing, in its struct
 * ras_call (rastrace/tdf.h, buffer.h).
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

/* There is no record yet. */
#define CALL		BPF_REG_7	/* gen->call */
#define STACK		BPF_REG_8	/* stack pointer */

#define NEAR		256	/* bytes from a frame to the one right below */
#define LINK_WORDS	8	/* of a small frame without a frame record */
#define SESSION_SKIP	1	/* of a uprobe session: the return isn't a hit */
#define STORAGE_CREATE	1	/* BPF_LOCAL_STORAGE_GET_F_CREATE */

/* Where the point records what it names; NULL: it only gives its name. */
static const struct tdf_site *return_find(const struct plan *plan)
{
	const struct tdf_site *site =
		plan->tdf->sites + plan->point->first_site;

	for (__u32 i = 0; i < plan->point->sites; i++)
		if (site[i].flags & TDF_SITE_RETURN)
			return &site[i];
	return NULL;
}

static bool call_has_link(const struct gen *gen)
{
	return gen->plan->cpu->link >= 0;
}

static int call_word_bytes(const struct gen *gen)
{
	return gen->plan->flat32 ? 4 : 8;
}

/* CALL = the thread's; none, and none could be made: to `missing`. The kernel makes
 * none while another thread is preempted in there on the same CPU. */
static void call_load(struct gen *gen, code_label missing)
{
	struct code *c = gen->c;

	if (!gen->plan->alone)
		start_preempt(gen, false);
	code_call(c, BPF_FUNC_get_current_task_btf);
	code_move(c, R2, R0);
	code_map(c, R1, gen->plan->target->heap->calls_fd);
	code_alu_imm(c, BPF_MOV, R3, 0);
	code_alu_imm(c, BPF_MOV, R4, STORAGE_CREATE);
	code_call(c, BPF_FUNC_task_storage_get);
	code_move(c, CALL, R0);
	if (!gen->plan->alone)
		start_preempt(gen, true);
	code_jump_imm(c, BPF_JEQ, CALL, 0, missing);
	code_load(c, call_word_bytes(gen), STACK, CONTEXT,
		  gen->plan->cpu->stack);
}

/* A temp with the word at the address in reg; not readable: to `missing` */
static int call_word_read(struct gen *gen, int reg, code_label missing)
{
	struct code *c = gen->c;
	code_slot slot = code_slot_new(c, 8);
	int word = code_temp_new(c);

	code_move(c, R3, reg);
	code_slot_address(c, R1, slot, 0);
	code_alu_imm(c, BPF_MOV, R2, call_word_bytes(gen));
	code_call(c, BPF_FUNC_probe_read_user);
	code_jump_imm(c, BPF_JNE, R0, 0, missing);
	code_slot_load(c, call_word_bytes(gen), word, slot, 0);
	return word;
}

/* A temp with the process's trampoline, which is kept; it has none: to `failed` */
static int trampoline_load(struct gen *gen, code_label failed)
{
	const struct body_layout *layout = gen->plan->target->layout;
	struct code *c = gen->c;
	int area = code_temp_new(c), trampoline = code_temp_new(c);

	code_call(c, BPF_FUNC_get_current_task_btf);
	code_load(c, 8, area, R0, layout->task_mm);
	member_load(gen, area, 8, area, layout->mm_xol, failed);
	code_jump_imm(c, BPF_JEQ, area, 0, failed);
	member_load(gen, trampoline, 8, area, layout->xol_vaddr, failed);
	code_store(c, 8, CALL, CALL_AT(trampoline), trampoline);
	return trampoline;
}

/*
 * The same without an address to look for: calls inside that one have return
 * probes of their own, of which the innermost that waits (struct
 * return_instance) began at this stack pointer or above it, but not above the
 * call's.
 */
static void waiting_test(struct gen *gen, code_label inside, code_label fresh)
{
	const struct body_layout *layout = gen->plan->target->layout;
	struct code *c = gen->c;

	code_call(c, BPF_FUNC_get_current_task);
	member_load(gen, R0, 8, R0, layout->task_utask, fresh);
	member_load(gen, R0, 8, R0, layout->utask_returns, fresh);
	member_load(gen, R0, 8, R0, layout->return_stack, fresh);
	code_jump_if(c, BPF_JLT, R0, STACK, fresh);
	code_load(c, 8, R1, CALL, CALL_AT(stack));
	code_jump_if(c, BPF_JLE, R0, R1, inside);
	code_jump(c, fresh);
}

/* A temp with the stack pointer where the call began, at most so many bytes above
 * this one; else to `fresh` */
static int depth_test(struct gen *gen, int bytes, code_label fresh)
{
	struct code *c = gen->c;
	int stack = temp_load(gen, 8, CALL, CALL_AT(stack));
	int distance = code_copy(c, stack);

	code_alu(c, BPF_SUB, distance, STACK);
	code_jump_imm(c, BPF_JGT, distance, bytes, fresh);
	return stack;
}

/* CALLED: is this inside that call? Else to `fresh`. */
static void called_test(struct gen *gen, code_label inside, code_label fresh)
{
	struct code *c = gen->c;
	int stack, there;

	code_call(c, BPF_FUNC_jiffies64);
	code_load(c, 8, R1, CALL, CALL_AT(began));
	code_alu(c, BPF_SUB, R0, R1);
	code_jump_imm(c, BPF_JGT, R0, RAS_CALL_MOST, fresh);
	stack = depth_test(gen, RAS_CALL_DEEPEST, fresh);
	if (call_has_link(gen)) {
		waiting_test(gen, inside, fresh);
		return;
	}
	there = call_word_read(gen, stack, fresh);
	code_jump_imm(c, BPF_JEQ, there, 0, fresh);
	code_load(c, 8, R1, CALL, CALL_AT(trampoline));
	code_jump_if(c, BPF_JEQ, R1, there, inside);
	code_jump_if(c, BPF_JEQ, trampoline_load(gen, fresh), there, inside);
	code_jump(c, fresh);
}

/* Is the word at the address in reg the one to return to? */
static void link_compare(struct gen *gen, int reg, code_label found,
			 code_label fresh)
{
	struct code *c = gen->c;
	int there = call_word_read(gen, reg, fresh);

	address_strip(gen, there);
	code_load(c, 8, R2, CALL, CALL_AT(caller));
	code_jump_if(c, BPF_JEQ, there, R2, found);
}

/*
 * The function that began at the stack pointer `stack` still has the address to
 * return to: after a jump in the register, else in its frame record, or where it
 * has none in one of the words above the stack pointer.
 */
static void link_test(struct gen *gen, int stack, code_label fresh)
{
	const struct processor *cpu = gen->plan->cpu;
	struct code *c = gen->c;
	code_label called = code_label_new(c), search = code_label_new(c);
	code_label found = code_label_new(c);
	int at;

	code_jump_if(c, BPF_JNE, stack, STACK, called);
	code_load(c, 8, R1, CONTEXT, cpu->link);
	code_load(c, 8, R2, CALL, CALL_AT(caller));
	code_jump_if(c, BPF_JEQ, R1, R2, found);
	code_jump(c, fresh);
	code_label_place(c, called);
	at = temp_load(gen, 8, CONTEXT, cpu->frame);
	code_jump_if(c, BPF_JLT, at, STACK, search);
	code_jump_if(c, BPF_JGE, at, stack, search);
	code_alu_imm(c, BPF_ADD, at, 8);
	link_compare(gen, at, found, fresh);
	code_label_place(c, search);
	for (int i = 0; i < LINK_WORDS; i++) {
		at = code_copy(c, STACK);
		code_alu_imm(c, BPF_ADD, at, 8 * i);
		code_jump_if(c, BPF_JGE, at, stack, fresh);
		link_compare(gen, at, found, fresh);
	}
	code_jump(c, fresh);
	code_label_place(c, found);
}

/* NAMED, RELEASED: did that function jump here, or call from its frame? Else to
 * `fresh`. */
static void near_test(struct gen *gen, code_label fresh)
{
	struct code *c = gen->c;
	int stack, there;

	code_load(c, 2, R1, CALL, CALL_AT(level));
	code_jump_if(c, BPF_JLE, R1, gen->level, fresh);
	stack = depth_test(gen, NEAR, fresh);
	if (call_has_link(gen)) {
		link_test(gen, stack, fresh);
		return;
	}
	there = call_word_read(gen, stack, fresh);
	code_load(c, 8, R1, CALL, CALL_AT(caller));
	code_jump_if(c, BPF_JNE, R1, there, fresh);
}

/* A temp with where the function that begins returns to; not readable: to
 * `missing` */
static int caller_load(struct gen *gen, code_label missing)
{
	if (!call_has_link(gen))
		return call_word_read(gen, STACK, missing);
	return temp_load(gen, 8, CONTEXT, gen->plan->cpu->link);
}

/* arguments[] of the call that begins */
static void arguments_store(struct gen *gen, code_label missing)
{
	const struct plan *plan = gen->plan;
	int to = CALL_AT(arguments);
	struct code *c = gen->c;
	code_slot words;

	if (!plan->flat32) {
		for (int i = 0; i < RAS_CALL_ARGUMENTS; i++) {
			code_load(c, 8, R1, CONTEXT,
				  arch_argument_offset(plan->machine, i));
			code_store(c, 8, CALL, to + 8 * i, R1);
		}
		return;
	}
	words = code_slot_new(c, 4 * RAS_CALL_ARGUMENTS);
	code_move(c, R3, STACK);
	code_alu_imm(c, BPF_ADD, R3, 4);
	code_slot_address(c, R1, words, 0);
	code_alu_imm(c, BPF_MOV, R2, 4 * RAS_CALL_ARGUMENTS);
	code_call(c, BPF_FUNC_probe_read_user);
	code_jump_imm(c, BPF_JNE, R0, 0, missing);
	for (int i = 0; i < RAS_CALL_ARGUMENTS; i++) {
		code_slot_load(c, 4, R1, words, 4 * i);
		code_store(c, 8, CALL, to + 8 * i, R1);
	}
}

static void call_state_store(struct gen *gen, int state)
{
	struct code *c = gen->c;

	code_store_imm(c, 2, CALL, CALL_AT(state), state);
	code_store(c, 2, CALL, CALL_AT(level), gen->level);
	code_store(c, 8, CALL, CALL_AT(stack), STACK);
}

/* A call that makes no record: of the next one it is the name. */
static void name_store(struct gen *gen)
{
	const struct tdf_stmt *size =
		call_stmt_find(gen, gen->plan->site, TDF_STMT_SIZE);
	int caller = caller_load(gen, gen->out);
	struct code *c = gen->c;

	call_state_store(gen, RAS_CALL_NAMED);
	code_store(c, 2, CALL, CALL_AT(name), minor_reg(gen));
	code_store(c, 8, CALL, CALL_AT(caller), caller);
	code_store_imm(c, 8, CALL, CALL_AT(size), CALL_SIZE_OWN);
	if (!size)
		return;
	call_stmt_load(gen, size, gen->out, R1);
	code_store(c, 8, CALL, CALL_AT(size), R1);
}

/* The call that is named, or gives its name, came from one that did. */
static void frame_count(struct gen *gen)
{
	struct code *c = gen->c;
	code_label jump = code_label_new(c);

	code_load(c, 8, R1, CALL, CALL_AT(named));
	code_jump_if(c, BPF_JEQ, R1, STACK, jump);
	code_load(c, 8, R1, CALL, CALL_AT(frames));
	code_alu_imm(c, BPF_ADD, R1, 1);
	code_store(c, 8, CALL, CALL_AT(frames), R1);
	code_store(c, 8, CALL, CALL_AT(named), STACK);
	code_label_place(c, jump);
}

/* Another call under way: what `size` and `name` belong to, or out. */
static void begin_test(struct gen *gen, bool records)
{
	struct code *c = gen->c;
	code_label fresh = code_label_new(c), named = code_label_new(c);
	code_label called = code_label_new(c), join = code_label_new(c);

	code_load(c, 2, R1, CALL, CALL_AT(state));
	code_jump_imm(c, BPF_JEQ, R1, RAS_CALL_CALLED, called);
	code_jump_imm(c, BPF_JEQ, R1, RAS_CALL_NAMED, named);
	code_jump(c, fresh);
	code_label_place(c, called);
	called_test(gen, gen->plan->session ?
		    gen->filtered[RAS_FILTERED_NESTED] : gen->out, fresh);
	code_label_place(c, named);
	near_test(gen, fresh);
	frame_count(gen);
	code_jump(c, records ? join : gen->out);
	code_label_place(c, fresh);
	code_store_imm(c, 2, CALL, CALL_AT(name), 0);
	code_store_imm(c, 8, CALL, CALL_AT(frames), 0);
	code_store(c, 8, CALL, CALL_AT(named), STACK);
	code_label_place(c, join);
}

static bool layout_knows(const struct gen *gen)
{
	const struct body_layout *layout = gen->plan->target->layout;

	if (!layout)
		return false;
	if (call_has_link(gen))
		return layout->task_utask && layout->utask_returns &&
		       layout->return_stack;
	return layout->task_mm && layout->mm_xol && layout->xol_vaddr;
}

static bool target_check(struct gen *gen)
{
	const struct body_heap *heap = gen->plan->target->heap;

	if (!heap || heap->calls_fd < 0)
		gen_fail(gen, -EINVAL, "calls have no map");
	else if (!layout_knows(gen))
		gen_fail(gen, -EOPNOTSUPP, "calls inside each other can't be "
			 "distinguished: this kernel has no BTF");
	return !gen->c->error;
}

/* What the call's return has of its arguments */
static void call_keep(struct gen *gen, const struct tdf_site *returns,
		      code_label missing)
{
	struct code *c = gen->c;

	arguments_store(gen, missing);
	choose_block_begin(gen, returns);
	if (gen->plan->decided) {
		code_store_imm(c, 2, CALL, CALL_AT(state), RAS_CALL_IDLE);
		choose_block_decide(gen, returns);
	}
	code_call(c, BPF_FUNC_jiffies64);
	code_store(c, 8, CALL, CALL_AT(began), R0);
	code_store(c, 2, CALL, CALL_AT(minor), minor_reg(gen));
	call_state_store(gen, RAS_CALL_CALLED);
}

/* Hits that aren't recorded count where the call begins only if the program
 * isn't called when it returns. */
static void begin_end(struct gen *gen)
{
	struct code *c = gen->c;

	if (!gen->plan->session) {
		for (int kind = 0; kind < RAS_FILTERED_KINDS; kind++)
			code_label_place(c, gen->filtered[kind]);
		start_exits_generate(gen, 0);
		return;
	}
	if (gen->plan->alone)
		start_preempt(gen, true);
	code_alu_imm(c, BPF_MOV, R0, 0);
	code_exit(c);
	filter_ways_generate(gen);
	start_exits_generate(gen, SESSION_SKIP);
}

void call_begin_generate(struct gen *gen)
{
	const struct tdf_site *returns = return_find(gen->plan);
	struct code *c = gen->c;
	code_label missing = code_label_new(c);

	if (!target_check(gen))
		return;
	gen_note(gen, STMT_PROLOGUE);
	start_generate(gen);
	start_state_generate(gen);
	start_cookie_generate(gen);
	filter_processes(gen);
	call_load(gen, missing);
	gen->call = returns ? CALL : NO_REG;
	begin_test(gen, returns);
	if (returns)
		call_keep(gen, returns, missing);
	else
		name_store(gen);
	code_rare_begin(c);
	code_label_place(c, missing);
	why_dropped_count(gen);
	code_jump(c, gen->out);
	code_rare_end(c);
	begin_end(gen);
}

/* The return that is waited for, and not one inside it */
static void return_generate(struct gen *gen)
{
	code_label nested = gen->filtered[RAS_FILTERED_NESTED];
	struct code *c = gen->c;

	code_load(c, 2, R1, CALL, CALL_AT(state));
	code_jump_imm(c, BPF_JNE, R1, RAS_CALL_CALLED, nested);
	code_load(c, 2, R1, CALL, CALL_AT(minor));
	code_jump_if(c, BPF_JNE, R1, minor_reg(gen), nested);
	code_load(c, 8, R1, CALL, CALL_AT(stack));
	code_alu_imm(c, BPF_ADD, R1, gen->plan->cpu->call_bytes);
	code_jump_if(c, BPF_JNE, R1, STACK, nested);
	code_store_imm(c, 2, CALL, CALL_AT(state), RAS_CALL_IDLE);
}

/* RELEASED: of the same block */
static void release_test(struct gen *gen, code_label fresh)
{
	struct code *c = gen->c;

	code_load(c, 8, R1, CALL, CALL_AT(block));
	code_jump_if(c, BPF_JNE, R1, gen->block, fresh);
	near_test(gen, fresh);
	code_store(c, 2, CALL, CALL_AT(level), gen->level);
	code_jump(c, gen->filtered[RAS_FILTERED_NESTED]);
}

static void release_generate(struct gen *gen)
{
	const struct tdf_stmt *block =
		call_stmt_find(gen, gen->plan->site, TDF_STMT_BLOCK);
	struct code *c = gen->c;
	code_label fresh = code_label_new(c), called = code_label_new(c);
	code_label unknown = code_label_new(c), done = code_label_new(c);
	int caller;

	code_const(c, gen->block, 0);
	if (block)
		call_stmt_load(gen, block, unknown, gen->block);
	code_label_place(c, unknown);
	code_load(c, 2, R1, CALL, CALL_AT(state));
	code_jump_imm(c, BPF_JEQ, R1, RAS_CALL_CALLED, called);
	code_jump_imm(c, BPF_JNE, R1, RAS_CALL_RELEASED, fresh);
	release_test(gen, fresh);
	code_label_place(c, called);
	called_test(gen, gen->filtered[RAS_FILTERED_NESTED], fresh);
	code_label_place(c, fresh);
	call_state_store(gen, RAS_CALL_RELEASED);
	code_store(c, 8, CALL, CALL_AT(block), gen->block);
	code_store_imm(c, 8, CALL, CALL_AT(caller), 0);
	caller = caller_load(gen, done);
	code_store(c, 8, CALL, CALL_AT(caller), caller);
	code_label_place(c, done);
}

void call_join_generate(struct gen *gen)
{
	int flags = gen->plan->point->flags;

	if (!(flags & (TDF_POINT_CALL | TDF_POINT_RELEASE)) ||
	    !target_check(gen))
		return;
	call_load(gen, gen->filtered[RAS_FILTERED_NESTED]);
	code_move(gen->c, gen->call, CALL);
	if (flags & TDF_POINT_CALL)
		return_generate(gen);
	else
		release_generate(gen);
}
