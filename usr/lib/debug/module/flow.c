// SPDX-License-Identifier: GPL-2.0
#include "flow.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/array.h"
#include "lib/debug/cfi/cfi.h"
#include "code.h"
#include "module_symbols.h"

#define PARTS_MAX	64
#define BYTES_MAX	(16u << 20)	/* of all parts */
#define LOST_MAX	256
#define INSN_MAX	15		/* bytes of the longest instruction */
#define NO_INSN		"what is there is no instruction"

void *flow_append(struct flow *flow, void *array, size_t *count, size_t *room,
		  size_t size)
{
	if (!array_grow(array, *count, room, size)) {
		flow->failed = true;
		return NULL;
	}
	return *(char **)array + (*count)++ * size;
}

void flow_lose(struct flow *flow, uint64_t address, const char *why)
{
	struct flow_lost *lost;

	for (size_t i = 0; i < flow->lost_count; i++)
		if (flow->lost[i].address == address)
			return;
	if (flow->lost_count == LOST_MAX)
		return;
	lost = flow_append(flow, &flow->lost, &flow->lost_count,
			   &flow->lost_room, sizeof(*lost));
	if (lost)
		*lost = (struct flow_lost) { address, why };
}

static void flow_visit(struct flow *flow, uint64_t address)
{
	uint64_t *todo = flow_append(flow, &flow->todo, &flow->todo_count,
				     &flow->todo_room, sizeof(*todo));

	if (todo)
		*todo = address;
}

struct flow_part *flow_part_find(const struct flow *flow, uint64_t address)
{
	for (size_t i = 0; i < flow->part_count; i++)
		if (address - flow->parts[i].start < flow->parts[i].size)
			return &flow->parts[i];
	return NULL;
}

/* False: it is no code, or too much. */
static bool flow_part_add(struct flow *flow, uint64_t start, uint64_t end)
{
	struct flow_part *part = &flow->parts[flow->part_count], *other;
	const uint8_t *bytes;
	size_t available;

	/* not what another part has */
	while ((other = flow_part_find(flow, start)))
		start = other->start + other->size;
	for (size_t i = 0; i < flow->part_count; i++)
		if (flow->parts[i].start > start && flow->parts[i].start < end)
			end = flow->parts[i].start;
	bytes = module_code(flow->source.module, start, &available, NULL);
	if (!bytes || end <= start || flow->part_count == PARTS_MAX)
		return false;
	if (end - start < available)
		available = end - start;
	if (available > BYTES_MAX - flow->bytes)
		return false;
	part->marks = calloc(available, 1);
	if (!part->marks) {
		flow->failed = true;
		return false;
	}
	part->start = start;
	part->size = available;
	part->bytes = bytes;
	flow->bytes += available;
	flow->part_count++;
	return true;
}

bool flow_insn(const struct flow *flow, const struct flow_part *part,
	       uint32_t at, struct arch_insn *insn)
{
	return code_decode(flow->source.module, part->bytes, part->size, at,
			   part->start + at, flow->held, insn);
}

uint64_t flow_target(const struct flow *flow, uint64_t address,
		     const struct arch_insn *insn)
{
	uint64_t target = address + insn->jump;

	return flow->source.module->elf_class == ELFCLASS64 ?
		       target : (uint32_t)target;
}

static void flow_take_jump(struct flow *flow, uint64_t address,
			   const struct arch_insn *insn)
{
	uint64_t target = flow_target(flow, address, insn);
	struct flow_leaving *leaving;

	if (flow_part_find(flow, target)) {
		flow_visit(flow, target);
		return;
	}
	leaving = flow_append(flow, &flow->leaving, &flow->leaving_count,
			      &flow->leaving_room, sizeof(*leaving));
	if (leaving)
		*leaving = (struct flow_leaving) { address, target };
}

/* Decode from all addresses on that are to do, as far as the code goes. After a
 * call there may be none, because it doesn't return. */
