// SPDX-License-Identifier: GPL-2.0
/*
 * otel_threads [LIBRARY]: two threads publish spans for OpenTelemetry's readers, as
 * OTEP 4947 has it, by a variable of the program or of a library that is loaded late,
 * and call work(thread, n) 400 times. The bytes of the ids are 16 * thread + n % 7;
 * each 8th call is without a record, each 8th with one that is being changed. Before,
 * work(9, n) is called for a while without any.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "otel_record.h"

#define KEEP	__attribute__((noinline, noclone, used))
#define CALLS	400

#ifdef OTEL_OWN
#include "otel_pair.c"
#endif

static void (*publish)(struct otel_record *record);
volatile unsigned int sink;

void KEEP work(unsigned int thread, unsigned int n)
{
	sink += thread + n;
}

static void *thread_run(void *context)
{
	unsigned int thread = *(unsigned int *)context;
	struct otel_record record = { .flags = 1 };

	for (unsigned int n = 0; n < CALLS; n++) {
		publish(NULL);
		memset(record.trace_id, 16 * thread + n % 7, 16);
		memset(record.span_id, 16 * thread + n % 7, 8);
		record.valid = n % 8 != 5;
		if (n % 8 != 3)
			publish(&record);
		work(thread, n);
		if (n % 50 == 0)
			usleep(1000);
	}
	publish(NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int numbers[2] = { 1, 2 };
	pthread_t threads[2];

#ifdef OTEL_OWN
	publish = otel_publish;
#else
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;

	if (library)
		*(void **)&publish = dlsym(library, "otel_publish");
	if (!publish) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
#endif
	for (unsigned int n = 0; n < 5; n++) {
		work(9, n);
		usleep(40000);
	}
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, thread_run, &numbers[i]))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return argc < 1;
}
