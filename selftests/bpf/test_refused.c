// SPDX-License-Identifier: GPL-2.0
/*
 * A body that can't be made is refused, and the message says why; nothing is left
 * of it. What a body needs of the target is known before it is made.
 */
#include <elf.h>
#include <errno.h>
#include <malloc.h>
#include "bed.h"
#include "bpf/plan/needs.h"

#define RDI	5	/* DWARF numbers of x86-64 */

static struct bed bed;
static struct body_layout layout;
static struct body_heap heap;

static void begin(void)
{
	memset(&bed, 0, sizeof(bed));
	layout = (struct body_layout){
		.thread_base = { 0x100, 0x108 }, .thread_ds = 0x110,
		.thread_es = 0x112, .tls_array = 0x118,
		.task_mm = 0x200, .task_parent = 0x210, .task_tgid = 0x218,
		.mm_xol = 0x300, .xol_vaddr = 0x308, .task_utask = 0x310,
		.utask_returns = 0x318, .return_func = 0x320,
		.return_stack = 0x328, .return_chained = 0x330,
	};
	heap = (struct body_heap){
		.calls_fd = 21, .blocks_fd = -1, .owners_fd = -1, .rows_fd = -1,
	};
	bed.target = (struct body_target){
		.context = BODY_UPROBE, .processes_fd = -1, .key = BED_KEY,
		.slice_bytes = 1 << 20, .nest_bytes = RAS_NEST_BYTES,
		.cpus = 4, .major = BED_MAJOR, .layout = &layout,
		.heap = &heap,
	};
	bed.header.maxdata = 512;
	bed.module.machine = EM_X86_64;
	bed.module.elf_class = ELFCLASS64;
	bed.tdf = (struct tdf){
		.header = &bed.header, .modules = &bed.module,
		.points = &bed.point, .sites = &bed.site,
		.stmts = bed.stmts, .rpn = bed.rpn, .strings = "",
	};
	bed_clear(&bed);
}

static void value(const uint8_t *rpn, size_t size)
{
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 8, rpn, size);
}

static void far_add(void)
{
	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_SEGMENT, 8,
		 RPN(OP_lit + 1, OP_breg + 1, 0));
}

static void machine_unknown(void)
{
	bed.module.machine = EM_RISCV;
}

static void register_unknown(void)
{
	bed_reg(&bed, 117, 8);
}

static void register_unsaved(void)
{
	bed_reg(&bed, 53, 2);
}

static void register_narrow(void)
{
	bed_reg(&bed, 51, 4);
}

static void register_of_expression(void)
{
	value(RPN(OP_bregx, 33, 0));
}

static void operation_bad(void)
{
	value(RPN(OP_lit + 1, 0xff));
}

static void context_unknown(void)
{
	bed.target.context_mask = RAS_CONTEXT_ALL + 1;
}

static void context_parent(void)
{
	bed.target.context_mask = RAS_CONTEXT_PPID;
	layout.task_parent = 0;
}

static void record_wide(void)
{
	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_RAW, RAS_RECORD_MAX,
		 RPN(OP_breg + RDI, 0));
}

static void data_returned(void)
{
	value(RPN(OP_addr, 0, 0, 0, 0, 0, 0, 0, 0));
	bed.site.flags = TDF_SITE_RETURN;
	layout.return_func = 0;
}

static void thread_of_kernel(void)
{
	bed.target.context = BODY_KPROBE;
	value(RPN(OP_bregx, 58, 0));
}

static void thread_unknown(void)
{
	layout.thread_base[0] = 0;
	value(RPN(OP_bregx, 58, 0));
}

static void far_machine(void)
{
	bed.module.machine = EM_AARCH64;
	far_add();
}

static void far_kernel(void)
{
	bed.target.context = BODY_KPROBE;
	far_add();
}

static void far_nowhere(void)
{
	bed.target.layout = NULL;
	far_add();
}

static void far_tls(void)
{
	layout.tls_array = 0;
	far_add();
}

static void far_base(void)
{
	layout.thread_base[0] = 0;
	far_add();
}

static void far_base_of_gs(void)
{
	layout.thread_base[1] = 0;
	far_add();
}

static void call_map(void)
{
	bed.point.flags = TDF_POINT_RELEASE;
	heap.calls_fd = -1;
}

