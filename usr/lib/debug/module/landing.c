// SPDX-License-Identifier: GPL-2.0
#include "landing.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/debug/cfi/cfi.h"
#include "pointers.h"

static int landing_take(void *context, const struct cfi_function *function)
{
	struct landings *landings = context;

	if (!function->table)
		return 0;
	if (!array_grow(&landings->list, landings->count, &landings->room,
			sizeof(*landings->list)))
		return -ENOMEM;
	landings->list[landings->count++] = (struct landing) {
		function->begin, function->table,
	};
	return 0;
}

int landings_find(struct landings *landings, const struct module *module)
{
	struct cfi_section section;
	int code = 0;

	landings->known = true;
	if (cfi_section_find(module->elf, &section))
		code = cfi_each(&section, landing_take, landings);
	if (landings->count)
		qsort(landings->list, landings->count,
		      sizeof(*landings->list), array_compare);
	return code;
}

void landings_free(struct landings *landings)
{
	free(landings->list);
	memset(landings, 0, sizeof(*landings));
}

/* Mark the landing pads of a table (Itanium C++ ABI: Exception Handling). */
static void table_mark(const struct landing *landing, struct flow *flow)
{
	const struct module *module = flow->source.module;
	unsigned int word = module->elf_class == ELFCLASS64 ? 8 : 4;
	uint64_t base = landing->start, size;
	struct cursor c = { .address = landing->table };
	size_t available;
	uint8_t encoding;

	c.at = pointers_bytes(module, landing->table, &available);
	if (!c.at)
		return;
	c.end = c.at + available;
	encoding = cursor_fixed(&c, 1);
	if (encoding != DW_EH_PE_omit)
		base = cfi_pointer(&c, encoding, word);
	if (cursor_fixed(&c, 1) != DW_EH_PE_omit)
		cursor_uleb(&c);
	encoding = cursor_fixed(&c, 1);
	size = cursor_uleb(&c);
	if (c.failed || size > (size_t)(c.end - c.at))
		return;
	c.end = c.at + size;
	while (c.at < c.end) {
		struct flow_part *part;
		uint64_t pad;

		cfi_pointer(&c, encoding, word);	/* start */
		cfi_pointer(&c, encoding, word);	/* length */
		pad = cfi_pointer(&c, encoding, word);
		cursor_uleb(&c);			/* action */
		part = pad && !c.failed ? flow_part_find(flow, base + pad) :
					  NULL;
		if (part)
			part->marks[base + pad - part->start] |= FLOW_TARGET;
	}
}

void landings_mark(const struct landings *landings, struct flow *flow)
{
	for (size_t i = 0; i < flow->part_count; i++) {
		const struct flow_part *part = &flow->parts[i];
		size_t l = array_count_upto(landings->list, landings->count,
					    sizeof(*landings->list),
					    part->start);

		while (l && landings->list[l - 1].start == part->start)
			l--;
		for (; l < landings->count &&
		       landings->list[l].start - part->start < part->size; l++)
			table_mark(&landings->list[l], flow);
	}
}
