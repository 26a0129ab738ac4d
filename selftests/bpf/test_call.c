// SPDX-License-Identifier: GPL-2.0
/*
 * CALL and RELEASE points over registers and a stack laid out by hand: the
 * arguments are those of the beginning; which of several is recorded; which
 * blocks are, by size and by chance.
 */
#include <math.h>
#include <bpf/bpf.h>
#include "bed.h"
#include "lib/arm/arm_tdf.h"

#define WORDS		256
#define RAX		0	/* DWARF numbers */
#define RDI		5
#define RSI		4
#define ESP		4
#define CALLER		0x555555551000ULL
#define TRAMPOLINE	0x7fffffffe000ULL
#define BLOCK		0x7000
#define FAILED		1	/* a result that isn't recorded */

/* Levels; minors are the same */
enum { INNER = 1, MIDDLE = 2, OUTER = 4, OUTERMOST = 6 };

/* What a program is for */
enum role { BEGIN, NAME, RETURN, RELEASE };

struct call_bed {
	struct bed bed;
	struct body_heap heap;
	uint64_t *stack;	/* below 4 GiB */
	int self;		/* this process */
};

static struct ras_call call_get(const struct call_bed *c)
{
	struct ras_call call = { 0 };

	bpf_map_lookup_elem(c->heap.calls_fd, &c->self, &call);
	return call;
}

static void call_put(const struct call_bed *c, const struct ras_call *call)
{
	if (bpf_map_update_elem(c->heap.calls_fd, &c->self, call, 0))
		tap_bail("cannot write 'calls': %s", strerror(errno));
}

static struct tdf_site sites[2];
static uint16_t minors[1024];	/* per program's descriptor */

static void argument_rpn(const struct call_bed *c, bool entry, int n,
			 uint8_t *rpn, size_t *size)
{
	static const uint8_t registers[] = { 5, 4, 1, 2, 8, 9 };
	const bool is32 = c->bed.module.machine == EM_386;

	*size = 0;
	if (entry) {
		rpn[(*size)++] = OP_entry_value;
		rpn[(*size)++] = is32 ? 4 : 1;
	}
	if (is32) {
		rpn[(*size)++] = OP_breg + ESP;
		rpn[(*size)++] = 4 + 4 * n;
		rpn[(*size)++] = OP_deref_size;
		rpn[(*size)++] = 4;
	} else if (entry) {
		rpn[(*size)++] = 0x50 + registers[n];
	} else {
		rpn[(*size)++] = OP_breg + registers[n];
		rpn[(*size)++] = 0;
	}
}

static void argument_add(struct call_bed *c, bool entry, int n, int flags)
{
	uint8_t rpn[8];
	size_t size;

	argument_rpn(c, entry, n, rpn, &size);
	bed_stmt(&c->bed, TDF_STMT_VALUE, flags, 8, rpn, size);
}

/* The statements of each are those of heap.h: block, size, old block. */
static int program_make(struct call_bed *c, enum role role, int level)
{
	struct bed *bed = &c->bed;
	int prog;

	bed_clear(bed);
	bed->site.flags = role == BEGIN || role == NAME ? TDF_SITE_CALL :
			  role == RETURN ? TDF_SITE_RETURN : 0;
	bed->point.flags = role == RELEASE ? TDF_POINT_RELEASE :
					     TDF_POINT_CALL;
	bed->point.level = bed->point.minor = level;
	if (role == NAME)
		argument_add(c, false, 0, TDF_STMT_SIZE);
	if (role == RETURN || role == BEGIN) {
		bed_stmt(bed, TDF_STMT_IF, 0, 0,
			 RPN(OP_breg + RAX, 0, OP_lit + 1, OP_ne));
		bed_stmt(bed, TDF_STMT_VALUE, TDF_STMT_RAW | TDF_STMT_BLOCK, 8,
			 RPN(OP_breg + RAX, 0));
		argument_add(c, true, 0, TDF_STMT_RAW | TDF_STMT_SIZE);
		argument_add(c, true, 1, TDF_STMT_RAW | TDF_STMT_OLD);
	}
	if (role == RELEASE)
		argument_add(c, false, 0, TDF_STMT_RAW | TDF_STMT_BLOCK);
	/* where the point has its sites; the program is of the first */
	sites[0] = sites[1] = bed->site;
	sites[1].flags = TDF_SITE_RETURN;
	if (role == BEGIN)
		bed->site.stmts = sites[0].stmts = 0;
	bed->point.sites = role == BEGIN ? 2 : 1;
	bed->tdf.sites = sites;
	prog = bed_load(bed);
	if (prog < 0)
		tap_bail("%s", bed->log);
	minors[prog] = level;
	return prog;
}

