// SPDX-License-Identifier: GPL-2.0
/*
 * Return addresses: an item RAS_ITEM_STACK. In user space along the frame
 * pointers: at each there are the caller's frame pointer and, after it, the
 * address to return to (x86-64 psABI 3.2.2, i386 psABI 2.2.2, aapcs64 6.4.6).
 * The probed function's own address to return to lies right below its canonical
 * frame address, whether it has built its frame or not; where calls leave it in
 * a register it is there, unless a frame has been built. In the kernel its
 * unwinder walks the stack; it knows nothing of that register.
 *
 * The length in the item is right at every exit, so that all exits of a kind
 * are one, and what follows is verified once.
 */
#include "gen.h"

#include "lib/formats/rpn.h"
#include "lib/formats/tdf.h"

#define FRAME_BYTES	8	/* of an address in the record */

#define STACK(field)	(RAS_ITEM_PREFIX + \
			 (int)offsetof(struct ras_stack, field))
#define STACK_BYTES	((int)sizeof(struct ras_stack))

struct bpf_stack {
	struct gen *gen;
	struct emit *e;
	uint32_t depth;
	int word;		/* bytes of a pointer */
	/* in the frame: frame pointer and address as read; what the next frame
	 * isn't below; the probed function's address to return to */
	int pair, low, address;
	emit_label outermost, unreadable, no_frame, done;
	struct unwind_call unwind;	/* by tables */
};

static void stack_store(struct bpf_stack *s, int bytes, int off, int imm)
{
	const struct gen_place *place = &s->gen->place;

	emit_store_imm(s->e, bytes, place->base, place->off + off, imm);
}

static void count_store(struct bpf_stack *s, uint32_t frames)
{
	stack_store(s, 2, ITEM(length), STACK_BYTES + frames * FRAME_BYTES);
}

/* r0 = 0: `bytes` bytes at r3 are at FP + off */
static void stack_user_read(struct bpf_stack *s, int off, int bytes)
{
	emit_alu(s->e, BPF_MOV, R1, FP);
	emit_alu_imm(s->e, BPF_ADD, R1, off);
	emit_alu_imm(s->e, BPF_MOV, R2, bytes);
	emit_call(s->e, BPF_FUNC_probe_read_user);
}

/* Address number `index` is in the pair. Is it one? */
static void address_take(struct bpf_stack *s, uint32_t index)
{
	const struct gen_place *place = &s->gen->place;
	struct emit *e = s->e;

	emit_load(e, s->word, R1, FP, s->pair + s->word);
	arch_address_test(s->gen, R1, R2, s->no_frame);
	emit_store(e, 8, place->base, place->off + RAS_ITEM_PREFIX +
		   STACK_BYTES + (int)index * FRAME_BYTES, R1);
	count_store(s, index + 1);
}

/* The frame that the pair's frame pointer leads to: address number `index`. */
static void frame_follow(struct bpf_stack *s, uint32_t index)
{
	struct emit *e = s->e;

	emit_load(e, s->word, R3, FP, s->pair);
	emit_jump_imm(e, BPF_JEQ, R3, 0, s->outermost);
	emit_alu(e, BPF_MOV, R1, R3);
	emit_alu_imm(e, BPF_AND, R1, s->word - 1);
	emit_jump_imm(e, BPF_JNE, R1, 0, s->no_frame);
	emit_load(e, 8, R2, FP, s->low);
	emit_alu(e, BPF_MOV, R1, R3);
	emit_alu(e, BPF_SUB, R1, R2);
	emit_jump_imm(e, BPF_JGT, R1, STACK_DISTANCE, s->no_frame);
	emit_alu(e, BPF_MOV, R1, R3);
	emit_alu_imm(e, BPF_ADD, R1, 2 * s->word);
	emit_store(e, 8, FP, s->low, R1);
	stack_user_read(s, s->pair, 2 * s->word);
	emit_jump_imm(e, BPF_JNE, R0, 0, s->unreadable);
	address_take(s, index);
}

/* 0 in the register isn't the end of the frames: code that keeps no frame pointer
 * has anything there. */
static void register_test(struct bpf_stack *s)
{
	emit_load(s->e, s->word, R3, R6, s->gen->cpu->frame);
	emit_jump_imm(s->e, BPF_JEQ, R3, 0, s->no_frame);
}

