// SPDX-License-Identifier: GPL-2.0
/*
 * Random code is run, one instruction at a time, and at each address a plain
 * interpreter makes the record of random statements: as they are meant there,
 * and as they were moved there from another one. The two are equal.
 *
 *	test_move [SEED [BLOCKS]]
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "selftests/bpf/interpret.h"
#include "move_code.h"
#include "move_trial.h"

#define BLOCKS		300
#define RUNS		3	/* of each, with other registers and memory */
#define ARENA		4096
#define STACK		8192
#define CALLER		4096	/* of it: from here on it's the caller's */
#define NEAREST		240	/* what of that pointers lead to: what lies
				 * beside doesn't lead below it either */

static struct program {
	bool wide;
	pid_t pid;
	uint64_t bias;
	uint64_t arena, stack, variable, end;	/* at run time */
	struct user_regs_struct regs;
} p;

static void write_code(int blocks)
{
	FILE *file = fopen("code.s", "w");

	if (!file)
		tap_bail("can't write");
	fputs(".globl _start, end, arena, stack, variable\n"
	      "_start: nop\nend: nop\nnop\n", file);
	for (int i = 0; i < blocks; i++) {
		fprintf(file, ".globl block%d\n.type block%d, @function\n"
			"block%d:\n", i, i, i);
		code_write(file, p.wide);
		fprintf(file, "ret\n.size block%d, .-block%d\n", i, i);
	}
	fprintf(file, ".data\nvariable: .skip 64\n.bss\n.balign 4096\n"
		"arena: .skip %d\nstack: .skip %d\n", ARENA, STACK);
	fclose(file);
}

static uint64_t symbol_address(const char *name)
{
	const struct module_symbol *symbol;
	bool others;

	symbol = module_symbol_find(t.module, name, MODULE_DATA, &others);
	if (!symbol)
		symbol = module_symbol_find(t.module, name, MODULE_CODE,
					    &others);
	if (!symbol)
		tap_bail("no symbol %s", name);
	return symbol->address;
}

static void child_start(void)
{
	int status;

	p.pid = fork();
	if (!p.pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl("./code", "code", NULL);
		_exit(127);
	}
	if (p.pid < 0 || waitpid(p.pid, &status, 0) < 0 ||
	    !WIFSTOPPED(status) ||
	    ptrace(PTRACE_GETREGS, p.pid, NULL, &p.regs))
		tap_bail("the code doesn't run");
	p.bias = p.regs.rip - symbol_address("_start");
	p.arena = symbol_address("arena") + p.bias;
	p.stack = symbol_address("stack") + p.bias;
	p.variable = symbol_address("variable");
	p.end = symbol_address("end") + p.bias;
}

static bool child_memory(uint64_t at, void *bytes, size_t size, bool write)
{
	struct iovec here = { bytes, size }, there = { (void *)at, size };

	return (write ? process_vm_writev(p.pid, &here, 1, &there, 1, 0) :
			process_vm_readv(p.pid, &here, 1, &there, 1, 0)) ==
	       (ssize_t)size;
}

/* What a program has in a register: near to what another one has, often. */
static uint64_t random_word(bool stale)
{
	uint64_t word;

	switch (random_below(stale ? 6 : 5)) {
	case 0:
	case 1:
		word = p.arena + 1024 + random_below(16) * 4;
		break;
	case 2:
		word = p.stack + CALLER + NEAREST + random_below(32) * 4;
		break;
	case 3:
		word = random_below(200) - 20;
		break;
	case 4:
		word = random_next();
		break;
	default:
		word = p.stack + CALLER - 4 * random_below(64);
	}
	/* not to where the program's own stack and the kernel's pages are */
	return p.wide ? word : word & 0xbfffffff;
}

static void fill(uint64_t at, size_t size, bool stale)
{
	uint8_t bytes[STACK];
	size_t width = p.wide ? 8 : 4;

	for (size_t i = 0; i < size; i += width) {
		uint64_t word = random_word(stale);

		memcpy(bytes + i, &word, width);
	}
	child_memory(at, bytes, size, true);
}

/* xmm0 is the one that the code uses. */
static void prepare_vectors(void)
{
	struct user_fpregs_struct vectors;

	if (ptrace(PTRACE_GETFPREGS, p.pid, NULL, &vectors))
		tap_bail("the registers can't be read");
	for (int i = 0; i < 4; i++)
		vectors.xmm_space[i] = random_word(false);
	if (ptrace(PTRACE_SETFPREGS, p.pid, NULL, &vectors))
		tap_bail("the registers can't be set");
}

