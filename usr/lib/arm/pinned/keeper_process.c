// SPDX-License-Identifier: GPL-2.0
#include "keeper_process.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "run_dir.h"

#define STOP_ATTEMPTS	100
#define STOP_PAUSE_US	10000

int keeper_process_id(const char *run)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/keep", run);
	return run_dir_lock_holder(path);
}

/* A process id may be another process's by now. */
int keeper_process_signal(const char *run, int number)
{
	int fd, pid = keeper_process_id(run);

	if (pid <= 0)
		return pid;
	fd = syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return -errno;
	if (keeper_process_id(run) == pid)
		syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
	close(fd);
	return pid;
}

void keeper_process_stop(const char *run)
{
	int tries = 0;

	if (keeper_process_signal(run, SIGTERM) <= 0)
		return;
	while (keeper_process_id(run) && tries++ < STOP_ATTEMPTS)
		usleep(STOP_PAUSE_US);
}
