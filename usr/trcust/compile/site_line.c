// SPDX-License-Identifier: GPL-2.0
/* TP=@file,line (manual 1.3.5.2). */
#include "site_line.h"

#include <stdio.h>
#include <stdlib.h>
#include "analysis.h"
#include "lib/debug/dwarf/dwarf.h"
#include "message.h"

/* The end of the code that always runs from the address on, with no other way
 * into it: conditional jumps out of it are allowed unless `straight`. */
static uint64_t run_end(const struct compilation *c, uint64_t address,
			bool straight)
{
	const struct flow_part *part;
	const struct flow *flow;
	struct arch_insn insn;
	uint64_t entry;
	uint32_t at;

	if (analysis_flow(c, address, &flow, &entry))
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

/* The code may also be entered elsewhere than at its beginning. */
static bool is_entered_inside(const struct compilation *c,
			      const struct dwarf_line_site *site)
{
	const struct flow_part *part;
	const struct flow *flow;
	uint64_t entry;

	if (analysis_flow(c, site->address, &flow, &entry))
		return true;
	part = flow_part_find(flow, site->address);
	for (uint64_t at = site->address + 1; part && at < site->end &&
					      at - part->start < part->size;
	     at++)
		if (part->marks[at - part->start] & FLOW_TARGET)
			return true;
	return !part;
}

/* Places of the line's code that can be reached without passing a probe. */
static size_t count_missed(const struct compilation *c,
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

		for (size_t j = 0; j < found->count && !after; j++) {
			const struct dwarf_line_site *site = &found->sites[j];

			after = site->function == rest->function &&
				rest->address >= site->address &&
				rest->address < run_end(c, site->address,
							false);
		}
		missed += !after;
	}
	return missed;
}

/* Drops sites that the same execution of the line passes twice, and warns of
 * code that the others may miss. */
static void check_copies(const struct site_search *s,
			 struct dwarf_line_sites *found)
{
	char line[16], sites[24], places[24];
	size_t kept = 0, missed;
	bool copies = false;

	/* where one execution has several rows of its statement the last one is
	 * kept: all ways lead there */
	for (size_t i = 0; i < found->count; i++) {
		const struct dwarf_line_site *site = &found->sites[i];

		if (i + 1 == found->count || !site->optimized ||
		    site->marked || !site->function ||
		    site[1].function != site->function ||
		    run_end(s->c, site->address, true) < site[1].address)
			found->sites[kept++] = *site;
	}
	found->count = kept;
	missed = count_missed(s->c, found);
	/* only gcc's line table shows where each execution is; with other
	 * compilers, copies may be parts of one execution */
	for (size_t i = 0; i + 1 < found->count; i++)
		copies |= found->sites[i].optimized &&
			  !found->sites[i].marked && found->sites[i].function &&
			  found->sites[i].function ==
				  found->sites[i + 1].function;
	if (!missed && !copies)
		return;
	snprintf(line, sizeof(line), "%u", found->line);
	snprintf(sites, sizeof(sites), "%zu", found->count);
	snprintf(places, sizeof(places), "%zu", found->count + missed);
	diag_report(s->c->diag, s->point->tp.pos, TRCERR_LINECOPIES, line,
		    places, sites);
}

/* Warns of another line than the one that was asked for; 1 after an error. */
static int check_verdict(const struct site_search *s,
			 const struct dwarf_line_sites *found)
{
	const char *asked = s->point->tp.name;
	struct srcpos pos = s->point->tp.pos;
	const struct dwarf_from from = {
		.pc = found->count ? found->sites[0].address : 0,
		.function = found->count ? found->sites[0].function : NULL,
	};
	struct diag *diag = s->c->diag;
	Dwarf_Die function = { 0 };
	char line[16], *name;

	snprintf(line, sizeof(line), "%u", found->line);
	switch (found->verdict) {
	case DWARF_LINE_NO_FILE:
		diag_report(diag, pos, TRCERR_BADFILENAME, asked);
		return 1;
	case DWARF_LINE_PAST:
		diag_report(diag, pos, TRCERR_BADLINENUM, asked);
		diag_hint(diag, "the last line with code is %s", line);
		return 1;
	case DWARF_LINE_PART:
	case DWARF_LINE_NEXT:
		break;
	default:
		return 0;
	}
	/* the first function that has the line */
	dwarf_scopes_choose(s->c->dwarf, &from, &function);
	name = function.addr ? dwarf_function_name(&function) : NULL;
	if (found->verdict == DWARF_LINE_PART && found->scattered) {
		diag_report(diag, pos, TRCERR_INVALIDLINENUM, line);
		diag_hint(diag, "no statement begins there, its code is at "
				"several places: name another line");
		if (name)
			diag_hint(diag, "where %s() returns: .%s,RETEP=EXIT",
				  name, name);
		free(name);
		return 1;
	}
	if (found->verdict == DWARF_LINE_PART)
		diag_report(diag, pos, TRCERR_LINEPART, line, asked);
	else
		diag_report(diag, pos, TRCERR_NEXTLINENUM, asked, line);
	if (name)
		diag_hint(diag, "line %s is in %s()", line, name);
	free(name);
	return 0;
}

static int take_lines(struct site_search *s, struct dwarf_line_sites *found)
{
	if (check_verdict(s, found))
		return 1;
	if (found->verdict != DWARF_LINE_PART)
		check_copies(s, found);
	for (size_t i = 0; i < found->count; i++) {
		const struct dwarf_line_site *site = &found->sites[i];
		struct site_place *place =
			site_place_add(s, analysis_line_address(s->c,
								site->address));

		if (!place)
			return -1;
		place->named = site->address;
		place->claimed = true;
		place->from.function = site->function;
		place->from.line = found->line;
		place->from.file = site->file;
	}
	return 0;
}

int site_line_places(struct site_search *s)
{
	const struct tsf_tp *tp = &s->point->tp;
	const struct compilation *c = s->c;
	struct dwarf_line_sites found;
	int code;

	if (!c->dwarf) {
		diag_report(c->diag, tp->pos, TRCERR_NO_CV, c->module->path);
		message_hint_debug(c);
		return 1;
	}
	if (dwarf_line_find(c->dwarf, tp->name, tp->line, &found))
		return diag_no_memory(c->diag, tp->pos);
	code = take_lines(s, &found);
	if (!code && found.several_files) {
		diag_report(c->diag, tp->pos, TRCERR_SEVERALFILES, tp->name);
		diag_hint(c->diag, "more of the path selects one, for "
				   "example '%s'", found.file);
	}
	dwarf_line_sites_free(&found);
	return code;
}
