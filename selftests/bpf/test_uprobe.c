// SPDX-License-Identifier: GPL-2.0
/*
 * A body at a real uprobe, armed by a perf_event link: cookie, registers and
 * memory are those of the function called, every hit makes a record. A body
 * for kprobes, run here under a uprobe, reads the kernel's memory and nothing
 * else.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <linux/perf_event.h>
#include "bed.h"

#define HITS	1000

struct inner {
	uint64_t skipped;
	char data[16];
};

struct outer {
	uint32_t skipped[4];
	struct inner *inner;
};

/* rdi counter, rsi structure, rdx string */
void probed(uint64_t counter, struct outer *outer, const char *text);
__asm__(".text\n.p2align 4\n.globl probed\n.type probed, @function\n"
	"probed:\n\tpush %rbp\n\tmov %rsp, %rbp\n\tpop %rbp\n\tret\n"
	".size probed, . - probed\n");

static int perf_type(void)
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
static uint64_t file_offset(const void *function)
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

/* Arms the program at probed(); the link's descriptor. */
static int arm(int prog, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts,
		    .perf_event.bpf_cookie = cookie);
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = perf_type(),
		.config1 = (uintptr_t)"/proc/self/exe",
		.config2 = file_offset(probed),
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

static struct inner inner = { 1, "sixteen bytes.." };
static struct outer outer = { { 1, 2, 3, 4 }, &inner };
static const char text[] = "thirteen char";

static void statements(struct bed *bed)
{
	bed_clear(bed);
	bed_reg(bed, 5, 8);
	bed_reg(bed, 16, 8);
	bed_reg(bed, 1, 4);
	bed_memory(bed, TDF_STMT_MEM, 16,
		   RPN(OP_breg + 4, 16, OP_deref, OP_plus_uconst, 8));
	bed_memory(bed, TDF_STMT_ASCIIZ, 64, RPN(OP_breg + 1, 0));
	bed_memory(bed, TDF_STMT_MEM, 8,
		   RPN(OP_addr, 0x10, 0, 0, 0, 0, 0, 0, 0));
}

/* The registers as the probe must see them. */
static void expect(struct bed *bed, uint64_t counter, struct expected *x)
{
	struct pt_regs *r = &bed->input.regs;

	r->rdi = counter;
	r->rsi = (uintptr_t)&outer;
	r->rdx = (uintptr_t)text;
	r->rip = (uintptr_t)probed;
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
		expect(bed, r->seq, &x);
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

/* Where the kernel's data has no names, some of its text is read. */
static void test_kernel(struct bed *bed)
{
	uint64_t banner = kernel_symbol("linux_banner"), ip;
	uint64_t address = banner ? banner : kernel_symbol("_printk");
	struct ras_slice *slice = bed_slice(bed);
	const struct ras_record *r;
	const uint8_t *data;
	uint8_t rpn[9] = { OP_addr };
	int prog, link;

	if (!address) {
		tap_skip("kernel memory", "no addresses in kallsyms");
		return;
	}
	bed->target.context = BODY_KPROBE;
	memcpy(rpn + 1, &address, 8);
	bed_site(bed, 3, 0);
	bed_clear(bed);
	bed_reg(bed, 16, 8);
	bed_memory(bed, TDF_STMT_MEM, 8, rpn, sizeof(rpn));
	if (banner)
		bed_memory(bed, TDF_STMT_ASCIIZ, 13, rpn, sizeof(rpn));
	bed_memory(bed, TDF_STMT_MEM, 8, RPN(OP_breg + 1, 0));
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
	tap_ok(ip == (uintptr_t)probed - 1, "ip is one less");
	tap_ok(!memcmp(data + 8, "\0\x08", 3), "kernel memory is read");
	data += 19;
	if (banner) {
		tap_ok(!memcmp(data, "\x11\x0d\0Linux version", 16) &&
		       !memcmp(data - 8, "Linux ve", 8), "it is the banner");
		data += 16;
	} else {
		tap_skip("it is the banner", "linux_banner is not in kallsyms");
	}
	tap_ok(data[0] == RAS_ITEM_FAULT && r->flags == RAS_RECORD_FAULT &&
	       !memcmp(data + 3, &bed->input.regs.rdx, 8),
	       "the process's memory is not read");
}

int main(void)
{
	static struct bed bed;

	if (perf_type() < 0)
		tap_skip_all("no uprobes here");
	bed_open(&bed, BODY_UPROBE);
	bed.input.cookie = RAS_COOKIE(0x42, 2, 3);
	bed.input.regs.rdx = (uintptr_t)text;
	bed_maps(&bed, 1 << 20, RAS_NEST_BYTES);
	bed_state(&bed, RAS_STATE_ON);
	bed_site(&bed, 3, (uintptr_t)probed - (uintptr_t)&inner + 8);
	test_user(&bed);
	test_kernel(&bed);
	return tap_done();
}
