// SPDX-License-Identifier: GPL-2.0
/*
 * The instructions of each kind of body, as generated for a target that is the
 * same everywhere, are those of body_golden.txt: their number and checksum. When
 * they are freed nothing is left. Nothing is loaded. `test_body_golden NAME`
 * prints one: what differs is seen beside the one of the tree before the change.
 * After a change that is meant: UPDATE=1 test_body_golden
 */
#include <elf.h>
#include <limits.h>
#include <malloc.h>
#include "bed.h"
#include "bpf/disasm.h"
#include "bpf/plan/plan.h"
#include "lib/hash.h"

#define RDI	5	/* DWARF numbers of x86-64 */
#define RSI	4
#define RBP	6
#define RSP	7
#define FAULT	8	/* bytes of a pointer that failed */

static struct bed bed;
static struct body_heap heap;
static struct body_filter filter;
static struct tdf_site sites[3];
static struct tdf_section section;

/* What bodies are made for, each kind of which is one */
static const struct machine {
	const char *name;
	uint16_t machine;
	uint8_t stack;		/* DWARF number of the stack pointer */
	/* a function's first two arguments, the same when it returns */
	uint8_t arguments[2][4], entries[2][6];
	uint8_t argument_size, entry_size;
} machines[] = {
	{ "x86_64", EM_X86_64, RSP,
	  { { OP_breg + RDI, 0 }, { OP_breg + RSI, 0 } },
	  { { OP_entry_value, 1, 0x50 + RDI },
	    { OP_entry_value, 1, 0x50 + RSI } }, 2, 3 },
	{ "i386", EM_386, 4,
	  { { OP_breg + 4, 4, OP_deref_size, 4 },
	    { OP_breg + 4, 8, OP_deref_size, 4 } },
	  { { OP_entry_value, 4, OP_breg + 4, 4, OP_deref_size, 4 },
	    { OP_entry_value, 4, OP_breg + 4, 8, OP_deref_size, 4 } }, 4, 6 },
	{ "aarch64", EM_AARCH64, 31,
	  { { OP_breg + 0, 0 }, { OP_breg + 1, 0 } },
	  { { OP_entry_value, 1, 0x50 + 0 },
	    { OP_entry_value, 1, 0x50 + 1 } }, 2, 3 },
};
#define MACHINES	(sizeof(machines) / sizeof(*machines))
static const struct machine *cpu = machines;

/* As of no kernel that there is */
static const struct body_layout layout = {
	.thread_base = { 0x100, 0x108 }, .thread_ds = 0x110,
	.thread_es = 0x112, .thread_fsindex = 0x114, .thread_gsindex = 0x116,
	.tls_array = 0x118, .task_mm = 0x200, .mm_ldt = 0x208,
	.ldt_entries = 0x8, .ldt_count = 0x10, .task_parent = 0x210,
	.task_tgid = 0x218, .vma_flags = 0x20, .vma_file = 0x28,
	.vma_ops = 0x30, .vma_uffd = 0x38, .file_inode = 0x40,
	.inode_mode = 0x48, .inode_sb = 0x50, .sb_magic = 0x58,
	.sb_bdev = 0x60, .mm_xol = 0x300, .xol_vaddr = 0x308,
	.task_utask = 0x310, .utask_returns = 0x318, .return_func = 0x320,
	.return_stack = 0x328, .return_chained = 0x330, .task_btf = 77,
	.cpu_count = 78, .cpu_count_at = 8, .task_waits = 0x220,
	.task_yields = 0x228, .mm_stack = 0x230, .mm_code = 0x238,
	.vma = true,
};

static void begin(enum body_context context, uint16_t machine)
{
	memset(&bed, 0, sizeof(bed));
	bed.target = (struct body_target){
		.context = context, .buffer_fd = 10, .nest_fd = 11,
		.trigger_fd = 12, .processes_fd = 13, .count_fd = 14,
		.why_fd = 15, .state_fd = 16, .sites_fd = 17, .limits_fd = 18,
		.test_fd = 19, .module_fd = 20, .key = BED_KEY,
		.slice_bytes = 1 << 20, .nest_bytes = RAS_NEST_BYTES,
		.cpus = 4, .session = BED_SESSION, .major = BED_MAJOR,
		.preempt_disable = 101, .preempt_enable = 102,
		.layout = &layout,
	};
	bed.header.maxdata = 512;
	bed.module.machine = machine;
	bed.module.elf_class = machine == EM_386 ? ELFCLASS32 : ELFCLASS64;
	bed.module.kind = context == BODY_KPROBE ? TDF_MODULE_KERNEL :
						   TDF_MODULE_USER;
	bed.tdf = (struct tdf){
		.header = &bed.header, .modules = &bed.module,
		.points = &bed.point, .sites = &bed.site,
		.stmts = bed.stmts, .rpn = bed.rpn, .strings = "",
	};
	bed_clear(&bed);
}

static int finish(struct body *body, struct error *err)
{
	return body_generate(body, &bed.tdf, &bed.point, &bed.site,
			     &bed.target, err);
}

/* Three registers, 16 bytes after two pointers, a string */
static void record_add(void)
{
	bed_reg(&bed, RDI, 8);
	bed_reg(&bed, RSI, 4);
	bed_reg(&bed, RBP, 2);
	bed_memory(&bed, TDF_STMT_MEM, 16,
		   RPN(OP_breg + RDI, 8, OP_deref, OP_deref, OP_plus_uconst,
		       24));
	bed_memory(&bed, TDF_STMT_ASCIIZ, 13, RPN(OP_breg + RSI, 0));
}

static int record(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	record_add();
	return finish(body, err);
}

/* Not all of it has room. */
static int record_cut(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	record_add();
	bed.header.maxdata = 24;
	return finish(body, err);
}

static int record_single(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	record_add();
	bed.target.single = bed.target.bring_in = true;
	bed.target.cookie = 0x12345;
	return finish(body, err);
}

/* The record may be full, and goes on after what faults. */
static int short_record(struct body *body, struct error *err)
{
	struct tdf_stmt *stmt;

	begin(BODY_UPROBE, EM_X86_64);
	bed.header.maxdata = 40;
	bed.point.flags = TDF_POINT_CONTINUE;
	bed.point.maxhits = 100;
	stmt = bed_memory(&bed, TDF_STMT_MEM, 64, RPN(OP_breg + RDI, 0));
	bed_len(&bed, stmt, 2, RPN(OP_breg + RSI, 4));
	bed_memory(&bed, TDF_STMT_MEM, 12, RPN(OP_breg + RDI, 0, OP_deref));
	bed_memory(&bed, TDF_STMT_MEM, 5, RPN(OP_breg + RDI, 8, OP_deref));
	bed_absent(&bed);
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 3,
		 RPN(OP_breg + RSI, 0, OP_lit + 7, OP_mul));
	return finish(body, err);
}

/* Where an item lies depends on the faults in front of it. */
static int goes_on(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed.point.flags = TDF_POINT_CONTINUE;
	bed_memory(&bed, TDF_STMT_MEM, 12, RPN(OP_breg + RDI, 0, OP_deref));
	bed_reg(&bed, RSI, 8);
	bed_memory(&bed, TDF_STMT_MEM, 5, RPN(OP_breg + RDI, 8, OP_deref));
	bed_memory(&bed, TDF_STMT_MEM, 6, RPN(OP_breg + RDI, 16, OP_deref));
	return finish(body, err);
}

/* Less room than the registers take, enough for what is read */
static int little_read(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	for (int i = 0; i < 10; i++)
		bed_reg(&bed, RDI, 8);
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_breg + RDI, 0, OP_deref));
	bed.header.maxdata = 110;
	return finish(body, err);
}

static int condition(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed_stmt(&bed, TDF_STMT_IF, 0, 0,
		 RPN(OP_breg + RDI, 0, OP_deref, OP_lit + 3, OP_ge));
	bed_reg(&bed, RDI, 8);
	return finish(body, err);
}

