// SPDX-License-Identifier: GPL-2.0
#include "evaluate.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emit.h"
#include "lib/debug/arch/arch.h"
#include "analysis.h"
#include "result.h"
#include "symbol.h"

static void register_value(struct evaluation *e, struct value *value,
			   unsigned int number, unsigned int shift,
			   struct value_type type)
{
	uint64_t bytes;

	value->kind = VALUE_COMPUTED;
	value->type = type;
	emit_register(e->site, number, 0, &value->rpn);
	if (shift) {
		rpn_emit_const(&value->rpn, shift);
		rpn_emit_op(&value->rpn, RPN_shr);
	}
	if (value_type_bytes(e->c, &type, &bytes) &&
	    (bytes < (e->wide ? 8 : 4) || value_type_is_signed(&type)))
		rpn_emit_extend(&value->rpn, bytes,
				value_type_is_signed(&type));
}

/* Signed, as gdb has them: functions return negative numbers. */
static bool evaluate_register(struct evaluation *e, const struct expr *expr,
			      struct value *value)
{
	const struct arch *arch = e->c->module->arch;
	const struct arch_register *reg = arch_register_find(arch, expr->name);
	int number = reg ? reg->dwarf : -1;
	struct value_type type = value_type_void();
	char why[80];

	if (result_number(expr->name))
		return result_evaluate(e, expr, value);
	e->code = 1;
	if (number < 0) {
		diag_report(e->c->diag, expr->pos, TRCERR_NOTAREG, expr->name);
		if (arch_register_foreign(arch, expr->name, why, sizeof(why)))
			diag_hint(e->c->diag, "%s", why);
		else
			diag_hint(e->c->diag, reg ?
				  "the module is a 32-bit one" :
				  "after '$' comes a register, or with @USDT "
				  "arg1, arg2 and so on");
		return false;
	}
	if (reg->pt_regs < 0) {
		diag_report(e->c->diag, expr->pos, TRCERR_UNSUPPORTED,
			    "segment registers other than CS and SS");
		return false;
	}
	e->code = 0;
	if (reg->kind == ARCH_IP && reg->bytes == (e->wide ? 8 : 4))
		type = value_type_pointer_to(&type);
	else
		type = value_type_integer(e->c, reg->bytes,
					  reg->kind == ARCH_GPR);
	register_value(e, value, number, 0, type);
	value->pos = expr->pos;
	snprintf(value->where, sizeof(value->where), "register %s", expr->name);
	return true;
}

/* Appends the address of a memory operand. */
static bool operand_address(struct evaluation *e, const struct expr *expr,
			    const struct arch_operand *operand,
			    struct value *value, struct bytes *rpn)
{
	struct address address = {0};
	int64_t displacement = operand->number;
	char *name;

	if (operand->symbol) {
		name = strndup(operand->symbol, operand->symbol_length);
		if (!name)
			return value_report_memory(e, expr->pos);
		e->code = symbol_resolve(e->c, e->site, expr->pos, name, false,
				      &address);
		free(name);
		if (!e->code && !address_in_memory(&address)) {
			diag_report(e->c->diag, expr->pos, TRCERR_BADADDRESS);
			e->code = 1;
		}
		if (!e->code)
			bytes_add(rpn, address.place.pieces[0].rpn.data,
				  address.place.pieces[0].rpn.size);
		place_free(&address.place);
	} else if (operand->base < 0) {
		rpn_emit_const(rpn, displacement);
		displacement = 0;
	}
	if (operand->base >= 0) {
		rpn_emit_register(rpn, operand->base, displacement);
		displacement = 0;
		if (operand->symbol)
			rpn_emit_op(rpn, RPN_plus);
	}
	if (operand->index >= 0) {
		rpn_emit_register(rpn, operand->index, 0);
		rpn_emit_const(rpn, operand->scale);
		rpn_emit_op(rpn, RPN_mul);
		rpn_emit_op(rpn, RPN_plus);
	}
	rpn_emit_add(rpn, displacement, true);
	if (!e->wide)
		rpn_emit_extend(rpn, 4, false);
	snprintf(value->place.where, sizeof(value->place.where),
		 "argument in memory");
	return !e->code;
}

/* The `number`th of "8@%rdi -4@[sp, 12]": its start and length. Blanks separate
 * them, but for those in brackets. */
static const char *usdt_argument_find(const char *list, uint64_t number,
				      size_t *length)
{
	for (;; list += *length) {
		bool inside = false;

		list += strspn(list, " \t");
		for (*length = 0; list[*length] &&
				  (inside || !strchr(" \t", list[*length]));
		     ++*length)
			if (list[*length] == '[' || list[*length] == ']')
				inside = list[*length] == '[';
		if (!*length)
			return NULL;
		if (!--number)
			return list;
	}
}

static bool report_no_argument(struct evaluation *e, const struct expr *expr)
{
	const char *list = e->site->arguments;
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)expr->number);
	diag_report(e->c->diag, expr->pos, TRCERR_BADARGUMENT, text);
	if (!list)
		diag_hint(e->c->diag, "only those of TP=@USDT have some");
	else
		diag_hint(e->c->diag, *list ? "its note has: %s" :
					      "its note has none%s", list);
	e->code = 1;
	return false;
}

