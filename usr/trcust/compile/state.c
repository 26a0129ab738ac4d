// SPDX-License-Identifier: GPL-2.0
#include "state.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

void state_begin(struct state *state, const struct arch *arch, int frame,
		 bool fresh)
{
	char name[16];

	memset(state, 0, sizeof(*state));
	state->arch = arch;
	state->width = arch->elf_class == ELFCLASS64 ? 8 : 4;
	state->stack = arch->stack;
	state->frame = frame;
	state->fresh = fresh;
	state->escaped = SIZE_MAX;
	/* what isn't a general register stays unknown */
	for (unsigned int i = 0; i < ARCH_REGISTERS; i++) {
		bool general = i != arch->ip && i != arch->flags &&
			       arch_register_print(arch, i, name, sizeof(name));

		state->registers[i] = (struct state_value) {
			.base = general ? i : STATE_NONE,
			.bytes = state->width, .known = 8,
		};
	}
	for (unsigned int i = 0; i < ARCH_VECTORS; i++)
		state->low[i] = (struct state_value) {
			.base = i < arch->vector_count ? STATE_VECTORS + i :
							 STATE_NONE,
			.bytes = 8, .known = 8,
		};
}

void state_end(struct state *state)
{
	free(state->others);
	free(state->writes);
}

bool state_is_linear(const struct state *state, const struct state_value *value)
{
	return value->base != STATE_NONE && value->bytes >= state->width &&
	       value->known >= state->width;
}

bool state_is_stack(const struct state *state, const struct state_value *value)
{
	return state_is_linear(state, value) &&
	       (value->base == state->stack ||
		(int)value->base == state->frame);
}

bool state_is_clean(const struct state *state, unsigned int base)
{
	if (base >= STATE_OTHERS)
		return state->others[base - STATE_OTHERS].clean;
	return base != state->stack && base != STATE_NONE;
}

bool state_is_alike(const struct state_value *a, const struct state_value *b)
{
	return a->base == b->base && a->base != STATE_NONE &&
	       a->add == b->add && a->bytes == b->bytes &&
	       a->is_signed == b->is_signed;
}

bool state_is_same(const struct state *state, const struct state_value *a,
		   const struct state_value *b)
{
	return state_is_alike(a, b) && a->known >= state->width &&
	       b->known >= state->width;
}

bool state_leads_clean(const struct state *state,
		       const struct state_value *address, bool clean)
{
	if (address->base != state->stack)
		return clean;
	return state_is_linear(state, address) && address->add >= 0;
}

static bool is_clean_range(const struct state *state,
			   const struct state_range *range)
{
	return range->address.base == STATE_NONE ?
	       range->clean : state_is_clean(state, range->address.base);
}

bool state_extend(const struct state_value *value, int64_t add,
		  unsigned int bytes, bool is_signed, struct state_value *out)
{
	unsigned int unused;

	if (value->base == STATE_NONE || !bytes || bytes > value->known)
		return false;
	is_signed &= bytes < 8;
	if (value->base != STATE_NUMBER && bytes > value->bytes) {
		if (add)
			return false;
		/* the bytes above the value's own are zeros, or its sign */
		*out = *value;
		out->known = value->is_signed && !is_signed ? bytes : 8;
		return true;
	}
	*out = *value;
	out->add = (uint64_t)value->add + add;
	out->bytes = bytes;
	out->known = 8;
	out->is_signed = is_signed;
	if (value->base == STATE_NUMBER) {
		unused = 64 - 8 * bytes;
		out->add = (uint64_t)out->add << unused;
		out->add = is_signed ? out->add >> unused :
				       (int64_t)((uint64_t)out->add >> unused);
		out->bytes = 8;
		out->is_signed = false;
	}
	return true;
}

