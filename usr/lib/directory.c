// SPDX-License-Identifier: GPL-2.0
#include "directory.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#define BYTES	4096

void directory_each(int fd,
		    void (*visit)(int fd, const char *name, void *context),
		    void *context)
{
	_Alignas(struct dirent) char bytes[BYTES];
	long size;

	while ((size = syscall(SYS_getdents64, fd, bytes, sizeof(bytes))) > 0) {
		const struct dirent *entry;

		for (long at = 0; at < size; at += entry->d_reclen) {
			entry = (const void *)(bytes + at);
			if (strcmp(entry->d_name, ".") &&
			    strcmp(entry->d_name, ".."))
				visit(fd, entry->d_name, context);
		}
	}
}
