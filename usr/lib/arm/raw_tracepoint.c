// SPDX-License-Identifier: GPL-2.0
#include "raw_tracepoint.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "lib/buffer/pin.h"

int raw_tracepoint_offsets(const struct btf_want *wants, size_t count,
			   struct error *err)
{
	int code;

	for (size_t i = 0; i < count; i++)
		*wants[i].value = 0;
	code = btf_find(BTF_VMLINUX, wants, count);
	if (code == -ENOMEM)
		return error_no_memory(err);
	for (size_t i = 0; i < count && !code; i++)
		if (!*wants[i].value)
			code = -ENOENT;
	return code ? error_set(err, -EOPNOTSUPP,
				"--follow needs a kernel with type information (CONFIG_DEBUG_INFO_BTF)") : 0;
}

void raw_tracepoint_frame(struct emit *e, int dst, int off)
{
	emit_alu(e, BPF_MOV, dst, BPF_REG_10);
	emit_alu_imm(e, BPF_ADD, dst, off);
}

void raw_tracepoint_read(struct emit *e, int off, int bytes)
{
	raw_tracepoint_frame(e, BPF_REG_1, off);
	emit_alu_imm(e, BPF_MOV, BPF_REG_2, bytes);
	emit_call(e, BPF_FUNC_probe_read_kernel);
}

void raw_tracepoint_member(struct emit *e, int context, int argument,
			   uint32_t member, int off, int bytes)
{
	emit_load(e, 8, BPF_REG_3, context, 8 * argument);
	emit_alu_imm(e, BPF_ADD, BPF_REG_3, member);
	raw_tracepoint_read(e, off, bytes);
}

void raw_tracepoint_current(struct emit *e, int off)
{
	emit_call(e, BPF_FUNC_get_current_pid_tgid);
	emit_alu_imm(e, BPF_RSH, BPF_REG_0, 32);
	emit_store(e, 4, BPF_REG_10, off, BPF_REG_0);
}

void raw_tracepoint_end(struct emit *e, emit_label end)
{
	emit_label_place(e, end);
	emit_alu_imm(e, BPF_MOV, BPF_REG_0, 0);
	emit_exit(e);
}

static int raw_tracepoint_load(struct emit *e)
{
	int fd = emit_finish(e);

	if (!fd)
		fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "rastrace",
				   "GPL", e->insns, e->count, NULL);
	free(e->insns);
	emit_free(e);
	return fd;
}

int raw_tracepoint_attach(struct emit *e, const char *name, struct error *err)
{
	int program = raw_tracepoint_load(e), link;

	if (program == -EINVAL) {
		/* the helpers that read aren't there */
		error_set(err, program, "cannot load a program for %s", name);
		error_hint(err, "programs may not read the kernel's memory under lockdown=confidentiality (/sys/kernel/security/lockdown)");
		return program;
	}
	if (program < 0)
		return pin_refused(err, program,
				   "cannot load a program for %s", name);
	link = bpf_raw_tracepoint_open(name, program);
	close(program);
	return link < 0 ? pin_refused(err, link, "cannot attach to %s", name) :
			  link;
}
