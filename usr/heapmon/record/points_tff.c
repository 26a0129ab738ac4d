// SPDX-License-Identifier: GPL-2.0
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <rastrace/heap.h>
#include <rastrace/tff.h>
#include "points.h"
#include "tables.h"

enum {
	SECTIONS,
	ENTRIES,
	TYPES,
	GROUPS,
	CTYPES,
	MEMBERS,
	FORMAT_STRINGS,
	FORMAT_TABLES
};

static uint32_t format_add(struct tdf_tables *tables,
			   const struct heap_function_def *f,
			   const struct points_want *want, bool wide)
{
	char text[160] = "  address %{p64}";

	if (f->kind == FUNCTION_RELEASE)
		strcat(text, " %I16");
	else if (f->kind == FUNCTION_UNMAP)
		strcat(text, " size %{u64} %I8");
	else
		strcat(text, " size %{u64} before %{p64}");
	if (f->kind == FUNCTION_RELEASE && want->types)
		strcat(text, wide ? "\n  first word %P%{p64}" :
				    "\n  first word %P%{p32}");
	if (points_have_stack(want, f))
		strcat(text, "\n%P%{stack}");
	strcat(text, "\n");
	return tables_add_string(tables, text);
}

static void points_section_add(struct tdf_tables *tables,
			       const struct points_want *want,
			       uint8_t elf_class)
{
	struct tff_section section = {
		.name = tables_add_string(tables, "heap"),
		.first_entry = tables->counts[ENTRIES],
	};

	for (unsigned int i = 0; i < HEAP_FUNCTIONS; i++) {
		const struct heap_function_def *f = &heap_functions[i];
		struct tff_entry entry = { .minor = f->minor };

		if (!f->kind)
			continue;
		entry.hash = points_hash(want, f->minor, elf_class);
		entry.desc = tables_add_string(tables, f->text);
		entry.fmt = format_add(tables, f, want,
				       elf_class == ELFCLASS64);
		tables_add(tables, ENTRIES, &entry, sizeof(entry));
		section.entries++;
	}
	tables_add(tables, SECTIONS, &section, sizeof(section));
}

int points_make_tff(const struct points_want *want, void **data, size_t *size,
		    struct error *err)
{
	struct tff_header header = {
		.magic = TFF_MAGIC, .version = TFF_VERSION,
		.major = HEAP_MAJOR,
	};
	struct tdf_table *const places[FORMAT_TABLES] = {
		&header.sections, &header.entries, &header.types,
		&header.groups, &header.ctypes, &header.members,
		&header.strings,
	};
	struct tdf_tables tables;

	tdf_tables_begin(&tables, FORMAT_TABLES);
	points_section_add(&tables, want, ELFCLASS64);
	points_section_add(&tables, want, ELFCLASS32);
	return tables_end(&tables, &header, sizeof(header), places, data, size,
			  err);
}
