// SPDX-License-Identifier: GPL-2.0
/*
 * A body at a real uprobe, armed by a perf_event link: cookie, registers and
 * memory are those of the function called, every hit makes a record. A body
 * for kprobes, run here under a uprobe, reads the kernel's memory and that of
 * the process, by the address.
 */
#include <fcntl.h>
#include <time.h>
#include <sys/prctl.h>
#include "bed.h"
#include "probed.h"

#define HITS	1000

struct inner {
	uint64_t skipped;
	char data[16];
};

struct outer {
	uint32_t skipped[4];
	struct inner *inner;
};

#define IP	(MACHINE_ELF == EM_X86_64 ? 16 : 32)	/* DWARF's number */

/* rastrace_write(): a nop, on x86 of 5 bytes */
#ifdef __x86_64__
#define NOP	".byte 0x0f, 0x1f, 0x44, 0, 0"
#else
#define NOP	"nop"
#endif
void written(unsigned int major, unsigned int minor, const void *data,
	     size_t length);
__asm__(".text\n.p2align 4\n.globl written\n.type written, @function\n"
	"written:\n\t" NOP "\n\tret\n"
	".size written, . - written\n");

static int arm(int prog, uint64_t cookie)
{
	return arm_at(prog, cookie, probed);
}

static struct inner inner = { 1, "sixteen bytes.." };
static const char wide[] = "sixty-three characters, which is more than a "
			   "small frame holds.";
static struct outer outer = { { 1, 2, 3, 4 }, &inner };
static const char text[] = "thirteen char";

static void statements(struct bed *bed)
{
	bed_clear(bed);
	bed_reg(bed, MACHINE_ARG1, 8);
	bed_reg(bed, IP, 8);
	bed_reg(bed, MACHINE_ARG3, 4);
	bed_memory(bed, TDF_STMT_MEM, 16,
		   RPN(ARG(2), 16, OP_deref, OP_plus_uconst, 8));
	bed_memory(bed, TDF_STMT_ASCIIZ, 64, RPN(ARG(3), 0));
	bed_memory(bed, TDF_STMT_MEM, 8,
		   RPN(OP_addr, 0x10, 0, 0, 0, 0, 0, 0, 0));
}

/* The registers as the probe must see them. */
static void expect(struct bed *bed, uint64_t counter, const char *string,
		   struct expected *x)
{
	probed_registers(bed, counter, &outer, string);
	bed_expect(bed, x);
}

static void test_user(struct bed *bed)
{
	struct ras_slice *slice = bed_slice(bed);
	struct ras_count *count = bed_count(bed, 2, 0);
	const struct ras_record *r = (const void *)slice->data;
	struct timespec now;
	uint64_t boot;
	struct expected x;
	int prog, link, wrong = 0;

	statements(bed);
	prog = bed_load(bed);
	if (!tap_ok(prog >= 0, "the body loads as a uprobe's program")) {
		tap_diag("%s", bed->log);
		return;
	}
	link = arm(prog, bed->input.cookie);
	for (int i = 0; i < HITS; i++)
		probed(i, &outer, text);
	close(link);
	close(prog);
	probed(0, &outer, text);
	tap_is(slice->records, HITS, "every hit makes a record");
	tap_is(count->recorded, HITS, "and is counted for its point");
	for (uint64_t p = 0; p < slice->head; ) {
		r = (const void *)(slice->data + p);
		expect(bed, r->seq, text, &x);
		wrong += r->seq >= HITS ||
			 !bed_same(bed, slice, bed->target.slice_bytes, p, &x);
		if (wrong)
			break;
		p += (r->length + 7) & ~7u;
	}
	tap_is(wrong, 0, "the records are those of the calls");
	clock_gettime(CLOCK_BOOTTIME, &now);
	boot = now.tv_sec * 1000000000ULL + now.tv_nsec;
	tap_ok(r->time < boot && r->time + 60000000000ULL > boot,
	       "time is the boot clock's");
}

