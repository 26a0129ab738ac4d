// SPDX-License-Identifier: GPL-2.0
/* Each thread-local variable, and where the program itself has it. */
__thread long lib_global = 101;
static __thread int lib_static = 102;
__attribute__((visibility("hidden"))) __thread char lib_hidden[20] = "hidden";
int counted;
long *lib_global_at;
int *lib_static_at;
char (*lib_hidden_at)[20];
extern __thread long both;
long *lib_both_at;

long library(int n)
{
	lib_global_at = &lib_global;
	lib_static_at = &lib_static;
	lib_hidden_at = &lib_hidden;
	lib_both_at = &both;
	lib_global += n;
	lib_static += 2 * n;
	lib_hidden[n & 7]++;
	both++;
	counted++;
	return lib_global + lib_static + counted;
}