/* Every kind of aggregate, by a number and a text */
static void aggregates_add(void)
{
	bed_stmt(&bed, TDF_STMT_BY, 0, 8, RPN(OP_breg + RSI, 0));
	bed_stmt(&bed, TDF_STMT_BY, 0, 20, RPN(OP_breg + RDI, 8, OP_deref))
		->reg = TDF_BY_TEXT;
	for (int kind = 0; kind < TDF_AGGREGATE_KINDS; kind++)
		bed_memory(&bed, TDF_STMT_AGGREGATE, 0,
			   (uint8_t[]){ OP_breg + RDI, 0, OP_deref },
			   kind ? 3 : 0)->reg = kind;
	bed.target.aggregates_fd = 40;
	bed.target.aggregated_fd = 41;
}

static int aggregates(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	aggregates_add();
	return finish(body, err);
}

static int aggregates_absent(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed_reg(&bed, RDI, 8);
	aggregates_add();
	bed.target.bring_in = true;
	return finish(body, err);
}

static int aggregates_kernel(struct body *body, struct error *err)
{
	begin(BODY_KPROBE, EM_X86_64);
	aggregates_add();
	return finish(body, err);
}

static int limits(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed_reg(&bed, RDI, 8);
	bed.point.passcount = 5;
	bed.target.max_rate = 1000;
	bed.target.trigger = true;
	bed.target.trigger_after = 9;
	bed.target.context_mask = ~0u & ((1u << 6) - 1);
	bed.target.context_depth = 4;
	filter = (struct body_filter){
		.pids_fd = 30, .uids = { 1000, 0 }, .uid_count = 2,
		.comms = { "bash" }, .comm_count = 1,
		.cgroups = { { 99, 3 } }, .cgroup_count = 1,
	};
	bed.target.filter = &filter;
	return finish(body, err);
}

static int segment(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_386);
	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_SEGMENT, 8,
		 RPN(OP_const1u, 0x33, OP_breg + 3, 4));
	bed.target.segments_save = 103;
	return finish(body, err);
}

static int user_stack(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed_memory(&bed, TDF_STMT_STACK, 6, RPN(OP_breg + RSP, 8));
	bed_reg(&bed, RDI, 8);
	return finish(body, err);
}

static int returned_stack(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed.site.flags = TDF_SITE_RETURN;
	bed_memory(&bed, TDF_STMT_STACK, 6, NULL, 0);
	return finish(body, err);
}

static int kernel_stack(struct body *body, struct error *err)
{
	begin(BODY_KPROBE, EM_X86_64);
	bed_memory(&bed, TDF_STMT_STACK, 6, RPN(OP_breg + RSP, 8));
	record_add();
	return finish(body, err);
}

static int arm_kernel_stack(struct body *body, struct error *err)
{
	begin(BODY_KPROBE, EM_AARCH64);
	bed_memory(&bed, TDF_STMT_STACK, 6, RPN(OP_breg + 31, 0));
	bed_memory(&bed, TDF_STMT_MEM, 24, RPN(OP_breg + 1, 0, OP_deref));
	return finish(body, err);
}

static int arm_stack(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_AARCH64);
	bed_memory(&bed, TDF_STMT_STACK, 6, NULL, 0);
	bed_reg(&bed, 0, 8);
	return finish(body, err);
}

static void heap_set(void)
{
	heap = (struct body_heap){
		.calls_fd = 21, .blocks_fd = 22, .owners_fd = -1, .min_size = 64,
		.sample = 4096, .rows_fd = 23, .segments_fd = 24,
		.spaces_fd = 25, .cache_fd = 26, .asks_fd = -1,
	};
	bed.target.heap = &heap;
}

static void heap_begin(int flags)
{
	begin(BODY_UPROBE, cpu->machine);
	heap_set();
	bed.point.flags = flags;
	bed.point.level = 2;
}

static void call_sites(void)
{
	bed_stmt(&bed, TDF_STMT_IF, 0, 0,
		 RPN(OP_breg + 0, 0, OP_lit + 0, OP_ne));
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_RAW | TDF_STMT_BLOCK, 8,
		 RPN(OP_breg + 0, 0));
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_RAW | TDF_STMT_SIZE, 8,
		 cpu->entries[1], cpu->entry_size);
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_RAW | TDF_STMT_OLD, 8,
		 cpu->entries[0], cpu->entry_size);
	bed_memory(&bed, TDF_STMT_STACK, 8, NULL, 0);
	sites[0] = (struct tdf_site){ .flags = TDF_SITE_CALL };
	sites[1] = bed.site;
	sites[1].flags = TDF_SITE_RETURN;
	bed.point.sites = 2;
	bed.tdf.sites = sites;
}

static int call_begin(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_CALL);
	call_sites();
	bed.site = sites[0];
	return finish(body, err);
}

static int call_return(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_CALL);
	call_sites();
	bed.site = sites[1];
	return finish(body, err);
}

/* All blocks are recorded, the stack by frame pointers; what the stack pointer was
 * is, too. */
static int call_each(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_CALL);
	call_sites();
	heap.blocks_fd = heap.rows_fd = -1;
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 8,
		 RPN(OP_entry_value, 1, 0x50 + cpu->stack));
	sites[1].stmts = bed.site.stmts;
	bed.site = sites[1];
	bed.target.single = true;
	bed.target.cookie = 0x200000000000003;
	return finish(body, err);
}

static int call_begin_each(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_CALL);
	call_sites();
	heap.blocks_fd = -1;
	bed.site = sites[0];
	return finish(body, err);
}

/* The statements lie between others. */
static void between(void)
{
	static const struct tdf_stmt other = {
		.kind = TDF_STMT_MEM, .length = 77,
	};
	uint32_t count = bed.site.stmts;

	memmove(bed.stmts + 2, bed.stmts, count * sizeof(*bed.stmts));
	bed.stmts[0] = bed.stmts[1] = bed.stmts[count + 2] = other;
	bed.site.first_stmt = 2;
}

/* The sites do, too. */
static int call_between(struct body *body, int site, struct error *err)
{
	heap_begin(TDF_POINT_CALL);
	call_sites();
	between();
	memmove(sites + 1, sites, 2 * sizeof(*sites));
	sites[0] = (struct tdf_site){ .flags = TDF_SITE_TAIL_CALL };
	sites[2].first_stmt = bed.site.first_stmt;
	bed.point.first_site = 1;
	bed.site = sites[1 + site];
	return finish(body, err);
}

static int call_begin_between(struct body *body, struct error *err)
{
	return call_between(body, 0, err);
}

static int call_return_between(struct body *body, struct error *err)
{
	return call_between(body, 1, err);
}

static int call_begin_filtered(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_CALL);
	call_sites();
	bed.site = sites[0];
	filter = (struct body_filter){
		.pids_fd = 30, .uids = { 1000 }, .uid_count = 1,
	};
	bed.target.filter = &filter;
	return finish(body, err);
}

/* Of blocks whose size isn't known, and which none is given up for */
static void call_blocks(void)
{
	heap_begin(TDF_POINT_CALL);
	bed_stmt(&bed, TDF_STMT_IF, 0, 0, RPN(OP_breg + 0, 0, OP_deref));
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_RAW | TDF_STMT_BLOCK, 8,
		 RPN(OP_breg + 0, 0));
	sites[0] = (struct tdf_site){ .flags = TDF_SITE_CALL };
	sites[1] = bed.site;
	sites[1].flags = TDF_SITE_RETURN;
	bed.point.sites = 2;
	bed.tdf.sites = sites;
}

static int call_begin_block(struct body *body, struct error *err)
{
	call_blocks();
	bed.site = sites[0];
	return finish(body, err);
}

static int call_block(struct body *body, struct error *err)
{
	call_blocks();
	bed.site = sites[1];
	return finish(body, err);
}

static int call_block_absent(struct body *body, struct error *err)
{
	call_blocks();
	bed.site = sites[1];
	bed.target.bring_in = true;
	return finish(body, err);
}

