// SPDX-License-Identifier: GPL-2.0
#include "func_ip.h"

#include <unistd.h>
#include "lib/sysbpf.h"
#include "self_probe.h"

/* What is probed. */
static __attribute__((noinline, noclone)) void probed(void)
{
	__asm__ volatile("");
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
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type =
		    features->multi ? SYSBPF_UPROBE_MULTI : 0);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "rastrace", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), &opts);
}

static uint64_t func_ip_take(const struct features *features, int map)
{
	int program = program_load(features, map), link;
	uint64_t ip = 0;

	if (program < 0)
		return 0;
	link = self_probe_link(program, probed, true, 0, features);
	if (link >= 0) {
		probed();
		bpf_map_lookup_elem(map, &(uint32_t){ 0 }, &ip);
		close(link);
	}
	close(program);
	return ip;
}

bool func_ip_works(const struct features *features)
{
	uint64_t ip;
	int map;

	map = sysbpf_array_create("func_ip", sizeof(ip), 1);
	if (map < 0)
		return false;
	ip = func_ip_take(features, map);
	close(map);
	return ip == (uintptr_t)probed;
}
