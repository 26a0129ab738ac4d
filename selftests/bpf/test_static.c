// SPDX-License-Identifier: GPL-2.0
/*
 * Static tracepoints of user programs: the record is what the arguments of
 * rastrace_write() say, for majors that are on.
 */
#include "bed.h"

#define MAJOR	0xc7
#define PAGE	4096

static uint8_t *majors;		/* mapped */
static int majors_fd;
static uint8_t *pages;		/* the second can't be read */

static void maps(struct bed *bed)
{
	struct body_target *t = &bed->target;
	size_t rows = RAS_STATIC_MAJORS * bed_slices(bed);

	t->session = RAS_STATIC_SESSION;
	t->count_fd = bed_map("count", sizeof(struct ras_count), rows);
	t->why_fd = bed_map("why", sizeof(struct ras_why),
			    RAS_STATIC_MAJORS * t->cpus);
	bed->counts = bed_mmap(t->count_fd, rows * sizeof(*bed->counts));
	bed->whys = bed_mmap(t->why_fd, RAS_STATIC_MAJORS * t->cpus *
			     sizeof(*bed->whys));
	majors_fd = bed_map("majors", RAS_STATIC_MAJORS, 1);
	majors = bed_mmap(majors_fd, RAS_STATIC_MAJORS);
	t->sites_fd = t->limits_fd = -1;
	pages = machine_map_low(2 * PAGE);
	if (pages == MAP_FAILED)
		tap_bail("no memory");
	for (int i = 0; i < PAGE; i++)
		pages[i] = 'A' + i % 23;
	mprotect(pages + PAGE, PAGE, PROT_NONE);
}

/* The arguments as the calling convention has them; the upper halves of the
 * numbers are anything. */
static void arguments(struct bed *bed, uint32_t major, uint32_t minor,
		      const void *data, uint64_t length)
{
	struct pt_regs *r = &bed->input.regs;
	uint32_t *stack = (uint32_t *)(pages + PAGE) - 5;

	if (bed->module.machine == EM_386) {
		stack[1] = major;
		stack[2] = minor;
		stack[3] = (uintptr_t)data;
		stack[4] = length;
		r->rsp = (uintptr_t)stack;
	} else if (bed->module.machine == EM_AARCH64) {
		bed->input.x[0] = 0xdeadbeef00000000ULL | major;
		bed->input.x[1] = 0xdeadbeef00000000ULL | minor;
		bed->input.x[2] = (uintptr_t)data;
		bed->input.x[3] = length;
	} else {
		r->rdi = 0xdeadbeef00000000ULL | major;
		r->rsi = 0xdeadbeef00000000ULL | minor;
		r->rdx = (uintptr_t)data;
		r->rcx = length;
	}
	bed_input(bed);
}

static int load(struct bed *bed)
{
	int prog = bed_load_static(bed, majors_fd);

	if (prog < 0)
		tap_bail("%s", bed->log);
	return prog;
}

/* Run with these; the record is this long and has these flags. */
static void row(struct bed *bed, int prog, const uint8_t *data,
		uint64_t length, unsigned int expected, int flags,
		const char *name)
{
	struct bed_counts before = bed_counts(bed, MAJOR), after;
	uint64_t position = bed_slice(bed)->head;
	const struct ras_record *r = bed_record(bed, position);
	bool fault = flags & RAS_RECORD_FAULT;

	arguments(bed, MAJOR, 0xfedc, data, length);
	bed_run(prog);
	after = bed_counts(bed, MAJOR);
	tap_ok(r->stamp == (position ^ BED_KEY) && r->major == MAJOR &&
	       r->minor == 0xfedc && r->point == MAJOR && !r->site &&
	       r->session == RAS_STATIC_SESSION && r->flags == flags &&
	       r->pid == (__u32)getpid() && r->time && !r->stack &&
	       r->seq == before.count.recorded &&
	       r->length == RAS_RECORD_HEADER + bed->context + expected &&
	       (!expected ||
		!memcmp((const uint8_t *)(r + 1) + bed->context, data,
			expected)) &&
	       after.count.recorded == before.count.recorded + 1 &&
	       after.why.faults[RAS_FAULT_ABSENT] ==
	       before.why.faults[RAS_FAULT_ABSENT] + fault &&
	       !bed_slice(bed)->lock, "%s", name);
}

