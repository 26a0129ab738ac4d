// SPDX-License-Identifier: GPL-2.0
#include "alike.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/rpn.h"
#include "lib/hash.h"
#include "lib/key_map.h"

#define OFFSETS_MOST	(32 + ALIKE_LENGTHS)	/* of a site, to share a program
						 * with others */
#define OFFSET_LOW	7	/* what decides how memory is aligned is equal */
#define LENGTH_EXACT	8	/* a longer one may be in the map ... */
#define LENGTH_SHORT	64	/* ... together with all up to this, which are read
				 * without a call, and others up to a power of
				 * two: a budget cuts what may be longer */

/* What isn't listed here may make bodies that differ. */
#define POINT_FLAGS	TDF_POINT_CONTINUE
#define STMT_KINDS	(1u << TDF_STMT_REG | 1u << TDF_STMT_MEM | \
			 1u << TDF_STMT_ASCIIZ | 1u << TDF_STMT_VALUE | \
			 1u << TDF_STMT_ABSENT | 1u << TDF_STMT_IF | \
			 1u << TDF_STMT_STACK)

/* What a body is generated from, beside its statements */
struct shape_head {
	uint32_t maxhits, passcount, flags, stmts;
	uint16_t module, level;
	uint8_t picks, site_flags, symbol, begins;
};

static int shape_add(struct alike *alike, const void *data, size_t size)
{
	size_t room = 2 * (alike->shape_room + size);
	uint8_t *grown;

	if (alike->shape_room - alike->shape_bytes < size) {
		grown = realloc(alike->shapes, room);
		if (!grown)
			return -ENOMEM;
		alike->shapes = grown;
		alike->shape_room = room;
	}
	if (size)
		memcpy(alike->shapes + alike->shape_bytes, data, size);
	alike->shape_bytes += size;
	return 0;
}

