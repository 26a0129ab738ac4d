// SPDX-License-Identifier: GPL-2.0
/*
 * Whole records: every kind of statement, readable and not, cut and empty,
 * are the interpreter's bytes; slices are taken, counted and filled as
 * rastrace/buffer.h says.
 */
#include <pthread.h>
#include <signal.h>
#include "bed.h"

#define PAGE	4096
#define MANY	64	/* statements */

/* Two readable pages, then one that can't be read. */
static uint8_t *pages;

/* breg3 (rbx), breg2 (rcx), breg5 (rdi) + offset, as sleb128 of two bytes */
#define AT(reg, off)	OP_breg + (reg), (uint8_t)(((off) & 0x7f) | 0x80), \
			(uint8_t)(((off) >> 7) & 0x7f)
#define RBX		3
#define RCX		2
#define RDI		5

static void map_pages(void)
{
	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (pages == MAP_FAILED)
		tap_bail("no memory");
	for (int i = 0; i < 2 * PAGE; i++)
		pages[i] = 'A' + i % 23;
	mprotect(pages + 2 * PAGE, PAGE, PROT_NONE);
}

static int machine = EM_X86_64;

static void prepare(struct bed *bed)
{
	struct pt_regs *r = &bed->input.regs;
	uint64_t *word = (uint64_t *)r;

	for (size_t i = 0; i < sizeof(*r) / 8; i++)
		word[i] = 0x8091a2b3c4d50000ULL + i * 0x0101;
	r->rbx = (uintptr_t)pages;
	r->rcx = (uintptr_t)(pages + PAGE);
	r->rdi = (uintptr_t)(pages + 2 * PAGE);
	bed->input.cookie = RAS_COOKIE(0xbeef, 1, 2);
	bed_site(bed, 2, r->rip - (uintptr_t)pages);
	bed->header.maxdata = TDF_DATA_MAX;
	bed->module.machine = machine;
	bed->module.elf_class = ELFCLASS64;
	bed_clear(bed);
}

static bool passes(struct bed *bed)
{
	return bed_check(bed) == 0;
}

static void test_registers(struct bed *bed)
{
	static const int all[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
				   13, 14, 15, 16, 49 };

	for (int bytes = 2; bytes <= 8; bytes *= 2) {
		prepare(bed);
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			bed_reg(bed, all[i], bytes);
		bed_reg(bed, 51, 2);
		bed_reg(bed, 52, 2);
		tap_ok(passes(bed), "every register, %d bytes", bytes);
	}
	prepare(bed);
	bed->module.machine = EM_386;
	for (int i = 0; i < 10; i++)
		bed_reg(bed, i, 4);
	tap_ok(passes(bed), "every register of i386");
	for (int i = 50; i < 56; i++) {
		if (i == 51 || i == 52)
			continue;
		prepare(bed);
		bed_reg(bed, i, 2);
		tap_is(bed_load(bed), -EOPNOTSUPP,
		       "segment register %d is refused", i);
	}
	prepare(bed);
	bed_reg(bed, 40, 8);
	tap_is(bed_load(bed), -ENOENT, "unknown register is refused");
	prepare(bed);
	bed_reg(bed, 51, 8);
	tap_is(bed_load(bed), -EINVAL, "cs as 8 bytes is refused");
	prepare(bed);
	bed_memory(bed, TDF_STMT_MEM, 8, RPN(OP_bregx, 55, 0));
	bed->target.layout = NULL;
	tap_is(bed_load(bed), -EOPNOTSUPP,
	       "gs in an expression is refused without BTF");
	bed->target.layout = &bed->layout;
	prepare(bed);
	bed->module.machine = EM_RISCV;
	bed_reg(bed, 0, 8);
	tap_is(bed_load(bed), -ENOSYS, "unknown machine is refused: %s",
	       bed->log);
}

/* The same registers' words, with AArch64's names. */
static void prepare_a64(struct bed *bed)
{
	prepare(bed);
	for (size_t i = 0; i < BED_X; i++)
		bed->input.x[i] = 0x8091a2b3c4d50000ULL + i * 0x0101;
	bed->input.x[RBX] = (uintptr_t)pages;
	bed->input.x[RCX] = (uintptr_t)(pages + PAGE);
	bed_site(bed, 2, bed->input.x[BED_PC] - (uintptr_t)pages);
	bed->module.machine = EM_AARCH64;
}

static void test_a64(struct bed *bed)
{
	for (int bytes = 4; bytes <= 8; bytes *= 2) {
		prepare_a64(bed);
		for (int i = 0; i <= BED_PC; i++)
			bed_reg(bed, i, bytes);
		bed_reg(bed, 40, bytes);
		tap_ok(passes(bed), "every register of AArch64, %d bytes",
		       bytes);
	}
	prepare_a64(bed);
	for (int i = 29; i <= BED_PC; i++)
		bed_stmt(bed, TDF_STMT_VALUE, 0, 8, RPN(OP_bregx, i, 5));
	bed_memory(bed, TDF_STMT_MEM, 16, RPN(AT(RCX, -3)));
	bed_memory(bed, TDF_STMT_ASCIIZ, 20, RPN(AT(RBX, 0)));
	bed_memory(bed, TDF_STMT_MEM, 8, RPN(OP_addr, 5, 0, 0, 0, 0, 0, 0, 0));
	tap_ok(passes(bed), "expressions of them");
	prepare_a64(bed);
	bed_reg(bed, 64, 8);
	tap_is(bed_load(bed), -ENOENT, "a vector register is refused");
	prepare_a64(bed);
	bed_reg(bed, 36, 8);
	tap_is(bed_load(bed), -EOPNOTSUPP, "as is TPIDR: %s", bed->log);
	prepare_a64(bed);
	bed_stmt(bed, TDF_STMT_MEM, TDF_STMT_SEGMENT, 8,
		 RPN(OP_lit, OP_lit));
	tap_is(bed_load(bed), -EOPNOTSUPP, "and a selector: %s", bed->log);
}