/* Memory of `bytes` bytes, a string of as many at most, after them a register */
static int detour(struct bed *bed, uint32_t bytes)
{
	uint16_t point = bed->input.cookie >> 16;
	struct bed_counts before = bed_counts(bed, point), after;
	uint64_t position = bed_slice(bed)->head;
	struct expected x;
	int prog, link;

	bed_clear(bed);
	bed_memory(bed, TDF_STMT_MEM, bytes, RPN(ARG(3), 1));
	bed_memory(bed, TDF_STMT_ASCIIZ, bytes, RPN(ARG(3), 0));
	bed_memory(bed, TDF_STMT_ASCIIZ, bytes,
		   RPN(ARG(2), 16, OP_deref, OP_plus_uconst, 8));
	bed_reg(bed, MACHINE_ARG1, 8);
	prog = bed_load(bed);
	if (prog < 0) {
		tap_diag("%s", bed->log);
		return prog;
	}
	/* a program of one link doesn't ask for its cookie */
	link = arm(prog, bed->target.single ? 0 : bed->input.cookie);
	probed(5, &outer, wide);
	close(link);
	close(prog);
	after = bed_counts(bed, point);
	expect(bed, 5, wide, &x);
	return bed_check_record(bed, position, &before, &after, &x);
}

/* What is read by way of the frame, as far as that has room, and what isn't; the
 * cookie from the link, and in the code. */
static void test_detours(struct bed *bed)
{
	static const uint32_t sizes[] = {
		1, 6, 7, 8, 13, 14, 15, 16, 17, 24, 31, 38, 39, 40, 41, 48,
	};
	int wrong = 0;

	bed->target.bring_in = bed->layout.vma;
	bed->target.cookie = bed->input.cookie;
	for (int single = 0; single < 2; single++) {
		bed->target.single = single;
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			if (!detour(bed, sizes[i]))
				continue;
			tap_diag("%u bytes, single %d", sizes[i], single);
			wrong++;
		}
	}
	bed->target.single = bed->target.bring_in = false;
	tap_is(wrong, 0, "small memory and strings are those of the calls");
}

/*
 * The CPU's slice is busy: a record that reads memory is written by its second
 * version, into a nesting slice; where all are, it is dropped.
 */
static void test_busy(struct bed *bed)
{
	uint64_t records = bed_slice(bed)->records, first = 0;
	struct ras_slice *nest = bed_nest(bed, 1);
	struct bed_counts before, after;
	struct expected x;
	int prog, link;

	bed_clear(bed);
	bed_memory(bed, TDF_STMT_MEM, 16,
		   RPN(ARG(2), 16, OP_deref, OP_plus_uconst, 8));
	bed_memory(bed, TDF_STMT_ASCIIZ, 20, RPN(ARG(3), 0));
	bed->target.bring_in = bed->layout.vma;
	prog = bed_load(bed);
	if (!tap_ok(prog >= 0, "busy: a body that reads memory"))
		tap_diag("%s", bed->log);
	link = arm(prog, bed->input.cookie);
	before = bed_counts(bed, 2);
	bed_slice(bed)->lock = 1;
	probed(5, &outer, text);
	expect(bed, 5, text, &x);
	tap_ok(nest->records == 1 && !nest->lock &&
	       bed_same(bed, nest, bed->target.nest_bytes, first, &x) &&
	       bed_count(bed, 2, 1)->recorded == 1,
	       "  its record is in a nesting slice");
	for (int level = 1; level <= RAS_NEST_LEVELS; level++)
		bed_nest(bed, level)->lock = 1;
	probed(5, &outer, text);
	for (int level = 1; level <= RAS_NEST_LEVELS; level++)
		bed_nest(bed, level)->lock = 0;
	after = bed_counts(bed, 2);
	tap_ok(after.count.dropped == before.count.dropped + 1 &&
	       after.count.recorded == before.count.recorded &&
	       bed_slice(bed)->lock == 1,
	       "  or dropped, when all are busy");
	bed_slice(bed)->lock = 0;
	probed(5, &outer, text);
	close(link);
	close(prog);
	bed->target.bring_in = false;
	tap_ok(bed_slice(bed)->records == records + 1 && nest->records == 1,
	       "  and in its own afterwards");
}

