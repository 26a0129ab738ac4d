// SPDX-License-Identifier: GPL-2.0
#include "calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/debug/arch/arch.h"
#include "module_symbols.h"

#define CLOSED_MAX	16	/* functions */
#define REACHED_MAX	50000
#define CODE_MAX	(16u << 20)	/* bytes that are looked at as a whole */
#define STUB_MAX	5	/* instructions of an entry in the PLT */
#define AFTER_MAX	16	/* after a call */
#define BEFORE_MAX	12	/* instructions looked at before a jump */

struct call_target {
	uint32_t number;	/* of the function */
	bool middle;		/* jumped into, not called */
};

struct call_node {
	struct call_target *callees;
	size_t count, room;
	bool known;		/* it was looked at */
	bool open;		/* calls what isn't known */
	bool stack;		/* takes the stack pointer from elsewhere */
};

struct call_slot {
	uint64_t address;
	const char *name;
};

struct calls {
	const struct module *module;
	struct call_node *nodes;	/* one for each function of the module */
	uint32_t *seen;		/* in which round */
	uint32_t round;
	uint32_t *todo;		/* one for each function, too */
	struct call_slot *slots;	/* of imported functions, by address */
	size_t slot_count, slot_room;
	bool stack_known, stack;
	/* by function; NULL: not looked at yet */
	enum { RESULT_UNCALLED, RESULT_IGNORED, RESULT_USED } *results;
	bool failed;		/* out of memory; sticks */
};

/* Functions of the C library that return, and call nothing that a program
 * could have put there; malloc() may, which returns, too. */
static const char *const plain[] = {
	"__assert_fail", "__ctype_b_loc", "__ctype_tolower_loc",
	"__ctype_toupper_loc", "__errno_location", "__memcpy_chk",
	"__memmove_chk", "__memset_chk", "__stack_chk_fail", "__strcat_chk",
	"__strcpy_chk", "__strncpy_chk", "abort", "bcmp", "calloc", "free",
	"getpid", "gettimeofday", "malloc", "memchr", "memcmp", "memcpy",
	"memmove", "mempcpy", "memrchr", "memset", "realloc", "stpcpy",
	"strcasecmp", "strcat", "strchr", "strchrnul", "strcmp", "strcpy",
	"strcspn", "strlen", "strncasecmp", "strncmp", "strncpy", "strnlen",
	"strpbrk", "strrchr", "strspn", "strstr", "strtol", "strtoul", "time",
	"tolower", "toupper",
};

/* Slots that the loader fills with the addresses of imported functions */
static void slots_find(struct calls *calls)
{
	Elf *elf = calls->module->elf;
	GElf_Shdr sh, table_sh;
	Elf_Scn *scn = NULL;
	GElf_Rela rela;
	GElf_Sym symbol;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data, *symbols;
		Elf_Scn *table;

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC) ||
		    (sh.sh_type != SHT_RELA && sh.sh_type != SHT_REL))
			continue;
		data = elf_getdata(scn, NULL);
		table = elf_getscn(elf, sh.sh_link);
		if (!data || !table || !gelf_getshdr(table, &table_sh) ||
		    table_sh.sh_type != SHT_DYNSYM ||
		    !(symbols = elf_getdata(table, NULL)))
			continue;
		for (int i = 0; module_relocation(data, &sh, i, &rela); i++) {
			size_t number = GELF_R_SYM(rela.r_info);
			const char *name =
				number && gelf_getsym(symbols, number, &symbol) ?
					elf_strptr(elf, table_sh.sh_link,
						   symbol.st_name) : NULL;

			if (!name || !*name)
				continue;
			if (!array_grow(&calls->slots, calls->slot_count,
					&calls->slot_room,
					sizeof(*calls->slots))) {
				calls->failed = true;
				return;
			}
			calls->slots[calls->slot_count++] =
				(struct call_slot) { rela.r_offset, name };
		}
	}
	if (calls->slot_count)
		qsort(calls->slots, calls->slot_count, sizeof(*calls->slots),
		      array_compare);
}

struct calls *calls_begin(const struct module *module)
{
	struct calls *calls = calloc(1, sizeof(*calls));
	size_t count = module->function_count + 1;

	if (!calls)
		return NULL;
	calls->module = module;
	calls->nodes = calloc(count, sizeof(*calls->nodes));
	calls->seen = calloc(count, sizeof(*calls->seen));
	calls->todo = calloc(count, sizeof(*calls->todo));
	calls->failed = !calls->nodes || !calls->seen || !calls->todo;
	if (!calls->failed)
		slots_find(calls);
	if (!calls->failed)
		return calls;
	calls_end(calls);
	return NULL;
}

