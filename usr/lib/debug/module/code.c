// SPDX-License-Identifier: GPL-2.0
#include "code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/array.h"
#include "lib/debug/arch/arch.h"
#include "module_symbols.h"

#define SECTION_MAX	(1u << 20)	/* bytes of a critical section */
#define SIGNATURE	4		/* bytes before an abort handler */

/* struct rseq_cs of <linux/rseq.h>; all its fields are as wide everywhere. */
struct rseq_descriptor {
	uint32_t version, flags;
	uint64_t start, bytes, abort;
};

/*
 * Critical sections of restartable sequences (rseq(2)): the kernel has a thread
 * that it interrupts in one begin again. It single-steps a probed instruction
 * elsewhere, where it does not see the section any more.
 */
struct rseq {
	struct rseq_range {
		struct module_range range;
		bool signature;		/* what the kernel compares before it
					 * goes to the abort handler */
	} *list;
	size_t count, room;
};

struct rseq_search {
	struct module *module;
	struct rseq *found;
	Elf_Data *relocations;	/* NULL: none */
	bool failed;
};

/* As the loader makes it. */
static uint64_t loaded_word(const struct rseq_search *search, uint64_t at,
			    uint64_t value)
{
	GElf_Rela rela;

	for (int i = 0; search->relocations &&
			gelf_getrela(search->relocations, i, &rela); i++)
		if (rela.r_offset == at)
			return rela.r_addend;
	return value;
}

static void rseq_range_add(struct rseq_search *search, uint64_t start,
			   uint64_t end, bool signature)
{
	struct rseq *found = search->found;

	if (!array_grow(&found->list, found->count, &found->room,
			sizeof(*found->list))) {
		search->failed = true;
		return;
	}
	found->list[found->count++] = (struct rseq_range) {
		{ start, end }, signature,
	};
}

/* Take what may be a descriptor. */
static void descriptor_take(struct rseq_search *search, uint64_t at)
{
	struct rseq_descriptor d;
	const uint8_t *bytes;
	size_t available;

	bytes = pointers_bytes(search->module, at, &available);
	if (!bytes || available < sizeof(d))
		return;
	memcpy(&d, bytes, sizeof(d));
	d.start = loaded_word(
		search, at + offsetof(struct rseq_descriptor, start), d.start);
	d.abort = loaded_word(
		search, at + offsetof(struct rseq_descriptor, abort), d.abort);
	if (d.version || !d.bytes || d.bytes > SECTION_MAX ||
	    !module_code(search->module, d.start, &available, NULL) ||
	    !module_code(search->module, d.abort, &available, NULL))
		return;
	rseq_range_add(search, d.start, d.start + d.bytes, false);
	rseq_range_add(search, d.abort - SIGNATURE, d.abort, true);
}

/* Take the descriptor whose abort handler is at `value`, which the word at `at`
 * has, if the signature is before the handler. */
static void abort_take(struct rseq_search *search, uint64_t at, uint64_t value)
{
	size_t available;
	const uint8_t *code = module_code(search->module, value - SIGNATURE,
					  &available, NULL);

	if (code && available >= SIGNATURE &&
	    !memcmp(code, &search->module->arch->rseq_signature, SIGNATURE))
		descriptor_take(search,
				at - offsetof(struct rseq_descriptor, abort));
}

/* Those of the loader (gABI: Dynamic Section): sections may be stripped. */
static void find_relocations(struct rseq_search *search)
{
	const struct module *module = search->module;
	uint64_t address = 0, size = 0;
	Elf_Data *dynamic = NULL;
	size_t count;
	GElf_Phdr ph;
	GElf_Dyn dyn;

	if (module->elf_class != ELFCLASS64 ||
	    elf_getphdrnum(module->elf, &count))
		return;
	for (size_t i = 0; i < count && gelf_getphdr(module->elf, i, &ph); i++)
		if (ph.p_type == PT_DYNAMIC)
			dynamic = elf_getdata_rawchunk(module->elf, ph.p_offset,
						       ph.p_filesz, ELF_T_DYN);
	for (int i = 0; dynamic && gelf_getdyn(dynamic, i, &dyn) &&
			dyn.d_tag != DT_NULL; i++) {
		if (dyn.d_tag == DT_RELA)
			address = dyn.d_un.d_ptr;
		if (dyn.d_tag == DT_RELASZ)
			size = dyn.d_un.d_val;
	}
	for (size_t i = 0; address && i < module->segment_count; i++) {
		const struct module_segment *seg = &module->segments[i];
		uint64_t at = address - seg->address;

		if (at < seg->size)
			search->relocations = elf_getdata_rawchunk(
				module->elf, seg->offset + at,
				size < seg->size - at ? size : seg->size - at,
				ELF_T_RELA);
	}
}

