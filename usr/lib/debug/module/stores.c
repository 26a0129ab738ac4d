// SPDX-License-Identifier: GPL-2.0
#include "stores.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INSNS_MAX	100000
#define WRITES_MAX	2	/* as in struct arch_effect */
#define LEAKS_MAX	8
#define DEPTHS_MAX	64	/* of a stack pointer */

/* A register: nothing, where no way has led yet. */
enum kind { KIND_NONE, KIND_OTHER, KIND_FRAME, KIND_ANY };

struct value {
	enum kind kind;
	int32_t offset;
};

struct write {
	int32_t low, high;	/* low == high: none that is known */
};

struct insn {
	uint64_t address;
	const uint8_t *bytes;
	struct arch_insn insn;
	struct value registers[ARCH_REGISTERS];	/* in front of it */
	int32_t next, jump;	/* indices; -1: none */
	int described;		/* the register whose value is from the frame's
				 * description (CFI); -1: none */
	bool jumped;		/* a jump of the function leads to it */
	bool entered;		/* ways that aren't seen do */
	bool leaves;		/* ... begin at it */
	bool reached, waits;
	/* what it does to the frame */
	struct write writes[WRITES_MAX];	/* of the transfers to memory */
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
	struct insn *insns;	/* ascending by address */
	size_t count;
	int32_t settled;	/* the stack pointer, most of the time; 0: not
				 * known */
	int32_t *todo;
	size_t todo_count;
};

