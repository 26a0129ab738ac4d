// SPDX-License-Identifier: GPL-2.0
/*
 * Which function a row of the line table is of. Where inlined copies begin
 * their lines and those of the function around them have the same address: the
 * rows' order tells, which gcc numbers (views), or what the entries say of
 * lines.
 */
#include "dwarf_line_owner.h"

#include <dwarf.h>
#include "dwarf_line.h"
#include "lib/debug/module/module.h"

struct search {
	struct dwarf_file *dwarf;
	struct dwarf_scopes *scopes;
	const struct dwarf_line_row *row;
	uint32_t owner;		/* the best so far */
	uint64_t declared;	/* the line where it is; 0: not known */
};

static bool read_number(Dwarf_Die *die, unsigned int name, uint64_t *number)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &word))
		return false;
	*number = word;
	return true;
}

/* The row's file is the one that the entry names. Split debug information has
 * file tables of its own, without directories. */
static bool is_of_file(const struct search *search, Dwarf_Die *die,
		       unsigned int name)
{
	bool split = dwarf_cu_getdwarf(die->cu) != search->dwarf->dwarf;
	const char *path = search->row->path;
	uint64_t number;

	if (!read_number(die, name, &number))
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
static uint64_t declared_at(const struct search *search, const Dwarf_Die *die)
{
	Dwarf_Die at = *die;
	uint64_t line;

	for (int i = 0; i <= DWARF_ORIGINS_MAX; i++) {
		if (read_number(&at, DW_AT_decl_line, &line))
			return is_of_file(search, &at, DW_AT_decl_file) ? line :
									  0;
		if (!dwarf_die_origin(&at))
			break;
	}
	return UINT64_MAX;
}

static uint64_t called_at(const struct search *search, Dwarf_Die *copy)
{
	uint64_t line;

	return read_number(copy, DW_AT_call_line, &line) &&
	       is_of_file(search, copy, DW_AT_call_file) ? line : 0;
}

/* The entry says that the copy is entered at the row's address, and which of
 * the rows there is its first one. */
static bool has_view(const struct search *search, uint32_t number,
		     uint64_t *view)
{
	const struct dwarf_block *block =
		&search->scopes->blocks->list[number];
	Dwarf_Die copy = block->die;

	return block->entry && block->entry == search->row->address &&
	       read_number(&copy, DW_AT_GNU_entry_view, view);
}

/* A lambda is defined in front of its call, in the function that calls it. */
static bool is_behind(const struct search *search, uint32_t number,
		      uint64_t declared)
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

static bool is_inside(const struct dwarf_blocks *blocks, uint32_t number,
		      uint32_t outer)
{
	while (number > outer)
		number = blocks->list[number].outer;
	return number == outer;
}

/* Of several the one that is declared nearest above the line; one that has the
 * address before one that is entered there and has no code. */
static void search_take(struct search *search, uint32_t number)
{
	const Dwarf_Die *die = &search->scopes->blocks->list[number].die;
	bool around = is_around(search->scopes, number);
	uint64_t declared = declared_at(search, die);

	if (declared == UINT64_MAX && around)
		declared = search->row->line;
	else if (declared > search->row->line ||
		 (number && is_behind(search, number, declared)))
		declared = 0;
	if (declared < search->declared ||
	    (!around && declared == search->declared))
		return;
	search->declared = declared;
	search->owner = number;
}

/* The row is of what is around the copy: it comes before those of the copy, or
 * is the line of the call. */
static bool is_in_front(const struct search *search, uint32_t number,
			bool *entered)
{
	Dwarf_Die copy = search->scopes->blocks->list[number].die;
	uint64_t view;

	*entered = has_view(search, number, &view);
	if (*entered)
		return search->row->view < view;
	return is_around(search->scopes, number) &&
	       dwarf_die_begins_at(&copy, search->row->address) &&
	       called_at(search, &copy) == search->row->line;
}

uint32_t dwarf_line_owner(struct dwarf_file *dwarf, struct dwarf_scopes *scopes,
			  const struct dwarf_line_row *row)
{
	struct search search = {
		.dwarf = dwarf, .scopes = scopes, .row = row,
	};
	const struct dwarf_blocks *blocks = scopes->blocks;
	uint32_t skipped = UINT32_MAX;

	search_take(&search, 0);
	for (uint32_t i = 1; i < blocks->count; i++) {
		bool entered;

		if (!blocks->list[i].inlined || is_inside(blocks, i, skipped))
			continue;
		if (is_in_front(&search, i, &entered))
			skipped = i;
		else if (entered || is_around(scopes, i))
			search_take(&search, i);
	}
	return search.owner;
}
