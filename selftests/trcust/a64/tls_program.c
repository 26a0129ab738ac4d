// SPDX-License-Identifier: GPL-2.0
/* Each thread-local variable, and where the program itself has it. */
#include <stdio.h>
__thread long both = 1000;
static __thread char align[64] __attribute__((aligned(64))) = "aligned";
static __thread int own = 3;
extern __thread long lib_global;
extern int counted;
extern long library(int n);
char (*align_at)[64];
int *own_at;
long *both_at, *lib_global_at2;

__attribute__((noinline)) int step(int n)
{
	align_at = &align;
	own_at = &own;
	both_at = &both;
	lib_global_at2 = &lib_global;
	own += n;
	align[n & 3]++;
	return own + (int)library(n);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 5; i++)
		sum += step(i);
	printf("%d %d\n", sum, counted);
	return 0;
}