/* Most modules have none, and no code with the bytes of a signature. */
static bool may_have_any(const struct module *module)
{
	for (size_t i = 0; i < module->code_count; i++)
		if (module->codes[i].data &&
		    memmem(module->codes[i].data,
			   module->codes[i].end - module->codes[i].start,
			   &module->arch->rseq_signature, SIGNATURE))
			return true;
	return module_has_section(module, "__rseq_cs");
}

static void rseq_find_all(struct rseq_search *search)
{
	const struct module *module = search->module;
	uint64_t value;
	GElf_Rela rela;
	GElf_Shdr sh;

	find_relocations(search);
	for (size_t i = 0; i < module->segment_count && !search->failed; i++) {
		const struct module_segment *seg = &module->segments[i];
		uint64_t at = -seg->address & (sizeof(value) - 1);
		size_t available;
		const uint8_t *bytes = seg->size ?
			pointers_bytes(module, seg->address, &available) : NULL;

		for (; bytes && at + sizeof(value) <= available;
		     at += sizeof(value)) {
			memcpy(&value, bytes + at, sizeof(value));
			if (value)
				abort_take(search, seg->address + at, value);
		}
	}
	for (int i = 0; search->relocations && !search->failed &&
			gelf_getrela(search->relocations, i, &rela); i++)
		abort_take(search, rela.r_offset, rela.r_addend);

	/* those of the section, whatever their signature is */
	if (!elf_section_named(module->elf, "__rseq_cs", &sh))
		return;
	for (uint64_t at = 0; at + sizeof(struct rseq_descriptor) <=
			      sh.sh_size && !search->failed;
	     at += sizeof(struct rseq_descriptor))
		descriptor_take(search, sh.sh_addr + at);
}

const char *rseq_refuses(struct module *module, uint64_t address)
{
	struct rseq_search search = { .module = module };
	const struct rseq *rseq;

	if (module->kind != TDF_MODULE_USER)
		return NULL;
	if (!module->rseq) {
		search.found = module->rseq = calloc(1, sizeof(*search.found));
		if (search.found && module->elf && may_have_any(module))
			rseq_find_all(&search);
		module->exhausted |= !search.found || search.failed;
	}
	rseq = module->rseq;
	for (size_t i = 0; rseq && i < rseq->count; i++) {
		const struct rseq_range *at = &rseq->list[i];

		if (address < at->range.start || address >= at->range.end)
			continue;
		return at->signature ?
			       "is the signature of an rseq abort handler" :
			       "is in an rseq critical section, which the "
			       "kernel could not restart";
	}
	return NULL;
}

#define STACK_CHECK_MAX	8	/* instructions */

/* A function decoded as far as it was needed. */
struct code_function {
	uint64_t start;
	const uint8_t *bytes;
	uint32_t size;
	uint64_t *insns;	/* offsets where instructions begin */
	size_t count, room;
	uint32_t next;		/* offset after the last one */
	bool stuck;		/* what is at next is no instruction, and where
				 * the one after it begins isn't known */
};

void code_forget(struct module *module)
{
	struct code_function *function;
	size_t at = 0;

	while ((function = key_map_next(&module->decoded, &at))) {
		free(function->insns);
		free(function);
	}
	key_map_free(&module->decoded);
	if (module->rseq)
		free(module->rseq->list);
	free(module->rseq);
}

static struct code_function *code_function_get(struct module *module,
					       uint64_t start, uint64_t end)
{
	struct code_function *function = key_map_find(&module->decoded, start);
	size_t available;

	if (function)
		return function;
	function = calloc(1, sizeof(*function));
	if (!function || key_map_add(&module->decoded, start, function)) {
		module->exhausted = true;
		free(function);
		return NULL;
	}
	function->start = start;
	function->bytes = module_code(module, start, &available, NULL);
	if (!function->bytes)
		available = 0;
	if (end - start < available)
		available = end - start;
	function->size = available < UINT32_MAX ? available : UINT32_MAX;
	return function;
}

