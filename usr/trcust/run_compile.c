// SPDX-License-Identifier: GPL-2.0
/*
 * From a TSF to its TDF and TFF; or what was compiled, for people: where each
 * tracepoint is, what a hit costs there, where each datum comes from.
 */
#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/buffer.h>
#include "input.h"
#include "lib/names.h"
#include "lib/guard.h"
#include "trcust/compile/analysis.h"
#include "trcust/compile/review.h"
#include "trcust/compile/whole.h"
#include "trcust/tsf/parse_point.h"

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
			 const struct dwarf_from *from)
{
	const char *file;
	uint32_t line;

	if (c->dwarf && dwarf_line_from(c->dwarf, from, &file, &line))
		printf(", %s:%u", source_path_base(file), line);
}

static void explain_place(const struct compilation *c,
			  const struct compile_site *site, int width)
{
	const struct dwarf_from at = { .pc = site->address };
	char name[320], text[128], cost[COST_TEXT], *full;
	Dwarf_Die function;

	message_name(name, sizeof(name), site->symbol,
		     site->address - site->symbol_offset, site->address);
	printf("  site %s", name);
	if (site->address && (c->module->elf || c->map))
		printf(" at %#" PRIx64, site->address);
	if (site->nominal != site->address) {
		explain_line(c, &at);
		analysis_name(c, site->nominal, name, sizeof(name));
		printf(", values as at %s (%#" PRIx64 ")", name, site->nominal);
	}
	explain_line(c, &site->from);

	/* Functions that were inlined into each other may have the same
	 * address. */
	full = c->dwarf && dwarf_scopes_choose(c->dwarf, &site->from,
					       &function) ?
		       dwarf_function_name(&function) : NULL;
	if (full)
		printf(", names as in %s()%s", full,
		       dwarf_tag(&function) == DW_TAG_inlined_subroutine ?
		       ", inlined" : "");
	free(full);
	if (site->flags & TDF_SITE_RETURN)
		fputs(", when the function has returned", stdout);
	if (site->flags & TDF_SITE_TAIL_CALL)
		fputs(", a tail call: no return value yet", stdout);
	if (site->semaphore)
		fputs(", counted by a semaphore", stdout);
	putchar('\n');
	if (!c->module ||
	    arch_insn_print(c->module->arch, site->insn, site->insn_length,
			    site->address, text, sizeof(text)))
		strcpy(text, "-");
	printf("    %-*s  %s", width, "instruction", text);
	for (int i = 0; i < site->insn_length; i++)
		printf("%s%02x", i ? " " : "  (", site->insn[i]);
	printf("%s\n    %-*s  %s: %s", site->insn_length ? ")" : "",
	       width, "cost", costs[site->cost].name, costs[site->cost].hint);
	if (cost_print(cost, site->cost, site->flags))
		printf(", %s a hit", cost);
	putchar('\n');
	if (site->stays)
		printf("    %-*s  %s\n", width, "because", site->stays);
}

/* Of the column that has the labels. */
static int label_width(const struct compile_point *point)
{
	size_t width = strlen("instruction");

	for (size_t i = 0; i < point->item_count; i++) {
		size_t length = strlen(point->items[i].label);

		if (length > width && length <= LABEL_WIDTH_MAX)
			width = length;
	}
	return width;
}

static void explain_item(const struct compiled *done,
			 const struct compile_item *item, uint32_t stmt,
			 int width)
{
	const char *type = item->ctype == CTYPE_NONE ? NULL :
			   done->ctypes.types[item->ctype].name;
	char *shown = type ? demangle_shorten(type) : NULL;
	char size[32];

	snprintf(size, sizeof(size), "%s%u byte%s",
		 item->variable ? "up to " : "", item->bytes,
		 plural(item->bytes));
	printf("    %-*s  %-17s", width, item->label, size);
	if (type)
		printf("%s, ", shown ? shown : type);
	free(shown);
	if (done->stmts[stmt].kind == TDF_STMT_ABSENT)
		fputs("not available here: ", stdout);
	printf("%s\n", item->kind == TDF_STMT_REG ? "the register" :
	       done->sources[stmt]);
}

