// SPDX-License-Identifier: GPL-2.0
/*
 * Placement: random programs do the same before and after it, and what it makes
 * of small ones. RUNS is the number of random programs, SEED their first one;
 * BENCH=1 measures.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include "bpf/code/code_print.h"
#include "bpf/code/ops.h"
#include "bpf/place/place_print.h"
#include "evaluate.h"
#include "tap.h"

#define TEMPS	400
#define DEEPEST	4

/* A random program: what has a value where it is being written */
struct writer {
	struct code c;
	uint64_t random;
	int temps[TEMPS], temp_count;
	code_slot slots[TEMPS];
	int slot_bytes[TEMPS], slot_count;
	unsigned int kept;		/* of registers 6 to 9 */
	int depth, left;		/* operations */
	code_label functions[8];
	int args[8], function_count, function_depth;
	bool small;			/* few temps at the same time */
};

static uint32_t any(struct writer *w, uint32_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (w->random >> 11) % below;
}

static int any_temp(struct writer *w)
{
	int near = w->small && w->temp_count > 6 ? 6 : w->temp_count;

	return w->temps[w->temp_count - 1 - any(w, near)];
}

/* A register or temp with a value */
static int any_value(struct writer *w)
{
	int reg = 6 + any(w, 4);

	if (!any(w, 4) && w->kept >> reg & 1)
		return reg;
	return any_temp(w);
}

static void temp_add(struct writer *w, int temp)
{
	if (w->temp_count < TEMPS)
		w->temps[w->temp_count++] = temp;
}

static int any_alu(struct writer *w)
{
	static const int ops[] = {
		BPF_ADD, BPF_SUB, BPF_MUL, BPF_OR, BPF_AND, BPF_XOR, BPF_LSH,
		BPF_RSH, BPF_ARSH, BPF_MOV,
	};

	return ops[any(w, sizeof(ops) / sizeof(*ops))];
}

static int any_jump(struct writer *w)
{
	static const int ops[] = {
		BPF_JEQ, BPF_JNE, BPF_JGT, BPF_JLE, BPF_JSGT, BPF_JSLT,
		BPF_JSET,
	};

	return ops[any(w, sizeof(ops) / sizeof(*ops))];
}

static void write_new(struct writer *w)
{
	int temp = code_temp_new(&w->c), from;

	switch (any(w, 6)) {
	case 0:
		code_const(&w->c, temp, any(w, 100));
		break;
	case 1:
		code_const(&w->c, temp, 0x100000000ull * any(w, 1000));
		break;
	case 2:
		code_map_value(&w->c, temp, any(w, 3), 8);
		break;
	case 3:
		code_load(&w->c, 1 << any(w, 4), temp, any_value(w),
			  8 * any(w, 8));
		break;
	default:
		from = any_value(w);
		code_move(&w->c, temp, from);
		code_alu(&w->c, any_alu(w), temp, any_value(w));
	}
	temp_add(w, temp);
}

static void write_change(struct writer *w)
{
	int temp = any_temp(w);

	if (!any(w, 8))
		code_zext32(&w->c, temp);
	else if (any(w, 2))
		code_alu_imm(&w->c, any_alu(w), temp, any(w, 60));
	else
		code_alu(&w->c, any_alu(w), temp, any_value(w));
}

static void write_kept(struct writer *w)
{
	int reg = 7 + any(w, 3);

	code_move(&w->c, reg, any_value(w));
	if (any(w, 2))
		code_alu(&w->c, BPF_ADD, reg, any_value(w));
	w->kept |= 1u << reg;
}

static void write_store(struct writer *w)
{
	int bytes = 1 << any(w, 4);

	if (any(w, 3))
		code_store(&w->c, bytes, any_value(w), 8 * any(w, 8),
			   any_value(w));
	else
		code_store_imm(&w->c, bytes, any_value(w), 0, any(w, 100));
}

