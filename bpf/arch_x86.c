// SPDX-License-Identifier: GPL-2.0
#include "gen.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum reg_kind { GPR, IP, FLAGS, SEG, BASE };

static const struct reg_def {
	const char *name;
	int bytes, dwarf64, dwarf32, offset;
	enum reg_kind kind;
} reg_defs[] = {
#define RAS_REG(name, bytes, dwarf64, dwarf32, pt_regs, kind) \
	{ #name, bytes, dwarf64, dwarf32, pt_regs, kind },
#include <rastrace/arch-x86.def>
#undef RAS_REG
};

/* In the order of the BASE registers in arch-x86.def. */
const char *const body_thread_bases[BODY_THREAD_BASES] = {
	"fsbase", "gsbase",
};

/*
 * Loading a selector, WRFSBASE and WRGSBASE change these behind the kernel's
 * back. But the thread pointer, which is the base of FS (x86-64) or what GS
 * selects (i386), C libraries set once.
 */
static const struct thread_def {
	const char *name;
	size_t layout;		/* where struct body_layout has its offset */
	bool stale64, stale32;
} thread_defs[] = {
#define AT(field)	offsetof(struct body_layout, field)
	{ "DS", AT(thread_ds), true, true },
	{ "ES", AT(thread_es), true, true },
	{ "FS", AT(thread_fsindex), true, true },
	{ "GS", AT(thread_gsindex), true, false },
	{ "FSBASE", AT(thread_base[0]), false, true },
	{ "GSBASE", AT(thread_base[1]), true, true },
#undef AT
};

static const struct reg_def *reg_def_named(const char *name)
{
	const struct reg_def *def = reg_defs;

	while (strcmp(def->name, name))
		def++;
	return def;
}

int arch_ip_offset(void)
{
	return reg_def_named("RIP")->offset;
}

int arch_stack_offset(void)
{
	return reg_def_named("RSP")->offset;
}

int arch_frame_offset(void)
{
	return reg_def_named("RBP")->offset;
}

int arch_argument_offset(uint16_t machine, unsigned int n)
{
	static const char *const names[] = {
		"RDI", "RSI", "RDX", "RCX", "R8", "R9",
	};

	if (machine != EM_X86_64 || n >= sizeof(names) / sizeof(names[0]))
		return -1;
	return reg_def_named(names[n])->offset;
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

bool arch_thread_find(const struct body_layout *layout, uint16_t machine,
		      uint64_t dwarf, struct arch_thread *thread)
{
	const struct reg_def *def = reg_def_find(machine, dwarf);
	const struct thread_def *found = thread_defs;

	if (!def || def->offset >= 0)
		return false;
	while (strcmp(found->name, def->name))
		found++;
	*thread = (struct arch_thread) {
		.bytes = def->bytes,
		.stale = machine == EM_386 ? found->stale32 : found->stale64,
	};
	if (layout)
		memcpy(&thread->offset, (const char *)layout + found->layout,
		       sizeof(thread->offset));
	return true;
}

enum arch_segment arch_segment_find(uint16_t machine, uint64_t dwarf)
{
	const struct reg_def *def = reg_def_find(machine, dwarf);

	if (!def || def->kind != SEG)
		return SEGMENT_NONE;
	return !strcmp(def->name, "FS") ? SEGMENT_FS :
	       !strcmp(def->name, "GS") ? SEGMENT_GS : SEGMENT_FLAT;
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
