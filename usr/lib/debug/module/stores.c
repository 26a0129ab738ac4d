// SPDX-License-Identifier: GPL-2.0
#include "stores.h"
#include "module_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define INSNS_MAX	100000
#define WRITES_MAX	2	/* as in struct arch_effect */
#define LEAKS_MAX	8
#define DEPTHS_MAX	64	/* of a stack pointer */

struct stored_value {
	enum stores_value kind;
	int32_t offset;
};

struct stored_range {
	int32_t low, high;	/* low == high: none that is known */
};

struct stores_insn {
	uint64_t address;
	const uint8_t *bytes;
	struct arch_insn insn;
	struct stored_value registers[ARCH_REGISTERS];	/* before it */
	int32_t next, jump;	/* indices; -1: none */
	int described;		/* the register whose value is from the frame's
				 * description (CFI); -1: none */
	bool jumped;		/* a jump of the function leads to it */
	bool entered;		/* ways that aren't seen do */
	bool leaves;		/* ... begin at it */
	bool reached, waits;
	/* what it does to the frame */
	struct stored_range writes[WRITES_MAX];	/* of the transfers to memory */
	bool stores_any;	/* may store all of it */
	bool stores_through;	/* ... what a pointer elsewhere leads to */
	bool leaks_any;		/* pointers to anything get elsewhere */
	uint8_t leak_count;
	int32_t leaks[LEAKS_MAX];	/* ... to these bytes */
};

struct stores {
	const struct flow *flow;
	const struct arch *arch;
	unsigned int width;
	struct stores_insn *insns;	/* ascending by address */
	size_t count;
	int32_t settled;	/* the stack pointer, most of the time; 0: not
				 * known */
	int32_t *todo;
	size_t todo_count;
};

static int32_t insn_index(const struct stores *s, uint64_t address)
{
	struct stores_insn key = { .address = address };
	const struct stores_insn *found = bsearch(&key, s->insns, s->count,
					   sizeof(key), array_compare);

	return found ? found - s->insns : -1;
}

static void visit(struct stores *s, int32_t index,
		  const struct stored_value *values)
{
	struct stores_insn *insn = &s->insns[index];
	bool changed = !insn->reached;

	for (unsigned int i = 0; i < ARCH_REGISTERS; i++) {
		struct stored_value value = insn->registers[i];

		if ((int)i == insn->described)
			continue;
		if (value.kind == STORES_NONE)
			value = values[i];
		else if (values[i].kind != STORES_NONE &&
			 (value.kind != values[i].kind ||
			  value.offset != values[i].offset))
			value = (struct stored_value){ STORES_ANY };
		changed |= value.kind != insn->registers[i].kind;
		insn->registers[i] = value;
	}
	insn->reached = true;
	if (changed && !insn->waits) {
		insn->waits = true;
		s->todo[s->todo_count++] = index;
	}
}

static bool is_frame(struct stored_value value)
{
	return value.kind == STORES_FRAME || value.kind == STORES_ANY;
}

/* Some register that the effect may go by leads to the frame. */
static bool uses_frame(const struct stores_insn *insn,
		       const struct arch_effect *effect)
{
	for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
		if (effect->uses >> i & 1 && is_frame(insn->registers[i]))
			return true;
	return false;
}

static struct stored_value transfer_value(const struct stores *s,
				   const struct stores_insn *insn,
				   const struct arch_effect *effect,
				   const struct arch_transfer *transfer)
{
	struct stored_value value = { STORES_OTHER };

	if (transfer->source == ARCH_SOURCE_UNKNOWN) {
		if (uses_frame(insn, effect))
			value.kind = STORES_ANY;
	} else if (transfer->source == ARCH_SOURCE_REGISTER &&
		   transfer->reg < ARCH_REGISTERS &&
		   transfer->bytes >= s->width) {
		value = insn->registers[transfer->reg];
		if (value.kind == STORES_FRAME)
			value.offset += transfer->number;
	}
	return value;
}

