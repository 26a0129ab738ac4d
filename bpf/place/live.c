// SPDX-License-Identifier: GPL-2.0
/* What has a value where; operations whose results nothing uses are dropped. */
#include "pass.h"

#include <errno.h>
#include <string.h>

#define STRAIGHT	16		/* weight of an operation; a rare one: 1 */

void live_room(struct pass *p, struct pass_text *text, uint32_t names)
{
	text->names = names;
	text->words = (names + 63) / 64;
	PASS_TAKE(p, text->conflicts, (size_t)names * text->words);
	PASS_TAKE(p, text->moves, (size_t)names * text->words);
	PASS_TAKE(p, text->live, text->words);
}

/* What the block uses itself, and what it gives values or destroys */
PASS_INLINE void block_sets(const struct pass *p, uint32_t b, uint64_t *kills,
			    uint32_t words)
{
	const struct pass_text *text = &p->in;
	uint64_t few[2] = { 0 }, more[2] = { 0 };
	uint64_t *gen = p->live_in + (size_t)b * words, *live = gen;
	uint64_t *kill = kills + (size_t)b * words, *killed = kill;

	if (words <= 2) {
		live = few;
		killed = more;
	}
	memset(live, 0, words * sizeof(*live));
	memset(killed, 0, words * sizeof(*killed));
	for (uint32_t i = text->blocks[b].end; i-- > text->blocks[b].first; ) {
		const struct pass_refs *refs = &text->refs[i];

		for (uint32_t w = 0; w < words; w++)
			killed[w] |= word_bit(refs->def, w, words);
		killed[0] |= refs->destroyed;
		live_step(live, refs, words);
	}
	if (words <= 2) {
		memcpy(gen, few, words * sizeof(*gen));
		memcpy(kill, more, words * sizeof(*kill));
	}
}

/* live_out of a block from those that follow it, and live_in: did it grow? */
static bool block_join(const struct pass *p, uint32_t b, uint32_t next,
		       const uint64_t *kill)
{
	uint32_t words = p->in.words;
	const uint64_t *after = p->live_in + (size_t)next * words;
	uint64_t *in = p->live_in + (size_t)b * words;
	uint64_t *out = p->live_out + (size_t)b * words, grown = 0;

	kill += (size_t)b * words;
	for (uint32_t w = 0; w < words; w++) {
		uint64_t more = after[w] & ~kill[w] & ~in[w];

		out[w] |= after[w];
		in[w] |= more;
		grown |= more;
	}
	return grown;
}

static void sets_find(struct pass *p, uint64_t *kill)
{
	bool grown;

	for (uint32_t b = 0; b < p->block_count; b++)
		WITH_WORDS(block_sets, p->in.words, p, b, kill);
	memset(p->live_out, 0, (size_t)p->block_count * p->in.words *
	       sizeof(*p->live_out));
	do {
		grown = false;
		for (uint32_t i = 0; i < p->block_count; i++) {
			uint32_t b = p->postorder[i];
			const struct pass_block *block = &p->in.blocks[b];

			if (block->fall != PASS_NONE)
				grown |= block_join(p, b, block->fall, kill);
			if (block->jump != PASS_NONE)
				grown |= block_join(p, b, block->jump, kill);
		}
	} while (grown && p->loops);
}

/* Does the operation use what other blocks have for it? */
static bool uses_foreign(const struct pass *p, const struct pass_refs *refs,
			 uint32_t b)
{
	const uint64_t *in = p->live_in + (size_t)b * p->in.words;

	for (int i = 0; i < 2; i++)
		if (refs->uses[i] != NAME_NOTHING && set_has(in, refs->uses[i]))
			return true;
	return false;
}

PASS_INLINE bool live_has(const uint64_t *live, uint32_t name, uint32_t words)
{
	uint64_t any = 0;

	if (words > 2)
		return set_has(live, name);
	for (uint32_t w = 0; w < words; w++)
		any |= live[w] & word_bit(name, w, words);
	return any;
}

/* Drop what is needless, weigh the rest. True: the sets may become smaller. */
PASS_INLINE bool block_weigh(struct pass *p, uint32_t b, uint32_t words)
{
	struct pass_text *text = &p->in;
	uint64_t few[2], *live = words <= 2 ? few : text->live;
	const struct pass_block *block = &text->blocks[b];
	uint32_t weight = block->rare ? 1 : STRAIGHT;
	bool smaller = false;

	memcpy(live, p->live_out + (size_t)b * words, words * sizeof(*live));
	for (uint32_t i = block->end; i-- > block->first; ) {
		struct pass_refs *refs = &text->refs[i];
		struct pass_name *names = p->names;

		if (refs->roles & ROLE_PURE &&
		    (!live_has(live, refs->def, words) ||
		     refs->same == refs->def)) {
			smaller |= uses_foreign(p, refs, b);
			text->ops[i].kind = CODE_LABEL;
			*refs = (struct pass_refs){
				NAME_NOTHING, { NAME_NOTHING, NAME_NOTHING },
				NAME_NOTHING, 0, 0, 0,
			};
			continue;
		}
		conflicts_step(text, live, refs, words);
		live_step(live, refs, words);
		names[refs->def].defs++;
		names[refs->def].def = i;
		names[refs->def].weight += weight;
		names[refs->uses[0]].weight += weight;
		names[refs->uses[1]].weight += weight;
	}
	return smaller;
}

static void names_reset(struct pass *p)
{
	struct pass_text *text = &p->in;
	size_t bytes = (size_t)text->names * text->words * sizeof(uint64_t);

	memset(p->names, 0, text->names * sizeof(*p->names));
	memset(text->conflicts, 0, bytes);
	memset(text->moves, 0, bytes);
}

/* No temp has a value where the function begins. */
static void entry_check(struct pass *p)
{
	for (uint32_t w = 0; w < p->in.words; w++)
		if (w ? p->live_in[w] : p->live_in[w] >> NAME_FIRST)
			p->error = -EINVAL;
}

void live_find(struct pass *p)
{
	struct pass_text *text = &p->in;
	size_t words = (size_t)p->block_count * text->words;
	uint64_t *kill;
	bool smaller;

	PASS_ROOM(p, p->live_in, words);
	PASS_ROOM(p, p->live_out, words);
	PASS_ROOM(p, kill, words);
	if (p->error)
		return;
	do {
		sets_find(p, kill);
		names_reset(p);
		smaller = false;
		for (uint32_t b = 0; b < p->block_count; b++)
			smaller |= WITH_WORDS(block_weigh, text->words, p, b);
	} while (smaller);
	entry_check(p);
}