void calls_end(struct calls *calls)
{
	if (!calls)
		return;
	for (size_t i = 0; calls->nodes && i < calls->module->function_count;
	     i++)
		free(calls->nodes[i].callees);
	free(calls->nodes);
	free(calls->seen);
	free(calls->todo);
	free(calls->slots);
	free(calls->results);
	free(calls);
}

static int calls_name_compare(const void *name, const void *element)
{
	return strcmp(name, *(const char *const *)element);
}

/* Registers after instructions that follow each other: known values, and the
 * addresses of what they were loaded from. */
struct loads {
	bool known[ARCH_REGISTERS];
	uint64_t values[ARCH_REGISTERS];
	uint64_t slots[ARCH_REGISTERS];	/* 0: not known */
};

static void load_take(const struct loads *before, struct loads *loads,
		      const struct arch_transfer *t)
{
	uint64_t base = 0;
	bool known = true;

	loads->known[t->to] = false;
	loads->slots[t->to] = 0;
	if (t->part)
		return;
	switch (t->source) {
	case ARCH_SOURCE_CONSTANT:
	case ARCH_SOURCE_ADDRESS:
	case ARCH_SOURCE_REGISTER:
		if (t->source == ARCH_SOURCE_REGISTER) {
			known = t->reg < ARCH_REGISTERS &&
				before->known[t->reg];
			base = known ? before->values[t->reg] : 0;
		}
		loads->known[t->to] = known;
		loads->values[t->to] = base + t->number;
		break;
	case ARCH_SOURCE_MEMORY:
		if (t->memory.space == ARCH_SPACE_BASE) {
			known = t->memory.base < ARCH_REGISTERS &&
				before->known[t->memory.base];
			base = known ? before->values[t->memory.base] : 0;
		}
		if (known && t->memory.space != ARCH_SPACE_UNKNOWN &&
		    t->memory.space != ARCH_SPACE_THREAD)
			loads->slots[t->to] = base + t->memory.number;
		break;
	default:
		break;
	}
}

/* The slot whose address the last instruction goes to; 0: not known. It has
 * the slot as its operand, or the instructions before it load a register. */
static uint64_t slot_of(const struct calls *calls, const struct arch_code *code,
			size_t count)
{
	const struct arch *arch = calls->module->arch;
	struct loads loads = { 0 }, before;
	struct arch_effect effect;
	struct arch_insn insn;

	for (size_t i = 0; i < count; i++) {
		if (arch_insn_decode(arch, code[i].bytes, code[i].length,
				     &insn) ||
		    !arch_effect_find(arch, code[i].bytes, code[i].length,
				      code[i].address, &effect))
			return 0;
		if (i + 1 == count)
			break;

		/* All sources are read before anything is written. */
		before = loads;
		if (!effect.known || insn.flow == ARCH_FLOW_CALL)
			memset(&loads, 0, sizeof(loads));
		for (uint8_t j = 0; j < effect.count; j++)
			if (!effect.transfers[j].to_memory &&
			    effect.transfers[j].to < ARCH_REGISTERS)
				load_take(&before, &loads,
					  &effect.transfers[j]);
	}
	if (insn.target && insn.target <= ARCH_REGISTERS)
		return loads.slots[insn.target - 1];
	return effect.read_count && effect.reads[0].space == ARCH_SPACE_FIXED ?
		       effect.reads[0].number : 0;
}

/* The slot has a function that returns and calls nothing. */
static bool slot_is_plain(const struct calls *calls, uint64_t address)
{
	struct call_slot key = { .address = address }, *slot = NULL;

	if (address && calls->slot_count)
		slot = bsearch(&key, calls->slots, calls->slot_count,
			       sizeof(key), array_compare);
	return slot &&
	       bsearch(slot->name, plain, sizeof(plain) / sizeof(plain[0]),
		       sizeof(plain[0]), calls_name_compare);
}

