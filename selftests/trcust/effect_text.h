/* SPDX-License-Identifier: GPL-2.0 */
/* The effects of instructions, as text: " rax=rdi+0:8 flags". */
#ifndef TRCUST_EFFECT_TEXT_H
#define TRCUST_EFFECT_TEXT_H

#include <stdio.h>
#include "lib/debug/arch/arch.h"

static inline void memory_print(char **p, const struct arch *arch,
				const struct arch_memory *memory)
{
	char base[16];

	switch (memory->space) {
	case ARCH_SPACE_BASE:
		arch_register_print(arch, memory->base, base,
				    sizeof(base));
		*p += sprintf(*p, "[%s%+lld]", base, (long long)memory->number);
		break;
	case ARCH_SPACE_FIXED:
		*p += sprintf(*p, "[%#llx]", (long long)memory->number);
		break;
	case ARCH_SPACE_THREAD:
		*p += sprintf(*p, "[thread%+lld]", (long long)memory->number);
		break;
	default:
		*p += sprintf(*p, "[?]");
		break;
	}
	*p += sprintf(*p, ":%u", memory->bytes);
}

static inline void transfer_print(char **p, const struct arch *arch,
				  const struct arch_transfer *transfer)
{
	char name[16];

	*p += sprintf(*p, " ");
	arch_register_print(arch, transfer->to, name,
			    sizeof(name));
	if (transfer->to_memory)
		memory_print(p, arch, &transfer->memory);
	else
		*p += sprintf(*p, "%s", name);
	if (transfer->part)
		*p += sprintf(*p, "(%u)", transfer->part);
	*p += sprintf(*p, "=");
	arch_register_print(arch, transfer->reg, name,
			    sizeof(name));
	switch (transfer->source) {
	case ARCH_SOURCE_CONSTANT:
		*p += sprintf(*p, "%lld", (long long)transfer->number);
		return;
	case ARCH_SOURCE_ADDRESS:
		*p += sprintf(*p, "@%#llx", (long long)transfer->number);
		return;
	case ARCH_SOURCE_REGISTER:
		*p += sprintf(*p, "%s%+lld:%u", name,
			      (long long)transfer->number, transfer->bytes);
		break;
	case ARCH_SOURCE_MEMORY:
		memory_print(p, arch, &transfer->memory);
		break;
	default:
		*p += sprintf(*p, "?");
		return;
	}
	*p += sprintf(*p, "%s", transfer->is_signed ? "s" : "");
}

static inline void effect_print(char *text, const struct arch *arch,
				const struct arch_effect *effect)
{
	char *p = text;

	*p = 0;
	if (!effect->known) {
		sprintf(text, " unknown");
		return;
	}
	for (int i = 0; i < effect->count; i++)
		transfer_print(&p, arch, &effect->transfers[i]);
	for (int i = 0; i < effect->read_count; i++) {
		p += sprintf(p, " reads ");
		memory_print(&p, arch, &effect->reads[i]);
	}
	for (int i = 0; i < effect->write_count; i++) {
		p += sprintf(p, " writes ");
		memory_print(&p, arch, &effect->writes[i]);
	}
	sprintf(p, "%s%s%s", effect->flags ? " flags" : "",
		effect->faults ? " faults" : "", effect->traps ? " traps" : "");
}

#endif
