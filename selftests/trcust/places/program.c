// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

int in_program = 7;
extern char copied[8];
extern int shared;
extern __thread int thread_shared;
int library_function(int a);
static int local = 3;
__thread long thread_local_long = 99;
static __thread char thread_text[5] = "tls";
struct { int x, y; } both = { 1, 2 };

int main(int argc, char **argv)
{
	int r;

	copied[1] = 'X';
	thread_local_long += argc;
	thread_text[0]++;
	local++;
	both.y++;
	r = library_function(argc);
	printf("%d %s %d %ld %s\n", r, copied, shared + thread_shared,
	       thread_local_long, thread_text);
	return local - 4 + both.x - 1;
}
