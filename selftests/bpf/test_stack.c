// SPDX-License-Identifier: GPL-2.0
/*
 * STACK over frames laid out by hand: every return address once, the caller's
 * also before the frame is built, and the reason why there are no more.
 */
#include "bed.h"

#define WORDS	512
#define RBP	6		/* DWARF numbers */
#define RSP	7
#define CODE	0x555555551000ULL	/* what a return address looks like */
#define ADDRESS(n)	(CODE + 0x10 * (n))
#define MARK	0x5a

static uint64_t *stack;		/* below 4 GiB; an unreadable page after */

static uint64_t at(int word)
{
	return (uintptr_t)&stack[word];
}

/* A frame at `word`, whose caller's is at `next` (0: none). */
static void frame(int word, int next, int address)
{
	stack[word] = next ? at(next) : 0;
	stack[word + 1] = ADDRESS(address);
}

/* rsp is word 10; frames at 20, 30, 40 return to 1, 2, 3; the probed function
 * itself to 0, below word 16. */
static void stack_build(struct bed *bed)
{
	memset(stack, 0, WORDS * sizeof(*stack));
	stack[15] = ADDRESS(0);
	frame(20, 30, 1);
	frame(30, 40, 2);
	frame(40, 0, 3);
	bed->input.regs.rsp = at(10);
	bed->input.regs.rbp = at(20);
	bed->input.regs.rip = ADDRESS(9);
	bed_clear(bed);
	bed->site.symbol_offset = 4;
}

static struct tdf_stmt *stack_add(struct bed *bed, int depth, const void *rpn,
				  size_t size)
{
	return bed_memory(bed, TDF_STMT_STACK, depth, rpn, size);
}

/* Of rsp the canonical frame address is 6 words up. */
#define CFA	RPN(OP_breg + RSP, 6 * 8)
#define NONE	NULL, 0

