/* SPDX-License-Identifier: GPL-2.0 */
/* A function with a real uprobe on it, and what a body sees there. */
#ifndef SELFTESTS_BPF_PROBED_H
#define SELFTESTS_BPF_PROBED_H

#include <linux/perf_event.h>
#include "bed.h"

#define ARG(n)	((uint8_t)(OP_breg + MACHINE_ARG##n))
void probed(uint64_t counter, const void *data, const char *text);
__asm__(".text\n.p2align 4\n.globl probed\n.type probed, @function\n"
	"probed:\n\t" MACHINE_PUSH "\t" MACHINE_POP "\tret\n"
	".size probed, . - probed\n");

static inline int perf_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	int type = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%d", &type) != 1)
		type = -1;
	fclose(f);
	return type;
}

/* Where the file has the function: its address less the mapping's. */
static inline uint64_t file_offset(const void *function)
{
	unsigned long start, end, offset;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) != 3)
			continue;
		if ((unsigned long)function < start ||
		    (unsigned long)function >= end)
			continue;
		fclose(f);
		return (unsigned long)function - start + offset;
	}
	tap_bail("cannot find the function in /proc/self/maps");
}

/* Arms the program at the function; the link's descriptor. */
static inline int arm_at(int prog, uint64_t cookie, const void *function)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts,
		    .perf_event.bpf_cookie = cookie);
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = perf_type(),
		.config1 = (uintptr_t)"/proc/self/exe",
		.config2 = file_offset(function),
	};
	int event, link;

	/* Not of one process: the kernel would patch its scheduler for that, and
	 * QEMU's emulation now and then runs the half-patched instruction. */
	event = syscall(SYS_perf_event_open, &attr, -1, 0, -1,
			PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		tap_bail("cannot make a uprobe: %s", strerror(errno));
	link = bpf_link_create(prog, event, BPF_PERF_EVENT, &opts);
	if (link < 0)
		tap_bail("cannot arm: %s", strerror(errno));
	close(event);
	return link;
}

/* The registers of a call, for bed_expect() */
static inline void probed_registers(struct bed *bed, uint64_t counter,
				    const void *data, const char *text)
{
#ifdef __x86_64__
	struct pt_regs *r = &bed->input.regs;

	r->rdi = counter;
	r->rsi = (uintptr_t)data;
	r->rdx = (uintptr_t)text;
	r->rip = (uintptr_t)probed;
#else
	uint64_t *r = bed->input.x;

	r[0] = counter;
	r[1] = (uintptr_t)data;
	r[2] = (uintptr_t)text;
	r[BED_PC] = (uintptr_t)probed;
#endif
}

#endif
