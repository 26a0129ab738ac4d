// SPDX-License-Identifier: GPL-2.0
/*
 * Runs instructions of AArch64: reads one with the state it begins in (struct
 * a64_state), writes the state it ends in, and so on. A signal's handler puts
 * the state into what it returns to; the trap after the instruction, or its
 * fault, gives the state that is then.
 */
#ifdef __aarch64__
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include "a64_run.h"

static struct a64_state state;
static ucontext_t back;
static volatile sig_atomic_t running;
static uint64_t own_thread;

static struct fpsimd_context *vectors_find(ucontext_t *context)
{
	struct _aarch64_ctx *head = (void *)context->uc_mcontext.__reserved;

	while (head->magic && head->magic != FPSIMD_MAGIC)
		head = (void *)((char *)head + head->size);
	return head->magic ? (void *)head : NULL;
}

/* What follows it may have the same registers, of SVE. */
static void vectors_put(struct fpsimd_context *vectors)
{
	struct _aarch64_ctx *next = (void *)(vectors + 1);

	memcpy(vectors->vregs, state.vectors, sizeof(state.vectors));
	vectors->fpcr = state.fpcr;
	vectors->fpsr = 0;
	memset(next, 0, sizeof(*next));
}

static void enter(int number, siginfo_t *info, void *pointer)
{
	ucontext_t *context = pointer;
	mcontext_t *machine = &context->uc_mcontext;
	struct fpsimd_context *vectors = vectors_find(context);

	back = *context;
	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(own_thread));
	memcpy(machine->regs, state.regs, sizeof(machine->regs));
	machine->sp = state.regs[31];
	machine->pc = state.pc;
	machine->pstate = (machine->pstate & ~A64_FLAGS) | state.flags;
	if (vectors)
		vectors_put(vectors);
	running = 1;
	__asm__ volatile("msr tpidr_el0, %0" :: "r"(state.thread));
}

static void leave(int number, siginfo_t *info, void *pointer)
{
	ucontext_t *context = pointer;
	mcontext_t *machine = &context->uc_mcontext;
	struct fpsimd_context *vectors = vectors_find(context);

	if (!running)
		_exit(3);
	__asm__ volatile("msr tpidr_el0, %0" :: "r"(own_thread));
	running = 0;
	memcpy(state.regs, machine->regs, sizeof(machine->regs));
	state.regs[31] = machine->sp;
	state.pc = machine->pc;
	state.flags = machine->pstate & A64_FLAGS;
	state.signal = number == SIGTRAP ? 0 : number;
	if (vectors) {
		memcpy(state.vectors, vectors->vregs, sizeof(state.vectors));
		state.fpsr = vectors->fpsr;
	}
	*machine = back.uc_mcontext;
}

static void signals_take(void)
{
	static const int numbers[] = {
		SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE,
	};
	static char stack[1 << 16];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigaltstack(&other, NULL);
	action.sa_sigaction = enter;
	sigaction(SIGUSR1, &action, NULL);
	action.sa_sigaction = leave;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
}

static void *map(unsigned long address, size_t size, int protection)
{
	void *at = mmap((void *)address, size, protection, MAP_PRIVATE |
			MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (at != (void *)address)
		exit(2);
	return at;
}

static int all(ssize_t (*move)(int, void *, size_t), int fd)
{
	char *at = (char *)&state, *end = at + sizeof(state);

	while (at < end) {
		ssize_t count = move(fd, at, end - at);

		if (count <= 0)
			return 0;
		at += count;
	}
	return 1;
}

/* The code is the one instruction, and can't be written. */
static void code_put(uint32_t *code)
{
	static uint32_t *last;
	uint32_t *at = &code[(state.pc - A64_CODE) / 4 % (A64_CODE_SIZE / 4)];

	if (last == at && *at == state.code)
		return;
	mprotect(code, A64_CODE_SIZE, PROT_READ | PROT_WRITE);
	if (last) {
		*last = A64_TRAP;
		__builtin___clear_cache((char *)last, (char *)(last + 1));
	}
	*at = state.code;
	__builtin___clear_cache((char *)at, (char *)(at + 1));
	last = at;
	mprotect(code, A64_CODE_SIZE, PROT_READ | PROT_EXEC);
}

static ssize_t put(int fd, void *bytes, size_t size)
{
	return write(fd, bytes, size);
}

int main(void)
{
	uint8_t *data = map(A64_DATA, A64_DATA_SIZE, PROT_READ | PROT_WRITE);
	uint32_t *code = map(A64_CODE, A64_CODE_SIZE, PROT_READ | PROT_WRITE);

	for (size_t i = 0; i < A64_CODE_SIZE / 4; i++)
		code[i] = A64_TRAP;
	signals_take();
	while (all(read, 0)) {
		memcpy(data, state.data, A64_DATA_SIZE);
		code_put(code);
		raise(SIGUSR1);
		memcpy(state.data, data, A64_DATA_SIZE);
		if (!all(put, 1))
			return 1;
	}
	return 0;
}
#else
int main(void)
{
	return 4;
}
#endif
