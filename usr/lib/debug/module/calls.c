// SPDX-License-Identifier: GPL-2.0
#include "calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/debug/arch/arch.h"
#include "pointers.h"

#define CLOSED_MAX	16	/* functions */
#define OPEN_MAX	50000
#define CODE_MAX	(16u << 20)	/* bytes that are looked at as a whole */
#define STUB_MAX	5	/* instructions of an entry in the PLT */
#define BEFORE_MAX	12	/* instructions looked at before a jump */

struct callee {
	uint32_t number;	/* of the function */
	bool middle;		/* jumped into, not called */
};

struct node {
	struct callee *callees;
	size_t count, room;
	bool known;		/* it was looked at */
	bool open;		/* calls what isn't known */
	bool stack;		/* takes the stack pointer from elsewhere */
};

struct slot {
	uint64_t address;
	const char *name;
};

struct calls {
	const struct module *module;
	struct node *nodes;	/* one for each function of the module */
	uint32_t *seen;		/* in which round */
	uint32_t round;
	uint32_t *todo;		/* one for each function, too */
	struct slot *slots;	/* of imported functions, by address */
	size_t slot_count, slot_room;
	bool stack_known, stack;
	bool failed;		/* out of memory; sticks */
};

/* Functions of the C library that return, and call nothing that a program
 * could have put there; malloc() may, which returns, too. */
