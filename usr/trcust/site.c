// SPDX-License-Identifier: GPL-2.0
/*
 * TP=.name[{+|-}offs] (manual 1.3.5.2). Without an offset the address is the
 * one behind the function's prologue, where debug information tells it and
 * every call comes there once (optimised code may have a loop or an early
 * exit there), else the symbol's; with an offset, +0 included, it is counted
 * from the symbol.
 */
#include <elf.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "code.h"
#include "compile.h"

#define TELL_SITE(c, point, ...) \
	diag_tell((c)->diag, (point)->tp.pos, __VA_ARGS__)

struct site_address {
	uint64_t nominal;
	const char *symbol;	/* "", or the kernel's symbol, not looked up */
	uint16_t minor;
	uint32_t line;
};

static bool tp_has_offset(const struct tsf_tp *tp)
{
	return tp->offset || strcmp(tp->text, tp->name);
}

/* "name+0x1b", "name-0x4" */
static void site_name(char *text, size_t size, const char *name,
		      uint64_t symbol, uint64_t address)
{
	bool before = address < symbol;
	uint64_t distance = before ? symbol - address : address - symbol;

	if (distance)
		snprintf(text, size, "%s%c%#" PRIx64, name,
			 before ? '-' : '+', distance);
	else
		snprintf(text, size, "%s+0", name);
}

static const struct module_symbol *site_symbol(struct compilation *c,
					       const struct tsf_point *point)
{
	const char *name = point->tp.name;
	const struct module_symbol *symbol;
	bool others;
	char text[512];

	symbol = module_symbol_find(c->module, name, MODULE_CODE, &others);
	if (!symbol || !symbol->defined) {
		TELL_SITE(c, point, TRCERR_BADSYMBOL, name);
		if (symbol) {
			diag_hint(c->diag, "the module only uses it, it is "
					   "defined in another one");
			return NULL;
		}
		module_symbol_near(c->module, name, MODULE_CODE, text,
				   sizeof(text));
		if (text[0])
			diag_hint(c->diag, "near names: %s", text);
		if (!c->module->has_symtab)
			diag_hint(c->diag, "the module is stripped: only what "
					   "it exports has a name");
		return NULL;
	}
	if (others) {
		snprintf(text, sizeof(text), "%#" PRIx64, symbol->address);
		TELL_SITE(c, point, TRCERR_AMBIGUOUS, name, text);
	}
	if (symbol->type == STT_GNU_IFUNC)
		TELL_SITE(c, point, TRCERR_IFUNC, name);
	return symbol;
}

/* The address that TP means. */
static uint64_t site_nominal(struct compilation *c, const struct tsf_tp *tp,
			     const struct module_symbol *symbol)
{
	uint64_t at = symbol->address, end = at + symbol->size;
	const struct module_range *range;
	uint64_t behind;

	if (tp_has_offset(tp)) {
		at += tp->offset;
		return c->module->elf_class == ELFCLASS64 ? at : (uint32_t)at;
	}
	if (!c->dwarf || symbol->type != STT_FUNC)
		return at;
	range = module_function_find(c->module, at);
	if (!symbol->size && range)
		end = range->end;
	if (dwarf_prologue_find(c->dwarf, at, end, &behind) &&
	    code_reached_once(c->module, at, behind))
		return behind;
	return at;
}

/* The addresses nearby that would do. */
static void hint_near(struct compilation *c, const struct tsf_tp *tp,
		      const struct module_symbol *symbol,
		      const struct code_site *at)
{
	char before[320] = "", after[320] = "";

	if (at->before)
		site_name(before, sizeof(before), tp->name, symbol->address,
			  at->before);
	if (at->after)
		site_name(after, sizeof(after), tp->name, symbol->address,
			  at->after);
	if (before[0] || after[0])
		diag_hint(c->diag, "nearest that can be traced: .%s%s%s",
			  before[0] ? before : after,
			  before[0] && after[0] ? ", ." : "",
			  before[0] ? after : "");
}

static void tell_bad_opcode(struct compilation *c,
			    const struct tsf_point *point,
			    const struct module_symbol *symbol,
			    const struct code_site *at, int verdict)
{
	char name[320];

	site_name(name, sizeof(name), point->tp.name, symbol->address,
		  at->address);
	TELL_SITE(c, point, TRCERR_BADOPCODE);
	if (verdict == CODE_REFUSED)
		diag_hint(c->diag, "the instruction at %s %s", name,
			  at->insn.why);
	else if (verdict == CODE_INSIDE)
		diag_hint(c->diag, "%s is inside an instruction", name);
	else
		diag_hint(c->diag, "whether an instruction begins at %s can't "
				   "be known: there is no function to decode",
			  name);
	hint_near(c, &point->tp, symbol, at);
}

static int site_check_opcode(struct compilation *c,
			     const struct tsf_point *point,
			     const struct code_site *at)
{
	if (point->opcode < 0 || point->opcode == at->bytes[0])
		return 0;
	diag_tell(c->diag, point->opcode_pos, TRCERR_OPCODEMISMTCH);
	diag_hint(c->diag, "there is 0x%02x", at->bytes[0]);
	return 1;
}

static int site_check_code(struct compilation *c, const struct tsf_point *point,
			   const struct module_symbol *symbol,
			   struct code_site *at)
{
	const char *what = "the symbol";
	size_t available;
	int verdict;