static void write_atomic(struct writer *w)
{
	static const int ops[] = { BPF_ADD, BPF_ADD | BPF_FETCH, BPF_XCHG };
	int temp, at = any(w, 4);

	if (at < 3) {
		temp = code_copy(&w->c, any_value(w));
		code_atomic(&w->c, ops[at], any_value(w), 8 * any(w, 4), temp);
		temp_add(w, temp);
		return;
	}
	code_move(&w->c, BPF_REG_0, any_value(w));
	code_atomic(&w->c, BPF_CMPXCHG, any_value(w), 8, any_value(w));
	temp_add(w, code_copy(&w->c, BPF_REG_0));
}

static void write_slot(struct writer *w)
{
	int at = w->slot_count - 1, bytes, temp;
	code_slot slot;

	if (!w->slot_count || !any(w, 3)) {
		static const int sizes[] = { 4, 8, 8, 16, 4, 24 };

		bytes = sizes[any(w, 6)];
		slot = code_slot_new(&w->c, bytes);
		for (int off = 0; off < bytes; off += 4)
			code_slot_store(&w->c, 4, slot, off, any_value(w));
		if (w->slot_count == TEMPS)
			return;
		w->slots[w->slot_count] = slot;
		w->slot_bytes[w->slot_count++] = bytes;
		return;
	}
	at -= any(w, w->slot_count < 4 ? w->slot_count : 4);
	bytes = w->slot_bytes[at];
	slot = w->slots[at];
	switch (any(w, 5)) {
	case 0:
		code_slot_store_imm(&w->c, 4, slot, bytes - 4, any(w, 9));
		break;
	case 1:
		code_slot_store(&w->c, bytes < 8 ? 4 : 8, slot, 0,
				any_value(w));
		break;
	case 2:
		temp = code_temp_new(&w->c);
		code_slot_address(&w->c, temp, slot, 0);
		code_store(&w->c, 4, temp, bytes - 4, any_value(w));
		break;
	default:
		temp = code_temp_new(&w->c);
		code_slot_load(&w->c, 4, temp, slot, bytes - 4);
		temp_add(w, temp);
	}
}

static code_label function_write(struct writer *w, int args);

static void write_call(struct writer *w)
{
	struct code *c = &w->c;
	int at, bytes, args;
	code_label label;

	switch (any(w, 6)) {
	case 0:
		code_call(c, BPF_FUNC_get_prandom_u32);
		break;
	case 1:
		if (!w->slot_count)
			return;
		at = any(w, w->slot_count);
		bytes = w->slot_bytes[at];
		code_move(c, BPF_REG_3, any_value(w));
		code_slot_address(c, BPF_REG_1, w->slots[at], 0);
		code_alu_imm(c, BPF_MOV, BPF_REG_2, bytes);
		code_call(c, BPF_FUNC_probe_read_user);
		break;
	case 2:
		if (!w->slot_count)
			return;
		code_map(c, BPF_REG_1, 5);
		code_slot_address(c, BPF_REG_2,
				  w->slots[any(w, w->slot_count)], 0);
		code_call(c, BPF_FUNC_map_lookup_elem);
		break;
	case 3:
		if (w->function_depth > 1)
			return;
		at = any(w, 8);
		if (at >= w->function_count) {
			if (w->function_count == 8)
				return;
			args = any(w, 6);
			label = function_write(w, args);
			if (w->function_count == 8)
				return;
			at = w->function_count++;
			w->args[at] = args;
			w->functions[at] = label;
		}
		for (int i = 1; i <= w->args[at]; i++)
			code_move(c, i, any_value(w));
		code_call_label(c, w->functions[at], w->args[at]);
		break;
	default:
		args = any(w, 6);
		for (int i = 1; i <= args; i++)
			code_move(c, i, any_value(w));
		code_kfunc(c, any(w, 50), args);
	}
	if (any(w, 2))
		temp_add(w, code_copy(c, BPF_REG_0));
	else if (any(w, 2))
		code_store(c, 8, BPF_REG_6, 8, BPF_REG_0);
}

static void statements(struct writer *w);

/* What is inside has no values for those outside. */
static void write_inside(struct writer *w)
{
	int temps = w->temp_count, slots = w->slot_count;
	unsigned int kept = w->kept;

	w->depth++;
	statements(w);
	w->depth--;
	w->temp_count = temps;
	w->slot_count = slots;
	w->kept = kept;
}

