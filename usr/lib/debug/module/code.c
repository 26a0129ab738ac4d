// SPDX-License-Identifier: GPL-2.0
#include "code.h"
#include "functions.h"

#include <errno.h>
#include <stdlib.h>
#include <rastrace/tdf.h>
#include "lib/array.h"
#include "rseq.h"

#define STACK_CHECK_MAX	8	/* instructions */

/* A function decoded as far as it was needed. */
struct code_function {
	uint64_t start;
	const uint8_t *bytes;
	uint32_t size;
	uint32_t *insns;	/* offsets where instructions begin */
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
	size_t low = 0, high = function->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (function->insns[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void code_hold(const struct module *module, const uint8_t *code, size_t at,
	       struct arch_insn *insn)
{
	bool user = module->kind == TDF_MODULE_USER;
	const char *why = arch_insn_held(module->arch, code, at, user);

	if (!why || insn->why)
		return;
	insn->user_refused = true;
	insn->refused |= !user;
	insn->why = why;
}

void code_restrict(struct module *module, uint64_t address,
		   struct arch_insn *insn)
{
	const char *why = rseq_refuses(module, address);

	if (!why || insn->why)
		return;
	insn->user_refused = true;
	insn->why = why;
}

static int code_insn_at(struct module *module,
			const struct code_function *function, size_t i,
			struct arch_insn *insn)
{
	uint32_t at = function->insns[i];
	int code = arch_insn_decode(module->arch, function->bytes + at,
				    function->size - at, insn);

	if (code)
		return code;
	code_hold(module, function->bytes, at, insn);
	code_restrict(module, function->start + at, insn);
	return 0;
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
	size_t i;
	struct arch_insn insn;

	if (code_function_decode(function, module->arch, offset + 256))
		return -ENOMEM;
	i = code_function_index(function, offset);
	for (size_t j = i; j && !site->before; j--)
		if (!code_insn_at(module, function, j - 1, &insn) &&
		    code_is_good(module, &insn))
			site->before = function->start + function->insns[j - 1];
	for (size_t j = i; j < function->count && !site->after; j++)
		if (!code_insn_at(module, function, j, &insn) &&
		    code_is_good(module, &insn))
			site->after = function->start + function->insns[j];
	return 0;
}

/* The instruction that begins at site->address, for certain. */
static int code_take(struct module *module, size_t available,
		     struct code_site *site)
{
	const struct module_range *range =
		module_function_find(module, site->address);
	size_t at = range ? site->address - range->start : 0;

	if (arch_insn_decode(module->arch, site->bytes, available, &site->insn))
		return CODE_UNDECODABLE;
	code_hold(module, site->bytes - at, at, &site->insn);
	code_restrict(module, site->address, &site->insn);
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
		if (!code_insn_at(module, function, i, &insn) &&
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
		if (code_insn_at(module, function, i, &insn) ||
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
	       !code_insn_at(module, function, i, &insn) &&
	       (insn.flow == ARCH_FLOW_NEXT || insn.flow == ARCH_FLOW_CALL))
		i++;
	return i < function->count && insn.flow == ARCH_FLOW_JUMP &&
	       function->insns[i] + insn.jump == 0;
}

uint64_t code_after_stack_check(struct module *module, uint64_t start)
{
	const struct module_range *range = module_function_find(module, start);
	struct code_function *function;
	uint64_t after = start;
	struct arch_insn insn;
	int code;

	if (!range || range->start != start)
		return start;
	function = code_function_get(module, range->start, range->end);
	code = function ? code_function_decode(function, module->arch,
					       UINT32_MAX) : -ENOMEM;
	module->exhausted |= code == -ENOMEM;
	for (size_t i = 0; !code && i < STACK_CHECK_MAX &&
			   i + 1 < function->count &&
			   !code_insn_at(module, function, i, &insn); i++) {
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
