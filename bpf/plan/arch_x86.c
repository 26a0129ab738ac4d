// SPDX-License-Identifier: GPL-2.0
/* x86-64 and i386. Programs see the struct pt_regs of x86-64. */
#include "processor.h"

#include <elf.h>

#define RAS_REG(name, bytes, dwarf64, dwarf32, pt_regs, kind) \
	{ #name, bytes, dwarf64, pt_regs, REG_##kind },
static const struct processor_reg regs64[] = {
#include <rastrace/arch-x86.def>
};
#undef RAS_REG
#define RAS_REG(name, bytes, dwarf64, dwarf32, pt_regs, kind) \
	{ #name, bytes, dwarf32, pt_regs, REG_##kind },
static const struct processor_reg regs32[] = {
#include <rastrace/arch-x86.def>
};
#undef RAS_REG

/*
 * Loading a selector, WRFSBASE and WRGSBASE change these without the kernel's
 * back. But the thread pointer, which is the base of FS (x86-64) or what GS
 * selects (i386), C libraries set once.
 */
#define KEPT(field)	offsetof(struct body_layout, field)
#define THREADS(name, fs_base, gs) \
static const struct processor_thread name[] = { \
	{ "DS", KEPT(thread_ds), true, false, SEGMENT_FLAT }, \
	{ "ES", KEPT(thread_es), true, false, SEGMENT_FLAT }, \
	{ "FS", KEPT(thread_fsindex), true, false, SEGMENT_FS }, \
	{ "GS", KEPT(thread_gsindex), gs, false, SEGMENT_GS }, \
	{ "FSBASE", KEPT(thread_base[0]), fs_base }, \
	{ "GSBASE", KEPT(thread_base[1]), true }, \
}
THREADS(threads64, false, true);
THREADS(threads32, true, false);

/* Offsets in struct pt_regs */
enum {
#define RAS_REG(name, bytes, dwarf64, dwarf32, pt_regs, kind) \
	AT_REG_##name = pt_regs,
#include <rastrace/arch-x86.def>
#undef RAS_REG
};

/* psABI of x86-64, 3.2 */
const struct processor processor_x86_64 = {
	.machine = EM_X86_64,
	.regs = regs64, .reg_count = sizeof(regs64) / sizeof(*regs64),
	.threads = threads64,
	.ip = AT_REG_RIP, .stack = AT_REG_RSP, .frame = AT_REG_RBP, .link = -1,
	.call_bytes = 8,
	.arguments = { AT_REG_RDI, AT_REG_RSI, AT_REG_RDX, AT_REG_RCX,
		       AT_REG_R8, AT_REG_R9 },
	.argument_count = 6,
	.context = { .fp = 80, .sp = 120, .ip = 128 },
	.tls = { .distance = R_X86_64_TPOFF64, .descriptor = R_X86_64_TLSDESC,
		 .module = R_X86_64_DTPMOD64, .table = 8 },
	.kprobe_excess = 1, .address_bits = 47, .segments = true,
	.vector_first = 17, .vector_count = 16,
};

/* psABI of i386, 2.2 */
const struct processor processor_i386 = {
	.machine = EM_386,
	.regs = regs32, .reg_count = sizeof(regs32) / sizeof(*regs32),
	.threads = threads32,
	.ip = AT_REG_RIP, .stack = AT_REG_RSP, .frame = AT_REG_RBP, .link = -1,
	.call_bytes = 4,
	.context = { .fp = 24, .sp = 28, .ip = 56 },
	.kprobe_excess = 1, .address_bits = 47, .segments = true,
};
