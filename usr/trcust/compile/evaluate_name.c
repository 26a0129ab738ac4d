// SPDX-License-Identifier: GPL-2.0
/* What the names of variables and types mean at the site. */
#include "value.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/debug/dwarf/dwarf.h"
#include "lib/formats/rpn_emit.h"

static int find_variable(struct evaluation *e, const char *name,
			 struct dwarf_variable variable[2])
{
	return e->c->dwarf ? dwarf_variable_find(e->c->dwarf, &e->site->from,
						 name, variable) : -ENOENT;
}

bool evaluate_is_variable(struct evaluation *e, const char *name)
{
	struct dwarf_variable variable[2];
	int code = find_variable(e, name, variable);

	return !code || code == -ENOTUNIQ;
}

/* Of what isn't read the type is enough, wherever the variable is. */
static int unread_variable(struct evaluation *e, const struct expr *expr,
			   const struct dwarf_variable *variable,
			   struct address *address)
{
	struct bytes *rpn = place_begin(&address->place, PLACE_MEMORY);

	if (!rpn) {
		value_report_memory(e, expr->pos);
		return -1;
	}
	rpn_emit_const(rpn, 0);
	address->typed = variable->type.addr;
	address->type = variable->type;
	return 0;
}

/* NULL: one that the debug information doesn't know. */
static bool place_variable(struct evaluation *e, const struct expr *expr,
			   const struct dwarf_variable *variable,
			   struct value *value)
{
	struct address address = {0};

	if (e->unread && variable)
		e->code = unread_variable(e, expr, variable, &address);
	else if (variable)
		e->code = address_variable(e->c, e->site, expr->pos,
					   expr->name, variable, &address);
	else
		e->code = address_symbol(e->c, e->site, expr->pos, expr->name,
					 false, &address);
	if (e->code) {
		place_free(&address.place);
		return false;
	}
	value->kind = VALUE_PLACE;
	value->place = address.place;
	value->bit_offset = 8 * address.offset;
	value->type = address.typed ? value_type_of(&address.type) :
				      value_type_void();
	value->pos = expr->pos;
	value->name = expr->name;
	return value_refer(e, value);
}

static bool evaluate_implicit(struct evaluation *e, const struct expr *expr,
			      const struct dwarf_named *member,
			      struct value *value)
{
	struct expr this = *expr;
	struct dwarf_variable variable[2];

	this.name = "this";
	if (find_variable(e, "this", variable) ||
	    !place_variable(e, &this, variable, value) ||
	    !value_dereference(e, expr->pos, "->", value))
		return false;
	value->name = expr->name;
	return evaluate_member_enter(e, expr->pos, value, member);
}

/* Names that C and C++ programs have without debug information for them. */
static bool evaluate_well_known(struct evaluation *e, const struct expr *expr,
				struct value *value)
{
	bool is_true = !strcmp(expr->name, "true");
	struct value_type nothing = value_type_void();
	struct value_type type = value_type_integer(e->c, 4, true);

	if (!strcmp(expr->name, "NULL") || !strcmp(expr->name, "nullptr"))
		type = value_type_pointer_to(&nothing);
	else if (!is_true && strcmp(expr->name, "false"))
		return false;
	*value = value_constant(type, is_true);
	value->pos = expr->pos;
	return true;
}

/* A function of the module, which the symbol table knows. */
static bool evaluate_function(struct evaluation *e, const struct expr *expr,
			      struct value *value)
{
	const struct module_symbol *symbol;
	struct bytes *rpn;
	bool others;

	symbol = module_symbol_find(e->c->module, expr->name, MODULE_CODE,
				    &others);
	if (!symbol || !symbol->defined || symbol->type != STT_FUNC)
		return false;
	rpn = place_begin(&value->place, PLACE_MEMORY);
	if (!rpn)
		return value_report_memory(e, expr->pos);
	rpn_emit_addr(rpn, symbol->address);
	snprintf(value->place.where, sizeof(value->place.where),
		 "function at %#llx", (unsigned long long)symbol->address);
	value->kind = VALUE_PLACE;
	value->type = value_type_function();
	value->pos = expr->pos;
	value->name = expr->name;
	e->code = address_check_static(e->c, e->site, expr->pos, expr->name,
				       &value->place);
	return !e->code;
}