/* To a function that returns: not to the next instruction, for its address. */
static bool is_call(const struct stores_insn *insn)
{
	return insn->insn.flow == ARCH_FLOW_CALL &&
	       insn->insn.jump != insn->insn.length;
}

static bool stores_find_effect(const struct stores *s,
			       const struct stores_insn *insn,
			       struct arch_effect *effect)
{
	return arch_effect_find(s->arch, insn->bytes, insn->insn.length,
				insn->address, effect) && effect->known;
}

/* The registers after the instruction, from those before it. */
static void stores_step(const struct stores *s, const struct stores_insn *insn,
			struct stored_value *values)
{
	struct arch_effect effect;

	memcpy(values, insn->registers, sizeof(insn->registers));
	if (is_call(insn)) {
		/* By the calling convention; what a call leaves in others is no
		 * address in the frame unless it was given one. */
		for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
			if (i != s->arch->stack &&
			    !arch_register_is_kept(s->arch, i))
				values[i].kind = STORES_OTHER;
		return;
	}
	if (!stores_find_effect(s, insn, &effect)) {
		for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
			if (i != s->arch->stack && i != s->arch->frame)
				values[i] = (struct stored_value){ STORES_ANY };
		return;
	}
	for (size_t i = 0; i < effect.count; i++) {
		const struct arch_transfer *transfer = &effect.transfers[i];
		struct stored_value value = transfer_value(s, insn, &effect,
						    transfer);

		if (transfer->to_memory || transfer->to >= ARCH_REGISTERS)
			continue;
		if (transfer->part && transfer->part < s->width &&
		    is_frame(values[transfer->to]))
			value.kind = STORES_ANY;
		values[transfer->to] = value;
	}
}

static void stores_follow(struct stores *s)
{
	struct stored_value values[ARCH_REGISTERS];
	struct flow_frame frame;

	while (s->todo_count) {
		struct stores_insn *insn = &s->insns[s->todo[--s->todo_count]];
		const struct stored_value *sp =
			&insn->registers[s->arch->stack];

		insn->waits = false;

		/* Where the stack pointer isn't known, the frame's description
		 * may have it. */
		if (insn->described < 0 && sp->kind != STORES_FRAME) {
			frame = flow_frame_find(s->flow, insn->address);
			if (frame.known && frame.reg < ARCH_REGISTERS) {
				insn->described = frame.reg;
				insn->registers[frame.reg] =
					(struct stored_value) {
						STORES_FRAME, -frame.offset,
					};
			}
		}
		stores_step(s, insn, values);
		if (insn->next >= 0)
			visit(s, insn->next, values);
		if (insn->jump >= 0)
			visit(s, insn->jump, values);
	}
}

/* Ways that aren't seen: anything may be in the registers. */
static void enter(struct stores *s, int32_t index)
{
	struct stored_value values[ARCH_REGISTERS];

	for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
		values[i] = (struct stored_value){ STORES_ANY };
	s->insns[index].entered = true;
	visit(s, index, values);
}

static void leak(struct stores_insn *insn, struct stored_value value)
{
	if (value.kind == STORES_ANY || insn->leak_count == LEAKS_MAX)
		insn->leaks_any |= is_frame(value);
	else if (value.kind == STORES_FRAME)
		insn->leaks[insn->leak_count++] = value.offset;
}

static void note_write(struct stores_insn *insn,
		       const struct arch_effect *effect,
		       const struct arch_memory *memory, size_t number)
{
	struct stored_value base = { STORES_OTHER };

	if (memory->space == ARCH_SPACE_UNKNOWN)
		base.kind = uses_frame(insn, effect) ? STORES_ANY :
						       STORES_OTHER;
	else if (memory->space != ARCH_SPACE_BASE)
		return;		/* static and thread-local variables */
	else if (memory->base < ARCH_REGISTERS)
		base = insn->registers[memory->base];
	if (base.kind == STORES_FRAME && memory->bytes && number < WRITES_MAX)
		insn->writes[number] = (struct stored_range) {
			base.offset + memory->number,
			base.offset + memory->number + memory->bytes,
		};
	else if (is_frame(base))
		insn->stores_any = true;
	else
		insn->stores_through = true;
}