static const char *const quiet[] = {
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

static int slot_compare(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void slot_add(struct calls *calls, Elf_Data *symbols, size_t names,
		     const GElf_Rela *rela)
{
	GElf_Sym symbol;
	const char *name = gelf_getsym(symbols, GELF_R_SYM(rela->r_info),
				       &symbol) ?
		elf_strptr(calls->module->elf, names, symbol.st_name) : NULL;

	if (!name || !*name)
		return;
	if (!array_grow(&calls->slots, calls->slot_count, &calls->slot_room,
			sizeof(*calls->slots))) {
		calls->failed = true;
		return;
	}
	calls->slots[calls->slot_count++] = (struct slot) {
		rela->r_offset, name,
	};
}

static void slots_of(struct calls *calls, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Scn *table = elf_getscn(calls->module->elf, sh->sh_link);
	Elf_Data *data = elf_getdata(scn, NULL), *symbols;
	GElf_Shdr table_sh;
	GElf_Rela rela;
	GElf_Rel rel;

	if (!data || !table || !gelf_getshdr(table, &table_sh) ||
	    table_sh.sh_type != SHT_DYNSYM ||
	    !(symbols = elf_getdata(table, NULL)))
		return;
	for (int i = 0; !calls->failed; i++) {
		if (sh->sh_type == SHT_RELA) {
			if (!gelf_getrela(data, i, &rela))
				return;
		} else {
			if (!gelf_getrel(data, i, &rel))
				return;
			rela.r_offset = rel.r_offset;
			rela.r_info = rel.r_info;
		}
		if (GELF_R_SYM(rela.r_info))
			slot_add(calls, symbols, table_sh.sh_link, &rela);
	}
}

struct calls *calls_begin(const struct module *module)
{
	struct calls *calls = calloc(1, sizeof(*calls));
	size_t count = module->function_count + 1;
	Elf_Scn *scn;
	GElf_Shdr sh;

	if (!calls)
		return NULL;
	calls->module = module;
	calls->nodes = calloc(count, sizeof(*calls->nodes));
	calls->seen = calloc(count, sizeof(*calls->seen));
	calls->todo = calloc(count, sizeof(*calls->todo));
	calls->failed = !calls->nodes || !calls->seen || !calls->todo;
	if (!calls->failed) {
		scn = NULL;
		while ((scn = elf_nextscn(calls->module->elf, scn)))
			if (gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_ALLOC &&
			    (sh.sh_type == SHT_RELA || sh.sh_type == SHT_REL))
				slots_of(calls, scn, &sh);
		if (calls->slot_count)
			qsort(calls->slots, calls->slot_count,
			      sizeof(*calls->slots), slot_compare);
	}
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
	free(calls);
}

static int name_compare(const void *name, const void *element)
{
	return strcmp(name, *(const char *const *)element);
}

/* Registers as instructions leave them that stand one behind the other: known
 * values, and the addresses of what they were loaded from. */
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

/* All sources are read before anything is written. */
static void loads_take(struct loads *loads, const struct arch_effect *effect,
		       enum arch_flow flow)
{
	struct loads before = *loads;

	if (!effect->known || flow == ARCH_FLOW_CALL)
		memset(loads, 0, sizeof(*loads));
	for (uint8_t i = 0; i < effect->count; i++)
		if (!effect->transfers[i].to_memory &&
		    effect->transfers[i].to < ARCH_REGISTERS)
			load_take(&before, loads, &effect->transfers[i]);
}

/* The slot whose address the last instruction goes to; 0: not known. It has
 * the slot as its operand, or the instructions before it load a register. */
static uint64_t slot_of(const struct calls *calls, const struct arch_code *code,
			size_t count)
{
	const struct arch *arch = calls->module->arch;
	struct loads loads = { 0 };
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
		loads_take(&loads, &effect, insn.flow);
	}
	if (insn.target && insn.target <= ARCH_REGISTERS)
		return loads.slots[insn.target - 1];
	return effect.read_count && effect.reads[0].space == ARCH_SPACE_FIXED ?
		       effect.reads[0].number : 0;
}

/* Is what stands in the memory a function that comes back, and calls nothing?
 */
static bool is_quiet(const struct calls *calls, uint64_t address)
{
	struct slot key = { .address = address }, *slot = NULL;

	if (address && calls->slot_count)
		slot = bsearch(&key, calls->slots, calls->slot_count,
			       sizeof(key), slot_compare);
	return slot && bsearch(slot->name, quiet,
			       sizeof(quiet) / sizeof(quiet[0]),
			       sizeof(quiet[0]), name_compare);
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

static void callee_add(struct calls *calls, struct node *node, uint64_t target)
{
	const struct module *module = calls->module;
	const struct module_range *range;
	uint64_t slot = find_stub(calls, target);

	if (slot) {
		node->open |= !is_quiet(calls, slot);
		return;
	}
	range = module_function_find(module, target);
	if (!range) {
		node->open = true;
	} else if (!array_grow(&node->callees, node->count, &node->room,
			       sizeof(*node->callees))) {
		calls->failed = true;
	} else {
		node->callees[node->count++] = (struct callee) {
			range - module->functions, target != range->start,
		};
	}
}

/* The stack pointer isn't what it was, nor what the function had put aside. */
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

struct reader {
	struct calls *calls;
	struct node *node;
	const struct module_range *range;
	struct arch_code before[BEFORE_MAX];
	size_t before_count;
};

/* Instructions that stand one behind the other, the last is this one. */
static void remember(struct reader *r, uint64_t address, const uint8_t *bytes,
		     const struct arch_insn *insn)
{
	if (r->before_count == BEFORE_MAX)
		memmove(r->before, r->before + 1,
			--r->before_count * sizeof(*r->before));
	r->before[r->before_count++] = (struct arch_code) {
		address, bytes, insn->length,
	};
}

/* The first address of a table is one of the function. */
static bool table_is_inside(const struct reader *r, uint64_t table)
{
	const struct module *module = r->calls->module;
	size_t available, bytes = module->elf_class == ELFCLASS64 ? 8 : 4;
	const uint8_t *data = pointers_bytes(module, table, &available);
	uint64_t address = 0;

	if (!data || available < bytes)
		return false;
	memcpy(&address, data, bytes);
	return address >= r->range->start && address < r->range->end;
}

static bool is_switch(const struct reader *r)
{
	struct arch_computed computed;

	arch_computed_find(r->calls->module->arch, r->before, r->before_count,
			   &computed);
	return computed.stays || computed.kind == ARCH_COMPUTED_DISTANCES ||
	       (computed.kind == ARCH_COMPUTED_ADDRESSES && computed.known &&
		table_is_inside(r, computed.table));
}

/* The instruction itself tells the slot: what a register has may come from
 * several ways to here. */
static bool leads_quiet(const struct reader *r, const struct arch_insn *insn)
{
	return !insn->target &&
	       is_quiet(r->calls, slot_of(r->calls,
					  r->before + r->before_count - 1, 1));
}

static void take_insn(struct reader *r, uint64_t address,
		      const struct arch_insn *insn,
		      const struct arch_effect *effect)
{
	uint64_t target = address + insn->jump;
	bool inside = target >= r->range->start && target < r->range->end;

	r->node->open |= !effect->known;
	r->node->stack |= takes_stack(effect, r->calls->module->arch);
	switch (insn->flow) {
	case ARCH_FLOW_CALL:
	case ARCH_FLOW_JUMP:
	case ARCH_FLOW_BRANCH:
		if (!insn->jump)
			r->node->open |= !leads_quiet(r, insn);
		else if (!inside || target == r->range->start)
			callee_add(r->calls, r->node, target);
		break;
	case ARCH_FLOW_COMPUTED:
		if (!leads_quiet(r, insn))
			r->node->open |= !is_switch(r);
		break;
	default:
		break;
	}
}

static void node_read(struct calls *calls, uint32_t number)
{
	struct reader r = {
		.calls = calls, .node = &calls->nodes[number],
		.range = &calls->module->functions[number],
	};
	const struct arch *arch = calls->module->arch;
	uint64_t at = 0, bytes = r.range->end - r.range->start;
	size_t size;
	const uint8_t *code = module_code(calls->module, r.range->start, &size,
					  NULL);

	r.node->known = true;
	if (!code || size < bytes)
		bytes = code ? size : 0;
	while (at < bytes && !calls->failed) {
		uint64_t address = r.range->start + at;
		struct arch_effect effect;
		struct arch_insn insn;

		if (arch_insn_decode(arch, code + at, bytes - at, &insn) ||
		    !arch_effect_find(arch, code + at, bytes - at, address,
				      &effect)) {
			r.node->open = true;
			r.before_count = 0;
			at++;
			continue;
		}
		remember(&r, address, code + at, &insn);
		take_insn(&r, address, &insn, &effect);
		if (insn.flow > ARCH_FLOW_BRANCH)
			r.before_count = 0;
		at += insn.length;
	}
}

static struct node *node_get(struct calls *calls, uint32_t number)
{
	if (!calls->nodes[number].known)
		node_read(calls, number);
	return &calls->nodes[number];
}

/* Go along all calls, from a function on. */
static enum calls_reach walk(struct calls *calls, uint32_t from)
{
	enum calls_reach reach = CALLS_CLOSED;
	size_t count = 0, next = 0;

	calls->round++;
	calls->seen[from] = calls->round;
	calls->todo[count++] = from;
	while (next < count && !calls->failed) {
		const struct node *node = node_get(calls, calls->todo[next++]);

		if (node->open || node->stack || count > CLOSED_MAX)
			reach = CALLS_OPEN;
		if (count > OPEN_MAX)
			return CALLS_UNKNOWN;
		for (size_t i = 0; i < node->count; i++) {
			const struct callee *callee = &node->callees[i];

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
		*reach = walk(calls, range - module->functions);
	return calls->failed ? -ENOMEM : 0;
}

static uint64_t code_bytes(const struct module *module)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < module->code_count; i++)
		bytes += module->codes[i].end - module->codes[i].start;
	return bytes;
}

int calls_switch_stacks(struct calls *calls, bool *switches)
{
	size_t count = calls->module->function_count;

	if (!calls->stack_known) {
		calls->stack_known = true;
		calls->stack = code_bytes(calls->module) > CODE_MAX;
		for (size_t i = 0; i < count && !calls->stack &&
				   !calls->failed; i++)
			calls->stack = node_get(calls, i)->stack;
	}
	*switches = calls->stack;
	return calls->failed ? -ENOMEM : 0;
}
