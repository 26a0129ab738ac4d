// SPDX-License-Identifier: GPL-2.0
/* JSON: strings and numbers of any bytes, and documents in each style. */
#include <stdio.h>
#include <stdlib.h>
#include <tap.h>
#include "lib/json.h"

static void test_strings(void)
{
	static const struct {
		const char *bytes, *json;
		bool lost;
	} rows[] = {
		{ "", "\"\"" },
		{ "plain", "\"plain\"" },
		{ "more than eight", "\"more than eight\"" },
		{ "a\"b\\c/d", "\"a\\\"b\\\\c/d\"" },
		{ "12345678\"", "\"12345678\\\"\"" },
		{ "1234567\x7f" "9", "\"1234567\\u007F9\"" },
		{ "\b\t\n\v\f\r\033[m", "\"\\b\\t\\n\\u000B\\f\\r\\u001B[m\"" },
		{ "gr\xc3\xb6\xc3\x9f" "e", "\"gr\xc3\xb6\xc3\x9f" "e\"" },
		{ "\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa",
		  "\"\\u2028\\u2029\xe2\x80\xaa\"" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
		{ "a\xff", "\"a\xef\xbf\xbd\"", true },
		{ "\xc2\x9b" "31m", "\"\xef\xbf\xbd\xef\xbf\xbd" "31m\"", true },
		{ "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"",
		  true },
		{ "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"", true },
		{ "1234567\xe2\x82", "\"1234567\xef\xbf\xbd\xef\xbf\xbd\"",
		  true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t n = strlen(rows[i].bytes);
		char *text = malloc(JSON_STRING_ROOM(n) + 1);
		enum json_bytes invalid = JSON_BYTES_NONE;

		*json_put_checked(text, rows[i].bytes, n, &invalid) = '\0';
		tap_str(text, rows[i].json, "string %zu", i);
		tap_is(invalid, rows[i].lost, "and whether it is text");
		free(text);
	}
}

static void test_floats(void)
{
	static const struct {
		double value;
		const char *json;
	} rows[] = {
		{ 1.5, "1.5" }, { -0.1, "-0.1" }, { 1e300, "1e+300" },
		{ 0, "0" }, { -0.0, "-0.0" },
		{ __builtin_inf(), "\"Infinity\"" },
		{ -__builtin_inf(), "\"-Infinity\"" },
		{ __builtin_nan(""), "\"NaN\"" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[128];

		*json_put_float(text, (const uint8_t *)&rows[i].value, 8) =
			'\0';
		tap_str(text, rows[i].json, "float %zu", i);
	}
}

/* Around every power of ten; nothing after the 20 digits is written. */
static void test_decimals(void)
{
	char made[64], expected[64];
	uint64_t power = 1;
	bool good = true;

	for (int digits = 0; digits < 20; digits++, power *= 10)
		for (int more = -2; more <= 2; more++) {
			memset(made, '#', sizeof(made));
			char *end = text_put_decimal(made, power + more);

			good &= made[20] == '#';
			*end = '\0';
			sprintf(expected, "%llu",
				(unsigned long long)(power + more));
			good &= !strcmp(made, expected);
		}
	tap_ok(good, "decimal numbers of 1 to 20 digits");
	good = true;
	for (uint32_t value = 0; value < 1000000000; value += 99991) {
		*text_put_nine(made, value) = '\0';
		sprintf(expected, "%09u", value);
		good &= !strcmp(made, expected);
	}
	tap_ok(good, "nine digits with zeros in front");
}

static void test_documents(void)
{
	static const struct {
		enum json_style style;
		const char *text;
	} rows[] = {
		{ JSON_COMPACT,
		  "{\"a\":\"<\",\"b\":[1,-2,[]],\"c\":{\"d\":true,\"e\":null}}" },
		{ JSON_LINES,
		  "{\"a\": \"<\", \"b\": [1,\n-2,\n[]], "
		  "\"c\": {\"d\": true, \"e\": null}}\n" },
		{ JSON_INDENTED,
		  "{\n  \"a\": \"<\",\n  \"b\": [\n    1,\n    -2,\n    []\n  ],"
		  "\n  \"c\": {\n    \"d\": true,\n    \"e\": null\n  }\n}\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct text text;
		struct json json = { .text = &text, .style = rows[i].style };

		text_open(&text, -1);
		json_open(&json, NULL, '{');
		json_string(&json, "a", "<");
		json_open(&json, "b", '[');
		json_number(&json, NULL, 1);
		json_signed(&json, NULL, -2);
		json_open(&json, NULL, '[');
		json_close(&json, ']');
		json_close(&json, ']');
		json_open(&json, "c", '{');
		json_boolean(&json, "d", true);
		json_null(&json, "e");
		json_close(&json, '}');
		json_close(&json, '}');
		text_add_char(&text, 0);
		tap_str(text.data, rows[i].text, "style %zu", i);
		tap_is(text.error, 0, "there was memory");
		text.used = 0;
		json.html = true;
		json.follows = false;
		json_string(&json, NULL, "</script>");
		text_add_char(&text, 0);
		tap_str(text.data, "\"\\u003c/script>\"", "for HTML");
		free(text.data);
	}
}

int main(void)
{
	test_strings();
	test_decimals();
	test_floats();
	test_documents();
	return tap_done();
}