static void stores_note(const struct stores *s, struct stores_insn *insn)
{
	struct arch_effect effect;
	size_t number = 0;
	bool elsewhere;

	if (is_call(insn)) {
		/* The callee gets pointers in the registers that it needn't
		 * keep, and may write to what pointers in memory lead to. */
		insn->stores_through = true;
		for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
			if (i != s->arch->stack &&
			    !arch_register_is_kept(s->arch, i))
				leak(insn, insn->registers[i]);
		return;
	}
	if (!stores_find_effect(s, insn, &effect)) {
		insn->stores_any = insn->leaks_any = true;
		return;
	}
	for (size_t i = 0; i < effect.count; i++)
		if (effect.transfers[i].to_memory)
			note_write(insn, &effect,
				   &effect.transfers[i].memory, number++);

	/* What is put in memory or, when the effect has no transfer for it, in
	 * registers of another kind. */
	elsewhere = !effect.count && !effect.flags &&
		    insn->insn.flow == ARCH_FLOW_NEXT && !insn->insn.padding;
	for (size_t i = 0; i < effect.count; i++) {
		const struct arch_transfer *transfer = &effect.transfers[i];

		elsewhere |= transfer->to_memory &&
			     transfer->source == ARCH_SOURCE_UNKNOWN;
		if (transfer->to_memory &&
		    transfer->source == ARCH_SOURCE_REGISTER)
			leak(insn, transfer_value(s, insn, &effect, transfer));
	}
	for (unsigned int i = 0; elsewhere && i < ARCH_REGISTERS; i++)
		if (effect.uses >> i & 1)
			leak(insn, insn->registers[i]);
}

static void link_insns(struct stores *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct stores_insn *insn = &s->insns[i];
		enum arch_flow flow = insn->insn.flow;

		insn->next = insn->jump = insn->described = -1;
		if (flow <= ARCH_FLOW_BRANCH)
			insn->next = insn_index(s, insn->address +
						   insn->insn.length);
		if (flow == ARCH_FLOW_BRANCH || flow == ARCH_FLOW_JUMP)
			insn->jump = insn_index(s, flow_target(s->flow,
							insn->address,
							&insn->insn));
		if (flow == ARCH_FLOW_CALL && insn->next >= 0 && !is_call(insn))
			s->insns[insn->next].jumped = true;
		if (insn->jump >= 0)
			s->insns[insn->jump].jumped = true;
		insn->leaves = flow == ARCH_FLOW_CALL ||
			       flow == ARCH_FLOW_COMPUTED;
	}
}

/* The instructions of the block, or with NULL of all parts. */
static int take_flow(struct stores *s, const struct block *block)
{
	const struct flow *flow = s->flow;
	size_t room = 0;

	if (!block && (flow->lost_count || flow->undecoded))
		return -ENOENT;
	for (size_t i = 0; i < (block ? 1 : flow->part_count); i++) {
		const struct flow_part *part = &flow->parts[i];
		size_t count = block ? block->count : part->size;

		for (uint32_t at = 0; at < count; at++) {
			struct stores_insn insn = { 0 };

			if (block) {
				insn.address = block->insns[at].address;
				insn.bytes = block->insns[at].bytes;
				insn.insn = block->insns[at].insn;
			} else if (part->marks[at] & FLOW_INSN &&
				   flow_insn(flow, part, at, &insn.insn)) {
				insn.address = part->start + at;
				insn.bytes = part->bytes + at;
			} else {
				continue;
			}
			if (s->count == INSNS_MAX)
				return -ENOENT;
			if (!array_grow(&s->insns, s->count, &room,
					sizeof(*s->insns)))
				return -ENOMEM;
			s->insns[s->count++] = insn;
		}
	}
	if (s->count)
		qsort(s->insns, s->count, sizeof(*s->insns), array_compare);
	return 0;
}

