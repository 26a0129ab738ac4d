// SPDX-License-Identifier: GPL-2.0
/* What is the same for all processors: looking things up in their tables. */
#include "gen.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define ADDRESS_LOWEST	4096	/* nothing is mapped below */
#define KERNEL_BIT	55	/* of a signed address */

const struct body_thread_base body_thread_bases[BODY_THREAD_BASES] = {
	{ "fsbase", 0 }, { "gsbase", 1 }, { "uw.tp_value", 0 },
};

static const struct processor *const processors[] = {
	&processor_x86_64, &processor_i386, &processor_a64,
};

const struct processor *processor_find(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(processors) / sizeof(*processors); i++)
		if (processors[i]->machine == machine)
			return processors[i];
	return NULL;
}

static const struct processor_reg *reg_find(uint16_t machine, uint64_t dwarf)
{
	const struct processor *cpu = processor_find(machine);

	for (size_t i = 0; cpu && i < cpu->reg_count; i++)
		if (cpu->regs[i].dwarf >= 0 &&
		    (uint64_t)cpu->regs[i].dwarf == dwarf)
			return &cpu->regs[i];
	return NULL;
}

int arch_argument_offset(uint16_t machine, unsigned int n)
{
	const struct processor *cpu = processor_find(machine);

	return cpu && n < cpu->argument_count ? cpu->arguments[n] : -1;
}

/* Where what pt_regs doesn't have is kept; NULL: it has the register. */
static const struct processor_thread *
thread_find(uint16_t machine, const struct processor_reg *reg)
{
	const struct processor_thread *found;

	if (!reg || reg->offset >= 0)
		return NULL;
	found = processor_find(machine)->threads;
	while (strcmp(found->name, reg->name))
		found++;
	return found;
}

bool arch_thread_find(const struct body_layout *layout, uint16_t machine,
		      uint64_t dwarf, struct arch_thread *thread)
{
	const struct processor_reg *reg = reg_find(machine, dwarf);
	const struct processor_thread *found = thread_find(machine, reg);

	if (!found)
		return false;
	*thread = (struct arch_thread) {
		.bytes = reg->bytes, .stale = found->stale,
		.late = found->late,
	};
	if (layout)
		memcpy(&thread->offset, (const char *)layout + found->layout,
		       sizeof(thread->offset));
	return true;
}

enum arch_segment arch_segment_find(uint16_t machine, uint64_t dwarf)
{
	const struct processor_reg *reg = reg_find(machine, dwarf);

	const struct processor_thread *thread = thread_find(machine, reg);

	if (!reg || reg->kind != REG_SEG)
		return SEGMENT_NONE;
	return thread ? thread->segment : SEGMENT_FLAT;
}

int arch_vector_find(struct gen *gen, uint64_t dwarf)
{
	const struct processor *cpu = gen->cpu;

	if (gen->target->context == BODY_KPROBE)
		gen_fail(gen, -EOPNOTSUPP,
			 "the kernel has nothing in vector registers");
	else if (dwarf - cpu->vector_first >= (uint64_t)cpu->vector_count)
		gen_fail(gen, -ENOENT, "no vector register has DWARF number %"
			 PRIu64, dwarf);
	return dwarf - cpu->vector_first;
}

struct arch_reg arch_reg_find(struct gen *gen, uint64_t dwarf)
{
	const struct processor_reg *reg = reg_find(gen->machine, dwarf);

	if (!reg)
		gen_fail(gen, -ENOENT, "no register has DWARF number %" PRIu64,
			 dwarf);
	else if (reg->offset < 0)
		gen_fail(gen, -EOPNOTSUPP,
			 "the kernel does not save register %" PRIu64
			 " at a probe", dwarf);
	else
		return (struct arch_reg){ reg->offset, reg->bytes,
					  reg->kind == REG_IP };
	return (struct arch_reg){ 0 };
}

static int arch_address_bits(const struct gen *gen)
{
	return gen->target->address_bits ? gen->target->address_bits :
	       gen->cpu->address_bits;
}

void arch_address_strip(struct gen *gen, int reg)
{
	struct emit *e = &gen->e;

	if (!gen->cpu->is_signed)
		return;
	emit_alu_imm(e, BPF_LSH, reg, 64 - arch_address_bits(gen));
	emit_alu_imm(e, BPF_RSH, reg, 64 - arch_address_bits(gen));
}

void arch_kernel_strip(struct gen *gen, int reg, int scratch)
{
	if (!gen->cpu->is_signed)
		return;
	emit_const(&gen->e, scratch, ~0ULL << arch_address_bits(gen));
	emit_alu(&gen->e, BPF_OR, reg, scratch);
}

void arch_tag_strip(struct gen *gen, int reg)
{
	if (!gen->cpu->is_signed)
		return;
	emit_alu_imm(&gen->e, BPF_LSH, reg, 63 - KERNEL_BIT);
	emit_alu_imm(&gen->e, BPF_ARSH, reg, 63 - KERNEL_BIT);
}

void arch_kernel_test(struct gen *gen, int reg, int scratch, emit_label kernel)
{
	struct emit *e = &gen->e;

	if (gen->cpu->is_signed) {
		emit_alu(e, BPF_MOV, scratch, reg);
		emit_alu_imm(e, BPF_LSH, scratch, 63 - KERNEL_BIT);
		reg = scratch;
	}
	emit_jump_imm(e, BPF_JSLT, reg, 0, kernel);
}

void arch_address_test(struct gen *gen, int reg, int scratch, emit_label bad)
{
	struct emit *e = &gen->e;

	emit_alu(e, BPF_MOV, scratch, reg);
	if (gen->cpu->is_signed) {
		emit_alu_imm(e, BPF_RSH, scratch, KERNEL_BIT);
		emit_alu_imm(e, BPF_AND, scratch, 1);
	} else {
		emit_alu_imm(e, BPF_RSH, scratch, arch_address_bits(gen));
	}
	emit_jump_imm(e, BPF_JNE, scratch, 0, bad);
	arch_address_strip(gen, reg);
	emit_jump_imm(e, BPF_JLT, reg, ADDRESS_LOWEST, bad);
}