/* An entry of the PLT: it jumps to where a slot says. 0: it is none. */
static uint64_t find_stub(const struct calls *calls, uint64_t address)
{
	const struct arch *arch = calls->module->arch;
	size_t size;
	const uint8_t *code = module_code(calls->module, address, &size, NULL);
	struct arch_code insns[STUB_MAX];
	struct arch_insn insn;

	for (int i = 0; code && i < STUB_MAX; i++) {
		if (arch_insn_decode(arch, code, size, &insn))
			return 0;
		insns[i] = (struct arch_code) { address, code, insn.length };
		if (insn.flow == ARCH_FLOW_COMPUTED)
			return slot_of(calls, insns, i + 1);
		if (insn.flow != ARCH_FLOW_NEXT)
			return 0;
		code += insn.length;
		size -= insn.length;
		address += insn.length;
	}
	return 0;
}

static void callee_add(struct calls *calls, struct call_node *node,
		       uint64_t target)
{
	const struct module *module = calls->module;
	const struct module_range *range;
	uint64_t slot = find_stub(calls, target);

	if (slot) {
		node->open |= !slot_is_plain(calls, slot);
		return;
	}
	range = module_function_find(module, target);
	if (!range) {
		node->open = true;
	} else if (!array_grow(&node->callees, node->count, &node->room,
			       sizeof(*node->callees))) {
		calls->failed = true;
	} else {
		node->callees[node->count++] = (struct call_target) {
			range - module->functions, target != range->start,
		};
	}
}

/* The stack pointer isn't what it was, nor what the function had saved. */
static bool takes_stack(const struct arch_effect *effect,
			const struct arch *arch)
{
	unsigned int stack = arch->stack;

	for (uint8_t i = 0; i < effect->count; i++) {
		const struct arch_transfer *t = &effect->transfers[i];

		if (t->to_memory || t->to != stack)
			continue;
		if (t->source == ARCH_SOURCE_MEMORY ||
		    t->source == ARCH_SOURCE_CONSTANT)
			return true;
		if (t->source == ARCH_SOURCE_REGISTER && t->reg != stack &&
		    !arch_register_is_kept(arch, t->reg))
			return true;
	}
	return false;
}

struct call_reader {
	struct calls *calls;
	struct call_node *node;
	const struct module_range *range;
	struct arch_code before[BEFORE_MAX];
	size_t before_count;
};

/* The computed jump stays in the function. */
static bool jump_stays(const struct call_reader *r)
{
	const struct module *module = r->calls->module;
	size_t available, bytes = module->elf_class == ELFCLASS64 ? 8 : 4;
	struct arch_computed computed;
	uint64_t address = 0;
	const uint8_t *data;

	module->arch->computed_find(module->arch, r->before, r->before_count,
				    &computed);
	if (computed.stays || computed.kind == ARCH_COMPUTED_DISTANCES)
		return true;
	if (computed.kind != ARCH_COMPUTED_ADDRESSES || !computed.known)
		return false;

	/* The first address of its table is one of the function. */
	data = pointers_bytes(module, computed.table, &available);
	if (!data || available < bytes)
		return false;
	memcpy(&address, data, bytes);
	return address >= r->range->start && address < r->range->end;
}

static const struct call_node *node_get(struct calls *calls, uint32_t number)
{
	struct call_reader r = {
		.calls = calls, .node = &calls->nodes[number],
		.range = &calls->module->functions[number],
	};
	const struct arch *arch = calls->module->arch;
	uint64_t at = 0, bytes = r.range->end - r.range->start, target;
	struct arch_effect effect;
	struct arch_insn insn;
	const uint8_t *code;
	size_t size;

	if (r.node->known)
		return r.node;
	r.node->known = true;
	code = module_code(calls->module, r.range->start, &size, NULL);
	if (!code || size < bytes)
		bytes = code ? size : 0;
	for (; at < bytes && !calls->failed; at += insn.length) {
		struct arch_code here = { r.range->start + at, code + at };
		bool closed;

		if (arch_insn_decode(arch, code + at, bytes - at, &insn) ||
		    !arch_effect_find(arch, code + at, bytes - at, here.address,
				      &effect)) {
			r.node->open = true;
			r.before_count = 0;
			insn.length = 1;
			continue;
		}
		here.length = insn.length;
		target = here.address + insn.jump;

		/* The instruction itself has the slot: what a register has may
		 * come from several ways to here. */
		closed = !insn.jump && !insn.target &&
			 slot_is_plain(calls, slot_of(calls, &here, 1));
		if (r.before_count == BEFORE_MAX)
			memmove(r.before, r.before + 1,
				--r.before_count * sizeof(*r.before));
		r.before[r.before_count++] = here;
		r.node->open |= !effect.known;
		r.node->stack |= takes_stack(&effect, arch);
		if (insn.flow == ARCH_FLOW_COMPUTED) {
			r.node->open |= !closed && !jump_stays(&r);
		} else if (insn.flow >= ARCH_FLOW_CALL &&
			   insn.flow <= ARCH_FLOW_JUMP) {
			if (!insn.jump)
				r.node->open |= !closed;
			else if (target <= r.range->start ||
				 target >= r.range->end)
				callee_add(calls, r.node, target);
		}
		if (insn.flow > ARCH_FLOW_BRANCH)
			r.before_count = 0;
	}
	return r.node;
}