static void follow_all(struct flow *flow)
{
	while (flow->todo_count && !flow->failed) {
		uint64_t address = flow->todo[--flow->todo_count];
		struct flow_part *part = flow_part_find(flow, address);
		uint32_t at = address - part->start;
		struct arch_insn insn = {0};

		while (insn.flow <= ARCH_FLOW_BRANCH && at < part->size &&
		       !(part->marks[at] & FLOW_INSN)) {
			bool called = insn.flow == ARCH_FLOW_CALL;

			if (!flow_insn(flow, part, at, &insn)) {
				if (!called)
					flow_lose(flow, part->start + at,
						  NO_INSN);
				break;
			}
			part->marks[at] |= FLOW_INSN;
			for (uint8_t i = 1; i < insn.length; i++)
				part->marks[at + i] |= FLOW_INNER;
			if (insn.flow == ARCH_FLOW_BRANCH ||
			    insn.flow == ARCH_FLOW_JUMP)
				flow_take_jump(flow, part->start + at, &insn);
			flow->computed |= insn.flow == ARCH_FLOW_COMPUTED;
			at += insn.length;
		}
	}
}

/* Code that nothing was seen to lead to, where a gap is nothing but
 * instructions */
static void follow_gaps(struct flow *flow, struct flow_part *part)
{
	static const uint8_t seen = FLOW_INSN | FLOW_INNER;
	struct arch_insn insn;

	for (uint32_t at = 0; at < part->size && !flow->failed; at++) {
		uint32_t end = at, next = at;

		if (part->marks[at] & seen)
			continue;
		while (end < part->size && !(part->marks[end] & seen))
			end++;
		if (part->marks[at] & FLOW_CLEAN)
			next = end;
		while (next < end && flow->gap_insns++ <= 4ULL * BYTES_MAX &&
		       flow_insn(flow, part, next, &insn)) {
			part->marks[next] |= FLOW_CLEAN;
			next += insn.length;
		}
		if (next == end) {
			flow_visit(flow, part->start + at);
			follow_all(flow);
		} else {
			flow->undecoded = part->start + at;
			at = end - 1;
		}
	}
}

struct flow_frame flow_frame_find(const struct flow *flow, uint64_t address)
{
	const struct arch *arch = flow->source.module->arch;
	struct flow_frame frame = {0};
	Dwarf_Op memory[3], *ops;
	Dwarf_Frame *found;
	size_t count;

	if (!flow->source.cfi ||
	    dwarf_cfi_addrframe(flow->source.cfi, address, &found))
		return frame;
	if (!dwarf_frame_cfa(found, &ops, &count) && count == 1) {
		if (ops->atom == DW_OP_bregx) {
			frame.known = true;
			frame.reg = ops->number;
			frame.offset = ops->number2;
		} else if (ops->atom >= DW_OP_breg0 &&
			   ops->atom <= DW_OP_breg31) {
			frame.known = true;
			frame.reg = ops->atom - DW_OP_breg0;
			frame.offset = ops->number;
		}
	}

	/* The frame has the address to return to at a distance from its end. */
	if (arch->link < 0) {
		frame.has_link = true;
		frame.link = -(int64_t)arch->call_bytes;
	} else if (!dwarf_frame_register(found, arch->link, memory, &ops,
					 &count) &&
		   count && ops[0].atom == DW_OP_call_frame_cfa) {
		frame.has_link = count == 1 ||
				 (count == 2 &&
				  ops[1].atom == DW_OP_plus_uconst);
		frame.link = count == 2 ? ops[1].number : 0;
	}
	free(found);
	return frame;
}

bool flow_frame_is_empty(const struct flow *flow,
			 const struct flow_frame *frame)
{
	const struct arch *arch = flow->source.module->arch;

	return frame->known && frame->reg == arch->stack &&
	       frame->offset == arch->call_bytes;
}

static bool has_frame(const struct flow *flow, uint64_t address)
{
	struct flow_frame frame = flow_frame_find(flow, address);

	return frame.known && !flow_frame_is_empty(flow, &frame);
}

