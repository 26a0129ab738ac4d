// SPDX-License-Identifier: GPL-2.0
/*
 * Which function a row of the line table is of. Where inlined copies begin,
 * their lines and those of the function around them have the same address. The
 * order of the rows, which gcc numbers (views), or the lines in the entries
 * decide.
 */
#include "dwarf_line_owner.h"

#include <dwarf.h>
#include "dwarf_lines.h"
#include "lib/debug/module/module.h"

struct owner_search {
	struct dwarf_file *dwarf;
	struct dwarf_scopes *scopes;
	const struct dwarf_line_row *row;
	uint32_t owner;		/* the best so far */
	uint64_t declared;	/* the line where it is; 0: not known */
};

/* The row's file is the one that the entry names. Split debug information has
 * file tables of its own, without directories. */
static bool is_of_file(const struct owner_search *search, Dwarf_Die *die,
		       unsigned int name)
{
	bool split = dwarf_cu_getdwarf(die->cu) != search->dwarf->dwarf;
	const char *path = search->row->path;
	uint64_t number;

	if (!dwarf_die_number(die, name, &number))
		return false;
	if (!split && number == search->row->file &&
	    die->cu == search->scopes->dies[0].cu)
		return true;
	return dwarf_line_unit_file_matches(search->dwarf, die->cu, number,
					    split ? source_path_base(path) :
						    path);
}

/* The line where the function is declared, when that is in the row's file. gcc
 * has none for lambdas: then UINT64_MAX. */
static uint64_t declared_at(const struct owner_search *search,
			    const Dwarf_Die *die)
{
	Dwarf_Die at = *die;
	uint64_t line;

	for (int i = 0; i <= DWARF_ORIGINS_MAX; i++) {
		if (dwarf_die_number(&at, DW_AT_decl_line, &line))
			return is_of_file(search, &at, DW_AT_decl_file) ? line :
									  0;
		if (!dwarf_die_origin(&at))
			break;
	}
	return UINT64_MAX;
}

static uint64_t called_at(const struct owner_search *search, Dwarf_Die *copy)
{
	uint64_t line;

	return dwarf_die_number(copy, DW_AT_call_line, &line) &&
	       is_of_file(search, copy, DW_AT_call_file) ? line : 0;
}

/* A lambda is defined before its call, in the function that calls it. */
static bool is_declared_before_call(const struct owner_search *search,
				    uint32_t number, uint64_t declared)
{
	const struct dwarf_block *list = search->scopes->blocks->list;
	Dwarf_Die copy = list[number].die;
	uint64_t called = called_at(search, &copy), around;

	if (called <= declared || search->row->line < called)
		return false;
	do {
		number = list[number].outer;
		copy = list[number].die;
	} while (number && dwarf_block_is_one(dwarf_tag(&copy)));
	around = declared_at(search, &copy);
	return around && around < declared;
}

static bool is_around(const struct dwarf_scopes *scopes, uint32_t number)
{
	for (size_t i = 0; i < scopes->count; i++)
		if (scopes->numbers[i] == number)
			return true;
	return false;
}

/* Of several the one that is declared nearest above the line; one that has the
 * address before one that is entered there and has no code. */
static void owner_consider(struct owner_search *search, uint32_t number)
{
	const Dwarf_Die *die = &search->scopes->blocks->list[number].die;
	bool around = is_around(search->scopes, number);
	uint64_t declared = declared_at(search, die);

	if (declared == UINT64_MAX && around)
		declared = search->row->line;
	else if (declared > search->row->line ||
		 (number && is_declared_before_call(search, number, declared)))
		declared = 0;
	if (declared < search->declared ||
	    (!around && declared == search->declared))
		return;
	search->declared = declared;
	search->owner = number;
}

uint32_t dwarf_line_owner(struct dwarf_file *dwarf, struct dwarf_scopes *scopes,
			  const struct dwarf_line_row *row)
{
	struct owner_search search = {
		.dwarf = dwarf, .scopes = scopes, .row = row,
	};
	const struct dwarf_block *list = scopes->blocks->list;
	uint32_t skipped = UINT32_MAX;

	owner_consider(&search, 0);
	for (uint32_t i = 1; i < scopes->blocks->count; i++) {
		Dwarf_Die copy = list[i].die;
		bool around = is_around(scopes, i), entered, before;
		uint32_t outer = i;
		uint64_t view;

		while (outer > skipped)
			outer = list[outer].outer;
		if (!list[i].inlined || outer == skipped)
			continue;
		/* The entry may have the number of the row that is the copy's
		 * first one. Else a row is before the copy when it is the line
		 * of the call. */
		entered = list[i].entry && list[i].entry == row->address &&
			  dwarf_die_number(&copy, DW_AT_GNU_entry_view, &view);
		if (entered)
			before = row->view < view;
		else
			before = around &&
				 dwarf_die_begins_at(&copy, row->address) &&
				 called_at(&search, &copy) == row->line;
		if (before)
			skipped = i;
		else if (entered || around)
			owner_consider(&search, i);
	}
	return search.owner;
}
