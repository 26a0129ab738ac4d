// SPDX-License-Identifier: GPL-2.0
/* Where a tracepoint stands: what all forms of TP have in common. */
#include "site.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/debug/module/module.h"

struct site_address {
	uint64_t nominal, named;
	const char *symbol;	/* "", or the kernel's symbol, not looked up */
	bool returns;		/* a return probe: entered elsewhere */
	uint16_t minor;
	uint32_t line;
};

bool site_tp_has_offset(const struct tsf_tp *tp)
{
	char behind = tp->kind == TSF_TP_SYMBOL ? tp->text[strlen(tp->name)] :
						  '\0';

	return !tp->retep && (behind == '+' || behind == '-');
}

void site_name(char *text, size_t size, const char *name, uint64_t symbol,
	       uint64_t address)
{
	bool before = address < symbol;
	uint64_t distance = before ? symbol - address : address - symbol;

	if (distance)
		snprintf(text, size, "%s%c%#" PRIx64, name,
			 before ? '-' : '+', distance);
	else
		snprintf(text, size, "%s+0", name);
}

void site_name_at(struct compilation *c, uint64_t address, char *text,
		  size_t size)
{
	const struct module_symbol *symbol =
		symbol_index_find(&c->sites->symbols, address);
	char name[256];

	if (!symbol) {
		snprintf(text, size, "%#" PRIx64, address);
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)symbol->name_length,
		 symbol->name);
	site_name(text, size, name, symbol->address, address);
}

void site_section_number(struct compilation *c, uint64_t address, char *text,
			 size_t size)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	snprintf(text, size, "?");
	while ((scn = elf_nextscn(c->module->elf, scn)))
		if (gelf_getshdr(scn, &sh) && (sh.sh_flags & SHF_ALLOC) &&
		    address >= sh.sh_addr &&
		    address - sh.sh_addr < sh.sh_size)
			snprintf(text, size, "%zu", elf_ndxscn(scn));
}

static int report_no_memory(struct compilation *c,
			    const struct tsf_point *point)
{
	return diag_no_memory(c->diag, point->tp.pos);
}

int site_prepare(struct compilation *c)
{
	if (c->sites)
		return 0;
	c->sites = calloc(1, sizeof(*c->sites));
	if (c->sites && !symbol_index_make(&c->sites->symbols, c->module))
		return 0;
	free(c->sites);
	c->sites = NULL;
	return -ENOMEM;
}

void site_forget(struct compilation *c)
{
	struct site_state *state = c->sites;

	if (!state)
		return;
	tdestroy(state->addresses, free);
	tdestroy(state->names, free);
	symbol_index_free(&state->symbols);
	site_flow_forget(state);
	site_exit_forget(state);
	calls_end(state->calls);
	usdt_free(&state->usdt);
	if (state->cfi_is_own)
		dwarf_cfi_end(state->flow.cfi);
	free(state);
	c->sites = NULL;
}

static int text_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

const char *site_text(struct compilation *c, const struct tsf_point *point,
		      const char *text, size_t length)
{
	char *copy = strndup(text, length);
	char **kept = copy ? tsearch(copy, &c->sites->names, text_compare) :
			     NULL;

	if (!kept) {
		free(copy);
		report_no_memory(c, point);
		return NULL;
	}
	if (*kept != copy)
		free(copy);
	return *kept;
}

struct site_place *site_place_add(struct compilation *c,
				  const struct tsf_point *point,
				  struct site_places *places, uint64_t address)
{
	struct site_place *place;

	if (places->count == places->room) {
		size_t room = places->room ? places->room * 2 : 8;
		struct site_place *grown = reallocarray(places->list, room,
							sizeof(*grown));

		if (!grown) {
			report_no_memory(c, point);
			return NULL;
		}
		places->list = grown;
		places->room = room;
	}
	place = &places->list[places->count++];
	*place = (struct site_place) { .address = address };
	return place;
}

static int address_compare(const void *a, const void *b)
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

/* All sites are taken; some of several may coincide with other tracepoints'. */
static int check_seen(struct compilation *c, const struct tsf_point *point,
		      const struct compile_point *out)
{
	struct site_address **seen = NULL;

	for (size_t i = 0; i < out->site_count; i++) {
		struct site_address key = site_key(c, &out->sites[i]);

		seen = tfind(&key, &c->sites->addresses, address_compare);
		if (!seen)
			return 0;
	}
	diag_report(c->diag, point->tp.pos, TRCERR_DUP_SEGOFF);
	diag_hint_discarded(c->diag, TRCERR_DUP_SEGOFF);
	diag_hint(c->diag, "the tracepoint in line %u (minor %u) has it",
		  (*seen)->line, (*seen)->minor);
	return 1;
}

static int remember(struct compilation *c, const struct tsf_point *point,
		    const struct compile_site *site)
{
	struct site_address *address = calloc(1, sizeof(*address));

	if (!address)
		return -1;
	*address = site_key(c, site);
	address->minor = point->minor;
	address->line = point->pos.line;
	if (tsearch(address, &c->sites->addresses, address_compare))
		return 0;
	free(address);
	return -1;
}

int site_remember(struct compilation *c, const struct compile_point *point)
{
	for (size_t i = 0; i < point->site_count; i++)
		if (remember(c, point->tsf, &point->sites[i]))
			return -1;
	return 0;
}