/* Pieces of an item follow its first statement. */
static void explain_site(const struct compilation *c,
			 const struct compiled *done,
			 const struct compile_point *point,
			 const struct compile_site *site)
{
	uint32_t stmt = site->first_stmt, end = stmt + site->stmts;
	const struct compile_item *item = point->items;
	bool entry = whole_is_entry(site);
	int width = label_width(point);

	explain_place(c, site, width);
	if (stmt < end && done->stmts[stmt].kind == TDF_STMT_KEY)
		stmt++;
	if (stmt < end && done->stmts[stmt].kind == TDF_STMT_IF) {
		printf("    %-*s  %s\n", width, "only if",
		       point->tsf->condition_text);
		stmt++;
	}
	if (entry)
		stmt += point->entry_count;
	else
		end -= point->tsf->by_count + point->tsf->aggregate_count;
	for (; stmt < end; stmt++) {
		uint16_t more;

		if (done->stmts[stmt].flags & TDF_STMT_MORE)
			continue;
		while (!whole_logs(point, site, item->tsf))
			item++;
		more = item->items;
		explain_item(done, item++, stmt, width);
		/* the other items of a shape */
		while (more > 1 && stmt + 1 < end)
			more -= !(done->stmts[++stmt].flags & TDF_STMT_MORE);
	}
	for (size_t i = 0; !entry && i < point->tsf->aggregate_count; i++)
		printf("    %-*s  %s\n", width,
		       names_aggregate[point->tsf->aggregates[i].kind],
		       point->tsf->aggregates[i].text);
	for (size_t i = 0; !entry && i < point->tsf->by_count; i++)
		printf("    %-*s  %s\n", width, "by", point->tsf->by[i].text);
}

static void explain_point(const struct compilation *c,
			  const struct compiled *done,
			  const struct compile_point *point)
{
	const struct tsf_point *tsf = point->tsf;
	/* the time is the first statement of a whole call */
	bool silent = tsf->aggregate_count && tsf->stmt_count == tsf->tp.whole;
	uint32_t bytes = 0;
	struct inlined inlined;
	char name[320];
	size_t shown;

	for (size_t i = 0; !silent && i < point->item_count; i++)
		bytes += point->items[i].bytes +
			 (point->items[i].raw ? 0 : RAS_ITEM_PREFIX);
	if (bytes > c->tsf->maxdata)
		bytes = c->tsf->maxdata;
	printf("minor %u (0x%04x), %s, line %u", tsf->minor,
	       tsf->minor, tsf->tp.text, tsf->pos.line);
	if (point->is_static) {
		fputs(": the format of static records\n\n", stdout);
		return;
	}
	printf(": %zu site%s, ", point->site_count, plural(point->site_count));
	if (silent)
		fputs("no records", stdout);
	else
		printf("records of %u", RAS_RECORD_HEADER);
	if (bytes)
		printf(" to %u", RAS_RECORD_HEADER + bytes);
	if (!silent)
		fputs(" bytes", stdout);
	if (tsf->passcount)
		printf(", after the first %u hits", tsf->passcount);
	if (tsf->maxhits)
		printf(", up to %u records", tsf->maxhits);
	if (point->goes_on)
		fputs(", goes on after a fault", stdout);
	putchar('\n');
	if (point->no_return)
		printf("  no return probe: %s\n", point->no_return);
	for (size_t i = 0; i < point->site_count; i++)
		explain_site(c, done, point, &point->sites[i]);

	/* Calls that a tracepoint of the function itself doesn't see. */
	shown = 0;
	if (inlined_find(c, point, &inlined))
		c->module->exhausted = true;
	if (inlined.count)
		printf("  not seen: %zu call%s of it that %s inlined\n",
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
		printf("    at %s (%#" PRIx64 ")", name, copy->entry);
		explain_line(c, &at);
		putchar('\n');
	}
	if (shown < inlined.count)
		fputs("    ...\n", stdout);
	dwarf_functions_free(&inlined.found);
	putchar('\n');
}

static void explain_points(const struct compilation *c,
			   const struct compiled *done)
{
	size_t sites[TDF_COST_UNKNOWN + 1] = { 0 };

	for (size_t i = 0; i < done->point_count; i++) {
		explain_point(c, done, &done->points[i]);
		for (size_t j = 0; j < done->points[i].site_count; j++)
			sites[done->points[i].sites[j].cost]++;
	}
	printf("%zu tracepoint%s", done->point_count,
	       plural(done->point_count));
	for (size_t i = 0; i <= TDF_COST_UNKNOWN; i++)
		if (sites[i])
			printf(", %zu site%s %s", sites[i],
			       plural(sites[i]), costs[i].name);
	putchar('\n');
}

static bool tsf_is_static(const struct tsf *tsf)
{
	for (size_t i = 0; i < tsf->point_count; i++)
		if (tsf->points[i].tp.kind != TSF_TP_STATIC)
			return false;
	return true;
}

/* What was compiled is explained, or written. */
static int tsf_finish(const struct compilation *c, const struct compiled *out,
		      const struct settings *s, const struct input *input,
		      const char *tdf)
{
	const char *path = input->path;

	if (c->module && c->module->exhausted)
		return diag_no_memory(c->diag, input->pos);
	if (input_check(c, input))
		return -1;
	/* what uses the types of a kernel's BTF is for that kernel */
	if (c->module && !c->module->elf && c->dwarf && c->dwarf->used)
		c->module->identity = input->btf;
	if (!s->explain)
		return output_write(c, out, tdf, path ? path : c->tsf->modname);
	explain_points(c, out);
	return 0;
}

