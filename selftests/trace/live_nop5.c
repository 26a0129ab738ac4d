// SPDX-License-Identifier: GPL-2.0
/*
 * Cheap instructions with a uprobe: data below the stack pointer of a function
 * that calls nothing, and a child that was forked after the first hit. Both
 * must be as without one, but with a nop of 5 bytes: kernels from 6.18 on turn
 * it into a call of a page that children don't have. 6.1 and 6.12 don't.
 * compile/choose.c avoids these.
 */
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include "self_tdf.h"
#include "lib/sysbpf.h"
#include "arch_x86.h"

#define CALLS	1000

/* 0 when what was stored is still there. */
#define LEAF(name, before, insn) \
	long name(long value); \
	extern char name##_site[]; \
	__asm__(".text\n.globl " #name ", " #name "_site\n" \
		".type " #name ", @function\n" \
		#name ":\n" before "\n" #name "_site: " insn "\n" \
		"xor -8(%rsp), %rdi\n xor -24(%rsp), %rsi\n" \
		"mov %rdi, %rax\n or %rsi, %rax\n ret\n")

#define STORE	"mov %rdi, %rsi\n mov %rdi, -8(%rsp)\n mov %rdi, -24(%rsp)"
#define NOP5	".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"

LEAF(leaf_entry, "", NOP5 "\n" STORE);
LEAF(leaf_nop5, STORE, NOP5);
LEAF(leaf_nop4, STORE, ".byte 0x0f, 0x1f, 0x40, 0x00");
LEAF(leaf_nop1, STORE, "nop");
LEAF(leaf_jump, STORE, "jmp 1f\n 1:");
LEAF(leaf_branch, STORE, "je 1f\n 1:");
LEAF(leaf_step, STORE, "mov %rax, %rdx");

static int perf_link(int program, uint64_t offset)
{
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config1 = (uintptr_t)"/proc/self/exe", .config2 = offset,
	};
	int event, link;

	if (!file || fscanf(file, "%u", &attr.type) != 1)
		tap_bail("this kernel has no uprobes");
	fclose(file);
	event = syscall(SYS_perf_event_open, &attr, -1, 0, -1,
			PERF_FLAG_FD_CLOEXEC);
	link = event < 0 ? -errno : sysbpf_perf_link(program, event, 0);
	close(event);
	return link;
}

static void probe_begin(const char *site, int fds[2])
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	fds[0] = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "nop5", "GPL", insns, 2,
			       NULL);
	fds[1] = perf_link(fds[0], self_place(site).offset);
	if (fds[0] < 0 || fds[1] < 0)
		tap_bail("program %d, link %d", fds[0], fds[1]);
}

static void probe_end(const int fds[2])
{
	close(fds[1]);
	close(fds[0]);
}

/* Calls that came to another result with a probe at the site. */
static long count_wrong(long (*leaf)(long value), const char *site)
{
	long wrong = 0;
	int probe[2];

	probe_begin(site, probe);
	for (long i = 1; i <= CALLS; i++)
		wrong += leaf(i) != 0;
	probe_end(probe);
	return wrong;
}

/* What a child exits with that comes there as its parent did. */
static int child_status(long (*leaf)(long value), const char *site)
{
	int probe[2], status;
	pid_t child;

	probe_begin(site, probe);
	for (long i = 1; i <= 3; i++)
		leaf(i);
	child = fork();
	if (!child) {
		leaf(4);
		_exit(0);
	}
	waitpid(child, &status, 0);
	probe_end(probe);
	return status;
}

static void check(long (*leaf)(long value), const char *site, const char *what)
{
	tap_is(count_wrong(leaf, site), 0,
	       "the same below the stack pointer: %s", what);
	tap_is(child_status(leaf, site), 0, "children live: %s", what);
}

#define CHECK(leaf, what) check(leaf, leaf##_site, what)

static uint8_t cost_of(const char *site)
{
	struct arch_insn insn;

	if (arch_insn_decode(x86_of(ELFCLASS64), (const uint8_t *)site,
			     TDF_INSN_MAX, &insn))
		tap_bail("no instruction");
	return insn.cost;
}

/* What does harm has the class that is avoided. */
static void check_nop5(void)
{
	bool known = cost_of(leaf_nop5_site) == TDF_COST_NOP5;
	long wrong = count_wrong(leaf_nop5, leaf_nop5_site);
	int status = child_status(leaf_nop5, leaf_nop5_site);

	tap_ok(!wrong || known,
	       "a nop of 5 bytes: %ld of %d calls find something else below "
	       "the stack pointer", wrong, CALLS);
	tap_ok(!status || known, "a nop of 5 bytes: children get signal %d",
	       WTERMSIG(status));
}

int main(void)
{
	if (geteuid())
		tap_skip_all("needs root");
	CHECK(leaf_nop4, "a nop of 4 bytes");
	CHECK(leaf_nop1, "a nop of 1 byte");
	CHECK(leaf_jump, "a jump");
	CHECK(leaf_branch, "a branch");
	CHECK(leaf_step, "what is stepped");
	tap_is(count_wrong(leaf_entry, leaf_entry_site), 0,
	       "the same below the stack pointer: a nop of 5 bytes where the "
	       "function begins");
	check_nop5();
	return tap_done();
}