static void hit(struct call_bed *c, int prog)
{
	c->bed.input.cookie = RAS_COOKIE(minors[prog], 0, 0) |
			      RAS_COOKIE_LEVEL(minors[prog]);
	bed_input(&c->bed);
	bed_run(prog);
}

/* A hit where a function begins that was called with its stack pointer at a
 * word, on which its caller's address is. */
static void begin(struct call_bed *c, int prog, int word, uint64_t size,
		  uint64_t old)
{
	struct pt_regs *regs = &c->bed.input.regs;

	if (c->bed.module.machine == EM_386) {
		uint32_t *words = (uint32_t *)&c->stack[word];

		words[1] = size;
		words[2] = old;
	}
	regs->rsp = (uintptr_t)&c->stack[word];
	regs->rdi = size;
	regs->rsi = old;
	hit(c, prog);
}

static void finish(struct call_bed *c, int prog, int word, uint64_t result)
{
	struct pt_regs *regs = &c->bed.input.regs;
	int bytes = c->bed.module.machine == EM_386 ? 4 : 8;

	regs->rsp = (uintptr_t)&c->stack[word] + bytes;
	regs->rdi = regs->rsi = 0xdead;
	regs->rax = result;
	hit(c, prog);
}

/* "minor:block:size:old ..." since the position, which moves */
static void expect(struct call_bed *c, uint64_t *position,
		   const char *expected, const char *name)
{
	const struct ras_slice *slice = bed_slice(&c->bed);
	char text[512] = "";
	size_t used = 0;

	while (*position < slice->head && used < sizeof(text)) {
		const struct ras_record *r = bed_record(&c->bed, *position);
		uint64_t data[3] = { 0 };

		memcpy(data, r + 1, r->length - sizeof(*r));
		used += snprintf(text + used, sizeof(text) - used,
				 "%s%u:%lx:%lu:%lx", used ? " " : "",
				 r->minor, data[0], data[1], data[2]);
		*position += (r->length + 7) & ~7u;
	}
	tap_str(text, expected, "%s", name);
}

/* ---- one call ---- */

/* What the interpreter says of six arguments, which have changed since. */
static void test_arguments(struct call_bed *c)
{
	struct bed *bed = &c->bed;
	int prog = program_make(c, BEGIN, INNER);
	struct pt_regs *regs = &bed->input.regs;
	uint32_t words[7] = { 0 };

	for (int i = 0; i < 6; i++) {
		bed->entry[i] = 0x11110000 * (i + 1) + i;
		words[i + 1] = bed->entry[i];
	}
	if (bed->module.machine == EM_X86_64) {
		for (int i = 0; i < 6; i++)
			bed->entry[i] |= 0x8765432100000000;
		regs->rdi = bed->entry[0];
		regs->rsi = bed->entry[1];
		regs->rdx = bed->entry[2];
		regs->rcx = bed->entry[3];
		regs->r8 = bed->entry[4];
		regs->r9 = bed->entry[5];
	}
	memcpy(&c->stack[10], words, sizeof(words));
	regs->rsp = (uintptr_t)&c->stack[10];
	hit(c, prog);
	close(prog);
	memset(&c->stack[10], 0xee, sizeof(words));
	memset(regs, 0x55, sizeof(*regs));
	regs->rsp = (uintptr_t)&c->stack[10] +
		    (bed->module.machine == EM_386 ? 4 : 8);

	bed_clear(bed);
	bed->site.flags = TDF_SITE_RETURN;
	bed->point.flags = TDF_POINT_CALL;
	bed->point.level = bed->point.minor = INNER;
	for (int i = 0; i < 6; i++)
		argument_add(c, true, i, 0);
	tap_is(bed_check(bed), 0, "arguments are those of the beginning");
}

