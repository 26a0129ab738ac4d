// SPDX-License-Identifier: GPL-2.0
#include "code_print.h"

#include <stdarg.h>

const char *const code_helpers[__BPF_FUNC_MAX_ID] = {
#define HELPER(name) "bpf_" #name
	__BPF_FUNC_MAPPER(HELPER)
#undef HELPER
};

const char *const code_alu_ops[16] = {
	[BPF_ADD >> 4] = "+=", [BPF_SUB >> 4] = "-=", [BPF_MUL >> 4] = "*=",
	[BPF_DIV >> 4] = "/=", [BPF_OR >> 4] = "|=", [BPF_AND >> 4] = "&=",
	[BPF_LSH >> 4] = "<<=", [BPF_RSH >> 4] = ">>=", [BPF_MOD >> 4] = "%=",
	[BPF_XOR >> 4] = "^=", [BPF_MOV >> 4] = "=", [BPF_ARSH >> 4] = "s>>=",
};

const char *const code_jump_ops[16] = {
	[BPF_JEQ >> 4] = "==", [BPF_JGT >> 4] = ">", [BPF_JGE >> 4] = ">=",
	[BPF_JSET >> 4] = "&", [BPF_JNE >> 4] = "!=", [BPF_JSGT >> 4] = "s>",
	[BPF_JSGE >> 4] = "s>=", [BPF_JLT >> 4] = "<", [BPF_JLE >> 4] = "<=",
	[BPF_JSLT >> 4] = "s<", [BPF_JSLE >> 4] = "s<=",
};

struct op_text {
	char *text;
	size_t size, used;
	bool placed;
};

__attribute__((format(printf, 2, 3)))
static void code_text_add(struct op_text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->text + t->used, t->size - t->used, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->used += n;
	if (t->used >= t->size)
		t->used = t->size - 1;
}

static void text_reg(struct op_text *t, int reg)
{
	if (reg >= CODE_TEMP)
		code_text_add(t, "t%d", reg - CODE_TEMP);
	else
		code_text_add(t, "r%d", reg);
}

static void text_memory(struct op_text *t, int bytes, int base, int off)
{
	code_text_add(t, "*(u%d *)(", 8 * bytes);
	text_reg(t, base);
	code_text_add(t, " %+d)", off);
}

static void text_slot(struct op_text *t, const struct code_op *op)
{
	if (t->placed)
		code_text_add(t, "*(u%d *)(r10 %+d)", 8 * op->bytes, op->off);
	else
		code_text_add(t, "*(u%d *)(slot%u %+d)", 8 * op->bytes, op->target,
			 op->off);
}

static void text_dst(struct op_text *t, const struct code_op *op)
{
	text_reg(t, op->dst);
	code_text_add(t, " = ");
}

static void text_alu(struct op_text *t, const struct code_op *op)
{
	text_reg(t, op->dst);
	if (op->op == BPF_NEG) {
		code_text_add(t, " = -");
		text_reg(t, op->dst);
		return;
	}
	code_text_add(t, " %s ", code_alu_ops[op->op >> 4] ?
		      code_alu_ops[op->op >> 4] : "?");
	if (op->kind == CODE_ALU)
		text_reg(t, op->src);
	else
		code_text_add(t, "%lld", (long long)op->imm);
}

static void text_atomic(struct op_text *t, const struct code_op *op)
{
	if (op->op == BPF_CMPXCHG)
		code_text_add(t, "r0 = cmpxchg ");
	else if (op->op == BPF_XCHG || op->op & BPF_FETCH)
		text_dst(t, &(struct code_op){ .dst = op->src });
	if (op->op == BPF_XCHG)
		code_text_add(t, "xchg ");
	else if (op->op != BPF_CMPXCHG)
		code_text_add(t, op->op & BPF_FETCH ? "fetch_add " : "lock ");
	text_memory(t, op->bytes, op->dst, op->off);
	code_text_add(t, op->op == BPF_XCHG || op->op == BPF_CMPXCHG ? ", " :
		 " += ");
	text_reg(t, op->src);
}

static void text_jump(struct op_text *t, const struct code_op *op)
{
	const char *name = code_jump_ops[op->op >> 4];

	if (op->kind != CODE_JUMP) {
		code_text_add(t, "if ");
		text_reg(t, op->dst);
		code_text_add(t, " %s ", name ? name : "?");
		if (op->kind == CODE_JUMP_IF)
			text_reg(t, op->src);
		else
			code_text_add(t, "%lld", (long long)op->imm);
		code_text_add(t, " ");
	}
	code_text_add(t, "goto %s%u", t->placed ? "" : "L", op->target);
}

