// SPDX-License-Identifier: GPL-2.0
/*
 * Random tracepoints, generated and run, make the record that the interpreter
 * makes. Reproducible: a failing one's number is printed;
 *
 *	test_random [FIRST [COUNT]]
 */
#include "bed.h"
#include "random.h"
#include "bpf/plan/processor.h"
#include "lib/arm/kernel/direct_probe.h"
#include "lib/arm/kernel/features.h"
#include "lib/formats/rpn.h"

#define PROGRAMS	250
#define ARENA		4096
#define DEPTH_MAX	TDF_RPN_STACK
#define OFFSET_WORDS	16
#define WORDS_LEAST	4	/* of them that are offsets */

/* A word as it occurs: small, negative, huge. */
static uint64_t random_word(void)
{
	uint64_t word = random_next();

	switch (random_below(5)) {
	case 0: return word & 0xff;
	case 1: return -(word & 0xff);
	case 2: return 1ULL << (word & 63);
	case 3: return word & 0x7fffffff;
	default: return word;
	}
}

/* First half: pointers into the arena; second half: texts. Then a hole. */
static uint8_t *arena;

static void arena_fill(void)
{
	uint64_t *words = (uint64_t *)arena;

	for (int i = 0; i < ARENA / 16; i++)
		words[i] = random_below(8) ? (uintptr_t)arena +
			   random_below(ARENA - 64) : random_word();
	for (int i = ARENA / 2; i < ARENA; i++)
		arena[i] = random_below(24) ? ' ' + random_below(95) : 0;
}

struct code {
	uint8_t bytes[4096];
	size_t size;
	int depth;
	bool relocated;
};

static void add(struct code *c, uint8_t byte)
{
	c->bytes[c->size++] = byte;
}

static void add_leb(struct code *c, uint64_t value, bool is_signed)
{
	for (;;) {
		uint8_t bits = value & 0x7f;

		value = is_signed ? (uint64_t)((int64_t)value >> 7) :
				    value >> 7;
		if (is_signed ? (value == 0 && !(bits & 0x40)) ||
				(value == -1ULL && (bits & 0x40)) : !value) {
			add(c, bits);
			return;
		}
		add(c, bits | 0x80);
	}
}

static void add_fixed(struct code *c, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		add(c, value >> (8 * i));
}

/* rbx (in both numberings) points into the arena */
static void add_pointer(struct code *c)
{
	add(c, OP_breg + 3);
	add_leb(c, random_below(ARENA), true);
	c->depth++;
}

static void add_constant(struct code *c)
{
	static const int sizes[] = { 1, 1, 2, 2, 4, 4, 8, 8 };
	int kind = random_below(10);

	c->depth++;
	if (kind == 9) {
		add(c, OP_lit + random_below(32));
		return;
	}
	if (kind == 8) {
		bool is_signed = random_below(2);

		add(c, is_signed ? OP_consts : OP_constu);
		add_leb(c, random_word(), is_signed);
		return;
	}
	add(c, OP_const1u + kind);
	add_fixed(c, random_word(), sizes[kind]);
}

static void add_register(struct code *c)
{
	c->depth++;
	if (random_below(4)) {
		add(c, OP_breg + random_below(8));
	} else {
		add(c, OP_bregx);
		add_leb(c, random_below(10), false);
	}
	add_leb(c, random_below(3) ? 0 : random_word(), true);
}

static void add_push(struct code *c)
{
	switch (random_below(7)) {
	case 0:
		add_constant(c);
		return;
	case 1:
		add_pointer(c);
		return;
	case 2:
		add(c, OP_addr);
		add_fixed(c, random_below(ARENA), 8);
		c->depth++;
		return;
	case 3:
		if (!c->depth)
			break;
		add(c, OP_pick);
		add(c, random_below(c->depth));
		c->depth++;
		return;
	case 4:
		if (c->depth < 2)
			break;
		add(c, random_below(2) ? OP_dup : OP_over);
		c->depth++;
		return;
	}
	add_register(c);
}

static void add_binary(struct code *c)
{
	static const uint8_t ops[] = {
		OP_and, OP_div, OP_minus, OP_mod, OP_mul, OP_or, OP_plus,
		OP_shl, OP_shr, OP_shra, OP_xor, OP_eq, OP_ge, OP_gt, OP_le,
		OP_lt, OP_ne, OP_plus, OP_minus,
	};

	add(c, ops[random_below(sizeof(ops))]);
	c->depth--;
}

/* Mostly at an address that is made to be in the arena first. */
static void add_deref(struct code *c)
{
	if (random_below(8)) {
		add(c, OP_const2u);
		add_fixed(c, ARENA / 2 - 8, 2);
		add(c, OP_and);
		add(c, OP_breg + 3);
		add_leb(c, 0, true);
		add(c, OP_plus);
	}
	if (random_below(2)) {
		add(c, OP_deref);
		return;
	}
	add(c, OP_deref_size);
	add(c, 1 << random_below(4));
}

