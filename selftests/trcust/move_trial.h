/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random statements at random pairs of addresses of a block: as they are meant at
 * the one, and as they were moved to the other one. The block is run, and a plain
 * interpreter makes the record of both; the two are equal.
 */
#ifndef TRCUST_MOVE_TRIAL_H
#define TRCUST_MOVE_TRIAL_H

#include "move_block.h"
#include "move_stmt.h"

#define PAIRS		16	/* of addresses, for each block */
#define STMTS		4	/* for each pair */
#define SCRIBBLED	256	/* bytes below the stack pointer */

struct trial {
	struct tdf_stmt nominal, site;
	bool moved;
	int ran;		/* at how many of the two addresses */
	struct expected nominal_record, site_record;
};

struct pair {
	size_t nominal, site;
	bool safe;		/* moved over nothing that may fault */
	struct trial trials[STMTS];
	uint64_t stack;		/* pointer, at the nominal address */
};

static struct trials {
	struct module *module;
	struct move_block block;
	bool entry;
	struct pair pairs[PAIRS];
	struct bytes in, out;
	size_t reached;		/* addresses of the block, in a run */
	unsigned int tried, moved, compared, wrong, faulted;
} t;

/* What a test has: memory and registers for a run of the block; what they are
 * now; an instruction of it, false when another one than the next follows; the
 * stack pointer, and whether it leads to a stack; the record of a statement;
 * trial_record_all() where nothing below the stack pointer lasts. */
static void code_prepare(void);
static void code_stop(void);
static bool code_step(size_t at);
static uint64_t code_stack(void);
static bool code_has_stack(void);
static void code_evaluate(const struct tdf_stmt *stmt, const uint8_t *rpn,
			  struct expected *x);
static void code_record_site(struct pair *pair);

static void trial_print(const char *what, const struct tdf_stmt *s,
			const struct bytes *rpn)
{
	char text[1000], length[1000];

	rpn_print(rpn->data + s->rpn, s->rpn_length, text, sizeof(text));
	rpn_print(rpn->data + s->len_rpn, s->len_rpn_length, length,
		  sizeof(length));
	tap_diag("%s: kind %u flags %#x register %u length %u: %s [%s]", what,
		 s->kind, s->flags, s->reg, s->length, text, length);
}

static void trial_tell_wrong(const struct pair *pair, const struct trial *trial)
{
	const struct expected *a = &trial->nominal_record;
	const struct expected *b = &trial->site_record;
	const struct block *block = &t.block.block;
	char text[100];

	if (t.wrong++ > 5)
		return;
	tap_diag("from %zu to %zu, entry %d:", pair->nominal, pair->site,
		 t.entry);
	for (size_t i = 0; i < block->count; i++) {
		const struct block_insn *insn = &block->insns[i];

		if (!arch_insn_print(t.module->arch, insn->bytes,
				     insn->insn.length, insn->address, text,
				     sizeof(text)))
			tap_diag(" %2zu  %s", i, text);
	}
	trial_print("meant", &trial->nominal, &t.in);
	trial_print("moved", &trial->site, &t.out);
	tap_diag("length %zu, %zu; faults %u, %u; first bytes %llx, %llx",
		 a->length, b->length, a->faults, b->faults,
		 *(const long long *)a->data, *(const long long *)b->data);
}

static void trial_compare(const struct pair *pair, const struct trial *trial)
{
	const struct expected *a = &trial->nominal_record;
	const struct expected *b = &trial->site_record;

	t.compared++;
	if (a->length != b->length || a->faults != b->faults ||
	    a->flags != b->flags || a->filtered != b->filtered ||
	    memcmp(a->data, b->data, a->length))
		trial_tell_wrong(pair, trial);
}

static void trial_record_all(struct pair *pair, bool site)
{
	for (size_t i = 0; i < STMTS; i++) {
		struct trial *trial = &pair->trials[i];

		if (!trial->moved)
			continue;
		if (site)
			code_evaluate(&trial->site, t.out.data,
				      &trial->site_record);
		else
			code_evaluate(&trial->nominal, t.in.data,
				      &trial->nominal_record);
		if (++trial->ran == 2)
			trial_compare(pair, trial);
	}
}

static void trial_stop_at(size_t at)
{
	code_stop();
	for (size_t i = 0; i < PAIRS; i++) {
		struct pair *pair = &t.pairs[i];

		if (pair->nominal == at) {
			pair->stack = code_stack();
			trial_record_all(pair, false);
		} else if (pair->site == at) {
			code_record_site(pair);
		}
	}
}

/* As long as the stack pointer leads to a stack; a return goes anywhere. */
static void trial_check_reached(void)
{
	for (size_t i = 0; code_has_stack() && i < PAIRS; i++)
		t.faulted += t.pairs[i].safe &&
			     t.pairs[i].site < t.block.block.count &&
			     (t.pairs[i].nominal <= t.reached) !=
			     (t.pairs[i].site <= t.reached);
}

static void trial_run(void)
{
	size_t at = 0;

	for (size_t i = 0; i < PAIRS; i++)
		for (size_t s = 0; s < STMTS; s++)
			t.pairs[i].trials[s].ran = 0;
	code_prepare();
	do {
		trial_stop_at(at);
		t.reached = at;
	} while (at < t.block.block.count && code_step(at++));
	trial_check_reached();
}

static void trial_move_pair(struct pair *pair, bool wide, uint64_t variable)
{
	enum move_mode mode = random_below(3) ? MOVE_FAST : MOVE_SAFE;
	size_t count = t.block.block.count;
	char why[MOVE_WHY];
	struct move *move;

	pair->nominal = random_below(count);
	do {
		pair->site = random_below(count + 1);
	} while (pair->site == pair->nominal);
	move = move_begin(&t.block.block, t.module, NULL, mode, pair->nominal,
			  pair->site, why);
	pair->safe = move && mode == MOVE_SAFE;
	for (size_t i = 0; i < STMTS; i++) {
		struct trial *trial = &pair->trials[i];

		trial->nominal = stmt_random(&t.in, wide, variable);
		trial->moved = false;
		t.tried++;
		if (!move)
			continue;
		trial->moved = !move_stmt(move, &trial->nominal, t.in.data,
					  &trial->site, &t.out, why);
		t.moved += trial->moved;
		if (!trial->moved && !why[0])
			tap_ok(false, "a reason");
	}
	if (move)
		move_end(move);
}

/* Of code.s: the symbol "block" with the number. `variable` is linked there. */
static void trial_block(int number, bool wide, uint64_t variable, int runs)
{
	char name[32];

	snprintf(name, sizeof(name), "block%d", number);
	t.entry = random_below(4);
	move_block_find(t.module, name, t.entry, &t.block);
	t.in.size = t.out.size = 0;
	for (size_t i = 0; i < PAIRS; i++)
		trial_move_pair(&t.pairs[i], wide, variable);
	for (int run = 0; run < runs; run++)
		trial_run();
}

static void trial_end(const char *what)
{
	tap_diag("%s: %u of %u statements moved, compared %u times", what,
		 t.moved, t.tried, t.compared);
	tap_is(t.wrong, 0, "%s: moved statements log the same", what);
	tap_is(t.faulted, 0, "%s: the other address is come to, too", what);
	tap_ok(t.moved * 5 > t.tried && t.compared > t.moved,
	       "%s: a good part is moved", what);
	bytes_free(&t.in);
	bytes_free(&t.out);
	module_close(t.module);
}

#endif
