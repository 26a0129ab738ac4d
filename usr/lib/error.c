// SPDX-License-Identifier: GPL-2.0
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "text.h"

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return code;
	err->hint[0] = '\0';
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	return code;
}

int error_no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

void error_hint(struct error *err, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, args);
	va_end(args);
}

void error_prefix(struct error *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	size_t length;
	va_list args;

	if (!err)
		return;
	strcpy(text, err->text);
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	length = strlen(err->text);
	snprintf(err->text + length, sizeof(err->text) - length, "%s", text);
}

static void error_line_print(const char *program, const char *text)
{
	fprintf(stderr, "%s: ", program);
	safe_text_print(stderr, text, true);
	fputc('\n', stderr);
}

void error_print(const char *program, const struct error *err)
{
	error_line_print(program, err->text);
	if (err->hint[0])
		error_line_print(program, err->hint);
}

int error_check_stdout(const char *program, const char *failed)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	fprintf(stderr, "%s: %s: %s\n", program, failed, strerror(errno));
	return 1;
}
