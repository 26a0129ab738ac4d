// SPDX-License-Identifier: GPL-2.0
/*
 * RETEP: the exits of the function, or with RETEP=CALLER the address that it
 * returns to, which the kernel finds at its entry.
 */
#include "site.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis.h"
#include "exits.h"
#include "lib/array.h"
#include "lib/debug/arch/arch.h"
#include "lib/debug/dwarf/dwarf_go.h"

static int report_no_exit(const struct site_search *s, const char *why)
{
	diag_report(s->c->diag, s->point->tp.pos, TRCERR_NOEXIT,
		    s->point->tp.name);
	diag_hint(s->c->diag, "%s", why);
	return 1;
}

static int place_take_exit(struct site_search *s,
			   const struct site_place *function,
			   const struct exits_site *exit)
{
	struct site_place *place = site_place_add(s, exit->address);
	struct bytes *rpn;

	if (!place)
		return -1;
	place->decoded = true;
	place->from.outermost = true;
	place->entry = function->base;
	place->exit = exit->exit;
	if (exit->address >= function->base && exit->address < function->end) {
		place->symbol = function->symbol;
		place->base = function->base;
	}
	if (exit->tail_call)
		place->flags = TDF_SITE_TAIL_CALL;
	if (!exit->result.size)
		return 0;
	rpn = tsf_alloc(s->c->tsf, sizeof(*rpn) + exit->result.size);
	if (!rpn)
		return diag_no_memory(s->c->diag, s->point->tp.pos);
	rpn->data = memcpy(rpn + 1, exit->result.data, exit->result.size);
	rpn->size = exit->result.size;
	place->result_rpn = rpn;
	return 0;
}

static int take_exits(struct site_search *s, const struct site_place *function,
		      const struct exits *exits)
{
	char name[320];

	for (size_t i = 0; i < exits->lost_count; i++) {
		const struct flow_lost *lost = &exits->lost[i];

		analysis_name(s->c, lost->address, name, sizeof(name));
		diag_report(s->c->diag, s->point->tp.pos, TRCERR_LEFTOUT, name);
		diag_hint(s->c->diag, "%s; RETEP=CALLER records it as well",
			  lost->why);
	}
	for (size_t i = 0; i < exits->count; i++)
		if (place_take_exit(s, function, &exits->sites[i]))
			return -1;
	if (exits->count)
		return 0;
	return report_no_exit(s, exits->lost_count ?
		"each of its exits is left out" :
		"every way through it ends in a call that does not return");
}

static int find_exits(struct site_search *s, const struct site_place *function)
{
	const struct compilation *c = s->c;
	struct module_range own = { function->base, function->end };
	const struct module_range *ranges = &own, *known;
	struct dwarf_functions found = { 0 };
	struct exits exits = { 0 };
	size_t count = 1;
	int code = 0;

	/* the code of the function: by debug information all its parts, but by
	 * BTF its first byte only */
	known = module_function_find(c->module, own.start);
	if (!own.end && known)
		own.end = known->end;
	if (c->dwarf)
		code = dwarf_function_at(c->dwarf, own.start, &found);
	if (found.count && found.functions[0].entry == own.start &&
	    (found.functions[0].range_count > 1 ||
	     found.functions[0].ranges->end > own.start + 1)) {
		ranges = found.functions[0].ranges;
		count = found.functions[0].range_count;
	}
	if (!code && (ranges != &own || own.end))
		code = exits_find(analysis_source(c), c->dwarf, own.start,
				  ranges, count, &exits);
	if (code)
		code = diag_no_memory(c->diag, s->point->tp.pos);
	else if (ranges == &own && !own.end)
		code = report_no_exit(s, "where its code ends is not known");
	else
		code = take_exits(s, function, &exits);
	dwarf_functions_free(&found);
	exits_free(&exits);
	return code;
}