/* The exchange that publishes the head */
static void test_published(struct bed *bed)
{
	static const struct { int machine, exchanges; } rows[] = {
		{ EM_X86_64, 0 }, { EM_386, 0 }, { EM_AARCH64, 2 },
	};

	for (size_t i = 0; i < 3; i++) {
		struct error err;
		struct body body;
		int found = 0;

		prepare(bed);
		bed->module.machine = rows[i].machine;
		bed_reg(bed, 0, 4);
		body_generate(&body, &bed->tdf, &bed->point, &bed->site,
			      &bed->target, &err);
		for (size_t k = 0; k < body.count; k++)
			found += body.insns[k].code ==
				 (BPF_STX | BPF_ATOMIC | BPF_DW) &&
				 body.insns[k].imm == BPF_XCHG;
		tap_ok(rows[i].exchanges ? found >= rows[i].exchanges :
		       !found, "machine %d: %d exchanges", rows[i].machine,
		       found);
		body_free(&body);
	}
}

static void test_memory(struct bed *bed)
{
	static const int lengths[] = { 1, 2, 3, 4, 7, 8, 16, 100, 509 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		prepare(bed);
		bed_memory(bed, TDF_STMT_MEM, lengths[i],
			   RPN(AT(RCX, -3)));
		tap_ok(passes(bed), "%d bytes over a page's end", lengths[i]);
	}
	prepare(bed);
	bed_memory(bed, TDF_STMT_MEM, 8, RPN(OP_addr, 5, 0, 0, 0, 0, 0, 0, 0));
	tap_ok(passes(bed), "static data moves with the bias");
}

/* The item is unreadable, the one after it isn't traced. */
static void fault_row(struct bed *bed, int kind, int length, const char *name,
		      const uint8_t *rpn, size_t size)
{
	uint64_t faults = bed_faults(bed_why(bed, 1));

	prepare(bed);
	bed_reg(bed, 0, 8);
	bed_memory(bed, kind, length, rpn, size);
	bed_memory(bed, TDF_STMT_MEM, 8, RPN(AT(RBX, 0)));
	bed_reg(bed, 1, 4);
	tap_ok(passes(bed) && bed_faults(bed_why(bed, 1)) == faults + 1,
	       "%s, %s", kind == TDF_STMT_MEM ? "memory" : "string", name);
}

static void test_faults(struct bed *bed)
{
	for (int kind = TDF_STMT_MEM; kind <= TDF_STMT_ASCIIZ; kind++) {
		fault_row(bed, kind, 8, "NULL", RPN(OP_lit));
		fault_row(bed, kind, 8, "PROT_NONE", RPN(AT(RDI, 8)));
		fault_row(bed, kind, 8, "unmapped",
			  RPN(OP_const2u, 0, 0x10));
		fault_row(bed, kind, 8, "last byte not readable",
			  RPN(AT(RDI, -7)));
		fault_row(bed, kind, 8, "kernel address",
			  RPN(OP_const8s, 0, 0, 0, 0, 0x80, 0xff, 0xff, 0xff));
		fault_row(bed, kind, 8, "non-canonical address",
			  RPN(OP_const8s, 0, 0, 0, 0, 0, 0, 0, 0x41));
		fault_row(bed, kind, 8, "pointer to it",
			  RPN(AT(RDI, 0), OP_deref, OP_plus_uconst, 4));
		fault_row(bed, kind, 8, "division by zero",
			  RPN(AT(RDI, 0), OP_lit, OP_div));
	}
}

static void string_row(struct bed *bed, int length, int limit, uint8_t *at)
{
	char saved = at[length];

	prepare(bed);
	bed->input.regs.rsi = (uintptr_t)at;
	at[length] = '\0';
	bed_reg(bed, 0, 2);
	bed_memory(bed, TDF_STMT_ASCIIZ, limit, RPN(OP_breg + 4, 0));
	bed_memory(bed, TDF_STMT_MEM, 5, RPN(AT(RBX, 9)));
	bed_reg(bed, 1, 4);
	tap_ok(passes(bed), "string of %d, limit %d, %s", length, limit,
	       at + length == pages + 2 * PAGE - 1 ? "at a page's end" :
	       "in a page");
	at[length] = saved;
}

static void test_strings(struct bed *bed)
{
	static const int lengths[] = { 0, 1, 7, 13, 31, 32, 33, 34, 64, 300 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		string_row(bed, lengths[i], 32, pages + 100);
		string_row(bed, lengths[i], 32,
			   pages + 2 * PAGE - 1 - lengths[i]);
	}
	string_row(bed, 0, 1, pages + 5);
	string_row(bed, 1, 1, pages + 5);
	string_row(bed, 2, 1, pages + 5);
	prepare(bed);
	bed_memory(bed, TDF_STMT_ASCIIZ, 40, RPN(AT(RDI, -20)));
	tap_ok(passes(bed), "string without an end before a page's end");
	prepare(bed);
	bed_memory(bed, TDF_STMT_ASCIIZ, 20, RPN(AT(RDI, -20)));
	bed_reg(bed, 1, 4);
	tap_ok(passes(bed), "string that goes on where nothing is readable");
	prepare(bed);
	bed_memory(bed, TDF_STMT_ASCIIZ, 20, RPN(AT(RDI, -21)));
	tap_ok(passes(bed), "string that goes on for one more byte");
	prepare(bed);
	bed_memory(bed, TDF_STMT_ASCIIZ, 40, RPN(AT(RDI, -42)));
	tap_ok(passes(bed), "cut string up to a page's end");
}

static void len_row(struct bed *bed, int bytes, uint64_t length, int limit,
		    const uint8_t *rpn, size_t size)
{
	static uint64_t word;

	word = length;
	prepare(bed);
	bed->input.regs.rsi = (uintptr_t)&word;
	bed_len(bed, bed_memory(bed, TDF_STMT_MEM, limit, rpn, size),
		bytes, RPN(OP_breg + 4, 0));
	bed_memory(bed, TDF_STMT_ASCIIZ, 9, RPN(AT(RBX, 0)));
	bed_len(bed, bed_memory(bed, TDF_STMT_MEM, limit,
				RPN(AT(RBX, 1))),
		bytes, RPN(OP_breg + 4, 0));
	bed_reg(bed, 3, 8);
	tap_ok(passes(bed), "LEN of %d bytes, %#lx, limit %d", bytes, length,
	       limit);
}