static void test_refused(struct call_bed *c)
{
	static const struct {
		const char *name, *text;
		uint8_t flags, rpn[5], size;
	} rows[] = {
		{ "a register that has no argument",
		  "register 3 isn't kept where a call begins", TDF_POINT_CALL,
		  { OP_entry_value, 1, 0x53 }, 3 },
		{ "no call",
		  "there is no beginning of a call to take values of", 0,
		  { OP_entry_value, 1, 0x50 + RDI }, 3 },
	};
	struct bed *bed = &c->bed;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bed_clear(bed);
		bed->site.flags = TDF_SITE_RETURN;
		bed->point.flags = rows[i].flags;
		bed_stmt(bed, TDF_STMT_VALUE, 0, 8, rows[i].rpn, rows[i].size);
		tap_is(bed_load(bed), -EINVAL, "refused: %s", rows[i].name);
		tap_str(bed->log, rows[i].text, "it says so");
	}
	bed_clear(bed);
	bed->site.flags = TDF_SITE_CALL;
	bed->point.flags = TDF_POINT_CALL;
	bed->target.layout = NULL;
	tap_is(bed_load(bed), -EOPNOTSUPP, "refused: no BTF: %s", bed->log);
	bed->target.layout = &bed->layout;
}

/* ---- several ---- */

struct programs {
	int begin[OUTERMOST + 1], end[OUTERMOST + 1], name[OUTERMOST + 1];
	int release[OUTERMOST + 1];
};

static void programs_make(struct call_bed *c, struct programs *p)
{
	for (int level = INNER; level <= OUTERMOST; level++) {
		p->begin[level] = program_make(c, BEGIN, level);
		p->end[level] = program_make(c, RETURN, level);
		p->name[level] = program_make(c, NAME, level);
		p->release[level] = program_make(c, RELEASE, level);
	}
}

static void programs_close(struct programs *p)
{
	for (int level = INNER; level <= OUTERMOST; level++) {
		close(p->begin[level]);
		close(p->end[level]);
		close(p->name[level]);
		close(p->release[level]);
	}
}

/* Nothing is under way; all words of the stack are the caller's address. */
static uint64_t fresh(struct call_bed *c)
{
	struct ras_call call = { .trampoline = TRAMPOLINE };

	if (c->bed.module.machine == EM_386)
		call.trampoline = (uint32_t)TRAMPOLINE;
	call_put(c, &call);
	for (int i = 0; i < WORDS; i++)
		c->stack[i] = CALLER;
	return bed_slice(&c->bed)->head;
}

static void test_nesting(struct call_bed *c, const struct programs *p)
{
	uint64_t at = fresh(c), was;

	begin(c, p->begin[MIDDLE], 50, 8, 9);
	c->stack[50] = TRAMPOLINE;
	begin(c, p->begin[INNER], 40, 16, 0x17);
	c->stack[40] = TRAMPOLINE;
	finish(c, p->end[INNER], 40, BLOCK);
	finish(c, p->end[MIDDLE], 50, BLOCK);
	expect(c, &at, "2:7000:8:9", "the outer one of two");

	was = bed_why(&c->bed, 0)->filtered[RAS_FILTERED_NESTED];
	finish(c, p->end[MIDDLE], 50, BLOCK);
	expect(c, &at, "", "a return without a pending call");
	tap_is(bed_why(&c->bed, 0)->filtered[RAS_FILTERED_NESTED], was + 1,
	       "it counts as filtered");

	at = fresh(c);
	begin(c, p->begin[MIDDLE], 50, 8, 9);
	c->stack[50] = TRAMPOLINE;
	begin(c, p->begin[INNER], 50, 16, 0x17);
	finish(c, p->end[INNER], 50, BLOCK);
	finish(c, p->end[MIDDLE], 50, BLOCK);
	expect(c, &at, "2:7000:8:9", "the one that jumps to the other");
}