/* Along all calls, from a function on */
static enum calls_reach calls_reach_find(struct calls *calls, uint32_t from)
{
	enum calls_reach reach = CALLS_CLOSED;
	size_t count = 0, next = 0;

	calls->round++;
	calls->seen[from] = calls->round;
	calls->todo[count++] = from;
	while (next < count && !calls->failed) {
		const struct call_node *node =
			node_get(calls, calls->todo[next++]);

		if (node->open || node->stack || count > CLOSED_MAX)
			reach = CALLS_OPEN;
		if (count > REACHED_MAX)
			return CALLS_UNKNOWN;
		for (size_t i = 0; i < node->count; i++) {
			const struct call_target *callee = &node->callees[i];

			if (callee->number == from && !callee->middle)
				return CALLS_AGAIN;
			if (calls->seen[callee->number] == calls->round)
				continue;
			calls->seen[callee->number] = calls->round;
			calls->todo[count++] = callee->number;
		}
	}
	return reach;
}

int calls_find(struct calls *calls, uint64_t entry, enum calls_reach *reach)
{
	const struct module *module = calls->module;
	const struct module_range *range = module_function_find(module, entry);

	*reach = CALLS_UNKNOWN;
	if (range && range->start == entry)
		*reach = calls_reach_find(calls, range - module->functions);
	return calls->failed ? -ENOMEM : 0;
}

static bool module_is_large(const struct module *module)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < module->code_count; i++)
		bytes += module->codes[i].end - module->codes[i].start;
	return bytes > CODE_MAX;
}

int calls_switch_stacks(struct calls *calls, bool *switches)
{
	const struct module *module = calls->module;

	if (!calls->stack_known) {
		calls->stack_known = true;
		calls->stack = module_is_large(module);
		for (size_t i = 0; i < module->function_count &&
				   !calls->stack && !calls->failed; i++)
			calls->stack = node_get(calls, i)->stack;
	}
	*switches = calls->stack;
	return calls->failed ? -ENOMEM : 0;
}

/* A section's code is gone through from end to end, anew at each function. What
 * leads elsewhere is taken; not 0: no more of it. */
struct target_sweep {
	int (*take)(const struct target_sweep *sweep,
		    const struct arch_insn *insn, uint64_t from, uint64_t to);
	struct targets *targets;
	const struct module_range *wanted;
	struct calls *calls;
	const struct module *module;
};

static int take_target(const struct target_sweep *sweep,
		       const struct arch_insn *insn, uint64_t from, uint64_t to)
{
	const struct module_range *range =
		module_function_find(sweep->module, to);
	struct targets *targets = sweep->targets;

	if (insn->flow == ARCH_FLOW_CALL || !range || range->start == to ||
	    (from >= range->start && from < range->end))
		return 0;
	if (!array_grow(&targets->addresses, targets->count, &targets->room,
			sizeof(*targets->addresses)))
		return -ENOMEM;
	targets->addresses[targets->count++] = to;
	return 0;
}

static int take_wanted(const struct target_sweep *sweep,
		       const struct arch_insn *insn, uint64_t from, uint64_t to)
{
	const struct module_range *wanted = sweep->wanted;

	return to == wanted->start &&
	       (from < wanted->start || from >= wanted->end);
}

static int sweep_module(const struct target_sweep *sweep)
{
	const struct module *module = sweep->module;
	uint8_t step = module->arch->insn_bytes;

	for (size_t i = 0; i < module->section_count; i++) {
		const struct module_range *section = &module->sections[i];
		uint64_t at = 0, size;
		size_t function = 0;
		const uint8_t *bytes =
			module_code(module, section->start, &size, NULL);

		if (bytes && size > section->end - section->start)
			size = section->end - section->start;
		while (bytes && at < size) {
			uint64_t address = section->start + at;
			uint64_t next = UINT64_MAX;
			struct arch_insn insn;
			int code;

			/* where the next function begins */
			while (function < module->function_count &&
			       module->functions[function].start <= address)
				function++;
			if (function < module->function_count)
				next = module->functions[function].start;
			if (arch_insn_decode(module->arch, bytes + at,
					     size - at, &insn)) {
				at += step ? step : 1;
				continue;
			}
			if (insn.length > next - address) {
				at = next - section->start;
				continue;
			}
			code = insn.jump ? sweep->take(sweep, &insn, address,
						       address + insn.jump) : 0;
			if (code)
				return code;
			at += insn.length;
		}
	}
	return 0;
}

