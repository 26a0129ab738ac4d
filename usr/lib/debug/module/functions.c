// SPDX-License-Identifier: GPL-2.0
/*
 * Where functions begin and end: by symbols with a size, and, where those were
 * stripped, by the frame descriptions of .eh_frame.
 */
#include "functions.h"
#include "module_elf.h"

#include <errno.h>
#include <stdlib.h>
#include "lib/array.h"
#include "lib/debug/cfi/cfi.h"

#define OVERLAP_MAX	64	/* functions that begin inside another */

struct functions_reader {
	struct module *module;
	size_t room;
};

static int function_add(struct functions_reader *reader, uint64_t start,
			uint64_t end)
{
	struct module *module = reader->module;
	size_t available;

	if (end <= start || !module_code(module, start, &available, NULL))
		return 0;
	if (end - start > available)
		end = start + available;
	if (!array_grow(&module->functions, module->function_count,
			&reader->room, sizeof(*module->functions)))
		return -ENOMEM;
	module->functions[module->function_count++] =
		(struct module_range) { start, end };
	return 0;
}

static int frame_take(void *context, const struct cfi_function *function)
{
	return function_add(context, function->begin, function->end);
}

static int function_range_compare(const void *a, const void *b)
{
	const struct module_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

int module_load_functions(struct module *module)
{
	struct functions_reader reader = { .module = module };
	struct cfi_section section;

	free(module->functions);
	module->functions = NULL;
	module->function_count = 0;
	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];

		if (!symbol->defined || symbol->absolute || !symbol->size ||
		    (symbol->type != STT_FUNC &&
		     symbol->type != STT_GNU_IFUNC))
			continue;
		if (function_add(&reader, symbol->address,
				 symbol->address + symbol->size))
			return -ENOMEM;
	}
	if (cfi_section_find(module->elf, &section) &&
	    cfi_each(&section, frame_take, &reader))
		return -ENOMEM;
	if (module->function_count)
		qsort(module->functions, module->function_count,
		      sizeof(*module->functions), function_range_compare);
	return 0;
}

const struct module_range *
module_function_find(const struct module *module, uint64_t address)
{
	size_t next = array_count_upto(module->functions,
					 module->function_count,
					 sizeof(*module->functions), address);

	for (size_t i = next; i && next - i < OVERLAP_MAX; i--)
		if (module->functions[i - 1].end > address)
			return &module->functions[i - 1];
	return NULL;
}