static bool enumerator_value(const struct expr *expr, Dwarf_Die *die,
			     const Dwarf_Die *enumeration, struct value *value)
{
	struct value_type type = value_type_of(enumeration);
	Dwarf_Attribute attr;
	Dwarf_Sword number;
	Dwarf_Word word;

	if (dwarf_tag(die) != DW_TAG_enumerator || !enumeration->addr ||
	    !dwarf_attr(die, DW_AT_const_value, &attr))
		return false;
	if (value_type_is_signed(&type) ? dwarf_formsdata(&attr, &number) :
					  dwarf_formudata(&attr, &word))
		return false;
	*value = value_constant(type, value_type_is_signed(&type) ?
					      (uint64_t)number : word);
	value->pos = expr->pos;
	value->name = expr->name;
	return true;
}

/* "color::red", where the type has a unit of its own. */
static bool evaluate_scoped(struct evaluation *e, const struct expr *expr,
			    struct value *value)
{
	const char *own = strrchr(expr->name, ':');
	Dwarf_Die type[2], child;
	char *scope;
	bool found;

	if (!e->c->dwarf || !own || own < expr->name + 2 || own[-1] != ':')
		return false;
	scope = strndup(expr->name, own - 1 - expr->name);
	found = scope && dwarf_type_find(e->c->dwarf, &e->site->from, "enum",
					 scope, type) >= 0;
	free(scope);
	if (!found || dwarf_child(type, &child))
		return false;
	do {
		const char *name = dwarf_diename(&child);

		if (name && !strcmp(name, own + 1))
			return enumerator_value(expr, &child, type, value);
	} while (dwarf_die_next(&child));
	return false;
}

bool evaluate_found(struct evaluation *e, const struct expr *expr,
		    const struct dwarf_variable *variable,
		    struct value *value)
{
	Dwarf_Die die = variable->die;

	if (variable->of_this)
		return evaluate_implicit(e, expr, &variable->member, value);
	return enumerator_value(expr, &die, &variable->type, value) ||
	       place_variable(e, expr, variable, value);
}

bool evaluate_variable(struct evaluation *e, const struct expr *expr,
		       struct value *value)
{
	struct dwarf_variable variable[2];
	int code = find_variable(e, expr->name, variable);

	if (!code)
		return evaluate_found(e, expr, variable, value);
	if (code == -ENOENT && (evaluate_well_known(e, expr, value) ||
				evaluate_scoped(e, expr, value) ||
				evaluate_function(e, expr, value)))
		return true;
	return !e->code && place_variable(e, expr, NULL, value);
}

static bool report_no_type(struct evaluation *e, const struct expr_type *in)
{
	struct bytes text = {0};
	struct expr_type named = *in;
	char why[512];

	named.pointers = 0;
	expr_type_print(&named, &text);
	bytes_add(&text, "", 1);
	if (text.failed) {
		bytes_free(&text);
		return value_report_memory(e, in->pos);
	}
	diag_report(e->c->diag, in->pos, TRCERR_BADTYPE, (char *)text.data);
	bytes_free(&text);
	if (!e->c->dwarf)
		diag_hint(e->c->diag, "there is no debug information");
	else if (dwarf_unit_lacks(e->c->dwarf, e->site->nominal, why,
				  sizeof(why)))
		diag_hint(e->c->diag, "%s", why);
	e->code = 1;
	return false;
}

/* The types of <stdint.h>, which the debug information may lack. */
static bool sized_type(struct evaluation *e, const char *name,
		       struct value_type *type)
{
	static const unsigned int sizes[] = { 1, 2, 4, 8 };
	char text[16];

	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		snprintf(text, sizeof(text), "%sint%u_t", i % 2 ? "u" : "",
			 8 * sizes[i / 2]);
		if (strcmp(name, text))
			continue;
		*type = value_type_integer(e->c, sizes[i / 2], !(i % 2));
		return true;
	}
	if (strcmp(name, "size_t") && strcmp(name, "uintptr_t"))
		return false;
	*type = value_type_integer(e->c, e->wide ? 8 : 4, false);
	return true;
}

bool evaluate_type(struct evaluation *e, const struct expr_type *in,
		   struct value_type *type)
{
	int code = -ENOENT;
	Dwarf_Die die[2];

	if (in->base == EXPR_BASE_NAMED && e->c->dwarf)
		code = dwarf_type_find(e->c->dwarf, &e->site->from, in->tag,
				       in->name, die);
	if (code == -ENOTUNIQ) {
		e->code = address_report_ambiguous(e->c, in->pos, in->name,
						   &die[0], &die[1]);
		return false;
	}
	if (code == 1)
		address_warn_type(e->c, in->pos, in->name, die);
	if (in->base != EXPR_BASE_NAMED)
		*type = value_type_base(e->c, &e->site->from, in);
	else if (code >= 0)
		*type = value_type_of(die);
	else if (in->tag || !sized_type(e, in->name, type))
		return report_no_type(e, in);
	type->pointers += in->pointers;
	return true;
}
