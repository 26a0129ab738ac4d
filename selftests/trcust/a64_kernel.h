/* SPDX-License-Identifier: GPL-2.0 */
/* What arm_probe_decode_insn() and arm_kprobe_decode_insn() of Linux 6.12
 * decide (arch/arm64/kernel/probes/decode-insn.c), by the masks of
 * arch/arm64/include/asm/insn.h. */
#ifndef SELFTEST_A64_KERNEL_H
#define SELFTEST_A64_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum kernel_verdict { KERNEL_REJECTED, KERNEL_STEPPED, KERNEL_SIMULATED };

#define KERNEL_IS(name, mask, value)					\
	static inline bool kernel_is_##name(uint32_t insn)		\
	{ return (insn & (mask)) == (value); }

KERNEL_IS(branch_sys, 0x1c000000, 0x14000000)
KERNEL_IS(adr, 0x9f000000, 0x10000000)
KERNEL_IS(adrp, 0x9f000000, 0x90000000)
KERNEL_IS(prfm_lit, 0xff000000, 0xd8000000)
KERNEL_IS(ldr_lit, 0xbf000000, 0x18000000)
KERNEL_IS(ldrsw_lit, 0xff000000, 0x98000000)
KERNEL_IS(exclusive, 0x3f800000, 0x08000000)
KERNEL_IS(mops, 0x3b200c00, 0x19000400)
KERNEL_IS(b, 0xfc000000, 0x14000000)
KERNEL_IS(bl, 0xfc000000, 0x94000000)
KERNEL_IS(cbz, 0x7f000000, 0x34000000)
KERNEL_IS(cbnz, 0x7f000000, 0x35000000)
KERNEL_IS(tbz, 0x7f000000, 0x36000000)
KERNEL_IS(tbnz, 0x7f000000, 0x37000000)
KERNEL_IS(bcond, 0xff000000, 0x54000000)
KERNEL_IS(exception, 0xff000000, 0xd4000000)
KERNEL_IS(hint, 0xfffff01f, 0xd503201f)
KERNEL_IS(br, 0xfffffc1f, 0xd61f0000)
KERNEL_IS(br_auth, 0xfefff800, 0xd61f0800)
KERNEL_IS(blr, 0xfffffc1f, 0xd63f0000)
KERNEL_IS(blr_auth, 0xfefff800, 0xd63f0800)
KERNEL_IS(ret, 0xfffffc1f, 0xd65f0000)
KERNEL_IS(ret_auth, 0xfffffbff, 0xd65f0bff)
KERNEL_IS(eret, 0xffffffff, 0xd69f03e0)
KERNEL_IS(eret_auth, 0xfffffbff, 0xd69f0bff)
KERNEL_IS(mrs, 0xfff00000, 0xd5300000)
KERNEL_IS(msr_imm, 0xfff8f01f, 0xd500401f)
KERNEL_IS(msr_reg, 0xfff00000, 0xd5100000)

static inline bool kernel_branches(uint32_t insn)
{
	return kernel_is_b(insn) || kernel_is_bl(insn) ||
	       kernel_is_cbz(insn) || kernel_is_cbnz(insn) ||
	       kernel_is_tbz(insn) || kernel_is_tbnz(insn) ||
	       kernel_is_bcond(insn) || kernel_is_br(insn) ||
	       kernel_is_blr(insn) || kernel_is_ret(insn);
}

static inline bool kernel_steps_hint(uint32_t insn)
{
	switch (insn >> 5 & 0x7f) {
	case 0x00: case 0x07: case 0x08: case 0x0a:
	case 0x18: case 0x19: case 0x1a: case 0x1b:
	case 0x20: case 0x22: case 0x24: case 0x26:
		return true;
	default:
		return false;
	}
}

static inline bool kernel_steps(uint32_t insn)
{
	if (!kernel_is_branch_sys(insn))
		return !(kernel_is_ldr_lit(insn) || kernel_is_ldrsw_lit(insn) ||
			 kernel_is_adr(insn) || kernel_is_adrp(insn) ||
			 kernel_is_prfm_lit(insn) || kernel_is_mops(insn) ||
			 kernel_is_exclusive(insn));
	if (kernel_branches(insn) || kernel_is_br_auth(insn) ||
	    kernel_is_blr_auth(insn) || kernel_is_ret_auth(insn) ||
	    kernel_is_msr_imm(insn) || kernel_is_msr_reg(insn) ||
	    kernel_is_exception(insn) || kernel_is_eret(insn) ||
	    kernel_is_eret_auth(insn))
		return false;
	if (kernel_is_mrs(insn))
		return (insn >> 5 & 0xffff) != 0xda11;
	return !kernel_is_hint(insn) || kernel_steps_hint(insn);
}

static inline enum kernel_verdict kernel_decode(uint32_t insn, bool kprobe)
{
	if (kprobe && (kernel_is_ldr_lit(insn) || kernel_is_ldrsw_lit(insn)))
		return KERNEL_SIMULATED;
	if (kernel_steps(insn))
		return KERNEL_STEPPED;
	return kernel_branches(insn) || kernel_is_adr(insn) ||
	       kernel_is_adrp(insn) ? KERNEL_SIMULATED : KERNEL_REJECTED;
}

#endif