/* By an exception, or longjmp() */
static void test_left(struct call_bed *c, const struct programs *p)
{
	uint64_t at = fresh(c);
	struct ras_call call;

	begin(c, p->begin[MIDDLE], 50, 8, 9);
	begin(c, p->begin[INNER], 40, 16, 0x17);
	finish(c, p->end[INNER], 40, BLOCK);
	finish(c, p->end[MIDDLE], 50, BLOCK);
	expect(c, &at, "1:7000:16:17", "one was left: no call is pending there");

	at = fresh(c);
	call = (struct ras_call){ 0 };
	call_put(c, &call);
	begin(c, p->begin[MIDDLE], 50, 8, 9);
	c->stack[50] = 0;
	begin(c, p->begin[INNER], 40, 16, 0x17);
	finish(c, p->end[INNER], 40, BLOCK);
	expect(c, &at, "1:7000:16:17",
	       "one was left, and no trampoline is known");

	at = fresh(c);
	begin(c, p->begin[MIDDLE], 50, 8, 9);
	c->stack[50] = TRAMPOLINE;
	begin(c, p->begin[INNER], 51, 16, 0x17);
	finish(c, p->end[INNER], 51, BLOCK);
	expect(c, &at, "1:7000:16:17", "one was left: its frame is gone");

	at = fresh(c);
	begin(c, p->begin[MIDDLE], 50, 8, 9);
	c->stack[50] = TRAMPOLINE;
	call = call_get(c);
	call.began -= RAS_CALL_MOST + 1;
	call_put(c, &call);
	begin(c, p->begin[INNER], 40, 16, 0x17);
	finish(c, p->end[INNER], 40, BLOCK);
	expect(c, &at, "1:7000:16:17", "one was left long ago");
}

/* Names of names */
static void test_frames(struct call_bed *c, const struct programs *p)
{
	uint64_t at = fresh(c);
	struct ras_call call;

	begin(c, p->name[OUTERMOST], 50, 7, 0);
	begin(c, p->name[OUTER], 50, 8, 0);
	begin(c, p->begin[INNER], 48, 9, 2);
	finish(c, p->end[INNER], 48, BLOCK);
	expect(c, &at, "6:7000:7:2", "the outer one of two names");
	call = call_get(c);
	tap_is(call.frames, 1, "a jump has no frame");

	begin(c, p->name[OUTERMOST], 50, 7, 0);
	begin(c, p->name[OUTER], 46, 8, 0);
	begin(c, p->begin[INNER], 42, 9, 2);
	call = call_get(c);
	tap_is(call.frames, 2, "calls have");
	finish(c, p->end[INNER], 42, BLOCK);
	expect(c, &at, "6:7000:7:2", "the outer one of two names");

	begin(c, p->name[OUTERMOST], 50, 7, 0);
	begin(c, p->name[OUTER], 46, 8, 0);
	begin(c, p->begin[INNER], 46, 9, 2);
	call = call_get(c);
	tap_is(call.frames, 1, "a call has, the jump after it hasn't");
	finish(c, p->end[INNER], 46, BLOCK);
	expect(c, &at, "6:7000:7:2", "the outer one of two names");
}

static void test_names(struct call_bed *c, const struct programs *p)
{
	uint64_t at = fresh(c);
	struct ras_call call;

	begin(c, p->name[OUTER], 50, 0, 0);
	begin(c, p->begin[INNER], 48, 1, 2);
	call = call_get(c);
	tap_is(call.frames, 1, "a frame lies between");
	finish(c, p->end[INNER], 48, BLOCK);
	tap_ok(bed_record(&c->bed, at)->flags & RAS_RECORD_NAMED,
	       "the record says so");
	begin(c, p->begin[INNER], 48, 5, 6);
	finish(c, p->end[INNER], 48, BLOCK);
	expect(c, &at, "4:7000:0:2 1:7000:5:6", "a name and its size, once");

	begin(c, p->name[OUTER], 50, 7, 0);
	c->stack[50] = CALLER + 1;
	begin(c, p->begin[INNER], 48, 9, 2);
	finish(c, p->end[INNER], 48, BLOCK);
	c->stack[50] = CALLER;
	expect(c, &at, "1:7000:9:2", "another call has come since");

	begin(c, p->name[INNER], 50, 7, 0);
	begin(c, p->begin[MIDDLE], 48, 9, 2);
	finish(c, p->end[MIDDLE], 48, BLOCK);
	expect(c, &at, "2:7000:9:2", "of a higher level");

	begin(c, p->name[OUTER], 100, 7, 0);
	begin(c, p->begin[INNER], 60, 9, 2);
	finish(c, p->end[INNER], 60, BLOCK);
	expect(c, &at, "1:7000:9:2", "from far below");

	begin(c, p->begin[MIDDLE], 60, 3, 4);
	c->stack[60] = TRAMPOLINE;
	begin(c, p->name[OUTER], 50, 7, 0);
	begin(c, p->begin[INNER], 48, 9, 2);
	finish(c, p->end[INNER], 48, BLOCK);
	finish(c, p->end[MIDDLE], 60, BLOCK);
	expect(c, &at, "2:7000:3:4", "inside another call it names nothing");
}

