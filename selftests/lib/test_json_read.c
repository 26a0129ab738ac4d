// SPDX-License-Identifier: GPL-2.0
/* JSON that is read: values of each kind, what is refused and where, limits. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <tap.h>
#include "lib/json_read.h"

static void test_valid(void)
{
	static const char text[] =
		" {\"a\": [1, -20, 3.5e+1, null, true, false, []],\n"
		"\"b\":{\"c\":\"x\\u0041\\n\\\"\\u00e4\\ud83d\\ude00\\ud800y\"},"
		"\"\":{},\"a\\u0000\":9223372036854775807,\"z\":\"\\u0000\"} ";
	struct error err = { 0 };
	struct json_tree tree;
	const struct json_node *a;
	int64_t number;

	tap_is(json_read(&tree, text, sizeof(text) - 1, &err), 0,
	       "a text is read: %s", err.text);
	a = json_member(tree.root, "a")->first;
	tap_ok(json_node_integer(a, &number) && number == 1, "an integer");
	a = a->next;
	tap_ok(json_node_integer(a, &number) && number == -20,
	       "a negative one");
	a = a->next;
	tap_ok(a->kind == JSON_NUMBER && !json_node_integer(a, &number),
	       "a fraction is a number, and no integer");
	tap_ok(a->source_length == 6 && !memcmp(a->source, "3.5e+1", 6),
	       "as written");
	a = a->next;
	tap_is(a->kind, JSON_NULL, "null");
	tap_is(a->next->kind, JSON_TRUE, "true");
	tap_is(a->next->next->kind, JSON_FALSE, "false");
	a = a->next->next->next;
	tap_ok(a->kind == JSON_ARRAY && !a->first && !a->next,
	       "an empty array is the last element");
	tap_str(json_node_text(json_member(json_member(tree.root, "b"), "c")),
		"xA\n\"\xc3\xa4\xf0\x9f\x98\x80\xef\xbf\xbdy",
		"escapes, a pair, half of a pair");
	tap_is(json_member(tree.root, "")->kind, JSON_OBJECT, "an empty key");
	a = json_member(tree.root, "z");
	tap_ok(a && a->length == 1 && !json_node_text(a),
	       "a zero in a string is no end of it");
	tap_ok(!json_member(tree.root, "b\"") && !json_member(a, "x") &&
	       !json_member(NULL, "x"), "members that are not there");
	json_tree_free(&tree);

	json_read(&tree, "{\"a\":1,\"a\":2}", 13, &err);
	tap_ok(json_node_integer(json_member(tree.root, "a"), &number) &&
	       number == 2, "of two members with a name it is the last");
	json_tree_free(&tree);
	json_read(&tree, "99999999999999999999", 20, &err);
	tap_ok(!json_node_integer(tree.root, &number), "more than 64 bits");
	json_tree_free(&tree);
}

static void test_refused(void)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "", "JSON: a value expected at byte 0" },
		{ " ", "JSON: a value expected at byte 1" },
		{ "{", "JSON: a string expected at byte 1" },
		{ "[1", "JSON: ',' or a closing bracket expected at byte 2" },
		{ "[1,]", "JSON: a value expected at byte 3" },
		{ "{\"a\" 1}", "JSON: ':' expected at byte 5" },
		{ "{\"a\":}", "JSON: a value expected at byte 5" },
		{ "{a:1}", "JSON: a string expected at byte 1" },
		{ "\"abc", "JSON: a string that does not end at byte 4" },
		{ "\"abc\\", "JSON: a string that does not end at byte 5" },
		{ "\"\\x\"", "JSON: an unknown escape sequence at byte 2" },
		{ "\"\\u12g4\"", "JSON: four digits expected at byte 3" },
		{ "\"\\u12", "JSON: four digits expected at byte 3" },
		{ "\"a\nb\"", "JSON: a control character at byte 2" },
		{ "01", "JSON: a value expected at byte 2" },
		{ "-", "JSON: a value expected at byte 1" },
		{ "1.", "JSON: a digit expected at byte 2" },
		{ "1e", "JSON: a digit expected at byte 2" },
		{ "nul", "JSON: a value expected at byte 0" },
		{ "1 2", "JSON: more than one value at byte 2" },
		{ "[]]", "JSON: more than one value at byte 2" },
		{ "'a'", "JSON: a value expected at byte 0" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct error err = { 0 };
		struct json_tree tree;

		tap_is(json_read(&tree, rows[i].text, strlen(rows[i].text),
				 &err), -EINVAL, "row %zu is refused", i);
		tap_str(err.text, rows[i].message, "with the place");
		json_tree_free(&tree);
	}
}

static void test_limits(void)
{
	size_t size = 2 * (JSON_NODES_MAX + 8);
	char *text = malloc(size);
	struct error err = { 0 };
	struct json_tree tree;

	memset(text, '[', JSON_DEPTH_MAX);
	memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	tap_is(json_read(&tree, text, 2 * JSON_DEPTH_MAX, &err), 0,
	       "brackets as deep as they may be");
	json_tree_free(&tree);
	memset(text, '[', size);
	tap_is(json_read(&tree, text, size, &err), -EINVAL, "and deeper");
	tap_str(err.text, "JSON: brackets nest too deep at byte 65",
		"are refused there");
	json_tree_free(&tree);
	memcpy(text, "[1", 2);
	for (size_t i = 2; i < size; i += 2)
		memcpy(text + i, ",1", 2);
	err = (struct error) { 0 };
	tap_is(json_read(&tree, text, size, &err), -EINVAL,
	       "too many values");
	tap_ok(strstr(err.text, "too many values") != NULL, "%s", err.text);
	json_tree_free(&tree);
	free(text);
}

int main(void)
{
	test_valid();
	test_refused();
	test_limits();
	return tap_done();
}
