/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A picture of the live buffer, in the form of the .ras file. Taken without
 * disturbing writers; `trace get` writes it out, `tracefmt` prints it. Needs
 * the bpf system call and nothing else.
 */
#ifndef LIB_SNAPSHOT_H
#define LIB_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include "lib/error.h"
#include "lib/outfile.h"

struct snapshot_settings {
	bool bundle;		/* with the TFFs of what is armed */
	int pack;		/* compress: RAS_PACKED_*, 0 not */
};

/*
 * run = the rastrace bpffs directory ("/run/rastrace"). The caller frees
 * *data. 0, or a negative errno with err set: -ENOENT when there is no buffer.
 */
int snapshot_take(const char *run, void **data, size_t *size,
		  struct error *err);
/* Write the picture to a file, which is committed, or aborted. */
int snapshot_save(const char *run, struct outfile *out,
		  const struct snapshot_settings *settings, struct error *err);

#endif
