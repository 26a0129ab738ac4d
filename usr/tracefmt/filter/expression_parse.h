/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An expression over an event's fields, with C's operators and their order:
 *
 *	len > 64 && name ~ "conf"
 *	req.hdr.flags & 0x10 || (pid == 33 && r->next->age >= 1.5)
 *
 * ~ and !~ match a string with an extended regular expression. Numbers: 64,
 * 0x40, 0b101, 0o17, 1.5; 64K, 1M, 1G, and 5ns, 5us, 5ms, 5s in ns. Integers
 * are exact. A value with a name (an enumerator, flags, an address's symbol)
 * compares with strings by it.
 *
 * Names: fields (format/field.h) by name or label, members and elements of what
 * is composed, and event, time (ns since 1970), major, minor, pid, tid, comm,
 * cpu, length, desc, which go before fields: .pid is the field pid. So do those
 * of calls: latency, self, result, function, doubt, parent, depth, entry.x,
 * exit.x. With one of the first three or last two, the expression is about a
 * call; other fields are looked for in its entry, then in its exit. A comparison
 * with what a record doesn't have is false, and so is the value itself, also with
 * ! in front.
 */
#ifndef TRACEFMT_EXPRESSION_PARSE_H
#define TRACEFMT_EXPRESSION_PARSE_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include "lib/error.h"
#include "tracefmt/output/cell.h"

#define EXPRESSION_PARTS_MAX	16	/* of a name */

enum expression_op {
	OP_NUMBER, OP_FLOAT, OP_STRING, OP_REGEX, OP_NAME,
	OP_NOT, OP_MINUS, OP_INVERT,
	OP_OR, OP_AND, OP_BIT_OR, OP_BIT_XOR, OP_BIT_AND,
	OP_EQUAL, OP_UNEQUAL,
	OP_LESS, OP_LESS_EQUAL, OP_GREATER, OP_GREATER_EQUAL,
	OP_MATCH, OP_MATCH_NOT,
	OP_LEFT, OP_RIGHT, OP_PLUS, OP_SUBTRACT, OP_TIMES, OP_DIVIDE, OP_MODULO,
};

struct expression_node {
	enum expression_op op;
	uint32_t a, b;		/* operands: indices of nodes */
	union {
		__int128 number;
		double real;
		uint32_t name;	/* index in names */
	};
	char *text;		/* STRING */
	size_t length;
	regex_t *regex;		/* REGEX */
};

/* Of "r->next->age", "a[1].b". */
struct expression_part {
	size_t at, length;	/* of a member's name in the text; no length:
				 * an element */
	uint64_t index;		/* of the element */
	size_t end;		/* in the text */
};

struct expression_name {
	char *text;		/* without the first '.' of ".pid" */
	struct expression_part parts[EXPRESSION_PARTS_MAX];
	size_t count;
	enum column builtin;	/* COLUMN_FIELD: it is none's */
	size_t skip;		/* parts that are the builtin's: entry, result */
	bool found;		/* a point has a field of that name */
};

struct expression {
	struct expression_node *nodes;
	size_t count;
	uint32_t root;
	struct expression_name *names;
	size_t name_count;
	bool of_calls;		/* it was bound to calls */
	struct text texts[2];	/* of a comparison's two sides */
};

/* 0, or -EINVAL or -ENOMEM with err set. */
int expression_parse(struct expression **expression, const char *text,
		     struct error *err);
void expression_free(struct expression *expression);

#endif
