/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shapes: what types mean, as data. shapes(5) is the manual; in short:
 *
 *	type std::__cxx11::basic_string<char, *> as std::string
 *		text	_M_dataplus._M_p
 *		length	_M_string_length
 *
 * A shape begins with one or more lines `type`, whose patterns are compared with
 * names of types as the debug information has them; * is any text. The
 * lines after them have C expressions, in which a name is a member of the value,
 * `self` the value itself, and a type may be a template parameter of its type:
 *
 *	text, length	 characters
 *	sequence, count	 elements, of the type that the expression points to
 *	one		 what a pointer points to
 *	optional, value	 a value that is there if a member is not zero
 *	value		 alone: the value is that of the expression
 *	count		 alone: how many elements it has, and none of them
 *	time, nanoseconds  a duration: seconds, and the rest of one
 *	dynamic, value	 an address that means a type, and a pointer to a
 *			 value of that type
 *	list, next, value  nodes: the first, the next and the element of one
 *	tree, left, right, parent, value
 *	each, count	 elements by their `index`
 *	variant, cases, head, tail, value
 *			 the number of an alternative, and nested unions
 *	tuple		 several values; `leaves`: all members of that name
 *	members		 without an expression: the value is its members
 *
 * A line `language c++`, rust or go: the shapes after it are for types of such
 * units only.
 *
 * Of the shapes that match a type the first one counts whose expressions can be
 * evaluated; those of files that were added first come first.
 */
#ifndef TRCUST_SHAPE_FILE_H
#define TRCUST_SHAPE_FILE_H

#include "tsf.h"

enum shape_kind {
	SHAPE_NONE, SHAPE_TEXT, SHAPE_SEQUENCE, SHAPE_ONE, SHAPE_TIME,
	SHAPE_ADDRESS, SHAPE_COUNT, SHAPE_DYNAMIC, SHAPE_LIST, SHAPE_TREE, SHAPE_EACH,
	SHAPE_OPTIONAL, SHAPE_VALUE, SHAPE_VARIANT, SHAPE_TUPLE, SHAPE_LEAVES,
	SHAPE_MEMBERS,
};

#define SHAPE_TUPLE_MAX	16	/* values of a tuple */

struct shape_pattern {
	const char *text;
	const char *name;	/* of the type in output; NULL: its own */
	struct srcpos pos;
};

enum shape_language {
	SHAPE_ANY, SHAPE_C, SHAPE_CC, SHAPE_RUST, SHAPE_GO,
};

struct shape {
	enum shape_kind kind;
	enum shape_language language;
	const struct shape_file *file;
	struct shape_pattern *patterns;
	size_t pattern_count;
	const struct expr *what;	/* of the line with its kind */
	const struct expr *more;	/* length, count, value,
					 * nanoseconds */
	/* LIST, TREE; of a node, but for the last two, which may be missing */
	const struct expr *next, *left, *right, *parent, *count, *end;
	bool path;			/* ... and is a path, its last name first */
	/* VARIANT: of the value; of a union in it; of its head */
	const struct expr *cases, *head, *tail;
	bool entries;			/* elements are keys with values */
	const struct expr *values[SHAPE_TUPLE_MAX];	/* TUPLE */
	unsigned int value_count;
	const char *leaf;		/* LEAVES */
};

struct shape_file {
	struct shape_file *next;
	struct tsf *memory;
	struct diag *diag;
	char *name;
	struct shape *shapes;
	size_t count;
	enum shape_language language;	/* of the next one */
};

struct shapes {
	struct shape_file *first, **last;
	int level;		/* of messages, as diag_open() has it */
};

/* A file, or the files *.shapes in a directory. 0, or -1 after messages. */
int shapes_add(struct shapes *shapes, const char *path);
/* Those that trcust has itself. */
int shapes_add_own(struct shapes *shapes);
/* From memory; out NULL: no messages. */
int shapes_add_text(struct shapes *shapes, const char *name, const char *text,
		    size_t size, void *out);
void shapes_free(struct shapes *shapes);
/* The next one after `shape` (NULL: the first) that has a pattern for the name
 * of a type in a unit of the language. */
const struct shape *shapes_find(const struct shapes *shapes,
				const struct shape *shape,
				enum shape_language language, const char *name,
				const struct shape_pattern **pattern);

#endif
