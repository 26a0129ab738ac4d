// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's return probe replaces the return address on the stack with one
 * of its own, and keeps the original in a list (kernel/events/uprobes.c). The
 * program ends, or goes on wrongly, where the function is left in another way
 * than by its return, or where its frame is looked at:
 *  - an exception or an unwinder reaches the frame, and finds no function
 *    around the kernel's address: terminate() is called
 *  - the stack is changed for another one, and back: what is entered next
 *    takes the pending return for one that longjmp() has skipped, and the
 *    kernel sends SIGILL when it comes. A signal handler on a stack of its own
 *    does the same
 *  - the function reads the address, as dlsym(RTLD_NEXT, ...) does
 * And at most 64 can be pending in a thread (MAX_URETPROBE_DEPTH); the kernel
 * neither records nor reports further calls.
 *
 * Which other modules run, and what they do, isn't known here: only --site=fast
 * takes such a probe. It is not taken where the module itself shows that it
 * does any of this, or that the function may be called again before it returns.
 */
#include "choose_return_safe.h"

#include <errno.h>
#include <string.h>
#include "analysis.h"
#include "lib/debug/module/module.h"

/* Tracepoints of functions that call others: so many may be pending at once. */
#define OPEN_RETURNS_MAX	32

static const char *why_not_module(unsigned int what)
{
	if (what & RUNTIME_GO)
		return "Go looks through its stacks and moves them";
	if (what & RUNTIME_SPLITS)
		return "the stack is split";
	if (what & RUNTIME_SIGNAL_STACK)
		return "signals are handled on another stack";
	if (what & RUNTIME_UNWINDS)
		return "exceptions or the end of a thread may leave it";
	if (what & RUNTIME_SWITCHES)
		return "the program changes stacks";
	return NULL;
}

static int check_calls(const struct compilation *c, uint64_t entry,
		       size_t *open, const char **why)
{
	enum calls_reach reach;
	bool switches;

	if (analysis_reach(c, entry, &reach))
		return -ENOMEM;
	if (reach == CALLS_CLOSED)
		return 0;
	if (reach == CALLS_AGAIN)
		*why = "it may be called again before it returns";
	else if (reach == CALLS_UNKNOWN)
		*why = "what it calls isn't known";
	else if (*open >= OPEN_RETURNS_MAX)
		*why = "there are many of them already";
	else if (!(analysis_runtime(c) & RUNTIME_PROGRAM))
		*why = "it calls other functions, in a library";
	if (*why)
		return 0;
	if (analysis_switches_stacks(c, &switches))
		return -ENOMEM;
	if (switches)
		*why = "the program changes stacks";
	else
		++*open;
	return 0;
}

/* Another function begins in its code: calls of that are not recorded. */
static bool has_entries(const struct compilation *c, uint64_t entry,
			const struct flow_part *part)
{
	const struct symbol_index *index = &c->analysis->symbols;

	for (size_t i = analysis_symbol_from(c, part->start + 1);
	     i < index->count &&
	     index->symbols[i]->address - part->start < part->size; i++)
		if (index->symbols[i]->type == STT_FUNC &&
		    index->symbols[i]->address != entry)
			return true;
	return false;
}

/* The memory in the frame may have the return address: it covers the word
 * there, or where that is isn't known. Where there is a register for the
 * address, the frame pointer points to the caller's frame pointer, which the
 * address follows. */
static bool read_may_be_return(const struct arch *arch,
			       const struct arch_memory *read,
			       const struct flow_frame *frame)
{
	unsigned int word = arch->elf_class == ELFCLASS64 ? 8 : 4;
	int64_t from = read->number - word;

	if (frame->known && frame->reg == read->base) {
		if (!frame->has_link)
			return false;
		from = read->number - (frame->offset + frame->link);
	} else if (arch->link < 0) {
		return !frame->known && read->base == arch->stack;
	} else if (read->base == arch->stack) {
		return true;
	}
	return !read->bytes || (from < (int64_t)word && from + read->bytes > 0);
}

/* Does it read the address that it returns to, otherwise than to return? */
static bool reads_return(const struct flow *flow, uint64_t address,
			 const struct arch_insn *insn,
			 const struct arch_effect *effect)
{
	const struct arch *arch = flow->source.module->arch;
	unsigned int link = arch->link;
	struct flow_frame frame = {0};
	bool looked = false, restores = false;

	if (insn->flow == ARCH_FLOW_RETURN)
		return false;
	/* the register for the address may get it back, or be saved in the
	 * frame */
	for (uint8_t i = 0; arch->link >= 0 && i < effect->count; i++) {
		const struct arch_transfer *t = &effect->transfers[i];

		restores |= !t->to_memory && t->to == link;
		if (t->source == ARCH_SOURCE_REGISTER && t->reg == link &&
		    (t->to_memory ? t->memory.space != ARCH_SPACE_BASE ||
				    t->memory.base != arch->stack :
				    t->to != link))
			return true;
	}
	for (uint8_t i = 0; i < effect->read_count && !restores; i++) {
		const struct arch_memory *read = &effect->reads[i];

		if (read->space != ARCH_SPACE_BASE ||
		    (read->base != arch->stack && read->base != arch->frame))
			continue;
		if (!looked)
			frame = flow_frame_find(flow, address);
		looked = true;
		if (read_may_be_return(arch, read, &frame))
			return true;
	}
	return false;
}

static const char *why_not_insn(const struct flow *flow, uint64_t entry,
				const struct flow_part *part, uint32_t at)
{
	uint64_t address = part->start + at, target;
	struct arch_effect effect;
	struct arch_insn insn;

	if (!flow_insn(flow, part, at, &insn) ||
	    !arch_effect_find(flow->source.module->arch, part->bytes + at,
			      part->size - at, address, &effect))
		return "not all of its code is known";
	if (reads_return(flow, address, &insn, &effect))
		return "it reads the address that it returns to";
	if ((insn.flow != ARCH_FLOW_JUMP && insn.flow != ARCH_FLOW_BRANCH) ||
	    !insn.jump)
		return NULL;
	target = flow_target(flow, address, &insn);
	if (target == entry)
		return "it jumps to where it is entered";
	if (!flow_part_find(flow, target))
		return "it ends with a jump to other code";
	return NULL;
}

static const char *why_not_code(const struct compilation *c, uint64_t entry,
				const struct flow *flow)
{
	const char *why = NULL;

	if ((flow->computed && flow->undecoded) || flow->lost_count)
		return "not all of its code is known";
	for (size_t i = 0; i < flow->part_count && !why; i++) {
		const struct flow_part *part = &flow->parts[i];

		if (has_entries(c, entry, part))
			return "another function begins in it";
		for (uint32_t at = 0; at < part->size && !why; at++)
			if (part->marks[at] & FLOW_INSN)
				why = why_not_insn(flow, entry, part, at);
	}
	return why;
}

int choose_return_safe(const struct compilation *c, uint64_t entry,
		       const struct flow *flow, size_t *open, const char **why)
{
	*why = module_is_relocated(c->module, 0, 0) ?
		       "the loader changes the code" :
		       why_not_module(analysis_runtime(c));
	if (!*why)
		*why = why_not_code(c, entry, flow);
	return *why ? 0 : check_calls(c, entry, open, why);
}
