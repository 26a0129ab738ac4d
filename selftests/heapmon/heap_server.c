// SPDX-License-Identifier: GPL-2.0
/*
 * A server, and a client that checks every reply. Prints the server's process
 * id, then every 50 ms: replies, failures, and whether the code of malloc and
 * free is as in its file (whole) or not (probed). Another test may have probes
 * there when this one begins.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define THREADS	3
#define CODE	16

struct message {
	uint64_t number, sum;
	uint64_t probed;
};

static unsigned char malloc_begin[CODE], free_begin[CODE];

struct code {
	uintptr_t address;
	unsigned char *bytes;
	bool read;
};

/* The code at the address as the loaded file has it */
static int object_read(struct dl_phdr_info *info, size_t size, void *context)
{
	struct code *code = context;
	uintptr_t at = code->address - info->dlpi_addr;
	const ElfW(Phdr) *p = info->dlpi_phdr;
	Dl_info object;
	int fd;

	for (int i = 0; i < info->dlpi_phnum; i++, p++) {
		if (p->p_type != PT_LOAD || at < p->p_vaddr ||
		    at - p->p_vaddr >= p->p_filesz ||
		    !dladdr((void *)code->address, &object))
			continue;
		fd = open(object.dli_fname, O_RDONLY | O_CLOEXEC);
		code->read = pread(fd, code->bytes, CODE, at - p->p_vaddr +
				   p->p_offset) == CODE;
		close(fd);
		return 1;
	}
	return 0;
}

static void code_read(uintptr_t address, unsigned char *bytes)
{
	struct code code = { address, bytes };

	dl_iterate_phdr(object_read, &code);
	if (!code.read)
		_exit(2);
}

static bool code_changed(void)
{
	return memcmp(malloc_begin, (void *)malloc, CODE) ||
	       memcmp(free_begin, (void *)free, CODE);
}

static uint64_t sum_of(uint64_t number)
{
	unsigned int size = 16 + number % 3000;
	unsigned char *bytes = malloc(size), *more;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < size; i++)
		bytes[i] = number * 31 + i;
	more = realloc(bytes, 2 * size);
	for (unsigned int i = 0; i < size; i++)
		sum = sum * 131 + more[i];
	free(more);
	return sum;
}

/* As servers do: whatever isn't a reply is a failure. */
static void *serve(void *context)
{
	int fd = (intptr_t)context, poller = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN };
	struct message message;

	epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
	for (;;) {
		if (epoll_wait(poller, &event, 1, -1) != 1 ||
		    read(fd, &message, sizeof(message)) != sizeof(message))
			_exit(1);
		message.sum = sum_of(message.number);
		message.probed = code_changed();
		if (write(fd, &message, sizeof(message)) != sizeof(message))
			_exit(1);
	}
}

static pid_t server_start(int *fds)
{
	int theirs[THREADS];
	pthread_t thread;
	pid_t pid;

	for (int i = 0; i < THREADS; i++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
			exit(1);
		fds[i] = pair[0];
		theirs[i] = pair[1];
	}
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (intptr_t i = 0; i < THREADS; i++) {
		close(fds[i]);
		pthread_create(&thread, NULL, serve, (void *)(intptr_t)theirs[i]);
	}
	for (;;)
		pause();
}

static bool ask(int fd, uint64_t number, bool *probed)
{
	struct message message = { .number = number };

	if (write(fd, &message, sizeof(message)) != sizeof(message) ||
	    read(fd, &message, sizeof(message)) != sizeof(message))
		return false;
	*probed |= message.probed;
	return message.number == number && message.sum == sum_of(number);
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

int main(void)
{
	uint64_t replies = 0, failures = 0, printed = now();
	bool probed = false;
	int fds[THREADS];

	signal(SIGPIPE, SIG_IGN);
	code_read((uintptr_t)malloc, malloc_begin);
	code_read((uintptr_t)free, free_begin);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%d\n", server_start(fds));
	for (uint64_t n = 0;; n++) {
		if (ask(fds[n % THREADS], n, &probed))
			replies++;
		else
			failures++;
		if (now() - printed < 50000000)
			continue;
		printed = now();
		printf("%llu %llu %s\n", (unsigned long long)replies,
		       (unsigned long long)failures,
		       probed ? "probed" : "whole");
		probed = false;
	}
}
