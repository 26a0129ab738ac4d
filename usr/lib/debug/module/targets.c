// SPDX-License-Identifier: GPL-2.0
#include "targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/debug/arch/arch.h"

/* A section's code is gone through from end to end, anew at each function. What
 * leads elsewhere is taken; not 0: no more of it. */
struct sweep {
	int (*take)(const struct sweep *sweep, const struct arch_insn *insn,
		    uint64_t from, uint64_t to);
	struct targets *targets;
	const struct module_range *wanted;
	const struct module *module;
	const uint8_t *bytes;
	uint64_t start, size;
	size_t next;		/* of the functions, the next that begins */
};

static int take_target(const struct sweep *sweep, const struct arch_insn *insn,
		       uint64_t from, uint64_t to)
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

static int take_wanted(const struct sweep *sweep, const struct arch_insn *insn,
		       uint64_t from, uint64_t to)
{
	const struct module_range *wanted = sweep->wanted;

	return to == wanted->start &&
	       (from < wanted->start || from >= wanted->end);
}

/* Where the next function begins, behind address. */
static uint64_t next_function(struct sweep *sweep, uint64_t address)
{
	const struct module *module = sweep->module;

	while (sweep->next < module->function_count &&
	       module->functions[sweep->next].start <= address)
		sweep->next++;
	return sweep->next < module->function_count ?
		       module->functions[sweep->next].start : UINT64_MAX;
}

static int sweep_section(struct sweep *sweep)
{
	uint8_t step = sweep->module->arch->insn_bytes;
	uint64_t at = 0;

	while (at < sweep->size) {
		uint64_t address = sweep->start + at;
		uint64_t next = next_function(sweep, address);
		struct arch_insn insn;
		int code;

		if (arch_insn_decode(sweep->module->arch, sweep->bytes + at,
				     sweep->size - at, &insn)) {
			at += step ? step : 1;
			continue;
		}
		if (insn.length > next - address) {
			at = next - sweep->start;
			continue;
		}
		code = insn.jump ? sweep->take(sweep, &insn, address,
					       address + insn.jump) : 0;
		if (code)
			return code;
		at += insn.length;
	}
	return 0;
}

static int sweep_module(struct sweep *sweep)
{
	const struct module *module = sweep->module;
	int code = 0;

	for (size_t i = 0; i < module->section_count && !code; i++) {
		const struct module_range *section = &module->sections[i];

		sweep->next = 0;
		sweep->start = section->start;
		sweep->bytes = module_code(module, sweep->start, &sweep->size,
					   NULL);
		if (!sweep->bytes)
			continue;
		if (sweep->size > section->end - section->start)
			sweep->size = section->end - section->start;
		code = sweep_section(sweep);
	}
	return code;
}

static int target_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int targets_find(struct targets *targets, const struct module *module)
{
	struct sweep sweep = {
		.take = take_target, .targets = targets, .module = module,
	};

	if (sweep_module(&sweep))
		return -ENOMEM;
	if (targets->count)
		qsort(targets->addresses, targets->count,
		      sizeof(*targets->addresses), target_compare);
	targets->known = true;
	return 0;
}

bool targets_lead_to(const struct module *module,
		     const struct module_range *function)
{
	struct sweep sweep = {
		.take = take_wanted, .wanted = function, .module = module,
	};

	return sweep_module(&sweep);
}

void targets_free(struct targets *targets)
{
	free(targets->addresses);
	memset(targets, 0, sizeof(*targets));
}
