/* SPDX-License-Identifier: GPL-2.0 */
/* JSON on stdout: commas and quoting are done here. */
#ifndef TRACE_JSON_H
#define TRACE_JSON_H

#include <stdbool.h>
#include <stdint.h>

/* key is NULL inside arrays and at the top. */
void json_open(const char *key, char bracket);	/* '{' or '[' */
void json_close(char bracket);			/* '}' or ']' */
void json_string(const char *key, const char *value);
void json_number(const char *key, uint64_t value);
void json_boolean(const char *key, bool value);
void json_null(const char *key);

#endif
