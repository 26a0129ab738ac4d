// SPDX-License-Identifier: GPL-2.0
#include "tsf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lib/names.h"

const struct expr_operator expr_operators[EXPR_OP_COUNT] = {
	[EXPR_MUL] = {"*", 10},	   [EXPR_DIV] = {"/", 10},
	[EXPR_MOD] = {"%", 10},	   [EXPR_ADD] = {"+", 9},
	[EXPR_SUB] = {"-", 9},	   [EXPR_SHL] = {"<<", 8},
	[EXPR_SHR] = {">>", 8},	   [EXPR_LT] = {"<", 7},
	[EXPR_GT] = {">", 7},	   [EXPR_LE] = {"<=", 7},
	[EXPR_GE] = {">=", 7},	   [EXPR_EQ] = {"==", 6},
	[EXPR_NE] = {"!=", 6},	   [EXPR_AND] = {"&", 5},
	[EXPR_XOR] = {"^", 4},	   [EXPR_OR] = {"|", 3},
	[EXPR_ANDAND] = {"&&", 2}, [EXPR_OROR] = {"||", 1},
	[EXPR_DEREF] = {"*"},	   [EXPR_ADDRESS] = {"&"},
	[EXPR_MINUS] = {"-"},	   [EXPR_PLUS] = {"+"},
	[EXPR_NOT] = {"!"},	   [EXPR_COMPLEMENT] = {"~"},
};

void expr_type_print(const struct expr_type *type, struct bytes *out)
{
	static const char *const names[] = {
		[EXPR_BASE_VOID] = "void",
		[EXPR_BASE_BOOL] = "bool",
		[EXPR_BASE_CHAR] = "char",
		[EXPR_BASE_SHORT] = "short",
		[EXPR_BASE_INT] = "int",
		[EXPR_BASE_LONG] = "long",
		[EXPR_BASE_LONG_LONG] = "long long",
		[EXPR_BASE_FLOAT] = "float",
		[EXPR_BASE_DOUBLE] = "double",
		[EXPR_BASE_LONG_DOUBLE] = "long double",
	};

	const char *sign = type->is_unsigned ? "unsigned " :
			   type->is_signed && type->base == EXPR_BASE_CHAR ?
			   "signed " : "";

	if (type->tag)
		bytes_print(out, "%s ", type->tag);
	bytes_print(out, "%s%s", sign,
		    type->name ? type->name : names[type->base]);
	for (unsigned int i = 0; i < type->pointers; i++)
		bytes_print(out, i ? "*" : " *");
}

/* What is printed of each kind; an operand that isn't there is nothing. */
static const char *const expr_formats[] = {
	[EXPR_NAME] = "%n",
	[EXPR_REGISTER] = "$%n",
	[EXPR_ARGUMENT] = "$arg%d",
	[EXPR_NUMBER] = "%d",
	[EXPR_MEMBER] = "%a.%n",
	[EXPR_INDEX] = "%a[%b]",
	[EXPR_UNARY] = "(%o%a)",
	[EXPR_BINARY] = "(%a %o %b)",
	[EXPR_CHOICE] = "(%a ? %b : %c)",
	[EXPR_CAST] = "((%t)%a)",
	[EXPR_SIZEOF] = "sizeof(%t%a)",
	[EXPR_LENGTH] = "len(%a)",
	[EXPR_ENTRY] = "entry(%a)",
	[EXPR_TEXT] = "(%a %o \"%n\")",
	[EXPR_EITHER] = "(%a or %b)",
};

void expr_print(const struct expr *expr, struct bytes *out)
{
	const struct expr *const operands[] = { expr->a, expr->b, expr->c };

	for (const char *p = expr_formats[expr->kind]; *p; p++) {
		if (*p != '%') {
			bytes_add(out, p, 1);
			continue;
		}
		switch (*++p) {
		case 'n':
			bytes_print(out, "%s", expr->name);
			break;
		case 'o':
			bytes_print(out, "%s", expr_operators[expr->op].text);
			break;
		case 'd':
			bytes_print(out, "%" PRIu64 "%s%.*s", expr->number,
				    expr->literal.is_unsigned ? "u" : "",
				    expr->literal.longs, "ll");
			break;
		case 't':
			if (expr->type)
				expr_type_print(expr->type, out);
			break;
		default:
			if (operands[*p - 'a'])
				expr_print(operands[*p - 'a'], out);
		}
	}
}

