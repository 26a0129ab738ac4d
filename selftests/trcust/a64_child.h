/* SPDX-License-Identifier: GPL-2.0 */
/* Run instructions of AArch64: by a64_run, elsewhere in qemu-aarch64. */
#ifndef A64_CHILD_H
#define A64_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "a64_run.h"
#include "tap.h"

static int a64_requests = -1, a64_replies = -1;

/* False: there is no such program, or it doesn't run. */
static bool a64_exchange(struct a64_state *state)
{
	if (write(a64_requests, state, sizeof(*state)) != sizeof(*state))
		return false;
	for (size_t done = 0; done < sizeof(*state);) {
		ssize_t count = read(a64_replies, (char *)state + done,
				     sizeof(*state) - done);

		if (count <= 0)
			return false;
		done += count;
	}
	return true;
}

/* The instruction state->code at state->pc, from that state to the next one. */
static void a64_run(struct a64_state *state)
{
	uint32_t code = state->code;

	if (!a64_exchange(state))
		tap_bail("%08x ends the program that runs code", code);
}

static void a64_child(const char *path)
{
#ifdef __aarch64__
	execl(path, path, NULL);
#else
	execlp("qemu-aarch64", "qemu-aarch64", path, NULL);
#endif
	_exit(127);
}

/* `program`: beside it is a64_run. False: code of AArch64 can't be run here. */
static bool a64_start(const char *program)
{
	struct a64_state nop = { .pc = A64_PC, .code = 0xd503201f };
	const char *slash = strrchr(program, '/');
	int to[2], from[2];
	char path[4096];

	snprintf(path, sizeof(path), "%.*sa64_run%s",
		 slash ? (int)(slash + 1 - program) : 0, program,
#ifdef __aarch64__
		 "");
#else
		 "-aarch64");
#endif
	if (access(path, X_OK) || pipe(to) || pipe(from))
		return false;
	signal(SIGPIPE, SIG_IGN);
	if (!fork()) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[1]);
		a64_child(path);
	}
	close(to[0]);
	close(from[1]);
	a64_requests = to[1];
	a64_replies = from[0];
	return a64_exchange(&nop) && nop.pc == A64_PC + 4;
}

#endif