/* Of blocks of any size; or of those from a size on */
static int call_sampled(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_CALL);
	call_sites();
	heap.min_size = 0;
	bed.site = sites[1];
	return finish(body, err);
}

static int call_large(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_CALL);
	call_sites();
	heap.sample = 0;
	heap.min_size = 1ull << 33;
	bed.site = sites[1];
	return finish(body, err);
}

/* Of all blocks, or of one that isn't known */
static int release_each(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_RELEASE);
	heap.blocks_fd = -1;
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_RAW | TDF_STMT_BLOCK, 8,
		 cpu->arguments[0], cpu->argument_size);
	return finish(body, err);
}

/* Of those of the one in whose memory it works */
static int release_owned(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_RELEASE);
	heap.owners_fd = 26;
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_RAW | TDF_STMT_BLOCK, 8,
		 cpu->arguments[0], cpu->argument_size);
	return finish(body, err);
}

static int release_only(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_RELEASE);
	heap.blocks_fd = -1;
	bed_reg(&bed, 1, 4);
	return finish(body, err);
}

static int call_name(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_CALL);
	bed.site.flags = TDF_SITE_CALL;
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_SIZE, 8, cpu->arguments[0],
		 cpu->argument_size);
	sites[0] = bed.site;
	bed.tdf.sites = sites;
	return finish(body, err);
}

/* Of a size that isn't known */
static int call_name_only(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_CALL);
	bed.site.flags = TDF_SITE_CALL;
	sites[0] = bed.site;
	bed.tdf.sites = sites;
	return finish(body, err);
}

static int release(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_RELEASE);
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_RAW | TDF_STMT_BLOCK, 8,
		 cpu->arguments[0], cpu->argument_size);
	return finish(body, err);
}

static int from_static(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed.target.sites_fd = -1;
	return body_generate_static(body, EM_X86_64, 31, &bed.target, err);
}

/* Of some processes; who hits isn't kept. */
static int static_single(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, cpu->machine);
	bed.target.processes_fd = -1;
	bed.target.context_mask = RAS_CONTEXT_STACK;
	bed.target.context_depth = 2;
	filter = (struct body_filter){ .pids_fd = 30 };
	bed.target.filter = &filter;
	return body_generate_static(body, cpu->machine, 31, &bed.target, err);
}

static int static_absent(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, cpu->machine);
	bed.target.bring_in = true;
	return body_generate_static(body, cpu->machine, 31, &bed.target, err);
}

/* Operations of expressions, each of which has an item */

static void value(const uint8_t *rpn, size_t size)
{
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 8, rpn, size);
}

static const uint8_t binaries[] = {
	OP_and, OP_div, OP_minus, OP_mod, OP_mul, OP_or, OP_plus, OP_shl,
	OP_shr, OP_shra, OP_xor, OP_eq, OP_ge, OP_gt, OP_le, OP_lt, OP_ne,
};

static int of_registers(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	for (size_t i = 0; i < sizeof(binaries); i++)
		value(RPN(OP_breg + RDI, 1, OP_breg + RSI, 0, binaries[i]));
	return finish(body, err);
}

static int with_constants(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	for (size_t i = 0; i < sizeof(binaries); i++)
		value(RPN(OP_breg + RDI, 0, OP_const1s, 0x7f, binaries[i]));
	for (size_t i = 0; i < sizeof(binaries); i++)
		value(RPN(OP_lit + 9, OP_breg + RDI, 0, binaries[i]));
	for (size_t i = 0; i < sizeof(binaries); i++)
		value(RPN(OP_breg + RDI, 3, OP_const8u, 1, 2, 3, 4, 5, 6, 7, 8,
			  binaries[i]));
	value(RPN(OP_breg + RDI, 0, OP_lit + 3, OP_shl, OP_lit + 4, OP_shr,
		  OP_lit + 5, OP_shra));
	return finish(body, err);
}

static int of_constants(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	for (size_t i = 0; i < sizeof(binaries); i++)
		value(RPN(OP_const1s, 0x87, OP_lit + 3, binaries[i]));
	for (size_t i = 0; i < sizeof(binaries); i++)
		value(RPN(OP_lit + 5, OP_lit + 5, binaries[i]));
	for (int i = 63; i < 66; i++) {
		value(RPN(OP_const1s, 0x87, OP_const1u, i, OP_shl));
		value(RPN(OP_const1s, 0x87, OP_const1u, i, OP_shr));
		value(RPN(OP_const1s, 0x87, OP_const1u, i, OP_shra));
	}
	value(RPN(OP_lit + 7, OP_abs));
	value(RPN(OP_const1s, 0x87, OP_abs));
	value(RPN(OP_const1s, 0x87, OP_neg));
	value(RPN(OP_const1s, 0x87, OP_not));
	return finish(body, err);
}

/* More entries than temporary registers; all ways of moving them */
static int of_stack(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	value(RPN(OP_breg + RDI, 0, OP_neg, OP_breg + RSI, 0, OP_not, OP_over,
		  OP_over, OP_mul, OP_dup, OP_abs, OP_pick, 3, OP_shl, OP_rot,
		  OP_swap, OP_drop, OP_xor, OP_minus));
	value(RPN(OP_breg + 0, 0, OP_neg, OP_breg + 1, 0, OP_neg, OP_breg + 2,
		  0, OP_neg, OP_breg + 3, 0, OP_neg, OP_breg + 4, 0, OP_neg,
		  OP_breg + 5, 0, OP_neg, OP_breg + 6, 0, OP_deref_size, 2,
		  OP_plus, OP_mul, OP_and, OP_div, OP_xor, OP_or));
	return finish(body, err);
}

static int of_jumps(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	value(RPN(OP_lit + 7, OP_breg + RDI, 0, OP_neg, OP_swap, OP_breg + RSI,
		  0, OP_bra, 5, 0, OP_neg, OP_plus, OP_skip, 2, 0, OP_swap,
		  OP_minus, OP_nop));
	/* two jumps to one place */
	value(RPN(OP_breg + RDI, 0, OP_breg + RSI, 0, OP_bra, 6, 0, OP_breg + 1,
		  0, OP_bra, 1, 0, OP_neg, OP_not));
	/* entries in each other's homes, and not at home for what is added */
	value(RPN(OP_breg + RDI, 0, OP_breg + RSI, 0, OP_breg + RDI, 8, OP_bra,
		  1, 0, OP_nop, OP_swap, OP_breg + RDI, 0, OP_bra, 1, 0, OP_nop,
		  OP_plus_uconst, 5, OP_breg + RDI, 0, OP_bra, 1, 0, OP_nop,
		  OP_minus));
	return finish(body, err);
}

/* What is absent is brought in: then the expressions are gone through again. */
static int of_absent(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed.target.bring_in = true;
	bed_stmt(&bed, TDF_STMT_IF, 0, 0,
		 RPN(OP_breg + RDI, 0, OP_deref, OP_breg + RSI, 0, OP_div));
	bed_reg(&bed, RDI, 8);
	bed_len(&bed, bed_memory(&bed, TDF_STMT_MEM, 64, RPN(OP_breg + RDI, 0)),
		2, RPN(OP_breg + RSI, 4));
	bed_memory(&bed, TDF_STMT_ASCIIZ, 13, RPN(OP_breg + RSI, 0, OP_deref));
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 3,
		 RPN(OP_breg + RDI, 0, OP_deref_size, 4));
	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_MORE, 5,
		 RPN(OP_breg + RDI, 0, OP_deref));
	value(RPN(OP_bregx, 58, 8, OP_deref));
	return finish(body, err);
}

/* The same without a frame of its own for each: what goes on after a fault */
static int of_absent_on(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_AARCH64);
	bed.target.bring_in = true;
	bed.point.flags = TDF_POINT_CONTINUE;
	bed_memory(&bed, TDF_STMT_MEM, 12, RPN(OP_breg + 0, 0, OP_deref));
	value(RPN(OP_bregx, 36, 8, OP_deref));
	bed_memory(&bed, TDF_STMT_ASCIIZ, 6, RPN(OP_breg + 1, 0));
	value(RPN(OP_breg + 1, 0, OP_breg + 2, 0, OP_mod));
	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_RAW, 4, RPN(OP_breg + 2, 0));
	return finish(body, err);
}

