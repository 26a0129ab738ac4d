// SPDX-License-Identifier: GPL-2.0
/*
 * Far addresses are read where the processor would read them, through
 * descriptors of the LDT and of the thread and through the bases of FS and GS;
 * what it would refuse is reported with the far pointer. Where a descriptor says
 * what is independent of the table below: lsl, lar and a load by the processor
 * agree with it.
 */
#include "bed.h"
#include <asm/ldt.h>

#define BYTES		0x10000
#define LDT(index)	((index) << 3 | 7)
#define FAR(selector, offset) \
	OP_const2u, (uint8_t)(selector), (uint8_t)((selector) >> 8), \
	OP_const4u, (uint8_t)(offset), (uint8_t)((offset) >> 8), \
	(uint8_t)((offset) >> 16), (uint8_t)((offset) >> 24)

enum {
	BYTE100, PAGE, DOWN32, DOWN16, ABSENT, CODE, CODE_ONLY, CONSTANT,
	SMALL_DOWN, FREE,
};

static uint8_t *memory;		/* below 4 GiB */
static __thread uint64_t thread_local = 0x1122334455667788;

static const struct entry {
	struct user_desc desc;		/* base_addr: after memory */
} entries[] = {
	[BYTE100] = { { .limit = 99 } },
	[PAGE] = { { .limit = 1, .limit_in_pages = 1, .seg_32bit = 1 } },
	[DOWN32] = { { .limit = 0x1fff, .contents = 1, .seg_32bit = 1 } },
	[DOWN16] = { { .limit = 0x1fff, .contents = 1 } },
	[ABSENT] = { { .limit = 99, .seg_not_present = 1, .seg_32bit = 1 } },
	[CODE] = { { .limit = 99, .contents = 2, .seg_32bit = 1 } },
	[CODE_ONLY] = { { .limit = 99, .contents = 2, .read_exec_only = 1 } },
	[CONSTANT] = { { .limit = 99, .read_exec_only = 1 } },
	[SMALL_DOWN] = { { .limit = 0, .contents = 1, .limit_in_pages = 1,
			   .seg_32bit = 1 } },
};

static const struct row {
	const char *name;
	uint16_t selector;
	uint32_t offset, bytes;
	bool bad;
} rows[] = {
	{ "first byte", LDT(BYTE100), 0, 1 },
	{ "a word", LDT(BYTE100), 30, 4 },
	{ "another privilege", LDT(BYTE100) & ~3, 30, 4 },
	{ "last byte", LDT(BYTE100), 99, 1 },
	{ "up to the last byte", LDT(BYTE100), 92, 8 },
	{ "one byte too many", LDT(BYTE100), 93, 8, true },
	{ "after the limit", LDT(BYTE100), 100, 1, true },
	{ "far after it", LDT(BYTE100), 0xffffffff, 1, true },
	{ "limit in pages", LDT(PAGE), 0x1fff, 1 },
	{ "after pages", LDT(PAGE), 0x2000, 1, true },
	{ "down: first byte", LDT(DOWN32), 0x2000, 4 },
	{ "down: below it", LDT(DOWN32), 0x1fff, 1, true },
	{ "down: byte 0", LDT(DOWN32), 0, 1, true },
	{ "down: above 64 KiB", LDT(DOWN32), 0xfff0, 4 },
	{ "down, 16 bits: first byte", LDT(DOWN16), 0x2000, 4 },
	{ "down, 16 bits: last byte", LDT(DOWN16), 0xffff, 1 },
	{ "down, 16 bits: after it", LDT(DOWN16), 0x10000, 1, true },
	{ "down, 16 bits: up to after it", LDT(DOWN16), 0xfffd, 4, true },
	{ "down, in pages: below it", LDT(SMALL_DOWN), 0xfff, 1, true },
	{ "down, in pages", LDT(SMALL_DOWN), 0x1000, 2 },
	{ "not present", LDT(ABSENT), 0, 1, true },
	{ "code", LDT(CODE), 5, 4 },
	{ "code that can't be read", LDT(CODE_ONLY), 5, 4, true },
	{ "data that can't be written", LDT(CONSTANT), 5, 4 },
	{ "an entry that is free", LDT(FREE), 0, 1, true },
	{ "after the LDT", LDT(8191), 0, 1, true },
	{ "the null selector", 0, 0, 1, true },
	{ "the null selector, with a privilege", 3, 0, 1, true },
	{ "a kernel's selector", 0x10, 0, 1, true },
	{ "after the GDT", 0xfffb, 0, 1, true },
};