/* A value that nothing else has. */
static struct state_value other_new(struct state *state, unsigned int bytes,
				    bool clean)
{
	struct state_value none = { .base = STATE_NONE };

	if (!array_grow(&state->others, state->other_count, &state->other_room,
			sizeof(*state->others))) {
		state->failed = true;
		return none;
	}
	state->others[state->other_count] = (struct state_other) {
		.clean = clean, .copied = { .base = STATE_NONE },
	};
	return (struct state_value) {
		.base = STATE_OTHERS + state->other_count++, .bytes = bytes,
		.known = 8,
	};
}

/* Below the stack pointer where the code begins. */
static bool is_fresh(const struct state *state, const struct state_range *range)
{
	const struct state_value *address = &range->address;

	return state->fresh && address->base == state->stack &&
	       state_is_linear(state, address) && range->bytes &&
	       address->add < 0 && address->add + (int64_t)range->bytes <= 0;
}

/* Static and thread-local variables are neither on the stack nor each the
 * other's. */
static bool is_apart(const struct state *state, const struct state_value *a,
		     const struct state_value *b)
{
	bool fixed_a = a->base == STATE_FIXED, fixed_b = b->base == STATE_FIXED;
	bool thread_a = a->base == STATE_THREAD;
	bool thread_b = b->base == STATE_THREAD;

	return ((fixed_a || thread_a) &&
		(state_is_stack(state, b) || fixed_b || thread_b)) ||
	       ((fixed_b || thread_b) && state_is_stack(state, a));
}

static enum state_relation relate(const struct state *state,
				  const struct state_range *a,
				  const struct state_range *b)
{
	const struct state_value *x = &a->address, *y = &b->address;
	int64_t distance = (uint64_t)x->add - y->add;

	if (x->base != y->base || !state_is_linear(state, x) ||
	    !state_is_linear(state, y)) {
		if ((x->base != y->base && is_apart(state, x, y)) ||
		    (is_fresh(state, a) && is_clean_range(state, b)) ||
		    (is_fresh(state, b) && is_clean_range(state, a)))
			return STATE_DISJOINT;
		return STATE_OVERLAP;
	}
	if (state->width < 8)
		distance = (int32_t)distance;
	if (!a->bytes || !b->bytes)
		return STATE_OVERLAP;
	if (distance >= b->bytes || distance <= -(int64_t)a->bytes)
		return STATE_DISJOINT;
	return distance >= 0 && distance + a->bytes <= b->bytes ? STATE_INSIDE :
								  STATE_OVERLAP;
}

const struct state_write *state_write_find(const struct state *state,
					   const struct state_range *range,
					   size_t before,
					   enum state_relation *relation)
{
	for (size_t i = state->write_count; i--;) {
		const struct state_write *write = &state->writes[i];

		if (write->at >= before)
			continue;
		*relation = relate(state, range, &write->to);
		if (*relation != STATE_DISJOINT)
			return write;
	}
	return NULL;
}

static bool state_has_register(const struct state *state, unsigned int number)
{
	return number < ARCH_REGISTERS &&
	       state->registers[number].base != STATE_NONE;
}

struct state_range state_range_of(const struct state *state,
				  const struct arch_memory *memory)
{
	struct state_range range = {
		.address = {
			.base = STATE_NONE, .bytes = state->width, .known = 8,
		},
		.bytes = memory->bytes,
	};

	switch (memory->space) {
	case ARCH_SPACE_BASE:
		if (state_has_register(state, memory->base))
			state_extend(&state->registers[memory->base],
				     memory->number, state->width, false,
				     &range.address);
		break;
	case ARCH_SPACE_FIXED:
		range.address.base = STATE_FIXED;
		range.address.add = memory->number;
		break;
	case ARCH_SPACE_THREAD:
		range.address.base = STATE_THREAD;
		range.address.add = memory->number;
		break;
	case ARCH_SPACE_UNKNOWN:
		break;
	}
	return range;
}

static bool is_clean_read(const struct state *state,
			  const struct state_range *range)
{
	return state->escaped == SIZE_MAX &&
	       state_leads_clean(state, &range->address,
				 is_clean_range(state, range));
}