static int insn_compare(const void *a, const void *b)
{
	const struct insn *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int32_t insn_index(const struct stores *s, uint64_t address)
{
	struct insn key = { .address = address };
	const struct insn *found = bsearch(&key, s->insns, s->count,
					   sizeof(key), insn_compare);

	return found ? found - s->insns : -1;
}

static struct value join(struct value a, struct value b)
{
	if (a.kind == KIND_NONE || b.kind == KIND_NONE)
		return a.kind == KIND_NONE ? b : a;
	if (a.kind == b.kind && a.offset == b.offset)
		return a;
	return (struct value){ KIND_ANY };
}

static void visit(struct stores *s, int32_t index, const struct value *values)
{
	struct insn *insn = &s->insns[index];
	bool changed = !insn->reached;

	for (unsigned int i = 0; i < ARCH_REGISTERS; i++) {
		struct value value = join(insn->registers[i], values[i]);

		if ((int)i == insn->described)
			continue;
		changed |= value.kind != insn->registers[i].kind;
		insn->registers[i] = value;
	}
	insn->reached = true;
	if (changed && !insn->waits) {
		insn->waits = true;
		s->todo[s->todo_count++] = index;
	}
}

static bool is_frame(struct value value)
{
	return value.kind == KIND_FRAME || value.kind == KIND_ANY;
}

/* Some register that the effect may go by leads to the frame. */
static bool uses_frame(const struct insn *insn,
		       const struct arch_effect *effect)
{
	for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
		if (effect->uses >> i & 1 && is_frame(insn->registers[i]))
			return true;
	return false;
}

static struct value transfer_value(const struct stores *s,
				   const struct insn *insn,
				   const struct arch_effect *effect,
				   const struct arch_transfer *transfer)
{
	struct value value = { KIND_OTHER };

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
static bool is_call(const struct insn *insn)
{
	return insn->insn.flow == ARCH_FLOW_CALL &&
	       insn->insn.jump != insn->insn.length;
}

static bool find_effect(const struct stores *s, const struct insn *insn,
			struct arch_effect *effect)
{
	return arch_effect_find(s->arch, insn->bytes, insn->insn.length,
				insn->address, effect) && effect->known;
}

/* The registers after the instruction, from those before it. */
static void step(const struct stores *s, const struct insn *insn,
		 struct value *values)
{
	struct arch_effect effect;

	memcpy(values, insn->registers, sizeof(insn->registers));
	if (is_call(insn)) {
		/* By the calling convention; what a call leaves in others is no
		 * address in the frame unless it was given one. */
		for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
			if (i != s->arch->stack &&
			    !arch_register_is_kept(s->arch, i))
				values[i] = (struct value){ KIND_OTHER };

		return;
	}
	if (!find_effect(s, insn, &effect)) {
		for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
			if (i != s->arch->stack && i != s->arch->frame)
				values[i] = (struct value){ KIND_ANY };
		return;
	}
	for (size_t i = 0; i < effect.count; i++) {
		const struct arch_transfer *transfer = &effect.transfers[i];
		struct value value = transfer_value(s, insn, &effect,
						    transfer);

		if (transfer->to_memory || transfer->to >= ARCH_REGISTERS)
			continue;
		if (transfer->part && transfer->part < s->width &&
		    is_frame(values[transfer->to]))
			value.kind = KIND_ANY;
		values[transfer->to] = value;
	}
}

/* Where the stack pointer isn't known, the frame's description may have it. */
static void describe(const struct stores *s, struct insn *insn)
{
	struct flow_frame frame;

	if (insn->described >= 0 ||
	    insn->registers[s->arch->stack].kind == KIND_FRAME)
		return;
	frame = flow_frame_find(s->flow, insn->address);
	if (!frame.known || frame.reg >= ARCH_REGISTERS)
		return;
	insn->described = frame.reg;
	insn->registers[frame.reg] = (struct value) {
		KIND_FRAME, -frame.offset,
	};
}

static void follow(struct stores *s)
{
	struct value values[ARCH_REGISTERS];

	while (s->todo_count) {
		struct insn *insn = &s->insns[s->todo[--s->todo_count]];

		insn->waits = false;
		describe(s, insn);
		step(s, insn, values);
		if (insn->next >= 0)
			visit(s, insn->next, values);
		if (insn->jump >= 0)
			visit(s, insn->jump, values);
	}
}

/* Ways that aren't seen: anything may be in the registers. */
static void enter(struct stores *s, int32_t index)
{
	struct value values[ARCH_REGISTERS];

	for (unsigned int i = 0; i < ARCH_REGISTERS; i++)
		values[i] = (struct value){ KIND_ANY };
	s->insns[index].entered = true;
	visit(s, index, values);
}

static void leak(struct insn *insn, struct value value)
{
	if (value.kind == KIND_ANY || insn->leak_count == LEAKS_MAX)
		insn->leaks_any |= is_frame(value);
	else if (value.kind == KIND_FRAME)
		insn->leaks[insn->leak_count++] = value.offset;
}

static void note_write(struct insn *insn, const struct arch_effect *effect,
		       const struct arch_memory *memory, size_t number)
{
	struct value base = { KIND_OTHER };

	if (memory->space == ARCH_SPACE_UNKNOWN)
		base.kind = uses_frame(insn, effect) ? KIND_ANY : KIND_OTHER;
	else if (memory->space != ARCH_SPACE_BASE)
		return;		/* static and thread-local variables */
	else if (memory->base < ARCH_REGISTERS)
		base = insn->registers[memory->base];
	if (base.kind == KIND_FRAME && memory->bytes && number < WRITES_MAX)
		insn->writes[number] = (struct write) {
			base.offset + memory->number,
			base.offset + memory->number + memory->bytes,
		};
	else if (is_frame(base))
		insn->stores_any = true;
	else
		insn->stores_through = true;
}

static void note(const struct stores *s, struct insn *insn)
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
	if (!find_effect(s, insn, &effect)) {
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
		struct insn *insn = &s->insns[i];
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
		struct insn *insn = &s->insns[i];
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
		struct insn insn = {
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

static int take_flow(struct stores *s)
{
	size_t count = 0;

	if (s->flow->lost_count || s->flow->undecoded)
		return -ENOENT;
	for (size_t i = 0; i < s->flow->part_count; i++)
		count += part_insns(s, &s->flow->parts[i], true);
	if (count > INSNS_MAX)
		return -ENOENT;
	s->insns = calloc(count + 1, sizeof(*s->insns));
	if (!s->insns)
		return -ENOMEM;
	for (size_t i = 0; i < s->flow->part_count; i++)
		part_insns(s, &s->flow->parts[i], false);
	qsort(s->insns, s->count, sizeof(*s->insns), insn_compare);
	return 0;
}

static int take_block(struct stores *s, const struct block *block)
{
	s->insns = calloc(block->count, sizeof(*s->insns));
	if (!s->insns)
		return -ENOMEM;
	for (size_t i = 0; i < block->count; i++)
		s->insns[s->count++] = (struct insn) {
			.address = block->insns[i].address,
			.bytes = block->insns[i].bytes,
			.insn = block->insns[i].insn,
		};
	return 0;
}

struct depth {
	int32_t offset;
	size_t count;
};

static void depth_count(struct depth *depths, size_t *count, int32_t offset)
{
	size_t i = 0;

	while (i < *count && depths[i].offset != offset)
		i++;
	if (i == DEPTHS_MAX)
		return;
	if (i == *count)
		depths[(*count)++] = (struct depth){ .offset = offset };
	depths[i].count++;
}

/* Where the stack pointer is most of the time, when the frame isn't empty. */
static void settle(struct stores *s)
{
	struct depth depths[DEPTHS_MAX], most = {0};
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct value at = s->insns[i].registers[s->arch->stack];

		if (at.kind == KIND_FRAME &&
		    at.offset != -(int32_t)s->arch->call_bytes)
			depth_count(depths, &count, at.offset);
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
	struct value values[ARCH_REGISTERS];
	int32_t first;

	*stores = NULL;
	if (!s)
		return -ENOMEM;
	s->flow = flow;
	s->arch = flow->source.module->arch;
	s->width = flow->source.module->elf_class == ELFCLASS64 ? 8 : 4;
	code = block ? take_block(s, block) : take_flow(s);
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
		values[i] = (struct value){ KIND_OTHER };
	values[s->arch->stack] = (struct value) {
		KIND_FRAME, -(int32_t)s->arch->call_bytes,
	};
	if (first >= 0)
		visit(s, first, values);
	for (size_t i = 0; i < s->count; i++)
		if (s->insns[i].entered)
			enter(s, i);
	follow(s);
	for (size_t i = 0; i < s->count; i++) {
		if (s->insns[i].reached)
			continue;
		enter(s, i);
		follow(s);
	}
	for (size_t i = 0; i < s->count; i++)
		note(s, &s->insns[i]);
	if (!block)
		settle(s);
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
	struct value value;

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

static bool leaks_slot(const struct insn *insn, const struct stores_slot *slot)
{
	bool bounds = slot->object_low < slot->object_high;

	for (size_t i = 0; i < insn->leak_count; i++)
		if (!bounds || (insn->leaks[i] >= slot->object_low &&
				insn->leaks[i] < slot->object_high))
			return true;
	return insn->leaks_any;
}

/* What is known of the slot after the instruction. */
static uint8_t slot_step(const struct insn *insn,
			 const struct stores_slot *slot, uint8_t known)
{
	if (leaks_slot(insn, slot))
		known |= SLOT_LEAKED;
	if (insn->stores_any || (insn->stores_through && known & SLOT_LEAKED))
		known |= SLOT_STORED;
	for (size_t i = 0; i < WRITES_MAX; i++)
		if (insn->writes[i].low < slot->high &&
		    slot->low < insn->writes[i].high)
			known |= SLOT_STORED;
	return known;
}

static bool pass_on(uint8_t *known, int32_t to, uint8_t more)
{
	bool changed = to >= 0 && more & ~known[to];

	if (to >= 0)
		known[to] |= more;
	return changed;
}

/* One pass over the code; true: there may be more to come. */
static bool slot_pass(const struct stores *s, const struct stores_slot *slot,
		      uint8_t *known, uint8_t *unseen)
{
	bool changed = false;

	for (size_t i = 0; i < s->count; i++) {
		const struct insn *insn = &s->insns[i];
		uint8_t after;

		if (insn->entered)
			known[i] |= *unseen;
		after = slot_step(insn, slot, known[i]);
		changed |= pass_on(known, insn->next, after) |
			   pass_on(known, insn->jump, after);
		if (insn->leaves && after & ~*unseen) {
			*unseen |= after;
			changed = true;
		}
	}
	return changed;
}

bool stores_before(const struct stores *stores, uint64_t address,
		   const struct stores_slot *slot, bool *leaked)
{
	int32_t index = insn_index(stores, address);
	uint8_t *known, unseen = 0;
	bool stored;

	known = index >= 0 ? calloc(stores->count, 1) : NULL;
	if (!known)
		return true;
	while (slot_pass(stores, slot, known, &unseen))
		;
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
	const struct insn *insn;

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
static bool writes_register(const struct stores *s, const struct insn *insn,
			    unsigned int number)
{
	struct arch_effect effect;

	if (is_call(insn))
		return !arch_register_is_kept(s->arch, number) &&
		       !module_function_find(s->flow->source.module,
					     flow_target(s->flow, insn->address,
							 &insn->insn));
	if (!find_effect(s, insn, &effect))
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
			const struct insn *insn = &stores->insns[i];
			uint8_t behind = written[i] ||
					 writes_register(stores, insn, number);

			changed |= pass_on(written, insn->next, behind) |
				   pass_on(written, insn->jump, behind);
		}
	}
	found = written[index];
	free(written);
	return found;
}