static void ldt_fill(void)
{
	memory = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (memory == MAP_FAILED)
		tap_bail("no memory below 4 GiB");
	for (int i = 0; i < 2 * BYTES; i++)
		memory[i] = i * 7 + i / 256 + 1;
	for (int i = 0; i < FREE; i++) {
		struct user_desc desc = entries[i].desc;

		desc.entry_number = i;
		desc.base_addr = (uintptr_t)memory;
		if (syscall(SYS_modify_ldt, 0x11, &desc, sizeof(desc)))
			tap_skip_all("needs modify_ldt");
	}
}

/* What the processor says: lar takes the selector, lsl its limit. */
static bool processor_takes(uint16_t selector, uint32_t offset, uint32_t bytes)
{
	uint32_t access, limit;
	bool ok, down;

	asm("lar %k3, %k0; setz %b1; lsl %k3, %k2"
	    : "=&r"(access), "=&q"(ok), "=&r"(limit) : "r"((uint32_t)selector)
	    : "cc");
	if (!ok || !(access & 0x8000) || !(access & 0x1000) ||
	    (access & 0x6000) != 0x6000 || (access & 0x0a00) == 0x0800)
		return false;
	down = (access & 0x0c00) == 0x0400;
	if (down)
		return offset > limit && offset + (uint64_t)bytes - 1 <=
		       (access & 0x400000 ? UINT32_MAX : UINT16_MAX);
	return offset + (uint64_t)bytes - 1 <= limit;
}

/* The bytes after the header of the record that the run makes. */
static const uint8_t *run(struct bed *bed)
{
	uint64_t position = bed_slice(bed)->head;
	int prog = bed_load(bed);
	const struct ras_record *r;

	if (prog < 0) {
		tap_diag("%s", bed->log);
		return NULL;
	}
	bed_input(bed);
	bed_run(prog);
	close(prog);
	if (bed_slice(bed)->head == position)
		return NULL;
	r = (const void *)(bed_slice(bed)->data +
			   (position & (bed->target.slice_bytes - 1)));
	return (const void *)(r + 1);
}

static bool item_is(const uint8_t *item, uint8_t status, const void *bytes,
		    uint16_t length)
{
	uint16_t stored;

	if (!item)
		return false;
	memcpy(&stored, item + 1, 2);
	if (item[0] == status && stored == length &&
	    !memcmp(item + RAS_ITEM_PREFIX, bytes, length))
		return true;
	tap_diag("status %#x, %u bytes from %02x %02x; expected %#x, %u",
		 item[0], stored, item[3], item[4], status, length);
	return false;
}

static bool item_refused(const uint8_t *item, uint16_t selector,
			 uint32_t offset)
{
	uint64_t far = (uint64_t)selector << 32 | offset;

	return item_is(item, RAS_ITEM_SELECTOR, &far, 8);
}

/* Some hypervisors keep no descriptors of programs for the processor. */
static bool processor_has_ldt(void)
{
	return processor_takes(LDT(BYTE100), 0, 1);
}

static void test_row(struct bed *bed, const struct row *row)
{
	const uint8_t rpn[] = { FAR(row->selector, row->offset) };
	const uint8_t *item;
	struct ras_why *why = bed_why(bed, 2);
	uint64_t faults = why->faults[RAS_FAULT_SELECTOR];
	bool as_expected;

	bed_clear(bed);
	bed_memory(bed, TDF_STMT_MEM, row->bytes, rpn, sizeof(rpn))->flags =
		TDF_STMT_SEGMENT;
	item = run(bed);
	if (row->bad)
		as_expected = item_refused(item, row->selector, row->offset);
	else
		as_expected = item_is(item, RAS_ITEM_VALUE,
				      memory + row->offset, row->bytes);
	tap_ok(as_expected, "%s", row->name);
	tap_is(why->faults[RAS_FAULT_SELECTOR] - faults, row->bad,
	       "%s: counted", row->name);
	if (row->bad || processor_has_ldt())
		tap_is(!processor_takes(row->selector, row->offset, row->bytes),
		       row->bad, "%s: the processor agrees", row->name);
	else
		tap_skip(row->name, "this machine loads no LDT descriptors");
}

