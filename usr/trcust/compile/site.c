// SPDX-License-Identifier: GPL-2.0
#include "site.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis.h"
#include "lib/debug/module/module.h"
#include "site_exit.h"
#include "site_line.h"
#include "site_place.h"
#include "site_symbol.h"

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
	for (size_t i = 0; i < point->site_count; i++) {
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

static int site_place_compare(const void *a, const void *b)
{
	const struct site_place *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* The places in ascending order, each address once. Of several those that can't
 * have a probe are left out. */
static int take_places(struct site_search *s, struct compile_point *out)
{
	bool several;
	size_t kept = 0;
	char text[32];
	int code = 0;

	qsort(s->places, s->count, sizeof(*s->places), site_place_compare);
	for (size_t i = 0; i < s->count; i++)
		if (!i || s->places[i].address != s->places[kept - 1].address)
			s->places[kept++] = s->places[i];
	several = kept > 1;
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
		code = site_place_check(s, &s->places[i], several,
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

/* A kernel whose file is not available: the symbol is looked up when arming. */
static int resolve_blind(const struct site_search *s, struct compile_point *out)
{
	const struct compilation *c = s->c;
	const struct tsf_tp *tp = &s->point->tp;
	const unsigned int insn_bytes = c->module->arch->insn_bytes;
	const struct map_symbol *symbol = NULL;
	struct compile_site *site;
	bool others;

	if (tp->kind != TSF_TP_SYMBOL ||
	    (tp->retep && tp->retep != TSF_RETEP_CALLER))
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
	site = out->sites = calloc(1, sizeof(*site));
	if (!site)
		return diag_no_memory(c->diag, tp->pos);
	out->site_count = 1;
	site->symbol = tp->name;
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
	else
		code = tp->retep ? site_exit_places(&s) :
				   site_symbol_places(&s);
	if (!code && c->module->elf)
		code = take_places(&s, out);
	if (!code)
		code = check_taken(&s, taken, out);
	for (size_t i = 0; c->module->elf && i < out->site_count && !code; i++)
		if (!site_place_check_page(&s, &out->sites[i]))
			break;
	free(s.places);
	return code;
}