/* "N@operand", N bytes, negative when signed; "Nf@": floating point. */
static bool evaluate_argument(struct evaluation *e, const struct expr *expr,
			      struct value *value)
{
	const char *list = e->site->arguments, *at, *sign;
	struct arch_operand operand;
	struct value_type type;
	struct bytes *rpn;
	size_t length, size;
	char *end, text[160];
	long bytes;
	const struct arch *arch = e->c->module->arch;

	at = list ? usdt_argument_find(list, expr->number, &length) : NULL;
	if (!at)
		return report_no_argument(e, expr);
	sign = memchr(at, '@', length);
	size = sign ? sign + 1 - at : 0;
	bytes = sign ? strtol(at, &end, 10) : (e->wide ? 8 : 4);
	if ((sign && end != sign) ||
	    (labs(bytes) != 1 && labs(bytes) != 2 && labs(bytes) != 4 &&
	     labs(bytes) != 8) ||
	    !arch->operand_parse(arch, at + size, length - size, &operand)) {
		snprintf(text, sizeof(text), "the argument %.*s of the note",
			 (int)(length < 100 ? length : 100), at);
		diag_report(e->c->diag, expr->pos, TRCERR_UNSUPPORTED, text);
		e->code = 1;
		return false;
	}
	type = value_type_integer(e->c, labs(bytes), bytes < 0);
	switch (operand.kind) {
	case ARCH_IMMEDIATE:
		*value = value_constant(value_type_integer(e->c, 8, true),
					operand.number);
		value_convert(e, value, &type);
		break;
	case ARCH_REGISTER:
		register_value(e, value, operand.base, operand.shift, type);
		snprintf(value->where, sizeof(value->where),
			 "argument in a register");
		break;
	case ARCH_MEMORY:
		rpn = place_begin(&value->place, PLACE_MEMORY);
		value->kind = VALUE_PLACE;
		value->type = type;
		if (!rpn)
			return value_report_memory(e, expr->pos);
		if (!operand_address(e, expr, &operand, value, rpn))
			return false;
	}
	value->pos = expr->pos;
	return true;
}

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
		names->used += snprintf(names->text + names->used, left, "%s%s",
					names->used ? ", " : "", member->name);
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