/* A value read on the way to another. */
static void test_xderef(struct bed *bed)
{
	const uint32_t offset = 30;
	uint64_t value = 0;
	uint32_t part;

	bed_clear(bed);
	bed_memory(bed, TDF_STMT_VALUE, 8,
		   RPN(FAR(LDT(BYTE100), offset), OP_xderef_size, 4,
		       FAR(LDT(PAGE), 0x1000), OP_xderef, OP_plus));
	memcpy(&value, memory + 0x1000, 8);
	memcpy(&part, memory + offset, 4);
	value += part;
	tap_ok(item_is(run(bed), RAS_ITEM_VALUE, &value, 8), "two xderef");
	bed_clear(bed);
	bed_memory(bed, TDF_STMT_VALUE, 8,
		   RPN(FAR(LDT(BYTE100), 97), OP_xderef_size, 4));
	tap_ok(item_refused(run(bed), LDT(BYTE100), 97),
	       "xderef after the limit");
}

static void test_string(struct bed *bed)
{
	memset(memory + 60, 'x', 60);
	memory[120] = '\0';
	bed_clear(bed);
	bed_memory(bed, TDF_STMT_ASCIIZ, 100,
		   RPN(FAR(LDT(BYTE100), 60)))->flags = TDF_STMT_SEGMENT;
	tap_ok(item_is(run(bed), RAS_ITEM_STRING | RAS_ITEM_CUT, memory + 60,
		       40), "a string ends where its segment does");
	bed_clear(bed);
	bed_memory(bed, TDF_STMT_ASCIIZ, 100,
		   RPN(FAR(LDT(PAGE), 60)))->flags = TDF_STMT_SEGMENT;
	tap_ok(item_is(run(bed), RAS_ITEM_STRING, memory + 60, 60),
	       "or with its zero");
}

/* LEN that is far itself; zero bytes are not looked at. */
static void test_length(struct bed *bed)
{
	static const uint8_t lengths[] = { 40, 41, 0 };

	for (int i = 0; i < 3; i++) {
		const uint8_t *item;
		struct tdf_stmt *s;

		memory[10] = lengths[i];
		bed_clear(bed);
		s = bed_memory(bed, TDF_STMT_MEM, 100,
			       RPN(FAR(LDT(BYTE100), 60)));
		bed_len(bed, s, 1, RPN(FAR(LDT(CONSTANT), 10)));
		s->flags |= TDF_STMT_SEGMENT | TDF_STMT_LEN_SEGMENT;
		item = run(bed);
		tap_ok(lengths[i] == 41 ?
		       item_refused(item, LDT(BYTE100), 60) :
		       item_is(item, RAS_ITEM_VALUE, memory + 60, lengths[i]),
		       "LEN of %u where there are 40", lengths[i]);
	}
}

/* `selector` is a segment register by its DWARF number. */
static const uint8_t *run_register(struct bed *bed, int selector,
				   uint64_t offset)
{
	uint8_t rpn[] = { OP_bregx, selector, 0, OP_const8u,
			  0, 0, 0, 0, 0, 0, 0, 0 };

	memcpy(rpn + 4, &offset, 8);
	bed_clear(bed);
	bed_memory(bed, TDF_STMT_MEM, 8, rpn, sizeof(rpn))->flags =
		TDF_STMT_SEGMENT;
	return run(bed);
}