/* What it had at the beginning: all reads yield the same. */
static struct state_value range_new(struct state *state,
				    const struct state_range *range)
{
	struct state_value value;

	for (size_t i = 0; i < state->other_count; i++) {
		const struct state_other *other = &state->others[i];

		if (other->is_memory && other->memory.bytes == range->bytes &&
		    state_is_same(state, &other->memory.address,
				  &range->address))
			return (struct state_value) {
				.base = STATE_OTHERS + i,
				.bytes = range->bytes, .known = 8,
			};
	}
	value = other_new(state, range->bytes, is_clean_read(state, range));
	if (!state->failed) {
		state->others[state->other_count - 1].is_memory = true;
		state->others[state->other_count - 1].memory = *range;
	}
	return value;
}

static struct state_value range_read(struct state *state,
				     const struct state_range *range)
{
	unsigned int bytes = range->bytes;
	const struct state_write *write;
	enum state_relation relation;
	struct state_value value;
	bool clean = is_clean_read(state, range);

	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return other_new(state, 8, false);
	write = state_write_find(state, range, SIZE_MAX, &relation);
	if (!write && range->address.base != STATE_NONE)
		return range_new(state, range);
	if (write && relation == STATE_INSIDE &&
	    write->to.address.add == range->address.add &&
	    state_extend(&write->value, 0, bytes, false, &value))
		return value;
	return other_new(state, bytes, clean);
}

static struct state_value transfer_read(struct state *state,
					const struct arch_transfer *transfer)
{
	struct state_value from = {
		.base = STATE_NONE, .bytes = 8, .known = 8,
	}, value;
	unsigned int bytes = state->width, known;
	struct state_range range;

	if (transfer->to_memory)
		bytes = transfer->memory.bytes && transfer->memory.bytes < 8 ?
			transfer->memory.bytes : 8;
	switch (transfer->source) {
	case ARCH_SOURCE_CONSTANT:
		from.base = STATE_NUMBER;
		break;
	case ARCH_SOURCE_ADDRESS:
		from.base = STATE_FIXED;
		break;
	case ARCH_SOURCE_REGISTER:
		if (transfer->reg == state->arch->thread)
			from.base = STATE_THREAD;
		else if (state_has_register(state, transfer->reg))
			from = state->registers[transfer->reg];
		break;
	case ARCH_SOURCE_MEMORY:
		range = state_range_of(state, &transfer->memory);
		from = range_read(state, &range);
		break;
	case ARCH_SOURCE_UNKNOWN:
		break;
	}
	if (state_extend(&from,
			 transfer->source == ARCH_SOURCE_MEMORY ?
				 0 : transfer->number,
			 transfer->bytes, transfer->is_signed, &value)) {
		if (transfer->to_memory)
			return value;
		/* only a part of a register may be known; the sign goes as far
		 * as that is wide */
		known = transfer->part ? transfer->part :
			transfer->is_signed ? state->width : 8;
		if (value.known > known)
			value.known = known;
		if (value.bytes > known && value.base != STATE_NUMBER) {
			value.bytes = known;
			value.is_signed = false;
		}
		return value;
	}
	value = other_new(state, bytes,
			  transfer->source != ARCH_SOURCE_UNKNOWN &&
			  from.base != STATE_NONE &&
			  state_is_clean(state, from.base));
	if (transfer->source == ARCH_SOURCE_REGISTER && !transfer->number &&
	    !state->failed)
		state->others[state->other_count - 1].copied = from;
	return value;
}

/* A store without a read has a register of another kind for its source, if it
 * has none that is known. Less than an address is none. */
