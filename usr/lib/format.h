/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Formatting strings (manual 1.3.5.7): compiled once per tracepoint into
 * steps, run per record. trcust compiles them too, to warn about controls
 * that don't exist.
 */
#ifndef LIB_FORMAT_H
#define LIB_FORMAT_H

#include <stddef.h>
#include "error.h"

enum format_kind {
	FORMAT_TEXT,		/* literal text */
	FORMAT_CONTROL,		/* one letter of the manual or ours */
};

struct format_step {
	enum format_kind kind;
	char letter;		/* upper case: I P B W D F Q A R S U X Y L C */
	unsigned int count;	/* %Innn */
	const char *text;	/* FORMAT_TEXT: into format->text */
	size_t length;
	size_t at;		/* offset of the control in the string */
};

struct format {
	struct format_step *steps;
	size_t count;
	char *text;
	size_t unknown_at;	/* offset of the first unknown control, kept as
				 * text; (size_t)-1: none */
};

/* Never fails but for memory (-ENOMEM): what is no control is text. */
int format_compile(struct format *format, const char *string);
void format_free(struct format *format);

#endif
