// SPDX-License-Identifier: GPL-2.0
#include "targets.h"
#include "functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/debug/arch/arch.h"

/* A section's code is gone through from end to end, anew at each function. What
 * leads elsewhere is taken; not 0: no more of it. */
struct target_sweep {
	int (*take)(const struct target_sweep *sweep,
		    const struct arch_insn *insn, uint64_t from, uint64_t to);
	struct targets *targets;
	const struct module_range *wanted;
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

static int sweep_section(struct target_sweep *sweep,
			 const struct module_range *section)
{
	const struct module *module = sweep->module;
	uint8_t step = module->arch->insn_bytes;
	const uint8_t *bytes;
	uint64_t at = 0, size;
	size_t function = 0;

	bytes = module_code(module, section->start, &size, NULL);
	if (!bytes)
		return 0;
	if (size > section->end - section->start)
		size = section->end - section->start;
	while (at < size) {
		uint64_t address = section->start + at, next = UINT64_MAX;
		struct arch_insn insn;
		int code;

		/* where the next function begins */
		while (function < module->function_count &&
		       module->functions[function].start <= address)
			function++;
		if (function < module->function_count)
			next = module->functions[function].start;
		if (arch_insn_decode(module->arch, bytes + at, size - at,
				     &insn)) {
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
	return 0;
}

static int sweep_module(struct target_sweep *sweep)
{
	int code = 0;

	for (size_t i = 0; i < sweep->module->section_count && !code; i++)
		code = sweep_section(sweep, &sweep->module->sections[i]);
	return code;
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
