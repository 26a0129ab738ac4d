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

#define CALL(field)	((int)offsetof(struct ras_call, field))
#define BLOCK_WORDS	((int)(sizeof(struct ras_block) / 8))

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

static bool chosen_only(const struct gen *gen)
{
	const struct body_heap *heap = gen->target->heap;

	return !gen->is_static && heap && heap->blocks_fd >= 0 &&
	       gen->point->flags & (TDF_POINT_CALL | TDF_POINT_RELEASE);
}

/* r2 = key of the block whose address is at `address` of the frame. The process is
 * the one in whose memory it is. */
static void choose_block_key_make(struct gen *gen, int address, int key)
{
	int owners = gen->target->heap->owners_fd;
	emit_label own = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_call(e, BPF_FUNC_get_current_pid_tgid);
	emit_alu_imm(e, BPF_RSH, R0, 32);
	emit_store(e, 8, FP, key, R0);
	if (owners >= 0) {
		emit_lookup(e, owners, key, own);
		emit_load(e, 4, R1, R0, 0);
		emit_store(e, 8, FP, key, R1);
	}
	emit_label_place(e, own);
	emit_load(e, 8, R1, FP, address);
	emit_store(e, 8, FP, key + 8, R1);
	emit_alu(e, BPF_MOV, R2, FP);
	emit_alu_imm(e, BPF_ADD, R2, key);
}

/* It was one of the chosen, and is no more; else to `other`. Any other failure
 * (the bucket is locked) says that it may have been. */
static void block_remove(struct gen *gen, int address, emit_label other)
{
	int key = gen_frame_take(gen, BLOCK_WORDS);
	struct emit *e = &gen->e;

	choose_block_key_make(gen, address, key);
	emit_map(e, R1, gen->target->heap->blocks_fd);
	emit_call(e, BPF_FUNC_map_delete_elem);
	emit_zext32(e, R0);	/* an int on kernels before 6.3 */
	emit_const(e, R1, (uint32_t)-ENOENT);
	emit_jump_if(e, BPF_JEQ, R0, R1, other);
}

/* r0 = 0: the block is one of the chosen from now on */
static void choose_block_add(struct gen *gen)
{
	int key = gen_frame_take(gen, BLOCK_WORDS);
	struct emit *e = &gen->e;

	choose_block_key_make(gen, FRAME_BLOCK, key);
	emit_map(e, R1, gen->target->heap->blocks_fd);
	emit_alu(e, BPF_MOV, R3, FP);
	emit_alu_imm(e, BPF_ADD, R3, FRAME_SIZE);
	emit_alu_imm(e, BPF_MOV, R4, BPF_ANY);
	emit_call(e, BPF_FUNC_map_update_elem);
}

/*
 * r1 = the place of the highest bit of r2, which isn't 0. Without branches: the
 * verifier would walk all that follows once for each way.
 */
static void highest_bit(struct emit *e)
{
	emit_alu_imm(e, BPF_MOV, R1, 0);
	for (int step = 32; step; step /= 2) {
		emit_alu(e, BPF_MOV, R3, R2);
		emit_alu_imm(e, BPF_RSH, R3, step);
		emit_alu_imm(e, BPF_NEG, R3, 0);
		emit_alu_imm(e, BPF_RSH, R3, 63);
		emit_alu_imm(e, BPF_MUL, R3, step);
		emit_alu(e, BPF_RSH, R2, R3);
		emit_alu(e, BPF_ADD, R1, R3);
	}
}

/* r0 = -log2 of a number between 0 and 1, times 2^FRACTION. The number is an
 * odd one of 33 bits over 2^33. */
static void logarithm_draw(struct emit *e)
{
	int last = sizeof(logarithm) / sizeof(*logarithm) - 1;

	emit_call(e, BPF_FUNC_get_prandom_u32);
	emit_zext32(e, R0);
	emit_alu_imm(e, BPF_LSH, R0, 1);
	emit_alu_imm(e, BPF_OR, R0, 1);
	emit_alu(e, BPF_MOV, R2, R0);
	highest_bit(e);
	/* r2 = the bits below the highest, times 2^31 */
	emit_alu_imm(e, BPF_MOV, R3, 33);
	emit_alu(e, BPF_SUB, R3, R1);
	emit_alu(e, BPF_MOV, R2, R0);
	emit_alu(e, BPF_LSH, R2, R3);
	emit_alu_imm(e, BPF_LSH, R2, 31);
	emit_alu_imm(e, BPF_RSH, R2, 33);
	emit_const(e, R0, logarithm[last]);
	for (int i = last - 1; i >= -1; i--) {
		emit_alu(e, BPF_MUL, R0, R2);
		emit_alu_imm(e, BPF_ARSH, R0, 31);
		if (i >= 0)
			emit_alu_imm(e, BPF_ADD, R0, logarithm[i]);
	}
	emit_alu_imm(e, BPF_LSH, R3, FRACTION);
	emit_alu(e, BPF_SUB, R3, R0);
	emit_alu(e, BPF_MOV, R0, R3);
}

/* `sample` * ln 2, as `factor` / 2^shift */
static uint64_t scale_find(uint64_t sample, unsigned int *shift)
{
	unsigned __int128 factor = (unsigned __int128)sample * LN_2;

	for (*shift = 63; factor >> SCALE_BITS; --*shift)
		factor >>= 1;
	return factor;
}

