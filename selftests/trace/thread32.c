// SPDX-License-Identifier: GPL-2.0
/* Thread-local variables of 32 bits, in two threads. */
#include <pthread.h>
#include <stddef.h>

__thread int first = 11;
static __thread char text[8] = "thread";

__attribute__((noinline, noclone)) int work(int a)
{
	first += a;
	text[0]++;
	return first + text[1];
}

static void *other(void *unused)
{
	first = 20;
	text[0] = 'T';
	work(2);
	return unused;
}

int main(void)
{
	pthread_t thread;

	work(1);
	if (pthread_create(&thread, NULL, other, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
