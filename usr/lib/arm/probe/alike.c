// SPDX-License-Identifier: GPL-2.0
#include "alike.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/plan/processor.h"
#include "lib/formats/rpn.h"
#include "lib/hash.h"
#include "lib/key_map.h"

#define VALUES_MOST	96	/* of a site, to share a program with others */
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

static int shape_value_add(struct alike *alike, struct alike_value value)
{
	size_t room = 2 * alike->value_room + 64;
	struct alike_value *grown;

	if (alike->value_count == alike->value_room) {
		grown = realloc(alike->values, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		alike->values = grown;
		alike->value_room = room;
	}
	alike->values[alike->value_count++] = value;
	return 0;
}

/* What shapes are made of, and where they are */
struct shape_maker {
	struct alike *alike;
	const struct tdf *tdf;
	const struct tdf_site *site;
	const struct tdf_module *module;
	bool registers;		/* they may be in the map */
	uint32_t lengths;	/* that are in there, so far */
};

/* The code of the operation, or of those that do the same, and what decides
 * how memory is aligned */
static int shape_offset_add(struct shape_maker *m, uint8_t code, uint64_t offset,
			    uint32_t at)
{
	const uint8_t bytes[] = { code, offset & OFFSET_LOW };
	int ret = shape_add(m->alike, bytes, sizeof(bytes));

	return ret ? ret : shape_value_add(m->alike, (struct alike_value){
		.value = offset, .at = at, .kind = ALIKE_OFFSET,
	});
}

/* One that may be in the map. 0 to `*plain`: it isn't one. */
static int shape_register_add(struct shape_maker *m, uint64_t number,
			      enum alike_kind kind, uint32_t at, bool *plain)
{
	int bytes = 0, offset = -1, ret;

	if (m->registers)
		offset = processor_reg_offset(m->module->machine, number, &bytes);
	*plain = offset >= 0;
	if (offset < 0)
		return 0;
	ret = shape_add(m->alike, &(uint8_t){ bytes }, 1);
	return ret ? ret : shape_value_add(m->alike, (struct alike_value){
		.value = offset, .at = at, .kind = kind,
	});
}

/* A jump is over so many operations, whose bytes don't matter. */
static uint32_t operations_over(const uint8_t *rpn, uint32_t size,
				const struct rpn_op *jump)
{
	struct rpn_op op = *jump;
	uint32_t count = 0;

	while (op.next < jump->a && rpn_next(rpn, size, &op))
		count++;
	return count;
}

static int shape_operation_add(struct shape_maker *m, const uint8_t *rpn,
			       uint32_t size, uint32_t start,
			       const struct rpn_op *op)
{
	bool user = m->module->kind == TDF_MODULE_USER, plain = false;
	uint32_t at = start + op->at, over;
	uint64_t number;
	int64_t offset;
	int code;

	if (op->code == RPN_plus_uconst || (op->code == RPN_addr && user))
		return shape_offset_add(m, op->code, op->a, at);
	if (op->operand == RPN_JUMP) {
		over = operations_over(rpn, size, op);
		code = shape_add(m->alike, &op->code, 1);
		return code ? code : shape_add(m->alike, &over, sizeof(over));
	}
	if (rpn_is_register(op, &number, &offset)) {
		code = shape_register_add(m, number, ALIKE_REGISTER, at, &plain);
		if (code || plain)
			return code ? code :
			       shape_offset_add(m, RPN_bregx, offset, at);
	}
	return shape_add(m->alike, rpn + op->at, op->next - op->at);
}

static int shape_expression_add(struct shape_maker *m, uint32_t at,
				uint32_t size)
{
	const uint8_t *rpn = m->tdf->rpn + at;
	struct rpn_op op = { 0 };
	int code = 0;

	while (!code && rpn_next(rpn, size, &op))
		code = shape_operation_add(m, rpn, size, at, &op);
	/* an operation's code is never 0 */
	return code ? code : shape_add(m->alike, "", 1);
}

/* What the length of a statement may be in the map; 0: it isn't there. */
static uint32_t length_most(const struct shape_maker *m, uint32_t index)
{
	const struct tdf_stmt *stmt = &m->tdf->stmts[index];
	bool last = index + 1 == m->site->first_stmt + m->site->stmts;
	uint32_t most = LENGTH_SHORT;

	if (m->lengths == ALIKE_LENGTHS || stmt->kind != TDF_STMT_MEM ||
	    stmt->length <= LENGTH_EXACT ||
	    stmt->flags & (TDF_STMT_LEN | TDF_STMT_RAW | TDF_STMT_MORE |
			   TDF_STMT_SEGMENT) ||
	    (!last && stmt[1].flags & TDF_STMT_MORE))
		return 0;
	while (most < stmt->length)
		most *= 2;
	return most;
}

static int shape_stmt_add(struct shape_maker *m, uint32_t index)
{
	const struct tdf_stmt *stmt = &m->tdf->stmts[index];
	uint32_t most = length_most(m, index);
	struct tdf_stmt plain = *stmt;
	bool in_map = false;
	int code = 0;

	plain.rpn = plain.rpn_length = 0;
	plain.len_rpn = plain.len_rpn_length = 0;
	if (most) {
		plain.length = most;
		m->lengths++;
		code = shape_value_add(m->alike, (struct alike_value){
			.value = stmt->length, .at = index, .most = most,
			.kind = ALIKE_LENGTH,
		});
	}
	if (stmt->kind == TDF_STMT_REG)
		code = shape_register_add(m, stmt->reg, ALIKE_ITEM, index,
					  &in_map);
	if (in_map)
		plain.reg = 0;
	if (!code)
		code = shape_add(m->alike, &plain, sizeof(plain));
	if (!code)
		code = shape_expression_add(m, stmt->rpn, stmt->rpn_length);
	if (!code && stmt->flags & TDF_STMT_LEN)
		code = shape_expression_add(m, stmt->len_rpn,
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

static int shape_make(struct shape_maker *m, const struct tdf_point *point,
		      uint32_t index, uint8_t picks)
{
	struct alike *alike = m->alike;
	const struct tdf_site *site = &m->tdf->sites[index];
	struct alike_site *own = &alike->sites[index];
	struct shape_head head = {
		.maxhits = point->maxhits, .passcount = point->passcount,
		.flags = point->flags, .stmts = site->stmts,
		.module = point->module, .level = point->level,
		.picks = picks, .site_flags = site->flags,
		.symbol = site->symbol != 0, .begins = !site->symbol_offset,
	};
	int code;

	m->site = site;
	m->module = &m->tdf->modules[point->module];
	m->lengths = 0;
	own->shape = alike->shape_bytes;
	own->value = alike->value_count;
	code = shape_add(alike, &head, sizeof(head));
	for (uint32_t i = 0; i < site->stmts && !code; i++)
		code = shape_stmt_add(m, site->first_stmt + i);
	own->shape_size = alike->shape_bytes - own->shape;
	own->value_count = alike->value_count - own->value;
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
	    a->value_count != b->value_count ||
	    memcmp(alike->shapes + a->shape, alike->shapes + b->shape,
		   a->shape_size))
		return false;
	for (size_t i = 0; exactly && i < a->value_count; i++)
		if (alike->values[a->value + i].value !=
		    alike->values[b->value + i].value)
			return false;
	return true;
}

static uint64_t shape_hash(const struct alike *alike,
			   const struct alike_site *site, bool exactly)
{
	uint64_t hash = hash_fnv(HASH_FNV_START, alike->shapes + site->shape,
				 site->shape_size);

	for (size_t i = 0; exactly && i < site->value_count; i++)
		hash = key_map_mix(hash, alike->values[site->value + i].value);
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

static const struct alike_value *site_value(const struct alike *alike,
					    uint32_t site, uint32_t i)
{
	return &alike->values[alike->sites[site].value + i];
}

/* What the map has for it */
static uint64_t value_word(const struct alike *alike, uint32_t site, uint32_t i)
{
	const struct alike_value *value = site_value(alike, site, i);

	return value->kind != ALIKE_OFFSET ? value->value :
	       value->value & ~(uint64_t)OFFSET_LOW;
}

/* Is the i-th value the k-th plus the same in all sites of the group? */
static bool values_differ_alike(const struct alike *alike,
				const struct alike_group *group, uint32_t i,
				uint32_t k)
{
	uint32_t site = group->first_site;
	uint64_t apart = site_value(alike, site, i)->value -
			 site_value(alike, site, k)->value;

	while ((site = alike->sites[site].next) != ALIKE_NONE)
		if (site_value(alike, site, i)->value -
		    site_value(alike, site, k)->value != apart)
			return false;
	return true;
}

static bool value_varies(const struct alike *alike,
			 const struct alike_group *group, uint32_t i)
{
	uint32_t site = group->first_site;
	uint64_t value = site_value(alike, site, i)->value;

	while ((site = alike->sites[site].next) != ALIKE_NONE)
		if (site_value(alike, site, i)->value != value)
			return true;
	return false;
}

/*
 * Which words of the map the values of a group are, and for offsets what is added.
 * leads[] gets the values that the words are made of.
 */
struct group_words {
	struct alike_group *group;
	uint32_t leads[ALIKE_WORDS];
	uint32_t count;
};

static bool is_register(const struct alike_value *value)
{
	return value->kind == ALIKE_REGISTER || value->kind == ALIKE_ITEM;
}

/* May the i-th value be made of the word that has the k-th? */
static bool word_serves(const struct alike *alike,
			const struct alike_group *group, uint32_t i, uint32_t k)
{
	const struct alike_value *a = site_value(alike, group->first_site, i);
	const struct alike_value *b = site_value(alike, group->first_site, k);

	if (a->kind == ALIKE_OFFSET)
		return b->kind == ALIKE_OFFSET &&
		       values_differ_alike(alike, group, i, k);
	return is_register(a) && is_register(b) && a->value == b->value &&
	       values_differ_alike(alike, group, i, k);
}

/* The word of a value that varies, which may be there; ALIKE_WORDS: there are too
 * many. */
static uint32_t group_word_find(const struct alike *alike,
				struct group_words *words, uint32_t i)
{
	uint32_t word = 0;

	while (word < words->count &&
	       !word_serves(alike, words->group, i, words->leads[word]))
		word++;
	if (word == words->count && word < ALIKE_WORDS)
		words->leads[words->count++] = i;
	return word;
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

static bool group_offset_add(const struct alike *alike,
			     const struct group_words *words, uint32_t word,
			     const struct alike_value *own)
{
	struct alike_group *group = words->group;
	struct body_offset offset = {
		.at = own->at, .word = word, .rest = own->value,
	};

	if (word != BODY_OFFSET_NONE)
		offset.rest -= value_word(alike, group->first_site,
					  words->leads[word]);
	if (!offset_agrees(group, &offset))
		return false;
	group->offsets[group->offset_count++] = offset;
	return true;
}

/* Of several expressions, too. One that doesn't vary has no word. */
static bool group_register_add(struct alike_group *group, uint32_t word,
			       const struct alike_value *own)
{
	const struct body_register made = {
		.item = own->kind == ALIKE_ITEM, .at = own->at, .word = word,
	};

	for (uint32_t i = 0; i < group->register_count; i++) {
		const struct body_register *other = &group->registers[i];

		if (other->item == made.item && other->at == made.at &&
		    other->word != made.word)
			return false;
	}
	group->registers[group->register_count++] = made;
	return true;
}

/* False: it can't be. */
static bool group_value_add(const struct alike *alike,
			    struct group_words *words, uint32_t i)
{
	struct alike_group *group = words->group;
	const struct alike_value *own = site_value(alike, group->first_site, i);
	uint32_t word = BODY_OFFSET_NONE;

	if (value_varies(alike, group, i))
		word = group_word_find(alike, words, i);
	if (word == ALIKE_WORDS)
		return false;
	if (own->kind == ALIKE_OFFSET)
		return group_offset_add(alike, words, word, own);
	if (is_register(own))
		return group_register_add(group, word, own);
	if (word != BODY_OFFSET_NONE)
		group->lengths[group->length_count++] = (struct body_length){
			.stmt = own->at, .word = word, .most = own->most,
		};
	return true;
}

/* 0; -E2BIG: it can't be, -ENOMEM. */
static int group_words_find(const struct alike *alike,
			    struct group_words *words)
{
	struct alike_group *group = words->group;
	uint32_t count = alike->sites[group->first_site].value_count;
	bool fits = count <= VALUES_MOST;

	if (!fits)
		return -E2BIG;
	group->offsets = calloc(count + 1, sizeof(*group->offsets));
	group->lengths = calloc(count + 1, sizeof(*group->lengths));
	group->registers = calloc(count + 1, sizeof(*group->registers));
	if (!group->offsets || !group->lengths || !group->registers)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && fits; i++)
		fits = group_value_add(alike, words, i);
	return fits ? 0 : -E2BIG;
}

/* The words of all its sites */
static int group_rows_fill(struct alike *alike, const struct tdf *tdf,
			   const struct group_words *words)
{
	uint32_t site = words->group->first_site;

	if (!alike->rows)
		alike->rows = calloc(tdf->header->sites.count,
				     ALIKE_WORDS * sizeof(*alike->rows));
	if (!alike->rows)
		return -ENOMEM;
	if (alike->row_words < words->count)
		alike->row_words = words->count;
	for (; site != ALIKE_NONE; site = alike->sites[site].next)
		for (uint32_t i = 0; i < words->count; i++)
			alike->rows[site * ALIKE_WORDS + i] =
				value_word(alike, site, words->leads[i]);
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
		group->offset_count = group->register_count = 0;
	for (; code == -E2BIG && site != ALIKE_NONE;
	     site = alike->sites[site].next)
		alike->sites[site].group = ALIKE_NONE;
	return code == -ENOMEM ? code : 0;
}

int alike_find(struct alike *alike, const struct tdf *tdf, const uint8_t *picks,
	       const struct alike_limits *limits)
{
	struct shape_maker maker = {
		.alike = alike, .tdf = tdf, .registers = limits->registers,
	};
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
				code = shape_make(&maker, point,
						  point->first_site + k,
						  picks[i]);
	}
	if (!code)
		code = groups_make(alike, count, true);
	if (code || alike->group_count <= limits->own)
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
		free(alike->groups[i].registers);
	}
	free(alike->sites);
	free(alike->groups);
	free(alike->shapes);
	free(alike->values);
	free(alike->rows);
	*alike = (struct alike){ 0 };
}

size_t alike_row_bytes(const struct alike *alike)
{
	return alike->row_words * sizeof(*alike->rows);
}
