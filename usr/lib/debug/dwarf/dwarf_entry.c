// SPDX-License-Identifier: GPL-2.0
/*
 * Values at the entry of a function (DWARF 5 section 2.5.1.7). Behind it they
 * may be had from the caller: the calls of this function tell how each
 * argument came about (section 3.4.2), and the return address tells which call
 * it was. When it was another one, the expression faults.
 */
#include <dwarf.h>
#include <errno.h>
#include <string.h>
#include "lib/debug/arch/arch.h"
#include "dwarf_call.h"
#include "dwarf_expression.h"
#include "dwarf_scope.h"
#include "lib/formats/rpn_emit.h"

#define CALLS_MAX	2	/* frames outwards that are asked */
#define CHAIN_BYTES	3000	/* of all the callers' values */
#define JUMPS_MAX	256

/* What is looked for at the calls. */
struct argument {
	unsigned int number;	/* of the register */
	const void *parameter;	/* root of an entry, instead; or NULL */
};

/* The decision which of the calls it was. */
struct chain {
	const struct dwarf_context *context;
	struct argument argument;
	struct bytes *rpn;
	size_t start;
	size_t ends[JUMPS_MAX];	/* operands of jumps to the end */
	size_t end_count;
};

static bool context_is_entry(const struct dwarf_context *context)
{
	Dwarf_Die function = context->function;
	Dwarf_Addr base, start, end;

	return !context->callee && function.addr &&
	       dwarf_ranges(&function, 0, &base, &start, &end) > 0 &&
	       dwarf_die_entry(&function, start) == context->pc;
}

static bool argument_matches(const struct argument *argument, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	unsigned int number;
	Dwarf_Die parameter;
	size_t count;
	Dwarf_Op *ops;

	if (argument->parameter)
		return (dwarf_attr(die, DW_AT_call_parameter, &attr) ||
			dwarf_attr(die, DW_AT_abstract_origin, &attr)) &&
		       dwarf_formref_die(&attr, &parameter) &&
		       dwarf_die_root(&parameter).addr == argument->parameter;
	return dwarf_attr(die, DW_AT_location, &attr) &&
	       !dwarf_getlocation(&attr, &ops, &count) &&
	       count == 1 && dwarf_op_register(ops, &number) &&
	       number == argument->number;
}