/*
 * The frame pointer is below the canonical frame address: the function has built
 * its frame, and where the stack was realigned pushed its own address anew. Its
 * frame is passed over.
 */
static void own_frame_pass(struct bpf_stack *s)
{
	emit_label built = emit_label_new(s->e), other = emit_label_new(s->e);
	struct emit *e = s->e;

	register_test(s);
	emit_store(e, s->word, FP, s->pair, R3);
	emit_load(e, 8, R1, FP, s->low);
	emit_jump_if(e, BPF_JLT, R3, R1, built);
	emit_jump(e, other);
	emit_label_place(e, built);
	stack_user_read(s, s->pair, 2 * s->word);
	emit_jump_imm(e, BPF_JNE, R0, 0, s->no_frame);
	emit_load(e, s->word, R1, FP, s->pair + s->word);
	emit_load(e, 8, R2, FP, s->address);
	emit_jump_if(e, BPF_JNE, R1, R2, s->no_frame);
	emit_label_place(e, other);
}

/* The canonical frame address is known: r1. */
static void caller_read(struct bpf_stack *s)
{
	struct emit *e = s->e;

	emit_store(e, 8, FP, s->low, R1);
	emit_alu(e, BPF_MOV, R3, R1);
	emit_alu_imm(e, BPF_SUB, R3, s->word);
	stack_user_read(s, s->pair + s->word, s->word);
	emit_jump_imm(e, BPF_JNE, R0, 0, s->unreadable);
	address_take(s, 0);
	emit_store(e, 8, FP, s->address, R1);
}

/* The caller's frame where calls leave the return address in a register. A frame
 * pointer in between is the function's own; below, it is none at all. */
static void link_take(struct bpf_stack *s)
{
	const struct processor *cpu = s->gen->cpu;
	emit_label unbuilt = emit_label_new(s->e);
	emit_label done = emit_label_new(s->e);
	struct emit *e = s->e;

	emit_store(e, 8, FP, s->low, R1);
	emit_load(e, s->word, R3, R6, cpu->frame);
	emit_store(e, s->word, FP, s->pair, R3);
	emit_jump_if(e, BPF_JGE, R3, R1, unbuilt);
	emit_load(e, s->word, R2, R6, cpu->stack);
	emit_jump_if(e, BPF_JLT, R3, R2, unbuilt);
	stack_user_read(s, s->pair, 2 * s->word);
	emit_jump_imm(e, BPF_JNE, R0, 0, s->unreadable);
	emit_jump(e, done);
	emit_label_place(e, unbuilt);
	emit_load(e, s->word, R1, R6, cpu->link);
	emit_store(e, s->word, FP, s->pair + s->word, R1);
	emit_label_place(e, done);
	address_take(s, 0);
}

static void caller_take(struct bpf_stack *s)
{
	if (s->gen->cpu->link >= 0) {
		link_take(s);
		if (s->depth > 1)
			register_test(s);
		return;
	}
	caller_read(s);
	if (s->depth > 1)
		own_frame_pass(s);
}

/* At a return probe the instruction pointer is where it returned to. */
static void returned_take(struct bpf_stack *s)
{
	struct emit *e = s->e;

	emit_load(e, s->word, R1, R6, s->gen->cpu->ip);
	emit_store(e, s->word, FP, s->pair + s->word, R1);
	address_take(s, 0);
}

/* What can't be read, or computed, without a fault is left alone: it is relative
 * to a frame that has been built, which is enough. */
static bool rpn_is_plain(const uint8_t *rpn, size_t size)
{
	struct rpn_op op = { 0 };

	while (rpn_next(rpn, size, &op))
		if (rpn_is_deref(&op) || op.code == RPN_div ||
		    op.code == RPN_mod)
			return false;
	return size && op.next == size;
}

/* Is it a function's first instruction? */
static bool at_beginning(const struct bpf_stack *s)
{
	const struct tdf_site *site = s->gen->site;

	return site->symbol && !site->symbol_offset;
}