static void test_releases(struct call_bed *c, const struct programs *p)
{
	uint64_t at = fresh(c);

	begin(c, p->release[OUTER], 50, BLOCK, 0);
	begin(c, p->release[INNER], 50, BLOCK, 0);
	expect(c, &at, "4:7000:0:0", "by a jump");
	begin(c, p->release[INNER], 50, BLOCK, 0);
	expect(c, &at, "1:7000:0:0", "and a second time");
	begin(c, p->release[OUTER], 50, BLOCK, 0);
	begin(c, p->release[INNER], 50, BLOCK + 1, 0);
	expect(c, &at, "4:7000:0:0 1:7001:0:0", "another block");
	begin(c, p->release[OUTER], 50, BLOCK, 0);
	c->stack[50] = CALLER + 1;
	begin(c, p->release[INNER], 50, BLOCK, 0);
	c->stack[50] = CALLER;
	expect(c, &at, "4:7000:0:0 1:7000:0:0", "from another place");
	begin(c, p->release[OUTER], 50, BLOCK, 0);
	begin(c, p->begin[INNER], 48, 1, 2);
	finish(c, p->end[INNER], 48, BLOCK);
	begin(c, p->release[INNER], 48, BLOCK, 0);
	expect(c, &at, "4:7000:0:0 1:7000:1:2 1:7000:0:0",
	       "the block has come back meanwhile");
	begin(c, p->begin[MIDDLE], 50, 1, 2);
	c->stack[50] = TRAMPOLINE;
	begin(c, p->release[INNER], 40, BLOCK, 0);
	finish(c, p->end[MIDDLE], 50, BLOCK);
	expect(c, &at, "2:7000:1:2", "inside a call");
}

/* Of a call from a frame that has a caller */
static void stack_expect(struct call_bed *c, const struct programs *p,
			 bool named, int prog, const char *expected)
{
	uint64_t at = fresh(c);
	const uint8_t *item = (const void *)(bed_record(&c->bed, at) + 1);
	struct pt_regs *regs = &c->bed.input.regs;
	uint16_t length;
	char text[128] = "";
	int used = 0;

	if (c->bed.module.machine == EM_386) {
		uint32_t frame[2] = { 0, CALLER & 0x7fffffff };

		memcpy(&c->stack[100], frame, sizeof(frame));
	} else {
		c->stack[100] = 0;
	}
	regs->rbp = (uintptr_t)&c->stack[100];
	regs->rip = 0x11000;
	if (named)
		begin(c, p->name[OUTER], 52, 7, 0);
	begin(c, p->begin[INNER], 48, 8, 9);
	finish(c, prog, 48, BLOCK);
	memcpy(&length, item + 1, 2);
	for (int i = 0; i < (length - 2) / 8; i++) {
		uint64_t address;

		memcpy(&address, item + 5 + 8 * i, 8);
		used += snprintf(text + used, sizeof(text) - used, "%lx ",
				 address);
	}
	snprintf(text + used, sizeof(text) - used, "end %u", item[3]);
	tap_str(text, expected, named ? "stack of a named call" :
				       "stack of a call");
}

