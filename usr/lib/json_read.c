// SPDX-License-Identifier: GPL-2.0
#include "json_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_NODES	512

struct node_block {
	struct node_block *before;
	struct json_node nodes[BLOCK_NODES];
};

struct json_reader {
	struct json_tree *tree;
	const char *start, *at, *end;
	char *text;		/* where the next decoded string goes */
	size_t count;		/* of nodes */
	unsigned int depth;
	struct error *err;
	int code;
};

static bool reader_fail(struct json_reader *r, const char *what)
{
	if (!r->code)
		r->code = error_set(r->err, -EINVAL, "JSON: %s at byte %zu",
				    what, (size_t)(r->at - r->start));
	return false;
}

static struct json_node *json_node_add(struct json_reader *r)
{
	struct node_block *block = r->tree->memory;

	if (r->count == JSON_NODES_MAX) {
		reader_fail(r, "too many values");
		return NULL;
	}
	if (r->count % BLOCK_NODES == 0) {
		block = calloc(1, sizeof(*block));
		if (!block) {
			r->code = error_no_memory(r->err);
			return NULL;
		}
		block->before = r->tree->memory;
		r->tree->memory = block;
	}
	return &block->nodes[r->count++ % BLOCK_NODES];
}

static void reader_blanks(struct json_reader *r)
{
	while (r->at < r->end && memchr(" \t\r\n", *r->at, 4))
		r->at++;
}

static bool reader_take(struct json_reader *r, char c)
{
	reader_blanks(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* Four hexadecimal digits; false: there are none. */
static bool read_unit(struct json_reader *r, uint32_t *unit)
{
	*unit = 0;
	if (r->end - r->at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = r->at[i], lower = c | 0x20;

		if (c >= '0' && c <= '9')
			*unit = *unit << 4 | (c - '0');
		else if (lower >= 'a' && lower <= 'f')
			*unit = *unit << 4 | (lower - 'a' + 10);
		else
			return false;
	}
	r->at += 4;
	return true;
}

static void put_rune(struct json_reader *r, uint32_t rune)
{
	if (rune < 0x80) {
		*r->text++ = rune;
		return;
	}
	if (rune < 0x800) {
		*r->text++ = 0xc0 | rune >> 6;
	} else {
		if (rune < 0x10000) {
			*r->text++ = 0xe0 | rune >> 12;
		} else {
			*r->text++ = 0xf0 | rune >> 18;
			*r->text++ = 0x80 | (rune >> 12 & 0x3f);
		}
		*r->text++ = 0x80 | (rune >> 6 & 0x3f);
	}
	*r->text++ = 0x80 | (rune & 0x3f);
}

/* After "\u". A half of a pair that has no other half is U+FFFD. */
static bool read_rune(struct json_reader *r)
{
	uint32_t unit, low;
	const char *after;

	if (!read_unit(r, &unit))
		return reader_fail(r, "four digits expected");
	if (unit >= 0xd800 && unit < 0xdc00 && r->end - r->at >= 6 &&
	    r->at[0] == '\\' && r->at[1] == 'u') {
		after = r->at;
		r->at += 2;
		if (read_unit(r, &low) && low >= 0xdc00 && low < 0xe000) {
			put_rune(r, 0x10000 + ((unit - 0xd800) << 10) +
				    (low - 0xdc00));
			return true;
		}
		r->at = after;
	}
	put_rune(r, unit >= 0xd800 && unit < 0xe000 ? 0xfffd : unit);
	return true;
}

/* A decoded string has at most as many bytes as its source, quotes included,
 * with the zero after it. */
static bool read_string(struct json_reader *r, const char **text, size_t *length)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *name;

	*text = r->text;
	if (!reader_take(r, '"'))
		return reader_fail(r, "a string expected");
	while (r->at < r->end && *r->at != '"') {
		if ((unsigned char)*r->at < 0x20)
			return reader_fail(r, "a control character");
		if (*r->at != '\\') {
			*r->text++ = *r->at++;
			continue;
		}
		if (++r->at == r->end)
			break;
		name = *r->at ? strchr(names, *r->at) : NULL;
		if (!name && *r->at != 'u')
			return reader_fail(r, "an unknown escape sequence");
		r->at++;
		if (name)
			*r->text++ = values[name - names];
		else if (!read_rune(r))
			return false;
	}
	if (r->at == r->end)
		return reader_fail(r, "a string that does not end");
	r->at++;
	*length = r->text - *text;
	*r->text++ = '\0';
	return true;
}

static size_t digits_skip(struct json_reader *r)
{
	const char *start = r->at;

	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
	return r->at - start;
}

static bool json_number_skip(struct json_reader *r)
{
	const char *start;
	size_t digits;

	r->at += *r->at == '-';
	start = r->at;
	digits = digits_skip(r);
	if (!digits || (digits > 1 && *start == '0'))
		return reader_fail(r, "a value expected");
	if (r->at < r->end && *r->at == '.') {
		r->at++;
		if (!digits_skip(r))
			return reader_fail(r, "a digit expected");
	}
	if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
		r->at++;
		r->at += r->at < r->end && (*r->at == '+' || *r->at == '-');
		if (!digits_skip(r))
			return reader_fail(r, "a digit expected");
	}
	return true;
}

