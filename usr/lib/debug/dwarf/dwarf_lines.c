// SPDX-License-Identifier: GPL-2.0
#include "dwarf_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/debug/module/module.h"

#define BUCKETS		65536	/* a power of two */

static int unit_compare(const void *a, const void *b)
{
	const struct line_unit *x = a, *y = b;

	return (x->program > y->program) - (x->program < y->program);
}

/* Units may share a program, but programs don't overlap. */
static void units_sort(struct lines *lines)
{
	uint64_t end = 0;
	size_t kept = 0;

	if (lines->unit_count)
		qsort(lines->units, lines->unit_count, sizeof(*lines->units),
		      unit_compare);
	for (size_t i = 0; i < lines->unit_count; i++) {
		uint64_t behind;

		if (lines->units[i].program < end)
			continue;
		behind = dwarf_program_end(&lines->sections,
					   lines->units[i].program);
		if (!behind)
			continue;
		end = behind;
		lines->units[kept++] = lines->units[i];
	}
	lines->unit_count = kept;
}

static bool unit_add(struct lines *lines, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word program;
	const char *directory = NULL;

	if (!dwarf_attr(die, DW_AT_stmt_list, &attr) ||
	    dwarf_formudata(&attr, &program))
		return true;
	if (dwarf_attr(die, DW_AT_comp_dir, &attr))
		directory = dwarf_formstring(&attr);
	if (!array_grow(&lines->units, lines->unit_count, &lines->unit_room,
			sizeof(*lines->units)))
		return false;
	lines->units[lines->unit_count++] = (struct line_unit) {
		.program = program, .directory = directory,
	};
	return true;
}

static bool lines_read_units(struct lines *lines, struct dwarf_file *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (!dwarf_get_units(dwarf->dwarf, unit, &unit, NULL, &type, &die,
				NULL))
		if (die.cu &&
		    (type == DW_UT_compile || type == DW_UT_skeleton) &&
		    !unit_add(lines, &die))
			return false;
	units_sort(lines);
	return true;
}

static void lines_free(struct lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->unit_count; i++) {
		struct line_table *table = lines->units[i].table;

		for (size_t file = 0; table && file < table->path_count; file++)
			free(table->paths[file]);
		if (table) {
			free(table->paths);
			dwarf_rows_free(&table->rows);
		}
		free(table);
	}
	dwarf_sources_free(lines->sources);
	free(lines->units);
	free(lines->names);
	free(lines->buckets);
	free(lines);
}

void dwarf_lines_free(struct dwarf_file *dwarf)
{
	lines_free(dwarf->lines);
	dwarf->lines = NULL;
}

static void section_read(struct dwarf_file *dwarf, const char *name,
			 struct dwarf_bytes *bytes)
{
	if (!dwarf_section_read(dwarf, name, &bytes->data, &bytes->size))
		*bytes = (struct dwarf_bytes) {0};
}

struct lines *dwarf_lines_get(struct dwarf_file *dwarf)
{
	struct lines *lines = dwarf->lines;

	if (lines)
		return lines;
	lines = calloc(1, sizeof(*lines));
	dwarf->module->exhausted |= !lines;
	if (!lines)
		return NULL;
	section_read(dwarf, ".debug_line", &lines->sections.line);
	section_read(dwarf, ".debug_line_str", &lines->sections.line_str);
	section_read(dwarf, ".debug_str", &lines->sections.str);
	if (!lines_read_units(lines, dwarf)) {
		dwarf->module->exhausted = true;
		lines_free(lines);
		return NULL;
	}
	dwarf->lines = lines;
	return lines;
}

struct line_unit *dwarf_lines_unit(struct lines *lines, Dwarf_Die *unit)
{
	struct line_unit key = {0};
	Dwarf_Attribute attr;
	Dwarf_Word program;

	if (!lines->unit_count || !dwarf_attr(unit, DW_AT_stmt_list, &attr) ||
	    dwarf_formudata(&attr, &program))
		return NULL;
	key.program = program;
	return bsearch(&key, lines->units, lines->unit_count, sizeof(key),
		       unit_compare);
}

