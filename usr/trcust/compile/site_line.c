// SPDX-License-Identifier: GPL-2.0
/* TP=@file,line (manual 1.3.5.2). */
#include "site.h"

#include <stdio.h>
#include <stdlib.h>
#include "../dwarf/dwarf_line.h"
#include "../dwarf/dwarf_scope.h"

/* A line that begins a function stands behind the prologue, as its name does:
 * there its parameters are known. */
uint64_t site_line_address(struct compilation *c, uint64_t address)
{
	const struct module_range *function =
		module_function_find(c->module, address);

	if (!function || function->start != address)
		return address;
	return site_behind_prologue(c, address, function->end);
}

static int add_line(struct compilation *c, const struct tsf_point *point,
		    const struct dwarf_line_site *site, uint32_t line,
		    struct site_places *places)
{
	struct site_place *place =
		site_place_add(c, point, places,
			       site_line_address(c, site->address));

	if (!place)
		return -1;
	place->named = site->address;
	place->claimed = true;
	place->from.function = site->function;
	place->from.line = line;
	place->from.file = site->file;
	return 0;
}

/* The first function that has the line, malloc'd; NULL: not known. */
static char *function_name(struct compilation *c,
			   const struct dwarf_line_sites *found)
{
	const struct dwarf_from from = {
		.pc = found->sites[0].address,
		.function = found->sites[0].function,
	};
	Dwarf_Die function = { 0 };

	dwarf_scopes_choose(c->dwarf, &from, &function);
	return function.addr ? dwarf_function_name(&function) : NULL;
}

/* It may be another function than the line that was asked for is in. */
static void hint_function(struct compilation *c,
			  const struct dwarf_line_sites *found)
{
	char *name = function_name(c, found);

	if (name)
		diag_hint(c->diag, "line %u is in %s()", found->line, name);
	free(name);
}

static int tell_scattered(struct compilation *c, const struct tsf_point *point,
			  const struct dwarf_line_sites *found)
{
	char text[16], *name = function_name(c, found);

	snprintf(text, sizeof(text), "%u", found->line);
	TELL_SITE(c, point, TRCERR_INVALIDLINENUM, text);
	diag_hint(c->diag, "no statement begins there, its code is at several "
		  "places: name another line");
	if (name)
		diag_hint(c->diag, "where %s() returns: .%s,RETEP=EXIT", name,
			  name);
	free(name);
	return 1;
}

static int take_lines(struct compilation *c, const struct tsf_point *point,
		      const struct dwarf_line_sites *found,
		      struct site_places *places)
{
	const char *name = point->tp.name;
	char text[16];
	int code = 0;

	switch (found->verdict) {
	case DWARF_LINE_NO_FILE:
		TELL_SITE(c, point, TRCERR_BADFILENAME, name);
		return 1;
	case DWARF_LINE_PAST:
		TELL_SITE(c, point, TRCERR_BADLINENUM, name);
		diag_hint(c->diag, "the last line with code is %u",
			  found->line);
		return 1;
	case DWARF_LINE_PART:
		if (found->scattered)
			return tell_scattered(c, point, found);
		snprintf(text, sizeof(text), "%u", found->line);
		TELL_SITE(c, point, TRCERR_LINEPART, text, name);
		hint_function(c, found);
		break;
	case DWARF_LINE_NEXT:
		snprintf(text, sizeof(text), "%u", found->line);
		TELL_SITE(c, point, TRCERR_NEXTLINENUM, name, text);
		hint_function(c, found);
		break;
	default:
		break;
	}
	for (size_t i = 0; i < found->count && !code; i++)
		code = add_line(c, point, &found->sites[i], found->line,
				places);
	return code;
}

int site_line_places(struct compilation *c, const struct tsf_point *point,
		     struct site_places *places)
{
	struct dwarf_line_sites found;
	int code;

	if (!c->dwarf) {
		TELL_SITE(c, point, TRCERR_NO_CV, c->module->path);
		compile_hint_debug(c);
		return 1;
	}
	if (dwarf_line_find(c->dwarf, point->tp.name, point->tp.line,
			    &found)) {
		TELL_SITE(c, point, TRCERR_NO_MEM);
		return -1;
	}
	code = take_lines(c, point, &found, places);
	if (!code && found.several_files) {
		TELL_SITE(c, point, TRCERR_SEVERALFILES, point->tp.name);
		diag_hint(c->diag, "more of the path tells which, one is '%s'",
			  found.file);
	}
	dwarf_line_sites_free(&found);
	return code;
}
