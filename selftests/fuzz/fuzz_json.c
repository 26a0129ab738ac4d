// SPDX-License-Identifier: GPL-2.0
/* Any bytes as JSON: read or refused; what was read is in the text and ends. */
#include <stdlib.h>
#include <string.h>
#include "lib/json_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct json_node *node, const char *text, size_t size)
{
	int64_t number;

	if (node->source < text || node->source_length > size ||
	    node->source + node->source_length > text + size)
		abort();
	if (node->kind == JSON_TEXT && node->text[node->length])
		abort();
	json_node_integer(node, &number);
	for (const struct json_node *p = node->first; p; p = p->next) {
		if (p->key && json_member(node, p->key) == NULL &&
		    strlen(p->key) == p->key_length)
			abort();
		walk(p, text, size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);	/* exactly, so that no byte more is read */
	struct json_tree tree;
	struct error err;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	if (!json_read(&tree, text, size, &err))
		walk(tree.root, text, size);
	json_tree_free(&tree);
	free(text);
	return 0;
}