/* The entry of this process, made by the first hit, has the module's bias. */
static void test_process(struct bed *bed)
{
	struct ras_process_key key = {
		.pid = getpid(), .session = BED_SESSION,
	};
	const struct ras_record *r = (const void *)bed_slice(bed)->data;
	struct ras_process process = { 0 };

	tap_ok(!bpf_map_lookup_elem(bed->target.processes_fd, &key, &process) &&
	       process.bias == (uintptr_t)probed - bed->sites[3] &&
	       process.seen == r->time && !strcmp(process.comm, "test_uprobe"),
	       "the process and the module's bias are kept");
}

/* Where the hits come from another process. */
static void test_pids(struct bed *bed)
{
	struct body_filter filter = {
		.pids_fd = bed_hash("pids", BPF_MAP_TYPE_HASH, 4, 1, 4),
	};
	uint64_t recorded = bed_slice(bed)->records;
	uint32_t pid = getpid();
	uint8_t value = 0;
	int prog, link;

	statements(bed);
	bed->target.filter = &filter;
	prog = bed_load(bed);
	bed->target.filter = NULL;
	link = arm(prog, bed->input.cookie);
	probed(0, &outer, text);
	bpf_map_update_elem(filter.pids_fd, &pid, &value, 0);
	probed(0, &outer, text);
	probed(0, &outer, text);
	close(link);
	close(prog);
	tap_ok(bed_slice(bed)->records == recorded + 2 &&
	       bed_why(bed, 2)->filtered[RAS_FILTERED_PROCESS] == 1,
	       "only processes that are asked for");
}

/* A page of a file that was never touched, and one that can't be read. */
static void test_static_absent(struct bed *bed, int prog)
{
	const struct ras_record *r = bed_record(bed, bed_slice(bed)->head);
	struct ras_why before = bed->whys[2 * bed->target.cpus + bed->cpu];
	const struct ras_why *why = &bed->whys[2 * bed->target.cpus + bed->cpu];
	int link = arm_at(prog, 0, written), fd = open("/proc/self/exe",
						       O_RDONLY);
	uint8_t *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	written(2, 80, page + 1, 3);
	tap_ok(r->minor == 80 && r->length == RAS_RECORD_HEADER + 3 &&
	       r->flags == RAS_RECORD_PAGED_IN && !memcmp(r + 1, "ELF", 3) &&
	       why->paged_in == before.paged_in + 1 &&
	       bed_faults(why) == bed_faults(&before),
	       "a static tracepoint's data is brought in");
	r = bed_record(bed, bed_slice(bed)->head);
	mprotect(page, 4096, PROT_NONE);
	written(2, 81, page + 1, 3);
	tap_ok(r->minor == 81 && r->length == RAS_RECORD_HEADER &&
	       r->flags == RAS_RECORD_FAULT &&
	       why->faults[RAS_FAULT_UNREADABLE] ==
	       before.faults[RAS_FAULT_UNREADABLE] + 1 &&
	       why->paged_in == before.paged_in + 1,
	       "and it is reported when it can't be");
	munmap(page, 4096);
	close(fd);
	close(link);
}