/* Where the stack pointer is most of the time, when the frame isn't empty. */
static void stores_settle(struct stores *s)
{
	struct {
		int32_t offset;
		size_t count;
	} depths[DEPTHS_MAX];
	size_t count = 0, most = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct stored_value at = s->insns[i].registers[s->arch->stack];
		size_t d = 0;

		if (at.kind != STORES_FRAME ||
		    at.offset == -(int32_t)s->arch->call_bytes)
			continue;
		while (d < count && depths[d].offset != at.offset)
			d++;
		if (d == DEPTHS_MAX)
			continue;
		if (d == count) {
			depths[count].offset = at.offset;
			depths[count++].count = 0;
		}
		depths[d].count++;
	}
	for (size_t i = 0; i < count; i++)
		if (depths[i].count > most) {
			most = depths[i].count;
			s->settled = depths[i].offset;
		}
}

int stores_find(const struct flow *flow, const struct labels *labels,
		uint64_t entry, const struct block *block,
		struct stores **stores)
{
	struct stores *s = calloc(1, sizeof(*s));
	int code;
	struct stored_value values[ARCH_REGISTERS];
	int32_t first;

	*stores = NULL;
	if (!s)
		return -ENOMEM;
	s->flow = flow;
	s->arch = flow->source.module->arch;
	s->width = flow->source.module->elf_class == ELFCLASS64 ? 8 : 4;
	code = take_flow(s, block);
	if (!code && !(s->todo = calloc(s->count + 1, sizeof(*s->todo))))
		code = -ENOMEM;
	if (code) {
		stores_free(s);
		return code;
	}
	link_insns(s);
	/* Switches, the unwinder, and code that isn't this function's. */
	for (size_t i = 0; !block && i < s->count; i++) {
		struct stores_insn *insn = &s->insns[i];
		const struct flow_part *part =
			flow_part_find(flow, insn->address);
		uint8_t marks = part->marks[insn->address - part->start];

		insn->entered = insn->address != entry &&
				(labels_may_be(labels, insn->address) ||
				 marks & FLOW_LABEL ||
				 (marks & FLOW_TARGET && !insn->jumped));
	}
	first = insn_index(s, entry);
	for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
		values[i] = (struct stored_value){ STORES_OTHER };
	values[s->arch->stack] = (struct stored_value) {
		STORES_FRAME, -(int32_t)s->arch->call_bytes,
	};
	if (first >= 0)
		visit(s, first, values);
	for (size_t i = 0; i < s->count; i++)
		if (s->insns[i].entered)
			enter(s, i);
	stores_follow(s);
	for (size_t i = 0; i < s->count; i++) {
		if (s->insns[i].reached)
			continue;
		enter(s, i);
		stores_follow(s);
	}
	for (size_t i = 0; i < s->count; i++)
		stores_note(s, &s->insns[i]);
	if (!block)
		stores_settle(s);
	*stores = s;
	return 0;
}

void stores_free(struct stores *stores)
{
	if (!stores)
		return;
	free(stores->insns);
	free(stores->todo);
	free(stores);
}

enum stores_value stores_register(const struct stores *stores,
				  uint64_t address, unsigned int number,
				  int64_t *offset)
{
	int32_t index = insn_index(stores, address);
	struct stored_value value;

	if (index < 0 || number >= ARCH_REGISTERS)
		return STORES_ANY;
	value = stores->insns[index].registers[number];
	*offset = value.offset;
	return value.kind == STORES_NONE ? STORES_ANY : value.kind;
}

bool stores_settled(const struct stores *stores, int64_t *offset)
{
	*offset = stores->settled;
	return stores->settled;
}

#define SLOT_LEAKED	1	/* a pointer to it is elsewhere */
#define SLOT_STORED	2

