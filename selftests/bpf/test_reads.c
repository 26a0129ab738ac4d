// SPDX-License-Identifier: GPL-2.0
/*
 * What a record reads at once is what its statements would have read one by one,
 * where a part of it can't be read, too; and it is read at once.
 *
 *	test_reads [FIRST [COUNT]]	random programs
 */
#include "bed.h"
#include "probed.h"
#include "random.h"

#define PAGE		4096
#define PROGRAMS	32
#define HITS		32
#define MANY_STMTS	50000
#define OBJECT		ARG(2)
#define OTHER		ARG(3)

static struct bed bed;

/* Shapes: how often the record is read for, at first */

static void fields(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 0));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 8));
	bed_memory(&bed, TDF_STMT_MEM, 4, RPN(OBJECT, 20));
}

static void outer_and_inner(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 0));
	bed_memory(&bed, TDF_STMT_MEM, 8,
		   RPN(OBJECT, 8, OP_deref, OP_plus_uconst, 8, OP_deref));
	bed_memory(&bed, TDF_STMT_MEM, 8,
		   RPN(OBJECT, 8, OP_deref, OP_plus_uconst, 8, OP_deref,
		       OP_plus_uconst, 8));
}

static void same(void)
{
	for (int i = 0; i < 3; i++)
		bed_stmt(&bed, TDF_STMT_VALUE, 0, 4,
			 RPN(OBJECT, 4, OP_deref_size, 4, OP_lit + i, OP_plus));
}

static void far_apart(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 0));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 57));
}

static void just_near(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 0));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 56));
}

static void other_pointers(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 0));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OTHER, 0));
}

static void negative(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 4, RPN(OBJECT, 0x7c));
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 8,
		 RPN(OBJECT, 8, OP_lit + 16, OP_minus, OP_deref));
}

static void not_aligned(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 7, RPN(OBJECT, 1));
	bed_memory(&bed, TDF_STMT_MEM, 5, RPN(OBJECT, 11));
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 8, RPN(OBJECT, 3, OP_deref));
}

static void pieces(void)
{
	bed_stmt(&bed, TDF_STMT_MEM, 0, 4, RPN(OBJECT, 0));
	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_MORE, 4, RPN(OBJECT, 12));
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_MORE, 3,
		 RPN(OBJECT, 16, OP_deref));
}

static void behind_a_jump(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 0));
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 8,
		 RPN(OBJECT, 8, OP_lit, OP_bra, 1, 0, OP_deref));
}

static void conditional(void)
{
	bed_stmt(&bed, TDF_STMT_IF, 0, 8,
		 RPN(OBJECT, 8, OP_deref, OP_lit, OP_ne));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 8));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 16));
}

static void length(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 4, RPN(OBJECT, 0));
	bed_len(&bed, bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 8)), 4,
		RPN(OBJECT, 0));
}

/* Read by way of the frame, too, but after what is kept there */
static void text_between(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 0));
	bed_memory(&bed, TDF_STMT_ASCIIZ, 6, RPN(OTHER, 0));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 8));
}

/* More words than a lean frame has left: a large one costs less */
static void many(void)
{
	for (int i = 0; i < 8; i++)
		bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 8 * i));
}

static const struct shape {
	const char *name;
	void (*make)(void);
	int reads;
} shapes[] = {
	{ "fields of a structure", fields, 1 },
	{ "pointers that are followed twice", outer_and_inner, 3 },
	{ "the same value three times", same, 1 },
	{ "64 bytes from end to end", just_near, 1 },
	{ "65 bytes from end to end", far_apart, 2 },
	{ "other pointers", other_pointers, 2 },
	{ "in front of the pointer", negative, 1 },
	{ "values that aren't aligned", not_aligned, 2 },
	{ "pieces", pieces, 1 },
	{ "what may be jumped over", behind_a_jump, 2 },
	{ "a condition comes before", conditional, 2 },
	{ "a length may be 0", length, 3 },
	{ "a string between", text_between, 2 },
	{ "eight words", many, 1 },
};

