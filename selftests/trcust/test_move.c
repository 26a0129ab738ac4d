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
#include "move_block.h"
#include "move_code.h"

#define BLOCKS		300
#define RUNS		3	/* of each, with other registers and memory */
#define PAIRS		16	/* of addresses, for each block */
#define STMTS		4	/* for each pair */
#define ARENA		4096
#define STACK		8192
#define CALLER		4096	/* of it: from here on it's the caller's */
#define NEAREST		240	/* what of that pointers lead to: what lies
				 * beside doesn't lead below it either */
#define SCRIBBLED	256

struct trial {
	struct tdf_stmt nominal, site;
	bool moved;
	int ran;		/* at how many of the two addresses */
	struct expected nominal_record, site_record;
};

struct pair {
	size_t nominal, site;
	bool safe;		/* moved over nothing that may fault */
	struct trial trials[STMTS];
	uint64_t stack;		/* pointer, at the nominal address */
};

static struct program {
	bool wide;
	struct module *module;
	pid_t pid;
	uint64_t bias;
	uint64_t arena, stack, variable, end;	/* at run time */
	struct move_block block;
	bool entry;
	struct pair pairs[PAIRS];
	struct bytes in, out;
	struct user_regs_struct regs;
	size_t reached;		/* addresses of the block, in a run */
	unsigned int tried, moved, compared, wrong, faulted;
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