/* So much that jumps don't reach when it is taken again: what is absent stays
 * so. */
static int of_far_jumps(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed.target.bring_in = true;
	bed.point.flags = TDF_POINT_CONTINUE;
	for (int i = 0; i < TDF_STMTS_MAX; i++)
		value(RPN(OP_breg + RDI, 0, OP_deref, OP_deref, OP_deref,
			  OP_breg + RSI, 0, OP_div));
	return finish(body, err);
}

/* What is read at once */

#define DATA(n)	OP_addr, n, 0, 0, 0, 0, 0, 0, 0

static void reads_begin(bool bring_in)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed.target.bring_in = bring_in;
}

static int reads_near(struct body *body, struct error *err)
{
	reads_begin(true);
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_breg + RDI, 0));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_breg + RDI, 56));
	bed_memory(&bed, TDF_STMT_MEM, 4, RPN(OP_breg + RSI, 0));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_breg + RSI, 57));
	bed_memory(&bed, TDF_STMT_MEM, 2,
		   RPN(OP_bregx, RBP, 2, OP_lit + 4, OP_plus));
	bed_memory(&bed, TDF_STMT_MEM, 3,
		   RPN(OP_lit + 8, OP_bregx, RBP, 2, OP_plus, OP_const1u, 3,
		       OP_minus));
	return finish(body, err);
}

static int reads_chain(struct body *body, struct error *err)
{
	reads_begin(true);
	bed_memory(&bed, TDF_STMT_MEM, 8,
		   RPN(OP_breg + RDI, 8, OP_deref, OP_plus_uconst, 8, OP_deref));
	bed_memory(&bed, TDF_STMT_MEM, 8,
		   RPN(OP_breg + RDI, 8, OP_deref, OP_plus_uconst, 8, OP_deref,
		       OP_plus_uconst, 8));
	value(RPN(OP_breg + RDI, 4, OP_deref_size, 4, OP_lit + 1, OP_plus));
	value(RPN(OP_breg + RDI, 4, OP_deref_size, 4, OP_dup, OP_mul));
	value(RPN(OP_breg + RDI, 0, OP_breg + RSI, 0, OP_plus, OP_deref));
	value(RPN(OP_breg + RSI, 0, OP_neg, OP_breg + RDI, 8, OP_deref,
		  OP_breg + RDI, 8, OP_deref, OP_neg, OP_breg + RDI, 4,
		  OP_deref_size, 4, OP_plus, OP_mul, OP_xor));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_breg + RBP, 0));
	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_MORE, 6, RPN(OP_breg + RBP, 9));
	return finish(body, err);
}

/* More of them than are remembered */
static int reads_most(struct body *body, struct error *err)
{
	reads_begin(true);
	for (int i = 0; i < 70; i++)
		bed_memory(&bed, TDF_STMT_MEM, 1, RPN(OP_breg + i % 16, i));
	return finish(body, err);
}

/* A part of what is near has room in a frame, not all of it. */
static int reads_partly(struct body *body, struct error *err)
{
	reads_begin(true);
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_breg + RDI, 0));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_breg + RDI, 8));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_breg + RDI, 48));
	for (int i = 0; i < 4; i++)
		bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_breg + i, 0));
	return finish(body, err);
}

/* What has been read is kept while others are. */
static int reads_crossed(struct body *body, struct error *err)
{
	static const uint8_t bases[] = { RDI, RSI, RBP, RSP };

	reads_begin(true);
	for (int i = 0; i < 12; i++)
		bed_memory(&bed, TDF_STMT_MEM, 8,
			   RPN(OP_breg + bases[i % 4], 8 * (i / 4)));
	return finish(body, err);
}

/* What is far away, isn't aligned, or may not be read at all */
static int reads_odd(struct body *body, struct error *err)
{
	reads_begin(true);
	for (int i = 0; i < 2; i++) {
		value(RPN(OP_breg + RDI, 3, OP_deref_size, 4));
		value(RPN(OP_breg + RDI, 6, OP_deref_size, 2));
		value(RPN(OP_breg + RSI, 0, OP_const8u, 0, 0, 0, 0, 0, 0, 0,
			  0x7f, OP_plus, OP_deref));
		value(RPN(OP_breg + RSI, 0, OP_const8u, 0, 0, 0, 0, 0, 0, 0,
			  0x80, OP_plus, OP_deref));
		value(RPN(OP_breg + 1, 0, OP_breg + 2, 0, OP_bra, 1, 0,
			  OP_deref, OP_deref));
		bed_memory(&bed, TDF_STMT_MEM, 65, RPN(OP_breg + 1, 8));
	}
	return finish(body, err);
}

static int reads_data(struct body *body, struct error *err)
{
	reads_begin(true);
	value(RPN(DATA(0x70), OP_deref));
	value(RPN(DATA(0x78), OP_deref_size, 2));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(DATA(0x68)));
	return finish(body, err);
}

/* More than any frame has room for */
static int reads_many(struct body *body, struct error *err)
{
	reads_begin(true);
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 2; k++)
			bed_memory(&bed, TDF_STMT_MEM, 8,
				   RPN(OP_breg + i, 48 * k));
	value(RPN(OP_breg + 0, 0, OP_deref, OP_breg + 5, 48, OP_deref, OP_xor));
	return finish(body, err);
}

/* Items take all that there is, and no byte more. */
static int budget_used(struct body *body, struct error *err)
{
	reads_begin(true);
	bed_memory(&bed, TDF_STMT_MEM, 16, RPN(OP_breg + RDI, 0));
	bed_memory(&bed, TDF_STMT_MEM, 3, RPN(OP_breg + RDI, 16));
	bed.header.maxdata = 16 + FAULT + 2 * RAS_ITEM_PREFIX;
	return finish(body, err);
}

static int budget_short(struct body *body, struct error *err)
{
	reads_begin(true);
	bed_memory(&bed, TDF_STMT_MEM, 16, RPN(OP_breg + RDI, 0));
	bed_memory(&bed, TDF_STMT_MEM, 3, RPN(OP_breg + RDI, 16));
	bed.header.maxdata = 15 + FAULT + 2 * RAS_ITEM_PREFIX;
	return finish(body, err);
}

/* Return addresses and memory share it, after those of the context. */
static int budget_shared(struct body *body, bool bring_in, struct error *err)
{
	reads_begin(bring_in);
	bed.target.context_mask = RAS_CONTEXT_ALL & ~RAS_CONTEXT_OTEL;
	bed.target.context_depth = 3;
	bed_memory(&bed, TDF_STMT_MEM, 20, RPN(OP_breg + RDI, 0));
	bed_memory(&bed, TDF_STMT_STACK, 4, RPN(OP_breg + RSP, 8));
	bed_reg(&bed, RDI, 8);
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 2, RPN(OP_breg + RSI, 0));
	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_MORE, 30, RPN(OP_breg + RSI, 0));
	bed.header.maxdata = 70;
	return finish(body, err);
}

static int budget_stack(struct body *body, struct error *err)
{
	return budget_shared(body, false, err);
}

static int budget_stack_absent(struct body *body, struct error *err)
{
	return budget_shared(body, true, err);
}

/* Memory takes what return addresses leave of it, to the last byte; or there is
 * one too few. */
static int budget_stack_left(struct body *body, int missing, struct error *err)
{
	reads_begin(true);
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_breg + RDI, 0));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(OP_breg + RDI, 8));
	bed_memory(&bed, TDF_STMT_STACK, 4, NULL, 0);
	bed.header.maxdata = 3 * RAS_ITEM_PREFIX + 2 * 8 +
			     sizeof(struct ras_stack) + 4 * 8 - missing;
	return finish(body, err);
}

static int budget_stack_used(struct body *body, struct error *err)
{
	return budget_stack_left(body, 0, err);
}

