// SPDX-License-Identifier: GPL-2.0
/*
 * Registers of a thread that a probe isn't given.
 *
 * What base registers hold as of now: where its thread-local storage is, and on
 * x86 all segments. A program may change them without the kernel's knowing,
 * which looks when it switches away. A BPF program that calls this finds in
 * task_struct.thread what it would after a switch.
 *
 * Vector registers: the kernel leaves them alone until it needs them itself, or
 * switches away. Then it saves them, and loads them on the way to the program.
 */
#include "rastrace.h"

#ifdef KMOD_SEGMENT
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>
#ifdef CONFIG_X86_64
#include <asm/fpu/types.h>
#include <asm/fsgsbase.h>
#include <asm/msr.h>
#include <asm/segment.h>

/* While the kernel runs, GS has its own base, and the program's is kept. */
static unsigned long gsbase_read(void)
{
	u32 low, high;

	rdmsr(MSR_KERNEL_GS_BASE, low, high);
	return (u64)high << 32 | low;
}

/* Selectors are loaded, and bases written with WRFSBASE and WRGSBASE: as
 * save_fsgs() has it (arch/x86/kernel/process_64.c) */
static void thread_save(struct thread_struct *thread)
{
	savesegment(ds, thread->ds);
	savesegment(es, thread->es);
	savesegment(fs, thread->fsindex);
	savesegment(gs, thread->gsindex);
	/* without it only the kernel changes them */
	if (static_cpu_has(X86_FEATURE_FSGSBASE)) {
		thread->fsbase = rdfsbase();
		thread->gsbase = gsbase_read();
	}
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
/* x86_task_fpu(), which may be a function that modules can't call */
#define THREAD_FPU(task)	((struct fpu *)((task) + 1))
#else
#define THREAD_FPU(task)	(&(task)->thread.fpu)
#endif

struct vector {
	u64 halves[2];
};

#define VECTOR_LIVE(n)							\
	case n:								\
		asm volatile("movdqu %%xmm" #n ", %0" : "=m"(*vector));	\
		break

static void vector_live(struct vector *vector, u32 number)
{
	switch (number) {
	VECTOR_LIVE(0);
	VECTOR_LIVE(1);
	VECTOR_LIVE(2);
	VECTOR_LIVE(3);
	VECTOR_LIVE(4);
	VECTOR_LIVE(5);
	VECTOR_LIVE(6);
	VECTOR_LIVE(7);
	VECTOR_LIVE(8);
	VECTOR_LIVE(9);
	VECTOR_LIVE(10);
	VECTOR_LIVE(11);
	VECTOR_LIVE(12);
	VECTOR_LIVE(13);
	VECTOR_LIVE(14);
	VECTOR_LIVE(15);
	}
}

/* What is in its initial state isn't written when the others are saved (Intel
 * SDM 1, 13.6). */
static void vector_saved(struct vector *vector, u32 number)
{
	const union fpregs_state *regs = &THREAD_FPU(current)->fpstate->regs;

	if (cpu_feature_enabled(X86_FEATURE_XSAVE) &&
	    !(regs->xsave.header.xfeatures & XFEATURE_MASK_SSE))
		memset(vector, 0, sizeof(*vector));
	else
		memcpy(vector, &regs->fxsave.xmm_space[4 * number],
		       sizeof(*vector));
}

/* No interrupt may save them, and use them, in between. */
static void vector_read(struct vector *vector, u32 number)
{
	unsigned long flags;

	local_irq_save(flags);
	if (test_thread_flag(TIF_NEED_FPU_LOAD))
		vector_saved(vector, number);
	else
		vector_live(vector, number);
	local_irq_restore(flags);
}
#else
#include <asm/sysreg.h>

/* As tls_preserve_current_state() (arch/arm64/kernel/process.c) */
static void thread_save(struct thread_struct *thread)
{
	*task_user_tls(current) = read_sysreg(tpidr_el0);
}
#endif

__bpf_kfunc_start_defs();

/* Not while a switch may be under way: `current` and the registers may be of
 * two tasks then. */
__bpf_kfunc int rastrace_segments_save(void)
{
	if (!in_task() || irqs_disabled() || current->flags & PF_KTHREAD)
		return -EOPNOTSUPP;
	preempt_disable();
	thread_save(&current->thread);
	preempt_enable();
	return 0;
}

#ifdef CONFIG_X86_64
/* 8 bytes of an XMM register: halves count from the low one of XMM0 on. */
__bpf_kfunc int rastrace_vector_read(u64 *to, u32 half)
{
	struct vector vector;

	if (!in_task() || irqs_disabled() || current->flags & PF_KTHREAD ||
	    half >= 32)
		return -EOPNOTSUPP;
	vector_read(&vector, half / 2);
	*to = vector.halves[half % 2];
	return 0;
}
#endif

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(segment_kfuncs)
BTF_ID_FLAGS(func, rastrace_segments_save)
#ifdef CONFIG_X86_64
BTF_ID_FLAGS(func, rastrace_vector_read)
#endif
BTF_KFUNCS_END(segment_kfuncs)

static const struct btf_kfunc_id_set segment_set = {
	.owner = THIS_MODULE,
	.set = &segment_kfuncs,
};

/* Without it programs do with what the kernel has seen last, and without vector
 * registers. */
void __init segment_init(void)
{
	int ret = register_btf_kfunc_id_set(BPF_PROG_TYPE_KPROBE, &segment_set);

	if (ret)
		pr_info("rastrace: no registers for BPF programs: %d\n", ret);
}
#endif