/* Below the stack pointer are leftovers, which may lead anywhere. */
static void code_prepare(void)
{
	struct user_regs_struct *r = &p.regs;
	unsigned long long *const all[] = {
		&r->rax, &r->rbx, &r->rcx, &r->rdx, &r->rsi, &r->rdi, &r->rbp,
		&r->r8, &r->r9, &r->r10, &r->r11, &r->r12, &r->r13, &r->r14,
		&r->r15,
	};

	fill(p.arena, ARENA, false);
	fill(p.variable + p.bias, 64, false);
	fill(p.stack, CALLER, true);
	fill(p.stack + CALLER, STACK - CALLER, false);
	child_memory(p.stack + CALLER, &p.end, p.wide ? 8 : 4, true);
	for (size_t i = 0; i < COUNT(all); i++)
		*all[i] = random_word(false);
	if (p.wide)
		r->fs_base = p.arena + 512;
	prepare_vectors();
	r->rsp = p.stack + CALLER;
	r->rip = t.block.insns[0].address + p.bias;
	r->orig_rax = -1;
	r->eflags = (r->eflags & ~0x8d5UL) | (random_next() & 0x8d5);
	if (ptrace(PTRACE_SETREGS, p.pid, NULL, r))
		tap_bail("the registers can't be set");
}

static void code_evaluate(const struct tdf_stmt *stmt, const uint8_t *rpn,
			  struct expected *x)
{
	struct interpreter in = {
		.is32 = !p.wide, .bias = p.bias, .pid = p.pid,
		.thread_base = { p.regs.fs_base, p.regs.gs_base },
	};
	struct tdf_site site = { .stmts = 1 };
	struct tdf_point point = {0};
	struct pt_regs regs;

	memcpy(&regs, &p.regs, sizeof(regs));
	in.regs = &regs;
	interpret_record(x, &in, &point, &site, stmt, rpn, TDF_DATA_MAX);
}

/* Nothing below the stack pointer lasts: a signal, a return probe. */
static void code_record_site(struct pair *pair)
{
	uint64_t caller = p.stack + CALLER;
	bool gone = pair->site > pair->nominal && t.entry &&
		    p.regs.rsp > pair->stack && p.regs.rsp <= caller + 64;
	uint8_t saved[SCRIBBLED], other[SCRIBBLED];

	gone = gone && child_memory(p.regs.rsp - SCRIBBLED, saved, SCRIBBLED,
				    false);
	if (gone) {
		memset(other, 0xa5, sizeof(other));
		child_memory(p.regs.rsp - SCRIBBLED, other, SCRIBBLED, true);
	}
	trial_record_all(pair, true);
	if (gone)
		child_memory(p.regs.rsp - SCRIBBLED, saved, SCRIBBLED, true);
}

static void code_stop(void)
{
	if (ptrace(PTRACE_GETREGS, p.pid, NULL, &p.regs))
		tap_bail("the registers can't be read");
}

static bool code_step(size_t at)
{
	const struct block *block = &t.block.block;
	uint64_t next = at + 1 < block->count ?
			block->insns[at + 1].address + p.bias : p.end;
	int status;

	if (ptrace(PTRACE_SINGLESTEP, p.pid, NULL, 0) ||
	    waitpid(p.pid, &status, 0) < 0 || !WIFSTOPPED(status))
		tap_bail("the code has ended");
	return WSTOPSIG(status) == SIGTRAP &&
	       !ptrace(PTRACE_GETREGS, p.pid, NULL, &p.regs) &&
	       p.regs.rip == next;
}

static uint64_t code_stack(void)
{
	return p.regs.rsp;
}

static bool code_has_stack(void)
{
	return p.regs.rsp - p.stack < STACK;
}

static void check_class(bool wide, int blocks)
{
	struct error err = {0};

	memset(&p, 0, sizeof(p));
	memset(&t, 0, sizeof(t));
	p.wide = wide;
	write_code(blocks);
	if (!move_block_link(wide, wide ? "-pie --no-dynamic-linker" : "")) {
		tap_skip("code of 32 bits", "no assembler for it");
		return;
	}
	if (module_open(&t.module, "code", "code", 0, &err))
		tap_bail("%s", err.text);
	child_start();
	for (int i = 0; i < blocks; i++)
		trial_block(i, wide, p.variable, RUNS);
	kill(p.pid, SIGKILL);
	waitpid(p.pid, NULL, 0);
	trial_end(wide ? "64 bits" : "32 bits");
}

int main(int argc, char **argv)
{
	int blocks = argc > 2 ? atoi(argv[2]) : BLOCKS;

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	tap_diag("seed %llu", (unsigned long long)seed);
	compiled_begin();
	check_class(true, blocks);
	check_class(false, blocks);
	return tap_done();
}