static int budget_stack_short(struct body *body, struct error *err)
{
	return budget_stack_left(body, 1, err);
}

/* A TDF may ask for more than a record has. */
static int budget_most(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed_memory(&bed, TDF_STMT_MEM, 400, RPN(OP_breg + RDI, 0));
	bed_memory(&bed, TDF_STMT_MEM, 200, RPN(OP_breg + RSI, 0));
	bed.header.maxdata = TDF_DATA_MAX + 40;
	return finish(body, err);
}

/* Nothing is known of the kernel. */
static int no_structures(struct body *body, struct error *err)
{
	reads_begin(true);
	bed.target.layout = NULL;
	bed.site.flags = TDF_SITE_RETURN;
	record_add();
	return finish(body, err);
}

/* Segmented addresses */

static void far_add(uint8_t selector)
{
	struct tdf_stmt *stmt;

	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_SEGMENT, 8,
		 RPN(OP_bregx, selector, 0, OP_breg + 3, 4));
	bed_stmt(&bed, TDF_STMT_ASCIIZ, TDF_STMT_SEGMENT, 9,
		 RPN(OP_bregx, selector, 0, OP_breg + 3, 4));
	stmt = bed_stmt(&bed, TDF_STMT_MEM, 0, 30,
			RPN(OP_bregx, selector, 0, OP_breg + 1, 0));
	bed_len(&bed, stmt, 4, RPN(OP_bregx, selector, 0, OP_breg + 2, 0));
	stmt->flags |= TDF_STMT_SEGMENT | TDF_STMT_LEN_SEGMENT;
	value(RPN(OP_bregx, selector, 0, OP_breg + 1, 4, OP_xderef));
	value(RPN(OP_bregx, selector, 0, OP_breg + 1, 4, OP_xderef_size, 2));
}

static int far(struct body *body, uint16_t machine, uint8_t selector,
	       bool bring_in, struct error *err)
{
	begin(BODY_UPROBE, machine);
	bed.target.bring_in = bring_in;
	far_add(selector);
	return finish(body, err);
}

static int far_ds(struct body *body, struct error *err)
{
	return far(body, EM_386, 43, false, err);
}

static int far_gs(struct body *body, struct error *err)
{
	return far(body, EM_386, 45, true, err);
}

/* The base of a segment, as of the thread's last switch; or the kernel module
 * shows what it is now. */
static int base_then(struct body *body, struct error *err)
{
	reads_begin(false);
	bed.target.processes_fd = -1;
	value(RPN(OP_bregx, 59, 8, OP_deref));
	value(RPN(OP_breg + RDI, 0, OP_neg, OP_bregx, 58, 0, OP_plus));
	return finish(body, err);
}

static int base_now(struct body *body, struct error *err)
{
	reads_begin(false);
	bed.target.segments_save = 103;
	value(RPN(OP_bregx, 59, 8, OP_deref));
	value(RPN(OP_bregx, 58, 0));
	return finish(body, err);
}

static int far_cs_64(struct body *body, struct error *err)
{
	return far(body, EM_X86_64, 51, false, err);
}

static int far_fs_64(struct body *body, struct error *err)
{
	return far(body, EM_X86_64, 54, true, err);
}

static int far_gs_64(struct body *body, struct error *err)
{
	return far(body, EM_X86_64, 55, false, err);
}

/* By one that is in memory, or computed */
static void far_read_add(void)
{
	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_SEGMENT, 8,
		 RPN(OP_breg + 3, 0, OP_deref_size, 2, OP_breg + 1, 4));
	value(RPN(OP_breg + 3, 0, OP_neg, OP_breg + 1, 4, OP_xderef_size, 4));
	value(RPN(OP_lit + 3, OP_breg + 1, 4, OP_xderef_size, 2, OP_breg + 2, 0,
		  OP_xderef));
}

static int far_read(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_386);
	far_read_add();
	return finish(body, err);
}

static int far_read_64(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	far_read_add();
	return finish(body, err);
}

/* By a selector that isn't a register's; without the kernel's table */
static int far_any_64(struct body *body, struct error *err)
{
	static struct body_layout own;

	begin(BODY_UPROBE, EM_X86_64);
	own = layout;
	own.mm_ldt = 0;
	bed.target.layout = &own;
	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_SEGMENT, 8,
		 RPN(OP_bregx, 54, 1, OP_breg + 3, 4));
	return finish(body, err);
}

/* Static data, and where the probe is */

static void data_add(void)
{
	bed_reg(&bed, 16, 8);
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(DATA(0x10)));
	value(RPN(OP_breg + 16, 2));
	value(RPN(DATA(0x70), OP_deref));
}

static int data_user(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	data_add();
	return finish(body, err);
}

static int data_single(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	data_add();
	bed.target.single = true;
	bed.target.cookie = 0x300000002;
	return finish(body, err);
}

static int data_returned(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	data_add();
	bed.site.flags = TDF_SITE_RETURN;
	return finish(body, err);
}

static int data_returned_told(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	data_add();
	bed.site.flags = TDF_SITE_RETURN;
	bed.target.func_ip = bed.target.single = true;
	return finish(body, err);
}

static int data_test(struct body *body, struct error *err)
{
	begin(BODY_TEST, EM_X86_64);
	data_add();
	return finish(body, err);
}

static int data_kernel(struct body *body, struct error *err)
{
	begin(BODY_KPROBE, EM_X86_64);
	data_add();
	return finish(body, err);
}

static int data_kernel_returned(struct body *body, struct error *err)
{
	begin(BODY_KPROBE, EM_X86_64);
	data_add();
	bed.site.flags = TDF_SITE_RETURN;
	return finish(body, err);
}

/* Each section by itself; one is the running CPU's. */
static int data_sections(struct body *body, struct error *err)
{
	static const struct body_section run[] = {
		{ 0x10, 0x20, 0xffffffffc0001000, false },
		{ 0x60, 0x20, 0xffffffffc0002000, true },
	};

	begin(BODY_KPROBE, EM_X86_64);
	section = (struct tdf_section){ .module = 0 };
	bed.tdf.sections = &section;
	bed.target.sections = run;
	bed.target.section_count = 2;
	bed.target.percpu_offsets = 0xffffffff82000000;
	data_add();
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(DATA(0x30)));
	bed_memory(&bed, TDF_STMT_MEM, 8, RPN(DATA(0x2f)));
	return finish(body, err);
}

/* Those of another module don't count. */
static int data_sections_other(struct body *body, struct error *err)
{
	static const struct body_section run[] = {
		{ 0x10, 0x90, 0xffffffffc0001000, false },
	};

	begin(BODY_KPROBE, EM_X86_64);
	section = (struct tdf_section){ .module = 1 };
	bed.tdf.sections = &section;
	bed.target.sections = run;
	bed.target.section_count = 1;
	data_add();
	return finish(body, err);
}

/* An exit that has no return value yet */
static int tail_call(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed.site.flags = TDF_SITE_TAIL_CALL;
	bed_reg(&bed, RDI, 8);
	return finish(body, err);
}

/* Memory of the kernel, of addresses that may have a tag */
static int arm_kernel_data(struct body *body, struct error *err)
{
	begin(BODY_KPROBE, EM_AARCH64);
	bed_memory(&bed, TDF_STMT_MEM, 24, RPN(OP_breg + 1, 0, OP_deref));
	bed_memory(&bed, TDF_STMT_ASCIIZ, 24, RPN(OP_breg + 2, 0));
	bed_reg(&bed, 32, 8);
	value(RPN(OP_breg + 3, 8, OP_deref_size, 4));
	return finish(body, err);
}

/* One thing of the target or the tracepoint is another one. */

static void address_bits(void)
{
	bed.target.address_bits = 52;
}

static void no_preemption(void)
{
	bed.target.preempt_disable = bed.target.preempt_enable = 0;
}

static void no_processes(void)
{
	bed.target.processes_fd = -1;
}

