// SPDX-License-Identifier: GPL-2.0
#include "explain.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/buffer.h>
#include "lib/cost.h"
#include "lib/debug/arch/arch.h"
#include "trcust/compile/analysis.h"
#include "trcust/compile/review.h"
#include "lib/debug/module/module.h"
#include "lib/debug/dwarf/dwarf.h"

#define LABEL_WIDTH_MAX	32
#define COPIES_SHOWN	4

static const struct {
	const char *name, *hint;
} costs[] = {
	[TDF_COST_NOP5] = { "nop5",
		"cheap, but newer kernels may harm the program there" },
	[TDF_COST_EMULATED] = { "emulated", "cheap" },
	[TDF_COST_STEPPED] = { "single-stepped",
		"slow, over ten times an emulated one's" },
	[TDF_COST_UNKNOWN] = { "not known", "the code wasn't seen" },
};

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void explain_line(const struct compilation *c,
			 const struct dwarf_from *from, FILE *out)
{
	const char *file;
	uint32_t line;

	if (c->dwarf && dwarf_line_from(c->dwarf, from, &file, &line))
		fprintf(out, ", %s:%u", source_path_base(file), line);
}

static void explain_place(const struct compilation *c,
			  const struct compile_site *site, int width, FILE *out)
{
	const struct dwarf_from at = { .pc = site->address };
	char name[320], text[128], cost[COST_TEXT], *full;
	Dwarf_Die function;

	message_name(name, sizeof(name), site->symbol,
		     site->address - site->symbol_offset, site->address);
	full = demangle_symbol(site->symbol);
	if (full)
		snprintf(name, sizeof(name), "%s+%#" PRIx64, full,
			 site->symbol_offset);
	free(full);
	fprintf(out, "  site %s", name);
	if (site->address)
		fprintf(out, " at %#" PRIx64, site->address);
	if (site->nominal != site->address) {
		explain_line(c, &at, out);
		analysis_name(c, site->nominal, name, sizeof(name));
		fprintf(out, ", values as at %s (%#" PRIx64 ")", name,
			site->nominal);
	}
	explain_line(c, &site->from, out);

	/* Functions that were inlined into each other may have the same
	 * address. */
	full = c->dwarf && dwarf_scopes_choose(c->dwarf, &site->from,
					       &function) ?
		       dwarf_function_name(&function) : NULL;
	if (full)
		fprintf(out, ", names as in %s()%s", full,
			dwarf_tag(&function) == DW_TAG_inlined_subroutine ?
			", inlined" : "");
	free(full);
	if (site->flags & TDF_SITE_RETURN)
		fputs(", when the function has returned", out);
	if (site->flags & TDF_SITE_TAIL_CALL)
		fputs(", a tail call: no return value yet", out);
	if (site->semaphore)
		fputs(", counted by a semaphore", out);
	fputc('\n', out);
	if (!c->module ||
	    arch_insn_print(c->module->arch, site->insn, site->insn_length,
			    site->address, text, sizeof(text)))
		strcpy(text, "-");
	fprintf(out, "    %-*s  %s", width, "instruction", text);
	for (int i = 0; i < site->insn_length; i++)
		fprintf(out, "%s%02x", i ? " " : "  (", site->insn[i]);
	fprintf(out, "%s\n    %-*s  %s: %s", site->insn_length ? ")" : "",
		width, "cost", costs[site->cost].name, costs[site->cost].hint);
	if (cost_print(cost, site->cost, site->flags))
		fprintf(out, ", %s a hit", cost);
	fputc('\n', out);
	if (site->stays)
		fprintf(out, "    %-*s  %s\n", width, "because", site->stays);
}

static const char *item_label(const struct compile_item *item)
{
	if (item->label)
		return item->label;
	switch (item->kind) {
	case TDF_STMT_REG:
		return "register";
	case TDF_STMT_ASCIIZ:
		return "string";
	case TDF_STMT_STACK:
		return "stack";
	default:
		return "memory";
	}
}

/* Of the column that has the labels. */
static int label_width(const struct compile_point *point)
{
	size_t width = strlen("instruction");

	for (size_t i = 0; i < point->item_count; i++) {
		size_t length = strlen(item_label(&point->items[i]));

		if (length > width && length <= LABEL_WIDTH_MAX)
			width = length;
	}
	return width;
}