static void test_lengths(struct bed *bed)
{
	for (int bytes = 1; bytes <= 8; bytes *= 2) {
		len_row(bed, bytes, 0, 40, RPN(OP_lit, OP_deref));
		len_row(bed, bytes, 1, 40, RPN(AT(RBX, 7)));
		len_row(bed, bytes, 40, 40, RPN(AT(RCX, -1)));
		len_row(bed, bytes, 41, 40, RPN(AT(RCX, -1)));
		len_row(bed, bytes, 255, 40, RPN(AT(RCX, -1)));
		len_row(bed, bytes, -1ULL, 40, RPN(AT(RCX, -1)));
		len_row(bed, bytes, 5, 40, RPN(OP_lit));
		len_row(bed, bytes, 5, 40, RPN(AT(RDI, 0), OP_deref));
	}
	for (int length = -1; length < 43; length += 4) {
		prepare(bed);
		bed->input.regs.rsi = length;
		bed_len(bed, bed_memory(bed, TDF_STMT_MEM, 40,
					RPN(AT(RBX, 0))),
			1, RPN(OP_breg + 4, 0));
		bed->stmts[0].flags |= TDF_STMT_LEN_VALUE;
		bed_reg(bed, 3, 8);
		tap_ok(passes(bed), "LEN with the value %d, limit 40", length);
	}
	/* a copy is compared, too: Linux 6.12 refused the length then */
	prepare(bed);
	bed->input.regs.rsi = 7 - (1 << 29);
	bed_len(bed, bed_memory(bed, TDF_STMT_MEM, 40, RPN(AT(RBX, 0))),
		1, RPN(OP_breg + 4, 0, OP_not, OP_not, OP_plus_uconst, 0x80,
		       0x80, 0x80, 0x80, 2, OP_dup, OP_abs, OP_bra, 0, 0));
	bed->stmts[0].flags |= TDF_STMT_LEN_VALUE;
	tap_ok(passes(bed), "LEN with a large number added");
	len_row(bed, 2, 0x10000, 40, RPN(OP_lit));
	len_row(bed, 8, 1ULL << 32, 40, RPN(AT(RBX, 0)));
	prepare(bed);
	bed_reg(bed, 3, 8);
	bed_len(bed, bed_memory(bed, TDF_STMT_MEM, 8, RPN(AT(RBX, 0))), 2,
		RPN(AT(RDI, 0)));
	tap_ok(passes(bed), "the length is not readable");
}

/* MAXDATALENGTH: `count` statements of one kind and a register after each. */
static void budget_row(struct bed *bed, int maxdata, int kind, int count,
		       int length)
{
	prepare(bed);
	bed->header.maxdata = maxdata;
	for (int i = 0; i < count; i++) {
		if (kind == 3)
			bed_stmt(bed, TDF_STMT_VALUE, 0, 1 + length % 8,
				 RPN(OP_breg, i));
		else if (kind == 2)
			bed_len(bed, bed_memory(bed, TDF_STMT_MEM, length + 20,
						RPN(AT(RBX, i))), 1,
				RPN(OP_breg + 4, 0));
		else
			bed_memory(bed, kind ? TDF_STMT_ASCIIZ : TDF_STMT_MEM,
				   length + (kind ? 4 : 0), RPN(AT(RBX, i)));
		if (kind == 3)
			bed_stmt(bed, TDF_STMT_MEM, TDF_STMT_MORE, length,
				 RPN(AT(RBX, i)));
		bed_reg(bed, i, 2);
	}
	bed->input.regs.rsi = (uintptr_t)&length;
	pages[length] = '\0';
	tap_ok(passes(bed), "MAXDATALENGTH %d: %d items of %d, kind %d",
	       maxdata, count, length, kind);
	pages[length] = 'x';
}

static void test_budget(struct bed *bed)
{
	for (int kind = 0; kind < 4; kind++) {
		budget_row(bed, 20, kind, 1, 14);
		budget_row(bed, 20, kind, 1, 15);
		budget_row(bed, 20, kind, 1, 16);
		budget_row(bed, 20, kind, 1, 17);
		budget_row(bed, 20, kind, 3, 4);
		budget_row(bed, 20, kind, 5, 8);
		budget_row(bed, 100, kind, 4, 20);
		budget_row(bed, 100, kind, 4, 21);
		budget_row(bed, 512, kind, 8, 100);
		budget_row(bed, 512, kind, 16, 100);
		budget_row(bed, 20, kind, 16, 1);
		for (int more = -1; more < 2; more++) {
			budget_row(bed, 4095 + more, kind, 1, 4091);
			budget_row(bed, 4096, kind, 1, 4091 + more);
			budget_row(bed, 4096, kind, 4, 1019 + more);
		}
		budget_row(bed, 4096, kind, 16, 300);
	}
}

static bool size_passes(struct bed *bed, int kind, int count, int flags)
{
	prepare(bed);
	bed->point.flags = flags;
	bed->input.regs.rsi = (uintptr_t)&count;
	for (int i = 0; i < count; i++) {
		int of = kind == 1 ? TDF_STMT_ASCIIZ :
			 kind == 3 ? TDF_STMT_VALUE : TDF_STMT_MEM;
		struct tdf_stmt *s = bed_memory(bed, of, kind == 3 ? 7 : 20,
						RPN(AT(RBX, i), OP_deref,
						    OP_drop, AT(RBX, i)));

		if (kind == 2)
			bed_len(bed, s, 1, RPN(OP_breg + 4, 0));
	}
	return passes(bed);
}

/* Lengths that are known to the verifier, where the budget isn't. */
static void test_constant_lengths(struct bed *bed)
{
	static const int lengths[] = { 0, 1, 2, 7, 19, 20, 31 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		prepare(bed);
		bed->header.maxdata = 60;
		bed_memory(bed, TDF_STMT_ASCIIZ, 40, RPN(AT(RBX, 0)));
		bed_len(bed, bed_memory(bed, TDF_STMT_MEM, 20,
					RPN(AT(RBX, 0))),
			1, RPN(OP_lit + lengths[i]));
		bed->stmts[1].flags |= TDF_STMT_LEN_VALUE;
		bed_stmt(bed, TDF_STMT_VALUE, 0, 8, RPN(OP_breg, 0));
		tap_ok(passes(bed), "LEN with the constant %d", lengths[i]);
	}
}

