/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages about a TSF, from include/rastrace/diag.def:
 *
 *	app.tsf:12:7: error: symbol not found: fooo [TRCERR_BADSYMBOL]
 *	   12 |       TP=.fooo,
 *	      |           ^~~~
 *	      | near names: foo, food
 */
#ifndef TRCUST_DIAG_H
#define TRCUST_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

enum diag_severity { DIAG_FATAL, DIAG_SEVERE, DIAG_ERROR, DIAG_WARNING };

enum diag_id {
#define DIAG(severity, name, text, meaning) TRCERR_##name,
#include <rastrace/diag.def>
#undef DIAG
	TRCERR_COUNT
};

/* A place in the TSF; line 0: none. */
struct srcpos {
	uint32_t line;		/* from 1 */
	uint32_t column;	/* from 1, in bytes */
	uint32_t length;	/* of what is marked, at least 1 */
};

struct diag;

/*
 * Read the TSF at path (NULL: messages without a file) and print messages
 * about it to stderr, up to `level` (the manual's /W0, /W1, /W2). 0, or -1
 * after TRCERR_NO_FILE and the like.
 */
int diag_open(struct diag **diag, const char *path, int level);
/* The same for text in memory; out may be NULL for silence (tests, fuzzing). */
int diag_open_text(struct diag **diag, const char *name, const char *text,
		   size_t size, int level, void *out_file);
void diag_close(struct diag *diag);

/* A message, or a line below the last one. */
struct diag_note {
	enum diag_severity severity;
	const char *name;	/* "TRCERR_BADSYMBOL"; NULL: a line below */
	struct srcpos pos;	/* line 0: none */
	const char *text;	/* without place, severity and name */
};

/* What would be printed goes to take() instead. */
void diag_divert(struct diag *diag,
		 void (*take)(void *context, const struct diag_note *note),
		 void *context);

const char *diag_path(const struct diag *diag);
const char *diag_text(const struct diag *diag, size_t *size);

/*
 * Report one; the arguments fill the %s of the table's text (all strings).
 * This is how all of trcust reports what is wrong with a TSF. The parser
 * calls it through parser_report(), which also notes what follows from it.
 */
void diag_report(struct diag *diag, struct srcpos pos, enum diag_id id, ...);
enum diag_severity diag_vreport(struct diag *diag, struct srcpos pos,
				enum diag_id id, va_list args);

/*
 * Report what a library returned: `code` is its negative errno, from which
 * the message follows (ENOENT: TRCERR_NO_FILE, ENOMEM: TRCERR_NO_MEM, ...),
 * path the input that can't be used, err (may be NULL) the library's text and
 * hint, which become lines below the message. Nothing else turns a struct
 * error into a message about a TSF.
 */
void diag_report_error(struct diag *diag, struct srcpos pos, const char *path,
		       int code, const struct error *err);
/* Report TRCERR_NO_MEM; returns -1. */
int diag_no_memory(struct diag *diag, struct srcpos pos);

/* A line below the last message: what to do, near names, more of the cause.
 * Shown only when that message was. */
void diag_hint(struct diag *diag, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Below the last message, an error `id`: where the manual's text has only
 * "ignored", a line that the tracepoint is discarded. */
void diag_hint_discarded(struct diag *diag, enum diag_id id);

/* "error" */
const char *diag_severity_name(enum diag_severity severity);

/* How many of a severity were met (shown or not). */
unsigned int diag_count(const struct diag *diag, enum diag_severity severity);
/* TRCERR_NO_MEM was met. */
bool diag_exhausted(const struct diag *diag);

#endif
