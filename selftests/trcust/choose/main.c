// SPDX-License-Identifier: GPL-2.0
/* Calls each function of code.s with arguments that are known. */
#define FUNCTIONS(X)							\
	X(landing) X(nothing) X(cheap) X(copied) X(lost)		\
	X(halved) X(stack) X(flags) X(reads) X(writes)		\
	X(global) X(target) X(calls) X(divides) X(frame)		\
	X(patch) X(bare) X(shared)

long word = 5;
static long pair[2] = { 0x1111, 0x2222 };

#define DECLARE(name)	extern char name[];
FUNCTIONS(DECLARE)

static void nothing_more(void)
{
}

/* The compiler may use the red zone, so skip it. */
static void call(void *function, long count)
{
	register long third __asm__("rdx") = 0x3333 + count;
	void *first = pair, *second = (void *)nothing_more;

	__asm__ volatile(
		"sub $128, %%rsp\n\t"
		"call *%[function]\n\t"
		"add $128, %%rsp"
		: "+D"(first), "+S"(second), "+r"(third)
		: [function] "r"(function)
		: "rax", "rcx", "rbx", "r8", "r9", "r10", "r11", "memory",
		  "cc");
}

int main(void)
{
	for (long i = 0; i < 3; i++) {
#define CALL(name)	call(name, i);
		FUNCTIONS(CALL)
	}
	return 0;
}