static bool read_value(struct json_reader *r, struct json_node *node);

static bool read_children(struct json_reader *r, struct json_node *node,
			  char closer)
{
	struct json_node **link = &node->first;

	r->at++;
	if (++r->depth > JSON_DEPTH_MAX)
		return reader_fail(r, "brackets nest too deep");
	if (reader_take(r, closer)) {
		r->depth--;
		return true;
	}
	do {
		struct json_node *child = json_node_add(r);

		if (!child)
			return false;
		if (closer == '}' && (!read_string(r, &child->key,
						   &child->key_length) ||
				      (!reader_take(r, ':') &&
				       !reader_fail(r, "':' expected"))))
			return false;
		if (!read_value(r, child))
			return false;
		*link = child;
		link = &child->next;
	} while (reader_take(r, ','));
	r->depth--;
	return reader_take(r, closer) ||
	       reader_fail(r, "',' or a closing bracket expected");
}

static bool read_value(struct json_reader *r, struct json_node *node)
{
	static const struct {
		const char *word;
		enum json_kind kind;
	} words[] = {
		{ "null", JSON_NULL }, { "true", JSON_TRUE },
		{ "false", JSON_FALSE },
	};
	bool known = false;

	reader_blanks(r);
	node->source = r->at;
	if (r->at == r->end)
		return reader_fail(r, "a value expected");
	switch (*r->at) {
	case '{':
		node->kind = JSON_OBJECT;
		known = read_children(r, node, '}');
		break;
	case '[':
		node->kind = JSON_ARRAY;
		known = read_children(r, node, ']');
		break;
	case '"':
		node->kind = JSON_TEXT;
		known = read_string(r, &node->text, &node->length);
		break;
	default:
		for (size_t i = 0; i < 3 && !known; i++) {
			size_t length = strlen(words[i].word);

			known = (size_t)(r->end - r->at) >= length &&
				!memcmp(r->at, words[i].word, length);
			if (!known)
				continue;
			node->kind = words[i].kind;
			r->at += length;
		}
		if (!known) {
			node->kind = JSON_NUMBER;
			known = json_number_skip(r);
		}
	}
	node->source_length = r->at - node->source;
	return known;
}

int json_read(struct json_tree *tree, const char *text, size_t size,
	      struct error *err)
{
	struct json_reader r = {
		.tree = tree, .start = text, .at = text, .end = text + size,
		.err = err,
	};

	*tree = (struct json_tree) { 0 };
	tree->texts = malloc(size + 1);
	if (!tree->texts)
		return error_no_memory(err);
	r.text = tree->texts;
	tree->root = json_node_add(&r);
	if (tree->root && read_value(&r, tree->root)) {
		reader_blanks(&r);
		if (r.at != r.end)
			reader_fail(&r, "more than one value");
	}
	return r.code;
}

void json_tree_free(struct json_tree *tree)
{
	struct node_block *block = tree->memory, *before;

	for (; block; block = before) {
		before = block->before;
		free(block);
	}
	free(tree->texts);
	*tree = (struct json_tree) { 0 };
}

const struct json_node *json_member(const struct json_node *node,
				    const char *key)
{
	const struct json_node *found = NULL;

	if (!node || node->kind != JSON_OBJECT)
		return NULL;
	for (const struct json_node *p = node->first; p; p = p->next)
		if (p->key_length == strlen(key) &&
		    !memcmp(p->key, key, p->key_length))
			found = p;
	return found;
}

const char *json_node_text(const struct json_node *node)
{
	return node && node->kind == JSON_TEXT &&
	       !memchr(node->text, 0, node->length) ? node->text : NULL;
}

bool json_node_is(const struct json_node *node, const char *text)
{
	const char *own = json_node_text(node);

	return own && !strcmp(own, text);
}

bool json_node_integer(const struct json_node *node, int64_t *value)
{
	char *end, text[24];

	if (!node || node->kind != JSON_NUMBER ||
	    node->source_length >= sizeof(text))
		return false;
	memcpy(text, node->source, node->source_length);
	text[node->source_length] = '\0';
	errno = 0;
	*value = strtoll(text, &end, 10);
	return !*end && !errno;
}
