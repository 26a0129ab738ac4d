/* SPDX-License-Identifier: GPL-2.0 */
/* The words of the language that are not names, for lists and editors. */
#ifndef TRCUST_KEYWORD_H
#define TRCUST_KEYWORD_H

#include <stddef.h>

struct keyword {
	const char *word;
	const char *clause;	/* whose value it may be, or that it is a part
				 * of; "" of the header, "TRACE" of a
				 * tracepoint */
	const char *help;	/* one line, lower case, no full stop */
};

/* The words in order, one at each call: begin at *at = 0. NULL: no more. */
const struct keyword *keyword_next(size_t *at);

#endif