static void size_row(struct bed *bed, int count)
{
	for (int kind = 0; kind < 4; kind++)
		tap_ok(size_passes(bed, kind, count, 0) &&
		       size_passes(bed, kind, count, TDF_POINT_CONTINUE),
		       "%d statements of kind %d", count, kind);
}

/* Programs of all sizes load, in a time that grows as they do: strings are the
 * verifier's hard case, where 20 might be 2^20 ways. */
static void test_sizes(struct bed *bed)
{
	static const int counts[] = { 1, 2, 3, 7, 20, MANY };

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		size_row(bed, counts[i]);
}

/* Values of every length, with registers after them to see where they end. */
static void test_values(struct bed *bed)
{
	for (int raw = 0; raw <= TDF_STMT_RAW; raw += TDF_STMT_RAW) {
		bool ok = true;

		for (int length = 1; length <= 8; length++) {
			prepare(bed);
			bed_reg(bed, 1, 2);
			bed_stmt(bed, TDF_STMT_VALUE, raw, length,
				 RPN(OP_breg, 0));
			bed_reg(bed, 2, 8);
			bed_stmt(bed, TDF_STMT_VALUE, raw, length,
				 RPN(AT(RBX, 0), OP_deref));
			bed_memory(bed, TDF_STMT_ASCIIZ, 5, RPN(AT(RBX, 0)));
			bed_stmt(bed, TDF_STMT_VALUE, raw, length,
				 RPN(OP_breg + 1, 5, OP_not));
			bed_reg(bed, 3, 4);
			ok &= passes(bed);
		}
		tap_ok(ok, "values of 1 to 8 bytes%s", raw ? ", raw" : "");
	}
	prepare(bed);
	bed_stmt(bed, TDF_STMT_VALUE, 0, 8,
		 RPN(OP_addr, 1, 2, 0, 0, 0, 0, 0, 0));
	tap_ok(passes(bed), "a static address as a value");
	prepare(bed);
	bed_stmt(bed, TDF_STMT_MEM, TDF_STMT_RAW, 200, RPN(AT(RBX, 0)));
	bed_reg(bed, 3, 4);
	bed_memory(bed, TDF_STMT_MEM, 9, RPN(AT(RBX, 3)));
	tap_ok(passes(bed), "raw memory");
}

/* An item of three pieces, each of which may be unreadable. */
static void test_pieces(struct bed *bed)
{
	static const char *const names[] = {
		"", ", raw", ", ONFAULT=CONTINUE", ", raw, ONFAULT=CONTINUE",
	};

	for (int i = 0; i < 4; i++) {
		int raw = i & 1 ? TDF_STMT_RAW : 0;
		bool ok = true;

		for (int bad = 0; bad < 4; bad++) {
			prepare(bed);
			bed->point.flags = i & 2 ? TDF_POINT_CONTINUE : 0;
			bed_reg(bed, 1, 2);
			bed_stmt(bed, TDF_STMT_MEM, raw, 7,
				 RPN(AT(RDI, bad == 1 ? -6 : -7)));
			bed_stmt(bed, TDF_STMT_VALUE, TDF_STMT_MORE | raw, 3,
				 RPN(AT(RDI, bad == 2 ? 9 : -9), OP_deref));
			bed_stmt(bed, TDF_STMT_MEM, TDF_STMT_MORE | raw, 30,
				 RPN(AT(RDI, bad == 3 ? 0 : -40)));
			bed_reg(bed, 2, 8);
			bed_memory(bed, TDF_STMT_MEM, 3, RPN(AT(RBX, 0)));
			ok &= passes(bed);
		}
		tap_ok(ok, "an item in pieces%s", names[i]);
	}
}

static void test_absent(struct bed *bed)
{
	prepare(bed);
	bed_absent(bed);
	bed_memory(bed, TDF_STMT_ASCIIZ, 9, RPN(AT(RBX, 0)));
	bed_absent(bed);
	bed_absent(bed);
	bed_reg(bed, 1, 8);
	tap_ok(passes(bed), "absent items");
	prepare(bed);
	bed->header.maxdata = 20;
	bed_memory(bed, TDF_STMT_MEM, 20, RPN(AT(RBX, 0)));
	bed_absent(bed);
	bed_memory(bed, TDF_STMT_MEM, 20, RPN(AT(RBX, 0)));
	tap_ok(passes(bed), "absent where MAXDATALENGTH is reached");
}

/* Without the module that reads vector registers these items are marked, with
 * all of their pieces; what has no prefix ends the record. */
static void test_vectors(struct bed *bed)
{
	prepare(bed);
	bed_stmt(bed, TDF_STMT_VALUE, 0, 8, RPN(OP_vector, 17, 0));
	bed_memory(bed, TDF_STMT_MEM, 4, RPN(AT(RBX, 0)));
	bed_stmt(bed, TDF_STMT_VALUE, 0, 4, RPN(OP_vector, 32, 8, OP_not));
	bed_memory(bed, TDF_STMT_MEM, 4, RPN(AT(RBX, 0)));
	bed_stmt(bed, TDF_STMT_VALUE, TDF_STMT_MORE, 8,
		 RPN(OP_vector, 18, 0));
	bed_reg(bed, 1, 8);
	tap_ok(passes(bed), "vector registers without the module");
	prepare(bed);
	bed_reg(bed, 1, 8);
	bed_stmt(bed, TDF_STMT_VALUE, TDF_STMT_RAW, 8, RPN(OP_vector, 17, 0));
	bed_reg(bed, 1, 8);
	tap_ok(passes(bed), "a raw vector register without the module");
	prepare(bed);
	bed_stmt(bed, TDF_STMT_IF, 0, 0, RPN(OP_vector, 17, 0));
	bed_reg(bed, 1, 8);
	tap_ok(passes(bed), "a condition with a vector register");
}

