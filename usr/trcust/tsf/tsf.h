/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace source file as a tree (manual 1.3): what the parser makes and the
 * later passes read. Every node knows its place in the text. Nodes live
 * as long as their struct tsf.
 */
#ifndef TRCUST_TSF_H
#define TRCUST_TSF_H

#include <stdarg.h>
#include <stdio.h>
#include <rastrace/tdf.h>
#include "diag.h"
#include "lib/formats/bytes.h"

/*
 * The C expressions of VARS and IF as a tree. What a name means is not known
 * here: evaluate.c looks it up at every site.
 */

#define EXPR_NODES_MAX	1024	/* of one expression; bounds recursion, too */
#define EXPR_NESTING_MAX 64	/* parentheses, unary operators */

enum expr_kind {
	EXPR_NAME,		/* name: "x", "ns::x", "::x", "file.c:x" */
	EXPR_REGISTER,		/* name: "rax", without the $ */
	EXPR_ARGUMENT,		/* number: of $argN, from 1 */
	EXPR_NUMBER,		/* number, literal */
	EXPR_MEMBER,		/* a.name */
	EXPR_INDEX,		/* a[b] */
	EXPR_UNARY,		/* op a; name: "->" for the * in p->m, or NULL */
	EXPR_BINARY,		/* a op b */
	EXPR_CHOICE,		/* a ? b : c */
	EXPR_CAST,		/* (type)a */
	EXPR_SIZEOF,		/* of a; of type when a is NULL */
	EXPR_LENGTH,		/* len(a) */
	EXPR_TEXT,		/* of the characters name, `number` of them: a
				 * has them (op EQ), has not (NE), begins with
				 * them (GE) */
	EXPR_ENTRY,		/* entry(a): as the call began */
	EXPR_EITHER,		/* (name)-x and the like: a with `name` as a
				 * type, b with it as a variable */
};

/* In the order of expr_operators[] in tsf.c. */
enum expr_op {
	EXPR_MUL, EXPR_DIV, EXPR_MOD, EXPR_ADD, EXPR_SUB, EXPR_SHL, EXPR_SHR,
	EXPR_LT, EXPR_GT, EXPR_LE, EXPR_GE, EXPR_EQ, EXPR_NE, EXPR_AND,
	EXPR_XOR, EXPR_OR, EXPR_ANDAND, EXPR_OROR,
	EXPR_BINARY_COUNT,
	/* unary */
	EXPR_DEREF = EXPR_BINARY_COUNT, EXPR_ADDRESS, EXPR_MINUS, EXPR_PLUS,
	EXPR_NOT, EXPR_COMPLEMENT,
	EXPR_OP_COUNT
};

struct expr_operator {
	const char *text;
	int precedence;		/* of binary ones; the higher binds tighter */
};

extern const struct expr_operator expr_operators[EXPR_OP_COUNT];

enum expr_base {		/* of a type that C has itself */
	EXPR_BASE_NAMED,	/* none: name, perhaps with a tag */
	EXPR_BASE_VOID, EXPR_BASE_BOOL, EXPR_BASE_CHAR, EXPR_BASE_SHORT,
	EXPR_BASE_INT, EXPR_BASE_LONG, EXPR_BASE_LONG_LONG, EXPR_BASE_FLOAT,
	EXPR_BASE_DOUBLE, EXPR_BASE_LONG_DOUBLE,
};

struct expr_type {
	struct srcpos pos;
	enum expr_base base;
	bool is_unsigned, is_signed;	/* as written */
	const char *tag;	/* "struct", "class", "union", "enum"; NULL */
	const char *name;
	unsigned int pointers;
};

struct expr {
	enum expr_kind kind;
	enum expr_op op;
	struct srcpos pos;	/* of the name, the operator, the number */
	const char *name;
	uint64_t number;
	struct {		/* of a NUMBER: what its type depends on */
		bool is_unsigned, decimal;
		bool character;	/* number: its byte */
		uint8_t longs;
	} literal;
	const struct expr_type *type;
	const struct expr *a, *b, *c;
};

/* With a pair of parentheses around every operation. */
void expr_print(const struct expr *expr, struct bytes *out);
void expr_type_print(const struct expr_type *type, struct bytes *out);

enum tsf_tp_kind {
	TSF_TP_NONE,		/* no TP clause was met */
	TSF_TP_SYMBOL,		/* .name[+-offset][,RETEP] */
	TSF_TP_LINE,		/* @file,line */
	TSF_TP_STATIC,		/* @STATIC */
	TSF_TP_USDT,		/* @USDT,provider,name */
	TSF_TP_ADDRESS,		/* @ADDR,0x... as linked */
};

enum tsf_retep {
	TSF_RETEP_NONE,
	TSF_RETEP_ANY,		/* every exit; --site=fast may take a return
				 * probe, but not of a CALL; it is one in a
				 * kernel whose code is not at hand */
	TSF_RETEP_EXIT,		/* every exit */
	TSF_RETEP_CALLER,	/* the kernel's return probe */
};

struct tsf_tp {
	enum tsf_tp_kind kind;
	struct srcpos pos;	/* of the name */
	const char *name;	/* symbol, file name or USDT probe; a symbol
				 * may be "ns::fn(int)", "ns::fn(*)" or
				 * "file.c:name" */
	const char *provider;	/* USDT */
	const char *text;	/* the clause as written, "alloc+4,RETEP" */
	int64_t offset;
	uint64_t address;	/* ADDRESS */
	uint32_t line;
	enum tsf_retep retep;
	bool whole;		/* CALL instead of TP: entry and exits */
};

