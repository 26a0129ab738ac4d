/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NMIs on demand. Where the architecture has none, a breakpoint instead, in
 * what every writer calls while it has a slice: nothing masks that either, and
 * it meets the writers at their worst moment.
 */
#ifndef SAMPLE_NMI_H
#define SAMPLE_NMI_H

#include <linux/cpumask.h>
#include <linux/percpu.h>

/* Writer's records to an NMI: each of the breakpoints nests, where NMIs rarely
 * do, and slices for what nests are small. */
#ifdef CONFIG_X86_LOCAL_APIC
#define NMI_EVERY	8
#else
#define NMI_EVERY	64
#endif

static void (*nmi_action)(void);
static DEFINE_PER_CPU(atomic_t, nmi_wanted);

#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/apic.h>
#include <asm/nmi.h>

static int nmi_handle(unsigned int type, struct pt_regs *regs)
{
	if (!atomic_xchg(this_cpu_ptr(&nmi_wanted), 0))
		return NMI_DONE;
	nmi_action();
	return NMI_HANDLED;
}

static inline int nmi_open(void (*action)(void))
{
	nmi_action = action;
	return register_nmi_handler(NMI_LOCAL, nmi_handle, 0, KBUILD_MODNAME);
}

static inline void nmi_close(void)
{
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
}

/* One at a time: two may arrive as one, and a third would be lost. */
static inline bool nmi_send(int cpu)
{
	if (atomic_cmpxchg(per_cpu_ptr(&nmi_wanted, cpu), 0, 1))
		return false;
	apic->send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
	return true;
}

/* Those under way have arrived. */
static inline void nmi_wait(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		while (atomic_read(per_cpu_ptr(&nmi_wanted, cpu)))
			cpu_relax();
}
#elif defined(CONFIG_KPROBES)
#include <linux/kprobes.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

static int nmi_handle(struct kprobe *probe, struct pt_regs *regs)
{
	if (atomic_xchg(this_cpu_ptr(&nmi_wanted), 0))
		nmi_action();
	return 0;
}

static struct kprobe nmi_probe = {
	.symbol_name = "ktime_get_boot_fast_ns", .pre_handler = nmi_handle,
};

static inline int nmi_open(void (*action)(void))
{
	nmi_action = action;
	return register_kprobe(&nmi_probe);
}

static inline void nmi_close(void)
{
	unregister_kprobe(&nmi_probe);
}

static void nmi_meet(void *unused)
{
	ktime_get_boot_fast_ns();
}

/* Those that no writer has met yet come now. */
static inline void nmi_wait(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (atomic_read(per_cpu_ptr(&nmi_wanted, cpu)))
			smp_call_function_single(cpu, nmi_meet, NULL, true);
}

/* Another CPU's next writer meets it. */
static inline bool nmi_send(int cpu)
{
	if (atomic_cmpxchg(per_cpu_ptr(&nmi_wanted, cpu), 0, 1))
		return false;
	if (cpu == raw_smp_processor_id())
		nmi_wait();
	return true;
}
#else
static inline int nmi_open(void (*action)(void))
{
	return 0;
}

static inline void nmi_close(void) {}
static inline bool nmi_send(int cpu)
{
	return false;
}

static inline void nmi_wait(void) {}
#endif

#endif