	if (symbol->absolute || symbol->type == STT_TLS ||
	    !module_code(c->module, at->address, &available, NULL)) {
		if (tp_has_offset(&point->tp))
			what = "the address";
		TELL_SITE(c, point, TRCERR_INVALIDADDRESS, point->tp.text);
		diag_hint(c->diag,
			  "%s (%#" PRIx64 ") is not in an executable section",
			  what, at->address);
		return 1;
	}
	verdict = code_check(c->module, symbol->address, at);
	if (verdict < 0) {
		TELL_SITE(c, point, TRCERR_NO_MEM);
		return -1;
	}
	if (site_check_opcode(c, point, at))
		return 1;
	if (verdict == CODE_GOOD)
		return 0;
	tell_bad_opcode(c, point, symbol, at, verdict);
	return 1;
}

static int address_compare(const void *a, const void *b)
{
	const struct site_address *x = a, *y = b;

	if (x->nominal != y->nominal)
		return x->nominal < y->nominal ? -1 : 1;
	return strcmp(x->symbol, y->symbol);
}

static int site_check_seen(struct compilation *c, const struct tsf_point *point,
			   const struct compile_site *site)
{
	bool blind = !c->module->elf;
	struct site_address key = {
		.nominal = blind ? site->symbol_offset : site->nominal,
		.symbol = blind ? site->symbol : "",
	};
	struct site_address **seen = tfind(&key, &c->addresses,
					   address_compare);

	if (!seen)
		return 0;
	TELL_SITE(c, point, TRCERR_DUP_SEGOFF);
	diag_hint(c->diag, "the tracepoint in line %u (minor %u) has it",
		  (*seen)->line, (*seen)->minor);
	return 1;
}

int site_remember(struct compilation *c, const struct tsf_point *point,
		  const struct compile_site *site)
{
	bool blind = !c->module->elf;
	struct site_address *address = calloc(1, sizeof(*address));

	if (!address)
		return -1;
	address->nominal = blind ? site->symbol_offset : site->nominal;
	address->symbol = blind ? site->symbol : "";
	address->minor = point->minor;
	address->line = point->pos.line;
	if (tsearch(address, &c->addresses, address_compare))
		return 0;
	free(address);
	return -1;
}

void site_forget(struct compilation *c)
{
	tdestroy(c->addresses, free);
	c->addresses = NULL;
}

/* A kernel of which no file is at hand: the symbol is looked for when arming. */
static int site_resolve_blind(struct compilation *c,
			      const struct tsf_point *point,
			      struct compile_site *site)
{
	if (point->tp.offset < 0) {
		TELL_SITE(c, point, TRCERR_INVALIDADDRESS, point->tp.text);
		diag_hint(c->diag, "without the kernel's file an offset can't "
				   "be negative");
		return 1;
	}
	if (point->opcode >= 0) {
		diag_tell(c->diag, point->opcode_pos, TRCERR_UNSUPPORTED,
			  "OPCODE without the kernel's file");
		diag_hint(c->diag, "give it with --module vmlinux");
		return 1;
	}
	site->symbol_offset = site->offset = point->tp.offset;
	site->cost = TDF_COST_UNKNOWN;
	return 0;
}

static int site_resolve_kernel(struct compilation *c,
			       const struct tsf_point *point,
			       struct compile_site *site)
{
	if (site->symbol_offset > INT32_MAX) {
		TELL_SITE(c, point, TRCERR_INVALIDADDRESS, point->tp.text);
		diag_hint(c->diag, "the kernel takes no address in front of a "
				   "symbol: name the symbol before it");
		return 1;
	}
	site->offset = site->symbol_offset;
	site->cost = TDF_COST_UNKNOWN;
	return 0;
}

static int site_resolve_file(struct compilation *c,
			     const struct tsf_point *point,
			     struct compile_site *site)
{
	const struct module_symbol *symbol;
	struct code_site at = {0};
	int code;

	if (!c->module->symbol_count) {
		TELL_SITE(c, point, TRCERR_NO_SYMBOLIC, c->module->path);
		diag_hint(c->diag, "the module has neither .symtab nor .dynsym");
		return -1;
	}
	symbol = site_symbol(c, point);
	if (!symbol)
		return 1;
	at.address = site_nominal(c, &point->tp, symbol);
	code = site_check_code(c, point, symbol, &at);
	if (code)
		return code;
	site->symbol_offset = at.address - symbol->address;
	site->address = site->nominal = at.address;
	if (c->module->kind != TDF_MODULE_USER)
		return site_resolve_kernel(c, point, site);
	site->offset = at.offset;
	site->cost = at.insn.cost;
	site->insn_length = at.insn.length;
	memcpy(site->insn, at.bytes, at.insn.length);
	return 0;
}

int site_resolve(struct compilation *c, const struct tsf_point *point,
		 struct compile_site *site)
{
	int code;

	memset(site, 0, sizeof(*site));
	site->symbol = point->tp.name;
	if (point->tp.kind == TSF_TP_LINE || point->tp.retep) {
		TELL_SITE(c, point, TRCERR_UNSUPPORTED,
			  point->tp.retep ? "return points (RETEP)" :
					    "source lines (TP=@file,line)");
		return 1;
	}
	if (c->module->elf)
		code = site_resolve_file(c, point, site);
	else
		code = site_resolve_blind(c, point, site);
	return code ? code : site_check_seen(c, point, site);
}