/* r0 = bytes to the next that is chosen, 1 at least. Keeps r6 to r9. */
static void distance_draw(struct gen *gen)
{
	struct emit *e = &gen->e;
	unsigned int shift;
	uint64_t factor = scale_find(gen->target->heap->sample, &shift);

	logarithm_draw(e);
	emit_const(e, R1, factor);
	emit_alu(e, BPF_MUL, R0, R1);
	emit_alu_imm(e, BPF_RSH, R0, FRACTION + shift);
	emit_alu_imm(e, BPF_ADD, R0, 1);
}

/* Does the next chosen byte lie in the block, of FRAME_SIZE bytes? Else to
 * `other`. */
static void sample_test(struct gen *gen, emit_label other)
{
	emit_label drawn = emit_label_new(&gen->e);
	emit_label chosen = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_load(e, 8, R3, FP, FRAME_CALL);
	emit_load(e, 8, R1, R3, CALL(left));
	emit_jump_imm(e, BPF_JNE, R1, 0, drawn);
	distance_draw(gen);
	emit_alu(e, BPF_MOV, R1, R0);
	emit_load(e, 8, R3, FP, FRAME_CALL);
	emit_label_place(e, drawn);
	emit_load(e, 8, R2, FP, FRAME_SIZE);
	emit_jump_if(e, BPF_JGE, R2, R1, chosen);
	emit_alu(e, BPF_SUB, R1, R2);
	emit_store(e, 8, R3, CALL(left), R1);
	emit_jump(e, other);
	emit_label_place(e, chosen);
	distance_draw(gen);
	emit_load(e, 8, R3, FP, FRAME_CALL);
	emit_store(e, 8, R3, CALL(left), R0);
}

/* There is no room to keep it in. */
static void full_generate(struct gen *gen, emit_label added)
{
	struct emit *e = &gen->e;

	emit_jump_imm(e, BPF_JEQ, R0, 0, added);
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_ADD, R9, (int)offsetof(struct ras_count, dropped),
		    R1);
	emit_jump(e, gen->leave);
}

/*
 * r7 = struct ras_call, which keeps the old block if it was one of the chosen.
 * It goes where the call begins: before that returns another thread may have
 * been given the same address.
 */
void choose_block_begin(struct gen *gen)
{
	emit_label other = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (!chosen_only(gen))
		return;
	emit_store_imm(e, 8, R7, CALL(block), 0);
	if (!call_old_load(gen))
		return;
	emit_store(e, 8, FP, FRAME_OLD, R1);
	block_remove(gen, FRAME_OLD, other);
	emit_load(e, 8, R1, FP, FRAME_OLD);
	emit_store(e, 8, R7, CALL(block), R1);
	emit_label_place(e, other);
}

/* The call isn't recorded: its old block is what it was. */
void choose_block_undo(struct gen *gen)
{
	emit_label none = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (!chosen_only(gen) || gen->point->flags & TDF_POINT_RELEASE)
		return;
	emit_load(e, 8, R1, FP, FRAME_CALL);
	emit_load(e, 8, R1, R1, CALL(block));
	emit_jump_imm(e, BPF_JEQ, R1, 0, none);
	emit_store(e, 8, FP, FRAME_BLOCK, R1);
	emit_store_imm(e, 8, FP, FRAME_SIZE, 0);
	choose_block_add(gen);
	emit_label_place(e, none);
}

static void acquired_choose(struct gen *gen)
{
	const struct body_heap *heap = gen->target->heap;
	emit_label other = emit_label_new(&gen->e);
	emit_label chosen = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_load(e, 8, R1, FP, FRAME_CALL);
	emit_load(e, 8, R1, R1, CALL(block));
	emit_store(e, 8, FP, FRAME_OLD, R1);
	emit_load(e, 8, R1, FP, FRAME_BLOCK);
	emit_jump_imm(e, BPF_JEQ, R1, 0, other);
	if (heap->min_size) {
		emit_load(e, 8, R1, FP, FRAME_SIZE);
		emit_const(e, R2, heap->min_size);
		emit_jump_if(e, BPF_JLT, R1, R2, other);
	}
	if (heap->sample)
		sample_test(gen, other);
	choose_block_add(gen);
	full_generate(gen, chosen);
	emit_label_place(e, other);
	emit_load(e, 8, R1, FP, FRAME_OLD);
	emit_jump_imm(e, BPF_JEQ, R1, 0, gen->filtered[RAS_FILTERED_CONDITION]);
	emit_store_imm(e, 8, FP, FRAME_BLOCK, 0);
	emit_store_imm(e, 8, FP, FRAME_SIZE, 0);
	emit_label_place(e, chosen);
}

void choose_block_generate(struct gen *gen)
{
	if (!chosen_only(gen))
		return;
	if (gen->point->flags & TDF_POINT_RELEASE) {
		block_remove(gen, FRAME_BLOCK,
			     gen->filtered[RAS_FILTERED_CONDITION]);
		return;
	}
	call_block_load(gen);
	acquired_choose(gen);
}

bool choose_block_value(struct gen *gen, const struct tdf_stmt *stmt)
{
	int flags = stmt->flags & TDF_STMT_OLD;

	if (!chosen_only(gen) || !flags ||
	    gen->point->flags & TDF_POINT_RELEASE)
		return false;
	emit_load(&gen->e, 8, R1, FP, flags == TDF_STMT_OLD ? FRAME_OLD :
		  flags == TDF_STMT_SIZE ? FRAME_SIZE : FRAME_BLOCK);
	return true;
}