static void test_static(struct bed *bed)
{
	int majors_fd = bed_map("majors", RAS_STATIC_MAJORS, 1), prog, link;
	uint8_t *majors = bed_mmap(majors_fd, RAS_STATIC_MAJORS);
	const struct ras_record *r = bed_record(bed, bed_slice(bed)->head);
	uint64_t records = bed_slice(bed)->records;

	bed->target.session = RAS_STATIC_SESSION;
	prog = bed_load_static(bed, majors_fd);
	if (prog < 0)
		tap_diag("%s", bed->log);
	link = arm_at(prog, 0, written);
	written(2, 77, text, sizeof(text));
	majors[2] = 1;
	written(1, 78, text, sizeof(text));
	written(2, 79, text, sizeof(text));
	close(link);
	close(prog);
	tap_ok(bed_slice(bed)->records == records + 1 && r->major == 2 &&
	       r->minor == 79 && r->session == RAS_STATIC_SESSION &&
	       r->length == RAS_RECORD_HEADER + sizeof(text) &&
	       !memcmp(r + 1, text, sizeof(text)),
	       "a static tracepoint of a major that is on");
	bed->target.bring_in = bed->layout.vma;
	prog = bed_load_static(bed, majors_fd);
	bed->target.bring_in = false;
	bed->target.session = BED_SESSION;
	if (!bed->layout.vma)
		tap_skip("absent data", "this kernel has no BTF");
	else
		test_static_absent(bed, prog);
	close(prog);
}

static uint64_t kernel_symbol(const char *name)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], symbol[256];
	unsigned long address = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx %*c %255s", &address, symbol) == 2 &&
		    !strcmp(symbol, name))
			break;
		address = 0;
	}
	if (f)
		fclose(f);
	return address;
}

static uint32_t task_member(const char *path)
{
	struct btf *btf = btf__load_vmlinux_btf();
	uint32_t offset = btf ? bed_member(btf, "task_struct", path) : 0;

	btf__free(btf);
	return offset;
}

/* Is the process's memory read, where the kernel's count is what the thread's name
 * has? */
static bool own_read(struct bed *bed, const char *name)
{
	struct ras_slice *slice = bed_slice(bed);
	const struct ras_record *r;
	int prog, link;

	bed_clear(bed);
	bed_memory(bed, TDF_STMT_MEM, 8, RPN(ARG(3), 0));
	prog = bed_load(bed);
	r = (const void *)(slice->data +
			   (slice->head & (bed->target.slice_bytes - 1)));
	prctl(PR_SET_NAME, name);
	link = arm(prog, bed->input.cookie);
	probed(0, &outer, text);
	close(link);
	close(prog);
	return r->flags != RAS_RECORD_FAULT;
}

/* An address of a process is one of the current process, where the kernel works
 * for it. */
static void test_interrupted(struct bed *bed)
{
	static const struct {
		const char *count, *label;
		bool own;
	} rows[] = {
		{ "\1\2", "a system call", true },
		{ "\1\2\x11\x80", "an int3 in one", true },
		{ "\1\2\x01\x80", "an interrupt", false },
		{ "\1\2\x12\x80", "an int3 in one", false },
		{ "\1\1", "a softirq", false },
	};
	uint32_t mm = bed->layout.task_mm;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		tap_is(own_read(bed, rows[i].count), rows[i].own,
		       "%s: %s", rows[i].label, rows[i].own ? "read" :
		       "not readable");
	bed->layout.task_mm = task_member("journal_info");
	tap_is(own_read(bed, rows[0].count), false, "a kernel thread has none");
	bed->layout.task_mm = mm;
	bed->target.layout = NULL;
	tap_is(own_read(bed, rows[0].count), false,
	       "nor what isn't known to be none of these");
	bed->target.layout = &bed->layout;
}

