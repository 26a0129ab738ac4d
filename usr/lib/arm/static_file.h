/* SPDX-License-Identifier: GPL-2.0 */
/* Programs and libraries that have librastrace's rastrace_write() in them. */
#ifndef TRACE_STATIC_FILE_H
#define TRACE_STATIC_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "lib/error.h"

#define STATIC_LIBRARY	"librastrace.so.0"

struct static_file {
	int fd;
	char path[PATH_MAX];
	char name[48];		/* "file_DEVICE_INODE" */
	uint16_t machine;	/* ELF e_machine */
	uint64_t *offsets;	/* of the probes, in the file */
	uint32_t count;		/* at least one */
};

struct static_files {
	struct static_file *items;
	size_t count;
};

/*
 * The files that are named, or when none is, every librastrace.so.0 beside this
 * program (../lib) and where the dynamic linker looks for it. 0, or a negative
 * errno with err set; -ENOENT: there is none.
 */
int static_files_open(struct static_files *files, const char *const *names,
		      size_t count, struct error *err);
void static_files_close(struct static_files *files);

#endif
