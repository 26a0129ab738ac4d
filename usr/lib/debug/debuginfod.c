// SPDX-License-Identifier: GPL-2.0
#include "debuginfod.h"

#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "lib/library.h"

#define WAIT_SECONDS	10

/* Of a request: when it got something last */
struct fetch_wait {
	time_t since;
	long bytes, most;	/* most: seconds to wait */
	bool late;
};

static time_t fetch_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* Called several times in a second. Without a total, `bytes` counts these calls.
 * Not 0: give up. */
static int fetch_look(debuginfod_client *client, long bytes, long total)
{
	typeof(&debuginfod_get_user_data) data =
		library_symbol(DEBUGINFOD_SONAME, "debuginfod_get_user_data");
	struct fetch_wait *wait = data(client);
	time_t now = fetch_now();

	if (total && bytes != wait->bytes) {
		wait->bytes = bytes;
		wait->since = now;
	}
	wait->late = now - wait->since >= wait->most;
	return wait->late;
}

bool debuginfod_is_configured(void)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);

	return urls && urls[strspn(urls, " ")];
}

int debuginfod_fetch(struct debuginfod *server, const uint8_t *id,
		     size_t length)
{
	const char *seconds = getenv(DEBUGINFOD_TIMEOUT_ENV_VAR);
	struct fetch_wait wait = {
		.since = fetch_now(), .bytes = -1,
		.most = seconds ? atol(seconds) : 0,
	};
	typeof(&debuginfod_find_debuginfo) find;
	typeof(&debuginfod_set_progressfn) watch;
	typeof(&debuginfod_get_user_data) get;
	typeof(&debuginfod_set_user_data) set;
	typeof(&debuginfod_begin) begin;
	typeof(&debuginfod_end) end;
	debuginfod_client *client;
	int fd;

	if (!debuginfod_is_configured() || server->off)
		return -ENOSYS;
	begin = library_symbol(DEBUGINFOD_SONAME, "debuginfod_begin");
	find = library_symbol(DEBUGINFOD_SONAME, "debuginfod_find_debuginfo");
	watch = library_symbol(DEBUGINFOD_SONAME, "debuginfod_set_progressfn");
	get = library_symbol(DEBUGINFOD_SONAME, "debuginfod_get_user_data");
	set = library_symbol(DEBUGINFOD_SONAME, "debuginfod_set_user_data");
	end = library_symbol(DEBUGINFOD_SONAME, "debuginfod_end");
	if (!begin || !find || !watch || !get || !set || !end)
		return -ENOSYS;
	if (wait.most <= 0)
		wait.most = WAIT_SECONDS;
	client = begin();
	if (!client)
		return -ENOMEM;
	set(client, &wait);
	watch(client, fetch_look);
	fd = find(client, id, length, NULL);
	end(client);
	if (wait.late && fd < 0)
		fd = -ETIMEDOUT;
	if (fd >= 0 || fd == -ENOENT)
		return fd;
	server->off = true;
	error_set(&server->why, fd, "debuginfod: no answer from '%s': %s",
		  getenv(DEBUGINFOD_URLS_ENV_VAR), strerror(-fd));
	return fd;
}
