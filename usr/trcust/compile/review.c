// SPDX-License-Identifier: GPL-2.0
#include "review.h"

#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "analysis.h"
#include "choose.h"
#include "lib/debug/arch/arch.h"
#include "site_place.h"

bool inlined_is_copy(const struct inlined *inlined,
		     const struct dwarf_function *function)
{
	Dwarf_Die one, other = function->die;
	const char *file, *theirs;
	int line = 0, their = 0;

	if (!inlined->own || !function->inlined || function->again)
		return false;
	/* are they of the same source? Others may have the name, too */
	one = inlined->own->die;
	file = dwarf_line_decl_file(&one);
	theirs = dwarf_line_decl_file(&other);
	if (dwarf_die_root(&one).addr == dwarf_die_root(&other).addr)
		return true;
	return file && theirs &&
	       !strcmp(source_path_base(file), source_path_base(theirs)) &&
	       !dwarf_decl_line(&one, &line) &&
	       !dwarf_decl_line(&other, &their) && line == their;
}

int inlined_find(const struct compilation *c, const struct compile_point *point,
		 struct inlined *inlined)
{
	const struct dwarf_function *found;

	*inlined = (struct inlined){ 0 };
	if (point->tsf->tp.kind != TSF_TP_SYMBOL)
		return 0;
	if (site_symbol_functions(c, point->tsf, &inlined->found))
		return -ENOMEM;
	found = inlined->found.functions;
	for (size_t i = 0; i < inlined->found.count && !inlined->own; i++)
		if (!found[i].inlined && point->site_count &&
		    module_ranges_have(found[i].ranges, found[i].range_count,
				       point->sites->nominal))
			inlined->own = &found[i];
	for (size_t i = 0; i < inlined->found.count; i++)
		inlined->count += inlined_is_copy(inlined, &found[i]);
	return 0;
}

/* Does nothing that is known call the function? */
static int is_uncalled(const struct compilation *c,
		       const struct inlined *inlined, bool *uncalled)
{
	const struct dwarf_function *own = inlined->own;
	const struct module_range *range = own->ranges;
	const struct call_table *calls = NULL;
	Dwarf_Die function = own->die;
	size_t count = 0;
	int code = dwarf_calls_whole(c->dwarf, &calls);

	*uncalled = false;
	if (calls)
		dwarf_calls_of(calls, &function, &count);
	/* none at all: the compiler doesn't describe calls. The functions of a
	 * library are for other modules. */
	if (!calls || !calls->count || count ||
	    (!(analysis_runtime(c) & RUNTIME_PROGRAM) &&
	     dwarf_die_flag(&function, DW_AT_external)))
		return code;
	/* some code has no debug information, or none about calls */
	while (own->entry < range->start || own->entry >= range->end)
		if (++range == own->ranges + own->range_count)
			return code;
	*uncalled = !targets_lead_to(c->module, &(struct module_range){
						own->entry, range->end });
	return code;
}

static int check_point(const struct compilation *c,
		       const struct compile_point *point)
{
	const struct tsf_tp *tp = &point->tsf->tp;
	const struct dwarf_function *copy;
	struct dwarf_from at;
	struct inlined inlined;
	const char *file;
	char name[320];
	uint32_t line;
	bool uncalled = false;
	int code = inlined_find(c, point, &inlined);

	if (!code && inlined.count)
		code = is_uncalled(c, &inlined, &uncalled);
	if (code || !inlined.count || (tp->retep && !uncalled))
		goto out;
	diag_report(c->diag, tp->pos,
		    uncalled ? TRCERR_INLINED : TRCERR_INLINEDTOO, tp->name);
	/* where the first copy is, and what is left to trace */
	copy = inlined.found.functions;
	while (!inlined_is_copy(&inlined, copy))
		copy++;
	at = (struct dwarf_from){
		.pc = copy->entry, .function = copy->die.addr,
	};
	analysis_name(c, copy->entry, name, sizeof(name));
	diag_hint(c->diag, "%zu %s inlined, at %s%s%s", inlined.count,
		  inlined.count == 1 ? "was" : "were", name,
		  inlined.count == 1 ? "" : " and elsewhere",
		  uncalled ? ": only what calls it by a pointer or from "
			     "another module is traced" : "");
	if (dwarf_line_from(c->dwarf, &at, &file, &line))
		diag_hint(c->diag, "a line has a site in each copy: TP=@%s,%u",
			  source_path_base(file), line);
out:
	dwarf_functions_free(&inlined.found);
	return code;
}

int inlined_check(const struct compilation *c, const struct compiled *out)
{
	int code = 0;

	if (!c->dwarf)
		return 0;
	for (size_t i = 0; i < out->point_count && !code; i++)
		code = check_point(c, &out->points[i]);
	if (code)
		diag_no_memory(c->diag, (struct srcpos){ 0 });
	return code;
}