/* Decode until an instruction begins after offset `to`, or the end. */
static int code_function_decode(struct code_function *function,
				const struct arch *arch, uint32_t to)
{
	struct arch_insn insn;

	while (!function->stuck && function->next <= to &&
	       function->next < function->size) {
		if (!array_grow(&function->insns, function->count,
				&function->room, sizeof(*function->insns)))
			return -ENOMEM;
		if (!arch_insn_decode(arch, function->bytes + function->next,
				      function->size - function->next, &insn)) {
			function->insns[function->count++] = function->next;
			function->next += insn.length;
		} else if (arch->insn_bytes) {
			function->next += arch->insn_bytes;
		} else {
			function->stuck = true;
		}
	}
	return 0;
}

/* Index of the first instruction that begins at or after the offset. */
static size_t code_function_index(const struct code_function *function,
				  uint32_t offset)
{
	return offset ? array_count_upto(function->insns, function->count,
					 sizeof(*function->insns),
					 offset - 1) : 0;
}

bool code_decode(struct module *module, const uint8_t *code, size_t size,
		 size_t at, uint64_t address, bool held, struct arch_insn *insn)
{
	bool user = module->kind == TDF_MODULE_USER;
	const char *why;

	if (arch_insn_decode(module->arch, code + at, size - at, insn))
		return false;
	why = held && !insn->why ?
		      arch_insn_held(module->arch, code, at, user) : NULL;
	insn->refused |= why && !user;
	if (!why && !insn->why)
		why = rseq_refuses(module, address);
	if (why) {
		insn->user_refused = true;
		insn->why = why;
	}
	return true;
}

static bool code_insn_at(struct module *module,
			 const struct code_function *function, size_t i,
			 struct arch_insn *insn)
{
	return code_decode(module, function->bytes, function->size,
			   function->insns[i],
			   function->start + function->insns[i], true, insn);
}

bool code_is_good(const struct module *module, const struct arch_insn *insn)
{
	return !insn->refused &&
	       !(insn->user_refused && module->kind == TDF_MODULE_USER);
}

/* The nearest addresses around the offset that can be probed. */
static int code_find_near(struct module *module,
			  struct code_function *function, uint32_t offset,
			  struct code_site *site)
{
	struct arch_insn insn;

	if (code_function_decode(function, module->arch, offset + 256))
		return -ENOMEM;
	for (size_t i = 0; i < function->count && !site->after; i++) {
		uint64_t address = function->start + function->insns[i];

		if (!code_insn_at(module, function, i, &insn) ||
		    !code_is_good(module, &insn))
			continue;
		if (function->insns[i] < offset)
			site->before = address;
		else
			site->after = address;
	}
	return 0;
}

/* The instruction that begins at site->address, for certain. */
static int code_take(struct module *module, size_t available,
		     struct code_site *site)
{
	const struct module_range *range =
		module_function_find(module, site->address);
	size_t at = range ? site->address - range->start : 0;

	if (!code_decode(module, site->bytes - at, at + available, at,
			 site->address, true, &site->insn))
		return CODE_UNDECODABLE;
	return code_is_good(module, &site->insn) ? CODE_GOOD : CODE_REFUSED;
}

int code_check(struct module *module, uint64_t label, struct code_site *site)
{
	const struct module_range *range =
		module_function_find(module, site->address);
	uint64_t start = label, end = UINT64_MAX;
	uint8_t insn_bytes = module->arch->insn_bytes;	/* 0: it varies */
	struct code_function *function;
	size_t available, i;
	uint32_t offset;
	int verdict;

	site->before = site->after = 0;
	site->bytes = module_code(module, site->address, &available,
				  &site->offset);
	if (range) {
		start = range->start;
		end = range->end;
	} else if (label > site->address) {
		if (!insn_bytes)
			return CODE_UNDECODABLE;
		start = site->address & -(uint64_t)insn_bytes;
	}
	function = code_function_get(module, start, end);
	if (!function)
		return -ENOMEM;
	if (site->address - start >= function->size)
		return CODE_UNDECODABLE;
	offset = site->address - start;
	if (code_function_decode(function, module->arch, offset))
		return -ENOMEM;
	i = code_function_index(function, offset);
	if (i < function->count && function->insns[i] == offset)
		verdict = code_take(module, function->size - offset, site);
	else if (function->stuck ||
		 (insn_bytes && !(site->address % insn_bytes)))
		verdict = CODE_UNDECODABLE;
	else
		verdict = CODE_INSIDE;
	if (verdict == CODE_UNDECODABLE && label == site->address)
		verdict = code_take(module, available, site);
	if (verdict > CODE_GOOD &&
	    code_find_near(module, function, site->address - start, site))
		return -ENOMEM;
	return verdict;
}

