// SPDX-License-Identifier: GPL-2.0
/* The library is loaded if it is installed: nothing requires it. */
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdlib.h>
#include "dwarf_find.h"
#include "lib/library.h"

#define LIBRARY	"libdebuginfod.so.1"

int dwarf_debuginfod_find(const uint8_t *id, size_t length)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
	typeof(&debuginfod_find_debuginfo) find;
	typeof(&debuginfod_begin) begin;
	typeof(&debuginfod_end) end;
	debuginfod_client *client;
	int fd;

	if (!urls || !*urls)
		return -ENOSYS;
	begin = library_symbol(LIBRARY, "debuginfod_begin");
	find = library_symbol(LIBRARY, "debuginfod_find_debuginfo");
	end = library_symbol(LIBRARY, "debuginfod_end");
	if (!begin || !find || !end)
		return -ENOSYS;
	client = begin();
	if (!client)
		return -ENOMEM;
	fd = find(client, id, length, NULL);
	end(client);
	return fd;
}