/* r1 = the canonical frame address; false: it isn't known */
static bool cfa_load(struct bpf_stack *s, const struct tdf_stmt *cfa)
{
	const uint8_t *rpn = s->gen->tdf->rpn;
	struct gen_value value;

	if (cfa && rpn_is_plain(rpn + cfa->rpn, cfa->rpn_length)) {
		rpn_generate(s->gen, rpn + cfa->rpn, cfa->rpn_length, &value);
		rpn_address_load(s->gen, &value, R1);
		return true;
	}
	if (!at_beginning(s))
		return false;
	emit_load(s->e, s->word, R1, R6, s->gen->cpu->stack);
	if (s->gen->cpu->call_bytes)
		emit_alu_imm(s->e, BPF_ADD, R1, s->gen->cpu->call_bytes);
	return true;
}

/* The caller's frame pointer, when the function has built its own frame. */
static void own_frame_leave(struct bpf_stack *s)
{
	emit_label other = emit_label_new(s->e);
	struct emit *e = s->e;

	emit_load(e, 8, R3, R7, UNWIND_STATE + UNWIND_FP_AT);
	emit_load(e, 8, R1, FP, s->low);
	emit_jump_if(e, BPF_JGE, R3, R1, other);
	stack_user_read(s, s->pair, 2 * s->word);
	emit_jump_imm(e, BPF_JNE, R0, 0, other);
	emit_load(e, s->word, R1, FP, s->pair + s->word);
	emit_load(e, 8, R2, FP, s->address);
	emit_jump_if(e, BPF_JNE, R1, R2, other);
	emit_load(e, s->word, R1, FP, s->pair);
	emit_store(e, 8, R7, UNWIND_STATE + UNWIND_FP_AT, R1);
	emit_label_place(e, other);
}

/*
 * The same where calls leave the address to return to in a register: it is known
 * where the function begins, and the tables describe whether it is still there.
 */
static void tables_begin_link(struct bpf_stack *s)
{
	bool returned = s->gen->site->flags & TDF_SITE_RETURN;
	const struct processor *cpu = s->gen->cpu;
	struct emit *e = s->e;

	emit_load(e, s->word, R1, R6, cpu->frame);
	emit_store(e, 8, R7, UNWIND_STATE + UNWIND_FP_AT, R1);
	emit_load(e, s->word, R1, R6, cpu->stack);
	emit_store(e, 8, R7, UNWIND_STATE + UNWIND_SP_AT, R1);
	emit_load(e, s->word, R1, R6, cpu->link);
	emit_store(e, 8, R7, UNWIND_STATE + UNWIND_LINK_AT, R1);
	s->unwind.taken = returned || at_beginning(s);
	if (returned) {
		returned_take(s);
	} else if (at_beginning(s)) {
		emit_store(e, s->word, FP, s->pair + s->word, R1);
		address_take(s, 0);
	} else {
		emit_load(e, s->word, R1, R6, cpu->ip);
	}
	emit_store(e, 8, R7, UNWIND_STATE + UNWIND_IP_AT, R1);
	emit_store_imm(e, 8, R7, UNWIND_STATE + UNWIND_LESS, s->unwind.taken);
}

/*
 * The caller is known from the canonical frame address, or because it has been
 * returned to; else the tables describe where the probed instruction's frame is.
 */
static void stack_tables_begin(struct bpf_stack *s, const struct tdf_stmt *cfa)
{
	bool returned = s->gen->site->flags & TDF_SITE_RETURN;
	struct emit *e = s->e;

	emit_load(e, s->word, R1, R6, s->gen->cpu->frame);
	emit_store(e, 8, R7, UNWIND_STATE + UNWIND_FP_AT, R1);
	if (!returned && cfa_load(s, cfa)) {
		emit_store(e, 8, R7, UNWIND_STATE + UNWIND_SP_AT, R1);
		caller_read(s);
		if (s->gen->site->symbol_offset)
			own_frame_leave(s);
		s->unwind.taken = 1;
		emit_load(e, 8, R1, FP, s->address);
	} else {
		emit_load(e, s->word, R1, R6, s->gen->cpu->stack);
		emit_store(e, 8, R7, UNWIND_STATE + UNWIND_SP_AT, R1);
		if (returned)
			returned_take(s);
		s->unwind.taken = returned;
		emit_load(e, s->word, R1, R6, s->gen->cpu->ip);
	}
	emit_store(e, 8, R7, UNWIND_STATE + UNWIND_IP_AT, R1);
	emit_store_imm(e, 8, R7, UNWIND_STATE + UNWIND_LESS, s->unwind.taken);
}