static int function_places(struct site_search *s,
			   const struct site_place *function)
{
	const struct tsf_tp *tp = &s->point->tp;
	const struct compilation *c = s->c;
	enum calls_reach reach = CALLS_CLOSED;
	struct site_place *place;
	uint8_t flags = 0;
	size_t available;

	/* an address without code is left to site_place_check() */
	if (module_code(c->module, function->base, &available, NULL)) {
		if (tp->retep != TSF_RETEP_CALLER)
			return find_exits(s, function);
		/* a return probe changes the return address on the stack, which
		 * Go moves and looks through: the program would crash */
		if (analysis_runtime(c) & RUNTIME_GO) {
			diag_report(c->diag, tp->pos, TRCERR_UNSUPPORTED,
				    "RETEP=CALLER in a Go program");
			diag_hint(c->diag, "it would crash; RETEP=EXIT works");
			return 1;
		}
		/* may an exception, or the end of a thread, leave it? By what
		 * it calls, in a module that has such things */
		if (analysis_runtime(c) & RUNTIME_UNWINDS &&
		    analysis_reach(c, function->base, &reach))
			return diag_no_memory(c->diag, tp->pos);
		if (reach != CALLS_CLOSED) {
			diag_report(c->diag, tp->pos, TRCERR_UNWINDS, tp->name);
			diag_hint(c->diag, "RETEP=EXIT works then, too");
		}
		flags = TDF_SITE_RETURN;
	}
	place = site_place_add(s, function->base);
	if (!place)
		return -1;
	*place = *function;
	place->address = function->base;
	place->flags = flags;
	return 0;
}

/* A function with clones has the exits of each. */
static int site_exit_places(struct site_search *s)
{
	struct site_search functions = { .c = s->c, .point = s->point };
	int code = site_symbol_find(&functions);

	if (!code && !functions.places[0].symbol)
		code = report_no_exit(s, "it was only inlined: there is "
					 "no function to return from");
	for (size_t i = 0; i < functions.count && !code; i++)
		if (functions.places[i].symbol)
			code = function_places(s, &functions.places[i]);
	free(functions.places);
	return code;
}

/* CALL: entry and exits, which must not be the same instruction: what comes first
 * there is not known. Without a description of frames, as in most kernel code, an
 * exit is the instruction that leaves: the return address is on top of the stack. */

static bool has_place(const struct site_search *s, uint64_t address)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->places[i].address == address)
			return true;
	return false;
}

static bool frame_is_known(const struct compilation *c, uint64_t address)
{
	struct error ignored = { 0 };
	struct bytes rpn = { 0 };
	int code = dwarf_frame_address_emit(c->dwarf, c->module, address, &rpn,
					    &ignored);

	bytes_free(&rpn);
	return !code;
}

/* The exit's own instruction, if what is before it is an entry. */
static int exit_separate(struct site_search *s, struct site_place *exit,
			 const struct site_search *entries)
{
	if (exit->flags & TDF_SITE_RETURN ||
	    (frame_is_known(s->c, exit->address) &&
	     !has_place(entries, exit->address)))
		return 0;
	exit->address = exit->exit;
	exit->result_rpn = NULL;
	if (!has_place(entries, exit->address))
		return 0;
	diag_report(s->c->diag, s->point->tp.pos, TRCERR_UNSUPPORTED,
		    "CALL of a function that is a single instruction");
	return 1;
}

static int entry_place_take(struct site_search *s, struct site_place *entry)
{
	struct site_place *place;

	if (entry->loop) {
		diag_report(s->c->diag, s->point->tp.pos, TRCERR_UNSUPPORTED,
			    "CALL of a function that begins with a loop");
		return 1;
	}
	place = site_place_add(s, entry->address);
	if (!place)
		return -1;
	*place = *entry;
	place->flags = TDF_SITE_ENTRY;
	return 0;
}

/* Which goroutine calls is known where the runtime's g is in a register. */
static bool place_has_goroutine(const struct compilation *c,
				const struct site_place *place)
{
	struct dwarf_functions found = { 0 };
	bool has = false;

	if (c->module->arch->go.goroutine && c->dwarf &&
	    !dwarf_function_at(c->dwarf, place->base, &found))
		has = found.count &&
		      dwarf_go_in_registers(&found.functions[0].die);
	dwarf_functions_free(&found);
	return has;
}

