// SPDX-License-Identifier: GPL-2.0
#include "features.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bpf/body.h"
#include "lib/buffer/pin.h"
#include "lib/sysbpf.h"
#include "btf.h"

#define BTF_MODULE	"/sys/kernel/btf/rastrace"
#define UNKNOWN		UINT32_MAX	/* an offset that may be 0 */

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

int features_read_btf(struct features *features)
{
	uint32_t disable = 0, enable = 0;
	const struct btf_want wants[] = {
		{ "bpf_preempt_disable()", &disable },
		{ "bpf_preempt_enable()", &enable },
	};

	int code = btf_find(BTF_VMLINUX, wants, 2);

	if (code || !disable || !enable)
		return code == -ENOMEM ? code : 0;
	features->preempt_disable = disable;
	features->preempt_enable = enable;
	return 0;
}

/* fds: BTF of the modules whose kfuncs are called, from 1 on; or NULL */
static bool can_load(const struct bpf_insn *insns, size_t count, const int *fds)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .fd_array = fds);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "rastrace", "GPL", insns,
			       count, &opts);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* A kernel without CONFIG_KALLSYMS_ALL has types of its variables and doesn't find
 * them. */
static bool variable_works(uint32_t id)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_BTF_ID, .imm = id },
		{ 0 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_this_cpu_ptr },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return can_load(insns, 5, NULL);
}

int features_read_layout(struct body_layout *layout)
{
	char bases[BODY_THREAD_BASES][64];
	uint32_t uffd = UNKNOWN;	/* empty: there is no userfaultfd */
	uint32_t hot = 0, hot_count = UNKNOWN;	/* as of Linux 6.2 to 6.14 */
	struct btf_want wants[] = {
		{ bases[0] }, { bases[1] }, { bases[2] },
		{ "task_struct.thread.ds", &layout->thread_ds },
		{ "task_struct.thread.es", &layout->thread_es },
		{ "task_struct.thread.fsindex", &layout->thread_fsindex },
		{ "task_struct.thread.gsindex", &layout->thread_gsindex },
		{ "task_struct.thread.tls_array", &layout->tls_array },
		{ "task_struct.mm", &layout->task_mm },
		{ "mm_struct.context.ldt", &layout->mm_ldt },
		{ "ldt_struct.entries", &layout->ldt_entries },
		{ "ldt_struct.nr_entries", &layout->ldt_count },
		{ "task_struct.real_parent", &layout->task_parent },
		{ "task_struct.tgid", &layout->task_tgid },
		{ "mm_struct.uprobes_state.xol_area", &layout->mm_xol },
		{ "xol_area.vaddr", &layout->xol_vaddr },
		{ "task_struct.utask", &layout->task_utask },
		{ "uprobe_task.return_instances", &layout->utask_returns },
		{ "return_instance.func", &layout->return_func },
		{ "return_instance.stack", &layout->return_stack },
		{ "return_instance.chained", &layout->return_chained },
		{ "vm_area_struct.vm_flags", &layout->vma_flags },
		{ "vm_area_struct.vm_file", &layout->vma_file },
		{ "vm_area_struct.vm_ops", &layout->vma_ops },
		{ "vm_area_struct.vm_userfaultfd_ctx", &uffd },
		{ "vm_area_struct.vm_userfaultfd_ctx.ctx", &layout->vma_uffd },
		{ "file.f_inode", &layout->file_inode },
		{ "inode.i_mode", &layout->inode_mode },
		{ "inode.i_sb", &layout->inode_sb },
		{ "super_block.s_magic", &layout->sb_magic },
		{ "super_block.s_bdev", &layout->sb_bdev },
		{ "task_struct", &layout->task_btf },
		{ "task_struct.thread_info.preempt_count",
		  &layout->task_count },
		{ "__preempt_count:", &layout->cpu_count },
		{ "pcpu_hot:", &hot },
		{ "pcpu_hot.preempt_count", &hot_count },
	};
	int code;

	*layout = (struct body_layout){ .inode_mode = UNKNOWN };
	for (int i = 0; i < BODY_THREAD_BASES; i++) {
		const struct body_thread_base *base = &body_thread_bases[i];

		snprintf(bases[i], sizeof(bases[i]), "task_struct.thread.%s",
			 base->member);
		wants[i] = (struct btf_want){
			bases[i], &layout->thread_base[base->index],
		};
	}
	code = btf_find(BTF_VMLINUX, wants, sizeof(wants) / sizeof(wants[0]));
	if (code)
		*layout = (struct body_layout){ 0 };
	if (!layout->cpu_count && hot && hot_count != UNKNOWN) {
		layout->cpu_count = hot;
		layout->cpu_count_at = hot_count;
	}
	if (layout->cpu_count && !variable_works(layout->cpu_count))
		layout->cpu_count = 0;
	layout->vma = layout->vma_flags && layout->vma_file &&
		      layout->vma_ops && uffd != UNKNOWN &&
		      layout->file_inode &&
		      layout->inode_mode != UNKNOWN && layout->inode_sb &&
		      layout->sb_magic && layout->sb_bdev;
	return code;
}

