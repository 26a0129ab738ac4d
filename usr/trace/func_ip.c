// SPDX-License-Identifier: GPL-2.0
#include "func_ip.h"

#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <unistd.h>
#include "../lib/sysbpf.h"
#include "attach.h"

/* What is probed. */
static __attribute__((noinline, noclone)) void probed(void)
{
	__asm__ volatile("");
}

/* Offset in its file of a function of this program. */
static int place_find(struct dl_phdr_info *info, size_t size, void *context)
{
	uint64_t *offset = context;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && (uintptr_t)probed >= start &&
		    (uintptr_t)probed - start < ph->p_filesz) {
			*offset = (uintptr_t)probed - start + ph->p_offset;
			return 1;
		}
	}
	return 0;
}

/* map[0] = bpf_get_func_ip(ctx) */
static int program_load(const struct features *features, int map)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_func_ip },
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = map },
		{ 0 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return sysbpf_program_load(insns, sizeof(insns) / sizeof(insns[0]),
				   features->multi ? SYSBPF_UPROBE_MULTI : 0,
				   NULL, 0);
}

static uint64_t func_ip_take(const struct features *features, int map,
			     uint64_t offset)
{
	int program = program_load(features, map), link;
	uint64_t ip = 0;

	if (program < 0)
		return 0;
	link = attach_return_probe(program, "/proc/self/exe", offset, features);
	if (link >= 0) {
		probed();
		sysbpf_map_lookup(map, 0, &ip);
		close(link);
	}
	close(program);
	return ip;
}

bool func_ip_works(const struct features *features)
{
	uint64_t offset, ip;
	int map;

	if (!dl_iterate_phdr(place_find, &offset))
		return false;
	map = sysbpf_array_create("func_ip", sizeof(ip), 1);
	if (map < 0)
		return false;
	ip = func_ip_take(features, map, offset);
	close(map);
	return ip == (uintptr_t)probed;
}
