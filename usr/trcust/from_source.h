/* SPDX-License-Identifier: GPL-2.0 */
/* The trace comments of a C or C++ source, each with the code after it. */
#ifndef TRCUST_FROM_SOURCE_H
#define TRCUST_FROM_SOURCE_H

#include "trcust/tsf/diag.h"

struct source_comment {
	bool head;		/* DTHEAD */
	struct srcpos pos;	/* of the comment */
	const char *text, *end;	/* between its begin and end marks */
	struct srcpos text_pos;
	uint32_t code_line;	/* first one with code after it; 0: none */
};

struct source_comments {
	struct source_comment *comments;
	size_t count, room;
};

/* diag was opened on the source. 0, or -1 after a message. */
int source_scan(struct diag *diag, struct source_comments *found);

#endif