int code_look(struct module *module, struct code_site *site)
{
	size_t available;

	site->before = site->after = 0;
	site->bytes = module_code(module, site->address, &available,
				  &site->offset);
	return code_take(module, available, site);
}

/* The instruction leaves [start, address] early, or comes back to it. */
static bool code_strays(const struct arch_insn *insn, uint64_t at,
			uint64_t start, uint64_t address)
{
	bool before = at >= start && at < address;
	uint64_t to = at + insn->jump;

	switch (insn->flow) {
	case ARCH_FLOW_COMPUTED:
	case ARCH_FLOW_RETURN:
		return before;
	case ARCH_FLOW_BRANCH:
	case ARCH_FLOW_JUMP:
		return before ? to < start || to > address :
				to > start && to <= address;
	default:
		return false;
	}
}

/* The function's code, decoded beyond the address; or NULL. */
static struct code_function *
code_function_whole(struct module *module, const struct module_range *range,
		    uint64_t address)
{
	struct code_function *function =
		code_function_get(module, range->start, range->end);
	int code = function ? code_function_decode(function, module->arch,
						   UINT32_MAX) : -ENOMEM;

	module->exhausted |= code == -ENOMEM;
	return code || function->start + function->next <= address ? NULL :
								     function;
}

bool code_jumps_to(struct module *module, uint64_t address)
{
	const struct module_range *range = module_function_find(module, address);
	struct code_function *function =
		range ? code_function_whole(module, range, address) : NULL;
	struct arch_insn insn;

	for (size_t i = 0; function && i < function->count; i++)
		if (code_insn_at(module, function, i, &insn) &&
		    (insn.flow == ARCH_FLOW_BRANCH ||
		     insn.flow == ARCH_FLOW_JUMP) &&
		    function->start + function->insns[i] + insn.jump == address)
			return true;
	return false;
}

bool code_reached_once(struct module *module, uint64_t start, uint64_t address)
{
	const struct module_range *range = module_function_find(module, start);
	struct code_function *function;
	struct arch_insn insn;

	if (!range || address >= range->end)
		return false;
	function = code_function_whole(module, range, address);
	if (!function)
		return false;
	for (size_t i = 0; i < function->count; i++)
		if (!code_insn_at(module, function, i, &insn) ||
		    code_strays(&insn, function->start + function->insns[i],
				start, address))
			return false;
	return true;
}

/* Code that is run straight through from the offset, calls left aside, ends
 * with a jump to the function's start. */
static bool code_leads_back(struct module *module,
			    const struct code_function *function,
			    uint64_t offset)
{
	struct arch_insn insn;
	size_t i = offset < function->size ?
			   code_function_index(function, offset) :
			   function->count;

	if (i == function->count || function->insns[i] != offset)
		return false;
	while (i < function->count &&
	       code_insn_at(module, function, i, &insn) &&
	       (insn.flow == ARCH_FLOW_NEXT || insn.flow == ARCH_FLOW_CALL))
		i++;
	return i < function->count && insn.flow == ARCH_FLOW_JUMP &&
	       function->insns[i] + insn.jump == 0;
}

uint64_t code_after_stack_check(struct module *module, uint64_t start)
{
	const struct module_range *range = module_function_find(module, start);
	const struct code_function *function =
		range && range->start == start ?
			code_function_whole(module, range, start) : NULL;
	uint64_t after = start;
	struct arch_insn insn;

	for (size_t i = 0; function && i < STACK_CHECK_MAX &&
			   i + 1 < function->count &&
			   code_insn_at(module, function, i, &insn); i++) {
		if (insn.flow == ARCH_FLOW_NEXT)
			continue;
		if (insn.flow != ARCH_FLOW_BRANCH ||
		    !code_leads_back(module, function,
				     function->insns[i] + insn.jump))
			break;
		after = start + function->insns[i + 1];
	}
	return after;
}
