// SPDX-License-Identifier: GPL-2.0
/*
 * What may be moved over which instructions, and what comes of it: an
 * expression per row, as it is at one address and at another one, or why it
 * can't be there.
 */
#include <ctype.h>
#include <elf.h>
#include "move_block.h"
#include "lib/formats/rpn.h"

#define A64	164
#define SAFE	MOVE_SAFE
#define FAST	MOVE_FAST

enum how { VALUE, MEM, TEXT, REG, IF, LEN, STACK, FAR };

static const struct row {
	const char *code;	/* instructions; in front of the last of them */
	int bits;		/* 64, 32, A64; negative: inside a function */
	int nominal, site;	/* numbers of instructions */
	enum move_mode mode;
	enum how how;
	int bytes;		/* of VALUE, MEM, REG */
	const char *in;		/* expression; register number */
	const char *out;	/* "value 4: breg5+0"; part of the reason */
} rows[] = {
#include "move_rules.h"
};

#define ROWS	(sizeof(rows) / sizeof(*rows))

struct name {
	const char *name;
	uint8_t code;
	enum rpn_operand operand;
};

static const struct name names[] = {
#define RPN_OP(name, code, operand, pops, pushes) \
	{ #name, code, RPN_##operand },
#define RPN_OP_RANGE(name, first, last, operand, pops, pushes) \
	{ #name, first, RPN_##operand },
#include <rastrace/rpn.def>
#undef RPN_OP
#undef RPN_OP_RANGE
};

/* One operation as rpn_print() has it; jumps have their distance. */
static void parse_op(const char *text, struct bytes *rpn)
{
	size_t length = strcspn(text, "0123456789+- "), count = 0;
	const struct name *name = names;
	unsigned long number = 0;
	const char *rest = text + length;
	char *end;

	if (!strncmp(text, "const", 5) && isdigit(text[5]))
		length = 7;
	while (strlen(name->name) != length ||
	       strncmp(name->name, text, length))
		if (++name == names + sizeof(names) / sizeof(*names))
			tap_bail("no operation %s", text);
	rest = text + length;
	if (isdigit(*rest))
		number = strtoul(rest, (char **)&rest, 10);
	rpn_emit_op(rpn, name->code + number);
	switch (name->operand) {
	case RPN_NONE:
		return;
	case RPN_ULEB:
		rpn_emit_uleb(rpn, strtoull(rest, NULL, 0));
		return;
	case RPN_SLEB:
		rpn_emit_sleb(rpn, strtoll(rest, NULL, 0));
		return;
	case RPN_ULEB_SLEB:
		rpn_emit_uleb(rpn, strtoull(rest, &end, 0));
		rpn_emit_sleb(rpn, strtoll(end, NULL, 0));
		return;
	case RPN_ADDR:
	case RPN_U8:
	case RPN_S8:
		count = 8;
		break;
	case RPN_U4:
	case RPN_S4:
		count = 4;
		break;
	case RPN_JUMP:
	case RPN_U2:
	case RPN_S2:
		count = 2;
		break;
	default:
		count = 1;
	}
	rpn_emit_fixed(rpn, strtoull(rest, NULL, 0), count);
}

static void parse_rpn(const char *text, struct bytes *rpn)
{
	while (*text) {
		char one[80];
		size_t length = strcspn(text, ";");

		snprintf(one, sizeof(one), "%.*s", (int)length, text);
		parse_op(one, rpn);
		text += length;
		text += strspn(text, "; ");
	}
}

static struct tdf_stmt make_stmt(const struct row *row, struct bytes *rpn)
{
	static const uint8_t kinds[] = {
		[VALUE] = TDF_STMT_VALUE, [MEM] = TDF_STMT_MEM,
		[TEXT] = TDF_STMT_ASCIIZ, [REG] = TDF_STMT_REG,
		[IF] = TDF_STMT_IF, [LEN] = TDF_STMT_MEM,
		[STACK] = TDF_STMT_STACK, [FAR] = TDF_STMT_MEM,
	};
	struct tdf_stmt stmt = { .kind = kinds[row->how] };

	if (row->how == REG) {
		stmt.reg = atoi(row->in);
		stmt.reg_bytes = row->bytes;
		return stmt;
	}
	stmt.length = row->bytes;
	parse_rpn(row->in, rpn);
	stmt.rpn_length = rpn->size;
	if (row->how == FAR)
		stmt.flags = TDF_STMT_SEGMENT;
	if (row->how != LEN)
		return stmt;
	stmt.flags = TDF_STMT_LEN;
	stmt.len_bytes = 2;
	stmt.length = 64;
	stmt.len_rpn_length = rpn->size;
	stmt.rpn = rpn->size;
	rpn_emit_addr(rpn, 0x8000);
	stmt.rpn_length = rpn->size - stmt.rpn;
	return stmt;
}

static void print_stmt(const struct tdf_stmt *stmt, const struct bytes *rpn,
		       char *text, size_t size)
{
	static const char *const kinds[] = {
		"reg", "mem", "text", "value", "absent", "if", "stack",
	};
	int length;

	if (stmt->kind == TDF_STMT_REG) {
		snprintf(text, size, "reg %u: %u", stmt->reg_bytes, stmt->reg);
		return;
	}
	length = snprintf(text, size, "%s%s%s %u: ",
			  stmt->flags & TDF_STMT_RAW ? "raw " : "",
			  stmt->flags & TDF_STMT_LEN_VALUE ? "len " : "",
			  kinds[stmt->kind], stmt->length);
	if (stmt->flags & TDF_STMT_LEN)
		rpn_print(rpn->data + stmt->len_rpn, stmt->len_rpn_length,
			  text + length, size - length);
	else
		rpn_print(rpn->data + stmt->rpn, stmt->rpn_length,
			  text + length, size - length);
}

/* "value 8: addr 0x1..." is a beginning, one without a colon a part. */
static bool is_expected(const char *text, const char *expected)
{
	size_t length = strlen(expected);

	if (!strchr(expected, ':'))
		return text[0] && strstr(text, expected);
	if (length > 3 && !strcmp(expected + length - 3, "..."))
		return !strncmp(text, expected, length - 3);
	return !strcmp(text, expected);
}

static void check_row(struct module *module, size_t index)
{
	const struct row *row = &rows[index];
	struct bytes in = {0}, out = {0};
	char name[32], why[MOVE_WHY], text[400];
	struct move_block b;
	struct tdf_stmt stmt = make_stmt(row, &in), moved;
	struct move *move;

	snprintf(name, sizeof(name), "row%zu", index);
	move_block_find(module, name, row->bits > 0, &b);
	move = move_begin(&b.block, module, NULL, row->mode, row->nominal,
			  row->site, why);
	snprintf(text, sizeof(text), "%s", why);
	if (move && !move_stmt(move, &stmt, in.data, &moved, &out, why))
		print_stmt(&moved, &out, text, sizeof(text));
	else if (move)
		snprintf(text, sizeof(text), "%s", why);
	if (!tap_ok(is_expected(text, row->out), "%d: %s, %d to %d: %s",
		    row->bits, row->code, row->nominal, row->site, row->in))
		tap_diag("got '%s', expected '%s'", text, row->out);
	if (move)
		move_end(move);
	bytes_free(&in);
	bytes_free(&out);
}

static void write_code(int bits)
{
	FILE *file = fopen("code.s", "w");

	if (!file)
		tap_bail("can't write");
	fputs(".globl _start\n_start: ret\n.data\nvariable: .quad 0\n.text\n",
	      file);
	for (size_t i = 0; i < ROWS; i++)
		if (abs(rows[i].bits) == bits)
			fprintf(file, ".globl row%zu\n.type row%zu, @function\n"
				"row%zu: %s\n.size row%zu, .-row%zu\n", i, i, i,
				rows[i].code, i, i);
	fclose(file);
}

static void check_rows(int bits)
{
	static const char places[] = "-Ttext=0x10000 -Tdata=0x20000";
	struct error err = {0};
	struct module *module;

	write_code(bits);
	if (!(bits == A64 ? move_block_link_a64(places) :
			    move_block_link(bits == 64, places))) {
		tap_skip(bits == A64 ? "code of AArch64" : "code of 32 bits",
			 "no assembler for it");
		return;
	}
	if (module_open(&module, "code", "code", 0, &err))
		tap_bail("%s", err.text);
	for (size_t i = 0; i < ROWS; i++)
		if (abs(rows[i].bits) == bits)
			check_row(module, i);
	module_close(module);
}

int main(void)
{
	compiled_begin();
	check_rows(64);
	check_rows(32);
	check_rows(A64);
	return tap_done();
}