/* The record goes on after each of `count` items of one kind, all of which
 * or every other one of which fault. */
static void continue_row(struct bed *bed, int maxdata, int kind, int count,
			 int length, int readable)
{
	static const char *const names[] = {
		"memory", "strings", "LEN", "values", "pieces",
	};

	prepare(bed);
	bed->point.flags = TDF_POINT_CONTINUE;
	bed->header.maxdata = maxdata;
	bed->input.regs.rsi = (uintptr_t)&length;
	pages[length] = '\0';
	for (int i = 0; i < count; i++) {
		int reg = i % 2 < readable ? RBX : RDI;

		if (kind < 2)
			bed_memory(bed, kind ? TDF_STMT_ASCIIZ : TDF_STMT_MEM,
				   length + (kind ? 4 : 0), RPN(AT(reg, 0)));
		else if (kind == 2)
			bed_len(bed, bed_memory(bed, TDF_STMT_MEM, length + 20,
						RPN(AT(reg, i))), 1,
				RPN(OP_breg + 4, 0));
		else
			bed_stmt(bed, TDF_STMT_VALUE, 0, 1 + length % 8,
				 RPN(AT(reg, 8), OP_deref));
		if (kind == 4)
			bed_stmt(bed, TDF_STMT_MEM, TDF_STMT_MORE, length,
				 RPN(AT(reg, 0)));
		bed_reg(bed, i % 16, 2);
	}
	tap_ok(passes(bed), "MAXDATALENGTH %d, ONFAULT=CONTINUE: %d %s of %d, %s fault",
	       maxdata, count, names[kind], length,
	       readable ? "some" : "all");
	pages[length] = 'x';
}

static void test_continue(struct bed *bed)
{
	for (int kind = 0; kind < 5; kind++) {
		for (int readable = 0; readable < 2; readable++) {
			continue_row(bed, 512, kind, 3, 16, readable);
			continue_row(bed, 512, kind, 20, 4, readable);
			continue_row(bed, 512, kind, 20, 60, readable);
			continue_row(bed, 512, kind, 21, 2, readable);
			continue_row(bed, 100, kind, 8, 9, readable);
			continue_row(bed, 512, kind, 40, 1, readable);
			continue_row(bed, 65, kind, 7, 11, readable);
			continue_row(bed, 20, kind, 4, 3, readable);
			continue_row(bed, 20, kind, 20, 30, readable);
			continue_row(bed, 4096, kind, 2, 4080, readable);
			continue_row(bed, 4096, kind, 8, 600, readable);
			continue_row(bed, 4096, kind, 40, 130, readable);
		}
	}
}

static void condition_row(struct bed *bed, const char *name, const uint8_t *rpn,
			  size_t size)
{
	prepare(bed);
	bed_memory(bed, TDF_STMT_IF, 0, rpn, size);
	bed_reg(bed, 3, 8);
	bed_memory(bed, TDF_STMT_ASCIIZ, 9, RPN(AT(RBX, 0)));
	tap_ok(passes(bed), "IF: %s", name);
	prepare(bed);
	bed_memory(bed, TDF_STMT_IF, 0, rpn, size);
	tap_ok(passes(bed), "IF: %s, no data", name);
}

static void test_conditions(struct bed *bed)
{
	condition_row(bed, "1", RPN(OP_lit + 1));
	condition_row(bed, "0", RPN(OP_lit));
	condition_row(bed, "in the upper half",
		      RPN(OP_lit + 1, OP_lit + 31, OP_lit + 2, OP_plus,
			  OP_shl));
	condition_row(bed, "memory",
		      RPN(AT(RBX, 0), OP_deref_size, 1, OP_const1u, 'A',
			  OP_eq));
	condition_row(bed, "memory, not so",
		      RPN(AT(RBX, 0), OP_deref_size, 1, OP_const1u, 'B',
			  OP_eq));
	condition_row(bed, "unreadable", RPN(AT(RDI, 0), OP_deref));
	condition_row(bed, "division by zero",
		      RPN(OP_lit + 1, OP_lit, OP_div));
	condition_row(bed, "unreadable, not asked for",
		      RPN(OP_lit + 5, OP_lit, OP_bra, 3, 0, OP_skip, 5, 0,
			  OP_drop, AT(RDI, 0), OP_deref));
}

/* What the tracepoint counts over hits: `hits` of them, on one CPU. */
static void limit_row(struct bed *bed, unsigned int passcount,
		      unsigned int maxhits, unsigned int hits,
		      unsigned int recorded)
{
	struct bed_counts before = bed_counts(bed, 1), after;
	unsigned int passed = hits < passcount ? hits : passcount;
	int prog;

	prepare(bed);
	bed->point.passcount = passcount;
	bed->point.maxhits = maxhits;
	memset(bed->limits, 0, BED_POINTS * sizeof(*bed->limits));
	bed_reg(bed, 3, 8);
	bed_memory(bed, TDF_STMT_ASCIIZ, 9, RPN(AT(RBX, 0)));
	prog = bed_load(bed);
	if (prog < 0)
		tap_diag("%s", bed->log);
	bed_input(bed);
	for (unsigned int i = 0; i < hits; i++)
		bed_run(prog);
	close(prog);
	after = bed_counts(bed, 1);
	tap_ok(after.count.recorded == before.count.recorded + recorded &&
	       after.why.filtered[RAS_FILTERED_PASSED] ==
	       before.why.filtered[RAS_FILTERED_PASSED] + passed &&
	       after.why.filtered[RAS_FILTERED_MAXHITS] ==
	       before.why.filtered[RAS_FILTERED_MAXHITS] +
	       hits - passed - recorded &&
	       after.count.dropped == before.count.dropped &&
	       !bed_slice(bed)->lock,
	       "PASSCOUNT %u, MAXHITS %u: %u of %u hits are recorded",
	       passcount, maxhits, recorded, hits);
}

static void lock_all(struct bed *bed, int lock)
{
	bed_slice(bed)->lock = lock;
	for (int level = 1; level <= RAS_NEST_LEVELS; level++)
		bed_nest(bed, level)->lock = lock;
}

