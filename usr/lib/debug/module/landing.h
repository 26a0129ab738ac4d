/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Landing pads: where the unwinder enters functions (Itanium C++ ABI: Exception
 * Handling, Tables).
 */
#ifndef TRCUST_LANDING_H
#define TRCUST_LANDING_H

#include "flow.h"

struct landings {
	struct landing {
		uint64_t start;		/* of the code */
		uint64_t table;		/* address of the table of its pads */
	} *list;		/* ascending */
	size_t count, room;
	bool known;		/* they were looked for */
};

/* 0 or -ENOMEM. */
int landings_find(struct landings *landings, const struct module *module);
void landings_free(struct landings *landings);

/* Mark the landing pads of the function FLOW_TARGET. */
void landings_mark(const struct landings *landings, struct flow *flow);

#endif