/* How the call computes the argument. */
static bool argument_find(const struct argument *argument, Dwarf_Die *site,
			  Dwarf_Attribute *value)
{
	Dwarf_Die child;

	if (dwarf_child(site, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if ((tag == DW_TAG_call_site_parameter ||
		     tag == DW_TAG_GNU_call_site_parameter) &&
		    argument_matches(argument, &child))
			return dwarf_attr(&child, DW_AT_call_value, value) ||
			       dwarf_attr(&child, DW_AT_GNU_call_site_value,
					  value);
	} while (dwarf_die_next(&child));
	return false;
}

/* The argument in terms of what the probe finds. */
static int call_value_emit(const struct chain *chain,
			   const struct call *call, struct bytes *rpn)
{
	struct dwarf_context caller = *chain->context;
	Dwarf_Die site = call->site;
	Dwarf_Attribute value;
	Dwarf_Op *ops;
	size_t count;

	if (call->tail || !call->return_pc ||
	    !module_is_together(caller.dwarf->module, chain->context->pc,
				call->return_pc) ||
	    !argument_find(&chain->argument, &site, &value) ||
	    dwarf_getlocation(&value, &ops, &count) || !count)
		return -ENODATA;
	caller.callee = chain->context;
	caller.pc = call->return_pc - 1;
	caller.function = call->function;
	caller.calls++;
	return dwarf_expression_emit(&caller, &value, ops, count, rpn, NULL);
}

/* What is on top is another address than that one, but for bits in which it
 * may be signed. */
static void emit_differs(const struct arch *arch, uint64_t address,
			 struct bytes *rpn)
{
	rpn_emit_addr(rpn, address);
	if (!arch->signed_from) {
		rpn_emit_op(rpn, RPN_ne);
		return;
	}
	rpn_emit_op(rpn, RPN_xor);
	rpn_emit_const(rpn, (1ULL << arch->signed_from) - 1);
	rpn_emit_op(rpn, RPN_and);
}

/* Returns: the return address isn't this call's: on to the next; else its
 * value in the place of the return address, and to the end. */
static void chain_add(struct chain *chain, uint64_t return_pc,
		      const struct bytes *value)
{
	struct bytes *rpn = chain->rpn;

	rpn_emit_op(rpn, RPN_dup);
	emit_differs(chain->context->dwarf->module->arch, return_pc, rpn);
	rpn_emit_op(rpn, RPN_bra);
	rpn_emit_fixed(rpn, 1 + value->size + 3, 2);
	rpn_emit_op(rpn, RPN_drop);
	bytes_join(rpn, value);
	rpn_emit_op(rpn, RPN_skip);
	chain->ends[chain->end_count++] = rpn->size;
	rpn_emit_fixed(rpn, 0, 2);
}

/* 1: the chain is full. */
static int chain_add_call(struct chain *chain, const struct call *call)
{
	struct bytes value = {0};
	int code = call_value_emit(chain, call, &value);

	if (!code && (chain->end_count == JUMPS_MAX ||
		      chain->rpn->size - chain->start + value.size >
		      CHAIN_BYTES))
		code = 1;
	if (!code)
		chain_add(chain, call->return_pc, &value);
	bytes_free(&value);
	return code == -ENODATA || code == -EINVAL ? 0 : code;
}

/* Division by zero is a fault, told with the return address. */
static void chain_end(struct chain *chain)
{
	struct bytes *rpn = chain->rpn;

	rpn_emit_const(rpn, 0);
	rpn_emit_op(rpn, RPN_div);
	for (size_t i = 0; i < chain->end_count && !rpn->failed; i++) {
		size_t distance = rpn->size - (chain->ends[i] + 2);

		rpn->data[chain->ends[i]] = distance;
		rpn->data[chain->ends[i] + 1] = distance >> 8;
	}
}

static int refuse(struct error *err)
{
	return error_set(err, -ENODATA, "only known as the value at entry of "
			 "the function, which isn't kept");
}

static struct unit *unit_of(const struct dwarf_context *context)
{
	Dwarf_Die unit;

	return dwarf_unit_find(context->dwarf, context->pc, &unit) ?
	       dwarf_unit_get(context->dwarf, &unit) : NULL;
}

static int callers_emit(const struct dwarf_context *context,
			const struct argument *argument, struct bytes *rpn,
			struct error *err)
{
	struct chain chain = {
		.context = context, .argument = *argument, .rpn = rpn,
		.start = rpn->size,
	};
	Dwarf_Die function = context->function;
	const struct call_table *table;
	const struct call *call;
	struct unit *unit;
	size_t count;
	int code;

	if (!function.addr || context->calls == CALLS_MAX)
		return refuse(err);
	unit = unit_of(context);
	table = unit ? dwarf_calls_get(context->dwarf, unit) : NULL;
	if (!table)
		return error_no_memory(err);
	call = dwarf_calls_of(table, &function, &count);
	if (!count || dwarf_call_repeats(table, &function))
		return refuse(err);
	code = dwarf_frame_return_emit(context, rpn, err);
	for (; count-- && !code; call++)
		code = chain_add_call(&chain, call);
	if (code < 0)
		return code;
	if (!chain.end_count)
		return refuse(err);
	chain_end(&chain);
	return rpn->failed ? -ENOMEM : 0;
}

int dwarf_entry_emit(const struct dwarf_context *context,
		     Dwarf_Attribute *attr, const Dwarf_Op *ops, size_t count,
		     struct bytes *rpn, struct error *err)
{
	struct argument argument = {0};
	bool simple = count == 1 && dwarf_op_register(ops, &argument.number);

	if (simple && context->entry_name && !context->callee)
		arch_register_print(context->dwarf->module->arch,
				    argument.number, context->entry_name, 16);
	if (context_is_entry(context)) {
		if (simple)
			return dwarf_frame_own_emit(context, argument.number,
						    0, rpn, err);
		return dwarf_expression_emit(context, attr, ops, count, rpn,
					     err);
	}
	return simple ? callers_emit(context, &argument, rpn, err) :
			refuse(err);
}

int dwarf_entry_parameter_emit(const struct dwarf_context *context,
			       Dwarf_Die *parameter, struct bytes *rpn,
			       struct error *err)
{
	struct argument argument = {
		.parameter = dwarf_die_root(parameter).addr,
	};

	if (context->entry_name && !context->callee)
		strcpy(context->entry_name, "argument");
	return callers_emit(context, &argument, rpn, err);
}