static void test_stack(struct call_bed *c, const struct programs *p)
{
	bool is32 = c->bed.module.machine == EM_386;
	struct bed *bed = &c->bed;
	int prog;

	bed_clear(bed);
	bed->site.flags = TDF_SITE_RETURN;
	bed->point.flags = TDF_POINT_CALL;
	bed->point.level = bed->point.minor = INNER;
	bed_stmt(bed, TDF_STMT_STACK, 0, 8, NULL, 0);
	prog = bed_load(bed);
	if (prog < 0)
		tap_bail("%s", bed->log);
	minors[prog] = INNER;
	stack_expect(c, p, false, prog, is32 ? "11000 55551000 end 1" :
		     "11000 555555551000 end 1");
	stack_expect(c, p, true, prog, is32 ? "55551000 end 1" :
		     "555555551000 end 1");
	close(prog);
}

static void test_machine(struct call_bed *c, uint16_t machine,
			 uint8_t elf_class)
{
	struct programs p;

	c->bed.module.machine = machine;
	c->bed.module.elf_class = elf_class;
	test_arguments(c);
	programs_make(c, &p);
	test_nesting(c, &p);
	test_left(c, &p);
	test_names(c, &p);
	test_frames(c, &p);
	test_releases(c, &p);
	test_stack(c, &p);
	programs_close(&p);
}

/* ---- which blocks ---- */

static void one_call(struct call_bed *c, const struct programs *p,
		     uint64_t block, uint64_t size, uint64_t old)
{
	begin(c, p->begin[INNER], 50, size, old);
	finish(c, p->end[INNER], 50, block);
}

static bool block_known(const struct call_bed *c, uint64_t address)
{
	struct ras_block key = { .pid = getpid(), .address = address };
	uint64_t value;

	return !bpf_map_lookup_elem(c->heap.blocks_fd, &key, &value);
}

static void block_put(const struct call_bed *c, uint64_t address)
{
	struct ras_block key = { .pid = getpid(), .address = address };
	uint64_t value = 0;

	bpf_map_update_elem(c->heap.blocks_fd, &key, &value, 0);
}

static void test_size(struct call_bed *c)
{
	struct programs p;
	uint64_t at, was;

	c->heap.min_size = 100;
	programs_make(c, &p);
	at = fresh(c);
	was = bed_why(&c->bed, 0)->filtered[RAS_FILTERED_CONDITION];
	one_call(c, &p, 0x10, 99, 0);
	expect(c, &at, "", "a block that is too small");
	tap_is(bed_why(&c->bed, 0)->filtered[RAS_FILTERED_CONDITION], was + 1,
	       "it counts as filtered");
	one_call(c, &p, 0x20, 100, 0);
	expect(c, &at, "1:20:100:0", "one that isn't");
	begin(c, p.release[INNER], 50, 0x10, 0);
	begin(c, p.release[INNER], 50, 0x20, 0);
	begin(c, p.release[INNER], 50, 0x20, 0);
	expect(c, &at, "1:20:0:0", "releases, of these once");

	one_call(c, &p, 0x20, 100, 0);
	one_call(c, &p, 0x30, 200, 0x20);
	expect(c, &at, "1:20:100:0 1:30:200:20", "known for large");
	tap_ok(!block_known(c, 0x20) && block_known(c, 0x30), "is large");
	one_call(c, &p, 0x40, 50, 0x30);
	expect(c, &at, "1:0:0:30", "known for small: it went");
	tap_ok(!block_known(c, 0x30) && !block_known(c, 0x40), "is unknown");
	one_call(c, &p, 0x50, 500, 0x40);
	expect(c, &at, "1:50:500:0", "unknown for large: it came");
	tap_ok(block_known(c, 0x50), "is known");
	one_call(c, &p, 0x60, 50, 0x70);
	expect(c, &at, "", "unknown for small");
	one_call(c, &p, 0x50, 700, 0x50);
	expect(c, &at, "1:50:700:50", "where it is");
	tap_ok(block_known(c, 0x50), "is still known");
	one_call(c, &p, FAILED, 900, 0x50);
	expect(c, &at, "", "the exchange fails");
	tap_ok(block_known(c, 0x50), "is still known");
	one_call(c, &p, FAILED, 900, 0x70);
	tap_ok(!block_known(c, 0x70), "what was unknown is so");
	one_call(c, &p, 0, 0, 0x50);
	expect(c, &at, "1:0:0:50", "known for none");
	tap_ok(!block_known(c, 0x50), "is unknown");

	one_call(c, &p, 0x90, 300, 0);
	begin(c, p.begin[INNER], 50, 400, 0x90);
	tap_ok(!block_known(c, 0x90), "where an exchange begins it is unknown");
	block_put(c, 0x90);
	finish(c, p.end[INNER], 50, 0xa0);
	expect(c, &at, "1:90:300:0 1:a0:400:90", "but logged");
	tap_ok(block_known(c, 0x90), "its address is another thread's by now");

	begin(c, p.name[OUTER], 52, 100, 0);
	one_call(c, &p, 0x80, 99, 0);
	expect(c, &at, "4:80:100:0", "by the size of the named call");
	programs_close(&p);
	c->heap.min_size = 0;
}

