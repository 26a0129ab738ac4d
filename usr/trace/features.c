// SPDX-License-Identifier: GPL-2.0
#include "features.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "../../bpf/body.h"
#include "../lib/pin.h"
#include "../lib/sysbpf.h"
#include "btf.h"

#define BTF_PATH	"/sys/kernel/btf/vmlinux"

static int pmu_type(const char *name)
{
	char path[64];
	int type = -ENODEV;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type",
		 name);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	if (fscanf(file, "%d", &type) != 1)
		type = -ENODEV;
	fclose(file);
	return type;
}

void features_read_btf(struct features *features)
{
	static const char *const names[] = {
		"bpf_preempt_disable", "bpf_preempt_enable",
	};
	uint32_t ids[2] = { 0 };

	if (btf_functions_find(BTF_PATH, names, 2, ids) ||
	    !ids[0] || !ids[1])
		return;
	features->preempt_disable = ids[0];
	features->preempt_enable = ids[1];
}

void features_read_thread(uint32_t *offsets)
{
	for (int i = 0; i < BODY_THREAD_BASES; i++) {
		const char *const names[] = {
			"task_struct", "thread", body_thread_bases[i],
		};

		if (btf_member_find(BTF_PATH, names, 3, &offsets[i]))
			offsets[i] = 0;
	}
}

static int load_empty(const struct features *features, uint32_t attach_type)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL,
		  .imm = features->preempt_disable },
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL,
		  .imm = features->preempt_enable },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	size_t skip = features->preempt_disable ? 0 : 2;

	return sysbpf_program_load(insns + skip, 4 - skip, attach_type, NULL,
				   0);
}

/* -EBADF: the path is looked at, which is no regular file */
static bool multi_works(const struct features *features)
{
	uint64_t offset = 0;
	struct sysbpf_multi multi = {
		.offsets = &offset, .cookies = &offset, .count = 1,
	};
	int link, program = load_empty(features, SYSBPF_UPROBE_MULTI);

	if (program < 0)
		return false;
	link = sysbpf_multi_link(program, "/", &multi);
	if (link >= 0)
		close(link);
	close(program);
	return link == -EBADF;
}

/* Loads the kind of program that will be loaded; without the kfuncs where
 * this kind may not call them. */
static int program_check(struct features *features, struct error *err)
{
	int program = load_empty(features, 0);

	if (program < 0 && features->preempt_disable) {
		features->preempt_disable = features->preempt_enable = 0;
		program = load_empty(features, 0);
	}
	if (program < 0)
		return pin_refused(err, program, "cannot load a BPF program");
	close(program);
	return 0;
}

int features_probe(struct features *features, enum attach_choice choice,
		   struct error *err)
{
	int code;

	*features = (struct features){
		.uprobe_type = pmu_type("uprobe"),
		.kprobe_type = pmu_type("kprobe"),
	};
	features_read_btf(features);
	code = program_check(features, err);
	if (code)
		return code;
	features->multi = choice != ATTACH_PERF && multi_works(features);
	if (choice == ATTACH_MULTI && !features->multi)
		return error_set(err, -EOPNOTSUPP,
				 "this kernel has no uprobe_multi links");
	/* Nothing serialises the programs of uprobe_multi links: without the
	 * kfuncs they would be preempted while they hold a slice. */
	if (choice == ATTACH_AUTO && !features->preempt_disable)
		features->multi = false;
	return 0;
}
