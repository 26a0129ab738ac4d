/* SPDX-License-Identifier: GPL-2.0 */
/* JSON on stdout: commas and quoting are done here. */
#ifndef TRACE_JSON_H
#define TRACE_JSON_H

#include <stdbool.h>
#include <stdint.h>

/* key is NULL inside arrays and at the top. */
void query_json_open(const char *key, char bracket);	/* '{' or '[' */
void query_json_close(char bracket);			/* '}' or ']' */
void query_json_string(const char *key, const char *value);
void query_json_number(const char *key, uint64_t value);
void query_json_boolean(const char *key, bool value);
void query_json_null(const char *key);

#endif
