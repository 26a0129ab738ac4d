// SPDX-License-Identifier: GPL-2.0
#include "evaluate_register.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "address.h"
#include "lib/debug/arch/arch_list.h"
#include "lib/formats/rpn_emit.h"
#include "value_compute.h"

static void register_value(struct evaluation *e, struct value *value,
			   unsigned int number, unsigned int shift,
			   struct value_type type)
{
	uint64_t bytes;

	value->kind = VALUE_COMPUTED;
	value->type = type;
	address_register_emit(e->site, number, 0, &value->rpn);
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
bool evaluate_register(struct evaluation *e, const struct expr *expr,
		       struct value *value)
{
	const struct arch *arch = e->c->module->arch;
	const struct arch_register *reg = arch_register_find(arch, expr->name);
	int number = reg ? reg->dwarf : -1;
	struct value_type type = value_type_void();
	char why[80];

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
	snprintf(value->where, sizeof(value->where), "register %s",
		 expr->name);
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
bool evaluate_argument(struct evaluation *e, const struct expr *expr,
		       struct value *value)
{
	const char *list = e->site->arguments, *at, *sign;
	struct arch_operand operand;
	struct value_type type;
	struct bytes *rpn;
	size_t length, size;
	char *end, text[160];
	long bytes;

	at = list ? usdt_argument_find(list, expr->number, &length) : NULL;
	if (!at)
		return report_no_argument(e, expr);
	sign = memchr(at, '@', length);
	size = sign ? sign + 1 - at : 0;
	bytes = sign ? strtol(at, &end, 10) : (e->wide ? 8 : 4);
	if ((sign && end != sign) ||
	    (labs(bytes) != 1 && labs(bytes) != 2 && labs(bytes) != 4 &&
	     labs(bytes) != 8) ||
	    !arch_operand_parse(e->c->module->arch, at + size, length - size,
				&operand)) {
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