static int site_call_places(struct site_search *s)
{
	struct site_search entries = { .c = s->c, .point = s->point };
	const struct compilation *c = s->c;
	int code = site_exit_places(s);

	if (!code)
		code = site_symbol_places(&entries);
	for (size_t i = 0; i < entries.count && !code; i++)
		if (!entries.places[i].symbol)	/* inlined */
			entries.places[i--] = entries.places[--entries.count];
	for (size_t i = 0; i < entries.count && !code &&
			   analysis_runtime(c) & RUNTIME_GO; i++) {
		if (place_has_goroutine(c, &entries.places[i]))
			continue;
		diag_report(c->diag, s->point->tp.pos, TRCERR_UNSUPPORTED,
			    "CALL in a Go program before Go 1.17, without "
			    "debug information, or of assembler");
		code = 1;
	}
	for (size_t i = 0; i < s->count && !code; i++)
		code = exit_separate(s, &s->places[i], &entries);
	for (size_t i = 0; i < entries.count && !code; i++)
		code = entry_place_take(s, &entries.places[i]);
	free(entries.places);
	return code;
}

/* TP=@file,line (manual 1.3.5.2). */

/* The end of the code that always runs from the address on, with no other way
 * into it: conditional jumps out of it are allowed unless `straight`. */
static uint64_t run_end(const struct compilation *c, uint64_t address,
			bool straight)
{
	const struct flow_part *part;
	const struct flow *flow;
	struct arch_insn insn;
	uint32_t at;

	if (analysis_flow(c, address, &flow, NULL))
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

	if (analysis_flow(c, site->address, &flow, NULL))
		return true;
	part = flow_part_find(flow, site->address);
	for (uint64_t at = site->address + 1;
	     part && at < site->end && at - part->start < part->size; at++)
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

		if (i + 1 == found->count || !site->optimized || site->marked ||
		    !site->function || site[1].function != site->function ||
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
		struct site_place *place = site_place_add(
			s, analysis_line_address(s->c, site->address));

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

/* The places of TP=@file,line; 0, 1, -1 as in compile.h. */
static int site_line_places(struct site_search *s)
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

#define NEAR_MAX	8	/* USDT probes that a hint lists */

struct site_address {
	uint64_t nominal, named;
	const char *symbol;	/* "", or the kernel's symbol, not looked up */
	bool returns;		/* a return probe: entered elsewhere */
	uint16_t minor;
	uint32_t line;
};

static int site_address_compare(const void *a, const void *b)
{
	const struct site_address *x = a, *y = b;

	if (x->nominal != y->nominal)
		return x->nominal < y->nominal ? -1 : 1;
	if (x->named != y->named)
		return x->named < y->named ? -1 : 1;
	if (x->returns != y->returns)
		return x->returns ? 1 : -1;
	return strcmp(x->symbol, y->symbol);
}

static struct site_address site_key(const struct compilation *c,
				    const struct compile_site *site)
{
	bool blind = !c->module->elf;

	return (struct site_address) {
		.nominal = blind ? site->symbol_offset : site->nominal,
		.named = site->named,
		.symbol = blind ? site->symbol : "",
		.returns = site->flags & TDF_SITE_RETURN,
	};
}

/* An error when all sites are taken; some of several may be. */
static int check_taken(const struct site_search *s,
		       const struct site_taken *taken,
		       const struct compile_point *out)
{
	struct site_address **seen = NULL;

	for (size_t i = 0; i < out->site_count; i++) {
		struct site_address key = site_key(s->c, &out->sites[i]);

		seen = tfind(&key, &taken->tree, site_address_compare);
		if (!seen)
			return 0;
	}
	diag_report(s->c->diag, s->point->tp.pos, TRCERR_DUP_SEGOFF);
	diag_hint_discarded(s->c->diag, TRCERR_DUP_SEGOFF);
	diag_hint(s->c->diag, "the tracepoint in line %u (minor %u) has it",
		  (*seen)->line, (*seen)->minor);
	return 1;
}

int site_remember(const struct compilation *c, struct site_taken *taken,
		  const struct compile_point *point)
{
	for (size_t i = 0; i < point->site_count && !point->tsf->tp.whole; i++) {
		struct site_address *address = calloc(1, sizeof(*address));
		struct site_address **kept;

		if (!address)
			return -1;
		*address = site_key(c, &point->sites[i]);
		address->minor = point->tsf->minor;
		address->line = point->tsf->pos.line;
		kept = tsearch(address, &taken->tree, site_address_compare);
		if (!kept || *kept != address)
			free(address);
		if (!kept)
			return -1;
	}
	return 0;
}

void site_forget(struct site_taken *taken)
{
	tdestroy(taken->tree, free);
	taken->tree = NULL;
}

static bool is_same_probe(const struct usdt_probe *a,
			  const struct usdt_probe *b)
{
	return !strcmp(a->provider, b->provider) && !strcmp(a->name, b->name);
}

/* Lists probes, each name once: all, or those that share the provider or part
 * of the name. */
static size_t usdt_list(const struct usdt_probes *probes,
			const struct tsf_tp *tp, bool all, char *text,
			size_t size)
{
	size_t used = 0, shown = 0, same;

	for (size_t i = 0; i < probes->count && shown < NEAR_MAX &&
			   used < size; i++) {
		const struct usdt_probe *probe = &probes->probes[i];

		if (!all && strcmp(probe->provider, tp->provider) &&
		    !strstr(probe->name, tp->name) &&
		    !strstr(tp->name, probe->name))
			continue;
		for (same = 0; !is_same_probe(&probes->probes[same], probe);)
			same++;
		if (same == i)
			used += snprintf(text + used, size - used, "%s%s,%s",
					 shown++ ? "; " : "", probe->provider,
					 probe->name);
	}
	return shown;
}

/* TP=@USDT,provider,name: all places where the program has the probe. */
static int find_usdt(struct site_search *s)
{
	const struct usdt_probes *probes = analysis_usdt(s->c);
	const struct tsf_tp *tp = &s->point->tp;
	const struct usdt_probe named = {
		.provider = tp->provider, .name = tp->name,
	};
	struct diag *diag = s->c->diag;
	char text[1024];

	if (!probes)
		return diag_no_memory(diag, tp->pos);
	for (size_t i = 0; i < probes->count; i++) {
		const struct usdt_probe *probe = &probes->probes[i];
		struct site_place *place;

		if (!is_same_probe(probe, &named))
			continue;
		place = site_place_add(s, probe->address);
		if (!place)
			return -1;
		place->claimed = true;
		place->semaphore = probe->semaphore;
		place->arguments = probe->arguments;
	}
	if (s->count)
		return 0;
	snprintf(text, sizeof(text), "%s:%s", tp->provider, tp->name);
	diag_report(diag, tp->pos, TRCERR_BADSYMBOL, text);
	if (!probes->count)
		diag_hint(diag, "the module has no static probes");
	else if (usdt_list(probes, tp, false, text, sizeof(text)))
		diag_hint(diag, "near ones: %s", text);
	else if (usdt_list(probes, tp, true, text, sizeof(text)))
		diag_hint(diag, "it has: %s", text);
	return 1;
}

/* The places in ascending order, each address once. Of several those that can't
 * have a probe are left out. */
static int take_places(struct site_search *s, struct compile_point *out)
{
	size_t kept = 0;
	char text[32];
	int code = 0;

	qsort(s->places, s->count, sizeof(*s->places), array_compare);
	for (size_t i = 0; i < s->count; i++)
		if (!i || s->places[i].address != s->places[kept - 1].address ||
		    s->places[i].flags != s->places[kept - 1].flags)
			s->places[kept++] = s->places[i];
	s->count = kept;
	if (kept > TDF_SITES_MAX) {
		snprintf(text, sizeof(text), "%zu", kept);
		diag_report(s->c->diag, s->point->tp.pos, TRCERR_TOOMANYSITES,
			    text);
		return 1;
	}
	out->sites = calloc(kept, sizeof(*out->sites));
	if (!out->sites)
		return diag_no_memory(s->c->diag, s->point->tp.pos);
	for (size_t i = 0; i < kept && !code; i++) {
		code = site_place_check(s, &s->places[i],
					&out->sites[out->site_count]);
		if (!code)
			out->site_count++;
		if (code == SITE_LEFT_OUT)
			code = 0;
	}
	if (!code && !out->site_count) {
		diag_report(s->c->diag, s->point->tp.pos, TRCERR_BADOPCODE);
		diag_hint(s->c->diag, "none of the %zu sites can be traced",
			  kept);
		code = 1;
	}
	return code;
}

static int report_needs_file(const struct compilation *c, struct srcpos pos,
			     const char *what)
{
	diag_report(c->diag, pos, TRCERR_UNSUPPORTED, what);
	diag_hint(c->diag, "give it with --module vmlinux");
	return 1;
}

/* A kernel whose file is not available: the symbol is looked up when arming, and
 * where its function ends is not known. */
static int resolve_blind(const struct site_search *s, struct compile_point *out)
{
	const struct compilation *c = s->c;
	const struct tsf_tp *tp = &s->point->tp;
	const unsigned int insn_bytes = c->module->arch->insn_bytes;
	const struct map_symbol *symbol = NULL;
	struct dwarf_functions found = {0};
	const char *name = tp->name;
	struct compile_site *site;
	bool others;

	if (tp->kind != TSF_TP_SYMBOL || tp->retep == TSF_RETEP_EXIT)
		return report_needs_file(c, tp->pos,
					 "this without the kernel's file");
	if (tp->offset < 0) {
		diag_report(c->diag, tp->pos, TRCERR_INVALIDADDRESS, tp->text);
		diag_hint(c->diag, "without the kernel's file an offset can't "
				   "be negative");
		return 1;
	}
	if (insn_bytes && tp->offset % insn_bytes) {
		diag_report(c->diag, tp->pos, TRCERR_BADOPCODE);
		diag_hint(c->diag, "%s is inside an instruction", tp->text);
		return 1;
	}
	if (s->point->opcode >= 0)
		return report_needs_file(c, s->point->opcode_pos,
					 "OPCODE without the kernel's file");
	if (tsf_tp_is_all(tp))
		name = tsf_format(c->tsf, "%.*s", (int)strlen(name) - 3, name);
	site = out->sites = calloc(1 + tp->whole, sizeof(*site));
	if (!site || !name)
		return diag_no_memory(c->diag, tp->pos);
	out->site_count = 1 + tp->whole;
	site->symbol = name;
	site->symbol_offset = site->offset = tp->offset;
	site->cost = TDF_COST_UNKNOWN;
	if (tp->retep)
		site->flags = TDF_SITE_RETURN;
	/* a map has the function's address, relative to which the target finds
	 * static data */
	if (c->map)
		symbol = map_find(c->map, site->symbol, true, &others);
	if (symbol && !others)
		site->address = site->nominal =
			symbol->address + site->symbol_offset;
	if (c->dwarf) {
		/* BTF: the function has an address in its image, or that of
		 * the map */
		if (dwarf_function_find(c->dwarf, name, NULL, &found))
			return diag_no_memory(c->diag, tp->pos);
		if (found.count == 1)
			site->address = site->nominal =
				found.functions[0].entry + tp->offset;
		dwarf_functions_free(&found);
		site->from.pc = site->nominal;
	}
	if (tp->whole) {
		site[1] = *site;
		site->flags = TDF_SITE_ENTRY;
	}
	return 0;
}

int site_resolve(struct compilation *c, const struct site_taken *taken,
		 const struct tsf_point *point, struct compile_point *out)
{
	struct site_search s = { .c = c, .point = point };
	const struct tsf_tp *tp = &point->tp;
	int code;

	if (analysis_begin(c))
		return diag_no_memory(c->diag, point->tp.pos);
	if (!c->module->elf)
		code = resolve_blind(&s, out);
	else if (tp->kind == TSF_TP_LINE)
		code = site_line_places(&s);
	else if (tp->kind == TSF_TP_USDT)
		code = find_usdt(&s);
	else if (tp->kind == TSF_TP_ADDRESS)
		code = site_place_add(&s, tp->address) ? 0 : -1;
	else if (tp->whole)
		code = site_call_places(&s);
	else
		code = tp->retep ? site_exit_places(&s) :
				   site_symbol_places(&s);
	if (!code && c->module->elf)
		code = take_places(&s, out);
	if (!code && !tp->whole)
		code = check_taken(&s, taken, out);
	for (size_t i = 0; c->module->elf && i < out->site_count && !code; i++)
		if (!site_place_check_page(&s, &out->sites[i]))
			break;
	free(s.places);
	return code;
}