struct tsf_chunk {
	struct tsf_chunk *next;
	_Alignas(16) char data[];
};

/* The tree and the memory of its nodes. */
struct tsf_memory {
	struct tsf tsf;		/* first: what others see */
	struct tsf_chunk *chunks;
};

struct tsf *tsf_make(void)
{
	struct tsf_memory *memory = calloc(1, sizeof(*memory));

	return memory ? &memory->tsf : NULL;
}

void *tsf_alloc(struct tsf *tsf, size_t size)
{
	struct tsf_memory *memory = (struct tsf_memory *)tsf;
	struct tsf_chunk *chunk = calloc(1, sizeof(*chunk) + size);

	if (!chunk)
		return NULL;
	chunk->next = memory->chunks;
	memory->chunks = chunk;
	return chunk->data;
}

char *tsf_vformat(struct tsf *tsf, const char *fmt, va_list args)
{
	char *text, *copy;
	int length = vasprintf(&text, fmt, args);

	if (length < 0)
		return NULL;
	copy = tsf_alloc(tsf, length + 1);
	if (copy)
		memcpy(copy, text, length);
	free(text);
	return copy;
}

char *tsf_format(struct tsf *tsf, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = tsf_vformat(tsf, fmt, args);
	va_end(args);
	return text;
}

bool tsf_tp_is_all(const struct tsf_tp *tp)
{
	size_t length = tp->kind == TSF_TP_SYMBOL ? strlen(tp->name) : 0;

	return length > 3 && !strcmp(tp->name + length - 3, "(*)");
}

void *tsf_append(struct tsf *tsf, void *array, size_t *count, size_t size)
{
	void **start = array;
	char *grown;

	/* full when the count is a power of two */
	if (!(*count & (*count - 1))) {
		grown = tsf_alloc(tsf, (*count ? *count * 2 : 1) * size);
		if (!grown)
			return NULL;
		if (*count)
			memcpy(grown, *start, *count * size);
		*start = grown;
	}
	return (char *)*start + (*count)++ * size;
}

void tsf_free(struct tsf *tsf)
{
	struct tsf_memory *memory = (struct tsf_memory *)tsf;
	struct tsf_chunk *chunk, *next;

	if (!tsf)
		return;
	for (chunk = memory->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(memory);
}

static void string_dump(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			fprintf(out, "\\%03o", *text);
		else
			fprintf(out, "%s%c", *text == '"' || *text == '\\' ?
					     "\\" : "", *text);
	}
	fputc('"', out);
}

static void address_dump(FILE *out, const struct tsf_address *address)
{
	static const char *const forms[] = {
		[TSF_ADDRESS_SYMBOL] = ".",
		[TSF_ADDRESS_FLAT] = "flat ",
		[TSF_ADDRESS_SEGMENT] = "segment ",
	};
	static const char *const flags[] = {
		[TSF_DIRECT] = "direct",
		[TSF_INDIRECT] = "indirect",
		[TSF_IS] = "is",
		[TSF_IF] = "if",
	};
	const struct tsf_register *r = address->registers;

	fprintf(out, " %s%s", forms[address->form],
		address->name ? address->name : "");
	for (size_t i = 0; i < address->register_count; i++)
		fprintf(out, "%s%s", !i ? "" : r[i].minus ? "-" : "+",
			r[i].name);
	if (address->displacement)
		fprintf(out, "%+" PRId64, address->displacement);
	if (address->final_pos.line)
		fprintf(out, "+(%" PRId64 ")", address->final);
	fprintf(out, " %s", flags[address->flag]);
	for (size_t i = 0; i < address->add_count; i++)
		fprintf(out, "*%+" PRId64, address->add[i] -
			(i + 1 == address->add_count ? address->final : 0));
}