/* The size of a named call is after two pointers, of which either may be bad. */
static void test_named_size(struct call_bed *c)
{
	uint64_t size = 100, *good = &size, *bad = (void *)8, at;
	struct bed *bed = &c->bed;
	struct programs p;
	int prog;

	c->heap.min_size = 100;
	programs_make(c, &p);
	bed_clear(bed);
	bed->site.flags = TDF_SITE_CALL;
	bed->point.flags = TDF_POINT_CALL;
	bed->point.level = bed->point.minor = OUTER;
	bed_stmt(bed, TDF_STMT_VALUE, TDF_STMT_SIZE, 8,
		 RPN(OP_breg + RDI, 0, OP_deref, OP_deref));
	prog = bed_load(bed);
	if (!tap_ok(prog >= 0, "a size after two pointers"))
		tap_diag("%s", bed->log);
	minors[prog] = OUTER;
	at = fresh(c);
	begin(c, prog, 52, (uintptr_t)&good, 0);
	one_call(c, &p, 0x10, 99, 0);
	expect(c, &at, "4:10:100:0", "  is that of the call");
	begin(c, prog, 52, (uintptr_t)&bad, 0);
	one_call(c, &p, 0x20, 200, 0);
	expect(c, &at, "4:20:200:0", "  its own, the second can't be followed");
	begin(c, prog, 52, 8, 0);
	one_call(c, &p, 0x30, 200, 0);
	expect(c, &at, "4:30:200:0", "  its own, the first can't");
	close(prog);
	programs_close(&p);
	c->heap.min_size = 0;
}

/* No room for one more */
static void test_full(struct call_bed *c)
{
	struct body_heap heap = c->heap;
	struct programs p;
	uint64_t at;

	c->heap.min_size = 1;
	c->heap.blocks_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "blocks",
					   sizeof(struct ras_block),
					   sizeof(uint64_t), 1, NULL);
	programs_make(c, &p);
	at = fresh(c);
	one_call(c, &p, 0x10, 5, 0);
	one_call(c, &p, 0x20, 5, 0);
	expect(c, &at, "1:10:5:0", "a block that there is no room for");
	programs_close(&p);
	close(c->heap.blocks_fd);
	c->heap = heap;
}

static bool block_is(const struct call_bed *c, uint32_t pid, uint64_t address)
{
	const struct ras_block key = { .pid = pid, .address = address };

	return !bpf_map_delete_elem(c->heap.blocks_fd, &key);
}

/* One who works in another one's memory */
static void test_owner(struct call_bed *c)
{
	uint32_t self = getpid(), owner = self + 7;
	struct programs p;

	c->heap.owners_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "owners", 4, 4, 1,
					   NULL);
	if (bpf_map_update_elem(c->heap.owners_fd, &self, &owner, BPF_ANY))
		tap_bail("cannot fill the map 'owners'");
	programs_make(c, &p);
	fresh(c);
	one_call(c, &p, 0x10, 100, 0);
	tap_ok(block_is(c, owner, 0x10), "a block is that one's");
	one_call(c, &p, 0x20, 100, 0);
	one_call(c, &p, 0x30, 100, 0x20);
	tap_ok(!block_is(c, owner, 0x20) && block_is(c, owner, 0x30),
	       "so is one that it becomes");
	bpf_map_delete_elem(c->heap.owners_fd, &self);
	one_call(c, &p, 0x40, 100, 0);
	tap_ok(block_is(c, self, 0x40), "its own again");
	programs_close(&p);
	close(c->heap.owners_fd);
	c->heap.owners_fd = -1;
}

