// SPDX-License-Identifier: GPL-2.0
#include "inlined.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"
#include "analysis.h"
#include "site_symbol.h"

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

void inlined_free(struct inlined *inlined)
{
	dwarf_functions_free(&inlined->found);
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
	int code = 0;

	*uncalled = false;
	if (!dwarf_calls_are_many(c->dwarf))
		code = dwarf_calls_whole(c->dwarf, &calls);
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
	inlined_free(&inlined);
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