static void add_unary(struct code *c)
{
	static const uint8_t ops[] = { OP_abs, OP_neg, OP_not, OP_nop };

	switch (random_below(6)) {
	case 0:
		add(c, OP_plus_uconst);
		add_leb(c, random_word(), false);
		break;
	case 1:
		/* a deref takes up to one more entry */
		if (c->depth < DEPTH_MAX)
			add_deref(c);
		break;
	default:
		add(c, ops[random_below(sizeof(ops))]);
	}
}

static void add_ops(struct code *c, int count, int nesting);

/* Bring the depth to what the other way has. */
static void add_balance(struct code *c, int depth)
{
	while (c->depth > depth) {
		add(c, OP_drop);
		c->depth--;
	}
	while (c->depth < depth)
		add_push(c);
}

static void patch_jump(struct code *c, size_t at)
{
	size_t distance = c->size - at - 2;

	c->bytes[at] = distance;
	c->bytes[at + 1] = distance >> 8;
}

/* if: bra else; ...; skip end; else: ...; end: */
static void add_branch(struct code *c, int nesting)
{
	size_t other, end;
	int before, after;

	add(c, OP_bra);
	other = c->size;
	add_fixed(c, 0, 2);
	before = --c->depth;
	add_ops(c, random_below(6), nesting - 1);
	after = c->depth;
	add(c, OP_skip);
	end = c->size;
	add_fixed(c, 0, 2);
	patch_jump(c, other);
	c->depth = before;
	add_ops(c, random_below(6), nesting - 1);
	add_balance(c, after);
	patch_jump(c, end);
}

static void add_ops(struct code *c, int count, int nesting)
{
	while (count--) {
		int kind = random_below(12);

		if (c->depth < 1 || (kind < 4 && c->depth < DEPTH_MAX - 1))
			add_push(c);
		else if (kind < 8 && c->depth >= 2)
			add_binary(c);
		else if (kind == 8 && c->depth >= 3)
			add(c, random_below(2) ? OP_rot : OP_swap);
		else if (kind == 9 && nesting && c->size < 1000)
			add_branch(c, nesting);
		else
			add_unary(c);
	}
}

static void add_expression(struct code *c)
{
	memset(c, 0, sizeof(*c));
	if (random_below(3)) {
		add_ops(c, random_below(30), 2);
		add_balance(c, 1);
		if (random_below(5))
			return;
		add_push(c);
		add_binary(c);
		return;
	}
	add_pointer(c);
	if (random_below(2))
		add_deref(c);
}

/* An address that can mostly be read. */
static void add_address(struct code *c)
{
	add_expression(c);
	if (!random_below(6))
		return;
	add(c, OP_const2u);
	add_fixed(c, ARENA - 1, 2);
	add(c, OP_and);
	add(c, OP_breg + 3);
	add_leb(c, 0, true);
	add(c, OP_plus);
}

static struct tdf_stmt *add_memory(struct bed *bed, int kind)
{
	int length = 1 + random_below(random_below(4) ? 40 : 300);
	struct code code;

	add_address(&code);
	return bed_memory(bed, kind, length, code.bytes, code.size);
}

static struct tdf_stmt *add_value(struct bed *bed)
{
	struct code code;

	add_expression(&code);
	return bed_memory(bed, TDF_STMT_VALUE, 1 + random_below(8), code.bytes,
			  code.size);
}

static void add_length(struct bed *bed)
{
	struct tdf_stmt *s = add_memory(bed, TDF_STMT_MEM);
	bool value = random_below(2);
	struct code code;

	if (value)
		add_expression(&code);
	else
		add_address(&code);
	bed_len(bed, s, 1 << random_below(4), code.bytes, code.size);
	if (value)
		s->flags |= TDF_STMT_LEN_VALUE;
}

/* One item of values and memory, now and then without a prefix. */
static void add_pieces(struct bed *bed, int count)
{
	int raw = random_below(4) ? 0 : TDF_STMT_RAW, flags = raw;

	while (count--) {
		struct tdf_stmt *s = random_below(2) ? add_value(bed) :
				     add_memory(bed, TDF_STMT_MEM);

		if (s->length > 40)
			s->length = 40;
		s->flags = flags;
		flags = raw | TDF_STMT_MORE;
	}
}

