// SPDX-License-Identifier: GPL-2.0
#include "message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void message_name(char *text, size_t size, const char *name, uint64_t symbol,
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

void message_site_name(const struct compile_site *site, char *text, size_t size)
{
	const char *symbol = site->symbol ? site->symbol : "";
	char *plain = demangle_symbol(symbol);

	if (plain)
		plain[demangle_plain_length(plain)] = '\0';
	if (symbol[0])
		message_name(text, size, plain ? plain : symbol,
			    site->address - site->symbol_offset,
			    site->nominal);
	else
		snprintf(text, size, "%#" PRIx64, site->nominal);
	free(plain);
}

void message_hint_debug(const struct compilation *c)
{
	const char *why = dwarf_refusal(c->module, c->dwarf);

	if (why)
		diag_hint(c->diag, "%s", why);
	else if (!c->dwarf && c->module->elf)
		diag_hint(c->diag, "no debug information was found: --debug "
				   "FILE names it");
}

void message_hint_imported(const struct compilation *c)
{
	char text[256];

	module_libraries(c->module, text, sizeof(text));
	diag_hint(c->diag, text[0] ? "the module only uses it, it is defined "
			   "in another one; this one loads %s" :
			   "the module only uses it, it is defined in another "
			   "one%s", text);
}

int message_absent(const struct compilation *c, const struct compile_site *site,
		   struct srcpos pos, const char *name, const char *why,
		   const char *hint)
{
	char at[320];

	message_site_name(site, at, sizeof(at));
	diag_report(c->diag, pos, TRCERR_BADADDRESS);
	diag_hint(c->diag, "'%s' at %s: %s", name, at, why);
	if (hint && hint[0])
		diag_hint(c->diag, "%s", hint);
	return 1;
}

int message_ambiguous(const struct compilation *c, struct srcpos pos,
		      const char *name, const Dwarf_Die *one,
		      const Dwarf_Die *other)
{
	char *at = dwarf_line_declared(c->dwarf, one);
	char *too = dwarf_line_declared(c->dwarf, other);
	char text[512];

	snprintf(text, sizeof(text), "%.240s declares one, %.240s another",
		 at ? at : "a file", too ? too : "a file");
	free(at);
	free(too);
	diag_report(c->diag, pos, TRCERR_AMBIGNAME, name, text);
	diag_hint(c->diag, "'FILE'::NAME is a variable of that file, "
			   "SCOPE::NAME one of a namespace or class, "
			   "'::NAME' one of none");
	return 1;
}

void message_other_type(const struct compilation *c, struct srcpos pos,
			const char *name, const Dwarf_Die *type)
{
	char *at = dwarf_line_declared(c->dwarf, type);

	diag_report(c->diag, pos, TRCERR_OTHERTYPE, name,
		    at ? at : "elsewhere");
	free(at);
}
