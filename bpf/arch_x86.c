// SPDX-License-Identifier: GPL-2.0
#include "gen.h"

#include <elf.h>
#include <errno.h>

enum reg_kind { GPR, IP, FLAGS, SEG, BASE };

static const struct reg_def {
	int bytes, dwarf64, dwarf32, offset;
	enum reg_kind kind;
} reg_defs[] = {
#define RAS_REG(name, bytes, dwarf64, dwarf32, pt_regs, kind) \
	{ bytes, dwarf64, dwarf32, pt_regs, kind },
#include <rastrace/arch-x86.def>
#undef RAS_REG
};

/* In the order of the BASE registers in arch-x86.def. */
const char *const body_thread_bases[BODY_THREAD_BASES] = {
	"fsbase", "gsbase",
};

#define BASE_GS	1

int arch_ip_offset(void)
{
	const struct reg_def *def = reg_defs;

	while (def->kind != IP)
		def++;
	return def->offset;
}

static const struct reg_def *reg_def_find(uint16_t machine, uint64_t dwarf)
{
	for (size_t i = 0; i < sizeof(reg_defs) / sizeof(reg_defs[0]); i++) {
		const struct reg_def *def = &reg_defs[i];
		int number = machine == EM_386 ? def->dwarf32 : def->dwarf64;

		if (number >= 0 && (uint64_t)number == dwarf)
			return def;
	}
	return NULL;
}

int arch_base_find(uint16_t machine, uint64_t dwarf)
{
	const struct reg_def *found = reg_def_find(machine, dwarf);
	int base = 0;

	if (!found || found->kind != BASE)
		return -1;
	for (const struct reg_def *def = reg_defs; def < found; def++)
		base += def->kind == BASE;
	return base;
}

/*
 * WRFSBASE, WRGSBASE and (32 bits) loading a selector change a base behind the
 * kernel's back. That of fs, the thread pointer of x86-64, C libraries set by
 * system call; of gs nothing is known.
 */
bool arch_base_stale(int base)
{
	return base == BASE_GS;
}

struct arch_reg arch_reg_find(struct gen *gen, uint64_t dwarf)
{
	const struct reg_def *def = reg_def_find(gen->machine, dwarf);

	if (gen->machine != EM_X86_64 && gen->machine != EM_386)
		gen_fail(gen, -ENOSYS, "registers of machine %u are not known",
			 gen->machine);
	else if (!def)
		gen_fail(gen, -ENOENT, "no register has DWARF number %u",
			 dwarf);
	else if (def->offset < 0)
		gen_fail(gen, -EOPNOTSUPP,
			 "the kernel does not save register %u at a probe",
			 dwarf);
	else
		return (struct arch_reg){ def->offset, def->bytes,
					  def->kind == IP };
	return (struct arch_reg){ 0 };
}
