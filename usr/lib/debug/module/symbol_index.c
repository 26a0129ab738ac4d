// SPDX-License-Identifier: GPL-2.0
#include "symbol_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>

#define AROUND_MAX	64	/* symbols that begin inside another */

static bool symbol_is_function(const struct module_symbol *symbol)
{
	return symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC;
}

/* Functions outside of a kernel module have addresses as well. */
static bool symbol_is_code(const struct module *module,
			   const struct module_symbol *symbol)
{
	size_t available;

	if (!symbol->defined && symbol->name_length &&
	    module->kind == TDF_MODULE_KMOD)
		return true;
	return symbol->defined && !symbol->absolute && symbol->name_length &&
	       (symbol_is_function(symbol) || symbol->type == STT_NOTYPE) &&
	       module_code(module, symbol->address, &available, NULL);
}

static unsigned int symbol_merit(const struct module_symbol *symbol)
{
	return symbol_is_function(symbol) * 8 + !!symbol->size * 4 +
	       (symbol->bind == STB_GLOBAL) * 2 + !symbol->old_version;
}

/* By address; at the same one the best comes last. */
static int symbol_index_compare(const void *a, const void *b)
{
	const struct module_symbol *x = *(const struct module_symbol *const *)a;
	const struct module_symbol *y = *(const struct module_symbol *const *)b;
	unsigned int x_merit = symbol_merit(x), y_merit = symbol_merit(y);

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x_merit != y_merit)
		return x_merit < y_merit ? -1 : 1;
	if (x->name_length != y->name_length)
		return x->name_length > y->name_length ? -1 : 1;
	return memcmp(y->name, x->name, x->name_length);
}

int symbol_index_make(struct symbol_index *index, const struct module *module)
{
	memset(index, 0, sizeof(*index));
	index->symbols = malloc((module->symbol_count + 1) *
				sizeof(*index->symbols));
	if (!index->symbols)
		return -ENOMEM;
	for (size_t i = 0; i < module->symbol_count; i++)
		if (symbol_is_code(module, &module->symbols[i]))
			index->symbols[index->count++] = &module->symbols[i];
	qsort(index->symbols, index->count, sizeof(*index->symbols),
	      symbol_index_compare);
	return 0;
}

void symbol_index_free(struct symbol_index *index)
{
	free(index->symbols);
	free(index->by_name);
	memset(index, 0, sizeof(*index));
}

static int symbol_name_compare(const void *a, const void *b)
{
	const struct module_symbol *x = *(const struct module_symbol *const *)a;
	const struct module_symbol *y = *(const struct module_symbol *const *)b;

	if (x->name_length != y->name_length)
		return x->name_length < y->name_length ? -1 : 1;
	return memcmp(x->name, y->name, x->name_length);
}

bool symbol_index_is_unique(struct symbol_index *index,
			    const struct module_symbol *symbol)
{
	size_t low = 0, high = index->count;

	if (!index->by_name) {
		index->by_name = malloc((high + 1) * sizeof(*index->by_name));
		if (!index->by_name)
			return false;
		memcpy(index->by_name, index->symbols,
		       high * sizeof(*index->by_name));
		qsort(index->by_name, high, sizeof(*index->by_name),
		      symbol_name_compare);
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbol_name_compare(&index->by_name[middle], &symbol) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < index->count &&
	       !symbol_name_compare(&index->by_name[low], &symbol);
	     low++)
		if (index->by_name[low]->address != symbol->address)
			return false;
	return true;
}

bool symbol_has(const struct module_symbol *symbol, uint64_t address)
{
	return address >= symbol->address &&
	       (address - symbol->address < symbol->size ||
		address == symbol->address);
}

const struct module_symbol *
symbol_index_find(const struct symbol_index *index, uint64_t address)
{
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->symbols[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i && low - i < AROUND_MAX; i--)
		if (symbol_has(index->symbols[i - 1], address))
			return index->symbols[i - 1];
	return low ? index->symbols[low - 1] : NULL;
}