static void write_if(struct writer *w)
{
	code_label other = code_label_new(&w->c), end = code_label_new(&w->c);
	int temp = code_temp_new(&w->c);

	code_jump_imm(&w->c, any_jump(w), any_value(w), any(w, 4), other);
	write_inside(w);
	code_move(&w->c, temp, any_value(w));
	code_jump(&w->c, end);
	if (!any(w, 4))
		code_store_imm(&w->c, 8, BPF_REG_6, 0, 3);
	code_label_place(&w->c, other);
	write_inside(w);
	code_move(&w->c, temp, any_value(w));
	code_label_place(&w->c, end);
	temp_add(w, temp);
}

static void write_exit(struct writer *w)
{
	code_move(&w->c, BPF_REG_0, any_value(w));
	code_exit(&w->c);
}

static void write_rare(struct writer *w)
{
	code_label rare = code_label_new(&w->c), back = code_label_new(&w->c);
	int temp = any_temp(w);
	bool regs = any(w, 2);

	if (regs) {
		code_move(&w->c, BPF_REG_1, any_value(w));
		code_move(&w->c, BPF_REG_2, any_value(w));
		if (any(w, 2))
			write_change(w);
	}
	if (any(w, 2))
		code_jump_if(&w->c, any_jump(w), any_value(w), any_value(w),
			     rare);
	else
		code_jump_imm(&w->c, any_jump(w), any_value(w), 3, rare);
	code_rare_begin(&w->c);
	code_label_place(&w->c, rare);
	if (regs)
		code_store(&w->c, 8, BPF_REG_6, 16, BPF_REG_2);
	write_inside(w);
	if (any(w, 3)) {
		code_move(&w->c, temp, any_value(w));
		if (regs) {
			code_move(&w->c, BPF_REG_1, temp);
			code_move(&w->c, BPF_REG_2, temp);
		}
		code_jump(&w->c, back);
	} else {
		write_exit(w);
	}
	code_rare_end(&w->c);
	code_label_place(&w->c, back);
	if (regs)
		code_store(&w->c, 8, BPF_REG_1, 0, BPF_REG_2);
}

static void write_loop(struct writer *w)
{
	code_label again = code_label_new(&w->c);
	int count = code_temp_new(&w->c);

	code_const(&w->c, count, 1 + any(w, 3));
	code_label_place(&w->c, again);
	write_inside(w);
	code_alu_imm(&w->c, BPF_SUB, count, 1);
	code_jump_imm(&w->c, BPF_JNE, count, 0, again);
}

static void statements(struct writer *w)
{
	for (int n = 2 + any(w, w->depth ? 10 : 60); n && w->left; n--) {
		uint32_t kind = any(w, 20);

		w->left--;
		code_note(&w->c, any(w, 5));
		if (kind < 5)
			write_new(w);
		else if (kind < 7)
			write_change(w);
		else if (kind < 8)
			write_kept(w);
		else if (kind < 10)
			write_store(w);
		else if (kind < 11)
			write_atomic(w);
		else if (kind < 13)
			write_slot(w);
		else if (kind < 16)
			write_call(w);
		else if (w->depth == DEEPEST)
			continue;
		else if (kind < 17)
			write_if(w);
		else if (kind < 19)
			write_rare(w);
		else
			write_loop(w);
	}
}

static code_label function_write(struct writer *w, int args)
{
	code_label label = code_label_new(&w->c);
	struct writer outside = *w;

	code_function_begin(&w->c, w->c.function_count, label);
	w->temp_count = w->slot_count = w->kept = 0;
	w->function_depth++;
	code_const(&w->c, BPF_REG_6, 64);
	w->kept = 1u << BPF_REG_6;
	for (int i = 1; i <= args; i++)
		temp_add(w, code_copy(&w->c, i));
	if (!args) {
		int temp = code_temp_new(&w->c);

		code_const(&w->c, temp, 7);
		temp_add(w, temp);
	}
	statements(w);
	write_exit(w);
	code_function_end(&w->c);
	memcpy(w->temps, outside.temps, sizeof(w->temps));
	memcpy(w->slots, outside.slots, sizeof(w->slots));
	memcpy(w->slot_bytes, outside.slot_bytes, sizeof(w->slot_bytes));
	w->temp_count = outside.temp_count;
	w->slot_count = outside.slot_count;
	w->kept = outside.kept;
	w->function_depth--;
	return label;
}

