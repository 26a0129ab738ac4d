// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a module: refused, or its symbols, functions and code are gone
 * through as a tracepoint at each symbol would.
 */
#include <stdlib.h>
#include <string.h>
#include "usr/trcust/code.h"

#define SYMBOLS_MAX	256

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
	name[0] ^= 1;
	module_symbol_near(module, name, MODULE_DATA, near, sizeof(near));
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
		module_close(module);
	}
	free(copy);
	return 0;
}