static int compile_tsf(struct compilation *c, struct compiled *out,
		       const struct settings *s, const char *tdf)
{
	struct input input = { .pos = c->tsf->modname_pos };
	int code = input_open_map(c, s);

	if (!code)
		code = input_open(c, s, &input, c->tsf->modname,
				   diag_path(c->diag), !tsf_is_static(c->tsf));
	if (!code)
		code = compile_points(c, out);
	if (!code)
		code = inlined_check(c, out);
	if (code && !s->explain)
		output_remove(c->diag, tdf);
	if (!code)
		code = tsf_finish(c, out, s, &input, tdf);
	compile_free(c, out);
	input_close(c, &input);
	return code;
}

struct tsf_run {
	const struct settings *s;
	const char *tsf, *given;	/* given: name of the TDF; NULL */
};

static const struct arch *tsf_find_arch(void *context, const char *modname)
{
	const struct tsf_run *run = context;

	return input_arch(run->s, modname, run->tsf);
}

/* After errors: how much of the TSF there is a TDF for. */
static void report_left(const struct settings *s, const struct tsf *tsf,
			const char *tdf, size_t written)
{
	size_t all = 0;

	if (!s->level || s->explain)
		return;
	for (size_t i = 0; tsf && i < tsf->point_count; i++)
		all += tsf->points[i].tp.kind != TSF_TP_STATIC;
	if (written)
		fprintf(stderr, "trcust: '%s' has %zu of %zu tracepoints\n",
			tdf, written, all);
	else
		fputs("trcust: no TDF is written\n", stderr);
}

static int run_file(void *context)
{
	struct tsf_run *run = context;
	const struct settings *s = run->s;
	struct compilation c = { .mode = s->site };
	struct compiled out = { 0 };
	struct srcpos nowhere = { 0 };
	struct tsf *tsf = NULL;
	bool replaced;
	int code = -1;
	char *tdf;

	guard_file(run->tsf);
	if (diag_open(&c.diag, run->tsf, s->level))
		return 1;
	tdf = locate_tdf(run->tsf, run->given, s->output, &replaced);
	if (!tdf) {
		diag_no_memory(c.diag, nowhere);
	} else if (replaced) {
		diag_report(c.diag, nowhere, TRCERR_BAD_EXTN, run->given, tdf);
		diag_hint(c.diag, "a TDF is named *.tdf");
	}
	if (tdf)
		code = tsf_parse(&tsf, c.diag, tsf_find_arch, run);
	c.tsf = tsf;
	if (!code)
		code = compile_tsf(&c, &out, s, tdf);
	else if (tdf && !s->explain)
		output_remove(c.diag, tdf);
	if (code || diag_count(c.diag, DIAG_ERROR)) {
		report_left(s, tsf, tdf, code ? 0 : out.dynamic_count);
		code = 1;
	}
	free(tdf);
	tsf_free(tsf);
	diag_close(c.diag);
	return error_check_stdout("trcust", "cannot write") ? 1 : code;
}

int run_dump_tsf(const struct settings *s, const char *path)
{
	struct tsf_run run = { s, path };
	struct tsf *tsf = NULL;
	struct diag *diag;
	bool failed;

	if (diag_open(&diag, path, s->level))
		return 1;
	failed = tsf_parse(&tsf, diag, tsf_find_arch, &run);
	if (!failed)
		tsf_dump(tsf, stdout);
	failed |= diag_count(diag, DIAG_ERROR) > 0;
	tsf_free(tsf);
	diag_close(diag);
	return failed;
}

int run_compile(const struct settings *s, const char *tsf, const char *tdf)
{
	char *path = locate_tsf(tsf), *file = NULL;
	struct tsf_run run = { s, path ? path : tsf, tdf };
	struct error err = { 0 };
	int code = guard_run(run_file, &run, &file, &err);
	struct diag *diag;

	/* The compiler has crashed: as after other fatal messages, no TDF is
	 * left that the TSF was compiled to before. */
	if (code < 0 && !diag_open(&diag, run.tsf, s->level)) {
		char *old = locate_tdf(run.tsf, tdf, s->output, &(bool){false});

		input_report_damaged(diag, file, &err);
		if (old && !s->explain) {
			output_remove(diag, old);
			report_left(s, NULL, old, 0);
		}
		free(old);
		diag_close(diag);
	}
	free(file);
	free(path);
	return code < 0 ? 1 : code;
}