/* Reads of memory on the way to the first end of the program */
static int reads(const struct body *body)
{
	int count = 0;

	for (size_t i = 0; i < body->count; i++) {
		const struct bpf_insn *insn = &body->insns[i];

		if (insn->code == (BPF_JMP | BPF_EXIT))
			break;
		if (insn->code == (BPF_JMP | BPF_CALL) && !insn->src_reg)
			count += insn->imm == BPF_FUNC_probe_read_user ||
				 insn->imm == BPF_FUNC_probe_read_user_str;
	}
	return count;
}

static void test_shape(const struct shape *shape, bool single)
{
	struct error err = { 0 };
	struct body body;
	int code;

	bed_clear(&bed);
	bed.target.single = single;
	shape->make();
	code = body_generate(&body, &bed.tdf, &bed.point, &bed.site,
			     &bed.target, &err);
	if (code) {
		tap_ok(false, "%s: %s", shape->name, err.text);
		return;
	}
	tap_is(reads(&body), shape->reads, "%s%s", shape->name,
	       single ? ", one link" : "");
	code = bed_load_body(&bed, &body);
	if (!tap_ok(code >= 0, "  which the kernel takes"))
		tap_diag("%s", bed.log);
	close(code);
}

/* A site's statements may be anywhere among those of a TDF. */
static void test_behind_many(const struct shape *shape)
{
	struct tdf_stmt *stmts = calloc(MANY_STMTS + BED_STMTS, sizeof(*stmts));
	const struct tdf_stmt *own = bed.tdf.stmts;
	struct body near, far;
	struct error err;
	int code;

	if (!stmts)
		tap_bail("no memory");
	bed_clear(&bed);
	shape->make();
	memcpy(stmts + MANY_STMTS, bed.stmts, sizeof(bed.stmts));
	code = body_generate(&near, &bed.tdf, &bed.point, &bed.site,
			     &bed.target, &err);
	bed.tdf.stmts = stmts;
	bed.site.first_stmt = MANY_STMTS;
	code |= body_generate(&far, &bed.tdf, &bed.point, &bed.site,
			      &bed.target, &err);
	tap_ok(!code && near.count == far.count &&
	       !memcmp(near.insns, far.insns, near.count * sizeof(*near.insns)),
	       "%s: the same after %u other statements", shape->name,
	       MANY_STMTS);
	bed.tdf.stmts = own;
	body_free(&near);
	body_free(&far);
	free(stmts);
}

/*
 * Objects: words that lead to others, on a page between two that can't be read,
 * near its ends.
 */
static uint8_t *arena;

static uint8_t *object(void)
{
	uint8_t *page = arena + PAGE * (1 + 2 * random_below(2));

	switch (random_below(3)) {
	case 0:
		return page + 8 * random_below(12);
	case 1:
		return page + PAGE - 8 * random_below(12);
	default:
		return page + 8 * random_below(PAGE / 8);
	}
}

static void arena_make(void)
{
	arena = mmap(NULL, 5 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (arena == MAP_FAILED)
		tap_bail("no memory");
	for (int i = 0; i < 5 * PAGE / 8; i++)
		((uint64_t *)arena)[i] = random_below(16) ?
			(uintptr_t)object() : random_below(1000);
	for (int i = 0; i < 5; i += 2)
		mprotect(arena + i * PAGE, PAGE, PROT_NONE);
}

/* The same index of two */
static void indexed(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 8,
		   RPN(OBJECT, 0, OTHER, 0, OP_deref_size, 1, OP_plus));
	bed_memory(&bed, TDF_STMT_MEM, 8,
		   RPN(OTHER, 16, OTHER, 0, OP_deref_size, 1, OP_plus));
}

struct code {
	uint8_t bytes[96];
	size_t size;
};

static void add(struct code *c, uint8_t byte)
{
	c->bytes[c->size++] = byte;
}