static bool is_code(const void *context, uint64_t address)
{
	size_t available;

	return module_code(context, address, &available, NULL);
}

static struct line_table *table_build(struct dwarf_file *dwarf,
				      const struct lines *lines,
				      const struct line_unit *unit)
{
	struct line_table *table = NULL;
	struct dwarf_program program;
	int code = dwarf_program_open(&program, &lines->sections,
				      unit->program);

	dwarf->module->exhausted |= code == -ENOMEM;
	if (code)
		return NULL;
	table = calloc(1, sizeof(*table));
	if (!table || dwarf_rows_read(&table->rows, &program, is_code,
				      dwarf->module)) {
		dwarf->module->exhausted = true;
		free(table);
		table = NULL;
	}
	dwarf_program_close(&program);
	return table;
}

struct line_table *dwarf_lines_read(struct dwarf_file *dwarf,
				    struct line_unit *unit)
{
	if (!unit->table)
		unit->table = table_build(dwarf, dwarf->lines, unit);
	return unit->table;
}

struct line_table *dwarf_lines_table(struct dwarf_file *dwarf, Dwarf_Die *die)
{
	struct lines *lines = dwarf_lines_get(dwarf);
	struct line_unit *unit = lines ? dwarf_lines_unit(lines, die) : NULL;

	return unit ? dwarf_lines_read(dwarf, unit) : NULL;
}

static uint32_t name_hash(const char *name)
{
	uint32_t hash = 2166136261u;	/* FNV-1a, 32 bits */

	for (; *name; name++) {
		uint8_t c = *name;

		c |= c >= 'A' && c <= 'Z' ? 0x20 : 0;
		hash = (hash ^ c) * 16777619u;
	}
	return hash;
}

static bool name_add(struct lines *lines, const char *name, uint32_t unit)
{
	uint32_t hash = name_hash(source_path_base(name));
	uint32_t *bucket = &lines->buckets[hash % BUCKETS];

	if (*bucket && lines->names[*bucket - 1].hash == hash &&
	    lines->names[*bucket - 1].unit == unit)
		return true;
	if (!array_grow(&lines->names, lines->name_count, &lines->name_room,
			sizeof(*lines->names)))
		return false;
	lines->names[lines->name_count++] = (struct line_name) {
		.hash = hash, .unit = unit, .next = *bucket,
	};
	*bucket = lines->name_count;
	return true;
}

static bool lines_add_names(struct lines *lines, uint32_t unit)
{
	struct dwarf_program program;
	bool good = true;
	int code = dwarf_program_open(&program, &lines->sections,
				      lines->units[unit].program);

	if (code)
		return code != -ENOMEM;
	for (size_t i = 0; good && i < program.file_count; i++)
		good = name_add(lines, program.files[i].name, unit);
	dwarf_program_close(&program);
	return good;
}

/* From the last unit on, so that a bucket begins with the first. */
static bool lines_read_names(struct lines *lines)
{
	bool good;

	lines->buckets = calloc(BUCKETS, sizeof(*lines->buckets));
	good = lines->buckets;
	for (size_t i = lines->unit_count; good && i--; )
		good = lines_add_names(lines, i);
	if (!good) {
		free(lines->buckets);
		lines->buckets = NULL;
	}
	return good;
}

struct line_unit *dwarf_lines_next(struct lines *lines, const char *name,
				   uint32_t *position, bool *failed)
{
	uint32_t hash = name_hash(name), before = UINT32_MAX, at;

	*failed = !lines->buckets && !lines_read_names(lines);
	if (*failed)
		return NULL;
	at = lines->buckets[hash % BUCKETS];
	if (*position) {
		before = lines->names[*position - 1].unit;
		at = lines->names[*position - 1].next;
	}
	while (at && (lines->names[at - 1].hash != hash ||
		      lines->names[at - 1].unit == before))
		at = lines->names[at - 1].next;
	*position = at;
	return at ? &lines->units[lines->names[at - 1].unit] : NULL;
}
