// SPDX-License-Identifier: GPL-2.0
/*
 * A register for each name: names that have values at the same time get
 * different ones (Chaitin and Briggs). Where one is moved to another, both get
 * the same if they can, and the move is gone.
 */
#include "pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct color {
	struct pass_text *text;
	uint64_t *left;			/* names without a register, a set */
	uint64_t *framed;		/* names that are in none, a set */
	uint32_t *degrees;		/* conflicts with those that are left */
	uint16_t *choices;		/* registers that they may have */
	uint32_t *stack, count;
};

static uint64_t *conflicts_of(const struct color *c, uint32_t name)
{
	return c->text->conflicts + (size_t)name * c->text->words;
}

/* Where temps are kept in the frame the operations are others. */
PASS_INLINE void block_conflicts(struct pass *p, const struct color *c,
				 uint32_t b, uint32_t words)
{
	struct pass_text *text = c->text;
	uint64_t few[2], *live = words <= 2 ? few : text->live;
	const struct pass_block *block = &text->blocks[b];
	const uint64_t *out = p->live_out + (size_t)b * p->in.words;

	for (uint32_t w = 0; w < p->in.words; w++)
		text->live[w] = out[w] & ~c->framed[w];
	for (uint32_t w = p->in.words; w < words; w++)
		text->live[w] = 0;
	for (const struct pass_span *s = p->spans[b]; s; s = s->next)
		set_add(text->live, s->name);
	if (live == few)
		memcpy(few, text->live, words * sizeof(*few));
	for (uint32_t i = block->end; i-- > block->first; ) {
		conflicts_step(text, live, &text->refs[i], words);
		live_step(live, &text->refs[i], words);
	}
}

/* Conflicts are mutual; those with registers and calls become choices. */
static void conflicts_mirror(struct pass *p, struct color *c)
{
	struct pass_text *text = c->text;
	uint32_t words = text->words;

	for (uint32_t name = 0; name < text->names; name++) {
		const uint64_t *row = conflicts_of(c, name);

		for (uint32_t w = 0; w < words; w++)
			for (uint64_t bits = row[w]; bits; bits &= bits - 1)
				set_add(conflicts_of(c, 64 * w +
						     __builtin_ctzll(bits)),
					name);
	}
	for (uint32_t name = NAME_FIRST; name < text->names; name++) {
		uint64_t *row = conflicts_of(c, name);
		uint32_t taken = row[0] & PASS_REG_MASK;

		if (row[0] & (1u << NAME_CALL | 1u << NAME_CALL_RARE))
			taken |= PASS_CALLER;
		c->choices[name] = ~taken & PASS_REG_MASK;
		set_remove(row, name);
		c->degrees[name] = 0;
		for (uint32_t w = 0; w < words; w++)
			c->degrees[name] +=
				__builtin_popcountll(row[w] & c->left[w]);
	}
}

static bool name_easy(const struct color *c, uint32_t name)
{
	return c->degrees[name] <
	       (uint32_t)__builtin_popcount(c->choices[name]);
}

/* Put it on the stack, and after it what becomes easy by that. */
static void name_remove(struct color *c, uint32_t name)
{
	uint32_t done = c->count;

	set_remove(c->left, name);
	c->stack[c->count++] = name;
	while (done < c->count) {
		const uint64_t *row = conflicts_of(c, c->stack[done++]);

		for (uint32_t w = 0; w < c->text->words; w++)
			for (uint64_t bits = row[w] & c->left[w]; bits;
			     bits &= bits - 1) {
				name = 64 * w + __builtin_ctzll(bits);
				c->degrees[name]--;
				if (!name_easy(c, name))
					continue;
				set_remove(c->left, name);
				c->stack[c->count++] = name;
			}
	}
}

/* The least important names first */
struct color_weight {
	uint32_t weight, name;
};