#define WARNINGS_MAX	8	/* of a compilation */
#define LINES		8	/* lines that are looked at, up and down */
#define NAME_SIZE	320

/* The first slow site of a tracepoint, and the code around it. */
struct slow {
	const struct compilation *c;
	const struct compiled *out;
	const struct compile_point *point;
	const struct compile_site *site;
	struct block block;	/* without instructions: not known */
};

/* Away from a nop that may do harm. */
static bool is_moved(const struct compile_site *site)
{
	return !(site->flags & TDF_SITE_RETURN) &&
	       site->address != site->nominal;
}

/* All statements are available at that instruction. */
static bool is_possible(const struct slow *slow, size_t index,
			enum move_mode mode)
{
	const struct compilation *c = slow->c;
	const struct compile_site *site = slow->site;
	const struct tdf_stmt *stmts = slow->out->stmts + site->first_stmt;
	char why[MOVE_WHY];
	struct move *move = move_begin(&slow->block, c->module, c->dwarf,
				       mode, slow->block.at, index, why);
	struct bytes rpn = { 0 };
	struct tdf_stmt out;
	bool possible = move;

	for (uint32_t i = 0; i < site->stmts && possible; i++)
		possible = !move_stmt(move, &stmts[i], slow->out->rpn.data,
				      &out, &rpn, why);
	if (move)
		move_end(move);
	bytes_free(&rpn);
	return possible;
}

/* The nearest fast instruction of the block; `movable`: where all statements are
 * available with --site=fast. False: none. */
static bool find_fast(const struct slow *slow, bool movable, uint64_t *address)
{
	const struct block *block = &slow->block;

	for (size_t i = 2; i <= 2 * CHOOSE_DISTANCE + 1; i++) {
		size_t at = i % 2 ? block->at + i / 2 : block->at - i / 2;

		if (at >= block->count ||
		    !analysis_is_cheap(slow->c, &block->insns[at].insn) ||
		    (movable && !is_possible(slow, at, MOVE_FAST)))
			continue;
		*address = block->insns[at].address;
		return true;
	}
	return false;
}

/* The line is one place of the function, and a fast one. */
static bool line_is_fast(const struct slow *slow,
			 const struct dwarf_function *function,
			 const char *file, uint32_t line)
{
	const struct compilation *c = slow->c;
	struct dwarf_line_sites sites = { 0 };
	struct block block;
	bool fast;

	if (dwarf_line_find(c->dwarf, file, line, &sites))
		return false;
	fast = sites.verdict == DWARF_LINE_FOUND && sites.count == 1 &&
	       !sites.several_files &&
	       module_ranges_have(function->ranges, function->range_count,
				  sites.sites[0].address) &&
	       !analysis_block(c, analysis_line_address(c,
							sites.sites[0].address),
			       &block);
	if (fast) {
		fast = analysis_is_cheap(c, &block.insns[block.at].insn);
		block_free(&block);
	}
	dwarf_line_sites_free(&sites);
	return fast;
}

/* By the name that the tracepoint has, if it means one place: that of the symbol
 * may be mangled. */
static void hint_address(const struct slow *slow, uint64_t address)
{
	const struct tsf_tp *tp = &slow->point->tsf->tp;
	const struct compile_site *site = slow->site;
	uint64_t entry = site->address - site->symbol_offset;
	uint64_t offset;
	const char *name = analysis_symbol(slow->c, tp->pos, address, &offset);

	if (tp->kind == TSF_TP_SYMBOL && !tp->offset &&
	    slow->point->site_count == 1 && address - offset == entry)
		name = tp->name;
	diag_hint(slow->c->diag,
		  "cheap, with the values as they are there: %s%s+%#" PRIx64,
		  strpbrk(name, ":(") ? "" : ".", name, offset);
}

/* Another place in the code for another tracepoint: in the block, else the
 * nearest line of the function that is fast. */
static void hint_place(const struct slow *slow)
{
	struct dwarf_file *dwarf = slow->c->dwarf;
	struct dwarf_functions found = { 0 };
	uint32_t line, fast = 0;
	const char *file;
	uint64_t address;

	if (find_fast(slow, false, &address)) {
		hint_address(slow, address);
		return;
	}
	if (!dwarf ||
	    !dwarf_line_of(dwarf, slow->site->nominal, &file, &line) ||
	    dwarf_function_at(dwarf, slow->site->nominal, &found))
		return;
	for (uint32_t i = 1; found.count && i <= LINES && !fast; i++) {
		if (line_is_fast(slow, found.functions, file, line + i))
			fast = line + i;
		else if (line > i &&
			 line_is_fast(slow, found.functions, file, line - i))
			fast = line - i;
	}
	if (fast)
		diag_hint(slow->c->diag, "cheap, another line: @%s,%" PRIu32,
			  source_path_base(file), fast);
	dwarf_functions_free(&found);
}