static void call_heap(void)
{
	bed.site.flags = TDF_SITE_CALL;
	bed.point.flags = TDF_POINT_CALL;
	bed.target.heap = NULL;
}

static void call_layout(void)
{
	bed.site.flags = TDF_SITE_CALL;
	bed.point.flags = TDF_POINT_CALL;
	bed.target.layout = NULL;
}

static void call_mm(void)
{
	bed.point.flags = TDF_POINT_RELEASE;
	layout.task_mm = 0;
}

static void call_area(void)
{
	bed.point.flags = TDF_POINT_RELEASE;
	layout.mm_xol = 0;
}

static void call_trampoline(void)
{
	bed.point.flags = TDF_POINT_RELEASE;
	layout.xol_vaddr = 0;
}

static void call_link_task(void)
{
	bed.module.machine = EM_AARCH64;
	bed.point.flags = TDF_POINT_RELEASE;
	layout.task_utask = 0;
}

static void call_link_returns(void)
{
	bed.module.machine = EM_AARCH64;
	bed.point.flags = TDF_POINT_RELEASE;
	layout.utask_returns = 0;
}

static void call_link_stack(void)
{
	bed.module.machine = EM_AARCH64;
	bed.point.flags = TDF_POINT_RELEASE;
	layout.return_stack = 0;
}

static void entry_nowhere(void)
{
	value(RPN(OP_entry_value, 1, 0x50 + RDI));
}

static void entry_begins(void)
{
	bed.site.flags = TDF_SITE_CALL;
	bed.point.flags = TDF_POINT_CALL;
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_SIZE, 8,
		 RPN(OP_entry_value, 1, 0x50 + RDI));
}

static void entry_register(void)
{
	bed.site.flags = TDF_SITE_RETURN;
	bed.point.flags = TDF_POINT_CALL;
	value(RPN(OP_entry_value, 1, 0x50 + 3));
}

static void entry_word(int offset, int bytes)
{
	bed.module.machine = EM_386;
	bed.module.elf_class = ELFCLASS32;
	bed.site.flags = TDF_SITE_RETURN;
	bed.point.flags = TDF_POINT_CALL;
	value(RPN(OP_entry_value, 4, OP_breg + 4, offset, OP_deref_size,
		  bytes));
}

static void entry_address(void)
{
	entry_word(0, 4);
}

static void entry_seventh(void)
{
	entry_word(28, 4);
}

static void entry_between(void)
{
	entry_word(6, 4);
}

static void entry_half(void)
{
	entry_word(4, 2);
}

#define NO_BTF	": this kernel has no BTF"
#define CALLS	"calls inside each other can't be distinguished" NO_BTF
#define FAR	"segmented addresses can't be read" NO_BTF

static const struct {
	void (*make)(void);
	int code;
	const char *text;
} rows[] = {
	{ machine_unknown, -ENOSYS, "registers of machine 243 are not known" },
	{ register_unknown, -ENOENT, "no register has DWARF number 117" },
	{ register_unsaved, -EOPNOTSUPP,
	  "the kernel does not save register 53 at a probe" },
	{ register_narrow, -EINVAL, "register 51 is not that wide" },
	{ register_of_expression, -ENOENT, "no register has DWARF number 33" },
	{ operation_bad, -EINVAL, "bad operation at byte 1" },
	{ context_unknown, -EINVAL, "unknown context 0x100" },
	{ context_parent, -EOPNOTSUPP,
	  "the parent's process id can't be recorded" NO_BTF },
	{ record_wide, -E2BIG, "the record exceeds 12800 bytes" },
	{ data_returned, -EOPNOTSUPP,
	  "static data can't be read at a return probe: this kernel doesn't "
	  "report which function returns" },
	{ thread_of_kernel, -EOPNOTSUPP,
	  "thread-local data of the kernel can't be read" },
	{ thread_unknown, -EOPNOTSUPP,
	  "thread-local data can't be read" NO_BTF },
	{ far_machine, -EOPNOTSUPP,
	  "machine 183 has no segmented addresses" },
	{ far_kernel, -EOPNOTSUPP,
	  "the kernel's memory has no segmented addresses" },
	{ far_nowhere, -EOPNOTSUPP, FAR },
	{ far_tls, -EOPNOTSUPP, FAR },
	{ far_base, -EOPNOTSUPP, FAR },
	{ far_base_of_gs, -EOPNOTSUPP, FAR },
	{ call_map, -EINVAL, "calls have no map" },
	{ call_heap, -EINVAL, "calls have no map" },
	{ call_layout, -EOPNOTSUPP, CALLS },
	{ call_mm, -EOPNOTSUPP, CALLS },
	{ call_area, -EOPNOTSUPP, CALLS },
	{ call_trampoline, -EOPNOTSUPP, CALLS },
	{ call_link_task, -EOPNOTSUPP, CALLS },
	{ call_link_returns, -EOPNOTSUPP, CALLS },
	{ call_link_stack, -EOPNOTSUPP, CALLS },
	{ entry_nowhere, -EINVAL,
	  "there is no beginning of a call to take values of" },
	{ entry_begins, -EINVAL,
	  "there is no beginning of a call to take values of" },
	{ entry_register, -EINVAL,
	  "register 3 isn't kept where a call begins" },
	{ entry_address, -EINVAL,
	  "register 4 isn't kept where a call begins" },
	{ entry_seventh, -EINVAL,
	  "register 4 isn't kept where a call begins" },
	{ entry_between, -EINVAL,
	  "register 4 isn't kept where a call begins" },
	{ entry_half, -EINVAL, "bad operation at byte 0" },
};