static void no_userfaults(void)
{
	static struct body_layout own;

	own = layout;
	own.vma_uffd = 0;
	bed.target.layout = &own;
	bed.target.bring_in = true;
}

static void single_limits(void)
{
	bed.target.single = true;
	bed.target.cookie = 0x700030009;
	bed.target.max_rate = 500;
	bed.point.maxhits = 100;
	bed.point.passcount = 3;
}

static void rate_absent(void)
{
	bed.target.bring_in = true;
	bed.target.max_rate = 500;
	bed.point.maxhits = 1;
}

static void trigger_now(void)
{
	bed.target.trigger = true;
}

static void context_absent(void)
{
	bed.target.bring_in = true;
	bed.target.context_mask = RAS_CONTEXT_ALL & ~RAS_CONTEXT_OTEL;
	bed.target.context_depth = 4;
}

static void users(void)
{
	filter = (struct body_filter){
		.pids_fd = -1, .uids = { 7, 0x80000000 }, .uid_count = 2,
	};
	bed.target.filter = &filter;
}

static void names(void)
{
	filter = (struct body_filter){
		.pids_fd = -1, .comm_count = 2,
		.comms = { "as long as it is", "sh" },
	};
	bed.target.filter = &filter;
}

static void cgroups(void)
{
	filter = (struct body_filter){
		.pids_fd = -1, .cgroup_count = 3,
		.cgroups = { { 99, 3 }, { 98, 3 }, { 1ull << 40, 1 } },
	};
	bed.target.filter = &filter;
}

static void no_segments(void)
{
	heap_set();
	heap.segments_fd = -1;
}

static void no_spaces(void)
{
	heap_set();
	heap.spaces_fd = -1;
}

static void no_room(void)
{
	bed.header.maxdata = TDF_DATA_MIN;
}

static void goes_on_absent(void)
{
	bed.target.bring_in = true;
	bed.point.flags = TDF_POINT_CONTINUE;
}

static void between_absent(void)
{
	bed.target.bring_in = true;
	between();
}

static const struct {
	const char *name;
	void (*set)(void);
} variants[] = {
	{ "between", between },
	{ "between_absent", between_absent },
	{ "address_bits", address_bits },
	{ "no_preemption", no_preemption },
	{ "no_processes", no_processes },
	{ "no_userfaults", no_userfaults },
	{ "single_limits", single_limits },
	{ "rate_absent", rate_absent },
	{ "trigger_now", trigger_now },
	{ "context_absent", context_absent },
	{ "users", users },
	{ "names", names },
	{ "cgroups", cgroups },
	{ "no_segments", no_segments },
	{ "no_spaces", no_spaces },
	{ "no_room", no_room },
	{ "goes_on_absent", goes_on_absent },
};
#define VARIANTS	(sizeof(variants) / sizeof(*variants))

static int variant(struct body *body, size_t index, struct error *err)
{
	struct tdf_stmt *stmt;

	begin(BODY_UPROBE, cpu->machine);
	bed_stmt(&bed, TDF_STMT_IF, 0, 0,
		 RPN(OP_breg + 1, 0, OP_deref_size, 4));
	bed_reg(&bed, 0, 4);
	bed_memory(&bed, TDF_STMT_MEM, 9, RPN(OP_breg + 1, 0, OP_deref));
	stmt = bed_memory(&bed, TDF_STMT_MEM, 40, RPN(OP_breg + 2, 0));
	bed_len(&bed, stmt, 4, RPN(OP_breg + 3, 0));
	stmt->flags |= TDF_STMT_LEN_VALUE;
	bed_memory(&bed, TDF_STMT_STACK, 3, NULL, 0);
	bed_memory(&bed, TDF_STMT_ASCIIZ, 13, RPN(OP_breg + 2, 0));
	variants[index].set();
	return finish(body, err);
}

/* Tables are asked for by who isn't known. */
static int call_asks(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_CALL);
	call_sites();
	heap.asks_fd = 27;
	bed.site = sites[1];
	return finish(body, err);
}

static int release_asks(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_RELEASE);
	heap.asks_fd = 27;
	bed_memory(&bed, TDF_STMT_STACK, 8, NULL, 0);
	return finish(body, err);
}

/* Stacks in a key: in the kernel another hit may come in between. */
static int by_stack(struct body *body, enum body_context context,
		    struct error *err)
{
	begin(context, cpu->machine);
	if (context == BODY_UPROBE)
		heap_set();
	bed_stmt(&bed, TDF_STMT_BY, 0, 8, cpu->arguments[0],
		 cpu->argument_size);
	bed_memory(&bed, TDF_STMT_BY, 6, NULL, 0)->reg = TDF_BY_STACK;
	bed_memory(&bed, TDF_STMT_AGGREGATE, 0, NULL, 0);
	bed.target.aggregates_fd = 40;
	bed.target.aggregated_fd = 41;
	bed.target.by_stack_fd = 42;
	return finish(body, err);
}

static int by_stack_user(struct body *body, struct error *err)
{
	return by_stack(body, BODY_UPROBE, err);
}

static int by_stack_kernel(struct body *body, struct error *err)
{
	return by_stack(body, BODY_KPROBE, err);
}

/*
 * Whole calls: with slots for the open ones where no entry can fail. The exit logs
 * what an operation has, or counts (0). Of another point's site in front of them
 * nothing is taken.
 */
static int whole(struct body *body, bool leave, bool reads, int logged,
		 struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed.point.flags = TDF_POINT_WHOLE;
	bed.point.first_site = 1;
	bed_entry(&bed, reads);
	sites[0] = (struct tdf_site){ .flags = TDF_SITE_TAIL_CALL };
	sites[1] = bed.site;
	sites[2] = (struct tdf_site){ .first_stmt = bed.site.stmts };
	bed.site = (struct tdf_site){ .stmts = sites[2].first_stmt };
	bed_stmt(&bed, TDF_STMT_KEY, 0, 0, RPN(OP_breg + RSP, 8));
	bed_stmt(&bed, TDF_STMT_IF, 0, 0,
		 RPN(OP_at_entry, 0, OP_elapsed, OP_lt));
	if (logged)
		bed_stmt(&bed, TDF_STMT_VALUE, 0, 8, RPN(logged));
	else
		bed_memory(&bed, TDF_STMT_AGGREGATE, 0, NULL, 0);
	bed.target.aggregates_fd = 40;
	bed.target.aggregated_fd = 41;
	sites[2].stmts = bed.site.stmts - sites[2].first_stmt;
	bed.tdf.sites = sites;
	bed.target.open_bytes = plan_open_bytes(&bed.tdf, &(bool){ true });
	bed.target.open_fd = 43;
	bed.target.slots_fd = 44;
	bed.target.slots = 4;
	bed.target.threads_fd = 45;
	bed.site = sites[1 + leave];
	return finish(body, err);
}

static int whole_entry(struct body *body, struct error *err)
{
	return whole(body, false, false, OP_elapsed, err);
}

static int whole_exit(struct body *body, struct error *err)
{
	return whole(body, true, false, OP_elapsed, err);
}

static int whole_entry_reads(struct body *body, struct error *err)
{
	return whole(body, false, true, OP_elapsed, err);
}

static int whole_exit_reads(struct body *body, struct error *err)
{
	return whole(body, true, true, OP_elapsed, err);
}

static int whole_entry_time(struct body *body, struct error *err)
{
	return whole(body, false, false, OP_cputime, err);
}

static int whole_exit_time(struct body *body, struct error *err)
{
	return whole(body, true, true, OP_cputime, err);
}

static int whole_exit_counts(struct body *body, struct error *err)
{
	return whole(body, true, true, 0, err);
}