static int weight_compare(const void *a, const void *b)
{
	const struct color_weight *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* What may remain without a register is removed first, and chooses last. */
static void names_remove(struct pass *p, struct color *c)
{
	struct color_weight *weights;
	uint32_t count = 0;

	for (uint32_t name = NAME_FIRST; name < c->text->names; name++)
		if (set_has(c->left, name) && name_easy(c, name))
			name_remove(c, name);
	for (uint32_t w = 0; w < c->text->words; w++)
		count += __builtin_popcountll(c->left[w]);
	if (!count || !PASS_ROOM(p, weights, count))
		return;
	count = 0;
	for (uint32_t name = NAME_FIRST; name < c->text->names; name++) {
		const struct pass_name *n = &p->names[name];
		bool needed = n->parent && p->names[n->parent].single;

		if (set_has(c->left, name))
			weights[count++] = (struct color_weight){
				needed ? UINT32_MAX : n->weight, name,
			};
	}
	qsort(weights, count, sizeof(*weights), weight_compare);
	for (uint32_t i = 0; i < count; i++)
		if (set_has(c->left, weights[i].name))
			name_remove(c, weights[i].name);
}

/* Those that nothing asks for: arguments are often in the first ones, and who
 * calls has to keep the last ones. */
static int reg_usual(uint32_t choice)
{
	static const uint8_t order[] = { 5, 4, 0, 3, 2, 1, 6, 7, 8, 9 };
	int i = 0;

	while (!(choice >> order[i] & 1))
		i++;
	return order[i];
}

/* The register of a name that this one is moved from or to; or one that this
 * other one would like */
static int reg_hinted(const struct pass *p, const struct color *c,
		      uint32_t name, uint32_t choice, bool deep)
{
	const uint64_t *row = c->text->moves + (size_t)name * c->text->words;

	for (uint32_t w = 0; w < c->text->words; w++) {
		uint64_t bits = row[w];

		if (!w)
			bits &= ~(1ull << NAME_NOTHING);
		for (; bits; bits &= bits - 1) {
			uint32_t other = 64 * w + __builtin_ctzll(bits);
			int reg = p->names[other].reg;

			if (reg < 0 && deep)
				reg = reg_hinted(p, c, other, choice &
						 c->choices[other], false);
			if (reg >= 0 && choice >> reg & 1)
				return reg;
		}
	}
	return -1;
}

static bool name_color(struct pass *p, const struct color *c, uint32_t name)
{
	const uint64_t *row = conflicts_of(c, name);
	uint32_t choice = c->choices[name];
	int reg;

	for (uint32_t w = 0; w < c->text->words; w++) {
		uint64_t bits = row[w];

		if (!w)
			bits &= ~0ull << NAME_FIRST;
		for (; bits; bits &= bits - 1) {
			reg = p->names[64 * w + __builtin_ctzll(bits)].reg;
			if (reg >= 0)
				choice &= ~(1u << reg);
		}
	}
	if (!choice)
		return false;
	reg = reg_hinted(p, c, name, choice, true);
	p->names[name].reg = reg < 0 ? reg_usual(choice) : reg;
	return true;
}

/* It found no register: it or, if it needs one, another is in the frame. */
static void name_give_up(struct pass *p, const struct color *c, uint32_t name)
{
	const uint64_t *row = conflicts_of(c, name);
	bool done = keep_more(p, name);

	for (uint32_t other = NAME_FIRST; !done && other < c->text->names;
	     other++)
		if (set_has(row, other) && p->names[other].keep < KEEP_FRAME)
			done = keep_more(p, other);
	if (!done)
		p->error = -E2BIG;
}

bool color_names(struct pass *p)
{
	struct color c = { .text = p->spans ? &p->out : &p->in };
	uint32_t names = c.text->names;
	bool complete = true;

	PASS_TAKE(p, c.left, c.text->words);
	PASS_TAKE(p, c.framed, c.text->words);
	PASS_ROOM(p, c.degrees, names);
	PASS_TAKE(p, c.choices, names);
	PASS_ROOM(p, c.stack, names);
	if (p->error)
		return false;
	for (uint32_t reg = 0; reg < PASS_REGS; reg++)
		p->names[reg].reg = reg;
	for (uint32_t name = NAME_FIRST; name < names; name++) {
		p->names[name].reg = -1;
		set_add(p->names[name].keep < KEEP_FRAME ? c.left : c.framed,
			name);
	}
	for (uint32_t b = 0; p->spans && b < p->block_count; b++)
		WITH_WORDS(block_conflicts, c.text->words, p, &c, b);
	conflicts_mirror(p, &c);
	names_remove(p, &c);
	if (p->error)
		return false;
	while (c.count) {
		uint32_t name = c.stack[--c.count];

		if (name_color(p, &c, name))
			continue;
		name_give_up(p, &c, name);
		complete = false;
	}
	return complete;
}
