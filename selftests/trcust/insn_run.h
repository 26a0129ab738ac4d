/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Run one machine instruction, of 64 or of 32 bits, with given registers, flags
 * and memory, and see what it has done. A signal's handler puts the state into
 * what it returns to, with the trap flag set; the trap after the instruction,
 * or its fault, gives the state that is then.
 */
#ifndef INSN_RUN_H
#define INSN_RUN_H

#include <asm/ldt.h>
#include <asm/prctl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Memory for the instruction's data, with nothing around it, and its code */
#define INSN_DATA	0x10000000UL
#define INSN_DATA_SIZE	0x1000UL
#define INSN_CODE	0x20000000UL
#define INSN_CODE_SIZE	0x1000UL

#define INSN_FLAGS	0xcd5UL		/* those that programs may change */
#define INSN_VECTORS	16

struct insn_state {
	uint64_t regs[16];	/* by DWARF number of the class */
	uint64_t ip, flags;
	uint8_t vectors[INSN_VECTORS][32];	/* ymm: low half, upper half */
	uint32_t mxcsr;
	bool pending;		/* an exception of the x87 unit */
	int signal;		/* it ended in; 0: it was done */
};

static struct {
	struct insn_state *state;
	bool wide;
	uint64_t thread, own_thread;	/* base of fs; 0: its own */
	gregset_t back;
	volatile sig_atomic_t entering, running;
} insn_run_now;

/* In the order of DWARF numbers (psABI of x86-64 figure 3.36, i386 2.14) */
static const int insn_gregs64[16] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};
static const int insn_gregs32[8] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
};

#define INSN_CS32	0x23UL
#define INSN_DATA32	0x2b
#define INSN_LDT	7		/* its first entry */
#define INSN_MXCSR	0x1f80
#define INSN_TRAP_FLAG	0x100UL
#define INSN_FXSAVE	512		/* then 64 bytes of header, then ymm */
#define INSN_YMM	(INSN_FXSAVE + 64)

static inline void insn_thread_set(uint64_t base)
{
	long code = SYS_arch_prctl;

	__asm__ volatile("syscall" : "+a"(code)
			 : "D"(ARCH_SET_FS), "S"(base)
			 : "rcx", "r11", "memory");
}

/* The upper halves of ymm, where the frame has them; as the signal frame of x86
 * is laid out (arch/x86/include/uapi/asm/sigcontext.h). */
static uint8_t *insn_frame_upper(const ucontext_t *context)
{
	uint8_t *fp = (uint8_t *)context->uc_mcontext.fpregs;
	uint32_t magic;
	uint64_t features;

	memcpy(&magic, fp + 464, sizeof(magic));
	memcpy(&features, fp + 464 + 8, sizeof(features));
	return magic == 0x46505853 && features & 4 ? fp : NULL;
}

static void insn_vectors_put(ucontext_t *context,
			     const struct insn_state *state)
{
	struct _libc_fpstate *fp = context->uc_mcontext.fpregs;
	uint8_t *upper = insn_frame_upper(context);
	uint64_t features;

	fp->cwd = state->pending ? 0x37e : 0x37f;
	fp->swd = state->pending ? 0x8081 : 0;
	fp->ftw = 0;
	fp->fop = 0;
	fp->rip = 0;
	fp->rdp = 0;
	memset(fp->_st, 0, sizeof(fp->_st));
	fp->mxcsr = state->mxcsr;
	for (int i = 0; i < INSN_VECTORS; i++) {
		memcpy(&fp->_xmm[i], state->vectors[i], 16);
		if (upper)
			memcpy(upper + INSN_YMM + 16 * i,
			       state->vectors[i] + 16, 16);
	}
	if (!upper)
		return;
	memcpy(&features, upper + INSN_FXSAVE, sizeof(features));
	features |= 7;
	memcpy(upper + INSN_FXSAVE, &features, sizeof(features));
}

static void insn_vectors_get(const ucontext_t *context,
			     struct insn_state *state)
{
	const struct _libc_fpstate *fp = context->uc_mcontext.fpregs;
	const uint8_t *upper = insn_frame_upper(context);
	uint64_t features = 0;

	if (upper)
		memcpy(&features, upper + INSN_FXSAVE, sizeof(features));
	for (int i = 0; i < INSN_VECTORS; i++) {
		memcpy(state->vectors[i], &fp->_xmm[i], 16);
		if (features & 4)
			memcpy(state->vectors[i] + 16,
			       upper + INSN_YMM + 16 * i, 16);
		else
			memset(state->vectors[i] + 16, 0, 16);
	}
}

