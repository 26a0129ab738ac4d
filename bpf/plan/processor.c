// SPDX-License-Identifier: GPL-2.0
/* What is the same for all processors: looking things up in their tables. */
#include "processor.h"

#include <string.h>

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

const struct processor_reg *processor_reg_find(uint16_t machine, uint64_t dwarf)
{
	const struct processor *cpu = processor_find(machine);

	for (size_t i = 0; cpu && i < cpu->reg_count; i++)
		if (cpu->regs[i].dwarf >= 0 &&
		    (uint64_t)cpu->regs[i].dwarf == dwarf)
			return &cpu->regs[i];
	return NULL;
}

/* What is in IP depends on the probe, a selector on what it is used for. */
int processor_reg_offset(uint16_t machine, uint64_t dwarf, int *bytes)
{
	const struct processor_reg *reg = processor_reg_find(machine, dwarf);

	if (!reg || (reg->kind != REG_GPR && reg->kind != REG_FLAGS))
		return -1;
	*bytes = reg->bytes;
	return reg->offset;
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
	const struct processor_reg *reg = processor_reg_find(machine, dwarf);
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
	const struct processor_reg *reg = processor_reg_find(machine, dwarf);
	const struct processor_thread *thread = thread_find(machine, reg);

	if (!reg || reg->kind != REG_SEG)
		return SEGMENT_NONE;
	return thread ? thread->segment : SEGMENT_FLAT;
}