static int load_empty(const struct features *features, uint32_t attach_type,
		      bool sleepable)
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
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = attach_type,
		    .prog_flags = sleepable ? BPF_F_SLEEPABLE : 0);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "rastrace", "GPL",
			     insns + skip, 4 - skip, &opts);
}

/* May programs at probes call it? */
static bool segments_works(int module, uint32_t save)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL,
		  .off = BODY_MODULE_PLACE, .imm = save },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const int fds[] = { [BODY_MODULE_PLACE] = module };

	return can_load(insns, 3, fds);
}

/* The BTF of a kernel module; -ENOENT: there is none. */
static int module_btf_find(const char *module)
{
	uint32_t id = 0;
	int code, fd;

	while (!(code = bpf_btf_get_next_id(id, &id))) {
		char name[64] = "";
		struct bpf_btf_info info = {
			.name = (uintptr_t)name, .name_len = sizeof(name),
		};
		uint32_t size = sizeof(info);

		fd = bpf_btf_get_fd_by_id(id);
		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &size) &&
		    info.kernel_btf && !strcmp(name, module))
			return fd;
		close(fd);
	}
	return code;
}

int features_read_segments(uint32_t *save)
{
	int module;

	*save = btf_find_split(BTF_MODULE, BTF_VMLINUX, "rastrace_segments_save");
	if (!*save)
		return -1;
	module = module_btf_find("rastrace");
	if (module >= 0 && segments_works(module, *save))
		return module;
	if (module >= 0)
		close(module);
	*save = 0;
	return -1;
}

/* What a link that can't be is refused with. */
static int multi_refusal(const struct features *features, uint32_t pid)
{
	uint64_t offset = 0;
	struct sysbpf_multi multi = {
		.offsets = &offset, .cookies = &offset, .count = 1,
		.pid = pid,
	};
	int link, program = load_empty(features, SYSBPF_UPROBE_MULTI, false);

	if (program < 0)
		return program;
	link = sysbpf_multi_link(program, "/", &multi);
	if (link >= 0)
		close(link);
	close(program);
	return link;
}

/* -EBADF: the path is looked at, which is no regular file */
static bool multi_works(const struct features *features)
{
	return multi_refusal(features, 0) == -EBADF;
}

/* Before 6.10 they are of one thread, and -ESRCH is the answer: the same change
 * has made this -EINVAL. */
bool features_multi_pid(const struct features *features)
{
	return features->multi &&
	       multi_refusal(features, UINT32_MAX) == -EINVAL;
}

/* Loads the kind of program that will be loaded; without the kfuncs where
 * this kind may not call them. */
static int program_check(struct features *features, struct error *err)
{
	int program = load_empty(features, 0, false);

	if (program < 0 && features->preempt_disable) {
		features->preempt_disable = features->preempt_enable = 0;
		program = load_empty(features, 0, false);
	}
	if (program < 0)
		return pin_refused(err, program, "cannot load a BPF program");
	close(program);
	return 0;
}

/* Of the kind that the links take: kernels before 6.0 refuse it. */
bool features_sleepable(const struct features *features)
{
	int program = load_empty(features, features->multi ?
				 SYSBPF_UPROBE_MULTI : 0, true);

	if (program >= 0)
		close(program);
	return program >= 0;
}

/* A stack lies at the upper end. */
static int address_bits(void)
{
	return 64 - __builtin_clzll((uintptr_t)__builtin_frame_address(0));
}

int features_probe(struct features *features, enum attach_choice choice,
		   struct error *err)
{
	int code;

	*features = (struct features){
		.uprobe_type = pmu_type("uprobe"),
		.kprobe_type = pmu_type("kprobe"),
		.address_bits = address_bits(),
	};
	if (features->uprobe_type == -ENOMEM ||
	    features->kprobe_type == -ENOMEM || features_read_btf(features))
		return error_no_memory(err);
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