/* What each site has of its own: registers, offsets and a length */
static int own_words(struct body *body, struct error *err)
{
	static const struct body_register registers[] = {
		{ .item = true, .at = 0, .word = 2 }, { .at = 0, .word = 3 },
	};
	static const struct body_offset offsets[] = { { 0, 4, 16 } };
	static const struct body_length lengths[] = { { 1, 5, 64 } };

	begin(BODY_UPROBE, EM_X86_64);
	bed_reg(&bed, RDI, 4);
	bed_memory(&bed, TDF_STMT_MEM, 40, RPN(OP_breg + RSI, 8, OP_deref));
	bed.target.offsets_fd = 46;
	bed.target.registers = registers;
	bed.target.register_count = 2;
	bed.target.offsets = offsets;
	bed.target.offset_count = 1;
	bed.target.lengths = lengths;
	bed.target.length_count = 1;
	return finish(body, err);
}

/* By the kernel module */
static int vectors(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed.target.vector_read = 104;
	value(RPN(OP_vector, 17, 0));
	value(RPN(OP_vector, 32, 8));
	return finish(body, err);
}

/* What can't fault needs no room for that. */
static int goes_on_values(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed.point.flags = TDF_POINT_CONTINUE;
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 2,
		 RPN(OP_breg + RDI, 0, OP_lit + 3, OP_plus));
	bed_memory(&bed, TDF_STMT_MEM, 2, RPN(OP_breg + RDI, 0));
	return finish(body, err);
}

struct kind {
	const char *name;
	int (*make)(struct body *body, struct error *err);
};

static const struct kind bodies[] = {
	{ "record", record },
	{ "record_cut", record_cut },
	{ "record_single", record_single },
	{ "short_record", short_record },
	{ "goes_on", goes_on },
	{ "little_read", little_read },
	{ "condition", condition },
	{ "limits", limits },
	{ "segment", segment },
	{ "user_stack", user_stack },
	{ "returned_stack", returned_stack },
	{ "kernel_stack", kernel_stack },
	{ "arm_kernel_stack", arm_kernel_stack },
	{ "arm_stack", arm_stack },
	{ "call_begin", call_begin },
	{ "call_return", call_return },
	{ "call_name", call_name },
	{ "release", release },
	{ "aggregates", aggregates },
	{ "aggregates_absent", aggregates_absent },
	{ "aggregates_kernel", aggregates_kernel },
	{ "from_static", from_static },
	{ "of_registers", of_registers },
	{ "with_constants", with_constants },
	{ "of_constants", of_constants },
	{ "of_stack", of_stack },
	{ "of_jumps", of_jumps },
	{ "of_absent", of_absent },
	{ "of_absent_on", of_absent_on },
	{ "of_far_jumps", of_far_jumps },
	{ "reads_near", reads_near },
	{ "reads_chain", reads_chain },
	{ "reads_many", reads_many },
	{ "reads_most", reads_most },
	{ "reads_partly", reads_partly },
	{ "reads_crossed", reads_crossed },
	{ "reads_odd", reads_odd },
	{ "reads_data", reads_data },
	{ "budget_used", budget_used },
	{ "budget_short", budget_short },
	{ "budget_stack", budget_stack },
	{ "budget_stack_absent", budget_stack_absent },
	{ "budget_stack_used", budget_stack_used },
	{ "budget_stack_short", budget_stack_short },
	{ "budget_most", budget_most },
	{ "no_structures", no_structures },
	{ "far_ds", far_ds },
	{ "far_gs", far_gs },
	{ "base_then", base_then },
	{ "base_now", base_now },
	{ "far_cs_64", far_cs_64 },
	{ "far_fs_64", far_fs_64 },
	{ "far_gs_64", far_gs_64 },
	{ "far_read", far_read },
	{ "far_read_64", far_read_64 },
	{ "far_any_64", far_any_64 },
	{ "data_user", data_user },
	{ "data_single", data_single },
	{ "data_returned", data_returned },
	{ "data_returned_told", data_returned_told },
	{ "data_test", data_test },
	{ "data_kernel", data_kernel },
	{ "data_kernel_returned", data_kernel_returned },
	{ "data_sections", data_sections },
	{ "data_sections_other", data_sections_other },
	{ "tail_call", tail_call },
	{ "arm_kernel_data", arm_kernel_data },
	{ "by_stack_kernel", by_stack_kernel },
	{ "whole_entry", whole_entry },
	{ "whole_exit", whole_exit },
	{ "whole_entry_reads", whole_entry_reads },
	{ "whole_exit_reads", whole_exit_reads },
	{ "whole_entry_time", whole_entry_time },
	{ "whole_exit_time", whole_exit_time },
	{ "whole_exit_counts", whole_exit_counts },
	{ "own_words", own_words },
	{ "vectors", vectors },
	{ "goes_on_values", goes_on_values },
};

/* Of each machine */
static const struct kind machine_bodies[] = {
	{ "call_begin", call_begin },
	{ "call_return", call_return },
	{ "call_each", call_each },
	{ "call_begin_each", call_begin_each },
	{ "call_begin_between", call_begin_between },
	{ "call_return_between", call_return_between },
	{ "call_begin_filtered", call_begin_filtered },
	{ "call_begin_block", call_begin_block },
	{ "call_block", call_block },
	{ "call_sampled", call_sampled },
	{ "call_asks", call_asks },
	{ "release_asks", release_asks },
	{ "by_stack_user", by_stack_user },
	{ "call_large", call_large },
	{ "release_each", release_each },
	{ "release_owned", release_owned },
	{ "release_only", release_only },
	{ "call_block_absent", call_block_absent },
	{ "call_name", call_name },
	{ "call_name_only", call_name_only },
	{ "release", release },
	{ "static_single", static_single },
	{ "static_absent", static_absent },
};

/* Where a STACK is: what is known of the probed function's frame */
static const struct where {
	const char *name;
	uint8_t flags;
	uint32_t symbol_offset;
	uint16_t frames;
	bool cfa, read;		/* its address is known; or has to be read */
} places[] = {
	{ "inside", 0, 8, 3, false, false },
	{ "begins", 0, 0, 3, false, false },
	{ "one", 0, 0, 1, false, false },
	{ "known", 0, 8, 3, true, false },
	{ "read", 0, 8, 3, true, true },
	{ "returned", TDF_SITE_RETURN, 0, 3, false, false },
	{ "cut", 0, 8, 64, true, false },
};
#define PLACES	(sizeof(places) / sizeof(*places))

/* How it is followed */
static const struct {
	const char *name;
	enum body_context context;
	bool tables;
} ways[] = {
	{ "pointers", BODY_UPROBE, false },
	{ "tables", BODY_UPROBE, true },
	{ "kernel", BODY_KPROBE, false },
};
#define WAYS	(sizeof(ways) / sizeof(*ways))

static int stack(struct body *body, size_t way, const struct where *where,
		 struct error *err)
{
	const uint8_t cfa[] = { OP_breg + cpu->stack, 16, OP_deref };

	begin(ways[way].context, cpu->machine);
	if (ways[way].tables)
		heap_set();
	bed.site.flags = where->flags;
	bed.site.symbol = 1;
	bed.site.symbol_offset = where->symbol_offset;
	bed_memory(&bed, TDF_STMT_STACK, where->frames, cfa,
		   where->cfa ? sizeof(cfa) - !where->read : 0);
	bed_reg(&bed, 0, 4);
	return finish(body, err);
}

/* Where the subprograms begin, as the kernel gets them; one instruction per line; in
 * front of those of a statement which one it is */
static void print(const struct body *body, FILE *out)
{
	struct bpf_func_info functions[BODY_FUNCTIONS];
	size_t count = body_functions(body->subprograms, functions);
	const struct body_note *note = body->notes;
	const struct body_note *end = note + body->note_count;
	char text[128];

	for (size_t i = 0; i < count; i++)
		fprintf(out, "; %u at %u\n", functions[i].type_id,
			functions[i].insn_off);
	for (size_t at = 0; at < body->count;) {
		int taken = disasm_print(&body->insns[at], text, sizeof(text));

		for (; note < end && note->insn <= at; note++)
			fprintf(out, "; %d\n", note->stmt);
		fprintf(out, "%s\n", text);
		at += taken > 0 ? taken : 1;
	}
}