/* The item, and after it a register as a mark. */
static const uint8_t *run(struct bed *bed)
{
	uint64_t position = bed_slice(bed)->head;
	const struct ras_record *r;
	int prog;

	if (bed->module.machine == EM_AARCH64)
		bed->input.x[0] = MARK;
	else
		bed->input.regs.rax = MARK;
	bed_reg(bed, 0, 2);
	prog = bed_load(bed);
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

/* "0 1 2", or what else the item is. */
static void item_print(const uint8_t *item, char *text, size_t size)
{
	uint16_t length, mark;
	size_t used = 0;

	memcpy(&length, item + 1, 2);
	if ((item[0] & ~RAS_ITEM_CUT) != RAS_ITEM_STACK || item[4]) {
		snprintf(text, size, "status %#x flags %#x", item[0], item[4]);
		return;
	}
	text[0] = '\0';
	for (int i = 0; i < (length - 2) / 8 && used < size; i++) {
		uint64_t address;

		memcpy(&address, item + 5 + 8 * i, 8);
		used += snprintf(text + used, size - used, "%lld ",
				 (long long)(address - CODE) / 0x10);
	}
	memcpy(&mark, item + RAS_ITEM_PREFIX + length, 2);
	if (used < size)
		snprintf(text + used, size - used, "end %d%s%s", item[3],
			 item[0] & RAS_ITEM_CUT ? " cut" : "",
			 mark == MARK ? "" : " mark lost");
}

static void expect(struct bed *bed, const char *expected, const char *name)
{
	const uint8_t *item = run(bed);
	char text[1024] = "no record";

	if (item)
		item_print(item, text, sizeof(text));
	tap_str(text, expected, "%s", name);
}

static void test_chain(struct bed *bed)
{
	stack_build(bed);
	stack_add(bed, 8, NONE);
	expect(bed, "1 2 3 end 1", "along the frame pointers");
	stack_build(bed);
	stack_add(bed, 2, NONE);
	expect(bed, "1 2 end 0", "as many as are asked for");
	stack_build(bed);
	stack_add(bed, 3, NONE);
	expect(bed, "1 2 3 end 0", "exactly as many");
	stack_build(bed);
	stack_add(bed, 1, NONE);
	expect(bed, "1 end 0", "one");
	stack_build(bed);
	bed->input.regs.rbp = 0;
	stack_add(bed, 8, NONE);
	expect(bed, "end 3", "no frame pointer");
}

static void test_caller(struct bed *bed)
{
	stack_build(bed);
	stack_add(bed, 8, CFA);
	expect(bed, "0 1 2 3 end 1", "before the frame is built");
	stack_build(bed);
	frame(14, 20, 0);
	bed->input.regs.rbp = at(14);
	stack_add(bed, 8, CFA);
	expect(bed, "0 1 2 3 end 1", "when it is built");
	stack_build(bed);
	frame(12, 20, 0);
	bed->input.regs.rbp = at(12);
	stack_add(bed, 8, CFA);
	expect(bed, "0 1 2 3 end 1", "when the stack was realigned for it");
	stack_build(bed);
	frame(12, 20, 7);
	bed->input.regs.rbp = at(12);
	stack_add(bed, 8, CFA);
	expect(bed, "0 end 3", "the frame pointer is below: no frame");
	stack_build(bed);
	bed->input.regs.rbp = 0;
	stack_add(bed, 8, CFA);
	expect(bed, "0 end 3", "no frame pointer, but the caller is known");
	stack_build(bed);
	frame(14, 0, 0);
	bed->input.regs.rbp = at(14);
	stack_add(bed, 8, CFA);
	expect(bed, "0 end 1", "the caller is the outermost");
	stack_build(bed);
	bed->input.regs.rbp = 77;
	stack_add(bed, 8, CFA);
	expect(bed, "0 end 3", "the frame pointer is a number");
	stack_build(bed);
	stack_add(bed, 1, CFA);
	expect(bed, "0 end 0", "the caller alone");
	stack_build(bed);
	stack_add(bed, 8, RPN(OP_breg + RSP, 0, OP_deref));
	expect(bed, "1 2 3 end 1", "a frame address that lies in memory");
	stack_build(bed);
	stack_add(bed, 8, RPN(OP_const4u, 0, 0, 0, 0));
	expect(bed, "end 2", "a frame address that can't be");
}

static void test_entry(struct bed *bed)
{
	stack_build(bed);
	bed->site.symbol = 1;
	bed->site.symbol_offset = 0;
	bed->input.regs.rsp = at(15);
	stack_add(bed, 8, NONE);
	expect(bed, "0 1 2 3 end 1", "where the function begins");
	stack_build(bed);
	bed->site.flags = TDF_SITE_RETURN;
	stack_add(bed, 8, NONE);
	expect(bed, "9 1 2 3 end 1", "where it has returned to");
}

static void test_broken(struct bed *bed)
{
	static const struct {
		const char *name, *expected;
		int word;		/* is written at frame 30 */
		uint64_t value;
	} rows[] = {
		{ "unaligned", "1 2 end 3", 30, 4 },
		{ "a frame below", "1 2 end 3", 30, -10 * 8 },
		{ "the frame itself", "1 2 end 3", 30, 0 },
		{ "the next word", "1 2 end 3", 30, 8 },
		{ "another stack", "1 2 end 3", 30, (1 << 20) + 64 },
		{ "an unreadable page", "1 2 end 2", 30, 0x2000 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		stack_build(bed);
		stack[rows[i].word] = at(30) + rows[i].value;
		stack_add(bed, 8, NONE);
		expect(bed, rows[i].expected, rows[i].name);
	}
	stack_build(bed);
	stack[31] = 0;
	stack_add(bed, 8, NONE);
	expect(bed, "1 end 3", "no address");
	stack_build(bed);
	stack[31] = 0xffffffff81000000;
	stack_add(bed, 8, NONE);
	expect(bed, "1 end 3", "an address of the kernel");
}

/* Deep, cut by MAXDATALENGTH, several of them, after another item. */
static void test_sizes(struct bed *bed)
{
	char expected[256] = "";

	stack_build(bed);
	for (int i = 1; i <= TDF_STACK_MAX + 1; i++)
		frame(10 + 10 * i, 20 + 10 * i, i);
	stack_add(bed, TDF_STACK_MAX, NONE);
	for (int i = 1; i <= TDF_STACK_MAX; i++)
		sprintf(expected + strlen(expected), "%d ", i);
	strcat(expected, "end 0");
	expect(bed, expected, "the deepest");

	stack_build(bed);
	bed->header.maxdata = 30;
	stack_add(bed, 8, NONE);
	expect(bed, "1 2 end 0 cut", "what MAXDATALENGTH leaves");
	bed->header.maxdata = TDF_DATA_MAX;

	stack_build(bed);
	for (int i = 0; i < 3; i++)
		stack_add(bed, 8, NONE);
	tap_ok(run(bed), "three of them");
}

static void test_item_before(struct bed *bed)
{
	const uint8_t *item;
	char text[256];

	stack_build(bed);
	strcpy((char *)&stack[200], "in front");
	bed->input.regs.rdi = at(200);
	bed_memory(bed, TDF_STMT_ASCIIZ, 20, RPN(OP_breg + 5, 0));
	stack_add(bed, 8, CFA);
	item = run(bed);
	if (item) {
		item_print(item + RAS_ITEM_PREFIX + 8, text, sizeof(text));
		tap_str(text, "0 1 2 3 end 1", "after a string");
	} else {
		tap_ok(false, "after a string");
	}
}

/* i386: pairs of 4 bytes */
static void test_narrow(struct bed *bed)
{
	uint32_t *words = (uint32_t *)stack;
	const uint8_t *item;
	uint64_t addresses[3] = { 0 };

	stack_build(bed);
	memset(stack, 0, WORDS * sizeof(*stack));
	words[15] = 0x8048001;
	words[20] = (uintptr_t)&words[31];
	words[21] = 0x8048002;
	words[32] = 0xf7f48003;
	bed->input.regs.rsp = (uintptr_t)&words[10];
	bed->input.regs.rbp = (uintptr_t)&words[20];
	bed->module.machine = EM_386;
	bed->module.elf_class = ELFCLASS32;
	stack_add(bed, 8, RPN(OP_breg + 4, 6 * 4));
	item = run(bed);
	if (item)
		memcpy(addresses, item + 5, sizeof(addresses));
	tap_ok(item && item[1] == 2 + 3 * 8 && item[3] == RAS_STACK_OUTERMOST &&
	       addresses[0] == 0x8048001 && addresses[1] == 0x8048002 &&
	       addresses[2] == 0xf7f48003, "of 32 bits");
}

/*
 * AArch64: sp is word 10, its frames are at 20, 30, 40; the probed function's own
 * may be at 12, below the canonical frame address, word 16. x30 is what the call
 * left there.
 */
static void a64_build(struct bed *bed)
{
	uint64_t *x = bed->input.x;

	stack_build(bed);
	memset(x, 0, BED_X * sizeof(*x));
	x[30] = ADDRESS(0);
	x[BED_SP] = at(10);
	x[29] = at(20);
	x[BED_PC] = ADDRESS(9);
	bed->module.machine = EM_AARCH64;
}

#define SP_CFA	RPN(OP_breg + 31, 6 * 8)
#define SIGNED(address)	((address) | 0x005b000000000000ULL)
#define TAGGED(address)	((address) | 0xa51b000000000000ULL)

static void test_a64_caller(struct bed *bed)
{
	uint64_t *x = bed->input.x;

	a64_build(bed);
	stack_add(bed, 8, SP_CFA);
	expect(bed, "0 1 2 3 end 1", "AArch64: before the frame is built");
	a64_build(bed);
	frame(12, 20, 0);
	x[29] = at(12);
	x[30] = ADDRESS(8);
	stack_add(bed, 8, SP_CFA);
	expect(bed, "0 1 2 3 end 1", "AArch64: when it is built");
	a64_build(bed);
	frame(10, 20, 0);
	x[29] = at(10);
	x[30] = ADDRESS(8);
	stack_add(bed, 8, SP_CFA);
	expect(bed, "0 1 2 3 end 1", "AArch64: at the stack pointer");
	a64_build(bed);
	x[29] = at(16);
	frame(16, 30, 1);
	stack_add(bed, 8, SP_CFA);
	expect(bed, "0 1 2 3 end 1",
	       "AArch64: the caller's frame is right above");
	a64_build(bed);
	x[29] = at(9);
	frame(9, 20, 7);
	stack_add(bed, 8, SP_CFA);
	expect(bed, "0 end 3", "AArch64: a frame pointer below the stack");
	a64_build(bed);
	x[29] = 0;
	stack_add(bed, 8, SP_CFA);
	expect(bed, "0 end 3",
	       "AArch64: no frame pointer, but the caller is known");
	a64_build(bed);
	x[29] = at(12);
	frame(12, 0, 0);
	stack_add(bed, 8, SP_CFA);
	expect(bed, "0 end 1", "AArch64: the caller is the outermost");
	a64_build(bed);
	stack_add(bed, 1, SP_CFA);
	expect(bed, "0 end 0", "AArch64: the caller alone");
	a64_build(bed);
	stack_add(bed, 8, NONE);
	expect(bed, "1 2 3 end 1", "AArch64: by the frame pointer alone");
}

static void test_a64_entry(struct bed *bed)
{
	a64_build(bed);
	bed->site.symbol = 1;
	bed->site.symbol_offset = 0;
	stack_add(bed, 8, NONE);
	expect(bed, "0 1 2 3 end 1", "AArch64: where the function begins");
	a64_build(bed);
	bed->site.flags = TDF_SITE_RETURN;
	stack_add(bed, 8, NONE);
	expect(bed, "9 1 2 3 end 1", "AArch64: where it has returned to");
}

/* Pointer authentication (FEAT_PAuth) and tags (FEAT_TBI) leave bit 55. */
static void test_a64_signed(struct bed *bed)
{
	uint64_t *x = bed->input.x;

	a64_build(bed);
	x[30] = SIGNED(ADDRESS(0));
	stack[21] = SIGNED(ADDRESS(1));
	stack[31] = TAGGED(ADDRESS(2));
	stack_add(bed, 8, SP_CFA);
	expect(bed, "0 1 2 3 end 1", "AArch64: signed addresses");
	a64_build(bed);
	bed->target.address_bits = 39;
	x[30] = 0x0018d58000000000 | (ADDRESS(0) & 0x7fffffffff);
	stack_add(bed, 1, SP_CFA);
	expect(bed, "-5841155522560 end 0",
	       "AArch64: signed above 39 bits");
	bed->target.address_bits = 0;
	a64_build(bed);
	stack[31] = 0xffff800008000000;
	stack_add(bed, 8, SP_CFA);
	expect(bed, "0 1 end 3", "AArch64: an address of the kernel");
	a64_build(bed);
	stack[31] = SIGNED(0);
	stack_add(bed, 8, SP_CFA);
	expect(bed, "0 1 end 3", "AArch64: a signed NULL");
}

/* The table of the rows below: one set of stacks with four addresses. */
static struct {
	struct ras_stack_set set;
	uint64_t addresses[RAS_STACK_WAYS][4];
} table;

/* A record with table[] as it is now; then it is what it has become. Its number,
 * or -1: it has the stack, or none of both. */
static int id_run(struct bed *bed)
{
	const int fd = bed->target.stack_table_fd;
	const struct ras_record *record;
	const uint8_t *item;
	uint32_t id;

	stack_build(bed);
	bpf_map_update_elem(fd, &(uint32_t){ 0 }, &table, BPF_ANY);
	stack_add(bed, 4, CFA);
	item = run(bed);
	bpf_map_lookup_elem(fd, &(uint32_t){ 0 }, &table);
	if (!item)
		return -1;
	record = (const void *)(item - RAS_RECORD_HEADER);
	if (RAS_ITEM_KIND(item[0]) == RAS_ITEM_STACK) {
		char text[1024];

		item_print(item, text, sizeof(text));
		tap_str(text, "0 1 2 3 end 0", "it has the stack");
		return record->stack ? 0 : -1;
	}
	memcpy(&id, item + RAS_ITEM_PREFIX, sizeof(id));
	return RAS_ITEM_KIND(item[0]) == RAS_ITEM_STACK_ID &&
	       record->stack == RAS_RECORD_HEADER && item[1] == 4 &&
	       item[7] == MARK ? (int)id : -1;
}

static void test_ids(struct bed *bed)
{
	uint64_t head;

	bed->target.stack_table_fd =
		bpf_map_create(BPF_MAP_TYPE_ARRAY, "stack_table", 4,
			       sizeof(table), 1, NULL);
	bed->target.stack_sets = 1;
	bed->target.stack_depth = 4;
	tap_is(id_run(bed), 0, "a stack gets a number");
	head = table.set.heads[0];
	tap_ok(head & RAS_STACK_WHOLE && (uint32_t)head == 2 + 4 * 8 &&
	       table.addresses[0][0] == ADDRESS(0) &&
	       table.addresses[0][3] == ADDRESS(3), "and is in the table");
	tap_is(id_run(bed), 0, "the same again");
	tap_ok(!table.set.heads[1] && !table.set.unplaced, "nothing is new");
	table.addresses[0][3]++;
	tap_is(id_run(bed), -1, "the same hash, another address");
	tap_is(table.set.unplaced, 1, "counted");
	memset(&table, 0, sizeof(table));
	table.set.heads[0] = RAS_STACK_TAKEN;
	tap_is(id_run(bed), 1, "the first place is being written");
	for (int i = 0; i < RAS_STACK_WAYS; i++)
		table.set.heads[i] = i ? head ^ 1ULL << 40 : RAS_STACK_TAKEN;
	tap_is(id_run(bed), -1, "all places are used");
	tap_is(table.set.unplaced, 1, "counted");
	table.set.heads[7] = head;
	for (int i = 0; i < 4; i++)
		table.addresses[7][i] = ADDRESS(i);
	tap_is(id_run(bed), 7, "the last place");
	close(bed->target.stack_table_fd);
	bed->target.stack_sets = 0;
}

int main(void)
{
	static struct bed bed;

	bed_open(&bed, BODY_TEST);
	bed.input.cookie = RAS_COOKIE(1, 2, 3);
	stack = machine_map_low(0x3000);
	if (stack == MAP_FAILED ||
	    mprotect((char *)stack + 0x1000, 0x2000, PROT_NONE))
		tap_bail("no memory");
	test_chain(&bed);
	test_caller(&bed);
	test_entry(&bed);
	test_broken(&bed);
	test_sizes(&bed);
	test_item_before(&bed);
	test_ids(&bed);
	test_narrow(&bed);
	bed.module.elf_class = ELFCLASS64;
	test_a64_caller(&bed);
	test_a64_entry(&bed);
	test_a64_signed(&bed);
	return tap_done();
}
