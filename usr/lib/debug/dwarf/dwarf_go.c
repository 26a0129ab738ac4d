// SPDX-License-Identifier: GPL-2.0
#include "dwarf_go.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>
#include "dwarf_type.h"
#include "dwarf_variable.h"
#include "lib/debug/arch/arch.h"

#define DEPTH_MAX	16	/* of types in each other */
#define RESULTS_MAX	64	/* of a function */

bool dwarf_go_in_registers(Dwarf_Die *function)
{
	const char *producer, *file = dwarf_decl_file(function);
	size_t length = file ? strlen(file) : 0;
	Dwarf_Attribute attr;
	Dwarf_Die unit;

	if (!dwarf_diecu(function, &unit, NULL, NULL) ||
	    dwarf_srclang(&unit) != DW_LANG_Go)
		return false;
	producer = dwarf_formstring(dwarf_attr(&unit, DW_AT_producer, &attr));
	/* assembler has the compiler for its producer, too */
	return producer && strstr(producer, "regabi") &&
	       !(length > 2 && !strcmp(file + length - 2, ".s"));
}

bool dwarf_go_is_function(Dwarf_Die *function)
{
	const char *name = dwarf_diename(function);

	return dwarf_go_in_registers(function) && name && !strchr(name, '[');
}

struct go_member {
	const char *name;
	struct dwarf_member found;
};

static int go_member_take(void *context, const struct dwarf_member *member)
{
	struct go_member *wanted = context;

	if (!strcmp(member->name, wanted->name))
		wanted->found = *member;
	return 0;
}

/* *bare becomes the type of its member. */
static bool go_member_enter(Dwarf_Die *bare, const char *name, uint64_t *offset)
{
	struct go_member wanted = { .name = name };

	dwarf_type_members(bare, go_member_take, &wanted);
	if (!wanted.found.name)
		return false;
	dwarf_type_peel(&wanted.found.type, bare, NULL);
	*offset += wanted.found.bit_offset / 8;
	return true;
}

bool dwarf_go_stack_end(struct dwarf_file *dwarf,
			const struct dwarf_from *from, uint64_t *offset)
{
	Dwarf_Die type[2], bare;

	*offset = 0;
	if (dwarf_type_find(dwarf, from, NULL, "runtime.g", type) < 0)
		return false;
	dwarf_type_peel(&type[0], &bare, NULL);
	return bare.addr && go_member_enter(&bare, "stack", offset) &&
	       go_member_enter(&bare, "hi", offset);
}

bool dwarf_go_result_entry(Dwarf_Die *function, unsigned int number,
			   Dwarf_Die *result)
{
	Dwarf_Die die = *function;

	if (dwarf_child(&die, result))
		return false;
	do {
		if (dwarf_tag(result) == DW_TAG_formal_parameter &&
		    dwarf_die_flag(result, DW_AT_variable_parameter) &&
		    !number--)
			return true;
	} while (dwarf_die_next(result));
	return false;
}

/* While a value is assigned to registers: those that are used, and its parts. */
struct go_assign {
	const struct arch_go *machine;
	unsigned int general, vector;
	struct dwarf_result *result;
	uint64_t offset;	/* of what is assigned, in the value */
	unsigned int depth;
	bool failed;		/* it goes to the stack */
};

static void assign_register(struct go_assign *a, uint64_t bytes, bool vector)
{
	const struct arch_go *m = a->machine;
	struct dwarf_result *r = a->result;

	if (r->count == DWARF_RESULT_PARTS || bytes > 8 ||
	    (vector ? a->vector == m->vector_count :
		      a->general == m->general_count)) {
		a->failed = true;
		return;
	}
	r->parts[r->count++] = (struct dwarf_result_part){
		.offset = a->offset, .bytes = bytes,
		.reg = vector ? m->vector_first + a->vector++ :
				m->general[a->general++],
	};
}

static void assign_type(struct go_assign *a, const Dwarf_Die *type,
			uint64_t offset);

static int assign_member(void *context, const struct dwarf_member *member)
{
	struct go_assign *a = context;

	assign_type(a, &member->type, a->offset + member->bit_offset / 8);
	return a->failed;
}

static void assign_array(struct go_assign *a, Dwarf_Die *bare)
{
	Dwarf_Die element = dwarf_type_bare(bare);
	uint64_t count = 0;

	if (!element.addr || !dwarf_type_dimension(bare, 0, &count))
		a->failed = true;
	else if (count == 1)
		assign_type(a, &element, a->offset);
	else if (count)
		a->failed = true;
}

static void assign_float(struct go_assign *a, Dwarf_Die *bare, uint64_t bytes)
{
	uint64_t encoding = 0, at = a->offset;

	dwarf_die_any_number(bare, DW_AT_encoding, &encoding);
	if (encoding != DW_ATE_complex_float) {
		assign_register(a, bytes, true);
		return;
	}
	assign_register(a, bytes / 2, true);
	a->offset = at + bytes / 2;
	assign_register(a, bytes / 2, true);
}

static void assign_type(struct go_assign *a, const Dwarf_Die *type,
			uint64_t offset)
{
	uint64_t before = a->offset, bytes;
	Dwarf_Die bare;

	dwarf_type_peel(type, &bare, NULL);
	if (a->failed || a->depth == DEPTH_MAX || !bare.addr) {
		a->failed = true;
		return;
	}
	a->depth++;
	a->offset = offset;
	if (!dwarf_type_bytes(&bare, &bytes))
		bytes = 8;	/* a func */
	switch (dwarf_type_value_kind(&bare)) {
	case DWARF_TYPE_STRUCT:
		dwarf_type_members(&bare, assign_member, a);
		break;
	case DWARF_TYPE_ARRAY:
		assign_array(a, &bare);
		break;
	case DWARF_TYPE_FLOAT:
		assign_float(a, &bare, bytes);
		break;
	case DWARF_TYPE_BOOL: case DWARF_TYPE_CHAR: case DWARF_TYPE_INT:
	case DWARF_TYPE_POINTER: case DWARF_TYPE_FUNCTION:
		assign_register(a, bytes, false);
		break;
	default:
		if (dwarf_tag(&bare) == DW_TAG_base_type)
			assign_float(a, &bare, bytes);
		else
			a->failed = true;
	}
	a->offset = before;
	a->depth--;
}

int dwarf_go_result_find(const struct dwarf_file *dwarf, Dwarf_Die *function,
			 unsigned int number, struct dwarf_result *result,
			 struct error *err)
{
	struct go_assign a = {
		.machine = &dwarf->module->arch->go, .result = result,
	};
	Dwarf_Die entry, type;

	if (!a.machine->general_count || !dwarf_go_is_function(function))
		return error_set(err, -ENODATA, "where this function of Go "
				 "returns values is not known");
	for (unsigned int i = 0; i <= number && i < RESULTS_MAX; i++) {
		unsigned int general = a.general, vector = a.vector;

		memset(result, 0, sizeof(*result));
		a.failed = !dwarf_go_result_entry(function, i, &entry) ||
			   !dwarf_type_of(&entry, &type);
		if (!a.failed)
			assign_type(&a, &type, 0);
		if (a.failed) {
			a.general = general;
			a.vector = vector;
		}
	}
	/* results on the stack are after the arguments there */
	return !a.failed ? 0 : error_set(err, -ENODATA, "it is returned on the "
					 "stack of the caller");
}