static void test_data(struct bed *bed, const char *machine)
{
	int prog = load(bed);

	majors[MAJOR] = 1;
	tap_diag("%s", machine);
	row(bed, prog, pages, 13, 13, 0, "data");
	row(bed, prog, NULL, 0, 0, 0, "none");
	row(bed, prog, pages + 1, RAS_STATIC_DATA_MAX, RAS_STATIC_DATA_MAX, 0,
	    "as long as may be");
	row(bed, prog, pages + 1, RAS_STATIC_DATA_MAX + 1, RAS_STATIC_DATA_MAX,
	    RAS_RECORD_CUT, "one byte longer is cut");
	row(bed, prog, pages + 1, 0xffffffff, RAS_STATIC_DATA_MAX,
	    RAS_RECORD_CUT, "4 GiB are cut");
	row(bed, prog, pages + 200, 7, 7, 0, "an odd address");
	row(bed, prog, pages + PAGE - 30, 31, 0, RAS_RECORD_FAULT,
	    "the last byte isn't readable: no data");
	row(bed, prog, NULL, 600, 0, RAS_RECORD_FAULT | RAS_RECORD_CUT,
	    "NULL: no data");
	close(prog);
}

static void not_recorded(struct bed *bed, int prog, uint32_t major,
			 uint32_t minor, const char *name)
{
	uint64_t head = bed_slice(bed)->head;
	struct bed_counts before = bed_counts(bed, major & 0xff), after;

	arguments(bed, major, minor, pages, 8);
	bed_run(prog);
	after = bed_counts(bed, major & 0xff);
	tap_ok(bed_slice(bed)->head == head &&
	       !memcmp(&before, &after, sizeof(before)), "%s", name);
}

static void test_majors(struct bed *bed)
{
	struct ras_why before;
	int prog = load(bed);

	memset(majors, 0xff, RAS_STATIC_MAJORS);
	majors[MAJOR] = 0;
	not_recorded(bed, prog, MAJOR, 1, "a major that is off");
	majors[MAJOR] = 1;
	not_recorded(bed, prog, 0x100 | MAJOR, 1, "a major above 255");
	not_recorded(bed, prog, 0x80000000 | MAJOR, 1, "a negative major");
	not_recorded(bed, prog, MAJOR, 65536, "a minor above 65535");
	bed_state(bed, RAS_STATE_OFF);
	not_recorded(bed, prog, MAJOR, 1, "all are off");
	bed_state(bed, RAS_STATE_SUSPENDED);
	before = *bed_why(bed, MAJOR);
	arguments(bed, MAJOR, 1, pages, 8);
	bed_run(prog);
	before.filtered[RAS_FILTERED_SUSPENDED]++;
	tap_ok(!memcmp(&before, bed_why(bed, MAJOR), sizeof(before)),
	       "suspended: counted for the major");
	bed_state(bed, RAS_STATE_ON);
	bed->trigger->state = RAS_TRIGGER_FROZEN;
	bed_run(prog);
	before.filtered[RAS_FILTERED_FROZEN]++;
	tap_ok(!memcmp(&before, bed_why(bed, MAJOR), sizeof(before)),
	       "frozen: not recorded");
	bed->trigger->state = RAS_TRIGGER_COUNTING;
	bed->trigger->left = 1;
	bed_run(prog);
	tap_is(bed->trigger->state, RAS_TRIGGER_FROZEN,
	       "static records count for the trigger");
	bed->trigger->state = RAS_TRIGGER_IDLE;
	close(prog);
	prog = load(bed);
	for (unsigned int major = 0; major < RAS_STATIC_MAJORS; major++) {
		arguments(bed, major, major, pages, 3);
		bed_run(prog);
		before.filtered[7] += !bed_count(bed, major, 0)->recorded;
	}
	tap_is(before.filtered[7], 0, "every major has its own row");
	close(prog);
}

