// SPDX-License-Identifier: GPL-2.0
/* Writes its GS base and is at look() before the kernel has seen it. */
#include <stdint.h>
#include <sys/auxv.h>

#define HWCAP2_FSGSBASE	2	/* asm/hwcap2.h: programs may */

static uint32_t area[8] = { [4] = 0x11223344 };

__attribute__((noinline, noclone)) void look(void)
{
	asm volatile("nop");
}

int main(void)
{
	if (!(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE))
		return 77;
#ifdef __x86_64__
	asm volatile("wrgsbase %0" : : "r"(area));
#endif
	look();
	return area[0];
}
