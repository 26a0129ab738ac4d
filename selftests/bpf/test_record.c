// SPDX-License-Identifier: GPL-2.0
/*
 * Whole records: every kind of statement, readable and not, cut and empty,
 * are the interpreter's bytes; slices are taken, counted and filled as
 * rastrace/buffer.h says.
 */
#include "bed.h"

#define PAGE	4096

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
	bed->module.machine = EM_X86_64;
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
	tap_is(bed_load(bed), -EOPNOTSUPP,
	       "gs in an expression is refused");
	prepare(bed);
	bed->module.machine = EM_AARCH64;
	bed_reg(bed, 0, 8);
	tap_ok(bed_load(bed) < 0, "unknown machine is refused: %s", bed->log);
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

/* The item is unreadable, the one behind it isn't traced. */
static void fault_row(struct bed *bed, int kind, int length, const char *name,
		      const uint8_t *rpn, size_t size)
{
	struct ras_count *count = bed_count(bed, 1, 0);
	uint64_t faults = count->faults;

	prepare(bed);
	bed_reg(bed, 0, 8);
	bed_memory(bed, kind, length, rpn, size);
	bed_memory(bed, TDF_STMT_MEM, 8, RPN(AT(RBX, 0)));
	bed_reg(bed, 1, 4);
	tap_ok(passes(bed) && count->faults == faults + 1,
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
	len_row(bed, 2, 0x10000, 40, RPN(OP_lit));
	len_row(bed, 8, 1ULL << 32, 40, RPN(AT(RBX, 0)));
	prepare(bed);
	bed_reg(bed, 3, 8);
	bed_len(bed, bed_memory(bed, TDF_STMT_MEM, 8, RPN(AT(RBX, 0))), 2,
		RPN(AT(RDI, 0)));
	tap_ok(passes(bed), "the length is not readable");
}

/* MAXDATALENGTH: `count` statements of one kind and a register behind each. */
static void budget_row(struct bed *bed, int maxdata, int kind, int count,
		       int length)
{
	prepare(bed);
	bed->header.maxdata = maxdata;
	for (int i = 0; i < count; i++) {
		if (kind == 2)
			bed_len(bed, bed_memory(bed, TDF_STMT_MEM, length + 20,
						RPN(AT(RBX, i))), 1,
				RPN(OP_breg + 4, 0));
		else
			bed_memory(bed, kind ? TDF_STMT_ASCIIZ : TDF_STMT_MEM,
				   length + (kind ? 4 : 0), RPN(AT(RBX, i)));
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
	for (int kind = 0; kind < 3; kind++) {
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
	}
}

/* Programs of every size load; strings are the verifier's hard case. */
static void test_sizes(struct bed *bed)
{
	for (int count = 1; count <= 20; count++) {
		bool ok = true;

		for (int kind = 0; kind < 3; kind++) {
			prepare(bed);
			bed->input.regs.rsi = (uintptr_t)&count;
			for (int i = 0; i < count; i++) {
				struct tdf_stmt *s;

				s = bed_memory(bed, kind == 1 ?
					       TDF_STMT_ASCIIZ : TDF_STMT_MEM,
					       20, RPN(AT(RBX, i)));
				if (kind == 2)
					bed_len(bed, s, 1,
						RPN(OP_breg + 4, 0));
			}
			ok &= passes(bed);
		}
		tap_ok(ok, "%d statements of each kind", count);
	}
}

static void test_states(struct bed *bed)
{
	struct ras_slice *slice = bed_slice(bed);
	struct ras_count *count = bed_count(bed, 1, 0);
	struct ras_count before;
	uint64_t head;
	int prog;

	prepare(bed);
	bed_reg(bed, 0, 8);
	bed_memory(bed, TDF_STMT_MEM, 8, RPN(OP_lit));
	prog = bed_load(bed);
	bed_input(bed);
	before = *count;
	head = slice->head;
	bed_state(bed, RAS_STATE_OFF);
	bed_run(prog);
	tap_ok(!memcmp(&before, count, sizeof(before)) && slice->head == head,
	       "off: nothing is counted or recorded");
	bed_state(bed, RAS_STATE_SUSPENDED);
	bed_run(prog);
	before.filtered++;
	tap_ok(!memcmp(&before, count, sizeof(before)) && slice->head == head,
	       "suspended: counted as filtered");
	bed_state(bed, RAS_STATE_ON);
	bed_run(prog);
	before.recorded++;
	before.faults++;
	tap_ok(!memcmp(&before, count, sizeof(before)) && slice->head > head,
	       "on again");
	bed->input.cookie = RAS_COOKIE(1, 9999, 0);
	bed_input(bed);
	head = slice->head;
	bed_run(prog);
	tap_ok(slice->head == head && !slice->lock, "a wild cookie is ignored");
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
			uint32_t hits)
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
		if (counter != r->seq || length != counter % 401 ||
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
	return found > bytes / 500 ? NULL : "too few records";
}

static void test_wrap(struct bed *bed)
{
	static char text[512];
	const uint32_t hits = 6000;
	struct ras_slice *slice;
	const char *wrong;
	int prog;

	bed_maps(bed, RAS_SLICE_MIN, RAS_NEST_BYTES);
	bed_state(bed, RAS_STATE_ON);
	prepare(bed);
	bed->input.regs.rsi = (uintptr_t)text;
	bed_reg(bed, 0, 4);
	bed_memory(bed, TDF_STMT_ASCIIZ, 450, RPN(OP_breg + 4, 0));
	prog = bed_load(bed);
	for (uint32_t i = 0; i < hits; i++) {
		memset(text, 'a' + i % 26, i % 401);
		text[i % 401] = '\0';
		bed->input.regs.rax = i;
		bed_input(bed);
		bed_run(prog);
	}
	close(prog);
	slice = bed_slice(bed);
	wrong = walk(slice, RAS_SLICE_MIN, hits);
	tap_ok(!wrong, "64 KiB, %u records, %llu bytes%s%s", hits, slice->head,
	       wrong ? ": " : "", wrong ? wrong : "");
	tap_is(slice->records, hits, "records are counted");
}

/* A record that starts in the last 8 bytes lies in the slack whole. */
static void test_slack(struct bed *bed)
{
	struct ras_slice *slice = bed_slice(bed);

	prepare(bed);
	bed_memory(bed, TDF_STMT_MEM, 509, RPN(AT(RBX, 0)));
	slice->head = 5 * RAS_SLICE_MIN - 8;
	tap_ok(passes(bed), "a record runs into the slack");
	tap_is(slice->head & (RAS_SLICE_MIN - 1), RAS_RECORD_HEADER + 512 - 8,
	       "the next one starts behind it");
}

static void test_same(struct bed *bed)
{
	struct tdf_point other;
	struct body a, b;
	struct error err;
	bool same;

	prepare(bed);
	for (int i = 0; i < 2; i++) {
		bed_reg(bed, 3, 8);
		bed_memory(bed, TDF_STMT_ASCIIZ, 20,
			   RPN(OP_addr, 5, 0, 0, 0, 0, 0, 0, 0));
	}
	bed->point.stmts = 2;
	other = bed->point;
	other.first_stmt = 2;
	other.minor = 77;
	other.first_site = 1;
	body_generate(&a, &bed->tdf, &bed->point, &bed->target, &err);
	body_generate(&b, &bed->tdf, &other, &bed->target, &err);
	same = a.count && a.count == b.count &&
	       !memcmp(a.insns, b.insns, a.count * sizeof(*a.insns));
	tap_ok(same, "equal statements make equal bodies");
	tap_ok(a.notes[0].insn == 0 && a.notes[0].stmt == -1 &&
	       a.notes[1].stmt == 0 && a.notes[2].stmt == 1 &&
	       a.notes[3].stmt == -2 && a.notes[3].insn < a.count,
	       "notes tell prologue, statements and epilogue");
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
	test_memory(&bed);
	test_faults(&bed);
	test_strings(&bed);
	test_lengths(&bed);
	test_budget(&bed);
	test_sizes(&bed);
	test_states(&bed);
	test_nesting(&bed);
	test_same(&bed);
	test_wrap(&bed);
	test_slack(&bed);
	if (bed.target.preempt_disable) {
		bed.target.preempt_disable = 0;
		test_sizes(&bed);
	}
	bed.target.strong = true;
	test_nesting(&bed);
	test_large(&bed);
	return tap_done();
}
