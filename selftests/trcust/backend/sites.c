// SPDX-License-Identifier: GPL-2.0
/* A function with a prologue, a loop and calls, to probe everywhere. */
#include <stdio.h>

int total;

__attribute__((noinline)) int work(const char *text, int count)
{
	char line[64];

	for (int i = 0; i < count; i++) {
		snprintf(line, sizeof(line), "%s %d", text, i);
		total += line[0] * i;
	}
	return total;
}

int main(int argc, char **argv)
{
	return work(argv[0], argc) & 1;
}
