// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as an address expression: decoded, checked and printed; what the
 * check accepts becomes a body, and every instruction of it a text. The first
 * byte chooses machine, context and flags, the second lengths and what of the
 * target the body uses.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/buffer.h>
#include "bpf/body.h"
#include "bpf/disasm.h"
#include "bpf/static.h"
#include "lib/formats/rpn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_all(const struct body *body)
{
	char text[128];
	size_t i = 0;

	while (i < body->count) {
		i += disasm_print(&body->insns[i], text, sizeof(text));
		if (!text[0])
			abort();
	}
	if (i != body->count)
		abort();
}

/* Offsets that nothing is at; all are known. */
static const struct body_layout layout = {
	.mm_xol = 600, .xol_vaddr = 48, .task_utask = 1032,
	.utask_returns = 32, .return_func = 8, .return_stack = 16,
	.return_chained = 32,
	.thread_base = { 4000, 4008 }, .thread_ds = 4016, .thread_es = 4018,
	.thread_fsindex = 4020, .thread_gsindex = 4022, .tls_array = 4024,
	.task_mm = 1000, .mm_ldt = 1008, .ldt_entries = 8, .ldt_count = 16,
	.task_parent = 1016, .task_tgid = 1024,
	.vma_flags = 8, .vma_file = 16, .vma_ops = 24, .vma_uffd = 32,
	.file_inode = 8, .inode_mode = 8, .inode_sb = 16, .sb_magic = 8,
	.sb_bdev = 16, .task_btf = 100, .vma = true,
};

static const struct body_filter filter = {
	.pids_fd = 9, .uids = { 0, 0xffffffff }, .uid_count = 2,
	.comms = { "fuzz" }, .comm_count = 1,
	.cgroups = { { 1, 0 }, { 1ULL << 40, 3 } }, .cgroup_count = 2,
};

static struct body_target target_make(uint8_t choice, uint8_t length,
				      const struct body_heap *heap)
{
	return (struct body_target){
		.context = choice & 2 ? BODY_KPROBE : BODY_UPROBE,
		.slice_bytes = 65536, .nest_bytes = 16384, .cpus = 2,
		.func_ip = true, .layout = &layout,
		.processes_fd = length & 1 ? -1 : 8,
		.filter = length & 2 ? &filter : NULL,
		.bring_in = length & 4, .trigger = length & 8,
		.context_mask = length & 16 ? RAS_CONTEXT_ALL &
					      ~RAS_CONTEXT_OTEL : 0,
		.context_depth = length % 7, .max_rate = length & 32,
		.heap = heap,
	};
}

/* Both bodies, of hits and of static tracepoints */
static void generate_both(const struct tdf *tdf,
			  const struct body_target *target)
{
	struct body body;
	struct error err;
	int ret = body_generate(&body, tdf, tdf->points, tdf->sites, target,
				&err);

	/* registers that aren't there or aren't kept, thousands of operations */
	if (ret && ret != -ENOENT && ret != -EOPNOTSUPP && ret != -E2BIG &&
	    ret != -EINVAL)
		abort();
	print_all(&body);
	body_free(&body);
	if (body_generate_static(&body, tdf->modules->machine, 10, target,
				 &err))
		abort();
	print_all(&body);
	body_free(&body);
}

/* `far`: it leaves selector and offset. */
static void generate(uint8_t choice, uint8_t length, bool far,
		     const uint8_t *rpn, size_t size)
{
	unsigned int segment = far ? TDF_STMT_SEGMENT : 0;
	/* IF is left out when the choice says so */
	struct tdf_stmt stmts[] = {
		{ .kind = TDF_STMT_IF, .rpn_length = size },
		{ .kind = TDF_STMT_MEM, .length = length + 1,
		  .flags = segment, .rpn_length = size },
		{ .kind = TDF_STMT_ASCIIZ, .length = length + 1,
		  .flags = segment, .rpn_length = size },
		{ .kind = TDF_STMT_MEM, .flags = segment | TDF_STMT_LEN |
		  (far ? TDF_STMT_LEN_SEGMENT :
		   choice & 8 ? TDF_STMT_LEN_VALUE : 0),
		  .length = length + 1, .len_bytes = 1 << (length & 3),
		  .rpn_length = size, .len_rpn_length = size },
		{ .kind = TDF_STMT_VALUE, .length = 1 + length % 8,
		  .flags = (choice & 16 ? TDF_STMT_RAW : 0) |
			   (length & TDF_STMT_OLD),
		  .rpn_length = size },
		{ .kind = TDF_STMT_MEM, .length = 1 + length % 16,
		  .flags = TDF_STMT_MORE, .rpn_length = size },
		{ .kind = TDF_STMT_STACK, .length = 1 + length % 16,
		  .rpn_length = choice & 16 ? size : 0 },
	};
	struct tdf_header header = { .maxdata = choice & 4 ? 512 : 40 };
	struct tdf_module module = {
		.machine = choice & 1 ? EM_386 : EM_X86_64,
		.elf_class = choice & 1 ? ELFCLASS32 : ELFCLASS64,
	};
	const bool calls = length & 64;
	const struct body_heap heap = {
		.calls_fd = 11, .blocks_fd = length & 32 ? 12 : -1,
		.owners_fd = length & 128 ? 13 : -1,
		.sample = length & 16 ? 1ULL << length % 40 : 0,
		.min_size = length & 8, .rows_fd = -1, .segments_fd = -1,
		.spaces_fd = -1, .cache_fd = -1, .asks_fd = -1,
	};
	struct tdf_point point = {
		.sites = 1, .maxhits = choice & 4, .passcount = choice & 8,
		.flags = (choice & 32 ? TDF_POINT_CONTINUE : 0) |
			 (!calls ? 0 : choice & 128 ? TDF_POINT_CALL :
			  TDF_POINT_RELEASE),
		.level = calls,
	};
	struct tdf_site site = {
		.first_stmt = far || !(choice & 64),
		.stmts = far ? 3 : 6 + !!(choice & 64),
		.flags = choice & 128 ? TDF_SITE_RETURN : 0,
	};
	struct tdf tdf = {
		.header = &header, .modules = &module, .points = &point,
		.sites = &site, .stmts = stmts, .rpn = rpn, .strings = "",
	};
	struct body_target target = target_make(choice, length,
						calls ? &heap : NULL);

	generate_both(&tdf, &target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err;
	char text[256];

	if (size < 2)
		return 0;
	rpn_print(data + 2, size - 2, text, sizeof(text));
	for (unsigned int left = 1; left <= 2; left++)
		if (!rpn_check(data + 2, size - 2, left, &err))
			generate(data[0], data[1], left == 2, data + 2,
				 size - 2);
	return 0;
}
