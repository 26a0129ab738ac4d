// SPDX-License-Identifier: GPL-2.0
/*
 * libdw 0.188 gives strings as they stand (DW_FORM_string, DW_FORM_strp,
 * DW_FORM_line_strp): one that nothing ends would be read behind its section.
 */
#include <dwarf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf_file.h"
#include "dwarf_find.h"

struct section {
	const uint8_t *data, *end;
	bool good;
};

/* Of an attribute that is a string in .debug_info itself. */
static int attr_check(Dwarf_Attribute *attr, void *context)
{
	struct section *section = context;

	if (attr->form == DW_FORM_string &&
	    (attr->valp < section->data || attr->valp >= section->end ||
	     !memchr(attr->valp, '\0', section->end - attr->valp)))
		section->good = false;
	return DWARF_CB_OK;
}

/* Entries end with a zero, that of their siblings' list: all but a unit that
 * is nothing else, as an assembler makes it. */
static bool info_ends(Dwarf *dwarf, struct section *section)
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

static bool name_is(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	name += !strncmp(name, ".z", 2) ? 2 : 1;
	return !strncmp(name, wanted, length) &&
	       (!name[length] || !strcmp(name + length, ".dwo"));
}

static bool section_ends(Dwarf *dwarf, Elf_Scn *scn, const char *name)
{
	bool info = name_is(name, "debug_info") || name_is(name, "debug_types");
	struct section section = { .good = true };
	Elf_Data *data;

	if (!info && !name_is(name, "debug_str") &&
	    !name_is(name, "debug_line_str"))
		return true;
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || !data->d_size)
		return true;
	section.data = data->d_buf;
	section.end = section.data + data->d_size;
	return !section.end[-1] || (info && info_ends(dwarf, &section));
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

		if (name && *name && sh.sh_type != SHT_NOBITS &&
		    !section_ends(dwarf, scn, name))
			return false;
	}
	return true;
}

/* A file of split debug information that was looked at. */
struct split {
	Dwarf *dwarf;
	bool good;
};

static int split_compare(const void *a, const void *b)
{
	const struct split *x = a, *y = b;

	return (x->dwarf > y->dwarf) - (x->dwarf < y->dwarf);
}

bool dwarf_split_strings_end(struct dwarf_file *dwarf, Dwarf *own)
{
	struct split key = { .dwarf = own }, *split, **found;

	found = tfind(&key, &dwarf->splits, split_compare);
	if (found)
		return (*found)->good;
	split = malloc(sizeof(*split));
	if (!split)
		return false;
	split->dwarf = own;
	split->good = dwarf_strings_end(own);
	if (tsearch(split, &dwarf->splits, split_compare))
		return split->good;
	free(split);
	return false;
}

void dwarf_splits_free(struct dwarf_file *dwarf)
{
	tdestroy(dwarf->splits, free);
	dwarf->splits = NULL;
}
