// SPDX-License-Identifier: GPL-2.0
#include "slow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "lib/debug/arch/arch.h"
#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"
#include "choose.h"
#include "site.h"

#define TOLD_MAX	8	/* warnings of a compilation */
#define LINES		8	/* lines that are looked at, up and down */
#define NAME_SIZE	320

/* The site that is told of, and the code around it. */
struct slow {
	struct compilation *c;
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

static bool is_slow(const struct compile_site *site)
{
	return site->cost == TDF_COST_STEPPED &&
	       (site->stays || site->flags & TDF_SITE_RETURN || is_moved(site));
}

static bool is_cheap(const struct slow *slow, const struct block *block,
		     size_t index)
{
	return choose_is_cheap(slow->c, &block->insns[index].insn);
}

/* The nearest cheap one of the block that `takes`; block.count: none. */
static size_t find_cheap(const struct slow *slow,
			 bool (*takes)(const struct slow *slow, size_t index))
{
	const struct block *block = &slow->block;

	for (size_t distance = 1; distance <= CHOOSE_DISTANCE; distance++) {
		size_t before = block->at - distance;
		size_t behind = block->at + distance;

		if (before < block->at && is_cheap(slow, block, before) &&
		    takes(slow, before))
			return before;
		if (behind < block->count && is_cheap(slow, block, behind) &&
		    takes(slow, behind))
			return behind;
	}
	return block->count;
}

/* All statements can be had there. */
static bool takes(const struct slow *slow, size_t index, enum move_mode mode)
{
	const struct compilation *c = slow->c;
	const struct compile_site *site = slow->site;
	const struct tdf_stmt *stmts = c->stmts + site->first_stmt;
	char why[MOVE_WHY];
	struct move *move = move_begin(&slow->block, c->module, c->dwarf,
				       mode, slow->block.at, index, why);
	struct bytes rpn = { 0 };
	struct tdf_stmt out;
	bool taken = move;

	for (uint32_t i = 0; i < site->stmts && taken; i++)
		taken = !move_stmt(move, &stmts[i], c->rpn.data, &out, &rpn,
				   why);
	if (move)
		move_end(move);
	bytes_free(&rpn);
	return taken;
}

static bool takes_fast(const struct slow *slow, size_t index)
{
	return takes(slow, index, MOVE_FAST);
}

static bool takes_any(const struct slow *slow, size_t index)
{
	return true;
}

static bool hint_fast(const struct slow *slow)
{
	char name[NAME_SIZE];
	size_t at;

	if (slow->c->mode != MOVE_SAFE || is_moved(slow->site) ||
	    slow->site->flags & TDF_SITE_RETURN)
		return false;
	at = find_cheap(slow, takes_fast);
	if (at == slow->block.count)
		return false;
	site_name_at(slow->c, slow->block.insns[at].address, name,
		     sizeof(name));
	diag_hint(slow->c->diag, "cheap by --site=fast: at %s, over accesses "
		  "to memory", name);
	return true;
}

/* Another place in the code is another tracepoint. */
static bool has_other_place(const struct slow *slow)
{
	const struct tsf_tp *tp = &slow->point->tsf->tp;

	return tp->kind != TSF_TP_USDT && !tp->retep;
}

static bool hint_block(const struct slow *slow)
{
	size_t at = find_cheap(slow, takes_any);
	char name[NAME_SIZE];

	if (at == slow->block.count)
		return false;
	site_name_at(slow->c, slow->block.insns[at].address, name,
		     sizeof(name));
	diag_hint(slow->c->diag,
		  "cheap, with the values as they are there: .%s", name);
	return true;
}

static bool address_is_cheap(const struct slow *slow, uint64_t address)
{
	struct block block;
	bool cheap;

	if (site_block_find(slow->c, address, &block))
		return false;
	cheap = is_cheap(slow, &block, block.at);
	block_free(&block);
	return cheap;
}

/* The line is one place of the function, and a cheap one. */
static bool line_is_cheap(const struct slow *slow,
			  const struct dwarf_function *function,
			  const char *file, uint32_t line)
{
	struct dwarf_line_sites sites = { 0 };
	bool cheap;

	if (dwarf_line_find(slow->c->dwarf, file, line, &sites))
		return false;
	cheap = sites.verdict == DWARF_LINE_FOUND && sites.count == 1 &&
		!sites.several_files &&
		module_ranges_have(function->ranges, function->range_count,
				   sites.sites[0].address) &&
		address_is_cheap(slow, site_line_address(slow->c,
							 sites.sites[0].address));
	dwarf_line_sites_free(&sites);
	return cheap;
}

/* The nearest line of the function that is cheap; 0: none. */
static uint32_t line_find(const struct slow *slow,
			  const struct dwarf_function *function,
			  const char *file, uint32_t line)
{
	for (uint32_t i = 1; i <= LINES; i++) {
		if (line_is_cheap(slow, function, file, line + i))
			return line + i;
		if (line > i && line_is_cheap(slow, function, file, line - i))
			return line - i;
	}
	return 0;
}

static void hint_line(const struct slow *slow)
{
	struct dwarf_file *dwarf = slow->c->dwarf;
	struct dwarf_functions found = { 0 };
	const char *file;
	uint32_t line;

	if (!dwarf ||
	    !dwarf_line_of(dwarf, slow->site->nominal, &file, &line) ||
	    dwarf_function_at(dwarf, slow->site->nominal, &found))
		return;
	if (found.count)
		line = line_find(slow, &found.functions[0], file, line);
	if (found.count && line)
		diag_hint(slow->c->diag,
			  "cheap, another line: @%s,%" PRIu32,
			  source_path_base(file), line);
	dwarf_functions_free(&found);
}

static bool is_entry(const struct slow *slow)
{
	return slow->site->flags & TDF_SITE_RETURN ||
	       (slow->block.entry && !slow->point->tsf->tp.retep &&
		takes(slow, 0, slow->c->mode));
}

static void hint_remedies(const struct slow *slow)
{
	struct diag *diag = slow->c->diag;

	if (!hint_fast(slow) && has_other_place(slow) && !hint_block(slow))
		hint_line(slow);
	if (slow->point->no_return)
		diag_hint(diag, "no return probe: %s", slow->point->no_return);
	if (slow->c->module->arch->cheap_nop && is_entry(slow))
		diag_hint(diag, "cheap when it is compiled with "
			  "-fpatchable-function-entry=1");
}

static void tell(const struct slow *slow, size_t others)
{
	const struct compile_site *site = slow->site;
	struct compilation *c = slow->c;
	char name[NAME_SIZE], insn[128], text[NAME_SIZE + 160];

	site_name_at(c, site->address, name, sizeof(name));
	if (arch_insn_print(c->module->arch, site->insn, site->insn_length,
			    site->address, insn, sizeof(insn)))
		strcpy(insn, "the instruction");
	snprintf(text, sizeof(text), "%s at %s is single-stepped", insn, name);
	diag_report(c->diag, slow->point->tsf->tp.pos, TRCERR_SLOWSITE, text);
	diag_hint(c->diag, "%s", site->stays ? site->stays : is_moved(site) ?
		  "a nop of 5 bytes is worse: newer kernels may harm the "
		  "program there" :
		  "a return probe stands where the function begins");
	if (others)
		diag_hint(c->diag, "so %s %zu more of its %zu sites",
			  others == 1 ? "is" : "are", others,
			  slow->point->site_count);
	hint_remedies(slow);
}

void slow_report(struct compilation *c, const struct compile_point *point)
{
	struct slow slow = { .c = c, .point = point };
	size_t others = 0;

	for (size_t i = 0; i < point->site_count; i++) {
		if (!is_slow(&point->sites[i]))
			continue;
		if (slow.site)
			others++;
		else
			slow.site = &point->sites[i];
	}
	if (!slow.site || c->mode == MOVE_NEVER || c->slow_count++ >= TOLD_MAX)
		return;
	if (site_block_find(c, slow.site->nominal, &slow.block))
		memset(&slow.block, 0, sizeof(slow.block));
	tell(&slow, others);
	block_free(&slow.block);
}

void slow_report_rest(struct compilation *c)
{
	size_t rest = c->slow_count - TOLD_MAX;
	char text[64];

	if (c->slow_count <= TOLD_MAX)
		return;
	snprintf(text, sizeof(text), "at %zu more tracepoint%s, too", rest,
		 rest == 1 ? "" : "s");
	diag_report(c->diag, (struct srcpos){ 0 }, TRCERR_SLOWSITE, text);
	diag_hint(c->diag, "--explain tells of each");
}