static void insn_enter(ucontext_t *context)
{
	const struct insn_state *state = insn_run_now.state;
	greg_t *gregs = context->uc_mcontext.gregs;

	memcpy(insn_run_now.back, gregs, sizeof(gregset_t));
	for (int i = 0; i < (insn_run_now.wide ? 16 : 8); i++)
		gregs[insn_run_now.wide ? insn_gregs64[i] : insn_gregs32[i]] =
			state->regs[i];
	gregs[REG_RIP] = state->ip;
	gregs[REG_EFL] = (state->flags & INSN_FLAGS) | 0x202 | INSN_TRAP_FLAG;
	if (!insn_run_now.wide)
		gregs[REG_CSGSFS] = (gregs[REG_CSGSFS] & ~0xffffL) | INSN_CS32;
	insn_vectors_put(context, state);
	insn_run_now.entering = 0;
	insn_run_now.running = 1;
	if (insn_run_now.thread)
		insn_thread_set(insn_run_now.thread);
}

static void insn_leave(int number, ucontext_t *context)
{
	struct insn_state *state = insn_run_now.state;
	greg_t *gregs = context->uc_mcontext.gregs;

	insn_run_now.running = 0;
	for (int i = 0; i < (insn_run_now.wide ? 16 : 8); i++)
		state->regs[i] = gregs[insn_run_now.wide ? insn_gregs64[i] :
							   insn_gregs32[i]];
	state->ip = gregs[REG_RIP];
	state->flags = gregs[REG_EFL] & INSN_FLAGS;
	state->signal = number == SIGTRAP ? 0 : number;
	insn_vectors_get(context, state);
	memcpy(gregs, insn_run_now.back, sizeof(gregset_t));
	context->uc_mcontext.fpregs->mxcsr = INSN_MXCSR;
	context->uc_mcontext.fpregs->cwd = 0x37f;
	context->uc_mcontext.fpregs->swd = 0;
	context->uc_mcontext.fpregs->ftw = 0;
}

/* Nothing of the thread's own may be touched before its base is back. */
__attribute__((no_stack_protector))
static void insn_handle(int number, siginfo_t *info, void *context)
{
	if (insn_run_now.thread && insn_run_now.running)
		insn_thread_set(insn_run_now.own_thread);
	if (insn_run_now.running)
		insn_leave(number, context);
	else if (insn_run_now.entering)
		insn_enter(context);
	else
		_exit(128 + number);
}

/* Prepare; false: not here. */
static bool insn_run_begin(void)
{
	static const int signals[] = {
		SIGUSR1, SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE,
	};
	stack_t stack = { .ss_size = 1 << 16 };
	struct sigaction action = {
		.sa_sigaction = insn_handle,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	if (mmap((void *)INSN_DATA, INSN_DATA_SIZE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) !=
		    (void *)INSN_DATA ||
	    mmap((void *)INSN_CODE, INSN_CODE_SIZE,
		 PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) !=
		    (void *)INSN_CODE)
		return false;
	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL))
		return false;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], &action, NULL))
			return false;
	syscall(SYS_arch_prctl, ARCH_GET_FS, &insn_run_now.own_thread);
	return true;
}

/* Run the instruction at state->ip; `thread` is the base of fs, 0: leave it. */
static void insn_run(struct insn_state *state, bool wide, uint64_t thread)
{
	insn_run_now.state = state;
	insn_run_now.wide = wide;
	insn_run_now.thread = thread;
	insn_run_now.entering = 1;
	syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
}

/* Prepare for 32-bit code as well; false: this kernel runs none. */
static bool insn_run_begin32(void)
{
	struct user_desc segment = {
		.base_addr = INSN_DATA, .limit = INSN_DATA_SIZE - 1,
		.seg_32bit = 1,
	};
	struct insn_state nop = { .ip = INSN_CODE, .mxcsr = INSN_MXCSR };
	bool loads;

	/* 64-bit code has no use for these selectors; gs is where 32-bit code
	 * has its thread */
	if (syscall(SYS_modify_ldt, 1, &segment, sizeof(segment)))
		return false;
	__asm__("verr %w1; setz %0" : "=q"(loads) : "r"(INSN_LDT) : "cc");
	if (!loads)
		return false;
	__asm__ volatile("mov %0, %%ds; mov %0, %%es; mov %1, %%gs"
			 : : "r"(INSN_DATA32), "r"(INSN_LDT));
	memset((void *)INSN_CODE, 0x90, 1);
	insn_run(&nop, false, 0);
	return !nop.signal && nop.ip == INSN_CODE + 1;
}

#endif