static void program_write(struct writer *w, uint64_t seed, int operations)
{
	memset(w, 0, sizeof(*w));
	w->random = seed * 0x9e3779b97f4a7c15ull + 1;
	for (int i = 0; i < 10; i++)
		any(w, 2);
	w->small = any(w, 4);
	w->left = operations;
	code_begin(&w->c);
	code_const(&w->c, BPF_REG_6, 128);
	w->kept = 1u << BPF_REG_6;
	if (any(w, 2))
		code_frame_touch(&w->c);
	temp_add(w, code_temp_new(&w->c));
	code_const(&w->c, w->temps[0], 5);
	statements(w);
	for (int i = 0; i < 4 && i < w->temp_count; i++)
		code_store(&w->c, 8, BPF_REG_6, 8 * i, any_value(w));
	write_exit(w);
}

/* Placement's promises */
static bool placed_valid(const struct placed *placed)
{
	size_t function = 0;

	for (size_t i = 0; i < placed->count; i++) {
		const struct code_op *op = &placed->ops[i];
		uint32_t frame;

		if (function + 1 < placed->function_count &&
		    placed->functions[function + 1].first == i)
			function++;
		frame = placed->functions[function].frame;
		if (op->dst < 0 || op->dst > 9 || op->src < 0 || op->src > 9)
			return false;
		if (op->kind >= CODE_SLOT_LOAD &&
		    op->kind <= CODE_SLOT_ADDRESS &&
		    (op->off >= 0 || -op->off > (int)frame))
			return false;
		if (op->kind >= CODE_JUMP && op->target >= placed->count)
			return false;
	}
	return true;
}

/* 0 equal, 1 not, -1 it can't be said */
static int program_compare(uint64_t seed, bool show)
{
	static struct writer w;
	struct evaluation before, after = { 0 };
	struct placed placed;
	int ret;

	program_write(&w, seed, 20 + seed % 150);
	ret = code_finish(&w.c);
	if (!ret)
		ret = place_code(&placed, &w.c);
	if (ret == -E2BIG) {
		code_free(&w.c);
		return -1;
	}
	if (show)
		code_print(&w.c, stdout);
	if (ret) {
		tap_diag("seed %llu: %s", (unsigned long long)seed,
			 strerror(-ret));
		code_free(&w.c);
		return 1;
	}
	if (show)
		place_print(&placed, stdout);
	evaluate_code(&before, &w.c);
	if (placed_valid(&placed))
		evaluate_placed(&after, &placed);
	if (before.error == -2)
		ret = -1;
	else
		ret = before.error || after.error || before.seen != after.seen;
	if (ret > 0)
		tap_diag("seed %llu: seen %llx, %llx, errors %d, %d",
			 (unsigned long long)seed,
			 (unsigned long long)before.seen,
			 (unsigned long long)after.seen, before.error,
			 after.error);
	placed_free(&placed);
	code_free(&w.c);
	return ret;
}

static void test_programs(void)
{
	const char *text = getenv("RUNS"), *from = getenv("SEED");
	long runs = text ? atol(text) : 3000, equal = 0, different = 0;
	long first = from ? atol(from) : 1;

	for (long i = first; i < first + runs && different < 5; i++) {
		int ret = program_compare(i, false);

		equal += !ret;
		different += ret > 0;
	}
	if (from && runs == 1)
		program_compare(first, true);
	tap_ok(!different, "random programs do the same after it");
	tap_diag("%ld of %ld equal", equal, runs);
	tap_ok(equal > runs * 9 / 10, "and nearly all of them can be placed");
}

