// SPDX-License-Identifier: GPL-2.0
/* The library is loaded when it is there: nothing needs it to be. */
#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdlib.h>
#include "dwarf_find.h"

#define LIBRARY	"libdebuginfod.so.1"

struct debuginfod {
	typeof(&debuginfod_begin) begin;
	typeof(&debuginfod_find_debuginfo) find;
	typeof(&debuginfod_end) end;
};

static bool debuginfod_load(struct debuginfod *d)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	d->begin = dlsym(library, "debuginfod_begin");
	d->find = dlsym(library, "debuginfod_find_debuginfo");
	d->end = dlsym(library, "debuginfod_end");
	return d->begin && d->find && d->end;
}

int dwarf_debuginfod_find(const uint8_t *id, size_t length)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
	debuginfod_client *client;
	struct debuginfod d;
	int fd;

	if (!urls || !*urls || !debuginfod_load(&d))
		return -ENOSYS;
	client = d.begin();
	if (!client)
		return -ENOMEM;
	fd = d.find(client, id, length, NULL);
	d.end(client);
	return fd;
}