static int place_compare(const void *a, const void *b)
{
	const struct site_place *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* In ascending order, each address once. */
static void places_sort(struct site_places *places)
{
	size_t kept = 0;

	qsort(places->list, places->count, sizeof(*places->list),
	      place_compare);
	for (size_t i = 0; i < places->count; i++)
		if (!i || places->list[i].address !=
			  places->list[kept - 1].address)
			places->list[kept++] = places->list[i];
	places->count = kept;
}

static int check_count(struct compilation *c, const struct tsf_point *point,
		       const struct site_places *places)
{
	char text[32];

	if (places->count <= TDF_SITES_MAX)
		return 0;
	snprintf(text, sizeof(text), "%zu", places->count);
	diag_report(c->diag, point->tp.pos, TRCERR_TOOMANYSITES, text);
	return 1;
}

/* Those of several that can't have a probe are left out. */
static int take_places(struct compilation *c, const struct tsf_point *point,
		       const struct site_places *places,
		       struct compile_point *out)
{
	bool several = places->count > 1;
	int code = 0;

	out->sites = calloc(places->count, sizeof(*out->sites));
	if (!out->sites)
		return report_no_memory(c, point);
	for (size_t i = 0; i < places->count && !code; i++) {
		struct compile_site *site = &out->sites[out->site_count];

		code = site_check(c, point, &places->list[i], several, site);
		if (!code)
			out->site_count++;
		if (code == SITE_LEFT_OUT)
			code = 0;
	}
	if (!code && !out->site_count) {
		diag_report(c->diag, point->tp.pos, TRCERR_BADOPCODE);
		diag_hint(c->diag, "none of the %zu sites can be traced",
			  places->count);
		code = 1;
	}
	if (!code)
		code = check_seen(c, point, out);
	for (size_t i = 0; i < out->site_count && !code; i++)
		if (!site_check_page(c, point, &out->sites[i]))
			break;
	return code;
}

static int address_place(struct compilation *c, const struct tsf_point *point,
			 struct site_places *places)
{
	return site_place_add(c, point, places, point->tp.address) ? 0 : -1;
}

static int find_places(struct compilation *c, const struct tsf_point *point,
		       struct site_places *places)
{
	switch (point->tp.kind) {
	case TSF_TP_LINE:
		return site_line_places(c, point, places);
	case TSF_TP_USDT:
		return site_usdt_places(c, point, places);
	case TSF_TP_ADDRESS:
		return address_place(c, point, places);
	default:
		return point->tp.retep ? site_exit_places(c, point, places) :
					 site_symbol_places(c, point, places);
	}
}

static int resolve_file(struct compilation *c, const struct tsf_point *point,
			struct compile_point *out)
{
	struct site_places places = {0};
	int code = find_places(c, point, &places);

	if (!code) {
		places_sort(&places);
		code = check_count(c, point, &places);
	}
	if (!code)
		code = take_places(c, point, &places, out);
	free(places.list);
	return code;
}

static int report_needs_file(struct compilation *c, struct srcpos pos,
			     const char *what)
{
	diag_report(c->diag, pos, TRCERR_UNSUPPORTED, what);
	diag_hint(c->diag, "give it with --module vmlinux");
	return 1;
}

/* A map knows where the function is; by it the target finds static data. */
static void blind_address(const struct compilation *c,
			  struct compile_site *site)
{
	bool others;
	const struct map_symbol *symbol = map_find(c->map, site->symbol, true,
						   &others);

	if (symbol && !others)
		site->address = site->nominal =
			symbol->address + site->symbol_offset;
}

/* A kernel of which no file is at hand: the symbol is looked up when arming. */
static int resolve_blind(struct compilation *c, const struct tsf_point *point,
			 struct compile_point *out)
{
	const unsigned int insn_bytes = c->module->arch->insn_bytes;
	const struct tsf_tp *tp = &point->tp;
	struct compile_site *site;

	if (tp->kind != TSF_TP_SYMBOL ||
	    (tp->retep && tp->retep != TSF_RETEP_CALLER))
		return report_needs_file(c, tp->pos,
					 "this without the kernel's file");
	if (tp->offset < 0) {
		diag_report(c->diag, point->tp.pos, TRCERR_INVALIDADDRESS,
			    tp->text);
		diag_hint(c->diag, "without the kernel's file an offset can't "
				   "be negative");
		return 1;
	}
	if (insn_bytes && tp->offset % insn_bytes) {
		diag_report(c->diag, point->tp.pos, TRCERR_BADOPCODE);
		diag_hint(c->diag, "%s is inside an instruction", tp->text);
		return 1;
	}
	if (point->opcode >= 0)
		return report_needs_file(c, point->opcode_pos,
					 "OPCODE without the kernel's file");
	site = out->sites = calloc(1, sizeof(*site));
	if (!site)
		return report_no_memory(c, point);
	out->site_count = 1;
	site->symbol = tp->name;
	site->symbol_offset = site->offset = tp->offset;
	site->cost = TDF_COST_UNKNOWN;
	if (tp->retep)
		site->flags = TDF_SITE_RETURN;
	if (c->map)
		blind_address(c, site);
	return check_seen(c, point, out);
}

int site_resolve(struct compilation *c, const struct tsf_point *point,
		 struct compile_point *out)
{
	if (site_prepare(c))
		return report_no_memory(c, point);
	return c->module->elf ? resolve_file(c, point, out) :
				resolve_blind(c, point, out);
}

unsigned int site_runtime(struct compilation *c)
{
	struct site_state *state = c->sites;

	if (!state->runtime_known)
		state->runtime = runtime_find(c->module);
	state->runtime_known = true;
	return state->runtime;
}