static void tables_generate(struct bpf_stack *s, const struct tdf_stmt *cfa)
{
	struct gen_place *place = &s->gen->place;
	struct emit *e = s->e;

	if (s->gen->cpu->link >= 0)
		tables_begin_link(s);
	else
		stack_tables_begin(s, cfa);
	unwind_generate(s->gen, &s->unwind);
	emit_load(e, 8, R1, R7, UNWIND_STATE + UNWIND_COUNT);
	emit_alu_imm(e, BPF_LSH, R1, 3);
	emit_alu_imm(e, BPF_ADD, R1, STACK_BYTES);
	emit_store(e, 2, place->base, place->off + ITEM(length), R1);
	emit_load(e, 8, R1, R7, UNWIND_STATE + UNWIND_ENDED);
	emit_store(e, 1, place->base, place->off + STACK(end), R1);
	emit_jump_imm(e, BPF_JNE, R1, RAS_STACK_DEPTH, s->done);
}

static void user_generate(struct bpf_stack *s, const struct tdf_stmt *cfa)
{
	bool returned = s->gen->site->flags & TDF_SITE_RETURN;
	struct emit *e = s->e;
	bool known;

	known = !returned && cfa_load(s, cfa);
	if (known) {
		caller_take(s);
	} else {
		emit_load(e, s->word, R1, R6, s->gen->cpu->stack);
		emit_store(e, 8, FP, s->low, R1);
		if (returned)
			returned_take(s);
		register_test(s);
		emit_store(e, s->word, FP, s->pair, R3);
	}
	for (uint32_t i = known || returned; i < s->depth; i++)
		frame_follow(s, i);
}

/*
 * Where a function has not built its frame, the unwinder passes its caller over:
 * s->address = the address to return to; else 0.
 */
static void kernel_link_load(struct bpf_stack *s, const struct tdf_stmt *cfa)
{
	const struct processor *cpu = s->gen->cpu;
	emit_label built = emit_label_new(s->e);
	emit_label unbuilt = emit_label_new(s->e);
	struct emit *e = s->e;

	emit_store_imm(e, 8, FP, s->address, 0);
	if (!cfa_load(s, cfa))
		return;
	emit_load(e, 8, R3, R6, cpu->frame);
	emit_jump_if(e, BPF_JGE, R3, R1, unbuilt);
	emit_load(e, 8, R2, R6, cpu->stack);
	emit_jump_if(e, BPF_JGE, R3, R2, built);
	emit_label_place(e, unbuilt);
	emit_load(e, 8, R1, R6, cpu->link);
	arch_kernel_strip(s->gen, R1, R2);
	emit_store(e, 8, FP, s->address, R1);
	emit_label_place(e, built);
}

/* r4 = how many of the unwinder's addresses are left out: the probed instruction
 * is the first one, whose place kernel_link_store() may want. */
static void kernel_skip_load(struct bpf_stack *s, bool linked)
{
	bool returned = s->gen->site->flags & TDF_SITE_RETURN;
	emit_label skip = emit_label_new(s->e);
	struct emit *e = s->e;

	emit_alu_imm(e, BPF_MOV, R4, returned ? 0 : 1);
	if (!linked)
		return;
	emit_load(e, 8, R1, FP, s->address);
	emit_jump_imm(e, BPF_JEQ, R1, 0, skip);
	emit_alu_imm(e, BPF_MOV, R4, 0);
	emit_label_place(e, skip);
}

static void kernel_link_store(struct bpf_stack *s)
{
	const struct gen_place *place = &s->gen->place;
	emit_label none = emit_label_new(s->e);
	struct emit *e = s->e;

	emit_load(e, 8, R1, FP, s->address);
	emit_jump_imm(e, BPF_JEQ, R1, 0, none);
	emit_store(e, 8, place->base, place->off + RAS_ITEM_PREFIX +
		   STACK_BYTES, R1);
	emit_label_place(e, none);
}

/* The kernel's unwinder begins with the probed instruction, at a return probe
 * with where it has returned to. */