static void stmt_dump(FILE *out, const struct tsf_stmt *stmt)
{
	if (stmt->kind == TSF_REGS) {
		fprintf(out, "\tregs %s%s\n", stmt->reg_is_variable ? "." : "",
			stmt->reg.name);
		return;
	}
	if (stmt->kind == TSF_STACK) {
		fprintf(out, "\tstack %u\n", stmt->length);
		return;
	}
	if (stmt->kind == TSF_ELAPSED) {
		fputs("\telapsed\n", out);
		return;
	}
	if (stmt->kind == TSF_VAR) {
		fprintf(out, "\t%s %s%s%s", stmt->at_exit ? "result" : "var",
			stmt->expr_name ? stmt->expr_name : "",
			stmt->expr_name ? "=" : "", stmt->expr_text);
		if (stmt->count)
			fprintf(out, " [:%s]", stmt->count_text);
		if (stmt->length)
			fprintf(out, " :%u", stmt->length);
		fputc('\n', out);
		return;
	}
	fprintf(out, "\t%s%s", stmt->kind == TSF_MEM ? "mem" : "asciiz",
		stmt->segmented ? "" : "32");
	address_dump(out, &stmt->address);
	if (stmt->has_len) {
		fprintf(out, " len %u:", stmt->len_bytes);
		address_dump(out, &stmt->len_address);
		fputc('\n', out);
	} else {
		fprintf(out, " %u\n", stmt->length);
	}
}

static void point_dump(FILE *out, const struct tsf_point *point)
{
	static const char *const kinds[] = {
		[TSF_TP_NONE] = "none", [TSF_TP_SYMBOL] = "symbol",
		[TSF_TP_LINE] = "line", [TSF_TP_STATIC] = "static",
		[TSF_TP_USDT] = "usdt", [TSF_TP_ADDRESS] = "address",
	};

	fprintf(out, "trace %u line %u%s\n", point->minor, point->pos.line,
		point->discarded ? " discarded" : "");
	if (point->discarded)
		return;
	fprintf(out, "\t%s %s %s\n", point->tp.whole ? "call" : "tp",
		kinds[point->tp.kind],
		point->tp.text ? point->tp.text : "");
	if (point->condition)
		fprintf(out, "\tif %s\n", point->condition_text);
	if (point->maxhits)
		fprintf(out, "\tmaxhits %u\n", point->maxhits);
	if (point->passcount)
		fprintf(out, "\tpasscount %u\n", point->passcount);
	if (point->continue_on_fault)
		fputs("\tonfault continue\n", out);
	if (point->opcode >= 0)
		fprintf(out, "\topcode 0x%02x\n", point->opcode);
	if (point->type || point->group)
		fprintf(out, "\ttype 0x%04x group %u\n", point->type,
			point->group);
	if (point->desc) {
		fputs("\tdesc ", out);
		string_dump(out, point->desc);
		fputc('\n', out);
	}
	for (size_t i = 0; i < point->fmt_count; i++) {
		fputs("\tfmt ", out);
		string_dump(out, point->fmts[i].text);
		fputc('\n', out);
	}
	for (size_t i = 0; i < point->stmt_count; i++)
		stmt_dump(out, &point->stmts[i]);
	for (size_t i = 0; i < point->by_count; i++)
		fprintf(out, "\tby %s :%u\n", point->by[i].text,
			point->by[i].length);
	for (size_t i = 0; i < point->aggregate_count; i++)
		fprintf(out, "\taggregate %s %s\n",
			names_aggregate[point->aggregates[i].kind],
			point->aggregates[i].text);
}

void tsf_dump(const struct tsf *tsf, FILE *out)
{
	fputs("modname ", out);
	string_dump(out, tsf->modname ? tsf->modname : "");
	fprintf(out, "\nmajor %u\nmaxdata %u\n", tsf->major, tsf->maxdata);
	for (size_t i = 0; i < tsf->type_count; i++)
		fprintf(out, "type %s 0x%04x\n", tsf->types[i].name,
			tsf->types[i].id);
	for (size_t i = 0; i < tsf->group_count; i++)
		fprintf(out, "group %s %u\n", tsf->groups[i].name,
			tsf->groups[i].id);
	for (size_t i = 0; i < tsf->point_count; i++)
		point_dump(out, &tsf->points[i]);
}
