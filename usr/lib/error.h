/* SPDX-License-Identifier: GPL-2.0 */
/* What went wrong: libraries fill this in, main() prints it. */
#ifndef LIB_ERROR_H
#define LIB_ERROR_H

struct error {
	char text[1024];	/* lower case, no full stop, may be "" */
	char hint[512];		/* what to do about it, or "" */
};

/* Store the text and return `code` (a negative errno). err may be NULL. */
int error_set(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same of memory that has run out, -ENOMEM. */
int error_no_memory(struct error *err);

/* Add what to do; returns nothing, for use after error_set(). */
void error_hint(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Put what it is about in front of the text. */
void error_prefix(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Print "PROGRAM: text" and the hint on a line of its own to stderr. */
void error_print(const char *program, const struct error *err);

/* Has what stdio holds arrived at standard output? 0; or 1 after "PROGRAM: FAILED:
 * why". Each process has to look for itself. */
int error_check_stdout(const char *program, const char *failed);

#endif
