// SPDX-License-Identifier: GPL-2.0
#include "tracefmt/live.h"

#include <errno.h>

int live_open(struct trace_file *file, struct error *err)
{
	error_set(err, -ENOTSUP, "this program reads no live buffer");
	error_hint(err, "name a file, made by: trace get -o FILE.ras");
	return -ENOTSUP;
}

int live_follow(struct trace_file *file, struct error *err)
{
	return live_open(file, err);
}

bool live_followed(void)
{
	return false;
}

void live_stop(void)
{
}

int live_end(struct error *err)
{
	return 0;
}
