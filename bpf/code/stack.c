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

#define STACK(field)	(RAS_ITEM_PREFIX + \
			 (int)offsetof(struct ras_stack, field))
#define STACK_BYTES	((int)sizeof(struct ras_stack))
#define STATE(at)	(UNWIND_STATE + (at))	/* of the record */

struct bpf_stack {
	struct gen *gen;
	struct code *c;
	uint32_t depth;
	int word;		/* bytes of a pointer */
	code_slot pair;		/* frame pointer and address as read */
	/* the frame that comes next, what it isn't below, the probed function's
	 * address to return to */
	int frame, low, address;
	code_label outermost, unreadable, no_frame, limit, done;
	int most;		/* addresses that the budget has room for; -1: for
				 * all */
	struct unwind_call unwind;	/* by tables */
};

static void stack_store(struct bpf_stack *s, int bytes, int off, int imm)
{
	const struct gen_place *place = &s->gen->place;

	code_store_imm(s->c, bytes, place->base, place->off + off, imm);
}

static void count_store(struct bpf_stack *s, uint32_t frames)
{
	stack_store(s, 2, ITEM_AT(length),
		    STACK_BYTES + frames * STACK_FRAME_BYTES);
}

/* r0 = 0: so many words at r3 are in the pair from its word `first` on. */
static void stack_pair_read(struct bpf_stack *s, int first, int words)
{
	code_slot_address(s->c, R1, s->pair, first * s->word);
	code_alu_imm(s->c, BPF_MOV, R2, words * s->word);
	code_call(s->c, BPF_FUNC_probe_read_user);
}

static void stack_pair_load(struct bpf_stack *s, int index, int reg)
{
	code_slot_load(s->c, s->word, reg, s->pair, index * s->word);
}

static void stack_register_load(struct bpf_stack *s, int reg, int offset)
{
	code_load(s->c, s->word, reg, CONTEXT, offset);
}

/* Address number `index` is in reg. Is it one? */
static void address_take(struct bpf_stack *s, uint32_t index, int reg)
{
	const struct gen_place *place = &s->gen->place;

	address_test(s->gen, reg, s->no_frame);
	code_store(s->c, 8, place->base, place->off + RAS_ITEM_PREFIX +
		   STACK_BYTES + (int)index * STACK_FRAME_BYTES, reg);
	count_store(s, index + 1);
}

/* The frame that comes next: address number `index`. */
static void frame_follow(struct bpf_stack *s, uint32_t index)
{
	struct code *c = s->c;

	code_jump_imm(c, BPF_JEQ, s->frame, 0, s->outermost);
	code_move(c, R1, s->frame);
	code_alu_imm(c, BPF_AND, R1, s->word - 1);
	code_jump_imm(c, BPF_JNE, R1, 0, s->no_frame);
	code_move(c, R1, s->frame);
	code_alu(c, BPF_SUB, R1, s->low);
	code_jump_imm(c, BPF_JGT, R1, STACK_DISTANCE, s->no_frame);
	code_move(c, s->low, s->frame);
	code_alu_imm(c, BPF_ADD, s->low, 2 * s->word);
	code_move(c, R3, s->frame);
	stack_pair_read(s, 0, 2);
	code_jump_imm(c, BPF_JNE, R0, 0, s->unreadable);
	stack_pair_load(s, 1, R1);
	address_take(s, index, R1);
	if (index + 1 < s->depth)
		stack_pair_load(s, 0, s->frame);
}

/* r3 = the frame pointer; 0 isn't the end of the frames: code that keeps none has
 * anything there. */
static void register_test(struct bpf_stack *s)
{
	stack_register_load(s, R3, s->gen->plan->cpu->frame);
	code_jump_imm(s->c, BPF_JEQ, R3, 0, s->no_frame);
}

/*
 * The frame pointer is below the canonical frame address: the function has built
 * its frame, and where the stack was realigned pushed its own address anew. Its
 * frame is passed over.
 */