/* "name(*)": every function of that name. */
bool tsf_tp_is_all(const struct tsf_tp *tp);

enum tsf_address_form {
	TSF_ADDRESS_SYMBOL,	/* .name */
	TSF_ADDRESS_FLAT,	/* FEBP+EDI */
	TSF_ADDRESS_SEGMENT,	/* RDS+DI */
};

struct tsf_register {
	struct srcpos pos;
	const char *name;	/* upper case: "EBP" */
	bool minus;
};

enum tsf_flag {
	TSF_DIRECT, TSF_INDIRECT, TSF_IS, TSF_IF,
};

/* Manual 1.3.5.15 */
struct tsf_address {
	enum tsf_address_form form;
	struct srcpos pos;
	const char *name;		/* SYMBOL, without the dot */
	struct tsf_register *registers;	/* base or segment register first */
	size_t register_count;
	int64_t displacement;		/* sum of [+-]nnnnnnnn */
	int64_t final;			/* (iiiiiiii): added to the final address */
	struct srcpos final_pos;	/* line 0: there is none */
	/* DIRECT, or dereferences: add[i] is added after the i-th, `final`
	 * included in the last */
	enum tsf_flag flag;
	struct srcpos flag_pos;
	int64_t *add;
	size_t add_count;		/* a bare INDIRECT is one */
};

#define TSF_FRAME_BYTES	8	/* of a return address in a record */

enum tsf_stmt_kind {
	TSF_REGS, TSF_MEM, TSF_ASCIIZ,
	TSF_VAR,		/* one expression of a VARS */
	TSF_STACK,		/* STACK=(depth): length = frames */
	TSF_ELAPSED,		/* first of a CALL: how long it took */
};

struct tsf_stmt {
	enum tsf_stmt_kind kind;
	struct srcpos pos;		/* of the keyword */
	bool segmented;			/* MEM, ASCIIZ; not MEM32, ASCIIZ32 */
	bool at_exit;			/* VAR of a RESULT */

	/* REGS: one statement per register; without the dot of ".name" */
	struct tsf_register reg;
	bool reg_is_variable;

	/* VAR; length 0: by its type */
	const struct expr *expr;
	const char *expr_text;		/* as written, one blank for several */
	const char *expr_name;		/* "key" of "key=(x)"; NULL: none */
	const struct expr *count;	/* how many, from there on; then length is
					 * the most. NULL: not given */
	const char *count_text;

	struct tsf_address address;
	uint32_t length;		/* bytes; 0 with a LEN */
	struct srcpos length_pos;

	bool has_len;			/* LEN=(address,flag[,size]) before it */
	struct tsf_address len_address;
	uint8_t len_bytes;		/* 0: by the location's type when that
					 * is an integer, else 2 */
};

/* BY, or what is added up */
struct tsf_aggregate {
	uint8_t kind;			/* TDF_AGGREGATE_*; BY: 0 */
	struct srcpos pos;
	const struct expr *expr;	/* NULL: COUNT; BY: STACK */
	const char *text;		/* as written */
	uint32_t length;		/* BY: characters of a text, 0: not
					 * given; frames of a STACK */
};

struct tsf_string {		/* of DESC, FMT */
	struct srcpos pos;
	char *text;		/* C escapes resolved, no line end */
	size_t length;
	const char *source;	/* as written, in the TSF */
	size_t source_length;
};

struct tsf_point {
	struct srcpos pos;	/* of TRACE */
	uint16_t minor;
	struct srcpos minor_pos;	/* line 0: counted */
	struct tsf_tp tp;
	int opcode;		/* -1: none */
	struct srcpos opcode_pos;
	uint16_t type;
	uint16_t group;
	const char *desc;	/* NULL: none */
	struct tsf_string *fmts;
	size_t fmt_count;
	struct tsf_stmt *stmts;		/* of a CALL: in the order of the record */
	size_t stmt_count;
	struct tsf_aggregate *by, *aggregates;
	size_t by_count, aggregate_count;
	const struct expr *condition;	/* IF; NULL: none */
	const char *condition_text;	/* as written */
	uint32_t maxhits, passcount;	/* 0: none */
	bool continue_on_fault;		/* ONFAULT=CONTINUE */
	bool onfault;			/* it was said */
	bool discarded;		/* after an error: leaves nothing */
};

struct tsf_name {		/* of a type or a group */
	char name[TDF_NAME_MAX + 1];
	uint32_t id;
};

struct tsf {
	const char *modname;
	struct srcpos modname_pos;
	uint8_t major;
	uint16_t maxdata;
	struct tsf_name types[TDF_TYPES_MAX];
	size_t type_count;
	struct tsf_name groups[TDF_GROUPS_MAX];
	size_t group_count;
	struct tsf_point *points;	/* in the order of the file */
	size_t point_count;
};

/* An empty tree; NULL: no memory. */
struct tsf *tsf_make(void);
/* Zeroed memory that lives as long as the tree; NULL: no memory. */
void *tsf_alloc(struct tsf *tsf, size_t size);
/* Text, as printf does, that lives as long. */
char *tsf_vformat(struct tsf *tsf, const char *fmt, va_list args);
char *tsf_format(struct tsf *tsf, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Add a zeroed element to the array that `array` points at; NULL: no memory. */
void *tsf_append(struct tsf *tsf, void *array, size_t *count, size_t size);
void tsf_free(struct tsf *tsf);

/* The tree as text, one clause a line. */
void tsf_dump(const struct tsf *tsf, FILE *out);

#endif