/* What is known of the slot after the instruction. */
static uint8_t slot_step(const struct stores_insn *insn,
			 const struct stores_slot *slot, uint8_t known)
{
	bool bounds = slot->object_low < slot->object_high;

	if (insn->leaks_any)
		known |= SLOT_LEAKED;
	for (size_t i = 0; i < insn->leak_count; i++)
		if (!bounds || (insn->leaks[i] >= slot->object_low &&
				insn->leaks[i] < slot->object_high))
			known |= SLOT_LEAKED;
	if (insn->stores_any || (insn->stores_through && known & SLOT_LEAKED))
		known |= SLOT_STORED;
	for (size_t i = 0; i < WRITES_MAX; i++)
		if (insn->writes[i].low < slot->high &&
		    slot->low < insn->writes[i].high)
			known |= SLOT_STORED;
	return known;
}

/* Calls in the module may keep more than the calling convention has them keep
 * (gcc's -fipa-ra). */
static bool stores_writes_register(const struct stores *s,
				   const struct stores_insn *insn,
				   unsigned int number)
{
	struct arch_effect effect;

	if (is_call(insn))
		return !arch_register_is_kept(s->arch, number) &&
		       !module_function_find(s->flow->source.module,
					     flow_target(s->flow, insn->address,
							 &insn->insn));
	if (!stores_find_effect(s, insn, &effect))
		return true;
	return arch_transfer_to(&effect, number);
}

/* What is known after an instruction is known before the next ones: until
 * nothing changes. `slot`: of the slot, else whether the register was
 * written. */
static void stores_spread(const struct stores *stores,
			  const struct stores_slot *slot, unsigned int number,
			  uint8_t *known)
{
	uint8_t unseen = 0, after;
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < stores->count; i++) {
			const struct stores_insn *insn = &stores->insns[i];
			const int32_t to[] = { insn->next, insn->jump };

			if (slot && insn->entered)
				known[i] |= unseen;
			after = slot ? slot_step(insn, slot, known[i]) :
				known[i] ||
				stores_writes_register(stores, insn, number);
			for (int k = 0; k < 2; k++) {
				if (to[k] < 0)
					continue;
				changed |= after & ~known[to[k]];
				known[to[k]] |= after;
			}
			if (slot && insn->leaves) {
				changed |= after & ~unseen;
				unseen |= after;
			}
		}
	}
}

bool stores_before(const struct stores *stores, uint64_t address,
		   const struct stores_slot *slot, bool *leaked)
{
	int32_t index = insn_index(stores, address);
	uint8_t *known;
	bool stored;

	known = index >= 0 ? calloc(stores->count, 1) : NULL;
	if (!known)
		return true;
	stores_spread(stores, slot, 0, known);
	stored = known[index] & SLOT_STORED;
	*leaked = known[index] & SLOT_LEAKED;
	free(known);
	return stored;
}

enum stores_relation stores_relate(const struct stores *stores,
				   uint64_t address,
				   const struct stores_slot *slot,
				   bool *leaked, size_t *write,
				   int64_t *offset)
{
	int32_t index = insn_index(stores, address);
	uint8_t known = *leaked ? SLOT_LEAKED : 0;
	const struct stores_insn *insn;

	if (index < 0)
		return STORES_MAYBE;
	insn = &stores->insns[index];
	for (size_t i = 0; i < WRITES_MAX; i++) {
		if (insn->writes[i].low > slot->low ||
		    insn->writes[i].high < slot->high)
			continue;
		*write = i;
		*offset = slot->low - insn->writes[i].low;
		return STORES_ALL;
	}
	known = slot_step(insn, slot, known);
	*leaked = known & SLOT_LEAKED;
	return known & SLOT_STORED ? STORES_MAYBE : STORES_APART;
}

bool stores_written(const struct stores *stores, uint64_t address,
		    unsigned int number)
{
	int32_t index = insn_index(stores, address);
	uint8_t *written, found;

	written = index >= 0 ? calloc(stores->count, 1) : NULL;
	if (!written)
		return true;
	stores_spread(stores, NULL, number, written);
	found = written[index];
	free(written);
	return found;
}