/* A hit that is dropped is no record; one that is not wanted passes nothing. */
static void test_limits(struct bed *bed)
{
	struct bed_counts before, after;
	uint64_t word = 0;
	int prog;

	limit_row(bed, 3, 0, 10, 7);
	limit_row(bed, 0, 3, 10, 3);
	limit_row(bed, 2, 3, 10, 3);
	limit_row(bed, 5, 1, 5, 0);
	limit_row(bed, 0, 1, 1, 1);
	limit_row(bed, -1U, -1U, 4, 0);
	limit_row(bed, 0, -1U, 4, 4);
	prepare(bed);
	bed->point.maxhits = 2;
	bed->point.passcount = 1;
	memset(bed->limits, 0, BED_POINTS * sizeof(*bed->limits));
	bed->input.regs.rsi = (uintptr_t)&word;
	bed_memory(bed, TDF_STMT_IF, 0, RPN(OP_breg + 4, 0, OP_deref));
	bed_reg(bed, 3, 8);
	before = bed_counts(bed, 1);
	prog = bed_load(bed);
	bed_input(bed);
	bed_run(prog);
	tap_is(bed->limits[1].passed, 0, "IF is asked before PASSCOUNT");
	word = 1;
	bed_run(prog);
	lock_all(bed, 1);
	bed_run(prog);
	bed_nest(bed, 3)->lock = 0;
	bed_run(prog);
	lock_all(bed, 0);
	bed_run(prog);
	bed_run(prog);
	close(prog);
	after = bed_counts(bed, 1);
	tap_ok(bed_filtered(&after.why) == bed_filtered(&before.why) + 3 &&
	       after.count.dropped == before.count.dropped + 1 &&
	       after.count.recorded == before.count.recorded + 1 &&
	       bed_count(bed, 1, 3)->recorded,
	       "a dropped hit doesn't count for MAXHITS");
	bed->limits[1].recorded = 0;
}

static bool limit_stop;

/* On another CPU: the limit is reached, is not, is reached ... */
static void *limit_change(void *context)
{
	struct bed *bed = context;
	volatile __u64 *recorded = &bed->limits[1].recorded;
	cpu_set_t others;

	memset(&others, 0xff, sizeof(others));
	CPU_CLR(bed->cpu, &others);
	sched_setaffinity(0, sizeof(others), &others);
	while (!__atomic_load_n(&limit_stop, __ATOMIC_RELAXED)) {
		*recorded = 1000;
		*recorded = 0;
	}
	return NULL;
}

/* MAXHITS is reached on another CPU while this one takes a slice: the last of
 * them, because that takes longest. */
