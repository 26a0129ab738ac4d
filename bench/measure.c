// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command and writes what it took: when it began and when it ended
 * (CLOCK_REALTIME, ns), and the most memory it had (KiB); on a line of its own
 * the processor time (ns), which on a busy machine says more.
 *
 *	measure FILE COMMAND [ARGUMENT...]
 *
 * SIGINT and SIGTERM are for the command. Ends with its exit status.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;

static void signal_pass(int number)
{
	kill(child, number);
}

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static unsigned long long nanoseconds(struct timeval t)
{
	return t.tv_sec * 1000000000ULL + t.tv_usec * 1000ULL;
}

int main(int argc, char **argv)
{
	unsigned long long begin;
	struct rusage usage;
	int status;
	FILE *out;

	if (argc < 3) {
		fputs("usage: measure FILE COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	begin = now();
	child = vfork();
	if (!child) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	signal(SIGINT, signal_pass);
	signal(SIGTERM, signal_pass);
	if (child < 0 || wait4(child, &status, 0, &usage) < 0)
		return 1;
	out = fopen(argv[1], "w");
	if (!out || fprintf(out, "%llu %llu %ld\n%llu\n", begin, now(),
			    usage.ru_maxrss, nanoseconds(usage.ru_utime) +
			    nanoseconds(usage.ru_stime)) < 0 || fclose(out))
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
