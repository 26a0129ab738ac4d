// SPDX-License-Identifier: GPL-2.0
/*
 * Puts an empty eBPF program on a uprobe, until it is killed: the floor that
 * no tracer built on uprobes can go below.
 *
 *	floor FILE OFFSET	prints "ready" when the probe is there
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <bpf/bpf.h>

static int uprobe_open(const char *path, uint64_t offset)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config1 = (uintptr_t)path,
		.config2 = offset,
	};
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	int found = file && fscanf(file, "%u", &attr.type) == 1;

	if (file)
		fclose(file);
	if (!found)
		return -1;
	return syscall(SYS_perf_event_open, &attr, -1, 0, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static int program_load(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "floor", "GPL", insns, 2,
			     NULL);
}

int main(int argc, char **argv)
{
	int event, program;

	if (argc != 3) {
		fputs("usage: floor FILE OFFSET\n", stderr);
		return 2;
	}
	event = uprobe_open(argv[1], strtoull(argv[2], NULL, 0));
	program = program_load();
	if (event < 0 || program < 0 ||
	    bpf_link_create(program, event, BPF_PERF_EVENT, NULL) < 0) {
		fprintf(stderr, "floor: %s\n", strerror(errno));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