#define ROWS	(sizeof(rows) / sizeof(*rows))

static int generate(struct body *body, struct error *err)
{
	return body_generate(body, &bed.tdf, &bed.point, &bed.site,
			     &bed.target, err);
}

/* Nothing is left of it. */
static void refused_check(void)
{
	size_t used = 0;

	for (size_t i = 0; i < 10 * ROWS; i++) {
		struct error err = { "of before", "hint" };
		struct body body = { .count = 1, .insns = (void *)-1 };
		int code;

		/* by then the allocator keeps no more for itself */
		if (i == 9 * ROWS)
			used = mallinfo2().uordblks;
		begin();
		rows[i % ROWS].make();
		code = generate(&body, &err);
		if (i >= ROWS)
			continue;
		tap_is(code, rows[i].code, "refused: %s", rows[i].text);
		tap_str(err.text, rows[i].text, "  it says so");
		tap_ok(!body.insns && !body.count, "  there is none");
	}
	tap_is(mallinfo2().uordblks, used, "memory is given back");
}

/* After what every record has is room for a pointer that failed. */
static void width_check(void)
{
	int most = RAS_RECORD_MAX - RAS_RECORD_HEADER - RAS_ITEM_PREFIX - 8;
	struct error err = { 0 };
	struct body body;

	for (int more = 0; more < 2; more++) {
		begin();
		bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_RAW, most + more,
			 RPN(OP_breg + RDI, 0));
		tap_is(generate(&body, &err), more ? -E2BIG : 0,
		       "a record of %d raw bytes", most + more);
		if (!more)
			body_free(&body);
	}
}

/* However many: more than tables are for are by frame pointers. Memory that is
 * brought in generates the record twice. */
static void stacks_check(void)
{
	struct error err = { 0 };
	struct body body;
	int failed = 0;

	for (int n = 1; n <= 2 * BODY_UNWINDS; n++) {
		begin();
		heap.rows_fd = heap.segments_fd = heap.spaces_fd =
			heap.cache_fd = 23;
		heap.asks_fd = -1;
		layout.vma = 1;
		bed.target.bring_in = true;
		bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_breg + RDI, 0));
		for (int i = 0; i < n; i++)
			bed_memory(&bed, TDF_STMT_STACK, 1, NULL, 0);
		if (generate(&body, &err) || !body.subprograms[BODY_AGAIN])
			failed = n;
		body_free(&body);
	}
	tap_is(failed, 0, "up to %d stacks, after memory that is brought in",
	       2 * BODY_UNWINDS);
}