static void text_call(struct op_text *t, const struct code_op *op)
{
	code_text_add(t, "call ");
	if (op->kind == CODE_CALL && op->imm < __BPF_FUNC_MAX_ID)
		code_text_add(t, "%s", code_helpers[op->imm]);
	else if (op->kind == CODE_CALL_LABEL)
		code_text_add(t, "%s%u", t->placed ? "function " : "L", op->target);
	else
		code_text_add(t, "%s#%llu", op->kind == CODE_KFUNC ? "kfunc" :
			 "module kfunc", (unsigned long long)op->imm);
	code_text_add(t, "(%d)", op->args);
}

/* A number or an address that no other operation makes */
static void text_known(struct op_text *t, const struct code_op *op)
{
	long long imm = op->imm;

	if (op->kind == CODE_SLOT_ADDRESS && t->placed)
		code_text_add(t, "r10 %+d", op->off);
	else if (op->kind == CODE_SLOT_ADDRESS)
		code_text_add(t, "slot%u %+d", op->target, op->off);
	else if (op->kind == CODE_MAP)
		code_text_add(t, "map[fd:%lld]", imm);
	else if (op->kind == CODE_MAP_VALUE)
		code_text_add(t, "map[fd:%lld][0]+%u", imm, (uint32_t)op->off);
	else if (op->kind == CODE_VARIABLE)
		code_text_add(t, "variable#%lld", imm);
	else if (op->kind == CODE_CALLBACK)
		code_text_add(t, "%s%u", t->placed ? "function " : "L",
			      op->target);
	else if (imm == (int32_t)imm)
		code_text_add(t, "%lld", imm);
	else
		code_text_add(t, "0x%llx", imm);
}

void code_op_print(const struct code_op *op, bool placed, char *text,
		   size_t size)
{
	struct op_text t = { .text = text, .size = size, .placed = placed };

	text[0] = '\0';
	switch ((enum code_kind)op->kind) {
	case CODE_MOVE:
		text_dst(&t, op);
		text_reg(&t, op->src);
		break;
	case CODE_CONST:
	case CODE_SLOT_ADDRESS:
	case CODE_MAP:
	case CODE_MAP_VALUE:
	case CODE_VARIABLE:
	case CODE_CALLBACK:
		text_dst(&t, op);
		text_known(&t, op);
		break;
	case CODE_ALU:
	case CODE_ALU_IMM:
		text_alu(&t, op);
		break;
	case CODE_ZEXT32:
		text_dst(&t, op);
		code_text_add(&t, "(u32)");
		text_reg(&t, op->dst);
		break;
	case CODE_LOAD:
		text_dst(&t, op);
		text_memory(&t, op->bytes, op->src, op->off);
		break;
	case CODE_STORE:
		text_memory(&t, op->bytes, op->dst, op->off);
		code_text_add(&t, " = ");
		text_reg(&t, op->src);
		break;
	case CODE_STORE_IMM:
		text_memory(&t, op->bytes, op->dst, op->off);
		code_text_add(&t, " = %lld", (long long)op->imm);
		break;
	case CODE_ATOMIC:
		text_atomic(&t, op);
		break;
	case CODE_SLOT_LOAD:
		text_dst(&t, op);
		text_slot(&t, op);
		break;
	case CODE_SLOT_STORE:
		text_slot(&t, op);
		code_text_add(&t, " = ");
		text_reg(&t, op->src);
		break;
	case CODE_SLOT_STORE_IMM:
		text_slot(&t, op);
		code_text_add(&t, " = %lld", (long long)op->imm);
		break;
	case CODE_FRAME_TOUCH:
		code_text_add(&t, "touch frame");
		break;
	case CODE_CALL:
	case CODE_KFUNC:
	case CODE_MODULE_KFUNC:
	case CODE_CALL_LABEL:
		text_call(&t, op);
		break;
	case CODE_EXIT:
		code_text_add(&t, "exit");
		break;
	case CODE_LABEL:
		code_text_add(&t, "L%u:", op->target);
		break;
	case CODE_JUMP:
	case CODE_JUMP_IF:
	case CODE_JUMP_IMM:
		text_jump(&t, op);
		break;
	case CODE_KINDS:
		break;
	}
}

static void code_path_print(const struct code *c, uint32_t path, FILE *out)
{
	const struct code_func *function =
		&c->functions[c->paths[path].function];
	int stmt = INT32_MIN;
	char text[128];

	if (function->path != path)
		fprintf(out, "rare %u, in %u:\n", path, c->paths[path].parent);
	else if (path)
		fprintf(out, "function %u, path %u:\n",
			c->paths[path].function, path);
	for (size_t i = 0; i < c->count; i++) {
		const struct code_op *op = &c->ops[i];

		if (op->path != path)
			continue;
		if (op->stmt != stmt)
			fprintf(out, "\t; %d\n", stmt = op->stmt);
		code_op_print(op, false, text, sizeof(text));
		fprintf(out, op->kind == CODE_LABEL ? "%s\n" : "\t%s\n", text);
	}
}

void code_print(const struct code *c, FILE *out)
{
	for (uint32_t path = 0; path < c->path_count; path++)
		code_path_print(c, path, out);
}