static void kernel_generate(struct bpf_stack *s, const struct tdf_stmt *cfa)
{
	bool linked = s->gen->cpu->link >= 0 &&
		      !(s->gen->site->flags & TDF_SITE_RETURN);
	uint32_t bytes = s->depth * FRAME_BYTES;
	struct emit *e = s->e;

	stack_store(s, 1, STACK(flags), RAS_STACK_KERNEL);
	stack_store(s, 1, STACK(end), RAS_STACK_UNWINDER);
	if (linked)
		kernel_link_load(s, cfa);
	kernel_skip_load(s, linked);
	emit_alu(e, BPF_MOV, R1, R6);
	item_place_load(s->gen, &s->gen->place, RAS_ITEM_PREFIX +
			STACK_BYTES, R2);
	emit_alu_imm(e, BPF_MOV, R3, bytes);
	emit_call(e, BPF_FUNC_get_stack);
	emit_jump_imm(e, BPF_JSLE, R0, 0, s->done);
	if (linked)
		kernel_link_store(s);
	emit_alu(e, BPF_MOV, R1, R0);
	emit_alu_imm(e, BPF_ADD, R1, STACK_BYTES);
	emit_store(e, 2, s->gen->place.base,
		   s->gen->place.off + ITEM(length), R1);
	emit_jump_imm(e, BPF_JNE, R0, bytes, s->done);
}

static void end_store(struct bpf_stack *s, emit_label label, int end)
{
	if (!emit_label_used(s->e, label))
		return;
	emit_label_place(s->e, label);
	stack_store(s, 1, STACK(end), end);
	emit_jump(s->e, s->done);
}

/*
 * The next item follows as many addresses as the length says; what is read
 * back from the record has forgotten which exit wrote it.
 */
static void stack_place_advance(struct bpf_stack *s)
{
	emit_label above = emit_label_new(s->e), back = emit_label_new(s->e);
	emit_label on = emit_label_new(s->e);
	struct gen_place *place = &s->gen->place;
	uint32_t bytes = s->depth * FRAME_BYTES;
	struct emit *e = s->e;

	emit_load(e, 2, R1, place->base, place->off + ITEM(length));
	emit_alu_imm(e, BPF_SUB, R1, STACK_BYTES);
	emit_jump_imm(e, BPF_JGT, R1, bytes, above);
	emit_label_place(e, back);
	if (place->base != R9)
		emit_alu(e, BPF_MOV, R9, place->base);
	emit_alu(e, BPF_ADD, R9, R1);
	emit_jump(e, on);
	emit_label_place(e, above);
	emit_alu_imm(e, BPF_MOV, R1, bytes);
	emit_jump(e, back);
	emit_label_place(e, on);
	place->base = R9;
	place->off += RAS_ITEM_PREFIX + STACK_BYTES;
}

void stack_generate(struct gen *gen, const struct tdf_stmt *cfa,
		    uint32_t depth)
{
	struct bpf_stack s = {
		.gen = gen, .e = &gen->e, .depth = depth,
		.word = gen->flat32 ? 4 : 8,
		.outermost = emit_label_new(&gen->e),
		.unreadable = emit_label_new(&gen->e),
		.no_frame = emit_label_new(&gen->e),
		.done = emit_label_new(&gen->e),
	};
	bool cut = cfa && depth < cfa->length;
	bool tables = unwind_possible(gen);

	s.pair = gen_frame_take(gen, tables ? 4 + UNWIND_POINTERS : 4);
	s.low = s.pair + 16;
	s.address = s.pair + 24;
	s.unwind = (struct unwind_call) {
		.pointers = s.pair + 32, .word = s.word, .depth = depth,
		.off = RAS_ITEM_PREFIX + STACK_BYTES,
	};
	item_status_store(gen, &gen->place, RAS_ITEM_STACK);
	stack_store(&s, 2, STACK(end), 0);
	count_store(&s, 0);
	if (depth && gen->target->context == BODY_KPROBE)
		kernel_generate(&s, cfa);
	else if (depth && tables)
		tables_generate(&s, cfa);
	else if (depth)
		user_generate(&s, cfa);
	if (cut)
		item_status_store(gen, &gen->place,
				  RAS_ITEM_STACK | RAS_ITEM_CUT);
	stack_store(&s, 1, STACK(end), RAS_STACK_DEPTH);
	emit_jump(s.e, s.done);
	end_store(&s, s.outermost, RAS_STACK_OUTERMOST);
	end_store(&s, s.unreadable, RAS_STACK_UNREADABLE);
	end_store(&s, s.no_frame, RAS_STACK_NO_FRAME);
	emit_label_place(s.e, s.done);
	call_frames_drop(gen, RAS_ITEM_PREFIX + STACK_BYTES, depth);
	stack_place_advance(&s);
}