static void step_writes(struct state *state, size_t at,
			const struct arch_effect *effect,
			const struct state_range *ranges,
			const struct state_value *values)
{
	bool plain = !effect->read_count && !state->vectors, clean;

	for (size_t i = 0; i < effect->count; i++) {
		const struct arch_transfer *transfer = &effect->transfers[i];

		if (!transfer->to_memory)
			continue;
		if (!array_grow(&state->writes, state->write_count,
				&state->write_room, sizeof(*state->writes))) {
			state->failed = true;
			return;
		}
		state->writes[state->write_count++] = (struct state_write) {
			.at = at, .to = ranges[i], .value = values[i],
		};
		clean = transfer->source == ARCH_SOURCE_UNKNOWN ? plain :
			state_is_clean(state, values[i].base);
		if (!clean && state->escaped == SIZE_MAX &&
		    (!ranges[i].bytes || ranges[i].bytes >= state->width))
			state->escaped = at;
	}
}

/* What the instruction copies from or to a vector register. */
static struct state_value copy_read(struct state *state,
				    const struct arch_effect *effect)
{
	struct state_value from = { .base = STATE_NONE }, value;
	struct arch_memory memory = effect->reads[0];
	struct state_range range;

	switch (effect->copy.kind) {
	case ARCH_VECTOR_COPY: case ARCH_VECTOR_STORE: case ARCH_VECTOR_GET:
		from = state->low[effect->copy.from];
		break;
	case ARCH_VECTOR_SET:
		if (state_has_register(state, effect->copy.from))
			from = state->registers[effect->copy.from];
		break;
	case ARCH_VECTOR_LOAD:
		memory.bytes = effect->copy.bytes;
		range = state_range_of(state, &memory);
		from = range_read(state, &range);
		break;
	case ARCH_VECTOR_NONE:
		break;
	}
	return state_extend(&from, 0, effect->copy.bytes, false, &value) ?
		       value : (struct state_value){ .base = STATE_NONE };
}

static void copy_write(struct state *state, const struct arch_effect *effect,
		       const struct arch_insn *insn,
		       const struct state_value *value)
{
	bool sets = effect->copy.kind == ARCH_VECTOR_COPY ||
		    effect->copy.kind == ARCH_VECTOR_SET ||
		    effect->copy.kind == ARCH_VECTOR_LOAD;

	for (unsigned int i = 0; i < ARCH_VECTORS; i++)
		if (insn->flow == ARCH_FLOW_CALL)
			state->low[i].base = STATE_NONE;
		else if (effect->vectors >> i & 1)
			state->low[i] = other_new(state, 8, false);
	if (sets && value->base != STATE_NONE)
		state->low[effect->copy.to] = *value;
}

void state_step(struct state *state, size_t at, const struct arch_insn *insn,
		const struct arch_effect *effect)
{
	struct state_value values[ARCH_TRANSFERS];
	struct state_range ranges[ARCH_TRANSFERS];
	struct state_value copied;

	for (size_t i = 0; i < effect->count; i++) {
		values[i] = transfer_read(state, &effect->transfers[i]);
		ranges[i] = state_range_of(state, &effect->transfers[i].memory);
	}
	copied = copy_read(state, effect);
	for (size_t i = 0; i < effect->count && copied.base != STATE_NONE; i++)
		if (effect->transfers[i].to_memory ?
			    effect->copy.kind == ARCH_VECTOR_STORE :
			    effect->copy.kind == ARCH_VECTOR_GET &&
			    effect->transfers[i].to == effect->copy.to)
			values[i] = copied;
	step_writes(state, at, effect, ranges, values);
	for (size_t i = 0; i < effect->count; i++)
		if (!effect->transfers[i].to_memory &&
		    state_has_register(state, effect->transfers[i].to))
			state->registers[effect->transfers[i].to] = values[i];
	copy_write(state, effect, insn, &copied);
	/* what neither reads nor writes memory or a general register may move
	 * one of these to a register of another kind */
	state->vectors |= !effect->count && !effect->write_count &&
			  !effect->read_count && !insn->padding &&
			  insn->flow == ARCH_FLOW_NEXT;
}