static void static_check(void)
{
	struct error err = { "of before", "hint" };
	struct body body = { .count = 1, .insns = (void *)-1 };

	begin();
	tap_is(body_generate_static(&body, EM_RISCV, 31, &bed.target, &err),
	       -EOPNOTSUPP, "refused: a static one");
	tap_str(err.text, "unknown machine 243", "  it says so");
	tap_ok(!body.insns && !body.count, "  there is none");
	bed.target.context_mask = RAS_CONTEXT_STACK;
	bed.target.context_depth = 1600;
	tap_is(body_generate_static(&body, EM_X86_64, 31, &bed.target, &err),
	       -E2BIG, "refused: one with a deep stack");
	tap_str(err.text, "the record exceeds 12800 bytes", "  it says so");
}

/* What the body of a site needs: limits, where its function is, the kernel's
 * structures, its segment registers */
static const struct {
	const char *name;
	uint8_t kind, flags, rpn[4], size;
	uint32_t point_flags, maxhits, passcount;
	struct body_needs needs;
} needs[] = {
	{ "a value", 0, 0, { OP_breg, 0 }, 2, 0, 0, 0, { 0 } },
	{ "MAXHITS", 0, 0, { OP_breg, 0 }, 2, 0, 1, 0, { .limits = true } },
	{ "PASSCOUNT", 0, 0, { OP_breg, 0 }, 2, 0, 0, 1, { .limits = true } },
	{ "a return probe", 0, TDF_SITE_RETURN, { OP_breg, 0 }, 2, 0, 0, 0,
	  { .func_ip = true, .layout = true } },
	{ "one of the kernel", TDF_MODULE_KERNEL, TDF_SITE_RETURN,
	  { OP_breg, 0 }, 2, 0, 0, 0, { 0 } },
	{ "a far address", 0, 0, { OP_lit, OP_lit, OP_xderef }, 3, 0, 0, 0,
	  { .layout = true, .direct = true } },
	{ "a base", 0, 0, { OP_bregx, 58, 0 }, 3, 0, 0, 0,
	  { .layout = true } },
	{ "a base that programs set", 0, 0, { OP_bregx, 59, 0 }, 3, 0, 0, 0,
	  { .layout = true, .segments = true } },
	{ "the same in the kernel", TDF_MODULE_KERNEL, 0,
	  { OP_bregx, 59, 0 }, 3, 0, 0, 0, { .layout = true } },
	{ "a call", 0, 0, { OP_breg, 0 }, 2, TDF_POINT_CALL, 0, 0,
	  { .layout = true } },
	{ "a release", 0, 0, { OP_breg, 0 }, 2, TDF_POINT_RELEASE, 0, 0,
	  { .layout = true } },
	{ "going on", 0, 0, { OP_breg, 0 }, 2, TDF_POINT_CONTINUE, 0, 0,
	  { 0 } },
};

static void needs_compare(const char *name, const struct body_needs *expected)
{
	struct body_needs found = body_needs_find(&bed.tdf, &bed.point,
						  &bed.site);

	tap_ok(!memcmp(&found, expected, sizeof(found)),
	       "%s: limits %d, function %d, structures %d, segments %d, direct %d",
	       name, found.limits, found.func_ip, found.layout, found.segments,
	       found.direct);
}

static void needs_check(void)
{
	const struct body_needs far = { .layout = true, .direct = true };
	const struct body_needs base = {
		.layout = true, .segments = true, .direct = true,
	};
	struct tdf_stmt *stmt;

	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
		begin();
		bed.module.kind = needs[i].kind;
		bed.site.flags = needs[i].flags;
		bed.point.flags = needs[i].point_flags;
		bed.point.maxhits = needs[i].maxhits;
		bed.point.passcount = needs[i].passcount;
		bed_reg(&bed, RDI, 8);
		value(needs[i].rpn, needs[i].size);
		needs_compare(needs[i].name, &needs[i].needs);
	}
	begin();
	far_add();
	needs_compare("far memory", &far);
	begin();
	stmt = bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_lit));
	bed_len(&bed, stmt, 2, RPN(OP_lit, OP_lit));
	stmt->flags |= TDF_STMT_LEN_SEGMENT;
	needs_compare("its length", &far);
	begin();
	stmt = bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_lit));
	bed_len(&bed, stmt, 2, RPN(OP_bregx, 59, 0));
	needs_compare("a length at such a base", &base);
}

int main(void)
{
	refused_check();
	width_check();
	stacks_check();
	static_check();
	needs_check();
	return tap_done();
}
