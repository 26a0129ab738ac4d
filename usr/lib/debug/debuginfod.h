/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Debug files of debuginfod servers, those of DEBUGINFOD_URLS, by libdebuginfod,
 * which is loaded if it is installed and keeps what it has got.
 */
#ifndef DEBUG_DEBUGINFOD_H
#define DEBUG_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

struct debuginfod {
	bool off;		/* no server answers: none is asked any more */
	struct error why;	/* then */
};

/* Is there a server to ask? */
bool debuginfod_is_configured(void);
/*
 * The debug file of a build-id, as a descriptor. -ENOENT: no server has it;
 * -ENOSYS: there is no server, or no library; or another negative errno: a server
 * does not answer in time, and `off` is set. It waits 10 seconds for the answer,
 * and for each further piece of it, or as long as DEBUGINFOD_TIMEOUT says.
 */
int debuginfod_fetch(struct debuginfod *server, const uint8_t *id,
		     size_t length);

#endif
