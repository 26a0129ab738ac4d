// SPDX-License-Identifier: GPL-2.0
#include "keep_arm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/arm/pinned/run_open.h"
#include "keep_request.h"
#include "self_run.h"

#define WHY_MAX		1024

/* The first line of its output, without the program's own name. */
static void why_read(FILE *output, char why[WHY_MAX])
{
	static const char name[] = "trace: ";

	if (!fgets(why, WHY_MAX, output))
		why[0] = '\0';
	why[strcspn(why, "\n")] = '\0';
	if (!strncmp(why, name, sizeof(name) - 1))
		memmove(why, why + sizeof(name) - 1,
			strlen(why + sizeof(name) - 1) + 1);
}

/* By `trace on` with the request's arguments: 0, or another exit status. */
static int request_arm(const struct keep_request *request, char why[WHY_MAX])
{
	size_t count = 0;
	FILE *output;
	char **argv;
	int status;

	why[0] = '\0';
	while (request->argv[count])
		count++;
	argv = calloc(count + 3, sizeof(*argv));
	if (!argv)
		return -1;
	argv[0] = "trace";
	argv[1] = "on";
	memcpy(argv + 2, request->argv, count * sizeof(*argv));
	status = self_run(argv, request->cwd, true, &output);
	free(argv);
	if (output) {
		why_read(output, why);
		fclose(output);
	}
	return status;
}

/* Nothing is done where the request was given up in the meantime. */
static void request_settle(const struct keep_request *request, bool armed,
			   const char *why)
{
	struct keep_request *requests;
	struct run_dir run;
	size_t count;

	if (run_dir_open(&run, false, NULL))
		return;
	if (!keep_requests_read(run.path, &requests, &count)) {
		for (size_t i = 0; i < count; i++) {
			if (requests[i].number != request->number ||
			    strcmp(requests[i].tdf, request->tdf))
				continue;
			if (armed)
				keep_request_drop(&run, request->number);
			else
				keep_request_refuse(&run, request->number,
						    why);
		}
		keep_requests_free(requests, count);
	}
	run_dir_close(&run);
}

static void request_try(const struct keep_request *request)
{
	bool there = keep_module_is_live(request->module);
	char why[WHY_MAX];
	int status;

	if (!there && request->refused)
		request_settle(request, false, NULL);
	if (!there || request->refused)
		return;
	status = request_arm(request, why);
	/* a module that is gone again: the request goes on waiting */
	if (!status || keep_module_is_live(request->module))
		request_settle(request, !status, why);
}

bool keep_arm_requests(const char *path)
{
	struct keep_request *requests;
	size_t count;

	if (keep_requests_read(path, &requests, &count))
		return true;
	for (size_t i = 0; i < count; i++)
		request_try(&requests[i]);
	keep_requests_free(requests, count);
	return count > 0;
}
