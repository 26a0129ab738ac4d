/* SPDX-License-Identifier: GPL-2.0 */
/* NMIs on demand, where the architecture has them. */
#ifndef SAMPLE_NMI_H
#define SAMPLE_NMI_H

#ifdef CONFIG_X86_LOCAL_APIC
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <asm/apic.h>
#include <asm/nmi.h>

static void (*nmi_action)(void);
static DEFINE_PER_CPU(atomic_t, nmi_wanted);

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

/* One at a time: two may arrive as one, and a third would be nobody's. */
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