bool flow_name_is_cold(const struct module_symbol *symbol)
{
	static const char cold[] = ".cold";

	return memmem(symbol->name, symbol->name_length, cold,
		      sizeof(cold) - 1);
}

static void settle_leaving(struct flow *flow,
			   const struct flow_leaving *leaving)
{
	const struct module_symbol *symbol;
	const struct module_range *range;

	if (!flow_part_find(flow, leaving->target)) {
		/* The target may be in a part of this function that has a
		 * symbol or a frame description of its own: a tail call would
		 * have given the frame back. */
		symbol = symbol_index_find(flow->source.symbols,
					   leaving->target);
		if (symbol && symbol_has(symbol, leaving->target) ?
			    !flow_name_is_cold(symbol) :
			    !has_frame(flow, leaving->address))
			return;
		range = module_function_find(flow->source.module,
					     leaving->target);
		if (!range || !flow_part_add(flow, range->start, range->end) ||
		    !flow_part_find(flow, leaving->target)) {
			flow_lose(flow, leaving->address,
				  "it jumps to code whose end isn't known");
			return;
		}
	}
	flow_visit(flow, leaving->target);
}

static void flow_mark_targets(struct flow *flow, const struct flow_part *part)
{
	const struct module *module = flow->source.module;
	bool user = module->kind == TDF_MODULE_USER, held = flow->held;

	for (uint32_t at = 0; at < part->size; at++) {
		struct flow_part *other;
		struct arch_insn insn;
		uint64_t target;

		if (!(part->marks[at] & FLOW_INSN))
			continue;
		held |= arch_insn_held(module->arch, part->bytes, at, user) !=
			NULL;
		if (!flow_insn(flow, part, at, &insn) || !insn.jump)
			continue;
		target = flow_target(flow, part->start + at, &insn);
		other = flow_part_find(flow, target);
		if (other)
			other->marks[target - other->start] |= FLOW_TARGET;
	}
	flow->held = held;
}

int flow_decode(struct flow *flow, const struct flow_source *source,
		uint64_t entry, const struct module_range *ranges,
		size_t range_count)
{
	size_t settled;

	memset(flow, 0, sizeof(*flow));
	flow->source = *source;
	flow->parts = calloc(PARTS_MAX, sizeof(*flow->parts));
	if (!flow->parts)
		return -ENOMEM;
	for (size_t i = 0; i < range_count && !flow->failed; i++)
		if (!flow_part_add(flow, ranges[i].start, ranges[i].end))
			flow_lose(flow, ranges[i].start,
				  "there is more code than is looked at");

	/* Parts that are found on the way are decoded as well. */
	settled = 0;
	if (flow_part_find(flow, entry))
		flow_visit(flow, entry);
	do {
		follow_all(flow);
		while (settled < flow->leaving_count && !flow->failed) {
			struct flow_leaving leaving = flow->leaving[settled++];

			settle_leaving(flow, &leaving);
			follow_all(flow);
		}
		if (flow->computed || flow->source.landing_pads)
			for (size_t i = 0; i < flow->part_count; i++)
				follow_gaps(flow, &flow->parts[i]);
	} while (settled < flow->leaving_count && !flow->failed);

	for (size_t i = 0; i < flow->part_count; i++)
		flow_mark_targets(flow, &flow->parts[i]);
	if (!flow->failed)
		return 0;
	flow_free(flow);
	return -ENOMEM;
}

void flow_free(struct flow *flow)
{
	for (size_t i = 0; i < flow->part_count; i++)
		free(flow->parts[i].marks);
	free(flow->parts);
	free(flow->lost);
	free(flow->todo);
	free(flow->leaving);
	memset(flow, 0, sizeof(*flow));
}

