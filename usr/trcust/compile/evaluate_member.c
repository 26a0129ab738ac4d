// SPDX-License-Identifier: GPL-2.0
/* Members of structs, unions and classes. */
#include "value.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/rpn_emit.h"

#define NAMES_TEXT	240	/* of members, for a hint */

struct member_names {
	char text[NAMES_TEXT];
	size_t used;
};

static int member_name_add(void *context, const struct dwarf_member *member)
{
	struct member_names *names = context;
	size_t left = sizeof(names->text) - names->used;

	if (strlen(member->name) + 6 > left)
		return snprintf(names->text + names->used, left, " ...");
	if (*member->name)
		names->used += snprintf(names->text + names->used, left,
					"%s%s", names->used ? ", " : "",
					member->name);
	return 0;
}

static bool report_no_member(struct evaluation *e, const struct expr *expr,
			     const struct value *value, Dwarf_Die *composed)
{
	struct member_names names = {0};
	char *text = value_type_spell(&value->type);

	if (!text)
		return value_report_memory(e, expr->pos);
	e->code = 1;
	diag_report(e->c->diag, expr->pos, TRCERR_BADMEMBER, text, expr->name);
	free(text);
	if (!composed) {
		if (value_type_kind(&value->type) == DWARF_TYPE_POINTER)
			diag_hint(e->c->diag, "it is a pointer: '->'");
		return false;
	}
	if (dwarf_type_is_declared_only(composed))
		diag_hint(e->c->diag, "the type is only declared, no unit with "
				      "debug information defines it");
	dwarf_type_members(composed, member_name_add, &names);
	if (names.used)
		diag_hint(e->c->diag, "it has: %s", names.text);
	return false;
}

/* What a virtual base's place is computed by, from the object's address on:
 * Itanium ABI section 2.5, as DW_AT_data_member_location has it. */
static bool emit_virtual(struct evaluation *e, Dwarf_Die *inheritance,
			 struct bytes *rpn)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_getlocation(dwarf_attr(inheritance,
					 DW_AT_data_member_location, &attr),
			      &ops, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint8_t atom = ops[i].atom;

		if (atom == DW_OP_deref)
			rpn_emit_deref(rpn, e->wide ? 8 : 4);
		else if (atom == DW_OP_dup || atom == DW_OP_minus ||
			 atom == DW_OP_plus)
			rpn_emit_op(rpn, atom);
		else if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
			rpn_emit_const(rpn, atom - DW_OP_lit0);
		else if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
			rpn_emit_const(rpn, ops[i].number);
		else if (atom == DW_OP_plus_uconst)
			rpn_emit_add(rpn, ops[i].number, e->wide);
		else
			return false;
	}
	if (!e->wide)
		rpn_emit_extend(rpn, 4, false);
	return count;
}

/* The object's own vtable has the offset of the base in the object. */
static bool enter_virtual(struct evaluation *e, struct srcpos pos,
			  struct value *value, Dwarf_Die *inheritance)
{
	struct value_type type;
	Dwarf_Die base;

	if (!dwarf_type_of(inheritance, &base))
		return false;
	type = value_type_of(&base);
	if (e->unread) {
		value_narrow(value, &type, 0, 0);
		return true;
	}
	if (!value_address(e, pos, value))
		return false;
	if (!emit_virtual(e, inheritance, &value->rpn)) {
		diag_report(e->c->diag, pos, TRCERR_UNSUPPORTED,
			    "the place of this virtual base class");
		e->code = 1;
		return false;
	}
	value->type = value_type_pointer_to(&type);
	return value_dereference(e, pos, "->", value);
}

bool evaluate_member_enter(struct evaluation *e, struct srcpos pos,
			   struct value *value,
			   const struct dwarf_named *member)
{
	struct value_type type = value_type_of(&member->type), element = type;
	const struct dwarf_subobject *in = &member->in;

	for (unsigned int i = 0; i < in->step_count; i++) {
		Dwarf_Die inheritance = in->steps[i].die;

		value_narrow(value, &value->type, in->steps[i].bit_offset, 0);
		if (!enter_virtual(e, pos, value, &inheritance))
			return false;
	}
	value_narrow(value, &type, in->bit_offset, member->bits);
	while (value_type_kind(&element) == DWARF_TYPE_ARRAY)
		element = value_type_target(&element);
	/* an enumeration's own type doesn't say so */
	value->reversed = member->is_reversed &&
			  !value_type_is_reversed(&element);
	return value_refer(e, value);
}

/* A static member is a variable of its own, an enumerator a constant. */
static bool evaluate_static(struct evaluation *e, const struct expr *expr,
			    const struct dwarf_named *member,
			    struct value *value)
{
	struct dwarf_variable variable;
	int code = dwarf_variable_of(e->c->dwarf, &e->site->from, member,
				     &variable);

	if (code == -ENOMEM)
		return value_report_memory(e, expr->pos);
	value_free(value);
	memset(value, 0, sizeof(*value));
	return evaluate_found(e, expr, &variable, value);
}

bool evaluate_member(struct evaluation *e, const struct expr *expr,
		     struct value *value)
{
	struct dwarf_named found[2];
	Dwarf_Die composed;
	int code;

	if (!evaluate(e, expr->a, value))
		return false;
	if (!value_type_composed(e->c, &value->type, &composed))
		return report_no_member(e, expr, value, NULL);
	code = dwarf_member_find(e->c->dwarf, &composed, expr->name, false,
				 found);
	if (code == -ENOTUNIQ) {
		e->code =
			address_report_ambiguous(e->c, expr->pos, expr->name,
						 &found[0].die, &found[1].die);
		return false;
	}
	if (!code && found->kind == DWARF_NAMED_DATA)
		return evaluate_member_enter(e, expr->pos, value, found);
	if (!code && (found->kind == DWARF_NAMED_STATIC ||
		      found->kind == DWARF_NAMED_ENUMERATOR))
		return evaluate_static(e, expr, found, value);
	return report_no_member(e, expr, value, &composed);
}