static void test_limit_race(struct bed *bed)
{
	struct ras_count *last = bed_count(bed, 1, RAS_NEST_LEVELS);
	struct bed_counts before = bed_counts(bed, 1), after;
	__u64 recorded = last->recorded, filtered;
	const unsigned int hits = 60000;
	pthread_t thread;
	int prog;

	prepare(bed);
	bed->point.maxhits = 1000;
	bed_reg(bed, 3, 8);
	prog = bed_load(bed);
	bed_input(bed);
	bed_slice(bed)->lock = bed_nest(bed, 1)->lock = 1;
	bed_nest(bed, 2)->lock = 1;
	__atomic_store_n(&limit_stop, false, __ATOMIC_RELAXED);
	pthread_create(&thread, NULL, limit_change, bed);
	for (unsigned int i = 0; i < hits; i++)
		bed_run(prog);
	__atomic_store_n(&limit_stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	close(prog);
	bed_slice(bed)->lock = bed_nest(bed, 1)->lock = 0;
	bed_nest(bed, 2)->lock = 0;
	after = bed_counts(bed, 1);
	recorded = last->recorded - recorded;
	filtered = after.why.filtered[RAS_FILTERED_MAXHITS] -
		   before.why.filtered[RAS_FILTERED_MAXHITS];
	tap_ok(recorded + filtered == hits &&
	       after.count.dropped == before.count.dropped &&
	       !bed_nest(bed, RAS_NEST_LEVELS)->lock,
	       "MAXHITS reached meanwhile: %llu recorded, %llu too late",
	       recorded, filtered);
}

static __thread uint64_t thread_local = 0x1122334455667788ULL;

static void thread_statements(struct bed *bed, int base, int64_t offset)
{
	bed_stmt(bed, TDF_STMT_VALUE, 0, 8, RPN(OP_bregx, base, 0));
	bed_stmt(bed, TDF_STMT_VALUE, 0, 8,
		 RPN(OP_breg, 1, OP_breg + 1, 2, OP_plus,
		     OP_bregx, base, 3, OP_minus));
	bed_reg(bed, 1, 4);
	bed_len(bed, bed_memory(bed, TDF_STMT_MEM, 8, RPN(AT(RBX, 0))),
		8, RPN(OP_bregx, base, 0, OP_lit + 7, OP_and));
	bed_memory(bed, TDF_STMT_MEM, 8,
		   RPN(OP_bregx, base, (offset & 0x7f) | 0x80,
		       (offset >> 7 & 0x7f) | 0x80, offset >> 14 & 0x7f));
}

/* The kernel hasn't seen it yet: no address is made of it. A word of the task
 * that is 0 means it. */
static void test_late(struct bed *bed)
{
	uint64_t position = bed_slice(bed)->head, pointer;
	const struct ras_record *r = bed_record(bed, position);
	const uint8_t *item = (const void *)(r + 1);
	uint32_t base = bed->layout.thread_base[0];
	struct btf *btf = btf__load_vmlinux_btf();
	int prog;

	prepare_a64(bed);
	sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
	bed->layout.thread_base[0] = bed_member(btf, "task_struct",
						"sas_ss_sp");
	btf__free(btf);
	bed_stmt(bed, TDF_STMT_VALUE, 0, 8, RPN(OP_bregx, 36, 8));
	prog = bed_load(bed);
	bed_input(bed);
	bed_run(prog);
	close(prog);
	memcpy(&pointer, item + RAS_ITEM_PREFIX, 8);
	tap_ok(bed_slice(bed)->head > position &&
	       r->flags == RAS_RECORD_FAULT &&
	       item[0] == (RAS_ITEM_NOT_TRIED | RAS_ITEM_STALE) && !pointer,
	       "TPIDR that the kernel hasn't seen yet");
	bed->layout.thread_base[0] = base;
}

static void test_thread(struct bed *bed)
{
	int64_t offset = (uintptr_t)&thread_local - bed->thread_base[0];

	if (!bed->layout.thread_base[0]) {
		tap_skip("thread-local memory", "this kernel has no BTF");
		return;
	}
	for (int base = 58; base <= 59; base++) {
		if (base == 59 && !bed->layout.thread_base[1]) {
			tap_skip("gs.base", "only x86 has one");
			continue;
		}
		prepare(bed);
		thread_statements(bed, base, offset);
		tap_ok(passes(bed), "%s.base", base == 58 ? "fs" : "gs");
	}
	prepare_a64(bed);
	thread_statements(bed, 36, offset);
	tap_ok(passes(bed), "TPIDR");
	test_late(bed);
	bed->layout.thread_base[0] = 0;
	prepare(bed);
	bed_stmt(bed, TDF_STMT_VALUE, 0, 8, RPN(OP_bregx, 58, 0));
	tap_is(bed_load(bed), -EOPNOTSUPP, "without BTF it is refused: %s",
	       bed->log);
}

static void test_refused(struct bed *bed)
{
	prepare(bed);
	for (int i = 0; i < 4; i++)
		bed_stmt(bed, TDF_STMT_MEM, TDF_STMT_RAW, RAS_RECORD_MAX / 4,
			 RPN(AT(RBX, 0)));
	tap_is(bed_load(bed), -E2BIG, "raw memory of %d bytes is refused",
	       RAS_RECORD_MAX);
}

static bool counts_are(const struct bed *bed, const struct bed_counts *x)
{
	struct bed_counts now = bed_counts(bed, 1);

	return !memcmp(&now, x, sizeof(now));
}

static void test_states(struct bed *bed)
{
	struct ras_slice *slice = bed_slice(bed);
	struct bed_counts counts;
	uint64_t head;
	int prog;

	prepare(bed);
	bed_reg(bed, 0, 8);
	bed_memory(bed, TDF_STMT_MEM, 8, RPN(OP_lit));
	prog = bed_load(bed);
	bed_input(bed);
	counts = bed_counts(bed, 1);
	head = slice->head;
	bed_state(bed, RAS_STATE_OFF);
	bed_run(prog);
	tap_ok(counts_are(bed, &counts) && slice->head == head,
	       "off: nothing is counted or recorded");
	bed_state(bed, RAS_STATE_SUSPENDED);
	bed_run(prog);
	counts.why.filtered[RAS_FILTERED_SUSPENDED]++;
	tap_ok(counts_are(bed, &counts) && slice->head == head,
	       "suspended: counted as filtered");
	bed_state(bed, RAS_STATE_ON);
	bed_run(prog);
	counts.count.recorded++;
	counts.why.faults[RAS_FAULT_ABSENT]++;
	tap_ok(counts_are(bed, &counts) && slice->head > head, "on again");
	bed->input.cookie = RAS_COOKIE(1, 9999, 0);
	bed_input(bed);
	head = slice->head;
	bed_run(prog);
	tap_ok(slice->head == head && !slice->lock, "a wild cookie is ignored");
	bed_state(bed, RAS_STATE_SUSPENDED);
	bed_run(prog);
	tap_ok(counts_are(bed, &counts), "counted the same while suspended");
	bed_state(bed, RAS_STATE_ON);
	close(prog);
}

static void test_nesting(struct bed *bed)
{
	struct ras_slice *slice = bed_slice(bed);
	struct ras_count *main_count = bed_count(bed, 1, 0);
	struct expected x;
	uint64_t dropped, records;
	int prog;

	prepare(bed);
	bed_reg(bed, 0, 8);
	bed_memory(bed, TDF_STMT_ASCIIZ, 20, RPN(AT(RBX, 0)));
	prog = bed_load(bed);
	bed_input(bed);
	bed_expect(bed, &x);
	slice->lock = 1;
	records = main_count->recorded;
	for (int level = 1; level <= RAS_NEST_LEVELS; level++) {
		struct ras_slice *nest = bed_nest(bed, level);

		bed_run(prog);
		tap_ok(nest->head && !nest->lock && nest->records == 1 &&
		       bed_same(bed, nest, RAS_NEST_BYTES, 0, &x) &&
		       bed_count(bed, 1, level)->recorded == 1 &&
		       main_count->recorded == records,
		       "busy: nesting slice %d is taken", level);
		nest->lock = 1;
	}
	dropped = main_count->dropped;
	bed_run(prog);
	bed_run(prog);
	tap_ok(slice->dropped == 2 && main_count->dropped == dropped + 2 &&
	       main_count->recorded == records && slice->lock == 1,
	       "all busy: dropped, counted twice over");
	slice->lock = 0;
	for (int level = 1; level <= RAS_NEST_LEVELS; level++)
		bed_nest(bed, level)->lock = 0;
	close(prog);
}

/* What the reader of buffer.h finds: 0, or what is wrong. */
static const char *walk(const struct ras_slice *slice, uint64_t bytes,
			uint32_t hits, int lengths)
{
	uint64_t p = slice->head + RAS_RECORD_MAX > bytes ?
		     slice->head + RAS_RECORD_MAX - bytes : 0;
	uint32_t found = 0, seq = 0;

	while (p < slice->head) {
		const struct ras_record *r = (const void *)
			(slice->data + (p & (bytes - 1)));
		const uint8_t *data = (const uint8_t *)(r + 1);
		uint32_t counter;
		uint16_t length;

		if (r->stamp != (p ^ BED_KEY)) {
			if (found)
				return "a record without stamp";
			p += 8;
			continue;
		}
		if (found++ && r->seq != seq + 1)
			return "a gap in the sequence numbers";
		seq = r->seq;
		memcpy(&counter, data, 4);
		memcpy(&length, data + 5, 2);
		if (counter != r->seq || length != counter % lengths ||
		    r->length != RAS_RECORD_HEADER + 7u + length)
			return "wrong length";
		for (int i = 0; i < length; i++) {
			if (data[7 + i] != 'a' + counter % 26)
				return "wrong text";
		}
		p += (r->length + 7) & ~7u;
	}
	if (p != slice->head || seq != hits - 1)
		return "does not end at head";
	return found > bytes / (lengths + 99) ? NULL : "too few records";
}

/* Texts of less than `lengths` bytes, until every one was overwritten. */
static void wrap(struct bed *bed, int lengths)
{
	static char text[TDF_DATA_MAX];
	const uint32_t hits = 6000;
	struct ras_slice *slice;
	const char *wrong;
	int prog;

	bed_maps(bed, RAS_SLICE_MIN, RAS_NEST_BYTES);
	bed_state(bed, RAS_STATE_ON);
	prepare(bed);
	bed->input.regs.rsi = (uintptr_t)text;
	bed_reg(bed, 0, 4);
	bed_memory(bed, TDF_STMT_ASCIIZ, lengths, RPN(OP_breg + 4, 0));
	prog = bed_load(bed);
	for (uint32_t i = 0; i < hits; i++) {
		memset(text, 'a' + i % 26, i % lengths);
		text[i % lengths] = '\0';
		bed->input.regs.rax = i;
		bed_input(bed);
		bed_run(prog);
	}
	close(prog);
	slice = bed_slice(bed);
	wrong = walk(slice, RAS_SLICE_MIN, hits, lengths);
	tap_ok(!wrong, "64 KiB, %u records, %llu bytes%s%s", hits, slice->head,
	       wrong ? ": " : "", wrong ? wrong : "");
	tap_is(slice->records, hits, "records are counted");
}

static void test_wrap(struct bed *bed)
{
	wrap(bed, 401);
	wrap(bed, TDF_DATA_MAX - 4 - RAS_ITEM_PREFIX + 1);
}

static void test_tail_call(struct bed *bed)
{
	prepare(bed);
	bed->site.flags = TDF_SITE_TAIL_CALL;
	bed->header.maxdata = 20;
	bed_memory(bed, TDF_STMT_ASCIIZ, 30, RPN(AT(RBX, 0)));
	tap_ok(passes(bed), "a tail call is marked, and that the record is cut");
	prepare(bed);
	bed->site.flags = TDF_SITE_TAIL_CALL;
	bed_memory(bed, TDF_STMT_MEM, 30, RPN(OP_lit));
	tap_ok(passes(bed), "a tail call is marked, and a fault");
}

/* A record that starts in the last 8 bytes lies in the slack whole. */
static void test_slack(struct bed *bed)
{
	struct ras_slice *slice = bed_slice(bed);

	prepare(bed);
	bed_memory(bed, TDF_STMT_MEM, TDF_DATA_MAX - RAS_ITEM_PREFIX,
		   RPN(AT(RBX, 0)));
	slice->head = 5 * RAS_SLICE_MIN - 8;
	tap_ok(passes(bed), "a record runs into the slack");
	tap_is(slice->head & (RAS_SLICE_MIN - 1), RAS_RECORD_HEADER + TDF_DATA_MAX - 8,
	       "the next one starts after it");
}

static void test_same(struct bed *bed)
{
	struct tdf_point point;
	struct tdf_site other;
	struct body a, b;
	struct error err;
	bool same;

	prepare(bed);
	for (int i = 0; i < 2; i++) {
		bed_reg(bed, 3, 8);
		bed_memory(bed, TDF_STMT_ASCIIZ, 20,
			   RPN(OP_addr, 5, 0, 0, 0, 0, 0, 0, 0));
	}
	bed->site.stmts = 2;
	point = bed->point;
	point.minor = 77;
	point.first_site = 1;
	other = bed->site;
	other.first_stmt = 2;
	body_generate(&a, &bed->tdf, &bed->point, &bed->site, &bed->target,
		      &err);
	body_generate(&b, &bed->tdf, &point, &other, &bed->target, &err);
	same = a.count && a.count == b.count &&
	       !memcmp(a.insns, b.insns, a.count * sizeof(*a.insns));
	tap_ok(same, "equal statements make equal bodies");
	tap_ok(a.notes[0].insn == 0 && a.notes[0].stmt == -1 &&
	       a.notes[1].stmt == 0 && a.notes[2].stmt == 1 &&
	       a.notes[3].stmt == -2 && a.notes[3].insn < a.count,
	       "notes name prologue, statements and epilogue");
	body_free(&a);
	body_free(&b);
}

static void test_large(struct bed *bed)
{
	prepare(bed);
	for (int i = 0; i < 3; i++)
		bed_memory(bed, TDF_STMT_ASCIIZ, 100, RPN(AT(RBX, 0)));
	bed_maps(bed, 256 << 20, RAS_NEST_BYTES);
	bed_state(bed, RAS_STATE_ON);
	bed_site(bed, 2, 0);
	tap_ok(passes(bed), "slices of 256 MiB");
}

int main(void)
{
	static struct bed bed;

	map_pages();
	bed_open(&bed, BODY_TEST);
	tap_diag("preempt_disable %s", bed.target.preempt_disable ?
		 "is a kfunc here" : "is not offered here");
	test_registers(&bed);
	test_a64(&bed);
	test_published(&bed);
	test_memory(&bed);
	test_faults(&bed);
	test_strings(&bed);
	test_lengths(&bed);
	test_budget(&bed);
	test_constant_lengths(&bed);
	test_sizes(&bed);
	test_values(&bed);
	test_pieces(&bed);
	test_absent(&bed);
	test_vectors(&bed);
	test_continue(&bed);
	test_conditions(&bed);
	test_refused(&bed);
	test_states(&bed);
	test_nesting(&bed);
	test_tail_call(&bed);
	test_same(&bed);
	test_limits(&bed);
	test_limit_race(&bed);
	test_wrap(&bed);
	test_slack(&bed);
	if (bed.target.preempt_disable) {
		bed.target.preempt_disable = 0;
		size_row(&bed, 20);
	}
	machine = EM_AARCH64;	/* publishes otherwise */
	test_nesting(&bed);
	machine = EM_X86_64;
	test_thread(&bed);
	test_large(&bed);
	return tap_done();
}