static void add_statement(struct bed *bed)
{
	bool is32 = bed->module.machine == EM_386;

	switch (random_below(8)) {
	case 0:
		bed_reg(bed, random_below(is32 ? 10 : 17),
			2 << random_below(is32 ? 2 : 3));
		break;
	case 1:
		add_memory(bed, TDF_STMT_ASCIIZ);
		break;
	case 2:
		add_memory(bed, TDF_STMT_MEM);
		break;
	case 3:
		add_length(bed);
		break;
	case 4:
	case 5:
		add_value(bed);
		break;
	case 6:
		add_pieces(bed, 1 + random_below(4));
		break;
	default:
		bed_absent(bed);
	}
}

static void add_condition(struct bed *bed)
{
	struct code code;

	add_expression(&code);
	bed_memory(bed, TDF_STMT_IF, 0, code.bytes, code.size);
}

static void random_point(struct bed *bed, uint64_t number)
{
	static const uint16_t machines[] = {
		EM_386, EM_AARCH64, EM_X86_64, EM_X86_64,
	};
	uint64_t *regs = bed->input.x;
	int count;

	seed = number * 0x9e3779b97f4a7c15ULL + 1;
	arena_fill();
	for (size_t i = 0; i < BED_X; i++)
		regs[i] = random_word();
	bed->input.cookie = RAS_COOKIE(number, number % BED_POINTS,
				       number % BED_SITES);
	bed->module.machine = machines[number % 4];
	if (number % 4 == 1)
		bed->input.x[3] = (uintptr_t)arena;
	else
		bed->input.regs.rbx = (uintptr_t)arena;
	bed->module.elf_class = number % 4 ? ELFCLASS64 : ELFCLASS32;
	bed_site(bed, number % BED_SITES, (number % 4 == 1 ?
		 bed->input.x[BED_PC] : bed->input.regs.rip) -
		 (uintptr_t)arena);
	bed->header.maxdata = random_below(2) ? TDF_DATA_MAX :
			      TDF_DATA_MIN + random_below(200);
	bed_clear(bed);
	if (!random_below(3))
		bed->point.flags = TDF_POINT_CONTINUE;
	if (!random_below(5))
		add_condition(bed);
	count = 1 + random_below(12);
	for (int i = 0; i < count; i++)
		add_statement(bed);
}

/* Half of the bodies of each machine read directly, where that works. */
static struct body_direct direct;
static bool is_direct;
/* Registers may be in a map. */
static bool has_cast;

/* Some offsets are in a map, and some lengths and registers, as those of sites that
 * share a program. */
static struct body_offset offsets[64];
static struct body_register registers[64];
static struct body_length lengths[TDF_STMTS_MAX];
static int offsets_fd;

/* The length is the last word of those that are left. */
static void random_length(struct bed *bed, uint32_t stmt, uint64_t *words,
			  uint32_t *left)
{
	const struct tdf_stmt *s = &bed->stmts[stmt];
	struct body_target *t = &bed->target;
	uint32_t most = (s->length + 7) & ~7u;

	if (s->kind != TDF_STMT_MEM || !*left || random_below(3) == 0 ||
	    s->flags & (TDF_STMT_LEN | TDF_STMT_RAW | TDF_STMT_MORE |
			TDF_STMT_SEGMENT) ||
	    (stmt + 1 < bed->site.stmts && s[1].flags & TDF_STMT_MORE))
		return;
	words[--*left] = s->length;
	lengths[t->length_count++] = (struct body_length){
		.stmt = stmt, .word = *left,
		.most = random_below(2) ? most :
			most + 8 * random_below(9),
	};
}

/* A word that is left gets it, or one has it; not all do. */
static void random_register(struct bed *bed, uint64_t number, bool item,
			    uint32_t at, uint64_t *words, uint32_t *left)
{
	struct body_target *t = &bed->target;
	int bytes, offset = processor_reg_offset(bed->module.machine, number,
						 &bytes);
	uint32_t word = OFFSET_WORDS - 1;

	if (offset < 0 || !has_cast || random_below(3) == 0 ||
	    t->register_count == 64)
		return;
	while (word >= *left && words[word] != (uint64_t)offset)
		word--;
	if (word < *left && *left == WORDS_LEAST)
		return;
	if (word < *left)
		words[--*left] = offset;
	registers[t->register_count++] = (struct body_register){
		.item = item, .at = at, .word = word,
	};
}

/* The offset of an operation is one of the first words, and what is added. */
static void random_offset(struct bed *bed, uint32_t at, uint64_t offset,
			  const uint64_t *words)
{
	struct body_target *t = &bed->target;
	uint32_t word = random_below(WORDS_LEAST);

	if (random_below(4) == 0 || t->offset_count == 64)
		return;
	offsets[t->offset_count++] = (struct body_offset){
		.at = at, .word = word, .rest = offset - words[word],
	};
}