	symbol = module_symbol_find(p.module, name, MODULE_DATA, &others);
	if (!symbol)
		symbol = module_symbol_find(p.module, name, MODULE_CODE,
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
static void child_prepare(void)
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
	r->rip = p.block.insns[0].address + p.bias;
	r->orig_rax = -1;
	r->eflags = (r->eflags & ~0x8d5UL) | (random_next() & 0x8d5);
	if (ptrace(PTRACE_SETREGS, p.pid, NULL, r))
		tap_bail("the registers can't be set");
}

static void evaluate(const struct tdf_stmt *stmt, const uint8_t *rpn,
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

static void print_stmt(const char *what, const struct tdf_stmt *s,
		       const struct bytes *rpn)
{
	char text[1000], length[1000];

	rpn_print(rpn->data + s->rpn, s->rpn_length, text, sizeof(text));
	rpn_print(rpn->data + s->len_rpn, s->len_rpn_length, length,
		  sizeof(length));
	tap_diag("%s: kind %u flags %#x register %u length %u: %s [%s]", what,
		 s->kind, s->flags, s->reg, s->length, text, length);
}

static void tell_wrong(const struct pair *pair, const struct trial *trial)
{
	const struct expected *a = &trial->nominal_record;
	const struct expected *b = &trial->site_record;
	const struct block *block = &p.block.block;
	char text[100];

	if (p.wrong++ > 5)
		return;
	tap_diag("from %zu to %zu, entry %d:", pair->nominal, pair->site,
		 p.entry);
	for (size_t i = 0; i < block->count; i++) {
		const struct block_insn *insn = &block->insns[i];

		if (!arch_insn_print(p.module->arch, insn->bytes,
				     insn->insn.length, insn->address, text,
				     sizeof(text)))
			tap_diag(" %2zu  %s", i, text);
	}
	print_stmt("meant", &trial->nominal, &p.in);
	print_stmt("moved", &trial->site, &p.out);
	tap_diag("length %zu, %zu; faults %u, %u; first bytes %llx, %llx",
		 a->length, b->length, a->faults, b->faults,
		 *(const long long *)a->data, *(const long long *)b->data);
}

static void compare(const struct pair *pair, const struct trial *trial)
{
	const struct expected *a = &trial->nominal_record;
	const struct expected *b = &trial->site_record;

	p.compared++;
	if (a->length != b->length || a->faults != b->faults ||
	    a->flags != b->flags || a->filtered != b->filtered ||
	    memcmp(a->data, b->data, a->length))
		tell_wrong(pair, trial);
}

static void record_all(struct pair *pair, bool site)
{
	for (size_t i = 0; i < STMTS; i++) {
		struct trial *trial = &pair->trials[i];

		if (!trial->moved)
			continue;
		if (site)
			evaluate(&trial->site, p.out.data,
				 &trial->site_record);
		else
			evaluate(&trial->nominal, p.in.data,
				 &trial->nominal_record);
		if (++trial->ran == 2)
			compare(pair, trial);
	}
}

/* Nothing below the stack pointer lasts: a signal, a return probe. */
static void record_site(struct pair *pair)
{
	uint64_t caller = p.stack + CALLER;
	bool gone = pair->site > pair->nominal && p.entry &&
		    p.regs.rsp > pair->stack && p.regs.rsp <= caller + 64;
	uint8_t saved[SCRIBBLED], other[SCRIBBLED];

	gone = gone && child_memory(p.regs.rsp - SCRIBBLED, saved, SCRIBBLED,
				    false);
	if (gone) {
		memset(other, 0xa5, sizeof(other));
		child_memory(p.regs.rsp - SCRIBBLED, other, SCRIBBLED, true);
	}
	record_all(pair, true);
	if (gone)
		child_memory(p.regs.rsp - SCRIBBLED, saved, SCRIBBLED, true);
}

static void stop_at(size_t at)
{
	if (ptrace(PTRACE_GETREGS, p.pid, NULL, &p.regs))
		tap_bail("the registers can't be read");
	for (size_t i = 0; i < PAIRS; i++) {
		struct pair *pair = &p.pairs[i];

		if (pair->nominal == at) {
			pair->stack = p.regs.rsp;
			record_all(pair, false);
		} else if (pair->site == at) {
			record_site(pair);
		}
	}
}

static bool child_step(size_t at)
{
	const struct block *block = &p.block.block;
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

static void run_once(void)
{
	size_t at = 0;

	child_prepare();
	do {
		stop_at(at);
		p.reached = at;
	} while (at < p.block.block.count && child_step(at++));
}

/* As long as the stack pointer leads to a stack; a return goes anywhere. */
static void check_reached(void)
{
	for (size_t i = 0; i < PAIRS; i++)
		p.faulted += p.pairs[i].safe &&
			     p.pairs[i].site < p.block.block.count &&
			     (p.pairs[i].nominal <= p.reached) !=
			     (p.pairs[i].site <= p.reached);
}

static void run_block(void)
{
	for (int run = 0; run < RUNS; run++) {
		for (size_t i = 0; i < PAIRS; i++)
			for (size_t s = 0; s < STMTS; s++)
				p.pairs[i].trials[s].ran = 0;
		run_once();
		if (p.regs.rsp - p.stack < STACK)
			check_reached();
	}
}

static void move_pair(struct pair *pair)
{
	enum move_mode mode = random_below(3) ? MOVE_FAST : MOVE_SAFE;
	size_t count = p.block.block.count;
	char why[MOVE_WHY];
	struct move *move;

	pair->nominal = random_below(count);
	do {
		pair->site = random_below(count + 1);
	} while (pair->site == pair->nominal);
	move = move_begin(&p.block.block, p.module, NULL, mode, pair->nominal,
			  pair->site, why);
	pair->safe = move && mode == MOVE_SAFE;
	for (size_t i = 0; i < STMTS; i++) {
		struct trial *trial = &pair->trials[i];

		trial->nominal = stmt_random(&p.in, p.wide, p.variable);
		trial->moved = false;
		p.tried++;
		if (!move)
			continue;
		trial->moved = !move_stmt(move, &trial->nominal, p.in.data,
					  &trial->site, &p.out, why);
		p.moved += trial->moved;
		if (!trial->moved && !why[0])
			tap_ok(false, "a reason");
	}
	if (move)
		move_end(move);
}

static void check_block(int number)
{
	char name[32];

	snprintf(name, sizeof(name), "block%d", number);
	p.entry = random_below(4);
	move_block_find(p.module, name, p.entry, &p.block);
	p.in.size = p.out.size = 0;
	for (size_t i = 0; i < PAIRS; i++)
		move_pair(&p.pairs[i]);
	run_block();
}

static void check_class(bool wide, int blocks)
{
	unsigned int bits = wide ? 64 : 32;
	struct error err = {0};

	memset(&p, 0, sizeof(p));
	p.wide = wide;
	write_code(blocks);
	if (!move_block_link(wide, wide ? "-pie --no-dynamic-linker" : "")) {
		tap_skip("code of 32 bits", "no assembler for it");
		return;
	}
	if (module_open(&p.module, "code", "code", 0, &err))
		tap_bail("%s", err.text);
	child_start();
	for (int i = 0; i < blocks; i++)
		check_block(i);
	kill(p.pid, SIGKILL);
	waitpid(p.pid, NULL, 0);
	tap_diag("%u bits: %u of %u statements moved, compared %u times", bits,
		 p.moved, p.tried, p.compared);
	tap_is(p.wrong, 0, "%u bits: moved statements log the same", bits);
	tap_is(p.faulted, 0, "%u bits: the other address is come to, too",
	       bits);
	tap_ok(p.moved * 5 > p.tried && p.compared > p.moved,
	       "%u bits: a good part is moved", bits);
	bytes_free(&p.in);
	bytes_free(&p.out);
	module_close(p.module);
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
