/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files that armed sessions have probes in. A lease on each (fcntl(2),
 * F_SETLEASE) makes the kernel ask, by SIGIO, before it lets a file be opened for
 * writing, and wait until the lease is given up. Without a lease
 * the file's times show that it was written to.
 */
#ifndef TRACE_KEEP_FILES_H
#define TRACE_KEEP_FILES_H

#include "lib/buffer/session.h"

struct keep_file {
	uint16_t session;
	int fd;			/* -1: it can't be opened */
	bool leased;
	bool seen;		/* in this look */
};

struct keep_files {
	struct keep_file *items;
	size_t count;
};

/* Follow the sessions that are armed now, and no others. */
void keep_files_look(struct keep_files *files,
		     const struct session_list *list);
/* Is it, or will it be, written to? */
bool keep_files_changed(const struct keep_files *files,
			const struct session *session);
/* Some file has no lease: look often. */
bool keep_files_blind(const struct keep_files *files);
/* Let go of a session's file; -1 for all. */
void keep_files_forget(struct keep_files *files, int session);

#endif
