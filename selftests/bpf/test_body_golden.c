// SPDX-License-Identifier: GPL-2.0
/*
 * The instructions of each kind of body, as generated for a target that is the
 * same everywhere, are those of body_golden.txt: their number and checksum.
 * Nothing is loaded. `test_body_golden NAME` prints one: what differs is seen
 * beside the one of the tree before the change. After a change that is meant:
 * UPDATE=1 test_body_golden
 */
#include <elf.h>
#include <limits.h>
#include "bed.h"
#include "usr/lib/hash.h"

#define RDI	5	/* DWARF numbers of x86-64 */
#define RSI	4
#define RBP	6
#define RSP	7

static struct bed bed;
static struct body_heap heap;
static struct body_filter filter;
static struct tdf_site sites[2];

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

/* Three registers, 16 bytes behind two pointers, a string */
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

/* The record may be full, and goes on behind what faults. */
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

static void heap_begin(int flags)
{
	begin(BODY_UPROBE, EM_X86_64);
	heap = (struct body_heap){
		.calls_fd = 21, .blocks_fd = 22, .min_size = 64,
		.sample = 4096, .rows_fd = 23, .segments_fd = 24,
		.spaces_fd = 25, .rows = 1 << 16,
	};
	bed.target.heap = &heap;
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
		 RPN(OP_entry_value, 1, 0x50 + RSI));
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_RAW | TDF_STMT_OLD, 8,
		 RPN(OP_entry_value, 1, 0x50 + RDI));
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

static int call_name(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_CALL);
	bed.site.flags = TDF_SITE_CALL;
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_SIZE, 8,
		 RPN(OP_breg + RDI, 0));
	sites[0] = bed.site;
	bed.tdf.sites = sites;
	return finish(body, err);
}

static int release(struct body *body, struct error *err)
{
	heap_begin(TDF_POINT_RELEASE);
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_RAW | TDF_STMT_BLOCK, 8,
		 RPN(OP_breg + RDI, 0));
	return finish(body, err);
}

static int from_static(struct body *body, struct error *err)
{
	begin(BODY_UPROBE, EM_X86_64);
	bed.target.sites_fd = -1;
	return body_generate_static(body, EM_X86_64, 31, &bed.target, err);
}

static const struct {
	const char *name;
	int (*make)(struct body *body, struct error *err);
} bodies[] = {
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
	{ "from_static", from_static },
};

/* One instruction per line; in front of those of a statement which one it is */
static void print(const struct body *body, FILE *out)
{
	const struct body_note *note = body->notes;
	const struct body_note *end = note + body->note_count;
	char text[128];

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

static void compare(FILE *golden, const char *name, const struct body *body)
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

int main(int argc, char **argv)
{
	const char *top = getenv("TOP");
	bool update = getenv("UPDATE") && argc < 2;
	char path[PATH_MAX];
	FILE *golden;

	snprintf(path, sizeof(path), "%s/selftests/bpf/body_golden.txt",
		 top ? top : ".");
	golden = fopen(path, update ? "w" : "r");
	if (!golden)
		tap_bail("cannot open '%s'", path);
	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		struct error err = { "of before", "hint" };
		struct body body;

		if (bodies[i].make(&body, &err))
			tap_bail("%s: %s", bodies[i].name, err.text);
		if (*err.text || *err.hint)
			tap_bail("%s: an error is left", bodies[i].name);
		if (argc < 2)
			compare(golden, bodies[i].name, &body);
		else if (!strcmp(argv[1], bodies[i].name))
			print(&body, stdout);
		body_free(&body);
	}
	if (argc < 2 && !update)
		tap_is(fgetc(golden), EOF, "body_golden.txt has no others");
	fclose(golden);
	return argc < 2 ? tap_done() : 0;
}