static void test_process(struct bed *bed)
{
	struct ras_process_key key = { .pid = getpid() };
	struct ras_process process = { .bias = 1 };

	tap_ok(!bpf_map_lookup_elem(bed->target.processes_fd, &key, &process)
	       && !process.bias && process.seen, "who writes is kept");
}

static void test_context(struct bed *bed)
{
	const uint64_t caller = 0x401234;
	int prog;

	bed->target.context_mask = RAS_CONTEXT_COMM | RAS_CONTEXT_CPU;
	bed->context = RAS_CONTEXT_BYTES(bed->target.context_mask);
	prog = load(bed);
	row(bed, prog, pages, 13, 13, 0, "data after a context");
	row(bed, prog, pages, 600, 512, RAS_RECORD_CUT, "and cut");
	close(prog);
	bed->context = RAS_ITEM_PREFIX + sizeof(struct ras_stack) + 8;
	bed->target.context_mask = RAS_CONTEXT_STACK;
	bed->target.context_depth = 1;
	if (bed->module.machine == EM_AARCH64) {
		bed->input.x[BED_SP] = bed->input.x[29] = (uintptr_t)pages;
		bed->input.x[30] = caller;
	} else {
		bed->input.regs.rsp = (uintptr_t)pages;
		memcpy(pages, &caller, 8);
	}
	prog = load(bed);
	row(bed, prog, pages, 13, 13, 0, "data after a stack");
	close(prog);
	bed->target.context_depth = 1600;
	tap_is(bed_load_static(bed, majors_fd), -E2BIG, "%s", bed->log);
	bed->target.context_mask = bed->context = 0;
}

/* It loads as a program that may sleep, where the registers are the machine's;
 * live it is test_uprobe's. */
static void test_bring_in(struct bed *bed, const char *machine)
{
	int prog;

	if (!bed->layout.vma) {
		tap_skip("absent data", "this kernel has no BTF");
		return;
	}
	bed->target.context = BODY_UPROBE;
	bed->target.bring_in = true;
	prog = bed_load_static(bed, majors_fd);
	tap_ok(prog >= 0, "%s: absent data is brought in", machine);
	if (prog < 0)
		tap_diag("%s", bed->log);
	close(prog);
	bed->target.bring_in = false;
	bed->target.context = BODY_TEST;
}

static void test_stack_unreadable(struct bed *bed)
{
	uint64_t head = bed_slice(bed)->head;
	int prog = load(bed);

	bed->input.regs.rsp = (uintptr_t)(pages + PAGE);
	bed_input(bed);
	bed_run(prog);
	tap_is(bed_slice(bed)->head, head, "i386: the stack isn't readable");
	close(prog);
}

int main(void)
{
	static struct bed bed;

	bed_open(&bed, BODY_TEST);
	maps(&bed);
	test_data(&bed, "x86-64");
	test_majors(&bed);
	test_process(&bed);
	test_context(&bed);
	test_bring_in(&bed, "x86-64");
	bed.module.machine = EM_386;
	test_data(&bed, "i386");
	test_majors(&bed);
	test_context(&bed);
	test_bring_in(&bed, "i386");
	test_stack_unreadable(&bed);
	bed.module.machine = EM_AARCH64;
	test_data(&bed, "AArch64");
	test_majors(&bed);
	test_context(&bed);
	if (MACHINE_ELF == EM_AARCH64)
		test_bring_in(&bed, "AArch64");
	bed.module.machine = EM_RISCV;
	tap_is(bed_load_static(&bed, majors_fd), -EOPNOTSUPP, "%s", bed.log);
	return tap_done();
}
