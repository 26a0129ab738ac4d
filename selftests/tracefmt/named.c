// SPDX-License-Identifier: GPL-2.0
/* Functions whose names and lines test_symbols.sh looks for; one has a name of
 * C++. Does nothing. */
void named_first(int n) __asm__("_ZN2ns5firstEi");

__attribute__((noinline)) void named_first(int n)
{
	__asm__ volatile("" : : "r" (n));
}

__attribute__((noinline)) int named_second(int n)
{
	named_first(n);
	return n + 1;
}

int main(void)
{
	return named_second(-1);
}
