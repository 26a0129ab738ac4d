// SPDX-License-Identifier: GPL-2.0
#include "self_probe.h"

#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <unistd.h>
#include "lib/sysbpf.h"
#include "attach.h"

struct self_place {
	uintptr_t address;
	uint64_t offset;	/* in its file */
};

static int self_place_find(struct dl_phdr_info *info, size_t size,
			   void *context)
{
	struct self_place *place = context;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && place->address >= start &&
		    place->address - start < ph->p_filesz) {
			place->offset = place->address - start + ph->p_offset;
			return 1;
		}
	}
	return 0;
}

/* Loads the program, and closes it: the link keeps it. */
int self_probe_link(const struct bpf_insn *insns, size_t count,
		    const void *function, bool returns,
		    const struct features *features)
{
	struct self_place place = { .address = (uintptr_t)function };
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type =
		    features->multi ? SYSBPF_UPROBE_MULTI : 0);
	int link, program;

	if (!dl_iterate_phdr(self_place_find, &place))
		return -ENOENT;
	program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "rastrace", "GPL", insns,
				count, &opts);
	if (program < 0)
		return program;
	link = attach_probe(program, "/proc/self/exe", place.offset, returns,
			    features);
	close(program);
	return link;
}

static __attribute__((noinline, noclone)) void self_probed(void)
{
	__asm__ volatile("");
}

bool self_probe_has_func_ip(const struct features *features)
{
	int link, map = sysbpf_array_create("func_ip", sizeof(uint64_t), 1);
	const struct bpf_insn insns[] = {
		/* map[0] = bpf_get_func_ip(ctx) */
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_func_ip },
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = map },
		{ 0 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	uint64_t ip = 0;

	if (map < 0)
		return false;
	link = self_probe_link(insns, sizeof(insns) / sizeof(insns[0]),
			       self_probed, true, features);
	if (link >= 0) {
		self_probed();
		bpf_map_lookup_elem(map, &(uint32_t){ 0 }, &ip);
		close(link);
	}
	close(map);
	return ip == (uintptr_t)self_probed;
}