static void hint_remedies(const struct slow *slow)
{
	const struct compilation *c = slow->c;
	const struct compile_site *site = slow->site;
	const struct tsf_tp *tp = &slow->point->tsf->tp;
	bool returns = site->flags & TDF_SITE_RETURN;
	char name[NAME_SIZE];
	uint64_t address;

	if (c->mode == MOVE_SAFE && !is_moved(site) && !returns &&
	    find_fast(slow, true, &address)) {
		analysis_name(c, address, name, sizeof(name));
		diag_hint(c->diag, "cheap by --site=fast: at %s, over accesses "
			  "to memory", name);
	} else if (tp->kind != TSF_TP_USDT && !tp->retep) {
		hint_place(slow);
	}
	if (slow->point->no_return)
		diag_hint(c->diag, "no return probe: %s",
			  slow->point->no_return);
	if (c->module->arch->cheap_nop &&
	    (returns || (slow->block.entry && !tp->retep &&
			 is_possible(slow, 0, c->mode))))
		diag_hint(c->diag, "cheap when it is compiled with "
			  "-fpatchable-function-entry=1");
}

static void report_slow(struct slow *slow, size_t others)
{
	const struct compile_site *site = slow->site;
	const struct compilation *c = slow->c;
	char name[NAME_SIZE], insn[128], text[NAME_SIZE + 160];

	if (analysis_block(c, site->nominal, &slow->block))
		memset(&slow->block, 0, sizeof(slow->block));
	analysis_name(c, site->address, name, sizeof(name));
	if (arch_insn_print(c->module->arch, site->insn, site->insn_length,
			    site->address, insn, sizeof(insn)))
		strcpy(insn, "the instruction");
	snprintf(text, sizeof(text), "%s at %s is single-stepped", insn, name);
	diag_report(c->diag, slow->point->tsf->tp.pos, TRCERR_SLOWSITE, text);
	diag_hint(c->diag, "%s", site->stays ? site->stays : is_moved(site) ?
		  "a nop of 5 bytes is worse: newer kernels may harm the "
		  "program there" :
		  "a return probe is where the function begins");
	if (others)
		diag_hint(c->diag, "so %s %zu more of its %zu sites",
			  others == 1 ? "is" : "are", others,
			  slow->point->site_count);
	hint_remedies(slow);
	block_free(&slow->block);
}

/* The first site on a nop that may do harm. */
static void report_nop(const struct compilation *c,
		       const struct compile_point *point)
{
	char name[NAME_SIZE];

	for (size_t i = 0; i < point->site_count; i++) {
		const struct compile_site *site = &point->sites[i];

		if (site->cost != TDF_COST_NOP5)
			continue;
		analysis_name(c, site->address, name, sizeof(name));
		diag_report(c->diag, point->tsf->tp.pos, TRCERR_NOP5SITE, name);
		diag_hint(c->diag, "Linux 6.18 and later turn it into a call: "
				   "a program that forks, or keeps data below "
				   "its stack pointer there, is harmed");
		if (site->stays)
			diag_hint(c->diag, "%s", site->stays);
		return;
	}
}

void slow_report(const struct compilation *c, const struct compiled *out)
{
	size_t points = 0;
	char text[64];

	for (size_t i = 0; i < out->point_count; i++) {
		const struct compile_point *point = &out->points[i];
		struct slow slow = { .c = c, .out = out, .point = point };
		size_t others = 0;

		report_nop(c, point);
		for (size_t j = 0; j < point->site_count; j++) {
			const struct compile_site *site = &point->sites[j];

			if (site->cost != TDF_COST_STEPPED ||
			    (!site->stays && !(site->flags & TDF_SITE_RETURN) &&
			     !is_moved(site)))
				continue;
			if (slow.site)
				others++;
			else
				slow.site = site;
		}
		if (slow.site && c->mode != MOVE_NEVER &&
		    points++ < WARNINGS_MAX)
			report_slow(&slow, others);
	}
	if (points <= WARNINGS_MAX)
		return;
	points -= WARNINGS_MAX;
	snprintf(text, sizeof(text), "at %zu more tracepoint%s, too", points,
		 points == 1 ? "" : "s");
	diag_report(c->diag, (struct srcpos){ 0 }, TRCERR_SLOWSITE, text);
	diag_hint(c->diag, "--explain lists each");
}
