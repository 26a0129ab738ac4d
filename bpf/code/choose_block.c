// SPDX-License-Identifier: GPL-2.0
/*
 * Which blocks are recorded: those of `min_size` bytes at least, and of these,
 * if `sample` is given, each with the chance 1 - exp(-bytes / sample). A thread
 * goes from one chosen byte to the next by distances that are exponentially
 * distributed (a Poisson process), and takes the block that it is in; a new
 * distance begins after the block, which is the same because the distribution
 * has no memory.
 *
 * Of blocks that were chosen, in `blocks`, the release is recorded. One that is
 * exchanged for another is released, the other one chosen as any; address and
 * size of what isn't chosen, and an old block that wasn't, are 0 in the record.
 */
#include "gen.h"

#include <errno.h>

#define FRACTION	30		/* bits of a logarithm after the point */
#define SCALE_BITS	28		/* of `sample`, as a factor */
#define LN_2		0x58b90bfbe8e7bcd6ULL	/* times 2^63 */

/*
 * log2(1 + f) / f for f of 0 to 1, as a polynomial times 2^FRACTION: through
 * its values at the Chebyshev nodes, wrong by less than 8e-6.
 */
static const int64_t logarithm[] = {
	1549067431, -773479343, 503218640, -323881347, 155124658, -36316145,
};

/* r1 = the map of blocks, r2 = the key of the one at `address`. The process is the
 * one in whose memory it is. */
static void choose_block_find(struct gen *gen, int address)
{
	const struct body_heap *heap = gen->plan->target->heap;
	struct code *c = gen->c;
	code_slot key = code_slot_new(c, sizeof(struct ras_block));
	code_label own = code_label_new(c);

	code_call(c, BPF_FUNC_get_current_pid_tgid);
	code_alu_imm(c, BPF_RSH, R0, 32);
	code_slot_store(c, 8, key, 0, R0);
	if (heap->owners_fd >= 0) {
		code_lookup(c, heap->owners_fd, key, own);
		code_load(c, 4, R1, R0, 0);
		code_slot_store(c, 8, key, 0, R1);
	}
	code_label_place(c, own);
	code_slot_store(c, 8, key, 8, address);
	code_map(c, R1, heap->blocks_fd);
	code_slot_address(c, R2, key, 0);
}

/* It was one of the chosen, and is no more; else to `other`. Any other failure
 * (the bucket is locked) says that it may have been. */
static void block_remove(struct gen *gen, int address, code_label other)
{
	struct code *c = gen->c;

	choose_block_find(gen, address);
	code_call(c, BPF_FUNC_map_delete_elem);
	code_zext32(c, R0);	/* an int on kernels before 6.3 */
	code_const(c, R1, (uint32_t)-ENOENT);
	code_jump_if(c, BPF_JEQ, R0, R1, other);
}

/* r0 = 0: the block is one of the chosen from now on */
static void choose_block_add(struct gen *gen, int address, int size)
{
	struct code *c = gen->c;
	code_slot value = code_slot_new(c, 8);

	code_slot_store(c, 8, value, 0, size);
	choose_block_find(gen, address);
	code_slot_address(c, R3, value, 0);
	code_alu_imm(c, BPF_MOV, R4, BPF_ANY);
	code_call(c, BPF_FUNC_map_update_elem);
}

/* A temp with -log2 of a number between 0 and 1, times 2^FRACTION. The number is
 * an odd one of 33 bits over 2^33. */
static int logarithm_draw(struct gen *gen)
{
	int last = sizeof(logarithm) / sizeof(*logarithm) - 1;
	struct code *c = gen->c;
	int drawn, below, sum, result = code_temp_new(c);

	code_call(c, BPF_FUNC_get_prandom_u32);
	drawn = code_copy(c, R0);
	code_zext32(c, drawn);
	code_alu_imm(c, BPF_LSH, drawn, 1);
	code_alu_imm(c, BPF_OR, drawn, 1);
	code_alu_imm(c, BPF_MOV, result, 33);
	code_alu(c, BPF_SUB, result, highest_bit(gen, drawn));
	/* the bits below the highest, times 2^31 */
	below = code_copy(c, drawn);
	code_alu(c, BPF_LSH, below, result);
	code_alu_imm(c, BPF_LSH, below, 31);
	code_alu_imm(c, BPF_RSH, below, 33);
	sum = temp_const(gen, logarithm[last]);
	for (int i = last - 1; i >= -1; i--) {
		code_alu(c, BPF_MUL, sum, below);
		code_alu_imm(c, BPF_ARSH, sum, 31);
		if (i >= 0)
			code_alu_imm(c, BPF_ADD, sum, logarithm[i]);
	}
	code_alu_imm(c, BPF_LSH, result, FRACTION);
	code_alu(c, BPF_SUB, result, sum);
	return result;
}

/* `sample` * ln 2, as `factor` / 2^shift */
static uint64_t scale_find(uint64_t sample, unsigned int *shift)
{
	unsigned __int128 factor = (unsigned __int128)sample * LN_2;

	for (*shift = 63; factor >> SCALE_BITS; --*shift)
		factor >>= 1;
	return factor;
}