static void test_registers64(struct bed *bed)
{
	uint64_t of_thread = (uintptr_t)&thread_local - bed->thread_base[0];

	tap_ok(item_is(run_register(bed, 54, of_thread),
		       RAS_ITEM_VALUE | RAS_ITEM_STALE, &thread_local, 8),
	       "FS: its base");
	tap_ok(item_is(run_register(bed, 53, (uintptr_t)memory),
		       RAS_ITEM_VALUE | RAS_ITEM_STALE, memory, 8),
	       "DS, which is empty: flat");
	bed->input.regs.ss = 0x2b;
	bed->input.regs.cs = 0x33;
	tap_ok(item_is(run_register(bed, 52, (uintptr_t)&thread_local),
		       RAS_ITEM_VALUE, &thread_local, 8), "SS: flat");
	tap_ok(item_is(run_register(bed, 51, (uintptr_t)&thread_local),
		       RAS_ITEM_VALUE, &thread_local, 8), "CS: flat");
}

/* Only the system call of 32-bit tasks makes a segment of the thread. */
static bool thread_area(uint32_t base)
{
	struct user_desc *desc = (void *)(memory + BYTES);
	int code;

	*desc = (struct user_desc){
		.entry_number = -1, .limit = 0xfffff, .limit_in_pages = 1,
		.seg_32bit = 1, .base_addr = base,
	};
	asm volatile("int $0x80" : "=a"(code)
		     : "a"(243 /* set_thread_area */), "b"(desc)
		     : "memory", "r8", "r9", "r10", "r11");
	return !code;
}

/* The registers of a task of 32 bits: what is empty isn't known yet. */
static void test_registers32(struct bed *bed)
{
	const uint64_t none = 0;

	bed->module.machine = EM_386;
	bed->module.elf_class = ELFCLASS32;
	if (!thread_area((uintptr_t)memory + 0x100)) {
		tap_skip("GS", "no set_thread_area");
	} else {
		tap_ok(item_is(run_register(bed, 45, 0), RAS_ITEM_VALUE,
			       memory + 0x100, 8), "GS: of the thread");
		tap_ok(item_is(run_register(bed, 45, 0xffffff80),
			       RAS_ITEM_VALUE, memory + 0x80, 8),
		       "GS: below its base");
	}
	tap_ok(item_is(run_register(bed, 43, (uintptr_t)memory),
		       RAS_ITEM_VALUE | RAS_ITEM_STALE, memory, 8),
	       "DS of 32 bits");
	bed->input.regs.ss = LDT(BYTE100);
	tap_ok(item_is(run_register(bed, 42, 92), RAS_ITEM_VALUE, memory + 92,
		       8), "SS of the LDT");
	tap_ok(item_refused(run_register(bed, 42, 93), LDT(BYTE100), 93),
	       "SS of the LDT, after its limit");
	bed->input.regs.ss = 0x2b;
	tap_ok(item_is(run_register(bed, 42, (uintptr_t)memory + 5),
		       RAS_ITEM_VALUE, memory + 5, 8), "SS: flat");
	tap_ok(item_refused(run_register(bed, 42, 0xfffffff9), 0x2b,
			    0xfffffff9), "SS: after 4 GiB");
	tap_ok(item_is(run_register(bed, 44, 0),
		       RAS_ITEM_SELECTOR | RAS_ITEM_STALE, &none, 8),
	       "FS is empty");
}

static void test_unknown(struct bed *bed)
{
	bed->target.layout = NULL;
	bed_clear(bed);
	bed_memory(bed, TDF_STMT_VALUE, 8,
		   RPN(FAR(LDT(PAGE), 0), OP_xderef));
	tap_is(bed_load(bed), -EOPNOTSUPP, "without BTF: refused");
	bed->target.layout = &bed->layout;
}

int main(void)
{
	static struct bed bed;

	bed_open(&bed, BODY_TEST);
	if (!bed.layout.mm_ldt || !bed.layout.tls_array)
		tap_skip_all("the kernel has no BTF");
	bed.input.cookie = RAS_COOKIE(1, 2, 3);
	ldt_fill();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		test_row(&bed, &rows[i]);
	test_xderef(&bed);
	test_string(&bed);
	test_length(&bed);
	test_registers64(&bed);
	test_registers32(&bed);
	test_unknown(&bed);
	return tap_done();
}