/* An address after up to two pointers; few are different. */
static void address(struct code *c)
{
	static const uint8_t offs[] = { 0, 8, 16, 24, 32, 40, 0x78, 4, 1 };
	int depth = random_below(3);

	add(c, random_below(4) ? OBJECT : OTHER);
	add(c, offs[random_below(sizeof(offs))]);
	while (depth--) {
		add(c, OP_deref);
		add(c, OP_plus_uconst);
		add(c, offs[random_below(6)]);
	}
	if (random_below(6))
		return;
	add(c, OBJECT);		/* an index */
	add(c, offs[random_below(6)]);
	add(c, OP_deref_size);
	add(c, 1);
	add(c, OP_plus);
}

/* What is needed at the end is kept over what is read between. */
static void kept(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 0));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OTHER, 0));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OTHER, 8));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 0));
}

/* A division by zero skips what is after it in its item, not the next ones. */
static void skipped(void)
{
	bed.point.flags = TDF_POINT_CONTINUE;
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 8,
		 RPN(OP_lit + 1, OP_lit, OP_div, OBJECT, 0, OP_deref,
		     OP_plus));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 0));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 8));
}

static void value(struct code *c)
{
	static const uint8_t binary[] = { OP_plus, OP_minus, OP_xor, OP_mul };

	address(c);
	if (random_below(2)) {
		add(c, OP_deref_size);
		add(c, 1 << random_below(4));
	} else {
		add(c, OP_deref);
	}
	switch (random_below(5)) {
	case 0:
		address(c);
		add(c, OP_deref);
		add(c, OP_over);
		add(c, OP_rot);
		add(c, OP_plus);
		add(c, binary[random_below(sizeof(binary))]);
		break;
	case 1:
		add(c, OP_dup);
		add(c, binary[random_below(sizeof(binary))]);
		break;
	case 2:
		add(c, OP_lit);
		add(c, OP_bra);
		add(c, 1);
		add(c, 0);
		add(c, OP_deref);
		break;
	}
}

static void statement(void)
{
	static const uint8_t lengths[] = { 1, 2, 4, 8, 8, 16, 24, 5, 70 };
	int flags = bed.site.stmts && !random_below(6) &&
		bed.stmts[bed.site.stmts - 1].kind != TDF_STMT_ASCIIZ &&
		bed.stmts[bed.site.stmts - 1].kind != TDF_STMT_IF &&
		!bed.stmts[bed.site.stmts - 1].flags ? TDF_STMT_MORE : 0;
	int bytes = lengths[random_below(sizeof(lengths))];
	struct code c = { .size = 0 };

	switch (random_below(flags ? 6 : 8)) {
	case 0: case 1:
		value(&c);
		bed_stmt(&bed, TDF_STMT_VALUE, flags, 1 + random_below(8),
			 c.bytes, c.size);
		break;
	case 6:
		address(&c);
		bed_memory(&bed, TDF_STMT_ASCIIZ, bytes, c.bytes, c.size);
		break;
	case 7:
		address(&c);
		bed_len(&bed, bed_memory(&bed, TDF_STMT_MEM, bytes, c.bytes,
					 c.size), 1, RPN(OBJECT, 8));
		break;
	default:
		address(&c);
		bed_stmt(&bed, TDF_STMT_MEM, flags, bytes, c.bytes, c.size);
	}
}

static void program(unsigned int number)
{
	struct code c = { .size = 0 };
	int count;

	seed = number + 1;
	for (int i = 0; i < 8; i++)
		random_next();
	bed_clear(&bed);
	bed.input.cookie = RAS_COOKIE(number + 1, 2, 3);
	bed.target.cookie = bed.input.cookie;
	bed.target.single = random_below(2);
	bed.point.flags = random_below(3) ? TDF_POINT_CONTINUE : 0;
	count = 1 + random_below(8);
	if (number < 3) {
		static void (*const fixed[])(void) = {
			kept, indexed, skipped,
		};

		fixed[number]();
		return;
	}
	if (!random_below(4)) {
		value(&c);
		bed_stmt(&bed, TDF_STMT_IF, 0, 8, c.bytes, c.size);
	}
	while (count--)
		statement();
}

