// SPDX-License-Identifier: GPL-2.0
/*
 * As test_move.c, on AArch64: random code is run, one instruction at a time, by
 * qemu-aarch64, and at each address a plain interpreter makes the record of
 * random statements: as they are meant there, and as they were moved there from
 * another one. The two are equal.
 *
 *	test_a64_move [SEED [BLOCKS]]
 */
#include <sys/mman.h>
#include "lib/debug/arch/arch.h"

#define STMT_ARCH	(&arch_aarch64)
#define STMT_REGISTERS	0, 1, 2, 3, 4, 5, 6, 7, 19, 20, 29, 30, 31

#include "selftests/bpf/interpret.h"
#include "a64_child.h"
#include "move_trial.h"

#define BLOCKS		250
#define RUNS		3	/* of each, with other registers and memory */
#define ARENA		A64_DATA
#define ARENA_SIZE	1024
#define VARIABLE	(A64_DATA + ARENA_SIZE)
#define STACK		(A64_DATA + 2048)
#define CALLER		(STACK + 1024)	/* from here on it's the caller's */
#define NEAREST		256	/* what of that pointers lead to */

static struct a64_state state;
static uint64_t end;		/* what is returned to */

/*
 * X, W: a register of 8, of 4 bytes; S, M: memory of the stack, of any kind, at
 * a distance that a pair may have; U: at any; I, J: numbers, the latter of 16s.
 */
static const char *const templates[] = {
	"mov X, X", "mov X, X", "mov W, W", "mov X, #I", "movn W, #I",
	"movk W, #5, lsl #16", "add X, X, #I", "sub X, X, #I", "add W, W, #I",
	"subs W, W, #I", "add sp, sp, #J", "sub sp, sp, #J", "sub sp, sp, #J",
	"add X, sp, #J", "mov x29, sp", "mov sp, x29", "add X, X, X",
	"add X, X, W, uxtw #2", "eor X, X, X", "mov X, xzr", "neg X, X",
	"mvn W, W", "lsl X, X, #3", "asr W, W, #5", "mul X, X, X",
	"and X, X, #-16", "and X, X, #255", "and W, W, #65535", "uxtb W, W",
	"uxth W, W", "sxtb W, W", "sxtb X, W", "sxth X, W", "sxtw X, W",
	"sxtw X, W", "ubfx X, X, #3, #9", "bfi X, X, #8, #8",
	"csel X, X, X, eq", "cset W, ne", "cmp X, X", "cmp W, #I",
	"ccmp X, X, #0, ne", "adr X, _start", "adrp X, variable",
	"ldr X, [S]", "ldr X, [S]", "ldr W, [S]", "ldrb W, [S]", "ldrh W, [S]",
	"ldrsb W, [U]", "ldrsb X, [U]", "ldrsh W, [S]", "ldrsw X, [S]",
	"ldr X, [M]", "ldr W, [M]", "str X, [S]", "str X, [S]", "str W, [S]",
	"strh W, [S]", "strb W, [U]", "str xzr, [S]", "str X, [M]",
	"str W, [M]", "ldr X, [X]", "str X, [X]", "ldr X, [X, W, uxtw]",
	"str X, [sp, #-16]!", "ldr X, [sp], #16", "str w6, [x7], #4",
	"ldp x0, x1, [S]", "ldp x2, x29, [S]", "ldp w3, w4, [S]",
	"ldpsw x5, x6, [S]", "stp X, X, [S]", "stp W, W, [S]",
	"stp xzr, X, [S]", "stp x29, x30, [sp, #-J]!", "stp X, X, [sp, #-32]!",
	"ldp x29, x30, [sp], #32", "ldp x19, x20, [sp, #16]",
	"ldr d0, [S]", "str d0, [S]", "str q0, [S]", "stp q0, q1, [sp, #-J]",
	"fmov d0, X", "fmov X, d0", "movi v0.16b, #0", "ins v0.d[1], X",
	"umov W, v0.b[3]", "ld1 {v0.16b}, [X]", "st1 {v0.16b}, [sp], #16",
	"paciasp", "autiasp", "bti c", "nop", "mrs X, tpidr_el0",
	"swp X, X, [sp]", "ldadd W, W, [sp]", "stadd X, [sp]",
	"ldar W, [X]", "stlr X, [sp]", "cas X, X, [sp]", "stxr w3, x4, [sp]",
	"ldr X, _start", "prfm pldl1keep, [X]", "clz X, X",
};

static const char *random_name(bool wide)
{
	static const int numbers[] = { 0, 1, 2, 3, 4, 5, 6, 7, 19, 20, 29 };
	static char names[8][8];
	static int next;
	char *name = names[next++ % 8];

	sprintf(name, "%c%d", wide ? 'x' : 'w',
		numbers[random_below(sizeof(numbers) / sizeof(*numbers))]);
	return name;
}

static void add_place(FILE *file, char kind)
{
	unsigned int any = random_below(kind == 'M' ? 4 : 2);
	int distance = (int)random_below(16) * 8 - 40;

	if (any == 0)
		fprintf(file, "sp, #%d", distance);
	else if (any == 1)
		fprintf(file, "x29, #%d", distance - 24);
	else
		fprintf(file, "%s, #%d", random_name(true),
			(int)random_below(8) * 8 - 24);
}

static void add_insn(FILE *file, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case 'X': case 'W':
			fputs(random_name(*text == 'X'), file);
			break;
		case 'S': case 'M': case 'U':
			add_place(file, *text);
			break;
		case 'I':
			fprintf(file, "%u", random_below(80));
			break;
		case 'J':
			fprintf(file, "%u", 16 * (1 + random_below(4)));
			break;
		default:
			fputc(*text, file);
		}
	fputc('\n', file);
}

