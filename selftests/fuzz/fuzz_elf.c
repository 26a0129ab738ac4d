// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a module: refused, or its symbols, functions, code and debug
 * information are gone through as a tracepoint at each symbol would.
 */
#include <stdlib.h>
#include <string.h>
#include "lib/debug/module/code.h"
#include "lib/debug/dwarf/dwarf.h"

#define SYMBOLS_MAX	256
#define FUNCTIONS_MAX	256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(struct module *module, const struct module_symbol *symbol)
{
	char name[256], near[512];
	bool others;

	for (uint64_t offset = 0; offset < 4; offset++) {
		struct code_site site = { .address = symbol->address + offset };
		size_t available;

		if (module_code(module, site.address, &available, NULL) &&
		    code_check(module, symbol->address, &site) == CODE_GOOD &&
		    site.insn.length > available)
			abort();
	}
	if (symbol->name_length >= sizeof(name))
		return;
	memcpy(name, symbol->name, symbol->name_length);
	name[symbol->name_length] = 0;
	module_symbol_find(module, name, MODULE_CODE, &others);
	module_symbol_candidates(module, name, MODULE_DATA, near,
				 sizeof(near));
	name[0] ^= 1;
	module_symbol_near(module, name, MODULE_DATA, near, sizeof(near));
}

/* An address leads to a line, and the line to addresses. */
static void look_at_line(struct dwarf_file *dwarf, uint64_t address)
{
	struct dwarf_line_sites sites;
	const char *file;
	uint32_t line;

	dwarf_line_begins(dwarf, address);
	if (!dwarf_line_of(dwarf, address, &file, &line) ||
	    dwarf_line_find(dwarf, file, line, &sites))
		return;
	for (size_t i = 1; i < sites.count; i++)
		if (sites.sites[i - 1].address >= sites.sites[i].address)
			abort();
	dwarf_line_sites_free(&sites);
}

struct visit {
	struct dwarf_file *dwarf;
	unsigned int functions;
};

static int look_at_function(void *context, const char *name,
			    const struct dwarf_function *function)
{
	struct visit *visit = context;
	struct dwarf_functions found;
	uint64_t end = function->ranges[0].end, body;

	if (!dwarf_function_find(visit->dwarf, name, NULL, &found))
		dwarf_functions_free(&found);
	if (!dwarf_function_find(visit->dwarf, name, "tiny.c", &found))
		dwarf_functions_free(&found);
	if (!dwarf_function_at(visit->dwarf, function->entry, &found))
		dwarf_functions_free(&found);
	dwarf_prologue_find(visit->dwarf, function->entry, end, &body);
	look_at_line(visit->dwarf, function->entry);
	look_at_line(visit->dwarf, end - 1);
	return ++visit->functions == FUNCTIONS_MAX;
}

static void look_at_dwarf(struct module *module)
{
	static const struct dwarf_search search;
	struct dwarf_line_sites sites;
	struct visit visit = {0};
	struct error err;

	if (dwarf_file_open(&visit.dwarf, module, "", &search, &err))
		return;
	dwarf_function_each(visit.dwarf, look_at_function, &visit);
	if (!dwarf_line_find(visit.dwarf, "tiny.c", 3, &sites))
		dwarf_line_sites_free(&sites);
	for (size_t i = 0; i < module->symbol_count && i < SYMBOLS_MAX; i++)
		look_at_line(visit.dwarf, module->symbols[i].address);
	dwarf_file_close(visit.dwarf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module *module;
	struct error err;
	void *copy = malloc(size + 1);	/* libelf may write to it */

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (!module_parse(&module, copy, size, &err)) {
		for (size_t i = 0; i < module->symbol_count && i < SYMBOLS_MAX;
		     i++)
			look_at(module, &module->symbols[i]);
		look_at_dwarf(module);
		module_close(module);
	}
	free(copy);
	return 0;
}