/* The record of this program from the position on, or NULL */
static const struct ras_record *find(unsigned int number, uint64_t *position)
{
	while (*position < bed_slice(&bed)->head) {
		const struct ras_record *r = bed_record(&bed, *position);

		if (r->minor == number + 1)
			return r;
		*position += (r->length + 7) & ~7u;
	}
	return NULL;
}

static bool right(unsigned int number, uint64_t position, const uint8_t *data,
		  const uint8_t *other)
{
	const struct ras_record *r;
	struct expected x;

	program(number);
	probed_registers(&bed, 0, data, (const char *)other);
	bed_expect(&bed, &x);
	r = find(number, &position);
	if (x.filtered || !r)
		return x.filtered && !r;
	return bed_same(&bed, bed_slice(&bed), bed.target.slice_bytes, position,
			&x);
}

/* All programs are at the same probe. */
static void test_random(unsigned int first, unsigned int count)
{
	int links[PROGRAMS], wrong = 0;
	uint64_t records = bed_slice(&bed)->records;

	for (unsigned int i = 0; i < count; i++) {
		int prog;

		program(first + i);
		prog = bed_load(&bed);
		if (prog < 0)
			tap_bail("program %u: %s", first + i, bed.log);
		links[i] = arm_at(prog, bed.target.single ? 0 :
				  bed.input.cookie, probed);
		close(prog);
	}
	for (int hit = 0; hit < HITS && !wrong; hit++) {
		uint64_t position = bed_slice(&bed)->head;
		const uint8_t *data, *other;

		seed = 1000 + hit;
		random_next();
		data = object();
		other = object();
		probed(0, data, (const char *)other);
		for (unsigned int i = 0; i < count; i++) {
			if (right(first + i, position, data, other))
				continue;
			tap_diag("program %u, hit %d", first + i, hit);
			wrong++;
		}
	}
	tap_is(wrong, 0, "the records of random programs");
	tap_ok(bed_slice(&bed)->records > records + count * HITS / 2,
	       "  most of which make one");
	for (unsigned int i = 0; i < count; i++)
		close(links[i]);
}

/* What is taken again is counted once, and at its own point. */
static void test_counts(void)
{
	struct bed_counts before, after;
	uint16_t point;
	int prog, link;

	program(2);
	bed_clear(&bed);
	bed.point.flags = TDF_POINT_CONTINUE;
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 8,
		 RPN(OP_lit + 1, OP_lit, OP_div));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OBJECT, 0));
	point = bed.input.cookie >> 16;
	before = bed_counts(&bed, point);
	prog = bed_load(&bed);
	if (prog < 0)
		tap_bail("%s", bed.log);
	link = arm_at(prog, bed.target.single ? 0 : bed.input.cookie, probed);
	close(prog);
	for (int hit = 0; hit < HITS; hit++)
		probed(0, arena, NULL);
	close(link);
	after = bed_counts(&bed, point);
	tap_is(after.count.recorded - before.count.recorded, HITS,
	       "a fault, and memory that can't be read: each record counts once");
	tap_is(bed_faults(&after.why) - bed_faults(&before.why), 2 * HITS,
	       "  and each fault");
}

int main(int argc, char **argv)
{
	unsigned int first = argc > 1 ? atoi(argv[1]) : 0;
	unsigned int count = argc > 2 ? atoi(argv[2]) : PROGRAMS;

	if (perf_type() < 0)
		tap_skip_all("no uprobes here");
	bed_open(&bed, BODY_UPROBE);
	if (!bed.layout.vma)
		tap_skip_all("this kernel has no BTF");
	bed.module.machine = MACHINE_ELF;
	bed.input.cookie = bed.target.cookie = RAS_COOKIE(0x42, 2, 3);
	bed.target.bring_in = true;
	bed_maps(&bed, 1 << 20, RAS_NEST_BYTES);
	bed_state(&bed, RAS_STATE_ON);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		test_shape(&shapes[i], false);
		test_shape(&shapes[i], true);
		test_behind_many(&shapes[i]);
	}
	arena_make();
	test_random(first, count < PROGRAMS ? count : PROGRAMS);
	test_counts();
	return tap_done();
}