/* What most bodies do for an item: an address, a read, rare paths */
static void item_write(struct code *c, code_label finish)
{
	code_label fault = code_label_new(c), back = code_label_new(c);
	code_label cut = code_label_new(c), go_on = code_label_new(c);
	int address = code_temp_new(c), length = code_temp_new(c);
	int status = code_temp_new(c);
	code_slot word = code_slot_new(c, 8);

	code_load(c, 8, address, BPF_REG_6, 112);
	code_alu_imm(c, BPF_ADD, address, 16);
	code_slot_address(c, BPF_REG_1, word, 0);
	code_alu_imm(c, BPF_MOV, BPF_REG_2, 8);
	code_move(c, BPF_REG_3, address);
	code_call(c, BPF_FUNC_probe_read_user);
	code_jump_imm(c, BPF_JNE, BPF_REG_0, 0, fault);
	code_slot_load(c, 8, length, word, 0);
	code_jump_imm(c, BPF_JGT, length, 64, cut);
	code_label_place(c, go_on);
	code_move(c, BPF_REG_1, BPF_REG_9);
	code_alu_imm(c, BPF_ADD, BPF_REG_1, 3);
	code_move(c, BPF_REG_2, length);
	code_move(c, BPF_REG_3, address);
	code_alu_imm(c, BPF_ADD, BPF_REG_3, 32);
	code_call(c, BPF_FUNC_probe_read_user);
	code_jump_imm(c, BPF_JNE, BPF_REG_0, 0, fault);
	code_store_imm(c, 1, BPF_REG_9, 0, 1);
	code_store(c, 2, BPF_REG_9, 1, length);
	code_alu(c, BPF_ADD, BPF_REG_9, length);
	code_alu_imm(c, BPF_ADD, BPF_REG_9, 3);
	code_label_place(c, back);
	code_rare_begin(c);
	code_label_place(c, cut);
	code_store_imm(c, 1, BPF_REG_9, 0, 2);
	code_alu_imm(c, BPF_MOV, length, 64);
	code_jump(c, go_on);
	code_label_place(c, fault);
	code_alu_imm(c, BPF_MOV, status, 4);
	code_store(c, 1, BPF_REG_9, 0, status);
	code_store(c, 8, BPF_REG_9, 3, address);
	code_call(c, BPF_FUNC_get_prandom_u32);
	code_jump_imm(c, BPF_JEQ, BPF_REG_0, 0, finish);
	code_store(c, 8, BPF_REG_9, 3, status);
	code_alu_imm(c, BPF_ADD, BPF_REG_9, 11);
	code_jump(c, back);
	code_rare_end(c);
}

static void measure(void)
{
	for (int items = 3; items < 200; items *= 2) {
		struct timespec from, to;
		struct placed placed;
		double best = 1e9;
		size_t count = 0;
		struct code c;
		code_label finish;

		code_begin(&c);
		finish = code_label_new(&c);
		code_move(&c, BPF_REG_6, BPF_REG_1);
		code_move(&c, BPF_REG_9, BPF_REG_6);
		for (int i = 0; i < items; i++)
			item_write(&c, finish);
		code_label_place(&c, finish);
		code_alu_imm(&c, BPF_MOV, BPF_REG_0, 0);
		code_exit(&c);
		if (code_finish(&c))
			printf("bad\n");
		for (int i = 0; i < 1000; i++) {
			double taken;

			clock_gettime(CLOCK_MONOTONIC, &from);
			if (place_code(&placed, &c))
				break;
			clock_gettime(CLOCK_MONOTONIC, &to);
			taken = (to.tv_sec - from.tv_sec) * 1e6 +
				(to.tv_nsec - from.tv_nsec) / 1e3;
			best = taken < best ? taken : best;
			count = placed.count;
			if (!i && items == 3 && getenv("SHOW"))
				place_print(&placed, stdout);
			placed_free(&placed);
		}
		tap_diag("%zu operations, %zu placed: %.1f us", c.count,
			 count, best);
		code_free(&c);
	}
}

/* What it makes of small programs */

