// SPDX-License-Identifier: GPL-2.0
/*
 * A stack that is in the session's table (struct ras_stack_set), or can be put
 * there, becomes its number.
 *
 * Nothing is waited for, and no address is trusted to a hash: the stack was
 * written into the record, and stays there unless all of it is the same in the
 * table. A writer that is interrupted, or two on different CPUs, may take two
 * places for the same stack; both hold it. Comparing needs no order of loads:
 * what is in a place changes once, from zeros that are no head and no address,
 * so what is equal is there to stay. The record is published after that, so a
 * reader of it finds the place whole.
 */
#include "gen.h"

#define SET_AT(field)	((int)offsetof(struct ras_stack_set, field))
#define SPREAD		0x9e3779b97f4a7c15ULL

struct stack_id {
	struct gen *gen;
	struct code *c;
	uint32_t depth;
	int length;		/* of the item, more than struct ras_stack */
	int hash, number;	/* number: of the set, then of the stack */
	int set, head, place;	/* place: of the addresses in the set */
};

static int item_at(const struct stack_id *s, int off)
{
	return s->gen->place.off + off;
}

static int address_at(const struct stack_id *s, uint32_t i)
{
	return item_at(s, RAS_ITEM_PREFIX + sizeof(struct ras_stack) +
			  i * STACK_FRAME_BYTES);
}

/* There is no address number i. */
static void address_none_test(struct stack_id *s, uint32_t i, code_label end)
{
	code_jump_imm(s->c, BPF_JLE, s->length,
		      sizeof(struct ras_stack) + i * STACK_FRAME_BYTES, end);
}

/* A sum of products that don't wait for each other */
static void hash_generate(struct stack_id *s)
{
	uint32_t factor = (uint32_t)SPREAD;
	struct code *c = s->c;
	code_label end = code_label_new(c);
	int base = s->gen->place.base;

	code_const(c, s->hash, 0);
	for (uint32_t i = 0; i < s->depth; i++) {
		if (i)
			address_none_test(s, i, end);
		code_load(c, 8, R1, base, address_at(s, i));
		code_alu_imm(c, BPF_MUL, R1, factor >> 1);
		factor *= 0x85ebca6bu;
		code_alu(c, BPF_ADD, s->hash, R1);
	}
	code_label_place(c, end);
	code_alu(c, BPF_MUL, s->hash, temp_const(s->gen, SPREAD));
	code_alu_imm(c, BPF_RSH, s->hash, 32);
}

/* The head that the stack has in the table */
static void head_generate(struct stack_id *s)
{
	int base = s->gen->place.base, stack;
	struct code *c = s->c;

	code_move(c, s->head, s->hash);
	code_alu_imm(c, BPF_OR, s->head, 1 << 31);
	code_alu_imm(c, BPF_LSH, s->head, 32);
	code_alu(c, BPF_OR, s->head, s->length);
	stack = temp_load(s->gen, 2, base, item_at(s, RAS_ITEM_PREFIX));
	code_alu_imm(c, BPF_LSH, stack, 16);
	code_alu(c, BPF_OR, s->head, stack);
}

static void stack_set_find(struct stack_id *s, code_label missing)
{
	const struct body_target *target = s->gen->plan->target;
	struct code *c = s->c;

	code_move(c, s->number, s->hash);
	code_alu_imm(c, BPF_MUL, s->number, target->stack_sets);
	code_alu_imm(c, BPF_RSH, s->number, 32);
	code_lookup(c, target->stack_table_fd, key_new(s->gen, s->number),
		    missing);
	code_move(c, s->set, R0);
}

/*
 * The way is at hand in the record, where the place will be noted: what is read
 * back from there is any of them to the verifier, which so follows the rest once.
 */
static void way_found(struct stack_id *s, int way, code_label label,
		      code_label next)
{
	code_rare_begin(s->c);
	code_label_place(s->c, label);
	code_store_imm(s->c, 2, RECORD, RECORD_AT(stack), way);
	code_jump(s->c, next);
	code_rare_end(s->c);
}

/* reg = the way that was found */
static void way_load(struct stack_id *s, int reg)
{
	code_load(s->c, 2, reg, RECORD, RECORD_AT(stack));
	code_alu_imm(s->c, BPF_AND, reg, RAS_STACK_WAYS - 1);
}

/* number = that of the stack; place = its addresses, way = of its head */
static void way_take(struct stack_id *s, int way)
{
	struct code *c = s->c;

	way_load(s, way);
	code_alu_imm(c, BPF_MUL, s->number, RAS_STACK_WAYS);
	code_alu(c, BPF_ADD, s->number, way);
	code_move(c, s->place, way);
	code_alu_imm(c, BPF_MUL, s->place,
		     s->gen->plan->target->stack_depth * STACK_FRAME_BYTES);
	code_alu(c, BPF_ADD, s->place, s->set);
	code_alu_imm(c, BPF_LSH, way, 3);
	code_alu(c, BPF_ADD, way, s->set);
}