static void own_frame_pass(struct bpf_stack *s)
{
	struct code *c = s->c;
	code_label other = code_label_new(c);

	register_test(s);
	code_move(c, s->frame, R3);
	code_jump_if(c, BPF_JGE, s->frame, s->low, other);
	code_move(c, R3, s->frame);
	stack_pair_read(s, 0, 2);
	code_jump_imm(c, BPF_JNE, R0, 0, s->no_frame);
	stack_pair_load(s, 1, R1);
	code_jump_if(c, BPF_JNE, R1, s->address, s->no_frame);
	stack_pair_load(s, 0, s->frame);
	code_label_place(c, other);
}

/* The canonical frame address is known: `low`. */
static void caller_read(struct bpf_stack *s)
{
	const struct direct_to to = { NO_REG, s->word, s->pair };
	struct code *c = s->c;
	code_label slow = code_label_new(c), done = code_label_new(c);
	bool direct = direct_fits(s->gen, s->word);
	int address = code_copy(c, s->low);

	code_alu_imm(c, BPF_SUB, address, s->word);
	if (direct) {
		direct_read(s->gen, &to, s->word, address, slow);
		code_rare_begin(c);
		code_label_place(c, slow);
	}
	code_move(c, R3, address);
	stack_pair_read(s, 1, 1);
	code_jump_imm(c, BPF_JNE, R0, 0, s->unreadable);
	if (direct) {
		code_jump(c, done);
		code_rare_end(c);
		code_label_place(c, done);
	}
	stack_pair_load(s, 1, s->address);
	address_take(s, 0, s->address);
}

/* The caller's frame where calls leave the return address in a register. A frame
 * pointer in between is the function's own; below, it is none at all. */
static void link_take(struct bpf_stack *s)
{
	const struct processor *cpu = s->gen->plan->cpu;
	struct code *c = s->c;
	code_label unbuilt = code_label_new(c), done = code_label_new(c);

	stack_register_load(s, s->frame, cpu->frame);
	code_jump_if(c, BPF_JGE, s->frame, s->low, unbuilt);
	stack_register_load(s, R2, cpu->stack);
	code_jump_if(c, BPF_JLT, s->frame, R2, unbuilt);
	code_move(c, R3, s->frame);
	stack_pair_read(s, 0, 2);
	code_jump_imm(c, BPF_JNE, R0, 0, s->unreadable);
	stack_pair_load(s, 0, s->frame);
	stack_pair_load(s, 1, s->address);
	code_jump(c, done);
	code_label_place(c, unbuilt);
	stack_register_load(s, s->address, cpu->link);
	code_label_place(c, done);
	address_take(s, 0, s->address);
}

