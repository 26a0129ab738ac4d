// SPDX-License-Identifier: GPL-2.0
#include "signature.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/debug/arch/arch.h"
#include "lib/debug/dwarf/dwarf.h"

void signature_parameters_free(struct signature_parameters *parameters)
{
	while (parameters->count)
		free(parameters->list[--parameters->count].name);
	parameters->readable = 0;
}

/* The name means the parameter at pc, of which all is there. */
static bool is_readable(struct dwarf_file *dwarf, uint64_t pc, Dwarf_Die *die,
			const char *name)
{
	struct dwarf_from from = { .pc = pc, .outermost = true };
	struct dwarf_variable named[2];
	struct place place = { 0 };
	struct error err = { 0 };
	bool readable = true;
	int code;

	code = dwarf_variable_find(dwarf, &from, name, named);
	if (!code && named->die.addr != die->addr)
		return false;
	if (!code)
		code = dwarf_variable_place(dwarf, named, pc, &place, &err);
	dwarf->module->exhausted |= code == -ENOMEM;
	if (code)
		return false;
	for (size_t i = 0; i < place.count; i++)
		readable &= place.pieces[i].kind != PLACE_ABSENT;
	place_free(&place);
	return readable;
}

/* DWARF 5 section 2.6: a list of locations or just one for all addresses */
static bool has_list(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (!dwarf_attr_integrate(die, DW_AT_location, &attr))
		return true;
	switch (dwarf_whatform(&attr)) {
	case DW_FORM_sec_offset:
	case DW_FORM_loclistx:
	case DW_FORM_data4:
	case DW_FORM_data8:
		return true;
	}
	return false;
}

static bool signature_function(struct dwarf_file *dwarf, uint64_t entry,
			       Dwarf_Die *function)
{
	struct dwarf_functions found = { 0 };
	int code = dwarf ? dwarf_function_at(dwarf, entry, &found) : -ENOENT;
	bool is_one = !code && found.count &&
		      found.functions[0].entry == entry;

	if (code == -ENOMEM)
		dwarf->module->exhausted = true;
	if (is_one)
		*function = found.functions[0].die;
	dwarf_functions_free(&found);
	return is_one;
}

int signature_parameters_find(struct dwarf_file *dwarf, uint64_t entry,
			      uint64_t pc,
			      struct signature_parameters *parameters,
			      bool *listed)
{
	Dwarf_Die function, die;

	*listed = true;
	if (!signature_function(dwarf, entry, &function) ||
	    dwarf_child(&function, &die))
		return 0;
	do {
		const char *name = dwarf_diename(&die);
		size_t i = parameters->count;

		if (dwarf_tag(&die) != DW_TAG_formal_parameter || !name)
			continue;
		*listed &= has_list(&die);
		if (i == SIGNATURE_PARAMETERS_MAX)
			continue;
		parameters->list[i].name = strdup(name);
		parameters->list[i].readable = is_readable(dwarf, pc, &die,
							   name);
		parameters->readable += parameters->list[i].readable;
		if (!parameters->list[parameters->count++].name)
			return -ENOMEM;
	} while (dwarf_die_next(&die));
	return 0;
}

/* A text made of a format, or NULL. */
static char *text_make(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

static char *text_make(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

/* The clauses for a value of the type in the register; an enumeration's
 * constants by name when `typed`. */
static char *result_of_type(const struct module *module, Dwarf_Die *type,
			    bool typed)
{
	static const char *const names[] = {
		[1] = "char", [2] = "short", [4] = "int", [8] = "long long",
	};
	enum dwarf_type_kind kind = dwarf_type_kind(type);
	unsigned int width = module->elf_class == ELFCLASS64 ? 8 : 4;
	const char *reg = module->arch->result, *sign = "";
	bool is_signed = dwarf_type_is_signed(type);
	char *name, *text = NULL;
	uint64_t bytes;

	if (kind == DWARF_TYPE_POINTER || kind == DWARF_TYPE_REFERENCE)
		return text_make("FMT=\"returns %%{p%u}\",\n\tREGS=(%s)",
				 8 * width, reg);
	if (kind == DWARF_TYPE_ENUM && typed) {
		name = dwarf_type_spell(type, 0, 0);
		if (name && !strpbrk(name, "}%\"\\"))
			text = text_make("FMT=\"returns %%P%%{%s}\",\n"
					 "\tVARS=((%s)$%s)", name, name, reg);
		free(name);
		return text;
	}
	if ((kind != DWARF_TYPE_ENUM && kind != DWARF_TYPE_BOOL &&
	     kind != DWARF_TYPE_CHAR && kind != DWARF_TYPE_INT) ||
	    !dwarf_type_bytes(type, &bytes) || !bytes || bytes > width ||
	    (bytes & (bytes - 1)))
		return NULL;
	if (kind == DWARF_TYPE_BOOL && bytes == 1)
		return text_make("FMT=\"returns %%P%%{bool}\",\n"
				 "\tVARS=((unsigned char)$%s)", reg);
	if (!is_signed)
		sign = "unsigned ";
	else if (bytes == 1)
		sign = "signed ";
	return text_make("FMT=\"returns %%P%%{%c%u}\",\n\tVARS=((%s%s)$%s)",
			 is_signed ? 'd' : 'u', 8 * (unsigned int)bytes, sign,
			 names[bytes], reg);
}

char *signature_result_find(const struct module *module,
			    struct dwarf_file *dwarf, uint64_t entry,
			    bool typed)
{
	const char *reg = module->arch->result;
	Dwarf_Die function, type, bare;

	if (!signature_function(dwarf, entry, &function))
		return text_make("FMT=\"%s = %%{x%u}\",\n\tREGS=(%s)", reg,
				 module->elf_class == ELFCLASS64 ? 64 : 32,
				 reg);
	if (!dwarf_type_of(&function, &type))
		return NULL;
	dwarf_type_peel(&type, &bare, NULL);
	return bare.addr ? result_of_type(module, &bare, typed) : NULL;
}
