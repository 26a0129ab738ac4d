// SPDX-License-Identifier: GPL-2.0
/* Where a variable is at an address. */
#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf_location.h"
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

/* A location that is only an address. */
static bool plain_address(Dwarf_Attribute *attr, const Dwarf_Op *ops,
			  size_t count, uint64_t *address)
{
	Dwarf_Attribute indexed;
	Dwarf_Addr at;

	if (count != 1)
		return false;
	if (ops->atom == DW_OP_addr) {
		*address = ops->number;
		return true;
	}
	if ((ops->atom != DW_OP_addrx && ops->atom != DW_OP_GNU_addr_index) ||
	    dwarf_getlocation_attr(attr, ops, &indexed) ||
	    dwarf_formaddr(&indexed, &at))
		return false;
	*address = at;
	return true;
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

/* Of one that several units define the linker keeps one. */
static int left_out_place(struct dwarf_file *dwarf,
			  const struct dwarf_variable *variable,
			  struct place *place, struct error *err)
{
	const struct module_symbol *symbol = NULL;
	Dwarf_Die die = variable->die;
	const char *name = dwarf_variable_symbol(&die);
	bool others;

	if (name && variable_is_external(variable))
		symbol = module_symbol_find(dwarf->module, name, MODULE_DATA,
					    &others);
	if (!symbol || !symbol->defined)
		return error_set(err, -ENODATA, "the linker left it out");
	return symbol_place(dwarf, variable, 0, place, err);
}

/* The operations are those of a list's default location, which holds where no
 * other does (DWARF 5 section 2.6.2). */
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
	struct dwarf_file *dwarf = context->dwarf;
	size_t counts[LOCATIONS_MAX];
	Dwarf_Op *ops[LOCATIONS_MAX];
	uint64_t address;
	bool plain;
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
		plain = plain_address(attr, ops[i], counts[i], &address);
		if (plain && is_left_out(dwarf, address))
			code = left_out_place(dwarf, variable, place, err);
		else if (plain && address && variable_is_external(variable))
			code = symbol_place(dwarf, variable, address, place,
					    err);
		else
			code = dwarf_location_place(context, attr, ops[i],
						    counts[i], place, err);
	}
	return code;
}

/* Where a thread-local variable of one file is gcc doesn't tell on AArch64: the
 * assembler has no relocation for it there. The symbol of that file does. */
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

static int thread_place(struct dwarf_file *dwarf, uint64_t offset,
			struct place *place, struct error *err)
{
	struct bytes *rpn = place_begin(place, PLACE_MEMORY);

	if (!rpn)
		return error_no_memory(err);
	snprintf(place->where, sizeof(place->where), "thread-local variable");
	return dwarf_thread_emit(dwarf, offset, rpn, err);
}

static int place_find(const struct dwarf_context *context,
		      const struct dwarf_variable *variable,
		      struct place *place, struct error *err)
{
	Dwarf_Die die = variable->die;
	Dwarf_Attribute attr;
	uint64_t offset;

	memset(place, 0, sizeof(*place));
	if (dwarf_attr_integrate(&die, DW_AT_location, &attr))
		return location_place(context, variable, &attr, place, err);
	if (dwarf_attr_integrate(&die, DW_AT_const_value, &attr))
		return dwarf_constant_place(&attr, place, err);
	if (variable_is_external(variable) &&
	    (!variable->local ||
	     dwarf_hasattr_integrate(&die, DW_AT_declaration)))
		return symbol_place(context->dwarf, variable, 0, place, err);
	if (thread_symbol_find(context->dwarf, variable, &offset))
		return thread_place(context->dwarf, offset, place, err);
	return error_set(err, -ENODATA, "it is optimized out everywhere");
}

int dwarf_variable_place(struct dwarf_file *dwarf,
			 const struct dwarf_variable *variable, uint64_t pc,
			 struct place *place, struct error *err)
{
	struct dwarf_context context = { .dwarf = dwarf, .pc = pc };
	struct dwarf_scopes scopes;
	int code = dwarf_scopes_find(dwarf, pc, &scopes);

	if (code == -ENOMEM)
		return error_no_memory(err);
	if (scopes.count)
		context.function = scopes.dies[0];
	code = place_find(&context, variable, place, err);
	if (code)
		place_free(place);
	else if (err)
		err->text[0] = err->hint[0] = '\0';
	return code;
}
