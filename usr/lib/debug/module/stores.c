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

/* A register: nothing, where no way has led yet. */
enum stored_kind { KIND_NONE, KIND_OTHER, KIND_FRAME, KIND_ANY };

struct stored_value {
	enum stored_kind kind;
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
		if (value.kind == KIND_NONE)
			value = values[i];
		else if (values[i].kind != KIND_NONE &&
			 (value.kind != values[i].kind ||
			  value.offset != values[i].offset))
			value = (struct stored_value){ KIND_ANY };
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
	return value.kind == KIND_FRAME || value.kind == KIND_ANY;
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
	struct stored_value value = { KIND_OTHER };

	if (transfer->source == ARCH_SOURCE_UNKNOWN) {
		if (uses_frame(insn, effect))
			value.kind = KIND_ANY;
	} else if (transfer->source == ARCH_SOURCE_REGISTER &&
		   transfer->reg < ARCH_REGISTERS &&
		   transfer->bytes >= s->width) {
		value = insn->registers[transfer->reg];
		if (value.kind == KIND_FRAME)
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
				values[i] = (struct stored_value){ KIND_OTHER };
		return;
	}
	if (!stores_find_effect(s, insn, &effect)) {
		for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
			if (i != s->arch->stack && i != s->arch->frame)
				values[i] = (struct stored_value){ KIND_ANY };
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
			value.kind = KIND_ANY;
		values[transfer->to] = value;
	}
}

