// SPDX-License-Identifier: GPL-2.0
/*
 * Everything that a body may do at once: each two, all, and all but one of them
 * load, as a uprobe's and a kprobe's program; where it can be run the record is
 * right.
 */
#include <sys/prctl.h>
#include "bed.h"

enum {
	FILTER = 1, CONTEXT = 2, RATE = 4, TRIGGER = 8, LIMITS = 16,
	CONDITION = 32, CONTINUE = 64, STACK = 128, ALL = 255,
};

static struct body_filter filter;

static bool chosen(unsigned int with)
{
	int count = __builtin_popcount(with);

	return count <= 2 || count >= 7;
}

static void filter_make(void)
{
	uint32_t pid = getpid();
	uint8_t value = 0;

	prctl(PR_SET_NAME, "combine");
	filter.pids_fd = bed_hash("pids", BPF_MAP_TYPE_HASH, 4, 1, 16);
	bpf_map_update_elem(filter.pids_fd, &pid, &value, 0);
	filter.uid_count = BODY_FILTERS;
	for (int i = 0; i < BODY_FILTERS; i++)
		filter.uids[i] = i == BODY_FILTERS - 1 ? getuid() : 1000u + i;
	filter.comm_count = 2;
	strcpy(filter.comms[1], "combine");
	filter.cgroup_count = 2;
	filter.cgroups[0].id = 0x123456789;
	filter.cgroups[1].id = 1;
}

static void statements(struct bed *bed, unsigned int with)
{
	static const struct {
		uint64_t word;
		char text[24];
	} data = { 0x1122334455667788, "text of a combination" };

	bed_clear(bed);
	bed->input.regs.rbx = bed->input.x[3] = (uintptr_t)&data;
	bed->input.x[BED_PC] = bed->input.regs.rip;
	bed->input.cookie = RAS_COOKIE(0x15, 1, 2);
	bed_site(bed, 2, bed->input.regs.rip - (uintptr_t)&data);
	if (with & CONDITION)
		bed_memory(bed, TDF_STMT_IF, 0,
			   RPN(OP_breg + 3, 0, OP_deref));
	bed_reg(bed, 0, 8);
	bed_memory(bed, TDF_STMT_MEM, 8, RPN(OP_addr, 4, 0, 0, 0, 0, 0, 0, 0));
	for (int i = 0; i < 6; i++)
		bed_memory(bed, i % 3 ? TDF_STMT_ASCIIZ : TDF_STMT_MEM, 20,
			   RPN(OP_breg + 3, 8 + i));
	bed_memory(bed, TDF_STMT_MEM, 8, RPN(OP_lit, OP_deref));
}

static void combine(struct bed *bed, unsigned int with)
{
	struct body_target *t = &bed->target;

	statements(bed, with);
	t->filter = with & FILTER ? &filter : NULL;
	t->context_mask = with & CONTEXT ?
			  RAS_CONTEXT_ALL & ~(RAS_CONTEXT_STACK |
					      RAS_CONTEXT_OTEL) : 0;
	if (!t->layout->task_parent)
		t->context_mask &= ~RAS_CONTEXT_PPID;
	bed->context = RAS_CONTEXT_BYTES(t->context_mask);
	if (with & STACK) {
		t->context_mask |= RAS_CONTEXT_STACK;
		t->context_depth = 4;
	}
	t->max_rate = with & RATE ? 1000000 : 0;
	t->trigger = with & TRIGGER;
	t->trigger_after = -1;
	bed->point.maxhits = with & LIMITS ? 1000000 : 0;
	bed->point.passcount = with & LIMITS ? 1 : 0;
	bed->limits[1].passed = 1;
	bed->point.flags = with & CONTINUE ? TDF_POINT_CONTINUE : 0;
}

static bool loads(struct bed *bed, unsigned int with)
{
	int prog;

	combine(bed, with);
	prog = bed_load(bed);
	if (prog < 0)
		tap_diag("combination %#x: %s", with, bed->log);
	else
		close(prog);
	return prog >= 0;
}

static bool runs(struct bed *bed, unsigned int with)
{
	struct bed_counts before = bed_counts(bed, 1), after;
	uint64_t position = bed_slice(bed)->head;
	struct expected x;
	int prog;

	combine(bed, with);
	prog = bed_load(bed);
	if (prog < 0) {
		tap_diag("combination %#x: %s", with, bed->log);
		return false;
	}
	bed_input(bed);
	bed_expect(bed, &x);
	if (with & TRIGGER)
		x.flags |= RAS_RECORD_TRIGGER;
	bed->trigger->state = RAS_TRIGGER_IDLE;
	bed_run(prog);
	close(prog);
	after = bed_counts(bed, 1);
	if (!bed_check_record(bed, position, &before, &after, &x))
		return true;
	tap_diag("combination %#x", with);
	return false;
}

static void test_loads(struct bed *bed, enum body_context context,
		       const char *name)
{
	int wrong = 0, count = 0;

	bed->target.context = context;
	for (unsigned int with = 0; with <= ALL; with++) {
		if (!chosen(with))
			continue;
		wrong += !loads(bed, with);
		count++;
	}
	tap_is(wrong, 0, "%d combinations load %s", count, name);
}

int main(void)
{
	static struct bed bed;
	int wrong = 0;

	bed_open(&bed, BODY_TEST);
	filter_make();
	for (unsigned int with = 0; with <= ALL; with++)
		if (chosen(with) && !(with & STACK))
			wrong += !runs(&bed, with);
	tap_is(wrong, 0, "the records of all combinations");
	test_loads(&bed, BODY_UPROBE, "as a uprobe's program");
	test_loads(&bed, BODY_KPROBE, "as a kprobe's program");
	bed.target.bring_in = true;
	test_loads(&bed, BODY_UPROBE, "that bring in absent memory");
	bed.target.bring_in = false;
	bed.target.processes_fd = -1;
	bed.target.preempt_disable = 0;
	test_loads(&bed, BODY_UPROBE,
		   "without preempt_disable, without processes");
	bed.module.machine = EM_AARCH64;
	bed.target.context = BODY_TEST;
	wrong = 0;
	for (unsigned int with = 0; with <= ALL; with++)
		if (chosen(with) && !(with & STACK))
			wrong += !runs(&bed, with);
	tap_is(wrong, 0, "the records of all combinations, of AArch64");
	test_loads(&bed, BODY_TEST, "of AArch64");
	if (MACHINE_ELF == EM_AARCH64) {
		test_loads(&bed, BODY_UPROBE, "of AArch64, a uprobe's");
		test_loads(&bed, BODY_KPROBE, "of AArch64, a kprobe's");
	}
	return tap_done();
}