static void place_call(struct code *c)
{
	int t = code_copy(c, BPF_REG_1);

	code_alu_imm(c, BPF_ADD, t, 8);
	code_move(c, BPF_REG_3, t);
	code_alu_imm(c, BPF_MOV, BPF_REG_2, 8);
	code_slot_address(c, BPF_REG_1, code_slot_new(c, 8), 0);
	code_call(c, BPF_FUNC_probe_read_user);
	code_exit(c);
}

static void place_kept(struct code *c)
{
	int t = code_copy(c, BPF_REG_1);

	code_call(c, BPF_FUNC_get_prandom_u32);
	code_alu(c, BPF_ADD, BPF_REG_0, t);
	code_exit(c);
}

/* Registers 6 to 9 are its user's. */
static void place_frame(struct code *c)
{
	int t = code_temp_new(c);

	for (int reg = 6; reg < 10; reg++)
		code_const(c, reg, reg);
	code_load(c, 8, t, BPF_REG_6, 0);
	code_alu_imm(c, BPF_ADD, t, 1);
	code_call(c, BPF_FUNC_get_prandom_u32);
	code_alu(c, BPF_ADD, BPF_REG_0, t);
	code_store(c, 8, BPF_REG_7, 0, t);
	for (int reg = 6; reg < 10; reg++)
		code_alu(c, BPF_ADD, BPF_REG_0, reg);
	code_exit(c);
}

static void place_constant(struct code *c)
{
	int t = code_temp_new(c);

	code_const(c, t, 5);
	for (int reg = 6; reg < 10; reg++)
		code_const(c, reg, reg);
	code_call(c, BPF_FUNC_get_prandom_u32);
	code_alu(c, BPF_ADD, BPF_REG_0, t);
	for (int reg = 6; reg < 10; reg++)
		code_alu(c, BPF_ADD, BPF_REG_0, reg);
	code_exit(c);
}

/* Only the rare path keeps it across a call. */
static void place_saved(struct code *c)
{
	code_label rare = code_label_new(c), back = code_label_new(c);
	int t = code_temp_new(c);

	for (int reg = 6; reg < 10; reg++)
		code_const(c, reg, reg);
	code_load(c, 8, t, BPF_REG_6, 0);
	code_jump_imm(c, BPF_JEQ, t, 0, rare);
	code_rare_begin(c);
	code_label_place(c, rare);
	code_call(c, BPF_FUNC_get_prandom_u32);
	code_alu(c, BPF_ADD, t, BPF_REG_0);
	code_jump(c, back);
	code_rare_end(c);
	code_label_place(c, back);
	code_move(c, BPF_REG_0, t);
	for (int reg = 6; reg < 10; reg++)
		code_alu(c, BPF_ADD, BPF_REG_0, reg);
	code_exit(c);
}

static void place_dead(struct code *c)
{
	code_label label = code_label_new(c), gone = code_label_new(c);
	int t = code_temp_new(c);

	code_const(c, t, 1);
	code_alu_imm(c, BPF_ADD, t, 1);
	code_alu_imm(c, BPF_MOV, BPF_REG_0, 0);
	code_jump(c, label);
	code_store_imm(c, 8, BPF_REG_1, 0, 0);
	code_label_place(c, gone);
	code_jump(c, gone);
	code_label_place(c, label);
	code_exit(c);
	code_function_begin(c, 4, code_label_new(c));
	code_exit(c);
	code_function_end(c);
}

/* One place for two slots, but not for a third one between them */
static void place_shared(struct code *c)
{
	code_slot a = code_slot_new(c, 8), b = code_slot_new(c, 8);
	code_slot all = code_slot_new(c, 8);

	code_frame_touch(c);
	code_slot_store_imm(c, 8, all, 0, 1);
	code_slot_store_imm(c, 8, a, 0, 2);
	code_slot_load(c, 8, BPF_REG_3, a, 0);
	code_slot_store(c, 8, b, 0, BPF_REG_3);
	code_slot_load(c, 8, BPF_REG_0, b, 0);
	code_slot_load(c, 8, BPF_REG_3, all, 0);
	code_alu(c, BPF_ADD, BPF_REG_0, BPF_REG_3);
	code_exit(c);
}

