/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Places in a document as editors count them: lines, and in a line UTF-16 code
 * units or bytes. What is no UTF-8 counts as a unit for each byte. A line ends
 * with \n, \r\n or \r.
 */
#ifndef TRCUST_LSP_TEXT_H
#define TRCUST_LSP_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include "lib/json.h"
#include "trcust/tsf/diag.h"

enum lsp_encoding { LSP_UTF16, LSP_UTF8 };

struct lsp_position {
	uint32_t line, character;	/* from 0 */
};

struct lsp_range {
	struct lsp_position start, end;
};

/* What is beyond the end of the line or of the text is at that end. */
size_t lsp_text_offset(const char *text, size_t size,
		       struct lsp_position position, enum lsp_encoding encoding);
struct lsp_position lsp_text_position(const char *text, size_t size,
				      size_t offset, enum lsp_encoding encoding);
/* Of [start, end). */
struct lsp_range lsp_text_range(const char *text, size_t size, size_t start,
				size_t end, enum lsp_encoding encoding);
/* The bytes that a message of the compiler marks; of one without a place the
 * first line. */
void lsp_text_marked(const char *text, size_t size, struct srcpos pos,
		     size_t *start, size_t *end);
void lsp_text_json(struct json *json, const char *key,
		   const struct lsp_range *range);

#endif