/* "NAME: 12 instructions, sleepable, checksum 12345678" */
static void summary(const char *name, const struct body *body, char *line,
		    size_t size)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	print(body, out);
	fclose(out);
	snprintf(line, size, "%s: %zu instructions%s, checksum %08x\n", name,
		 body->count, body->sleepable ? ", sleepable" : "",
		 hash_crc32(0, text, length));
	free(text);
}

#define INSNS_MOST	65536
#define WAITING_FRAME	64	/* from here on a kernel may have it elsewhere */

/* Begins a subprogram there? */
static void begins_find(const struct body *body, bool begins[INSNS_MOST])
{
	memset(begins, false, INSNS_MOST);
	for (size_t i = 0; i < body->count; i++) {
		const struct bpf_insn *insn = &body->insns[i];

		if ((insn->code == (BPF_JMP | BPF_CALL) &&
		     insn->src_reg == BPF_PSEUDO_CALL) ||
		    (insn->code == (BPF_LD | BPF_DW | BPF_IMM) &&
		     insn->src_reg == BPF_PSEUDO_FUNC))
			begins[i + 1 + insn->imm] = true;
	}
}

/* How far below r10 an instruction is. */
static int insn_depth(const struct bpf_insn *insn, const struct bpf_insn *before)
{
	int class = BPF_CLASS(insn->code);

	if ((class == BPF_LDX && insn->src_reg == BPF_REG_10) ||
	    ((class == BPF_ST || class == BPF_STX) &&
	     insn->dst_reg == BPF_REG_10))
		return -insn->off;
	/* r1 = r10; r1 += -16 */
	return insn->code == (BPF_ALU64 | BPF_ADD | BPF_K) && before &&
	       before->code == (BPF_ALU64 | BPF_MOV | BPF_X) &&
	       before->src_reg == BPF_REG_10 &&
	       before->dst_reg == insn->dst_reg ? -insn->imm : 0;
}

static unsigned int waiting;	/* subprograms that wait for memory */
static int waiting_deepest;	/* bytes of the largest frame of these */

/* What waits is preempted, so the frame of each subprogram on the way to it must
 * be on the stack of its thread. */
static void waiting_look(const struct body *body)
{
	static bool begins[INSNS_MOST], waits[INSNS_MOST];
	bool more = true;

	if (body->count > INSNS_MOST)
		tap_bail("%zu instructions", body->count);
	begins_find(body, begins);
	memset(waits, false, sizeof(waits));
	while (more) {
		size_t begin = 0;

		more = false;
		for (size_t i = 0; i < body->count; i++) {
			const struct bpf_insn *insn = &body->insns[i];
			bool call = insn->code == (BPF_JMP | BPF_CALL);

			begin = begins[i] ? i : begin;
			if (!call || waits[begin])
				continue;
			waits[begin] = insn->src_reg == BPF_PSEUDO_CALL ?
				waits[i + 1 + insn->imm] : !insn->src_reg &&
				insn->imm == BPF_FUNC_copy_from_user;
			more |= waits[begin];
		}
	}
	for (size_t i = 0, begin = 0; i < body->count; i++) {
		int depth = insn_depth(&body->insns[i],
				       i ? &body->insns[i - 1] : NULL);

		begin = begins[i] ? i : begin;
		waiting += begins[i] && waits[i];
		if (begin && waits[begin] && depth > waiting_deepest)
			waiting_deepest = depth;
	}
}

static FILE *golden;
static uint32_t noted;		/* checksum of the notes of all */
static const char *wanted;	/* this one is printed */

static void compare(const char *name, const struct body *body)
{
	char found[128], expected[128] = "";

	summary(name, body, found, sizeof(found));
	if (getenv("UPDATE"))
		fputs(found, golden);
	else if (fgets(expected, sizeof(expected), golden))
		tap_str(found, expected, "%s", name);
	else
		tap_ok(false, "%s: body_golden.txt has it", name);
}

/* Has been made, or couldn't be */
static void show(const char *name, int code, struct body *body,
		 const struct error *err)
{
	if (code)
		tap_bail("%s: %s", name, err->text);
	if (*err->text || *err->hint)
		tap_bail("%s: an error is left", name);
	waiting_look(body);
	noted = hash_crc32(noted, body->notes,
			   body->note_count * sizeof(*body->notes));
	if (!wanted)
		compare(name, body);
	else if (!strcmp(wanted, name))
		print(body, stdout);
	body_free(body);
}

static void kinds_show(const char *machine, const struct kind *kinds,
		       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct error err = { "of before", "hint" };
		struct body body;
		char name[64];
		int code = kinds[i].make(&body, &err);

		snprintf(name, sizeof(name), "%s%s", machine, kinds[i].name);
		show(name, code, &body, &err);
	}
}

static void stacks_show(void)
{
	for (size_t i = 0; i < WAYS * PLACES; i++) {
		const struct where *where = &places[i % PLACES];
		struct error err = { "of before", "hint" };
		size_t way = i / PLACES;
		struct body body;
		char name[64];
		int code;

		if (ways[way].context == BODY_KPROBE && cpu->machine == EM_386)
			continue;
		code = stack(&body, way, where, &err);
		snprintf(name, sizeof(name), "%s_%s_%s", cpu->name,
			 ways[way].name, where->name);
		show(name, code, &body, &err);
	}
}

static void variants_show(void)
{
	for (size_t i = 0; i < VARIANTS; i++) {
		struct error err = { "of before", "hint" };
		struct body body;
		char name[64];
		int code = variant(&body, i, &err);

		snprintf(name, sizeof(name), "%s_%s", cpu->name,
			 variants[i].name);
		show(name, code, &body, &err);
	}
}

static void all_show(void)
{
	char machine[32];

	kinds_show("", bodies, sizeof(bodies) / sizeof(*bodies));
	for (cpu = machines; cpu < machines + MACHINES; cpu++) {
		snprintf(machine, sizeof(machine), "%s_", cpu->name);
		kinds_show(machine, machine_bodies,
			   sizeof(machine_bodies) / sizeof(*machine_bodies));
		stacks_show();
		variants_show();
	}
	cpu = machines;
}

/* Nothing is left of those that are freed: that would grow in each round. In the
 * end the allocator keeps no more for itself. */
static void memory_check(void)
{
	bool same = false;

	for (int i = 0; i < 100 && !same; i++) {
		size_t used = mallinfo2().uordblks;

		for (size_t k = 0; k < sizeof(bodies) / sizeof(*bodies); k++) {
			struct body body;

			bodies[k].make(&body, NULL);
			body_free(&body);
		}
		same = i && mallinfo2().uordblks <= used;
	}
	tap_ok(same, "memory is given back");
}

/* The types that the subprograms are described with; which statements all
 * instructions are of */
static void types_show(void)
{
	char found[64], expected[64] = "";
	size_t size;
	const void *types = body_types(&size);

	if (wanted)
		return;
	snprintf(found, sizeof(found),
		 "types: %zu bytes, checksum %08x, notes %08x\n", size,
		 hash_crc32(0, types, size), noted);
	if (getenv("UPDATE"))
		fputs(found, golden);
	else if (fgets(expected, sizeof(expected), golden))
		tap_str(found, expected, "types");
	else
		tap_ok(false, "types: body_golden.txt has them");
}

int main(int argc, char **argv)
{
	const char *top = getenv("TOP");
	bool update = getenv("UPDATE") && argc < 2;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/selftests/bpf/body_golden.txt",
		 top ? top : ".");
	golden = fopen(path, update ? "w" : "r");
	if (!golden)
		tap_bail("cannot open '%s'", path);
	wanted = argv[1];
	all_show();
	types_show();
	if (argc < 2 && !update) {
		tap_is(fgetc(golden), EOF, "body_golden.txt has no others");
		tap_ok(waiting && waiting_deepest < WAITING_FRAME,
		       "%u subprograms wait for memory, with frames up to %d bytes",
		       waiting, waiting_deepest);
		memory_check();
	}
	fclose(golden);
	return argc < 2 ? tap_done() : 0;
}
