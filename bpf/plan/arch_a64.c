// SPDX-License-Identifier: GPL-2.0
/* AArch64. Programs see the kernel's struct user_pt_regs. */
#include "processor.h"

#include <elf.h>

static const struct processor_reg regs[] = {
#define RAS_REG(name, bytes, dwarf, pt_regs, kind) \
	{ #name, bytes, dwarf, pt_regs, REG_##kind },
#include <rastrace/arch-a64.def>
#undef RAS_REG
};

/*
 * Programs set it themselves, without a system call, when they begin; C
 * libraries never change it. The kernel sees it when it switches to another
 * thread (tls_thread_switch() in arch/arm64/kernel/process.c); until then it may
 * have what the program had that called execve(). That of a new thread it sets.
 */
static const struct processor_thread threads[] = {
	{ "TPIDR", offsetof(struct body_layout, thread_base[0]),
	  .stale = true, .late = true },
};

#define X(n)	(8 * (n))	/* in struct user_pt_regs */

/* aapcs64, 6.4 and 6.8.2: arguments, frame pointer and link register */
const struct processor processor_a64 = {
	.machine = EM_AARCH64,
	.regs = regs, .reg_count = sizeof(regs) / sizeof(*regs),
	.threads = threads,
	.ip = X(32), .stack = X(31), .frame = X(29), .link = X(30),
	.arguments = { X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7) },
	.argument_count = 8,
	.context = { .fp = 240, .sp = 256, .ip = 264, .link = 248 },
	.tls = { .distance = R_AARCH64_TLS_TPREL,
		 .descriptor = R_AARCH64_TLSDESC,
		 .module = R_AARCH64_TLS_DTPMOD, .header = 16 },
	.address_bits = 48, .is_signed = true, .strong = true,
};
