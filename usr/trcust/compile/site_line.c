// SPDX-License-Identifier: GPL-2.0
/* TP=@file,line (manual 1.3.5.2). */
#include "site.h"

#include <stdio.h>
#include <stdlib.h>
#include "lib/debug/dwarf/dwarf.h"

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

/* Up to where the code from the address on is run, the conditional ways out of
 * it left aside, without another way in; if `straight` all of it is. */
static uint64_t way_end(struct compilation *c, uint64_t address, bool straight)
{
	const struct flow_part *part;
	const struct flow *flow;
	struct arch_insn insn;
	uint64_t entry;
	uint32_t at;

	if (site_flow_find(c, address, &flow, &entry))
		return address;
	part = flow_part_find(flow, address);
	at = part ? address - part->start : 0;
	while (part && at < part->size && flow_insn(flow, part, at, &insn)) {
		at += insn.length;
		if (insn.flow > ARCH_FLOW_BRANCH ||
		    (straight && insn.flow != ARCH_FLOW_NEXT) ||
		    at >= part->size || part->marks[at] & FLOW_TARGET)
			break;
	}
	return part ? part->start + at : address;
}

/* Another way than from its beginning leads into the code. */
static bool is_entered_inside(struct compilation *c,
			      const struct dwarf_line_site *site)
{
	const struct flow_part *part;
	const struct flow *flow;
	uint64_t entry;

	if (site_flow_find(c, site->address, &flow, &entry))
		return true;
	part = flow_part_find(flow, site->address);
	for (uint64_t at = site->address + 1; part && at < site->end &&
					      at - part->start < part->size;
	     at++)
		if (part->marks[at - part->start] & FLOW_TARGET)
			return true;
	return !part;
}

/* Where the code of one execution has several rows of its statement the last is
 * kept: all ways lead to that. */
static void drop_parts(struct compilation *c, struct dwarf_line_sites *found)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		const struct dwarf_line_site *site = &found->sites[i];

		if (i + 1 == found->count || !site->optimized ||
		    site->marked || !site->function ||
		    site[1].function != site->function ||
		    way_end(c, site->address, true) < site[1].address)
			found->sites[kept++] = *site;
	}
	found->count = kept;
}

/* It is run after the site and no other way. */
static bool is_after(struct compilation *c, const struct dwarf_line_site *site,
		     const struct dwarf_line_site *rest)
{
	return site->function == rest->function &&
	       rest->address >= site->address &&
	       rest->address < way_end(c, site->address, false);
}

/* Places of the line's code without a probe on the way to them. */
static size_t count_missed(struct compilation *c,
			   const struct dwarf_line_sites *found)
{
	size_t missed = 0;

	for (size_t i = 0; i < found->count; i++) {
		const struct dwarf_line_site *site = &found->sites[i];

		if (site->optimized)
			missed += site->marked ? site->repeated :
						 is_entered_inside(c, site);
	}
	for (size_t i = 0; i < found->rest_count; i++) {
		const struct dwarf_line_site *rest = &found->rests[i];
		bool after = !rest->optimized || rest->marked;

		for (size_t j = 0; j < found->count && !after; j++)
			after = is_after(c, &found->sites[j], rest);
		missed += !after;
	}
	return missed;
}

/* Only gcc's line table has where each execution is; of other ones copies may
 * be parts of one. */
static bool has_copies(const struct dwarf_line_sites *found)
{
	for (size_t i = 0; i + 1 < found->count; i++)
		if (found->sites[i].optimized && !found->sites[i].marked &&
		    found->sites[i].function &&
		    found->sites[i].function == found->sites[i + 1].function)
			return true;
	return false;
}

static void check_copies(struct compilation *c, const struct tsf_point *point,
			 struct dwarf_line_sites *found)
{
	char line[16], sites[24], places[24];
	size_t missed;

	drop_parts(c, found);
	missed = count_missed(c, found);
	if (!missed && !has_copies(found))
		return;
	snprintf(line, sizeof(line), "%u", found->line);
	snprintf(sites, sizeof(sites), "%zu", found->count);
	snprintf(places, sizeof(places), "%zu", found->count + missed);
	diag_report(c->diag, point->tp.pos, TRCERR_LINECOPIES, line, places,
		    sites);
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

static int report_scattered(struct compilation *c,
			    const struct tsf_point *point,
			    const struct dwarf_line_sites *found)
{
	char text[16], *name = function_name(c, found);

	snprintf(text, sizeof(text), "%u", found->line);
	diag_report(c->diag, point->tp.pos, TRCERR_INVALIDLINENUM, text);
	diag_hint(c->diag, "no statement begins there, its code is at several "
		  "places: name another line");
	if (name)
		diag_hint(c->diag, "where %s() returns: .%s,RETEP=EXIT", name,
			  name);
	free(name);
	return 1;
}

static int take_lines(struct compilation *c, const struct tsf_point *point,
		      struct dwarf_line_sites *found,
		      struct site_places *places)
{
	const char *name = point->tp.name;
	char text[16];
	int code = 0;

	switch (found->verdict) {
	case DWARF_LINE_NO_FILE:
		diag_report(c->diag, point->tp.pos, TRCERR_BADFILENAME, name);
		return 1;
	case DWARF_LINE_PAST:
		diag_report(c->diag, point->tp.pos, TRCERR_BADLINENUM, name);
		diag_hint(c->diag, "the last line with code is %u",
			  found->line);
		return 1;
	case DWARF_LINE_PART:
		if (found->scattered)
			return report_scattered(c, point, found);
		snprintf(text, sizeof(text), "%u", found->line);
		diag_report(c->diag, point->tp.pos, TRCERR_LINEPART, text,
			    name);
		hint_function(c, found);
		break;
	case DWARF_LINE_NEXT:
		snprintf(text, sizeof(text), "%u", found->line);
		diag_report(c->diag, point->tp.pos, TRCERR_NEXTLINENUM, name,
			    text);
		hint_function(c, found);
		break;
	default:
		break;
	}
	if (found->verdict != DWARF_LINE_PART)
		check_copies(c, point, found);
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
		diag_report(c->diag, point->tp.pos, TRCERR_NO_CV,
			    c->module->path);
		compile_hint_debug(c);
		return 1;
	}
	if (dwarf_line_find(c->dwarf, point->tp.name, point->tp.line,
			    &found)) {
		return diag_no_memory(c->diag, point->tp.pos);
	}
	code = take_lines(c, point, &found, places);
	if (!code && found.several_files) {
		diag_report(c->diag, point->tp.pos, TRCERR_SEVERALFILES,
			    point->tp.name);
		diag_hint(c->diag, "more of the path tells which, one is '%s'",
			  found.file);
	}
	dwarf_line_sites_free(&found);
	return code;
}
