// SPDX-License-Identifier: GPL-2.0
/*
 * One pass over the operations. Those that read registers or need the frame are
 * here, because the description of a frame, its base and the values at its entry
 * are expressions themselves.
 */
#include "dwarf_expression.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/debug/arch/arch.h"
#include "lib/formats/rpn_emit.h"
#include "dwarf_call.h"
#include "dwarf_machine.h"
#include "dwarf_scope.h"

#define NESTING_MAX	8
#define CALLS_MAX	2	/* frames outwards that are asked */
#define CHAIN_BYTES	3000	/* of all the callers' values */
#define CHAIN_MAX	256	/* calls that are compared */

/* The context's canonical frame address. */
static int frame_cfa_emit(const struct dwarf_context *context,
			  struct bytes *rpn, struct error *err)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t count;
	int code = dwarf_frame_find(context, &frame, err);

	if (code)
		return code;
	if (dwarf_frame_cfa(frame, &ops, &count) || !count)
		code = error_set(err, -ENODATA, "it is in the stack frame, "
				 "which isn't known here");
	else
		code = dwarf_expression_emit(context, NULL, ops, count, rpn,
					     err);
	free(frame);
	return code;
}

int dwarf_frame_address_emit(struct dwarf_file *dwarf, struct module *module,
			     uint64_t pc, struct bytes *rpn, struct error *err)
{
	struct dwarf_file bare = { .module = module };
	struct dwarf_context context = {
		.dwarf = dwarf ? dwarf : &bare, .pc = pc,
	};
	int code = frame_cfa_emit(&context, rpn, err);

	dwarf_frames_free(&bare);
	return code;
}

/* The frame base may be named as a register, which means what it holds. */
static int frame_base_emit(const struct dwarf_context *context,
			   struct bytes *rpn, struct error *err)
{
	Dwarf_Attribute attr;
	unsigned int number;
	size_t count;
	Dwarf_Op *ops;

	if (!dwarf_frame_base_find(context, &attr, &ops, &count))
		return error_set(err, -ENODATA, "it is in the stack frame, "
				 "which isn't known here");
	if (count == 1 && dwarf_op_register(ops, &number))
		return dwarf_frame_own_emit(context, number, 0, rpn, err);
	return dwarf_expression_emit(context, &attr, ops, count, rpn, err);
}

/* Where the frame's description has the register, as the caller sees it */
static int frame_rule_emit(const struct dwarf_context *context,
			   const Dwarf_Op *ops, size_t count,
			   struct bytes *rpn, struct error *err)
{
	bool wide = dwarf_is_wide(context->dwarf);
	unsigned int number;
	int code;

	if (count == 1 && dwarf_op_register(ops, &number))
		return dwarf_frame_own_emit(context, number, 0, rpn, err);
	if (ops[count - 1].atom == DW_OP_stack_value)
		return dwarf_expression_emit(context, NULL, ops, count - 1,
					     rpn, err);
	code = dwarf_expression_emit(context, NULL, ops, count, rpn, err);
	if (!code)
		rpn_emit_deref(rpn, wide ? 8 : 4);
	return code;
}

/* A register as the context's caller will find it. Without a rule the calling
 * convention decides; libdw 0.188 takes rax for rbx there. A register for the
 * return address has it still, unless the rule is that it is lost (then there
 * are operations, none). */
static int frame_register_emit(const struct dwarf_context *context,
			       unsigned int number, struct bytes *rpn,
			       struct error *err)
{
	const struct arch *arch = context->dwarf->module->arch;
	Dwarf_Op memory[3], *ops;
	Dwarf_Frame *frame;
	size_t count;
	int code = dwarf_frame_find(context, &frame, err);

	if (code)
		return code;
	if (dwarf_frame_register(frame, number, memory, &ops, &count))
		code = error_set(err, -ENODATA, "the description of its frame "
				 "is damaged");
	else if (count)
		code = frame_rule_emit(context, ops, count, rpn, err);
	else if (arch_register_is_kept(arch, number) ||
		 (!ops && (int)number == arch->link))
		code = dwarf_frame_own_emit(context, number, 0, rpn, err);
	else
		code = error_set(err, -ENODATA, "the caller's register isn't "
				 "kept");
	free(frame);
	return code;
}

/* The address that the context returns to. */
static int frame_return_emit(const struct dwarf_context *context,
			     struct bytes *rpn, struct error *err)
{
	Dwarf_Frame *frame;
	int code = dwarf_frame_find(context, &frame, err), number;

	if (code)
		return code;
	number = dwarf_frame_info(frame, NULL, NULL, NULL);
	free(frame);
	if (number < 0)
		return error_set(err, -ENODATA, "its caller isn't known here");
	return frame_register_emit(context, number, rpn, err);
}

int dwarf_frame_own_emit(const struct dwarf_context *context,
			 unsigned int number, int64_t displacement,
			 struct bytes *rpn, struct error *err)
{
	const struct arch *arch = context->dwarf->module->arch;
	char name[16];
	int code;

	if (context->callee) {
		code = frame_register_emit(context->callee, number, rpn, err);
		if (!code)
			rpn_emit_add(rpn, displacement, true);
		return code;
	}
	if (!arch_register_print(arch, number, name, sizeof(name)))
		return error_set(err, -ENODATA, "held in %s, which a probe "
				 "can't read", name);
	rpn_emit_register(rpn, number, displacement);
	return 0;
}

/*
 * Values at the entry of a function (DWARF 5 section 2.5.1.7). After the entry
 * they may be known from the caller: the calls of this function have entries of
 * how each argument is computed (section 3.4.2), and the return address shows
 * which call it was. When it was another one, the expression faults.
 */

