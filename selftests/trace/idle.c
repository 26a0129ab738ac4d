// SPDX-License-Identifier: GPL-2.0
/* A program that only is in memory: idle waits until it is killed. */
#include <unistd.h>

int main(void)
{
	for (;;)
		pause();
}