int64_t flow_insn_before(const struct flow *flow, const struct flow_part *part,
			 uint32_t at, struct arch_insn *insn)
{
	int64_t found = -1;

	for (uint32_t back = 1; back <= INSN_MAX && back <= at; back++) {
		struct arch_insn before;

		if (!(part->marks[at - back] & FLOW_INSN) ||
		    !flow_insn(flow, part, at - back, &before) ||
		    before.length != back)
			continue;
		if (found >= 0)
			return -1;
		found = at - back;
		*insn = before;
	}
	return found;
}

bool flow_calls_itself(const struct flow *flow, const struct flow_part *part,
		       uint32_t at, const struct arch_insn *insn,
		       uint64_t entry)
{
	struct flow_frame frame;
	struct arch_insn before;
	int64_t back = at;

	if (insn->flow != ARCH_FLOW_JUMP ||
	    flow_target(flow, part->start + at, insn) != entry)
		return false;
	frame = flow_frame_find(flow, part->start + at);
	if (!flow_frame_is_empty(flow, &frame))
		return false;
	while (!(part->marks[back] & FLOW_TARGET)) {
		back = flow_insn_before(flow, part, back, &before);
		if (back < 0 || before.flow != ARCH_FLOW_NEXT)
			return false;
		if (has_frame(flow, part->start + back))
			return true;
	}
	return false;
}

static int landing_take(void *context, const struct cfi_function *function)
{
	struct landings *landings = context;

	if (!function->table)
		return 0;
	if (!array_grow(&landings->list, landings->count, &landings->room,
			sizeof(*landings->list)))
		return -ENOMEM;
	landings->list[landings->count++] = (struct landing) {
		function->begin, function->table,
	};
	return 0;
}

int landings_find(struct landings *landings, const struct module *module)
{
	struct cfi_section section;
	int code = 0;

	landings->known = true;
	if (cfi_section_find(module->elf, &section))
		code = cfi_each(&section, landing_take, landings);
	if (landings->count)
		qsort(landings->list, landings->count,
		      sizeof(*landings->list), array_compare);
	return code;
}

void landings_free(struct landings *landings)
{
	free(landings->list);
	memset(landings, 0, sizeof(*landings));
}

/* Mark the landing pads of a table (Itanium C++ ABI: Exception Handling). */
static void table_mark(const struct landing *landing, struct flow *flow)
{
	const struct module *module = flow->source.module;
	unsigned int word = module->elf_class == ELFCLASS64 ? 8 : 4;
	uint64_t base = landing->start, size;
	struct cursor c = { .address = landing->table };
	size_t available;
	uint8_t encoding;

	c.at = pointers_bytes(module, landing->table, &available);
	if (!c.at)
		return;
	c.end = c.at + available;
	encoding = cursor_fixed(&c, 1);
	if (encoding != DW_EH_PE_omit)
		base = cfi_pointer(&c, encoding, word);
	if (cursor_fixed(&c, 1) != DW_EH_PE_omit)
		cursor_uleb(&c);
	encoding = cursor_fixed(&c, 1);
	size = cursor_uleb(&c);
	if (c.failed || size > (size_t)(c.end - c.at))
		return;
	c.end = c.at + size;
	while (c.at < c.end) {
		struct flow_part *part;
		uint64_t pad;

		cfi_pointer(&c, encoding, word);	/* start */
		cfi_pointer(&c, encoding, word);	/* length */
		pad = cfi_pointer(&c, encoding, word);
		cursor_uleb(&c);			/* action */
		part = pad && !c.failed ? flow_part_find(flow, base + pad) :
					  NULL;
		if (part)
			part->marks[base + pad - part->start] |= FLOW_TARGET;
	}
}

void landings_mark(const struct landings *landings, struct flow *flow)
{
	for (size_t i = 0; i < flow->part_count; i++) {
		const struct flow_part *part = &flow->parts[i];
		size_t l = array_count_upto(landings->list, landings->count,
					    sizeof(*landings->list),
					    part->start);

		while (l && landings->list[l - 1].start == part->start)
			l--;
		for (; l < landings->count &&
		       landings->list[l].start - part->start < part->size; l++)
			table_mark(&landings->list[l], flow);
	}
}