/* reg = bytes to the next that is chosen, 1 at least */
static void distance_draw(struct gen *gen, int reg)
{
	struct code *c = gen->c;
	unsigned int shift;
	uint64_t factor = scale_find(gen->plan->target->heap->sample, &shift);

	code_move(c, reg, logarithm_draw(gen));
	code_const(c, R1, factor);
	code_alu(c, BPF_MUL, reg, R1);
	code_alu_imm(c, BPF_RSH, reg, FRACTION + shift);
	code_alu_imm(c, BPF_ADD, reg, 1);
}

/* Does the next chosen byte lie in the block, of gen->size bytes? Else to
 * `other`. */
static void sample_test(struct gen *gen, code_label other)
{
	struct code *c = gen->c;
	code_label drawn = code_label_new(c), chosen = code_label_new(c);
	int left = temp_load(gen, 8, gen->call, CALL_AT(left));

	code_jump_imm(c, BPF_JNE, left, 0, drawn);
	distance_draw(gen, left);
	code_label_place(c, drawn);
	code_jump_if(c, BPF_JGE, gen->size, left, chosen);
	code_alu(c, BPF_SUB, left, gen->size);
	code_store(c, 8, gen->call, CALL_AT(left), left);
	code_jump(c, other);
	code_label_place(c, chosen);
	distance_draw(gen, left);
	code_store(c, 8, gen->call, CALL_AT(left), left);
}

/*
 * The thread's struct ras_call keeps the old block if it was one of the chosen.
 * It goes where the call begins: before that returns another thread may have
 * been given the same address.
 */
void choose_block_begin(struct gen *gen, const struct tdf_site *site)
{
	struct code *c = gen->c;
	code_label other = code_label_new(c);
	int old = code_temp_new(c);

	if (!gen->plan->chosen)
		return;
	code_store_imm(c, 8, gen->call, CALL_AT(block), 0);
	if (!call_old_load(gen, site, old))
		return;
	code_jump_imm(c, BPF_JEQ, old, 0, other);
	block_remove(gen, old, other);
	code_store(c, 8, gen->call, CALL_AT(block), old);
	code_label_place(c, other);
}

/* The call isn't recorded: its old block is what it was. */
void choose_block_undo(struct gen *gen)
{
	struct code *c = gen->c;
	code_label none = code_label_new(c);
	int old;

	if (!gen->plan->chosen || gen->plan->point->flags & TDF_POINT_RELEASE)
		return;
	old = temp_load(gen, 8, gen->call, CALL_AT(block));
	code_jump_imm(c, BPF_JEQ, old, 0, none);
	choose_block_add(gen, old, temp_const(gen, 0));
	code_label_place(c, none);
}

/* There is no room to keep it in. */
static void choose_block_full(struct gen *gen, code_label full)
{
	struct code *c = gen->c;

	code_rare_begin(c);
	code_label_place(c, full);
	code_alu_imm(c, BPF_MOV, R1, 1);
	code_atomic(c, BPF_ADD, PLACE, COUNT_AT(dropped), R1);
	code_jump(c, gen->leave);
	code_rare_end(c);
}

/* Is a block of gen->size bytes one to record? Else to `other`. */
static void choose_block_test(struct gen *gen, code_label other)
{
	const struct body_heap *heap = gen->plan->target->heap;

	if (heap->min_size) {
		code_const(gen->c, R2, heap->min_size);
		code_jump_if(gen->c, BPF_JLT, gen->size, R2, other);
	}
	if (heap->sample)
		sample_test(gen, other);
}

/* Before there is a block. The bytes of one that is never given count, too: the
 * distribution has no memory, so that the chance of the others stays the same. */
void choose_block_decide(struct gen *gen, const struct tdf_site *site)
{
	call_bytes_load(gen, site);
	choose_block_test(gen, gen->filtered[RAS_FILTERED_CONDITION]);
}

static void acquired_choose(struct gen *gen)
{
	struct code *c = gen->c;
	code_label other = code_label_new(c), chosen = code_label_new(c);
	code_label full = code_label_new(c);

	code_load(c, 8, gen->old, gen->call, CALL_AT(block));
	code_jump_imm(c, BPF_JEQ, gen->block, 0, other);
	if (!gen->plan->decided)
		choose_block_test(gen, other);
	choose_block_add(gen, gen->block, gen->size);
	code_jump_imm(c, BPF_JNE, R0, 0, full);
	choose_block_full(gen, full);
	code_rare_begin(c);
	code_label_place(c, other);
	code_jump_imm(c, BPF_JEQ, gen->old, 0,
		      gen->filtered[RAS_FILTERED_CONDITION]);
	code_const(c, gen->block, 0);
	code_const(c, gen->size, 0);
	code_jump(c, chosen);
	code_rare_end(c);
	code_label_place(c, chosen);
}

void choose_block_generate(struct gen *gen)
{
	if (!gen->plan->chosen)
		return;
	if (gen->plan->point->flags & TDF_POINT_RELEASE) {
		block_remove(gen, gen->block,
			     gen->filtered[RAS_FILTERED_CONDITION]);
		return;
	}
	call_block_load(gen);
	acquired_choose(gen);
}

bool choose_block_value(struct gen *gen, const struct tdf_stmt *stmt, int reg)
{
	int flags = stmt->flags & TDF_STMT_OLD;

	if (!gen->plan->chosen || !flags ||
	    gen->plan->point->flags & TDF_POINT_RELEASE)
		return false;
	code_move(gen->c, reg, flags == TDF_STMT_OLD ? gen->old :
		  flags == TDF_STMT_SIZE ? gen->size : gen->block);
	return true;
}