/* Half of all build a frame first. */
static void write_code(int blocks)
{
	FILE *file = fopen("code.s", "w");

	if (!file)
		tap_bail("can't write");
	fputs(".arch armv8.5-a\n.globl _start\n_start: nop\nnop\n", file);
	for (int i = 0; i < blocks; i++) {
		int count = 3 + random_below(10);

		fprintf(file, ".globl block%d\n.type block%d, @function\n"
			"block%d:\n", i, i, i);
		if (random_below(4) == 0)
			fputs("paciasp\n", file);
		if (random_below(2))
			add_insn(file, "stp x29, x30, [sp, #-J]!\nmov x29, sp");
		while (count--)
			add_insn(file, templates[random_below(
				sizeof(templates) / sizeof(*templates))]);
		fprintf(file, "ret\n.size block%d, .-block%d\n", i, i);
	}
	fclose(file);
}

/* What a program has in a register: near to what another one has, often. */
static uint64_t random_word(bool stale)
{
	switch (random_below(stale ? 6 : 5)) {
	case 0:
	case 1:
		return ARENA + 256 + random_below(16) * 8;
	case 2:
		return CALLER + NEAREST + random_below(32) * 8;
	case 3:
		return random_below(200) - 20;
	case 4:
		return random_next();
	default:
		return CALLER - 8 * random_below(64);
	}
}

static void fill(uint64_t at, size_t size, bool stale)
{
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = random_word(stale);

		memcpy(state.data + (at - A64_DATA) + i, &word, 8);
	}
}

/* Below the stack pointer are leftovers, which may lead anywhere. */
static void code_prepare(void)
{
	fill(ARENA, STACK - ARENA, false);
	fill(STACK, CALLER - STACK, true);
	fill(CALLER, A64_DATA + A64_DATA_SIZE - CALLER, false);
	for (int i = 0; i < 30; i++)
		state.regs[i] = random_word(false);
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++)
			state.vectors[i][j] = random_word(false);
	state.regs[30] = end;
	state.regs[31] = CALLER;
	state.pc = t.block.insns[0].address;
	state.thread = ARENA + 512;
	state.flags = random_next() & A64_FLAGS;
}

static void code_evaluate(const struct tdf_stmt *stmt, const uint8_t *rpn,
			  struct expected *x)
{
	static const struct pt_regs none;
	uint64_t registers[34];
	struct interpreter in = {
		.x = registers, .regs = &none,
		.thread_base = { state.thread },
	};
	struct tdf_site site = { .stmts = 1 };
	struct tdf_point point = {0};

	memcpy(registers, state.regs, sizeof(state.regs));
	registers[32] = state.pc;
	registers[33] = state.flags;
	interpret_record(x, &in, &point, &site, stmt, rpn, TDF_DATA_MAX);
}

/* This program has the same memory as the code. */
static void code_stop(void)
{
	memcpy((void *)A64_DATA, state.data, A64_DATA_SIZE);
}

/* Nothing below the stack pointer lasts: a signal, a return probe. */
static void code_record_site(struct pair *pair)
{
	uint64_t stack = state.regs[31];

	if (pair->site > pair->nominal && t.entry && stack > pair->stack &&
	    stack <= CALLER + 64 && stack >= STACK + SCRIBBLED)
		memset((void *)(stack - SCRIBBLED), 0xa5, SCRIBBLED);
	trial_record_all(pair, true);
	code_stop();
}

static bool code_step(size_t at)
{
	const struct block *block = &t.block.block;
	uint64_t next = at + 1 < block->count ? block->insns[at + 1].address :
						end;

	memcpy(&state.code, block->insns[at].bytes, 4);
	a64_run(&state);
	return !state.signal && state.pc == next;
}

static uint64_t code_stack(void)
{
	return state.regs[31];
}

static bool code_has_stack(void)
{
	return state.regs[31] - STACK < A64_DATA + A64_DATA_SIZE - STACK;
}

static bool map(unsigned long address, size_t size)
{
	return mmap((void *)address, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
	       (void *)address;
}

static bool begin(const char *program, int blocks)
{
	struct error err = {0};
	bool others;

	if (!a64_start(program) || !map(A64_DATA, A64_DATA_SIZE) ||
	    !map(A64_CODE, A64_CODE_SIZE))
		return false;
	for (size_t i = 0; i < A64_CODE_SIZE; i += 4)
		memcpy((uint8_t *)A64_CODE + i, &(uint32_t){ A64_TRAP }, 4);
	compiled_begin();
	write_code(blocks);
	/* A64_CODE, VARIABLE */
	if (!move_block_link_a64("-Ttext=0x20000000 "
				 "--defsym=variable=0x10000400"))
		return false;
	if (module_open(&t.module, "code", "code", 0, &err))
		tap_bail("%s", err.text);
	end = module_symbol_find(t.module, "_start", MODULE_CODE,
				   &others)->address;
	return true;
}

int main(int argc, char **argv)
{
	int blocks = argc > 2 ? atoi(argv[2]) : BLOCKS;

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	tap_diag("seed %llu", (unsigned long long)seed);
	if (!begin(argv[0], blocks))
		tap_skip_all("no code of AArch64 is made and run here");
	for (int i = 0; i < blocks; i++)
		trial_block(i, true, VARIABLE, RUNS);
	trial_end("AArch64");
	return tap_done();
}