static int shape_value_add(struct alike *alike, struct alike_offset value)
{
	size_t room = 2 * alike->offset_room + 64;
	struct alike_offset *grown;

	if (alike->offset_count == alike->offset_room) {
		grown = realloc(alike->offsets, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		alike->offsets = grown;
		alike->offset_room = room;
	}
	alike->offsets[alike->offset_count++] = value;
	return 0;
}

/* Jumps are as far as the bytes between are many: with one, offsets are no less
 * bytes of the shape than all others. */
static bool expression_jumps(const uint8_t *rpn, uint32_t size)
{
	struct rpn_op op = { 0 };

	while (rpn_next(rpn, size, &op))
		if (op.operand == RPN_JUMP)
			return true;
	return false;
}

static int shape_expression_add(struct alike *alike, const struct tdf *tdf,
				uint32_t at, uint32_t size)
{
	const uint8_t *rpn = tdf->rpn + at;
	bool jumps = expression_jumps(rpn, size);
	struct rpn_op op = { 0 };
	int code = 0;

	while (!code && rpn_next(rpn, size, &op)) {
		if (op.code != RPN_plus_uconst || jumps) {
			code = shape_add(alike, rpn + op.at, op.next - op.at);
			continue;
		}
		code = shape_add(alike, &(uint8_t[]){ op.code,
						      op.a & OFFSET_LOW }, 2);
		if (!code)
			code = shape_value_add(alike, (struct alike_offset){
				.value = op.a, .at = at + op.at,
			});
	}
	/* an operation's code is never 0 */
	return code ? code : shape_add(alike, "", 1);
}

/* What the length of a statement may be in the map; 0: it isn't there. */
static uint32_t length_most(const struct tdf *tdf, const struct tdf_site *site,
			    uint32_t index)
{
	const struct tdf_stmt *stmt = &tdf->stmts[index];
	bool last = index + 1 == site->first_stmt + site->stmts;
	uint32_t most = LENGTH_SHORT;

	if (stmt->kind != TDF_STMT_MEM || stmt->length <= LENGTH_EXACT ||
	    stmt->flags & (TDF_STMT_LEN | TDF_STMT_RAW | TDF_STMT_MORE |
			   TDF_STMT_SEGMENT) ||
	    (!last && stmt[1].flags & TDF_STMT_MORE))
		return 0;
	while (most < stmt->length)
		most *= 2;
	return most;
}

static int shape_stmt_add(struct alike *alike, const struct tdf *tdf,
			  const struct tdf_site *site, uint32_t index,
			  uint32_t *lengths)
{
	const struct tdf_stmt *stmt = &tdf->stmts[index];
	uint32_t most = *lengths < ALIKE_LENGTHS ?
			length_most(tdf, site, index) : 0;
	struct tdf_stmt plain = *stmt;
	int code;

	plain.rpn = plain.rpn_length = 0;
	plain.len_rpn = plain.len_rpn_length = 0;
	if (most) {
		plain.length = most;
		++*lengths;
	}
	code = shape_add(alike, &plain, sizeof(plain));
	if (!code && most)
		code = shape_value_add(alike, (struct alike_offset){
			.value = stmt->length, .at = index, .most = most,
		});
	if (!code)
		code = shape_expression_add(alike, tdf, stmt->rpn,
					    stmt->rpn_length);
	if (!code && stmt->flags & TDF_STMT_LEN)
		code = shape_expression_add(alike, tdf, stmt->len_rpn,
					    stmt->len_rpn_length);
	return code;
}

static bool shape_known(const struct tdf *tdf, const struct tdf_point *point,
			const struct tdf_site *site)
{
	if (point->flags & ~POINT_FLAGS)
		return false;
	for (uint32_t i = 0; i < site->stmts; i++)
		if (!(STMT_KINDS >> tdf->stmts[site->first_stmt + i].kind & 1))
			return false;
	return true;
}

static int shape_make(struct alike *alike, const struct tdf *tdf,
		      const struct tdf_point *point, uint32_t index,
		      uint8_t picks)
{
	const struct tdf_site *site = &tdf->sites[index];
	struct alike_site *own = &alike->sites[index];
	uint32_t lengths = 0;
	struct shape_head head = {
		.maxhits = point->maxhits, .passcount = point->passcount,
		.flags = point->flags, .stmts = site->stmts,
		.module = point->module, .level = point->level,
		.picks = picks, .site_flags = site->flags,
		.symbol = site->symbol != 0, .begins = !site->symbol_offset,
	};
	int code;

	own->shape = alike->shape_bytes;
	own->offset = alike->offset_count;
	code = shape_add(alike, &head, sizeof(head));
	for (uint32_t i = 0; i < site->stmts && !code; i++)
		code = shape_stmt_add(alike, tdf, site, site->first_stmt + i,
				      &lengths);
	own->shape_size = alike->shape_bytes - own->shape;
	own->offset_count = alike->offset_count - own->offset;
	return code;
}

/* Has the site a shape, and so a group? */
static bool site_has_shape(const struct alike_site *site)
{
	return site->shape_size != 0;
}

static bool shapes_equal(const struct alike *alike, const struct alike_site *a,
			 const struct alike_site *b, bool exactly)
{
	if (a->shape_size != b->shape_size ||
	    a->offset_count != b->offset_count ||
	    memcmp(alike->shapes + a->shape, alike->shapes + b->shape,
		   a->shape_size))
		return false;
	for (size_t i = 0; exactly && i < a->offset_count; i++)
		if (alike->offsets[a->offset + i].value !=
		    alike->offsets[b->offset + i].value)
			return false;
	return true;
}

static uint64_t shape_hash(const struct alike *alike,
			   const struct alike_site *site, bool exactly)
{
	uint64_t hash = hash_fnv(HASH_FNV_START, alike->shapes + site->shape,
				 site->shape_size);

	for (size_t i = 0; exactly && i < site->offset_count; i++)
		hash = key_map_mix(hash,
				   alike->offsets[site->offset + i].value);
	return hash;
}

static int group_site_add(struct alike *alike, struct key_map *by_hash,
			  uint32_t index, bool exactly)
{
	struct alike_site *site = &alike->sites[index];
	uint64_t hash = shape_hash(alike, site, exactly);
	struct alike_group *group;
	size_t step = 0;

	site->next = ALIKE_NONE;
	while ((group = key_map_each(by_hash, hash, &step)))
		if (shapes_equal(alike, &alike->sites[group->first_site], site,
				 exactly))
			break;
	if (group) {
		alike->sites[group->last_site].next = index;
	} else {
		group = &alike->groups[alike->group_count++];
		*group = (struct alike_group){
			.first_site = index, .program = ALIKE_NONE,
		};
		if (key_map_add(by_hash, hash, group))
			return -ENOMEM;
	}
	group->last_site = index;
	group->sites++;
	site->group = group - alike->groups;
	return 0;
}

static int groups_make(struct alike *alike, uint32_t sites, bool exactly)
{
	struct key_map by_hash = { 0 };
	int code = 0;

	alike->group_count = 0;
	for (uint32_t i = 0; i < sites && !code; i++)
		if (site_has_shape(&alike->sites[i]))
			code = group_site_add(alike, &by_hash, i, exactly);
	key_map_free(&by_hash);
	return code;
}

static const struct alike_offset *site_value(const struct alike *alike,
					     uint32_t site, uint32_t i)
{
	return &alike->offsets[alike->sites[site].offset + i];
}

static uint64_t offset_value(const struct alike *alike, uint32_t site, uint32_t i)
{
	return site_value(alike, site, i)->value;
}

/* What the map has for it */
static uint64_t offset_word(const struct alike *alike, uint32_t site, uint32_t i)
{
	const struct alike_offset *value = site_value(alike, site, i);

	return value->most ? value->value : value->value & ~(uint64_t)OFFSET_LOW;
}

/* Is the i-th offset the k-th plus the same in all sites of the group? */
static bool offsets_go_along(const struct alike *alike,
			     const struct alike_group *group, uint32_t i,
			     uint32_t k)
{
	uint32_t site = group->first_site;
	uint64_t apart = offset_value(alike, site, i) - offset_value(alike, site, k);

	if (site_value(alike, site, k)->most)
		return false;
	while ((site = alike->sites[site].next) != ALIKE_NONE)
		if (offset_value(alike, site, i) - offset_value(alike, site, k) != apart)
			return false;
	return true;
}

static bool offset_varies(const struct alike *alike,
			  const struct alike_group *group, uint32_t i)
{
	uint32_t site = group->first_site;
	uint64_t value = offset_value(alike, site, i);

	while ((site = alike->sites[site].next) != ALIKE_NONE)
		if (offset_value(alike, site, i) != value)
			return true;
	return false;
}

/* Several expressions of a site may be the same bytes of the table. */
static bool offset_agrees(const struct alike_group *group,
			  const struct body_offset *offset)
{
	for (uint32_t i = 0; i < group->offset_count; i++) {
		const struct body_offset *other = &group->offsets[i];

		if (other->at == offset->at && (other->word != offset->word ||
						other->rest != offset->rest))
			return false;
	}
	return true;
}

/*
 * Which words of the map the values of a group are, and for offsets what is added.
 * leads[] gets the values that the words are made of.
 */
struct group_words {
	struct alike_group *group;
	uint32_t leads[ALIKE_WORDS];
	int count;
};

static bool group_word_add(struct group_words *words, uint32_t lead)
{
	if (words->count == ALIKE_WORDS)
		return false;
	words->leads[words->count++] = lead;
	return true;
}

/* False: it can't be. */
static bool group_length_add(struct group_words *words, uint32_t i,
			     const struct alike_offset *own)
{
	struct alike_group *group = words->group;

	if (!group_word_add(words, i))
		return false;
	group->lengths[group->length_count++] = (struct body_length){
		.stmt = own->at, .word = words->count - 1, .most = own->most,
	};
	return true;
}

static bool group_offset_add(const struct alike *alike,
			     struct group_words *words, uint32_t i,
			     const struct alike_offset *own)
{
	struct alike_group *group = words->group;
	struct body_offset offset = {
		.at = own->at, .word = BODY_OFFSET_NONE, .rest = own->value,
	};
	int word = 0;

	if (offset_varies(alike, group, i)) {
		while (word < words->count &&
		       !offsets_go_along(alike, group, i, words->leads[word]))
			word++;
		if (word == words->count && !group_word_add(words, i))
			return false;
		offset.word = word;
		offset.rest -= offset_word(alike, group->first_site,
					   words->leads[word]);
	}
	if (!offset_agrees(group, &offset))
		return false;
	group->offsets[group->offset_count++] = offset;
	return true;
}

/* 0; -E2BIG: it can't be, -ENOMEM. */
static int group_words_find(const struct alike *alike,
			    struct group_words *words)
{
	struct alike_group *group = words->group;
	const struct alike_site *first = &alike->sites[group->first_site];
	bool fits = first->offset_count <= OFFSETS_MOST;

	if (!fits)
		return -E2BIG;
	group->offsets = calloc(first->offset_count + 1,
				sizeof(*group->offsets));
	group->lengths = calloc(first->offset_count + 1,
				sizeof(*group->lengths));
	if (!group->offsets || !group->lengths)
		return -ENOMEM;
	for (uint32_t i = 0; i < first->offset_count && fits; i++) {
		const struct alike_offset *own =
			&alike->offsets[first->offset + i];

		if (!own->most)
			fits = group_offset_add(alike, words, i, own);
		else if (offset_varies(alike, group, i))
			fits = group_length_add(words, i, own);
	}
	return fits ? 0 : -E2BIG;
}

/* The words of all its sites */
static int group_rows_fill(struct alike *alike, const struct tdf *tdf,
			   const struct group_words *words)
{
	uint32_t site = words->group->first_site;

	if (!alike->rows)
		alike->rows = calloc(tdf->header->sites.count,
				     sizeof(*alike->rows));
	if (!alike->rows)
		return -ENOMEM;
	for (; site != ALIKE_NONE; site = alike->sites[site].next)
		for (int i = 0; i < words->count; i++)
			alike->rows[site].words[i] =
				offset_word(alike, site, words->leads[i]);
	return 0;
}

static int group_share(struct alike *alike, const struct tdf *tdf,
		       struct alike_group *group)
{
	struct group_words words = { .group = group };
	uint32_t site = group->first_site;
	int code = group_words_find(alike, &words);

	if (!code && words.count)
		return group_rows_fill(alike, tdf, &words);
	if (!code)	/* its program needs no map */
		group->offset_count = 0;
	for (; code == -E2BIG && site != ALIKE_NONE;
	     site = alike->sites[site].next)
		alike->sites[site].group = ALIKE_NONE;
	return code == -ENOMEM ? code : 0;
}

int alike_find(struct alike *alike, const struct tdf *tdf, const uint8_t *picks,
	       uint32_t most)
{
	uint32_t count = tdf->header->sites.count;
	int code = 0;

	*alike = (struct alike){
		.sites = calloc(count + 1, sizeof(*alike->sites)),
		.groups = calloc(count + 1, sizeof(*alike->groups)),
	};
	if (!alike->sites || !alike->groups)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		alike->sites[i].group = ALIKE_NONE;
	for (uint32_t i = 0; i < tdf->header->points.count && !code; i++) {
		const struct tdf_point *point = &tdf->points[i];

		for (uint32_t k = 0; picks[i] && k < point->sites && !code; k++)
			if (shape_known(tdf, point,
					&tdf->sites[point->first_site + k]))
				code = shape_make(alike, tdf, point,
						  point->first_site + k,
						  picks[i]);
	}
	if (!code)
		code = groups_make(alike, count, true);
	if (code || alike->group_count <= most)
		return code;
	code = groups_make(alike, count, false);
	for (uint32_t i = 0; i < alike->group_count && !code; i++)
		code = group_share(alike, tdf, &alike->groups[i]);
	return code;
}

void alike_free(struct alike *alike)
{
	for (uint32_t i = 0; alike->groups && i < alike->group_count; i++) {
		free(alike->groups[i].offsets);
		free(alike->groups[i].lengths);
	}
	free(alike->sites);
	free(alike->groups);
	free(alike->shapes);
	free(alike->offsets);
	free(alike->rows);
	*alike = (struct alike){ 0 };
}
