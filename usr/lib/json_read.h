/* SPDX-License-Identifier: GPL-2.0 */
/*
 * JSON (RFC 8259) from any bytes: the text becomes a tree, or is refused with the
 * place of the first error. What nests deeper than JSON_DEPTH_MAX, or has more
 * than JSON_NODES_MAX values, is refused, too.
 */
#ifndef LIB_JSON_READ_H
#define LIB_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "error.h"

#define JSON_DEPTH_MAX	64
#define JSON_NODES_MAX	(1u << 18)

enum json_kind {
	JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_ARRAY,
	JSON_OBJECT,
};

struct json_node {
	enum json_kind kind;
	/* of a member of an object; NULL: none. Like `text`, in UTF-8 as far as
	 * the source is, with a zero after it and perhaps in it */
	const char *key;
	size_t key_length;
	const char *text;	/* TEXT */
	size_t length;
	const char *source;	/* the value as written */
	size_t source_length;
	struct json_node *first, *next;	/* ARRAY, OBJECT: children; in order */
};

struct json_tree {
	struct json_node *root;
	void *memory;		/* of nodes, in blocks */
	char *texts;		/* decoded strings */
};

/* The text must last as long as the tree. 0, -EINVAL or -ENOMEM with err set;
 * json_tree_free() in any case. */
int json_read(struct json_tree *tree, const char *text, size_t size,
	      struct error *err);
void json_tree_free(struct json_tree *tree);

/* The member of an object, of several with the name the last one. NULL: it has
 * none, or the node is no object or NULL. */
const struct json_node *json_member(const struct json_node *node,
				    const char *key);
/* The text, without a zero in it; NULL: the node is no text or NULL. */
const char *json_node_text(const struct json_node *node);
bool json_node_is(const struct json_node *node, const char *text);
/* An integer of 64 bits; false: the node is something else. */
bool json_node_integer(const struct json_node *node, int64_t *value);

#endif