static void caller_take(struct bpf_stack *s)
{
	if (s->gen->plan->cpu->link >= 0) {
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
	stack_register_load(s, s->address, s->gen->plan->cpu->ip);
	address_take(s, 0, s->address);
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
	const struct tdf_site *site = s->gen->plan->site;

	return site->symbol && !site->symbol_offset;
}

static bool at_return(const struct bpf_stack *s)
{
	return s->gen->plan->site->flags & TDF_SITE_RETURN;
}

/* low = the canonical frame address; false: it isn't known */
static bool cfa_load(struct bpf_stack *s, const struct tdf_stmt *cfa)
{
	const struct plan *plan = s->gen->plan;
	const uint8_t *rpn = plan->tdf->rpn;
	struct gen_value value;

	if (cfa && rpn_is_plain(rpn + cfa->rpn, cfa->rpn_length)) {
		rpn_generate(s->gen, rpn + cfa->rpn, cfa->rpn_length, &value);
		value_address_load(s->gen, &value, s->low);
		return true;
	}
	if (!at_beginning(s))
		return false;
	stack_register_load(s, s->low, plan->cpu->stack);
	if (plan->cpu->call_bytes)
		code_alu_imm(s->c, BPF_ADD, s->low, plan->cpu->call_bytes);
	return true;
}

/* The caller's frame pointer, when the function has built its own frame. A register
 * that has something else is not looked at: reading what can't be read takes
 * longer than all else here. */
static void own_frame_leave(struct bpf_stack *s)
{
	struct code *c = s->c;
	code_label other = code_label_new(c);

	code_load(c, 8, R3, RECORD, STATE(UNWIND_FP_AT));
	code_jump_if(c, BPF_JGE, R3, s->low, other);
	stack_register_load(s, R1, s->gen->plan->cpu->stack);
	code_jump_if(c, BPF_JLT, R3, R1, other);
	stack_pair_read(s, 0, 2);
	code_jump_imm(c, BPF_JNE, R0, 0, other);
	stack_pair_load(s, 1, R1);
	code_jump_if(c, BPF_JNE, R1, s->address, other);
	stack_pair_load(s, 0, R1);
	code_store(c, 8, RECORD, STATE(UNWIND_FP_AT), R1);
	code_label_place(c, other);
}

/* A register of the probed code into the state */
static void stack_state_store(struct bpf_stack *s, int at, int offset)
{
	stack_register_load(s, R1, offset);
	code_store(s->c, 8, RECORD, STATE(at), R1);
}

/*
 * The same where calls leave the address to return to in a register: it is known
 * where the function begins, and the tables describe whether it is still there.
 */
static void tables_begin_link(struct bpf_stack *s)
{
	const struct processor *cpu = s->gen->plan->cpu;
	struct code *c = s->c;

	stack_state_store(s, UNWIND_FP_AT, cpu->frame);
	stack_state_store(s, UNWIND_SP_AT, cpu->stack);
	stack_state_store(s, UNWIND_LINK_AT, cpu->link);
	s->unwind.taken = at_return(s) || at_beginning(s);
	stack_register_load(s, s->address, at_return(s) || !at_beginning(s) ?
		      cpu->ip : cpu->link);
	if (s->unwind.taken)
		address_take(s, 0, s->address);
	code_store(c, 8, RECORD, STATE(UNWIND_IP_AT), s->address);
	code_store_imm(c, 8, RECORD, STATE(UNWIND_LESS), s->unwind.taken);
}

/*
 * The caller is known from the canonical frame address, or because it has been
 * returned to; else the tables describe where the probed instruction's frame is.
 */
static void tables_begin_stack(struct bpf_stack *s, const struct tdf_stmt *cfa)
{
	const struct processor *cpu = s->gen->plan->cpu;
	struct code *c = s->c;

	stack_state_store(s, UNWIND_FP_AT, cpu->frame);
	if (!at_return(s) && cfa_load(s, cfa)) {
		code_store(c, 8, RECORD, STATE(UNWIND_SP_AT), s->low);
		caller_read(s);
		if (s->gen->plan->site->symbol_offset)
			own_frame_leave(s);
		s->unwind.taken = 1;
		code_store(c, 8, RECORD, STATE(UNWIND_IP_AT), s->address);
	} else {
		stack_state_store(s, UNWIND_SP_AT, cpu->stack);
		if (at_return(s))
			returned_take(s);
		s->unwind.taken = at_return(s);
		stack_state_store(s, UNWIND_IP_AT, cpu->ip);
	}
	code_store_imm(c, 8, RECORD, STATE(UNWIND_LESS), s->unwind.taken);
}

static void tables_generate(struct bpf_stack *s, const struct tdf_stmt *cfa)
{
	struct gen_place *place = &s->gen->place;
	struct code *c = s->c;

	if (s->gen->plan->cpu->link >= 0)
		tables_begin_link(s);
	else
		tables_begin_stack(s, cfa);
	s->unwind.most = s->most;
	s->unwind.direct = direct_fits(s->gen, 2 * s->word);
	unwind_generate(s->gen, &s->unwind);
	code_load(c, 8, R1, RECORD, STATE(UNWIND_COUNT));
	code_alu_imm(c, BPF_LSH, R1, 3);
	code_alu_imm(c, BPF_ADD, R1, STACK_BYTES);
	code_store(c, 2, place->base, place->off + ITEM_AT(length), R1);
	code_load(c, 8, R1, RECORD, STATE(UNWIND_ENDED));
	code_store(c, 1, place->base, place->off + STACK(end), R1);
	code_jump_imm(c, BPF_JNE, R1, RAS_STACK_DEPTH, s->done);
}

static void user_generate(struct bpf_stack *s, const struct tdf_stmt *cfa)
{
	const struct processor *cpu = s->gen->plan->cpu;
	bool known = !at_return(s) && cfa_load(s, cfa);

	if (known) {
		caller_take(s);
	} else {
		stack_register_load(s, s->low, cpu->stack);
		if (at_return(s))
			returned_take(s);
		register_test(s);
		code_move(s->c, s->frame, R3);
	}
	for (uint32_t i = known || at_return(s); i < s->depth; i++) {
		if (i && s->most >= 0)
			code_jump_imm(s->c, BPF_JLE, s->most, i, s->limit);
		frame_follow(s, i);
	}
}

/*
 * Where a function has not built its frame, the unwinder passes its caller over:
 * address = the address to return to; else 0.
 */
static void kernel_link_load(struct bpf_stack *s, const struct tdf_stmt *cfa)
{
	const struct processor *cpu = s->gen->plan->cpu;
	struct code *c = s->c;
	code_label built = code_label_new(c), unbuilt = code_label_new(c);

	code_const(c, s->address, 0);
	if (!cfa_load(s, cfa))
		return;
	stack_register_load(s, R3, cpu->frame);
	code_jump_if(c, BPF_JGE, R3, s->low, unbuilt);
	stack_register_load(s, R2, cpu->stack);
	code_jump_if(c, BPF_JGE, R3, R2, built);
	code_label_place(c, unbuilt);
	stack_register_load(s, s->address, cpu->link);
	address_strip_kernel(s->gen, s->address);
	code_label_place(c, built);
}

/* r4 = how many of the unwinder's addresses are left out: the probed instruction
 * is the first one, whose place kernel_link_store() may want. */
static void kernel_skip_load(struct bpf_stack *s, bool linked)
{
	struct code *c = s->c;
	code_label skip = code_label_new(c);

	code_alu_imm(c, BPF_MOV, R4, at_return(s) ? 0 : 1);
	if (!linked)
		return;
	code_jump_imm(c, BPF_JEQ, s->address, 0, skip);
	code_alu_imm(c, BPF_MOV, R4, 0);
	code_label_place(c, skip);
}

static void kernel_link_store(struct bpf_stack *s)
{
	const struct gen_place *place = &s->gen->place;
	struct code *c = s->c;
	code_label none = code_label_new(c);

	code_jump_imm(c, BPF_JEQ, s->address, 0, none);
	code_store(c, 8, place->base, place->off + RAS_ITEM_PREFIX +
		   STACK_BYTES, s->address);
	code_label_place(c, none);
}

/* The kernel's unwinder begins with the probed instruction, at a return probe
 * with where it has returned to. */
static void kernel_generate(struct bpf_stack *s, const struct tdf_stmt *cfa)
{
	const struct gen_place *place = &s->gen->place;
	bool linked = s->gen->plan->cpu->link >= 0 && !at_return(s);
	uint32_t bytes = s->depth * STACK_FRAME_BYTES;
	struct code *c = s->c;
	int room = s->most;

	stack_store(s, 1, STACK(flags), RAS_STACK_KERNEL);
	stack_store(s, 1, STACK(end), RAS_STACK_UNWINDER);
	if (linked)
		kernel_link_load(s, cfa);
	kernel_skip_load(s, linked);
	code_move(c, R1, CONTEXT);
	item_place_load(s->gen, place, RAS_ITEM_PREFIX + STACK_BYTES, R2);
	if (room >= 0) {
		room = code_copy(c, s->most);
		code_alu_imm(c, BPF_LSH, room, 3);
		code_move(c, R3, room);
	} else {
		code_alu_imm(c, BPF_MOV, R3, bytes);
	}
	code_call(c, BPF_FUNC_get_stack);
	code_jump_imm(c, BPF_JSLE, R0, 0, s->done);
	if (linked)
		kernel_link_store(s);
	code_move(c, R1, R0);
	code_alu_imm(c, BPF_ADD, R1, STACK_BYTES);
	code_store(c, 2, place->base, place->off + ITEM_AT(length), R1);
	if (room >= 0)
		code_jump_if(c, BPF_JNE, R0, room, s->done);
	else
		code_jump_imm(c, BPF_JNE, R0, bytes, s->done);
}

static void stack_end_store(struct bpf_stack *s, code_label label, int end)
{
	code_rare_begin(s->c);
	code_label_place(s->c, label);
	stack_store(s, 1, STACK(end), end);
	code_jump(s->c, s->done);
	code_rare_end(s->c);
}

/* As many addresses as the items before have left room for */
static void most_load(struct bpf_stack *s, int left)
{
	code_label none = code_label_new(s->c), small = code_label_new(s->c);
	struct code *c = s->c;

	code_jump_imm(c, BPF_JSLT, left, STACK_FRAME_BYTES, none);
	code_rare_begin(c);
	code_label_place(c, none);
	item_status_store(s->gen, &s->gen->place,
			  RAS_ITEM_STACK | RAS_ITEM_CUT);
	code_jump(c, s->done);
	code_rare_end(c);
	code_alu_imm(c, BPF_RSH, left, 3);
	code_jump_imm(c, BPF_JLE, left, s->depth, small);
	code_const(c, left, s->depth);
	code_label_place(c, small);
	s->most = code_copy(c, left);
}

/* It ends because it is as deep as it may be. */
static void limit_store(struct bpf_stack *s, uint32_t wanted)
{
	code_label whole = code_label_new(s->c);

	code_label_place(s->c, s->limit);
	if (s->most >= 0)
		code_jump_imm(s->c, BPF_JGE, s->most, wanted, whole);
	if (s->most >= 0 || s->depth < wanted)
		item_status_store(s->gen, &s->gen->place,
				  RAS_ITEM_STACK | RAS_ITEM_CUT);
	code_label_place(s->c, whole);
	stack_store(s, 1, STACK(end), RAS_STACK_DEPTH);
}

/*
 * The next item follows as many addresses as the length says; what is read
 * back from the record has forgotten which exit wrote it.
 */
static void stack_place_advance(struct bpf_stack *s)
{
	struct gen_place *place = &s->gen->place;
	uint32_t bytes = s->depth * STACK_FRAME_BYTES;
	struct code *c = s->c;
	code_label above = code_label_new(c), back = code_label_new(c);

	code_load(c, 2, R1, place->base, place->off + ITEM_AT(length));
	code_alu_imm(c, BPF_SUB, R1, STACK_BYTES);
	code_jump_imm(c, BPF_JGT, R1, bytes, above);
	code_rare_begin(c);
	code_label_place(c, above);
	code_alu_imm(c, BPF_MOV, R1, bytes);
	code_jump(c, back);
	code_rare_end(c);
	code_label_place(c, back);
	if (place->base != PLACE)
		code_move(c, PLACE, place->base);
	code_alu(c, BPF_ADD, PLACE, R1);
	place->base = PLACE;
	place->off += RAS_ITEM_PREFIX + STACK_BYTES;
}

void stack_generate(struct gen *gen, const struct tdf_stmt *cfa,
		    uint32_t depth, int left)
{
	struct code *c = gen->c;
	struct bpf_stack s = {
		.gen = gen, .c = c, .depth = depth,
		.word = gen->plan->flat32 ? 4 : 8,
		.pair = code_slot_new(c, 16), .frame = code_temp_new(c),
		.low = code_temp_new(c), .address = code_temp_new(c),
		.outermost = code_label_new(c), .unreadable = code_label_new(c),
		.no_frame = code_label_new(c), .limit = code_label_new(c),
		.done = code_label_new(c), .most = -1,
	};

	s.unwind = (struct unwind_call) {
		.word = s.word, .depth = depth,
		.off = RAS_ITEM_PREFIX + STACK_BYTES,
		.flags = STACK(flags),
	};
	item_status_store(gen, &gen->place, RAS_ITEM_STACK);
	stack_store(&s, 2, STACK(end), 0);
	count_store(&s, 0);
	if (depth && left >= 0)
		most_load(&s, left);
	if (depth && gen->plan->target->context == BODY_KPROBE)
		kernel_generate(&s, cfa);
	else if (depth && gen->plan->tables)
		tables_generate(&s, cfa);
	else if (depth)
		user_generate(&s, cfa);
	limit_store(&s, cfa ? cfa->length : depth);
	stack_end_store(&s, s.outermost, RAS_STACK_OUTERMOST);
	stack_end_store(&s, s.unreadable, RAS_STACK_UNREADABLE);
	stack_end_store(&s, s.no_frame, RAS_STACK_NO_FRAME);
	code_label_place(c, s.done);
	call_frames_drop(gen, RAS_ITEM_PREFIX + STACK_BYTES, depth);
	if (cfa ? cfa->kind == TDF_STMT_STACK : !gen->plan->leaves)
		stack_id_generate(gen, depth);
	stack_place_advance(&s);
}
