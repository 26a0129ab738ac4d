// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as an address expression: decoded, checked and printed; what the
 * check accepts becomes a body, and every instruction of it a text. The first
 * byte chooses machine, context and flags, the second lengths.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/body.h"
#include "usr/lib/rpn.h"

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

static void generate(uint8_t choice, uint8_t length, const uint8_t *rpn,
		     size_t size)
{
	/* IF is left out when the choice says so */
	struct tdf_stmt stmts[] = {
		{ .kind = TDF_STMT_IF, .rpn_length = size },
		{ .kind = TDF_STMT_MEM, .length = length + 1,
		  .rpn_length = size },
		{ .kind = TDF_STMT_ASCIIZ, .length = length + 1,
		  .rpn_length = size },
		{ .kind = TDF_STMT_MEM, .flags = TDF_STMT_LEN |
		  (choice & 8 ? TDF_STMT_LEN_VALUE : 0),
		  .length = length + 1, .len_bytes = 1 << (length & 3),
		  .rpn_length = size, .len_rpn_length = size },
		{ .kind = TDF_STMT_VALUE, .length = 1 + length % 8,
		  .flags = choice & 16 ? TDF_STMT_RAW : 0,
		  .rpn_length = size },
		{ .kind = TDF_STMT_MEM, .length = 1 + length % 16,
		  .flags = TDF_STMT_MORE, .rpn_length = size },
	};
	struct tdf_header header = { .maxdata = choice & 4 ? 512 : 40 };
	struct tdf_module module = {
		.machine = choice & 1 ? EM_386 : EM_X86_64,
		.elf_class = choice & 1 ? ELFCLASS32 : ELFCLASS64,
	};
	struct tdf_point point = {
		.sites = 1, .maxhits = choice & 4, .passcount = choice & 8,
		.flags = choice & 32 ? TDF_POINT_CONTINUE : 0,
	};
	struct tdf_site site = {
		.first_stmt = !(choice & 64), .stmts = 5 + !!(choice & 64),
		.flags = choice & 128 ? TDF_SITE_RETURN : 0,
	};
	struct tdf tdf = {
		.header = &header, .modules = &module, .points = &point,
		.sites = &site, .stmts = stmts, .rpn = rpn,
	};
	struct body_target target = {
		.context = choice & 2 ? BODY_KPROBE : BODY_UPROBE,
		.slice_bytes = 65536, .nest_bytes = 16384, .cpus = 2,
		.func_ip = true, .thread_base = { 4000, 4008 },
	};
	struct body body;
	struct error err;
	int ret = body_generate(&body, &tdf, &point, &site, &target, &err);

	/* registers that aren't there, and thousands of operations */
	if (ret && ret != -ENOENT && ret != -EOPNOTSUPP && ret != -E2BIG)
		abort();
	print_all(&body);
	body_free(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err;
	char text[256];

	if (size < 2)
		return 0;
	rpn_print(data + 2, size - 2, text, sizeof(text));
	rpn_check(data + 2, size - 2, 2, &err);
	if (!rpn_check(data + 2, size - 2, 1, &err))
		generate(data[0], data[1], data + 2, size - 2);
	return 0;
}
