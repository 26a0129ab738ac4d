// SPDX-License-Identifier: GPL-2.0
/*
 * A program that calls work() on request: a line of standard input is
 * w here, t in another thread (named "worker"), c in a child, g in a child's
 * child, e in this process after it has executed itself anew; each is
 * answered by a line on standard output.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int work(int n);

__attribute__((noinline)) int work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

static void *thread_work(void *context)
{
	prctl(PR_SET_NAME, "worker");
	work(2);
	return NULL;
}

static void child_work(int generations)
{
	pid_t child = fork();

	if (!child) {
		if (generations > 1)
			child_work(generations - 1);
		else
			work(3);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char line[16];

	if (argc > 1) {
		work(4);
		puts("done");
		fflush(stdout);
	}
	/* unbuffered: what follows `e` is the next program's */
	setvbuf(stdin, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		switch (line[0]) {
		case 'w':
			work(1);
			break;
		case 't':
			if (!pthread_create(&thread, NULL, thread_work, NULL))
				pthread_join(thread, NULL);
			break;
		case 'c':
			child_work(1);
			break;
		case 'g':
			child_work(2);
			break;
		case 'e':
			execl(argv[0], argv[0], "again", (char *)NULL);
			return 1;
		}
		puts("done");
		fflush(stdout);
	}
	return 0;
}