/* A slot is in use as long as its address is. */
static void place_address(struct code *c)
{
	code_slot a = code_slot_new(c, 8), b = code_slot_new(c, 8);
	int t = code_temp_new(c);

	code_slot_address(c, t, a, 0);
	code_store_imm(c, 8, t, 0, 1);
	code_slot_store_imm(c, 8, b, 0, 2);
	code_slot_load(c, 8, BPF_REG_0, b, 0);
	code_load(c, 8, BPF_REG_1, t, 0);
	code_alu(c, BPF_ADD, BPF_REG_0, BPF_REG_1);
	code_exit(c);
}

static void place_functions(struct code *c)
{
	code_label function = code_label_new(c), none = code_label_new(c);
	code_label rare = code_label_new(c);

	code_jump_imm(c, BPF_JNE, BPF_REG_1, 0, rare);
	code_alu_imm(c, BPF_MOV, BPF_REG_0, 0);
	code_rare_begin(c);
	code_label_place(c, rare);
	code_function_begin(c, 3, none);
	code_call_label(c, function, 1);
	code_exit(c);
	code_function_end(c);
	code_call_label(c, function, 1);
	code_exit(c);
	code_rare_end(c);
	code_function_begin(c, 5, function);
	code_move(c, BPF_REG_0, BPF_REG_1);
	code_exit(c);
	code_function_end(c);
	code_exit(c);
}

static void place_unset(struct code *c)
{
	code_move(c, BPF_REG_0, code_temp_new(c));
	code_exit(c);
}

static void place_endless(struct code *c)
{
	code_const(c, BPF_REG_0, 0);
}

static void place_large(struct code *c)
{
	code_slot_store_imm(c, 8, code_slot_new(c, 520), 0, 0);
	code_exit(c);
}

static void place_late_touch(struct code *c)
{
	code_slot slot = code_slot_new(c, 8);

	code_slot_store_imm(c, 8, slot, 0, 0);
	code_frame_touch(c);
	code_slot_load(c, 8, BPF_REG_0, slot, 0);
	code_exit(c);
}