static void stores_follow(struct stores *s)
{
	struct stored_value values[ARCH_REGISTERS];
	struct flow_frame frame;

	while (s->todo_count) {
		struct stores_insn *insn = &s->insns[s->todo[--s->todo_count]];
		bool known = insn->registers[s->arch->stack].kind == KIND_FRAME;

		insn->waits = false;

		/* Where the stack pointer isn't known, the frame's description
		 * may have it. */
		if (insn->described < 0 && !known) {
			frame = flow_frame_find(s->flow, insn->address);
			if (frame.known && frame.reg < ARCH_REGISTERS) {
				insn->described = frame.reg;
				insn->registers[frame.reg] =
					(struct stored_value) {
						KIND_FRAME, -frame.offset,
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
		values[i] = (struct stored_value){ KIND_ANY };
	s->insns[index].entered = true;
	visit(s, index, values);
}

static void leak(struct stores_insn *insn, struct stored_value value)
{
	if (value.kind == KIND_ANY || insn->leak_count == LEAKS_MAX)
		insn->leaks_any |= is_frame(value);
	else if (value.kind == KIND_FRAME)
		insn->leaks[insn->leak_count++] = value.offset;
}

static void note_write(struct stores_insn *insn,
		       const struct arch_effect *effect,
		       const struct arch_memory *memory, size_t number)
{
	struct stored_value base = { KIND_OTHER };

	if (memory->space == ARCH_SPACE_UNKNOWN)
		base.kind = uses_frame(insn, effect) ? KIND_ANY : KIND_OTHER;
	else if (memory->space != ARCH_SPACE_BASE)
		return;		/* static and thread-local variables */
	else if (memory->base < ARCH_REGISTERS)
		base = insn->registers[memory->base];
	if (base.kind == KIND_FRAME && memory->bytes && number < WRITES_MAX)
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

/* Switches, the unwinder, and code that isn't this function's. */
static void find_entered(struct stores *s, const struct labels *labels,
			 uint64_t entry)
{
	for (size_t i = 0; i < s->count; i++) {
		struct stores_insn *insn = &s->insns[i];
		const struct flow_part *part = flow_part_find(s->flow,
							      insn->address);
		uint8_t marks = part->marks[insn->address - part->start];

		if (insn->address != entry &&
		    (labels_may_be(labels, insn->address) ||
		     marks & FLOW_LABEL ||
		     (marks & FLOW_TARGET && !insn->jumped)))
			insn->entered = true;
	}
}

static size_t part_insns(struct stores *s, const struct flow_part *part,
			 bool count_only)
{
	size_t count = 0;

	for (uint32_t at = 0; at < part->size; at++) {
		struct stores_insn insn = {
			.address = part->start + at, .bytes = part->bytes + at,
		};

		if (!(part->marks[at] & FLOW_INSN))
			continue;
		count++;
		if (!count_only &&
		    flow_insn(s->flow, part, at, &insn.insn))
			s->insns[s->count++] = insn;
	}
	return count;
}

/* The instructions of the block, or with NULL of all parts. */
static int take_flow(struct stores *s, const struct block *block)
{
	size_t count = block ? block->count : 0;

	if (!block && (s->flow->lost_count || s->flow->undecoded))
		return -ENOENT;
	for (size_t i = 0; !block && i < s->flow->part_count; i++)
		count += part_insns(s, &s->flow->parts[i], true);
	if (count > INSNS_MAX)
		return -ENOENT;
	s->insns = calloc(count + 1, sizeof(*s->insns));
	if (!s->insns)
		return -ENOMEM;
	for (size_t i = 0; block && i < count; i++)
		s->insns[s->count++] = (struct stores_insn) {
			.address = block->insns[i].address,
			.bytes = block->insns[i].bytes,
			.insn = block->insns[i].insn,
		};
	for (size_t i = 0; !block && i < s->flow->part_count; i++)
		part_insns(s, &s->flow->parts[i], false);
	qsort(s->insns, s->count, sizeof(*s->insns), array_compare);
	return 0;
}

struct stack_depth {
	int32_t offset;
	size_t count;
};

/* Where the stack pointer is most of the time, when the frame isn't empty. */
static void stores_settle(struct stores *s)
{
	struct stack_depth depths[DEPTHS_MAX], most = {0};
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct stored_value at = s->insns[i].registers[s->arch->stack];

		size_t d = 0;

		if (at.kind != KIND_FRAME ||
		    at.offset == -(int32_t)s->arch->call_bytes)
			continue;
		while (d < count && depths[d].offset != at.offset)
			d++;
		if (d == DEPTHS_MAX)
			continue;
		if (d == count)
			depths[count++] = (struct stack_depth) {
				.offset = at.offset,
			};
		depths[d].count++;
	}
	for (size_t i = 0; i < count; i++)
		if (depths[i].count > most.count)
			most = depths[i];
	s->settled = most.offset;
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
	if (!block)
		find_entered(s, labels, entry);
	first = insn_index(s, entry);
	for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
		values[i] = (struct stored_value){ KIND_OTHER };
	values[s->arch->stack] = (struct stored_value) {
		KIND_FRAME, -(int32_t)s->arch->call_bytes,
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
	return value.kind == KIND_FRAME ? STORES_FRAME :
	       value.kind == KIND_OTHER ? STORES_OTHER : STORES_ANY;
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

static bool stores_pass_on(uint8_t *known, int32_t to, uint8_t more)
{
	bool changed = to >= 0 && more & ~known[to];

	if (to >= 0)
		known[to] |= more;
	return changed;
}

bool stores_before(const struct stores *stores, uint64_t address,
		   const struct stores_slot *slot, bool *leaked)
{
	int32_t index = insn_index(stores, address);
	uint8_t *known, unseen = 0;
	bool stored, changed = true;

	known = index >= 0 ? calloc(stores->count, 1) : NULL;
	if (!known)
		return true;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < stores->count; i++) {
			const struct stores_insn *insn = &stores->insns[i];
			uint8_t after;

			if (insn->entered)
				known[i] |= unseen;
			after = slot_step(insn, slot, known[i]);
			changed |= stores_pass_on(known, insn->next, after) |
				   stores_pass_on(known, insn->jump, after) |
				   (insn->leaves && after & ~unseen);
			if (insn->leaves)
				unseen |= after;
		}
	}
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
	for (size_t i = 0; i < effect.count; i++)
		if (!effect.transfers[i].to_memory &&
		    effect.transfers[i].to == number)
			return true;
	return false;
}

bool stores_written(const struct stores *stores, uint64_t address,
		    unsigned int number)
{
	int32_t index = insn_index(stores, address);
	uint8_t *written, found;
	bool changed = true;

	written = index >= 0 ? calloc(stores->count, 1) : NULL;
	if (!written)
		return true;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < stores->count; i++) {
			const struct stores_insn *insn = &stores->insns[i];
			uint8_t after =
				written[i] ||
				stores_writes_register(stores, insn, number);

			changed |= stores_pass_on(written, insn->next, after) |
				   stores_pass_on(written, insn->jump, after);
		}
	}
	found = written[index];
	free(written);
	return found;
}
