// SPDX-License-Identifier: GPL-2.0
/*
 * Values at the entry of a function (DWARF 5 section 2.5.1.7). After the entry
 * they may be known from the caller: the calls of this function have entries of
 * how each argument is computed (section 3.4.2), and the return address shows
 * which call it was. When it was another one, the expression faults.
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
struct entry_argument {
	unsigned int number;	/* of the register */
	const void *parameter;	/* root of an entry, instead; or NULL */
};

/* The decision which of the calls it was. */
struct entry_chain {
	const struct dwarf_context *context;
	struct entry_argument argument;
	struct bytes *rpn;
	size_t start;
	size_t ends[JUMPS_MAX];	/* operands of jumps to the end */
	size_t end_count;
};

/* How the call computes the argument */
static bool entry_argument_find(const struct entry_argument *argument,
				Dwarf_Die *site, Dwarf_Attribute *value)
{
	Dwarf_Die child;

	for (dwarf_die_child(site, &child); child.addr;
	     dwarf_die_sibling(&child)) {
		Dwarf_Attribute attr;
		unsigned int number;
		Dwarf_Die parameter;
		size_t count;
		Dwarf_Op *ops;
		bool found;

		if (dwarf_tag(&child) != DW_TAG_call_site_parameter &&
		    dwarf_tag(&child) != DW_TAG_GNU_call_site_parameter)
			continue;
		if (argument->parameter)
			found = (dwarf_attr(&child, DW_AT_call_parameter,
					    &attr) ||
				 dwarf_attr(&child, DW_AT_abstract_origin,
					    &attr)) &&
				dwarf_formref_die(&attr, &parameter) &&
				dwarf_die_root(&parameter).addr ==
					argument->parameter;
		else
			found = dwarf_attr(&child, DW_AT_location, &attr) &&
				!dwarf_getlocation(&attr, &ops, &count) &&
				count == 1 &&
				dwarf_op_register(ops, &number) &&
				number == argument->number;
		if (found)
			return dwarf_attr(&child, DW_AT_call_value, value) ||
			       dwarf_attr(&child, DW_AT_GNU_call_site_value,
					  value);
	}
	return false;
}

static int entry_refuse(struct error *err)
{
	return error_set(err, -ENODATA, "only known as the value at entry of "
			 "the function, which isn't kept");
}

/* How the call computes the argument, from what the probe finds */
static int call_value_emit(const struct entry_chain *chain,
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
	    !entry_argument_find(&chain->argument, &site, &value) ||
	    dwarf_getlocation(&value, &ops, &count) || !count)
		return -ENODATA;
	caller.callee = chain->context;
	caller.pc = call->return_pc - 1;
	caller.function = call->function;
	caller.calls++;
	return dwarf_expression_emit(&caller, &value, ops, count, rpn, NULL);
}

/*
 * The return address is on top. Unless it is this call's, which may be signed in
 * its high bits, go on to the next call; else replace it by the value and jump to
 * the end. 1: the chain is full.
 */
static int chain_add(struct entry_chain *chain, const struct call *call)
{
	const struct arch *arch = chain->context->dwarf->module->arch;
	struct bytes value = {0}, *rpn = chain->rpn;
	int code = call_value_emit(chain, call, &value);

	if (!code && (chain->end_count == JUMPS_MAX ||
		      rpn->size - chain->start + value.size > CHAIN_BYTES))
		code = 1;
	if (!code) {
		rpn_emit_op(rpn, RPN_dup);
		rpn_emit_addr(rpn, call->return_pc);
		rpn_emit_op(rpn, arch->signed_from ? RPN_xor : RPN_ne);
		if (arch->signed_from) {
			rpn_emit_const(rpn, (1ULL << arch->signed_from) - 1);
			rpn_emit_op(rpn, RPN_and);
		}
		rpn_emit_op(rpn, RPN_bra);
		rpn_emit_fixed(rpn, 1 + value.size + 3, 2);
		rpn_emit_op(rpn, RPN_drop);
		bytes_join(rpn, &value);
		rpn_emit_op(rpn, RPN_skip);
		chain->ends[chain->end_count++] = rpn->size;
		rpn_emit_fixed(rpn, 0, 2);
	}
	bytes_free(&value);
	return code == -ENODATA || code == -EINVAL ? 0 : code;
}

static int callers_emit(const struct dwarf_context *context,
			const struct entry_argument *argument,
			struct bytes *rpn, struct error *err)
{
	struct entry_chain chain = {
		.context = context, .argument = *argument, .rpn = rpn,
		.start = rpn->size,
	};
	Dwarf_Die function = context->function, die;
	const struct call_table *table = NULL;
	const struct call *call;
	struct unit *unit = NULL;
	size_t count;
	int code;

	if (!function.addr || context->calls == CALLS_MAX)
		return entry_refuse(err);
	if (dwarf_unit_find(context->dwarf, context->pc, &die))
		unit = dwarf_unit_get(context->dwarf, &die);
	if (unit)
		table = dwarf_calls_get(context->dwarf, unit);
	if (!table)
		return error_no_memory(err);
	call = dwarf_calls_of(table, &function, &count);
	if (!count || dwarf_call_repeats(table, &function))
		return entry_refuse(err);
	code = dwarf_frame_return_emit(context, rpn, err);
	for (; count-- && !code; call++)
		code = chain_add(&chain, call);
	if (code < 0)
		return code;
	if (!chain.end_count)
		return entry_refuse(err);
	/* No call is left: divide by zero, a fault that is reported with the
	 * return address. */
	rpn_emit_const(rpn, 0);
	rpn_emit_op(rpn, RPN_div);
	for (size_t i = 0; i < chain.end_count && !rpn->failed; i++) {
		size_t distance = rpn->size - (chain.ends[i] + 2);

		rpn->data[chain.ends[i]] = distance;
		rpn->data[chain.ends[i] + 1] = distance >> 8;
	}
	return rpn->failed ? -ENOMEM : 0;
}

int dwarf_entry_emit(const struct dwarf_context *context,
		     Dwarf_Attribute *attr, const Dwarf_Op *ops, size_t count,
		     struct bytes *rpn, struct error *err)
{
	struct entry_argument argument = {0};
	bool simple = count == 1 && dwarf_op_register(ops, &argument.number);
	Dwarf_Die function = context->function;
	Dwarf_Addr base, start, end;

	if (simple && context->entry_name && !context->callee)
		arch_register_print(context->dwarf->module->arch,
				    argument.number, context->entry_name, 16);
	if (context->callee || !function.addr ||
	    dwarf_ranges(&function, 0, &base, &start, &end) <= 0 ||
	    dwarf_die_entry(&function, start) != context->pc)
		return simple ? callers_emit(context, &argument, rpn, err) :
				entry_refuse(err);
	/* the registers still have the values */
	return simple ? dwarf_frame_own_emit(context, argument.number, 0, rpn,
					     err) :
			dwarf_expression_emit(context, attr, ops, count, rpn,
					      err);
}

int dwarf_entry_parameter_emit(const struct dwarf_context *context,
			       Dwarf_Die *parameter, struct bytes *rpn,
			       struct error *err)
{
	struct entry_argument argument = {
		.parameter = dwarf_die_root(parameter).addr,
	};

	if (context->entry_name && !context->callee)
		strcpy(context->entry_name, "argument");
	return callers_emit(context, &argument, rpn, err);
}