static void addresses_compare(struct stack_id *s, code_label equal,
			      code_label other)
{
	struct code *c = s->c;

	for (uint32_t i = 0; i < s->depth; i++) {
		if (i)
			address_none_test(s, i, equal);
		code_load(c, 8, R1, s->gen->place.base, address_at(s, i));
		code_load(c, 8, R2, s->place,
			  SET_AT(addresses) + i * STACK_FRAME_BYTES);
		code_jump_if(c, BPF_JNE, R1, R2, other);
	}
	code_jump(c, equal);
}

static void stack_place_write(struct stack_id *s, int way, code_label equal,
			      code_label other)
{
	struct code *c = s->c;
	code_label end = code_label_new(c);

	code_alu_imm(c, BPF_MOV, R0, RAS_STACK_FREE);
	code_atomic(c, BPF_CMPXCHG, way, SET_AT(heads),
		    temp_const(s->gen, RAS_STACK_TAKEN));
	code_jump_imm(c, BPF_JNE, R0, RAS_STACK_FREE, other);
	for (uint32_t i = 0; i < s->depth; i++) {
		if (i)
			address_none_test(s, i, end);
		code_load(c, 8, R1, s->gen->place.base, address_at(s, i));
		code_store(c, 8, s->place,
			   SET_AT(addresses) + i * STACK_FRAME_BYTES, R1);
	}
	code_label_place(c, end);
	gen_publish(s->gen, way, SET_AT(heads), s->head);
	code_jump(c, equal);
}

/* The item becomes the number. */
static void id_store(struct stack_id *s)
{
	const struct gen_place *place = &s->gen->place;
	struct code *c = s->c;
	int status, at = code_temp_new(c);

	status = temp_load(s->gen, 1, place->base, item_at(s, 0));
	code_alu_imm(c, BPF_OR, status, RAS_ITEM_STACK ^ RAS_ITEM_STACK_ID);
	code_store(c, 1, place->base, item_at(s, 0), status);
	code_store_imm(c, 2, place->base, item_at(s, ITEM_AT(length)), 4);
	code_store(c, 4, place->base, item_at(s, RAS_ITEM_PREFIX), s->number);
	item_place_load(s->gen, place, 0, at);
	code_alu(c, BPF_SUB, at, RECORD);
	code_store(c, 2, RECORD, RECORD_AT(stack), at);
}

void stack_id_generate(struct gen *gen, uint32_t depth)
{
	struct code *c = gen->c;
	struct stack_id s = {
		.gen = gen, .c = c, .depth = depth,
		.hash = code_temp_new(c), .number = code_temp_new(c),
		.set = code_temp_new(c), .head = code_temp_new(c),
		.place = code_temp_new(c),
	};
	code_label found = code_label_new(c), unused = code_label_new(c);
	code_label equal = code_label_new(c), other = code_label_new(c);
	code_label done = code_label_new(c);
	code_label ways[RAS_STACK_WAYS][2];
	int way = code_temp_new(c);

	if (!depth || !gen->plan->target->stack_sets)
		return;
	code_load(c, 2, R1, RECORD, RECORD_AT(stack));
	code_jump_imm(c, BPF_JNE, R1, 0, done);
	s.length = temp_load(gen, 2, gen->place.base,
			     item_at(&s, ITEM_AT(length)));
	address_none_test(&s, 0, done);
	hash_generate(&s);
	stack_set_find(&s, done);
	head_generate(&s);
	for (int i = 0; i < RAS_STACK_WAYS; i++) {
		ways[i][0] = code_label_new(c);
		ways[i][1] = code_label_new(c);
		code_load(c, 8, R1, s.set, SET_AT(heads) + 8 * i);
		code_jump_if(c, BPF_JEQ, R1, s.head, ways[i][0]);
		code_jump_imm(c, BPF_JEQ, R1, RAS_STACK_FREE, ways[i][1]);
	}
	code_jump(c, other);
	for (int i = 0; i < RAS_STACK_WAYS; i++) {
		way_found(&s, i, ways[i][0], found);
		way_found(&s, i, ways[i][1], unused);
	}
	code_label_place(c, found);
	way_take(&s, way);
	addresses_compare(&s, equal, other);
	code_rare_begin(c);
	code_label_place(c, unused);
	way_take(&s, way);
	stack_place_write(&s, way, equal, other);
	code_label_place(c, other);
	code_store_imm(c, 2, RECORD, RECORD_AT(stack), 0);
	code_atomic(c, BPF_ADD, s.set, SET_AT(unplaced), temp_const(gen, 1));
	code_jump(c, done);
	code_rare_end(c);
	code_label_place(c, equal);
	id_store(&s);
	code_label_place(c, done);
}