/* Where the kernel's data has no names, some of its text is read. */
static void test_kernel(struct bed *bed)
{
	uint64_t banner = kernel_symbol("linux_banner"), ip;
	const uint64_t nothing = 0;
	uint64_t before, address = banner ? banner : kernel_symbol("_printk");
	struct ras_slice *slice = bed_slice(bed);
	const struct ras_record *r;
	const uint8_t *data;
	uint8_t rpn[9] = { OP_addr };
	int prog, link;

	if (!address) {
		tap_skip("kernel memory", "no addresses in kallsyms");
		return;
	}
	bed->layout.cpu_count = 0;
	bed->layout.task_count = task_member("comm");
	if (!bed->layout.task_count) {
		tap_skip("kernel memory", "this kernel has no BTF");
		return;
	}
	prctl(PR_SET_NAME, "");
	bed->target.context = BODY_KPROBE;
	memcpy(rpn + 1, &address, 8);
	bed_site(bed, 3, 0);
	bed_clear(bed);
	bed_memory(bed, TDF_STMT_IF, 0,
		   RPN(ARG(3), 0, OP_deref_size, 1, OP_const1u, 't', OP_eq));
	bed_reg(bed, IP, 8);
	bed_memory(bed, TDF_STMT_MEM, 8, rpn, sizeof(rpn));
	if (banner)
		bed_memory(bed, TDF_STMT_ASCIIZ, 13, rpn, sizeof(rpn));
	bed_memory(bed, TDF_STMT_MEM, 8, RPN(ARG(3), 0));
	bed_memory(bed, TDF_STMT_ASCIIZ, 64, RPN(ARG(3), 0));
	bed_memory(bed, TDF_STMT_MEM, 8,
		   RPN(ARG(2), 16, OP_deref, OP_plus_uconst, 8));
	bed_memory(bed, TDF_STMT_MEM, 8, RPN(ARG(1), 0));
	prog = bed_load(bed);
	if (!tap_ok(prog >= 0, "the body loads as a kprobe's program")) {
		tap_diag("%s", bed->log);
		return;
	}
	r = (const void *)(slice->data +
			   (slice->head & (bed->target.slice_bytes - 1)));
	data = (const uint8_t *)(r + 1);
	link = arm(prog, bed->input.cookie);
	probed(0, &outer, text);
	close(link);
	close(prog);
	memcpy(&ip, data, 8);
	tap_ok(ip == (uintptr_t)probed - (MACHINE_ELF == EM_X86_64),
	       "ip is one less on x86");
	tap_ok(!memcmp(data + 8, "\0\x08", 3), "kernel memory is read");
	data += 19;
	if (banner) {
		tap_ok(!memcmp(data, "\x11\x0d\0Linux version", 16) &&
		       !memcmp(data - 8, "Linux ve", 8), "it is the banner");
		data += 16;
	} else {
		tap_skip("it is the banner", "linux_banner is not in kallsyms");
	}
	tap_ok(!memcmp(data, "\0\x08\0thirteen", 11) &&
	       !memcmp(data + 11, "\x01\x0d\0thirteen char", 16) &&
	       !memcmp(data + 27, "\0\x08\0sixteen ", 11),
	       "the process's memory is read, by a pointer in it, too");
	tap_ok(data[38] == RAS_ITEM_FAULT && r->flags == RAS_RECORD_FAULT &&
	       !memcmp(data + 41, &nothing, 8), "what isn't there is a fault");
	bed_clear(bed);
	bed_memory(bed, TDF_STMT_IF, 0,
		   RPN(ARG(3), 0, OP_deref_size, 1, OP_const1u, 'u', OP_eq));
	prog = bed_load(bed);
	before = slice->records;
	link = arm(prog, bed->input.cookie);
	probed(0, &outer, text);
	close(link);
	close(prog);
	tap_is(slice->records, before, "an IF of it filters");
	test_interrupted(bed);
}

int main(void)
{
	static struct bed bed;

	if (perf_type() < 0)
		tap_skip_all("no uprobes here");
	bed_open(&bed, BODY_UPROBE);
	bed.input.cookie = RAS_COOKIE(0x42, 2, 3);
	bed.module.machine = MACHINE_ELF;
	bed_maps(&bed, 1 << 20, RAS_NEST_BYTES);
	bed_state(&bed, RAS_STATE_ON);
	bed_site(&bed, 3, (uintptr_t)probed - (uintptr_t)&inner + 8);
	test_user(&bed);
	test_process(&bed);
	test_pids(&bed);
	test_detours(&bed);
	test_busy(&bed);
	test_static(&bed);
	test_kernel(&bed);
	return tap_done();
}
