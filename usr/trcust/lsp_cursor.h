/* SPDX-License-Identifier: GPL-2.0 */
/* What is written around a place in a TSF, which may be unfinished there. */
#ifndef TRCUST_LSP_CURSOR_H
#define TRCUST_LSP_CURSOR_H

#include <stdbool.h>
#include <stddef.h>

/* Offsets are those of bytes in the text. */
struct lsp_cursor {
	bool in_text;		/* in a comment or a string */
	bool in_trace;		/* in a tracepoint, else in the header */
	size_t header_end;	/* where the first TRACE is, or the end */
	char clause[24];	/* in capitals, whose value is there; "": none */
	size_t value;		/* after its '=' */
	unsigned int depth;	/* parentheses around it in the value */
	bool keyword;		/* a clause may begin */
	size_t word, word_end;	/* the word around the place; may be empty */
	size_t chain;		/* the expression that ends with the word: where
				 * "a" is of "a->b[2].word" */
	size_t object_end;	/* of a member's word: where the object before
				 * the operator ends; 0: it is none */
	size_t tp, tp_end;	/* TP with RETEP of the tracepoint; equal if it
				 * has none */
};

/* False: no memory. */
bool lsp_cursor_find(struct lsp_cursor *cursor, const char *text, size_t size,
		     size_t offset);
/* The clause has an expression of VARS at the cursor. */
bool lsp_cursor_in_expression(const struct lsp_cursor *cursor);

#endif
