/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A CALL: entry and exits of a function as one tracepoint, which keeps what the
 * entry logs until the exit.
 */
#ifndef TRCUST_WHOLE_H
#define TRCUST_WHOLE_H

#include "emit.h"

static inline bool whole_is_entry(const struct compile_site *site)
{
	return site->flags & TDF_SITE_ENTRY;
}

/* Which statements of the TSF are logged at the site? */
static inline bool whole_logs(const struct compile_point *point,
			      const struct compile_site *site,
			      const struct tsf_stmt *stmt)
{
	return !point->tsf->tp.whole ||
	       (stmt->kind != TSF_ELAPSED &&
		stmt->at_exit == !whole_is_entry(site));
}

/* Of those that aren't left out, is one an entry and one an exit, if it is a CALL? 0,
 * or 1 after a message. */
int whole_sites_check(const struct compilation *c,
		      const struct compile_point *point);
/* What IF and RESULT take of the entry becomes point->entries. 0, 1, -1. */
int whole_entries_find(const struct compilation *c,
		       struct compile_point *point);
/* What comes before the statements of a site: which call it is; at the entry the
 * values that exits use. */
int whole_site_begin(const struct site_stmt *s,
		     const struct compile_point *point);

#endif