static const struct {
	const char *what;
	void (*write)(struct code *c);
	int error;
	const char *text;
} tables[] = {
	{ "moves to arguments are gone", place_call, 0,
	  "function 0, frame 8:\n\t; 0\n"
	  "     0\tr1 += 8\n     1\tr3 = r1\n     2\tr2 = 8\n"
	  "     3\tr1 = r10 -8\n     4\tcall bpf_probe_read_user(3)\n"
	  "     5\texit\n" },
	{ "a register is kept across calls", place_kept, 0,
	  "function 0, frame 0:\n\t; 0\n     0\tr6 = r1\n"
	  "     1\tcall bpf_get_prandom_u32(0)\n     2\tr0 += r6\n"
	  "     3\texit\n" },
	{ "or the frame: one store, one load", place_frame, 0,
	  "function 0, frame 8:\n\t; 0\n     0\tr6 = 6\n"
	  "     1\tr7 = 7\n     2\tr8 = 8\n     3\tr9 = 9\n"
	  "     4\tr5 = *(u64 *)(r6 +0)\n     5\tr5 += 1\n"
	  "     6\t*(u64 *)(r10 -8) = r5\n"
	  "     7\tcall bpf_get_prandom_u32(0)\n"
	  "     8\tr5 = *(u64 *)(r10 -8)\n     9\tr0 += r5\n"
	  "    10\t*(u64 *)(r7 +0) = r5\n    11\tr0 += r6\n"
	  "    12\tr0 += r7\n    13\tr0 += r8\n    14\tr0 += r9\n"
	  "    15\texit\n" },
	{ "constants are computed again", place_constant, 0,
	  "function 0, frame 0:\n\t; 0\n     0\tr6 = 6\n"
	  "     1\tr7 = 7\n     2\tr8 = 8\n     3\tr9 = 9\n"
	  "     4\tcall bpf_get_prandom_u32(0)\n     5\tr5 = 5\n"
	  "     6\tr0 += r5\n     7\tr0 += r6\n     8\tr0 += r7\n"
	  "     9\tr0 += r8\n    10\tr0 += r9\n    11\texit\n" },
	{ "a rare path saves what it keeps", place_saved, 0,
	  "function 0, frame 8:\n\t; 0\n     0\tr6 = 6\n"
	  "     1\tr7 = 7\n     2\tr8 = 8\n     3\tr9 = 9\n"
	  "     4\tr5 = *(u64 *)(r6 +0)\n     5\tif r5 == 0 goto 12\n"
	  "     6\tr0 = r5\n     7\tr0 += r6\n     8\tr0 += r7\n"
	  "     9\tr0 += r8\n    10\tr0 += r9\n    11\texit\n"
	  "    12\t*(u64 *)(r10 -8) = r5\n"
	  "    13\tcall bpf_get_prandom_u32(0)\n"
	  "    14\tr5 = *(u64 *)(r10 -8)\n    15\tr5 += r0\n"
	  "    16\tgoto 6\n" },
	{ "what nothing uses or leads to is gone", place_dead, 0,
	  "function 0, frame 0:\n\t; 0\n     0\tr0 = 0\n"
	  "     1\texit\n" },
	{ "slots share a place", place_shared, 0,
	  "function 0, frame 16:\n\t; 0\n"
	  "     0\t*(u64 *)(r10 -16) = 0\n"
	  "     1\t*(u64 *)(r10 -8) = 1\n"
	  "     2\t*(u64 *)(r10 -16) = 2\n"
	  "     3\tr3 = *(u64 *)(r10 -16)\n"
	  "     4\t*(u64 *)(r10 -16) = r3\n"
	  "     5\tr0 = *(u64 *)(r10 -16)\n"
	  "     6\tr3 = *(u64 *)(r10 -8)\n     7\tr0 += r3\n"
	  "     8\texit\n" },
	{ "but not while its address is used", place_address, 0,
	  "function 0, frame 16:\n\t; 0\n     0\tr5 = r10 -8\n"
	  "     1\t*(u64 *)(r5 +0) = 1\n"
	  "     2\t*(u64 *)(r10 -16) = 2\n"
	  "     3\tr0 = *(u64 *)(r10 -16)\n"
	  "     4\tr1 = *(u64 *)(r5 +0)\n     5\tr0 += r1\n"
	  "     6\texit\n" },
	{ "functions follow, those that are called", place_functions, 0,
	  "function 0, frame 0:\n\t; 0\n"
	  "     0\tif r1 != 0 goto 3\n     1\tr0 = 0\n     2\texit\n"
	  "     3\tcall function 1(1)\n     4\texit\n"
	  "function 1, frame 0:\n     5\tr0 = r1\n     6\texit\n" },
	{ "refused: a temp without a value", place_unset, -EINVAL, "" },
	{ "refused: a path without an end", place_endless, -EINVAL, "" },
	{ "refused: a frame that is too large", place_large, -E2BIG,
	  "" },
	{ "refused: a frame that is touched when it is in use",
	  place_late_touch, -EINVAL, "" },
};

static void test_tables(void)
{
	static char text[4096];

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		FILE *out = fmemopen(text, sizeof(text), "w");
		struct placed placed;
		struct code c;
		int ret;

		text[0] = '\0';
		code_begin(&c);
		tables[i].write(&c);
		ret = code_finish(&c);
		if (!ret)
			ret = place_code(&placed, &c);
		if (!ret) {
			place_print(&placed, out);
			placed_free(&placed);
		}
		fclose(out);
		tap_ok(ret == tables[i].error && !strcmp(text, tables[i].text),
		       "%s", tables[i].what);
		if (ret != tables[i].error || strcmp(text, tables[i].text))
			tap_diag("%d\n%s\nexpected:\n%s", ret, text,
				 tables[i].text);
		code_free(&c);
	}
}

int main(void)
{
	if (getenv("BENCH"))
		measure();
	test_tables();
	test_programs();
	return tap_done();
}
