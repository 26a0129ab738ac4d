/* SPDX-License-Identifier: GPL-2.0 */
/* The processes that have a module in memory. */
#ifndef TRACE_HOLDERS_H
#define TRACE_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/buffer.h>
#include "lib/identity.h"

enum holder_kind {
	HOLDER_ARMED,		/* the very file that is armed */
	HOLDER_COPY,		/* another file of the same build */
	HOLDER_OTHER,		/* another build */
};

struct holder {
	uint32_t pid;
	char comm[16];
	enum holder_kind kind;
	struct identity id;	/* of what it has, unless ARMED */
	uint64_t started;	/* CLOCK_BOOTTIME, ns */
};

struct holders {
	struct holder *items;
	size_t count;
	size_t unseen;		/* processes that can't be looked into; of the
				 * first: */
	uint32_t unseen_pid;
	int unseen_cause;	/* errno */
};

/* Who has code of a file at the session's path of its module. 0 or -ENOMEM. */
int holders_find(struct holders *holders, const struct ras_session *entry,
		 struct error *err);
void holders_free(struct holders *holders);

#endif
