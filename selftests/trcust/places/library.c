// SPDX-License-Identifier: GPL-2.0
#include <unistd.h>

#define INITIAL_EXEC	__attribute__((tls_model("initial-exec")))

int shared = 41;
static int hidden = 42;
__thread int thread_shared INITIAL_EXEC = 43;
static __thread long thread_hidden INITIAL_EXEC = 45;
extern int in_program;
char copied[8] = "copied";

__attribute__((noinline)) int library_inner(int a)
{
	hidden += a;
	shared += a;
	thread_shared += a;
	thread_hidden += 2;
	if (optarg)
		a++;
	return a + in_program + copied[0];
}

int library_function(int a)
{
	shared++;
	return library_inner(a) + shared;
}