/* The decision which of the calls it was. */
struct entry_chain {
	const struct dwarf_context *context;
	struct call_argument argument;
	struct bytes *rpn;
	size_t start;
	size_t ends[CHAIN_MAX];	/* operands of jumps to the end */
	size_t end_count;
};

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
	    !dwarf_call_value_find(&chain->argument, &site, &value) ||
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

	if (!code && (chain->end_count == CHAIN_MAX ||
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
			const struct call_argument *argument,
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
	code = frame_return_emit(context, rpn, err);
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

/* An expression as it was when the context's function was entered. */
static int entry_emit(const struct dwarf_context *context,
		      Dwarf_Attribute *attr, const Dwarf_Op *ops, size_t count,
		      struct bytes *rpn, struct error *err)
{
	struct call_argument argument = {0};
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

/* Of a parameter that every call has, but the function doesn't take
 * (DW_OP_GNU_parameter_ref). */
static int entry_parameter_emit(const struct dwarf_context *context,
				Dwarf_Die *parameter, struct bytes *rpn,
				struct error *err)
{
	struct call_argument argument = {
		.parameter = dwarf_die_root(parameter).addr,
	};

	if (context->entry_name && !context->callee)
		strcpy(context->entry_name, "argument");
	return callers_emit(context, &argument, rpn, err);
}

static int machine_push_register(struct dwarf_machine *m, uint64_t number,
				 int64_t add)
{
	int code = dwarf_machine_push(m);

	if (!code && number > INT16_MAX)
		code = dwarf_machine_damaged(m);
	if (!code)
		code = dwarf_frame_own_emit(m->context, number, add,
					    m->rpn, m->err);
	if (!code)
		dwarf_machine_top(m)->uncut = !m->wide && add;
	return code;
}

/* What an operation pushes that is computed by an expression of its own. */
static int
machine_push_nested(struct dwarf_machine *m,
		    int (*emit)(const struct dwarf_context *context,
				struct bytes *rpn, struct error *err))
{
	struct dwarf_context context = *m->context;
	int code = dwarf_machine_push(m);

	if (code)
		return code;
	if (++context.nesting > NESTING_MAX)
		return dwarf_machine_damaged(m);
	return emit(&context, m->rpn, m->err);
}

/* A value as it was at the entry of the function: of an expression, or of a
 * parameter */
static int machine_entry_value(struct dwarf_machine *m, const Dwarf_Op *op)
{
	struct dwarf_context context = *m->context;
	bool parameter = op->atom == DW_OP_GNU_parameter_ref;
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	Dwarf_Die die;
	size_t count;
	int code;

	if (!m->attr ||
	    (parameter ? dwarf_getlocation_die(m->attr, op, &die) :
	     dwarf_getlocation_attr(m->attr, op, &attr) ||
	     dwarf_getlocation(&attr, &ops, &count)))
		return dwarf_machine_damaged(m);
	code = dwarf_machine_push(m);
	if (code)
		return code;
	dwarf_machine_top(m)->start = NO_START;
	if (++context.nesting > NESTING_MAX)
		return dwarf_machine_damaged(m);
	return parameter ?
		       entry_parameter_emit(&context, &die, m->rpn, m->err) :
		       entry_emit(&context, &attr, ops, count, m->rpn, m->err);
}

static int operation_run(struct dwarf_machine *m, const Dwarf_Op *op)
{
	struct expression_type type;
	int code;

	switch (op->atom) {
	case DW_OP_breg0 ... DW_OP_breg31:
		return machine_push_register(m, op->atom - DW_OP_breg0,
					     op->number);
	case DW_OP_bregx:
		return machine_push_register(m, op->number, op->number2);
	case DW_OP_regval_type:
	case DW_OP_GNU_regval_type:
		code = dwarf_machine_read_type(m, op, op->number2, &type);
		if (!code)
			code = machine_push_register(m, op->number, 0);
		if (!code)
			dwarf_machine_convert(m, type);
		return code;
	case DW_OP_fbreg:
		code = machine_push_nested(m, frame_base_emit);
		if (!code)
			dwarf_machine_add(m, op->number);
		return code;
	case DW_OP_call_frame_cfa:
		return machine_push_nested(m, frame_cfa_emit);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
	case DW_OP_GNU_parameter_ref:
		return machine_entry_value(m, op);
	default:
		return dwarf_machine_run(m, op);
	}
}

int dwarf_expression_emit(const struct dwarf_context *context,
			  Dwarf_Attribute *attr, const Dwarf_Op *ops,
			  size_t count, struct bytes *rpn, struct error *err)
{
	struct dwarf_machine m;
	int code = 0;

	memset(&m, 0, offsetof(struct dwarf_machine, jumps));
	m.context = context;
	m.attr = attr;
	m.rpn = rpn;
	m.err = err;
	m.wide = dwarf_is_wide(context->dwarf);
	for (size_t i = 0; i < count && !code; i++) {
		code = dwarf_machine_land(&m, ops[i].offset, false);
		if (!code && !m.dead)
			code = operation_run(&m, &ops[i]);
		if (!code && rpn->size > TDF_RPN_MAX)
			code = error_set(err, -ENODATA, "its computation is "
					 "longer than a TDF allows");
	}
	if (!code)
		code = dwarf_machine_end(&m, count ? ops[count - 1].offset : 0);
	if (code)
		return code;
	return rpn->failed ? -ENOMEM : 0;
}
