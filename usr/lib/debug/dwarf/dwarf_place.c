// SPDX-License-Identifier: GPL-2.0
/* Where a variable is at an address. */
#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf_location.h"
#include "dwarf_symbol.h"
#include "dwarf_scope.h"
#include "dwarf_variable.h"

#define LOCATIONS_MAX	4	/* places at the same time */

static bool variable_is_external(const struct dwarf_variable *variable)
{
	Dwarf_Die die = variable->die;

	return dwarf_die_flag(&die, DW_AT_external);
}

static int symbol_place(struct dwarf_file *dwarf,
			const struct dwarf_variable *variable,
			uint64_t address, struct place *place,
			struct error *err)
{
	struct bytes *rpn = place_begin(place, PLACE_MEMORY);
	Dwarf_Die die = variable->die;
	const char *name = dwarf_variable_symbol(&die);
	int code;

	if (!rpn)
		return error_no_memory(err);
	code = dwarf_symbol_emit(dwarf, name, address, rpn, err);
	if (address)
		snprintf(place->where, sizeof(place->where),
			 "global at %#" PRIx64, address);
	else
		snprintf(place->where, sizeof(place->where), "global %s",
			 name ? name : "");
	return code;
}

/* Debug information of a variable that the linker left out has 0, or another
 * address that is in none of the module's sections. */
static bool is_left_out(const struct dwarf_file *dwarf, uint64_t address)
{
	Elf_Scn *scn = NULL;
	bool any = false;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(dwarf->module->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC))
			continue;
		any = true;
		if (address >= sh.sh_addr && address - sh.sh_addr <= sh.sh_size)
			return false;
	}
	return any;
}

/* The operations are those of a list's default location, which is valid where no
 * other is (DWARF 5 section 2.6.2). */
static bool is_default(Dwarf_Attribute *attr, const Dwarf_Op *ops)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	Dwarf_Op *own;
	size_t count;

	while ((at = dwarf_getlocations(attr, at, &base, &start, &end, &own,
					&count)) > 0)
		if (own == ops)
			return !start && end == (Dwarf_Addr)-1;
	return false;
}

/* No location has anything in it, and none is damaged. */
static bool is_empty(Dwarf_Attribute *attr)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t count;

	while ((at = dwarf_getlocations(attr, at, &base, &start, &end, &ops,
					&count)) > 0)
		if (count)
			return false;
	return !at;
}

uint64_t dwarf_variable_end(const struct dwarf_variable *variable, uint64_t pc,
			    uint64_t *start)
{
	Dwarf_Addr base, low, high;
	Dwarf_Die die = variable->die;
	Dwarf_Attribute attr;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr_integrate(&die, DW_AT_location, &attr))
		return 0;
	while ((at = dwarf_getlocations(&attr, at, &base, &low, &high, &ops,
					&count)) > 0) {
		*start = low;
		if (pc >= low && pc < high)
			return low ? high : 0;
	}
	return 0;
}

static int location_place(const struct dwarf_context *context,
			  const struct dwarf_variable *variable,
			  Dwarf_Attribute *attr, struct place *place,
			  struct error *err)
{
	const struct module_symbol *symbol = NULL;
	struct dwarf_file *dwarf = context->dwarf;
	bool external = variable_is_external(variable), plain, others;
	Dwarf_Die die = variable->die;
	size_t counts[LOCATIONS_MAX];
	Dwarf_Op *ops[LOCATIONS_MAX];
	const char *name;
	uint64_t address;
	int count = dwarf_getlocation_addr(attr, context->pc, ops, counts,
					   LOCATIONS_MAX);
	int code = -ENODATA;

	if (count < 0)
		return error_set(err, code, "its location is damaged or has an "
				 "operation that isn't known");
	if (!count || (count == 1 && !counts[0]))
		return error_set(err, code, "it is optimized out %s",
				 is_empty(attr) ? "everywhere" : "here");
	for (int i = 0; i < count && code == -ENODATA; i++) {
		if (i && is_default(attr, ops[i]))
			continue;
		place_free(place);
		plain = dwarf_die_address(attr, ops[i], counts[i], &address);
		if (!plain || !is_left_out(dwarf, address)) {
			code = plain && address && external ?
			       symbol_place(dwarf, variable, address, place,
					    err) :
			       dwarf_location_place(context, attr, ops[i],
						    counts[i], place, err);
			continue;
		}
		/* of one that several units define the linker keeps one */
		name = external ? dwarf_variable_symbol(&die) : NULL;
		if (name)
			symbol = module_symbol_find(dwarf->module, name,
						    MODULE_DATA, &others);
		code = symbol && symbol->defined ?
		       symbol_place(dwarf, variable, 0, place, err) :
		       error_set(err, -ENODATA, "the linker left it out");
	}
	return code;
}

/* On AArch64 gcc has no location of a thread-local variable of one file: the
 * assembler has no relocation for it there. The symbol of that file has it. */
static bool thread_symbol_find(struct dwarf_file *dwarf,
			       const struct dwarf_variable *variable,
			       uint64_t *offset)
{
	const struct module_symbol *symbol = NULL;
	Dwarf_Die die = variable->die, unit;
	const char *file = NULL, *name = dwarf_diename(&die);
	bool others = false;
	char *text;

	if (!variable->local && dwarf_diecu(&die, &unit, NULL, NULL))
		file = dwarf_diename(&unit);
	if (!name || !file || asprintf(&text, "%s:%s", file, name) < 0)
		return false;
	symbol = module_symbol_find(dwarf->module, text, MODULE_DATA, &others);
	free(text);
	if (!symbol || others || !symbol->defined || symbol->type != STT_TLS)
		return false;
	*offset = symbol->address;
	return true;
}

int dwarf_variable_place(struct dwarf_file *dwarf,
			 const struct dwarf_variable *variable, uint64_t pc,
			 struct place *place, struct error *err)
{
	struct dwarf_context context = { .dwarf = dwarf, .pc = pc };
	Dwarf_Die die = variable->die;
	struct dwarf_scopes scopes;
	Dwarf_Attribute attr;
	struct bytes *rpn;
	uint64_t offset;
	int code = dwarf_scopes_find(dwarf, pc, &scopes);

	if (code == -ENOMEM)
		return error_no_memory(err);
	if (scopes.count)
		context.function = scopes.dies[0];
	memset(place, 0, sizeof(*place));
	if (dwarf_attr_integrate(&die, DW_AT_location, &attr)) {
		code = location_place(&context, variable, &attr, place, err);
	} else if (dwarf_attr_integrate(&die, DW_AT_const_value, &attr)) {
		code = dwarf_constant_place(&attr, place, err);
	} else if (variable_is_external(variable) &&
		   (!variable->local ||
		    dwarf_hasattr_integrate(&die, DW_AT_declaration))) {
		code = symbol_place(dwarf, variable, 0, place, err);
	} else if (thread_symbol_find(dwarf, variable, &offset)) {
		rpn = place_begin(place, PLACE_MEMORY);
		snprintf(place->where, sizeof(place->where),
			 "thread-local variable");
		code = rpn ? dwarf_thread_emit(dwarf, offset, rpn, err) :
			     error_no_memory(err);
	} else {
		code = error_set(err, -ENODATA,
				 "it is optimized out everywhere");
	}
	if (code)
		place_free(place);
	else if (err)
		err->text[0] = err->hint[0] = '\0';
	return code;
}
