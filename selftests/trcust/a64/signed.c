// SPDX-License-Identifier: GPL-2.0
/* Arguments that only the caller still has, where addresses to return to are
 * signed; and what they were. */
int seen_first, seen_second;
volatile int total;

__attribute__((noipa)) int sink(int n)
{
	total += n;
	return n / 2;
}

/* The arguments are gone after the first call; the caller has them in
 * registers that this function doesn't save. */
__attribute__((noipa)) void step(int first, int second)
{
	total += first - second;
	sink(1);
	total++;
	sink(2);
	total++;
	sink(3);
}

int main(void)
{
	int a = sink(1), b = sink(2);

	for (int i = 0; i < 4; i++) {
		seen_first = a + 5;
		seen_second = b;
		step(a + 5, b);
		a += sink(b);
		b += i;
	}
	return a + b == 0;
}
