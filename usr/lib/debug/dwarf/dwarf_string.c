// SPDX-License-Identifier: GPL-2.0
/*
 * libdw 0.188 doesn't check that strings (DW_FORM_string, DW_FORM_strp,
 * DW_FORM_line_strp) end in their section: one without an end would be read
 * past it.
 */
#include <dwarf.h>
#include <string.h>
#include "dwarf_file.h"
#include "dwarf_find.h"

struct string_section {
	const uint8_t *data, *end;
	bool good;
};

/* Of an attribute that is a string in .debug_info itself. */
static int attr_check(Dwarf_Attribute *attr, void *context)
{
	struct string_section *section = context;

	if (attr->form == DW_FORM_string &&
	    (attr->valp < section->data || attr->valp >= section->end ||
	     !memchr(attr->valp, '\0', section->end - attr->valp)))
		section->good = false;
	return DWARF_CB_OK;
}

/* Entries end with a zero, that of their siblings' list: all but a unit that
 * is nothing else, as an assembler makes it. */
static bool info_ends(Dwarf *dwarf, struct string_section *section)
{
	Dwarf_Die die, last = {0};
	Dwarf_CU *unit = NULL;

	while (!dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
		if ((const uint8_t *)die.addr >= section->data &&
		    (const uint8_t *)die.addr < section->end)
			last = die;
	if (!last.addr)
		return true;
	return !dwarf_haschildren(&last) &&
	       dwarf_getattrs(&last, attr_check, section, 0) == 1 &&
	       section->good;
}

/* ".debug_str", ".zdebug_str", ".debug_str.dwo" */
static bool section_is(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	name += !strncmp(name, ".z", 2) ? 2 : 1;
	return !strncmp(name, wanted, length) &&
	       (!name[length] || !strcmp(name + length, ".dwo"));
}

bool dwarf_strings_end(Dwarf *dwarf)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &sh) ?
			elf_strptr(elf, names, sh.sh_name) : NULL;
		struct string_section section = { .good = true };
		Elf_Data *data;
		bool info;

		if (!name || !*name || sh.sh_type == SHT_NOBITS)
			continue;
		info = section_is(name, "debug_info") ||
		       section_is(name, "debug_types");
		if (!info && !section_is(name, "debug_str") &&
		    !section_is(name, "debug_line_str"))
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || !data->d_size)
			continue;
		section.data = data->d_buf;
		section.end = section.data + data->d_size;
		if (section.end[-1] && !(info && info_ends(dwarf, &section)))
			return false;
	}
	return true;
}

bool dwarf_split_strings_end(struct dwarf_file *dwarf, Dwarf *own)
{
	uint64_t key = key_map_key(own), known;

	known = key_map_number(&dwarf->splits, key);
	if (!known) {
		known = dwarf_strings_end(own) ? 1 : 2;
		if (key_map_add_number(&dwarf->splits, key, known))
			return false;
	}
	return known == 1;
}
