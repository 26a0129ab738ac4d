/* SPDX-License-Identifier: GPL-2.0 */
/* What precedes a field that may be missing, and what follows then. */
#ifndef TRACEFMT_CTF_STATUS_H
#define TRACEFMT_CTF_STATUS_H

#include "ctf_buffer.h"

enum ctf_content {
	CTF_CONTENT_VALUE,
	CTF_CONTENT_POINTER,	/* struct at_pointer */
	CTF_CONTENT_NOTHING,	/* struct nothing */
	CTF_CONTENT_BYTES,	/* struct bytes */
	CTF_CONTENT_NOT_TEXT,	/* struct not_text */
	CTF_CONTENT_TEXT,	/* string */
};

enum ctf_status {
	CTF_STATUS_VALUE,
	CTF_STATUS_EMPTY,
	CTF_STATUS_NOT_TEXT,
	CTF_STATUS_CUT,
	CTF_STATUS_NO_END,
	CTF_STATUS_TOO_SHORT,
	CTF_STATUS_NOT_READABLE,
	CTF_STATUS_BAD_SELECTOR,
	CTF_STATUS_LEFT_ALONE,
	CTF_STATUS_NOT_TRIED,
	CTF_STATUS_CALLER,
	CTF_STATUS_DIVISION,
	CTF_STATUS_ABSENT,
	CTF_STATUS_NOT_TRACED,
	CTF_STATUS_NOT_FORMATTED,
	CTF_STATUS_CUT_BEFORE,
	CTF_STATUS_INCOMPLETE,
	CTF_STATUS_NO_PREFIX,
	CTF_STATUS_OTHER_ITEM,
	CTF_STATUS_AS_TEXT,
	CTF_STATUS_KINDS,
};

extern const struct ctf_status_entry {
	const char *name;
	enum ctf_content content;
} ctf_statuses[CTF_STATUS_KINDS];

/* Type of a content; NULL: the field's own. */
extern const char *const ctf_content_types[];

/* enum status, and the types that follow one. */
void ctf_status_tsdl(struct ctf_buffer *tsdl);

#endif