/* 5.5 standard deviations: once in 26 million runs per row. */
static bool likely(double found, double expected, double variance)
{
	return fabs(found - expected) <= 5.5 * sqrt(variance) + 1e-9;
}

#define MEAN	1000
#define CALLS	20000

/* n bytes: the chance is 1 - exp(-n / MEAN), and what is recorded, each by its
 * weight, comes to all that there was. */
static void test_chance(struct call_bed *c)
{
	static const unsigned int sizes[] = { 1, 24, 300, 1000, 4000, 100000 };
	const size_t count = sizeof(sizes) / sizeof(sizes[0]);
	unsigned int recorded[6] = { 0 };
	double sum = 0, variance = 0;
	struct programs p;

	c->heap.sample = MEAN;
	programs_make(c, &p);
	fresh(c);
	for (unsigned int i = 0; i < CALLS * count; i++) {
		unsigned int kind = i * 7 % count;
		uint64_t head = bed_slice(&c->bed)->head;

		one_call(c, &p, BLOCK, sizes[kind], 0);
		recorded[kind] += bed_slice(&c->bed)->head != head;
	}
	for (size_t i = 0; i < count; i++) {
		double chance = 1 - exp(-(double)sizes[i] / MEAN);
		double spread = CALLS * chance * (1 - chance);
		double weight = sizes[i] / chance;

		tap_ok(likely(recorded[i], CALLS * chance, spread),
		       "%u bytes: %u of %u, expected %.0f", sizes[i],
		       recorded[i], CALLS, CALLS * chance);
		sum += recorded[i] * weight - (double)CALLS * sizes[i];
		variance += spread * weight * weight;
	}
	tap_ok(likely(sum, 0, variance), "all bytes, by their weights: %+.0f",
	       sum);
	one_call(c, &p, BLOCK, 0, 0);
	programs_close(&p);
	c->heap.sample = 0;
}

/* The distances themselves, for a small mean and a very large one */
static void test_distances(struct call_bed *c, uint64_t mean)
{
	double sum = 0, above = 0;
	struct programs p;

	c->heap.sample = mean;
	programs_make(c, &p);
	for (int i = 0; i < CALLS; i++) {
		struct ras_call call;

		fresh(c);
		one_call(c, &p, BLOCK, 0, 0);
		call = call_get(c);
		sum += call.left - 0.5;
		above += call.left > mean;
	}
	tap_ok(likely(sum / CALLS, mean, (double)mean * mean / CALLS),
	       "distances of %lu bytes: %.1f on average", (unsigned long)mean,
	       sum / CALLS);
	tap_ok(likely(above, CALLS * exp(-1), CALLS * exp(-1)),
	       "%.0f of %d are above", above, CALLS);
	programs_close(&p);
	c->heap.sample = 0;
}

int main(void)
{
	static struct call_bed c = { .heap = { .blocks_fd = -1 } };

	bed_open(&c.bed, BODY_TEST);
	c.heap = HEAP_MAPS_NONE;
	c.bed.target.heap = &c.heap;
	if (heap_maps_make(&c.heap, NULL))
		tap_bail("cannot make the map 'calls'");
	c.self = syscall(SYS_pidfd_open, getpid(), 0);
	c.stack = machine_map_low(WORDS * sizeof(*c.stack));
	if (c.self < 0 || c.stack == MAP_FAILED)
		tap_bail("cannot set up: %s", strerror(errno));

	tap_diag("64 bits");
	test_machine(&c, EM_X86_64, ELFCLASS64);
	tap_diag("32 bits");
	test_machine(&c, EM_386, ELFCLASS32);
	c.bed.module.machine = EM_X86_64;
	c.bed.module.elf_class = ELFCLASS64;
	test_refused(&c);
	c.heap.min_size = 1;
	if (heap_maps_make(&c.heap, NULL))
		tap_bail("cannot make the map 'blocks'");
	test_size(&c);
	test_named_size(&c);
	test_full(&c);
	test_owner(&c);
	c.heap.min_size = 0;
	test_chance(&c);
	test_distances(&c, 50);
	test_distances(&c, 1ULL << 40);
	return tap_done();
}