static void explain_item(const struct compiled *done,
			 const struct compile_item *item, uint32_t stmt,
			 int width, FILE *out)
{
	char size[32];

	snprintf(size, sizeof(size), "%s%u byte%s",
		 item->variable ? "up to " : "", item->bytes,
		 plural(item->bytes));
	fprintf(out, "    %-*s  %-16s", width, item_label(item), size);
	if (item->ctype != CTYPE_NONE)
		fprintf(out, "%s, ", done->ctypes.types[item->ctype].name);
	if (done->stmts[stmt].kind == TDF_STMT_ABSENT)
		fputs("not available here: ", out);
	fprintf(out, "%s\n", item->kind == TDF_STMT_REG ? "the register" :
		done->sources[stmt]);
}

/* Pieces of an item follow its first statement. */
static void explain_site(const struct compilation *c,
			 const struct compiled *done,
			 const struct compile_point *point,
			 const struct compile_site *site, FILE *out)
{
	uint32_t stmt = site->first_stmt, end = stmt + site->stmts;
	const struct compile_item *item = point->items;
	int width = label_width(point);

	explain_place(c, site, width, out);
	if (stmt < end && done->stmts[stmt].kind == TDF_STMT_IF) {
		fprintf(out, "    %-*s  %s\n", width, "only if",
			point->tsf->condition_text);
		stmt++;
	}
	for (; stmt < end; stmt++)
		if (!(done->stmts[stmt].flags & TDF_STMT_MORE))
			explain_item(done, item++, stmt, width, out);
}

static void explain_point(const struct compilation *c,
			  const struct compiled *done,
			  const struct compile_point *point, FILE *out)
{
	const struct tsf_point *tsf = point->tsf;
	uint32_t bytes = 0;
	struct inlined inlined;
	char name[320];
	size_t shown;

	for (size_t i = 0; i < point->item_count; i++)
		bytes += point->items[i].bytes +
			 (point->items[i].raw ? 0 : RAS_ITEM_PREFIX);
	if (bytes > c->tsf->maxdata)
		bytes = c->tsf->maxdata;
	fprintf(out, "minor %u (0x%04x), %s, line %u", tsf->minor,
		tsf->minor, tsf->tp.text, tsf->pos.line);
	if (point->is_static) {
		fputs(": the format of static records\n\n", out);
		return;
	}
	fprintf(out, ": %zu site%s, records of %u", point->site_count,
		plural(point->site_count), RAS_RECORD_HEADER);
	if (bytes)
		fprintf(out, " to %u", RAS_RECORD_HEADER + bytes);
	fputs(" bytes", out);
	if (tsf->passcount)
		fprintf(out, ", after the first %u hits", tsf->passcount);
	if (tsf->maxhits)
		fprintf(out, ", up to %u records", tsf->maxhits);
	if (tsf->continue_on_fault)
		fputs(", goes on after a fault", out);
	fputc('\n', out);
	if (point->no_return)
		fprintf(out, "  no return probe: %s\n", point->no_return);
	for (size_t i = 0; i < point->site_count; i++)
		explain_site(c, done, point, &point->sites[i], out);

	/* Calls that a tracepoint of the function itself doesn't see. */
	shown = 0;
	if (inlined_find(c, point, &inlined))
		c->module->exhausted = true;
	if (inlined.count)
		fprintf(out, "  not seen: %zu call%s of it that %s inlined\n",
			inlined.count, plural(inlined.count),
			inlined.count == 1 ? "was" : "were");
	for (size_t i = 0; i < inlined.found.count && shown < COPIES_SHOWN; i++) {
		const struct dwarf_function *copy = &inlined.found.functions[i];
		const struct dwarf_from at = {
			.pc = copy->entry, .function = copy->die.addr,
		};

		if (!inlined_is_copy(&inlined, copy))
			continue;
		shown++;
		analysis_name(c, copy->entry, name, sizeof(name));
		fprintf(out, "    at %s (%#" PRIx64 ")", name, copy->entry);
		explain_line(c, &at, out);
		fputc('\n', out);
	}
	if (shown < inlined.count)
		fputs("    ...\n", out);
	inlined_free(&inlined);
	fputc('\n', out);
}

void explain_points(const struct compilation *c, const struct compiled *done,
		    FILE *out)
{
	size_t sites[TDF_COST_UNKNOWN + 1] = { 0 };

	for (size_t i = 0; i < done->point_count; i++) {
		explain_point(c, done, &done->points[i], out);
		for (size_t j = 0; j < done->points[i].site_count; j++)
			sites[done->points[i].sites[j].cost]++;
	}
	fprintf(out, "%zu tracepoint%s", done->point_count,
		plural(done->point_count));
	for (size_t i = 0; i <= TDF_COST_UNKNOWN; i++)
		if (sites[i])
			fprintf(out, ", %zu site%s %s", sites[i],
				plural(sites[i]), costs[i].name);
	fputc('\n', out);
}
