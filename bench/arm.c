// SPDX-License-Identifier: GPL-2.0
/*
 * The program that scripts/bench_arm probes: it has 5000 functions of 4 bytes,
 * arm_point_0 and so on, calls the first COUNT of them over and over, runs the
 * tool that probes them, and looks into its own text, where a probe is an
 * instruction that it didn't have.
 *
 *	arm ends|stays COUNT LIMIT BEGIN STOP END
 *
 * are shell commands: BEGIN arms, STOP ends the recording, END removes what is
 * left. When BEGIN stays it is interrupted instead of STOP.
 *
 * Prints milliseconds from the begin of BEGIN until all had a probe and, if it
 * ends, it had; from that of STOP until it had ended, and until none had a
 * probe and END had ended; the MiB of memory that BEGIN had at most; and the
 * time of day (ns) at which STOP began. Ends with 1 when a command fails, with
 * 3 when BEGIN takes more than LIMIT seconds.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "given.h"

#define POINTS		5000
#define POINT_BYTES	4
#define POINT_INSN	0x55	/* push %rbp */
#define LOOKS_APART	100	/* us */
#define LATE		3

typedef void point(const void *memory, const char *text, uint64_t number);

__asm__(".text\n"
	".altmacro\n"
	".macro point number\n"
	"	.globl	arm_point_\\number\n"
	"	.type	arm_point_\\number, @function\n"
	"arm_point_\\number:\n"
	"	push	%rbp\n"
	"	pop	%rbp\n"
	"	ret\n"
	"	nop\n"
	"	.size	arm_point_\\number, . - arm_point_\\number\n"
	".endm\n"
	".set index, 0\n"
	".rept 5000\n"
	"	point	%index\n"
	"	.set	index, index + 1\n"
	".endr\n"
	".noaltmacro\n");

extern const unsigned char arm_point_0[];

static size_t points;
static volatile pid_t running;	/* the group of what runs; 0: nothing */

struct command {
	pid_t pid;		/* also of its group; 0: it has ended */
	bool failed;
	long peak;		/* KiB */
};

static void *hit(void *unused)
{
	struct given given;
	const struct outer *outer = given_make(&given);

	for (size_t i = 0;; i++) {
		const unsigned char *at = arm_point_0 +
					  i % points * POINT_BYTES;

		((point *)at)(outer, GIVEN_TEXT, i);
		usleep(20);
	}
	return unused;
}

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static double ms_since(int64_t begin)
{
	return (now(CLOCK_MONOTONIC) - begin) / 1e6;
}

static size_t probed(void)
{
	const volatile unsigned char *text = arm_point_0;
	size_t count = 0;

	for (size_t i = 0; i < points; i++)
		count += text[i * POINT_BYTES] != POINT_INSN;
	return count;
}

/* In a group of its own, so that what it starts gets the signal, too. What it
 * prints isn't for standard output. */
static void command_start(struct command *command, const char *line)
{
	*command = (struct command){ .pid = fork() };
	if (command->pid < 0) {
		perror("fork");
		exit(1);
	}
	setpgid(command->pid, 0);
	running = command->pid;
	if (!command->pid) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", line, NULL);
		_exit(127);
	}
}

static bool command_ended(struct command *command, int flags)
{
	struct rusage usage;
	int status;

	if (!command->pid ||
	    wait4(command->pid, &status, flags, &usage) != command->pid)
		return !command->pid;
	command->pid = running = 0;
	command->failed = !WIFEXITED(status) || WEXITSTATUS(status);
	command->peak = usage.ru_maxrss;
	return true;
}

static void give_up(int number)
{
	if (running)
		kill(-running, number);
	_exit(128 + number);
}

static void command_wait(struct command *command)
{
	while (!command_ended(command, 0))
		;
}

static void command_run(const char *line)
{
	struct command command;

	command_start(&command, line);
	command_wait(&command);
	if (command.failed)
		exit(1);
}

/* What is late may be in the kernel, and not end before it is done there. */
static void command_end(struct command *command, int number)
{
	if (command->pid)
		kill(-command->pid, number);
	command_wait(command);
}

/* Milliseconds */
static double arm(struct command *command, const char *line, double limit,
		  bool stays)
{
	int64_t begin = now(CLOCK_MONOTONIC);
	bool ended = false, all = false;

	command_start(command, line);
	while (!(all && (ended || stays))) {
		usleep(LOOKS_APART);
		ended = command_ended(command, WNOHANG);
		all = probed() == points;
		if (ended && (command->failed || stays || !all))
			exit(1);
		if (ms_since(begin) > limit * 1e3) {
			command_end(command, SIGTERM);
			exit(LATE);
		}
	}
	return ms_since(begin);
}

int main(int argc, char **argv)
{
	bool stays = argc > 1 && !strcmp(argv[1], "stays");
	struct command command;
	double armed, stopped;
	int64_t begin, began;
	pthread_t thread;

	if (argc != 7)
		return 2;
	points = strtoul(argv[2], NULL, 10);
	if (!points || points > POINTS ||
	    pthread_create(&thread, NULL, hit, NULL))
		return 2;
	signal(SIGINT, give_up);
	signal(SIGTERM, give_up);
	armed = arm(&command, argv[4], strtod(argv[3], NULL), stays);
	usleep(100000);
	began = now(CLOCK_REALTIME);
	begin = now(CLOCK_MONOTONIC);
	if (stays)
		command_end(&command, SIGINT);
	else
		command_run(argv[5]);
	stopped = ms_since(begin);
	command_run(argv[6]);
	while (probed())
		usleep(LOOKS_APART);
	printf("%.2f %.2f %.2f %.1f %lld\n", armed, stopped, ms_since(begin),
	       command.peak / 1024.0, (long long)began);
	return 0;
}