static void random_operation(struct bed *bed, uint32_t at,
			     const struct rpn_op *op, uint64_t *words,
			     uint32_t *left)
{
	uint64_t number;
	int64_t add;
	int bytes;

	if (op->code == RPN_plus_uconst || op->code == RPN_addr)
		random_offset(bed, at, op->a, words);
	if (!rpn_is_register(op, &number, &add))
		return;
	random_register(bed, number, false, at, words, left);
	if (processor_reg_offset(bed->module.machine, number, &bytes) >= 0)
		random_offset(bed, at, add, words);
}

static void random_offsets(struct bed *bed, uint32_t site)
{
	uint32_t left = OFFSET_WORDS;
	uint64_t words[OFFSET_WORDS];
	struct body_target *t = &bed->target;

	for (int i = 0; i < OFFSET_WORDS; i++)
		words[i] = random_below(1 << 20) * 8ULL -
			   random_below(2) * (1 << 22);
	t->lengths = lengths;
	for (__u32 i = 0; i < bed->site.stmts && left > 2 * WORDS_LEAST; i++)
		random_length(bed, i, words, &left);
	t->offsets_fd = offsets_fd;
	t->offsets = offsets;
	t->registers = registers;
	for (__u32 i = 0; i < bed->site.stmts; i++) {
		const struct tdf_stmt *s = &bed->stmts[i];
		struct rpn_op op = { 0 };

		if (s->kind == TDF_STMT_REG)
			random_register(bed, s->reg, true, i, words, &left);
		while (rpn_next(bed->rpn + s->rpn, s->rpn_length, &op))
			random_operation(bed, s->rpn + op.at, &op, words,
					 &left);
	}
	if (bpf_map_update_elem(offsets_fd, &site, words, 0))
		tap_bail("cannot set offsets: %s", strerror(errno));
}

/* The generator promises nothing for expressions the check refuses. */
static const char *bad_expression(const struct bed *bed)
{
	static struct error err;

	for (__u32 i = 0; i < bed->site.stmts; i++) {
		const struct tdf_stmt *s = &bed->stmts[i];

		if (!s->rpn_length)
			continue;
		if (rpn_check(bed->rpn + s->rpn, s->rpn_length, 1, &err))
			return err.text;
		if (s->flags & TDF_STMT_LEN &&
		    rpn_check(bed->rpn + s->len_rpn, s->len_rpn_length, 1, &err))
			return err.text;
	}
	return NULL;
}

static void direct_find(struct bed *bed)
{
	struct body_layout *layout = &bed->layout, all;

	features_read_layout(&all);
	layout->mm_pgd = all.mm_pgd;
	layout->mm_flushes = all.mm_flushes;
	layout->cast_kfunc = all.cast_kfunc;
	layout->cast_type = all.cast_type;
	has_cast = all.cast_kfunc && all.cast_type;
	is_direct = direct_probe(&direct, layout) == RAS_READS_DIRECT;
}

/* Programs whose branches have too many ways for the verifier */
static int refused;

static bool run(struct bed *bed, uint64_t number)
{
	const char *bad;
	int ret;

	random_point(bed, number);
	bed->target.offset_count = bed->target.length_count = 0;
	bed->target.register_count = 0;
	if (number & 8)
		random_offsets(bed, number % BED_SITES);
	bed->target.direct = is_direct && number & 4 ? &direct : NULL;
	bad = bad_expression(bed);
	if (bad) {
		tap_diag("program %lu: %s", number, bad);
		return false;
	}
	ret = bed_check(bed);
	if (ret)
		tap_diag("program %lu: %s", number, strerror(-ret));
	if (ret == -E2BIG)
		refused++;
	return !ret || ret == -E2BIG;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	int count = argc > 2 ? atoi(argv[2]) : argc > 1 ? 1 : PROGRAMS;
	static struct bed bed;
	int failed = 0;

	/* below 4 GiB: 32-bit programs read it, too */
	arena = machine_map_low(2 * ARENA);
	if (arena == MAP_FAILED)
		tap_bail("no memory below 4 GiB");
	munmap(arena + ARENA, ARENA);
	bed_open(&bed, BODY_TEST);
	direct_find(&bed);
	offsets_fd = bed_map("offsets", OFFSET_WORDS * 8, BED_SITES);
	for (int i = 0; i < count; i++)
		failed += !run(&bed, first + i);
	tap_is(failed, 0, "of %d random programs none differs", count);
	tap_ok(refused <= count / 100, "%d were too complex", refused);
	if (argc == 1)
		tap_ok(bed_count(&bed, 0, 0)->recorded > PROGRAMS / 4 &&
		       bed_faults(bed_why(&bed, 0)) < PROGRAMS / 3 * 9 / 10,
		       "not all of them fault");
	return tap_done();
}