/* The instruction has the register's value, and does more than to replace it. */
static bool register_is_read(const struct arch_effect *effect, unsigned int reg)
{
	for (uint8_t i = 0; i < effect->count; i++) {
		const struct arch_transfer *t = &effect->transfers[i];

		/* as xor %eax, %eax */
		if (!t->to_memory && t->to == reg && !t->part &&
		    (t->source == ARCH_SOURCE_CONSTANT ||
		     t->source == ARCH_SOURCE_ADDRESS))
			return false;
		if (t->source == ARCH_SOURCE_REGISTER && t->reg == reg)
			return true;
	}
	for (uint8_t i = 0; i < effect->read_count; i++)
		if (effect->reads[i].space == ARCH_SPACE_BASE &&
		    effect->reads[i].base == reg)
			return true;
	for (uint8_t i = 0; i < effect->write_count; i++)
		if (effect->writes[i].space == ARCH_SPACE_BASE &&
		    effect->writes[i].base == reg)
			return true;
	return effect->uses & 1u << reg;
}

/* The instructions from the address on, up to a jump or call, read what the call
 * before them returned. */
static bool result_is_read(const struct module *module, uint64_t address)
{
	const struct arch *arch = module->arch;
	unsigned int reg = arch->results[0];
	struct arch_effect effect;
	struct arch_insn insn;
	size_t size;
	const uint8_t *code = module_code(module, address, &size, NULL);

	for (int i = 0; code && i < AFTER_MAX; i++) {
		if (arch_insn_decode(arch, code, size, &insn) ||
		    !arch_effect_find(arch, code, size, address, &effect) ||
		    !effect.known)
			return false;
		if (register_is_read(&effect, reg))
			return true;
		if (insn.flow != ARCH_FLOW_NEXT ||
		    arch_transfer_to(&effect, reg))
			return false;
		code += insn.length;
		size -= insn.length;
		address += insn.length;
	}
	return false;
}

static int take_result(const struct target_sweep *sweep,
		       const struct arch_insn *insn, uint64_t from, uint64_t to)
{
	const struct module *module = sweep->module;
	const struct module_range *range = module_function_find(module, to);

	size_t number = range ? range - module->functions : 0;

	if (!range || range->start != to ||
	    sweep->calls->results[number] == RESULT_USED)
		return 0;
	sweep->calls->results[number] =
		insn->flow == ARCH_FLOW_CALL &&
				result_is_read(module, from + insn->length) ?
			RESULT_USED : RESULT_IGNORED;
	return 0;
}

int calls_use_result(struct calls *calls, uint64_t entry, bool *used)
{
	const struct module *module = calls->module;
	const struct module_range *range = module_function_find(module, entry);
	struct target_sweep sweep = {
		.take = take_result, .calls = calls, .module = module,
	};

	*used = false;
	if (!range || range->start != entry || module_is_large(module))
		return 0;
	if (!calls->results) {
		calls->results = calloc(module->function_count + 1,
					sizeof(*calls->results));
		if (!calls->results)
			return -ENOMEM;
		sweep_module(&sweep);
	}
	*used = calls->results[range - module->functions] != RESULT_IGNORED;
	return 0;
}

int targets_find(struct targets *targets, const struct module *module)
{
	struct target_sweep sweep = {
		.take = take_target, .targets = targets, .module = module,
	};

	if (sweep_module(&sweep))
		return -ENOMEM;
	if (targets->count)
		qsort(targets->addresses, targets->count,
		      sizeof(*targets->addresses), array_compare);
	targets->known = true;
	return 0;
}

bool targets_lead_to(const struct module *module,
		     const struct module_range *function)
{
	struct target_sweep sweep = {
		.take = take_wanted, .wanted = function, .module = module,
	};

	return sweep_module(&sweep);
}

void targets_free(struct targets *targets)
{
	free(targets->addresses);
	memset(targets, 0, sizeof(*targets));
}