static bool evaluate_member_enter(struct evaluation *e, struct srcpos pos,
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

static int lookup_variable(struct evaluation *e, const char *name,
			   struct dwarf_variable variable[2])
{
	int code = e->c->dwarf ?
		dwarf_variable_find(e->c->dwarf, &e->site->from, name,
				    variable) : -ENOENT;

	if (!code)
		e->c->dwarf->used = true;
	return code;
}

static bool is_variable(struct evaluation *e, const char *name)
{
	struct dwarf_variable variable[2];
	struct dwarf_named member[2];
	Dwarf_Die composed;
	int code;

	if (e->self)
		return !strcmp(name, "self") ||
		       (e->index && !strcmp(name, "index")) ||
		       (value_type_composed(e->c, &e->self->type, &composed) &&
			!dwarf_member_find(e->c->dwarf, &composed, name, false,
					   member));
	code = lookup_variable(e, name, variable);
	return !code || code == -ENOTUNIQ;
}

/* `variable` NULL: one that the debug information doesn't know. */
static bool variable_value(struct evaluation *e, const struct expr *expr,
			   const struct dwarf_variable *variable,
			   struct value *value)
{
	struct address address = {0};
	struct bytes *rpn;

	if (e->unread && variable) {
		/* the type is enough, wherever the variable is */
		rpn = place_begin(&address.place, PLACE_MEMORY);
		if (!rpn)
			return value_report_memory(e, expr->pos);
		rpn_emit_const(rpn, 0);
		address.typed = variable->type.addr;
		address.type = variable->type;
	} else if (variable) {
		e->code = symbol_variable(e->c, e->site, expr->pos,
					  expr->name, variable, &address);
	} else {
		e->code = symbol_resolve(e->c, e->site, expr->pos, expr->name,
				      false, &address);
	}
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
	e->code = symbol_check_static(e->c, e->site, expr->pos, expr->name,
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
	e->c->dwarf->used = true;
	do {
		const char *name = dwarf_diename(&child);

		if (name && !strcmp(name, own + 1))
			return enumerator_value(expr, &child, type, value);
	} while (dwarf_die_next(&child));
	return false;
}

static bool evaluate_found(struct evaluation *e, const struct expr *expr,
			   const struct dwarf_variable *variable,
			   struct value *value)
{
	struct expr this = *expr;
	struct dwarf_variable object[2];
	Dwarf_Die die = variable->die;

	if (!variable->of_this)
		return enumerator_value(expr, &die, &variable->type, value) ||
		       variable_value(e, expr, variable, value);
	this.name = "this";
	if (lookup_variable(e, "this", object) ||
	    !variable_value(e, &this, object, value) ||
	    !value_dereference(e, expr->pos, "->", value))
		return false;
	value->name = expr->name;
	return evaluate_member_enter(e, expr->pos, value, &variable->member);
}

#define BASES_DEPTH	8	/* bounds damaged ones */

/* A template parameter of a type, or of a base class of it: a type, or a
 * number. */
static bool type_parameter(struct evaluation *e, const Dwarf_Die *of,
			   const char *name, int tag, unsigned int depth,
			   Dwarf_Die *parameter)
{
	Dwarf_Die bare, child, base;
	bool found = false;

	dwarf_type_peel(of, &bare, NULL);
	if (!bare.addr || depth == BASES_DEPTH)
		return false;
	dwarf_type_complete(e->c->dwarf, &bare);
	dwarf_die_each(&bare, &child) {
		const char *own = dwarf_diename(&child);

		if (dwarf_tag(&child) == tag && own && !strcmp(own, name)) {
			*parameter = child;
			return true;
		}
	}
	dwarf_die_each(&bare, &child) {
		if (dwarf_tag(&child) == DW_TAG_inheritance &&
		    dwarf_type_of(&child, &base))
			found = type_parameter(e, &base, name, tag, depth + 1,
					       parameter);
		if (found)
			break;
	}
	return found;
}

/* What the name means in a type: a template parameter, or a member. False: it
 * is neither, or void. */
static bool type_enter(struct evaluation *e, const char *name, Dwarf_Die *type)
{
	struct dwarf_named found[2];
	Dwarf_Die bare, parameter;

	if (type_parameter(e, type, name, DW_TAG_template_type_parameter, 0,
			   &parameter))
		return dwarf_type_of(&parameter, type);
	dwarf_type_peel(type, &bare, NULL);
	if (!bare.addr)
		return false;
	dwarf_type_complete(e->c->dwarf, &bare);
	if (dwarf_member_find(e->c->dwarf, &bare, name, false, found) ||
	    found->kind != DWARF_NAMED_DATA)
		return false;
	*type = found->type;
	return true;
}

/* Of the type of `self`: "T", a template parameter; "member::T", that of the
 * type of a member; "A::T", of what another parameter is. */
static bool parameter_of_self(struct evaluation *e, const char *names, int tag,
			      Dwarf_Die *parameter)
{
	char *copy = strdup(names), *rest = copy, *name;
	Dwarf_Die at = e->self->type.die;
	bool found = copy;

	while (found && (name = strsep(&rest, ":"))) {
		if (rest && *rest == ':')
			rest++;
		found = rest ? type_enter(e, name, &at) :
			       type_parameter(e, &at, name, tag, 0, parameter);
	}
	free(copy);
	return found;
}

static bool type_of_self(struct evaluation *e, const char *names,
			 struct value_type *type)
{
	Dwarf_Die parameter, target;

	if (!parameter_of_self(e, names, DW_TAG_template_type_parameter,
			       &parameter))
		return false;
	*type = dwarf_type_of(&parameter, &target) ? value_type_of(&target) :
						     value_type_void();
	return true;
}

/* A number among the template parameters, as a constant. */
static bool number_of_self(struct evaluation *e, const struct expr *expr,
			   struct value *value)
{
	Dwarf_Die parameter, target;
	Dwarf_Attribute attr;
	struct value_type type;
	Dwarf_Sword number;

	if (!parameter_of_self(e, expr->name, DW_TAG_template_value_parameter,
			       &parameter) ||
	    !dwarf_type_of(&parameter, &target) ||
	    dwarf_formsdata(dwarf_attr(&parameter, DW_AT_const_value, &attr),
			    &number))
		return false;
	type = value_type_of(&target);
	if (!value_type_is_integer(&type))
		return false;
	*value = value_constant(value_type_integer(e->c, 8,
					value_type_is_signed(&type)), number);
	value->pos = expr->pos;
	return true;
}

static bool member_value(struct evaluation *e, const struct expr *expr,
			 struct value *value);

static bool evaluate_self(struct evaluation *e, const struct expr *expr,
			  struct value *value)
{
	if (e->index && !strcmp(expr->name, "index")) {
		*value = value_constant(value_type_integer(e->c, e->wide ? 8 : 4,
							   false), *e->index);
		value->pos = expr->pos;
		return true;
	}
	if (number_of_self(e, expr, value))
		return true;
	if (!value_copy(e->self, value))
		return value_report_memory(e, expr->pos);
	value->pos = expr->pos;
	value->name = expr->name;
	return !strcmp(expr->name, "self") || member_value(e, expr, value);
}

static bool evaluate_variable(struct evaluation *e, const struct expr *expr,
			      struct value *value)
{
	struct dwarf_variable variable[2];
	int code = lookup_variable(e, expr->name, variable);

	if (!code)
		return evaluate_found(e, expr, variable, value);
	if (code == -ENOENT && (evaluate_well_known(e, expr, value) ||
				evaluate_scoped(e, expr, value) ||
				evaluate_function(e, expr, value)))
		return true;
	return !e->code && variable_value(e, expr, NULL, value);
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

static bool evaluate_type(struct evaluation *e, const struct expr_type *in,
			  struct value_type *type)
{
	int code = -ENOENT;
	Dwarf_Die die[2];

	if (e->self && in->base == EXPR_BASE_NAMED && !in->tag &&
	    e->self->type.die.addr && type_of_self(e, in->name, type)) {
		type->pointers += in->pointers;
		return true;
	}
	if (in->base == EXPR_BASE_NAMED && e->c->dwarf)
		code = dwarf_type_find(e->c->dwarf, &e->site->from, in->tag,
				       in->name, die);
	if (code >= 0)
		e->c->dwarf->used = true;
	if (code == -ENOTUNIQ) {
		e->code = message_ambiguous(e->c, in->pos, in->name,
					    &die[0], &die[1]);
		return false;
	}
	if (code == 1 && !e->site->repeated)
		message_other_type(e->c, in->pos, in->name, die);
	if (in->base != EXPR_BASE_NAMED)
		*type = value_type_base(e->c, &e->site->from, in);
	else if (code >= 0)
		*type = value_type_of(die);
	else if (in->tag || !sized_type(e, in->name, type))
		return report_no_type(e, in);
	type->pointers += in->pointers;
	return true;
}

/* The member of the value that the expression names. */
static bool member_value(struct evaluation *e, const struct expr *expr,
			 struct value *value)
{
	struct dwarf_named found[2];
	struct dwarf_variable variable;
	Dwarf_Die composed;
	int code;

	if (!value_type_composed(e->c, &value->type, &composed))
		return report_no_member(e, expr, value, NULL);
	code = dwarf_member_find(e->c->dwarf, &composed, expr->name, false,
				 found);
	if (code == -ENOTUNIQ) {
		e->code = message_ambiguous(e->c, expr->pos, expr->name,
					    &found[0].die, &found[1].die);
		return false;
	}
	if (!code && found->kind == DWARF_NAMED_DATA)
		return evaluate_member_enter(e, expr->pos, value, found);
	if (code || (found->kind != DWARF_NAMED_STATIC &&
		     found->kind != DWARF_NAMED_ENUMERATOR))
		return report_no_member(e, expr, value, &composed);
	/* a static member is a variable of its own, an enumerator a constant */
	if (dwarf_variable_of(e->c->dwarf, &e->site->from, found,
			      &variable) == -ENOMEM)
		return value_report_memory(e, expr->pos);
	value_free(value);
	memset(value, 0, sizeof(*value));
	return evaluate_found(e, expr, &variable, value);
}

/* C11 section 6.4.4.4: a character is an int that has the value of a char;
 * C++17 section 5.13.3: a char. C11 section 6.4.4.1: a number has the first
 * type that can hold it. */
static bool evaluate_number(struct evaluation *e, const struct expr *expr,
			    struct value *value)
{
	const struct expr_type char_type = { .base = EXPR_BASE_CHAR };
	struct value_type integer = value_type_integer(e->c, 4, true);
	struct value_type character;
	unsigned int word = e->wide ? 8 : 4;
	unsigned int bytes = expr->literal.longs == 2 ? 8 :
			     expr->literal.longs ? word : 4;
	bool is_signed = !expr->literal.is_unsigned;
	Dwarf_Die unit;

	if (expr->literal.character) {
		character = value_type_base(e->c, &e->site->from, &char_type);
		*value = value_constant(character, character.is_signed ?
					(uint64_t)(int8_t)expr->number :
					expr->number);
		value->pos = expr->pos;
		if (!e->c->dwarf ||
		    !dwarf_unit_find(e->c->dwarf, e->site->from.pc, &unit) ||
		    !dwarf_die_is_cc(&unit))
			value_convert(e, value, &integer);
		return true;
	}
	for (;; bytes *= 2) {
		if (is_signed && !(expr->number >> (8 * bytes - 1)))
			break;
		if ((!is_signed || !expr->literal.decimal || bytes == 8) &&
		    (bytes == 8 || !(expr->number >> 8 * bytes))) {
			is_signed = false;
			break;
		}
	}
	*value = value_constant(value_type_integer(e->c, bytes, is_signed),
				expr->number);
	value->pos = expr->pos;
	return true;
}

/* a as its elements' pointer or array, b as a number of elements. */
static bool index_compute(struct evaluation *e, struct srcpos pos,
			  struct value *a, struct value *b)
{
	struct value_type element = value_type_target(&a->type);
	uint64_t bytes;
	int64_t bits;

	if (a->kind == VALUE_PLACE && b->kind == VALUE_CONSTANT &&
	    value_type_kind(&a->type) == DWARF_TYPE_ARRAY) {
		if (!value_type_bytes(e->c, &element, &bytes))
			return value_report_size(e, pos, &element);
		if (!__builtin_mul_overflow(b->number, 8 * bytes, &bits) &&
		    bits >= 0) {
			value_narrow(a, &element, bits, 0);
			return true;
		}
	}
	return value_binary(e, pos, EXPR_ADD, a, b) &&
	       value_dereference(e, pos, "[]", a);
}

/* Appends: the number is below `limit`, both without a sign. */
static void emit_below(struct bytes *rpn, const struct value *number,
		       const struct value *limit)
{
	const uint64_t sign = 1ULL << 63;

	value_push(number, rpn);
	rpn_emit_const(rpn, sign);
	rpn_emit_op(rpn, RPN_xor);
	value_push(limit, rpn);
	rpn_emit_const(rpn, sign);
	rpn_emit_op(rpn, RPN_xor);
	rpn_emit_op(rpn, RPN_lt);
}

/* test ? then : 0 */
static void emit_if(struct bytes *rpn, const struct bytes *test,
		    const struct bytes *then)
{
	bytes_join(rpn, test);
	rpn_emit_op(rpn, RPN_bra);
	rpn_emit_fixed(rpn, 4, 2);
	rpn_emit_const(rpn, 0);
	rpn_emit_op(rpn, RPN_skip);
	rpn_emit_fixed(rpn, then->size, 2);
	bytes_join(rpn, then);
	rpn->failed |= test->failed || then->failed || then->size > INT16_MAX;
}

static bool view(struct evaluation *e, struct srcpos pos,
		 const struct value *value, enum value_view kind,
		 struct value *address, struct value *count)
{
	return e->view && !e->self &&
	       e->view(e, pos, value, kind, address, count);
}

/* An element of a sequence or a character of a text; one that isn't there has
 * the address 0. The value becomes the place; 0: it is none of these. */
static bool evaluate_element(struct evaluation *e, struct srcpos pos,
			     struct value *value, const struct value *index)
{
	struct value pointer, count;
	struct bytes test = { 0 }, address = { 0 }, whole = { 0 };
	struct value_type element;
	uint64_t bytes;

	if (!view(e, pos, value, VIEW_SEQUENCE, &pointer, &count) &&
	    (e->code || !view(e, pos, value, VIEW_TEXT, &pointer, &count)))
		return false;
	element = value_type_target(&pointer.type);
	if (!value_type_bytes(e->c, &element, &bytes)) {
		value_report_size(e, pos, &element);
	} else {
		emit_below(&test, index, &count);
		value_push(&pointer, &address);
		value_push(index, &address);
		rpn_emit_const(&address, bytes);
		rpn_emit_op(&address, RPN_mul);
		rpn_emit_op(&address, RPN_plus);
		emit_if(&whole, &test, &address);
		value_free(value);
		pointer.kind = VALUE_COMPUTED;
		bytes_free(&pointer.rpn);
		pointer.rpn = whole;
		*value = pointer;
		pointer = (struct value){ 0 };
		if (value->rpn.failed)
			value_report_memory(e, pos);
	}
	bytes_free(&test);
	bytes_free(&address);
	value_free(&pointer);
	value_free(&count);
	return !e->code && value_dereference(e, pos, "[]", value);
}

/* len(a): of a text or sequence, or an array. */
static bool evaluate_length(struct evaluation *e, const struct expr *expr,
			    struct value *value)
{
	struct value_type type = value_type_integer(e->c, e->wide ? 8 : 4,
						    false);
	struct value address, count;

	if (!evaluate(e, expr->a, value))
		return false;
	if (value_type_kind(&value->type) == DWARF_TYPE_ARRAY &&
	    value_type_count(&value->type)) {
		count = value_constant(type, value_type_count(&value->type));
		value_free(value);
		*value = count;
		return true;
	}
	if (!view(e, expr->pos, value, VIEW_TEXT, &address, &count) &&
	    (e->code || !view(e, expr->pos, value, VIEW_SEQUENCE, &address,
			      &count)))
		return !e->code && value_refuse(e, expr->pos, "len", value,
						NULL);
	value_free(value);
	value_free(&address);
	*value = count;
	value_convert(e, value, &type);
	return true;
}

/* Appends whether the characters are at the address. */
static void emit_characters(struct bytes *rpn, const struct value *address,
			    const struct expr *expr, bool wide)
{
	size_t left = expr->number, at = 0, size;
	uint64_t part;

	rpn_emit_const(rpn, 1);
	for (; left; left -= size, at += size) {
		size = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
		part = 0;
		memcpy(&part, expr->name + at, size);
		value_push(address, rpn);
		if (at)
			rpn_emit_add(rpn, at, wide);
		rpn_emit_deref(rpn, size);
		rpn_emit_const(rpn, part);
		rpn_emit_op(rpn, RPN_eq);
		rpn_emit_op(rpn, RPN_and);
	}
}

/* Appends a jump to where `to` bytes at the end of all are left. */
static void emit_leave(struct bytes *rpn, uint8_t op, size_t to)
{
	rpn_emit_op(rpn, op);
	rpn_emit_fixed(rpn, to, 2);
}

/* Characters up to a zero, one by one: none is read after one that differs.
 * Nothing is equal to what a null pointer points to. */
static void emit_string(struct bytes *rpn, const struct value *pointer,
			const struct expr *expr, uint64_t most, bool wide)
{
	bool zero = expr->op != EXPR_GE && expr->number < most;
	size_t count = expr->number + zero;
	struct bytes *parts = calloc(count + 1, sizeof(*parts));
	size_t left = 0;

	rpn->failed |= !parts;
	/* each with its jump, which has the length of those after it */
	for (size_t i = 0; parts && i <= count; i++) {
		rpn_emit_op(&parts[i], RPN_dup);
		if (i)
			rpn_emit_add(&parts[i], i - 1, wide);
		if (i)
			rpn_emit_deref(&parts[i], 1);
		rpn_emit_const(&parts[i], !i || i > expr->number ? 0 :
					  (uint8_t)expr->name[i - 1]);
		rpn_emit_op(&parts[i], i ? RPN_ne : RPN_eq);
		left += parts[i].size + 3;
	}
	value_push(pointer, rpn);
	for (size_t i = 0; parts && i <= count; i++) {
		bytes_join(rpn, &parts[i]);
		left -= parts[i].size + 3;
		emit_leave(rpn, RPN_bra, left + 5);
		bytes_free(&parts[i]);
	}
	free(parts);
	rpn_emit_op(rpn, RPN_drop);
	rpn_emit_op(rpn, RPN_lit + 1);
	emit_leave(rpn, RPN_skip, 2);
	rpn_emit_op(rpn, RPN_drop);
	rpn_emit_op(rpn, RPN_lit);
}

/* char * and char[]. False: it is none, or after a message (code). */
static bool evaluate_string(struct evaluation *e, const struct expr *expr,
			    struct value *value, struct bytes *rpn)
{
	enum dwarf_type_kind kind = value_type_kind(&value->type);
	struct value_type target = value_type_target(&value->type);
	uint64_t most = UINT64_MAX;

	if ((kind != DWARF_TYPE_POINTER && kind != DWARF_TYPE_ARRAY) ||
	    !value_type_is_text(&target))
		return false;
	if (kind == DWARF_TYPE_ARRAY && value_type_count(&value->type))
		most = value_type_count(&value->type);
	if (!value_load(e, expr->pos, "==", value))
		return false;
	if (expr->number > most)
		rpn_emit_const(rpn, 0);
	else
		emit_string(rpn, value, expr, most, e->wide);
	return true;
}

/* The length is compared first; so are no bytes read that a shorter text doesn't
 * have. */
static bool evaluate_text(struct evaluation *e, const struct expr *expr,
			  struct value *value)
{
	struct value_type integer = value_type_integer(e->c, 4, true);
	struct value number = value_constant(integer, expr->number);
	struct bytes test = { 0 }, same = { 0 }, whole = { 0 };
	struct value address = { 0 }, count = { 0 };

	if (!evaluate(e, expr->a, value))
		return false;
	if (!view(e, expr->pos, value, VIEW_TEXT, &address, &count)) {
		if (!e->code && evaluate_string(e, expr, value, &whole))
			goto found;
		if (!e->code) {
			diag_report(e->c->diag, expr->pos, TRCERR_UNSUPPORTED,
				    "a string beside what is no text");
			diag_hint(e->c->diag, "characters can be compared: "
				  "why[0] == 's'; tracefmt --field chooses by "
				  "strings");
			e->code = 1;
		}
		return false;
	}
	if (expr->op == EXPR_GE) {
		emit_below(&test, &count, &number);
		rpn_emit_const(&test, 0);
	} else {
		value_push(&count, &test);
		rpn_emit_const(&test, expr->number);
	}
	rpn_emit_op(&test, RPN_eq);
	emit_characters(&same, &address, expr, e->wide);
	emit_if(&whole, &test, &same);
found:
	if (expr->op == EXPR_NE) {
		rpn_emit_const(&whole, 0);
		rpn_emit_op(&whole, RPN_eq);
	}
	bytes_free(&test);
	bytes_free(&same);
	value_free(&address);
	value_free(&count);
	value_free(value);
	*value = value_constant(integer, 0);
	value->kind = VALUE_COMPUTED;
	value->rpn = whole;
	value->pos = expr->pos;
	return !whole.failed || value_report_memory(e, expr->pos);
}

static bool is_indexed(const struct value *value)
{
	enum dwarf_type_kind kind = value_type_kind(&value->type);

	return kind == DWARF_TYPE_ARRAY || kind == DWARF_TYPE_POINTER;
}

static bool evaluate_index(struct evaluation *e, const struct expr *expr,
			   struct value *value)
{
	struct value index = {0};
	bool done = evaluate(e, expr->a, value) &&
		    evaluate(e, expr->b, &index);

	if (done && e->view && !is_indexed(value) &&
	    !value_type_is_scalar(&value->type)) {
		done = value_load(e, expr->pos, "[]", &index) &&
		       (evaluate_element(e, expr->pos, value, &index) ||
			(!e->code && value_refuse(e, expr->pos, "[]", value,
						  &index)));
		value_free(&index);
		return done;
	}
	done = done && value_load(e, expr->pos, "[]",
				  is_indexed(value) ? &index : value);

	if (done && !is_indexed(value) && is_indexed(&index)) {
		struct value third = *value;	/* 1[a] is a[1] */

		*value = index;
		index = third;
	}
	if (done && (!is_indexed(value) || is_indexed(&index)))
		done = value_refuse(e, expr->pos, "[]", value, &index);
	done = done && index_compute(e, expr->pos, value, &index);
	value_free(&index);
	return done;
}

static bool evaluate_unary(struct evaluation *e, const struct expr *expr,
			   struct value *value)
{
	const char *arrow = expr->name;
	struct value pointer, count;

	if (!evaluate(e, expr->a, value))
		return false;
	switch (expr->op) {
	case EXPR_DEREF:
		if (view(e, expr->pos, value, VIEW_ONE, &pointer, &count)) {
			value_free(value);
			*value = pointer;
		}
		if (e->code)
			return false;
		if (value_dereference(e, expr->pos, arrow ? arrow : "*", value))
			return true;
		if (arrow &&
		    (value_type_kind(&value->type) == DWARF_TYPE_STRUCT ||
		     value_type_kind(&value->type) == DWARF_TYPE_UNION))
			diag_hint(e->c->diag, "it is no pointer: '.'");
		return false;
	case EXPR_ADDRESS:
		return value_address(e, expr->pos, value);
	default:
		return value_unary(e, expr->pos, expr->op, value);
	}
}

/* What is 0 or not; a pointer, too. */
static bool evaluate_test(struct evaluation *e, const struct expr *expr,
			  const struct expr *operand, struct value *value)
{
	return evaluate(e, operand, value) &&
	       value_load(e, expr->pos,
			  expr->kind == EXPR_CHOICE ? "?" :
				expr_operators[expr->op].text, value);
}

/* If what is on the stack is 0 `otherwise` is evaluated, else `then`; nothing
 * of the other one. */
static void emit_choice(struct bytes *rpn, const struct value *then,
			const struct value *otherwise)
{
	struct bytes first = {0}, second = {0};

	value_push(otherwise, &first);
	value_push(then, &second);
	rpn_emit_op(rpn, RPN_bra);
	rpn_emit_fixed(rpn, first.size + 3, 2);
	bytes_join(rpn, &first);
	rpn_emit_op(rpn, RPN_skip);
	rpn_emit_fixed(rpn, second.size, 2);
	bytes_join(rpn, &second);
	rpn->failed |= first.failed || second.failed ||
		       first.size > INT16_MAX - 3 || second.size > INT16_MAX;
	bytes_free(&first);
	bytes_free(&second);
}

/* An operand that a constant test leaves out has a type only. */
static bool evaluate_operand(struct evaluation *e, const struct expr *operand,
			     bool left_out, struct value *value)
{
	bool unread = e->unread, done;

	e->unread |= left_out;
	done = evaluate(e, operand, value) &&
	       value_load(e, operand->pos, "?", value);
	e->unread = unread;
	return done;
}

/* test becomes test ? then : otherwise; a constant one chooses now. */
static void choose(struct value *test, struct value *then,
		   struct value *otherwise)
{
	struct value *chosen = test->number ? then : otherwise;

	if (test->kind == VALUE_CONSTANT) {
		value_free(test);
		*test = *chosen;
		*chosen = (struct value){0};
		return;
	}
	emit_choice(&test->rpn, then, otherwise);
	test->type = then->type;
	test->bits = 0;
}

/* a && b is a ? b != 0 : 0, a || b is a ? 1 : b != 0. */
static bool evaluate_logical(struct evaluation *e, const struct expr *expr,
			     struct value *value)
{
	struct value_type integer = value_type_integer(e->c, 4, true);
	bool is_and = expr->op == EXPR_ANDAND, unread = e->unread, done;
	struct value right = {0}, zero = value_constant(integer, 0);
	struct value known = value_constant(integer, !is_and);

	done = evaluate_test(e, expr, expr->a, value);
	if (done && value->kind == VALUE_CONSTANT)
		e->unread |= !value->number == is_and;
	done = done && evaluate_test(e, expr, expr->b, &right) &&
	       value_binary(e, expr->pos, EXPR_NE, &right, &zero);
	e->unread = unread;
	if (done && is_and)
		choose(value, &right, &known);
	else if (done)
		choose(value, &known, &right);
	value_free(&right);
	return done;
}

static bool evaluate_choice(struct evaluation *e, const struct expr *expr,
			    struct value *value)
{
	struct value then = {0}, otherwise = {0};
	struct value_type type;
	bool done = evaluate_test(e, expr, expr->a, value);
	bool known = value->kind == VALUE_CONSTANT;

	done = done &&
	       evaluate_operand(e, expr->b, known && !value->number, &then) &&
	       evaluate_operand(e, expr->c, known && value->number,
				&otherwise) &&
	       value_common(e, expr->pos, &then, &otherwise, &type);
	if (done) {
		value_convert(e, &then, &type);
		value_convert(e, &otherwise, &type);
		choose(value, &then, &otherwise);
	}
	value_free(&then);
	value_free(&otherwise);
	return done;
}

static bool evaluate_binary(struct evaluation *e, const struct expr *expr,
			    struct value *value)
{
	struct value right = {0};
	bool done;

	if (expr->op == EXPR_ANDAND || expr->op == EXPR_OROR)
		return evaluate_logical(e, expr, value);
	done = evaluate(e, expr->a, value) && evaluate(e, expr->b, &right) &&
	       value_binary(e, expr->pos, expr->op, value, &right);
	value_free(&right);
	return done;
}

/* To a struct or union of the same bytes: the place stays, as does that of a
 * value whose type is only named differently. */
static bool evaluate_cast(struct evaluation *e, const struct expr *expr,
			  struct value *value)
{
	struct value_type type;
	uint64_t bytes;

	if (!evaluate_type(e, expr->type, &type) ||
	    !evaluate(e, expr->a, value))
		return false;
	if (!value_type_is_scalar(&type)) {
		char *text = value_type_spell(&type);

		if (!text)
			return value_report_memory(e, expr->pos);
		diag_report(e->c->diag, expr->pos, TRCERR_BADOPERAND, "cast",
			    text);
		diag_hint(e->c->diag, "integers, enumerations and pointers: "
				      "*(%s *)&x takes the bytes as they are",
			  text);
		free(text);
		e->code = 1;
		return false;
	}
	if (!value_scalar_bytes(e, expr->pos, &type, &bytes) ||
	    !value_load(e, expr->pos, "cast", value))
		return false;
	value_convert(e, value, &type);
	return true;
}

static bool evaluate_sizeof(struct evaluation *e, const struct expr *expr,
			    struct value *value)
{
	struct expr_type named = {
		.pos = expr->a ? expr->a->pos : expr->pos,
		.name = expr->a ? expr->a->name : NULL,
	};
	struct value operand = {0};
	struct value_type type;
	bool unread = e->unread, done;
	uint64_t bytes;

	if (expr->type) {
		done = evaluate_type(e, expr->type, &type);
	} else if (expr->a->kind == EXPR_NAME && e->c->dwarf &&
		   !is_variable(e, named.name)) {
		done = evaluate_type(e, &named, &type);
	} else {
		e->unread = true;
		done = evaluate(e, expr->a, &operand);
		e->unread = unread;
		type = operand.type;
		if (done && operand.bits)
			done = value_refuse(e, expr->pos, "sizeof", &operand,
					    NULL);
		value_free(&operand);
	}
	if (!done)
		return false;
	if (!value_type_bytes(e->c, &type, &bytes))
		return value_report_size(e, expr->pos, &type);
	*value = value_constant(value_type_integer(e->c, e->wide ? 8 : 4,
						   false), bytes);
	value->pos = expr->pos;
	return true;
}

const struct expr *evaluate_either(struct evaluation *e,
				   const struct expr *expr)
{
	return is_variable(e, expr->name) ? expr->b : expr->a;
}

/* At an exit of a CALL */
static bool is_call_exit(const struct evaluation *e)
{
	const struct compile_point *point = e->site->point;

	return point && point->tsf->tp.whole &&
	       !(e->site->flags & TDF_SITE_ENTRY);
}

/* What exits of a CALL know of it: how long it took, and of that on a CPU, in ns */
static const struct call_word {
	const char *name;
	uint8_t op;
	const char *where;
} call_words[] = {
	{ "elapsed", RPN_elapsed, "time of the call" },
	{ "cputime", RPN_cputime, "CPU time of the call" },
};

static const struct call_word *call_word_find(const struct evaluation *e,
					      const char *name)
{
	bool known = !e->self && is_call_exit(e);

	for (size_t i = 0; known && i < sizeof(call_words) / sizeof(*call_words);
	     i++)
		if (!strcmp(name, call_words[i].name))
			return &call_words[i];
	return NULL;
}

static bool evaluate_call_word(struct evaluation *e, const struct expr *expr,
			       const struct call_word *word,
			       struct value *value)
{
	value->kind = VALUE_COMPUTED;
	value->type = value_type_integer(e->c, 8, true);
	value->pos = expr->pos;
	value->name = expr->name;
	rpn_emit_op(&value->rpn, word->op);
	snprintf(value->where, sizeof(value->where), "%s", word->where);
	return !value->rpn.failed || value_report_memory(e, expr->pos);
}

static bool evaluate_name(struct evaluation *e, const struct expr *expr,
			  struct value *value)
{
	const struct call_word *word = call_word_find(e, expr->name);

	return word ? evaluate_call_word(e, expr, word, value) :
	       e->self ? evaluate_self(e, expr, value) :
			 evaluate_variable(e, expr, value);
}

/* entry(a): its type is what it is there; the value was kept. */
static bool evaluate_entry(struct evaluation *e, const struct expr *expr,
			   struct value *value)
{
	const struct compile_point *point = e->site->point;
	struct evaluation entry;
	size_t site = 0, number = 0;
	struct value there;

	/* not in a shape, whose expressions aren't of the TSF */
	if (e->self || !is_call_exit(e)) {
		diag_report(e->c->diag, expr->pos, TRCERR_UNSUPPORTED,
			    "entry() here");
		diag_hint(e->c->diag, "it is for IF and RESULT of a CALL: the "
			  "value as of the function's entry");
		e->code = 1;
		return false;
	}
	while (!(point->sites[site].flags & TDF_SITE_ENTRY))
		site++;
	entry = evaluation_begin(e->c, &point->sites[site]);
	entry.view = e->view;
	if (!evaluate(&entry, expr->a, &there) ||
	    !value_load(&entry, expr->pos, "entry", &there)) {
		value_free(&there);
		e->code = entry.code;
		return false;
	}
	value->kind = VALUE_COMPUTED;
	value->type = there.type;
	value->pos = expr->pos;
	value_free(&there);
	while (point->entries[number] != expr->a)
		number++;
	rpn_emit_at_entry(&value->rpn, number);
	snprintf(value->where, sizeof(value->where), "value of the entry");
	return !value->rpn.failed || value_report_memory(e, expr->pos);
}

bool evaluate(struct evaluation *e, const struct expr *expr,
	      struct value *value)
{
	memset(value, 0, sizeof(*value));
	value->name = "";
	switch (expr->kind) {
	case EXPR_NAME:
		return evaluate_name(e, expr, value);
	case EXPR_REGISTER:
		return evaluate_register(e, expr, value);
	case EXPR_ARGUMENT:
		return evaluate_argument(e, expr, value);
	case EXPR_NUMBER:
		return evaluate_number(e, expr, value);
	case EXPR_MEMBER:
		return evaluate(e, expr->a, value) &&
		       member_value(e, expr, value);
	case EXPR_INDEX:
		return evaluate_index(e, expr, value);
	case EXPR_UNARY:
		return evaluate_unary(e, expr, value);
	case EXPR_BINARY:
		return evaluate_binary(e, expr, value);
	case EXPR_CHOICE:
		return evaluate_choice(e, expr, value);
	case EXPR_CAST:
		return evaluate_cast(e, expr, value);
	case EXPR_SIZEOF:
		return evaluate_sizeof(e, expr, value);
	case EXPR_LENGTH:
		return evaluate_length(e, expr, value);
	case EXPR_TEXT:
		return evaluate_text(e, expr, value);
	case EXPR_EITHER:
		return evaluate(e, evaluate_either(e, expr), value);
	case EXPR_ENTRY:
		return evaluate_entry(e, expr, value);
	}
	return false;
}
